//! What the runner counts, under upstream's metric names (component-base's workqueue).

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Name {
    name: &'static str,
}

/// Shared by all controllers of a process; cloning shares the counts.
#[derive(Clone)]
pub struct Metrics {
    adds: Family<Name, Counter>,
    retries: Family<Name, Counter>,
    work: Family<Name, Histogram, fn() -> Histogram>,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            adds: Family::default(),
            retries: Family::default(),
            // Upstream's buckets: ten nanoseconds to ten seconds, a factor of ten apart.
            work: Family::new_with_constructor(|| {
                Histogram::new([1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0])
            }),
        }
    }
}

impl Metrics {
    /// Called once by whoever serves /metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("workqueue_adds", "Total number of adds handled by workqueue", self.adds.clone());
        registry.register("workqueue_retries", "Total number of retries handled by workqueue", self.retries.clone());
        registry.register(
            "workqueue_work_duration_seconds",
            "How long in seconds processing an item from workqueue takes",
            self.work.clone(),
        );
    }

    pub(crate) fn added(&self, name: &'static str) {
        self.adds.get_or_create(&Name { name }).inc();
    }

    pub(crate) fn reconciled(&self, name: &'static str, took: Duration, failed: bool) {
        self.work.get_or_create(&Name { name }).observe(took.as_secs_f64());
        if failed {
            self.retries.get_or_create(&Name { name }).inc();
        }
    }
}
