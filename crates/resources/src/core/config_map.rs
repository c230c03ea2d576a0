//! ConfigMap: the strategy of plain configuration.

use crate::read::{Read, ReadNode};
use crate::validation::each;
use crate::{Strategy, names};
use base64::Engine;
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct ConfigMap;

/// All values of a ConfigMap or Secret together.
pub(crate) const MAX_DATA_BYTES: usize = 1024 * 1024;

impl Strategy for ConfigMap {
    fn validate(&self, config: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (data, binary) = (config.entries("data"), config.entries("binaryData"));
        let mut size = 0;
        for (key, value) in data {
            let path = Path::new("data").key(key);
            each(&mut errors, &path, key, names::is_config_map_key(key));
            if binary.contains_key(key) {
                errors.push(Error::invalid(&path, key.as_str(), "duplicate of key present in binaryData"));
            }
            size += value.as_str().map_or(0, str::len);
        }
        for (key, value) in binary {
            each(&mut errors, &Path::new("binaryData").key(key), key, names::is_config_map_key(key));
            size += decoded_length(value);
        }
        if size > MAX_DATA_BYTES {
            errors.push(Error::too_long(&Path::root(), MAX_DATA_BYTES));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = validate_immutable(new, old, &["data", "binaryData"]);
        errors.extend(self.validate(new));
        errors
    }

    fn computed_cells(&self, config: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let count = config.pairs("data").count() + config.pairs("binaryData").count();
        vec![count.into()]
    }
}

/// `immutable: true` stays, and with it these fields. ConfigMap and Secret share the rule.
pub(crate) fn validate_immutable(new: &Value, old: &Value, fields: &[&str]) -> ErrorList {
    let mut errors = ErrorList::new();
    if !old.flag("immutable") {
        return errors;
    }
    const DETAIL: &str = "field is immutable when `immutable` is set";
    if !new.flag("immutable") {
        errors.push(Error::forbidden(&Path::new("immutable"), DETAIL));
    }
    for field in fields {
        if new.entries(field) != old.entries(field) {
            errors.push(Error::forbidden(&Path::new(field), DETAIL));
        }
    }
    errors
}

/// How many bytes a base64 text stands for.
pub(crate) fn decoded_length(value: &Value) -> usize {
    decoded(value).len()
}

pub(crate) fn decoded(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap_or_default();
    base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_update};
    use serde_json::json;

    #[test]
    fn keys_and_sizes_are_checked() {
        check(&ConfigMap, json!({"data": {"a": "b"}}), &[]);
        check(
            &ConfigMap,
            json!({"data": {"a": "b"}, "binaryData": {"a": ""}}),
            &["data[a]: Invalid value: \"a\": duplicate of key present in binaryData"],
        );
        check(
            &ConfigMap,
            json!({"data": {"a b": ""}}),
            &[
                "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
            ],
        );
        check(
            &ConfigMap,
            json!({"data": {"a": "x".repeat(1024 * 1024 + 1)}}),
            &["<nil>: Too long: may not be more than 1048576 bytes"],
        );
    }

    #[test]
    fn immutable_stays_as_it_is() {
        check_update(
            &ConfigMap,
            json!({"immutable": true, "data": {"a": "b"}}),
            json!({"data": {"a": "c"}}),
            &[
                "immutable: Forbidden: field is immutable when `immutable` is set",
                "data: Forbidden: field is immutable when `immutable` is set",
            ],
        );
        check_update(&ConfigMap, json!({"data": {"a": "b"}}), json!({"immutable": true}), &[]);
    }
}
