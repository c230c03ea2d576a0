//! ValidatingAdmissionPolicy and MutatingAdmissionPolicy: the strategies of rules in CEL
//! that judge or change what is written.

use super::rule::{
    validate_expression, validate_match_conditions, validate_match_resources, validate_mutating_operations,
};
use super::warn_of_static_suffix;
use crate::cel::admission::{Compiler, Place, variable_detail};
use crate::read::{Read, ReadNode};
use crate::validation::each;
use crate::{Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashSet;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Mutating,
    Validating,
}

const MAX_AUDIT_ANNOTATIONS: usize = 20;
const MAX_VALUE_EXPRESSION: usize = 5 * 1024;
const NOT_EMPTY: &str = "must be non-empty if specified";

impl Strategy for Policy {
    fn validate(&self, policy: &Value) -> ErrorList {
        self.validate_spec(policy, true)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let (spec, was) = (new.field("spec"), old.field("spec"));
        let same = ["paramKind", "matchConditions"].iter().all(|key| spec.field(key) == was.field(key));
        self.validate_spec(new, !same)
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (status, path) = (new.field("status"), Path::new("status"));
        let at = path.child("typeChecking").child("expressionWarnings");
        for (index, warning) in status.field("typeChecking").list("expressionWarnings").iter().enumerate() {
            for key in ["warning", "fieldRef"] {
                if warning.text(key).trim().is_empty() {
                    errors.push(Error::required(&at.index(index).child(key), ""));
                }
            }
        }
        errors
    }

    fn warnings(&self, policy: &Value, _old: Option<&Value>) -> Vec<String> {
        warn_of_static_suffix(policy.name())
    }

    fn computed_cells(&self, policy: Node<'_>, _now: Timestamp) -> Vec<Value> {
        vec![match policy.field("spec").field("paramKind") {
            None => "<unset>".into(),
            Some(kind) => format!("{}/{}", kind.text("apiVersion"), kind.text("kind")).into(),
        }]
    }
}

impl Policy {
    /// A validating policy without variables has no `variables` either; a mutating one
    /// always has.
    fn compiler(self, spec: Option<&Value>) -> Compiler {
        let has_params = spec.has("paramKind");
        if self == Self::Validating && spec.list("variables").is_empty() {
            Compiler::plain(has_params)
        } else {
            Compiler::composing(has_params)
        }
    }

    fn validate_spec(self, policy: &Value, match_conditions: bool) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (policy.field("spec"), Path::new("spec"));
        if let Some(kind) = spec.field("paramKind") {
            validate_parameter_kind(&mut errors, kind, &path.child("paramKind"));
        }
        let (constraints, at) = (spec.field("matchConstraints"), path.child("matchConstraints"));
        if constraints.is_some() {
            validate_match_resources(&mut errors, constraints, &at);
            if constraints.list("resourceRules").is_empty() {
                errors.push(Error::required(&at.child("resourceRules"), ""));
            }
            if self == Self::Mutating {
                validate_mutating_operations(&mut errors, constraints, &at);
            }
        }
        if match_conditions {
            let (conditions, at) = (spec.list("matchConditions"), path.child("matchConditions"));
            validate_match_conditions(&mut errors, conditions, spec.has("paramKind"), &at);
        }
        let mut compiler = self.compiler(spec);
        for (index, variable) in spec.list("variables").iter().enumerate() {
            validate_variable(&mut errors, &mut compiler, variable, &path.child("variables").index(index));
        }
        match self {
            Self::Validating => validate_validations(&mut errors, &compiler, policy, &path),
            Self::Mutating => validate_mutations(&mut errors, &compiler, spec, &path),
        }
        errors
    }
}

fn validate_parameter_kind(errors: &mut ErrorList, kind: &Value, path: &Path) {
    let (at, api_version) = (path.child("apiVersion"), kind.text("apiVersion"));
    if api_version.is_empty() {
        errors.push(Error::required(&at, ""));
    } else if api_version.matches('/').count() > 1 {
        errors.push(Error::invalid(&at, api_version, format!("unexpected GroupVersion string: {api_version}")));
    } else {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let joined = |errors: &mut ErrorList, value: &str, sentences: Vec<String>| {
            if !sentences.is_empty() {
                errors.push(Error::invalid(&at, value, sentences.join(",")));
            }
        };
        if !group.is_empty() {
            joined(errors, group, names::is_dns1123_subdomain(group));
        }
        if version.is_empty() {
            errors.push(Error::invalid(&at, api_version, "version must be specified"));
        } else {
            joined(errors, version, names::dns1035_label(version, false));
        }
    }
    let (at, name) = (path.child("kind"), kind.text("kind"));
    let sentences = names::dns1035_label(&name.to_lowercase(), false);
    if name.is_empty() {
        errors.push(Error::required(&at, ""));
    } else if !sentences.is_empty() {
        let detail = format!("may have mixed case, but should otherwise match: {}", sentences.join(","));
        errors.push(Error::invalid(&at, name, detail));
    }
}

