//! The patch that turns the status the API has into the one it should have.

use super::conditions::{OWNED, is_written};
use ferry_api::document::Node;
use ferry_api::view::core::v1::{PodConditionView, PodStatusView};
use ferry_api::view::{List, View, alike};
use serde_json::{Map, Value, json};

/// Fields of the status that others write; they are never part of the patch.
const FOREIGN: &[&str] = &["nominatedNodeName", "resourceClaimStatuses", "resize", "extendedResourceClaimStatus"];

/// A strategic merge patch, or nothing where the two are equal. Only conditions of the
/// kubelet's own are in it, so that a readiness gate set meanwhile by somebody else is
/// not lost; the uid keeps the patch from hitting a successor of the same name.
pub fn status_patch(uid: &str, old: PodStatusView<'_>, new: PodStatusView<'_>) -> Option<Value> {
    let is_foreign = |key: &str| FOREIGN.contains(&key);
    let mut changes = Map::new();
    for (key, value) in new.node().entries().filter(|(key, _)| !is_foreign(key)) {
        let before = old.node().get(key).unwrap_or_default();
        if alike(before, value) {
            continue;
        }
        let value = match key {
            "conditions" => match changed_conditions(old.conditions(), new.conditions()) {
                changed if changed.is_empty() => continue,
                changed => Value::Array(changed),
            },
            // Lists merged by address: what is gone must be named.
            "podIPs" | "hostIPs" => replaced_addresses(before, value),
            "resources" | "allocatedResources" => replaced_object(before, value),
            _ => value.to_value(),
        };
        changes.insert(key.to_owned(), value);
    }
    for (key, value) in old.node().entries().filter(|(key, _)| !is_foreign(key)) {
        if new.node().get(key).is_none() && !alike(value, Node::NULL) {
            changes.insert(key.to_owned(), Value::Null);
        }
    }
    (!changes.is_empty()).then(|| json!({ "metadata": { "uid": uid }, "status": changes }))
}

fn changed_conditions(old: List<'_, PodConditionView<'_>>, new: List<'_, PodConditionView<'_>>) -> Vec<Value> {
    let own = new.iter().filter(|condition| is_written(*condition));
    let changed = own.filter(|condition| !old.iter().any(|before| alike(before.node(), condition.node())));
    let patch = |condition: PodConditionView<'_>| {
        let mut patch = condition.node().to_value();
        // Merging by type keeps what is not named, so an old reason must be cleared.
        let before = old.iter().find(|before| before.type_() == condition.type_()).unwrap_or_default();
        if !before.reason().is_empty() && condition.reason().is_empty() {
            patch["reason"] = Value::Null;
        }
        if !before.message().is_empty() && condition.message().is_empty() {
            patch["message"] = Value::Null;
        }
        patch
    };
    let gone = old.iter().filter(|before| {
        let kind = before.type_();
        OWNED.contains(&kind) && !new.iter().any(|condition| condition.type_() == kind)
    });
    let gone = gone.map(|before| json!({ "$patch": "delete", "type": before.type_() }));
    changed.map(patch).chain(gone).collect()
}

/// An object whose missing fields are cleared, because merging would keep them.
fn replaced_object(old: Node<'_>, new: Node<'_>) -> Value {
    let mut value = new.to_value();
    if let Value::Object(fields) = &mut value {
        for (key, before) in old.entries() {
            match new.get(key) {
                None => drop(fields.insert(key.to_owned(), Value::Null)),
                Some(now) if matches!(fields.get(key), Some(Value::Object(_))) => {
                    fields.insert(key.to_owned(), replaced_object(before, now));
                }
                Some(_) => {}
            }
        }
    }
    value
}

fn replaced_addresses(old: Node<'_>, new: Node<'_>) -> Value {
    let gone = old.items().filter(|item| !new.items().any(|kept| kept == *item));
    let gone = gone.map(|item| json!({ "$patch": "delete", "ip": item.get("ip").and_then(Node::as_str) }));
    Value::Array(gone.chain(new.items().map(Node::to_value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::PodStatus;

    #[test]
    fn only_differences_are_sent() {
        let old =
            PodStatus::from(json!({ "phase": "Running", "reason": "r", "podIPs": [{ "ip": "a" }], "conditions": [
            { "type": "Ready", "status": "False", "reason": "x" }, { "type": "mine", "status": "True" }] }));
        assert_eq!(status_patch("u", old.view(), old.view()), None);
        let new = PodStatus::from(json!({ "phase": "Running", "podIPs": [{ "ip": "b" }], "conditions": [
            { "type": "Ready", "status": "True" }, { "type": "mine", "status": "False" }] }));
        assert_eq!(
            status_patch("u", old.view(), new.view()),
            Some(json!({ "metadata": { "uid": "u" }, "status": {
                "reason": null,
                "podIPs": [{ "$patch": "delete", "ip": "a" }, { "ip": "b" }],
                "conditions": [{ "type": "Ready", "status": "True", "reason": null }],
            } }))
        );
    }

    #[test]
    fn a_resize_that_is_through_takes_its_condition_and_amounts_along() {
        let old = PodStatus::from(json!({ "allocatedResources": { "cpu": "1", "memory": "1Mi" },
            "resources": { "limits": { "cpu": "1", "memory": "1Mi" } },
            "conditions": [{ "type": "PodResizeInProgress", "status": "True" }, { "type": "mine", "status": "True" }] }));
        let new = PodStatus::from(json!({ "allocatedResources": { "cpu": "2" },
            "resources": { "limits": { "cpu": "2" } }, "conditions": [{ "type": "mine", "status": "True" }] }));
        assert_eq!(
            status_patch("u", old.view(), new.view()),
            Some(json!({ "metadata": { "uid": "u" }, "status": {
                "allocatedResources": { "cpu": "2", "memory": null },
                "resources": { "limits": { "cpu": "2", "memory": null } },
                "conditions": [{ "$patch": "delete", "type": "PodResizeInProgress" }],
            } }))
        );
    }

    #[test]
    fn zero_values_that_the_api_adds_are_no_difference() {
        let sent = PodStatus::from(json!({ "phase": "Pending", "conditions": [{ "type": "Ready", "status": "False" }],
            "containerStatuses": [{ "name": "a", "ready": false, "state": { "waiting": { "reason": "r" } } }] }));
        let stored = PodStatus::from(json!({ "phase": "Pending", "hostIPs": [],
            "conditions": [{ "type": "Ready", "status": "False", "lastProbeTime": null }],
            "containerStatuses": [{ "name": "a", "ready": false, "restartCount": 0, "imageID": "", "lastState": {},
                "state": { "waiting": { "reason": "r" } } }] }));
        assert_eq!(status_patch("u", stored.view(), sent.view()), None);
    }
}
