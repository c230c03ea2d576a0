//! The one loop under every reconciler of ferry: a queue of keys, workers that take them,
//! back-off for those that fail, and upstream's workqueue metrics. The controllers feed it from
//! informers (`controllers/runner.rs`), the API server from its own cache
//! (`apiserver/controlplane/mod.rs`).
//!
//! **Invariant:** a reconciler never owns a queue, a worker or a timer. It narrows the gap for
//! one key; everything else happens here, once.

#![warn(unreachable_pub)]

mod metrics;
mod queue;
mod sparse;

pub use ferry_api::rules::key::ObjectKey as Key;
pub use metrics::Metrics;
pub use queue::Queue;

use futures_util::future::FutureExt;
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// After so many failures in a row, which is a second or two, a key is worth a warning. Most
/// failures are conflicts that the next attempt settles.
const LASTING: u32 = 8;

/// The next step that a reconcile asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The next event decides.
    Done,
    /// Something becomes true by time alone (a deadline, a back-off).
    RequeueAfter(Duration),
}

impl Action {
    /// The sooner of an optional delay and nothing.
    pub fn after(delay: Option<Duration>) -> Self {
        delay.map_or(Action::Done, Action::RequeueAfter)
    }
}

/// One controller, as the runner sees it.
pub trait Reconciler: Send + Sync + 'static {
    type Error: Display + Send;

    /// Upstream's name of the controller or of its queue; logs and metrics carry it.
    fn name(&self) -> &'static str;

    /// How many keys may be reconciled at once; never the same key twice.
    fn workers(&self) -> usize;

    /// The longest pause between two attempts at a key that fails; the pauses double up to it.
    fn longest_pause(&self) -> Duration;

    /// Whether trying again is of no use after this failure: the next event decides.
    fn is_final(&self, error: &Self::Error) -> bool;

    /// Reads the present state and narrows the gap. It is retried with back-off when it fails or
    /// panics, and may be called at any time for any key, whether or not the object exists.
    fn reconcile(&self, key: &Key) -> impl Future<Output = Result<Action, Self::Error>> + Send;
}

/// Starts the workers of a reconciler. They end when the queue is closed, after the key that
/// they have in hand, or with the set of tasks.
pub fn spawn_workers<R: Reconciler>(reconciler: &Arc<R>, queue: &Queue<Key>, tasks: &mut JoinSet<()>) {
    for _ in 0..reconciler.workers() {
        let (reconciler, queue) = (reconciler.clone(), queue.clone());
        tasks.spawn(async move {
            while let Some(key) = queue.next().await {
                reconcile_once(&*reconciler, &queue, &key).await;
                queue.done(&key);
            }
        });
    }
}

async fn reconcile_once<R: Reconciler>(reconciler: &R, queue: &Queue<Key>, key: &Key) {
    let name = reconciler.name();
    // A panic in one reconcile must not silence the controller for good.
    match AssertUnwindSafe(reconciler.reconcile(key)).catch_unwind().await {
        Ok(Ok(action)) => {
            queue.forget(key);
            if let Action::RequeueAfter(delay) = action {
                queue.add_after(key.clone(), delay);
            }
        }
        Ok(Err(error)) if reconciler.is_final(&error) => queue.forget(key),
        Ok(Err(error)) => {
            if queue.failures(key) == LASTING {
                tracing::warn!(controller = name, %key, %error, "reconcile keeps failing and will be tried again");
            } else {
                tracing::debug!(controller = name, %key, %error, "reconcile failed and will be tried again");
            }
            queue.add_rate_limited(key.clone(), reconciler.longest_pause());
        }
        Err(_) => {
            tracing::error!(controller = name, %key, "reconcile panicked and will be tried again");
            queue.add_rate_limited(key.clone(), reconciler.longest_pause());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use tokio::time::Instant;

    /// Fails as often as it is told to, and notes when it was called for which key.
    struct Flaky {
        failures: Mutex<u32>,
        calls: Mutex<Vec<(String, Duration)>>,
        started: Instant,
    }

    impl Flaky {
        fn failing(times: u32) -> Arc<Self> {
            Arc::new(Self { failures: Mutex::new(times), calls: Mutex::default(), started: Instant::now() })
        }

        /// How often each key was reconciled.
        fn times(&self, name: &str) -> usize {
            self.calls.lock().iter().filter(|(called, _)| called == name).count()
        }
    }

    impl Reconciler for Flaky {
        type Error = &'static str;

        fn name(&self) -> &'static str {
            "flaky"
        }

        fn workers(&self) -> usize {
            2
        }

        fn longest_pause(&self) -> Duration {
            Duration::from_millis(15)
        }

        fn is_final(&self, error: &&'static str) -> bool {
            *error == "final"
        }

        async fn reconcile(&self, key: &Key) -> Result<Action, &'static str> {
            self.calls.lock().push((key.name.clone(), self.started.elapsed()));
            if key.name == "final" {
                return Err("final");
            }
            let mut failures = self.failures.lock();
            if *failures == 0 {
                return Ok(Action::Done);
            }
            *failures -= 1;
            assert!(key.name != "panics", "this key panics");
            Err("not yet")
        }
    }

    async fn run(reconciler: &Arc<Flaky>, name: &str, metrics: &Metrics) {
        let queue = Queue::new("flaky", metrics);
        let mut tasks = JoinSet::new();
        queue.add(Key::new("", name));
        spawn_workers(reconciler, &queue, &mut tasks);
        // The paused clock moves on only when every worker waits.
        tokio::time::sleep(Duration::from_secs(1)).await;
        queue.close();
        while let Some(ended) = tasks.join_next().await {
            ended.expect("a worker survives its reconciles");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn failures_and_panics_are_retried_with_longer_pauses_and_counted() {
        for name in ["fails", "panics"] {
            let (flaky, metrics) = (Flaky::failing(4), Metrics::default());
            run(&flaky, name, &metrics).await;
            let at: Vec<u128> = flaky.calls.lock().iter().map(|(_, at)| at.as_millis()).collect();
            assert_eq!(at, [0, 5, 15, 30, 45], "{name}");
            let mut out = String::new();
            metrics.render(&mut out);
            assert!(out.contains("workqueue_retries_total{name=\"flaky\"} 4\n"), "{out}");
            assert!(out.contains("workqueue_work_duration_seconds_count{name=\"flaky\"} 5\n"), "{out}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_final_failure_is_not_retried() {
        let (flaky, metrics) = (Flaky::failing(0), Metrics::default());
        run(&flaky, "final", &metrics).await;
        assert_eq!(flaky.times("final"), 1);
    }
}
