//! Where a pod may run: affinity, tolerations, topology spread, gates.

use crate::names;
use crate::read::Read;
use crate::validation::each;
use crate::validation::labels::validate_label_name;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub fn validate_affinity(errors: &mut ErrorList, affinity: Option<&Value>, path: &Path) {
    for (index, term) in affinity.field("nodeAffinity").list(PREFERRED).iter().enumerate() {
        let path = path.child("nodeAffinity").child(PREFERRED).index(index).child("preference");
        // A preference that no node's label can meet only never counts.
        validate_node_selector_term(errors, term.field("preference"), Values::Any, &path);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = affinity.field(kind) else { continue };
        let path = path.child(kind);
        for (index, term) in affinity.list(REQUIRED).iter().enumerate() {
            validate_pod_affinity_term(errors, Some(term), &path.child(REQUIRED).index(index));
        }
        for (index, weighted) in affinity.list(PREFERRED).iter().enumerate() {
            let path = path.child(PREFERRED).index(index).child("podAffinityTerm");
            validate_pod_affinity_term(errors, weighted.field("podAffinityTerm"), &path);
        }
    }
}

pub fn validate_node_selector(errors: &mut ErrorList, selector: &Value, path: &Path) {
    let path = path.child("nodeSelectorTerms");
    let terms = selector.list("nodeSelectorTerms");
    if terms.is_empty() {
        errors.push(Error::required(&path, "must have at least one node selector term"));
    }
    for (index, term) in terms.iter().enumerate() {
        validate_node_selector_term(errors, Some(term), Values::LabelValues, &path.index(index));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Any,
    LabelValues,
}

fn validate_node_selector_term(errors: &mut ErrorList, term: Option<&Value>, rule: Values, path: &Path) {
    for (index, requirement) in term.list("matchExpressions").iter().enumerate() {
        validate_node_requirement(errors, requirement, rule, &path.child("matchExpressions").index(index));
    }
    for (index, requirement) in term.list("matchFields").iter().enumerate() {
        validate_node_field_requirement(errors, requirement, &path.child("matchFields").index(index));
    }
}

const BAD_OPERATOR: &str = "not a valid selector operator";

fn validate_node_requirement(errors: &mut ErrorList, requirement: &Value, rule: Values, path: &Path) {
    let values = requirement.list("values");
    let at = path.child("values");
    match requirement.text("operator") {
        "In" | "NotIn" if values.is_empty() => {
            errors.push(Error::required(&at, "must be specified when `operator` is 'In' or 'NotIn'"));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            errors.push(Error::forbidden(&at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
        }
        "Gt" | "Lt" if values.len() != 1 => {
            errors.push(Error::required(&at, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => errors.push(Error::invalid(&path.child("operator"), other, BAD_OPERATOR)),
    }
    validate_label_name(errors, requirement.text("key"), &path.child("key"));
    if rule == Values::LabelValues {
        for (index, value) in requirement.texts("values").enumerate() {
            each(errors, &at.index(index), value, names::is_label_value(value));
        }
    }
}

fn validate_node_field_requirement(errors: &mut ErrorList, requirement: &Value, path: &Path) {
    match requirement.text("operator") {
        "In" | "NotIn" => {
            if requirement.list("values").len() != 1 {
                errors.push(Error::required(
                    &path.child("values"),
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
                ));
            }
        }
        other => errors.push(Error::invalid(&path.child("operator"), other, BAD_OPERATOR)),
    }
    let key = requirement.text("key");
    if key != "metadata.name" {
        errors.push(Error::invalid(&path.child("key"), key, "not a valid field selector key"));
        return;
    }
    for (index, value) in requirement.texts("values").enumerate() {
        each(errors, &path.child("values").index(index), value, names::dns1123_subdomain(value, false));
    }
}

fn validate_pod_affinity_term(errors: &mut ErrorList, term: Option<&Value>, path: &Path) {
    validate_label_keys(errors, term, path);
    let key = term.text("topologyKey");
    if key.is_empty() {
        errors.push(Error::required(&path.child("topologyKey"), "can not be empty"));
    }
    validate_label_name(errors, key, &path.child("topologyKey"));
}

/// `matchLabelKeys` and `mismatchLabelKeys` of an affinity term or spread constraint.
fn validate_label_keys(errors: &mut ErrorList, term: Option<&Value>, path: &Path) {
    let selector = term.field("labelSelector");
    for list in ["matchLabelKeys", "mismatchLabelKeys"] {
        let path = path.child(list);
        if term.list(list).is_empty() {
            continue;
        }
        if selector.is_none() {
            errors.push(Error::forbidden(&path, "must not be specified when labelSelector is not set"));
            continue;
        }
        for (index, key) in term.texts(list).enumerate() {
            validate_label_name(errors, key, &path.index(index));
        }
    }
    let matched: Vec<&str> = term.texts("matchLabelKeys").collect();
    // By now the selector holds what was made from matchLabelKeys, so that a key that is
    // there twice was also given by hand.
    let mut seen: HashSet<&str> = selector.entries("matchLabels").keys().map(String::as_str).collect();
    for expression in selector.list("matchExpressions") {
        let key = expression.text("key");
        if let Some(index) = matched.iter().rposition(|matched| *matched == key)
            && seen.contains(key)
        {
            errors.push(Error::invalid(&path.index(index), key, "exists in both matchLabelKeys and labelSelector"));
        }
        seen.insert(key);
    }
    for (index, key) in matched.iter().enumerate() {
        if term.texts("mismatchLabelKeys").any(|other| other == *key) {
            errors.push(Error::invalid(
                &path.child("matchLabelKeys").index(index),
                *key,
                "exists in both matchLabelKeys and mismatchLabelKeys",
            ));
        }
    }
}

pub fn validate_topology_spread(errors: &mut ErrorList, constraints: &[Value], path: &Path) {
    for (index, constraint) in constraints.iter().enumerate() {
        let path = path.index(index);
        let (key, action) = (constraint.text("topologyKey"), constraint.text("whenUnsatisfiable"));
        let repeated = constraints[index + 1..]
            .iter()
            .any(|other| other.text("topologyKey") == key && other.text("whenUnsatisfiable") == action);
        if repeated {
            let path = path.child("{topologyKey, whenUnsatisfiable}");
            errors.push(Error::duplicate(&path, format!("{{{key}, {action}}}")));
        }
        if let Some(domains) = constraint.opt_int("minDomains")
            && action != "DoNotSchedule"
        {
            let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
            errors.push(Error::invalid(&path.child("minDomains"), domains, detail));
        }
        validate_label_keys(errors, Some(constraint), &path);
    }
}

pub fn validate_tolerations(errors: &mut ErrorList, tolerations: &[Value], path: &Path) {
    for (index, toleration) in tolerations.iter().enumerate() {
        validate_toleration(errors, toleration, &path.index(index));
    }
}

pub fn validate_toleration(errors: &mut ErrorList, toleration: &Value, path: &Path) {
    let (key, operator) = (toleration.text("key"), toleration.text("operator"));
    let (value, effect) = (toleration.text("value"), toleration.text("effect"));
    if !key.is_empty() {
        validate_label_name(errors, key, &path.child("key"));
    } else if operator != "Exists" {
        errors.push(Error::invalid(
            &path.child("operator"),
            operator,
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
        ));
    }
    if toleration.has("tolerationSeconds") && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(Error::invalid(&path.child("effect"), effect, detail));
    }
    let at = path.child("operator");
    match operator {
        "" | "Equal" => {
            let sentences = names::is_label_value(value);
            if !sentences.is_empty() {
                errors.push(Error::invalid(&at, value, sentences.join(";")));
            }
        }
        "Exists" => {
            if !value.is_empty() {
                errors.push(Error::invalid(&at, value, "value must be empty when `operator` is 'Exists'"));
            }
        }
        // Comparing by number is an alpha feature, off as upstream has it.
        "Lt" | "Gt" => errors.push(Error::not_supported(&at, operator, &["Equal", "Exists", "Lt", "Gt"])),
        other => errors.push(Error::not_supported(&at, other, &["Equal", "Exists"])),
    }
    if !effect.is_empty() {
        validate_taint_effect(errors, effect, &path.child("effect"));
    }
}

pub fn validate_taint_effect(errors: &mut ErrorList, effect: &str, path: &Path) {
    let supported = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
    if !supported.contains(&effect) {
        errors.push(Error::not_supported(path, effect, &supported));
    }
}
