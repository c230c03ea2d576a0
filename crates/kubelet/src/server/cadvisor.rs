//! /metrics/cadvisor: the usage of containers, pods and the machine by the names that cAdvisor gives
//! them, with upstream's labels: `container`, `id`, `image`, `name`, `namespace`, `pod`; a pod as a whole
//! has no container, and the machine is `id="/"`. Rendering is pure but for the pods' specs.

use crate::context::Context;
use crate::stats::{ContainerUsage, CpuUsage, MemoryUsage, PodUsage, UsageSample};
use ferry_api::view::core::v1::{ContainerView, PodView};
use ferry_metrics::family::{head, render_labels};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

const LABELS: [&str; 6] = ["container", "id", "image", "name", "namespace", "pod"];

/// One line: its labels, its value, and the time of the reading in nanoseconds.
struct Line {
    labels: String,
    value: f64,
    time: i64,
}

#[derive(Default)]
struct Page(BTreeMap<&'static str, Vec<Line>>);

/// The name, type and help of each metric; a page has them in the order of their names.
const METRICS: [(&str, &str, &str); 15] = [
    ("container_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed in seconds."),
    ("container_fs_inodes_total", "gauge", "Number of Inodes"),
    ("container_fs_usage_bytes", "gauge", "Number of bytes that are consumed by the container on this filesystem."),
    ("container_last_seen", "gauge", "Last time a container was seen by the exporter"),
    ("container_memory_failures_total", "counter", "Cumulative count of memory allocation failures."),
    ("container_memory_rss", "gauge", "Size of RSS in bytes."),
    (
        "container_memory_usage_bytes",
        "gauge",
        "Current memory usage in bytes, including all memory regardless of when it was accessed",
    ),
    ("container_memory_working_set_bytes", "gauge", "Current working set in bytes."),
    ("container_spec_cpu_period", "gauge", "CPU period of the container."),
    ("container_spec_cpu_quota", "gauge", "CPU quota of the container."),
    ("container_spec_cpu_shares", "gauge", "CPU share of the container."),
    ("container_spec_memory_limit_bytes", "gauge", "Memory limit for the container."),
    ("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds."),
    ("machine_cpu_cores", "gauge", "Number of logical CPU cores."),
    ("machine_memory_bytes", "gauge", "Amount of memory installed on the machine."),
];

pub(super) fn render(sample: &UsageSample, context: &Context) -> String {
    let mut specs = HashMap::new();
    for pod in &sample.pods {
        let found = context.pods.get(&pod.namespace, &pod.name).filter(|found| found.uid() == pod.uid);
        specs.extend(found.map(|found| (pod.uid.as_str(), found)));
    }
    let mut page = Page::default();
    page.usage("", &labels("", "/", "", "", "", ""), sample.cpu.as_ref(), sample.memory.as_ref());
    page.machine(&context.machine());
    for pod in &sample.pods {
        let view = specs.get(pod.uid.as_str()).map(|found| found.view());
        page.pod(pod, view);
    }
    page.render()
}

fn labels(container: &str, id: &str, image: &str, name: &str, namespace: &str, pod: &str) -> String {
    render_labels(&LABELS, &[container, id, image, name, namespace, pod])
}

fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}

impl Page {
    fn add(&mut self, metric: &'static str, labels: &str, value: f64, time: i64) {
        self.0.entry(metric).or_default().push(Line { labels: labels.to_owned(), value, time });
    }

    fn machine(&mut self, machine: &crate::container::Machine) {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.add("machine_cpu_cores", "", cores as f64, 0);
        self.add("machine_memory_bytes", "", machine.memory_capacity as f64, 0);
    }

    fn usage(&mut self, scope: &str, labels: &str, cpu: Option<&CpuUsage>, memory: Option<&MemoryUsage>) {
        if let Some(cpu) = cpu {
            let total = format!("{labels},cpu=\"total\"");
            self.add("container_cpu_usage_seconds_total", &total, cpu.core_nano_seconds as f64 / 1e9, cpu.time);
            self.add("container_last_seen", labels, seconds(cpu.time).floor(), cpu.time);
        }
        let Some(memory) = memory else { return };
        let values = [
            ("container_memory_rss", memory.rss),
            ("container_memory_usage_bytes", memory.usage),
            ("container_memory_working_set_bytes", memory.working_set),
        ];
        for (metric, value) in values {
            if let Some(value) = value {
                self.add(metric, labels, value as f64, memory.time);
            }
        }
        for (kind, value) in [("pgfault", memory.page_faults), ("pgmajfault", memory.major_page_faults)] {
            if let Some(value) = value {
                let labels = format!(
                    "{labels},failure_type=\"{kind}\",scope=\"{}\"",
                    if scope.is_empty() { "hierarchy" } else { scope }
                );
                self.add("container_memory_failures_total", &labels, value as f64, memory.time);
            }
        }
    }

