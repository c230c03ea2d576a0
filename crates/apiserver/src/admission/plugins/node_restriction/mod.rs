//! NodeRestriction: a kubelet writes its own node, its own leases, and the status of pods
//! bound to it, and steers nothing else its way. The Node authorizer has let it this far
//! without seeing the object; here the object is seen.

mod certificate;
mod claim;
mod node;
mod pod;
mod token;

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::authn::user::node_name;
use crate::authz::Authorizer;
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use serde_json::Value;
use std::sync::Arc;

const MIRROR: &str = "kubernetes.io/config.mirror";

pub(crate) struct NodeRestriction {
    lookup: Arc<dyn ObjectLookup>,
    authorizer: Authorizer,
}

impl NodeRestriction {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>, authorizer: Authorizer) -> Self {
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
        match self.check(node, request).await {
            Ok(()) => Ok(()),
            Err(Refusal::Because(why)) => Err(request.forbidden(&why)),
            Err(Refusal::Answer(status)) => Err(*status),
        }
    }
}

impl NodeRestriction {
    async fn check(&self, node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
        match (request.row.group.as_ref(), request.row.plural.as_ref(), request.subresource.as_str()) {
            ("", "pods", "") => self.check_pod(node, request),
            ("", "pods", "status") => pod::check_pod_status(node, request),
            ("", "pods", "eviction") => self.check_eviction(node, request),
            ("", "pods", other) => {
                Err(format!("unexpected pod subresource {other:?}, only 'status' and 'eviction' are allowed").into())
            }
            ("", "nodes", _) => node::check_node(node, request),
            ("", "persistentvolumeclaims", "status") => claim::check_claim_status(node, request),
            ("", "persistentvolumeclaims", _) => Err("may only update PVC status".into()),
            ("", "serviceaccounts", "token") if request.operation == Operation::Create => {
                self.check_token(node, request).await
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
            ("resource.k8s.io", "resourceslices", _) => check_slice(node, request),
            ("certificates.k8s.io", "podcertificaterequests", _) => self.check_pod_certificate(node, request),
            ("certificates.k8s.io", "certificatesigningrequests", _) => certificate::check_request(node, request),
            _ => Ok(()),
        }
    }

    fn pod(&self, namespace: &str, name: &str) -> Result<Value, Refusal> {
        let found = self.lookup.get("", "pods", namespace, name).map(|stored| stored.value());
        found.ok_or_else(|| Refusal::Answer(Status::not_found(&GroupResource::new("", "pods"), name).into()))
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

/// A slice advertises devices of the node that it names. Updates keep the name, and which
/// slices are whose the authorizer knows; it knows neither the content of a new slice nor
/// the members of a collection that is deleted.
fn check_slice(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
    let (slice, verb) = match request.operation {
        Operation::Create => (request.object.as_deref(), "create"),
        Operation::Delete => (request.old_object, "delete"),
        Operation::Update | Operation::Connect => return Ok(()),
    };
    if slice.is_some_and(|slice| slice.str_at(&["spec", "nodeName"]) == node) {
        return Ok(());
    }
    Err(format!("can only {verb} ResourceSlice with the same NodeName as the requesting node").into())
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

#[cfg(test)]
mod testing {
    use super::*;
    use crate::admission::testing::{Case, row};
    use crate::authn::UserInfo;
    use crate::authn::testing::Objects;
    use ferry_resources::{Row, Scope};
    use serde_json::json;

    pub(crate) fn plugin() -> NodeRestriction {
        let objects = Objects::of(&[
            json!({"kind": "Node", "metadata": {"name": "a", "uid": "u-a"}}),
            json!({"kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "ns", "uid": "u-s"}}),
            json!({"kind": "Pod", "metadata": {"name": "mine", "namespace": "ns", "uid": "u-m"}, "spec": {"nodeName": "a", "serviceAccountName": "web", "volumes": [
                {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}, {"serviceAccountToken": {"audience": "vault"}}]}}]}}),
            json!({"kind": "Pod", "metadata": {"name": "theirs", "namespace": "ns", "uid": "u-t"}, "spec": {"nodeName": "b"}}),
            json!({"kind": "Pod", "metadata": {"name": "mirror", "namespace": "ns", "uid": "u-i", "annotations": {MIRROR: "x"}}, "spec": {"nodeName": "a"}}),
            json!({"kind": "Pod", "metadata": {"name": "orphan", "namespace": "ns", "uid": "u-o"}, "spec": {"nodeName": "a", "serviceAccountName": "gone"}}),
        ]);
        let authorizer = Authorizer::new(&*objects);
        NodeRestriction::new(objects, authorizer)
    }

    /// Runs as node `a`; `old` makes it an update, and a missing object a delete.
    pub(crate) async fn run(
        row: Arc<Row>,
        subresource: &str,
        object: Option<Value>,
        old: Option<Value>,
    ) -> Result<(), String> {
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

    pub(crate) fn nodes() -> Arc<Row> {
        row("", "Node", "nodes", Scope::Cluster)
    }

    pub(crate) fn refused(why: &str) -> Result<(), String> {
        Err(why.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{nodes, plugin, refused, run};
    use crate::admission::testing::{Case, row};
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn leases_are_of_its_own() {
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
    async fn slices_name_the_node_that_makes_and_deletes_them() {
        let slices = || row("resource.k8s.io", "ResourceSlice", "resourceslices", Scope::Cluster);
        let slice = |node: &str| Some(json!({"metadata": {"name": "s"}, "spec": {"nodeName": node}}));
        let shared = || Some(json!({"metadata": {"name": "s"}, "spec": {"allNodes": true}}));
        let no_create = refused("can only create ResourceSlice with the same NodeName as the requesting node");
        let no_delete = refused("can only delete ResourceSlice with the same NodeName as the requesting node");
        assert_eq!(run(slices(), "", slice("a"), None).await, Ok(()));
        assert_eq!(run(slices(), "", slice("b"), None).await, no_create);
        assert_eq!(run(slices(), "", shared(), None).await, no_create);
        assert_eq!(run(slices(), "", None, slice("a")).await, Ok(()));
        assert_eq!(run(slices(), "", None, slice("b")).await, no_delete);
        assert_eq!(run(slices(), "", None, shared()).await, no_delete);
        assert_eq!(run(slices(), "", slice("a"), slice("a")).await, Ok(()));
    }

    #[tokio::test]
    async fn others_are_not_held_to_it() {
        let case =
            Case::create(nodes(), json!({"metadata": {"name": "x", "labels": {"node-role.kubernetes.io/y": ""}}}));
        assert!(case.run(&plugin()).await.is_ok());
    }
}
