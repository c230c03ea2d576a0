//! Keeps the components of a cluster running: `server.rs` hands each of them over, and one
//! that is lost, by an error, a panic or an end that nobody asked for, is started again
//! after a pause that grows. It is named in `ferry status` until it has stayed for a while.
//!
//! Until the cluster is ready a lost component is the reason why `ferry up` fails, because
//! the person in front can act on it at once.

use anyhow::Result;
use ferry_api::problems::Problems;
use ferry_api::rules::backoff::Backoff;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// The component under which lost parts are listed in `ferry status`.
const REPORTER: &str = "ferry";
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const BACKOFF: Backoff = Backoff::new(FIRST_PAUSE, Duration::from_secs(30));
/// A component that has run this long is well: it is no longer listed, and the next loss
/// begins with the shortest pause again.
const STABLE_AFTER: Duration = Duration::from_secs(30);

pub struct Supervisor {
    watch: Supervision,
    tasks: JoinSet<()>,
    failures: mpsc::UnboundedReceiver<anyhow::Error>,
}

/// The part of a supervisor that every component's task has.
#[derive(Clone)]
struct Supervision {
    problems: Problems,
    shutdown: CancellationToken,
    is_ready: Arc<watch::Sender<bool>>,
    failed: mpsc::UnboundedSender<anyhow::Error>,
}

impl Supervisor {
    pub fn new(problems: Problems, shutdown: CancellationToken) -> Self {
        let (failed, failures) = mpsc::unbounded_channel();
        let is_ready = Arc::new(watch::channel(false).0);
        Self { watch: Supervision { problems, shutdown, is_ready, failed }, tasks: JoinSet::new(), failures }
    }

