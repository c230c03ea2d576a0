//! The plugins of a profile, listed by point, and the order in which a cycle calls them.

use super::{
    Bind, BindContext, ClusterEvent, Code, CycleState, Errand, Failure, Filter, Hint, MAX_NODE_SCORE, Nominated,
    Permit, PermitResult, Plugin, Points, PostBind, PostFilter, PostFilterResult, PreBind, PreEnqueue, PreFilter,
    PreFilterResult, PreScore, PreScoreResult, QueueSort, Rejection, Reserve, Resource, Score,
};
use crate::explain::PluginScores;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::queue::QueuedPod;
use crate::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A set of plugins, by their position in the profile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PluginSet(u64);

impl PluginSet {
    const MAX: usize = 64;

    fn insert(&mut self, plugin: usize) {
        self.0 |= 1 << plugin;
    }

    fn contains(self, plugin: usize) -> bool {
        self.0 & (1 << plugin) != 0
    }
}

/// A point of the plugin at a position in the profile.
struct Registered<P: ?Sized> {
    plugin: usize,
    point: Arc<P>,
}

/// The plugins of a profile with the weights of their scores.
pub struct Framework {
    plugins: Vec<Arc<dyn Plugin>>,
    pre_enqueue: Vec<Arc<dyn PreEnqueue>>,
    queue_sort: Option<Arc<dyn QueueSort>>,
    pre_filter: Vec<Registered<dyn PreFilter>>,
    filter: Vec<Registered<dyn Filter>>,
    post_filter: Vec<Arc<dyn PostFilter>>,
    pre_score: Vec<Registered<dyn PreScore>>,
    score: Vec<(Registered<dyn Score>, i64)>,
    reserve: Vec<Arc<dyn Reserve>>,
    permit: Vec<Arc<dyn Permit>>,
    pre_bind: Vec<Arc<dyn PreBind>>,
    bind: Option<Arc<dyn Bind>>,
    post_bind: Vec<Arc<dyn PostBind>>,
    feasible_percent: usize,
}

/// A point of the cycle, by the name that configurations have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    PreEnqueue,
    QueueSort,
    PreFilter,
    Filter,
    PostFilter,
    PreScore,
    Score,
    Reserve,
    Permit,
    PreBind,
    Bind,
    PostBind,
}

impl Point {
    pub const ALL: [Self; 12] = [
        Self::PreEnqueue,
        Self::QueueSort,
        Self::PreFilter,
        Self::Filter,
        Self::PostFilter,
        Self::PreScore,
        Self::Score,
        Self::Reserve,
        Self::Permit,
        Self::PreBind,
        Self::Bind,
        Self::PostBind,
    ];

    /// Whether a plugin with these points decides at this one.
    pub fn is_in(self, points: &Points) -> bool {
        match self {
            Self::PreEnqueue => points.pre_enqueue.is_some(),
            Self::QueueSort => points.queue_sort.is_some(),
            Self::PreFilter => points.pre_filter.is_some(),
            Self::Filter => points.filter.is_some(),
            Self::PostFilter => points.post_filter.is_some(),
            Self::PreScore => points.pre_score.is_some(),
            Self::Score => points.score.is_some(),
            Self::Reserve => points.reserve.is_some(),
            Self::Permit => points.permit.is_some(),
            Self::PreBind => points.pre_bind.is_some(),
            Self::Bind => points.bind.is_some(),
            Self::PostBind => points.post_bind.is_some(),
        }
    }
}

/// The plugins that are asked at each point, in order, by their position and with the weight
/// of their score.
pub type PointLists = BTreeMap<Point, Vec<(usize, i64)>>;

impl Framework {
    /// Every plugin at every point that it has, in the order given.
    pub fn new(plugins: Vec<(Arc<dyn Plugin>, i64)>) -> Self {
        let everywhere: Vec<(usize, i64)> = plugins.iter().map(|(_, weight)| *weight).enumerate().collect();
        let lists = Point::ALL.into_iter().map(|point| (point, everywhere.clone())).collect();
        Self::assemble(plugins.into_iter().map(|(plugin, _)| plugin).collect(), &lists)
    }

