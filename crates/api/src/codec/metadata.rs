//! Pulls the metadata out of stored bytes without building the object: the cache keeps
//! names, labels and owners beside the bytes and reads nothing else.

use super::json::{Kind, Reader, SyntaxError};
use std::borrow::Cow;

/// What the caches and the garbage collector need of any object. Texts are borrowed from
/// the bytes wherever those hold no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata<'a> {
    pub api_version: Cow<'a, str>,
    pub kind: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub namespace: Cow<'a, str>,
    pub uid: Cow<'a, str>,
    pub resource_version: Cow<'a, str>,
    pub labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    pub owners: Vec<Owner<'a>>,
    pub deletion_timestamp: Option<Cow<'a, str>>,
    pub has_finalizers: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner<'a> {
    pub uid: Cow<'a, str>,
    pub is_controller: bool,
    pub blocks_deletion: bool,
}

/// Bytes that are no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("reading metadata: {0}")]
pub struct MetadataError(String);

impl From<SyntaxError> for MetadataError {
    fn from(error: SyntaxError) -> Self {
        Self(error.0)
    }
}

/// Reads the metadata of an object. Once the type and the metadata are known the rest of
/// the bytes is not looked at.
pub fn extract(bytes: &[u8]) -> Result<Metadata<'_>, MetadataError> {
    let text = std::str::from_utf8(bytes).map_err(|error| MetadataError(error.to_string()))?;
    let mut reader = Reader::new(text);
    let mut found = Metadata::default();
    let mut seen_metadata = false;
    each_field(&mut reader, |reader, key| {
        match key {
            "apiVersion" => found.api_version = text_value(reader)?,
            "kind" => found.kind = text_value(reader)?,
            "metadata" => {
                object_meta(reader, &mut found)?;
                seen_metadata = true;
            }
            _ => reader.skip()?,
        }
        Ok(!(seen_metadata && !found.kind.is_empty() && !found.api_version.is_empty()))
    })?;
    Ok(found)
}

/// The metadata of an object as it stands in its text. What stands before it is read,
/// what comes after is not looked at; `None` if there is none or it is no object.
pub fn text(object: &str) -> Option<&str> {
    let mut reader = Reader::new(object);
    let mut found = None;
    let read = each_field(&mut reader, |reader, key| {
        if key != "metadata" {
            reader.skip()?;
            return Ok(true);
        }
        if reader.peek()? == Kind::Object {
            let start = reader.position();
            reader.skip_quickly()?;
            found = object.get(start..reader.position());
        }
        Ok(false)
    });
    read.ok().and(found)
}

fn object_meta<'a>(reader: &mut Reader<'a>, found: &mut Metadata<'a>) -> Result<(), SyntaxError> {
    each_field(reader, |reader, key| {
        match key {
            "name" => found.name = text_value(reader)?,
            "namespace" => found.namespace = text_value(reader)?,
            "uid" => found.uid = text_value(reader)?,
            "resourceVersion" => found.resource_version = text_value(reader)?,
            "deletionTimestamp" => {
                let text = text_value(reader)?;
                found.deletion_timestamp = if text.is_empty() { None } else { Some(text) };
            }
            "labels" => {
                let labels = &mut found.labels;
                each_entry(reader, |reader, key| {
                    labels.push((key, text_value(reader)?));
                    Ok(true)
                })?;
            }
            "finalizers" => {
                let has = &mut found.has_finalizers;
                each_item(reader, |reader| {
                    *has = true;
                    reader.skip()
                })?;
            }
            "ownerReferences" => {
                let owners = &mut found.owners;
                each_item(reader, |reader| {
                    let mut owner = Owner::default();
                    each_field(reader, |reader, key| {
                        match key {
                            "uid" => owner.uid = text_value(reader)?,
                            "controller" => owner.is_controller = flag(reader)?,
                            "blockOwnerDeletion" => owner.blocks_deletion = flag(reader)?,
                            _ => reader.skip()?,
                        }
                        Ok(true)
                    })?;
                    owners.push(owner);
                    Ok(())
                })?;
            }
            _ => reader.skip()?,
        }
        Ok(true)
    })
}

/// Calls `take` with each key of an object until it says false; anything else is passed over.
fn each_entry<'a>(
    reader: &mut Reader<'a>,
    mut take: impl FnMut(&mut Reader<'a>, Cow<'a, str>) -> Result<bool, SyntaxError>,
) -> Result<(), SyntaxError> {
    if reader.peek()? != Kind::Object {
        return reader.skip();
    }
    reader.open()?;
    let mut first = true;
    while let Some(key) = reader.next_key(&mut first)? {
        if !take(reader, key)? {
            return Ok(());
        }
    }
    Ok(())
}

fn each_field<'a>(
    reader: &mut Reader<'a>,
    mut take: impl FnMut(&mut Reader<'a>, &str) -> Result<bool, SyntaxError>,
) -> Result<(), SyntaxError> {
    each_entry(reader, |reader, key| take(reader, &key))
}

fn each_item<'a>(
    reader: &mut Reader<'a>,
    mut take: impl FnMut(&mut Reader<'a>) -> Result<(), SyntaxError>,
) -> Result<(), SyntaxError> {
    if reader.peek()? != Kind::Array {
        return reader.skip();
    }
    reader.open()?;
    let mut first = true;
    while reader.next_item(&mut first)? {
        take(reader)?;
    }
    Ok(())
}

fn text_value<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, str>, SyntaxError> {
    if reader.peek()? == Kind::String {
        return reader.string();
    }
    reader.skip()?;
    Ok(Cow::Borrowed(""))
}

fn flag(reader: &mut Reader<'_>) -> Result<bool, SyntaxError> {
    if reader.peek()? == Kind::Bool {
        return reader.bool();
    }
    reader.skip()?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_is_read_without_the_rest() {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": "a", "namespace": "default", "uid": "u", "resourceVersion": "7", "labels": {"app": "web"},
            "ownerReferences": [{"uid": "o", "controller": true, "name": "x"}], "finalizers": ["f"],
            "deletionTimestamp": "2024-01-01T00:00:00Z"}, "spec": {"containers": []}});
        let bytes = pod.to_string().into_bytes();
        let found = extract(&bytes).expect("metadata");
        assert_eq!((&*found.kind, &*found.name, &*found.namespace), ("Pod", "a", "default"));
        assert_eq!((&*found.uid, &*found.resource_version), ("u", "7"));
        assert_eq!(found.labels, [("app".into(), "web".into())]);
        assert_eq!(found.owners, [Owner { uid: "o".into(), is_controller: true, blocks_deletion: false }]);
        assert!(found.deletion_timestamp.is_some() && found.has_finalizers);
        assert!(matches!(found.name, Cow::Borrowed(_)));
        assert!(extract(b"{\"metadata\":{\"name\":").is_err());
        let metadata = text(pod.to_string().as_str()).and_then(|text| serde_json::from_str(text).ok());
        assert_eq!(metadata, Some(pod["metadata"].clone()));
        assert_eq!(
            (text(r#"{"kind":"Pod"}"#), text(r#"{"metadata":null}"#), text(r#"{"metadata":{"#)),
            (None, None, None)
        );
    }
}
