//! The counters behind PodTopologySpread, InterPodAffinity and NodeAffinity: labels of nodes
//! as arrays, pods by selector and node, the affinity terms that pods on nodes carry, and the
//! claims that they use.
//!
//! A [`Snapshot`](crate::snapshot::Snapshot) owns one index and tells it of each node that
//! changed, so that a pod that comes or goes costs a few additions. A cycle reads arrays:
//! nothing goes over all pods but the first use of a selector.
//!
//! Columns and matchers are made at their first use and dropped when they have not been used
//! for the longest time and there are too many.

mod carried;
mod column;
mod required_nodes;
mod term;

pub use carried::TermKind;
pub use column::{LabelColumn, NONE};
pub use required_nodes::{PreferredNodes, RequiredNodes};
pub use term::{AffinityTerm, AffinityTerms, NamespaceLabels, PodMatcher, PodSelector};

use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use carried::CarriedTerms;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Labels of nodes that are kept as arrays.
const MAX_COLUMNS: usize = 256;
/// Numbers in all matchers together: 32 MB, or 1,600 selectors on 5,000 nodes.
const MAX_CELLS: usize = 8 << 20;

struct Column {
    column: Arc<LabelColumn>,
    last_use: u64,
}

/// The pods that a matcher selects, by slot of their node.
struct Counter {
    matcher: PodMatcher,
    counts: Arc<Vec<u32>>,
    last_use: u64,
}

/// Entries by a label that a pod must have, so that one pod is held against few of many.
#[derive(Default)]
struct Anchors<T> {
    by_label: HashMap<Box<str>, HashMap<Box<str>, HashSet<T>>>,
    /// Those without such a label.
    others: HashSet<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Anchors<T> {
    fn insert(&mut self, anchor: Option<(&str, &str)>, entry: T) {
        match anchor {
            Some((name, value)) => {
                let values = self.by_label.entry(name.into()).or_default();
                values.entry(value.into()).or_default().insert(entry);
            }
            None => drop(self.others.insert(entry)),
        }
    }

    fn remove(&mut self, anchor: Option<(&str, &str)>, entry: &T) {
        let Some((name, value)) = anchor else {
            self.others.remove(entry);
            return;
        };
        let Some(values) = self.by_label.get_mut(name) else { return };
        if let Some(entries) = values.get_mut(value) {
            entries.remove(entry);
            if entries.is_empty() {
                values.remove(value);
            }
        }
        if values.is_empty() {
            self.by_label.remove(name);
        }
    }

    /// The entries that may select the pod.
    fn candidates<'a>(&'a self, pod: &'a PodInfo) -> impl Iterator<Item = &'a T> {
        let anchored = pod.labels.iter().filter_map(|(name, value)| self.by_label.get(name)?.get(value));
        anchored.flatten().chain(&self.others)
    }
}

#[derive(Default)]
pub struct TopologyIndex {
    /// By slot.
    nodes: Vec<Option<Arc<NodeInfo>>>,
    columns: HashMap<Box<str>, Column>,
    counters: HashMap<Arc<str>, Counter>,
    counter_anchors: Anchors<Arc<str>>,
    carried: CarriedTerms,
    /// The number of pods on nodes that use each claim, by namespace and name.
    claims: HashMap<Box<str>, HashMap<Box<str>, u32>>,
    namespaces: Arc<NamespaceLabels>,
    uses: u64,
}

impl TopologyIndex {
    /// The node of a slot has changed, or its pods have; `None` when there is none any more.
    pub fn set_node(&mut self, slot: u32, new: Option<Arc<NodeInfo>>) {
        let index = slot as usize;
        if index >= self.nodes.len() {
            self.nodes.resize(index + 1, None);
        }
        if let (Some(old), Some(new)) = (&self.nodes[index], &new)
            && Arc::ptr_eq(old, new)
        {
            return;
        }
        let old = std::mem::replace(&mut self.nodes[index], new.clone());
        let is_same_version = match (&old, &new) {
            (Some(old), Some(new)) => Arc::ptr_eq(old.node.document(), new.node.document()),
            (old, new) => old.is_none() && new.is_none(),
        };
        if !is_same_version {
            for (key, entry) in &mut self.columns {
                let text = new.as_ref().and_then(|node| node.view().metadata().labels().get(key));
                if text != entry.column.text(entry.column.value(slot)) {
                    Arc::make_mut(&mut entry.column).set(slot, text);
                }
            }
        }
        let (old_pods, new_pods) =
            (old.as_ref().map_or(&[][..], |node| &node.pods), new.as_ref().map_or(&[][..], |node| &node.pods));
        for_each_difference(old_pods, new_pods, |pod, delta| self.count(slot, pod, delta));
    }

    fn count(&mut self, slot: u32, pod: &PodInfo, delta: i32) {
        for key in self.counter_anchors.candidates(pod) {
            if let Some(counter) = self.counters.get_mut(key)
                && counter.matcher.matches(pod, &self.namespaces)
            {
                add(Arc::make_mut(&mut counter.counts), slot, delta);
            }
        }
        if let Some(terms) = &pod.affinity {
            self.carried.count(slot, terms, delta);
        }
        for claim in &pod.claims {
            let claims = self.claims.entry(pod.namespace.clone()).or_default();
            let users = claims.entry(claim.clone()).or_default();
            *users = users.saturating_add_signed(delta);
            if *users == 0 {
                claims.remove(claim);
                if claims.is_empty() {
                    self.claims.remove(&pod.namespace);
                }
            }
        }
    }