    /// The plugins at the points that the lists name.
    pub fn assemble(plugins: Vec<Arc<dyn Plugin>>, lists: &PointLists) -> Self {
        assert!(plugins.len() <= PluginSet::MAX, "a set of plugins has {} bits", PluginSet::MAX);
        let points: Vec<Points> = plugins.iter().map(|plugin| plugin.clone().points()).collect();
        let at = |point: Point| lists.get(&point).into_iter().flatten().map(|(plugin, weight)| (*plugin, *weight));
        let own = |plugin: usize| &points[plugin];
        Self {
            pre_enqueue: at(Point::PreEnqueue).filter_map(|(plugin, _)| own(plugin).pre_enqueue.clone()).collect(),
            queue_sort: at(Point::QueueSort).find_map(|(plugin, _)| own(plugin).queue_sort.clone()),
            pre_filter: at(Point::PreFilter)
                .filter_map(|(plugin, _)| Some(Registered { plugin, point: own(plugin).pre_filter.clone()? }))
                .collect(),
            filter: at(Point::Filter)
                .filter_map(|(plugin, _)| Some(Registered { plugin, point: own(plugin).filter.clone()? }))
                .collect(),
            post_filter: at(Point::PostFilter).filter_map(|(plugin, _)| own(plugin).post_filter.clone()).collect(),
            pre_score: at(Point::PreScore)
                .filter_map(|(plugin, _)| Some(Registered { plugin, point: own(plugin).pre_score.clone()? }))
                .collect(),
            score: at(Point::Score)
                .filter_map(|(plugin, weight)| Some((Registered { plugin, point: own(plugin).score.clone()? }, weight)))
                .collect(),
            reserve: at(Point::Reserve).filter_map(|(plugin, _)| own(plugin).reserve.clone()).collect(),
            permit: at(Point::Permit).filter_map(|(plugin, _)| own(plugin).permit.clone()).collect(),
            pre_bind: at(Point::PreBind).filter_map(|(plugin, _)| own(plugin).pre_bind.clone()).collect(),
            bind: at(Point::Bind).find_map(|(plugin, _)| own(plugin).bind.clone()),
            post_bind: at(Point::PostBind).filter_map(|(plugin, _)| own(plugin).post_bind.clone()).collect(),
            feasible_percent: 0,
            plugins,
        }
    }

    /// Ends searches when so many of a hundred nodes fit; 0 leaves it to the cluster's size.
    pub fn with_feasible_percent(mut self, percent: usize) -> Self {
        self.feasible_percent = percent;
        self
    }

    pub fn feasible_percent(&self) -> usize {
        self.feasible_percent
    }

    pub fn plugin(&self, name: &str) -> Option<&dyn Plugin> {
        self.plugins.iter().find(|plugin| plugin.name() == name).map(|plugin| &**plugin)
    }

    /// Whether a plugin watches objects of a kind.
    pub fn is_watched(&self, resource: Resource) -> bool {
        self.plugins.iter().flat_map(|plugin| plugin.watches()).any(|watch| watch.resource == resource)
    }

    /// The plugins whose rejections the event may undo.
    pub fn watchers<'a>(&'a self, event: &ClusterEvent<'_>) -> impl Iterator<Item = &'a dyn Plugin> {
        self.plugins
            .iter()
            .map(|plugin| &**plugin)
            .filter(move |plugin| plugin.watches().iter().any(|watch| watch.covers(event)))
    }

    /// Whether the event may undo the plugin's rejection of the pod. A plugin that is not in
    /// the profile has no say, so the pod is tried again.
    pub fn hint(&self, plugin: &str, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        let Some(plugin) = self.plugin(plugin) else { return Hint::Queue };
        if plugin.watches().iter().any(|watch| watch.covers(event)) { plugin.hint(pod, event) } else { Hint::Skip }
    }

