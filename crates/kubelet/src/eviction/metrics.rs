//! Figures of evictions and of garbage collection, under upstream's names
//! (pkg/kubelet/metrics/metrics.go). `server/stats.rs` renders them at /metrics.

use ferry_metrics::Counters;
use ferry_metrics::family::{Histogram, Instrument};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// Upstream's: Prometheus' default buckets.
const AGES: &[f64] = &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

#[derive(Default)]
pub struct EvictionMetrics {
    counters: Counters,
    ages: Mutex<BTreeMap<&'static str, Histogram>>,
    /// Seconds since the epoch at which the node's shutdown began and ended; zero for none.
    shutdown: Mutex<(f64, f64)>,
}

impl EvictionMetrics {
    pub fn count_eviction(&self, signal: &'static str) {
        let help = "Cumulative number of pod evictions by eviction signal";
        self.counters.count("kubelet_evictions", help, &[("eviction_signal", signal)]);
    }

    /// How old the figures were that a decision was taken by.
    pub fn observe_age(&self, signal: &'static str, age: Duration) {
        let mut ages = self.ages.lock();
        ages.entry(signal).or_insert_with(|| Histogram::new(AGES)).observe_time(age);
    }

    /// `reason` is `age` or `space`.
    pub fn count_collected_image(&self, reason: &'static str) {
        let help = "Total number of images garbage collected by the kubelet, whether through disk usage or image age.";
        self.counters.count("kubelet_image_garbage_collected_total", help, &[("reason", reason)]);
    }

    pub fn set_shutdown(&self, start: f64, end: f64) {
        *self.shutdown.lock() = (start, end);
    }

    pub fn render(&self, out: &mut String) {
        self.counters.render(out);
        let ages = self.ages.lock();
        if !ages.is_empty() {
            let name = "kubelet_eviction_stats_age_seconds";
            let _ = writeln!(
                out,
                "# HELP {name} Time between when stats are collected, and when pod is evicted based on those stats by eviction signal"
            );
            let _ = writeln!(out, "# TYPE {name} histogram");
            ages.iter().for_each(|(signal, ages)| ages.render(name, &format!("eviction_signal={signal:?}"), out));
        }
        let (start, end) = *self.shutdown.lock();
        for (name, what, value) in [("start", "start", start), ("end", "end", end)] {
            let name = format!("kubelet_graceful_shutdown_{name}_time_seconds");
            let _ = writeln!(out, "# HELP {name} Last graceful shutdown {what} time since unix epoch in seconds");
            let _ = writeln!(out, "# TYPE {name} gauge\n{name} {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evictions_have_upstreams_names() {
        let metrics = EvictionMetrics::default();
        metrics.count_eviction("memory.available");
        metrics.observe_age("memory.available", Duration::from_millis(20));
        metrics.set_shutdown(5.5, 0.0);
        let mut text = String::new();
        metrics.render(&mut text);
        for line in [
            "kubelet_evictions{eviction_signal=\"memory.available\"} 1",
            "kubelet_eviction_stats_age_seconds_bucket{eviction_signal=\"memory.available\",le=\"0.025\"} 1",
            "kubelet_graceful_shutdown_start_time_seconds 5.5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
