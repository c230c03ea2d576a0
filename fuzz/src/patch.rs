//! Patches of every kind, and the records of who owns which field.

use crate::codec::{definition_of, object};
use crate::two_parts;
use ferry_api::codec;
use ferry_api::object::Meta;
use ferry_api::patch::apply::{ApplyOptions, Set, WriteOptions, validate_managed_fields};
use ferry_api::patch::{apply, json, merge, strategic};
use serde_json::Value;

fn documents(data: &[u8]) -> Option<(Value, Value)> {
    let (document, patch) = two_parts(data);
    Some((codec::decode_any(document).ok()?.value, codec::decode_any(patch).ok()?.value))
}

pub fn json(data: &[u8]) {
    let Some((document, patch)) = documents(data) else { return };
    let mut first = document.clone();
    let result = json::apply(&mut first, &patch);
    let mut second = document.clone();
    assert_eq!(json::apply(&mut second, &patch), result, "the same patch twice");
    let operations = patch.as_array().map_or(0, Vec::len);
    if result.is_ok() {
        assert_eq!(first, second);
        // Copies may not make a small patch into a large object.
        let bound = (document.to_string().len() + data.len()) * (operations + 2) + (4 << 20);
        assert!(first.to_string().len() <= bound, "{operations} operations grew {} bytes", data.len());
    }
    if operations == 0 && result.is_ok() {
        assert_eq!(first, document, "an empty patch changes nothing");
    }
}

pub fn merge(data: &[u8]) {
    let Some((document, patch)) = documents(data) else { return };
    let mut once = document.clone();
    if merge::apply(&mut once, patch.clone()).is_err() {
        return;
    }
    let mut twice = once.clone();
    merge::apply(&mut twice, patch.clone()).expect("it could be applied before");
    assert_eq!(twice, once, "a merge patch applied again changes nothing");
    for (key, value) in patch.as_object().into_iter().flatten() {
        assert_eq!(once.get(key).is_none(), value.is_null(), "{key}: null removes and nothing else does");
    }
}

pub fn strategic(data: &[u8]) {
    let (document, patch) = two_parts(data);
    let Some((document, _, definition)) = object(document) else { return };
    let Ok(patch) = codec::decode_any(patch) else { return };
    let mut once = document.value.clone();
    let result = strategic::apply(&mut once, patch.value.clone(), definition);
    let mut second = document.value.clone();
    assert_eq!(strategic::apply(&mut second, patch.value.clone(), definition), result, "the same patch twice");
    if result.is_err() {
        return;
    }
    assert_eq!(second, once);
    assert!(once.is_object());
    assert!(!mentions_directive(&once) || mentions_directive(&document.value), "a directive stayed: {once}");
    let mut unchanged = document.value.clone();
    strategic::apply(&mut unchanged, Value::Object(serde_json::Map::new()), definition).expect("nothing to do");
    assert_eq!(unchanged, document.value, "an empty patch changes nothing");
}

fn mentions_directive(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(mentions_directive),
        Value::Object(map) => {
            // Others may stay where the type has no such field; decoding drops them there.
            map.contains_key("$patch") || map.values().any(mentions_directive)
        }
        _ => false,
    }
}

pub fn apply(data: &[u8]) {
    let (first, second) = two_parts(data);
    let Some((config, kind, definition)) = object(first) else { return };
    let write = WriteOptions {
        manager: "first",
        kind: &kind,
        subresource: "",
        now: "2026-01-02T03:04:05Z".parse().expect("a time"),
        reset_fields: None,
    };
    let options = ApplyOptions { write, force: false };
    let mut config = config.value;
    config.remove_meta("managedFields");
    let Ok(live) = apply::apply(None, &config, Some(definition), &options) else { return };
    well_recorded(&live);
    let again =
        apply::apply(Some(&live), &config, Some(definition), &options).expect("one's own fields never conflict");
    assert_eq!(again, live, "applying the same again changes nothing");

    let Ok(other) = codec::decode_any(second) else { return };
    let (other_kind, _) = definition_of(&other.value);
    if other_kind != kind {
        return;
    }
    let Ok(mut other) = codec::decode(second, definition, &kind) else { return };
    other.value.remove_meta("managedFields");
    let forced = ApplyOptions { write: WriteOptions { manager: "second", ..write }, force: true };
    let Ok(merged) = apply::apply(Some(&live), &other.value, Some(definition), &forced) else { return };
    well_recorded(&merged);
    let again = apply::apply(Some(&merged), &other.value, Some(definition), &forced).expect("it was applied before");
    assert_eq!(again, merged, "applying the same again changes nothing");
}

fn well_recorded(object: &Value) {
    let fields = object.meta("managedFields");
    if let Err(why) = validate_managed_fields(fields) {
        panic!("{why}: {fields:?}");
    }
    for entry in object.items_at(&["metadata", "managedFields"]) {
        let set = Set::from_value(&entry["fieldsV1"]).expect("our own fields");
        assert!(!set.is_empty());
    }
}

pub fn managed_fields(data: &[u8]) {
    let (left, right) = two_parts(data);
    let read = |text: &[u8]| Set::from_value(&codec::decode_any(text).ok()?.value).ok();
    let Some(left) = read(left) else { return };
    assert_eq!(Set::from_value(&left.to_value()).expect("our own"), left);
    let text = left.to_json();
    let again: Value = serde_json::from_str(&text).expect("our own JSON");
    assert_eq!(Set::from_value(&again).expect("our own"), left, "{text}");
    assert_eq!(left.paths().len(), left.len());
    let Some(right) = read(right) else { return };
    let (union, common) = (left.union(&right), left.intersection(&right));
    assert_eq!(union, right.union(&left));
    assert_eq!(common, right.intersection(&left));
    assert_eq!(left.difference(&right).union(&common), left, "what differs and what is common make the whole");
    assert!(left.difference(&left).is_empty());
    assert_eq!(left.intersects(&right), !common.is_empty());
    for path in common.paths() {
        assert!(left.has(&path.0) && right.has(&path.0) && union.has(&path.0), "{path:?}");
    }
}
