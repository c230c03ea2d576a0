//! One mutation of a MutatingAdmissionPolicy: an expression that makes a configuration to
//! apply or a JSON patch, and the object with it carried out. Follows upstream's
//! policy/mutating/patch.

use crate::admission::cel::{Bindings, Expression, Scope};
use crate::admission::matching::Matched;
use ferry_api::codec;
use ferry_api::object::Meta;
use ferry_api::patch::{apply, json};
use ferry_api::schema::{TypeDef, of_kind};
use ferry_api::status::Status;
use ferry_cel::{Budget, Object, Value as Cel};
use ferry_resources::cel::admission::{Compiler, Place};
use ferry_resources::read::Read;
use serde_json::{Map, Value};
use std::sync::Arc;

pub(super) enum Mutation {
    ApplyConfiguration(Expression),
    JsonPatch(Expression),
}

/// Why there is no patched object.
#[derive(Debug)]
pub(super) enum PatchError {
    /// The policy failed; its failure policy says what that means.
    Failed(String),
    /// The request fails whatever the policy says.
    Refused(Box<Status>),
}

impl Mutation {
    /// None where the body that the type asks for is not there, which validation refuses.
    pub(super) fn compile(compiler: &Compiler, mutation: &Value) -> Option<Self> {
        let text = |key: &str| mutation.field(key).map(|body| body.text("expression").to_owned());
        match mutation.text("patchType") {
            "ApplyConfiguration" => {
                let text = text("applyConfiguration")?;
                Some(Self::ApplyConfiguration(Expression::new(compiler, &text, Place::ApplyConfiguration)))
            }
            "JSONPatch" => {
                let text = text("jsonPatch")?;
                Some(Self::JsonPatch(Expression::new(compiler, &text, Place::JsonPatch)))
            }
            _ => None,
        }
    }

    pub(super) fn expression(&self) -> &Expression {
        match self {
            Self::ApplyConfiguration(expression) | Self::JsonPatch(expression) => expression,
        }
    }

    /// The object with the mutation carried out and its defaults filled in.
    pub(super) fn patch<'s>(
        &self,
        scope: &Scope<'s>,
        bindings: &Bindings<'s>,
        object: &Value,
        matched: &Matched,
    ) -> Result<Value, PatchError> {
        let expression = self.expression();
        if let Err(detail) = &expression.program {
            return Err(PatchError::Failed(detail.clone()));
        }
        let activation = scope.activation(bindings);
        let made = expression
            .evaluate(&activation, &mut Budget::default())
            .map_err(|failure| PatchError::Failed(failure.to_string()))?;
        let is_own_kind = matched.kind == matched.row.gvk();
        let schema: Option<&TypeDef> =
            if is_own_kind { matched.row.schema.as_deref() } else { of_kind(&matched.kind).map(Arc::as_ref) };
        let mut patched = match self {
            Self::ApplyConfiguration(_) => apply_configuration(&made, object, schema).map_err(PatchError::Failed)?,
            Self::JsonPatch(_) => json_patch(&made, object, schema)?,
        };
        if is_own_kind {
            matched.row.default(&mut patched);
        }
        Ok(patched)
    }
}

/// Lays an `Object{...}` over the object by the rules of server-side apply, owning nothing.
fn apply_configuration(made: &Cel<'_>, object: &Value, schema: Option<&TypeDef>) -> Result<Value, String> {
    let Cel::Object(configuration) = made else {
        return Err(format!("unsupported return type from ApplyConfiguration expression: {}", made.type_name()));
    };
    check_names(configuration)?;
    let mut configuration = made.to_json().map_err(|error| error.to_string())?;
    configuration.set_gvk(&object.gvk());
    apply::lay_over(object, &configuration, schema).map_err(|error| format!("error applying patch: {error}"))
}

fn check_names(object: &Object<'_>) -> Result<(), String> {
    match object.type_name_errors().as_slice() {
        [] => Ok(()),
        errors => Err(format!("type mismatch: {}", errors.join("\n"))),
    }
}

/// Carries out a list of `JSONPatch{...}`. A test that fails leaves the object as it was.
fn json_patch(made: &Cel<'_>, object: &Value, schema: Option<&TypeDef>) -> Result<Value, PatchError> {
    let Cel::List(operations) = made else {
        return Err(PatchError::Failed("type mismatch: JSONPatchType.expression should evaluate to array".to_owned()));
    };
    let mut patched = object.clone();
    for operation in operations.iter() {
        let operation = operation.map_err(|error| PatchError::Failed(error.to_string()))?;
        let operation = render_operation(&operation).map_err(PatchError::Failed)?;
        let (op, path) = (operation.text("op").to_owned(), operation.text("path").to_owned());
        if json::apply(&mut patched, &Value::Array(vec![operation])).is_ok() {
            continue;
        }
        return match op.as_str() {
            "test" => Ok(object.clone()),
            "add" | "remove" | "replace" | "move" | "copy" => Err(PatchError::Failed(format!(
                "JSON Patch: {op} operation does not apply: doc is missing path: {path:?}: missing value"
            ))),
            other => Err(PatchError::Failed(format!("JSON Patch: Unexpected kind: {other}"))),
        };
    }
    let Some(schema) = schema else { return Ok(patched) };
    let refused = |text: String| PatchError::Refused(Box::new(Status::internal(text)));
    let decoded = codec::decode_value(&patched, schema, &object.gvk()).map_err(|error| refused(error.to_string()))?;
    if !decoded.violations.is_empty() {
        return Err(refused(format!("strict decoding error: {}", decoded.violations.join(", "))));
    }
    Ok(decoded.value)
}

