//! ExtendedResourceToleration: a pod that asks for a device tolerates the taint that keeps
//! others off the nodes that have it. Off unless asked for.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use ferry_resources::validation::resources::is_extended;
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) struct ExtendedResourceToleration;

#[async_trait]
impl Plugin for ExtendedResourceToleration {
    fn name(&self) -> &'static str {
        "ExtendedResourceToleration"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.is_for("", "pods")
            && request.subresource.is_empty()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        let containers = ["containers", "initContainers"].into_iter().flat_map(|list| pod.items_at(&["spec", list]));
        let requests = containers.filter_map(|container| container.at(&["resources", "requests"])?.as_object());
        let devices: BTreeSet<String> =
            requests.flat_map(|requests| requests.keys()).filter(|name| is_extended(name)).cloned().collect();
        for device in devices {
            let toleration = json!({"key": device, "operator": "Exists", "effect": "NoSchedule"});
            let spec = ensure_object(ensure_object(pod).entry("spec").or_insert(Value::Null));
            match spec.entry("tolerations").or_insert(Value::Null) {
                Value::Array(items) if items.contains(&toleration) => {}
                Value::Array(items) => items.push(toleration),
                other => *other = json!([toleration]),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};

    #[tokio::test]
    async fn devices_bring_their_toleration() {
        let pod = json!({"metadata": {"name": "p"}, "spec": {
            "containers": [{"resources": {"requests": {"example.com/gpu": "1", "cpu": "1"}}}],
            "initContainers": [{"resources": {"requests": {"example.com/nic": "1"}}}]}});
        let pod = Case::create(pods(), pod).run(&ExtendedResourceToleration).await.expect("admitted");
        let keys: Vec<&str> = pod.items_at(&["spec", "tolerations"]).iter().map(|t| t.str_at(&["key"])).collect();
        assert_eq!(keys, ["example.com/gpu", "example.com/nic"]);
        let again = Case::create(pods(), pod.clone()).run(&ExtendedResourceToleration).await.expect("admitted");
        assert_eq!(again, pod);
    }
}
