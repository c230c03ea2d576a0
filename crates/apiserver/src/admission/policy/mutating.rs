//! The plugin MutatingAdmissionPolicy: changes a write by every policy that is about it,
//! one after the other, and again where one asks for that and a later one changed more.
//! Follows policy/mutating/dispatcher.go.

use super::patch::{Mutation, PatchError};
use super::source::Source;
use super::{Invocation, Shared};
use crate::admission::cel::{Bindings, Facts, MatchConditions, Names, Scope};
use crate::admission::matching::convert;
use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::{Cause, Status};
use ferry_cel::Variable;
use ferry_resources::cel::admission::Compiler;
use ferry_resources::read::Read;
use serde_json::Value;
use std::borrow::Cow;
use std::time::Instant;

const NAME: &str = "MutatingAdmissionPolicy";

pub struct MutatingAdmissionPolicy(Shared<Mutator>);

/// One policy, compiled.
pub struct Mutator {
    conditions: MatchConditions,
    variables: Vec<Variable>,
    mutations: Vec<Mutation>,
    names: Names,
    /// Whether it wants to see what others changed after it.
    if_needed: bool,
}

impl Mutator {
    fn compile(spec: &Value) -> Self {
        let mut compiler = Compiler::composing(spec.has("paramKind"));
        let variables: Vec<Variable> = spec
            .list("variables")
            .iter()
            .map(|variable| compiler.declare(variable.text("name"), variable.text("expression")))
            .collect();
        let conditions = MatchConditions::compile(&compiler, spec.list("matchConditions"), &variables);
        let mutations: Vec<Mutation> =
            spec.list("mutations").iter().filter_map(|mutation| Mutation::compile(&compiler, mutation)).collect();
        let mut names = Names::default();
        names.add_variables(&variables);
        mutations.iter().for_each(|mutation| names.add_all(std::slice::from_ref(mutation.expression())));
        Self { conditions, variables, mutations, names, if_needed: spec.text("reinvocationPolicy") == "IfNeeded" }
    }
}

/// Why a policy could not do its work.
struct PolicyError {
    policy: String,
    binding: Option<String>,
    message: String,
    reason: &'static str,
}

impl PolicyError {
    fn text(&self) -> String {
        match &self.binding {
            Some(binding) => {
                format!("policy '{}' with binding '{binding}' denied request: {}", self.policy, self.message)
            }
            None => format!("policy {:?} denied request: {}", self.policy, self.message),
        }
    }
}

impl MutatingAdmissionPolicy {
    pub fn new(wiring: &Wiring) -> Self {
        let (policies, bindings) = ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings");
        let source = Source::follow(&*wiring.lookup, policies, bindings, Mutator::compile);
        Self(Shared::new(source, wiring))
    }

    fn dispatch(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let hooks = self.0.source.hooks();
        let (invocations, unusable) = self.0.invocations(&hooks, request);
        let mut errors: Vec<PolicyError> = unusable
            .into_iter()
            .filter(|error| error.hook.policy.fails)
            .map(|error| PolicyError {
                policy: error.hook.policy.name.clone(),
                binding: error.binding.map(|binding| binding.name.clone()),
                message: error.message,
                reason: "",
            })
            .collect();
        if !invocations.is_empty() {
            self.run(request, &invocations, &mut errors)?;
        }
        refuse(request, &errors)
    }

