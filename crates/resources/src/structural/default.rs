//! Fills in defaults, and removes nulls that may not stand (pkg/apiserver/schema/defaulting).

use super::node::Node;
use serde_json::Value;

pub(super) fn default(value: &mut Value, node: Option<&Node>) {
    let Some(node) = node else { return };
    match value {
        Value::Object(map) => {
            for (name, property) in &node.properties {
                let Some(default) = &property.default else { continue };
                match map.get_mut(&**name) {
                    Some(Value::Null) if property.nullable => {}
                    Some(found @ Value::Null) => *found = default.clone(),
                    Some(_) => {}
                    None => {
                        map.insert(name.to_string(), default.clone());
                    }
                }
            }
            for (name, value) in map.iter_mut() {
                if let Some(property) = node.properties.get(name.as_str()) {
                    self::default(value, Some(property));
                } else {
                    default_element(value, node.field(name));
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                default_element(item, node.items.as_deref());
            }
        }
        _ => {}
    }
}

fn default_element(value: &mut Value, node: Option<&Node>) {
    if let Some(node) = node
        && value.is_null()
        && !node.nullable
        && let Some(default) = &node.default
    {
        *value = default.clone();
    }
    default(value, node);
}

/// Removes the fields that are null where null may not stand and no default waits.
pub(super) fn drop_nulls(value: &mut Value, node: Option<&Node>) {
    match value {
        Value::Object(map) => map.retain(|name, value| {
            let part = node.and_then(|node| node.field(name));
            if value.is_null() && part.is_some_and(|part| !part.nullable && part.default.is_none()) {
                return false;
            }
            drop_nulls(value, part);
            true
        }),
        Value::Array(items) => {
            let part = node.and_then(|node| node.items.as_deref());
            items.iter_mut().for_each(|item| drop_nulls(item, part));
        }
        _ => {}
    }
}
