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
//! traits of the points it has a say in, names them in [`Plugin::points`], and declares by
//! [`Plugin::watches`] which changes of the cluster can undo its rejections.

mod errand;
mod event;
mod handle;
mod nominated;
mod profile;
mod profiles;
mod state;

pub use errand::{BindContext, Errand};
pub use event::{Action, Change, ClusterEvent, Hint, Resource, Scope, Version, Watch};
pub use handle::{Handle, ObjectEvent};
pub use nominated::Nominated;
pub use profile::{Framework, Point, PointLists};
pub use profiles::Profiles;
pub use state::CycleState;

use crate::fit_error::Diagnosis;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::queue::QueuedPod;
use crate::snapshot::Snapshot;
use async_trait::async_trait;
use ferry_client::Client;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The best score a plugin can give a node.
pub const MAX_NODE_SCORE: i64 = 100;

/// Whether removing pods from the node could help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Unschedulable,
    Unresolvable,
    /// The plugin could not decide: the cycle ends, and the pod is tried again.
    Error,
}

/// The reasons of a rejection. Nearly all have one, which is a constant: a search rejects
/// hundreds of full nodes for one pod, and must not allocate for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reasons {
    One(Cow<'static, str>),
    Several(Vec<Cow<'static, str>>),
}

impl Reasons {
    pub fn push(&mut self, reason: Cow<'static, str>) {
        match self {
            Self::One(first) => *self = Self::Several(vec![std::mem::take(first), reason]),
            Self::Several(reasons) => reasons.push(reason),
        }
    }
}

impl std::ops::Deref for Reasons {
    type Target = [Cow<'static, str>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::One(reason) => std::slice::from_ref(reason),
            Self::Several(reasons) => reasons,
        }
    }
}

/// A plugin's no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    pub plugin: &'static str,
    pub code: Code,
    pub reasons: Reasons,
}

impl Rejection {
    pub fn unschedulable(plugin: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { plugin, code: Code::Unschedulable, reasons: Reasons::One(reason.into()) }
    }

    pub fn unresolvable(plugin: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { plugin, code: Code::Unresolvable, reasons: Reasons::One(reason.into()) }
    }

    pub fn error(plugin: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { plugin, code: Code::Error, reasons: Reasons::One(reason.into()) }
    }

    /// An error with the words that name the point at which it happened.
    fn at(self, point: &str) -> Self {
        match self.code {
            Code::Error => Self::error(self.plugin, format!("running {point}: {}", self.reasons.join(", "))),
            _ => self,
        }
    }
}

pub trait Plugin: Send + Sync {
    fn name(&self) -> &'static str;

    /// The points at which the plugin decides. Called once, when the profile is made.
    fn points(self: Arc<Self>) -> Points;

    /// The changes that may undo a rejection by this plugin; others never reach its `hint`.
    fn watches(&self) -> &'static [Watch] {
        &[]
    }

    /// Called for each watched change and each pod that waits because of this plugin; without
    /// a hint of its own, every such change tries the pod again.
    fn hint(&self, _pod: &PodInfo, _event: &ClusterEvent<'_>) -> Hint {
        Hint::Queue
    }

    /// The waiting pods that a watched change can concern at all; others are not asked about. An
    /// event that comes with every pod must not cost a look at every other that waits.
    fn scope<'a>(&self, _event: &ClusterEvent<'a>) -> Scope<'a> {
        Scope::All
    }
}

/// The points at which one plugin decides.
#[derive(Default)]
pub struct Points {
    pub pre_enqueue: Option<Arc<dyn PreEnqueue>>,
    pub queue_sort: Option<Arc<dyn QueueSort>>,
    pub pre_filter: Option<Arc<dyn PreFilter>>,
    pub filter: Option<Arc<dyn Filter>>,
    pub post_filter: Option<Arc<dyn PostFilter>>,
    pub pre_score: Option<Arc<dyn PreScore>>,
    pub score: Option<Arc<dyn Score>>,
    pub reserve: Option<Arc<dyn Reserve>>,
    pub permit: Option<Arc<dyn Permit>>,
    pub pre_bind: Option<Arc<dyn PreBind>>,
    pub bind: Option<Arc<dyn Bind>>,
    pub post_bind: Option<Arc<dyn PostBind>>,
}