    fn run(
        &self,
        request: &mut AdmissionRequest<'_>,
        invocations: &[Invocation<'_, Mutator>],
        errors: &mut Vec<PolicyError>,
    ) -> Result<(), Status> {
        self.0.check_namespace(request)?;
        let is_second = request.reinvocation.is_second();
        let object = request.object.as_deref();
        if is_second && request.reinvocation.track(NAME).changed_since(object) {
            request.reinvocation.track(NAME).require_again();
        }
        let mut is_patched = false;
        for invocation in invocations {
            for params in &invocation.params {
                is_patched |= self.invoke(request, invocation, params.as_deref(), errors)?;
            }
        }
        if is_patched {
            request.reinvocation.track(NAME).require_again();
            request.reinvocation.request();
        }
        let object = request.object.as_deref();
        request.reinvocation.track(NAME).set_output(object);
        Ok(())
    }

    /// One policy with one set of parameters; whether it patched anything.
    fn invoke(
        &self,
        request: &mut AdmissionRequest<'_>,
        invocation: &Invocation<'_, Mutator>,
        params: Option<&Value>,
        errors: &mut Vec<PolicyError>,
    ) -> Result<bool, Status> {
        let Invocation { hook, binding, matched, .. } = invocation;
        let (policy, mutator) = (&hook.policy, hook.policy.compiled());
        let of_params = params.map(|params| format!("{}/{}", params.namespace(), params.name())).unwrap_or_default();
        let key = format!("{}/{}/{of_params}", policy.name, binding.name);
        if request.reinvocation.is_second() && !request.reinvocation.track(NAME).runs_again(&key) {
            return Ok(false);
        }
        let row = request.row.clone();
        let before = request.object.as_deref().map(|object| convert(object, &row, &matched.row));
        let began = Instant::now();
        let outcome = self.mutate(request, invocation, params, before.as_deref());
        let failed =
            !matches!(&outcome, Ok(None)) && !matches!(&outcome, Ok(Some((_, failures))) if failures.is_empty());
        let error = if failed { "invalid_error" } else { "no_error" };
        let labels = [policy.name.as_str(), binding.name.as_str(), error];
        self.0.metrics.admission.mutating_policies.checked(&labels, began.elapsed());
        let (after, failures) = match outcome {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return Ok(false),
            Err(PatchError::Refused(status)) => return Err(*status),
            Err(PatchError::Failed(text)) => (None, vec![text]),
        };
        let is_changed = after.is_some() && after.as_ref() != before.as_deref();
        drop(before);
        let is_patched = after.is_some();
        if is_changed && let (Some(after), Some(object)) = (after, request.object.as_deref_mut()) {
            *object = match convert(&after, &matched.row, &row) {
                Cow::Borrowed(_) => after,
                Cow::Owned(converted) => converted,
            };
        }
        if policy.fails {
            errors.extend(failures.into_iter().map(|message| PolicyError {
                policy: policy.name.clone(),
                binding: Some(binding.name.clone()),
                message,
                reason: "Invalid",
            }));
        }
        if is_changed {
            request.reinvocation.track(NAME).require_again();
            request.reinvocation.request();
        }
        if mutator.if_needed {
            request.reinvocation.track(NAME).add_invoked(&key);
        }
        Ok(is_patched)
    }

    /// The object after all mutations, if any could be made, and what went wrong with the
    /// others; nothing where the policy's conditions are not met.
    fn mutate(
        &self,
        request: &AdmissionRequest<'_>,
        invocation: &Invocation<'_, Mutator>,
        params: Option<&Value>,
        object: Option<&Value>,
    ) -> Result<Option<Mutated>, PatchError> {
        let Invocation { hook, matched, .. } = invocation;
        let mutator = hook.policy.compiled();
        let old_object = request.old_object.map(|object| convert(object, &request.row, &matched.row));
        let facts = Facts::new(request, matched.kind.clone(), matched.resource(), &*self.0.lookup, &self.0.authorizer);
        let scope = Scope { facts: &facts, object, old_object: old_object.as_deref() };
        if !mutator.conditions.matches(&scope, params, &mutator.variables).map_err(PatchError::Failed)? {
            return Ok(None);
        }
        let (mut after, mut failures) = (None::<Value>, Vec::new());
        for mutation in &mutator.mutations {
            // There is nothing to patch in a connection without options.
            let Some(current) = after.as_ref().or(object) else { break };
            let scope = Scope { object: Some(current), ..scope };
            let bindings =
                Bindings { params, variables: &mutator.variables, has_authorizer: true, names: mutator.names };
            match mutation.patch(&scope, &bindings, current, matched) {
                Ok(patched) => after = Some(patched),
                Err(PatchError::Failed(text)) => failures.push(text),
                Err(refused) => return Err(refused),
            }
        }
        Ok(Some((after, failures)))
    }
}

type Mutated = (Option<Value>, Vec<String>);

#[async_trait]
impl Plugin for MutatingAdmissionPolicy {
    fn name(&self) -> &'static str {
        NAME
    }

    /// What is deleted has no body to change.
    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation != Operation::Delete && self.0.handles(request)
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        self.dispatch(request)
    }
}

/// The first error is the message, all are causes. The code stays 403 whatever the reason
/// is, as upstream has it here.
fn refuse(request: &AdmissionRequest<'_>, errors: &[PolicyError]) -> Result<(), Status> {
    let Some(first) = errors.first() else { return Ok(()) };
    let mut status = request.forbidden("admission request denied by policy");
    status.message = first.text();
    if !first.reason.is_empty() {
        status.reason = first.reason.to_owned();
    }
    let causes = errors.iter().map(|error| Cause { message: error.text(), ..Cause::default() });
    status.details.get_or_insert_default().causes.extend(causes);
    Err(status)
}
