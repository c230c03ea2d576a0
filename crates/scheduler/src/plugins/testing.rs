//! One way to ask a plugin about a pod and a node, for every plugin's tests.

use crate::framework::{CycleState, Framework, Plugin};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use ferry_api::view::core::v1::Node;
use ferry_client::SharedObject;
use serde_json::{Value, json};
use std::sync::Arc;

/// A pod of this spec; it asks for nothing unless the spec says so.
pub fn pod(spec: Value) -> PodInfo {
    let mut spec = spec;
    if spec.get("containers").is_none() {
        spec["containers"] = json!([{"image": "app:1"}]);
    }
    PodInfo::of(SharedObject::of(json!({
        "metadata": {"name": "web", "namespace": "default", "uid": "web"},
        "spec": spec,
    })))
}

/// A pod whose one container asks for these resources.
pub fn asking(requests: Value) -> PodInfo {
    pod(json!({"containers": [{"resources": {"requests": requests}}]}))
}

/// The pod changed by `over`.
pub fn changed(pod: &PodInfo, over: Value) -> PodInfo {
    let mut value: Value = pod.pod.to_owned().into();
    merge(&mut value, over);
    PodInfo::of(SharedObject::of(value))
}

/// A node with 4 cpus, 8 GiB and 110 pods, changed by `over`.
pub fn node(name: &str, over: Value) -> SharedObject<Node> {
    let mut node = json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    });
    merge(&mut node, over);
    SharedObject::of(node)
}

fn merge(into: &mut Value, over: Value) {
    match (into, over) {
        (Value::Object(into), Value::Object(over)) => {
            for (key, value) in over {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, over) => *into = over,
    }
}

/// The node with these pods on it.
pub fn holding(node: SharedObject<Node>, pods: &[PodInfo]) -> NodeInfo {
    let mut info = NodeInfo::of(node);
    for (index, pod) in pods.iter().enumerate() {
        info.add_pod(Arc::new(changed(pod, json!({"metadata": {"uid": format!("held-{index}")}}))));
    }
    info
}

/// The reasons for which the plugin rejects the node, none if it does not.
pub fn reasons(plugin: impl Plugin + 'static, pod: &PodInfo, node: &NodeInfo) -> Vec<String> {
    let framework = Framework::new(vec![(Arc::new(plugin), 1)]);
    let (mut state, snapshot) = (CycleState::default(), Snapshot::of(vec![node.clone()]));
    let result = framework.pre_filter(&mut state, pod, &snapshot).and_then(|_| framework.filter(&state, pod, node));
    match result {
        Ok(()) => Vec::new(),
        Err(rejection) => rejection.reasons.iter().map(ToString::to_string).collect(),
    }
}

/// The score that the plugin gives each node.
pub fn scores(plugin: impl Plugin + 'static, pod: &PodInfo, nodes: Vec<NodeInfo>) -> Vec<i64> {
    let framework = Framework::new(vec![(Arc::new(plugin), 1)]);
    let snapshot = Snapshot::of(nodes);
    let nodes: Vec<&NodeInfo> = snapshot.nodes.iter().map(|node| &**node).collect();
    framework.score(&mut CycleState::default(), pod, &nodes, &snapshot)
}
