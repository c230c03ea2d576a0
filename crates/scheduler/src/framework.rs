//! The points of a scheduling cycle at which plugins decide, and the plugins of a profile
//! in the order they are asked.
//!
//! ```text
//! queue:      PreEnqueue  QueueSort
//! scheduling: PreFilter → Filter → (PostFilter) → PreScore → Score → Reserve → Permit
//! binding:    PreBind → Bind → PostBind
//! ```
//!
//! A plugin is one file in `plugins/` and one line in `plugins/all.rs`. It implements the
//! traits of the points it has a say in and names them by the `as_*` methods.

use crate::fit_error::Diagnosis;
use crate::queue::QueuedPod;
use crate::snapshot::{NodeInfo, PodInfo, Snapshot};
use crate::view::{Node, Pod};
use async_trait::async_trait;
use ferry_client::Client;
use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// The best score a plugin can give a node.
pub const MAX_NODE_SCORE: i64 = 100;

/// Whether removing pods from the node could help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Unschedulable,
    Unresolvable,
}

/// A plugin's no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub plugin: &'static str,
    pub code: Code,
    pub reasons: Vec<Cow<'static, str>>,
}

impl Rejection {
    pub fn unschedulable(plugin: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { plugin, code: Code::Unschedulable, reasons: vec![reason.into()] }
    }

    pub fn unresolvable(plugin: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { plugin, code: Code::Unresolvable, reasons: vec![reason.into()] }
    }
}

/// What plugins remember between the points of one cycle, by type.
#[derive(Default)]
pub struct CycleState {
    data: HashMap<TypeId, Box<dyn Any + Send + Sync>>,
    skipped_filters: BTreeSet<&'static str>,
    skipped_scores: BTreeSet<&'static str>,
}

impl CycleState {
    pub fn write<T: Send + Sync + 'static>(&mut self, value: T) {
        self.data.insert(TypeId::of::<T>(), Box::new(value));
    }

    pub fn read<T: 'static>(&self) -> Option<&T> {
        self.data.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