fn validate_variable(errors: &mut ErrorList, compiler: &mut Compiler, variable: &Value, path: &Path) {
    let name = variable.text("name");
    if name.trim().is_empty() {
        errors.push(Error::required(&path.child("name"), "name is not specified"));
    } else if !ferry_cel::is_identifier(name) {
        errors.push(Error::invalid(&path.child("name"), name, "must be a valid CEL identifier"));
    }
    let (expression, at) = (variable.text("expression"), path.child("expression"));
    if expression.trim().is_empty() {
        errors.push(Error::required(&at, "expression is not specified"));
    } else if let Some(detail) = variable_detail(&compiler.declare(name, expression)) {
        errors.push(Error::invalid(&at, expression, detail));
    }
}

fn validate_validations(errors: &mut ErrorList, compiler: &Compiler, policy: &Value, path: &Path) {
    let spec = policy.field("spec");
    let (validations, annotations) = (spec.list("validations"), spec.list("auditAnnotations"));
    let at = path.child("auditAnnotations");
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must contain at least one item";
        errors.push(Error::required(&path.child("validations"), detail));
        errors.push(Error::required(&at, detail));
        return;
    }
    for (index, validation) in validations.iter().enumerate() {
        validate_validation(errors, compiler, validation, &path.child("validations").index(index));
    }
    if annotations.len() > MAX_AUDIT_ANNOTATIONS {
        let detail = format!("must not have more than {MAX_AUDIT_ANNOTATIONS} auditAnnotations");
        errors.push(Error::invalid(&at, annotations, detail));
    }
    let mut seen = HashSet::new();
    for (index, annotation) in annotations.iter().enumerate() {
        let (path, key) = (at.index(index), annotation.text("key"));
        if policy.name().is_empty() {
            errors.push(Error::invalid(&path.child("key"), key, "requires metadata.name be non-empty"));
        } else {
            let whole = format!("{}/{key}", policy.name());
            each(errors, &path.child("key"), &whole, names::is_qualified_name(&whole));
        }
        let (expression, at) = (annotation.text("valueExpression"), path.child("valueExpression"));
        if expression.trim().len() > MAX_VALUE_EXPRESSION {
            let detail = format!("must not exceed {MAX_VALUE_EXPRESSION} bytes in length");
            errors.push(Error::required(&at, detail));
        } else {
            validate_trimmed(
                errors,
                compiler,
                expression,
                Place::AuditAnnotation,
                "valueExpression is not specified",
                &at,
            );
        }
        if !seen.insert(key) {
            errors.push(Error::duplicate(&path.child("key"), key));
        }
    }
}

/// As upstream has it here, the expression is compiled without the space around it.
fn validate_trimmed(
    errors: &mut ErrorList,
    compiler: &Compiler,
    expression: &str,
    place: Place,
    missing: &str,
    path: &Path,
) {
    if expression.trim().is_empty() {
        errors.push(Error::required(path, missing));
    } else if let Err(detail) = compiler.compile(expression.trim(), place) {
        // Of a mutation, upstream shows the trimmed expression too.
        let shown = if place == Place::AuditAnnotation { expression } else { expression.trim() };
        errors.push(Error::invalid(path, shown, detail));
    }
}

fn validate_validation(errors: &mut ErrorList, compiler: &Compiler, validation: &Value, path: &Path) {
    let expression = validation.text("expression");
    let missing = "expression is not specified";
    let at = path.child("expression");
    validate_expression(errors, compiler, expression, Place::Validation, missing, &at);
    let (message_expression, at) = (validation.text("messageExpression"), path.child("messageExpression"));
    if !message_expression.is_empty() {
        if message_expression.trim().is_empty() {
            errors.push(Error::invalid(&at, message_expression, NOT_EMPTY));
        } else {
            validate_expression(errors, compiler, message_expression, Place::Message, "", &at);
        }
    }
    let (message, at) = (validation.text("message"), path.child("message"));
    if !message.is_empty() && message.trim().is_empty() {
        errors.push(Error::invalid(&at, message, NOT_EMPTY));
    } else if message.trim().contains(['\n', '\r']) {
        errors.push(Error::invalid(&at, message, "must not contain line breaks"));
    }
}

