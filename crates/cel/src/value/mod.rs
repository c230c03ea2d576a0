//! Values at run time. Objects of the API are not converted: a [`Value`] borrows the JSON
//! and looks into it when an expression does, with the schema beside it where one is
//! known.

mod compare;
mod json;
mod map;
mod opaque;
mod time;

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

pub(crate) use compare::{compare, contains, equal, same_keys};
pub use json::{List, Map};
pub use map::OwnedMap;
pub use opaque::Opaque;
pub(crate) use time::parse_duration;
pub use time::{Time, format_duration, parse_loose_duration};

use crate::error::{EvalError, Evaluated};
use crate::schema::Schema;

#[derive(Clone, Debug)]
pub enum Value<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Text<'v>),
    Bytes(Arc<[u8]>),
    List(List<'v>),
    Map(Map<'v>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Time),
    /// A type, by name: the value of the expression `int`.
    Type(Text<'v>),
    Optional(Option<Arc<Value<'v>>>),
    /// Made by `Object{...}` or `JSONPatch{...}`.
    Object(Arc<Object<'v>>),
    Opaque(Opaque<'v>),
    /// The composed variables of a policy; only their fields have values.
    Variables,
    /// Data behind x-kubernetes-preserve-unknown-fields, which can only be compared.
    Preserved(&'v Json),
}

/// Text that is part of the input, or was made by the expression.
#[derive(Clone)]
pub enum Text<'v> {
    Borrowed(&'v str),
    Shared(Arc<str>),
}

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

impl<'v> Text<'v> {
    /// A part of this text, borrowed from the input where the whole is.
    pub(crate) fn part(&self, range: std::ops::Range<usize>) -> Text<'v> {
        match self {
            Text::Borrowed(text) => Text::Borrowed(&text[range]),
            Text::Shared(text) => Text::Shared(Arc::from(&text[range])),
        }
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text::Shared(text.into())
    }
}

impl<'v> From<&'v str> for Text<'v> {
    fn from(text: &'v str) -> Self {
        Text::Borrowed(text)
    }
}

/// A struct made by an expression.
#[derive(Clone, Debug)]
pub struct Object<'v> {
    pub type_name: Arc<str>,
    pub fields: Vec<(Arc<str>, Value<'v>)>,
}

impl<'v> Object<'v> {
    pub fn get(&self, name: &str) -> Option<&Value<'v>> {
        self.fields.iter().find(|(field, _)| &**field == name).map(|(_, value)| value)
    }

    /// The value of a field for an expression: what was not set is null, or the empty text
    /// of a patch's operation and paths.
    pub(crate) fn read(&self, name: &str) -> Value<'v> {
        match self.get(name) {
            Some(value) => value.clone(),
            None if self.is_patch() && name != "value" => Value::String(Text::Borrowed("")),
            None => Value::Null,
        }
    }

    /// Whether a field is set; of a patch, an empty text is not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !(self.is_patch() && value.as_str() == Some("") && name != "value"))
    }

    fn is_patch(&self) -> bool {
        &*self.type_name == "JSONPatch"
    }

    /// What is wrong with the names of the structs within: each must be the path of fields
    /// that leads to it, `Object.spec.template`. A mutation is refused for it.
    pub fn type_name_errors(&self) -> Vec<String> {
        let mut errors = Vec::new();
        check_type_names(self, &self.type_name, &mut errors);
        errors
    }
}

fn check_type_names(object: &Object<'_>, path: &str, errors: &mut Vec<String>) {
    if &*object.type_name != path {
        errors.push(format!(
            "unexpected type name {:?}, expected {path:?}, which matches field name path from root Object type",
            &*object.type_name
        ));
    }
    for (name, value) in &object.fields {
        check_names_within(value, &format!("{path}.{name}"), errors);
    }
}

/// Lists and maps have no names of their own.
fn check_names_within(value: &Value<'_>, path: &str, errors: &mut Vec<String>) {
    match value {
        Value::Object(object) => check_type_names(object, path, errors),
        Value::List(List::Json { .. }) | Value::Map(Map::Json { .. }) => {}
        Value::List(list) => list.iter().flatten().for_each(|item| check_names_within(&item, path, errors)),
        Value::Map(Map::Owned(map)) => map.iter().for_each(|(_, value)| check_names_within(value, path, errors)),
        _ => {}
    }
}

impl<'v> Value<'v> {
    /// JSON as it is: objects are maps, whole numbers are integers.
    pub fn from_json(json: &'v Json) -> Self {
        match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(integer) => Value::Int(integer),
                None => Value::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::String(Text::Borrowed(text)),
            Json::Array(items) => Value::List(List::Json { items, schema: None }),
            Json::Object(map) => Value::Map(Map::Json { map, schema: None }),
        }
    }

    /// JSON under a schema: dates are timestamps, only declared fields are reachable.
    pub fn from_typed(json: &'v Json, schema: &'v Schema) -> Evaluated<Self> {
        json::typed(json, schema)
    }

    pub fn string(text: impl Into<String>) -> Self {
        Value::String(Text::from(text.into()))
    }

    pub fn list(items: Vec<Value<'v>>) -> Self {
        Value::List(List::Owned(Arc::new(items)))
    }

    pub fn some(value: Value<'v>) -> Self {
        Value::Optional(Some(Arc::new(value)))
    }

    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// The name that `type()` gives and messages use.
    pub fn type_name(&self) -> &str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::List(_) => "list",
            Value::Map(_) => "map",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Type(_) => "type",
            Value::Optional(_) => "optional_type",
            Value::Object(object) => &object.type_name,
            Value::Opaque(opaque) => opaque.type_name(),
            Value::Variables => "kubernetes.variables",
            Value::Preserved(_) => "unknown",
        }
    }

    /// Whether `optional.ofNonZeroValue` takes this for nothing.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Int(value) => *value == 0,
            Value::Uint(value) => *value == 0,
            Value::Double(value) => *value == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::List(list) => list.is_empty(),
            Value::Map(map) => map.is_empty(),
            Value::Duration(nanos) => *nanos == 0,
            Value::Timestamp(time) => time.is_zero(),
            Value::Optional(inner) => inner.is_none(),
            Value::Object(object) => object.fields.is_empty(),
            Value::Type(_) | Value::Opaque(_) | Value::Variables | Value::Preserved(_) => false,
        }
    }

    /// As JSON, for what an expression gives back to the API: a patch, a claim mapping.
    pub fn to_json(&self) -> Evaluated<Json> {
        json::to_json(self)
    }
}

