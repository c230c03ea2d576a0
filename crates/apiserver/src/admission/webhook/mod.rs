//! MutatingAdmissionWebhook and ValidatingAdmissionWebhook: servers that cluster
//! administrators name in webhook configurations are asked about the writes that their
//! rules match (upstream's apiserver/pkg/admission/plugin/webhook).
//!
//! ```text
//! configurations.rs  the configurations, compiled when they change; nothing is read per write
//! mod.rs             which hooks a write concerns, in which order, and what a failure means
//! call.rs            one question to one hook
//! review.rs          the question and the answer as JSON; pure
//! patched.rs         what an answer's patch makes of the object; pure
//! ```

mod call;
mod configurations;
mod patched;
mod review;

use super::cel::{Facts, Scope};
use super::matching::{Matched, convert};
use super::{AdmissionRequest, Plugin, Wiring};
use crate::authz::Authorizer;
use crate::metrics::Metrics;
use crate::metrics::admission::Step;
use crate::registry::Rows;
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use call::Failure;
use configurations::{Configurations, Webhook};
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Configurations of admission itself are never shown to hooks: one that refuses them
/// could not be taken away any more.
fn is_exempt(request: &AdmissionRequest<'_>) -> bool {
    request.row.group == "admissionregistration.k8s.io"
        && matches!(
            request.row.kind.as_ref(),
            "ValidatingWebhookConfiguration"
                | "MutatingWebhookConfiguration"
                | "ValidatingAdmissionPolicy"
                | "ValidatingAdmissionPolicyBinding"
                | "MutatingAdmissionPolicy"
                | "MutatingAdmissionPolicyBinding"
        )
}

/// What both plugins need to decide whom to ask.
struct Hooks {
    configurations: Arc<Configurations>,
    lookup: Arc<dyn ObjectLookup>,
    authorizer: Authorizer,
    rows: Arc<Rows>,
    metrics: Arc<Metrics>,
}

impl Hooks {
    fn new(plural: &str, wiring: &Wiring) -> Self {
        let Wiring { lookup, authorizer, rows, .. } = wiring;
        Self {
            configurations: Configurations::subscribed(plural, &**lookup),
            lookup: lookup.clone(),
            authorizer: authorizer.clone(),
            rows: rows.clone(),
            metrics: wiring.metrics.clone(),
        }
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        !self.configurations.is_empty() && !is_exempt(request)
    }

    /// Under which resource a write concerns a hook, if it does.
    fn concerns(&self, hook: &Webhook, request: &AdmissionRequest<'_>, step: Step) -> Result<Option<Matched>, Status> {
        let Some(matched) = hook.criteria.find(request, &self.rows, &*self.lookup)? else { return Ok(None) };
        if hook.conditions.is_empty() {
            return Ok(Some(matched));
        }
        let facts = Facts::new(request, matched.kind.clone(), matched.resource(), &*self.lookup, &self.authorizer);
        let shown =
            |object: Option<&Value>| object.map(|object| convert(object, &request.row, &matched.row).into_owned());
        let (object, old_object) = (shown(request.object.as_deref()), shown(request.old_object));
        let scope = Scope { facts: &facts, object: object.as_ref(), old_object: old_object.as_ref() };
        let outcome = hook.conditions.matches(&scope, None, &[]);
        if !matches!(outcome, Ok(true)) {
            self.metrics.admission.condition(&hook.name, step, request.operation, outcome.is_err());
        }
        match outcome {
            Ok(true) => Ok(Some(matched)),
            Ok(false) => Ok(None),
            Err(_) if hook.fails_open => Ok(None),
            Err(why) => {
                let resource = GroupResource::new(request.row.group.clone(), request.row.plural.clone());
                Err(Status::forbidden(&resource, &request.name, &why))
            }
        }
    }
}

/// May change what is written.
pub(super) struct MutatingWebhooks(Hooks);

impl MutatingWebhooks {
    pub(super) fn new(wiring: &Wiring) -> Self {
        Self(Hooks::new("mutatingwebhookconfigurations", wiring))
    }
}

const MUTATING: &str = "MutatingAdmissionWebhook";

