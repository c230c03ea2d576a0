//! What a kubelet may write of its Node: not its taints, nor its owners, nor labels that
//! would draw workloads to it.

use super::{Refusal, same};
use crate::admission::{AdmissionRequest, Operation};
use ferry_api::object::Meta;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

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

pub(super) fn check_node(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
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

#[cfg(test)]
mod tests {
    use super::super::testing::{nodes, refused, run};
    use serde_json::{Value, json};

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
}
