//! A node with the facts that decisions read of it and the pods that are on it.

use crate::pod_info::PodInfo;
use crate::resources::Resources;
use ferry_api::rules::host_port::HostPort;
use ferry_api::rules::toleration::{DISCOURAGES, KEEPS_OUT};
use ferry_api::view::core::v1::{Node, NodeView};
use ferry_client::SharedObject;
use std::collections::HashMap;
use std::sync::Arc;

/// One node and the pods on it. A filter reads the plain fields for every pod, and the view
/// of the node only where one of them says that there is something to read.
#[derive(Clone, Debug)]
pub struct NodeInfo {
    pub node: SharedObject<Node>,
    name: Arc<str>,
    /// The node's number, by which arrays over all nodes are indexed. The cache gives it, and
    /// gives it to another node when this one is gone.
    pub slot: u32,
    pub is_unschedulable: bool,
    /// Has a taint that keeps out pods without a toleration of it.
    pub keeps_out: bool,
    /// Has a taint that asks pods to prefer other nodes.
    pub discourages: bool,
    /// The keys, values and effects of all taints. The nodes of a pool have the same, so a
    /// cycle judges each text once.
    pub taints: Arc<str>,
    pub allocatable: Resources,
    /// Sizes of the images that are on the node, by name.
    pub images: Arc<HashMap<String, i64>>,
    pub requested: Resources,
    pub non_zero_requested: Resources,
    pub pods: Vec<Arc<PodInfo>>,
    /// The host ports of all pods.
    pub ports: Vec<HostPort<'static>>,
}

impl NodeInfo {
    pub fn of(node: SharedObject<Node>) -> Self {
        let mut info = Self::without_node(node.name().into());
        info.set_node(node);
        info
    }

    /// A name under which pods are known before their node is, or after it.
    pub fn without_node(name: Arc<str>) -> Self {
        Self {
            node: SharedObject::of(Node::new()),
            name,
            slot: 0,
            is_unschedulable: false,
            keeps_out: false,
            discourages: false,
            taints: "".into(),
            allocatable: Resources::default(),
            images: Arc::default(),
            requested: Resources::default(),
            non_zero_requested: Resources::default(),
            pods: Vec::new(),
            ports: Vec::new(),
        }
    }

    /// Takes the facts of the node anew; the pods stay.
    pub fn set_node(&mut self, node: SharedObject<Node>) {
        let view = node.view();
        let has_taint = |effects: &[&str]| view.spec().taints().iter().any(|taint| effects.contains(&taint.effect()));
        self.is_unschedulable = view.spec().unschedulable();
        self.keeps_out = has_taint(KEEPS_OUT);
        self.discourages = has_taint(DISCOURAGES);
        self.taints = render_taints(view).into();
        self.allocatable = Resources::of(view.status().allocatable());
        let images: HashMap<String, i64> = view
            .status()
            .images()
            .iter()
            .flat_map(|image| image.names().iter().map(move |name| (name.to_owned(), image.size_bytes())))
            .collect();
        if images != *self.images {
            self.images = Arc::new(images);
        }
        self.node = node;
    }

    pub fn view(&self) -> NodeView<'_> {
        self.node.view()
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    pub fn add_pod(&mut self, pod: Arc<PodInfo>) {
        self.count(&pod);
        self.pods.push(pod);
    }

    /// Removes a pod, which is known by its address: the cache and the trials of preemptions
    /// hold the same one.
    pub fn remove_pod(&mut self, pod: &Arc<PodInfo>) {
        if let Some(position) = self.pods.iter().position(|other| Arc::ptr_eq(other, pod)) {
            self.pods.swap_remove(position);
            self.discount(pod);
        }
    }

    /// Puts another version of a pod in the place of the one that was there.
    pub fn replace_pod(&mut self, old: &Arc<PodInfo>, new: Arc<PodInfo>) {
        match self.pods.iter().position(|other| Arc::ptr_eq(other, old)) {
            Some(position) => {
                self.discount(old);
                self.count(&new);
                self.pods[position] = new;
            }
            None => self.add_pod(new),
        }
    }

    fn count(&mut self, pod: &PodInfo) {
        self.requested.add(&pod.requests);
        self.non_zero_requested.add(&pod.non_zero_requests);
        self.ports.extend(pod.ports.iter().cloned());
    }

    fn discount(&mut self, pod: &PodInfo) {
        self.requested.subtract(&pod.requests);
        self.non_zero_requested.subtract(&pod.non_zero_requests);
        for port in &pod.ports {
            if let Some(position) = self.ports.iter().position(|other| other == port) {
                self.ports.swap_remove(position);
            }
        }
    }
}

