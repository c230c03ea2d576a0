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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_pod_is_active_until_it_ends_or_is_deleted() {
        let check = |phase: &str, deleted: bool, active: bool, terminating: bool| {
            let time = deleted.then_some("2026-01-01T00:00:00Z");
            let pod = json!({"metadata": {"deletionTimestamp": time}, "status": {"phase": phase}});
            let pod = PodView::from(&pod);
            assert_eq!((is_active(pod), is_terminating(pod)), (active, terminating), "{phase} {deleted}");
            assert_eq!(is_deleting(pod), deleted);
        };
        check("Running", false, true, false);
        check("Running", true, false, true);
        check("Pending", false, true, false);
        check("Succeeded", false, false, false);
        check("Failed", true, false, false);
    }

    #[test]
    fn availability_counts_from_the_moment_of_readiness() {
        let now: Timestamp = "2024-01-01T00:00:30Z".parse().expect("a time");
        let check = |ready: Value, min_ready_seconds: i32, expected: Availability| {
            let pod = json!({"status": {"conditions": [ready]}});
            let pod = PodView::from(&pod);
            assert_eq!(availability(pod, min_ready_seconds, now), expected);
            assert_eq!(is_available(pod, min_ready_seconds, now), expected == Availability::Available);
        };
        let ready =
            |status: &str, since: Option<&str>| json!({"type": "Ready", "status": status, "lastTransitionTime": since});
        let since = Some("2024-01-01T00:00:20Z");
        check(ready("False", since), 0, Availability::NotReady);
        check(ready("True", since), 0, Availability::Available);
        check(ready("True", since), 10, Availability::Available);
        check(ready("True", since), 15, Availability::In(Duration::from_secs(5)));
        check(ready("True", Some("2024-01-01T00:01:00Z")), 5, Availability::In(Duration::from_secs(5)));
        check(ready("True", None), 0, Availability::Available);
        check(ready("True", None), 1, Availability::NotReady);
        check(json!({"type": "ContainersReady", "status": "True"}), 0, Availability::NotReady);
    }

    #[test]
    fn a_sidecar_is_always_restarted() {
        let check = |container: Value, expected: bool| {
            assert_eq!(is_sidecar(ContainerView::from(&container)), expected, "{container}");
        };
        check(json!({"restartPolicy": "Always"}), true);
        check(json!({"restartPolicy": "OnFailure"}), false);
        check(json!({}), false);
    }
}
