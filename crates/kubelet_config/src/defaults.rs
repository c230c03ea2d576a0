//! Defaults: the constants of the facts and those that depend on other fields
//! (upstream: pkg/kubelet/apis/config/v1beta1/defaults.go).

use ferry_api::schema::{Special, Type, TypeDef};
use serde_json::{Map, Value, json};

/// The file's fields with everything that it leaves out.
pub fn complete(mut value: Value, definition: &TypeDef, own_values: &Value) -> Value {
    forget_zero_durations(&mut value, definition);
    let Value::Object(fields) = &mut value else { return value };
    fields.insert("apiVersion".into(), json!("kubelet.config.k8s.io/v1beta1"));
    fields.insert("kind".into(), json!("KubeletConfiguration"));
    let is_set = |fields: &Map<String, Value>, name: &str| fields.get(name).is_some_and(|value| !value.is_null());
    // One heartbeat that is set makes the other as frequent.
    if !is_set(fields, "nodeStatusReportFrequency") {
        let own = fields.get("nodeStatusUpdateFrequency").cloned().unwrap_or_else(|| json!("5m0s"));
        fields.insert("nodeStatusReportFrequency".into(), own);
    }
    // Two fields of one meaning: the kubelet's own values count only where neither is set.
    let pulls = ["serializeImagePulls", "maxParallelImagePulls"];
    if pulls.iter().any(|name| is_set(fields, name)) {
        let parallel = fields.get("maxParallelImagePulls").and_then(Value::as_i64);
        if !is_set(fields, "serializeImagePulls") {
            fields.insert("serializeImagePulls".into(), json!(parallel.is_none_or(|parallel| parallel < 2)));
        }
    } else {
        for name in pulls {
            if let Some(own) = own_values.get(name) {
                fields.insert(name.into(), own.clone());
            }
        }
        fields.entry("serializeImagePulls").or_insert(json!(true));
    }
    for (name, own) in own_values.as_object().into_iter().flatten() {
        if !is_set(fields, name) && !pulls.contains(&name.as_str()) {
            fields.insert(name.clone(), own.clone());
        }
    }
    if fields.get("podPidsLimit").and_then(Value::as_i64).is_some_and(|limit| limit < 0) {
        fields.insert("podPidsLimit".into(), json!(-1));
    }
    // Structs that hold defaults come first and are then filled themselves.
    definition.fill_defaults(&mut value);
    definition.fill_defaults(&mut value);
    definition.fill_defaults(&mut value);
    value
}

/// Go cannot tell `0s` from an absent duration where it has no pointer.
fn forget_zero_durations(value: &mut Value, definition: &TypeDef) {
    let Value::Object(fields) = value else { return };
    for field in &definition.fields {
        match &field.ty {
            Type::Special(Special::Duration)
                if !field.pointer && fields.get(&*field.name).and_then(Value::as_str) == Some("0s") =>
            {
                fields.remove(&*field.name);
            }
            Type::Struct(of) => {
                if let Some(below) = fields.get_mut(&*field.name) {
                    forget_zero_durations(below, of.get());
                }
            }
            _ => {}
        }
    }
}
