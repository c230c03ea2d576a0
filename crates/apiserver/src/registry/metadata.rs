//! The rules that metadata of every kind follows, with upstream's sentences
//! (apimachinery/pkg/api/validation/objectmeta.go). Called by create and update.

use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::{Row, names};
use serde_json::Value;

/// Annotations may have this many bytes in sum, keys and values.
const ANNOTATIONS_MAX: usize = 256 * 1024;

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

pub(super) fn validate(row: &Row, object: &Value) -> ErrorList {
    let path = Path::new("metadata");
    let mut errors = ErrorList::new();
    let generate_name = object.meta_str("generateName");
    if !generate_name.is_empty() {
        let child = path.child("generateName");
        let found = row.strategy.validate_name(generate_name, true);
        errors.extend(found.into_iter().map(|text| Error::invalid(&child, generate_name, text)));
    }
    if object.name().is_empty() {
        errors.push(Error::required(&path.child("name"), "name or generateName is required"));
    } else {
        let child = path.child("name");
        let found = row.strategy.validate_name(object.name(), false);
        errors.extend(found.into_iter().map(|text| Error::invalid(&child, object.name(), text)));
    }
    let namespace = path.child("namespace");
    if row.is_namespaced() {
        if object.namespace().is_empty() {
            errors.push(Error::required(&namespace, ""));
        } else {
            let found = names::dns1123_label(object.namespace(), false);
            errors.extend(found.into_iter().map(|text| Error::invalid(&namespace, object.namespace(), text)));
        }
    } else if !object.namespace().is_empty() {
        errors.push(Error::forbidden(&namespace, "not allowed on this type"));
    }
    if object.generation() < 0 {
        let text = "must be greater than or equal to 0";
        errors.push(Error::invalid(&path.child("generation"), object.generation(), text));
    }
    validate_labels(object, &path.child("labels"), &mut errors);
    validate_annotations(object, &path.child("annotations"), &mut errors);
    validate_owner_references(object, &path.child("ownerReferences"), &mut errors);
    validate_finalizers(object, &path.child("finalizers"), &mut errors);
    errors
}

fn validate_labels(object: &Value, path: &Path, errors: &mut ErrorList) {
    for (key, value) in object.labels() {
        errors.extend(names::is_qualified_name(key).into_iter().map(|text| Error::invalid(path, key, text)));
        errors.extend(names::is_label_value(value).into_iter().map(|text| Error::invalid(path, value, text)));
    }
}

fn validate_annotations(object: &Value, path: &Path, errors: &mut ErrorList) {
    let mut size = 0;
    for (key, value) in object.annotations() {
        size += key.len() + value.len();
        let found = names::is_qualified_name(&key.to_lowercase());
        errors.extend(found.into_iter().map(|text| Error::invalid(path, key, text)));
    }
    if size > ANNOTATIONS_MAX {
        errors.push(Error::too_long(path, ANNOTATIONS_MAX));
    }
}

fn validate_owner_references(object: &Value, path: &Path, errors: &mut ErrorList) {
    let references = object.items_at(&["metadata", "ownerReferences"]);
    let mut controller: Option<String> = None;
    for reference in references {
        let text = |key| reference.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("apiVersion").rsplit('/').next().unwrap_or_default().is_empty() {
            errors.push(Error::invalid(&path.child("apiVersion"), text("apiVersion"), "version must not be empty"));
        }
        for key in ["kind", "name", "uid"] {
            if text(key).is_empty() {
                errors.push(Error::invalid(&path.child(key), "", "must not be empty"));
            }
        }
        if text("apiVersion") == "v1" && text("kind") == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            errors.push(Error::invalid(path, reference.clone(), why));
        }
        if reference.get("controller").and_then(Value::as_bool) == Some(true) {
            let this = format!("{}/{}", text("kind"), text("name"));
            match &controller {
                None => controller = Some(this),
                Some(first) => errors.push(Error::invalid(
                    path,
                    Value::from(references.to_vec()),
                    format!(
                        "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                    ),
                )),
            }
        }
    }
}

fn validate_finalizers(object: &Value, path: &Path, errors: &mut ErrorList) {
    let finalizers = object.finalizers();
    for finalizer in &finalizers {
        let found = names::is_qualified_name(finalizer);
        errors.extend(found.into_iter().map(|text| Error::invalid(path, *finalizer, text)));
    }
    if finalizers.contains(&"orphan") && finalizers.contains(&"foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(Error::invalid(path, finalizers, why));
    }
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
