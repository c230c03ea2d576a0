//! The taints that a node must have for its conditions.
//!
//! Conditions keep new pods away (NoSchedule); a node that is not ready or not reachable
//! also loses the pods it has (NoExecute), unless so many nodes are unwell that the fault
//! is more likely ours than theirs (zone.rs).

use super::health::ready_status;
use ferry_api::rules::condition;
use ferry_api::view::core::v1::{NodeView, Taint, TaintView};
use jiff::Timestamp;

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

/// Whether the pods of unwell nodes are evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evictions {
    Allowed,
    /// No more nodes are emptied; those that are being emptied stay so.
    Held,
    /// No node at all is well: none is emptied, and what was begun is called off.
    CalledOff,
}

pub(super) struct TaintPlan {
    /// The whole new list; none when it is as it should be.
    pub taints: Option<Vec<Taint>>,
    /// Whether a taint that empties the node is newly set.
    pub evicts: bool,
}

pub(super) fn plan_taints(node: NodeView<'_>, evictions: Evictions, now: Timestamp) -> TaintPlan {
    let current = node.spec().taints();
    let status_of = |kind: &str| condition::find(node.status().conditions(), kind).map(|condition| condition.status());
    let mut wanted: Vec<(&str, &str)> = BY_CONDITION
        .iter()
        .filter(|(kind, bad, _)| status_of(kind) == Some(bad))
        .map(|(_, _, key)| (*key, "NoSchedule"))
        .collect();
    if node.spec().unschedulable() {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    let emptied_by = match ready_status(node) {
        Some("False") => Some(NOT_READY),
        Some("Unknown") => Some(UNREACHABLE),
        _ => None,
    };
    let is_emptied = current.iter().any(|taint| empties(taint));
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
    let has_reported = ready_status(node).is_some();
    let stays =
        |taint: &TaintView<'_>| !is_ours(*taint, has_reported) || wanted.contains(&(taint.key(), taint.effect()));
    let is_set = |key: &str, effect: &str| current.iter().any(|taint| taint.key() == key && taint.effect() == effect);
    let mut missing = wanted.iter().filter(|(key, effect)| !is_set(key, effect)).peekable();
    if missing.peek().is_none() && current.iter().all(|taint| stays(&taint)) {
        return TaintPlan { taints: None, evicts };
    }
    let added = missing.map(|(key, effect)| Taint::new().with_key(*key).with_effect(*effect).with_time_added(now));
    let taints = current.iter().filter(stays).map(TaintView::to_owned).chain(added).collect();
    TaintPlan { taints: Some(taints), evicts }
}

/// Whether the taint takes the pods from a node that is not ready or not reachable.
fn empties(taint: TaintView<'_>) -> bool {
    taint.effect() == "NoExecute" && (taint.key() == NOT_READY || taint.key() == UNREACHABLE)
}

/// Taints that only this controller sets and removes. A new node comes with not-ready
/// set for it by the API server; that one stays until the node has reported.
fn is_ours(taint: TaintView<'_>, has_reported: bool) -> bool {
    let key = taint.key();
    match taint.effect() {
        "NoSchedule" => {
            key == UNSCHEDULABLE
                || BY_CONDITION.iter().any(|(_, _, own)| *own == key) && (has_reported || key != NOT_READY)
        }
        _ => empties(taint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Node;
    use serde_json::{Value, json};

    fn node(ready: Option<&str>, change: Value) -> Node {
        let conditions: Vec<Value> =
            ready.map(|status| json!({"type": "Ready", "status": status})).into_iter().collect();
        let mut node = json!({"metadata": {"name": "n1"}, "spec": {}, "status": {"conditions": conditions}});
        for (key, value) in change.as_object().expect("an object") {
            node["spec"][key] = value.clone();
        }
        Node::from(node)
    }

    /// The taints as `key:effect` without their common prefix, or none when unchanged.
    fn check(node: &Node, evictions: Evictions, expected: Option<&[&str]>) {
        let plan = plan_taints(node.view(), evictions, "2024-01-01T00:00:00Z".parse().expect("a time"));
        let texts: Option<Vec<String>> = plan.taints.map(|taints| {
            let text = |taint: TaintView<'_>| {
                format!("{}:{}", taint.key().trim_start_matches("node.kubernetes.io/"), taint.effect())
            };
            taints.iter().map(|taint| text(taint.view())).collect()
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
}
