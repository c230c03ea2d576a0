//! Whether a node is one that a pod asks for: its `nodeSelector`, the required terms of its
//! node affinity, and the weights of the preferred ones. The scheduler filters and scores by
//! it, the kubelet admits by it, the daemon set controller and volumes choose nodes by it.
//!
//! Upstream: component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go.

use super::label_selector::{contains, holds};
use crate::view::List;
use crate::view::core::v1::{
    NodeAffinityView, NodeSelectorRequirementView, NodeSelectorTermView, NodeSelectorView, NodeView, PodSpecView,
    PreferredSchedulingTermView,
};

/// Whether the pod's `nodeSelector` and its required node affinity both match the node.
pub fn matches_required(spec: PodSpecView<'_>, node: NodeView<'_>) -> bool {
    contains(node.metadata().labels(), spec.node_selector())
        && required_affinity(spec).is_none_or(|selector| matches_node_selector(selector, node))
}

/// Whether any term matches. A selector without terms matches no node.
pub fn matches_node_selector(selector: NodeSelectorView<'_>, node: NodeView<'_>) -> bool {
    selector.node_selector_terms().iter().any(|term| matches_term(term, node))
}

/// Whether all requirements of the term hold. A term without any matches no node, and
/// neither does a term with a requirement that is not valid.
pub fn matches_term(term: NodeSelectorTermView<'_>, node: NodeView<'_>) -> bool {
    let (expressions, fields) = (term.match_expressions(), term.match_fields());
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    let labels = node.metadata().labels();
    expressions.iter().all(|requirement| matches_label(requirement, labels.get(requirement.key())))
        && fields.iter().all(|requirement| matches_field(requirement, node))
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
fn matches_field(requirement: NodeSelectorRequirementView<'_>, node: NodeView<'_>) -> bool {
    let mut values = requirement.values().iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let name = node.metadata().name();
    let own = if requirement.key() == "metadata.name" { name } else { "" };
    match requirement.operator() {
        "In" => name.is_empty() || own == value,
        "NotIn" => name.is_empty() || own != value,
        _ => false,
    }
}
