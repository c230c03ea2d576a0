//! NodeAffinity: `nodeSelector` and the required node affinity say where a pod may run,
//! the preferred one where it would rather.

use crate::framework::{
    ClusterEvent, CycleState, Filter, Hint, Plugin, PreFilter, PreFilterResult, PreScore, PreScoreResult, Rejection,
    Score, normalize,
};
use crate::snapshot::{NodeInfo, Snapshot};
use crate::view::{Node, Pod};
use k8s_openapi::api::core::v1::{
    NodeAffinity as NodeAffinitySpec, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm,
};
use std::collections::BTreeSet;
use std::sync::Arc;

pub struct NodeAffinity;

const NAME: &str = "NodeAffinity";

fn affinity(pod: &Pod) -> Option<&NodeAffinitySpec> {
    pod.spec.affinity.as_ref()?.node_affinity.as_ref()
}

fn required(pod: &Pod) -> Option<&NodeSelector> {
    affinity(pod)?.required_during_scheduling_ignored_during_execution.as_ref()
}

/// Whether the node is one the pod may run on.
fn is_match(pod: &Pod, node: &Node) -> bool {
    pod.spec.node_selector.iter().all(|(key, value)| node.label(key) == Some(value))
        && required(pod).is_none_or(|selector| selector.node_selector_terms.iter().any(|term| matches_term(term, node)))
}

/// A term without any requirement matches nothing.
fn matches_term(term: &NodeSelectorTerm, node: &Node) -> bool {
    let expressions = term.match_expressions.as_deref().unwrap_or_default();
    let fields = term.match_fields.as_deref().unwrap_or_default();
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    expressions.iter().all(|requirement| matches_label(requirement, node.label(&requirement.key)))
        && fields.iter().all(|requirement| matches_field(requirement, node))
}

fn matches_label(requirement: &NodeSelectorRequirement, label: Option<&str>) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    let has = |label: &str| values.iter().any(|value| value == label);
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = || match values {
        [value] => number(value),
        _ => None,
    };
    match requirement.operator.as_str() {
        "In" => label.is_some_and(has),
        "NotIn" => label.is_none_or(|label| !has(label)),
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        "Gt" => label.and_then(number).zip(bound()).is_some_and(|(own, bound)| own > bound),
        "Lt" => label.and_then(number).zip(bound()).is_some_and(|(own, bound)| own < bound),
        _ => false,
    }
}

/// The only field there is to match is the name, against exactly one value.
fn matches_field(requirement: &NodeSelectorRequirement, node: &Node) -> bool {
    let [value] = requirement.values.as_deref().unwrap_or_default() else { return false };
    let own = if requirement.key == "metadata.name" { node.name() } else { "" };
    match requirement.operator.as_str() {
        "In" => own == value,
        "NotIn" => own != value,
        _ => false,
    }
}

