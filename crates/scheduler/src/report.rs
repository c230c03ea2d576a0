//! The scheduling state that a pod reports: the condition PodScheduled, the nomination and
//! the text of the event. Pure; the loop sends what these render.

use ferry_api::rules::pod::condition;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{PodCondition, PodView};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The longest note of an event.
const MAX_NOTE: usize = 1024;

/// The cause for which the pod has no node, as its condition states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// `Unschedulable` or `SchedulerError`.
    pub reason: &'static str,
    pub message: String,
}

/// The patch of the pod's status, or `None` when the status has all of it already.
/// `nominated` is the node to nominate, empty to take a nomination back.
pub fn compute_status_patch(pod: PodView<'_>, why: &Reason, nominated: Option<&str>, now: Timestamp) -> Option<Value> {
    let present = condition(pod, "PodScheduled");
    let is_reported = present.is_some_and(|condition| {
        condition.status() == "False" && condition.reason() == why.reason && condition.message() == why.message
    });
    let nominated = nominated.filter(|node| *node != pod.status().nominated_node_name());
    if is_reported && nominated.is_none() {
        return None;
    }
    let mut status = json!({});
    if !is_reported {
        // The time is that of the last change of the status, not of the message.
        let unchanged = present.filter(|condition| condition.status() == "False");
        let since = unchanged.and_then(|condition| condition.last_transition_time()).unwrap_or(now);
        let generation = Some(pod.metadata().generation()).filter(|generation| *generation != 0);
        let condition = PodCondition::new()
            .with_type("PodScheduled")
            .with_status("False")
            .with_reason(why.reason)
            .with_message(&why.message)
            .with_last_transition_time(since)
            .with_observed_generation(generation);
        status["conditions"] = json!([never_probed(condition)]);
    }
    if let Some(node) = nominated {
        status["nominatedNodeName"] = if node.is_empty() { Value::Null } else { node.into() };
    }
    // The uid keeps the patch from a pod that was made anew under the same name.
    Some(json!({"metadata": {"uid": pod.metadata().uid()}, "status": status}))
}

/// The patch that gives a victim the reason of its end.
pub fn render_victim_patch(uid: &str, preemptor: PodView<'_>, now: Timestamp) -> Value {
    let scheduler = preemptor.spec().scheduler_name();
    let condition = PodCondition::new()
        .with_type("DisruptionTarget")
        .with_status("True")
        .with_reason("PreemptionByScheduler")
        .with_message(format!("{scheduler}: preempting to accommodate a higher priority pod"))
        .with_last_transition_time(now);
    json!({"metadata": {"uid": uid}, "status": {"conditions": [never_probed(condition)]}})
}

/// Go writes a time that was never set as null.
fn never_probed(mut condition: PodCondition) -> Value {
    condition.value_mut()["lastProbeTime"] = Value::Null;
    condition.into()
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
    use crate::plugins::testing::{changed, pod};
    use crate::pod_info::PodInfo;

    fn why(message: &str) -> Reason {
        Reason { reason: "Unschedulable", message: message.to_owned() }
    }

    fn told(message: &str) -> PodInfo {
        let conditions = json!({"status": {"conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
            "lastTransitionTime": "2020-01-01T00:00:00Z",
        }]}});
        changed(&pod(json!({})), conditions)
    }

    #[test]
    fn a_pod_is_told_once() {
        let now = Timestamp::UNIX_EPOCH;
        let patch = compute_status_patch(pod(json!({})).view(), &why("m"), None, now).expect("news");
        let condition = &patch["status"]["conditions"][0];
        assert_eq!(condition["reason"], "Unschedulable");
        assert_eq!(condition["lastTransitionTime"], "1970-01-01T00:00:00Z");
        assert_eq!(patch["metadata"]["uid"], "web");
        assert_eq!(compute_status_patch(told("m").view(), &why("m"), None, now), None);
        assert_eq!(compute_status_patch(told("m").view(), &why("m"), Some(""), now), None);
    }

    #[test]
    fn the_time_stays_while_the_status_does() {
        let patch = compute_status_patch(told("m").view(), &why("n"), None, Timestamp::UNIX_EPOCH).expect("news");
        assert_eq!(patch["status"]["conditions"][0]["lastTransitionTime"], "2020-01-01T00:00:00Z");
    }

    #[test]
    fn nominations_are_set_and_taken_back() {
        let now = Timestamp::UNIX_EPOCH;
        let patch = compute_status_patch(told("m").view(), &why("m"), Some("a"), now).expect("news");
        assert_eq!(patch["status"], json!({"nominatedNodeName": "a"}));
        let nominated = changed(&told("m"), json!({"status": {"nominatedNodeName": "a"}}));
        let patch = compute_status_patch(nominated.view(), &why("m"), Some(""), now).expect("news");
        assert_eq!(patch["status"], json!({"nominatedNodeName": null}));
    }

    #[test]
    fn long_messages_are_cut() {
        assert_eq!(truncate("short"), "short");
        let long = truncate(&"ä".repeat(1000));
        assert!(long.len() <= 1024 && long.ends_with(" ..."));
    }
}
