//! The text of an object to protobuf in one pass, by the plan of its type. What Go's
//! generated code writes even when it is zero (scalars and structs that are no pointers) is
//! written here too.
//!
//! The object is read through the index of its text, and strings go from the text into the
//! message as they are: nothing is decoded on the way.

use super::ProtobufError;
use super::plan::{Action, write_zero};
use super::wire::Writer;
use crate::codec::normalize::json_schema_props;
use crate::codec::time::{Precision, parse_duration, parse_time, parse_utc_seconds};
use crate::document::{Index, Node, Place, Token};
use crate::schema::{Special, Type, TypeDef};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The message of an object.
pub(super) fn message(writer: &mut Writer, object: Place<'_>, definition: &TypeDef) -> Result<(), ProtobufError> {
    if let Token::Raw(text) = object.token() {
        return unfold(&text.to_cow(), |object| message(writer, object, definition));
    }
    let plan = definition.plan().ok_or_else(wrong)?;
    // One walk over the object finds the fields that it has; those of the type that it has
    // not are never looked at, but for the few that Go writes all the same.
    let (mut found, mut present) = ([0_u32; 128], 0_u128);
    for (key, value) in object.fields() {
        if let Some(field) = definition.field_index_of(key)
            && let Some(step) = plan.step_of(field)
            && !object.at(value).is_null()
        {
            found[step] = value;
            present |= 1 << step;
        }
    }
    let mut opened: Vec<usize> = Vec::new();
    let mut left = present | plan.always;
    while left != 0 {
        let step_at = left.trailing_zeros() as usize;
        left &= left - 1;
        let step = &plan.steps[step_at];
        match &step.action {
            Action::Open => opened.push(writer.len()),
            Action::Close => writer.close_from(step.tag, opened.pop().unwrap_or_default()),
            Action::Field { absent, .. } if present & (1 << step_at) == 0 => writer.raw(absent),
            Action::Field { ty, list_message, .. } => {
                let value = object.at(found[step_at]);
                field(writer, step.tag, ty, *list_message, value)
                    .map_err(|error| name(error, definition, value, object))?;
            }
        }
    }
    Ok(())
}

/// Says at which field of the type a value is wrong.
#[cold]
fn name(error: ProtobufError, definition: &TypeDef, value: Place<'_>, object: Place<'_>) -> ProtobufError {
    let key = object.fields().find(|(_, number)| object.at(*number).is_at(value)).map_or(&[][..], |(key, _)| key);
    error.at(&format!("{}.{}", definition.name, String::from_utf8_lossy(key)))
}

/// The sets of fields are not indexed under their name; anything else of that name is
/// indexed here.
#[cold]
fn unfold(text: &[u8], encode: impl FnOnce(Place<'_>) -> Result<(), ProtobufError>) -> Result<(), ProtobufError> {
    let mut index = Index::default();
    let text = std::str::from_utf8(text).map_err(|_| wrong())?;
    match index.read(text) {
        Ok(Node::Text(object)) => encode(object),
        _ => Err(wrong()),
    }
}

fn field(writer: &mut Writer, tag: u32, ty: &Type, list_message: bool, value: Place<'_>) -> Result<(), ProtobufError> {
    match (ty, value.token()) {
        (Type::List(item), Token::Array) if !list_message => {
            value.backwards().try_for_each(|value| element(writer, tag, item, value, false))
        }
        (Type::Map(item), Token::Object) => map(writer, tag, item, list_message, value),
        (Type::Map(_), Token::Raw(text)) => unfold(&text.to_cow(), |value| field(writer, tag, ty, list_message, value)),
        _ => element(writer, tag, ty, value, list_message && matches!(ty, Type::List(_))),
    }
}

/// Go writes maps in the order of their keys, in which stored objects have them.
fn map(writer: &mut Writer, tag: u32, item: &Type, list_message: bool, object: Place<'_>) -> Result<(), ProtobufError> {
    let mut entry = |key: &[u8], value: Place<'_>| {
        let start = writer.len();
        element(writer, 2, item, value, list_message)?;
        writer.bytes_field(1, key);
        writer.close_from(tag, start);
        Ok(())
    };
    if object.fields().is_sorted_by_key(|(key, _)| key) {
        let mut inside = object.backwards();
        while let (Some(value), Some(key)) = (inside.next(), inside.next()) {
            entry(key.key(), value)?;
        }
        return Ok(());
    }
    let mut entries: Vec<(&[u8], u32)> = object.fields().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries.into_iter().rev().try_for_each(|(key, value)| entry(key, object.at(value)))
}

fn wrong() -> ProtobufError {
    ProtobufError::Value(String::new())
}

