//! What a kubelet may do to pods: make mirror pods of its own that refer to nothing, write
//! the status of pods bound to it, evict and delete them.

use super::{MIRROR, NodeRestriction, Refusal, same};
use crate::admission::plugins::pods::service_account::secret_names;
use crate::admission::{AdmissionRequest, Operation};
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use serde_json::Value;

impl NodeRestriction {
    pub(super) fn check_pod(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
        match request.operation {
            Operation::Create => self.check_mirror_pod(node, request.object.as_deref().unwrap_or(&Value::Null)),
            Operation::Delete => {
                let pod = match request.old_object {
                    Some(pod) => pod.clone(),
                    None => self.pod(&request.namespace, &request.name)?,
                };
                if pod.str_at(&["spec", "nodeName"]) != node {
                    return Err(format!("node {node:?} can only delete pods with spec.nodeName set to itself").into());
                }
                Ok(())
            }
            other => Err(format!(
                "unexpected operation {:?}, node {node:?} can only create and delete mirror pods",
                other.as_str()
            )
            .into()),
        }
    }

    fn check_mirror_pod(&self, node: &str, pod: &Value) -> Result<(), Refusal> {
        if pod.annotation(MIRROR).is_none() {
            let why = format!("pod does not have {MIRROR:?} annotation, node {node:?} can only create mirror pods");
            return Err(why.into());
        }
        if pod.str_at(&["spec", "nodeName"]) != node {
            return Err(format!("node {node:?} can only create pods with spec.nodeName set to itself").into());
        }
        let owner = match pod.items_at(&["metadata", "ownerReferences"]) {
            [owner] => owner,
            [] => {
                return Err(format!("node {node:?} can only create pods with an owner reference set to itself").into());
            }
            _ => {
                let why = format!("node {node:?} can only create pods with a single owner reference set to itself");
                return Err(why.into());
            }
        };
        let text = |key: &str| owner.str_at(&[key]);
        if (text("apiVersion"), text("kind"), text("name")) != ("v1", "Node", node) {
            return Err(format!("node {node:?} can only create pods with an owner reference set to itself").into());
        }
        if owner.bool_at(&["controller"]) != Some(true) {
            let why = format!("node {node:?} can only create pods with a controller owner reference set to itself");
            return Err(why.into());
        }
        if owner.bool_at(&["blockOwnerDeletion"]) == Some(true) {
            return Err(format!("node {node:?} must not set blockOwnerDeletion on an owner reference").into());
        }
        let Some(stored) = self.lookup.get("", "nodes", "", node) else {
            return Err(Refusal::Answer(Status::not_found(&GroupResource::new("", "nodes"), node).into()));
        };
        let (expected, got) = (text("uid"), stored.value());
        if expected != got.uid() {
            return Err(format!("node {node} UID mismatch: expected {expected} got {}", got.uid()).into());
        }
        match referenced_resource(pod) {
            Some(resource) => Err(format!("node {node:?} can not create pods that reference {resource}").into()),
            None => Ok(()),
        }
    }

    pub(super) fn check_eviction(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
        if request.operation != Operation::Create {
            return Err(format!("unexpected operation {}", request.operation.as_str()).into());
        }
        let named = request.object.as_deref().map(Meta::name).unwrap_or_default();
        let name = if request.name.is_empty() { named } else { &request.name };
        if name.is_empty() {
            return Err("could not determine pod from request data".into());
        }
        if self.pod(&request.namespace, name)?.str_at(&["spec", "nodeName"]) != node {
            return Err(format!("node {node} can only evict pods with spec.nodeName set to itself").into());
        }
        Ok(())
    }
}

pub(super) fn check_pod_status(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
    if request.operation != Operation::Update {
        return Err(format!("unexpected operation {:?}", request.operation.as_str()).into());
    }
    let null = Value::Null;
    let (old, new) = (request.old_object.unwrap_or(&null), request.object.as_deref().unwrap_or(&null));
    if old.str_at(&["spec", "nodeName"]) != node {
        let why = format!("node {node:?} can only update pod status for pods with spec.nodeName set to itself");
        return Err(why.into());
    }
    if !same(old.meta("labels"), new.meta("labels")) {
        return Err(format!("node {node:?} cannot update labels through pod status").into());
    }
    let at = |key: &str| same(old.at(&["status", key]), new.at(&["status", key]));
    if !at("resourceClaimStatuses") {
        return Err(format!("node {node:?} cannot update resource claim statues").into());
    }
    if !at("extendedResourceClaimStatus") {
        return Err(format!("node {node:?} cannot update extended resource claim status").into());
    }
    Ok(())
}

