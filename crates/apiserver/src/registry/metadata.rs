//! What the registry itself decides about the metadata of every kind, with upstream's
//! sentences: the namespace, what an update may not touch, owners named twice. Called by
//! create and update; the rules of the values are `ferry_resources::validate_metadata`'s.

use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use serde_json::Value;

const IMMUTABLE: &str = "field is immutable";

/// An object may leave its namespace out but may not name another than the URL's.
pub(super) fn ensure_namespace(row: &Row, namespace: &str, object: &mut Value) -> Result<(), Status> {
    let expected = if row.is_namespaced() { namespace } else { "" };
    let found = object.namespace();
    if found == expected {
        return Ok(());
    }
    if found.is_empty() {
        object.set_meta("namespace", expected);
        return Ok(());
    }
    // A namespace's own URL carries its name in the namespace's place.
    Err(Status::bad_request("the namespace of the provided object does not match the namespace sent on the request"))
}

pub(super) fn validate_update(new: &Value, old: &Value) -> ErrorList {
    let path = Path::new("metadata");
    let mut errors = ErrorList::new();
    if old.is_deleting() {
        let before = old.finalizers();
        let mut extra: Vec<&str> = new.finalizers().into_iter().filter(|f| !before.contains(f)).collect();
        extra.sort_unstable();
        if !extra.is_empty() {
            let quoted: Vec<String> = extra.iter().map(|f| format!("{f:?}")).collect();
            errors.push(Error::forbidden(
                &path.child("finalizers"),
                format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                    quoted.join(", ")
                ),
            ));
        }
    }
    if new.generation() < old.generation() {
        errors.push(Error::invalid(&path.child("generation"), new.generation(), "must not be decremented"));
    }
    for key in ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (now, before) = (new.meta(key), old.meta(key));
        if now.filter(|v| !v.is_null()) != before.filter(|v| !v.is_null()) {
            errors.push(Error::invalid(&path.child(key), now.cloned().unwrap_or(Value::Null), IMMUTABLE));
        }
    }
    errors
}

/// The same owner twice is kept once, with a warning (upstream's dedupOwnerReferences).
pub(super) fn dedup_owner_references(object: &mut Value, warn: impl FnOnce(String)) {
    let Some(Value::Array(references)) = object.get_mut("metadata").and_then(|m| m.get_mut("ownerReferences")) else {
        return;
    };
    let mut seen: Vec<Value> = Vec::new();
    let mut duplicates: Vec<String> = Vec::new();
    for reference in references.drain(..) {
        if seen.contains(&reference) {
            duplicates.push(reference.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned());
        } else {
            seen.push(reference);
        }
    }
    *references = seen;
    if !duplicates.is_empty() {
        warn(format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            duplicates.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn immutable_metadata_is_named() {
        let old = json!({"metadata": {"name": "a", "uid": "1"}});
        let new = json!({"metadata": {"name": "a", "uid": "2"}});
        let texts: Vec<String> = validate_update(&new, &old).iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["metadata.uid: Invalid value: \"2\": field is immutable"]);
    }

    #[test]
    fn finalizers_cannot_join_a_deletion() {
        let old = json!({"metadata": {"deletionTimestamp": "x", "finalizers": ["a/b"]}});
        let new = json!({"metadata": {"deletionTimestamp": "x", "finalizers": ["a/b", "c/d"]}});
        assert_eq!(
            validate_update(&new, &old)[0].to_string(),
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"c/d\"}"
        );
    }

    #[test]
    fn the_same_owner_twice_is_kept_once() {
        let mut object = json!({"metadata": {"ownerReferences": [{"uid": "1"}, {"uid": "2"}, {"uid": "1"}]}});
        let mut said = None;
        dedup_owner_references(&mut object, |text| said = Some(text));
        assert_eq!(object["metadata"]["ownerReferences"], json!([{"uid": "1"}, {"uid": "2"}]));
        assert!(said.is_some_and(|text| text.ends_with("observed: 1")));
    }
}
