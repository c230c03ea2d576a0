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

    /// Adds everything to `out`, in the text format that the API server's /metrics is in.
    pub fn render(&self, out: &mut String) {
        let mut registry = Registry::default();
        self.register(&mut registry);
        let mut text = String::new();
        if prometheus_client::encoding::text::encode(&mut text, &registry).is_ok() {
            render_classic(&text, out);
        }
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

/// OpenMetrics in the older format: a counter's head has its whole name, and nothing says
/// where the text ends.
fn render_classic(text: &str, out: &mut String) {
    let mut help = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ');
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            let end = if kind == "counter" { "_total" } else { "" };
            if let Some((_, help)) = help.take() {
                out.push_str(&format!("# HELP {name}{end} {help}\n"));
            }
            out.push_str(&format!("# TYPE {name}{end} {kind}\n"));
        } else if !line.starts_with('#') {
            out.push_str(line);
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_are_told_as_prometheus_reads_them() {
        let metrics = Metrics::default();
        metrics.added("deployment");
        metrics.reconciled("deployment", Duration::from_millis(2), true);
        let mut out = String::new();
        metrics.render(&mut out);
        for line in [
            "# TYPE workqueue_adds_total counter",
            "workqueue_adds_total{name=\"deployment\"} 1",
            "workqueue_retries_total{name=\"deployment\"} 1",
            "# TYPE workqueue_work_duration_seconds histogram",
            "workqueue_work_duration_seconds_count{name=\"deployment\"} 1",
        ] {
            assert!(out.lines().any(|told| told == line), "{line}\n{out}");
        }
        assert!(!out.contains("# EOF"), "{out}");
    }
}
