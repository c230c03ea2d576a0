//! NodeResourcesFit: a node must have what the pod asks for, and the one with the most
//! left is preferred (LeastAllocated over cpu and memory).

use crate::framework::{
    Action, Change, ClusterEvent, Code, CycleState, Filter, Hint, MAX_NODE_SCORE, Plugin, Points, Reasons, Rejection,
    Resource, Score, Watch,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::resources::Resources;
use std::borrow::Cow;
use std::sync::Arc;

pub struct NodeResourcesFit;

const NAME: &str = "NodeResourcesFit";

/// The lack of a node that has `pods` pods on it, which take `used`. It cannot be resolved by
/// removing pods where the node could never have enough.
fn check_fit(wanted: &Resources, total: &Resources, used: &Resources, pods: usize) -> Result<(), Rejection> {
    let mut lack: Option<Rejection> = None;
    let mut lacks = |reason: Cow<'static, str>, is_resolvable: bool| {
        let code = if is_resolvable { Code::Unschedulable } else { Code::Unresolvable };
        match &mut lack {
            None => lack = Some(Rejection { plugin: NAME, code, reasons: Reasons::One(reason) }),
            Some(lack) => {
                lack.reasons.push(reason);
                if !is_resolvable {
                    lack.code = code;
                }
            }
        }
    };
    if i64::try_from(pods).unwrap_or(i64::MAX) >= total.pods {
        lacks("Too many pods".into(), true);
    }
    if !wanted.is_zero() {
        let is_lacking = |wanted: i64, total: i64, used: i64| wanted > 0 && wanted > total - used;
        if is_lacking(wanted.milli_cpu, total.milli_cpu, used.milli_cpu) {
            lacks("Insufficient cpu".into(), wanted.milli_cpu <= total.milli_cpu);
        }
        if is_lacking(wanted.memory, total.memory, used.memory) {
            lacks("Insufficient memory".into(), wanted.memory <= total.memory);
        }
        if is_lacking(wanted.ephemeral_storage, total.ephemeral_storage, used.ephemeral_storage) {
            lacks("Insufficient ephemeral-storage".into(), wanted.ephemeral_storage <= total.ephemeral_storage);
        }
        for (name, &amount) in &wanted.scalar {
            let total = total.scalar(name);
            if is_lacking(amount, total, used.scalar(name)) {
                lacks(format!("Insufficient {name}").into(), amount <= total);
            }
        }
    }
    lack.map_or(Ok(()), Err)
}

/// Whether the node has more than before of something the pod wants.
fn has_grown(wanted: &Resources, old: &Resources, new: &Resources) -> bool {
    new.pods > old.pods
        || (wanted.milli_cpu > 0 && new.milli_cpu > old.milli_cpu)
        || (wanted.memory > 0 && new.memory > old.memory)
        || (wanted.ephemeral_storage > 0 && new.ephemeral_storage > old.ephemeral_storage)
        || wanted.scalar.iter().any(|(name, &amount)| amount > 0 && new.scalar(name) > old.scalar(name))
}

/// Whether the node, were it empty, would have room.
fn would_fit(pod: &PodInfo, node: &NodeInfo) -> bool {
    check_fit(&pod.requests, &node.allocatable, &Resources::default(), 0).is_ok()
}

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        Points { filter: Some(self.clone()), score: Some(self), ..Points::default() }
    }

    fn watches(&self) -> &'static [Watch] {
        const {
            &[
                Watch::new(Resource::NODE, &[Action::Add, Action::Update]),
                Watch::new(Resource::POD, &[Action::Update, Action::Delete]),
            ]
        }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match (event.node(), event.pod()) {
            (Some(Change::Added(node)), _) => would_fit(pod, node),
            (Some(Change::Updated { old, new }), _) => {
                would_fit(pod, new) && has_grown(&pod.requests, &old.allocatable, &new.allocatable)
            }
            (_, Some(Change::Deleted(_))) => true,
            (_, Some(Change::Updated { old, new })) => {
                (new.uid == pod.uid || new.is_assigned())
                    && (new.requests.milli_cpu < old.requests.milli_cpu || new.requests.memory < old.requests.memory)
            }
            _ => false,
        })
    }
}

