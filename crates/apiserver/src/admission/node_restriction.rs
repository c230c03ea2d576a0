//! NodeRestriction: a kubelet writes its own node, its own leases, and the status of pods
//! bound to it, and steers nothing else its way. The Node authorizer has let it this far
//! without seeing the object; here the object is seen.

use super::service_account::secret_names;
use super::{AdmissionRequest, Operation, Plugin};
use crate::authn::user::node_name;
use crate::authz::{Attributes, Authorizer};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

const MIRROR: &str = "kubernetes.io/config.mirror";
/// The labels of Kubernetes' own that a kubelet may set on its node.
const KUBELET_LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];
const KUBELET_LABEL_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];
const RESTRICTED_DOMAIN: &str = "node-restriction.kubernetes.io";

pub(super) struct NodeRestriction {
    lookup: Arc<dyn ObjectLookup>,
    authorizer: Authorizer,
}

impl NodeRestriction {
    pub(super) fn new(lookup: Arc<dyn ObjectLookup>, authorizer: Authorizer) -> Self {
        Self { lookup, authorizer }
    }
}

/// A refusal: a reason for a 403, or a whole answer of its own.
enum Refusal {
    Because(String),
    Answer(Box<Status>),
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::Because(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Self {
        Self::Because(why.to_owned())
    }
}

#[async_trait]
impl Plugin for NodeRestriction {
    fn name(&self) -> &'static str {
        "NodeRestriction"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation != Operation::Connect && node_name(&request.user).is_some()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let user = request.user.clone();
        let Some(node) = node_name(&user) else { return Ok(()) };
        match self.check(node, request) {
            Ok(()) => Ok(()),
            Err(Refusal::Because(why)) => Err(request.forbidden(&why)),
            Err(Refusal::Answer(status)) => Err(*status),
        }
    }
}

impl NodeRestriction {
    fn check(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
        match (request.row.group.as_ref(), request.row.plural.as_ref(), request.subresource.as_str()) {
            ("", "pods", "") => self.check_pod(node, request),
            ("", "pods", "status") => check_pod_status(node, request),
            ("", "pods", "eviction") => self.check_eviction(node, request),
            ("", "pods", other) => {
                Err(format!("unexpected pod subresource {other:?}, only 'status' and 'eviction' are allowed").into())
            }
            ("", "nodes", _) => check_node(node, request),
            ("", "persistentvolumeclaims", "status") => check_claim_status(node, request),
            ("", "persistentvolumeclaims", _) => Err("may only update PVC status".into()),
            ("", "serviceaccounts", "token") if request.operation == Operation::Create => {
                self.check_token(node, request)
            }
            ("coordination.k8s.io", "leases", _) => {
                if request.namespace != "kube-node-lease" {
                    return Err("can only access leases in the \"kube-node-lease\" system namespace".into());
                }
                own_name(node, request, "can only access node lease with the same name as the requesting node")
            }
            ("storage.k8s.io", "csinodes", _) => {
                own_name(node, request, "can only access CSINode with the same name as the requesting node")
            }
            _ => Ok(()),
        }
    }

    fn pod(&self, namespace: &str, name: &str) -> Result<Value, Refusal> {
        let found = self.lookup.get("", "pods", namespace, name).map(|stored| stored.value());
        found.ok_or_else(|| Refusal::Answer(Status::not_found(&GroupResource::new("", "pods"), name).into()))
    }

