//! NodeResourcesFit: a node must have what the pod asks for, and nodes are preferred by the
//! share of their resources in use: the least (the default), the most, or by a curve.
//!
//! Upstream: pkg/scheduler/framework/plugins/noderesources.

use crate::devices::Devices;
use crate::framework::{
    Action, Change, ClusterEvent, Code, CycleState, Filter, Handle, Hint, MAX_NODE_SCORE, Plugin, Points, Reasons,
    Rejection, Resource, Score, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::resources::{ResourceKey, Resources};
use ferry_api::rules::resource_claim::DEVICE_CLASS_RESOURCE;
use ferry_api::view::resource::v1::{DeviceClass, DeviceClassView};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Default)]
pub struct NodeResourcesFit {
    args: FitArgs,
    /// The devices that may stand behind extended resources; tests have none.
    devices: Option<Arc<Devices>>,
}

/// The arguments of the plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitArgs {
    /// Extended resources that no node has to have.
    pub ignored_resources: BTreeSet<String>,
    /// The same by their prefix, which stands before the slash.
    pub ignored_groups: BTreeSet<String>,
    pub strategy: ScoringStrategy,
    /// The resources that are scored, with their weights.
    pub resources: Vec<(ResourceKey, i64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScoringStrategy {
    LeastAllocated,
    MostAllocated,
    /// The score at each share in use, in hundredths, by rising share.
    RequestedToCapacityRatio(Vec<(i64, i64)>),
}

impl Default for FitArgs {
    fn default() -> Self {
        Self {
            ignored_resources: BTreeSet::new(),
            ignored_groups: BTreeSet::new(),
            strategy: ScoringStrategy::LeastAllocated,
            resources: vec![(ResourceKey::Cpu, 1), (ResourceKey::Memory, 1)],
        }
    }
}

impl FitArgs {
    fn ignores(&self, resource: &str) -> bool {
        self.ignored_resources.contains(resource)
            || resource.split_once('/').is_some_and(|(group, _)| self.ignored_groups.contains(group))
    }
}

impl NodeResourcesFit {
    pub fn new(handle: &Handle, args: FitArgs) -> Self {
        Self { args, devices: Some(handle.devices.clone()) }
    }

    /// Whether the node's lack of a resource is for DynamicResources to judge, because no device
    /// plugin offers the resource there and a device class stands behind it.
    fn leaves_to_devices(&self, resource: &str, total: &Resources) -> bool {
        total.scalar(resource) == 0 && self.devices.as_ref().is_some_and(|devices| devices.is_behind(resource))
    }
}

const NAME: &str = "NodeResourcesFit";

/// The lack of a node that has `pods` pods on it, which take `used`. It cannot be resolved by
/// removing pods where the node could never have enough.
fn check_fit(
    plugin: &NodeResourcesFit,
    wanted: &Resources,
    total: &Resources,
    used: &Resources,
    pods: usize,
) -> Result<(), Rejection> {
    let mut lack: Option<Rejection> = None;
    let mut lacks = |reason: Cow<'static, str>, is_resolvable: bool| {
        let code = if is_resolvable { Code::Unschedulable } else { Code::Unresolvable };
        match &mut lack {
            None => lack = Some(Rejection { plugin: NAME, code, reasons: Reasons::One(reason) }),
            Some(lack) => {
                lack.reasons.push(reason);
                if !is_resolvable {
                    lack.code = code;
                }
            }
        }
    };
    if i64::try_from(pods).unwrap_or(i64::MAX) >= total.pods {
        lacks("Too many pods".into(), true);
    }
    if !wanted.is_zero() {
        let is_lacking = |wanted: i64, total: i64, used: i64| wanted > 0 && wanted > total - used;
        if is_lacking(wanted.milli_cpu, total.milli_cpu, used.milli_cpu) {
            lacks("Insufficient cpu".into(), wanted.milli_cpu <= total.milli_cpu);
        }
        if is_lacking(wanted.memory, total.memory, used.memory) {
            lacks("Insufficient memory".into(), wanted.memory <= total.memory);
        }
        if is_lacking(wanted.ephemeral_storage, total.ephemeral_storage, used.ephemeral_storage) {
            lacks("Insufficient ephemeral-storage".into(), wanted.ephemeral_storage <= total.ephemeral_storage);
        }
        for (name, &amount) in wanted.scalar.iter().filter(|(name, _)| !plugin.args.ignores(name)) {
            let offered = total.scalar(name);
            if is_lacking(amount, offered, used.scalar(name)) && !plugin.leaves_to_devices(name, total) {
                lacks(format!("Insufficient {name}").into(), amount <= offered);
            }
        }
    }
    lack.map_or(Ok(()), Err)
}

