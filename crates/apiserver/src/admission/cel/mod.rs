//! What the expressions of webhooks and policies see of a write, and what an evaluation
//! may cost (upstream's apiserver/pkg/admission/plugin/cel). `ferry_resources::cel` says
//! which expressions compile; here they meet a request.
//!
//! ```text
//! Facts   the write: request, namespaceObject, authorizer; made once a write, lazily
//! Scope   the facts and the objects in the version that was matched
//! ```
//!
//! Called by `webhook/` for match conditions and by `policy/` for everything.

mod authorize;
mod match_conditions;

pub use match_conditions::MatchConditions;

use super::AdmissionRequest;
use crate::authz::Authorizer;
use crate::registry::lookup::ObjectLookup;
use authorize::Host;
use ferry_api::gvk::{GroupVersionKind, GroupVersionResource};
use ferry_cel::{Activation, Budget, EvalError, Program, Question, Value as Cel, Variable};
use ferry_resources::Row;
use ferry_resources::cel::admission::{Compiler, Place};
use serde_json::{Map, Value, json};
use std::cell::OnceCell;

/// What there is to know of a write besides its objects. What costs something to make is
/// made when an expression first names it.
pub struct Facts<'s> {
    shown: RequestFields<'s>,
    about: Question<'s>,
    host: Host<'s>,
    /// Where the object is; empty for what is in no namespace, and for namespaces.
    namespace: &'s str,
    lookup: &'s dyn ObjectLookup,
    request_value: OnceCell<Value>,
    namespace_value: OnceCell<Value>,
}

impl<'s> Facts<'s> {
    /// `kind` and `resource` are those under which a rule matched the write.
    pub fn new(
        request: &'s AdmissionRequest<'_>,
        kind: GroupVersionKind,
        resource: GroupVersionResource,
        lookup: &'s dyn ObjectLookup,
        authorizer: &'s Authorizer,
    ) -> Self {
        let about = Question {
            group: &request.row.group,
            resource: &request.row.plural,
            subresource: &request.subresource,
            namespace: request.namespace_attribute(),
            name: &request.name,
            ..Question::default()
        };
        let namespace = if request.is_for("", "namespaces") { "" } else { request.namespace.as_str() };
        Self {
            shown: RequestFields::of(request, kind, resource),
            about,
            host: Host::new(authorizer, &request.user),
            namespace,
            lookup,
            request_value: OnceCell::new(),
            namespace_value: OnceCell::new(),
        }
    }

    fn request(&self) -> &Value {
        self.request_value.get_or_init(|| render_request(&self.shown))
    }

    fn namespace_object(&self) -> &Value {
        self.namespace_value.get_or_init(|| match self.namespace {
            "" => Value::Null,
            name => self
                .lookup
                .get("", "namespaces", "", name)
                .map_or(Value::Null, |stored| render_namespace(stored.value())),
        })
    }
}

/// The facts and the objects, both of which expressions read in place.
#[derive(Clone, Copy)]
pub struct Scope<'s> {
    pub facts: &'s Facts<'s>,
    pub object: Option<&'s Value>,
    pub old_object: Option<&'s Value>,
}

/// What else an evaluation binds.
#[derive(Clone, Copy, Default)]
pub struct Bindings<'s> {
    pub params: Option<&'s Value>,
    pub variables: &'s [Variable],
    pub has_authorizer: bool,
    pub names: Names,
}

/// Which of the variables that cost something are named at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub request: bool,
    pub namespace: bool,
}

impl Names {
    pub fn add(&mut self, program: &Program) {
        self.request |= program.uses_variable("request");
        self.namespace |= program.uses_variable("namespaceObject");
    }

    pub fn add_all(&mut self, expressions: &[Expression]) {
        expressions.iter().filter_map(|expression| expression.program.as_ref().ok()).for_each(|found| self.add(found));
    }

    pub fn add_variables(&mut self, variables: &[Variable]) {
        variables.iter().filter_map(|variable| variable.program.as_ref().ok()).for_each(|found| self.add(found));
    }
}

