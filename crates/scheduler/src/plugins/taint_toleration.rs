//! TaintToleration: taints keep away pods that do not tolerate them; of the nodes left,
//! those with the fewest taints that ask pods to stay away are preferred.

use crate::framework::{ClusterEvent, CycleState, Filter, Hint, Plugin, Rejection, Score, normalize};
use crate::snapshot::{NodeInfo, Snapshot};
use crate::view::{Node, Pod};
use k8s_openapi::api::core::v1::{Taint, Toleration};

pub struct TaintToleration;

const NAME: &str = "TaintToleration";

/// Whether any toleration covers the taint.
pub fn tolerates(tolerations: &[Toleration], taint: &Taint) -> bool {
    tolerations.iter().any(|toleration| {
        let is_or_blank =
            |own: &Option<String>, other: &str| own.as_deref().is_none_or(|own| own.is_empty() || own == other);
        if !is_or_blank(&toleration.effect, &taint.effect) || !is_or_blank(&toleration.key, &taint.key) {
            return false;
        }
        match toleration.operator.as_deref().unwrap_or_default() {
            "" | "Equal" => {
                toleration.value.as_deref().unwrap_or_default() == taint.value.as_deref().unwrap_or_default()
            }
            "Exists" => true,
            _ => false,
        }
    })
}

fn is_kept_away(pod: &Pod, node: &Node) -> bool {
    node.spec
        .taints
        .iter()
        .filter(|taint| matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute"))
        .any(|taint| !tolerates(&pod.spec.tolerations, taint))
}

impl Plugin for TaintToleration {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event {
            ClusterEvent::NodeAdded(node) => !is_kept_away(pod, node),
            ClusterEvent::NodeUpdated { old, new } => is_kept_away(pod, old) && !is_kept_away(pod, new),
            ClusterEvent::PodUpdated { old, new } => {
                new.uid() == pod.uid() && new.spec.tolerations != old.spec.tolerations
            }
            ClusterEvent::PodRemoved(_) => false,
        })
    }

    fn as_filter(&self) -> Option<&dyn Filter> {
        Some(self)
    }

    fn as_score(&self) -> Option<&dyn Score> {
        Some(self)
    }
}

impl Filter for TaintToleration {
    fn filter(&self, _state: &CycleState, pod: &Pod, node: &NodeInfo) -> Result<(), Rejection> {
        if is_kept_away(pod, &node.node) {
            return Err(Rejection::unresolvable(NAME, "node(s) had untolerated taint(s)"));
        }
        Ok(())
    }
}

impl Score for TaintToleration {
    fn score(&self, _state: &CycleState, pod: &Pod, node: &NodeInfo, _snapshot: &Snapshot) -> i64 {
        let discouraging = node.node.spec.taints.iter().filter(|taint| taint.effect == "PreferNoSchedule");
        let untolerated = discouraging.filter(|taint| !tolerates(&pod.spec.tolerations, taint)).count();
        i64::try_from(untolerated).unwrap_or(i64::MAX)
    }

    fn normalize(&self, scores: &mut [i64]) {
        normalize(scores, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons, scores};
    use serde_json::{Value, json};

    fn tainted(name: &str, taints: Value) -> Node {
        node(name, json!({"spec": {"taints": taints}}))
    }

    fn check(tolerations: Value, taints: Value, fits: bool) {
        let pod = pod(json!({"tolerations": tolerations}));
        let found = reasons(TaintToleration, &pod, &holding(tainted("a", taints.clone()), &[]));
        let expected: &[&str] = if fits { &[] } else { &["node(s) had untolerated taint(s)"] };
        assert_eq!(found, expected, "{tolerations} on {taints}");
    }

    #[test]
    fn taints_keep_away_who_does_not_tolerate_them() {
        let taint = json!([{"key": "k", "value": "v", "effect": "NoSchedule"}]);
        check(json!([]), json!([]), true);
        check(json!([]), taint.clone(), false);
        check(json!([{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]), taint.clone(), true);
        check(json!([{"key": "k", "value": "v"}]), taint.clone(), true);
        check(json!([{"key": "k", "value": "w"}]), taint.clone(), false);
        check(json!([{"key": "k", "operator": "Exists", "effect": "NoExecute"}]), taint.clone(), false);
        check(json!([{"operator": "Exists"}]), taint, true);
        check(json!([]), json!([{"key": "k", "effect": "NoExecute"}]), false);
        check(json!([]), json!([{"key": "k", "effect": "PreferNoSchedule"}]), true);
    }

    #[test]
    fn nodes_that_discourage_less_score_more() {
        let soft = |name: &str| json!({"key": name, "effect": "PreferNoSchedule"});
        let nodes = vec![
            holding(tainted("a", json!([])), &[]),
            holding(tainted("b", json!([soft("x")])), &[]),
            holding(tainted("c", json!([soft("x"), soft("y")])), &[]),
        ];
        assert_eq!(scores(TaintToleration, &pod(json!({})), nodes), [100, 50, 0]);
    }

    #[test]
    fn a_taint_that_goes_wakes_the_pod() {
        let (with, without) = (tainted("a", json!([{"key": "k", "effect": "NoSchedule"}])), tainted("a", json!([])));
        let hint = |old, new| TaintToleration.hint(&pod(json!({})), &ClusterEvent::NodeUpdated { old, new });
        assert_eq!((hint(&with, &without), hint(&without, &without)), (Hint::Queue, Hint::Skip));
    }
}
