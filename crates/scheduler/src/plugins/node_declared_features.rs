//! NodeDeclaredFeatures: a pod that needs a feature of the node goes to nodes that declare it
//! in `status.declaredFeatures`.
//!
//! Upstream: pkg/scheduler/framework/plugins/nodedeclaredfeatures and
//! component-helpers/nodedeclaredfeatures/features.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Hint, Plugin, Points, PreFilter, PreFilterResult, Rejection,
    Resource, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use ferry_api::view::core::v1::PodSpecView;
use std::sync::Arc;

pub struct NodeDeclaredFeatures;

const NAME: &str = "NodeDeclaredFeatures";

struct RequiredFeatures(Vec<&'static str>);

/// The features that a pod needs of its node. Those of 1.36 that only an update of a running
/// pod needs are none of the scheduler's.
fn infer_features(spec: PodSpecView<'_>) -> Vec<&'static str> {
    let mut containers = spec.containers().iter().chain(spec.init_containers());
    let restarts_all = containers
        .any(|container| container.restart_policy_rules().iter().any(|rule| rule.action() == "RestartAllContainers"));
    let has_own_users = spec.host_network() && spec.host_users() == Some(false);
    let features =
        [("RestartAllContainersOnContainerExits", restarts_all), ("UserNamespacesHostNetworkSupport", has_own_users)];
    features.into_iter().filter(|(_, is_needed)| *is_needed).map(|(name, _)| name).collect()
}

impl Plugin for NodeDeclaredFeatures {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::NODE, &[Action::Add, Action::Update]), Watch::new(Resource::POD, &[Action::Update])] }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event.node() {
            Some(Change::Updated { old, new }) => {
                old.view().status().declared_features() != new.view().status().declared_features()
            }
            Some(_) => true,
            None => {
                event.update_of(pod).is_some_and(|(old, new)| infer_features(old.spec()) != infer_features(new.spec()))
            }
        })
    }
}

impl PreFilter for NodeDeclaredFeatures {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, _snapshot: &Snapshot) -> PreFilterResult {
        let features = infer_features(pod.spec());
        if features.is_empty() {
            return PreFilterResult::Skip;
        }
        state.write(RequiredFeatures(features));
        PreFilterResult::AllNodes
    }
}

impl Filter for NodeDeclaredFeatures {
    fn filter(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(RequiredFeatures(features)) = state.read() else { return Ok(()) };
        let declared = node.view().status().declared_features();
        if features.iter().all(|feature| declared.contains(feature)) {
            return Ok(());
        }
        Err(Rejection::unresolvable(NAME, "node(s) didn't match Pod's required features"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons};
    use serde_json::{Value, json};

    #[track_caller]
    fn check(spec: Value, declared: &[&str], fits: bool) {
        let info = holding(node("a", json!({"status": {"declaredFeatures": declared}})), &[]);
        let expected: &[&str] = if fits { &[] } else { &["node(s) didn't match Pod's required features"] };
        assert_eq!(reasons(NodeDeclaredFeatures, &pod(spec.clone()), &info), expected, "{spec} on {declared:?}");
    }

    #[test]
    fn a_node_must_declare_what_the_pod_needs() {
        let restarting = json!({"containers": [{"restartPolicyRules": [{"action": "RestartAllContainers"}]}]});
        check(json!({}), &[], true);
        check(restarting.clone(), &[], false);
        check(restarting, &["Other", "RestartAllContainersOnContainerExits"], true);
        check(json!({"hostNetwork": true, "hostUsers": false}), &[], false);
        check(json!({"hostNetwork": true, "hostUsers": true}), &[], true);
        check(json!({"hostNetwork": true, "hostUsers": false}), &["UserNamespacesHostNetworkSupport"], true);
    }

    #[test]
    fn a_node_that_declares_more_wakes_the_pod() {
        let info = |declared: &[&str]| holding(node("a", json!({"status": {"declaredFeatures": declared}})), &[]);
        let (old, new) = (info(&[]), info(&["X"]));
        let hint = |old, new| NodeDeclaredFeatures.hint(&pod(json!({})), &ClusterEvent::node_updated(old, new));
        assert_eq!((hint(&old, &new), hint(&old, &old)), (Hint::Queue, Hint::Skip));
    }
}
