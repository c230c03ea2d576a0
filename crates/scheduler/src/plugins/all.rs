//! The default profile: the plugins in the order they are asked, with the weights of
//! their scores as upstream's default profile has them.

use super::balanced_allocation::BalancedAllocation;
use super::default_binder::DefaultBinder;
use super::default_preemption::{CandidateLimits, DefaultPreemption};
use super::dynamic_resources::{DynamicResources, Timeouts};
use super::image_locality::ImageLocality;
use super::inter_pod_affinity::InterPodAffinity;
use super::node_affinity::NodeAffinity;
use super::node_declared_features::NodeDeclaredFeatures;
use super::node_name::NodeName;
use super::node_ports::NodePorts;
use super::node_resources_fit::{FitArgs, NodeResourcesFit};
use super::node_unschedulable::NodeUnschedulable;
use super::node_volume_limits::NodeVolumeLimits;
use super::pod_topology_spread::{Defaults, PodTopologySpread};
use super::priority_sort::PrioritySort;
use super::scheduling_gates::SchedulingGates;
use super::taint_toleration::TaintToleration;
use super::volume_binding::{self, VolumeBinding};
use super::volume_restrictions::VolumeRestrictions;
use super::volume_zone::VolumeZone;
use crate::framework::{Handle, Plugin};
use crate::resources::ResourceKey;
use ferry_api::view::core::v1::NodeAffinity as Affinity;
use std::sync::Arc;
use std::time::Duration;

/// The arguments of all plugins; upstream's defaults.
#[derive(Clone)]
pub struct PluginArgs {
    pub candidates: CandidateLimits,
    pub hard_pod_affinity_weight: i64,
    pub ignores_preferred_of_existing: bool,
    pub added_affinity: Option<Affinity>,
    pub fit: FitArgs,
    pub balanced_resources: Vec<ResourceKey>,
    pub spread: Defaults,
    pub volume_timeout: Duration,
    pub device_timeouts: Timeouts,
}

impl Default for PluginArgs {
    fn default() -> Self {
        Self {
            candidates: CandidateLimits::default(),
            hard_pod_affinity_weight: 1,
            ignores_preferred_of_existing: false,
            added_affinity: None,
            fit: FitArgs::default(),
            balanced_resources: vec![ResourceKey::Cpu, ResourceKey::Memory],
            spread: Defaults::System,
            volume_timeout: volume_binding::DEFAULT_TIMEOUT,
            device_timeouts: Timeouts::default(),
        }
    }
}

/// The default profile.
pub fn all(handle: &Handle) -> Vec<(Arc<dyn Plugin>, i64)> {
    all_with(handle, &PluginArgs::default())
}

/// The plugins of the default profile with these arguments. Cheap filters come first: a node
/// that fails one is not asked about the rest.
pub fn all_with(handle: &Handle, args: &PluginArgs) -> Vec<(Arc<dyn Plugin>, i64)> {
    vec![
        (Arc::new(SchedulingGates), 0),
        (Arc::new(PrioritySort), 0),
        (Arc::new(NodeUnschedulable), 0),
        (Arc::new(NodeName), 0),
        (Arc::new(TaintToleration), 3),
        (Arc::new(NodeAffinity::new(args.added_affinity.clone())), 2),
        (Arc::new(NodePorts), 0),
        (Arc::new(NodeResourcesFit::new(handle, args.fit.clone())), 1),
        (Arc::new(VolumeRestrictions::new(handle)), 0),
        (Arc::new(NodeVolumeLimits::new(handle)), 0),
        (Arc::new(VolumeBinding::new(handle, args.volume_timeout)), 0),
        (Arc::new(VolumeZone::new(handle)), 0),
        (Arc::new(PodTopologySpread::new(handle, args.spread.clone())), 2),
        (Arc::new(InterPodAffinity::new(args.hard_pod_affinity_weight, args.ignores_preferred_of_existing)), 2),
        (Arc::new(DynamicResources::new(handle, args.device_timeouts)), 2),
        (Arc::new(DefaultPreemption::new(handle, args.candidates)), 0),
        (Arc::new(BalancedAllocation::new(args.balanced_resources.clone())), 1),
        (Arc::new(ImageLocality), 1),
        (Arc::new(DefaultBinder::default()), 0),
        (Arc::new(NodeDeclaredFeatures), 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::{ClusterEvent, CycleState, Framework, Hint, MAX_NODE_SCORE, PreFilterResult};
    use crate::node_info::NodeInfo;
    use crate::plugins::testing::{node, pod};
    use crate::snapshot::Snapshot;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_each_plugin_has_a_point() {
        let mut names = BTreeSet::new();
        for (plugin, weight) in all(&Handle::default()) {
            assert!(names.insert(plugin.name()), "{} is there twice", plugin.name());
            let points = plugin.clone().points();
            let has_point = points.pre_enqueue.is_some()
                || points.queue_sort.is_some()
                || points.filter.is_some()
                || points.post_filter.is_some()
                || points.score.is_some()
                || points.bind.is_some();
            assert!(has_point, "{} decides nothing", plugin.name());
            assert_eq!(weight > 0, points.score.is_some(), "{}: a weight is for a score", plugin.name());
            assert!(points.pre_filter.is_none() || points.filter.is_some(), "{}", plugin.name());
            let rejects = points.pre_enqueue.is_some() || points.filter.is_some();
            assert!(!rejects || !plugin.watches().is_empty(), "{}: nothing undoes its rejections", plugin.name());
        }
        let sorters = all(&Handle::default())
            .into_iter()
            .filter(|(plugin, _)| plugin.clone().points().queue_sort.is_some())
            .count();
        assert_eq!(sorters, 1);
    }

    #[test]
    fn a_plain_pod_passes_every_plugin_on_a_plain_node() {
        let (pod, info) = (pod(json!({})), NodeInfo::of(node("a", json!({}))));
        let snapshot = Snapshot::of(vec![info.clone()]);
        for (plugin, _) in all(&Handle::default()) {
            let mut state = CycleState::default();
            if let Some(point) = plugin.clone().points().pre_filter {
                let result = point.pre_filter(&mut state, &pod, &snapshot);
                assert!(!matches!(result, PreFilterResult::Reject(_)), "{}", plugin.name());
            }
            let framework = Framework::new(vec![(plugin, 1)]);
            let mut state = CycleState::default();
            assert!(framework.pre_filter(&mut state, &pod, &snapshot).is_ok());
            assert_eq!(framework.filter(&state, &pod, &info), Ok(()));
            let scores = framework.score(&mut state, &pod, &[&info], &snapshot);
            assert!(scores.iter().all(|score| (0..=MAX_NODE_SCORE).contains(score)));
        }
    }

    #[test]
    fn a_new_node_that_fits_wakes_whoever_a_filter_rejected() {
        let (pod, new) = (pod(json!({})), NodeInfo::of(node("a", json!({}))));
        let framework = Framework::new(all(&Handle::default()));
        for (plugin, _) in all(&Handle::default()) {
            if plugin.clone().points().filter.is_some() {
                let hint = framework.hint(plugin.name(), &pod, &ClusterEvent::node_added(&new));
                assert_eq!(hint, Hint::Queue, "{}", plugin.name());
            }
        }
    }
}
