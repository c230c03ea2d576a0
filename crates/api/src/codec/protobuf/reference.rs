//! The encoder that reads a tree of values field by field: slow, plain, and what the fast
//! one is compared with.

use super::ProtobufError;
use super::wire::Writer;
use crate::codec::normalize::json_schema_props;
use crate::codec::time::{Precision, parse_duration, parse_time};
use crate::document::{Node, Shape};
use crate::schema::{Entry, Field, Layout, Special, Type, TypeDef};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// `None` is a struct that nothing set, of which Go writes the zero fields all the same.
pub(super) fn message(writer: &mut Writer, value: Option<Node<'_>>, definition: &TypeDef) -> Result<(), ProtobufError> {
    let Some(value) = value else {
        return layout(writer, &|_, _| None, definition, definition.layout());
    };
    layout(writer, &|_, field: &Field| value.get(&field.name), definition, definition.layout())
}

/// Finds a field of the object by its position in the type and its facts.
type Find<'f, 'a> = &'f dyn Fn(usize, &Field) -> Option<Node<'a>>;

fn layout<'a>(
    writer: &mut Writer,
    find: Find<'_, 'a>,
    definition: &TypeDef,
    layout_of: &Layout,
) -> Result<(), ProtobufError> {
    // From the last tag to the first, since the writer goes backwards.
    for (tag, entry) in layout_of.entries.iter().rev() {
        match entry {
            Entry::Embedded(inner) => {
                let start = writer.len();
                layout(writer, find, definition, inner)?;
                writer.close_from(*tag, start);
            }
            Entry::Field(index) => {
                let index = usize::from(*index);
                let field = &definition.fields[index];
                encode_field(writer, *tag, field, find(index, field))
                    .map_err(|error| error.at(&format!("{}.{}", definition.name, field.name)))?;
            }
        }
    }
    Ok(())
}

