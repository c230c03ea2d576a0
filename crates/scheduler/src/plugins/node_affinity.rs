//! NodeAffinity: `nodeSelector` and the required node affinity restrict the nodes that a pod
//! may run on, the preferred one ranks them.

use crate::framework::{
    Action, Change, ClusterEvent, CycleState, Filter, Hint, Plugin, Points, PreFilter, PreFilterResult, PreScore,
    PreScoreResult, Rejection, Resource, Score, Watch, normalize, points,
};
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::snapshot::Snapshot;
use crate::topology::{PreferredNodes, RequiredNodes};
use ferry_api::rules::node_selector::{matches_node_selector, matches_required, preferred_terms, required_affinity};
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{NodeAffinity as Affinity, NodeSelectorTermView};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The affinity that the profile adds to that of every pod, none by default.
#[derive(Default)]
pub struct NodeAffinity {
    added: Option<Affinity>,
}

const NAME: &str = "NodeAffinity";

/// The nodes that a cycle's pod may run on, as the pod and as the profile has it.
struct Required {
    by_pod: Option<RequiredNodes>,
    by_profile: Option<RequiredNodes>,
}

impl NodeAffinity {
    pub fn new(added: Option<Affinity>) -> Self {
        Self { added }
    }

    /// Whether the node is one the pod may run on.
    fn is_match(&self, pod: &PodInfo, node: &NodeInfo) -> bool {
        let added =
            self.added.as_ref().and_then(|added| added.view().required_during_scheduling_ignored_during_execution());
        matches_required(pod.spec(), node.view()) && added.is_none_or(|added| matches_node_selector(added, node.view()))
    }
}

/// The nodes that a term names, `None` if it names none.
fn named_nodes(term: NodeSelectorTermView<'_>) -> Option<BTreeSet<String>> {
    let fields = term.match_fields().iter();
    let by_name = fields.filter(|field| field.key() == "metadata.name" && field.operator() == "In");
    by_name
        .map(|field| field.values().iter().map(str::to_owned).collect::<BTreeSet<_>>())
        .reduce(|nodes, others| nodes.intersection(&others).cloned().collect())
}

impl Plugin for NodeAffinity {
    fn name(&self) -> &'static str {
        NAME
    }

    fn points(self: Arc<Self>) -> Points {
        points!(self: pre_filter, filter, pre_score, score)
    }

    fn watches(&self) -> &'static [Watch] {
        const { &[Watch::new(Resource::NODE, &[Action::Add, Action::Update]), Watch::new(Resource::POD, &[Action::Update])] }
    }

    fn hint(&self, pod: &PodInfo, event: &ClusterEvent<'_>) -> Hint {
        Hint::queue_if(match event.node() {
            Some(Change::Added(node)) => self.is_match(pod, node),
            Some(Change::Updated { old, new }) => self.is_match(pod, new) && !self.is_match(pod, old),
            // Gated pods may be given a narrower selector while they wait.
            _ => {
                event.update_of(pod).is_some_and(|(old, new)| old.spec().node_selector() != new.spec().node_selector())
            }
        })
    }
}

impl PreFilter for NodeAffinity {
    /// Terms that name nodes narrow the search down to them, as the pods of daemon sets do.
    fn pre_filter(&self, state: &mut CycleState, pod: &PodInfo, snapshot: &Snapshot) -> PreFilterResult {
        let mut index = snapshot.topology();
        let added =
            self.added.as_ref().and_then(|added| added.view().required_during_scheduling_ignored_during_execution());
        let required = Required {
            by_pod: RequiredNodes::of(pod.spec(), &mut index),
            by_profile: added.map(|selector| RequiredNodes::of_selector(selector, &mut index)),
        };
        if required.by_pod.is_none() && required.by_profile.is_none() {
            return PreFilterResult::Skip;
        }
        state.write(required);
        let Some(selector) = required_affinity(pod.spec()) else { return PreFilterResult::AllNodes };
        let terms = selector.node_selector_terms();
        if terms.is_empty() {
            return PreFilterResult::AllNodes;
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        for term in terms {
            match named_nodes(term) {
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
    fn filter(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<(), Rejection> {
        let Some(Required { by_pod, by_profile }) = state.read() else { return Ok(()) };
        let matches = |required: &Option<RequiredNodes>| required.as_ref().is_none_or(|nodes| nodes.matches(node));
        if !matches(by_profile) {
            return Err(Rejection::unresolvable(NAME, "node(s) didn't match scheduler-enforced node affinity"));
        }
        if matches(by_pod) {
            return Ok(());
        }
        Err(Rejection::unresolvable(NAME, "node(s) didn't match Pod's node affinity/selector"))
    }
}

impl PreScore for NodeAffinity {
    fn pre_score(
        &self,
        state: &mut CycleState,
        pod: &PodInfo,
        _nodes: &[&NodeInfo],
        snapshot: &Snapshot,
    ) -> PreScoreResult {
        let mut preferred = PreferredNodes::default();
        let mut index = snapshot.topology();
        preferred.add(preferred_terms(pod.spec()), &mut index);
        if let Some(added) = &self.added {
            preferred.add(added.view().preferred_during_scheduling_ignored_during_execution(), &mut index);
        }
        if preferred.is_empty() {
            return PreScoreResult::Skip;
        }
        state.write(preferred);
        PreScoreResult::Run
    }
}

impl Score for NodeAffinity {
    fn score(&self, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> i64 {
        state.read().map_or(0, |preferred: &PreferredNodes| preferred.score(node))
    }

    fn normalize(&self, scores: &mut [i64]) {
        normalize(scores);
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

    fn requiring(terms: Value) -> PodInfo {
        pod(
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}),
        )
    }

    fn check(pod: &PodInfo, expected: &[&str]) {
        assert_eq!(reasons(NodeAffinity::default(), pod, &labelled("a")), expected);
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
        let nodes = |terms: Value| {
            NodeAffinity::default().pre_filter(&mut CycleState::default(), &requiring(terms), &Snapshot::default())
        };
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
        assert_eq!(
            scores(NodeAffinity::default(), &pod, vec![labelled("a"), labelled("b"), labelled("c")]),
            [100, 50, 0]
        );
    }
}
