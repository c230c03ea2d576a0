//! NUMA alignment: which nodes a container's CPUs, memory and devices shall come from, and whether a
//! container is admitted where they cannot (upstream: pkg/kubelet/cm/topologymanager).

use crate::CpuSet;
use std::collections::BTreeMap;

/// With more nodes than this the hints would be too many (upstream's maxAllowableNUMANodes).
pub const MAX_NUMA_NODES: usize = 8;

/// A set of NUMA nodes that could serve; `None` is any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint {
    pub nodes: Option<CpuSet>,
    pub is_preferred: bool,
}

/// `None` is no preference, an empty list that nothing could serve.
pub type Hints = Option<Vec<Hint>>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    #[default]
    None,
    BestEffort,
    Restricted,
    SingleNumaNode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    Container,
    Pod,
}

impl Policy {
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "best-effort" => Some(Self::BestEffort),
            "restricted" => Some(Self::Restricted),
            "single-numa-node" => Some(Self::SingleNumaNode),
            _ => None,
        }
    }
}

/// The NUMA nodes of the machine, with the distances that the kernel reports.
#[derive(Clone, Debug, Default)]
pub struct NumaInfo {
    pub nodes: CpuSet,
    pub cpus: BTreeMap<usize, CpuSet>,
    pub distances: BTreeMap<usize, Vec<u64>>,
}

impl NumaInfo {
    /// The mean distance between nodes of a set.
    fn mean_distance(&self, nodes: &CpuSet) -> f64 {
        let pairs = nodes.iter().flat_map(|a| nodes.iter().map(move |b| (a, b)));
        let distance = |(a, b): (usize, usize)| {
            // Distances stand in the order of the nodes.
            let position = self.nodes.iter().position(|node| node == b)?;
            self.distances.get(&a)?.get(position).copied()
        };
        let all: Vec<u64> = pairs.filter_map(distance).collect();
        all.iter().sum::<u64>() as f64 / all.len().max(1) as f64
    }
}

/// Every non-empty set of nodes, the smaller ones first, in the order of the lowest nodes.
pub fn masks_of(nodes: &CpuSet) -> Vec<CpuSet> {
    let nodes: Vec<usize> = nodes.iter().take(MAX_NUMA_NODES).collect();
    let mut masks: Vec<CpuSet> = (1_u32..1 << nodes.len())
        .map(|bits| nodes.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, node)| *node).collect())
        .collect();
    masks.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    masks
}

#[derive(Clone, Debug, Default)]
pub struct TopologyManager {
    pub policy: Policy,
    pub scope: Scope,
    /// The option prefer-closest-numa-nodes.
    pub prefers_closest: bool,
    pub numa: NumaInfo,
}

impl TopologyManager {
    /// The best hint for what several resources could use, and whether the policy admits it.
    pub fn merge(&self, resources: &[Hints]) -> (Hint, bool) {
        if self.policy == Policy::None {
            return (Hint { nodes: None, is_preferred: true }, true);
        }
        let mut all: Vec<Vec<Hint>> = resources
            .iter()
            .map(|hints| match hints {
                None => vec![Hint { nodes: None, is_preferred: true }],
                Some(none) if none.is_empty() => vec![Hint { nodes: None, is_preferred: false }],
                Some(hints) => hints.clone(),
            })
            .collect();
        if self.policy == Policy::SingleNumaNode {
            for hints in &mut all {
                hints.retain(|hint| match &hint.nodes {
                    None => hint.is_preferred,
                    Some(nodes) => nodes.len() == 1 && hint.is_preferred,
                });
            }
        }
        let best = self.best(&all);
        let is_admitted = match self.policy {
            Policy::None | Policy::BestEffort => true,
            Policy::Restricted | Policy::SingleNumaNode => best.is_preferred,
        };
        // Every node is no preference of a single one.
        let is_any = best.nodes.as_ref() == Some(&self.numa.nodes);
        if self.policy == Policy::SingleNumaNode && is_any {
            return (Hint { nodes: None, ..best }, is_admitted);
        }
        (best, is_admitted)
    }

