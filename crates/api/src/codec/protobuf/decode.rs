//! Protobuf to JSON, along the layout of the type. Zero values are left as they come; the
//! caller normalizes the whole object once.

use super::wire::{Reader, Wire};
use super::{MAGIC, ProtobufError};
use crate::codec::json::{MAX_DEPTH, float_value};
use crate::codec::normalize::json_schema_props;
use crate::codec::time::{Moment, Precision, format_duration, format_time};
use crate::quantity;
use crate::schema::{Entry, Field, Layout, Special, Type, TypeDef};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

type Fields = Map<String, Value>;

pub(super) fn message(
    bytes: &[u8],
    definition: &TypeDef,
    into: &mut Fields,
    depth: usize,
) -> Result<(), ProtobufError> {
    layout(bytes, definition, definition.layout(), into, depth)
}

fn layout(
    bytes: &[u8],
    definition: &TypeDef,
    layout_of: &Layout,
    into: &mut Fields,
    depth: usize,
) -> Result<(), ProtobufError> {
    if depth > MAX_DEPTH {
        return Err(ProtobufError::Depth);
    }
    let mut reader = Reader::new(bytes);
    while let Some((tag, wire)) = reader.next()? {
        match layout_of.find(tag) {
            None => {}
            Some(Entry::Embedded(inner)) => layout(wire.bytes()?, definition, inner, into, depth + 1)?,
            Some(Entry::Field(index)) => {
                let field = &definition.fields[usize::from(*index)];
                decode_field(wire, field, into, depth)
                    .map_err(|error| error.at(&format!("{}.{}", definition.name, field.name)))?;
            }
        }
    }
    Ok(())
}

fn decode_field(wire: Wire<'_>, field: &Field, into: &mut Fields, depth: usize) -> Result<(), ProtobufError> {
    let name = field.name.as_ref();
    match &field.ty {
        Type::List(item) if !field.list_message => {
            let slot = into.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            let Value::Array(items) = slot else { return Err(ProtobufError::WireType) };
            match (item.as_ref(), wire) {
                // Numbers may come packed into one field.
                (Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Bool, Wire::Bytes(packed)) => {
                    let mut reader = Reader::new(packed);
                    while !reader.is_empty() {
                        let wire = Wire::Varint(reader.varint()?);
                        items.push(element(wire, item, false, Map::new(), depth + 1)?);
                    }
                }
                (_, wire) => items.push(element(wire, item, false, Map::new(), depth + 1)?),
            }
        }
        Type::Map(item) => {
            let slot = into.entry(name).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(entries) = slot else { return Err(ProtobufError::WireType) };
            let (mut key, mut value) = (String::new(), None);
            let mut reader = Reader::new(wire.bytes()?);
            while let Some((tag, wire)) = reader.next()? {
                match tag {
                    1 => key = text(wire)?,
                    2 => value = Some(element(wire, item, field.list_message, Map::new(), depth + 2)?),
                    _ => {}
                }
            }
            // An entry without a value has the zero one; bytes are empty then, not absent.
            let zero = || if matches!(**item, Type::Bytes) { "".into() } else { crate::codec::zero(item) };
            entries.insert(key, value.unwrap_or_else(zero));
        }
        ty => {
            // A message that comes in parts adds to what is there.
            let earlier = match into.remove(name) {
                Some(Value::Object(earlier)) => earlier,
                _ => Map::new(),
            };
            into.insert(name.to_owned(), element(wire, ty, field.list_message, earlier, depth + 1)?);
        }
    }
    Ok(())
}

fn element(
    wire: Wire<'_>,
    ty: &Type,
    list_message: bool,
    mut earlier: Fields,
    depth: usize,
) -> Result<Value, ProtobufError> {
    if depth > MAX_DEPTH {
        return Err(ProtobufError::Depth);
    }
    Ok(match ty {
        Type::Bool => (wire.varint()? != 0).into(),
        Type::Int32 => (wire.varint()? as i32).into(),
        Type::Int64 => (wire.varint()? as i64).into(),
        Type::Uint32 => (wire.varint()? as u32).into(),
        Type::Uint64 => wire.varint()?.into(),
        Type::Float64 => match wire {
            Wire::Fixed64(bits) => float_value(f64::from_bits(bits)),
            _ => return Err(ProtobufError::WireType),
        },
        Type::String => text(wire)?.into(),
        Type::Bytes => BASE64_STANDARD.encode(wire.bytes()?).into(),
        Type::List(item) if list_message => {
            let mut items = Vec::new();
            let mut reader = Reader::new(wire.bytes()?);
            while let Some((tag, wire)) = reader.next()? {
                if tag == 1 {
                    items.push(element(wire, item, false, Map::new(), depth + 1)?);
                }
            }
            Value::Array(items)
        }
        Type::List(_) | Type::Map(_) => return Err(ProtobufError::WireType),
        Type::Struct(reference) => {
            message(wire.bytes()?, reference.get(), &mut earlier, depth + 1)?;
            Value::Object(earlier)
        }
        Type::Special(special) => decode_special(wire.bytes()?, *special, depth)?,
    })
}

