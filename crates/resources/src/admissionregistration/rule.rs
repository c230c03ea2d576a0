//! Which requests admission looks at: rules by operation and resource, selectors, and
//! conditions. Webhook configurations, policies and their bindings share them.

use crate::cel::admission::{Compiler, Place};
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

const MUTATING_OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "UPDATE"];

/// An optional string of a closed set.
pub(super) fn validate_choice(errors: &mut ErrorList, value: Option<&str>, supported: &[&str], path: &Path) {
    if let Some(value) = value
        && !supported.contains(&value)
    {
        errors.push(Error::not_supported(path, value, supported));
    }
}

pub(super) fn validate_rule(errors: &mut ErrorList, rule: &Value, path: &Path) {
    for (key, what) in [("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        let items = rule.list(key);
        if items.len() > 1 && items.iter().any(|item| item == "*") {
            let detail = format!("if '*' is present, must not specify other {what}");
            errors.push(Error::invalid(&path.child(key), items, detail));
        }
    }
    let at = path.child("apiVersions");
    for (index, version) in rule.texts("apiVersions").enumerate() {
        if version.is_empty() {
            errors.push(Error::required(&at.index(index), ""));
        }
    }
    validate_resources(errors, rule, &path.child("resources"));
}

/// Resources and subresources, where what a wildcard covers is not named again.
fn validate_resources(errors: &mut ErrorList, rule: &Value, path: &Path) {
    let resources = rule.list("resources");
    let (mut whole_resources, mut whole_subresources) = (HashSet::new(), HashSet::new());
    let (mut everything, mut all_resources, mut plain) = (false, false, false);
    for (index, name) in rule.texts("resources").enumerate() {
        let path = path.index(index);
        if name.is_empty() {
            errors.push(Error::required(&path, ""));
            continue;
        }
        everything = everything || name == "*/*";
        all_resources = all_resources || name == "*";
        let Some((resource, subresource)) = name.split_once('/') else {
            // As upstream has it: the last name without subresource decides.
            plain = name != "*";
            continue;
        };
        if whole_resources.contains(resource) {
            let detail = format!("if '{resource}/*' is present, must not specify {name}");
            errors.push(Error::invalid(&path, name, detail));
        }
        if whole_subresources.contains(subresource) {
            let detail = format!("if '*/{subresource}' is present, must not specify {name}");
            errors.push(Error::invalid(&path, name, detail));
        }
        if subresource == "*" {
            whole_resources.insert(resource);
        }
        if resource == "*" {
            whole_subresources.insert(subresource);
        }
    }
    if resources.len() > 1 && everything {
        errors.push(Error::invalid(path, resources, "if '*/*' is present, must not specify other resources"));
    }
    if all_resources && plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        errors.push(Error::invalid(path, resources, detail));
    }
}

/// What a policy or its binding matches. `resources` is absent only in bindings.
pub(super) fn validate_match_resources(errors: &mut ErrorList, resources: Option<&Value>, path: &Path) {
    let Some(resources) = resources else { return };
    for key in ["resourceRules", "excludeResourceRules"] {
        for (index, rule) in resources.list(key).iter().enumerate() {
            validate_rule(errors, rule, &path.child(key).index(index));
        }
    }
}

/// Nothing can be changed in an object that goes.
pub(super) fn validate_mutating_operations(errors: &mut ErrorList, resources: Option<&Value>, path: &Path) {
    let path = path.child("resourceRules").child("operations");
    for rule in resources.list("resourceRules") {
        for operation in rule.texts("operations") {
            validate_choice(errors, Some(operation), MUTATING_OPERATIONS, &path);
        }
    }
}

/// `has_params` says whether the conditions may name parameters, as a policy's may.
pub(super) fn validate_match_conditions(errors: &mut ErrorList, conditions: &[Value], has_params: bool, path: &Path) {
    let mut seen = HashSet::new();
    let compiler = Compiler::plain(has_params);
    for (index, condition) in conditions.iter().enumerate() {
        let (path, name) = (path.index(index), condition.text("name"));
        let expression = condition.text("expression");
        let at = path.child("expression");
        validate_expression(errors, &compiler, expression, Place::MatchCondition, "", &at);
        if !name.is_empty() && !seen.insert(name) {
            errors.push(Error::duplicate(&path.child("name"), name));
        }
    }
}

/// An expression that must be there and compile in its place. `missing` is the detail of
/// the error if it is not there.
pub(super) fn validate_expression(
    errors: &mut ErrorList,
    compiler: &Compiler,
    expression: &str,
    place: Place,
    missing: &str,
    path: &Path,
) {
    if expression.trim().is_empty() {
        errors.push(Error::required(path, missing));
    } else if let Err(detail) = compiler.compile(expression, place) {
        errors.push(Error::invalid(path, expression, detail));
    }
}
