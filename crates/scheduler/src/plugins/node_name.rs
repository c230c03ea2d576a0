//! NodeName: a pod that names its node goes nowhere else.

use crate::framework::{ClusterEvent, CycleState, Filter, Hint, Plugin, Rejection};
use crate::snapshot::NodeInfo;
use crate::view::Pod;

pub struct NodeName;

const NAME: &str = "NodeName";

impl Plugin for NodeName {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, _pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(matches!(event, ClusterEvent::NodeAdded(_)))
    }

    fn as_filter(&self) -> Option<&dyn Filter> {
        Some(self)
    }
}

impl Filter for NodeName {
    fn filter(&self, _state: &CycleState, pod: &Pod, node: &NodeInfo) -> Result<(), Rejection> {
        if pod.spec.node_name.is_empty() || pod.spec.node_name == node.name() {
            return Ok(());
        }
        Err(Rejection::unresolvable(NAME, "node(s) didn't match the requested node name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons};
    use serde_json::json;

    #[test]
    fn only_the_named_node_does() {
        let check = |spec, expected: &[&str]| {
            assert_eq!(reasons(NodeName, &pod(spec), &holding(node("a", json!({})), &[])), expected);
        };
        check(json!({}), &[]);
        check(json!({"nodeName": "a"}), &[]);
        check(json!({"nodeName": "b"}), &["node(s) didn't match the requested node name"]);
    }
}