/// As messages show a value.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Uint(value) => value.fmt(f),
            Value::Double(value) => f.write_str(&crate::library::number::format_general(*value)),
            Value::String(text) | Value::Type(text) => f.write_str(text),
            Value::Bytes(bytes) => f.write_str(&String::from_utf8_lossy(bytes)),
            Value::List(list) => {
                f.write_str("[")?;
                for (index, item) in list.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    show(f, &item)?;
                }
                f.write_str("]")
            }
            Value::Map(map) => {
                f.write_str("{")?;
                for (index, (key, value)) in map.entries().into_iter().enumerate() {
                    write!(f, "{}{key}: ", if index > 0 { ", " } else { "" })?;
                    show(f, &value)?;
                }
                f.write_str("}")
            }
            Value::Duration(nanos) => f.write_str(&format_duration(*nanos)),
            Value::Timestamp(time) => time.fmt(f),
            Value::Optional(None) => f.write_str("optional.none()"),
            Value::Optional(Some(inner)) => write!(f, "optional.of({inner})"),
            Value::Opaque(opaque) => opaque.fmt(f),
            Value::Object(object) => {
                write!(f, "{}{{", object.type_name)?;
                for (index, (name, value)) in object.fields.iter().enumerate() {
                    write!(f, "{}{name}: {value}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
            Value::Variables => f.write_str("variables"),
            Value::Preserved(json) => json.fmt(f),
        }
    }
}

fn show(f: &mut fmt::Formatter<'_>, item: &Result<Value<'_>, EvalError>) -> fmt::Result {
    match item {
        Ok(value) => write!(f, "{value}"),
        Err(error) => write!(f, "{error}"),
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Value::String(Text::Borrowed(text))
    }
}

impl<'v> From<&'v String> for Value<'v> {
    fn from(text: &'v String) -> Self {
        Value::String(Text::Borrowed(text))
    }
}
