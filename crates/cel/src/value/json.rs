//! Lists and maps: borrowed from JSON, with or without a schema, or made by an expression.

use std::sync::Arc;

use base64::Engine as _;
use serde_json::Value as Json;

use super::{OwnedMap, Text, Time, Value, format_duration, parse_loose_duration};
use crate::error::{EvalError, Evaluated};
use crate::escape::{escape, unescape};
use crate::schema::{Kind, ListKind, Schema};

#[derive(Clone, Debug)]
#[allow(private_interfaces, reason = "how a list merges is not the host's to read")]
pub enum List<'v> {
    Json {
        items: &'v [Json],
        schema: Option<&'v Schema>,
    },
    Owned(Arc<Vec<Value<'v>>>),
    /// The merge of sets or keyed lists, which is one again.
    Merged {
        items: Arc<Vec<Value<'v>>>,
        kind: &'v ListKind,
    },
    /// One list after another. Adding lists is cheap in cost, so it must be cheap in time.
    Joined(Arc<Joined<'v>>),
}

#[derive(Debug)]
pub struct Joined<'v> {
    left: List<'v>,
    right: List<'v>,
    length: usize,
}

/// More elements than a request can carry twice; longer lists come only from adding one to
/// itself again and again.
const MAX_LENGTH: usize = 4_000_000;

impl<'v> List<'v> {
    pub fn len(&self) -> usize {
        match self {
            List::Json { items, .. } => items.len(),
            List::Owned(items) | List::Merged { items, .. } => items.len(),
            List::Joined(joined) => joined.length,
        }
    }

    /// This list and then another.
    pub(crate) fn join(&self, other: &Self) -> Evaluated<Self> {
        let length = self.len() + other.len();
        if length > MAX_LENGTH {
            return Err(EvalError::CostLimitExceeded);
        }
        if self.is_empty() {
            return Ok(other.clone());
        }
        if other.is_empty() {
            return Ok(self.clone());
        }
        Ok(List::Joined(Arc::new(Joined { left: self.clone(), right: other.clone(), length })))
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, index: usize) -> Option<Evaluated<Value<'v>>> {
        match self {
            List::Json { items, schema } => items.get(index).map(|item| element(item, *schema)),
            List::Owned(items) | List::Merged { items, .. } => items.get(index).cloned().map(Ok),
            List::Joined(joined) => match index.checked_sub(joined.left.len()) {
                None => joined.left.get(index),
                Some(index) => joined.right.get(index),
            },
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Evaluated<Value<'v>>> + '_ {
        (0..self.len()).map(|index| self.get(index).expect("the index is below the length"))
    }

    pub fn to_vec(&self) -> Evaluated<Vec<Value<'v>>> {
        self.iter().collect()
    }

    /// How this list tells its items apart, if it is a set or keyed.
    pub(crate) fn kind(&self) -> &'v ListKind {
        match self {
            List::Json { schema: Some(Schema { kind: Kind::List { list, .. }, .. }), .. } => list,
            List::Merged { kind, .. } => kind,
            _ => &ListKind::Atomic,
        }
    }
}

fn element<'v>(item: &'v Json, schema: Option<&'v Schema>) -> Evaluated<Value<'v>> {
    match schema {
        Some(Schema { kind: Kind::List { items, .. }, .. }) => typed(item, items),
        _ => Ok(Value::from_json(item)),
    }
}

#[derive(Clone, Debug)]
pub enum Map<'v> {
    Json { map: &'v serde_json::Map<String, Json>, schema: Option<&'v Schema> },
    Owned(Arc<OwnedMap<'v>>),
}