#[async_trait]
impl Plugin for MutatingWebhooks {
    fn name(&self) -> &'static str {
        MUTATING
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        self.0.handles(request)
    }

    /// One hook after the other, each seeing what those before it made of the object.
    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let second = request.reinvocation.is_second();
        if second && request.reinvocation.track(MUTATING).changed_since(request.object.as_deref()) {
            // Builtin plugins changed the object after the hooks had seen it.
            request.reinvocation.track(MUTATING).require_again();
        }
        // Copied only once a hook is asked: a write that concerns none costs the matching.
        let mut owned_before = None;
        let mut was_patched = false;
        for (index, hook) in self.0.configurations.hooks().iter().enumerate() {
            let Some(matched) = self.0.concerns(hook, request, Step::Admit)? else { continue };
            // A hook that the first round skipped is not called for the first time now.
            if second && !request.reinvocation.track(MUTATING).runs_again(&hook.id) {
                continue;
            }
            owned_before.get_or_insert_with(|| {
                request.object.as_deref().and_then(|object| object.meta("managedFields")).cloned()
            });
            let position = format!("round_{}_index_{index}", u8::from(second));
            let began = Instant::now();
            let outcome = self.mutate_by(hook, &matched, request).await;
            let took = began.elapsed();
            request.notes.add_wait(took);
            let asked = call::outcome(hook, &outcome);
            self.0.metrics.admission.webhook(&hook.name, Step::Admit, request.operation, &asked, took);
            let changed = *outcome.as_ref().unwrap_or(&false);
            let note = json!({"configuration": hook.configuration, "webhook": hook.name, "mutated": changed});
            request.notes.add(format!("mutation.webhook.admission.k8s.io/{position}"), note.to_string());
            was_patched |= changed;
            if changed {
                request.reinvocation.track(MUTATING).require_again();
                request.reinvocation.request();
            }
            if hook.is_reinvoked {
                request.reinvocation.track(MUTATING).add_invoked(&hook.id);
            }
            match outcome {
                Ok(_) => {}
                Err(Failure::Denied(status) | Failure::Refused(status)) => return Err(*status),
                Err(Failure::Calling(why)) if hook.fails_open => {
                    tracing::warn!(webhook = hook.name, why, "a webhook failed and is ignored");
                    let key = format!("failed-open.mutation.webhook.admission.k8s.io/{position}");
                    request.notes.add(key, hook.name.as_str());
                }
                Err(Failure::Calling(why)) => {
                    tracing::warn!(webhook = hook.name, why, "a webhook failed and the request with it");
                    return Err(hook.failed(&why));
                }
            }
        }
        let Some(owned_before) = owned_before else { return Ok(()) };
        if was_patched {
            keep_managed_fields_valid(request, owned_before);
        }
        let AdmissionRequest { reinvocation, object, .. } = request;
        reinvocation.track(MUTATING).set_output(object.as_deref());
        Ok(())
    }
}

impl MutatingWebhooks {
    /// Asks one hook and does what it says; whether the object is another now.
    async fn mutate_by(
        &self,
        hook: &Webhook,
        matched: &Matched,
        request: &mut AdmissionRequest<'_>,
    ) -> Result<bool, Failure> {
        let answer = call::ask(hook, matched, request, &self.0.lookup, review::Phase::Mutating).await?;
        let Some(patch) = answer.patch else { return Ok(false) };
        let Some(object) = request.object.as_deref_mut() else {
            let text = format!(
                "admission webhook {:?} attempted to modify the object, which is not supported for this operation",
                hook.name
            );
            return Err(Failure::refused(Status::internal(text)));
        };
        let before = convert(object, &request.row, &matched.row);
        let Some(after) = patched::patched(&before, &patch, matched).map_err(Failure::refused)? else {
            return Ok(false);
        };
        *object = convert(&after, &matched.row, &request.row).into_owned();
        Ok(true)
    }
}

/// A hook that makes managedFields unreadable does not take them from everyone else.
fn keep_managed_fields_valid(request: &mut AdmissionRequest<'_>, before: Option<Value>) {
    let Some(object) = request.object.as_deref_mut() else { return };
    let after = object.meta("managedFields");
    if after == before.as_ref() {
        return;
    }
    let Err(why) = ferry_api::patch::apply::validate_managed_fields(after) else { return };
    match before {
        Some(fields) => object.set_meta("managedFields", fields),
        None => object.remove_meta("managedFields"),
    }
    request.warnings.add(format!(
        ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: {why}"
    ));
}

/// May refuse what is written.
pub(super) struct ValidatingWebhooks(Hooks);

impl ValidatingWebhooks {
    pub(super) fn new(wiring: &Wiring) -> Self {
        Self(Hooks::new("validatingwebhookconfigurations", wiring))
    }
}

#[async_trait]
impl Plugin for ValidatingWebhooks {
    fn name(&self) -> &'static str {
        "ValidatingAdmissionWebhook"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        self.0.handles(request)
    }

    /// All hooks at once: none can change what another sees.
    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let hooks = self.0.configurations.hooks();
        let mut concerned = Vec::new();
        for hook in hooks.iter() {
            if let Some(matched) = self.0.concerns(hook, request, Step::Validate)? {
                concerned.push((hook, matched));
            }
        }
        let began = Instant::now();
        let calls = concerned.iter().map(|(hook, matched)| async move {
            let outcome = call::ask(hook, matched, request, &self.0.lookup, review::Phase::Validating).await;
            let asked = call::outcome(hook, &outcome);
            let took = began.elapsed();
            self.0.metrics.admission.webhook(&hook.name, Step::Validate, request.operation, &asked, took);
            outcome
        });
        let outcomes = join_all(calls).await;
        if !concerned.is_empty() {
            request.notes.add_wait(began.elapsed());
        }
        let mut refusal = None;
        for (index, ((hook, _), outcome)) in concerned.iter().zip(outcomes).enumerate() {
            match outcome {
                Ok(_) => {}
                Err(Failure::Denied(status) | Failure::Refused(status)) => refusal = refusal.or(Some(*status)),
                Err(Failure::Calling(why)) if hook.fails_open => {
                    tracing::warn!(webhook = hook.name, why, "a webhook failed and is ignored");
                    let key = format!("failed-open.validating.webhook.admission.k8s.io/round_0_index_{index}");
                    request.notes.add(key, hook.name.as_str());
                }
                Err(Failure::Calling(why)) => {
                    tracing::warn!(webhook = hook.name, why, "a webhook failed and the request with it");
                    refusal = refusal.or_else(|| Some(hook.failed(&why)));
                }
            }
        }
        refusal.map_or(Ok(()), Err)
    }
}
