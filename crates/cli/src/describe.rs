//! Objects as `kubectl describe` prints them.

use serde_json::Value;

/// The part `Pod Template:` of a workload, as `rollout history --revision` shows it.
pub(crate) fn pod_template(template: &Value) -> String {
    let mut out = String::from("Pod Template:\n");
    let labels = template.pointer("/metadata/labels").and_then(Value::as_object);
    let pairs: Vec<String> = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    out += &format!("  Labels:\t{}\n", pairs.join("\n\t"));
    out += "  Containers:\n";
    for container in template.pointer("/spec/containers").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| container[key].as_str().unwrap_or_default();
        out += &format!("   {}:\n    Image:\t{}\n", text("name"), text("image"));
    }
    out
}
