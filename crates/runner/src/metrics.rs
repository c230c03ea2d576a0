//! The metrics of work queues, under upstream's names (component-base's
//! metrics/prometheus/workqueue). The API server renders them at /metrics.

use ferry_metrics::family::{Counter, Family, Gauge, Histogram, Instrument, Series, head, line, render_labels};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use tokio::time::Instant;

/// Upstream's buckets: ten nanoseconds to ten seconds, a factor of ten apart.
const BUCKETS: &[f64] = &[1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0];

/// Shared by all queues of a process; cloning shares the counts.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Families>);

struct Families {
    adds: Family<Counter>,
    retries: Family<Counter>,
    queue_duration: Family<Histogram>,
    work_duration: Family<Histogram>,
    /// The queues that are asked for their state when somebody reads the metrics.
    queues: Mutex<Vec<(&'static str, Weak<dyn Observed>)>>,
}

impl Default for Families {
    fn default() -> Self {
        let histogram = || Histogram::new(BUCKETS);
        let name = &["name"];
        Self {
            adds: Family::new(
                "workqueue_adds_total",
                "Total number of adds handled by workqueue",
                name,
                Counter::default,
            ),
            retries: Family::new(
                "workqueue_retries_total",
                "Total number of retries handled by workqueue",
                name,
                Counter::default,
            ),
            queue_duration: Family::new(
                "workqueue_queue_duration_seconds",
                "How long in seconds an item stays in workqueue before being requested.",
                name,
                histogram,
            ),
            work_duration: Family::new(
                "workqueue_work_duration_seconds",
                "How long in seconds processing an item from workqueue takes.",
                name,
                histogram,
            ),
            queues: Mutex::default(),
        }
    }
}

/// The series of one queue.
pub(crate) struct QueueSeries {
    pub(crate) adds: Arc<Series<Counter>>,
    pub(crate) retries: Arc<Series<Counter>>,
    pub(crate) queue_duration: Arc<Series<Histogram>>,
    pub(crate) work_duration: Arc<Series<Histogram>>,
}

/// A queue, as the metrics see it.
pub(crate) trait Observed: Send + Sync {
    fn state(&self, now: Instant) -> QueueState;
}

/// The present state of one queue.
#[derive(Clone, Copy, Default)]
pub(crate) struct QueueState {
    /// How many keys wait.
    pub(crate) depth: usize,
    /// The seconds spent so far on all keys that workers have in hand.
    pub(crate) unfinished: f64,
    /// The seconds spent so far on the oldest of them.
    pub(crate) longest: f64,
}

impl Metrics {
    pub(crate) fn series(&self, name: &'static str) -> QueueSeries {
        QueueSeries {
            adds: self.0.adds.of(&[name]),
            retries: self.0.retries.of(&[name]),
            queue_duration: self.0.queue_duration.of(&[name]),
            work_duration: self.0.work_duration.of(&[name]),
        }
    }

    pub(crate) fn observe(&self, name: &'static str, queue: Weak<dyn Observed>) {
        self.0.queues.lock().push((name, queue));
    }

    /// Adds everything to `out`, in Prometheus' text format.
    pub fn render(&self, out: &mut String) {
        let families = &self.0;
        families.adds.render(out);
        families.retries.render(out);
        families.queue_duration.render(out);
        families.work_duration.render(out);
        let states = self.states();
        let mut gauge = |name: &str, help: &str, value: fn(&QueueState) -> f64| {
            if !states.is_empty() {
                head(out, name, Gauge::KIND, help);
            }
            for (queue, state) in &states {
                line(out, name, &render_labels(&["name"], &[queue]), value(state));
            }
        };
        gauge("workqueue_depth", "Current depth of workqueue", |state| state.depth as f64);
        gauge(
            "workqueue_unfinished_work_seconds",
            "How many seconds of work are in progress and not yet in work_duration.",
            |state| state.unfinished,
        );
        gauge(
            "workqueue_longest_running_processor_seconds",
            "How many seconds the longest running processor of workqueue has been running.",
            |state| state.longest,
        );
    }

    /// The queues that still exist. A controller that was started again has a new queue under the
    /// same name.
    fn states(&self) -> BTreeMap<&'static str, QueueState> {
        let now = Instant::now();
        let mut states: BTreeMap<&'static str, QueueState> = BTreeMap::new();
        self.0.queues.lock().retain(|(name, queue)| {
            let Some(queue) = queue.upgrade() else { return false };
            let (state, sum) = (queue.state(now), states.entry(name).or_default());
            sum.depth += state.depth;
            sum.unfinished += state.unfinished;
            sum.longest = sum.longest.max(state.longest);
            true
        });
        states
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Queue;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn queues_read_as_upstreams_do() {
        let metrics = Metrics::default();
        let queue = Queue::new("deployment", &metrics);
        for name in ["a", "b", "b"] {
            queue.add(name);
        }
        tokio::time::advance(Duration::from_secs(2)).await;
        assert_eq!(queue.next().await, Some("a"));
        tokio::time::advance(Duration::from_millis(500)).await;
        queue.add_rate_limited("c", Duration::from_secs(1));
        let rendered = || {
            let mut out = String::new();
            metrics.render(&mut out);
            out
        };
        let check = |out: &str, expected: &[&str]| {
            for line in expected {
                assert!(out.lines().any(|rendered| rendered == *line), "{line}\n{out}");
            }
        };
        check(
            &rendered(),
            &[
                "# TYPE workqueue_adds_total counter",
                "workqueue_adds_total{name=\"deployment\"} 2",
                "workqueue_retries_total{name=\"deployment\"} 1",
                "# TYPE workqueue_queue_duration_seconds histogram",
                "workqueue_queue_duration_seconds_sum{name=\"deployment\"} 2",
                "workqueue_work_duration_seconds_count{name=\"deployment\"} 0",
                "# TYPE workqueue_depth gauge",
                "workqueue_depth{name=\"deployment\"} 1",
                "workqueue_unfinished_work_seconds{name=\"deployment\"} 0.5",
                "workqueue_longest_running_processor_seconds{name=\"deployment\"} 0.5",
            ],
        );
        queue.done(&"a");
        check(
            &rendered(),
            &[
                "workqueue_work_duration_seconds_sum{name=\"deployment\"} 0.5",
                "workqueue_unfinished_work_seconds{name=\"deployment\"} 0",
            ],
        );
        drop(queue);
        assert!(!rendered().contains("workqueue_depth{"), "the queue is gone");
    }
}
