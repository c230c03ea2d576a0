//! Bodies to objects and objects to protobuf: what the verbs need of ferry_api's codecs.

use crate::door::negotiate::Format;
use bytes::Bytes;
use ferry_api::codec;
use ferry_api::codec::protobuf::{MessageEncoder, ProtobufError};
use ferry_api::document::{Document, Index, Node};
use ferry_api::gvk::{GroupVersion, GroupVersionKind};
use ferry_api::object::Meta;
use ferry_api::schema::TypeDef;
use ferry_api::status::Status;
use ferry_resources::Row;
use ferry_resources::custom_resource::Custom;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::RefCell;

/// The largest body that is read (upstream's MaxRequestBodyBytes).
pub(crate) const BODY_MAX: usize = 3 * 1024 * 1024;

/// What happens to fields that the kind does not have, and to fields that occur twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

pub(crate) struct Decoded {
    pub object: Value,
    pub warnings: Vec<String>,
}

/// Decodes a request's object. `expected` is the kind that the URL takes; an object that
/// names none is taken for one.
pub(crate) fn decode(
    body: &[u8],
    format: Format,
    expected: &GroupVersionKind,
    schema: Option<&TypeDef>,
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let decoded = match (schema, format) {
        (Some(schema), Format::Protobuf) => codec::protobuf::decode(body, schema, expected),
        (Some(schema), _) => codec::decode(&to_json(body, format, expected)?, schema, expected),
        (None, _) => codec::decode_any(&to_json(body, format, expected)?),
    };
    let mut decoded = decoded.map_err(|error| error.into_status(expected, body))?;
    if schema.is_none() {
        check_kind(&mut decoded.value, expected)?;
    }
    if validation == FieldValidation::Strict
        && let Some(status) = decoded.strict_error(expected)
    {
        return Err(status);
    }
    let warnings = if validation == FieldValidation::Warn { decoded.violations } else { Vec::new() };
    Ok(Decoded { object: decoded.value, warnings })
}

/// Decodes a request's object of a row's kind.
pub(crate) fn decode_object(
    row: &Row,
    body: &[u8],
    format: Format,
    validation: FieldValidation,
) -> Result<Decoded, Status> {
    let expected = row.gvk();
    let Some(custom) = &row.custom else {
        return decode(body, format, &expected, row.schema.as_deref(), validation);
    };
    if format == Format::Protobuf {
        return Err(Status::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: object *unstructured.Unstructured does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message",
            expected.kind, expected.version, expected.kind
        )));
    }
    let json = to_json(body, format, &expected)?;
    let mut decoded = codec::decode_any(&json).map_err(|error| error.into_status(&expected, body))?;
    check_custom_kind(&decoded.value, &expected, body)?;
    decoded.violations.extend(prune(custom, &mut decoded.value, &expected)?);
    if validation == FieldValidation::Strict
        && let Some(status) = decoded.strict_error(&expected)
    {
        return Err(status);
    }
    let warnings = if validation == FieldValidation::Warn { decoded.violations } else { Vec::new() };
    Ok(Decoded { object: decoded.value, warnings })
}

/// Drops what a custom resource's schema does not know, and says so.
fn prune(custom: &Custom, object: &mut Value, expected: &GroupVersionKind) -> Result<Vec<String>, Status> {
    let unknown = custom.prune(object).map_err(|why| {
        Status::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}: {why}",
            expected.kind, expected.version, expected.kind
        ))
    })?;
    Ok(unknown.into_iter().map(|path| format!("unknown field \"{path}\"")).collect())
}

/// What a patch has made of an object of a custom resource, decoded like a body. The second
/// is what strictness has to say.
pub(crate) fn decode_patched(
    custom: &Custom,
    object: &mut Value,
    expected: &GroupVersionKind,
) -> Result<Vec<String>, Status> {
    if !object.is_object() {
        return Err(Status::bad_request("the patch does not leave an object"));
    }
    prune(custom, object, expected)
}

/// Upstream reads these without types, so nothing stands in for a kind that is left out. A
/// kind that is another's is left for validation to name.
fn check_custom_kind(object: &Value, expected: &GroupVersionKind, body: &[u8]) -> Result<(), Status> {
    let unrecognized = |what: &str| {
        let text = format!("Object '{what}' is missing in '{}'", String::from_utf8_lossy(body).trim_end());
        codec::DecodeError::unrecognized(text).into_status(expected, body)
    };
    if !object.is_object() || object.get("kind").is_none_or(|kind| kind.as_str() == Some("")) {
        return Err(unrecognized("Kind"));
    }
    let found = object.gvk().group_version();
    if object.get("apiVersion").is_none_or(|version| version.as_str() == Some("")) {
        return Err(unrecognized("apiVersion"));
    }
    if found != expected.group_version() {
        return Err(Status::bad_request(format!(
            "the API version in the data ({found}) does not match the expected API version ({})",
            expected.group_version()
        )));
    }
    Ok(())
}

