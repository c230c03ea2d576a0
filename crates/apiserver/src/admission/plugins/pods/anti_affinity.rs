//! LimitPodHardAntiAffinityTopology: pods may keep others off their node, but off nothing
//! larger. Off unless asked for.

use crate::admission::{AdmissionRequest, Plugin};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;

const HOSTNAME: &str = "kubernetes.io/hostname";

pub(crate) struct LimitPodHardAntiAffinityTopology;

#[async_trait]
impl Plugin for LimitPodHardAntiAffinityTopology {
    fn name(&self) -> &'static str {
        "LimitPodHardAntiAffinityTopology"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.is_pod_write()
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(pod) = request.object.as_deref() else { return Ok(()) };
        let path = ["spec", "affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
        for term in pod.items_at(&path) {
            let key = term.str_at(&["topologyKey"]);
            if key != HOSTNAME {
                return Err(request.forbidden(&format!(
                    "affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} but only key {HOSTNAME} is allowed"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use serde_json::json;

    #[tokio::test]
    async fn only_nodes_are_kept_clear() {
        let run = async |key: &str| {
            let pod = json!({"metadata": {"name": "p"}, "spec": {"affinity": {"podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": key}]}}}});
            Case::create(pods(), pod).run(&LimitPodHardAntiAffinityTopology).await.map_err(|status| status.message)
        };
        assert!(run(HOSTNAME).await.is_ok());
        assert_eq!(
            run("zone").await.expect_err("too large"),
            "pods \"p\" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed"
        );
    }
}
