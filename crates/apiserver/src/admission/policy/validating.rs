//! The plugin ValidatingAdmissionPolicy: asks every policy that is about a write and does
//! what its binding says with the answer. Follows policy/validating/dispatcher.go.

use super::source::Source;
use super::validator::{Annotation, Denial, Validator};
use super::{Invocation, Shared};
use crate::admission::cel::{Facts, Scope};
use crate::admission::matching::convert;
use crate::admission::{AdmissionRequest, Plugin, Wiring};
use async_trait::async_trait;
use ferry_api::status::{Cause, Status};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// What an expression may put into an audit annotation; the rest is cut off.
const MAX_ANNOTATION: usize = 10 * 1024;
const FAILURE_ANNOTATION: &str = "validation.policy.admission.k8s.io/validation_failure";

pub struct ValidatingAdmissionPolicy(Shared<Validator>);

impl ValidatingAdmissionPolicy {
    pub fn new(wiring: &Wiring) -> Self {
        let (policies, bindings) = ("validatingadmissionpolicies", "validatingadmissionpolicybindings");
        let source = Source::follow(&*wiring.lookup, policies, bindings, Validator::compile);
        Self(Shared::new(source, wiring))
    }

    fn dispatch(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let hooks = self.0.source.hooks();
        let (invocations, errors) = self.0.invocations(&hooks, request);
        if invocations.is_empty() && errors.is_empty() {
            return Ok(());
        }
        let mut denied: Option<Denied> = None;
        let mut deny = |next: Denied| {
            denied.get_or_insert(next);
        };
        // Upstream answers with whichever was found first; what cannot be configured is
        // found before anything is asked.
        for error in errors.iter().filter(|error| error.hook.policy.fails) {
            let binding = error.binding.map(|binding| binding.name.clone());
            let policy = error.hook.policy.name.clone();
            deny(Denied { policy, binding, reason: String::new(), message: error.message.clone() });
        }
        if !invocations.is_empty() {
            self.0.check_namespace(request)?;
        }
        let mut notes = Notes::default();
        for invocation in &invocations {
            self.ask(request, invocation, &mut notes, &mut deny);
        }
        notes.publish(request);
        match denied {
            Some(denied) => Err(denied.status(request)),
            None => Ok(()),
        }
    }

    fn ask(
        &self,
        request: &AdmissionRequest<'_>,
        invocation: &Invocation<'_, Validator>,
        notes: &mut Notes,
        deny: &mut impl FnMut(Denied),
    ) {
        let Invocation { hook, binding, matched, params } = invocation;
        let policy = &hook.policy;
        let object = request.object.as_deref().map(|object| convert(object, &request.row, &matched.row));
        let old_object = request.old_object.map(|object| convert(object, &request.row, &matched.row));
        let lookup = &*self.0.lookup;
        let facts = Facts::new(request, matched.kind.clone(), matched.resource(), lookup, &self.0.authorizer);
        let scope = Scope { facts: &facts, object: object.as_deref(), old_object: old_object.as_deref() };
        let denied = |message: &str, reason: &str| Denied {
            policy: policy.name.clone(),
            binding: Some(binding.name.clone()),
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        for params in params {
            let began = Instant::now();
            let verdict = policy.compiled().validate(&scope, params.as_deref());
            let took = began.elapsed();
            for denial in &verdict.denials {
                let error = if denial.is_failure { "invalid_error" } else { "no_error" };
                for action in &binding.actions {
                    let done = match action.as_str() {
                        "Deny" => "deny",
                        "Warn" => "warn",
                        _ => "audit",
                    };
                    let labels = [policy.name.as_str(), binding.name.as_str(), error, done];
                    self.0.metrics.admission.validating_policies.checked(&labels, took);
                    match action.as_str() {
                        "Deny" => deny(denied(&denial.message, &denial.reason)),
                        "Warn" => request.warnings.add(format!(
                            "Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}",
                            policy.name, binding.name, denial.message
                        )),
                        "Audit" => {
                            let note = render_failure(denial, &policy.name, &binding.name, &binding.actions);
                            request.notes.add(FAILURE_ANNOTATION, note);
                        }
                        _ => {}
                    }
                }
            }
            for annotation in verdict.annotations {
                match annotation {
                    Annotation::Publish { key, value } => notes.add(format!("{}/{key}", policy.name), value),
                    Annotation::Error(message) => deny(denied(&message, "")),
                }
            }
        }
    }
}

#[async_trait]
impl Plugin for ValidatingAdmissionPolicy {
    fn name(&self) -> &'static str {
        "ValidatingAdmissionPolicy"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        self.0.handles(request)
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        self.dispatch(request)
    }
}

/// The answer that a policy denies with.
struct Denied {
    policy: String,
    binding: Option<String>,
    reason: String,
    message: String,
}

impl Denied {
    fn status(&self, request: &AdmissionRequest<'_>) -> Status {
        let who = match &self.binding {
            Some(binding) => format!("'{}' with binding '{binding}'", self.policy),
            None => format!("'{}'", self.policy),
        };
        let message = format!("ValidatingAdmissionPolicy {who} denied request: {}", self.message);
        let mut status = request.forbidden(&message);
        let (reason, code) = match self.reason.as_str() {
            "Forbidden" => ("Forbidden", 403),
            "Unauthorized" => ("Unauthorized", 401),
            "RequestEntityTooLarge" => ("RequestEntityTooLarge", 413),
            _ => ("Invalid", 422),
        };
        (status.reason, status.code) = (reason.to_owned(), code);
        let details = status.details.get_or_insert_default();
        details.causes.push(Cause { message, ..Cause::default() });
        status
    }
}

/// What audit annotations say, gathered over the bindings of a policy: each value once.
#[derive(Default)]
struct Notes(BTreeMap<String, Vec<String>>);

impl Notes {
    fn add(&mut self, key: String, mut value: String) {
        let fits = (0..=MAX_ANNOTATION.min(value.len())).rev().find(|&end| value.is_char_boundary(end));
        value.truncate(fits.unwrap_or_default());
        let values = self.0.entry(key).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }

    fn publish(self, request: &AdmissionRequest<'_>) {
        for (key, values) in self.0 {
            request.notes.add(key, values.join(", "));
        }
    }
}

/// The note of a failed validation, a list of one as upstream has it.
fn render_failure(denial: &Denial, policy: &str, binding: &str, actions: &[String]) -> String {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Failure<'a> {
        message: &'a str,
        policy: &'a str,
        binding: &'a str,
        expression_index: usize,
        validation_actions: &'a [String],
    }
    let failure = Failure {
        message: &denial.message,
        policy,
        binding,
        expression_index: denial.index,
        validation_actions: actions,
    };
    serde_json::to_string(&[failure]).expect("texts and a number are JSON")
}
