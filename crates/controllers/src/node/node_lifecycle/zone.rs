//! How many nodes of each zone are well, and so whether the pods of unwell ones are evicted.
//!
//! Kept by the events of nodes. An event that changes neither zone nor readiness, as a
//! heartbeat, costs one comparison; a change wakes other nodes only where it changes their
//! zone's evictions. Upstream: `ComputeZoneState` and `handleDisruption` of
//! pkg/controller/nodelifecycle/node_lifecycle_controller.go.

use super::health::ready_status;
use super::taint::Evictions;
use ferry_api::view::core::v1::NodeView;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// Upstream's thresholds: the part of a zone that must be unwell to count as disrupted,
/// and the size below which a disrupted zone is not emptied at all.
const UNHEALTHY_PERCENT: usize = 55;
const LARGE_CLUSTER: usize = 50;

/// One node a zone may be tainted for eviction in this time (upstream's rate of 0.1/s), and in
/// a large zone that is partly disrupted (0.01/s).
const EVICTION_INTERVAL: Duration = Duration::from_secs(10);
const SLOW_EVICTION_INTERVAL: Duration = Duration::from_secs(100);

const EXCLUDED: &str = "node.kubernetes.io/exclude-disruption";

#[derive(Default)]
pub(super) struct Zones {
    nodes: HashMap<String, NodeState>,
    zones: BTreeMap<String, Zone>,
    all: Count,
}

#[derive(Clone, PartialEq, Eq)]
struct NodeState {
    zone: String,
    is_ready: bool,
    /// Not ready or not reachable, by its own report or ours.
    is_unwell: bool,
    /// Whether the node counts for its zone.
    counts: bool,
}

#[derive(Default)]
struct Zone {
    count: Count,
    unwell: BTreeSet<String>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    ready: usize,
    total: usize,
}

impl Count {
    /// A zone that is wholly unwell is no part: it is emptied while others are well.
    fn is_partly_disrupted(self) -> bool {
        let unwell = self.total - self.ready;
        self.ready > 0 && unwell > 2 && unwell * 100 >= self.total * UNHEALTHY_PERCENT
    }

    fn is_large(self) -> bool {
        self.total > LARGE_CLUSTER
    }
}

impl NodeState {
    fn of(node: NodeView<'_>) -> Self {
        let ready = ready_status(node);
        Self {
            zone: name(node),
            is_ready: ready == Some("True"),
            is_unwell: matches!(ready, Some("False" | "Unknown")),
            counts: !node.metadata().labels().contains_key(EXCLUDED),
        }
    }
}

impl Zones {
    /// Counts a node anew, or no longer if it is gone. Returns the unwell nodes whose
    /// evictions are judged otherwise now.
    pub(super) fn observe(&mut self, name: &str, node: Option<NodeView<'_>>) -> Vec<String> {
        let new = node.map(NodeState::of);
        if self.nodes.get(name) == new.as_ref() {
            return Vec::new();
        }
        let old = self.nodes.remove(name);
        let touched: BTreeSet<String> = [&old, &new].into_iter().flatten().map(|state| state.zone.clone()).collect();
        let before: Vec<_> = touched.into_iter().map(|zone| (self.pace(&zone), zone)).collect();
        let was_called_off = self.are_called_off();
        if let Some(old) = old {
            self.forget(name, &old);
        }
        if let Some(new) = new {
            self.count(name, new);
        }
        if self.are_called_off() != was_called_off {
            return self.zones.values().flat_map(|zone| zone.unwell.iter().cloned()).collect();
        }
        let changed = before.into_iter().filter(|(pace, zone)| self.pace(zone) != *pace);
        changed.filter_map(|(_, zone)| self.zones.get(&zone)).flat_map(|zone| zone.unwell.iter().cloned()).collect()
    }

    pub(super) fn may_evict(&self, zone: &str) -> Evictions {
        if self.are_called_off() {
            return Evictions::CalledOff;
        }
        let zone = self.zone(zone);
        if zone.is_partly_disrupted() && !zone.is_large() { Evictions::Held } else { Evictions::Allowed }
    }

    /// Whether a zone is emptied, and how fast: nodes that wait for their turn in a zone that
    /// recovers must not wait as long as they were told.
    fn pace(&self, zone: &str) -> (Evictions, Duration) {
        (self.may_evict(zone), self.eviction_interval(zone))
    }