/// What a mirror pod refers to although it may refer to nothing.
fn referenced_resource(pod: &Value) -> Option<&'static str> {
    if !pod.str_at(&["spec", "serviceAccountName"]).is_empty() {
        return Some("serviceaccounts");
    }
    if !secret_names(pod).is_empty() {
        return Some("secrets");
    }
    let containers = ["initContainers", "containers", "ephemeralContainers"];
    let uses_config_map = containers.iter().flat_map(|list| pod.items_at(&["spec", list])).any(|container| {
        let from = container.items_at(&["envFrom"]).iter().any(|e| e.at(&["configMapRef"]).is_some());
        from || container.items_at(&["env"]).iter().any(|e| e.at(&["valueFrom", "configMapKeyRef"]).is_some())
    });
    if uses_config_map {
        return Some("configmaps");
    }
    if !pod.items_at(&["spec", "resourceClaims"]).is_empty() {
        return Some("resourceclaims");
    }
    const VOLUMES: [(&str, &str); 7] = [
        ("configMap", "configmaps (via configmap volumes)"),
        ("secret", "secrets (via secret volumes)"),
        ("csi", "csidrivers (via CSI volumes)"),
        ("glusterfs", "endpoints (via glusterFS volumes)"),
        ("persistentVolumeClaim", "persistentvolumeclaims"),
        ("ephemeral", "persistentvolumeclaims (via ephemeral volumes)"),
        ("azureFile", "secrets (via azureFile volumes)"),
    ];
    const SOURCES: [(&str, &str); 5] = [
        ("configMap", "configmaps (via projected volumes)"),
        ("secret", "secrets (via projected volumes)"),
        ("serviceAccountToken", "serviceaccounts (via projected volumes)"),
        ("clusterTrustBundle", "clustertrustbundles"),
        ("podCertificate", "podcertificates"),
    ];
    let has = |value: &Value, key: &str| value.get(key).is_some_and(Value::is_object);
    pod.items_at(&["spec", "volumes"]).iter().find_map(|volume| {
        let direct = VOLUMES.iter().find(|(key, _)| has(volume, key));
        let mut sources = volume.items_at(&["projected", "sources"]).iter();
        let found = direct.or_else(|| sources.find_map(|source| SOURCES.iter().find(|(key, _)| has(source, key))));
        found.map(|(_, text)| *text)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{refused, run};
    use super::*;
    use crate::admission::testing::pods;
    use serde_json::json;

    #[tokio::test]
    async fn a_node_makes_mirror_pods_of_its_own_and_deletes_its_pods() {
        let pod = |change: fn(&mut Value)| {
            let mut pod = json!({"metadata": {"name": "m", "namespace": "ns", "annotations": {MIRROR: "x"}, "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "u-a", "controller": true}]}, "spec": {"nodeName": "a"}});
            change(&mut pod);
            pod
        };
        let create = async |change: fn(&mut Value)| run(pods(), "", Some(pod(change)), None).await;
        assert_eq!(create(|_| ()).await, Ok(()));
        type Change = fn(&mut Value);
        let cases: [(Change, &str); 8] = [
            (
                |pod| pod.remove_meta("annotations"),
                "pod does not have \"kubernetes.io/config.mirror\" annotation, node \"a\" can only create mirror pods",
            ),
            (
                |pod| pod["spec"]["nodeName"] = "b".into(),
                "node \"a\" can only create pods with spec.nodeName set to itself",
            ),
            (
                |pod| pod.remove_meta("ownerReferences"),
                "node \"a\" can only create pods with an owner reference set to itself",
            ),
            (
                |pod| pod["metadata"]["ownerReferences"][0]["uid"] = "old".into(),
                "node a UID mismatch: expected old got u-a",
            ),
            (
                |pod| pod["metadata"]["ownerReferences"][0]["controller"] = false.into(),
                "node \"a\" can only create pods with a controller owner reference set to itself",
            ),
            (
                |pod| pod["spec"]["volumes"] = json!([{"secret": {"secretName": "s"}}]),
                "node \"a\" can not create pods that reference secrets",
            ),
            (
                |pod| pod["spec"]["volumes"] = json!([{"persistentVolumeClaim": {"claimName": "s"}}]),
                "node \"a\" can not create pods that reference persistentvolumeclaims",
            ),
            (
                |pod| pod["spec"]["resourceClaims"] = json!([{"name": "gpu", "resourceClaimName": "c"}]),
                "node \"a\" can not create pods that reference resourceclaims",
            ),
        ];
        for (change, why) in cases {
            assert_eq!(create(change).await, refused(why));
        }
        let bound =
            |node: &str| Some(json!({"metadata": {"name": "p", "namespace": "ns"}, "spec": {"nodeName": node}}));
        assert_eq!(run(pods(), "", None, bound("a")).await, Ok(()));
        assert_eq!(
            run(pods(), "", None, bound("b")).await,
            refused("node \"a\" can only delete pods with spec.nodeName set to itself")
        );
        assert_eq!(run(pods(), "status", bound("a"), bound("a")).await, Ok(()));
        assert_eq!(
            run(pods(), "status", bound("b"), bound("b")).await,
            refused("node \"a\" can only update pod status for pods with spec.nodeName set to itself")
        );
        let mut relabelled = bound("a").expect("a pod");
        relabelled.set_meta("labels", json!({"x": "y"}));
        assert_eq!(
            run(pods(), "status", Some(relabelled), bound("a")).await,
            refused("node \"a\" cannot update labels through pod status")
        );
        assert_eq!(
            run(pods(), "", bound("a"), bound("a")).await,
            refused("unexpected operation \"UPDATE\", node \"a\" can only create and delete mirror pods")
        );
        let eviction = |name: &str| Some(json!({"metadata": {"name": name, "namespace": "ns"}}));
        assert_eq!(run(pods(), "eviction", eviction("mine"), None).await, Ok(()));
        assert_eq!(
            run(pods(), "eviction", eviction("theirs"), None).await,
            refused("node a can only evict pods with spec.nodeName set to itself")
        );
        assert_eq!(run(pods(), "eviction", eviction("gone"), None).await, refused("pods \"gone\" not found"));
    }
}
