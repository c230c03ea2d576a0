//! NodeResourcesBalancedAllocation: prefers the node whose use of cpu and memory the pod
//! brings closer together, so that neither is used up while the other lies idle.

use crate::framework::{CycleState, MAX_NODE_SCORE, Plugin, Points, PreScore, PreScoreResult, Score, points};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::resources::{ResourceKey, Resources};
use crate::snapshot::Snapshot;
use std::sync::Arc;

pub struct BalancedAllocation {
    resources: Vec<ResourceKey>,
}

impl Default for BalancedAllocation {
    fn default() -> Self {
        Self::new(vec![ResourceKey::Cpu, ResourceKey::Memory])
    }
}

impl BalancedAllocation {
    /// Balances the use of these resources.
    pub fn new(resources: Vec<ResourceKey>) -> Self {
        Self { resources }
    }
}

impl Plugin for BalancedAllocation {
    fn name(&self) -> &'static str {
        "NodeResourcesBalancedAllocation"
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_score, score)
    }
}

impl PreScore for BalancedAllocation {
    /// A pod that asks for nothing changes no balance.
    fn pre_score(
        &self,
        _state: &mut CycleState,
        pod: &PodInfo,
        _nodes: &[&NodeInfo],
        _snapshot: &Snapshot,
    ) -> PreScoreResult {
        let changes_nothing = self.resources.iter().all(|name| pod.requests.get(name) == 0);
        if changes_nothing { PreScoreResult::Skip } else { PreScoreResult::Run }
    }
}

impl Score for BalancedAllocation {
    fn score(&self, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> i64 {
        let (wanted, total, used) = (&pod.requests, &node.allocatable, &node.requested);
        let amounts = |added: i64| {
            let counted = self.resources.iter().filter(|name| is_counted(name, wanted));
            counted.map(move |name| (used.get(name) + added * wanted.get(name), total.get(name)))
        };
        let (without, with) = (balance(amounts(0)), balance(amounts(1)));
        // Around 75 when little changes, towards 100 when the balance improves, towards 50
        // when it suffers.
        MAX_NODE_SCORE / 2 + (MAX_NODE_SCORE / 2 + with - without) / 2
    }
}

/// A resource that the pod does not ask for has no say, unless every pod has some of it.
fn is_counted(resource: &ResourceKey, wanted: &Resources) -> bool {
    !matches!(resource, ResourceKey::Scalar(_)) || wanted.get(resource) > 0
}

/// 100 when all shares in use are equal, less the further they are apart.
fn balance(amounts: impl Iterator<Item = (i64, i64)> + Clone) -> i64 {
    let shares = || {
        let there = amounts.clone().filter(|(_, total)| *total > 0);
        there.map(|(used, total)| (used as f64 / total as f64).min(1.0))
    };
    let count = shares().count().max(1) as f64;
    let mean = shares().sum::<f64>() / count;
    let variance = shares().map(|share| (share - mean).powi(2)).sum::<f64>() / count;
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
        assert_eq!(scores(BalancedAllocation::default(), &asking(json!({"memory": "4Gi"})), nodes()), [87, 62]);
        assert_eq!(scores(BalancedAllocation::default(), &pod(json!({})), nodes()), [0, 0]);
    }
}