/// Whether the node has more than before of something the pod wants.
fn has_grown(wanted: &Resources, old: &Resources, new: &Resources) -> bool {
    new.pods > old.pods
        || (wanted.milli_cpu > 0 && new.milli_cpu > old.milli_cpu)
        || (wanted.memory > 0 && new.memory > old.memory)
        || (wanted.ephemeral_storage > 0 && new.ephemeral_storage > old.ephemeral_storage)
        || wanted.scalar.iter().any(|(name, &amount)| amount > 0 && new.scalar(name) > old.scalar(name))
}

/// Whether the node, were it empty, would have room.
fn would_fit(plugin: &NodeResourcesFit, pod: &PodInfo, node: &NodeInfo) -> bool {
    check_fit(plugin, &pod.requests, &node.allocatable, &Resources::default(), 0).is_ok()
}

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: filter, score)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::NODE, &[Action::Add, Action::Update]),
                Watch::new(Resource::POD, &[Action::Update, Action::Delete]),
                Watch::new(Resource::of::<DeviceClass>(), &[Action::Add, Action::Update]),
            ]
        }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        let asks_for = |resource: &str| pod.requests.scalar.contains_key(resource);
        let resource_of = |class: DeviceClassView<'_>| class.spec().extended_resource_name().is_some_and(asks_for);
        match event.of::<DeviceClass>() {
            Some(Change::Added(class)) => {
                let own = format!("{DEVICE_CLASS_RESOURCE}{}", class.metadata().name());
                return Hint::queue_if(asks_for(&own) || resource_of(class));
            }
            Some(Change::Updated { old, new }) => {
                let is_changed = old.spec().extended_resource_name() != new.spec().extended_resource_name();
                return Hint::queue_if(is_changed && resource_of(new));
            }
            _ => {}
        }
        Hint::queue_if(match (event.node(), event.pod()) {
            (Some(Change::Added(node)), _) => would_fit(self, pod, node),
            (Some(Change::Updated { old, new }), _) => {
                would_fit(self, pod, new) && has_grown(&pod.requests, &old.allocatable, &new.allocatable)
            }
            (_, Some(Change::Deleted(_))) => true,
            (_, Some(Change::Updated { old, new })) => {
                (new.uid == pod.uid || new.is_assigned())
                    && (new.requests.milli_cpu < old.requests.milli_cpu || new.requests.memory < old.requests.memory)
            }
            _ => false,
        })
    }
}

impl Filter for NodeResourcesFit {
    fn filter(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        check_fit(self, &pod.requests, &node.allocatable, &node.requested, node.pods.len())
    }
}