/// The points of a plugin by their names: `points!(self: pre_filter, filter)`.
macro_rules! points {
    ($plugin:ident: $($point:ident),+) => {
        $crate::framework::Points { $($point: Some($plugin.clone()),)+ ..Default::default() }
    };
}
pub(crate) use points;

pub trait PreEnqueue: Send + Sync {
    /// Whether the pod may enter the queue at all; asked again when the pod changes.
    fn pre_enqueue(&self, pod: &PodInfo) -> Result<(), Rejection>;
}

pub trait QueueSort: Send + Sync {
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

impl PreFilterResult {
    /// Keeps the plugin's findings about the pod for its filter, which has nothing to say without.
    pub fn keep<T: Send + Sync + 'static>(state: &mut CycleState, found: Result<Option<T>, Rejection>) -> Self {
        match found {
            Err(rejection) => Self::Reject(rejection),
            Ok(None) => Self::Skip,
            Ok(Some(found)) => {
                state.write(found);
                Self::AllNodes
            }
        }
    }
}

pub trait PreFilter: Send + Sync {
    /// Called once a cycle, before any filter; computes from the pod and all nodes what the
    /// filter needs, and writes it to `state`.
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, snapshot: &Snapshot) -> PreFilterResult;

    /// Brings `state` in line with a trial that adds a pod to the node. Called only after a
    /// `pre_filter` that did not skip; `node` has the pod already.
    fn add_pod(&self, _state: &mut CycleState, _pod: &PodInfo, _added: &PodInfo, _node: &NodeInfo) {}

    /// The same for a trial that removes a pod; `node` no longer has it.
    fn remove_pod(&self, _state: &mut CycleState, _pod: &PodInfo, _removed: &PodInfo, _node: &NodeInfo) {}
}

pub trait Filter: Send + Sync {
    /// Whether the pod may run on the node. Called for each node, and with pods added and
    /// removed for trials, so it must decide on `node` as given. It must not allocate where
    /// the node fits, and it reads views only behind a fact of [`NodeInfo`] or a `pre_filter`
    /// that skips most pods: it runs a thousand times for one pod.
    fn filter(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection>;
}

/// The knowledge of a cycle that found no node.
pub struct Failure<'a> {
    pub framework: &'a Framework,
    pub state: &'a CycleState,
    pub pod: &'a PodInfo,
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

/// A preemption with the number of its victims that budgets protect.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub preemption: Preemption,
    pub broken_budgets: usize,
}

impl Candidate {
    /// The cheapest of several, the first of those that cost the same.
    pub fn select(candidates: Vec<Self>) -> Option<Preemption> {
        candidates.into_iter().min_by_key(Self::cost).map(|candidate| candidate.preemption)
    }

    /// The smaller, the better: the fewest broken budgets, the least important of most important
    /// victims, the least importance in sum, the fewest, and of those the ones that ran the
    /// shortest.
    fn cost(&self) -> (usize, i32, i64, usize, Reverse<i128>) {
        let victims = &self.preemption.victims;
        let highest = victims.iter().map(|pod| pod.priority).max().unwrap_or(i32::MIN);
        // Priorities may be negative; moved up so that fewer victims always sum to less.
        let sum = victims.iter().map(|pod| i64::from(pod.priority) + i64::from(i32::MAX) + 1).sum();
        let earliest = victims.iter().filter(|pod| pod.priority == highest).map(|pod| pod.started).min().unwrap_or(0);
        (self.broken_budgets, highest, sum, victims.len(), Reverse(earliest))
    }
}