impl<'v> Map<'v> {
    pub fn len(&self) -> usize {
        match self {
            Map::Json { map, .. } => map.len(),
            Map::Owned(map) => map.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get_str(&self, key: &str) -> Option<Evaluated<Value<'v>>> {
        match self {
            Map::Json { map, schema: None } => map.get(key).map(|value| Ok(Value::from_json(value))),
            Map::Json { map, schema: Some(schema) } => match &schema.kind {
                Kind::Map(values) => map.get(key).map(|value| typed(value, values)),
                Kind::Object(properties) => {
                    let name = unescape(key)?;
                    // A null field of an object is as good as absent.
                    let value = map.get(name.as_ref()).filter(|value| !value.is_null())?;
                    properties.get(name.as_ref()).map(|property| typed(value, &property.schema))
                }
                _ => None,
            },
            Map::Owned(map) => map.get_str(key).cloned().map(Ok),
        }
    }

    /// The value under a key of any type; an error if no map of this kind can have it.
    pub fn get(&self, key: &Value<'v>) -> Evaluated<Option<Value<'v>>> {
        match (self, key) {
            (_, Value::String(text)) => self.get_str(text).transpose(),
            (Map::Owned(map), key) => Ok(map.get(key).cloned()),
            (Map::Json { schema: Some(_), .. }, _) => Err(EvalError::no_such_overload()),
            (Map::Json { .. }, _) => Ok(None),
        }
    }

    /// The value that selecting an absent key gives, where that is no error.
    pub(crate) fn absent(&self) -> Option<Value<'v>> {
        match self {
            Map::Json { .. } => None,
            Map::Owned(map) => map.absent().cloned(),
        }
    }

    /// The keys, in order.
    pub fn keys(&self) -> Vec<Value<'v>> {
        match self {
            Map::Json { map, schema } => {
                let map: &'v serde_json::Map<String, Json> = map;
                match schema.map(|schema| &schema.kind) {
                    Some(Kind::Object(properties)) => map
                        .iter()
                        .filter(|(key, _)| properties.contains_key(*key))
                        .map(|(key, _)| match escape(key) {
                            Some(std::borrow::Cow::Owned(escaped)) => Value::string(escaped),
                            _ => Value::String(Text::Borrowed(key)),
                        })
                        .collect(),
                    Some(Kind::Map(_)) | None => map.keys().map(|key| Value::String(Text::Borrowed(key))).collect(),
                    Some(_) => Vec::new(),
                }
            }
            Map::Owned(map) => map.iter().map(|(key, _)| key.clone()).collect(),
        }
    }

    /// Keys with their values, in order.
    pub fn entries(&self) -> Vec<(Value<'v>, Evaluated<Value<'v>>)> {
        if let Map::Owned(map) = self {
            return map.iter().map(|(key, value)| (key.clone(), Ok(value.clone()))).collect();
        }
        let found = self.keys().into_iter().map(|key| {
            let value = key.as_str().and_then(|text| self.get_str(text));
            (key, value)
        });
        found.filter_map(|(key, value)| value.map(|value| (key, value))).collect()
    }

    pub(crate) fn raw(&self) -> Option<&'v serde_json::Map<String, Json>> {
        match self {
            Map::Json { map, .. } => Some(map),
            Map::Owned(_) => None,
        }
    }

    /// Whether the schema describes what is under a (raw) key.
    pub(crate) fn describes(&self, key: &str) -> bool {
        match self {
            Map::Json { schema: Some(schema), .. } => match &schema.kind {
                Kind::Map(_) => true,
                Kind::Object(properties) => properties.contains_key(key),
                _ => false,
            },
            _ => true,
        }
    }
}

/// How Go names the dynamic type of decoded JSON, for messages.
fn go_type(json: &Json) -> &'static str {
    match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}

