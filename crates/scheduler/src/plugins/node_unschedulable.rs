//! NodeUnschedulable: a cordoned node takes only pods that tolerate being cordoned.

use super::taint_toleration::tolerates;
use crate::framework::{ClusterEvent, CycleState, Filter, Hint, Plugin, Rejection};
use crate::snapshot::NodeInfo;
use crate::view::Pod;
use k8s_openapi::api::core::v1::Taint;

pub struct NodeUnschedulable;

const NAME: &str = "NodeUnschedulable";

fn tolerates_cordon(pod: &Pod) -> bool {
    let taint = Taint {
        key: "node.kubernetes.io/unschedulable".to_owned(),
        effect: "NoSchedule".to_owned(),
        ..Default::default()
    };
    tolerates(&pod.spec.tolerations, &taint)
}

impl Plugin for NodeUnschedulable {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event {
            ClusterEvent::NodeAdded(node) => !node.spec.unschedulable,
            ClusterEvent::NodeUpdated { old, new } => old.spec.unschedulable && !new.spec.unschedulable,
            ClusterEvent::PodUpdated { new, .. } => new.uid() == pod.uid() && tolerates_cordon(new),
            ClusterEvent::PodRemoved(_) => false,
        })
    }

    fn as_filter(&self) -> Option<&dyn Filter> {
        Some(self)
    }
}

impl Filter for NodeUnschedulable {
    fn filter(&self, _state: &CycleState, pod: &Pod, node: &NodeInfo) -> Result<(), Rejection> {
        if !node.node.spec.unschedulable || tolerates_cordon(pod) {
            return Ok(());
        }
        Err(Rejection::unresolvable(NAME, "node(s) were unschedulable"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons};
    use serde_json::json;

    #[test]
    fn a_cordoned_node_takes_only_who_tolerates_it() {
        let check = |spec, unschedulable: bool, expected: &[&str]| {
            let info = holding(node("a", json!({"spec": {"unschedulable": unschedulable}})), &[]);
            assert_eq!(reasons(NodeUnschedulable, &pod(spec), &info), expected);
        };
        check(json!({}), false, &[]);
        check(json!({}), true, &["node(s) were unschedulable"]);
        let toleration =
            json!({"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"});
        check(json!({"tolerations": [toleration]}), true, &[]);
    }

    #[test]
    fn uncordoning_wakes_the_pod() {
        let (cordoned, free) = (node("a", json!({"spec": {"unschedulable": true}})), node("a", json!({})));
        let hint = |old, new| NodeUnschedulable.hint(&pod(json!({})), &ClusterEvent::NodeUpdated { old, new });
        assert_eq!(hint(&cordoned, &free), Hint::Queue);
        assert_eq!(hint(&free, &cordoned), Hint::Skip);
    }
}
