//! JSON patch (RFC 6902) with the deviations that clients of Kubernetes rely on.
//!
//! Called by the patch verb for `application/json-patch+json`. Where upstream's library
//! departs from the RFC so does this: `replace` adds a missing key of an object, an index
//! may be negative and then counts from the end, and `test` takes a missing key for null.

use super::{go, unprocessable};
use crate::status::Status;
use serde_json::Value;

/// The most operations one patch may carry, as upstream's handlers/patch.go has it.
pub const MAX_OPERATIONS: usize = 10_000;

/// How much all copies of one patch may add to a document, in bytes of JSON. Without it
/// each copy could double the document (upstream's JSONPatchMaxCopyBytes).
pub const MAX_COPIED: usize = 3 * 1024 * 1024;

/// Applies every operation of `patch` to `document`, in order. On an error `document` is
/// left half patched; callers give it up then.
pub fn apply(document: &mut Value, patch: &Value) -> Result<(), Status> {
    let Value::Array(operations) = patch else {
        return Err(Status::bad_request(format!(
            "error decoding patch: json: cannot unmarshal {} into Go value of type []handlers.jsonPatchOp",
            go::json_kind(patch)
        )));
    };
    if operations.len() > MAX_OPERATIONS {
        return Err(Status::too_large(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            operations.len()
        )));
    }
    let mut copied = 0;
    for operation in operations {
        if !operation.is_object() {
            return Err(Status::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {} into Go value of type handlers.jsonPatchOp",
                go::json_kind(operation)
            )));
        }
        apply_one(document, operation, &mut copied).ok_or_else(unprocessable)?;
    }
    Ok(())
}

/// `None` when the operation does not apply: a missing path, a bad index, a failed test, or
/// a copy too many. `copied` is what the patch has copied so far.
fn apply_one(document: &mut Value, operation: &Value, copied: &mut usize) -> Option<()> {
    let text = |key: &str| operation.get(key).and_then(Value::as_str);
    // An operation without a value sets null, as upstream's decoder leaves it.
    let value = || operation.get("value").cloned().unwrap_or(Value::Null);
    let path = text("path")?;
    match text("op")? {
        "add" => add(document, path, value()),
        "remove" => remove(document, path).map(drop),
        "replace" => replace(document, path, value()),
        "move" => {
            let taken = remove(document, text("from")?)?;
            add(document, path, taken)
        }
        "copy" => {
            let original = get(document, text("from")?)?;
            *copied += json_size(original);
            if *copied > MAX_COPIED {
                return None;
            }
            let copy = original.clone();
            add(document, path, copy)
        }
        "test" => {
            let expected = value();
            let found = if path.is_empty() { Some(&*document) } else { get(document, path) };
            let (container, key) = if path.is_empty() { (None, String::new()) } else { split(document, path)? };
            match (found, container) {
                (Some(found), _) => super::apply::equal(found, &expected).then_some(()),
                // A key that is not there equals null; an index that is not there is an error.
                (None, Some(Value::Object(map))) if !map.contains_key(&key) => expected.is_null().then_some(()),
                (None, _) => None,
            }
        }
        _ => None,
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Option<()> {
    let (container, key) = split_mut(document, path)?;
    match container {
        Value::Object(map) => {
            map.insert(key, value);
        }
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let index = index_in(&key, items.len() + 1)?;
            items.insert(index, value);
        }
        _ => return None,
    }
    Some(())
}

fn replace(document: &mut Value, path: &str, value: Value) -> Option<()> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return None;
        }
        *document = value;
        return Some(());
    }
    let (container, key) = split_mut(document, path)?;
    match container {
        Value::Object(map) => {
            map.insert(key, value);
        }
        Value::Array(items) => {
            let index = index_in(&key, items.len())?;
            items[index] = value;
        }
        _ => return None,
    }
    Some(())
}

fn remove(document: &mut Value, path: &str) -> Option<Value> {
    let (container, key) = split_mut(document, path)?;
    match container {
        Value::Object(map) => map.remove(&key),
        Value::Array(items) => {
            let index = index_in(&key, items.len())?;
            Some(items.remove(index))
        }
        _ => None,
    }
}

fn get<'a>(document: &'a Value, path: &str) -> Option<&'a Value> {
    let (container, key) = split(document, path)?;
    step(container?, &key)
}

fn step<'a>(container: &'a Value, key: &str) -> Option<&'a Value> {
    match container {
        Value::Object(map) => map.get(key),
        Value::Array(items) => items.get(index_in(key, items.len())?),
        _ => None,
    }
}

/// The container a path ends in, and the last key.
fn split<'a>(document: &'a Value, path: &str) -> Option<(Option<&'a Value>, String)> {
    let (parents, last) = parts(path)?;
    let mut here = document;
    for part in parents {
        here = step(here, &decode(part))?;
    }
    Some((Some(here), decode(last)))
}

fn split_mut<'a>(document: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    let (parents, last) = parts(path)?;
    let mut here = document;
    for part in parents {
        let key = decode(part);
        here = match here {
            Value::Object(map) => map.get_mut(&key)?,
            Value::Array(items) => {
                let index = index_in(&key, items.len())?;
                &mut items[index]
            }
            _ => return None,
        };
    }
    Some((here, decode(last)))
}