impl Score for NodeResourcesFit {
    fn score(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> i64 {
        let (mut sum, mut weights) = (0, 0);
        for (resource, weight) in &self.args.resources {
            // Every pod counts for some cpu and memory, and only those that ask for the others.
            let is_basic = matches!(resource, ResourceKey::Cpu | ResourceKey::Memory);
            let (wanted, used) = if is_basic {
                (pod.non_zero_requests.get(resource), node.non_zero_requested.get(resource))
            } else {
                (pod.requests.get(resource), node.requested.get(resource))
            };
            let total = node.allocatable.get(resource);
            if total <= 0 || (wanted == 0 && matches!(resource, ResourceKey::Scalar(_))) {
                continue;
            }
            let score = self.args.strategy.score(used + wanted, total);
            // A curve is taken over those resources that have a score at all.
            if score > 0 || !matches!(self.args.strategy, ScoringStrategy::RequestedToCapacityRatio(_)) {
                sum += score * weight;
                weights += weight;
            }
        }
        match (&self.args.strategy, weights) {
            (_, 0) => 0,
            (ScoringStrategy::RequestedToCapacityRatio(_), weights) => (sum as f64 / weights as f64).round() as i64,
            (_, weights) => sum / weights,
        }
    }
}

impl ScoringStrategy {
    /// The score of a node that has so much of a resource in use.
    fn score(&self, requested: i64, total: i64) -> i64 {
        match self {
            Self::LeastAllocated => (total - requested).max(0).saturating_mul(MAX_NODE_SCORE) / total,
            Self::MostAllocated => requested.min(total).saturating_mul(MAX_NODE_SCORE) / total,
            Self::RequestedToCapacityRatio(shape) => {
                let share = if requested > total { 100 } else { requested.saturating_mul(100) / total };
                interpolate(shape, share)
            }
        }
    }
}

/// The height of a curve of straight lines, level before the first point and after the last.
fn interpolate(shape: &[(i64, i64)], at: i64) -> i64 {
    let after = shape.iter().position(|(share, _)| at <= *share);
    match after {
        Some(0) => shape[0].1,
        Some(index) => {
            let ((left, low), (right, high)) = (shape[index - 1], shape[index]);
            low + (high - low) * (at - left) / (right - left)
        }
        None => shape.last().map_or(0, |(_, score)| *score),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{asking, holding, node, pod, reasons, scores};
    use serde_json::{Value, json};

    fn with(args: FitArgs) -> NodeResourcesFit {
        NodeResourcesFit { args, devices: None }
    }

    fn check(used: Value, wanted: Value, expected: &[&str]) {
        let info = holding(node("a", json!({"status": {"allocatable": {"example.com/gpu": "1"}}})), &[asking(used)]);
        assert_eq!(reasons(NodeResourcesFit::default(), &asking(wanted.clone()), &info), expected, "{wanted}");
    }

    #[test]
    fn a_node_must_have_what_is_asked_for() {
        check(json!({"cpu": "3"}), json!({"cpu": "1"}), &[]);
        check(json!({"cpu": "3"}), json!({"cpu": "1001m"}), &["Insufficient cpu"]);
        check(
            json!({"cpu": "3", "memory": "8Gi"}),
            json!({"cpu": "2", "memory": "1"}),
            &["Insufficient cpu", "Insufficient memory"],
        );
        check(json!({}), json!({"example.com/gpu": "2"}), &["Insufficient example.com/gpu"]);
        check(json!({}), json!({"ephemeral-storage": "1Gi"}), &["Insufficient ephemeral-storage"]);
        check(json!({"cpu": "9"}), json!({}), &[]);
    }

    #[test]
    fn a_node_takes_only_so_many_pods() {
        let full = holding(node("a", json!({"status": {"allocatable": {"pods": "1"}}})), &[pod(json!({}))]);
        assert_eq!(reasons(NodeResourcesFit::default(), &pod(json!({})), &full), ["Too many pods"]);
    }

    #[test]
    fn what_a_node_can_never_have_is_not_resolved_by_removing_pods() {
        let code = |cpu: &str| {
            let (pod, state) = (asking(json!({"cpu": cpu})), CycleState::default());
            let info = holding(node("a", json!({})), &[asking(json!({"cpu": "3"}))]);
            NodeResourcesFit::default().filter(&state, &pod, &info).expect_err("too much").code
        };
        assert_eq!((code("2"), code("5")), (Code::Unschedulable, Code::Unresolvable));
    }

    #[test]
    fn the_emptier_node_scores_more() {
        let nodes = vec![
            holding(node("a", json!({})), &[]),
            holding(node("b", json!({})), &[asking(json!({"cpu": "2", "memory": "4Gi"}))]),
        ];
        assert_eq!(scores(NodeResourcesFit::default(), &asking(json!({"cpu": "1", "memory": "2Gi"})), nodes), [75, 25]);
    }

    #[test]
    fn a_node_that_grows_enough_wakes_the_pod() {
        let info = |over| holding(node("a", over), &[]);
        let (small, large) = (info(json!({})), info(json!({"status": {"allocatable": {"cpu": "8"}}})));
        let hint = |cpu: &str, old, new| {
            NodeResourcesFit::default().hint(&asking(json!({"cpu": cpu})), &ClusterEvent::node_updated(old, new))
        };
        assert_eq!(hint("6", &small, &large), Hint::Queue);
        assert_eq!(hint("9", &small, &large), Hint::Skip);
        assert_eq!(hint("1", &large, &large), Hint::Skip);
    }

    #[test]
    fn strategies_score_by_the_share_in_use() {
        let nodes = || {
            vec![
                holding(node("a", json!({})), &[]),
                holding(node("b", json!({})), &[asking(json!({"cpu": "2", "memory": "4Gi"}))]),
            ]
        };
        let check = |strategy: ScoringStrategy, expected: [i64; 2]| {
            let plugin = with(FitArgs { strategy: strategy.clone(), ..FitArgs::default() });
            let found = scores(plugin, &asking(json!({"cpu": "1", "memory": "2Gi"})), nodes());
            assert_eq!(found, expected, "{strategy:?}");
        };
        check(ScoringStrategy::LeastAllocated, [75, 25]);
        check(ScoringStrategy::MostAllocated, [25, 75]);
        check(ScoringStrategy::RequestedToCapacityRatio(vec![(0, 0), (50, 100), (100, 0)]), [50, 50]);
        check(ScoringStrategy::RequestedToCapacityRatio(vec![(30, 10), (60, 90)]), [10, 90]);
    }

    #[test]
    fn weights_and_ignored_resources_are_heeded() {
        let args = FitArgs { resources: vec![(ResourceKey::Cpu, 3), (ResourceKey::Memory, 1)], ..FitArgs::default() };
        let nodes = vec![holding(node("a", json!({})), &[])];
        // 75 of cpu three times and 50 of memory once.
        assert_eq!(scores(with(args), &asking(json!({"cpu": "1", "memory": "4Gi"})), nodes), [68]);
        let ignoring = FitArgs { ignored_groups: ["example.com".to_owned()].into(), ..FitArgs::default() };
        let info = holding(node("a", json!({})), &[]);
        let wanting = asking(json!({"example.com/gpu": "1"}));
        assert_eq!(reasons(with(ignoring), &wanting, &info), Vec::<String>::new());
    }
}
