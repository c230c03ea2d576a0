//! The nodes of a DaemonSet, each with what it counts for, kept from one reconcile to the next: an
//! event about one pod costs that pod's node and not every node of the cluster. Kept by the
//! controller in mod.rs, which names the nodes that have changed; plan.rs decides over the few
//! that need something.
//!
//! Worked example: a set on 5,000 nodes is being updated, and one pod becomes ready. Its node is
//! summarized again and moves from the class `New {available: false}` to `New {available: true}`.
//! The update may now take one pod more: the first node of the class `Old {available: true}` is
//! handed to the plan together with the sums of all others.
//!
//! A ledger is for one revision of the set's template; another one begins anew.

use super::plan::{Observed, Outside, by_age, plan_nodes, split};
use super::pod::is_updated;
use ferry_api::rules::pod::{Availability, availability, is_ready};
use ferry_api::view::core::v1::{Node, Pod};
use ferry_client::SharedObject;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The version of the daemon set that the summaries were made for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Basis {
    pub(super) uid: String,
    pub(super) generation: i64,
    pub(super) template_generation: Option<i64>,
    pub(super) hash: String,
}

pub(super) struct Ledger {
    basis: Basis,
    nodes: HashMap<String, Summary>,
    classes: BTreeMap<Class, BTreeSet<String>>,
    counts: Counts,
    /// Nodes that have too few pods or too many.
    unsettled: BTreeSet<String>,
    /// Nodes whose pods become available by time alone.
    ripening: BTreeMap<Timestamp, BTreeSet<String>>,
}

/// The part of a node in an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// No part: not one of the set's, and without a pod of it.
    Out,
    /// No pod that is not being deleted.
    Empty,
    /// Two pods of one sort.
    Torn,
    New {
        is_available: bool,
    },
    Old {
        is_available: bool,
        is_wanted: bool,
    },
    Both {
        is_new_available: bool,
    },
}

/// The sums that the set reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) desired: i32,
    pub(super) current: i32,
    pub(super) misplaced: i32,
    pub(super) ready: i32,
    pub(super) available: i32,
    pub(super) updated: i32,
    /// Nodes whose older pod is available, whichever revision it is of.
    serving: i32,
}

#[derive(Clone, Debug, PartialEq)]
struct Summary {
    class: Class,
    counts: Counts,
    is_unsettled: bool,
    ripens: Option<Timestamp>,
}

impl Counts {
    fn change(&mut self, by: Self, sign: i32) {
        self.desired += sign * by.desired;
        self.current += sign * by.current;
        self.misplaced += sign * by.misplaced;
        self.ready += sign * by.ready;
        self.available += sign * by.available;
        self.updated += sign * by.updated;
        self.serving += sign * by.serving;
    }
}

impl Ledger {
    pub(super) fn new(basis: Basis) -> Self {
        Self {
            basis,
            nodes: HashMap::new(),
            classes: BTreeMap::new(),
            counts: Counts::default(),
            unsettled: BTreeSet::new(),
            ripening: BTreeMap::new(),
        }
    }

    pub(super) fn is_for(&self, basis: &Basis) -> bool {
        self.basis == *basis
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Summarizes these nodes again: of `observed`, which has all of them that are there, and their
    /// pods.
    pub(super) fn update<'n>(&mut self, observed: &Observed<'_>, names: impl IntoIterator<Item = &'n str>) {
        let nodes: HashMap<&str, &SharedObject<Node>> = observed.nodes.iter().map(|node| (node.name(), node)).collect();
        for name in names {
            self.forget(name);
            let node = nodes.get(name).copied();
            let pods = observed.pods.get(name).map(Vec::as_slice).unwrap_or_default();
            if node.is_some() || !pods.is_empty() {
                self.insert(name, summarize(observed, node, name, pods));
            }
        }
    }

    /// Summarizes every node that there is or that pods are on.
    pub(super) fn update_all(&mut self, observed: &Observed<'_>) {
        let nodes = observed.nodes.iter().map(SharedObject::name);
        let names: BTreeSet<&str> = nodes.chain(observed.pods.keys().map(String::as_str)).collect();
        self.update(observed, names);
    }

    /// The nodes that must be brought to the number of pods that they should have.
    pub(super) fn unsettled(&self) -> impl Iterator<Item = &str> + Clone {
        self.unsettled.iter().map(String::as_str)
    }