/// Something that happened in the cluster and may make a pod schedulable.
#[derive(Clone, Copy, Debug)]
pub enum ClusterEvent<'a> {
    NodeAdded(&'a Node),
    NodeUpdated {
        old: &'a Node,
        new: &'a Node,
    },
    /// A pod left its node.
    PodRemoved(&'a Pod),
    /// A pod changed, be it the waiting one or one on a node.
    PodUpdated {
        old: &'a Pod,
        new: &'a Pod,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The event may have removed the reason: try the pod again.
    Queue,
    Skip,
}

impl Hint {
    pub fn queue_if(condition: bool) -> Self {
        if condition { Self::Queue } else { Self::Skip }
    }
}

pub trait Plugin: Send + Sync {
    fn name(&self) -> &'static str;

    /// Asked for each event about each pod that waits because this plugin rejected it.
    fn hint(&self, pod: &Pod, event: &ClusterEvent<'_>) -> Hint;

    fn as_pre_enqueue(&self) -> Option<&dyn PreEnqueue> {
        None
    }
    fn as_queue_sort(&self) -> Option<&dyn QueueSort> {
        None
    }
    fn as_pre_filter(&self) -> Option<&dyn PreFilter> {
        None
    }
    fn as_filter(&self) -> Option<&dyn Filter> {
        None
    }
    fn as_post_filter(&self) -> Option<&dyn PostFilter> {
        None
    }
    fn as_pre_score(&self) -> Option<&dyn PreScore> {
        None
    }
    fn as_score(&self) -> Option<&dyn Score> {
        None
    }
    fn as_reserve(&self) -> Option<&dyn Reserve> {
        None
    }
    fn as_permit(&self) -> Option<&dyn Permit> {
        None
    }
    fn as_pre_bind(&self) -> Option<&dyn PreBind> {
        None
    }
    fn as_bind(&self) -> Option<&dyn Bind> {
        None
    }
    fn as_post_bind(&self) -> Option<&dyn PostBind> {
        None
    }
}

pub trait PreEnqueue {
    /// Whether the pod may enter the queue at all; asked again when the pod changes.
    fn pre_enqueue(&self, pod: &Pod) -> Result<(), Rejection>;
}

pub trait QueueSort {
    /// The pod with the smallest key is tried next. A profile has exactly one of these.
    fn sort_key(&self, pod: &QueuedPod) -> (i64, u64);
}

pub enum PreFilterResult {
    /// Any node may do.
    AllNodes,
    /// Only these may.
    Nodes(BTreeSet<String>),
    /// The plugin's filter has nothing to say about this pod.
    Skip,
    Reject(Rejection),
}

pub trait PreFilter {
    /// Called once a cycle, before any filter; computes what the filter needs.
    fn pre_filter(&self, state: &mut CycleState, pod: &Pod) -> PreFilterResult;
}

pub trait Filter {
    /// Whether the pod may run on the node. Called for each node, and with pods added and
    /// removed for trials, so it must decide on `node` as given.
    fn filter(&self, state: &CycleState, pod: &Pod, node: &NodeInfo) -> Result<(), Rejection>;
}

/// What a cycle that found no node knows.
pub struct Failure<'a> {
    pub framework: &'a Framework,
    pub state: &'a CycleState,
    pub pod: &'a Pod,
    pub snapshot: &'a Snapshot,
    pub diagnosis: &'a Diagnosis,
    pub nominated: &'a Nominated,
}

/// Pods to remove from a node so that another can come.
#[derive(Clone, Debug)]
pub struct Preemption {
    pub node: String,
    /// The most important first.
    pub victims: Vec<Arc<PodInfo>>,
}

pub struct PostFilterResult {
    /// Added to what the pod is told; empty when there is a preemption.
    pub message: String,
    pub preemption: Option<Preemption>,
    /// The node that was nominated before is of no use any more.
    pub clears_nomination: bool,
}

pub trait PostFilter {
    /// Called when no node fits; plans what could make one fit.
    fn post_filter(&self, failure: &Failure<'_>) -> PostFilterResult;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreScoreResult {
    Run,
    /// The plugin's score has nothing to say about this pod.
    Skip,
}

pub trait PreScore {
    /// Called once a cycle with the nodes that fit, when there are several.
    fn pre_score(&self, state: &mut CycleState, pod: &Pod, nodes: &[Arc<NodeInfo>]) -> PreScoreResult;
}

pub trait Score {
    /// Any number, if `normalize` brings it to 0..=100.
    fn score(&self, state: &CycleState, pod: &Pod, node: &NodeInfo, snapshot: &Snapshot) -> i64;

    fn normalize(&self, _scores: &mut [i64]) {}
}

pub trait Reserve {
    /// Called when a node is chosen; all reservations are taken back when a later step fails.
    fn reserve(&self, state: &CycleState, pod: &Pod, node: &str) -> Result<(), Rejection>;
    fn unreserve(&self, state: &CycleState, pod: &Pod, node: &str);
}

pub enum PermitResult {
    Allow,
    /// Binding starts after this time.
    Wait(Duration),
    Deny(Rejection),
}

pub trait Permit {
    fn permit(&self, state: &CycleState, pod: &Pod, node: &str) -> PermitResult;
}

#[async_trait]
pub trait PreBind: Send + Sync {
    /// Called before binding, beside other cycles; an error sends the pod back to the queue.
    async fn pre_bind(&self, client: &Client, pod: &Pod, node: &str) -> Result<(), crate::Error>;
}

#[async_trait]
pub trait Bind: Send + Sync {
    async fn bind(&self, client: &Client, pod: &Pod, node: &str) -> Result<(), crate::Error>;
}

#[async_trait]
pub trait PostBind: Send + Sync {
    /// Called after a successful bind; for cleaning up.
    async fn post_bind(&self, client: &Client, pod: &Pod, node: &str);
}

/// Pods that have been promised a node, by node: those that are more important than the
/// pod in question count as if they were there already.
#[derive(Default)]
pub struct Nominated {
    by_node: HashMap<String, Vec<Arc<PodInfo>>>,
}

impl Nominated {
    pub fn set(&mut self, pod: &Pod, node: &str) {
        self.remove(pod.uid());
        if !node.is_empty() {
            self.by_node.entry(node.to_owned()).or_default().push(Arc::new(PodInfo::of(pod)));
        }
    }

    pub fn remove(&mut self, uid: &str) {
        self.by_node.retain(|_, pods| {
            pods.retain(|pod| pod.uid != uid);
            !pods.is_empty()
        });
    }

    fn on<'a>(&'a self, node: &str, pod: &'a Pod) -> impl Iterator<Item = &'a Arc<PodInfo>> {
        let pods = self.by_node.get(node).map(Vec::as_slice).unwrap_or_default();
        pods.iter().filter(|other| other.uid != pod.uid() && other.priority >= pod.spec.priority)
    }
}

/// The plugins of a profile with the weights of their scores.
pub struct Framework {
    plugins: Vec<(Box<dyn Plugin>, i64)>,
}

impl Framework {
    pub fn new(plugins: Vec<(Box<dyn Plugin>, i64)>) -> Self {
        Self { plugins }
    }

    pub fn plugins(&self) -> impl Iterator<Item = &dyn Plugin> {
        self.plugins.iter().map(|(plugin, _)| &**plugin)
    }

    pub fn plugin(&self, name: &str) -> Option<&dyn Plugin> {
        self.plugins().find(|plugin| plugin.name() == name)
    }

    pub fn pre_enqueue(&self, pod: &Pod) -> Result<(), Rejection> {
        self.plugins().filter_map(|plugin| plugin.as_pre_enqueue()).try_for_each(|point| point.pre_enqueue(pod))
    }

    pub fn sort_key(&self, pod: &QueuedPod) -> (i64, u64) {
        self.plugins().find_map(|plugin| plugin.as_queue_sort()).map_or((0, 0), |point| point.sort_key(pod))
    }

    /// Runs the pre-filters. The nodes that may do, `None` for any, with the plugins that
    /// narrowed them down.
    pub fn pre_filter(
        &self,
        state: &mut CycleState,
        pod: &Pod,
    ) -> Result<(Option<BTreeSet<String>>, BTreeSet<&'static str>), Rejection> {
        let mut nodes: Option<BTreeSet<String>> = None;
        let mut narrowed_by = BTreeSet::new();
        for plugin in self.plugins() {
            let Some(point) = plugin.as_pre_filter() else { continue };
            match point.pre_filter(state, pod) {
                PreFilterResult::AllNodes => {}
                PreFilterResult::Skip => {
                    state.skipped_filters.insert(plugin.name());
                }
                PreFilterResult::Reject(rejection) => return Err(rejection),
                PreFilterResult::Nodes(names) => {
                    narrowed_by.insert(plugin.name());
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
                        return Err(Rejection::unresolvable(plugin.name(), reason));
                    }
                }
            }
        }
        Ok((nodes, narrowed_by))
    }

    /// Whether the pod may run on the node as it is.
    pub fn filter(&self, state: &CycleState, pod: &Pod, node: &NodeInfo) -> Result<(), Rejection> {
        for plugin in self.plugins() {
            if let Some(point) = plugin.as_filter()
                && !state.skipped_filters.contains(plugin.name())
            {
                point.filter(state, pod, node)?;
            }
        }
        Ok(())
    }

    /// Whether the pod may run on the node both with and without the pods that were
    /// promised it: they may come or not.
    pub fn filter_with_nominated(
        &self,
        state: &CycleState,
        pod: &Pod,
        node: &NodeInfo,
        nominated: &Nominated,
    ) -> Result<(), Rejection> {
        let mut promised = nominated.on(node.name(), pod).peekable();
        if promised.peek().is_some() {
            let mut with = node.clone();
            promised.for_each(|other| with.add_pod(other.clone()));
            self.filter(state, pod, &with)?;
        }
        self.filter(state, pod, node)
    }

    pub fn post_filter(&self, failure: &Failure<'_>) -> Option<PostFilterResult> {
        self.plugins().find_map(|plugin| plugin.as_post_filter()).map(|point| point.post_filter(failure))
    }

    /// The weighted sum of all scores, a number for each node.
    pub fn score(&self, state: &mut CycleState, pod: &Pod, nodes: &[Arc<NodeInfo>], snapshot: &Snapshot) -> Vec<i64> {
        for plugin in self.plugins() {
            if let Some(point) = plugin.as_pre_score()
                && point.pre_score(state, pod, nodes) == PreScoreResult::Skip
            {
                state.skipped_scores.insert(plugin.name());
            }
        }
        let mut totals = vec![0; nodes.len()];
        for (plugin, weight) in &self.plugins {
            let Some(point) = plugin.as_score() else { continue };
            if state.skipped_scores.contains(plugin.name()) {
                continue;
            }
            let mut scores: Vec<i64> = nodes.iter().map(|node| point.score(state, pod, node, snapshot)).collect();
            point.normalize(&mut scores);
            for (total, score) in totals.iter_mut().zip(scores) {
                *total += score.clamp(0, MAX_NODE_SCORE) * weight;
            }
        }
        totals
    }

    /// Reserves with every plugin, or with none.
    pub fn reserve(&self, state: &CycleState, pod: &Pod, node: &str) -> Result<(), Rejection> {
        for plugin in self.plugins() {
            if let Some(point) = plugin.as_reserve()
                && let Err(rejection) = point.reserve(state, pod, node)
            {
                self.unreserve(state, pod, node);
                return Err(rejection);
            }
        }
        Ok(())
    }

    pub fn unreserve(&self, state: &CycleState, pod: &Pod, node: &str) {
        for plugin in self.plugins() {
            if let Some(point) = plugin.as_reserve() {
                point.unreserve(state, pod, node);
            }
        }
    }

    /// How long binding has to wait.
    pub fn permit(&self, state: &CycleState, pod: &Pod, node: &str) -> Result<Duration, Rejection> {
        let mut longest = Duration::ZERO;
        for plugin in self.plugins() {
            match plugin.as_permit().map(|point| point.permit(state, pod, node)) {
                None | Some(PermitResult::Allow) => {}
                Some(PermitResult::Wait(time)) => longest = longest.max(time),
                Some(PermitResult::Deny(rejection)) => return Err(rejection),
            }
        }
        Ok(longest)
    }

    pub async fn bind(&self, client: &Client, pod: &Pod, node: &str) -> Result<(), crate::Error> {
        for plugin in self.plugins() {
            if let Some(point) = plugin.as_pre_bind() {
                point.pre_bind(client, pod, node).await?;
            }
        }
        for plugin in self.plugins() {
            if let Some(point) = plugin.as_bind() {
                point.bind(client, pod, node).await?;
                break;
            }
        }
        for plugin in self.plugins() {
            if let Some(point) = plugin.as_post_bind() {
                point.post_bind(client, pod, node).await;
            }
        }
        Ok(())
    }
}

/// Brings scores from 0..=max to 0..=100; `reverse` makes the smallest the best.
pub fn normalize(scores: &mut [i64], reverse: bool) {
    let max = scores.iter().copied().max().unwrap_or(0);
    for score in scores {
        let scaled = if max == 0 { 0 } else { MAX_NODE_SCORE * *score / max };
        *score = if reverse { MAX_NODE_SCORE - scaled } else { scaled };
    }
}