    pub fn pre_enqueue(&self, pod: &PodInfo) -> Result<(), Rejection> {
        self.pre_enqueue.iter().try_for_each(|point| point.pre_enqueue(pod))
    }

    pub fn sort_key(&self, pod: &QueuedPod) -> (i64, u64) {
        self.queue_sort.as_ref().map_or((0, 0), |point| point.sort_key(pod))
    }

    /// Runs the pre-filters. Returns the nodes that may do, `None` for any, with the plugins
    /// that narrowed them down.
    pub fn pre_filter(
        &self,
        state: &mut CycleState,
        pod: &PodInfo,
        snapshot: &Snapshot,
    ) -> Result<(Option<BTreeSet<String>>, BTreeSet<&'static str>), Rejection> {
        let mut nodes: Option<BTreeSet<String>> = None;
        let mut narrowed_by = BTreeSet::new();
        for Registered { plugin, point } in &self.pre_filter {
            let name = self.plugins[*plugin].name();
            match point.pre_filter(state, pod, snapshot) {
                PreFilterResult::AllNodes => {}
                PreFilterResult::Skip => state.skipped_filters.insert(*plugin),
                PreFilterResult::Reject(rejection) => {
                    return Err(rejection.at(&format!("PreFilter plugin {name:?}")));
                }
                PreFilterResult::Nodes(names) => {
                    narrowed_by.insert(name);
                    nodes = Some(match nodes {
                        None => names,
                        Some(others) => others.intersection(&names).cloned().collect(),
                    });
                    if nodes.as_ref().is_some_and(BTreeSet::is_empty) {
                        let plugins: Vec<&str> = narrowed_by.iter().copied().collect();
                        let reason = if plugins.len() == 1 {
                            format!("node(s) didn't satisfy plugin {}", plugins[0])
                        } else {
                            format!("node(s) didn't satisfy plugin(s) [{}] simultaneously", plugins.join(" "))
                        };
                        return Err(Rejection::unresolvable(name, reason));
                    }
                }
            }
        }
        Ok((nodes, narrowed_by))
    }

    /// Whether the pod may run on the node as it is.
    pub fn filter(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let mut running = self.filter.iter().filter(|filter| !state.skipped_filters.contains(filter.plugin));
        let result = running.try_for_each(|filter| filter.point.filter(state, pod, node));
        result.map_err(|rejection| {
            let plugin = rejection.plugin;
            if rejection.code == Code::Error { rejection.at(&format!("{plugin:?} filter plugin")) } else { rejection }
        })
    }

    /// Whether the pod may run on the node both with and without the pods that were
    /// promised it: they may come or not.
    pub fn filter_with_nominated(
        &self,
        state: &CycleState,
        pod: &PodInfo,
        node: &NodeInfo,
        nominated: &Nominated,
    ) -> Result<(), Rejection> {
        let mut promised = nominated.before(node.name(), pod).peekable();
        if promised.peek().is_some() {
            let (mut with, mut state) = (node.clone(), state.clone());
            promised.for_each(|other| self.add_pod(&mut state, pod, other.clone(), &mut with));
            self.filter(&state, pod, &with)?;
        }
        self.filter(state, pod, node)
    }

    /// Adds a pod to the node of a trial, and to the plugins' state of it.
    pub fn add_pod(&self, state: &mut CycleState, pod: &PodInfo, added: Arc<PodInfo>, node: &mut NodeInfo) {
        node.add_pod(added.clone());
        for Registered { plugin, point } in &self.pre_filter {
            if !state.skipped_filters.contains(*plugin) {
                point.add_pod(state, pod, &added, node);
            }
        }
    }

    /// Removes a pod from the node of a trial, and from the plugins' state of it.
    pub fn remove_pod(&self, state: &mut CycleState, pod: &PodInfo, removed: &Arc<PodInfo>, node: &mut NodeInfo) {
        node.remove_pod(removed);
        for Registered { plugin, point } in &self.pre_filter {
            if !state.skipped_filters.contains(*plugin) {
                point.remove_pod(state, pod, removed, node);
            }
        }
    }

