//! Reading fields of an object the way upstream's typed structs read: what is absent or
//! null is the zero value of its type. Every strategy reads through this trait, so that
//! a missing field can never panic.

use ferry_api::document::{Entries, Node};
use ferry_api::view::{Element, List};
use serde_json::{Map, Value};
use std::sync::LazyLock;

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// Implemented for a value and for one that may be absent, so that a path of fields
/// reads as one line: `spec.field("affinity").field("podAffinity")`.
pub trait Read<'a>: Sized {
    /// The field, unless absent or null.
    fn field(self, key: &str) -> Option<&'a Value>;

    fn has(self, key: &str) -> bool {
        self.field(key).is_some()
    }
    fn text(self, key: &str) -> &'a str {
        self.opt_text(key).unwrap_or_default()
    }
    fn opt_text(self, key: &str) -> Option<&'a str> {
        self.field(key).and_then(Value::as_str)
    }
    fn int(self, key: &str) -> i64 {
        self.opt_int(key).unwrap_or_default()
    }
    fn opt_int(self, key: &str) -> Option<i64> {
        self.field(key).and_then(Value::as_i64)
    }
    fn flag(self, key: &str) -> bool {
        self.opt_flag(key).unwrap_or_default()
    }
    fn opt_flag(self, key: &str) -> Option<bool> {
        self.field(key).and_then(Value::as_bool)
    }
    fn list(self, key: &str) -> &'a [Value] {
        match self.field(key) {
            Some(Value::Array(items)) => items,
            _ => &[],
        }
    }
    fn texts(self, key: &str) -> impl Iterator<Item = &'a str> {
        self.list(key).iter().map(|item| item.as_str().unwrap_or_default())
    }
    fn entries(self, key: &str) -> &'a Map<String, Value> {
        self.field(key).and_then(Value::as_object).unwrap_or(&EMPTY)
    }
}

impl<'a> Read<'a> for &'a Value {
    fn field(self, key: &str) -> Option<&'a Value> {
        self.get(key).filter(|value| !value.is_null())
    }
}

impl<'a> Read<'a> for Option<&'a Value> {
    fn field(self, key: &str) -> Option<&'a Value> {
        self?.field(key)
    }
}

/// The same of a [`Node`], which stands in a tree or in a stored text: what is printed and
/// selected is read where it stands.
// Nodes are `Copy`, and so is whatever a method takes.
#[allow(clippy::wrong_self_convention)]
pub trait ReadNode<'a>: Sized {
    /// The field, unless absent or null.
    fn field(self, key: &str) -> Option<Node<'a>>;

    fn has(self, key: &str) -> bool {
        self.field(key).is_some()
    }
    fn text(self, key: &str) -> &'a str {
        self.opt_text(key).unwrap_or_default()
    }
    fn opt_text(self, key: &str) -> Option<&'a str> {
        self.field(key).and_then(Node::as_str)
    }
    fn int(self, key: &str) -> i64 {
        self.opt_int(key).unwrap_or_default()
    }
    fn opt_int(self, key: &str) -> Option<i64> {
        self.field(key).and_then(Node::as_i64)
    }
    fn flag(self, key: &str) -> bool {
        self.opt_flag(key).unwrap_or_default()
    }
    fn opt_flag(self, key: &str) -> Option<bool> {
        self.field(key).and_then(Node::as_bool)
    }
    fn list(self, key: &str) -> List<'a, Node<'a>> {
        self.field(key).and_then(List::of).unwrap_or_default()
    }
    fn texts(self, key: &str) -> impl Iterator<Item = &'a str> {
        self.list(key).iter().map(|item| item.as_str().unwrap_or_default())
    }
    fn pairs(self, key: &str) -> Entries<'a> {
        self.field(key).unwrap_or_default().entries()
    }
    fn name(self) -> &'a str {
        self.field("metadata").text("name")
    }
    fn is_deleting(self) -> bool {
        self.field("metadata").has("deletionTimestamp")
    }
    fn label(self, key: &str) -> Option<&'a str> {
        self.field("metadata").field("labels").opt_text(key)
    }
    fn annotation(self, key: &str) -> Option<&'a str> {
        self.field("metadata").field("annotations").opt_text(key)
    }
}

impl<'a> ReadNode<'a> for Node<'a> {
    fn field(self, key: &str) -> Option<Node<'a>> {
        self.get(key)
    }
}

impl<'a> ReadNode<'a> for Option<Node<'a>> {
    fn field(self, key: &str) -> Option<Node<'a>> {
        self?.get(key)
    }
}

/// The list at a key, to be changed in place.
pub fn list_mut<'a>(object: &'a mut Value, key: &str) -> &'a mut [Value] {
    match object.get_mut(key) {
        Some(Value::Array(items)) => items,
        _ => &mut [],
    }
}

/// The object at a key, to be changed in place, unless absent or null.
pub fn field_mut<'a>(object: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    object.get_mut(key).filter(|value| !value.is_null())
}

/// Sets a string that is absent or empty: what upstream does for a string that is not a
/// pointer, where "" cannot be told from absent.
pub fn default_text(object: &mut Value, key: &str, value: &str) {
    if object.text(key).is_empty() {
        set(object, key, value);
    }
}

/// Sets a number that is absent or zero.
pub fn default_int(object: &mut Value, key: &str, value: i64) {
    if object.int(key) == 0 {
        set(object, key, value);
    }
}

/// Sets what is absent or null: upstream's default of a pointer.
pub fn default_value(object: &mut Value, key: &str, value: impl Into<Value>) {
    if !object.has(key) {
        set(object, key, value);
    }
}

pub fn set(object: &mut Value, key: &str, value: impl Into<Value>) {
    ferry_api::object::ensure_object(object).insert(key.to_owned(), value.into());
}

pub fn remove(object: &mut Value, key: &str) {
    if let Some(map) = object.as_object_mut() {
        map.remove(key);
    }
}

/// Puts `old`'s field in place of `new`'s, absence included.
pub fn keep(new: &mut Value, old: &Value, key: &str) {
    match old.field(key) {
        Some(value) => set(new, key, value.clone()),
        None => remove(new, key),
    }
}
