//! Resources embedded in a custom one have a type and sound metadata
//! (pkg/apiserver/schema/objectmeta/validation.go).

use super::coerce::read_metadata;
use super::node::Node;
use crate::names;
use crate::validation::metadata::validate_embedded_metadata;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Map, Value};

/// The mistakes of every embedded resource in a value. The root of a custom resource is
/// none: its metadata is checked like that of any object.
pub(super) fn validate(errors: &mut ErrorList, value: &Value, node: &Node, path: &Path) {
    if !node.embedded_within {
        return;
    }
    match value {
        Value::Object(map) => {
            if node.embedded {
                validate_resource(errors, map, path);
            }
            for (name, value) in map {
                if let Some(part) = node.field(name) {
                    validate(errors, value, part, &node.path_of(path, name));
                }
            }
        }
        Value::Array(items) => {
            let Some(part) = node.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate() {
                validate(errors, item, part, &path.index(index));
            }
        }
        _ => {}
    }
}

/// One resource: apiVersion and kind must be there, metadata need not.
pub(super) fn validate_resource(errors: &mut ErrorList, map: &Map<String, Value>, path: &Path) {
    for key in ["apiVersion", "kind"] {
        let at = path.child(key);
        match map.get(key) {
            None => errors.push(Error::required(&at, "")),
            Some(Value::String(text)) if text.is_empty() => {
                errors.push(Error::invalid(&at, "", "must not be empty"));
            }
            Some(Value::String(text)) if key == "kind" => {
                let sentences = names::dns1035_label(&text.to_lowercase(), false);
                if !sentences.is_empty() {
                    let detail = format!("may have mixed case, but should otherwise match: {}", sentences.join(","));
                    errors.push(Error::invalid(&at, text.as_str(), detail));
                }
            }
            Some(Value::String(text)) if text.matches('/').count() > 1 => {
                errors.push(Error::invalid(&at, text.as_str(), format!("unexpected GroupVersion string: {text}")));
            }
            Some(Value::String(_)) => {}
            Some(other) => errors.push(Error::invalid(&at, other.clone(), "must be a string")),
        }
    }
    let Some(metadata) = map.get("metadata") else { return };
    let at = path.child("metadata");
    match read_metadata(metadata) {
        Ok(decoded) => validate_embedded_metadata(errors, &decoded.value, &at),
        Err(why) => errors.push(Error::invalid(&at, metadata.clone(), why)),
    }
}