    fn check_pod(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
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

    fn check_eviction(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
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

    /// A kubelet asks for tokens of pods that run on it, for audiences that these mount.
    fn check_token(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
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
        let allowed = self.pod_mounts_audience(&pod, audience)
            || self
                .authorizer
                .authorize(&Attributes {
                    user: &request.user,
                    verb: "request-serviceaccounts-token-audience",
                    api_group: "",
                    api_version: "v1",
                    resource: audience,
                    subresource: "",
                    namespace: &request.namespace,
                    name: &request.name,
                    path: "",
                    is_resource: true,
                    field_selector: "",
                    label_selector: "",
                })
                .is_allowed();
        if allowed {
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

fn own_name(node: &str, request: &AdmissionRequest<'_>, why: &str) -> Result<(), Refusal> {
    // On create the path names nothing, so the object's own name counts.
    let name = match (request.operation, request.object.as_deref()) {
        (Operation::Create, Some(object)) => object.name(),
        _ => &request.name,
    };
    if name == node { Ok(()) } else { Err(why.into()) }
}

fn check_pod_status(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
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

fn check_node(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
    let null = Value::Null;
    let new = request.object.as_deref().unwrap_or(&null);
    let name = if request.name.is_empty() { new.name() } else { &request.name };
    if name != node {
        return Err(format!("node {node:?} is not allowed to modify node {name:?}").into());
    }
    match request.operation {
        Operation::Create => {
            if new.at(&["spec", "configSource"]).is_some_and(|source| !source.is_null()) {
                let why = format!("node {node:?} is not allowed to create pods with a non-nil configSource");
                return Err(why.into());
            }
            let forbidden = forbidden_labels(new, &null);
            if !forbidden.is_empty() {
                let why = format!("node {node:?} is not allowed to set the following labels: {}", forbidden.join(", "));
                return Err(why.into());
            }
        }
        Operation::Update => {
            let old = request.old_object.unwrap_or(&null);
            let source = new.at(&["spec", "configSource"]).filter(|source| !source.is_null());
            if source.is_some() && source != old.at(&["spec", "configSource"]) {
                let why = format!("node {node:?} is not allowed to update configSource to a new non-nil configSource");
                return Err(why.into());
            }
            if !same(new.at(&["spec", "taints"]), old.at(&["spec", "taints"])) {
                return Err(format!("node {node:?} is not allowed to modify taints").into());
            }
            if !same(new.meta("ownerReferences"), old.meta("ownerReferences")) {
                return Err(format!("node {node:?} is not allowed to modify ownerReferences").into());
            }
            let forbidden = forbidden_labels(new, old);
            if !forbidden.is_empty() {
                return Err(format!("is not allowed to modify labels: {}", forbidden.join(", ")).into());
            }
        }
        Operation::Delete | Operation::Connect => {}
    }
    Ok(())
}

fn check_claim_status(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
    if request.operation != Operation::Update {
        return Err(format!("unexpected operation {:?}", request.operation.as_str()).into());
    }
    let strip = |claim: Option<&Value>| {
        let mut claim = claim.cloned().unwrap_or_default();
        claim.remove_meta("resourceVersion");
        claim.remove_meta("managedFields");
        if let Some(Value::Object(status)) = claim.get_mut("status") {
            for key in ["capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"] {
                status.remove(key);
            }
        }
        claim
    };
    if strip(request.old_object) != strip(request.object.as_deref()) {
        let why =
            format!("node {node:?} is not allowed to update fields other than status.quantity and status.conditions");
        return Err(why.into());
    }
    Ok(())
}

/// Absent, null and empty are the same.
fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    let meaningful = |value: &&Value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    a.filter(meaningful) == b.filter(meaningful)
}

/// The labels that differ and that a kubelet may not touch, sorted.
fn forbidden_labels(new: &Value, old: &Value) -> Vec<String> {
    let empty = Map::new();
    let labels = |object: &'_ Value| object.meta("labels").and_then(Value::as_object).cloned().unwrap_or(empty.clone());
    let (new, old) = (labels(new), labels(old));
    let changed: BTreeSet<&String> =
        new.keys().chain(old.keys()).filter(|key| new.get(*key) != old.get(*key)).collect();
    changed.into_iter().filter(|label| is_forbidden_label(label)).cloned().collect()
}

fn is_forbidden_label(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let within = |parent: &str| domain == parent || domain.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.'));
    let is_kubernetes = within("kubernetes.io") || within("k8s.io");
    let is_kubelets = KUBELET_LABELS.contains(&label) || KUBELET_LABEL_DOMAINS.iter().any(|domain| within(domain));
    within(RESTRICTED_DOMAIN) || (is_kubernetes && !is_kubelets)
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
    use super::super::testing::{Case, pods, row};
    use super::*;
    use crate::authn::UserInfo;
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    fn plugin() -> NodeRestriction {
        let objects = Objects::of(&[
            json!({"kind": "Node", "metadata": {"name": "a", "uid": "u-a"}}),
            json!({"kind": "Pod", "metadata": {"name": "mine", "namespace": "ns", "uid": "u-m"}, "spec": {"nodeName": "a", "volumes": [
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}, {"serviceAccountToken": {"audience": "vault"}}]}}]}}),
            json!({"kind": "Pod", "metadata": {"name": "theirs", "namespace": "ns", "uid": "u-t"}, "spec": {"nodeName": "b"}}),
        ]);
        let authorizer = Authorizer::new(&*objects);
        NodeRestriction::new(objects, authorizer)
    }

    /// Runs as node `a`; `old` makes it an update, and a missing object a delete.
    async fn run(row: Arc<Row>, subresource: &str, object: Option<Value>, old: Option<Value>) -> Result<(), String> {
        let operation = match (&object, &old) {
            (Some(_), None) => Operation::Create,
            (Some(_), Some(_)) => Operation::Update,
            (None, _) => Operation::Delete,
        };
        let user = UserInfo::authenticated("system:node:a", &["system:nodes"]);
        let case = Case { operation, row, subresource, object, old, user };
        let outcome = case.run(&plugin()).await;
        outcome.map(|_| ()).map_err(|status| match status.message.split_once("is forbidden: ") {
            Some((_, why)) => why.to_owned(),
            None => status.message,
        })
    }

    use ferry_resources::Row;

    fn nodes() -> Arc<Row> {
        row("", "Node", "nodes", Scope::Cluster)
    }

    fn refused(why: &str) -> Result<(), String> {
        Err(why.to_owned())
    }

    #[tokio::test]
    async fn a_node_writes_its_own_object_and_no_privileged_labels() {
        let node = |name: &str, labels: Value| json!({"metadata": {"name": name, "labels": labels}});
        let create = async |object: Value| run(nodes(), "", Some(object), None).await;
        let good =
            json!({"kubernetes.io/hostname": "a", "node.kubernetes.io/x": "1", "example.com/any": "1", "plain": "1"});
        assert_eq!(create(node("a", good)).await, Ok(()));
        assert_eq!(create(node("b", json!({}))).await, refused("node \"a\" is not allowed to modify node \"b\""));
        let bad = json!({"node-restriction.kubernetes.io/z": "1", "node-role.kubernetes.io/control-plane": "", "x.k8s.io/y": "1"});
        assert_eq!(
            create(node("a", bad)).await,
            refused(
                "node \"a\" is not allowed to set the following labels: node-restriction.kubernetes.io/z, node-role.kubernetes.io/control-plane, x.k8s.io/y"
            )
        );
        let update = async |new: Value| run(nodes(), "", Some(new), Some(node("a", json!({"plain": "1"})))).await;
        assert_eq!(update(node("a", json!({"plain": "2"}))).await, Ok(()));
        assert_eq!(
            update(node("a", json!({"plain": "1", "node-role.kubernetes.io/x": ""}))).await,
            refused("is not allowed to modify labels: node-role.kubernetes.io/x")
        );
        let mut tainted = node("a", json!({"plain": "1"}));
        tainted["spec"] = json!({"taints": [{"key": "k"}]});
        assert_eq!(update(tainted).await, refused("node \"a\" is not allowed to modify taints"));
        let mut owned = node("a", json!({"plain": "1"}));
        owned["metadata"]["ownerReferences"] = json!([{"name": "x"}]);
        assert_eq!(update(owned).await, refused("node \"a\" is not allowed to modify ownerReferences"));
    }

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

    #[tokio::test]
    async fn tokens_and_leases_are_of_its_own() {
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

        let leases = || row("coordination.k8s.io", "Lease", "leases", Scope::Namespaced);
        let lease = |namespace: &str, name: &str| Some(json!({"metadata": {"name": name, "namespace": namespace}}));
        assert_eq!(run(leases(), "", lease("kube-node-lease", "a"), None).await, Ok(()));
        assert_eq!(
            run(leases(), "", lease("kube-node-lease", "b"), None).await,
            refused("can only access node lease with the same name as the requesting node")
        );
        assert_eq!(
            run(leases(), "", lease("ns", "a"), None).await,
            refused("can only access leases in the \"kube-node-lease\" system namespace")
        );
    }

    #[tokio::test]
    async fn others_are_not_held_to_it() {
        let case =
            Case::create(nodes(), json!({"metadata": {"name": "x", "labels": {"node-role.kubernetes.io/y": ""}}}));
        assert!(case.run(&plugin()).await.is_ok());
    }
}
