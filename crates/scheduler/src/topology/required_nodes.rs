//! A pod's `nodeSelector` and node affinity, compiled to comparisons of numbers: the search
//! asks for thousands of nodes. The rule is that of [`ferry_api::rules::node_selector`],
//! which a test holds it against.

use super::{LabelColumn, NONE, TopologyIndex};
use crate::node_info::NodeInfo;
use ferry_api::rules::node_selector::required_affinity;
use ferry_api::selector::{label_key_errors, label_value_errors};
use ferry_api::view::core::v1::{
    NodeSelectorRequirementView, NodeSelectorTermView, NodeSelectorView, PodSpecView, PreferredSchedulingTermView,
};
use std::sync::Arc;

/// The nodes that a pod may run on.
#[derive(Debug)]
pub struct RequiredNodes {
    /// Any of these; `None` where no affinity is asked for.
    terms: Option<Vec<Term>>,
    /// `nodeSelector`.
    labels: Vec<LabelTest>,
}

#[derive(Debug)]
struct Term {
    labels: Vec<LabelTest>,
    /// Requirements on the node's name, and whether it must be or must not be this.
    names: Vec<(Box<str>, bool)>,
}

#[derive(Debug)]
struct LabelTest {
    column: Arc<LabelColumn>,
    passes: Passes,
}

/// The values of a label that pass.
#[derive(Debug)]
enum Passes {
    Any,
    Absent,
    In(Vec<u32>),
    NotIn(Vec<u32>),
    /// By number of the value.
    These(Vec<bool>),
}

impl LabelTest {
    fn holds(&self, slot: u32) -> bool {
        let value = self.column.value(slot);
        match &self.passes {
            Passes::Any => value != NONE,
            Passes::Absent => value == NONE,
            Passes::In(values) => value != NONE && values.contains(&value),
            Passes::NotIn(values) => !values.contains(&value),
            Passes::These(values) => values.get(value as usize).copied().unwrap_or(false),
        }
    }
}

impl RequiredNodes {
    /// `None` for a pod that may run anywhere.
    pub fn of(spec: PodSpecView<'_>, index: &mut TopologyIndex) -> Option<Self> {
        let (selector, affinity) = (spec.node_selector(), required_affinity(spec));
        if selector.is_empty() && affinity.is_none() {
            return None;
        }
        let labels = selector.iter().map(|(key, value)| {
            let column = index.column(key);
            let passes = Passes::In(column.id(value).into_iter().collect());
            LabelTest { column, passes }
        });
        let labels = labels.collect();
        Some(Self { terms: affinity.map(|selector| compile_terms(selector, index)), labels })
    }

    /// The nodes that a selector matches, which a profile or a volume names.
    pub fn of_selector(selector: NodeSelectorView<'_>, index: &mut TopologyIndex) -> Self {
        Self { terms: Some(compile_terms(selector, index)), labels: Vec::new() }
    }

    pub fn matches(&self, node: &NodeInfo) -> bool {
        self.labels.iter().all(|test| test.holds(node.slot))
            && self.terms.as_ref().is_none_or(|terms| terms.iter().any(|term| term.matches(node)))
    }
}

/// The weights that a pod or a profile gives to nodes.
#[derive(Debug, Default)]
pub struct PreferredNodes(Vec<(Term, i64)>);

impl PreferredNodes {
    pub fn add<'a>(
        &mut self,
        terms: impl IntoIterator<Item = PreferredSchedulingTermView<'a>>,
        index: &mut TopologyIndex,
    ) {
        let compiled = terms
            .into_iter()
            .filter(|term| term.weight() != 0)
            .filter_map(|term| Some((compile_term(term.preference(), index)?, i64::from(term.weight()))));
        self.0.extend(compiled);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn score(&self, node: &NodeInfo) -> i64 {
        self.0.iter().filter(|(term, _)| term.matches(node)).map(|(_, weight)| weight).sum()
    }
}

impl Term {
    fn matches(&self, node: &NodeInfo) -> bool {
        self.labels.iter().all(|test| test.holds(node.slot))
            && self.names.iter().all(|(name, is_wanted)| (**name == *node.name()) == *is_wanted)
    }
}

fn compile_terms(selector: NodeSelectorView<'_>, index: &mut TopologyIndex) -> Vec<Term> {
    selector.node_selector_terms().iter().filter_map(|term| compile_term(term, index)).collect()
}

