//! /stats/summary and /metrics: what the node and its containers use.

use super::routes::json;
use super::{Body, text};
use crate::context::Context;
use crate::cri::v1;
use crate::observed::{CONTAINER_NAME_LABEL, PodIdentity};
use http::{Response, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

fn rfc3339(nanos: i64) -> Value {
    match jiff::Timestamp::from_nanosecond(i128::from(nanos)) {
        Ok(time) => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into(),
        Err(_) => Value::Null,
    }
}

fn amount(value: &Option<v1::UInt64Value>) -> Option<u64> {
    value.as_ref().map(|value| value.value)
}

pub(super) async fn summary(context: &Context) -> Response<Body> {
    let stats = match context.runtime.list_container_stats().await {
        Ok(stats) => stats,
        Err(error) => return text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    let mut pods: BTreeMap<String, Value> = BTreeMap::new();
    for stat in stats {
        let Some(attributes) = &stat.attributes else { continue };
        let Some(identity) = PodIdentity::from_labels(&attributes.labels) else { continue };
        let Some(name) = attributes.labels.get(CONTAINER_NAME_LABEL) else { continue };
        let entry = pods.entry(identity.uid.clone()).or_insert_with(|| {
            json!({ "podRef": { "name": identity.name, "namespace": identity.namespace, "uid": identity.uid },
                "containers": [] })
        });
        let container = render_container(name, &stat);
        if let Some(containers) = entry["containers"].as_array_mut() {
            containers.push(container);
        }
    }
    for entry in pods.values_mut() {
        let sum = |kind: &str, field: &str| -> u64 {
            let containers = entry["containers"].as_array().into_iter().flatten();
            containers.filter_map(|container| container[kind][field].as_u64()).sum()
        };
        let (cpu, memory) = (sum("cpu", "usageCoreNanoSeconds"), sum("memory", "workingSetBytes"));
        entry["cpu"] = json!({ "usageCoreNanoSeconds": cpu });
        entry["memory"] = json!({ "workingSetBytes": memory });
    }
    let node = json!({ "nodeName": context.config.node_name, "memory": { "workingSetBytes": node_memory() } });
    json(json!({ "node": node, "pods": pods.into_values().collect::<Vec<_>>() }).to_string())
}

fn render_container(name: &str, stat: &v1::ContainerStats) -> Value {
    let mut container = json!({ "name": name });
    if let Some(cpu) = &stat.cpu {
        container["cpu"] =
            json!({ "time": rfc3339(cpu.timestamp), "usageCoreNanoSeconds": amount(&cpu.usage_core_nano_seconds) });
    }
    if let Some(memory) = &stat.memory {
        container["memory"] =
            json!({ "time": rfc3339(memory.timestamp), "workingSetBytes": amount(&memory.working_set_bytes) });
    }
    if let Some(layer) = &stat.writable_layer {
        container["rootfs"] = json!({ "time": rfc3339(layer.timestamp), "usedBytes": amount(&layer.used_bytes), "inodesUsed": amount(&layer.inodes_used) });
    }
    container
}

/// Memory in use that could not be had back at once.
fn node_memory() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let field = |name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
    };
    field("MemTotal:").saturating_sub(field("MemAvailable:"))
}

pub(super) async fn metrics(context: &Context) -> Response<Body> {
    let mut running = 0;
    context.pods.for_each(|pod| running += usize::from(pod.view().status().phase() == "Running"));
    let containers = context.runtime.list_containers(None).await.unwrap_or_default();
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for container in &containers {
        let state = match v1::ContainerState::try_from(container.state) {
            Ok(v1::ContainerState::ContainerCreated) => "created",
            Ok(v1::ContainerState::ContainerRunning) => "running",
            Ok(v1::ContainerState::ContainerExited) => "exited",
            _ => "unknown",
        };
        *states.entry(state).or_default() += 1;
    }
    let mut out = String::new();
    let _ = writeln!(out, "# HELP kubelet_running_pods Number of pods that have a running pod sandbox");
    let _ = writeln!(out, "# TYPE kubelet_running_pods gauge\nkubelet_running_pods {running}");
    let _ = writeln!(out, "# HELP kubelet_running_containers Number of containers currently known, by state");
    let _ = writeln!(out, "# TYPE kubelet_running_containers gauge");
    for (state, count) in states {
        let _ = writeln!(out, "kubelet_running_containers{{container_state=\"{state}\"}} {count}");
    }
    text(StatusCode::OK, out)
}
