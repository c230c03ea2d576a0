//! Whether a node is one for a daemon pod: its name, labels and taints against what the
//! set's template asks for. Asked for every node by plan.rs and status.rs.

use super::pod::daemon_tolerations;
use crate::taint_eviction::tolerates;
use k8s_openapi::api::core::v1::{Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, PodTemplateSpec};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// A pod that is missing is made.
    pub run: bool,
    /// A pod that is there may stay: only NoExecute taints drive it out.
    pub keep: bool,
}

impl Fit {
    const NONE: Self = Self { run: false, keep: false };
}

pub fn name(node: &Node) -> &str {
    node.metadata.name.as_deref().unwrap_or_default()
}

pub fn judge(node: &Node, template: &PodTemplateSpec) -> Fit {
    let none = PodSpec::default();
    let spec = template.spec.as_ref().unwrap_or(&none);
    let wanted_name = spec.node_name.as_deref().unwrap_or_default();
    if !(wanted_name.is_empty() || wanted_name == name(node)) || !fits_affinity(node, spec) {
        return Fit::NONE;
    }
    let tolerations = daemon_tolerations(spec);
    let untolerated = |effects: &[&str]| {
        let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
        taints
            .filter(|taint| effects.contains(&taint.effect.as_str()))
            .any(|taint| !tolerations.iter().any(|toleration| tolerates(toleration, taint)))
    };
    Fit { run: !untolerated(&["NoSchedule", "NoExecute"]), keep: !untolerated(&["NoExecute"]) }
}

/// The node selector and the required node affinity.
fn fits_affinity(node: &Node, spec: &PodSpec) -> bool {
    let label = |key: &str| node.metadata.labels.as_ref().and_then(|labels| labels.get(key)).map(String::as_str);
    let selected = spec.node_selector.iter().flatten().all(|(key, value)| label(key) == Some(value));
    let required = spec
        .affinity
        .as_ref()
        .and_then(|affinity| affinity.node_affinity.as_ref())
        .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
    selected && required.is_none_or(|required| required.node_selector_terms.iter().any(|term| matches(term, node)))
}

/// A term without any requirement matches nothing.
fn matches(term: &NodeSelectorTerm, node: &Node) -> bool {
    let labels = node.metadata.labels.as_ref();
    let expressions = term.match_expressions.as_deref().unwrap_or_default();
    let fields = term.match_fields.as_deref().unwrap_or_default();
    (!expressions.is_empty() || !fields.is_empty())
        && expressions.iter().all(|expression| {
            holds(expression, labels.and_then(|labels| labels.get(&expression.key)).map(String::as_str))
        })
        && fields.iter().all(|field| field.key == "metadata.name" && holds(field, Some(name(node))))
}

fn holds(requirement: &NodeSelectorRequirement, value: Option<&str>) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    let listed = || value.is_some_and(|value| values.iter().any(|wanted| wanted == value));
    let compared = |compare: fn(i64, i64) -> bool| match (value.map(str::parse), values.first().map(|v| v.parse())) {
        (Some(Ok(value)), Some(Ok(bound))) => compare(value, bound),
        _ => false,
    };
    match requirement.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => compared(|value, bound| value > bound),
        "Lt" => compared(|value, bound| value < bound),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(node: Value, spec: Value, run: bool, keep: bool) {
        let mut spec = spec;
        spec["containers"] = json!([]);
        let template = serde_json::from_value(json!({"spec": spec})).expect("a template");
        let node: Node = serde_json::from_value(node).expect("a node");
        assert_eq!(judge(&node, &template), Fit { run, keep }, "{template:?}");
    }

    #[test]
    fn names_labels_and_affinity_choose_nodes() {
        let node = || json!({"metadata": {"name": "n1", "labels": {"disk": "ssd", "cores": "8"}}});
        check(node(), json!({}), true, true);
        check(node(), json!({"nodeName": "n2"}), false, false);
        check(node(), json!({"nodeSelector": {"disk": "ssd"}}), true, true);
        check(node(), json!({"nodeSelector": {"disk": "hdd"}}), false, false);
        let affinity = |terms: Value| {
            json!({"affinity": {"nodeAffinity":
            {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}})
        };
        let expression = |key: &str, operator: &str, values: Value| {
            json!([{"matchExpressions":
            [{"key": key, "operator": operator, "values": values}]}])
        };
        check(node(), affinity(expression("cores", "Gt", json!(["4"]))), true, true);
        check(node(), affinity(expression("cores", "Lt", json!(["4"]))), false, false);
        check(node(), affinity(json!([{}])), false, false);
        let by_name = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]);
        check(node(), affinity(by_name), true, true);
    }

    #[test]
    fn taints_keep_new_pods_out_and_drive_old_ones_away() {
        let node = |key: &str, effect: &str| {
            json!({"metadata": {"name": "n1"},
            "spec": {"taints": [{"key": key, "effect": effect}]}})
        };
        check(node("mine", "NoSchedule"), json!({}), false, true);
        check(node("mine", "NoExecute"), json!({}), false, false);
        check(node("mine", "PreferNoSchedule"), json!({}), true, true);
        check(node("mine", "NoSchedule"), json!({"tolerations": [{"key": "mine", "operator": "Exists"}]}), true, true);
        check(node("node.kubernetes.io/not-ready", "NoExecute"), json!({}), true, true);
        check(node("node.kubernetes.io/unschedulable", "NoSchedule"), json!({}), true, true);
        check(node("node.kubernetes.io/network-unavailable", "NoSchedule"), json!({}), false, true);
        check(node("node.kubernetes.io/network-unavailable", "NoSchedule"), json!({"hostNetwork": true}), true, true);
    }
}
