//! JSON merge patch (RFC 7386): objects merge key by key, null removes, all else replaces.
//!
//! Called by the patch verb for `application/merge-patch+json`; the only merge that
//! custom resources have besides apply.

use crate::status::Status;
use serde_json::{Map, Value};

/// Merges `patch` into `document`.
pub fn apply(document: &mut Value, patch: Value) -> Result<(), Status> {
    match patch {
        Value::Object(patch) => merge_into(document, patch),
        // Upstream takes an array for the new document and lets decoding reject it.
        Value::Array(_) => *document = patch,
        _ => return Err(Status::bad_request("Invalid JSON Patch")),
    }
    Ok(())
}

fn merge_into(document: &mut Value, patch: Map<String, Value>) {
    let Value::Object(target) = document else {
        *document = prune_nulls(Value::Object(patch));
        return;
    };
    for (key, value) in patch {
        match (target.get_mut(&key), value) {
            (_, Value::Null) => {
                target.remove(&key);
            }
            (Some(present @ Value::Object(_)), Value::Object(inner)) => merge_into(present, inner),
            (_, value) => {
                target.insert(key, prune_nulls(value));
            }
        }
    }
}

/// A null in a patch is an order to remove, so what is newly set must hold none.
fn prune_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(
            map.into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, prune_nulls(value)))
                .collect(),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(mut document: Value, patch: Value, expected: Value) {
        apply(&mut document, patch).expect("a valid patch");
        assert_eq!(document, expected);
    }

    #[test]
    fn the_rfcs_examples_hold() {
        check(json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"}));
        check(json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"}));
        check(json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"}));
        check(json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"}));
        check(json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]}));
        check(json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}}));
        check(json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]}));
        check(json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1}));
        check(json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}}));
    }

    #[test]
    fn a_scalar_is_no_patch() {
        let status = apply(&mut json!({}), json!("x")).expect_err("not an object");
        assert_eq!((status.code, status.message.as_str()), (400, "Invalid JSON Patch"));
    }
}
