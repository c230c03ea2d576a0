//! /metrics/probes: how often the probes of each container ended how, and how long they took; gone
//! with the probe (upstream: pkg/kubelet/prober).

use super::{Answer, ProbeKind};
use ferry_api::view::core::v1::PodView;
use ferry_metrics::family::{Counter, Family, Histogram};
use std::sync::Arc;
use std::time::Duration;

const TOTAL_LABELS: [&str; 6] = ["container", "namespace", "pod", "pod_uid", "probe_type", "result"];
const DURATION_LABELS: [&str; 4] = ["container", "namespace", "pod", "probe_type"];
/// The default buckets of Prometheus' clients.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

pub struct ProbeMetrics {
    total: Family<Counter>,
    duration: Family<Histogram>,
}

impl Default for ProbeMetrics {
    fn default() -> Self {
        let help = "[BETA] Cumulative number of a liveness, readiness or startup probe for a container by result.";
        let total = Family::new("prober_probe_total", help, &TOTAL_LABELS, Counter::default);
        let help = "[ALPHA] Duration in seconds for a probe response.";
        let make = || Histogram::new(&BOUNDS);
        Self { total, duration: Family::new("prober_probe_duration_seconds", help, &DURATION_LABELS, make) }
    }
}

/// One probe of one container; its series end with it.
pub(super) struct CountedProbe {
    metrics: Arc<ProbeMetrics>,
    container: String,
    namespace: String,
    pod: String,
    uid: String,
    kind: ProbeKind,
}

impl CountedProbe {
    pub(super) fn new(metrics: Arc<ProbeMetrics>, pod: PodView<'_>, container: &str, kind: ProbeKind) -> Self {
        let meta = pod.metadata();
        let [container, namespace, pod, uid] =
            [container, meta.namespace(), meta.name(), meta.uid()].map(str::to_owned);
        Self { metrics, container, namespace, pod, uid, kind }
    }

    pub(super) fn count(&self, answer: &Answer, took: Duration) {
        let result = match answer {
            Answer::Success | Answer::Warning(_) => "successful",
            Answer::Failure(_) => "failed",
            Answer::Error(_) => "unknown",
        };
        let (metrics, kind) = (&self.metrics, self.kind.name());
        metrics.total.of(&[&self.container, &self.namespace, &self.pod, &self.uid, kind, result]).count();
        if result != "unknown" {
            metrics.duration.of(&[&self.container, &self.namespace, &self.pod, kind]).observe_time(took);
        }
    }
}

impl Drop for CountedProbe {
    fn drop(&mut self) {
        let own = [
            ("container", self.container.as_str()),
            ("namespace", &self.namespace),
            ("pod", &self.pod),
            ("probe_type", self.kind.name()),
        ];
        self.metrics.total.forget(&own);
        self.metrics.duration.forget(&own);
    }
}

impl ProbeMetrics {
    pub fn render(&self, page: &mut String) {
        self.duration.render(page);
        self.total.render(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn probes_are_counted_by_their_end_until_they_end_themselves() {
        let metrics = Arc::<ProbeMetrics>::default();
        let pod = json!({ "metadata": { "name": "web", "namespace": "ns", "uid": "u" } });
        let probe = CountedProbe::new(metrics.clone(), (&pod).into(), "c", ProbeKind::Readiness);
        probe.count(&Answer::Success, Duration::from_millis(3));
        probe.count(&Answer::Error("x".into()), Duration::ZERO);
        let render = || {
            let mut page = String::new();
            metrics.render(&mut page);
            page
        };
        let own = r#"container="c",namespace="ns",pod="web",pod_uid="u",probe_type="Readiness",result="#;
        for line in [
            format!("prober_probe_total{{{own}\"successful\"}} 1"),
            format!("prober_probe_total{{{own}\"unknown\"}} 1"),
        ] {
            assert!(render().contains(&line), "{}", render());
        }
        assert!(render().contains("prober_probe_duration_seconds_count{"), "{}", render());
        drop(probe);
        assert_eq!(render(), "");
    }
}
