//! Node: the strategy of a machine that runs pods.

use crate::pod_spec::scheduling::validate_taint_effect;
use crate::print;
use crate::read::{Read, ReadNode, field_mut, remove, set};
use crate::validation::labels::validate_label_name;
use crate::validation::network::is_dual_stack;
use crate::validation::resources::validate_amount;
use crate::{Context, Strategy, names};
use ferry_api::field::{Error, ErrorList, ErrorType, Path};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};

pub(crate) struct Node;

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";

impl Strategy for Node {
    fn default(&self, node: &mut Value) {
        if let Some(spec) = field_mut(node, "spec") {
            mirror_first_cidr(spec);
        }
        if let Some(status) = field_mut(node, "status")
            && !status.has("allocatable")
            && let Some(capacity) = status.field("capacity").cloned()
        {
            set(status, "allocatable", capacity);
        }
    }

    /// A kubelet registers with its status, so that only what was removed is cleared.
    fn prepare_for_create(&self, _context: &Context, node: &mut Value) {
        if let Some(spec) = field_mut(node, "spec") {
            remove(spec, "configSource");
        }
        if let Some(status) = field_mut(node, "status") {
            remove(status, "config");
        }
    }

    fn validate(&self, node: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let spec = node.field("spec");
        // Upstream's path says metadata, although taints are in the spec.
        validate_taints(&mut errors, spec.list("taints"), &Path::new("metadata").child("taints"));
        validate_resources(&mut errors, node);
        validate_declared_features(&mut errors, node);
        let path = Path::new("spec").child("podCIDRs");
        let ranges = spec.list("podCIDRs");
        if ranges.len() > 1 && (ranges.len() > 2 || !is_dual_stack(spec.texts("podCIDRs"))) {
            let detail = "may specify no more than one CIDR for each IP family";
            errors.push(Error::invalid(&path, ranges, detail));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate(new);
        errors.extend(validate_change(new, old));
        errors
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_change(new, old)
    }

    fn warnings(&self, node: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        let spec = node.field("spec");
        if spec.has("configSource") {
            warnings.push("spec.configSource: the feature is removed".to_owned());
        }
        if !spec.text("externalID").is_empty() {
            warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes".to_owned());
        }
        warnings
    }

    fn computed_cells(&self, node: ferry_api::document::Node<'_>, _now: Timestamp) -> Vec<Value> {
        let status = node.field("status");
        let info = status.field("nodeInfo");
        let address = |kind: &str| {
            let found = status.list("addresses").iter().find(|address| address.text("type") == kind);
            print::or_none(found.text("address").to_owned())
        };
        let mut kernel = print::or_unknown(info.text("kernelVersion")).to_owned();
        if !info.text("architecture").is_empty() {
            kernel = format!("{kernel} ({})", info.text("architecture"));
        }
        vec![
            readiness(node).into(),
            print::or_none(roles(node).into_iter().collect::<Vec<_>>().join(",")).into(),
            address("InternalIP").into(),
            address("ExternalIP").into(),
            kernel.into(),
        ]
    }
}

/// `podCIDR` and the first of `podCIDRs` are one range; where they differ, `podCIDR` wins.
fn mirror_first_cidr(spec: &mut Value) {
    let first = spec.texts("podCIDRs").next().unwrap_or_default().to_owned();
    let single = spec.text("podCIDR").to_owned();
    match (single.as_str(), first.as_str()) {
        ("", "") => {}
        ("", first) => set(spec, "podCIDR", first),
        (single, first) if single != first => set(spec, "podCIDRs", json!([single])),
        _ => {}
    }
}

fn readiness(node: ferry_api::document::Node<'_>) -> String {
    let conditions = node.field("status").list("conditions");
    let ready = conditions.iter().filter(|condition| condition.text("type") == "Ready").last();
    let mut text = match ready {
        None => "Unknown",
        Some(ready) if ready.text("status") == "True" => "Ready",
        Some(_) => "NotReady",
    }
    .to_owned();
    if node.field("spec").flag("unschedulable") {
        text.push_str(",SchedulingDisabled");
    }
    text
}

fn roles(node: ferry_api::document::Node<'_>) -> BTreeSet<&str> {
    let labels = node.field("metadata").pairs("labels");
    labels
        .filter_map(|(key, value)| Some((key, value.as_str()?)))
        .filter_map(|(key, value)| match key.strip_prefix(ROLE_PREFIX) {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => Some(value),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect()
}

fn validate_taints(errors: &mut ErrorList, taints: &[Value], path: &Path) {
    let mut seen = HashSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let (path, key, effect) = (path.index(index), taint.text("key"), taint.text("effect"));
        validate_label_name(errors, key, &path.child("key"));
        let sentences = names::is_label_value(taint.text("value"));
        if !sentences.is_empty() {
            errors.push(Error::invalid(&path.child("value"), taint.text("value"), sentences.join(";")));
        }
        if effect.is_empty() {
            errors.push(Error::required(&path.child("effect"), ""));
        } else {
            validate_taint_effect(errors, effect, &path.child("effect"));
        }
        if !seen.insert((key, effect)) {
            errors.push(Error {
                kind: ErrorType::Duplicate,
                field: path.to_string(),
                value: Some(taint.clone()),
                detail: "taints must be unique by key and effect pair".to_owned(),
            });
        }
    }
}

fn validate_resources(errors: &mut ErrorList, node: &Value) {
    for list in ["capacity", "allocatable"] {
        for (name, value) in node.field("status").entries(list) {
            validate_amount(errors, name, value, &Path::new("status").child(list).child(name));
        }
    }
}

fn validate_declared_features(errors: &mut ErrorList, node: &Value) {
    let path = Path::new("status").child("declaredFeatures");
    let features: Vec<&str> = node.field("status").texts("declaredFeatures").collect();
    for (index, feature) in features.iter().enumerate() {
        let mut segments = feature.split('/');
        let first = segments.next().unwrap_or_default();
        let alphanumeric = |segment: &str| segment.bytes().all(|b| b.is_ascii_alphanumeric());
        let good = first.starts_with(|c: char| c.is_ascii_uppercase())
            && alphanumeric(first)
            && segments.all(|s| s.starts_with(|c: char| c.is_ascii_alphabetic()) && alphanumeric(s));
        let detail = if feature.len() > 253 {
            format!("invalid feature name {feature:?}: must be no more than 253 characters")
        } else if !good {
            format!(
                "invalid feature name {feature:?}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
            )
        } else {
            String::new()
        };
        if !detail.is_empty() {
            errors.push(Error::invalid(&path.index(index), *feature, detail));
        }
        if let Some(next) = features.get(index + 1) {
            if feature == next {
                errors.push(Error::duplicate(&path.index(index + 1), *next));
            } else if feature > next {
                errors.push(Error::invalid(&path.index(index + 1), *next, "list must be sorted alphabetically"));
            }
        }
    }
}

/// What only a change can get wrong: ranges and identities are given once.
fn validate_change(new: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    validate_resources(&mut errors, new);
    validate_declared_features(&mut errors, new);
    let addresses = new.field("status").list("addresses");
    let path = Path::new("status").child("addresses");
    for (index, address) in addresses.iter().enumerate() {
        if addresses[..index].contains(address) {
            errors.push(Error::duplicate(&path.index(index), address.clone()));
        }
    }
    let (spec, was, path) = (new.field("spec"), old.field("spec"), Path::new("spec"));
    let before = was.list("podCIDRs");
    if !before.is_empty() && spec.list("podCIDRs") != before {
        errors.push(Error::forbidden(
            &path.child("podCIDRs"),
            "node updates may not change podCIDR except from \"\" to valid",
        ));
    }
    if !was.text("providerID").is_empty() && spec.text("providerID") != was.text("providerID") {
        errors.push(Error::forbidden(
            &path.child("providerID"),
            "node updates may not change providerID except from \"\" to valid",
        ));
    }
    validate_taints(&mut errors, spec.list("taints"), &Path::new("metadata").child("taints"));
    if spec.text("externalID") != was.text("externalID") {
        errors.push(Error::forbidden(&path.child("externalID"), "may not be updated"));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};

    #[test]
    fn taints_and_ranges_are_checked() {
        check(
            &Node,
            json!({"spec": {"podCIDR": "10.244.0.0/24", "taints": [{"key": "a", "effect": "NoSchedule"}]}}),
            &[],
        );
        check(
            &Node,
            json!({"spec": {"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}, {"key": "b"}]}}),
            &[
                "metadata.taints[1]: Duplicate value: {\"effect\":\"NoSchedule\",\"key\":\"a\"}: taints must be unique by key and effect pair",
                "metadata.taints[2].effect: Required value",
            ],
        );
        check(
            &Node,
            json!({"spec": {"podCIDRs": ["10.244.0.0/24", "10.245.0.0/24"]}}),
            &[
                "spec.podCIDRs: Invalid value: [\"10.244.0.0/24\",\"10.245.0.0/24\"]: may specify no more than one CIDR for each IP family",
            ],
        );
    }

    #[test]
    fn a_range_is_given_once() {
        check_update(
            &Node,
            json!({"spec": {"podCIDR": "10.244.0.0/24"}}),
            json!({"spec": {"podCIDR": "10.244.1.0/24"}}),
            &["spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid"],
        );
        check_update(&Node, json!({"spec": {}}), json!({"spec": {"podCIDR": "10.244.1.0/24"}}), &[]);
    }

    #[test]
    fn a_node_shows_its_state_and_roles() {
        let node = json!({
            "metadata": {"name": "a", "labels": {"node-role.kubernetes.io/control-plane": "", "node-role.kubernetes.io/worker": ""}},
            "spec": {"unschedulable": true},
            "status": {
                "conditions": [{"type": "Ready", "status": "True"}],
                "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                "nodeInfo": {"kubeletVersion": "v1.36.4", "kernelVersion": "6.1", "architecture": "amd64"},
            },
        });
        assert_eq!(
            Value::from(cells("Node", node)),
            json!([
                "a",
                "Ready,SchedulingDisabled",
                "control-plane,worker",
                "10m",
                "v1.36.4",
                "10.0.0.1",
                "<none>",
                "<unknown>",
                "6.1 (amd64)",
                "<unknown>"
            ])
        );
    }
}
