//! Whether a node is one that a pod asks for: its `nodeSelector`, the required terms of its
//! node affinity, and the weights of the preferred ones. The scheduler filters and scores by
//! it, the kubelet admits by it, the daemon set controller and volumes choose nodes by it.
//!
//! Upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go.

use super::label_selector::{contains, holds};
use crate::view::core::v1::{
    NodeAffinityView, NodeSelectorRequirementView, NodeSelectorTermView, NodeSelectorView, NodeView, PodSpecView,
    PreferredSchedulingTermView,
};
use crate::view::{List, Map};

/// Whether the pod's `nodeSelector` and its required node affinity both match the node.
pub fn matches_required(spec: PodSpecView<'_>, node: NodeView<'_>) -> bool {
    contains(node.metadata().labels(), spec.node_selector())
        && required_affinity(spec).is_none_or(|selector| matches_node_selector(selector, node))
}

/// Whether any term matches. A selector without terms matches no node.
pub fn matches_node_selector(selector: NodeSelectorView<'_>, node: NodeView<'_>) -> bool {
    selector.node_selector_terms().iter().any(|term| matches_term(term, node))
}

/// Whether any term matches a node of these labels. The name is not known and so cannot
/// rule the node out, as with a template of new nodes.
pub fn matches_labels(selector: NodeSelectorView<'_>, labels: Map<'_, &str>) -> bool {
    selector.node_selector_terms().iter().any(|term| matches_parts(term, labels, ""))
}

/// Whether all requirements of the term hold. A term without any matches no node, and
/// neither does a term with a requirement that is not valid.
pub fn matches_term(term: NodeSelectorTermView<'_>, node: NodeView<'_>) -> bool {
    matches_parts(term, node.metadata().labels(), node.metadata().name())
}

fn matches_parts(term: NodeSelectorTermView<'_>, labels: Map<'_, &str>, name: &str) -> bool {
    let (expressions, fields) = (term.match_expressions(), term.match_fields());
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    expressions.iter().all(|requirement| matches_label(requirement, labels.get(requirement.key())))
        && fields.iter().all(|requirement| matches_field(requirement, name))
}

/// The sum of the weights of the preferred terms that match the node.
pub fn preferred_score(spec: PodSpecView<'_>, node: NodeView<'_>) -> i64 {
    let matching = preferred_terms(spec).iter().filter(|term| matches_term(term.preference(), node));
    matching.map(|term| i64::from(term.weight())).sum()
}