fn validate_mutations(errors: &mut ErrorList, compiler: &Compiler, spec: Option<&Value>, path: &Path) {
    let at = path.child("mutations");
    for (index, mutation) in spec.list("mutations").iter().enumerate() {
        let path = at.index(index);
        let (own, other, place) = match mutation.text("patchType") {
            "JSONPatch" => ("jsonPatch", "applyConfiguration", Place::JsonPatch),
            "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", Place::ApplyConfiguration),
            _ => continue,
        };
        let patch = mutation.text("patchType");
        match mutation.field(own) {
            None => {
                let detail = format!("must be specified when patchType is {patch}");
                errors.push(Error::required(&path.child(own), detail));
            }
            Some(body) => {
                let at = path.child(own).child("expression");
                validate_trimmed(errors, compiler, body.text("expression"), place, "", &at);
            }
        }
        if mutation.has(other) {
            let detail = format!("must not be specified when patchType is {patch}");
            errors.push(Error::invalid(&path.child(other), format!("{{{other}}}"), detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, texts};
    use ferry_api::object::ensure_object;
    use serde_json::json;

    fn policy(spec: Value) -> Value {
        let is_mutating = spec.get("mutations").is_some() || spec.get("reinvocationPolicy").is_some();
        let kind = if is_mutating { "MutatingAdmissionPolicy" } else { "ValidatingAdmissionPolicy" };
        let mut policy = json!({"kind": kind, "metadata": {"name": "a"}, "spec": {"matchConstraints": {"resourceRules": [
            {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}}});
        if let Value::Object(fields) = spec {
            ensure_object(&mut policy["spec"]).extend(fields);
        }
        policy
    }

    #[test]
    fn a_policy_judges_something() {
        check(&Policy::Validating, policy(json!({"validations": [{"expression": "true"}]})), &[]);
        check(
            &Policy::Validating,
            policy(json!({})),
            &[
                "spec.validations: Required value: validations or auditAnnotations must contain at least one item",
                "spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item",
            ],
        );
        check(
            &Policy::Validating,
            policy(
                json!({"matchConstraints": null, "validations": [{"expression": " ", "message": "a\nb", "reason": "Odd"}]}),
            ),
            &[
                "spec.matchConstraints: Required value",
                "spec.validations[0].expression: Required value: expression is not specified",
                "spec.validations[0].message: Invalid value: \"a\\nb\": must not contain line breaks",
                "spec.validations[0].reason: Unsupported value: \"Odd\": supported values: \"Forbidden\", \"Invalid\", \"RequestEntityTooLarge\"",
            ],
        );
        check(
            &Policy::Validating,
            policy(json!({"validations": [{"expression": "true"}], "paramKind": {"apiVersion": "a/b/c"},
                "variables": [{"name": "if", "expression": "1"}]})),
            &[
                "spec.paramKind.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
                "spec.paramKind.kind: Required value",
                "spec.variables[0].name: Invalid value: \"if\": must be a valid CEL identifier",
            ],
        );
    }

    #[test]
    fn a_policy_changes_something() {
        let mutation = json!({"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add'}]"}});
        check(&Policy::Mutating, policy(json!({"mutations": [mutation], "reinvocationPolicy": "Never"})), &[]);
        check(
            &Policy::Mutating,
            policy(json!({"mutations": [{"patchType": "JSONPatch", "applyConfiguration": {}}]})),
            &[
                "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
                "spec.mutations[0].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not be specified when patchType is JSONPatch",
                "spec.reinvocationPolicy: Required value",
            ],
        );
    }

    #[test]
    fn expressions_compile_in_their_place() {
        check(
            &Policy::Validating,
            policy(json!({
                "variables": [{"name": "a", "expression": "object.b"}, {"name": "c", "expression": "variables.d"}],
                "validations": [
                    {"expression": "variables.a > 1 && variables.c"},
                    {"expression": "object.x", "messageExpression": "1"},
                ],
                "auditAnnotations": [{"key": "k", "valueExpression": " params.x"}],
                "matchConditions": [{"name": "m", "expression": "variables.a"}],
            })),
            &[
                "spec.matchConditions[0].expression: Invalid value: \"variables.a\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.a\n | ^",
                "spec.variables[1].expression: Invalid value: \"variables.d\": compilation failed: ERROR: <input>:1:10: undefined field 'd'\n | variables.d\n | .........^",
                "spec.validations[1].expression: Invalid value: \"object.x\": must evaluate to bool but got dyn",
                "spec.validations[1].messageExpression: Invalid value: \"1\": must evaluate to string but got int",
                "spec.auditAnnotations[0].valueExpression: Invalid value: \" params.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x\n | ^",
            ],
        );
        check(
            &Policy::Mutating,
            policy(json!({"reinvocationPolicy": "Never", "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": " Object{data: params.data} "}},
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": " 1 "}},
                {"patchType": "JSONPatch", "jsonPatch": {"expression": "'x'"}},
            ]})),
            &[
                "spec.mutations[1].applyConfiguration.expression: Invalid value: \"1\": must evaluate to Object but got int",
                "spec.mutations[2].jsonPatch.expression: Invalid value: \"'x'\": must evaluate to list(JSONPatch) but got string",
            ],
        );
    }

    #[test]
    fn a_policy_is_shown_with_its_parameters() {
        let shown = policy(json!({"validations": [{}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}));
        assert_eq!(Value::from(cells("ValidatingAdmissionPolicy", shown)), json!(["a", 1, "v1/ConfigMap", "10m"]));
    }

    #[test]
    fn a_status_says_why() {
        let new = json!({"kind": "ValidatingAdmissionPolicy", "status": {"typeChecking": {"expressionWarnings": [{"warning": "x"}]}}});
        assert_eq!(
            texts(&crate::testing::update_errors(&Policy::Validating, "status", &new, &json!({}))),
            ["status.typeChecking.expressionWarnings[0].fieldRef: Required value"]
        );
    }
}
