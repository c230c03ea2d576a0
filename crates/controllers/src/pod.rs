//! What controllers ask of a pod: is it alive, ready, available, going away.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, PodCondition};
use std::time::Duration;

pub fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// Every container has stopped and none will start again.
pub fn is_terminal(pod: &Pod) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Counts towards a controller's replicas.
pub fn is_active(pod: &Pod) -> bool {
    !is_terminal(pod) && pod.metadata.deletion_timestamp.is_none()
}

/// Asked to stop and still running.
pub fn is_terminating(pod: &Pod) -> bool {
    !is_terminal(pod) && pod.metadata.deletion_timestamp.is_some()
}

pub fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == kind)
}

pub fn is_ready(pod: &Pod) -> bool {
    condition(pod, "Ready").is_some_and(|condition| condition.status == "True")
}

/// When the pod last became ready; None when it is not, or does not say.
pub fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let ready = condition(pod, "Ready").filter(|condition| condition.status == "True")?;
    ready.last_transition_time.as_ref().map(|time| time.0)
}

/// How far a pod is from available: ready for `min_ready_seconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Availability {
    NotReady,
    In(Duration),
    Available,
}

pub fn availability(pod: &Pod, min_ready_seconds: i32, now: Timestamp) -> Availability {
    if !is_ready(pod) {
        return Availability::NotReady;
    }
    if min_ready_seconds <= 0 {
        return Availability::Available;
    }
    // A pod that does not say when it became ready is never available, as upstream has it.
    let Some(since) = ready_since(pod) else { return Availability::NotReady };
    let needed = Duration::from_secs(min_ready_seconds.unsigned_abs().into());
    let elapsed = Duration::try_from(now.duration_since(since)).unwrap_or_default();
    match needed.checked_sub(elapsed) {
        None | Some(Duration::ZERO) => Availability::Available,
        Some(left) => Availability::In(left),
    }
}

pub fn is_available(pod: &Pod, min_ready_seconds: i32, now: Timestamp) -> bool {
    availability(pod, min_ready_seconds, now) == Availability::Available
}

pub fn node_name(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn availability_counts_from_the_moment_of_readiness() {
        let now: Timestamp = "2024-01-01T00:00:30Z".parse().expect("a time");
        let check = |status: &str, min_ready: i32, expected: Availability| {
            let pod: Pod = serde_json::from_value(json!({"status": {"conditions": [
                {"type": "Ready", "status": status, "lastTransitionTime": "2024-01-01T00:00:20Z"}
            ]}}))
            .expect("a pod");
            assert_eq!(availability(&pod, min_ready, now), expected);
        };
        check("False", 0, Availability::NotReady);
        check("True", 0, Availability::Available);
        check("True", 10, Availability::Available);
        check("True", 15, Availability::In(Duration::from_secs(5)));
    }
}
