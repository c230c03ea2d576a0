//! Ownership of replicas through the scale subresource: the same field has one path in
//! the object (`.spec.replicas`) and one in its Scale, so entries are translated on the
//! way in and out. Called by the scale handler around [`super::update()`].

use super::element::PathElement;
use super::ownership::{Identity, Operation, Ownership};
use super::set::Set;
use serde_json::Value;

const SCALE_VERSION: &str = "autoscaling/v1";

fn replicas_in_scale() -> Vec<PathElement> {
    vec![PathElement::field("spec"), PathElement::field("replicas")]
}

/// The `managedFields` of a Scale: of the object's entries those that own the replicas.
pub fn to_scale(parent: Option<&Value>, replicas_path: &[PathElement]) -> Option<Value> {
    let parent = Ownership::trusted(parent.cloned());
    let mut out = Ownership::default();
    for entry in parent.entries {
        if !entry.set().has(replicas_path) {
            continue;
        }
        let mut entry = entry;
        let mut set = Set::new();
        set.insert(replicas_in_scale());
        entry.replace_set(set);
        out.entries.push(entry);
    }
    for entry in &mut out.entries {
        entry.set_api_version(SCALE_VERSION);
    }
    out.into_json()
}

/// The object's `managedFields` after its Scale was written: whoever wrote the replicas
/// there owns them here, in the object's own version.
pub fn from_scale(
    parent: Option<&Value>,
    scale: Option<&Value>,
    replicas_path: &[PathElement],
    api_version: &str,
) -> Option<Value> {
    let mut out = Ownership::trusted(parent.cloned());
    let scale = Ownership::trusted(scale.cloned());
    let owner = |operation: Operation, manager: &str, subresource: &str| {
        scale.entries.iter().position(|entry| {
            let identity = entry.identity();
            identity.operation == operation && identity.manager == manager && identity.subresource == subresource
        })
    };
    let mut kept = vec![false; scale.entries.len()];
    let mut replicas = Set::new();
    replicas.insert(replicas_path.to_vec());
    for entry in &mut out.entries {
        let (operation, manager, subresource) = {
            let identity = entry.identity();
            (identity.operation, identity.manager.to_owned(), identity.subresource.to_owned())
        };
        if !entry.set().has(replicas_path) {
            continue;
        }
        match owner(operation, &manager, &subresource) {
            Some(index) => kept[index] = true,
            None => entry.release(&replicas),
        }
    }
    out.drop_empty();
    for (entry, _) in scale.entries.iter().zip(&kept).filter(|(_, kept)| !**kept) {
        if !entry.set().has(&replicas_in_scale()) {
            continue;
        }
        let from = entry.identity();
        let identity = Identity { api_version, ..from };
        let own = out.entry(&identity);
        let set = own.set().union(&replicas);
        own.replace_set(set);
        if let Some(time) = entry.time() {
            own.set_time(time);
        }
    }
    out.into_json()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(manager: &str, subresource: Option<&str>, version: &str, fields: Value) -> Value {
        let mut entry = json!({
            "manager": manager, "operation": "Update", "apiVersion": version, "time": "2020-01-01T00:00:00Z",
            "fieldsType": "FieldsV1", "fieldsV1": fields,
        });
        if let Some(subresource) = subresource {
            entry["subresource"] = subresource.into();
        }
        entry
    }

    #[test]
    fn replicas_change_hands_through_the_scale() {
        let path = replicas_in_scale();
        let parent = json!([entry("a", None, "apps/v1", json!({"f:spec": {"f:paused": {}, "f:replicas": {}}}))]);
        let scale = to_scale(Some(&parent), &path).expect("an owner");
        assert_eq!(scale, json!([entry("a", None, "autoscaling/v1", json!({"f:spec": {"f:replicas": {}}}))]));
        // Unchanged, the object's entries stay as they were.
        assert_eq!(from_scale(Some(&parent), Some(&scale), &path, "apps/v1"), Some(parent.clone()));
        // Taken over, they move.
        let taken = json!([entry("b", Some("scale"), "autoscaling/v1", json!({"f:spec": {"f:replicas": {}}}))]);
        assert_eq!(
            from_scale(Some(&parent), Some(&taken), &path, "apps/v1"),
            Some(json!([
                entry("a", None, "apps/v1", json!({"f:spec": {"f:paused": {}}})),
                entry("b", Some("scale"), "apps/v1", json!({"f:spec": {"f:replicas": {}}})),
            ]))
        );
    }
}
