//! Whether a node is one for a daemon pod: its name, labels and taints against what the
//! set's template asks for. Asked for every node by plan.rs and status.rs.

use super::pod::daemon_tolerations;
use ferry_api::rules::node_selector::matches_required;
use ferry_api::rules::toleration::{DRIVES_OUT, KEEPS_OUT, find_untolerated};
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{NodeView, PodSpecView, PodTemplateSpecView, Toleration};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// A pod that is missing is made.
    pub run: bool,
    /// A pod that is there may stay: only NoExecute taints drive it out.
    pub keep: bool,
}

impl Fit {
    pub(super) const NONE: Self = Self { run: false, keep: false };
}

/// What a template asks of a node.
pub(super) struct Criteria<'a> {
    spec: PodSpecView<'a>,
    tolerations: Vec<Toleration>,
}

impl<'a> Criteria<'a> {
    pub(super) fn of(template: PodTemplateSpecView<'a>) -> Self {
        Self { spec: template.spec(), tolerations: daemon_tolerations(template.spec()) }
    }

    pub(super) fn judge(&self, node: NodeView<'_>) -> Fit {
        let wanted_name = self.spec.node_name();
        let is_named = wanted_name.is_empty() || wanted_name == node.metadata().name();
        if !is_named || !matches_required(self.spec, node) {
            return Fit::NONE;
        }
        let is_tolerated = |effects: &[&str]| {
            let tolerations = self.tolerations.iter().map(Owned::view);
            find_untolerated(node.spec().taints(), tolerations, effects).is_none()
        };
        Fit { run: is_tolerated(KEEPS_OUT), keep: is_tolerated(DRIVES_OUT) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn check(node: Value, spec: Value, run: bool, keep: bool) {
        let mut spec = spec;
        spec["containers"] = json!([]);
        let template = json!({"spec": spec});
        let fit = Criteria::of((&template).into()).judge((&node).into());
        assert_eq!(fit, Fit { run, keep }, "{template}");
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