pub struct PostFilterResult {
    /// Added to the message of the pod's condition; empty when there is a preemption.
    pub message: String,
    pub preemption: Option<Preemption>,
    /// The preemptions that there was a choice of; extenders may have a say in it.
    pub candidates: Vec<Candidate>,
    /// The node that was nominated before is of no use any more.
    pub clears_nomination: bool,
    /// Requests that may help; the loop makes them.
    pub errand: Option<Errand>,
}

impl PostFilterResult {
    /// Nothing that would make room at once.
    pub fn rejected(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            preemption: None,
            candidates: Vec::new(),
            clears_nomination: false,
            errand: None,
        }
    }
}

pub trait PostFilter: Send + Sync {
    /// Called when no node fits; plans what could make one fit. Plugins after the first that has
    /// a preemption are not called.
    fn post_filter(&self, failure: &Failure<'_>) -> PostFilterResult;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreScoreResult {
    Run,
    /// The plugin's score is the same for every node.
    Skip,
}

pub trait PreScore: Send + Sync {
    /// Called once a cycle with the nodes that fit, when there are several.
    fn pre_score(
        &self,
        state: &mut CycleState,
        pod: &PodInfo,
        nodes: &[&NodeInfo],
        snapshot: &Snapshot,
    ) -> PreScoreResult;
}

pub trait Score: Send + Sync {
    /// Any number, if `normalize` brings it to 0..=100. Called for each node that fits.
    fn score(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> i64;

    fn normalize(&self, _scores: &mut [i64]) {}
}

pub trait Reserve: Send + Sync {
    /// Called when a node is chosen; all reservations are taken back when a later step fails.
    fn reserve(&self, state: &CycleState, pod: &PodInfo, node: &str) -> Result<(), Rejection>;
    /// Returns the requests that are needed to take back what was written meanwhile.
    fn unreserve(&self, state: &CycleState, pod: &PodInfo, node: &str) -> Option<Errand>;
}

pub enum PermitResult {
    Allow,
    /// Binding starts after this time.
    Wait(Duration),
    Deny(Rejection),
}

pub trait Permit: Send + Sync {
    fn permit(&self, state: &CycleState, pod: &PodInfo, node: &str) -> PermitResult;
}

#[async_trait]
pub trait PreBind: Send + Sync {
    /// Whether `pre_bind` will do anything: a pod that has to wait for it is known by its
    /// nominated node meanwhile.
    fn has_work(&self, state: &CycleState, pod: &PodInfo, node: &str) -> bool;

    /// Called before binding, beside other cycles; an error sends the pod back to the queue.
    /// Given up when the pod is deleted meanwhile.
    async fn pre_bind(
        &self,
        context: &BindContext<'_>,
        state: &CycleState,
        pod: &PodInfo,
        node: &str,
    ) -> Result<(), crate::Error>;
}

#[async_trait]
pub trait Bind: Send + Sync {
    /// Called beside other cycles, for thousands of pods at once.
    async fn bind(&self, client: &Client, pod: &PodInfo, node: &str) -> Result<(), crate::Error>;
}

#[async_trait]
pub trait PostBind: Send + Sync {
    /// Called after a successful bind; for cleaning up.
    async fn post_bind(&self, client: &Client, pod: &PodInfo, node: &str);
}

/// Brings scores from 0..=max to 0..=100.
pub fn normalize(scores: &mut [i64]) {
    let max = scores.iter().copied().max().unwrap_or(0);
    if max > 0 {
        scores.iter_mut().for_each(|score| *score = MAX_NODE_SCORE * *score / max);
    } else {
        scores.fill(0);
    }
}

/// The same, with the smallest score as the best.
pub fn normalize_reversed(scores: &mut [i64]) {
    normalize(scores);
    scores.iter_mut().for_each(|score| *score = MAX_NODE_SCORE - *score);
}