    /// Asks the plugins for what could make a node fit, until one has a preemption. The reasons
    /// of all others are joined.
    pub fn post_filter(&self, failure: &Failure<'_>) -> Option<PostFilterResult> {
        let mut all: Option<PostFilterResult> = None;
        for point in &self.post_filter {
            let mut own = point.post_filter(failure);
            if let Some(before) = all {
                own.errand = own.errand.or(before.errand);
                own.clears_nomination |= before.clears_nomination;
                if own.preemption.is_none() {
                    own.message = format!("{}, {}", before.message, own.message);
                }
            }
            if own.preemption.is_some() {
                return Some(own);
            }
            all = Some(own);
        }
        all
    }

    /// The weighted sum of all scores, a number for each node.
    pub fn score(&self, state: &mut CycleState, pod: &PodInfo, nodes: &[&NodeInfo], snapshot: &Snapshot) -> Vec<i64> {
        self.score_each(state, pod, nodes, snapshot, |_| {})
    }

    /// The same, and the scores of each plugin to whoever wants to remember them.
    pub fn score_each(
        &self,
        state: &mut CycleState,
        pod: &PodInfo,
        nodes: &[&NodeInfo],
        snapshot: &Snapshot,
        mut each: impl FnMut(PluginScores),
    ) -> Vec<i64> {
        for Registered { plugin, point } in &self.pre_score {
            if point.pre_score(state, pod, nodes, snapshot) == PreScoreResult::Skip {
                state.skipped_scores.insert(*plugin);
            }
        }
        let mut totals = vec![0; nodes.len()];
        let mut scores = Vec::with_capacity(nodes.len());
        for (Registered { plugin, point }, weight) in &self.score {
            if state.skipped_scores.contains(*plugin) {
                continue;
            }
            scores.clear();
            scores.extend(nodes.iter().map(|node| point.score(state, pod, node)));
            point.normalize(&mut scores);
            let mut own = Vec::with_capacity(nodes.len());
            for (total, score) in totals.iter_mut().zip(&scores) {
                let score = (*score).clamp(0, MAX_NODE_SCORE);
                *total += score * weight;
                own.push(u8::try_from(score).unwrap_or(u8::MAX));
            }
            each(PluginScores { plugin: self.plugins[*plugin].name(), weight: *weight, scores: own });
        }
        totals
    }

    /// Reserves with every plugin until one rejects; the caller takes back the rest.
    pub fn reserve(&self, state: &CycleState, pod: &PodInfo, node: &str) -> Result<(), Rejection> {
        let result = self.reserve.iter().try_for_each(|point| point.reserve(state, pod, node));
        result.map_err(|rejection| {
            let plugin = rejection.plugin;
            rejection.at(&format!("Reserve plugin {plugin:?}"))
        })
    }

    /// Takes back all reservations, the last first. The requests that this needs are the
    /// caller's to make.
    pub fn unreserve(&self, state: &CycleState, pod: &PodInfo, node: &str) -> Vec<Errand> {
        self.reserve.iter().rev().filter_map(|point| point.unreserve(state, pod, node)).collect()
    }

    /// The time that binding has to wait.
    pub fn permit(&self, state: &CycleState, pod: &PodInfo, node: &str) -> Result<Duration, Rejection> {
        let mut longest = Duration::ZERO;
        for point in &self.permit {
            match point.permit(state, pod, node) {
                PermitResult::Allow => {}
                PermitResult::Wait(time) => longest = longest.max(time),
                PermitResult::Deny(rejection) => return Err(rejection),
            }
        }
        Ok(longest)
    }

    /// Whether a plugin has something to do before the pod is bound.
    pub fn has_pre_bind_work(&self, state: &CycleState, pod: &PodInfo, node: &str) -> bool {
        self.pre_bind.iter().any(|point| point.has_work(state, pod, node))
    }

