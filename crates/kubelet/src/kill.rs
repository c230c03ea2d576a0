//! Ending containers: preStop, the stop signal, the grace period, and then the kill.

use crate::context::Context;
use crate::cri;
use crate::lifecycle;
use crate::observed::{ContainerRecord, PodRuntime, State};
use crate::plan::KillReason;
use crate::pod;
use crate::sync::container_reference;
use ferry_api::view::core::v1::{ContainerView, PodView};
use ferry_client::EventType;
use futures_util::future::join_all;
use std::time::{Duration, Instant};

/// Even a pod deleted at once gives its processes this long to hear of it.
const SHORTEST_GRACE: i64 = 2;

pub struct KillOrder<'a> {
    pub record: &'a ContainerRecord,
    /// Empty for the usual sentence.
    pub message: String,
    pub reason: KillReason,
    pub grace_override: Option<i64>,
}

/// How long a container may take to end, in seconds.
pub fn grace_period(pod: PodView<'_>, container: Option<ContainerView<'_>>, reason: KillReason) -> i64 {
    if let Some(seconds) = pod.metadata().deletion_grace_period_seconds() {
        return seconds;
    }
    let of_probe = match reason {
        KillReason::LivenessProbe => container.and_then(|c| c.liveness_probe()),
        KillReason::StartupProbe => container.and_then(|c| c.startup_probe()),
        _ => None,
    };
    of_probe
        .and_then(|probe| probe.termination_grace_period_seconds())
        .or(pod.spec().termination_grace_period_seconds())
        .unwrap_or(SHORTEST_GRACE)
}

pub async fn kill_container(
    context: &Context,
    pod: PodView<'_>,
    pod_ip: &str,
    order: KillOrder<'_>,
) -> cri::Result<()> {
    let record = order.record;
    let container = pod::find_container(pod, &record.name).map(|(_, container)| container);
    let mut grace = order.grace_override.unwrap_or_else(|| grace_period(pod, container, order.reason));
    let message = if order.message.is_empty() { format!("Stopping container {}", record.name) } else { order.message };
    let reference = container_reference(pod, &record.name);
    context.recorder.event(&reference, EventType::Normal, "Killing", message);
    let hook = container.and_then(|container| container.lifecycle()?.pre_stop());
    if let (Some(hook), Some(container), true) = (hook, container, grace > 0) {
        let began = Instant::now();
        let limit = Duration::from_secs(u64::try_from(grace).unwrap_or(0));
        let run = lifecycle::run(&*context.runtime, pod, container, &record.id, pod_ip, hook);
        match tokio::time::timeout(limit, run).await {
            Ok(Ok(())) => {}
            Ok(Err(why)) => {
                tracing::warn!(pod = %pod::full_name(pod), container = %record.name, %why, "preStop hook failed");
                // The output may hold secrets, so the event does not repeat it.
                context.recorder.event(&reference, EventType::Warning, "FailedPreStopHook", "PreStopHook failed");
            }
            Err(_) => {
                tracing::info!(pod = %pod::full_name(pod), container = %record.name, "preStop hook took all of the grace period");
            }
        }
        grace -= began.elapsed().as_secs() as i64;
    }
    let grace = Duration::from_secs(grace.max(SHORTEST_GRACE) as u64);
    context.runtime.stop_container(&record.id, grace).await
}

/// Ends everything of a pod: its containers at once, then its sidecars one by one from
/// the last to the first, then its sandboxes. May be repeated.
pub async fn kill_pod(
    context: &Context,
    pod: PodView<'_>,
    runtime: &PodRuntime,
    grace_override: Option<i64>,
) -> cri::Result<()> {
    let ip = runtime.ips().first().cloned().unwrap_or_default();
    let is_sidecar = |record: &ContainerRecord| {
        pod::init_containers(pod).iter().any(|c| c.name() == record.name && pod::is_sidecar(c))
    };
    let alive = |record: &&ContainerRecord| matches!(record.state, State::Running | State::Unknown);
    let began = Instant::now();
    let order = |record, grace_override| KillOrder {
        record,
        message: String::new(),
        reason: KillReason::PodKilled,
        grace_override,
    };
    let first = runtime.containers.iter().filter(alive).filter(|record| !is_sidecar(record));
    let killed = join_all(first.map(|record| kill_container(context, pod, &ip, order(record, grace_override)))).await;
    killed.into_iter().collect::<cri::Result<Vec<()>>>()?;
    let mut sidecars: Vec<&ContainerRecord> =
        runtime.containers.iter().filter(alive).filter(|record| is_sidecar(record)).collect();
    sidecars.sort_by_key(|record| {
        std::cmp::Reverse(pod::init_containers(pod).iter().position(|c| c.name() == record.name))
    });
    for record in sidecars {
        let whole = grace_override.unwrap_or_else(|| grace_period(pod, None, KillReason::PodKilled));
        let left = (whole - began.elapsed().as_secs() as i64).max(SHORTEST_GRACE);
        kill_container(context, pod, &ip, order(record, Some(left))).await?;
    }
    for sandbox in &runtime.sandboxes {
        context.runtime.stop_pod_sandbox(&sandbox.id).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    #[test]
    fn whose_grace_period_counts() {
        let mut pod = pod(json!({ "terminationGracePeriodSeconds": 30, "containers": [{ "name": "a",
            "livenessProbe": { "terminationGracePeriodSeconds": 5 } }] }));
        let check = |pod: PodView<'_>, reason, expected| {
            assert_eq!(grace_period(pod, pod.spec().containers().first(), reason), expected);
        };
        check(pod.view(), KillReason::LivenessProbe, 5);
        check(pod.view(), KillReason::StartupProbe, 30);
        pod.edit_metadata(|meta| meta.set_deletion_grace_period_seconds(1));
        check(pod.view(), KillReason::LivenessProbe, 1);
    }
}
