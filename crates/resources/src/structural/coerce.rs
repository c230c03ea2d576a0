//! Gives metadata the form of ObjectMeta, at the root and in embedded resources
//! (pkg/apiserver/schema/objectmeta).

use super::node::Node;
use ferry_api::codec::{Decoded, decode_as};
use ferry_api::field::{Error, Path};
use ferry_api::schema::{TypeDef, builtin};
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
pub fn coerce_root(object: &mut Value, root: &Node, malformed: Malformed) -> Result<Vec<String>, String> {
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
pub fn coerce(
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
pub fn coerce_resource(
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
pub fn read_metadata(metadata: &Value) -> Result<Decoded, String> {
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
