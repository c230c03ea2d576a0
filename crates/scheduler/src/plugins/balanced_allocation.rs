//! NodeResourcesBalancedAllocation: prefers the node whose use of cpu and memory the pod
//! brings closer together, so that neither is used up while the other lies idle.

use crate::framework::{ClusterEvent, CycleState, Hint, MAX_NODE_SCORE, Plugin, PreScore, PreScoreResult, Score};
use crate::resources::{Resources, compute_requests};
use crate::snapshot::{NodeInfo, Snapshot};
use crate::view::Pod;
use std::sync::Arc;

pub struct BalancedAllocation;

struct Wanted(Resources);

impl Plugin for BalancedAllocation {
    fn name(&self) -> &'static str {
        "NodeResourcesBalancedAllocation"
    }

    fn hint(&self, _pod: &Pod, _event: &ClusterEvent<'_>) -> Hint {
        Hint::Skip
    }

    fn as_pre_score(&self) -> Option<&dyn PreScore> {
        Some(self)
    }

    fn as_score(&self) -> Option<&dyn Score> {
        Some(self)
    }
}

impl PreScore for BalancedAllocation {
    /// A pod that asks for nothing changes no balance.
    fn pre_score(&self, state: &mut CycleState, pod: &Pod, _nodes: &[Arc<NodeInfo>]) -> PreScoreResult {
        let wanted = compute_requests(pod);
        if wanted.milli_cpu == 0 && wanted.memory == 0 {
            return PreScoreResult::Skip;
        }
        state.write(Wanted(wanted));
        PreScoreResult::Run
    }
}

impl Score for BalancedAllocation {
    fn score(&self, state: &CycleState, _pod: &Pod, node: &NodeInfo, _snapshot: &Snapshot) -> i64 {
        let Some(Wanted(wanted)) = state.read() else { return 0 };
        let (total, used) = (&node.allocatable, &node.requested);
        let without = balance(&[(used.milli_cpu, total.milli_cpu), (used.memory, total.memory)]);
        let with = balance(&[
            (used.milli_cpu + wanted.milli_cpu, total.milli_cpu),
            (used.memory + wanted.memory, total.memory),
        ]);
        // Around 75 when little changes, towards 100 when the balance improves, towards 50
        // when it suffers.
        MAX_NODE_SCORE / 2 + (MAX_NODE_SCORE / 2 + with - without) / 2
    }
}

/// 100 when all shares in use are equal, less the further they are apart.
fn balance(amounts: &[(i64, i64)]) -> i64 {
    let shares: Vec<f64> = amounts
        .iter()
        .filter(|(_, total)| *total > 0)
        .map(|&(used, total)| (used as f64 / total as f64).min(1.0))
        .collect();
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / shares.len().max(1) as f64;
    ((1.0 - variance.sqrt()) * MAX_NODE_SCORE as f64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{asking, holding, node, pod, scores};
    use serde_json::json;

    #[test]
    fn the_node_that_gets_more_even_scores_more() {
        let nodes = || {
            vec![
                holding(node("a", json!({})), &[asking(json!({"cpu": "2"}))]),
                holding(node("b", json!({})), &[asking(json!({"memory": "4Gi"}))]),
            ]
        };
        // Half of the memory evens the first node out and makes the second lopsided.
        assert_eq!(scores(BalancedAllocation, &asking(json!({"memory": "4Gi"})), nodes()), [87, 62]);
        assert_eq!(scores(BalancedAllocation, &pod(json!({})), nodes()), [0, 0]);
    }
}
