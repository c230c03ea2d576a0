//! One way to ask a plugin about a pod and a node, for every plugin's tests.

use crate::framework::{CycleState, Framework, Plugin};
use crate::snapshot::{NodeInfo, Snapshot};
use crate::view::{Node, Pod};
use serde_json::{Value, json};
use std::sync::Arc;

/// A pod of this spec; it asks for nothing unless the spec says so.
pub fn pod(spec: Value) -> Pod {
    let mut spec = spec;
    if spec.get("containers").is_none() {
        spec["containers"] = json!([{"image": "app:1"}]);
    }
    serde_json::from_value(json!({
        "metadata": {"name": "web", "namespace": "default", "uid": "web"},
        "spec": spec,
    }))
    .expect("a pod")
}

/// A pod whose one container asks for these resources.
pub fn asking(requests: Value) -> Pod {
    pod(json!({"containers": [{"resources": {"requests": requests}}]}))
}

/// A node with 4 cpus, 8 GiB and 110 pods, changed by `over`.
pub fn node(name: &str, over: Value) -> Node {
    let mut node = json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    });
    merge(&mut node, over);
    serde_json::from_value(node).expect("a node")
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
pub fn holding(node: Node, pods: &[Pod]) -> NodeInfo {
    let mut info = NodeInfo::of(Arc::new(node));
    for (index, pod) in pods.iter().enumerate() {
        let mut pod = pod.clone();
        pod.metadata.uid = Some(format!("held-{index}"));
        info.add_pod(Arc::new(crate::snapshot::PodInfo::of(&pod)));
    }
    info
}

/// The reasons for which the plugin rejects the node, none if it does not.
pub fn reasons(plugin: impl Plugin + 'static, pod: &Pod, node: &NodeInfo) -> Vec<String> {
    let framework = Framework::new(vec![(Box::new(plugin), 1)]);
    let mut state = CycleState::default();
    let result = framework.pre_filter(&mut state, pod).and_then(|_| framework.filter(&state, pod, node));
    match result {
        Ok(()) => Vec::new(),
        Err(rejection) => rejection.reasons.iter().map(ToString::to_string).collect(),
    }
}

/// What the plugin gives each node.
pub fn scores(plugin: impl Plugin + 'static, pod: &Pod, nodes: Vec<NodeInfo>) -> Vec<i64> {
    let framework = Framework::new(vec![(Box::new(plugin), 1)]);
    let snapshot = Snapshot::of(nodes);
    framework.score(&mut CycleState::default(), pod, &snapshot.nodes, &snapshot)
}
