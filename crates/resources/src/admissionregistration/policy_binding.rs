//! ValidatingAdmissionPolicyBinding and MutatingAdmissionPolicyBinding: the strategies of
//! where a policy holds and with which parameters.

use super::policy::Policy;
use super::rule::{validate_match_resources, validate_mutating_operations};
use super::warn_of_static_suffix;
use crate::Strategy;
use crate::read::{Read, ReadNode};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;

/// The binding of a policy of one kind or the other.
pub(crate) struct PolicyBinding(pub Policy);

impl Strategy for PolicyBinding {
    fn validate(&self, binding: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (binding.field("spec"), Path::new("spec"));
        if let Some(reference) = spec.field("paramRef") {
            validate_parameters(&mut errors, reference, &path.child("paramRef"));
        }
        let (resources, at) = (spec.field("matchResources"), path.child("matchResources"));
        validate_match_resources(&mut errors, resources, &at);
        match self.0 {
            Policy::Mutating => validate_mutating_operations(&mut errors, resources, &at),
            Policy::Validating => validate_actions(&mut errors, spec, &path.child("validationActions")),
        }
        errors
    }

    fn warnings(&self, binding: &Value, _old: Option<&Value>) -> Vec<String> {
        warn_of_static_suffix(binding.name())
    }

    fn computed_cells(&self, binding: Node<'_>, _now: Timestamp) -> Vec<Value> {
        vec![parameters(binding.field("spec").field("paramRef")).into()]
    }
}

fn parameters(reference: Option<Node<'_>>) -> String {
    let (namespace, name) = (reference.text("namespace"), reference.text("name"));
    match (name.is_empty(), reference.field("selector")) {
        (false, _) => format!("{}/{name}", if namespace.is_empty() { "*" } else { namespace }),
        (true, Some(selector)) => go_selector(selector),
        (true, None) => "<unset>".to_owned(),
    }
}

/// A selector as Go prints its struct, which is what upstream shows here.
fn go_selector(selector: Node<'_>) -> String {
    let labels: String = selector
        .pairs("matchLabels")
        .map(|(key, value)| format!("{key}: {},", value.as_str().unwrap_or_default()))
        .collect();
    let expressions: String = selector
        .list("matchExpressions")
        .iter()
        .map(|term| {
            let values: Vec<&str> = term.texts("values").collect();
            format!(
                "LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},",
                term.text("key"),
                term.text("operator"),
                values.join(" ")
            )
        })
        .collect();
    format!(
        "&LabelSelector{{MatchLabels:map[string]string{{{labels}}},MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
}

fn validate_parameters(errors: &mut ErrorList, reference: &Value, path: &Path) {
    const EXCLUSIVE: &str = "name and selector are mutually exclusive";
    let (name, selector) = (reference.text("name"), reference.field("selector"));
    match (name.is_empty(), selector.is_some()) {
        (false, true) => {
            for key in ["name", "selector"] {
                errors.push(Error::forbidden(&path.child(key), EXCLUSIVE));
            }
        }
        (true, false) => errors.push(Error::required(path, "one of name or selector must be specified")),
        _ => {}
    }
}

fn validate_actions(errors: &mut ErrorList, spec: Option<&Value>, path: &Path) {
    let has = |name: &str| spec.texts("validationActions").any(|action| action == name);
    if has("Deny") && has("Warn") {
        let detail = "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)";
        errors.push(Error::invalid(path, spec.list("validationActions"), detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check};
    use serde_json::json;

    const BINDING: PolicyBinding = PolicyBinding(Policy::Validating);

    fn binding(spec: Value) -> Value {
        let is_mutating = spec.get("validationActions").is_none();
        let kind = if is_mutating { "MutatingAdmissionPolicyBinding" } else { "ValidatingAdmissionPolicyBinding" };
        json!({"kind": kind, "metadata": {"name": "a"}, "spec": spec})
    }

    #[test]
    fn a_binding_says_what_follows() {
        check(&BINDING, binding(json!({"policyName": "p", "validationActions": ["Deny"]})), &[]);
        check(&PolicyBinding(Policy::Mutating), binding(json!({"policyName": "p"})), &[]);
        check(
            &BINDING,
            binding(json!({"validationActions": ["Deny", "Warn"]})),
            &[
                "spec.policyName: Required value",
                "spec.validationActions: Invalid value: [\"Deny\",\"Warn\"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
            ],
        );
        check(
            &BINDING,
            binding(
                json!({"policyName": "p", "validationActions": ["Audit"], "paramRef": {"name": "a", "selector": {}}}),
            ),
            &[
                "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
                "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
                "spec.paramRef.parameterNotFoundAction: Required value",
            ],
        );
    }

    #[test]
    fn parameters_are_shown() {
        let shown = |reference: Value| {
            cells("ValidatingAdmissionPolicyBinding", binding(json!({"paramRef": reference})))[2].clone()
        };
        assert_eq!(shown(Value::Null), "<unset>");
        assert_eq!(shown(json!({"name": "a"})), "*/a");
        assert_eq!(
            shown(json!({"selector": {"matchLabels": {"a": "b"}}})),
            "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}"
        );
    }
}
