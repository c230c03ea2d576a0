//! Which taints a node's state calls for.
//!
//! Conditions keep new pods away (NoSchedule); a node that is not ready or not reachable
//! also loses the pods it has (NoExecute), unless so many nodes are unwell that the fault
//! is more likely ours than theirs.

use super::health::ready_status;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Taint};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::collections::HashMap;
use std::sync::Arc;

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Condition, its bad status, and the taint that follows.
const BY_CONDITION: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];

/// Upstream's thresholds: the part of a zone that must be unwell to count as disrupted,
/// and the size below which a disrupted zone is not emptied at all.
const UNHEALTHY_PERCENT: usize = 55;
const LARGE_CLUSTER: usize = 50;

/// What may happen to the pods of unwell nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evictions {
    Allowed,
    /// No more nodes are emptied; those that are being emptied stay so.
    Held,
    /// No node at all is well: none is emptied, and what was begun is called off.
    CalledOff,
}

pub struct TaintPlan {
    /// The whole new list; none when it is as it should be.
    pub taints: Option<Vec<Taint>>,
    /// Whether a taint that empties the node is newly set.
    pub evicts: bool,
}

pub fn plan_taints(node: &Node, evictions: Evictions, now: Timestamp) -> TaintPlan {
    let current = node.spec.as_ref().and_then(|spec| spec.taints.clone()).unwrap_or_default();
    let status_of = |kind: &str| super::health::condition(node, kind).map(|condition| condition.status.as_str());
    let mut wanted: Vec<(&str, &str)> = BY_CONDITION
        .iter()
        .filter(|(kind, bad, _)| status_of(kind) == Some(bad))
        .map(|(_, _, key)| (*key, "NoSchedule"))
        .collect();
    if node.spec.as_ref().is_some_and(|spec| spec.unschedulable == Some(true)) {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    let emptied_by = match ready_status(node) {
        Some("False") => Some(NOT_READY),
        Some("Unknown") => Some(UNREACHABLE),
        _ => None,
    };
    let is_emptied =
        current.iter().any(|taint| taint.effect == "NoExecute" && (taint.key == NOT_READY || taint.key == UNREACHABLE));
    let mut evicts = false;
    if let Some(key) = emptied_by {
        match evictions {
            Evictions::Allowed => {
                wanted.push((key, "NoExecute"));
                evicts = !is_emptied;
            }
            Evictions::Held if is_emptied => wanted.push((key, "NoExecute")),
            Evictions::Held | Evictions::CalledOff => {}
        }
    }
    let mut taints: Vec<Taint> = current
        .iter()
        .filter(|taint| {
            !is_ours(taint, status_of("Ready").is_some())
                || wanted.contains(&(taint.key.as_str(), taint.effect.as_str()))
        })
        .cloned()
        .collect();
    for (key, effect) in wanted {
        if !taints.iter().any(|taint| taint.key == key && taint.effect == effect) {
            taints.push(Taint {
                key: key.to_owned(),
                effect: effect.to_owned(),
                time_added: Some(Time(now)),
                value: None,
            });
        }
    }
    TaintPlan { taints: (taints != current).then_some(taints), evicts }
}

/// Taints that only this controller sets and removes. A new node comes with not-ready
/// set for it by the API server; that one stays until the node has reported.
fn is_ours(taint: &Taint, has_reported: bool) -> bool {
    match taint.effect.as_str() {
        "NoSchedule" => {
            taint.key == UNSCHEDULABLE
                || BY_CONDITION.iter().any(|(_, _, key)| *key == taint.key) && (has_reported || taint.key != NOT_READY)
        }
        "NoExecute" => taint.key == NOT_READY || taint.key == UNREACHABLE,
        _ => false,
    }
}

/// How well each zone is.
pub struct Zones {
    zones: HashMap<String, (usize, usize)>,
}

impl Zones {
    pub fn of(nodes: &[Arc<Node>]) -> Self {
        let mut zones: HashMap<String, (usize, usize)> = HashMap::new();
        for node in nodes {
            let excluded = node.metadata.labels.as_ref();
            if excluded.is_some_and(|labels| labels.contains_key("node.kubernetes.io/exclude-disruption")) {
                continue;
            }
            let (ready, total) = zones.entry(zone(node)).or_default();
            *ready += usize::from(ready_status(node) == Some("True"));
            *total += 1;
        }
        Self { zones }
    }

    pub fn may_evict(&self, zone: &str) -> Evictions {
        if !self.zones.is_empty() && self.zones.values().all(|(ready, _)| *ready == 0) {
            return Evictions::CalledOff;
        }
        let Some((ready, total)) = self.zones.get(zone) else { return Evictions::Allowed };
        let unwell = total - ready;
        // A zone that is wholly unwell is emptied while others are well.
        let is_partly_disrupted = *ready > 0 && unwell > 2 && unwell * 100 >= total * UNHEALTHY_PERCENT;
        if is_partly_disrupted && *total <= LARGE_CLUSTER { Evictions::Held } else { Evictions::Allowed }
    }
}

pub fn zone(node: &Node) -> String {
    let label =
        |key: &str| node.metadata.labels.as_ref().and_then(|labels| labels.get(key)).cloned().unwrap_or_default();
    format!("{}:{}", label("topology.kubernetes.io/region"), label("topology.kubernetes.io/zone"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn node(ready: Option<&str>, change: Value) -> Arc<Node> {
        let conditions: Vec<Value> =
            ready.map(|status| json!({"type": "Ready", "status": status})).into_iter().collect();
        let mut node = json!({"metadata": {"name": "n1"}, "spec": {}, "status": {"conditions": conditions}});
        for (key, value) in change.as_object().expect("an object") {
            node["spec"][key] = value.clone();
        }
        Arc::new(serde_json::from_value(node).expect("a node"))
    }

    /// The taints as `key:effect` without their common prefix, or none when unchanged.
    fn check(node: &Node, evictions: Evictions, expected: Option<&[&str]>) {
        let plan = plan_taints(node, evictions, "2024-01-01T00:00:00Z".parse().expect("a time"));
        let texts: Option<Vec<String>> = plan.taints.map(|taints| {
            let text =
                |taint: &Taint| format!("{}:{}", taint.key.trim_start_matches("node.kubernetes.io/"), taint.effect);
            taints.iter().map(text).collect()
        });
        let expected: Option<Vec<String>> = expected.map(|texts| texts.iter().map(|text| (*text).to_owned()).collect());
        assert_eq!(texts, expected);
    }

    #[test]
    fn taints_follow_the_conditions() {
        let tainted = |keys: &[(&str, &str)]| json!({"taints": keys.iter().map(|(key, effect)| json!({"key": key, "effect": effect})).collect::<Vec<_>>()});
        let allowed = Evictions::Allowed;
        check(&node(Some("True"), json!({})), allowed, None);
        check(&node(Some("False"), json!({})), allowed, Some(&["not-ready:NoSchedule", "not-ready:NoExecute"]));
        check(&node(Some("Unknown"), json!({})), allowed, Some(&["unreachable:NoSchedule", "unreachable:NoExecute"]));
        check(&node(Some("True"), json!({"unschedulable": true})), allowed, Some(&["unschedulable:NoSchedule"]));
        check(
            &node(
                Some("True"),
                tainted(&[(NOT_READY, "NoSchedule"), ("mine", "NoSchedule"), (UNREACHABLE, "NoExecute")]),
            ),
            allowed,
            Some(&["mine:NoSchedule"]),
        );
        // The taint a node is born with stays until its first report.
        check(&node(None, tainted(&[(NOT_READY, "NoSchedule")])), allowed, None);
    }

    #[test]
    fn nothing_is_emptied_when_all_are_unwell() {
        check(&node(Some("Unknown"), json!({})), Evictions::Held, Some(&["unreachable:NoSchedule"]));
        check(&node(Some("Unknown"), json!({})), Evictions::CalledOff, Some(&["unreachable:NoSchedule"]));
        let emptied = node(
            Some("Unknown"),
            json!({"taints": [{"key": UNREACHABLE, "effect": "NoSchedule"}, {"key": UNREACHABLE, "effect": "NoExecute"}]}),
        );
        check(&emptied, Evictions::Held, None);
        check(&emptied, Evictions::CalledOff, Some(&["unreachable:NoSchedule"]));
    }

    #[test]
    fn a_zone_is_judged_by_how_many_are_unwell() {
        let check = |well: usize, unwell: usize, expected: Evictions| {
            let mut nodes = vec![node(Some("True"), json!({})); well];
            nodes.extend(vec![node(Some("Unknown"), json!({})); unwell]);
            assert_eq!(Zones::of(&nodes).may_evict(":"), expected, "{well} well, {unwell} unwell");
        };
        check(1, 0, Evictions::Allowed);
        check(0, 1, Evictions::CalledOff);
        check(1, 2, Evictions::Allowed);
        check(2, 3, Evictions::Held);
        check(20, 40, Evictions::Allowed);
    }
}
