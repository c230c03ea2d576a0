//! Which requests admission looks at: rules by operation and resource, selectors, and
//! conditions. Webhook configurations, policies and their bindings share them.

use crate::cel::admission::{Compiler, Place};
use crate::names;
use crate::read::{Read, default_value, field_mut, list_mut};
use crate::validation::each;
use crate::validation::facts::DeclaredValues;
use crate::validation::labels::validate_label_selector;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Value, json};
use std::collections::HashSet;

static OPERATIONS: DeclaredValues = DeclaredValues::of("admissionregistration/v1", "RuleWithOperations", "operations");
const MUTATING_OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "UPDATE"];
pub static FAILURE_POLICIES: DeclaredValues =
    DeclaredValues::of("admissionregistration/v1", "MutatingWebhook", "failurePolicy");
pub static MATCH_POLICIES: DeclaredValues =
    DeclaredValues::of("admissionregistration/v1", "MutatingWebhook", "matchPolicy");
pub static REINVOCATION_POLICIES: DeclaredValues =
    DeclaredValues::of("admissionregistration/v1", "MutatingWebhook", "reinvocationPolicy");
const MAX_MATCH_CONDITIONS: usize = 64;

pub fn default_rules(holder: &mut Value, key: &str) {
    for rule in list_mut(holder, key) {
        default_value(rule, "scope", "*");
    }
}

/// The defaults of what a policy or its binding matches, if it says anything of it.
pub fn default_match_resources(spec: &mut Value, key: &str) {
    let Some(resources) = field_mut(spec, key) else { return };
    default_value(resources, "matchPolicy", "Equivalent");
    default_value(resources, "namespaceSelector", json!({}));
    default_value(resources, "objectSelector", json!({}));
    for rules in ["resourceRules", "excludeResourceRules"] {
        default_rules(resources, rules);
    }
}

/// An optional string of a closed set.
pub fn validate_choice(errors: &mut ErrorList, value: Option<&str>, supported: &[&str], path: &Path) {
    if let Some(value) = value
        && !supported.contains(&value)
    {
        errors.push(Error::not_supported(path, value, supported));
    }
}

pub fn validate_rule(errors: &mut ErrorList, rule: &Value, path: &Path) {
    let operations = rule.list("operations");
    let at = path.child("operations");
    required_and_alone(errors, operations, "operations", &at);
    for (index, operation) in rule.texts("operations").enumerate() {
        validate_choice(errors, Some(operation), &OPERATIONS, &at.index(index));
    }
    required_and_alone(errors, rule.list("apiGroups"), "API groups", &path.child("apiGroups"));
    let at = path.child("apiVersions");
    required_and_alone(errors, rule.list("apiVersions"), "API versions", &at);
    for (index, version) in rule.texts("apiVersions").enumerate() {
        if version.is_empty() {
            errors.push(Error::required(&at.index(index), ""));
        }
    }
    validate_resources(errors, rule, &path.child("resources"));
    validate_choice(errors, rule.opt_text("scope"), &["*", "Cluster", "Namespaced"], &path.child("scope"));
}

fn required_and_alone(errors: &mut ErrorList, items: &[Value], what: &str, path: &Path) {
    if items.is_empty() {
        errors.push(Error::required(path, ""));
    }
    if items.len() > 1 && items.iter().any(|item| item == "*") {
        errors.push(Error::invalid(path, items, format!("if '*' is present, must not specify other {what}")));
    }
}

/// Resources and subresources, where what a wildcard covers is not named again.
fn validate_resources(errors: &mut ErrorList, rule: &Value, path: &Path) {
    let resources = rule.list("resources");
    if resources.is_empty() {
        errors.push(Error::required(path, ""));
    }
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
pub fn validate_match_resources(errors: &mut ErrorList, resources: Option<&Value>, path: &Path) {
    let Some(resources) = resources else { return };
    match resources.opt_text("matchPolicy") {
        None => errors.push(Error::required(&path.child("matchPolicy"), "")),
        policy => validate_choice(errors, policy, &MATCH_POLICIES, &path.child("matchPolicy")),
    }
    for key in ["namespaceSelector", "objectSelector"] {
        match resources.field(key) {
            None => errors.push(Error::required(&path.child(key), "")),
            selector => validate_label_selector(errors, selector, &path.child(key)),
        }
    }
    for key in ["resourceRules", "excludeResourceRules"] {
        for (index, rule) in resources.list(key).iter().enumerate() {
            let path = path.child(key).index(index);
            let mut seen = HashSet::new();
            for (number, name) in rule.texts("resourceNames").enumerate() {
                let path = path.child("resourceNames").index(number);
                each(errors, &path, name, names::path_segment(name, false));
                if !seen.insert(name) {
                    errors.push(Error::duplicate(&path, name));
                }
            }
            validate_rule(errors, rule, &path);
        }
    }
}

/// Nothing can be changed in an object that goes.
pub fn validate_mutating_operations(errors: &mut ErrorList, resources: Option<&Value>, path: &Path) {
    let path = path.child("resourceRules").child("operations");
    for rule in resources.list("resourceRules") {
        for operation in rule.texts("operations") {
            validate_choice(errors, Some(operation), MUTATING_OPERATIONS, &path);
        }
    }
}

/// `has_params` says whether the conditions may name parameters, as a policy's may.
pub fn validate_match_conditions(errors: &mut ErrorList, conditions: &[Value], has_params: bool, path: &Path) {
    if conditions.len() > MAX_MATCH_CONDITIONS {
        errors.push(Error::too_many(path, conditions.len(), MAX_MATCH_CONDITIONS));
    }
    let mut seen = HashSet::new();
    let compiler = Compiler::plain(has_params);
    for (index, condition) in conditions.iter().enumerate() {
        let (path, name) = (path.index(index), condition.text("name"));
        let expression = condition.text("expression");
        let at = path.child("expression");
        validate_expression(errors, &compiler, expression, Place::MatchCondition, "", &at);
        let at = path.child("name");
        if name.is_empty() {
            errors.push(Error::required(&at, ""));
        } else {
            each(errors, &at, name, names::is_qualified_name(name));
            if !seen.insert(name) {
                errors.push(Error::duplicate(&at, name));
            }
        }
    }
}

/// An expression that must be there and compile in its place. `missing` is the detail of
/// the error if it is not there.
pub fn validate_expression(
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
