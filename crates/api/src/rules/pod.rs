//! The state of a pod as every component must see it: terminal, being deleted, active, ready,
//! available.
//!
//! Upstream: pkg/api/v1/pod/util.go, and `IsPodActive` of pkg/controller/controller_utils.go.

use super::condition;
use crate::view::core::v1::{ContainerView, PodConditionView, PodView};
use jiff::Timestamp;
use std::time::Duration;

/// Whether an init container keeps running beside the others.
pub fn is_sidecar(container: ContainerView<'_>) -> bool {
    container.restart_policy() == Some("Always")
}

/// Whether a pod in this phase has stopped for good.
pub fn is_terminal_phase(phase: &str) -> bool {
    matches!(phase, "Succeeded" | "Failed")
}

/// Every container has stopped and none will start again.
pub fn is_terminal(pod: PodView<'_>) -> bool {
    is_terminal_phase(pod.status().phase())
}

/// The pod has been asked to stop.
pub fn is_deleting(pod: PodView<'_>) -> bool {
    pod.metadata().deletion_timestamp().is_some()
}

/// The pod counts towards a controller's replicas.
pub fn is_active(pod: PodView<'_>) -> bool {
    !is_terminal(pod) && !is_deleting(pod)
}

/// The pod has been asked to stop and still runs.
pub fn is_terminating(pod: PodView<'_>) -> bool {
    !is_terminal(pod) && is_deleting(pod)
}

/// The pod stands for a static pod of a kubelet's own files, and there is nothing to run.
pub fn is_mirror(pod: PodView<'_>) -> bool {
    pod.metadata().annotations().contains_key("kubernetes.io/config.mirror")
}

/// The condition of that type.
pub fn condition<'a>(pod: PodView<'a>, kind: &str) -> Option<PodConditionView<'a>> {
    condition::find(pod.status().conditions(), kind)
}

/// The pod has all of its containers and readiness gates ready, and serves.
pub fn is_ready(pod: PodView<'_>) -> bool {
    condition::is_true(pod.status().conditions(), "Ready")
}

/// The time at which the pod became ready; `None` for one that is not, or does not state it.
pub fn ready_since(pod: PodView<'_>) -> Option<Timestamp> {
    condition(pod, "Ready").filter(|ready| ready.status() == "True")?.last_transition_time()
}

/// The time that a pod is away from available, which is ready for `minReadySeconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    NotReady,
    In(Duration),
    Available,
}

/// A pod that does not state when it became ready is not available, unless
/// `minReadySeconds` is zero.
pub fn availability(pod: PodView<'_>, min_ready_seconds: i32, now: Timestamp) -> Availability {
    if !is_ready(pod) {
        return Availability::NotReady;
    }
    if min_ready_seconds <= 0 {
        return Availability::Available;
    }
    let Some(since) = ready_since(pod) else { return Availability::NotReady };
    let needed = Duration::from_secs(min_ready_seconds.unsigned_abs().into());
    // A clock that is behind the kubelet's has seen nothing elapse yet.
    let elapsed = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    match needed.checked_sub(elapsed) {
        None | Some(Duration::ZERO) => Availability::Available,
        Some(left) => Availability::In(left),
    }
}

pub fn is_available(pod: PodView<'_>, min_ready_seconds: i32, now: Timestamp) -> bool {
    availability(pod, min_ready_seconds, now) == Availability::Available
}
