//! NodePorts: two pods on one node cannot take the same port of the host.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Hint, Plugin, Points, PreFilter, PreFilterResult, Rejection,
    Resource, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use ferry_api::rules::host_port::conflict;
use std::sync::Arc;

pub struct NodePorts;

const NAME: &str = "NodePorts";

impl Plugin for NodePorts {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::NODE, &[Action::Add]), Watch::new(Resource::POD, &[Action::Delete])] }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event.pod() {
            Some(Change::Deleted(removed)) => conflict(&pod.ports, &removed.ports),
            _ => true,
        })
    }
}

impl PreFilter for NodePorts {
    fn pre_filter(&self, _state: &mut CycleState, pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        if pod.ports.is_empty() { PreFilterResult::Skip } else { PreFilterResult::AllNodes }
    }
}

impl Filter for NodePorts {
    fn filter(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        if conflict(&pod.ports, &node.ports) {
            return Err(Rejection::unschedulable(NAME, "node(s) didn't have free ports for the requested pod ports"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons};
    use serde_json::{Value, json};

    fn with_port(port: Value) -> PodInfo {
        pod(json!({"containers": [{"ports": [port]}]}))
    }

    fn check(used: Value, wanted: Value, fits: bool) {
        let info = holding(node("a", json!({})), &[with_port(used.clone())]);
        let expected: &[&str] =
            if fits { &[] } else { &["node(s) didn't have free ports for the requested pod ports"] };
        assert_eq!(reasons(NodePorts, &with_port(wanted.clone()), &info), expected, "{wanted} beside {used}");
    }

    #[test]
    fn ports_conflict_by_number_protocol_and_address() {
        check(json!({"hostPort": 80}), json!({"hostPort": 81}), true);
        check(json!({"hostPort": 80}), json!({"hostPort": 80}), false);
        check(json!({"hostPort": 80}), json!({"hostPort": 80, "protocol": "UDP"}), true);
        check(json!({"hostPort": 80, "hostIP": "10.0.0.1"}), json!({"hostPort": 80, "hostIP": "10.0.0.2"}), true);
        check(json!({"hostPort": 80, "hostIP": "10.0.0.1"}), json!({"hostPort": 80}), false);
        check(json!({}), json!({}), true);
    }

    #[test]
    fn a_freed_port_wakes_the_pod() {
        let hint = |removed: &PodInfo| {
            NodePorts.hint(&with_port(json!({"hostPort": 80})), &ClusterEvent::pod_removed(removed))
        };
        assert_eq!(hint(&with_port(json!({"hostPort": 80}))), Hint::Queue);
        assert_eq!(hint(&with_port(json!({"hostPort": 81}))), Hint::Skip);
    }
}