/// The body as JSON text, whatever it came as.
pub(crate) fn to_json<'a>(
    body: &'a [u8],
    format: Format,
    expected: &GroupVersionKind,
) -> Result<Cow<'a, [u8]>, Status> {
    match format {
        Format::Json => Ok(Cow::Borrowed(body)),
        // YAML grows when its aliases are written out, but not without end.
        Format::Yaml => codec::yaml::to_json(body, BODY_MAX * 4)
            .map(|json| Cow::Owned(json.into_bytes()))
            .map_err(|error| error.into_status(expected, body)),
        Format::Protobuf => {
            Err(Status::unsupported_media_type(&[crate::door::negotiate::JSON, crate::door::negotiate::YAML]))
        }
    }
}

/// The object must say that it is what the URL takes, or say nothing.
fn check_kind(object: &mut Value, expected: &GroupVersionKind) -> Result<(), Status> {
    let found = object.gvk();
    if found.kind.is_empty() && found.version.is_empty() {
        object.set_gvk(expected);
        return Ok(());
    }
    if found.group_version() != expected.group_version() {
        return Err(Status::bad_request(format!(
            "the API version in the data ({}) does not match the expected API version ({})",
            found.group_version(),
            expected.group_version()
        )));
    }
    if found.kind != expected.kind {
        return Err(Status::bad_request(format!(
            "{} in version {:?} cannot be handled as a {}",
            found.kind, found.version, expected.kind
        )));
    }
    Ok(())
}

/// Decodes options that came as a body: `DeleteOptions`.
pub(crate) fn decode_options(body: &[u8], format: Format, kind: &GroupVersionKind) -> Result<Value, Status> {
    if format == Format::Protobuf {
        let envelope = codec::protobuf::open(body).map_err(|error| Status::bad_request(error.to_string()))?;
        let definition = definition_of(kind).ok_or_else(|| Status::internal("options without a schema"))?;
        return codec::protobuf::decode_message(envelope.raw, definition)
            .map_err(|error| Status::bad_request(error.to_string()));
    }
    let json = to_json(body, format, kind)?;
    match definition_of(kind) {
        Some(definition) => codec::decode_as(&json, definition)
            .map(|decoded| decoded.value)
            .map_err(|error| Status::bad_request(error.to_string())),
        None => serde_json::from_slice(&json).map_err(|error| Status::bad_request(error.to_string())),
    }
}

/// The type of a kind. A few kinds of meta/v1 are written as if they were the core group's.
fn definition_of(kind: &GroupVersionKind) -> Option<&'static TypeDef> {
    let table = ferry_api::schema::builtin();
    match ferry_api::schema::of_kind(kind) {
        Some(definition) => Some(definition),
        None if kind.group.is_empty() => table.get("meta/v1", &kind.kind).map(|definition| &**definition),
        None => None,
    }
}

/// The protobuf form of an object whose JSON is at hand; `None` for kinds that have none.
pub(crate) fn json_to_protobuf(json: &[u8]) -> Option<Bytes> {
    let mut index = Index::default();
    let object = index.read(std::str::from_utf8(json).ok()?).ok()?;
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let definition = definition_of(&GroupVersion::parse(api_version).with_kind(kind.to_owned()))?;
    codec::protobuf::encode_as(object, api_version, kind, definition).ok().map(Bytes::from)
}

thread_local! {
    /// Room for the index of an object and for its message.
    static ENCODER: RefCell<(Index, MessageEncoder)> = RefCell::default();
}

/// The message of a document in protobuf, without an envelope.
pub(crate) fn message(document: &Document, definition: &TypeDef) -> Result<Bytes, ProtobufError> {
    ENCODER.with_borrow_mut(|(index, encoder)| {
        let object = document.read(index);
        if object.is_null() {
            return Err(ProtobufError::Value(": the object is not JSON".into()));
        }
        encoder.encode(object, definition).map(Bytes::copy_from_slice)
    })
}

/// The protobuf form with its envelope; `None` for kinds that have none.
pub(crate) fn to_protobuf(object: &Value) -> Option<Bytes> {
    let definition = definition_of(&object.gvk())?;
    codec::protobuf::encode(object, definition).ok().map(Bytes::from)
}