    /// The time between two nodes of a zone that are emptied.
    pub(super) fn eviction_interval(&self, zone: &str) -> Duration {
        if self.zone(zone).is_partly_disrupted() { SLOW_EVICTION_INTERVAL } else { EVICTION_INTERVAL }
    }

    fn zone(&self, name: &str) -> Count {
        self.zones.get(name).map(|zone| zone.count).unwrap_or_default()
    }

    /// Whether no node at all is well.
    fn are_called_off(&self) -> bool {
        self.all.total > 0 && self.all.ready == 0
    }

    fn count(&mut self, name: &str, state: NodeState) {
        let zone = self.zones.entry(state.zone.clone()).or_default();
        if state.counts {
            for count in [&mut zone.count, &mut self.all] {
                count.total += 1;
                count.ready += usize::from(state.is_ready);
            }
        }
        if state.is_unwell {
            zone.unwell.insert(name.to_owned());
        }
        self.nodes.insert(name.to_owned(), state);
    }

    fn forget(&mut self, name: &str, state: &NodeState) {
        let Some(zone) = self.zones.get_mut(&state.zone) else { return };
        if state.counts {
            for count in [&mut zone.count, &mut self.all] {
                count.total -= 1;
                count.ready -= usize::from(state.is_ready);
            }
        }
        zone.unwell.remove(name);
        if zone.count.total == 0 && zone.unwell.is_empty() {
            self.zones.remove(&state.zone);
        }
    }
}

/// `region:zone`, of the node's labels.
pub(super) fn name(node: NodeView<'_>) -> String {
    let label = |key: &str| node.metadata().labels().get(key).unwrap_or_default();
    format!("{}:{}", label("topology.kubernetes.io/region"), label("topology.kubernetes.io/zone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Node;
    use serde_json::json;

    fn node(zone: &str, ready: &str) -> Node {
        Node::from(json!({"metadata": {"labels": {"topology.kubernetes.io/zone": zone}},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}}))
    }

    #[test]
    fn a_zone_is_judged_by_how_many_are_unwell() {
        let check = |well: usize, unwell: usize, expected: Evictions, seconds: u64| {
            let mut zones = Zones::default();
            let nodes = std::iter::repeat_n("True", well).chain(std::iter::repeat_n("Unknown", unwell));
            for (number, ready) in nodes.enumerate() {
                zones.observe(&format!("n{number}"), Some(node("", ready).view()));
            }
            assert_eq!(zones.may_evict(":"), expected, "{well} well, {unwell} unwell");
            let interval = zones.eviction_interval(":");
            assert_eq!(interval, Duration::from_secs(seconds), "{well} well, {unwell} unwell");
        };
        check(1, 0, Evictions::Allowed, 10);
        check(0, 1, Evictions::CalledOff, 10);
        check(1, 2, Evictions::Allowed, 10);
        check(2, 3, Evictions::Held, 100);
        check(9, 11, Evictions::Held, 100);
        check(10, 10, Evictions::Allowed, 10);
        check(20, 40, Evictions::Allowed, 100);
        check(40, 20, Evictions::Allowed, 10);
    }

    #[test]
    fn only_nodes_whose_evictions_change_are_woken() {
        let mut zones = Zones::default();
        let mut observe = |name: &str, zone: &str, ready: &str| zones.observe(name, Some(node(zone, ready).view()));
        let none = Vec::<String>::new();
        assert_eq!(observe("a", "z", "True"), none);
        assert_eq!(observe("b", "z", "True"), none);
        assert_eq!(observe("b", "z", "True"), none, "a heartbeat changes nothing");
        assert_eq!(observe("c", "z", "Unknown"), none);
        assert_eq!(observe("d", "z", "Unknown"), none);
        assert_eq!(observe("e", "z", "False"), ["c", "d", "e"], "three of five are unwell");
        assert_eq!(observe("f", "y", "Unknown"), none, "of another zone");
        assert_eq!(observe("a", "z", "Unknown"), none, "one is still well");
        assert_eq!(observe("b", "z", "Unknown"), ["f", "a", "b", "c", "d", "e"], "none is well");
        assert_eq!(observe("f", "y", "True"), ["a", "b", "c", "d", "e"], "one is well again");
        assert_eq!(zones.observe("f", None), ["a", "b", "c", "d", "e"], "and gone");
        assert_eq!(zones.may_evict(":z"), Evictions::CalledOff);
    }
}
