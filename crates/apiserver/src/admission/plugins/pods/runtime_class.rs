//! RuntimeClass: the class that a pod names must be there; what it costs and where it can
//! run become part of the pod.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::quota::amounts_at;
use ferry_api::status::Status;
use serde_json::{Map, Value};
use std::sync::Arc;

pub(crate) struct RuntimeClass {
    lookup: Arc<dyn ObjectLookup>,
}

impl RuntimeClass {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }

    fn class(&self, request: &AdmissionRequest<'_>) -> Result<Option<Value>, Status> {
        let pod = request.object.as_deref().unwrap_or(&Value::Null);
        let Some(name) = pod.at(&["spec", "runtimeClassName"]).and_then(Value::as_str) else { return Ok(None) };
        match self.lookup.get("node.k8s.io", "runtimeclasses", "", name) {
            Some(class) => Ok(Some(class.value())),
            None => Err(request.forbidden(&format!("pod rejected: RuntimeClass {name:?} not found"))),
        }
    }
}

#[async_trait]
impl Plugin for RuntimeClass {
    fn name(&self) -> &'static str {
        "RuntimeClass"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create && request.is_for("", "pods") && request.subresource.is_empty()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(class) = self.class(request)? else { return Ok(()) };
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        let overhead = class.at(&["overhead"]).filter(|overhead| overhead.is_object()).map(|overhead| {
            overhead.get("podFixed").filter(|fixed| fixed.is_object()).cloned().unwrap_or_else(|| Map::new().into())
        });
        if let Some(fixed) = overhead {
            let own = amounts_at(pod, &["spec", "overhead"]);
            if !own.is_empty() && own != amounts_at(&class, &["overhead", "podFixed"]) {
                return Err(request.forbidden(MISMATCH));
            }
            if fixed.as_object().is_some_and(|fixed| !fixed.is_empty()) {
                spec_of(pod).insert("overhead".into(), fixed);
            }
        }
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        if let Err(why) = set_scheduling(pod, &class) {
            return Err(request.forbidden(&why));
        }
        Ok(())
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let class = self.class(request)?;
        let pod = request.object.as_deref().unwrap_or(&Value::Null);
        let own = amounts_at(pod, &["spec", "overhead"]);
        match class.filter(|class| class.at(&["overhead"]).is_some_and(Value::is_object)) {
            Some(class) if own != amounts_at(&class, &["overhead", "podFixed"]) => Err(request.forbidden(MISMATCH)),
            None if !own.is_empty() => {
                Err(request
                    .forbidden("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"))
            }
            _ => Ok(()),
        }
    }
}

const MISMATCH: &str = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

fn spec_of(pod: &mut Value) -> &mut Map<String, Value> {
    ensure_object(ensure_object(pod).entry("spec").or_insert(Value::Null))
}

fn set_scheduling(pod: &mut Value, class: &Value) -> Result<(), String> {
    let Some(scheduling) = class.get("scheduling").filter(|scheduling| scheduling.is_object()) else { return Ok(()) };
    if let Some(Value::Object(wanted)) = scheduling.get("nodeSelector") {
        let selector = ensure_object(spec_of(pod).entry("nodeSelector").or_insert(Value::Null));
        for (key, value) in wanted {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            if let Some(own) = selector.get(key).filter(|own| *own != value) {
                return Err(format!(
                    "conflict: runtimeClass.scheduling.nodeSelector[{key}] = {}; pod.spec.nodeSelector[{key}] = {}",
                    text(value),
                    text(own)
                ));
            }
            selector.insert(key.clone(), value.clone());
        }
    }
    let merged = merge_tolerations(pod.items_at(&["spec", "tolerations"]), scheduling.items_at(&["tolerations"]));
    if !merged.is_empty() {
        spec_of(pod).insert("tolerations".into(), merged.into());
    }
    Ok(())
}

