//! Work that goes on to its end even when nobody waits for it any more.
//!
//! A future that is dropped stops where it stands. [`finish`] runs one in place, as cheaply
//! as if it were awaited directly, and only when its caller goes away hands it to the
//! runtime to be finished there.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) fn finish<F>(work: F) -> Finish<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    Finish { work: Some(Box::pin(work)) }
}

pub(crate) struct Finish<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    /// Boxed, because it may have to move to a task of its own half done.
    work: Option<Pin<Box<F>>>,
}

impl<F> Future for Finish<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Taken out while it runs: work that panics is over and is not to be finished.
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let outcome = work.as_mut().poll(context);
        if outcome.is_pending() {
            self.work = Some(work);
        }
        outcome
    }
}

impl<F> Drop for Finish<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn drop(&mut self) {
        // Outside a runtime there is nobody left to finish anything.
        if let Some(work) = self.work.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::panic::AssertUnwindSafe;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn work_is_finished_when_its_caller_is_gone() {
        let (go, wait) = oneshot::channel::<()>();
        let (done, seen) = oneshot::channel();
        let mut work = finish(async move {
            wait.await.expect("told to go on");
            done.send("done").expect("somebody looks");
        });
        assert!((&mut work).now_or_never().is_none());
        drop(work);
        go.send(()).expect("the work still waits");
        assert_eq!(seen.await, Ok("done"));
    }

    #[tokio::test]
    async fn its_outcome_reaches_a_caller_that_stays() {
        assert_eq!(finish(async { 7 }).await, 7);
    }

    #[tokio::test]
    async fn a_panic_reaches_the_caller_and_ends_the_work() {
        let (done, seen) = oneshot::channel::<()>();
        let work = finish(async move {
            let _held = done;
            panic!("as a defect would");
        });
        assert!(AssertUnwindSafe(work).catch_unwind().await.is_err());
        assert!(seen.await.is_err(), "what the work held is let go");
    }
}
