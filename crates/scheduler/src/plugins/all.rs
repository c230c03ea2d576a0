//! The default profile: the plugins in the order they are asked, with the weights of
//! their scores as upstream's default profile has them.

use super::balanced_allocation::BalancedAllocation;
use super::default_binder::DefaultBinder;
use super::default_preemption::DefaultPreemption;
use super::image_locality::ImageLocality;
use super::node_affinity::NodeAffinity;
use super::node_name::NodeName;
use super::node_ports::NodePorts;
use super::node_resources_fit::NodeResourcesFit;
use super::node_unschedulable::NodeUnschedulable;
use super::priority_sort::PrioritySort;
use super::scheduling_gates::SchedulingGates;
use super::taint_toleration::TaintToleration;
use crate::framework::Plugin;

/// Cheap filters come first: a node that fails one is not asked about the rest.
pub fn all() -> Vec<(Box<dyn Plugin>, i64)> {
    vec![
        (Box::new(SchedulingGates), 0),
        (Box::new(PrioritySort), 0),
        (Box::new(NodeUnschedulable), 0),
        (Box::new(NodeName), 0),
        (Box::new(TaintToleration), 3),
        (Box::new(NodeAffinity), 2),
        (Box::new(NodePorts), 0),
        (Box::new(NodeResourcesFit), 1),
        (Box::new(DefaultPreemption), 0),
        (Box::new(BalancedAllocation), 1),
        (Box::new(ImageLocality), 1),
        (Box::new(DefaultBinder), 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::{ClusterEvent, CycleState, Framework, MAX_NODE_SCORE, PreFilterResult};
    use crate::plugins::testing::{node, pod};
    use crate::snapshot::{NodeInfo, Snapshot};
    use serde_json::json;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    #[test]
    fn names_are_unique_and_each_plugin_has_a_point() {
        let mut names = BTreeSet::new();
        for (plugin, weight) in all() {
            assert!(names.insert(plugin.name()), "{} is there twice", plugin.name());
            let has_point = plugin.as_pre_enqueue().is_some()
                || plugin.as_queue_sort().is_some()
                || plugin.as_filter().is_some()
                || plugin.as_post_filter().is_some()
                || plugin.as_score().is_some()
                || plugin.as_bind().is_some();
            assert!(has_point, "{} decides nothing", plugin.name());
            assert_eq!(weight > 0, plugin.as_score().is_some(), "{}: a weight is for a score", plugin.name());
            assert!(plugin.as_pre_filter().is_none() || plugin.as_filter().is_some(), "{}", plugin.name());
        }
        let sorters = all().iter().filter(|(plugin, _)| plugin.as_queue_sort().is_some()).count();
        assert_eq!(sorters, 1);
    }

    #[test]
    fn a_plain_pod_passes_every_plugin_on_a_plain_node() {
        let (pod, info) = (pod(json!({})), NodeInfo::of(Arc::new(node("a", json!({})))));
        let snapshot = Snapshot::of(vec![info.clone()]);
        for (plugin, _) in all() {
            let mut state = CycleState::default();
            if let Some(point) = plugin.as_pre_filter() {
                assert!(!matches!(point.pre_filter(&mut state, &pod), PreFilterResult::Reject(_)), "{}", plugin.name());
            }
            let framework = Framework::new(vec![(plugin, 1)]);
            let mut state = CycleState::default();
            assert!(framework.pre_filter(&mut state, &pod).is_ok());
            assert_eq!(framework.filter(&state, &pod, &info), Ok(()));
            let scores = framework.score(&mut state, &pod, &snapshot.nodes, &snapshot);
            assert!(scores.iter().all(|score| (0..=MAX_NODE_SCORE).contains(score)));
        }
    }

    #[test]
    fn a_new_node_that_fits_wakes_whoever_a_filter_rejected() {
        let (pod, new) = (pod(json!({})), node("a", json!({})));
        for (plugin, _) in all() {
            if plugin.as_filter().is_some() {
                let hint = plugin.hint(&pod, &ClusterEvent::NodeAdded(&new));
                assert_eq!(hint, crate::framework::Hint::Queue, "{}", plugin.name());
            }
        }
    }
}