    /// `gone` ends the wait for plugins when the pod is deleted.
    pub async fn bind(
        &self,
        context: &BindContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
        node: &str,
        gone: &CancellationToken,
    ) -> Result<(), crate::Error> {
        for point in &self.pre_bind {
            tokio::select! {
                result = point.pre_bind(context, state, pod, node) => result?,
                () = gone.cancelled() => return Err(crate::Error::PodGone { name: pod.name().to_owned() }),
            }
        }
        match (context.extenders.bind(pod, node).await, &self.bind) {
            (Some(result), _) => result.map_err(|reason| crate::Error::ExtenderBind { reason })?,
            (None, Some(point)) => point.bind(context.client, pod, node).await?,
            (None, None) => {}
        }
        for point in &self.post_bind {
            point.post_bind(context.client, pod, node).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{changed, holding, node, pod};
    use serde_json::json;

    /// Allows one pod for each node of the cluster, as a rule over all nodes would: it counts
    /// in its pre-filter, and a trial moves the count.
    struct Quota;

    #[derive(Clone)]
    struct Left(i64);

    impl Plugin for Quota {
        fn name(&self) -> &'static str {
            "Quota"
        }

        fn points(self: Arc<Self>) -> Points {
            Points { pre_filter: Some(self.clone()), filter: Some(self), ..Points::default() }
        }
    }

    impl PreFilter for Quota {
        fn pre_filter(&self, state: &mut CycleState, _pod: &PodInfo, snapshot: &Snapshot) -> PreFilterResult {
            state.write(Left(snapshot.nodes.iter().map(|node| 1 - node.pods.len() as i64).sum()));
            PreFilterResult::AllNodes
        }

        fn add_pod(&self, state: &mut CycleState, _pod: &PodInfo, _added: &PodInfo, _node: &NodeInfo) {
            state.edit::<Left>().expect("written").0 -= 1;
        }

        fn remove_pod(&self, state: &mut CycleState, _pod: &PodInfo, _removed: &PodInfo, _node: &NodeInfo) {
            state.edit::<Left>().expect("written").0 += 1;
        }
    }

    impl Filter for Quota {
        fn filter(&self, state: &CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Result<(), Rejection> {
            match state.read() {
                Some(Left(1..)) => Ok(()),
                _ => Err(Rejection::unschedulable("Quota", "none left")),
            }
        }
    }

    #[test]
    fn a_rule_over_all_nodes_follows_trials_and_promises() {
        let framework = Framework::new(vec![(Arc::new(Quota), 0)]);
        let snapshot = Snapshot::of(vec![holding(node("a", json!({})), &[pod(json!({}))])]);
        let (pod, info) = (pod(json!({})), snapshot.get("a").expect("a node"));
        let mut state = CycleState::default();
        framework.pre_filter(&mut state, &pod, &snapshot).expect("no rejection");
        let rejection = framework.filter(&state, &pod, info).expect_err("one pod is there");
        assert_eq!(rejection.code, Code::Unschedulable);

        let (mut trial, mut without) = (state.clone(), NodeInfo::clone(info));
        framework.remove_pod(&mut trial, &pod, &info.pods[0], &mut without);
        assert_eq!(framework.filter(&trial, &pod, &without), Ok(()));
        assert!(framework.filter(&state, &pod, info).is_err(), "the cycle's own state stays");

        let mut nominated = Nominated::default();
        let other = Arc::new(changed(&pod, json!({"metadata": {"uid": "other"}})));
        assert_eq!(framework.filter_with_nominated(&trial, &pod, &without, &nominated), Ok(()));
        nominated.set(&other, "a");
        assert!(framework.filter_with_nominated(&trial, &pod, &without, &nominated).is_err());
        nominated.set(&other, "");
        assert_eq!(framework.filter_with_nominated(&trial, &pod, &without, &nominated), Ok(()));
    }
}
