//! NodePorts: two pods on one node cannot take the same port of the host.

use crate::framework::{ClusterEvent, CycleState, Filter, Hint, Plugin, PreFilter, PreFilterResult, Rejection};
use crate::snapshot::{HostPort, NodeInfo, host_ports};
use crate::view::Pod;

pub struct NodePorts;

const NAME: &str = "NodePorts";

struct Wanted(Vec<HostPort>);

impl Plugin for NodePorts {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event {
            ClusterEvent::NodeAdded(_) => true,
            ClusterEvent::PodRemoved(removed) => {
                let freed = host_ports(removed);
                host_ports(pod).iter().any(|wanted| freed.iter().any(|freed| freed.conflicts_with(wanted)))
            }
            ClusterEvent::NodeUpdated { .. } | ClusterEvent::PodUpdated { .. } => false,
        })
    }

    fn as_pre_filter(&self) -> Option<&dyn PreFilter> {
        Some(self)
    }

    fn as_filter(&self) -> Option<&dyn Filter> {
        Some(self)
    }
}

impl PreFilter for NodePorts {
    fn pre_filter(&self, state: &mut CycleState, pod: &Pod) -> PreFilterResult {
        let wanted = host_ports(pod);
        if wanted.is_empty() {
            return PreFilterResult::Skip;
        }
        state.write(Wanted(wanted));
        PreFilterResult::AllNodes
    }
}

impl Filter for NodePorts {
    fn filter(&self, state: &CycleState, _pod: &Pod, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(Wanted(wanted)) = state.read() else { return Ok(()) };
        if node.ports().any(|used| wanted.iter().any(|wanted| wanted.conflicts_with(used))) {
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

    fn with_port(port: Value) -> Pod {
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
        let hint =
            |removed: &Pod| NodePorts.hint(&with_port(json!({"hostPort": 80})), &ClusterEvent::PodRemoved(removed));
        assert_eq!(hint(&with_port(json!({"hostPort": 80}))), Hint::Queue);
        assert_eq!(hint(&with_port(json!({"hostPort": 81}))), Hint::Skip);
    }
}
