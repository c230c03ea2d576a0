//! NodeResourcesFit: a node must have what the pod asks for, and the one with the most
//! left is preferred (LeastAllocated over cpu and memory).

use crate::framework::{
    ClusterEvent, Code, CycleState, Filter, Hint, MAX_NODE_SCORE, Plugin, PreFilter, PreFilterResult, PreScore,
    PreScoreResult, Rejection, Score,
};
use crate::resources::{Resources, compute_non_zero_requests, compute_requests};
use crate::snapshot::{NodeInfo, Snapshot};
use crate::view::{Node, Pod};
use std::borrow::Cow;
use std::sync::Arc;

pub struct NodeResourcesFit;

const NAME: &str = "NodeResourcesFit";

struct Wanted(Resources);
struct Scored(Resources);

/// What the node lacks, each with whether the node could ever have it.
fn insufficient(wanted: &Resources, node: &NodeInfo) -> Vec<(Cow<'static, str>, bool)> {
    let mut out: Vec<(Cow<'static, str>, bool)> = Vec::new();
    let (total, used) = (&node.allocatable, &node.requested);
    if i64::try_from(node.pods.len()).unwrap_or(i64::MAX) + 1 > total.pods {
        out.push(("Too many pods".into(), true));
    }
    if wanted.is_zero() {
        return out;
    }
    let mut check = |reason: Cow<'static, str>, wanted: i64, total: i64, used: i64| {
        if wanted > 0 && wanted > total - used {
            out.push((reason, wanted <= total));
        }
    };
    check("Insufficient cpu".into(), wanted.milli_cpu, total.milli_cpu, used.milli_cpu);
    check("Insufficient memory".into(), wanted.memory, total.memory, used.memory);
    check(
        "Insufficient ephemeral-storage".into(),
        wanted.ephemeral_storage,
        total.ephemeral_storage,
        used.ephemeral_storage,
    );
    for (name, &amount) in &wanted.scalar {
        check(format!("Insufficient {name}").into(), amount, total.scalar(name), used.scalar(name));
    }
    out
}

/// Whether the node, were it empty, would have room, and has more than before of
/// something the pod wants.
fn has_grown(pod: &Pod, old: &Node, new: &Node) -> bool {
    let wanted = compute_requests(pod);
    let (old, new) = (Resources::of(&old.status.allocatable), Resources::of(&new.status.allocatable));
    new.pods > old.pods
        || (wanted.milli_cpu > 0 && new.milli_cpu > old.milli_cpu)
        || (wanted.memory > 0 && new.memory > old.memory)
        || (wanted.ephemeral_storage > 0 && new.ephemeral_storage > old.ephemeral_storage)
        || wanted.scalar.iter().any(|(name, &amount)| amount > 0 && new.scalar(name) > old.scalar(name))
}

fn would_fit(pod: &Pod, node: &Node) -> bool {
    insufficient(&compute_requests(pod), &NodeInfo::of(Arc::new(node.clone()))).is_empty()
}

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event {
            ClusterEvent::NodeAdded(node) => would_fit(pod, node),
            ClusterEvent::NodeUpdated { old, new } => would_fit(pod, new) && has_grown(pod, old, new),
            ClusterEvent::PodRemoved(_) => true,
            ClusterEvent::PodUpdated { old, new } => {
                (new.uid() == pod.uid() || new.is_assigned()) && {
                    let (before, after) = (compute_requests(old), compute_requests(new));
                    after.milli_cpu < before.milli_cpu || after.memory < before.memory
                }
            }
        })
    }

    fn as_pre_filter(&self) -> Option<&dyn PreFilter> {
        Some(self)
    }

    fn as_filter(&self) -> Option<&dyn Filter> {
        Some(self)
    }

    fn as_pre_score(&self) -> Option<&dyn PreScore> {
        Some(self)
    }

    fn as_score(&self) -> Option<&dyn Score> {
        Some(self)
    }
}

impl PreFilter for NodeResourcesFit {
    fn pre_filter(&self, state: &mut CycleState, pod: &Pod) -> PreFilterResult {
        state.write(Wanted(compute_requests(pod)));
        PreFilterResult::AllNodes
    }
}

impl Filter for NodeResourcesFit {
    fn filter(&self, state: &CycleState, _pod: &Pod, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(Wanted(wanted)) = state.read() else { return Ok(()) };
        let lacking = insufficient(wanted, node);
        if lacking.is_empty() {
            return Ok(());
        }
        let is_resolvable = lacking.iter().all(|(_, is_resolvable)| *is_resolvable);
        Err(Rejection {
            plugin: NAME,
            code: if is_resolvable { Code::Unschedulable } else { Code::Unresolvable },
            reasons: lacking.into_iter().map(|(reason, _)| reason).collect(),
        })
    }
}

impl PreScore for NodeResourcesFit {
    fn pre_score(&self, state: &mut CycleState, pod: &Pod, _nodes: &[Arc<NodeInfo>]) -> PreScoreResult {
        state.write(Scored(compute_non_zero_requests(pod)));
        PreScoreResult::Run
    }
}

impl Score for NodeResourcesFit {
    fn score(&self, state: &CycleState, _pod: &Pod, node: &NodeInfo, _snapshot: &Snapshot) -> i64 {
        let Some(Scored(wanted)) = state.read() else { return 0 };
        let (total, used) = (&node.allocatable, &node.non_zero_requested);
        let pairs = [(used.milli_cpu + wanted.milli_cpu, total.milli_cpu), (used.memory + wanted.memory, total.memory)];
        let scores: Vec<i64> = pairs
            .iter()
            .filter(|(_, total)| *total > 0)
            .map(|&(requested, total)| if requested > total { 0 } else { share_left(requested, total) })
            .collect();
        if scores.is_empty() { 0 } else { scores.iter().sum::<i64>() / scores.len() as i64 }
    }
}

fn share_left(requested: i64, total: i64) -> i64 {
    let left = i128::from(total - requested) * i128::from(MAX_NODE_SCORE) / i128::from(total);
    i64::try_from(left).unwrap_or(0)
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
            let (pod, mut state) = (asking(json!({"cpu": cpu})), CycleState::default());
            NodeResourcesFit.pre_filter(&mut state, &pod);
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
        let (small, large) = (node("a", json!({})), node("a", json!({"status": {"allocatable": {"cpu": "8"}}})));
        let hint = |cpu: &str, old, new| {
            NodeResourcesFit.hint(&asking(json!({"cpu": cpu})), &ClusterEvent::NodeUpdated { old, new })
        };
        assert_eq!(hint("6", &small, &large), Hint::Queue);
        assert_eq!(hint("9", &small, &large), Hint::Skip);
        assert_eq!(hint("1", &large, &large), Hint::Skip);
    }
}
