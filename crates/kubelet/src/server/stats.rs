//! /stats/summary, /metrics/resource and /metrics: the usage of the node and its containers
//! (`crate::stats`), and figures of the kubelet itself.

use super::routes::{Query, json};
use super::{Body, cadvisor, text, volume_stats};
use crate::context::Context;
use crate::cri::{RuntimeError, v1};
use crate::stats::summary::{FilesystemRoom, Filesystems};
use crate::stats::{UsageSample, resource_metrics, summary};
use http::{Response, StatusCode};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// The usage of the node, its pods and their containers; `only_cpu_and_memory` leaves out
/// the filesystems.
pub(super) async fn summary(context: &Context, query: &Query) -> Response<Body> {
    let sample = match sample(context).await {
        Ok(sample) => sample,
        Err(error) => return text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    };
    let is_short = query.flag(&["only_cpu_and_memory"]);
    let filesystems = if is_short { None } else { Some(read_filesystems(context).await) };
    let mut page = summary::render(&context.config.node_name, &sample, filesystems);
    if !is_short {
        volume_stats::add_to_summary(&mut page, &volume_stats::read(context).await);
    }
    json(page.to_string())
}

/// The same in Prometheus' format, which metrics-server reads.
pub(super) async fn resource_metrics(context: &Context) -> Response<Body> {
    let sample = sample(context).await;
    if let Err(error) = &sample {
        tracing::warn!(%error, "the usage of containers cannot be read");
    }
    prometheus(resource_metrics::render(sample.ok().as_deref()))
}

/// The same by cAdvisor's names, which dashboards are written against.
pub(super) async fn cadvisor_metrics(context: &Context) -> Response<Body> {
    match sample(context).await {
        Ok(sample) => prometheus(cadvisor::render(&sample, context)),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// How the probes of containers have ended.
pub(super) fn probe_metrics(context: &Context) -> Response<Body> {
    let mut page = String::new();
    context.probe_metrics.render(&mut page);
    prometheus(page)
}

fn prometheus(page: String) -> Response<Body> {
    let mut response = text(StatusCode::OK, page);
    let format = http::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert("content-type", format);
    response
}

async fn sample(context: &Context) -> Result<Arc<UsageSample>, RuntimeError> {
    context.stats.sample(&*context.runtime, &context.machine().cgroup_root).await
}

async fn read_filesystems(context: &Context) -> Filesystems {
    let images = context.runtime.image_fs_info().await.unwrap_or_default();
    let images = images.image_filesystems.first().and_then(|usage| {
        let amount = |value: &Option<v1::UInt64Value>| value.as_ref().map(|value| value.value);
        let room = FilesystemRoom::of(Path::new(&usage.fs_id.as_ref()?.mountpoint))?;
        Some((room, amount(&usage.used_bytes).unwrap_or(0), amount(&usage.inodes_used)))
    });
    Filesystems { node: FilesystemRoom::of(&context.config.root_dir), images }
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
    volume_stats::render_metrics(&volume_stats::read(context).await, &mut out);
    context.eviction_metrics.render(&mut out);
    prometheus(out)
}