/// One value with its tag; null is the zero value.
fn element(
    writer: &mut Writer,
    tag: u32,
    ty: &Type,
    value: Place<'_>,
    list_message: bool,
) -> Result<(), ProtobufError> {
    match (ty, value.token()) {
        (_, Token::Null) => write_zero(writer, tag, ty, list_message),
        (Type::String, Token::String(text)) => writer.bytes_field(tag, text),
        (Type::Bool, Token::Bool(flag)) => writer.varint_field(tag, u64::from(flag)),
        // Negative numbers take all ten bytes, as in Go.
        (Type::Int32 | Type::Int64, Token::Number(digits)) => {
            writer.varint_field(tag, number::<i64>(digits)? as u64);
        }
        (Type::Uint32 | Type::Uint64, Token::Number(digits)) => writer.varint_field(tag, number(digits)?),
        (Type::Float64, Token::Number(digits)) => writer.fixed64_field(tag, number::<f64>(digits)?.to_bits()),
        (Type::Bytes, Token::String(text)) => {
            let bytes = BASE64_STANDARD.decode(text).map_err(|_| wrong())?;
            writer.bytes_field(tag, &bytes);
        }
        (Type::List(item), _) if list_message => {
            let start = writer.len();
            if matches!(value.token(), Token::Array) {
                value.backwards().try_for_each(|value| element(writer, 1, item, value, false))?;
            }
            writer.close_from(tag, start);
        }
        (Type::Struct(reference), Token::Object | Token::Raw(_)) => {
            let start = writer.len();
            message(writer, value, reference.get())?;
            writer.close_from(tag, start);
        }
        (Type::Special(special), token) => {
            let start = writer.len();
            encode_special(writer, *special, value, token)?;
            writer.close_from(tag, start);
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

fn number<T: std::str::FromStr>(digits: &[u8]) -> Result<T, ProtobufError> {
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or_else(wrong)
}

/// A value that is not null of a type whose form is not that of its fields.
fn encode_special(
    writer: &mut Writer,
    special: Special,
    value: Place<'_>,
    token: Token<'_>,
) -> Result<(), ProtobufError> {
    match (special, token) {
        (Special::Time, Token::String(text)) => {
            let seconds = match parse_utc_seconds(text) {
                Some(seconds) => seconds,
                None => {
                    let moment = time(text, Precision::Seconds)?;
                    if moment.is_zero() {
                        return Ok(());
                    }
                    moment.seconds
                }
            };
            writer.varint_field(2, 0);
            writer.varint_field(1, seconds as u64);
        }
        (Special::MicroTime, Token::String(text)) => {
            let moment = time(text, Precision::Micros)?;
            if !moment.is_zero() {
                writer.varint_field(2, moment.nanos as u64);
                writer.varint_field(1, moment.seconds as u64);
            }
        }
        (Special::Time | Special::MicroTime, _) => return Err(wrong()),
        (Special::Duration, Token::String(text)) => {
            let nanos = parse_duration(str_of(text)?).map_err(ProtobufError::Value)?;
            writer.varint_field(1, nanos as u64);
        }
        (Special::Duration, _) => writer.varint_field(1, 0),
        (Special::Quantity, Token::String(text)) => writer.bytes_field(1, text),
        (Special::Quantity, _) => writer.bytes_field(1, b"0"),
        (Special::IntOrString, Token::String(text)) => {
            writer.bytes_field(3, text);
            writer.varint_field(2, 0);
            writer.varint_field(1, 1);
        }
        (Special::IntOrString, Token::Number(digits)) => {
            writer.bytes_field(3, b"");
            writer.varint_field(2, number::<i64>(digits)? as u64);
            writer.varint_field(1, 0);
        }
        (Special::IntOrString, _) => return Err(wrong()),
        (Special::RawExtension | Special::FieldsV1 | Special::Json, Token::Raw(text)) => {
            let start = writer.len();
            text.pieces_backwards(|piece| writer.raw(piece));
            writer.close_from(1, start);
        }
        (Special::RawExtension | Special::FieldsV1 | Special::Json, _) => {
            writer.bytes_field(1, Node::Text(value).to_json().as_bytes());
        }
        (Special::JsonSchemaPropsOrBool, _) => {
            let is_schema = matches!(token, Token::Object | Token::Raw(_));
            if is_schema {
                schema(writer, 2, value)?;
            }
            writer.varint_field(1, u64::from(is_schema || matches!(token, Token::Bool(true))));
        }
        (Special::JsonSchemaPropsOrArray, Token::Array) => {
            value.backwards().try_for_each(|item| schema(writer, 2, item))?;
        }
        (Special::JsonSchemaPropsOrStringArray, Token::Array) => {
            value.backwards().try_for_each(|item| match item.token() {
                Token::String(text) => {
                    writer.bytes_field(2, text);
                    Ok(())
                }
                _ => Err(wrong()),
            })?;
        }
        (Special::JsonSchemaPropsOrArray | Special::JsonSchemaPropsOrStringArray, Token::Object | Token::Raw(_)) => {
            schema(writer, 1, value)?
        }
        (Special::JsonSchemaPropsOrArray | Special::JsonSchemaPropsOrStringArray, _) => {}
    }
    Ok(())
}

fn str_of(text: &[u8]) -> Result<&str, ProtobufError> {
    std::str::from_utf8(text).map_err(|_| wrong())
}

fn time(text: &[u8], precision: Precision) -> Result<crate::codec::time::Moment, ProtobufError> {
    parse_time(str_of(text)?, precision).map_err(ProtobufError::Value)
}

fn schema(writer: &mut Writer, tag: u32, value: Place<'_>) -> Result<(), ProtobufError> {
    let Some(props) = json_schema_props() else { return Ok(()) };
    let start = writer.len();
    match value.token() {
        Token::Null => writer.raw(props.plan().map_or(&[], |plan| &plan.zero)),
        _ => message(writer, value, props)?,
    }
    writer.close_from(tag, start);
    Ok(())
}
