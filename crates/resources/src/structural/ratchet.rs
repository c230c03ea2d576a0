//! Which old value a new one is to be compared with, so that an update is not held to
//! account for what it leaves alone (apiserver's pkg/cel/common/equality.go and maplist.go).

use super::node::{ListKind, Node};
use serde_json::Value;
use std::collections::HashMap;

/// A new value with the old one that stands for it.
#[derive(Clone, Copy, Debug)]
pub struct Correlated<'a> {
    new: &'a Value,
    old: &'a Value,
    node: &'a Node,
}

impl<'a> Correlated<'a> {
    pub fn new(new: &'a Value, old: &'a Value, node: &'a Node) -> Self {
        Self { new, old, node }
    }

    /// The field on both sides; none where one side lacks it or the schema does not
    /// describe it.
    pub fn key(&self, name: &str) -> Option<Self> {
        let (new, old) = (self.new.as_object()?.get(name)?, self.old.as_object()?.get(name)?);
        Some(Self { new, old, node: self.node.field(name)? })
    }

    /// The same for a field whose new value and schema are at hand.
    pub fn field(&self, name: &str, new: &'a Value, node: &'a Node) -> Option<Self> {
        self.old.as_object()?.get(name).map(|old| Self { new, old, node })
    }

    /// The items of a list in their new order, each with its old self if there is one:
    /// only items of lists of type map have any.
    pub fn items(&self) -> Vec<Option<Self>> {
        let Some(new) = self.new.as_array() else { return Vec::new() };
        let (Some(node), old) = (self.node.items.as_deref(), OldItems::of(self.node, Some(self.old))) else {
            return vec![None; new.len()];
        };
        new.iter().map(|item| old.get(item).map(|old| Self { new: item, old, node })).collect()
    }

    /// Whether nothing changed. Fields that the schema does not describe cannot be
    /// compared, and count as changed.
    pub fn is_same(&self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                match self.node.list {
                    ListKind::Map(_) if self.node.items.is_some() => {
                        self.items().iter().all(|item| item.is_some_and(|item| item.is_same()))
                    }
                    _ => new == old,
                }
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len() && new.keys().all(|name| self.key(name).is_some_and(|part| part.is_same()))
            }
            (new, old) => new == old,
        }
    }
}

/// The old items of a list of type map by their keys; nothing for other lists.
pub(super) struct OldItems<'a> {
    keys: &'a [Box<str>],
    items: HashMap<String, &'a Value>,
}

impl<'a> OldItems<'a> {
    pub(super) fn of(node: &'a Node, old: Option<&'a Value>) -> Self {
        let none = Self { keys: &[], items: HashMap::new() };
        let ListKind::Map(keys) = &node.list else { return none };
        let Some(Value::Array(old)) = old else { return none };
        if keys.is_empty() || &*node.kind != "array" {
            return none;
        }
        let mut items = HashMap::with_capacity(old.len());
        for item in old {
            if let Some(key) = key_of(item, keys) {
                // The first of several wins.
                items.entry(key).or_insert(item);
            }
        }
        Self { keys, items }
    }

    pub(super) fn get(&self, item: &Value) -> Option<&'a Value> {
        if self.items.is_empty() {
            return None;
        }
        self.items.get(&key_of(item, self.keys)?).copied()
    }
}

/// The keys of an item as one text; none unless all are there and are scalars.
fn key_of(item: &Value, keys: &[Box<str>]) -> Option<String> {
    let item = item.as_object()?;
    let mut text = String::new();
    for key in keys {
        match item.get(&**key)? {
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
            value => {
                text.push_str(&value.to_string());
                text.push('\0');
            }
        }
    }
    Some(text)
}