    fn best(&self, all: &[Vec<Hint>]) -> Hint {
        let narrowest = |hints: &Vec<Hint>| hints.iter().filter_map(|hint| Some(hint.nodes.as_ref()?.len())).min();
        let target = all.iter().filter_map(narrowest).max().unwrap_or(0);
        let mut best: Option<Hint> = None;
        let mut chosen = vec![0; all.len()];
        if all.iter().any(Vec::is_empty) {
            return Hint { nodes: Some(self.numa.nodes.clone()), is_preferred: false };
        }
        loop {
            let combination: Vec<&Hint> = all.iter().zip(&chosen).map(|(hints, at)| &hints[*at]).collect();
            let merged = self.merge_one(&combination);
            best = Some(match best {
                Some(best) => self.compare(best, merged, target),
                None if merged.nodes.as_ref().is_some_and(CpuSet::is_empty) => {
                    Hint { nodes: Some(CpuSet::new()), is_preferred: false }
                }
                None => merged,
            });
            // The next combination, the last resource first.
            let Some(at) = (0..all.len()).rev().find(|&at| chosen[at] + 1 < all[at].len()) else { break };
            chosen[at] += 1;
            chosen[at + 1..].fill(0);
        }
        best.filter(|best| best.nodes.as_ref().is_none_or(|nodes| !nodes.is_empty()))
            .unwrap_or_else(|| Hint { nodes: Some(self.numa.nodes.clone()), is_preferred: false })
    }

    /// The nodes that all hints share; preferred where all are, and are the same.
    fn merge_one(&self, combination: &[&Hint]) -> Hint {
        let masks: Vec<&CpuSet> = combination.iter().filter_map(|hint| hint.nodes.as_ref()).collect();
        let is_preferred =
            combination.iter().all(|hint| hint.is_preferred) && masks.iter().all(|mask| *mask == masks[0]);
        let nodes = masks.iter().fold(self.numa.nodes.clone(), |nodes, mask| nodes.intersection(mask));
        Hint { nodes: Some(nodes), is_preferred }
    }

    fn compare(&self, current: Hint, candidate: Hint, target: usize) -> Hint {
        let count = |hint: &Hint| hint.nodes.as_ref().map_or(0, CpuSet::len);
        let (own, other) = (count(&current), count(&candidate));
        if other == 0 {
            return current;
        }
        if own == 0 {
            return candidate;
        }
        match (current.is_preferred, candidate.is_preferred) {
            (false, true) => return candidate,
            (true, false) => return current,
            (true, true) => return self.fitter(current, candidate),
            (false, false) => {}
        }
        // As near to the number of nodes that the widest resource needs, and no more.
        if own > target {
            return self.fitter(current, candidate);
        }
        if own == target {
            return if other == target { self.fitter(current, candidate) } else { current };
        }
        match other {
            other if other > target => current,
            other if other == target => candidate,
            other if other > own => candidate,
            other if other < own => current,
            _ => self.fitter(current, candidate),
        }
    }

    /// The hint with fewer nodes, or nearer ones; of equals that with the lower nodes.
    fn fitter(&self, current: Hint, candidate: Hint) -> Hint {
        let (Some(own), Some(other)) = (&current.nodes, &candidate.nodes) else { return current };
        if own == other {
            return current;
        }
        if self.prefers_closest && self.policy != Policy::SingleNumaNode && own.len() == other.len() {
            let (near, far) = (self.numa.mean_distance(own), self.numa.mean_distance(other));
            if near != far {
                return if far < near { candidate } else { current };
            }
        }
        // Nodes compare as bits of a number: those with lower ones alone are less.
        let is_lower = other.iter().rev_cmp(own) == std::cmp::Ordering::Less;
        let is_narrower = other.len() < own.len() || (other.len() == own.len() && is_lower);
        if is_narrower { candidate } else { current }
    }
}

trait ReverseOrder {
    fn rev_cmp(self, other: &CpuSet) -> std::cmp::Ordering;
}

