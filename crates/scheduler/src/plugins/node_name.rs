//! NodeName: a pod that names its node goes nowhere else.

use crate::framework::{
    Action, CycleState, Filter, Plugin, Points, PreFilter, PreFilterResult, Rejection, Resource, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use std::sync::Arc;

pub struct NodeName;

const NAME: &str = "NodeName";

impl Plugin for NodeName {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::NODE, &[Action::Add])] }
    }
}

impl PreFilter for NodeName {
    fn pre_filter(&self, _state: &mut CycleState, pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        if pod.is_assigned() { PreFilterResult::AllNodes } else { PreFilterResult::Skip }
    }
}

impl Filter for NodeName {
    fn filter(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        if pod.spec().node_name() == node.name() {
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
