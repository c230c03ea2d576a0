//! JSON to protobuf, along the layout of the type. What Go's generated code writes even
//! when it is zero (scalars and structs that are no pointers) is written here too.

use super::ProtobufError;
use super::wire::{FIXED64, Writer};
use crate::codec::normalize::json_schema_props;
use crate::codec::time::{Precision, parse_duration, parse_time};
use crate::schema::{Entry, Field, Layout, Special, Type, TypeDef};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

pub(super) fn message(writer: &mut Writer, value: &Value, definition: &TypeDef) -> Result<(), ProtobufError> {
    layout(writer, value, definition, definition.layout())
}

fn layout(writer: &mut Writer, value: &Value, definition: &TypeDef, layout_of: &Layout) -> Result<(), ProtobufError> {
    // From the last tag to the first, since the writer goes backwards.
    for (tag, entry) in layout_of.entries.iter().rev() {
        match entry {
            Entry::Embedded(inner) => {
                let start = writer.len();
                layout(writer, value, definition, inner)?;
                writer.close_from(*tag, start);
            }
            Entry::Field(index) => {
                let field = &definition.fields[usize::from(*index)];
                let present = value.get(field.name.as_ref()).filter(|value| !value.is_null());
                encode_field(writer, *tag, field, present)
                    .map_err(|error| error.at(&format!("{}.{}", definition.name, field.name)))?;
            }
        }
    }
    Ok(())
}

fn encode_field(writer: &mut Writer, tag: u32, field: &Field, value: Option<&Value>) -> Result<(), ProtobufError> {
    match (&field.ty, value) {
        (Type::List(item), Some(Value::Array(items))) if !field.list_message => {
            items.iter().rev().try_for_each(|value| element(writer, tag, item, value, false))
        }
        (Type::List(_), Some(value)) if field.list_message => element(writer, tag, &field.ty, value, true),
        (Type::Map(item), Some(Value::Object(entries))) => {
            // Keys are sorted already; backwards they come last first.
            for (key, value) in entries.iter().rev() {
                let start = writer.len();
                element(writer, 2, item, value, field.list_message)?;
                writer.bytes_field(1, key.as_bytes());
                writer.close_from(tag, start);
            }
            Ok(())
        }
        (Type::List(_) | Type::Map(_) | Type::Bytes, None) => Ok(()),
        (_, None) if field.pointer => Ok(()),
        (ty, None) => element(writer, tag, ty, &Value::Null, false),
        (ty, Some(value)) => element(writer, tag, ty, value, false),
    }
}

/// One value with its tag; null is the zero value.
fn element(writer: &mut Writer, tag: u32, ty: &Type, value: &Value, list_message: bool) -> Result<(), ProtobufError> {
    let wrong = || ProtobufError::Value(String::new());
    match (ty, value) {
        (Type::Bool, Value::Null) => writer.varint_field(tag, 0),
        (Type::Bool, Value::Bool(flag)) => writer.varint_field(tag, u64::from(*flag)),
        (Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64, Value::Null) => writer.varint_field(tag, 0),
        (Type::Int32 | Type::Int64, Value::Number(number)) => {
            // Negative numbers take all ten bytes, as in Go.
            writer.varint_field(tag, number.as_i64().ok_or_else(wrong)? as u64);
        }
        (Type::Uint32 | Type::Uint64, Value::Number(number)) => {
            writer.varint_field(tag, number.as_u64().ok_or_else(wrong)?);
        }
        (Type::Float64, value) => {
            let float = if value.is_null() { 0.0 } else { value.as_f64().ok_or_else(wrong)? };
            writer.raw(&float.to_bits().to_le_bytes());
            writer.tag(tag, FIXED64);
        }
        (Type::String, Value::Null) => writer.bytes_field(tag, b""),
        (Type::String, Value::String(text)) => writer.bytes_field(tag, text.as_bytes()),
        (Type::Bytes, Value::Null) => writer.bytes_field(tag, b""),
        (Type::Bytes, Value::String(text)) => {
            let bytes = BASE64_STANDARD.decode(text).map_err(|_| wrong())?;
            writer.bytes_field(tag, &bytes);
        }
        (Type::List(item), value) if list_message => {
            let start = writer.len();
            if let Value::Array(items) = value {
                for value in items.iter().rev() {
                    element(writer, 1, item, value, false)?;
                }
            }
            writer.close_from(tag, start);
        }
        (Type::Struct(reference), Value::Null | Value::Object(_)) => {
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

fn encode_special(writer: &mut Writer, special: Special, value: &Value) -> Result<(), ProtobufError> {
    let wrong = || ProtobufError::Value(String::new());
    match special {
        Special::Time | Special::MicroTime => {
            let Some(text) = value.as_str() else {
                return if value.is_null() { Ok(()) } else { Err(wrong()) };
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
            let nanos = match value.as_str() {
                Some(text) => parse_duration(text).map_err(ProtobufError::Value)?,
                None => 0,
            };
            writer.varint_field(1, nanos as u64);
        }
        Special::Quantity => writer.bytes_field(1, value.as_str().unwrap_or("0").as_bytes()),
        Special::IntOrString => {
            let (kind, number, text) = match value {
                Value::String(text) => (1, 0, text.as_str()),
                Value::Number(number) => (0, number.as_i64().ok_or_else(wrong)?, ""),
                Value::Null => (0, 0, ""),
                _ => return Err(wrong()),
            };
            writer.bytes_field(3, text.as_bytes());
            writer.varint_field(2, number as u64);
            writer.varint_field(1, kind);
        }
        Special::RawExtension | Special::FieldsV1 | Special::Json => {
            if special == Special::Json || !value.is_null() {
                writer.bytes_field(1, value.to_string().as_bytes());
            }
        }
        Special::JsonSchemaPropsOrBool => {
            if value.is_object() {
                schema(writer, 2, value)?;
            }
            let allows = value.is_object() || value.as_bool().unwrap_or(false);
            writer.varint_field(1, u64::from(allows));
        }
        Special::JsonSchemaPropsOrArray => match value {
            Value::Array(items) => items.iter().rev().try_for_each(|item| schema(writer, 2, item))?,
            Value::Object(_) => schema(writer, 1, value)?,
            _ => {}
        },
        Special::JsonSchemaPropsOrStringArray => match value {
            Value::Array(items) => {
                for item in items.iter().rev() {
                    writer.bytes_field(2, item.as_str().ok_or_else(wrong)?.as_bytes());
                }
            }
            Value::Object(_) => schema(writer, 1, value)?,
            _ => {}
        },
    }
    Ok(())
}

fn schema(writer: &mut Writer, tag: u32, value: &Value) -> Result<(), ProtobufError> {
    let Some(props) = json_schema_props() else { return Ok(()) };
    let start = writer.len();
    message(writer, value, props)?;
    writer.close_from(tag, start);
    Ok(())
}