impl Filter for NodeResourcesFit {
    fn filter(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        check_fit(&pod.requests, &node.allocatable, &node.requested, node.pods.len())
    }
}

impl Score for NodeResourcesFit {
    fn score(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> i64 {
        let (wanted, total, used) = (&pod.non_zero_requests, &node.allocatable, &node.non_zero_requested);
        let pairs = [(used.milli_cpu + wanted.milli_cpu, total.milli_cpu), (used.memory + wanted.memory, total.memory)];
        let (mut sum, mut count) = (0, 0);
        for (requested, total) in pairs.into_iter().filter(|(_, total)| *total > 0) {
            sum += share_left(requested, total);
            count += 1;
        }
        if count == 0 { 0 } else { sum / count }
    }
}

/// The share of the total that is left, in hundredths.
fn share_left(requested: i64, total: i64) -> i64 {
    (total - requested).max(0).saturating_mul(MAX_NODE_SCORE) / total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{asking, holding, node, pod, reasons, scores};
    use serde_json::{Value, json};

    fn check(used: Value, wanted: Value, expected: &[&str]) {
        let info = holding(node("a", json!({"status": {"allocatable": {"example.com/gpu": "1"}}})), &[asking(used)]);
        assert_eq!(reasons(NodeResourcesFit, &asking(wanted.clone()), &info), expected, "{wanted}");
    }

    #[test]
    fn a_node_must_have_what_is_asked_for() {
        check(json!({"cpu": "3"}), json!({"cpu": "1"}), &[]);
        check(json!({"cpu": "3"}), json!({"cpu": "1001m"}), &["Insufficient cpu"]);
        check(
            json!({"cpu": "3", "memory": "8Gi"}),
            json!({"cpu": "2", "memory": "1"}),
            &["Insufficient cpu", "Insufficient memory"],
        );
        check(json!({}), json!({"example.com/gpu": "2"}), &["Insufficient example.com/gpu"]);
        check(json!({}), json!({"ephemeral-storage": "1Gi"}), &["Insufficient ephemeral-storage"]);
        check(json!({"cpu": "9"}), json!({}), &[]);
    }

    #[test]
    fn a_node_takes_only_so_many_pods() {
        let full = holding(node("a", json!({"status": {"allocatable": {"pods": "1"}}})), &[pod(json!({}))]);
        assert_eq!(reasons(NodeResourcesFit, &pod(json!({})), &full), ["Too many pods"]);
    }

    #[test]
    fn what_a_node_can_never_have_is_not_resolved_by_removing_pods() {
        let code = |cpu: &str| {
            let (pod, state) = (asking(json!({"cpu": cpu})), CycleState::default());
            let info = holding(node("a", json!({})), &[asking(json!({"cpu": "3"}))]);
            NodeResourcesFit.filter(&state, &pod, &info).expect_err("too much").code
        };
        assert_eq!((code("2"), code("5")), (Code::Unschedulable, Code::Unresolvable));
    }

    #[test]
    fn the_emptier_node_scores_more() {
        let nodes = vec![
            holding(node("a", json!({})), &[]),
            holding(node("b", json!({})), &[asking(json!({"cpu": "2", "memory": "4Gi"}))]),
        ];
        assert_eq!(scores(NodeResourcesFit, &asking(json!({"cpu": "1", "memory": "2Gi"})), nodes), [75, 25]);
    }

    #[test]
    fn a_node_that_grows_enough_wakes_the_pod() {
        let info = |over| holding(node("a", over), &[]);
        let (small, large) = (info(json!({})), info(json!({"status": {"allocatable": {"cpu": "8"}}})));
        let hint = |cpu: &str, old, new| {
            NodeResourcesFit.hint(&asking(json!({"cpu": cpu})), &ClusterEvent::node_updated(old, new))
        };
        assert_eq!(hint("6", &small, &large), Hint::Queue);
        assert_eq!(hint("9", &small, &large), Hint::Skip);
        assert_eq!(hint("1", &large, &large), Hint::Skip);
    }
}