fn encode_field(writer: &mut Writer, tag: u32, field: &Field, value: Option<Node<'_>>) -> Result<(), ProtobufError> {
    let Some(value) = value else {
        return match &field.ty {
            Type::List(_) | Type::Map(_) | Type::Bytes => Ok(()),
            _ if field.pointer => Ok(()),
            ty => element(writer, tag, ty, None, false),
        };
    };
    match (&field.ty, value.shape()) {
        (Type::List(item), Shape::Array) if !field.list_message => {
            backwards(value.items(), |value| element(writer, tag, item, Some(value), false))
        }
        (Type::List(_), _) if field.list_message => element(writer, tag, &field.ty, Some(value), true),
        (Type::Map(item), Shape::Object) => {
            let mut entries: Vec<(&str, Node<'_>)> = value.entries().collect();
            // Go writes maps in the order of their keys, in which stored objects have them.
            if !entries.is_sorted_by_key(|(key, _)| *key) {
                entries.sort_by_key(|(key, _)| *key);
            }
            for (key, value) in entries.into_iter().rev() {
                let start = writer.len();
                element(writer, 2, item, Some(value), field.list_message)?;
                writer.bytes_field(1, key.as_bytes());
                writer.close_from(tag, start);
            }
            Ok(())
        }
        (ty, _) => element(writer, tag, ty, Some(value), false),
    }
}

/// Calls `encode` with the last item first.
fn backwards<'a>(
    items: impl Iterator<Item = Node<'a>>,
    encode: impl FnMut(Node<'a>) -> Result<(), ProtobufError>,
) -> Result<(), ProtobufError> {
    let items: Vec<Node<'a>> = items.collect();
    items.into_iter().rev().try_for_each(encode)
}

fn wrong() -> ProtobufError {
    ProtobufError::Value(String::new())
}

/// One value with its tag; `None` and null are the zero value.
fn element(
    writer: &mut Writer,
    tag: u32,
    ty: &Type,
    value: Option<Node<'_>>,
    list_message: bool,
) -> Result<(), ProtobufError> {
    let value = value.filter(|value| !value.is_null());
    match (ty, value) {
        (Type::Bool | Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64, None) => writer.varint_field(tag, 0),
        (Type::Bool, Some(value)) => writer.varint_field(tag, u64::from(value.as_bool().ok_or_else(wrong)?)),
        // Negative numbers take all ten bytes, as in Go.
        (Type::Int32 | Type::Int64, Some(value)) => writer.varint_field(tag, value.as_i64().ok_or_else(wrong)? as u64),
        (Type::Uint32 | Type::Uint64, Some(value)) => writer.varint_field(tag, value.as_u64().ok_or_else(wrong)?),
        (Type::Float64, value) => {
            let float = value.map_or(Some(0.0), Node::as_f64).ok_or_else(wrong)?;
            writer.fixed64_field(tag, float.to_bits());
        }
        (Type::String | Type::Bytes, None) => writer.bytes_field(tag, b""),
        (Type::String, Some(value)) => writer.bytes_field(tag, value.as_str().ok_or_else(wrong)?.as_bytes()),
        (Type::Bytes, Some(value)) => {
            let bytes = BASE64_STANDARD.decode(value.as_str().ok_or_else(wrong)?).map_err(|_| wrong())?;
            writer.bytes_field(tag, &bytes);
        }
        (Type::List(item), value) if list_message => {
            let start = writer.len();
            if let Some(value) = value {
                backwards(value.items(), |value| element(writer, 1, item, Some(value), false))?;
            }
            writer.close_from(tag, start);
        }
        (Type::Struct(reference), value) if value.is_none_or(|value| value.shape() == Shape::Object) => {
            let start = writer.len();
            message(writer, value, reference.get())?;
            writer.close_from(tag, start);
        }
        (Type::Special(special), value) => {
            let start = writer.len();
            encode_special(writer, *special, value)?;
            writer.close_from(tag, start);
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

fn encode_special(writer: &mut Writer, special: Special, value: Option<Node<'_>>) -> Result<(), ProtobufError> {
    let text = value.and_then(Node::as_str);
    let shape = value.map_or(Shape::Null, Node::shape);
    match special {
        Special::Time | Special::MicroTime => {
            let Some(text) = text else {
                return if value.is_none() { Ok(()) } else { Err(wrong()) };
            };
            let precision = if special == Special::Time { Precision::Seconds } else { Precision::Micros };
            let moment = parse_time(text, precision).map_err(ProtobufError::Value)?;
            let nanos = if special == Special::Time { 0 } else { moment.nanos };
            if !moment.is_zero() {
                writer.varint_field(2, nanos as u64);
                writer.varint_field(1, moment.seconds as u64);
            }
        }
        Special::Duration => {
            let nanos = match text {
                Some(text) => parse_duration(text).map_err(ProtobufError::Value)?,
                None => 0,
            };
            writer.varint_field(1, nanos as u64);
        }
        Special::Quantity => writer.bytes_field(1, text.unwrap_or("0").as_bytes()),
        Special::IntOrString => {
            let (kind, number) = match (shape, value) {
                (Shape::String(_), _) => (1, 0),
                (Shape::Number, Some(value)) => (0, value.as_i64().ok_or_else(wrong)?),
                (Shape::Null, _) => (0, 0),
                _ => return Err(wrong()),
            };
            writer.bytes_field(3, text.unwrap_or_default().as_bytes());
            writer.varint_field(2, number as u64);
            writer.varint_field(1, kind);
        }
        Special::RawExtension | Special::FieldsV1 => {
            if let Some(value) = value {
                writer.bytes_field(1, value.to_json().as_bytes());
            }
        }
        Special::Json => writer.bytes_field(1, value.map_or("null".into(), Node::to_json).as_bytes()),
        Special::JsonSchemaPropsOrBool => {
            let is_schema = shape == Shape::Object;
            if is_schema {
                schema(writer, 2, value)?;
            }
            let allows = is_schema || shape == Shape::Bool(true);
            writer.varint_field(1, u64::from(allows));
        }
        Special::JsonSchemaPropsOrArray => match (shape, value) {
            (Shape::Array, Some(value)) => backwards(value.items(), |item| schema(writer, 2, Some(item)))?,
            (Shape::Object, value) => schema(writer, 1, value)?,
            _ => {}
        },
        Special::JsonSchemaPropsOrStringArray => match (shape, value) {
            (Shape::Array, Some(value)) => backwards(value.items(), |item| {
                writer.bytes_field(2, item.as_str().ok_or_else(wrong)?.as_bytes());
                Ok(())
            })?,
            (Shape::Object, value) => schema(writer, 1, value)?,
            _ => {}
        },
    }
    Ok(())
}

fn schema(writer: &mut Writer, tag: u32, value: Option<Node<'_>>) -> Result<(), ProtobufError> {
    let Some(props) = json_schema_props() else { return Ok(()) };
    let start = writer.len();
    message(writer, value, props)?;
    writer.close_from(tag, start);
    Ok(())
}
