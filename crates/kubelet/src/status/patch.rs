//! The patch that turns the status the API has into the one it should have.

use super::conditions::OWNED;
use k8s_openapi::api::core::v1::PodStatus;
use serde_json::{Map, Value, json};

/// Fields of the status that others write; they are never part of the patch.
const FOREIGN: &[&str] = &["nominatedNodeName", "resourceClaimStatuses", "resize", "extendedResourceClaimStatus"];

/// A strategic merge patch, or nothing where the two are equal. Only conditions of the
/// kubelet's own are in it, so that a readiness gate set meanwhile by somebody else is
/// not lost; the uid keeps the patch from hitting a successor of the same name.
pub fn status_patch(uid: &str, old: &PodStatus, new: &PodStatus) -> Option<Value> {
    let (old, new) = (object(old), object(new));
    let mut changes = Map::new();
    for (key, value) in &new {
        if FOREIGN.contains(&key.as_str()) || old.get(key) == Some(value) {
            continue;
        }
        let value = match key.as_str() {
            "conditions" => match changed_conditions(old.get(key), value) {
                Some(conditions) => conditions,
                None => continue,
            },
            // Lists merged by address: what is gone must be said.
            "podIPs" | "hostIPs" => replaced_addresses(old.get(key), value),
            _ => value.clone(),
        };
        changes.insert(key.clone(), value);
    }
    for key in old.keys() {
        if !new.contains_key(key) && !FOREIGN.contains(&key.as_str()) {
            changes.insert(key.clone(), Value::Null);
        }
    }
    (!changes.is_empty()).then(|| json!({ "metadata": { "uid": uid }, "status": changes }))
}

fn object(status: &PodStatus) -> Map<String, Value> {
    match serde_json::to_value(status) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn changed_conditions(old: Option<&Value>, new: &Value) -> Option<Value> {
    let empty = Vec::new();
    let old = old.and_then(Value::as_array).unwrap_or(&empty);
    let changed: Vec<Value> = new
        .as_array()
        .into_iter()
        .flatten()
        .filter(|condition| condition["type"].as_str().is_some_and(|kind| OWNED.contains(&kind)))
        .filter(|condition| !old.contains(condition))
        .map(|condition| {
            let mut condition = condition.clone();
            // Merging by type keeps what is not named, so an old reason must be cleared.
            for field in ["reason", "message"] {
                let had = old.iter().any(|o| o["type"] == condition["type"] && !o[field].is_null());
                if had && condition[field].is_null() {
                    condition[field] = Value::Null;
                }
            }
            condition
        })
        .collect();
    (!changed.is_empty()).then_some(Value::Array(changed))
}

fn replaced_addresses(old: Option<&Value>, new: &Value) -> Value {
    let kept = new.as_array().cloned().unwrap_or_default();
    let gone = old.and_then(Value::as_array).into_iter().flatten().filter(|item| !kept.contains(item));
    let gone: Vec<Value> = gone.map(|item| json!({ "$patch": "delete", "ip": item["ip"] })).collect();
    Value::Array(gone.into_iter().chain(kept.iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(value: Value) -> PodStatus {
        serde_json::from_value(value).expect("a status")
    }

    #[test]
    fn only_differences_are_sent() {
        let old = status(json!({ "phase": "Running", "reason": "r", "podIPs": [{ "ip": "a" }], "conditions": [
            { "type": "Ready", "status": "False", "reason": "x" }, { "type": "mine", "status": "True" }] }));
        assert_eq!(status_patch("u", &old, &old), None);
        let new = status(json!({ "phase": "Running", "podIPs": [{ "ip": "b" }], "conditions": [
            { "type": "Ready", "status": "True" }, { "type": "mine", "status": "False" }] }));
        assert_eq!(
            status_patch("u", &old, &new),
            Some(json!({ "metadata": { "uid": "u" }, "status": {
                "reason": null,
                "podIPs": [{ "$patch": "delete", "ip": "a" }, { "ip": "b" }],
                "conditions": [{ "type": "Ready", "status": "True", "reason": null }],
            } }))
        );
    }
}