/// The taints without the time at which they were added, which no toleration asks for.
fn render_taints(node: NodeView<'_>) -> String {
    let mut out = String::new();
    for taint in node.spec().taints() {
        for part in [taint.key(), taint.value_(), taint.effect()] {
            out.push_str(part);
            // No part can contain it.
            out.push('\n');
        }
    }
    out
}

/// Whether a change can matter to a decision; heartbeats do not.
pub fn differs(old: NodeView<'_>, new: NodeView<'_>) -> bool {
    old.spec().unschedulable() != new.spec().unschedulable()
        || old.spec().taints() != new.spec().taints()
        || old.metadata().labels() != new.metadata().labels()
        || old.status().allocatable() != new.status().allocatable()
        || old.status().images() != new.status().images()
        || old.status().declared_features() != new.status().declared_features()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{node, pod};
    use serde_json::{Value, json};

    #[test]
    fn a_heartbeat_is_no_difference() {
        let check = |over: Value, expected: bool| {
            let (old, new) = (node("a", json!({})), node("a", over.clone()));
            assert_eq!(differs(old.view(), new.view()), expected, "{over}");
        };
        check(json!({"metadata": {"resourceVersion": "2"}, "status": {"conditions": [{"type": "Ready"}]}}), false);
        check(json!({"spec": {"unschedulable": false, "taints": []}}), false);
        check(json!({"status": {"allocatable": {"cpu": "4000m"}}}), false);
        check(json!({"status": {"allocatable": {"cpu": "5"}}}), true);
        check(json!({"spec": {"unschedulable": true}}), true);
        check(json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}), true);
        check(json!({"metadata": {"labels": {"zone": "x"}}}), true);
        check(json!({"status": {"images": [{"names": ["a"], "sizeBytes": 7}]}}), true);
    }

    #[test]
    fn ports_are_given_back_once_for_each_pod() {
        let with_port = || Arc::new(pod(json!({"containers": [{"ports": [{"hostPort": 80}]}]})));
        let (a, b) = (with_port(), with_port());
        let mut info = NodeInfo::of(node("a", json!({})));
        info.add_pod(a.clone());
        info.add_pod(b.clone());
        info.remove_pod(&a);
        assert_eq!((info.pods.len(), info.ports.len()), (1, 1));
        info.replace_pod(&b, a.clone());
        assert_eq!((info.pods.len(), info.ports.len()), (1, 1));
        info.remove_pod(&b);
        assert_eq!(info.ports.len(), 1, "b is there no more");
        info.remove_pod(&a);
        assert!(info.pods.is_empty() && info.ports.is_empty());
    }

    fn pointers(value: &Value, path: &str, out: &mut Vec<String>) {
        let entries: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), field)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect(),
            _ => Vec::new(),
        };
        for (name, entry) in entries {
            let path = format!("{path}/{name}");
            pointers(entry, &path, out);
            out.push(path);
        }
    }

    /// Calls `read` with each version of the document that has one of its places null.
    fn with_each_null(document: &Value, read: impl Fn(Value)) {
        let mut places = Vec::new();
        pointers(document, "", &mut places);
        for place in places {
            let mut changed = document.clone();
            *changed.pointer_mut(&place).expect("a place of the document") = Value::Null;
            read(changed);
        }
    }

    #[test]
    fn a_node_or_a_pod_with_any_field_null_is_still_scheduled_on_or_scheduled() {
        let node = json!({"metadata": {"name": "n", "labels": {"a": "b"}, "annotations": {"a": "b"}},
            "spec": {"unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "1"}, "images": [{"names": ["a"], "sizeBytes": 7}]}});
        with_each_null(&node, |node| drop(NodeInfo::of(SharedObject::of(node))));
        let pod = json!({"metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeName": "n", "schedulerName": "s", "priority": 1, "preemptionPolicy": "Never",
                "nodeSelector": {"a": "b"}, "overhead": {"cpu": "1"}, "schedulingGates": [{"name": "g"}],
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}}},
                "tolerations": [{"key": "k"}], "volumes": [{"image": {"reference": "r"}}],
                "resources": {"requests": {"cpu": "1"}},
                "containers": [{"image": "i", "ports": [{"hostIP": "h", "hostPort": 1, "protocol": "TCP"}],
                    "resources": {"requests": {"cpu": "1"}}, "restartPolicy": "Always"}]},
            "status": {"phase": "Running", "nominatedNodeName": "n", "startTime": "2026-01-01T00:00:00Z",
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}});
        with_each_null(&pod, |pod| drop(PodInfo::of(SharedObject::of(pod))));
    }
}
