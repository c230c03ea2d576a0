//! Lists of type set and map hold nothing twice (pkg/apiserver/schema/listtype).

use super::node::{ListKind, Node};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Map, Value};
use std::collections::HashMap;

pub(super) fn validate(errors: &mut ErrorList, node: &Node, value: &Value, path: &Path) {
    if !node.lists_within {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map.iter().filter(|(_, value)| value.is_object() || value.is_array()) {
                if let Some(part) = node.field(name).filter(|part| part.lists_within) {
                    validate(errors, part, value, &node.path_of(path, name));
                }
            }
        }
        Value::Array(items) => {
            match &node.list {
                ListKind::Atomic => {}
                ListKind::Set => {
                    for index in repeated(items.iter().map(ToString::to_string)) {
                        errors.push(Error::duplicate(&path.index(index), items[index].clone()));
                    }
                }
                ListKind::Map(keys) => validate_map(errors, items, keys, path),
            }
            let Some(part) = node.items.as_deref() else { return };
            for (index, item) in items.iter().enumerate().filter(|(_, item)| item.is_object() || item.is_array()) {
                validate(errors, part, item, &path.index(index));
            }
        }
        _ => {}
    }
}

fn validate_map(errors: &mut ErrorList, items: &[Value], keys: &[Box<str>], path: &Path) {
    if let Some(index) = items.iter().position(|item| !item.is_null() && !item.is_object()) {
        let detail = "must be an object for an array of list-type map";
        errors.push(Error::invalid(&path.index(index), items[index].clone(), detail));
        return;
    }
    if items.len() <= 1 {
        return;
    }
    let key_of = |item: &Value| -> Map<String, Value> {
        let value_of = |key: &str| item.get(key).map(|value| (key.to_owned(), value.clone()));
        keys.iter().filter_map(|key| value_of(key)).collect()
    };
    let found: Vec<Value> = items.iter().map(|item| Value::Object(key_of(item))).collect();
    for index in repeated(found.iter().map(ToString::to_string)) {
        errors.push(Error::duplicate(&path.index(index), found[index].clone()));
    }
}

/// The places where something stands for the second time; a third is not told again.
fn repeated(items: impl Iterator<Item = String>) -> Vec<usize> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut places = Vec::new();
    for (index, item) in items.enumerate() {
        let times = seen.entry(item).or_default();
        *times += 1;
        if *times == 2 {
            places.push(index);
        }
    }
    places
}