    /// The nodes that the next step of an update may be about, when it may take `at_most` that
    /// serve, and the sums of all others.
    pub(super) fn next_in_update(&self, at_most: usize) -> (BTreeSet<&str>, Outside) {
        let mut chosen = BTreeSet::new();
        let mut outside = Outside::default();
        for (class, nodes) in &self.classes {
            let take = match class {
                Class::Old { is_available: true, is_wanted: true } => at_most,
                Class::Old { .. } | Class::Both { is_new_available: true } => usize::MAX,
                _ => 0,
            };
            chosen.extend(nodes.iter().take(take).map(String::as_str));
            let rest = nodes.len().saturating_sub(take);
            match class {
                Class::New { is_available: false } | Class::Empty => outside.unavailable += rest,
                Class::Torn | Class::Both { is_new_available: false } => {
                    outside.unavailable += rest;
                    outside.surging += rest;
                }
                _ => {}
            }
        }
        let of_chosen = |count: fn(&Counts) -> i32| -> usize {
            let counted = chosen.iter().filter_map(|name| self.nodes.get(*name)).map(|node| count(&node.counts));
            usize::try_from(counted.sum::<i32>()).unwrap_or(0)
        };
        let of_all = |count: i32| usize::try_from(count).unwrap_or(0);
        outside.wanted = of_all(self.counts.desired) - of_chosen(|counts| counts.desired);
        outside.available = of_all(self.counts.serving) - of_chosen(|counts| counts.serving);
        (chosen, outside)
    }

    /// The nodes with a pod that has become available by now.
    pub(super) fn ripe(&self, now: Timestamp) -> Vec<String> {
        self.ripening.range(..=now).flat_map(|(_, nodes)| nodes.iter().cloned()).collect()
    }

    pub(super) fn next_ripe(&self) -> Option<Timestamp> {
        self.ripening.keys().next().copied()
    }

    fn forget(&mut self, name: &str) {
        let Some(summary) = self.nodes.remove(name) else { return };
        self.counts.change(summary.counts, -1);
        self.unsettled.remove(name);
        remove(&mut self.classes, &summary.class, name);
        if let Some(time) = summary.ripens {
            remove(&mut self.ripening, &time, name);
        }
    }

    fn insert(&mut self, name: &str, summary: Summary) {
        self.counts.change(summary.counts, 1);
        if summary.is_unsettled {
            self.unsettled.insert(name.to_owned());
        }
        self.classes.entry(summary.class).or_default().insert(name.to_owned());
        if let Some(time) = summary.ripens {
            self.ripening.entry(time).or_default().insert(name.to_owned());
        }
        self.nodes.insert(name.to_owned(), summary);
    }
}

fn remove<K: Ord>(sets: &mut BTreeMap<K, BTreeSet<String>>, key: &K, name: &str) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(name);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}

fn summarize(
    observed: &Observed<'_>,
    node: Option<&SharedObject<Node>>,
    name: &str,
    pods: &[SharedObject<Pod>],
) -> Summary {
    let is_wanted = node.is_some_and(|node| observed.fit(node.view()).run);
    let mut counts = Counts::default();
    if is_wanted {
        counts.desired = 1;
        if let Some(pod) = by_age(pods).first().map(|pod| pod.view()) {
            counts.current = 1;
            counts.ready = i32::from(is_ready(pod));
            counts.available = i32::from(observed.is_available(pod));
            counts.updated = i32::from(is_updated(pod, observed.set, observed.hash));
        }
    } else {
        counts.misplaced = i32::from(node.is_some() && !pods.is_empty());
    }
    let is_available = |pod: &SharedObject<Pod>| observed.is_available(pod.view());
    let class = match split(observed, pods) {
        None => Class::Torn,
        Some((None, None)) if !is_wanted && pods.is_empty() => Class::Out,
        Some((None, None)) => Class::Empty,
        Some((Some(new), None)) => Class::New { is_available: is_available(new) },
        Some((None, Some(old))) => Class::Old { is_available: is_available(old), is_wanted },
        Some((Some(new), Some(_))) => Class::Both { is_new_available: is_available(new) },
    };
    if let Some((new, old)) = split(observed, pods) {
        counts.serving = i32::from(old.or(new).is_some_and(is_available));
    }
    let min_ready = observed.set.spec().min_ready_seconds();
    let ripens = pods.iter().filter_map(|pod| match availability(pod.view(), min_ready, observed.now) {
        Availability::In(left) => observed.now.checked_add(left).ok(),
        _ => None,
    });
    let alone = [(name.to_owned(), pods.to_vec())].into_iter().filter(|(_, pods)| !pods.is_empty()).collect();
    let nodes: Vec<SharedObject<Node>> = node.into_iter().cloned().collect();
    let here = Observed { nodes: &nodes, pods: &alone, outside: Outside::default(), ..*observed };
    Summary { class, counts, is_unsettled: !plan_nodes(&here).is_empty(), ripens: ripens.min() }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