    /// Starts a component and keeps it running until the shutdown. `start` is called for
    /// each attempt with a token that is cancelled at the shutdown and when the attempt has
    /// ended, so that nothing of a lost attempt goes on beside the next.
    pub fn keep<Start, Attempt>(&mut self, name: &'static str, start: Start)
    where
        Start: Fn(CancellationToken) -> Attempt + Send + Sync + 'static,
        Attempt: Future<Output = Result<()>> + Send + 'static,
    {
        self.tasks.spawn(keep_running(name, Arc::new(start), self.watch.clone()));
    }

    /// Waits until a component is lost before the cluster is ready.
    pub async fn lost_before_ready(&mut self) -> anyhow::Error {
        match self.failures.recv().await {
            Some(error) => error,
            None => std::future::pending().await,
        }
    }

    /// From now on a lost component is started again. One that was lost at the last moment
    /// before is the error.
    pub fn report_ready(&mut self) -> Result<()> {
        self.watch.is_ready.send_replace(true);
        self.failures.try_recv().map_or(Ok(()), Err)
    }

    /// Waits for the components to end after the shutdown was asked for.
    pub async fn join(mut self, patience: Duration) {
        let _ = tokio::time::timeout(patience, async { while self.tasks.join_next().await.is_some() {} }).await;
    }
}

async fn keep_running<Start, Attempt>(name: &'static str, start: Arc<Start>, watch: Supervision)
where
    Start: Fn(CancellationToken) -> Attempt + Send + Sync + 'static,
    Attempt: Future<Output = Result<()>> + Send + 'static,
{
    let mut backoff = BACKOFF;
    loop {
        let token = watch.shutdown.child_token();
        let _ends_all = token.clone().drop_guard();
        let begun = Instant::now();
        let attempt = start.clone();
        // In a task of its own, where a panic ends the attempt and nothing else.
        let mut task = AbortOnDropHandle::new(tokio::spawn(async move { attempt(token).await }));
        let ended = tokio::select! {
            ended = &mut task => ended,
            () = tokio::time::sleep(STABLE_AFTER) => {
                watch.problems.resolve(REPORTER, name);
                (&mut task).await
            }
        };
        if watch.shutdown.is_cancelled() {
            return;
        }
        let why = describe_end(name, ended);
        if !*watch.is_ready.borrow() {
            let _ = watch.failed.send(why);
            return;
        }
        let pause = next_pause(&mut backoff, begun.elapsed());
        tracing::error!(error = format!("{why:#}"), ?pause, "a component is lost and will be started again");
        watch.problems.report(REPORTER, name, &format!("{why:#}; it is started again after a pause"));
        tokio::select! {
            () = watch.shutdown.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

fn describe_end(name: &str, ended: Result<Result<()>, JoinError>) -> anyhow::Error {
    match ended {
        Ok(Ok(())) => anyhow::anyhow!("{name} ended unasked"),
        Ok(Err(error)) => error.context(format!("{name} failed")),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => anyhow::anyhow!("{name} panicked: {}", describe_panic(panic.as_ref())),
            Err(error) => anyhow::anyhow!("{name} was lost: {error}"),
        },
    }
}

fn describe_panic(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}

/// The pause before a component's next restart: 250 ms, 500 ms, 1 s, and so on up to 30 s,
/// and from the beginning after a calm time.
fn next_pause(backoff: &mut Backoff, ran_for: Duration) -> Duration {
    if ran_for >= STABLE_AFTER {
        backoff.reset();
    }
    backoff.next_pause()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn supervisor() -> (Supervisor, Problems, CancellationToken) {
        let (problems, shutdown) = (Problems::default(), CancellationToken::new());
        (Supervisor::new(problems.clone(), shutdown.clone()), problems, shutdown)
    }

    #[test]
    fn pauses_grow_to_a_limit_and_start_over_after_a_calm_time() {
        let mut backoff = BACKOFF;
        let first: Vec<u128> = (0..9).map(|_| next_pause(&mut backoff, Duration::ZERO).as_millis()).collect();
        assert_eq!(first, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(next_pause(&mut backoff, STABLE_AFTER), FIRST_PAUSE);
    }

    #[tokio::test(start_paused = true)]
    async fn a_component_that_panics_fails_or_ends_is_started_again_and_named_until_it_is_well() {
        let (mut supervisor, problems, shutdown) = supervisor();
        let starts = Arc::new(AtomicU32::new(0));
        let counted = starts.clone();
        supervisor.report_ready().expect("nothing is lost");
        supervisor.keep("scheduler", move |token| {
            let start = counted.fetch_add(1, Ordering::SeqCst);
            async move {
                match start {
                    0 => panic!("out of cheese"),
                    1 => anyhow::bail!("no room"),
                    2 => Ok(()),
                    _ => {
                        token.cancelled().await;
                        Ok(())
                    }
                }
            }
        });
        let mut seen = Vec::new();
        while starts.load(Ordering::SeqCst) < 4 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            if let Some(problem) = problems.list().pop()
                && seen.last() != Some(&problem.message)
            {
                seen.push(problem.message);
            }
        }
        let expected = ["scheduler panicked: out of cheese", "scheduler failed: no room", "scheduler ended unasked"];
        assert_eq!(seen, expected.map(|why| format!("{why}; it is started again after a pause")));
        tokio::time::sleep(STABLE_AFTER + Duration::from_secs(1)).await;
        assert_eq!(problems.list(), []);
        shutdown.cancel();
        supervisor.join(Duration::from_secs(5)).await;
        assert_eq!(starts.load(Ordering::SeqCst), 4, "an end that was asked for is no loss");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_of_a_lost_attempt_goes_on_beside_the_next() {
        let (mut supervisor, _, shutdown) = supervisor();
        let alive = Arc::new(AtomicU32::new(0));
        let most = Arc::new(AtomicU32::new(0));
        let (counted, highest) = (alive.clone(), most.clone());
        supervisor.report_ready().expect("nothing is lost");
        supervisor.keep("kubelet", move |token| {
            let (counted, highest) = (counted.clone(), highest.clone());
            async move {
                tokio::spawn(async move {
                    highest.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    token.cancelled().await;
                    counted.fetch_sub(1, Ordering::SeqCst);
                });
                tokio::time::sleep(Duration::from_secs(1)).await;
                anyhow::bail!("lost")
            }
        });
        tokio::time::sleep(Duration::from_secs(60)).await;
        shutdown.cancel();
        supervisor.join(Duration::from_secs(5)).await;
        assert_eq!(most.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_component_that_is_lost_before_the_cluster_is_ready_is_the_reason_of_the_failure() {
        let (mut supervisor, problems, _) = supervisor();
        supervisor.keep("DNS", |_| async { anyhow::bail!("port 53 is taken") });
        let why = supervisor.lost_before_ready().await;
        assert_eq!(format!("{why:#}"), "DNS failed: port 53 is taken");
        assert_eq!(problems.list(), []);
    }
}
