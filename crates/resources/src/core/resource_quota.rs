//! ResourceQuota: the strategy of limits for a namespace as a whole.

use crate::Strategy;
use crate::read::{Read, ReadNode};
use crate::validation::resources::{amount, is_standard_for_quota, validate_amount, validate_quota_resource_name};
use crate::validation::{FIELD_IS_IMMUTABLE, shown};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::quantity::Quantity;
use ferry_api::view::Element;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) struct ResourceQuota;

const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "VolumeAttributesClass",
    "CrossNamespacePodAffinity",
];

impl Strategy for ResourceQuota {
    fn validate(&self, quota: &Value) -> ErrorList {
        let mut errors = validate_spec(quota);
        validate_status(&mut errors, quota);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = validate_spec(new);
        let scopes =
            |quota: &Value| -> BTreeSet<String> { quota.field("spec").texts("scopes").map(str::to_owned).collect() };
        if scopes(new) != scopes(old) {
            let value = shown(new.field("spec").field("scopes"));
            errors.push(Error::invalid(&Path::new("spec").child("scopes"), value, FIELD_IS_IMMUTABLE));
        }
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_status(&mut errors, new);
        errors
    }

    fn warnings(&self, quota: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        if old.is_some() {
            return warnings;
        }
        let hard = quota.field("spec").entries("hard");
        for name in ["cpu", "memory", "storage", "ephemeral-storage"] {
            let mut asked = format!("requests.{name}");
            if !hard.contains_key(&asked) && matches!(name, "cpu" | "memory") {
                asked = name.to_owned();
            }
            let limited = format!("limits.{name}");
            if let (Some(request), Some(limit)) = (amount(hard, &asked), amount(hard, &limited))
                && request > limit
            {
                warnings.push(format!("ResourceQuota {asked} ({request}) should be less than {limited} ({limit})"));
            }
        }
        warnings
    }

    fn computed_cells(&self, quota: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let status = quota.field("status");
        let used = status.field("used");
        let (mut requests, mut limits) = (Vec::new(), Vec::new());
        for (name, hard) in status.pairs("hard") {
            let text = |value: Option<Node<'_>>| match value.and_then(Quantity::of) {
                Some(quantity) => quantity.to_string(),
                None => "0".to_owned(),
            };
            let cell = format!("{name}: {}/{}", text(used.field(name)), text(Some(hard)));
            if name.starts_with("limits.") { limits.push(cell) } else { requests.push(cell) }
        }
        vec![requests.join(", ").into(), limits.join(", ").into()]
    }
}

fn validate_list(errors: &mut ErrorList, list: &serde_json::Map<String, Value>, path: &Path) {
    for (name, value) in list {
        let path = path.key(name);
        validate_quota_resource_name(errors, name, &path);
        validate_amount(errors, name, value, &path);
    }
}

fn validate_status(errors: &mut ErrorList, quota: &Value) {
    for list in ["hard", "used"] {
        validate_list(errors, quota.field("status").entries(list), &Path::new("status").child(list));
    }
}

fn validate_spec(quota: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let (spec, path) = (quota.field("spec"), Path::new("spec"));
    validate_list(&mut errors, spec.entries("hard"), &path.child("hard"));
    let at = path.child("scopes");
    let scopes: Vec<&str> = spec.texts("scopes").collect();
    let all = || shown(spec.field("scopes"));
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            errors.push(Error::invalid(&at, all(), "unsupported scope"));
        }
        for _ in inapplicable(spec, scope) {
            errors.push(Error::invalid(&at, all(), "unsupported scope applied to resource"));
        }
    }
    validate_pairs(&mut errors, &scopes, &all(), &at);
    let selector = spec.field("scopeSelector");
    let at = path.child("scopeSelector").child("matchExpressions");
    let mut named = Vec::new();
    for requirement in selector.list("matchExpressions") {
        let scope = requirement.text("scopeName");
        named.push(scope);
        if !SCOPES.contains(&scope) {
            errors.push(Error::invalid(&at.child("scopeName"), scope, "unsupported scope"));
        }
        for _ in inapplicable(spec, scope) {
            errors.push(Error::invalid(&at, shown(selector), "unsupported scope applied to resource"));
        }
        validate_requirement(&mut errors, requirement, scope, &at);
    }
    validate_pairs(&mut errors, &named, &all(), &at);
    errors
}

fn validate_requirement(errors: &mut ErrorList, requirement: &Value, scope: &str, path: &Path) {
    let (operator, values) = (requirement.text("operator"), requirement.list("values"));
    let by_existence = !matches!(scope, "PriorityClass" | "VolumeAttributesClass") && SCOPES.contains(&scope);
    if by_existence && operator != "Exists" {
        errors.push(Error::invalid(
            &path.child("operator"),
            operator,
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
        ));
    }
    match operator {
        "In" | "NotIn" => {
            if values.is_empty() {
                errors.push(Error::required(
                    &path.child("values"),
                    "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
                ));
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                errors.push(Error::invalid(
                    &path.child("values"),
                    values,
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
                ));
            }
        }
        other => errors.push(Error::invalid(&path.child("operator"), other, "not a valid selector operator")),
    }
}

fn validate_pairs(errors: &mut ErrorList, scopes: &[&str], shown: &Value, path: &Path) {
    for (one, other) in [("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")] {
        if scopes.contains(&one) && scopes.contains(&other) {
            errors.push(Error::invalid(path, shown.clone(), "conflicting scopes"));
        }
    }
}

/// The resources of a quota that a scope says nothing about.
fn inapplicable<'a>(spec: Option<&'a Value>, scope: &'a str) -> impl Iterator<Item = &'a String> {
    let of_pods = |name: &str| {
        matches!(name, "pods" | "cpu" | "memory" | "limits.cpu" | "limits.memory" | "requests.cpu" | "requests.memory")
    };
    let applies = move |name: &str| match scope {
        "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" | "CrossNamespacePodAffinity" => {
            of_pods(name)
        }
        "BestEffort" => name == "pods",
        "VolumeAttributesClass" => matches!(name, "persistentvolumeclaims" | "requests.storage"),
        _ => true,
    };
    spec.entries("hard").keys().filter(move |name| is_standard_for_quota(name) && !applies(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn resources_and_scopes_fit() {
        check(&ResourceQuota, json!({"spec": {"hard": {"pods": "10", "requests.cpu": "1", "count/pods": "2"}}}), &[]);
        check(
            &ResourceQuota,
            json!({"spec": {"hard": {"pods": "1500m"}}}),
            &["spec.hard[pods]: Invalid value: \"1500m\": must be an integer"],
        );
        check(
            &ResourceQuota,
            json!({"spec": {"hard": {"cpu": "1"}, "scopes": ["BestEffort"]}}),
            &["spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"],
        );
    }
}
