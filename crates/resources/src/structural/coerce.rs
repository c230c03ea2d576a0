//! Gives metadata the form of ObjectMeta, at the root and in embedded resources
//! (pkg/apiserver/schema/objectmeta).

use super::node::Node;
use ferry_api::codec::{Decoded, decode_as};
use ferry_api::field::{Error, Path};
use ferry_api::schema::{Field, Special, Type, TypeDef, builtin};
use serde_json::{Map, Value};

/// What becomes of a field of metadata that has the wrong type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The object is refused: it came in a request.
    Refuse,
    /// The field is dropped: it came from the store or a webhook, and must be readable.
    Drop,
}

/// Coerces an object: its own type and metadata, and those of embedded resources.
pub(super) fn coerce_root(object: &mut Value, root: &Node, malformed: Malformed) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    if let Value::Object(map) = object {
        // At the root upstream gives the decoder's own words.
        coerce_resource(map, malformed, &Path::root(), &mut unknown).map_err(|error| match error.field.as_str() {
            "metadata" => error.detail,
            _ => error.to_string(),
        })?;
    }
    coerce(object, root, malformed, &Path::root(), &mut unknown).map_err(|error| error.to_string())?;
    unknown.sort();
    Ok(unknown)
}

/// Coerces the resources embedded in a value, and the value itself if it is one.
pub(super) fn coerce(
    value: &mut Value,
    node: &Node,
    malformed: Malformed,
    path: &Path,
    unknown: &mut Vec<String>,
) -> Result<(), Error> {
    if !node.embedded_within {
        return Ok(());
    }
    match value {
        Value::Object(map) => {
            if node.embedded {
                coerce_resource(map, malformed, path, unknown)?;
            }
            for (name, value) in map.iter_mut() {
                if let Some(part) = node.field(name) {
                    coerce(value, part, malformed, &node.path_of(path, name), unknown)?;
                }
            }
        }
        Value::Array(items) => {
            let Some(part) = node.items.as_deref() else { return Ok(()) };
            for (index, item) in items.iter_mut().enumerate() {
                coerce(item, part, malformed, &path.index(index), unknown)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Coerces one resource. The first mistake ends it.
pub(super) fn coerce_resource(
    map: &mut Map<String, Value>,
    malformed: Malformed,
    path: &Path,
    unknown: &mut Vec<String>,
) -> Result<(), Error> {
    for key in ["apiVersion", "kind"] {
        match map.get(key) {
            None | Some(Value::String(_)) => {}
            Some(_) if malformed == Malformed::Drop => {
                map.remove(key);
            }
            Some(other) => return Err(Error::invalid(&path.child(key), other.clone(), "must be a string")),
        }
    }
    let Some(metadata) = map.get("metadata") else { return Ok(()) };
    // Metadata mostly has its form already, and then need not be taken apart.
    if object_meta().is_some_and(|definition| has_form(metadata, definition)) {
        return Ok(());
    }
    let at = path.child("metadata");
    let decoded = match read_metadata(metadata) {
        Ok(decoded) => decoded,
        Err(why) if malformed == Malformed::Refuse => return Err(Error::invalid(&at, metadata.clone(), why)),
        // What is no object at all is passed through for validation to name.
        Err(_) => match metadata {
            Value::Object(fields) => read_field_by_field(fields),
            _ => return Ok(()),
        },
    };
    unknown.extend(decoded.unknown.iter().map(|field| format!("{at}.{field}")));
    map.insert("metadata".to_owned(), decoded.value);
    Ok(())
}

fn object_meta() -> Option<&'static TypeDef> {
    builtin().get("meta/v1", "ObjectMeta").map(AsRef::as_ref)
}

/// Metadata as ObjectMeta reads it; the error is that of Go's decoder.
pub(super) fn read_metadata(metadata: &Value) -> Result<Decoded, String> {
    match object_meta() {
        Some(definition) => decode_as(metadata.to_string().as_bytes(), definition).map_err(|error| error.to_string()),
        None => Ok(Decoded { value: metadata.clone(), ..Decoded::default() }),
    }
}

/// Metadata without the fields that cannot be read.
fn read_field_by_field(fields: &Map<String, Value>) -> Decoded {
    let readable = fields.iter().filter(|(name, value)| {
        let alone = Map::from_iter([((*name).clone(), (*value).clone())]);
        read_metadata(&Value::Object(alone)).is_ok()
    });
    let readable: Map<String, Value> = readable.map(|(name, value)| (name.clone(), value.clone())).collect();
    read_metadata(&Value::Object(readable)).unwrap_or_default()
}

/// Whether decoding and encoding a value as this type would leave it as it is. A false
/// "no" costs time only.
fn has_form(value: &Value, definition: &TypeDef) -> bool {
    let Value::Object(map) = value else { return false };
    let is_sound = |(name, value): (&String, &Value)| {
        definition.field(name).is_some_and(|field| has_type(value, &field.ty) && is_written(value, field))
    };
    map.iter().all(is_sound) && definition.always_written().all(|field| map.contains_key(field.name.as_ref()))
}

fn has_type(value: &Value, ty: &Type) -> bool {
    match (ty, value) {
        (Type::Bool, Value::Bool(_)) | (Type::String, Value::String(_)) => true,
        (Type::Int32 | Type::Int64, Value::Number(number)) => number.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
        (Type::List(item), Value::Array(items)) => items.iter().all(|value| has_type(value, item)),
        (Type::Map(item), Value::Object(map)) => map.values().all(|value| has_type(value, item)),
        (Type::Struct(reference), value) => has_form(value, reference.get()),
        (Type::Special(Special::FieldsV1), Value::Object(_)) => true,
        (Type::Special(Special::Time), Value::String(text)) => is_plain_time(text),
        _ => false,
    }
}

/// Whether Go writes the value, zero or not.
fn is_written(value: &Value, field: &Field) -> bool {
    let is_zero = match value {
        Value::Null => return false,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    };
    !is_zero || field.pointer || !field.omitempty
}

/// `2026-01-02T03:04:05Z`, the form in which times are stored.
fn is_plain_time(text: &str) -> bool {
    text.len() == 20
        && text.ends_with('Z')
        && text.parse::<jiff::Timestamp>().is_ok_and(|time| time.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What is said to have its form is what decoding makes of it.
    #[test]
    fn metadata_that_has_its_form_is_left_alone() {
        let full = json!({
            "name": "a", "namespace": "b", "uid": "u", "resourceVersion": "1", "generation": 2,
            "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"a": "", "b": "c"}, "finalizers": ["x/y"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "q", "controller": false}],
            "managedFields": [{"manager": "m", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}}],
        });
        for (metadata, expected) in [
            (full, true),
            (json!({}), true),
            (json!({"labels": {}}), false),
            (json!({"generation": 0}), false),
            (json!({"name": ""}), false),
            (json!({"creationTimestamp": null}), false),
            (json!({"creationTimestamp": "2026-01-02T03:04:05+01:00"}), false),
            (json!({"labels": {"a": 1}}), false),
            (json!({"ownerReferences": [{"name": "p"}]}), false),
            (json!({"unheard": 1}), false),
        ] {
            let definition = object_meta().expect("a builtin type");
            assert_eq!(has_form(&metadata, definition), expected, "{metadata}");
            if expected {
                assert_eq!(read_metadata(&metadata).map(|decoded| decoded.value), Ok(metadata));
            }
        }
    }
}
