//! InterPodAffinity: pods ask to be near to other pods or away from them, and so do the pods
//! that are on nodes already.
//!
//! Upstream: pkg/scheduler/framework/plugins/interpodaffinity.

mod counts;

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Hint, MAX_NODE_SCORE, Plugin, Points, PreFilter, PreFilterResult,
    PreScore, PreScoreResult, Rejection, Resource, Score, Watch, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use crate::topology::{AffinityTerm, NamespaceLabels, PodMatcher, TermKind, TopologyIndex};
use counts::TopologyCounts;
use std::sync::Arc;

pub struct InterPodAffinity {
    /// The weight of a required term of a pod on a node, for pods that it selects.
    hard_weight: i64,
    ignores_preferred_of_existing: bool,
}

const NAME: &str = "InterPodAffinity";

/// A cycle's counts for the terms that must hold.
#[derive(Clone)]
struct RequiredTerms {
    /// Pods on nodes whose anti-affinity selects the pod.
    existing: TopologyCounts,
    /// The same of a trial's pods under labels that no other pod's terms name. They are on the
    /// node of the trial.
    existing_elsewhere: i64,
    /// Pods that all affinity terms of the pod select.
    affinity: TopologyCounts,
    affinity_total: i64,
    /// Pods that an anti-affinity term of the pod selects.
    anti: TopologyCounts,
    shared: Arc<Shared>,
}

struct Shared {
    /// The pods that all affinity terms select.
    wanted: PodMatcher,
    /// A pod may be the first of those that it wants to be with.
    wants_itself: bool,
    namespaces: Arc<NamespaceLabels>,
}

fn terms(pod: &PodInfo, kind: TermKind) -> &[Arc<AffinityTerm>] {
    let Some(terms) = pod.affinity.as_deref() else { return &[] };
    match kind {
        TermKind::Required => &terms.required,
        TermKind::RequiredAnti => &terms.required_anti,
        TermKind::Preferred => &terms.preferred,
        TermKind::PreferredAnti => &terms.preferred_anti,
    }
}

fn all_of(terms: &[Arc<AffinityTerm>]) -> PodMatcher {
    PodMatcher::new(terms.iter().map(|term| term.pods.clone()).collect(), true)
}

/// Adds the pods on nodes that carry terms which select the pod, each with a weight.
fn add_carried(
    index: &mut TopologyIndex,
    pod: &PodInfo,
    kinds: &[TermKind],
    into: &mut TopologyCounts,
    weight: impl Fn(TermKind, &AffinityTerm) -> i64,
) {
    if !index.has_carried(kinds) {
        return;
    }
    let mut found = Vec::new();
    index.for_each_carried(pod, kinds, |kind, term, slots| {
        let slots: Vec<(u32, u32)> = slots.iter().map(|(slot, count)| (*slot, *count)).collect();
        found.push((term.topology_key.clone(), weight(kind, term), slots));
    });
    for (key, weight, slots) in found {
        let column = index.column(&key);
        let sums = into.entry(&key, &column);
        for (slot, count) in slots {
            if let Some(sum) = sums.get_mut(column.value(slot) as usize) {
                *sum += weight * i64::from(count);
            }
        }
    }
}

/// Adds the pods that a matcher selects, by the label that a term names.
fn add_selected(index: &mut TopologyIndex, matcher: PodMatcher, key: &str, weight: i64, into: &mut TopologyCounts) {
    let (column, counts) = (index.column(key), index.counts(matcher));
    let sums = into.entry(key, &column);
    for (sum, count) in sums.iter_mut().zip(column.sum(&counts)) {
        *sum += weight * count;
    }
}

impl InterPodAffinity {
    pub fn new(hard_weight: i64, ignores_preferred_of_existing: bool) -> Self {
        Self { hard_weight, ignores_preferred_of_existing }
    }
}

impl Plugin for InterPodAffinity {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter, pre_score, score)
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::NODE, &[Action::Add, Action::Update]),
                Watch::new(Resource::POD, &[Action::Add, Action::Update, Action::Delete]),
            ]
        }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        if let Some((old, new)) = event.update_of(pod) {
            return Hint::queue_if(old.labels != new.labels);
        }
        Hint::queue_if(match (event.pod(), event.node()) {
            (Some(change), _) => concerns(pod, change),
            (_, Some(change)) => opens_domain(pod, change),
            _ => false,
        })
    }
}