    fn pod(&mut self, pod: &PodUsage, spec: Option<PodView<'_>>) {
        let own = labels("", &format!("/pod{}", pod.uid), "", "", &pod.namespace, &pod.name);
        self.usage("hierarchy", &own, pod.cpu.as_ref(), pod.memory.as_ref());
        for container in &pod.containers {
            let found = spec.and_then(|spec| crate::pod::find_container(spec, &container.name));
            self.container(pod, container, found.map(|(_, container)| container));
        }
    }

    fn container(&mut self, pod: &PodUsage, container: &ContainerUsage, spec: Option<ContainerView<'_>>) {
        let image = spec.map(|spec| spec.image()).unwrap_or_default();
        let id = format!("/pod{}/{}", pod.uid, container.id);
        let own = labels(&container.name, &id, image, &container.id, &pod.namespace, &pod.name);
        self.usage("container", &own, container.cpu.as_ref(), container.memory.as_ref());
        if container.started > 0 {
            self.add("container_start_time_seconds", &own, seconds(container.started).floor(), 0);
        }
        if let Some(layer) = &container.writable_layer {
            let used = [("container_fs_usage_bytes", layer.used), ("container_fs_inodes_total", layer.inodes)];
            for (metric, value) in used {
                if let Some(value) = value {
                    self.add(metric, &own, value as f64, layer.time);
                }
            }
        }
        let Some(spec) = spec else { return };
        let (requests, limits) = (spec.resources().requests(), spec.resources().limits());
        let request = requests.get("cpu").or(limits.get("cpu")).map_or(0, |cpu| cpu.milli_value());
        let shares = crate::container::resources::cpu_shares(request);
        self.add("container_spec_cpu_period", &own, crate::container::resources::PERIOD_MICROSECONDS as f64, 0);
        self.add("container_spec_cpu_shares", &own, shares as f64, 0);
        if let Some(cpu) = limits.get("cpu") {
            let quota = crate::container::resources::cpu_quota(cpu.milli_value());
            self.add("container_spec_cpu_quota", &own, quota as f64, 0);
        }
        let memory = limits.get("memory").map_or(0, |memory| memory.value());
        self.add("container_spec_memory_limit_bytes", &own, memory as f64, 0);
    }

    fn render(&self) -> String {
        let mut out = String::new();
        for (name, kind, help) in METRICS {
            let Some(lines) = self.0.get(name) else { continue };
            head(&mut out, name, kind, help);
            for line in lines {
                let labels = if line.labels.is_empty() { String::new() } else { format!("{{{}}}", line.labels) };
                let time = if line.time > 0 { format!(" {}", line.time / 1_000_000) } else { String::new() };
                let _ = writeln!(out, "{name}{labels} {}{time}", line.value);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn containers_pods_and_the_machine_have_cadvisors_names() {
        let cpu =
            Some(CpuUsage { time: 1_700_000_000_123_000_000, core_nano_seconds: 1_500_000_000, nano_cores: None });
        let memory = Some(MemoryUsage {
            time: 1_700_000_000_123_000_000,
            rss: Some(7),
            page_faults: Some(2),
            ..Default::default()
        });
        let container = ContainerUsage { id: "abc".into(), name: "c".into(), cpu, memory, ..Default::default() };
        let pod = PodUsage {
            namespace: "ns".into(),
            name: "web".into(),
            uid: "u".into(),
            cpu,
            containers: vec![container],
            ..Default::default()
        };
        let spec = json!({ "spec": { "containers": [{ "name": "c", "image": "i:1", "resources": { "limits": { "cpu": "500m" } } }] } });
        let mut page = Page::default();
        page.pod(&pod, Some((&spec).into()));
        let text = page.render();
        let own = r#"container="c",id="/podu/abc",image="i:1",name="abc",namespace="ns",pod="web""#;
        for line in [
            format!("container_cpu_usage_seconds_total{{{own},cpu=\"total\"}} 1.5 1700000000123"),
            format!("container_memory_rss{{{own}}} 7 1700000000123"),
            format!("container_memory_failures_total{{{own},failure_type=\"pgfault\",scope=\"container\"}} 2 1700000000123"),
            format!("container_spec_cpu_quota{{{own}}} 50000"),
            r#"container_cpu_usage_seconds_total{container="",id="/podu",image="",name="",namespace="ns",pod="web",cpu="total"} 1.5 1700000000123"#.to_owned(),
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\n{text}");
        }
        let named: Vec<&str> = METRICS.iter().map(|(name, ..)| *name).collect();
        assert!(page.0.keys().all(|name| named.contains(name)));
    }
}
