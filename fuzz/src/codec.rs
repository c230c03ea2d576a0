//! Bytes to objects and back: JSON, YAML and protobuf, with and without a schema.

use ferry_api::codec::{self, Decoded, protobuf, yaml};
use ferry_api::gvk::{GroupVersion, GroupVersionKind};
use ferry_api::object::Meta;
use ferry_api::schema::{TypeDef, of_kind};
use serde_json::Value;
use std::sync::Arc;

/// What the API server lets a YAML body expand to.
const MAX_BYTES: usize = 3 << 20;

/// The kind that an object says it is, or else a pod.
pub fn definition_of(value: &Value) -> (GroupVersionKind, &'static Arc<TypeDef>) {
    let kind = value.gvk();
    match of_kind(&kind) {
        Some(definition) => (kind, definition),
        None => {
            let pod = GroupVersionKind::new("", "v1", "Pod");
            let definition = of_kind(&pod).expect("pods are builtin");
            (pod, definition)
        }
    }
}

/// The object that the API server makes of a JSON body, with the kind it was read as.
pub fn object(body: &[u8]) -> Option<(Decoded, GroupVersionKind, &'static Arc<TypeDef>)> {
    let any = codec::decode_any(body).ok()?;
    let (kind, definition) = definition_of(&any.value);
    let decoded = codec::decode(body, definition, &kind).ok()?;
    Some((decoded, kind, definition))
}

pub fn json(data: &[u8]) {
    // As another reader of JSON reads it; only 1e3 is an integer to us, as it is to Go.
    let other: Option<Value> = serde_json::from_slice(data).ok();
    match (codec::decode_any(data), other) {
        (Ok(ours), other) => {
            if let Some(other) = other {
                assert!(same(&ours.value, &other), "two readers differ: {} {other}", ours.value);
            }
            let again = codec::decode_any(ours.value.to_string().as_bytes()).expect("what was read can be written");
            assert_eq!(again.value, ours.value);
            assert!(again.violations.is_empty(), "{:?}", again.violations);
        }
        (Err(error), Some(other)) => assert!(depth(&other) > 100, "{error}: {other}"),
        (Err(_), None) => {}
    }
}

fn same(ours: &Value, other: &Value) -> bool {
    match (ours, other) {
        // The other reader is off by one in the last place of numbers with many digits.
        (Value::Number(a), Value::Number(b)) => {
            let near = |a: f64, b: f64| a == b || (a - b).abs() <= 2.0 * f64::EPSILON * a.abs();
            a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| near(a, b))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => ours == other,
    }
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(map) => map.values().any(holds_null),
        _ => false,
    }
}

fn depth(value: &Value) -> usize {
    let below = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(map) => map.values().map(depth).max(),
        _ => return 0,
    };
    below.unwrap_or(0) + 1
}

/// Strict decoding against a builtin type; then the same object in the other two formats.
pub fn json_object(data: &[u8]) {
    let Some((decoded, kind, definition)) = object(data) else { return };
    assert_eq!(decoded.violations.len(), decoded.unknown.len() + decoded.duplicate.len(), "{:?}", decoded.violations);
    assert_eq!(decoded.strict_error(&kind).is_some(), !decoded.violations.is_empty());
    // What was decoded holds nothing that strictness would complain of, and is in its last
    // form already.
    let again = codec::decode_value(&decoded.value, definition, &kind).expect("decodes again");
    assert!(again.violations.is_empty(), "{:?}", again.violations);
    assert_eq!(again.value, decoded.value);
    // Some values have no protobuf form (a time before the year 1); what has one comes back.
    if let Ok(bytes) = protobuf::encode(&decoded.value, definition) {
        let back = protobuf::decode(&bytes, definition, &kind).expect("our own protobuf");
        // Protobuf has no null: what JSON may have as null comes back as nothing or empty.
        if !holds_null(&decoded.value) {
            assert_eq!(back.value, decoded.value, "through protobuf");
        }
    }
    let text = yaml::encode(&decoded.value);
    let back = codec::decode_body(codec::Media::Yaml, text.as_bytes(), definition, &kind, MAX_BYTES * 4);
    assert_eq!(back.expect("our own YAML").value, decoded.value, "through YAML:\n{text}");
}

pub fn yaml(data: &[u8]) {
    let Ok(json) = yaml::to_json(data, MAX_BYTES) else { return };
    assert!(json.len() <= MAX_BYTES);
    let Ok(decoded) = codec::decode_any(json.as_bytes()) else {
        // Only what nests deeper than JSON may is lost on the way.
        let opened = json.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
        assert!(opened > 100, "YAML became no JSON: {json}");
        return;
    };
    let text = yaml::encode(&decoded.value);
    let again = yaml::to_json(text.as_bytes(), MAX_BYTES * 4).expect("our own YAML");
    let again = codec::decode_any(again.as_bytes()).expect("our own YAML as JSON");
    assert_eq!(again.value, decoded.value, "through:\n{text}");
}

pub fn protobuf_object(data: &[u8]) {
    let Ok(envelope) = protobuf::open(data) else { return };
    let kind = GroupVersion::parse(&envelope.api_version).with_kind(envelope.kind);
    let Some(definition) = of_kind(&kind) else { return };
    let Ok(decoded) = protobuf::decode(data, definition, &kind) else { return };
    let bytes = protobuf::encode(&decoded.value, definition).expect("what was decoded can be encoded");
    let back = protobuf::decode(&bytes, definition, &kind).expect("our own protobuf");
    assert_eq!(back.value, decoded.value);
    // The JSON form is what is stored; it must be readable.
    let json = codec::decode_value(&decoded.value, definition, &kind).expect("the JSON of what was decoded");
    assert_eq!(json.value, decoded.value, "through JSON");
}

pub fn protobuf_envelope(data: &[u8]) {
    if let Ok(envelope) = protobuf::open(data) {
        let sealed = protobuf::seal(&envelope.api_version, &envelope.kind, envelope.raw);
        assert_eq!(protobuf::open(&sealed).expect("our own"), envelope);
    }
    if let Ok(Some(frame)) = protobuf::read_watch_frame(data) {
        assert!(frame.length <= data.len());
        let Ok(envelope) = protobuf::open(frame.object) else { return };
        let written = protobuf::watch_frame(&frame.event_type, &envelope.api_version, &envelope.kind, envelope.raw);
        let again = protobuf::read_watch_frame(&written).expect("our own").expect("whole");
        assert_eq!(again.event_type, frame.event_type);
        assert_eq!(protobuf::open(again.object).expect("our own"), envelope);
    }
}

/// The quick reader of stored bytes sees what the slow one sees.
pub fn metadata(data: &[u8]) {
    let _ = codec::metadata::extract(data);
    let Some((decoded, ..)) = object(data) else { return };
    let bytes = decoded.value.to_string();
    let quick = codec::metadata::extract(bytes.as_bytes()).expect("stored bytes");
    let slow = &decoded.value;
    assert_eq!(quick.kind, slow.gvk().kind.as_ref());
    assert_eq!(quick.api_version, slow.gvk().api_version());
    assert_eq!(quick.name, slow.name());
    assert_eq!(quick.namespace, slow.namespace());
    assert_eq!(quick.uid, slow.uid());
    let labels: Vec<(&str, &str)> = quick.labels.iter().map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(labels, slow.labels().collect::<Vec<_>>());
    assert_eq!(quick.has_finalizers, !slow.finalizers().is_empty());
    assert_eq!(quick.owners.len(), slow.items_at(&["metadata", "ownerReferences"]).len());
}
