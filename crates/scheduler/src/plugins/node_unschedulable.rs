//! NodeUnschedulable: a cordoned node takes only pods that tolerate being cordoned.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Hint, Plugin, Points, Rejection, Resource, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use ferry_api::rules::toleration::is_tolerated;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::Taint;
use std::sync::{Arc, LazyLock};

pub struct NodeUnschedulable;

const NAME: &str = "NodeUnschedulable";

/// The taint that a cordoned node has, or soon will.
static CORDON: LazyLock<Taint> =
    LazyLock::new(|| Taint::new().with_key("node.kubernetes.io/unschedulable").with_effect("NoSchedule"));

fn tolerates_cordon(pod: &PodInfo) -> bool {
    is_tolerated(pod.spec().tolerations(), CORDON.view())
}

impl Plugin for NodeUnschedulable {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::NODE, &[Action::Add, Action::Update]), Watch::new(Resource::POD, &[Action::Update])] }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event.node() {
            Some(Change::Added(node)) => !node.is_unschedulable,
            Some(Change::Updated { old, new }) => old.is_unschedulable && !new.is_unschedulable,
            _ => event.update_of(pod).is_some_and(|(_, new)| tolerates_cordon(new)),
        })
    }
}

impl Filter for NodeUnschedulable {
    fn filter(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        if !node.is_unschedulable || tolerates_cordon(pod) {
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
        let info = |over| holding(node("a", over), &[]);
        let (cordoned, free) = (info(json!({"spec": {"unschedulable": true}})), info(json!({})));
        let hint = |old, new| NodeUnschedulable.hint(&pod(json!({})), &ClusterEvent::node_updated(old, new));
        assert_eq!(hint(&cordoned, &free), Hint::Queue);
        assert_eq!(hint(&free, &cordoned), Hint::Skip);
    }
}