impl<'s> Scope<'s> {
    pub fn activation(&self, bindings: &Bindings<'s>) -> Activation<'s> {
        let json = |value: Option<&'s Value>| value.map_or(Cel::Null, Cel::from_json);
        let facts = self.facts;
        let mut activation = Activation::new()
            .with("object", json(self.object))
            .with("oldObject", json(self.old_object))
            .with("params", json(bindings.params));
        if bindings.names.request {
            activation = activation.with("request", Cel::from_json(facts.request()));
        }
        if bindings.names.namespace {
            activation = activation.with("namespaceObject", Cel::from_json(facts.namespace_object()));
        }
        if bindings.has_authorizer {
            activation = activation
                .with("authorizer", Cel::authorizer(&facts.host))
                .with("authorizer.requestResource", Cel::resource_check(&facts.host, &facts.about));
        }
        activation.with_variables(bindings.variables)
    }
}

/// An expression, compiled once. One that does not compile fails when it is evaluated.
#[derive(Clone, Debug)]
pub struct Expression {
    pub text: String,
    pub program: Result<Program, String>,
}

/// Why an evaluation has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The expression itself; others may still be evaluated.
    #[error("{0}")]
    Expression(String),
    /// All expressions together cost too much; none is evaluated any more.
    #[error("{}", EvalError::BudgetExceeded)]
    Budget,
}

impl Expression {
    pub fn new(compiler: &Compiler, text: &str, place: Place) -> Self {
        Self { text: text.to_owned(), program: compiler.compile(text, place) }
    }

    /// Evaluates within the budget of all expressions of one policy or webhook.
    pub fn evaluate<'v>(&self, activation: &Activation<'v>, budget: &mut Budget) -> Result<Cel<'v>, Failure> {
        let program = match &self.program {
            Ok(program) => program,
            Err(detail) => return Err(Failure::Expression(format!("compilation error: {detail}"))),
        };
        match program.evaluate(activation, budget) {
            Ok(value) => Ok(value),
            Err(EvalError::BudgetExceeded) => Err(Failure::Budget),
            Err(error) => Err(Failure::Expression(format!("expression '{}' resulted in error: {error}", self.text))),
        }
    }
}

/// What of a request is shown: borrowed, so that nothing is copied unless it is asked for.
struct RequestFields<'s> {
    operation: &'static str,
    kind: GroupVersionKind,
    resource: GroupVersionResource,
    row: &'s Row,
    subresource: &'s str,
    name: &'s str,
    namespace: &'s str,
    user: &'s crate::authn::UserInfo,
    dry_run: bool,
    options: Value,
}

impl<'s> RequestFields<'s> {
    fn of(request: &'s AdmissionRequest<'_>, kind: GroupVersionKind, resource: GroupVersionResource) -> Self {
        Self {
            operation: request.operation.as_str(),
            kind,
            resource,
            row: &request.row,
            subresource: &request.subresource,
            name: &request.name,
            namespace: request.namespace_attribute(),
            user: &request.user,
            dry_run: request.dry_run,
            options: request.options(),
        }
    }
}

/// The variable `request`: an AdmissionRequest without its objects. What is empty is left
/// out, as upstream's `omitempty` does.
fn render_request(shown: &RequestFields<'_>) -> Value {
    let kind_value = |kind: &GroupVersionKind| json!({"group": kind.group, "version": kind.version, "kind": kind.kind});
    let resource_value = |resource: &GroupVersionResource| json!({"group": resource.group, "version": resource.version, "resource": resource.resource});
    let mut out = Map::new();
    out.insert("kind".into(), kind_value(&shown.kind));
    out.insert("resource".into(), resource_value(&shown.resource));
    out.insert("requestKind".into(), kind_value(&shown.row.gvk()));
    out.insert("requestResource".into(), resource_value(&shown.row.gvr()));
    for (key, text) in [
        ("subResource", shown.subresource),
        ("requestSubResource", shown.subresource),
        ("name", shown.name),
        ("namespace", shown.namespace),
    ] {
        if !text.is_empty() {
            out.insert(key.into(), text.into());
        }
    }
    out.insert("operation".into(), shown.operation.into());
    out.insert("userInfo".into(), shown.user.to_value());
    out.insert("dryRun".into(), shown.dry_run.into());
    if !shown.options.is_null() {
        out.insert("options".into(), shown.options.clone());
    }
    Value::Object(out)
}

/// The variable `namespaceObject`: a Namespace without what says who made it how.
fn render_namespace(mut namespace: Value) -> Value {
    const METADATA: [&str; 12] = [
        "name",
        "generateName",
        "namespace",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "finalizers",
    ];
    if let Some(metadata) = namespace.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| METADATA.contains(&key.as_str()));
    }
    if let Some(fields) = namespace.as_object_mut() {
        fields.retain(|key, _| matches!(key.as_str(), "metadata" | "spec" | "status"));
    }
    namespace
}

#[cfg(test)]
mod tests;