/// Whether a change of a pod on a node may let the waiting pod in. Namespaces are judged
/// without their labels, as upstream's hints do: one that a selector names may.
fn concerns(pod: &PodInfo, change: Change<&PodInfo>) -> bool {
    let none = NamespaceLabels::default();
    let on_node = |other: &PodInfo| other.is_assigned() || !other.nominated_node_name().is_empty();
    let matches_all = |terms: &[Arc<AffinityTerm>], other: &PodInfo| {
        !terms.is_empty() && terms.iter().all(|term| may_match(term, other, &none))
    };
    let (wanted, unwanted) = (terms(pod, TermKind::Required), terms(pod, TermKind::RequiredAnti));
    match change {
        Change::Added(new) => on_node(new) && matches_all(wanted, new),
        Change::Updated { old, new } => {
            on_node(old)
                && on_node(new)
                && ((!matches_all(wanted, old) && matches_all(wanted, new))
                    || (matches_all(unwanted, old) && !matches_all(unwanted, new)))
        }
        Change::Deleted(old) => {
            matches_all(unwanted, old)
                || terms(old, TermKind::RequiredAnti).iter().any(|term| may_match(term, pod, &none))
        }
    }
}

fn may_match(term: &AffinityTerm, pod: &PodInfo, none: &NamespaceLabels) -> bool {
    let pods = &term.pods;
    if pods.namespace_selector.is_nothing() {
        pods.matches_pod(pod, none)
    } else {
        pod.labels.match_selector(&pods.selector)
    }
}

/// Whether a change of a node gives it a place in a topology that it did not have.
fn opens_domain(pod: &PodInfo, change: Change<&NodeInfo>) -> bool {
    fn label<'a>(node: &'a NodeInfo, key: &str) -> Option<&'a str> {
        node.view().metadata().labels().get(key)
    }
    let (wanted, unwanted) = (terms(pod, TermKind::Required), terms(pod, TermKind::RequiredAnti));
    let is_plain = wanted.is_empty() && unwanted.is_empty();
    match change {
        // A pod without terms was kept out by the terms of others, which a new node may lack.
        Change::Added(node) => {
            is_plain || !unwanted.is_empty() || wanted.iter().any(|term| label(node, &term.topology_key).is_some())
        }
        Change::Updated { old, new } => {
            let moved = |term: &Arc<AffinityTerm>| label(old, &term.topology_key) != label(new, &term.topology_key);
            wanted.iter().any(|term| moved(term) && label(new, &term.topology_key).is_some())
                || unwanted.iter().any(|term| moved(term) && label(old, &term.topology_key).is_some())
                || (is_plain && old.view().metadata().labels() != new.view().metadata().labels())
        }
        Change::Deleted(_) => false,
    }
}

impl PreFilter for InterPodAffinity {
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, snapshot: &Snapshot) -> PreFilterResult {
        let mut index = snapshot.topology();
        let mut existing = TopologyCounts::default();
        add_carried(&mut index, pod, &[TermKind::RequiredAnti], &mut existing, |_, _| 1);
        let (wanted, unwanted) = (terms(pod, TermKind::Required), terms(pod, TermKind::RequiredAnti));
        if existing.is_empty() && wanted.is_empty() && unwanted.is_empty() {
            return PreFilterResult::Skip;
        }
        let mut affinity = TopologyCounts::default();
        for term in wanted {
            add_selected(&mut index, all_of(wanted), &term.topology_key, 1, &mut affinity);
        }
        let mut anti = TopologyCounts::default();
        for term in unwanted {
            add_selected(&mut index, PodMatcher::of_term(term), &term.topology_key, 1, &mut anti);
        }
        let (wanted, namespaces) = (all_of(wanted), index.namespaces().clone());
        let wants_itself = wanted.matches(pod, &namespaces);
        let shared = Arc::new(Shared { wanted, wants_itself, namespaces });
        let affinity_total = affinity.total();
        state.write(RequiredTerms { existing, existing_elsewhere: 0, affinity, affinity_total, anti, shared });
        PreFilterResult::AllNodes
    }

    fn add_pod(&self, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) {
        if let Some(required) = state.edit::<RequiredTerms>() {
            required.trial(pod, added, node, 1);
        }
    }

    fn remove_pod(&self, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) {
        if let Some(required) = state.edit::<RequiredTerms>() {
            required.trial(pod, removed, node, -1);
        }
    }
}