impl Plugin for NodeAffinity {
    fn name(&self) -> &'static str {
        NAME
    }

    fn hint(&self, pod: &Pod, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event {
            ClusterEvent::NodeAdded(node) => is_match(pod, node),
            ClusterEvent::NodeUpdated { old, new } => is_match(pod, new) && !is_match(pod, old),
            // Gated pods may be given a narrower selector while they wait.
            ClusterEvent::PodUpdated { old, new } => {
                new.uid() == pod.uid() && new.spec.node_selector != old.spec.node_selector
            }
            ClusterEvent::PodRemoved(_) => false,
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

impl PreFilter for NodeAffinity {
    /// Terms that name nodes narrow the search down to them, as the pods of daemon sets do.
    fn pre_filter(&self, _state: &mut CycleState, pod: &Pod) -> PreFilterResult {
        let Some(selector) = required(pod) else {
            return if pod.spec.node_selector.is_empty() { PreFilterResult::Skip } else { PreFilterResult::AllNodes };
        };
        if selector.node_selector_terms.is_empty() {
            return PreFilterResult::AllNodes;
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        for term in &selector.node_selector_terms {
            let mut of_term: Option<BTreeSet<String>> = None;
            for field in term.match_fields.as_deref().unwrap_or_default() {
                if field.key == "metadata.name" && field.operator == "In" {
                    let values: BTreeSet<String> = field.values.iter().flatten().cloned().collect();
                    of_term = Some(match of_term {
                        None => values,
                        Some(others) => others.intersection(&values).cloned().collect(),
                    });
                }
            }
            match of_term {
                None => return PreFilterResult::AllNodes,
                Some(of_term) => names.extend(of_term),
            }
        }
        if names.is_empty() {
            return PreFilterResult::Reject(Rejection::unresolvable(NAME, "pod affinity terms conflict"));
        }
        PreFilterResult::Nodes(names)
    }
}

impl Filter for NodeAffinity {
    fn filter(&self, _state: &CycleState, pod: &Pod, node: &NodeInfo) -> Result<(), Rejection> {
        if is_match(pod, &node.node) {
            return Ok(());
        }
        Err(Rejection::unresolvable(NAME, "node(s) didn't match Pod's node affinity/selector"))
    }
}

impl PreScore for NodeAffinity {
    fn pre_score(&self, _state: &mut CycleState, pod: &Pod, _nodes: &[Arc<NodeInfo>]) -> PreScoreResult {
        let preferred = affinity(pod).and_then(|a| a.preferred_during_scheduling_ignored_during_execution.as_ref());
        if preferred.is_some() { PreScoreResult::Run } else { PreScoreResult::Skip }
    }
}

impl Score for NodeAffinity {
    fn score(&self, _state: &CycleState, pod: &Pod, node: &NodeInfo, _snapshot: &Snapshot) -> i64 {
        affinity(pod)
            .and_then(|affinity| affinity.preferred_during_scheduling_ignored_during_execution.as_deref())
            .unwrap_or_default()
            .iter()
            .filter(|term| matches_term(&term.preference, &node.node))
            .map(|term| i64::from(term.weight))
            .sum()
    }

    fn normalize(&self, scores: &mut [i64]) {
        normalize(scores, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{holding, node, pod, reasons, scores};
    use serde_json::{Value, json};

    const MISMATCH: &str = "node(s) didn't match Pod's node affinity/selector";

    fn labelled(name: &str) -> NodeInfo {
        holding(node(name, json!({"metadata": {"labels": {"zone": name, "size": "5"}}})), &[])
    }

    fn requiring(terms: Value) -> Pod {
        pod(
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}),
        )
    }

    fn check(pod: &Pod, expected: &[&str]) {
        assert_eq!(reasons(NodeAffinity, pod, &labelled("a")), expected);
    }

    fn check_expression(expression: Value, fits: bool) {
        let pod = requiring(json!([{"matchExpressions": [expression]}]));
        check(&pod, if fits { &[] } else { &[MISMATCH] });
    }

    #[test]
    fn selectors_must_match() {
        check(&pod(json!({})), &[]);
        check(&pod(json!({"nodeSelector": {"zone": "a"}})), &[]);
        check(&pod(json!({"nodeSelector": {"zone": "b"}})), &[MISMATCH]);
    }

    #[test]
    fn every_operator_works() {
        check_expression(json!({"key": "zone", "operator": "In", "values": ["a", "b"]}), true);
        check_expression(json!({"key": "zone", "operator": "In", "values": ["b"]}), false);
        check_expression(json!({"key": "zone", "operator": "NotIn", "values": ["b"]}), true);
        check_expression(json!({"key": "none", "operator": "NotIn", "values": ["b"]}), true);
        check_expression(json!({"key": "zone", "operator": "Exists"}), true);
        check_expression(json!({"key": "zone", "operator": "DoesNotExist"}), false);
        check_expression(json!({"key": "size", "operator": "Gt", "values": ["4"]}), true);
        check_expression(json!({"key": "size", "operator": "Lt", "values": ["4"]}), false);
        check_expression(json!({"key": "zone", "operator": "Gt", "values": ["4"]}), false);
    }

    #[test]
    fn terms_are_alternatives_and_an_empty_one_matches_nothing() {
        let zone = |zone: &str| json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]});
        check(&requiring(json!([zone("b"), zone("a")])), &[]);
        check(&requiring(json!([{}])), &[MISMATCH]);
        check(&requiring(json!([])), &[MISMATCH]);
    }

    #[test]
    fn names_narrow_the_search_down() {
        let named =
            |values: &[&str]| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": values}]});
        let nodes = |terms: Value| NodeAffinity.pre_filter(&mut CycleState::default(), &requiring(terms));
        match nodes(json!([named(&["a"]), named(&["b"])])) {
            PreFilterResult::Nodes(names) => assert_eq!(names, BTreeSet::from(["a".to_owned(), "b".to_owned()])),
            _ => panic!("two nodes"),
        }
        let conflict = json!([{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["a"]},
            {"key": "metadata.name", "operator": "In", "values": ["b"]},
        ]}]);
        check(&requiring(conflict), &["pod affinity terms conflict"]);
        check(&requiring(json!([named(&["a"])])), &[]);
        check(&requiring(json!([named(&["b"])])), &[MISMATCH]);
    }

    #[test]
    fn preferences_add_up() {
        let prefer = |zone: &str, weight: i32| json!({"weight": weight, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}});
        let pod = pod(
            json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefer("a", 10), prefer("b", 5)]}}}),
        );
        assert_eq!(scores(NodeAffinity, &pod, vec![labelled("a"), labelled("b"), labelled("c")]), [100, 50, 0]);
    }
}
