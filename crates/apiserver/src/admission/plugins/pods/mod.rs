//! The plugins that change or refuse pods, and what two of them do alike.

pub(crate) mod always_pull_images;
pub(crate) mod anti_affinity;
pub(crate) mod default_toleration_seconds;
pub(crate) mod extended_resource_toleration;
pub(crate) mod image_policy;
pub(crate) mod limit_ranger;
pub(crate) mod pod_node_selector;
pub(crate) mod pod_resize;
pub mod pod_security;
pub(crate) mod pod_toleration_restriction;
pub(crate) mod pod_topology_labels;
pub(crate) mod priority;
pub(crate) mod runtime_class;
pub(crate) mod service_account;

use ferry_api::object::ensure_object;
use serde_json::{Value, json};

/// Adds a toleration that the pod does not have.
fn add_toleration(pod: &mut Value, toleration: Value) {
    let spec = ensure_object(ensure_object(pod).entry("spec").or_insert(Value::Null));
    match spec.entry("tolerations").or_insert(Value::Null) {
        Value::Array(items) if items.contains(&toleration) => {}
        Value::Array(items) => items.push(toleration),
        other => *other = json!([toleration]),
    }
}