impl RequiredTerms {
    fn trial(&mut self, pod: &PodInfo, other: &PodInfo, node: &NodeInfo, delta: i64) {
        let shared = self.shared.clone();
        for term in terms(other, TermKind::RequiredAnti) {
            if !term.pods.matches_pod(pod, &shared.namespaces) {
                continue;
            }
            match self.existing.position(&term.topology_key) {
                Some(position) => drop(self.existing.trial(position, node.slot, delta)),
                None if node.view().metadata().labels().contains_key(&term.topology_key) => {
                    self.existing_elsewhere += delta;
                }
                None => {}
            }
        }
        if shared.wanted.matches(other, &shared.namespaces) {
            for term in terms(pod, TermKind::Required) {
                if let Some(position) = self.affinity.position(&term.topology_key)
                    && self.affinity.trial(position, node.slot, delta)
                {
                    self.affinity_total += delta;
                }
            }
        }
        for term in terms(pod, TermKind::RequiredAnti) {
            if term.pods.matches_pod(other, &shared.namespaces)
                && let Some(position) = self.anti.position(&term.topology_key)
            {
                self.anti.trial(position, node.slot, delta);
            }
        }
    }

    fn satisfies_affinity(&self, pod: &PodInfo, slot: u32) -> bool {
        let mut is_near = true;
        for term in terms(pod, TermKind::Required) {
            match self.affinity.position(&term.topology_key).and_then(|position| self.affinity.at(position, slot)) {
                // The node must have every label that a term names.
                None => return false,
                Some(count) => is_near &= count > 0,
            }
        }
        is_near || (self.affinity_total == 0 && self.shared.wants_itself)
    }
}

impl Filter for InterPodAffinity {
    fn filter(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(required) = state.read::<RequiredTerms>() else { return Ok(()) };
        if !required.satisfies_affinity(pod, node.slot) {
            return Err(Rejection::unresolvable(NAME, "node(s) didn't match pod affinity rules"));
        }
        if required.anti.any_positive(node.slot) {
            return Err(Rejection::unschedulable(NAME, "node(s) didn't match pod anti-affinity rules"));
        }
        if required.existing_elsewhere > 0 || required.existing.any_positive(node.slot) {
            return Err(Rejection::unschedulable(NAME, "node(s) didn't satisfy existing pods anti-affinity rules"));
        }
        Ok(())
    }
}

/// The weights of a cycle by topology.
struct TopologyScores(TopologyCounts);

impl PreScore for InterPodAffinity {
    fn pre_score(
        &self,
        state: &mut CycleState,
        pod: &PodInfo,
        _nodes: &[&NodeInfo],
        snapshot: &Snapshot,
    ) -> PreScoreResult {
        let (near, away) = (terms(pod, TermKind::Preferred), terms(pod, TermKind::PreferredAnti));
        if self.ignores_preferred_of_existing && near.is_empty() && away.is_empty() {
            return PreScoreResult::Skip;
        }
        let mut index = snapshot.topology();
        let mut scores = TopologyCounts::default();
        for (terms, sign) in [(near, 1), (away, -1)] {
            for term in terms {
                let weight = sign * i64::from(term.weight);
                add_selected(&mut index, PodMatcher::of_term(term), &term.topology_key, weight, &mut scores);
            }
        }
        let kinds = [TermKind::Required, TermKind::Preferred, TermKind::PreferredAnti];
        // A required term that weighs nothing is not looked for.
        let kinds = if self.hard_weight > 0 { &kinds[..] } else { &kinds[1..] };
        add_carried(&mut index, pod, kinds, &mut scores, |kind, term| match kind {
            TermKind::Required => self.hard_weight,
            TermKind::PreferredAnti => -i64::from(term.weight),
            _ => i64::from(term.weight),
        });
        if scores.is_empty() {
            return PreScoreResult::Skip;
        }
        state.write(TopologyScores(scores));
        PreScoreResult::Run
    }
}

impl Score for InterPodAffinity {
    fn score(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> i64 {
        state.read().map_or(0, |TopologyScores(scores)| scores.score(node.slot))
    }

    /// The least becomes 0 and the most 100: sums may be negative.
    fn normalize(&self, scores: &mut [i64]) {
        let (min, max) = (scores.iter().min().copied().unwrap_or(0), scores.iter().max().copied().unwrap_or(0));
        for score in scores {
            *score = if max > min {
                (MAX_NODE_SCORE as f64 * ((*score - min) as f64 / (max - min) as f64)) as i64
            } else {
                0
            };
        }
    }
}

#[cfg(test)]
mod tests;