pub(super) fn typed<'v>(json: &'v Json, schema: &'v Schema) -> Evaluated<Value<'v>> {
    let invalid = |expected: &str| Err(EvalError::new(format_args!("invalid data, expected {expected}")));
    let wrong = |expected: &str| invalid(&format!("{expected}, got {}", go_type(json)));
    if json.is_null() {
        return if schema.nullable {
            Ok(Value::Null)
        } else {
            Err(EvalError::new("invalid data, got null for schema with nullable=false"))
        };
    }
    match (&schema.kind, json) {
        (Kind::IntOrString, Json::String(_)) => Ok(Value::from_json(json)),
        (Kind::IntOrString, Json::Number(number)) if number.is_i64() => Ok(Value::from_json(json)),
        (Kind::IntOrString, _) => invalid("XIntOrString value to be either a string or integer"),
        (Kind::Object(_) | Kind::Map(_) | Kind::OpaqueObject, Json::Object(map)) => {
            Ok(Value::Map(Map::Json { map, schema: Some(schema) }))
        }
        (Kind::Object(_) | Kind::Map(_) | Kind::OpaqueObject, _) => {
            invalid("a map for the provided schema with type=object")
        }
        (Kind::List { .. }, Json::Array(items)) => Ok(Value::List(List::Json { items, schema: Some(schema) })),
        (Kind::OpaqueList, Json::Array(_)) => {
            Err(EvalError::new("invalid array type, expected Items with a non-empty Schema"))
        }
        (Kind::List { .. } | Kind::OpaqueList, _) => invalid("an array for the provided schema with type=array"),
        (Kind::String, Json::String(text)) => Ok(Value::String(Text::Borrowed(text))),
        (Kind::Bytes, Json::String(text)) => match base64::engine::general_purpose::STANDARD.decode(text) {
            Ok(bytes) => Ok(Value::Bytes(bytes.into())),
            Err(error) => Err(EvalError::new(format_args!("Invalid byte formatted string {text}: {error}"))),
        },
        (Kind::Duration, Json::String(text)) => match parse_loose_duration(text) {
            Some(nanos) => Ok(Value::Duration(nanos)),
            None => Err(EvalError::new(format_args!("Invalid duration {text}: unable to parse {text} as duration"))),
        },
        (Kind::Date, Json::String(text)) => Time::parse_date(text)
            .map(Value::Timestamp)
            .ok_or_else(|| EvalError::new(format_args!("Invalid date formatted string {text}: invalid date"))),
        (Kind::DateTime, Json::String(text)) => Time::parse(text)
            // A time without a zone is taken for UTC.
            .or_else(|| if text.len() == 19 { Time::parse(&format!("{text}Z")) } else { None })
            .map(Value::Timestamp)
            .ok_or_else(|| EvalError::new(format_args!("Invalid date-time formatted string {text}: invalid time"))),
        (Kind::String | Kind::Bytes | Kind::Duration | Kind::Date | Kind::DateTime, _) => wrong("string"),
        (Kind::Number, Json::Number(number)) => Ok(Value::Double(number.as_f64().unwrap_or(f64::NAN))),
        (Kind::Number, _) => wrong("float"),
        (Kind::Integer, Json::Number(number)) => match number.as_i64() {
            Some(integer) => Ok(Value::Int(integer)),
            None => wrong("int"),
        },
        (Kind::Integer, _) => wrong("int"),
        (Kind::Boolean, Json::Bool(value)) => Ok(Value::Bool(*value)),
        (Kind::Boolean, _) => wrong("bool"),
        (Kind::Preserved, _) => Ok(Value::Preserved(json)),
    }
}

pub(super) fn to_json(value: &Value<'_>) -> Evaluated<Json> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::from(*value),
        Value::Int(value) => Json::from(*value),
        Value::Uint(value) => Json::from(*value),
        Value::Double(value) => serde_json::Number::from_f64(*value)
            .map(Json::Number)
            .ok_or_else(|| EvalError::new(format_args!("{value} has no form in JSON")))?,
        Value::String(text) => Json::from(&**text),
        Value::Bytes(bytes) => Json::from(base64::engine::general_purpose::STANDARD.encode(bytes)),
        Value::Duration(nanos) => Json::from(format_duration(*nanos)),
        Value::Timestamp(time) => Json::from(time.to_string()),
        Value::List(List::Json { items, .. }) => Json::Array(items.to_vec()),
        Value::List(list) => Json::Array(list.iter().map(|item| to_json(&item?)).collect::<Evaluated<_>>()?),
        Value::Map(Map::Json { map, .. }) => Json::Object((*map).clone()),
        Value::Map(Map::Owned(map)) => {
            let mut object = serde_json::Map::new();
            for (key, value) in map.iter() {
                let Value::String(key) = key else {
                    let message = format!("map key \"{key}\" is of type {}, not string", key.type_name());
                    return Err(EvalError::new(message));
                };
                object.insert(key.to_string(), to_json(value)?);
            }
            Json::Object(object)
        }
        Value::Object(object) => {
            let fields = object.fields.iter().map(|(name, value)| Ok((name.to_string(), to_json(value)?)));
            Json::Object(fields.collect::<Evaluated<_>>()?)
        }
        Value::Optional(Some(inner)) => to_json(inner)?,
        Value::Preserved(json) => (*json).clone(),
        Value::Optional(None) | Value::Type(_) | Value::Opaque(_) | Value::Variables => {
            return Err(EvalError::new(format_args!("type conversion error from '{}' to JSON", value.type_name())));
        }
    })
}
