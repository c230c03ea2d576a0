//! What a pod is told about its scheduling: the condition PodScheduled, the nomination and
//! the text of the event. Pure; the loop sends what these render.

use crate::view::Pod;
use jiff::Timestamp;
use serde_json::{Value, json};

/// The longest note of an event.
const MAX_NOTE: usize = 1024;

/// Why the pod has no node, as its condition says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// `Unschedulable` or `SchedulerError`.
    pub reason: &'static str,
    pub message: String,
}

/// The patch of the pod's status, or `None` when it says all this already.
/// `nominated` is the node to nominate, empty to take a nomination back.
pub fn compute_status_patch(pod: &Pod, why: &Reason, nominated: Option<&str>, now: Timestamp) -> Option<Value> {
    let present = pod.status.conditions.iter().find(|condition| condition.kind == "PodScheduled");
    let is_told = present.is_some_and(|condition| {
        condition.status == "False" && condition.reason == why.reason && condition.message == why.message
    });
    let nominated = nominated.filter(|node| *node != pod.status.nominated_node_name);
    if is_told && nominated.is_none() {
        return None;
    }
    let mut status = json!({});
    if !is_told {
        // The time is that of the last change of the status, not of the message.
        let unchanged = present.filter(|condition| condition.status == "False");
        let since = unchanged.and_then(|condition| condition.last_transition_time.as_ref()).map_or(now, |time| time.0);
        let mut condition = json!({
            "type": "PodScheduled",
            "status": "False",
            "reason": why.reason,
            "message": why.message,
            "lastProbeTime": null,
            "lastTransitionTime": ferry_api::codec::time::format_seconds(since),
        });
        if let Some(generation) = pod.metadata.generation {
            condition["observedGeneration"] = generation.into();
        }
        status["conditions"] = json!([condition]);
    }
    if let Some(node) = nominated {
        status["nominatedNodeName"] = if node.is_empty() { Value::Null } else { node.into() };
    }
    // The uid keeps the patch from a pod that was made anew under the same name.
    Some(json!({"metadata": {"uid": pod.uid()}, "status": status}))
}

/// The patch that tells a victim why it goes.
pub fn render_victim_patch(uid: &str, preemptor: &Pod, now: Timestamp) -> Value {
    json!({
        "metadata": {"uid": uid},
        "status": {"conditions": [{
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": format!("{}: preempting to accommodate a higher priority pod", preemptor.spec.scheduler_name),
            "lastProbeTime": null,
            "lastTransitionTime": ferry_api::codec::time::format_seconds(now),
        }]},
    })
}

/// The text cut to what an event may carry.
pub fn truncate(message: &str) -> String {
    if message.len() <= MAX_NOTE {
        return message.to_owned();
    }
    let mut end = MAX_NOTE - " ...".len();
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    format!("{} ...", &message[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::pod;

    fn why(message: &str) -> Reason {
        Reason { reason: "Unschedulable", message: message.to_owned() }
    }

    fn told(message: &str) -> Pod {
        let mut pod = pod(json!({}));
        pod.status = serde_json::from_value(json!({"conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        }]}))
        .expect("a status");
        pod
    }

    #[test]
    fn a_pod_is_told_once() {
        let now = Timestamp::UNIX_EPOCH;
        let patch = compute_status_patch(&pod(json!({})), &why("m"), None, now).expect("news");
        let condition = &patch["status"]["conditions"][0];
        assert_eq!(condition["reason"], "Unschedulable");
        assert_eq!(condition["lastTransitionTime"], "1970-01-01T00:00:00Z");
        assert_eq!(patch["metadata"]["uid"], "web");
        assert_eq!(compute_status_patch(&told("m"), &why("m"), None, now), None);
        assert_eq!(compute_status_patch(&told("m"), &why("m"), Some(""), now), None);
    }

    #[test]
    fn the_time_stays_while_the_status_does() {
        let patch = compute_status_patch(&told("m"), &why("n"), None, Timestamp::UNIX_EPOCH).expect("news");
        assert_eq!(patch["status"]["conditions"][0]["lastTransitionTime"], "2020-01-01T00:00:00Z");
    }

    #[test]
    fn nominations_are_set_and_taken_back() {
        let now = Timestamp::UNIX_EPOCH;
        let patch = compute_status_patch(&told("m"), &why("m"), Some("a"), now).expect("news");
        assert_eq!(patch["status"], json!({"nominatedNodeName": "a"}));
        let mut nominated = told("m");
        nominated.status.nominated_node_name = "a".to_owned();
        let patch = compute_status_patch(&nominated, &why("m"), Some(""), now).expect("news");
        assert_eq!(patch["status"], json!({"nominatedNodeName": null}));
    }

    #[test]
    fn long_messages_are_cut() {
        assert_eq!(truncate("short"), "short");
        let long = truncate(&"ä".repeat(1000));
        assert!(long.len() <= 1024 && long.ends_with(" ..."));
    }
}