fn text(wire: Wire<'_>) -> Result<String, ProtobufError> {
    Ok(String::from_utf8_lossy(wire.bytes()?).into_owned())
}

fn decode_special(bytes: &[u8], special: Special, depth: usize) -> Result<Value, ProtobufError> {
    let mut reader = Reader::new(bytes);
    match special {
        Special::Time | Special::MicroTime => {
            if bytes.is_empty() {
                return Ok(Value::Null);
            }
            let mut moment = Moment { seconds: 0, nanos: 0 };
            while let Some((tag, wire)) = reader.next()? {
                match tag {
                    1 => moment.seconds = wire.varint()? as i64,
                    2 => moment.nanos = (wire.varint()? as i32).clamp(0, 999_999_999),
                    _ => {}
                }
            }
            let precision = if special == Special::Time { Precision::Seconds } else { Precision::Micros };
            Ok(format_time(moment, precision).map_or(Value::Null, Value::String))
        }
        Special::Duration => {
            let mut nanos = 0;
            while let Some((tag, wire)) = reader.next()? {
                if tag == 1 {
                    nanos = wire.varint()? as i64;
                }
            }
            Ok(format_duration(nanos).into())
        }
        Special::Quantity => {
            let mut found = "0".to_owned();
            while let Some((tag, wire)) = reader.next()? {
                if tag == 1 {
                    found = text(wire)?;
                }
            }
            // Go's zero Quantity is an empty message or an empty string.
            let found = if found.is_empty() { "0" } else { &found };
            match quantity::canonicalize(found) {
                Ok(canonical) => Ok(Value::String(canonical.into_owned())),
                Err(error) => Err(ProtobufError::Value(error.to_string())),
            }
        }
        Special::IntOrString => {
            let (mut is_text, mut number, mut string) = (false, 0, String::new());
            while let Some((tag, wire)) = reader.next()? {
                match tag {
                    1 => is_text = wire.varint()? == 1,
                    2 => number = wire.varint()? as i32,
                    3 => string = text(wire)?,
                    _ => {}
                }
            }
            Ok(if is_text { string.into() } else { number.into() })
        }
        Special::RawExtension | Special::FieldsV1 | Special::Json => {
            let mut raw: &[u8] = b"";
            while let Some((tag, wire)) = reader.next()? {
                if tag == 1 {
                    raw = wire.bytes()?;
                }
            }
            if raw.is_empty() {
                return Ok(Value::Null);
            }
            if raw.starts_with(&MAGIC) {
                return super::decode_embedded(raw, depth + 1);
            }
            serde_json::from_slice(raw).map_err(|error| ProtobufError::Value(error.to_string()))
        }
        Special::JsonSchemaPropsOrBool => {
            let (mut allows, mut schema) = (false, None);
            while let Some((tag, wire)) = reader.next()? {
                match tag {
                    1 => allows = wire.varint()? != 0,
                    2 => schema = Some(props(wire, depth)?),
                    _ => {}
                }
            }
            Ok(schema.unwrap_or(Value::Bool(allows)))
        }
        Special::JsonSchemaPropsOrArray | Special::JsonSchemaPropsOrStringArray => {
            let (mut schema, mut items) = (Value::Null, Vec::new());
            while let Some((tag, wire)) = reader.next()? {
                match (tag, special) {
                    (1, _) => schema = props(wire, depth)?,
                    (2, Special::JsonSchemaPropsOrArray) => items.push(props(wire, depth)?),
                    (2, _) => items.push(text(wire)?.into()),
                    _ => {}
                }
            }
            Ok(if items.is_empty() { schema } else { Value::Array(items) })
        }
    }
}

fn props(wire: Wire<'_>, depth: usize) -> Result<Value, ProtobufError> {
    let mut fields = Map::new();
    if let Some(definition) = json_schema_props() {
        message(wire.bytes()?, definition, &mut fields, depth + 1)?;
    }
    Ok(Value::Object(fields))
}
