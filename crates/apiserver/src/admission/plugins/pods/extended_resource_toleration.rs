//! ExtendedResourceToleration: a pod that asks for a device tolerates the taint that keeps
//! others off the nodes that have it. Off unless asked for.

use super::add_toleration;
use crate::admission::{AdmissionRequest, Plugin};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::validation::resources::is_extended;
use serde_json::json;
use std::collections::BTreeSet;

pub(crate) struct ExtendedResourceToleration;

#[async_trait]
impl Plugin for ExtendedResourceToleration {
    fn name(&self) -> &'static str {
        "ExtendedResourceToleration"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.is_pod_write()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(pod) = request.object_of("", "pods") else { return Ok(()) };
        let containers = ["containers", "initContainers"].into_iter().flat_map(|list| pod.items_at(&["spec", list]));
        let requests = containers.filter_map(|container| container.at(&["resources", "requests"])?.as_object());
        let devices: BTreeSet<String> =
            requests.flat_map(|requests| requests.keys()).filter(|name| is_extended(name)).cloned().collect();
        for device in devices {
            add_toleration(pod, json!({"key": device, "operator": "Exists", "effect": "NoSchedule"}));
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
