//! Objects of the caller's own: a tree of values that is filled in by the generated setters
//! and sent to the API server.

use super::read::{IntOrString, View};
use crate::codec::time::{Moment, Precision, format_time};
use crate::document::Node;
use crate::quantity::Quantity;
use jiff::Timestamp;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A struct type's own value.
pub trait Owned: Sized + Clone + Default + From<Value> + Into<Value> + 'static {
    type View<'a>: View<'a>
    where
        Self: 'a;

    fn view(&self) -> Self::View<'_> {
        Self::View::over(Node::Value(self.value()))
    }
    fn value(&self) -> &Value;
    fn value_mut(&mut self) -> &mut Value;
}

/// An owned type that is an object of the API: what it is called and where it is served.
pub trait Kind: Owned + Send + Sync + 'static {
    const GROUP: &'static str;
    const VERSION: &'static str;
    const KIND: &'static str;
    const PLURAL: &'static str;
    /// `apps/v1`, or `v1` for the core group.
    const API_VERSION: &'static str;

    fn metadata(view: Self::View<'_>) -> super::meta::v1::ObjectMetaView<'_> {
        super::read::read(view.node(), "metadata")
    }
}

/// Something that a field of type `T` can be set to. `None` removes the field.
pub trait IntoField<T> {
    fn into_field(self) -> Option<Value>;
}

/// The type of text fields.
pub struct Text;
/// The type of fields that hold any JSON.
pub struct Any;
/// Times with whole seconds, and with microseconds.
pub struct Time;
pub struct MicroTime;
pub struct Bytes;

macro_rules! into_field {
    ($($field:ty: $($from:ty => |$value:ident| $make:expr),+;)*) => {$($(
        impl IntoField<$field> for $from {
            fn into_field(self) -> Option<Value> {
                let $value = self;
                Some($make)
            }
        }
        impl IntoField<$field> for Option<$from> {
            fn into_field(self) -> Option<Value> {
                let $value = self?;
                Some($make)
            }
        }
    )+)*};
}

into_field! {
    Text: &str => |text| text.into(), &String => |text| text.as_str().into(), String => |text| text.into(),
        Cow<'_, str> => |text| text.into_owned().into();
    bool: bool => |flag| flag.into();
    i32: i32 => |number| number.into();
    i64: i64 => |number| number.into();
    u32: u32 => |number| number.into();
    u64: u64 => |number| number.into();
    f64: f64 => |number| number.into();
    Any: Value => |value| value, Node<'_> => |node| node.to_value();
    Quantity: Quantity => |amount| amount.to_string().into(), &str => |text| text.into(), String => |text| text.into();
    IntOrString<'static>: i32 => |number| number.into(), &str => |text| text.into(),
        IntOrString<'_> => |either| match either {
            IntOrString::Int(number) => number.into(),
            IntOrString::String(text) => text.into(),
        };
    Time: Timestamp => |at| time(at, Precision::Seconds);
    MicroTime: Timestamp => |at| time(at, Precision::Micros);
    Bytes: &[u8] => |bytes| base64(bytes), Vec<u8> => |bytes| base64(&bytes),
        super::Base64<'_> => |text| text.0.into();
}

fn time(at: Timestamp, precision: Precision) -> Value {
    let moment = Moment { seconds: at.as_second(), nanos: at.subsec_nanosecond() };
    format_time(moment, precision).map_or(Value::Null, Value::from)
}

fn base64(bytes: &[u8]) -> Value {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes).into()
}

fn fields(object: &mut Value) -> &mut Map<String, Value> {
    crate::object::ensure_object(object)
}

pub(super) fn set(object: &mut Value, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(fields(object).insert(name.to_owned(), value)),
        None => drop(fields(object).remove(name)),
    }
}

/// An empty list is no field, as Go's `omitempty` has it.
pub(super) fn set_list<T, I: IntoField<T>>(object: &mut Value, name: &str, items: impl IntoIterator<Item = I>) {
    let items: Vec<Value> = items.into_iter().filter_map(IntoField::into_field).collect();
    set(object, name, (!items.is_empty()).then_some(Value::Array(items)));
}

pub(super) fn push<T>(object: &mut Value, name: &str, item: impl IntoField<T>) {
    let Some(item) = item.into_field() else { return };
    match fields(object).entry(name).or_insert(Value::Null) {
        Value::Array(items) => items.push(item),
        other => *other = Value::Array(vec![item]),
    }
}

/// An empty map is no field, as Go's `omitempty` has it.
pub(super) fn set_map<T, K: Into<String>, V: IntoField<T>>(
    object: &mut Value,
    name: &str,
    entries: impl IntoIterator<Item = (K, V)>,
) {
    let entries = entries.into_iter().filter_map(|(key, value)| Some((key.into(), value.into_field()?)));
    let entries: Map<String, Value> = entries.collect();
    set(object, name, (!entries.is_empty()).then_some(Value::Object(entries)));
}

