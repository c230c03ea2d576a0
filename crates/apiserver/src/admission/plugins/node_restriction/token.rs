//! Which service account tokens a kubelet may ask for: those of pods that run on it, for
//! audiences that these mount.

use super::{NodeRestriction, Refusal};
use crate::admission::AdmissionRequest;
use crate::authz::Attributes;
use ferry_api::object::Meta;
use serde_json::Value;

impl NodeRestriction {
    pub(super) async fn check_token(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
        let asked = request.object.as_deref().unwrap_or(&Value::Null);
        let text = |key: &str| asked.str_at(&["spec", "boundObjectRef", key]);
        if (text("apiVersion"), text("kind")) != ("v1", "Pod") || text("name").is_empty() {
            return Err("node requested token not bound to a pod".into());
        }
        if text("uid").is_empty() {
            return Err("node requested token with a pod binding without a uid".into());
        }
        let pod = self.pod(&request.namespace, text("name"))?;
        if text("uid") != pod.uid() {
            return Err(format!("the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated", text("uid")).into());
        }
        if pod.str_at(&["spec", "nodeName"]) != node {
            return Err("node requested token bound to a pod scheduled on a different node".into());
        }
        let audience = match asked.items_at(&["spec", "audiences"]) {
            [] => "",
            [one] => one.as_str().unwrap_or_default(),
            _ => return Err("node may only request 0 or 1 audiences".into()),
        };
        let verb = "request-serviceaccounts-token-audience";
        let attributes = Attributes {
            namespace: &request.namespace,
            name: &request.name,
            ..Attributes::resource(&request.user, verb, "", "v1", audience)
        };
        if self.pod_mounts_audience(&pod, audience) || self.authorizer.decide(&attributes).await.is_allowed() {
            return Ok(());
        }
        let user = &request.user.name;
        Err(format!("audience {audience:?} not found in pod spec volume, {user} is not authorized to request tokens for this audience").into())
    }

    /// Whether a projected volume of the pod, or the CSI driver of one of its volumes,
    /// takes a token for the audience.
    fn pod_mounts_audience(&self, pod: &Value, audience: &str) -> bool {
        pod.items_at(&["spec", "volumes"]).iter().any(|volume| {
            let projected = volume.items_at(&["projected", "sources"]).iter().any(|source| {
                source.get("serviceAccountToken").is_some_and(|token| token.str_at(&["audience"]) == audience)
            });
            projected || self.volume_driver(pod, volume).is_some_and(|driver| self.driver_takes(&driver, audience))
        })
    }

    fn volume_driver(&self, pod: &Value, volume: &Value) -> Option<String> {
        let inline = volume.str_at(&["csi", "driver"]);
        if !inline.is_empty() {
            return Some(inline.to_owned());
        }
        let claim = if volume.at(&["ephemeral", "volumeClaimTemplate"]).is_some() {
            format!("{}-{}", pod.name(), volume.str_at(&["name"]))
        } else {
            volume.str_at(&["persistentVolumeClaim", "claimName"]).to_owned()
        };
        let claim = self.lookup.get("", "persistentvolumeclaims", pod.namespace(), &claim)?.value();
        let bound = self.lookup.get("", "persistentvolumes", "", claim.str_at(&["spec", "volumeName"]))?.value();
        Some(bound.str_at(&["spec", "csi", "driver"]).to_owned()).filter(|driver| !driver.is_empty())
    }

    fn driver_takes(&self, driver: &str, audience: &str) -> bool {
        let Some(stored) = self.lookup.get("storage.k8s.io", "csidrivers", "", driver) else { return false };
        stored
            .value()
            .items_at(&["spec", "tokenRequests"])
            .iter()
            .any(|wanted| wanted.str_at(&["audience"]) == audience)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{refused, run};
    use crate::admission::testing::row;
    use ferry_resources::Scope;
    use serde_json::{Value, json};

    #[tokio::test]
    async fn tokens_are_of_its_own_pods() {
        let accounts = || row("", "ServiceAccount", "serviceaccounts", Scope::Namespaced);
        let token = async |name: &str, uid: &str, audiences: Value| {
            let request = json!({"metadata": {"name": "web", "namespace": "ns"}, "spec": {"audiences": audiences,
                "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid}}});
            run(accounts(), "token", Some(request), None).await
        };
        assert_eq!(token("mine", "u-m", json!([])).await, Ok(()));
        assert_eq!(token("mine", "u-m", json!(["vault"])).await, Ok(()));
        assert_eq!(
            token("mine", "u-m", json!(["other"])).await,
            refused(
                "audience \"other\" not found in pod spec volume, system:node:a is not authorized to request tokens for this audience"
            )
        );
        assert_eq!(
            token("theirs", "u-t", json!([])).await,
            refused("node requested token bound to a pod scheduled on a different node")
        );
        assert_eq!(
            token("mine", "", json!([])).await,
            refused("node requested token with a pod binding without a uid")
        );
        let unbound =
            run(accounts(), "token", Some(json!({"metadata": {"name": "web", "namespace": "ns"}})), None).await;
        assert_eq!(unbound, refused("node requested token not bound to a pod"));
    }
}