    /// The number of pods on nodes that use a claim.
    pub fn claim_users(&self, namespace: &str, name: &str) -> u32 {
        self.claims.get(namespace).and_then(|claims| claims.get(name)).copied().unwrap_or(0)
    }

    /// The namespaces have changed: those matchers are dropped that read their labels.
    pub fn set_namespaces(&mut self, namespaces: &Arc<NamespaceLabels>) {
        if Arc::ptr_eq(namespaces, &self.namespaces) {
            return;
        }
        self.namespaces = namespaces.clone();
        let stale = self.counters.iter().filter(|(_, counter)| counter.matcher.reads_namespaces());
        let stale: Vec<Arc<str>> = stale.map(|(key, _)| key.clone()).collect();
        stale.iter().for_each(|key| self.drop_counter(key));
    }

    pub fn namespaces(&self) -> &Arc<NamespaceLabels> {
        &self.namespaces
    }

    /// The nodes' values of a label.
    pub fn column(&mut self, key: &str) -> Arc<LabelColumn> {
        self.uses += 1;
        if let Some(entry) = self.columns.get_mut(key) {
            entry.last_use = self.uses;
            return entry.column.clone();
        }
        let mut column = LabelColumn::default();
        for (slot, node) in (0..).zip(&self.nodes) {
            column.set(slot, node.as_ref().and_then(|node| node.view().metadata().labels().get(key)));
        }
        if self.columns.len() >= MAX_COLUMNS {
            let oldest = self.columns.iter().min_by_key(|(_, entry)| entry.last_use).map(|(key, _)| key.clone());
            oldest.and_then(|key| self.columns.remove(&key));
        }
        let column = Arc::new(column);
        self.columns.insert(key.into(), Column { column: column.clone(), last_use: self.uses });
        column
    }

    /// The number of pods that match, by slot of their node. Slots after the last are zero.
    pub fn counts(&mut self, matcher: PodMatcher) -> Arc<Vec<u32>> {
        self.uses += 1;
        if let Some(counter) = self.counters.get_mut(&*matcher.key) {
            counter.last_use = self.uses;
            return counter.counts.clone();
        }
        let mut counts = vec![0; self.nodes.len()];
        for (slot, node) in self.nodes.iter().enumerate() {
            let pods = node.iter().flat_map(|node| &node.pods);
            let matching = pods.filter(|pod| matcher.matches(pod, &self.namespaces)).count();
            counts[slot] = u32::try_from(matching).unwrap_or(u32::MAX);
        }
        let cells: usize = self.counters.values().map(|counter| counter.counts.len()).sum();
        if cells > MAX_CELLS {
            let oldest = self.counters.iter().min_by_key(|(_, counter)| counter.last_use).map(|(key, _)| key.clone());
            oldest.inspect(|key| self.drop_counter(key));
        }
        let (key, counts): (Arc<str>, _) = (matcher.key.as_str().into(), Arc::new(counts));
        self.counter_anchors.insert(matcher.all_of.first().and_then(PodSelector::anchor), key.clone());
        self.counters.insert(key, Counter { matcher, counts: counts.clone(), last_use: self.uses });
        counts
    }

    fn drop_counter(&mut self, key: &Arc<str>) {
        if let Some(counter) = self.counters.remove(key) {
            self.counter_anchors.remove(counter.matcher.all_of.first().and_then(PodSelector::anchor), key);
        }
    }

    /// Calls `each` for every different term of pods on nodes that selects this pod, with the
    /// number of pods that carry it by slot.
    pub fn for_each_carried(
        &self,
        pod: &PodInfo,
        kinds: &[TermKind],
        mut each: impl FnMut(TermKind, &AffinityTerm, &HashMap<u32, u32>),
    ) {
        self.carried.for_each_matching(pod, &self.namespaces, kinds, &mut each);
    }

    /// Whether any pod on a node has a term of one of these kinds.
    pub fn has_carried(&self, kinds: &[TermKind]) -> bool {
        self.carried.has_any(kinds)
    }
}

/// Changes the count of a slot, which never falls below zero.
fn add(counts: &mut Vec<u32>, slot: u32, delta: i32) {
    let index = slot as usize;
    if index >= counts.len() {
        counts.resize(index + 1, 0);
    }
    counts[index] = counts[index].saturating_add_signed(delta);
}

/// Calls `each` with -1 for pods that went and 1 for those that came; pods are known by their
/// address. A pod that only moved in the list is counted back and forth.
fn for_each_difference(old: &[Arc<PodInfo>], new: &[Arc<PodInfo>], mut each: impl FnMut(&PodInfo, i32)) {
    for (old, new) in old.iter().zip(new).filter(|(old, new)| !Arc::ptr_eq(old, new)) {
        each(old, -1);
        each(new, 1);
    }
    let both = old.len().min(new.len());
    old[both..].iter().for_each(|pod| each(pod, -1));
    new[both..].iter().for_each(|pod| each(pod, 1));
}

#[cfg(test)]
mod tests;
