//! /metrics/resource: a sample in Prometheus' text format with upstream's names
//! (pkg/kubelet/metrics/collectors/resource_metrics.go). metrics-server and ferry's own
//! API server read it.

use super::UsageSample;
use std::fmt::Write;

/// One line of a metric: its labels, its value, and the millisecond at which it was true.
struct Line {
    labels: String,
    value: f64,
    time: Option<i64>,
}

/// The whole page. `None` is a sample that could not be taken.
pub fn render(sample: Option<&UsageSample>) -> String {
    let mut out = String::new();
    if let Some(sample) = sample {
        render_usage(sample, &mut out);
    }
    let failed = if sample.is_none() { 1.0 } else { 0.0 };
    let result = || vec![Line { labels: String::new(), value: failed, time: None }];
    let help = "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise";
    metric(&mut out, "resource_scrape_error", "gauge", help, result());
    let help = "[ALPHA] (Deprecated since 1.29.0) 1 if there was an error while getting container metrics, 0 otherwise";
    metric(&mut out, "scrape_error", "gauge", help, result());
    out
}

fn render_usage(sample: &UsageSample, out: &mut String) {
    let mut container_cpu = Vec::new();
    let mut container_memory = Vec::new();
    let mut container_start = Vec::new();
    let mut pod_cpu = Vec::new();
    let mut pod_memory = Vec::new();
    for pod in &sample.pods {
        let of_pod = format!("namespace=\"{}\",pod=\"{}\"", escape(&pod.namespace), escape(&pod.name));
        for container in &pod.containers {
            let labels = format!("container=\"{}\",{of_pod}", escape(&container.name));
            if let Some(cpu) = &container.cpu {
                container_cpu.push(stamped(&labels, seconds(cpu.core_nano_seconds), cpu.time));
            }
            if let Some((memory, bytes)) = container.memory.as_ref().and_then(|m| Some((m, m.working_set?))) {
                container_memory.push(stamped(&labels, bytes as f64, memory.time));
            }
            if let Ok(started) = u64::try_from(container.started)
                && started > 0
            {
                container_start.push(Line { labels, value: seconds(started), time: None });
            }
        }
        if let Some(cpu) = &pod.cpu {
            pod_cpu.push(stamped(&of_pod, seconds(cpu.core_nano_seconds), cpu.time));
        }
        if let Some((memory, bytes)) = pod.memory.as_ref().and_then(|m| Some((m, m.working_set?))) {
            pod_memory.push(stamped(&of_pod, bytes as f64, memory.time));
        }
    }
    let node_cpu = sample.cpu.iter().map(|cpu| stamped("", seconds(cpu.core_nano_seconds), cpu.time)).collect();
    let node_memory = sample.memory.iter().filter_map(|m| Some(stamped("", m.working_set? as f64, m.time))).collect();
    // Prometheus' registry sorts metrics by name.
    let help = "[STABLE] Cumulative cpu time consumed by the container in core-seconds";
    metric(out, "container_cpu_usage_seconds_total", "counter", help, container_cpu);
    let help = "[STABLE] Current working set of the container in bytes";
    metric(out, "container_memory_working_set_bytes", "gauge", help, container_memory);
    let help = "[STABLE] Start time of the container since unix epoch in seconds";
    metric(out, "container_start_time_seconds", "gauge", help, container_start);
    let help = "[STABLE] Cumulative cpu time consumed by the node in core-seconds";
    metric(out, "node_cpu_usage_seconds_total", "counter", help, node_cpu);
    let help = "[STABLE] Current working set of the node in bytes";
    metric(out, "node_memory_working_set_bytes", "gauge", help, node_memory);
    let help = "[STABLE] Cumulative cpu time consumed by the pod in core-seconds";
    metric(out, "pod_cpu_usage_seconds_total", "counter", help, pod_cpu);
    let help = "[STABLE] Current working set of the pod in bytes";
    metric(out, "pod_memory_working_set_bytes", "gauge", help, pod_memory);
}

fn stamped(labels: &str, value: f64, nanoseconds: i64) -> Line {
    Line { labels: labels.to_owned(), value, time: Some(nanoseconds / 1_000_000) }
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// A metric without lines is left out altogether.
fn metric(out: &mut String, name: &str, kind: &str, help: &str, lines: Vec<Line>) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
    for line in lines {
        let labels = if line.labels.is_empty() { String::new() } else { format!("{{{}}}", line.labels) };
        let time = line.time.map(|time| format!(" {time}")).unwrap_or_default();
        let _ = writeln!(out, "{name}{labels} {}{time}", line.value);
    }
}

/// A label's value between quotes.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::{ContainerUsage, CpuUsage, MemoryUsage, PodUsage};
    use super::*;

    #[test]
    fn a_sample_is_rendered_with_upstreams_names_and_the_time_of_each_reading() {
        let cpu =
            |core_nano_seconds| Some(CpuUsage { time: 1_700_000_000_123_456_789, core_nano_seconds, nano_cores: None });
        let memory = |bytes| {
            Some(MemoryUsage { time: 1_700_000_000_124_000_000, working_set: Some(bytes), ..MemoryUsage::default() })
        };
        let container = ContainerUsage {
            name: "main".into(),
            started: 1_600_000_000_500_000_000,
            cpu: cpu(1_500_000_000),
            memory: memory(4096),
            ..ContainerUsage::default()
        };
        let quiet = ContainerUsage { name: "quiet".into(), ..ContainerUsage::default() };
        let pod = PodUsage {
            namespace: "default".into(),
            name: "web".into(),
            cpu: cpu(2_000_000_000),
            memory: memory(8192),
            containers: vec![container, quiet],
            ..PodUsage::default()
        };
        let sample = UsageSample { cpu: cpu(9_000_000_000), memory: memory(1 << 30), pods: vec![pod], started: 0 };
        let page = render(Some(&sample));
        let lines: Vec<&str> = page.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            [
                r#"container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 1.5 1700000000123"#,
                r#"container_memory_working_set_bytes{container="main",namespace="default",pod="web"} 4096 1700000000124"#,
                r#"container_start_time_seconds{container="main",namespace="default",pod="web"} 1600000000.5"#,
                "node_cpu_usage_seconds_total 9 1700000000123",
                "node_memory_working_set_bytes 1073741824 1700000000124",
                r#"pod_cpu_usage_seconds_total{namespace="default",pod="web"} 2 1700000000123"#,
                r#"pod_memory_working_set_bytes{namespace="default",pod="web"} 8192 1700000000124"#,
                "resource_scrape_error 0",
                "scrape_error 0",
            ]
        );
        assert!(page.contains("# TYPE pod_cpu_usage_seconds_total counter\n"), "{page}");
    }

    #[test]
    fn a_sample_that_could_not_be_taken_is_an_error_and_no_figures() {
        let page = render(None);
        let lines: Vec<&str> = page.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(lines, ["resource_scrape_error 1", "scrape_error 1"]);
    }
}
