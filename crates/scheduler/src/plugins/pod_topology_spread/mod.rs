//! PodTopologySpread: the pods of a selector are spread over the values of a label of nodes,
//! strictly (DoNotSchedule) or as a preference (ScheduleAnyway).
//!
//! Upstream: pkg/scheduler/framework/plugins/podtopologyspread.

mod constraint;
mod domains;

pub use constraint::Defaults;

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Handle, Hint, MAX_NODE_SCORE, Plugin, Points, PreFilter,
    PreFilterResult, PreScore, PreScoreResult, Rejection, Resource, Score, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use crate::topology::{LabelColumn, NONE};
use constraint::{Constraint, Owners, Unsatisfiable, compute_constraints};
use domains::{Eligible, HardSpread, count_by_domain};
use std::collections::HashSet;
use std::sync::Arc;

pub struct PodTopologySpread {
    defaults: Defaults,
    owners: Owners,
}

const NAME: &str = "PodTopologySpread";
const MISMATCH: &str = "node(s) didn't match pod topology spread constraints";
const NO_LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";
const HOSTNAME: &str = "kubernetes.io/hostname";

impl PodTopologySpread {
    pub fn new(handle: &Handle, defaults: Defaults) -> Self {
        Self { defaults, owners: Owners::new(handle) }
    }

    fn constraints(&self, pod: &PodInfo, action: Unsatisfiable) -> Vec<Constraint> {
        compute_constraints(pod, action, &self.defaults, &self.owners)
    }

    /// Whether a change of a pod on a node moves a count of the waiting pod's constraints.
    fn moves_counts(&self, pod: &PodInfo, change: Change<&PodInfo>) -> bool {
        let constraints = self.constraints(pod, Unsatisfiable::DoNotSchedule);
        let is_involved =
            |other: &PodInfo| other.uid == pod.uid || (other.namespace == pod.namespace && is_on_a_node(other));
        let counts = |other: &PodInfo| constraints.iter().any(|own| other.labels.match_selector(&own.selector));
        match change {
            Change::Added(other) | Change::Deleted(other) => is_involved(other) && counts(other),
            Change::Updated { old, new } => {
                if !is_involved(old) || !is_involved(new) {
                    return false;
                }
                let tolerates_more = new.uid == pod.uid
                    && constraints.iter().any(|constraint| constraint.honors_taints)
                    && old.spec().tolerations() != new.spec().tolerations();
                tolerates_more
                    || constraints
                        .iter()
                        .any(|own| old.labels.match_selector(&own.selector) != new.labels.match_selector(&own.selector))
            }
        }
    }

    /// Whether a change of a node moves it into, out of or between the domains of the
    /// constraints.
    fn moves_domains(&self, pod: &PodInfo, change: Change<&NodeInfo>) -> bool {
        let constraints = self.constraints(pod, Unsatisfiable::DoNotSchedule);
        let has_keys = |node: &NodeInfo| constraints.iter().all(|constraint| constraint.has_key(node));
        match change {
            Change::Added(node) | Change::Deleted(node) => has_keys(node),
            Change::Updated { old, new } => {
                let (before, after) = (has_keys(old), has_keys(new));
                let value = |node: &NodeInfo, key: &str| node.view().metadata().labels().get(key).map(str::to_owned);
                let moves =
                    || constraints.iter().any(|own| value(old, &own.topology_key) != value(new, &own.topology_key));
                before != after || (after && (old.taints != new.taints || moves()))
            }
        }
    }
}

/// On a node, or promised one.
fn is_on_a_node(pod: &PodInfo) -> bool {
    pod.is_assigned() || !pod.nominated_node_name().is_empty()
}

impl Plugin for PodTopologySpread {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter, pre_score, score)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::NODE, &[Action::Add, Action::Update, Action::Delete]),
                Watch::new(Resource::POD, &[Action::Add, Action::Update, Action::Delete]),
            ]
        }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match (event.pod(), event.node()) {
            (Some(change), _) => self.moves_counts(pod, change),
            (_, Some(change)) => self.moves_domains(pod, change),
            _ => false,
        })
    }
}

impl PreFilter for PodTopologySpread {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, snapshot: &Snapshot) -> PreFilterResult {
        let constraints = self.constraints(pod, Unsatisfiable::DoNotSchedule);
        if constraints.is_empty() {
            return PreFilterResult::Skip;
        }
        state.write(HardSpread::count(pod, constraints, snapshot));
        PreFilterResult::AllNodes
    }

    fn add_pod(&self, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) {
        if let Some(spread) = state.edit::<HardSpread>() {
            spread.trial(pod, added, node, 1);
        }
    }

    fn remove_pod(&self, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) {
        if let Some(spread) = state.edit::<HardSpread>() {
            spread.trial(pod, removed, node, -1);
        }
    }
}