impl<I: Iterator<Item = usize>> ReverseOrder for I {
    fn rev_cmp(self, other: &CpuSet) -> std::cmp::Ordering {
        let highest_first = |mut nodes: Vec<usize>| {
            nodes.reverse();
            nodes
        };
        highest_first(self.collect()).cmp(&highest_first(other.iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(policy: Policy) -> TopologyManager {
        let nodes: CpuSet = [0, 1].into_iter().collect();
        TopologyManager { policy, numa: NumaInfo { nodes, ..Default::default() }, ..Default::default() }
    }

    fn hint(nodes: &str, is_preferred: bool) -> Hint {
        Hint { nodes: Some(nodes.parse().expect("a list")), is_preferred }
    }

    fn check(policy: Policy, resources: &[Hints], expected: (Option<&str>, bool, bool)) {
        let (best, is_admitted) = manager(policy).merge(resources);
        let nodes = best.nodes.map(|nodes| nodes.to_string());
        assert_eq!((nodes.as_deref(), best.is_preferred, is_admitted), expected, "{policy:?} {resources:?}");
    }

    #[test]
    fn masks_are_all_sets_of_nodes() {
        let nodes: CpuSet = "0-2".parse().expect("a list");
        let masks: Vec<String> = masks_of(&nodes).iter().map(ToString::to_string).collect();
        assert_eq!(masks, ["0", "1", "2", "0-1", "0,2", "1-2", "0-2"]);
    }

    #[test]
    fn no_policy_admits_everything_anywhere() {
        check(Policy::None, &[Some(Vec::new())], (None, true, true));
    }

    #[test]
    fn resources_meet_on_a_node_that_all_prefer() {
        let cpus = Some(vec![hint("0", true), hint("1", true), hint("0-1", false)]);
        let devices = Some(vec![hint("1", true), hint("0-1", false)]);
        for policy in [Policy::BestEffort, Policy::Restricted, Policy::SingleNumaNode] {
            check(policy, &[cpus.clone(), devices.clone(), None], (Some("1"), true, true));
            check(policy, std::slice::from_ref(&cpus), (Some("0"), true, true));
        }
    }

    #[test]
    fn what_cannot_be_aligned_is_admitted_by_best_effort_alone() {
        let left = Some(vec![hint("0", true)]);
        let right = Some(vec![hint("1", true)]);
        check(Policy::BestEffort, &[left.clone(), right.clone()], (Some("0-1"), false, true));
        check(Policy::Restricted, &[left.clone(), right.clone()], (Some("0-1"), false, false));
        check(Policy::SingleNumaNode, &[left, right], (None, false, false));
        let wide = Some(vec![hint("0-1", true)]);
        check(Policy::Restricted, std::slice::from_ref(&wide), (Some("0-1"), true, true));
        check(Policy::SingleNumaNode, &[wide], (None, false, false));
    }

    #[test]
    fn of_unpreferred_hints_the_one_as_wide_as_needed_counts() {
        let cpus = Some(vec![hint("0", false), hint("1", false), hint("0-1", false)]);
        let memory = Some(vec![hint("0-1", false)]);
        check(Policy::BestEffort, &[cpus, memory], (Some("0-1"), false, true));
        check(Policy::BestEffort, &[Some(Vec::new())], (Some("0-1"), false, true));
    }

    #[test]
    fn the_closest_nodes_may_be_preferred() {
        let distances = BTreeMap::from([(0, vec![10, 30, 20]), (1, vec![30, 10, 30]), (2, vec![20, 30, 10])]);
        let nodes: CpuSet = [0, 1, 2].into_iter().collect();
        let mut own = TopologyManager {
            policy: Policy::BestEffort,
            numa: NumaInfo { nodes, distances, ..Default::default() },
            ..Default::default()
        };
        let hints = [Some(vec![hint("0-1", true), hint("0,2", true)])];
        assert_eq!(own.merge(&hints).0, hint("0-1", true));
        own.prefers_closest = true;
        assert_eq!(own.merge(&hints).0, hint("0,2", true));
    }
}