/// The node affinity that a node must match.
pub fn required_affinity(spec: PodSpecView<'_>) -> Option<NodeSelectorView<'_>> {
    node_affinity(spec)?.required_during_scheduling_ignored_during_execution()
}

/// The node affinity that a node had better match.
pub fn preferred_terms(spec: PodSpecView<'_>) -> List<'_, PreferredSchedulingTermView<'_>> {
    node_affinity(spec).map(NodeAffinityView::preferred_during_scheduling_ignored_during_execution).unwrap_or_default()
}

fn node_affinity(spec: PodSpecView<'_>) -> Option<NodeAffinityView<'_>> {
    spec.affinity()?.node_affinity()
}

fn matches_label(requirement: NodeSelectorRequirementView<'_>, label: Option<&str>) -> bool {
    holds(requirement.key(), requirement.operator(), requirement.values(), label)
}

/// The name is the only field there is, and exactly one value can be asked for. A node
/// without a name, as templates of new nodes are, matches whatever is asked.
fn matches_field(requirement: NodeSelectorRequirementView<'_>, name: &str) -> bool {
    let mut values = requirement.values().iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let own = if requirement.key() == "metadata.name" { name } else { "" };
    match requirement.operator() {
        "In" => name.is_empty() || own == value,
        "NotIn" => name.is_empty() || own != value,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn node() -> Value {
        json!({"metadata": {"name": "n1", "labels": {"zone": "a", "size": "5"}}})
    }

    fn requiring(terms: Value) -> Value {
        let required = json!({"nodeSelectorTerms": terms});
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}})
    }

    #[track_caller]
    fn check(spec: Value, expected: bool) {
        assert_eq!(matches_required(PodSpecView::from(&spec), NodeView::from(&node())), expected, "{spec}");
    }

    #[test]
    fn every_operator_reads_labels_as_upstream_does() {
        let check = |key: &str, operator: &str, values: &[&str], expected: bool| {
            let expression = json!({"key": key, "operator": operator, "values": values});
            check(requiring(json!([{"matchExpressions": [expression]}])), expected);
        };
        check("zone", "In", &["a", "b"], true);
        check("zone", "In", &["b"], false);
        check("zone", "In", &[], false);
        check("zone", "NotIn", &["b"], true);
        check("none", "NotIn", &["b"], true);
        check("zone", "NotIn", &["a"], false);
        check("zone", "NotIn", &[], false);
        check("zone", "Exists", &[], true);
        check("zone", "Exists", &["a"], false);
        check("none", "Exists", &[], false);
        check("none", "DoesNotExist", &[], true);
        check("zone", "DoesNotExist", &[], false);
        check("size", "Gt", &["4"], true);
        check("size", "Gt", &["5"], false);
        check("size", "Lt", &["6"], true);
        check("size", "Lt", &["4"], false);
        check("size", "Gt", &["4", "1"], false);
        check("size", "Gt", &["-4"], false);
        check("zone", "Gt", &["4"], false);
        check("none", "Lt", &["4"], false);
        check("zone", "Equals", &["a"], false);
        check("not a key", "DoesNotExist", &[], false);
        check("zone", "NotIn", &["not a value"], false);
    }

    #[test]
    fn the_name_is_the_only_field_and_has_one_value() {
        let check = |key: &str, operator: &str, values: &[&str], expected: bool| {
            let field = json!({"key": key, "operator": operator, "values": values});
            check(requiring(json!([{"matchFields": [field]}])), expected);
        };
        check("metadata.name", "In", &["n1"], true);
        check("metadata.name", "In", &["n2"], false);
        check("metadata.name", "In", &["n1", "n2"], false);
        check("metadata.name", "NotIn", &["n2"], true);
        check("metadata.name", "NotIn", &["n1"], false);
        check("metadata.name", "Exists", &[], false);
        check("metadata.uid", "In", &["n1"], false);
        check("metadata.uid", "NotIn", &["n1"], true);
    }

    #[test]
    fn terms_are_alternatives_and_an_empty_one_matches_nothing() {
        let zone = |zone: &str| json!({"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]});
        check(requiring(json!([zone("b"), zone("a")])), true);
        check(requiring(json!([zone("b"), zone("c")])), false);
        check(requiring(json!([{}])), false);
        check(requiring(json!([{}, zone("a")])), true);
        check(requiring(json!([])), false);
        let mut both = zone("a");
        both["matchFields"] = json!([{"key": "metadata.name", "operator": "In", "values": ["n2"]}]);
        check(requiring(json!([both])), false);
    }

    #[test]
    fn the_node_selector_must_match_as_well() {
        check(json!({}), true);
        check(json!({"nodeSelector": {"zone": "a"}}), true);
        check(json!({"nodeSelector": {"zone": "a", "size": "6"}}), false);
        let mut spec = requiring(json!([{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]));
        spec["nodeSelector"] = json!({"zone": "b"});
        check(spec, false);
    }

    #[test]
    fn the_weights_of_the_preferred_terms_that_match_add_up() {
        let prefer = |zone: &str, weight: i32| {
            let expression = json!({"key": "zone", "operator": "In", "values": [zone]});
            json!({"weight": weight, "preference": {"matchExpressions": [expression]}})
        };
        let check = |terms: Value, expected: i64| {
            let spec =
                json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}});
            assert_eq!(preferred_score(PodSpecView::from(&spec), NodeView::from(&node())), expected, "{spec}");
        };
        check(json!([]), 0);
        check(json!([prefer("a", 10), prefer("b", 5)]), 10);
        check(json!([prefer("a", 10), prefer("a", 7)]), 17);
        check(json!([{"weight": 3, "preference": {}}]), 0);
    }
}
