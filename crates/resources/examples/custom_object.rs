//! What it costs to judge a custom object: 30 fields, five rules. Run with
//! `cargo run --release -p ferry-resources --example custom_object`.

use ferry_resources::structural::{Malformed, Structural};
use serde_json::{Map, Value, json};
use std::time::Instant;

const BATCHES: u32 = 500;
const BATCH: u32 = 20;

fn main() {
    let start = Instant::now();
    let structural = Structural::compile(&schema(), false).expect("the schema is structural");
    println!("compile       {:>9.1} us", start.elapsed().as_secs_f64() * 1e6);
    let object = object();
    let mut changed = object.clone();
    changed["spec"]["replicas"] = json!(4);
    let errors = structural.validate(&object, None);
    assert!(errors.is_empty(), "{errors:?}");
    measure("read", || {
        let mut copy = object.clone();
        structural.coerce(&mut copy, Malformed::Refuse).expect("its metadata is sound");
        structural.prune(&mut copy);
        structural.default(&mut copy);
        usize::from(copy.is_object())
    });
    measure("copy alone", || usize::from(object.clone().is_object()));
    measure("create", || structural.validate(&object, None).len());
    measure("update", || structural.validate(&changed, Some(&object)).len());
}

/// The time of one call in the fastest of many batches, so that what else the machine does
/// does not count.
fn measure(name: &str, mut run: impl FnMut() -> usize) {
    let mut best = f64::INFINITY;
    let mut sum = 0;
    for _ in 0..BATCHES {
        let start = Instant::now();
        sum += (0..BATCH).map(|_| run()).sum::<usize>();
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / f64::from(BATCH));
    }
    println!("{name:<13} {best:>9.1} us   ({sum})");
}

fn schema() -> Value {
    let mut properties = Map::new();
    for index in 0..10 {
        properties
            .insert(format!("text{index}"), json!({"type": "string", "maxLength": 64, "pattern": "^[a-z0-9-]+$"}));
        properties.insert(format!("number{index}"), json!({"type": "integer", "minimum": 0, "maximum": 1000}));
    }
    let more = json!({
        "replicas": {"type": "integer", "minimum": 0, "default": 1},
        "mode": {"type": "string", "enum": ["Fast", "Safe"]},
        "port": {"x-kubernetes-int-or-string": true},
        "when": {"type": "string", "format": "date-time"},
        "labels": {"type": "object", "maxProperties": 20, "additionalProperties": {"type": "string", "maxLength": 63}},
        "ports": {
            "type": "array", "maxItems": 20, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": {
                "type": "object", "required": ["name"],
                "properties": {"name": {"type": "string", "maxLength": 63}, "port": {"type": "integer"}},
                "x-kubernetes-validations": [{"rule": "self.port > 0 && self.port < 65536"}],
            },
        },
        "resources": {"type": "object", "properties": {"cpu": {"type": "string"}, "memory": {"type": "string"}}},
        "enabled": {"type": "boolean"},
        "ratio": {"type": "number"},
        "hosts": {"type": "array", "maxItems": 10, "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 253}},
    });
    properties.extend(more.as_object().cloned().unwrap_or_default());
    json!({"type": "object", "properties": {"spec": {
        "type": "object", "required": ["replicas", "mode"], "properties": properties,
        "x-kubernetes-validations": [
            {"rule": "self.replicas <= 10"},
            {"rule": "self.mode == 'Fast' || self.replicas > 1"},
            {"rule": "self.hosts.all(h, h.endsWith('.example.com'))"},
            {"rule": "!has(self.enabled) || self.enabled || self.replicas == 0", "message": "disabled"},
        ],
    }}})
}

fn object() -> Value {
    let mut spec = Map::new();
    for index in 0..10 {
        spec.insert(format!("text{index}"), format!("some-value-{index}").into());
        spec.insert(format!("number{index}"), json!(index * 10));
    }
    let more = json!({
        "replicas": 3, "mode": "Safe", "port": "http", "when": "2026-01-02T03:04:05Z",
        "labels": {"app": "web", "tier": "front"}, "enabled": true, "ratio": 0.5,
        "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
        "resources": {"cpu": "100m", "memory": "1Gi"}, "hosts": ["a.example.com", "b.example.com"],
    });
    spec.extend(more.as_object().cloned().unwrap_or_default());
    json!({"apiVersion": "example.com/v1", "kind": "Web", "metadata": {"name": "web", "namespace": "default"}, "spec": spec})
}