/// `None` for a term that matches no node: one without requirements, or with one that is not
/// valid.
fn compile_term(term: NodeSelectorTermView<'_>, index: &mut TopologyIndex) -> Option<Term> {
    let (expressions, fields) = (term.match_expressions(), term.match_fields());
    if expressions.is_empty() && fields.is_empty() {
        return None;
    }
    let labels: Option<Vec<LabelTest>> =
        expressions.iter().map(|expression| compile_label(expression, index)).collect();
    let names: Option<Vec<(Box<str>, bool)>> = fields.iter().map(compile_name).collect();
    Some(Term { labels: labels?, names: names? })
}

fn compile_label(requirement: NodeSelectorRequirementView<'_>, index: &mut TopologyIndex) -> Option<LabelTest> {
    let (key, values) = (requirement.key(), requirement.values());
    if !label_key_errors(key).is_empty() || values.iter().any(|value| !label_value_errors(value).is_empty()) {
        return None;
    }
    let column = index.column(key);
    let ids = || values.iter().filter_map(|value| column.id(value)).collect::<Vec<u32>>();
    let compare = |is_met: fn(&i64, &i64) -> bool| {
        let mut bounds = values.iter();
        let (Some(bound), None) = (bounds.next(), bounds.next()) else { return None };
        let bound = bound.parse::<i64>().ok()?;
        let numbers = 0..u32::try_from(column.values_len()).unwrap_or(NONE);
        let number = |value| column.text(value).and_then(|text| text.parse::<i64>().ok());
        Some(Passes::These(numbers.map(|value| number(value).is_some_and(|own| is_met(&own, &bound))).collect()))
    };
    let passes = match requirement.operator() {
        "In" if !values.is_empty() => Passes::In(ids()),
        "NotIn" if !values.is_empty() => Passes::NotIn(ids()),
        "Exists" if values.is_empty() => Passes::Any,
        "DoesNotExist" if values.is_empty() => Passes::Absent,
        "Gt" => compare(i64::gt)?,
        "Lt" => compare(i64::lt)?,
        _ => return None,
    };
    Some(LabelTest { column, passes })
}

fn compile_name(requirement: NodeSelectorRequirementView<'_>) -> Option<(Box<str>, bool)> {
    let mut values = requirement.values().iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    // Another field than the name reads as empty, which no node's name is.
    let is_name = requirement.key() == "metadata.name";
    match (requirement.operator(), is_name || value.is_empty()) {
        ("In", true) if is_name => Some((value.into(), true)),
        ("NotIn", true) if is_name => Some((value.into(), false)),
        ("In", true) | ("NotIn", false) => Some(("".into(), false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::{node, pod};
    use crate::snapshot::Snapshot;
    use ferry_api::rules::node_selector::matches_required;
    use serde_json::{Value, json};

    /// The compiled form answers as the rule does, for each of some nodes.
    #[track_caller]
    fn check(spec: Value) {
        let labelled = |name: &str, labels: Value| NodeInfo::of(node(name, json!({"metadata": {"labels": labels}})));
        let nodes = vec![
            labelled("a", json!({"zone": "east", "size": "5"})),
            labelled("b", json!({"zone": "west", "size": "7"})),
            labelled("c", json!({"size": "many"})),
        ];
        let (snapshot, pod) = (Snapshot::of(nodes), pod(spec.clone()));
        let required = RequiredNodes::of(pod.spec(), &mut snapshot.topology());
        for node in &snapshot.nodes {
            let compiled = required.as_ref().is_none_or(|required| required.matches(node));
            assert_eq!(compiled, matches_required(pod.spec(), node.view()), "{spec} on {}", node.name());
        }
    }

    fn requiring(terms: Value) -> Value {
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
    }

    #[test]
    fn the_compiled_form_is_the_rule() {
        check(json!({}));
        for selector in [
            json!({"zone": "east"}),
            json!({"zone": "none"}),
            json!({"none": "x"}),
            json!({"zone": "east", "size": "5"}),
        ] {
            check(json!({"nodeSelector": selector}));
        }
        let operators = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equals"];
        let lists: [&[&str]; 6] = [&[], &["east"], &["east", "west"], &["none"], &["6"], &["not valid!"]];
        for key in ["zone", "size", "none", "not valid!"] {
            for operator in operators {
                for values in lists {
                    let expression = json!({"key": key, "operator": operator, "values": values});
                    check(requiring(json!([{"matchExpressions": [expression]}])));
                    check(requiring(
                        json!([{"matchExpressions": [expression]}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}]),
                    ));
                }
            }
        }
        for operator in operators {
            for (key, values) in [
                ("metadata.name", json!(["a"])),
                ("metadata.name", json!(["a", "b"])),
                ("other", json!(["a"])),
                ("other", json!([""])),
            ] {
                check(requiring(json!([{"matchFields": [{"key": key, "operator": operator, "values": values}]}])));
            }
        }
        check(requiring(json!([])));
        check(requiring(json!([{}])));
    }
}