impl Filter for PodTopologySpread {
    fn filter(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(spread) = state.read::<HardSpread>() else { return Ok(()) };
        for index in 0..spread.len() {
            match spread.skew(index, node.slot) {
                None => return Err(Rejection::unresolvable(NAME, NO_LABEL)),
                Some(skew) if skew > spread.max_skew(index) => return Err(Rejection::unschedulable(NAME, MISMATCH)),
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// One constraint as the scores read it.
struct SoftConstraint {
    column: Arc<LabelColumn>,
    counts: Counts,
    weight: f64,
    max_skew: i64,
}

enum Counts {
    /// A domain for each node: the count is that of the node itself.
    ByNode(Arc<Vec<u32>>),
    /// By number of the label's value.
    ByDomain(Vec<i64>),
}

struct SoftSpread {
    constraints: Vec<SoftConstraint>,
    /// Nodes without all labels do not score, unless the constraints are the system's: those
    /// spread over hosts where there are no zones.
    requires_all_labels: bool,
}

impl PreScore for PodTopologySpread {
    fn pre_score(
        &self,
        state: &mut CycleState,
        pod: &PodInfo,
        nodes: &[&NodeInfo],
        snapshot: &Snapshot,
    ) -> PreScoreResult {
        let constraints = self.constraints(pod, Unsatisfiable::ScheduleAnyway);
        if constraints.is_empty() {
            return PreScoreResult::Skip;
        }
        let is_system =
            matches!(self.defaults, Defaults::System) && pod.spec().topology_spread_constraints().is_empty();
        let eligible = Eligible::of(pod, &constraints, snapshot);
        let columns = eligible.columns();
        let has_all = |slot: u32| columns.iter().all(|column| column.value(slot) != NONE);
        let scored: Vec<u32> = nodes.iter().map(|node| node.slot).filter(|slot| is_system || has_all(*slot)).collect();
        let soft = constraints.iter().enumerate().map(|(index, constraint)| {
            let column = columns[index].clone();
            let matching = snapshot.topology().counts(constraint.matcher(pod));
            let (counts, domains) = if constraint.topology_key == HOSTNAME {
                (Counts::ByNode(matching), scored.len())
            } else {
                // Nodes without the label are one domain more, which nobody scores by.
                let values: HashSet<u32> = scored.iter().map(|slot| column.value(*slot)).collect();
                let counts = count_by_domain(&eligible, index, &matching, !is_system);
                (Counts::ByDomain(counts.into_iter().map(|count| count.unwrap_or(0)).collect()), values.len())
            };
            // A topology of few domains is not watered down by one of many.
            SoftConstraint { column, counts, weight: ((domains + 2) as f64).ln(), max_skew: constraint.max_skew }
        });
        let constraints = soft.collect();
        state.write(SoftSpread { constraints, requires_all_labels: !is_system });
        PreScoreResult::Run
    }
}

/// The score of a node that lacks a label; no other is negative.
const IGNORED: i64 = -1;

impl Score for PodTopologySpread {
    fn score(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> i64 {
        let Some(SoftSpread { constraints, requires_all_labels }) = state.read() else { return 0 };
        let mut score = 0.0;
        for constraint in constraints {
            let value = constraint.column.value(node.slot);
            if value == NONE {
                if *requires_all_labels {
                    return IGNORED;
                }
                continue;
            }
            let count = match &constraint.counts {
                Counts::ByNode(counts) => counts.get(node.slot as usize).copied().unwrap_or(0).into(),
                Counts::ByDomain(counts) => counts.get(value as usize).copied().unwrap_or(0),
            };
            // Skew that the constraint allows is worth less than skew that it does not.
            score += count as f64 * constraint.weight + (constraint.max_skew - 1) as f64;
        }
        score.round() as i64
    }

    fn normalize(&self, scores: &mut [i64]) {
        let scored = || scores.iter().copied().filter(|score| *score != IGNORED);
        let (min, max) = (scored().min().unwrap_or(0), scored().max().unwrap_or(0));
        for score in scores {
            *score = match *score {
                IGNORED => 0,
                _ if max == 0 => MAX_NODE_SCORE,
                own => MAX_NODE_SCORE * (max + min - own) / max,
            };
        }
    }
}

#[cfg(test)]
mod tests;
