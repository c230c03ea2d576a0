//! What definitions of custom resources and policies carry: expressions, schemas, paths.

use crate::two_parts;
use ferry_api::codec;
use ferry_cel::{Activation, Environment, PER_CALL_LIMIT, Type, Value};
use ferry_resources::custom_resource::JsonPath;
use ferry_resources::structural::{Malformed, Structural};
use serde_json::json;

pub fn cel(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let environment = Environment::kubernetes().with_variable("object", Type::Dyn);
    let program = match environment.compile(text) {
        Ok(program) => program,
        Err(errors) => {
            assert!(!errors.to_string().is_empty());
            return;
        }
    };
    let estimate = program.estimate_cost(None);
    assert!(estimate.min <= estimate.max, "{estimate:?}");
    let object =
        json!({"metadata": {"name": "a", "labels": {"a": "b"}}, "spec": {"replicas": 3, "items": [1, "x", null, 2.5]}});
    let activation = Activation::new().with("object", Value::from_json(&object));
    let (first, cost) = program.run(&activation, PER_CALL_LIMIT);
    let (second, again) = program.run(&activation, PER_CALL_LIMIT);
    assert_eq!(cost, again, "an evaluation costs the same each time");
    assert_eq!(first.is_ok(), second.is_ok());
}

pub fn crd_schema(data: &[u8]) {
    let (schema, object) = two_parts(data);
    let Ok(schema) = codec::decode_any(schema) else { return };
    let Ok(structural) = Structural::compile(&schema.value, false) else { return };
    let definition = structural.type_def();
    assert!(definition.fields.len() < 10_000);
    let Ok(object) = codec::decode_any(object) else { return };
    let mut object = object.value;
    if !object.is_object() || structural.coerce(&mut object, Malformed::Refuse).is_err() {
        return;
    }
    structural.prune(&mut object);
    let mut again = object.clone();
    assert!(structural.prune(&mut again).is_empty(), "pruned twice: {object}");
    assert_eq!(again, object, "pruning once is enough");
    structural.default(&mut object);
    let mut again = object.clone();
    structural.default(&mut again);
    assert_eq!(again, object, "defaulting once is enough");
    let first = structural.validate(&object, None);
    assert_eq!(structural.validate(&object, None).len(), first.len());
}

pub fn json_path(data: &[u8]) {
    let (path, document) = two_parts(data);
    let Ok(path) = std::str::from_utf8(path) else { return };
    let Some(parsed) = JsonPath::parse(path) else { return };
    let document = match codec::decode_any(document) {
        Ok(document) => document.value,
        Err(_) => {
            json!({"spec": {"a": [1, 2, {"b": "c"}]}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        }
    };
    let found = parsed.find(&document).len();
    assert_eq!(found, parsed.find(&document).len());
    assert_eq!(JsonPath::parse(path.trim()), Some(parsed), "space around a path means nothing");
}