fn render_operation(operation: &Cel<'_>) -> Result<Value, String> {
    let Cel::Object(operation) = operation else {
        return Err(format!(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of {}",
            operation.type_name()
        ));
    };
    let mut out = Map::new();
    for key in ["op", "path", "from"] {
        let text = operation.get(key).and_then(Cel::as_str).unwrap_or_default();
        if !text.is_empty() || key != "from" {
            out.insert(key.to_owned(), text.into());
        }
    }
    if let Some(value) = operation.get("value") {
        if let Cel::Object(object) = value {
            check_names(object)?;
        }
        let value = value.to_json().map_err(|error| {
            format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {error}")
        })?;
        out.insert("value".to_owned(), value);
    }
    Ok(Value::Object(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::gvk::GroupVersionKind;
    use ferry_cel::Activation;
    use serde_json::json;

    fn deployment() -> Value {
        json!({
            "kind": "Deployment", "apiVersion": "apps/v1",
            "metadata": {"name": "web", "labels": {"app": "web"}},
            "spec": {"replicas": 1, "template": {"spec": {"containers": [{"name": "web", "image": "web:1"}]}}},
        })
    }

    fn run(expression: &str, place: Place) -> Result<Value, String> {
        let program = Compiler::plain(false).compile(expression, place).unwrap_or_else(|detail| panic!("{detail}"));
        let object = deployment();
        let activation = Activation::new().with("object", Cel::from_json(&object));
        let made = program.evaluate(&activation, &mut Budget::default()).unwrap_or_else(|error| panic!("{error}"));
        let schema = of_kind(&GroupVersionKind::new("apps", "v1", "Deployment")).expect("Deployment");
        match place {
            Place::JsonPatch => json_patch(&made, &object, Some(schema)).map_err(|error| match error {
                PatchError::Failed(text) => text,
                PatchError::Refused(status) => format!("{}: {}", status.code, status.message),
            }),
            _ => apply_configuration(&made, &object, Some(schema)),
        }
    }

    #[track_caller]
    fn check(expression: &str, place: Place, pointer: &str, expected: Value) {
        let patched = run(expression, place).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(patched.pointer(pointer), Some(&expected), "{expression}");
        assert_eq!(patched.pointer("/metadata/labels/app"), Some(&json!("web")), "the rest stays");
    }

    #[test]
    fn configurations_are_laid_over_the_object() {
        let place = Place::ApplyConfiguration;
        check("Object{spec: Object.spec{replicas: 3}}", place, "/spec/replicas", json!(3));
        check(
            "Object{metadata: Object.metadata{annotations: {'a': object.metadata.name}}}",
            place,
            "/metadata/annotations",
            json!({"a": "web"}),
        );
        check(
            "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
                containers: object.spec.template.spec.containers.map(c, Object.spec.template.spec.containers{
                    name: c.name, imagePullPolicy: 'Always'})}}}}",
            place,
            "/spec/template/spec/containers",
            json!([{"name": "web", "image": "web:1", "imagePullPolicy": "Always"}]),
        );
    }

    #[test]
    fn what_would_replace_more_than_it_names_is_refused() {
        let place = Place::ApplyConfiguration;
        assert_eq!(
            run(
                "Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{
                    tolerations: [Object.spec.template.spec.tolerations{key: 'a'}]}}}}",
                place
            )
            .unwrap_err(),
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.template.spec.tolerations"
        );
        assert_eq!(
            run("Object{spec: Object.spec{nope: 1}}", place).unwrap_err(),
            "error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema"
        );
        assert_eq!(
            run("Object{spec: Object.other{replicas: 1}}", place).unwrap_err(),
            "type mismatch: unexpected type name \"Object.other\", expected \"Object.spec\", which matches field name path from root Object type"
        );
    }

    #[test]
    fn patches_are_carried_out() {
        let place = Place::JsonPatch;
        check(
            "[JSONPatch{op: 'test', path: '/spec/replicas', value: 1},
              JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]",
            place,
            "/spec/replicas",
            json!(2),
        );
        check(
            "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('example.com/a'), value: 'b'}]",
            place,
            "/metadata/labels/example.com~1a",
            json!("b"),
        );
        check(
            "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', value: Object.spec.template.spec.containers{name: 'side', image: 'x'}}]",
            place,
            "/spec/template/spec/containers/1/name",
            json!("side"),
        );
        // A test that fails leaves everything as it was.
        check(
            "[JSONPatch{op: 'replace', path: '/spec/replicas', value: 7}, JSONPatch{op: 'test', path: '/spec/replicas', value: 1}]",
            place,
            "/spec/replicas",
            json!(1),
        );
        assert_eq!(
            run("[JSONPatch{op: 'add', path: '/nope/x', value: 1}]", place).unwrap_err(),
            "JSON Patch: add operation does not apply: doc is missing path: \"/nope/x\": missing value"
        );
        assert_eq!(
            run("[JSONPatch{op: 'add', path: '/spec/nope', value: 1}]", place).unwrap_err(),
            "500: Internal error occurred: strict decoding error: unknown field \"spec.nope\""
        );
    }
}