/// Sets one entry of a map; `None` removes it.
pub(super) fn insert<T>(object: &mut Value, name: &str, key: &str, value: impl IntoField<T>) {
    let map = fields(object).entry(name).or_insert_with(|| Value::Object(Map::new()));
    set(map, key, value.into_field());
    if fields(map).is_empty() {
        set(object, name, None);
    }
}

/// Changes a struct in its place; one that is left empty and was not there is not added.
pub(super) fn edit<T: Owned, R>(object: &mut Value, name: &str, change: impl FnOnce(&mut T) -> R) -> R {
    let there = fields(object).get_mut(name).filter(|value| !value.is_null());
    let was_there = there.is_some();
    let mut own = there.map_or_else(T::default, |value| T::from(value.take()));
    let result = change(&mut own);
    let value: Value = own.into();
    if was_there || value.as_object().is_some_and(|map| !map.is_empty()) {
        set(object, name, Some(value));
    }
    result
}

/// Declares a struct type: its own value, its view, and what leads from one to the other.
macro_rules! object {
    ($own:ident, $view:ident) => {
        #[derive(Clone, Copy, Default, PartialEq)]
        pub struct $view<'a>($crate::document::Node<'a>);
        impl<'a> $crate::view::View<'a> for $view<'a> {
            fn over(node: $crate::document::Node<'a>) -> Self {
                Self(node)
            }
            fn node(self) -> $crate::document::Node<'a> {
                self.0
            }
        }
        impl<'a> $crate::view::Element<'a> for $view<'a> {
            fn of(node: $crate::document::Node<'a>) -> Option<Self> {
                matches!(node.shape(), $crate::document::Shape::Object).then_some(Self(node))
            }
        }
        impl<'a> From<&'a serde_json::Value> for $view<'a> {
            fn from(value: &'a serde_json::Value) -> Self {
                Self($crate::document::Node::Value(value))
            }
        }
        impl std::fmt::Debug for $view<'_> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
        impl $view<'_> {
            /// A copy of one's own.
            pub fn to_owned(self) -> $own {
                $own(self.0.to_value())
            }
        }
        #[derive(Clone, PartialEq)]
        pub struct $own(serde_json::Value);
        impl Default for $own {
            fn default() -> Self {
                Self(serde_json::Value::Object(Default::default()))
            }
        }
        impl std::fmt::Debug for $own {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}", self.0)
            }
        }
        impl $crate::view::Owned for $own {
            type View<'a> = $view<'a>;
            fn value(&self) -> &serde_json::Value {
                &self.0
            }
            fn value_mut(&mut self) -> &mut serde_json::Value {
                &mut self.0
            }
        }
        impl From<serde_json::Value> for $own {
            fn from(value: serde_json::Value) -> Self {
                Self(value)
            }
        }
        impl From<$own> for serde_json::Value {
            fn from(own: $own) -> Self {
                own.0
            }
        }
        impl $crate::view::IntoField<$own> for $own {
            fn into_field(self) -> Option<serde_json::Value> {
                Some(self.0)
            }
        }
        impl $crate::view::IntoField<$own> for Option<$own> {
            fn into_field(self) -> Option<serde_json::Value> {
                self.map(|own| own.0)
            }
        }
        impl $crate::view::IntoField<$own> for $view<'_> {
            fn into_field(self) -> Option<serde_json::Value> {
                Some(self.0.to_value())
            }
        }
        impl $crate::view::IntoField<$own> for Option<$view<'_>> {
            fn into_field(self) -> Option<serde_json::Value> {
                self.map(|view| view.0.to_value())
            }
        }
    };
}

/// A kind's `new` says what it is.
macro_rules! kind {
    ($own:ident, $group:literal, $version:literal, $api_version:literal, $plural:literal) => {
        impl $crate::view::Kind for $own {
            const GROUP: &'static str = $group;
            const VERSION: &'static str = $version;
            const KIND: &'static str = stringify!($own);
            const PLURAL: &'static str = $plural;
            const API_VERSION: &'static str = $api_version;
        }
        impl $own {
            pub fn new() -> Self {
                Self(serde_json::json!({"apiVersion": $api_version, "kind": stringify!($own)}))
            }
        }
    };
}

macro_rules! part {
    ($own:ident) => {
        impl $own {
            pub fn new() -> Self {
                Self::default()
            }
        }
    };
}

pub(super) use {kind, object, part};

/// An object of any kind, of which only the metadata was asked for. It is served wherever
/// its own kind is, so it has no plural.
impl Kind for super::meta::v1::PartialObjectMetadata {
    const GROUP: &'static str = "meta.k8s.io";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "PartialObjectMetadata";
    const PLURAL: &'static str = "";
    const API_VERSION: &'static str = "meta.k8s.io/v1";
}

/// A token for a service account. It is served below the account only, as its subresource
/// `token`, so it has no plural, and its `new` does not state its kind.
impl Kind for super::authentication::v1::TokenRequest {
    const GROUP: &'static str = "authentication.k8s.io";
    const VERSION: &'static str = "v1";
    const KIND: &'static str = "TokenRequest";
    const PLURAL: &'static str = "";
    const API_VERSION: &'static str = "authentication.k8s.io/v1";
}