/// Both lists without what another toleration covers (upstream's util/tolerations).
fn merge_tolerations(first: &[Value], second: &[Value]) -> Vec<Value> {
    let all: Vec<&Value> = first.iter().chain(second).collect();
    let mut merged: Vec<Value> = Vec::new();
    for (index, toleration) in all.iter().enumerate() {
        let covered_before = merged.iter().any(|other| covers(other, toleration));
        // Of equal ones the first is kept.
        let covered_after = all[index + 1..].iter().any(|other| other != toleration && covers(other, toleration));
        if !covered_before && !covered_after {
            merged.push((*toleration).clone());
        }
    }
    merged
}

/// Whether whatever `other` tolerates is tolerated by `wide` as well.
fn covers(wide: &Value, other: &Value) -> bool {
    let text = |toleration: &'_ Value, key: &str| toleration.str_at(&[key]).to_owned();
    if wide == other {
        return true;
    }
    let matches_all_keys = text(wide, "key").is_empty() && text(wide, "operator") == "Exists";
    if text(wide, "key") != text(other, "key") && !matches_all_keys {
        return false;
    }
    let effect = text(wide, "effect");
    if effect != text(other, "effect") && !effect.is_empty() {
        return false;
    }
    if effect == "NoExecute"
        && let Some(seconds) = wide.i64_at(&["tolerationSeconds"])
        && other.i64_at(&["tolerationSeconds"]).is_none_or(|other| other > seconds)
    {
        return false;
    }
    match text(wide, "operator").as_str() {
        "Equal" | "" => text(other, "operator") == "Equal" && text(other, "value") == text(wide, "value"),
        "Exists" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use crate::authn::testing::Objects;
    use serde_json::json;

    #[tokio::test]
    async fn a_pod_takes_on_what_its_class_says() {
        let plugin = RuntimeClass::new(Objects::of(&[
            json!({"kind": "RuntimeClass", "metadata": {"name": "sandboxed"}, "handler": "x",
                "overhead": {"podFixed": {"cpu": "250m"}},
                "scheduling": {"nodeSelector": {"kvm": "yes"}, "tolerations": [{"key": "kvm", "operator": "Exists"}]}}),
            json!({"kind": "RuntimeClass", "metadata": {"name": "plain"}, "handler": "y"}),
        ]));
        let run = async |spec: Value| {
            let pod = json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": spec});
            let outcome = Case::create(pods(), pod).run(&plugin).await;
            outcome
                .map(|pod| pod["spec"].clone())
                .map_err(|status| status.message.replace("pods \"p\" is forbidden: ", ""))
        };
        assert_eq!(
            run(json!({"runtimeClassName": "sandboxed", "tolerations": [{"key": "kvm", "operator": "Equal", "value": "1"}]})).await,
            Ok(json!({"runtimeClassName": "sandboxed", "overhead": {"cpu": "250m"}, "nodeSelector": {"kvm": "yes"},
                "tolerations": [{"key": "kvm", "operator": "Exists"}]}))
        );
        assert_eq!(run(json!({"runtimeClassName": "plain"})).await, Ok(json!({"runtimeClassName": "plain"})));
        let refused = |why: &str| Err(why.to_owned());
        assert_eq!(
            run(json!({"runtimeClassName": "gone"})).await,
            refused("pod rejected: RuntimeClass \"gone\" not found")
        );
        assert_eq!(
            run(json!({"runtimeClassName": "sandboxed", "overhead": {"cpu": "1"}})).await,
            refused("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        );
        assert_eq!(
            run(json!({"overhead": {"cpu": "1"}})).await,
            refused("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead")
        );
        assert_eq!(
            run(json!({"runtimeClassName": "sandboxed", "nodeSelector": {"kvm": "no"}})).await,
            refused("conflict: runtimeClass.scheduling.nodeSelector[kvm] = yes; pod.spec.nodeSelector[kvm] = no")
        );
    }
}