/// What stands before the first slash is ignored, as upstream does; a path needs one slash.
fn parts(path: &str) -> Option<(Vec<&str>, &str)> {
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    let last = parts.pop()?;
    Some((parts, last))
}

fn decode(part: &str) -> String {
    if !part.contains('~') {
        return part.to_owned();
    }
    let mut out = String::with_capacity(part.len());
    let mut chars = part.chars().peekable();
    while let Some(char) = chars.next() {
        match (char, chars.peek()) {
            ('~', Some('0')) => {
                chars.next();
                out.push('~');
            }
            ('~', Some('1')) => {
                chars.next();
                out.push('/');
            }
            _ => out.push(char),
        }
    }
    out
}

/// An index below `len`; negative ones count from the end.
fn index_in(key: &str, len: usize) -> Option<usize> {
    let index: i64 = key.parse().ok()?;
    let index = if index < 0 {
        usize::try_from(i64::try_from(len).ok()? + index).ok()?
    } else {
        usize::try_from(index).ok()?
    };
    (index < len).then_some(index)
}

/// The length of a value's JSON.
fn json_size(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("a value is always writable, and counting cannot fail");
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(document: Value, patch: Value, expected: Result<Value, u16>) {
        let mut patched = document.clone();
        let result = apply(&mut patched, &patch).map(|()| patched).map_err(|status| status.code);
        assert_eq!(result, expected, "{patch} on {document}");
    }

    #[test]
    fn each_operation_does_what_it_says() {
        check(json!({"a": 1}), json!([{"op": "add", "path": "/b", "value": 2}]), Ok(json!({"a": 1, "b": 2})));
        check(json!({"a": [1, 3]}), json!([{"op": "add", "path": "/a/1", "value": 2}]), Ok(json!({"a": [1, 2, 3]})));
        check(json!({"a": [1]}), json!([{"op": "add", "path": "/a/-", "value": 2}]), Ok(json!({"a": [1, 2]})));
        check(json!({"a": [1, 2]}), json!([{"op": "remove", "path": "/a/0"}]), Ok(json!({"a": [2]})));
        check(
            json!({"a": {"b": 1}}),
            json!([{"op": "replace", "path": "/a/b", "value": 2}]),
            Ok(json!({"a": {"b": 2}})),
        );
        check(json!({"a": 1}), json!([{"op": "move", "from": "/a", "path": "/b"}]), Ok(json!({"b": 1})));
        check(json!({"a": 1}), json!([{"op": "copy", "from": "/a", "path": "/b"}]), Ok(json!({"a": 1, "b": 1})));
        check(json!({"a": 1}), json!([{"op": "test", "path": "/a", "value": 1}]), Ok(json!({"a": 1})));
        check(
            json!({"metadata": {"labels": {"a/b~c": "x"}}}),
            json!([{"op": "remove", "path": "/metadata/labels/a~1b~0c"}]),
            Ok(json!({"metadata": {"labels": {}}})),
        );
    }

    #[test]
    fn upstreams_leniencies_are_kept() {
        check(json!({}), json!([{"op": "replace", "path": "/a", "value": 1}]), Ok(json!({"a": 1})));
        check(json!({"a": [1, 2]}), json!([{"op": "remove", "path": "/a/-1"}]), Ok(json!({"a": [1]})));
        check(json!({}), json!([{"op": "test", "path": "/a", "value": null}]), Ok(json!({})));
    }

    #[test]
    fn copies_of_copies_have_an_end() {
        let double = json!({"op": "copy", "from": "/a", "path": "/a/-"});
        let patch = |times: usize| Value::Array(vec![double.clone(); times]);
        let start = json!({"a": ["x".repeat(1000)]});
        let mut patched = start.clone();
        apply(&mut patched, &patch(5)).expect("a few are fine");
        check(start, patch(40), Err(422));
    }

    #[test]
    fn what_does_not_apply_is_unprocessable() {
        for operation in [
            json!({"op": "test", "path": "/a", "value": 2}),
            json!({"op": "remove", "path": "/missing"}),
            json!({"op": "add", "path": "/missing/b", "value": 1}),
            json!({"op": "add", "path": "", "value": 1}),
            json!({"op": "add", "path": "/list/7", "value": 1}),
            json!({"op": "unheard", "path": "/a"}),
            json!({"op": "add"}),
        ] {
            check(json!({"a": 1, "list": []}), json!([operation]), Err(422));
        }
        let status = apply(&mut json!({}), &json!([{"op": "remove", "path": "/x"}])).expect_err("missing");
        assert_eq!(status.message, "the server rejected our request due to an error in our request");
        assert_eq!(status.reason, "Invalid");
    }

    #[test]
    fn the_shape_and_the_size_of_a_patch_are_checked() {
        check(json!({}), json!({}), Err(400));
        check(json!({}), json!(["x"]), Err(400));
        let many = vec![json!({"op": "test", "path": "/a"}); MAX_OPERATIONS + 1];
        let status = apply(&mut json!({}), &Value::Array(many)).expect_err("too many");
        assert_eq!(
            (status.code, status.message.as_str()),
            (413, "The allowed maximum operations in a JSON patch is 10000, got 10001")
        );
    }
}
