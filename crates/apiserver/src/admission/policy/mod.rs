//! Policies in CEL: ValidatingAdmissionPolicy refuses, warns and notes;
//! MutatingAdmissionPolicy changes. Both hold where a binding says so, with the parameters
//! that it names (upstream's apiserver/pkg/admission/plugin/policy).
//!
//! ```text
//! source      policies and their bindings, compiled once      params   what bindings name
//! validating  the plugin    validator  one policy's verdict
//! mutating    the plugin    patch      one mutation's result
//! type_check  warnings about expressions    status  who writes them down
//! ```

pub mod mutating;
mod params;
mod patch;
mod source;
pub(crate) mod status;
mod type_check;
pub mod validating;
mod validator;

use super::matching::{Criteria, Matched};
use super::{AdmissionRequest, Wiring};
use crate::authz::Authorizer;
use crate::metrics::Metrics;
use crate::registry::Rows;
use crate::registry::lookup::ObjectLookup;
use ferry_api::gvk::GroupResource;
use ferry_api::status::Status;
use params::Decoded;
use serde_json::Value;
use source::{Binding, GROUP, Hook, Source};
use std::sync::Arc;

/// What both plugins look things up in.
struct Shared<C> {
    source: Arc<Source<C>>,
    lookup: Arc<dyn ObjectLookup>,
    rows: Arc<Rows>,
    authorizer: Authorizer,
    decoded: Decoded,
    metrics: Arc<Metrics>,
}

/// A policy or binding that cannot be used for a request it is about.
struct ConfigurationError<'h, C> {
    hook: &'h Hook<C>,
    binding: Option<&'h Binding>,
    message: String,
}

/// A policy, bound, with the parameters to ask it with.
struct Invocation<'h, C> {
    hook: &'h Hook<C>,
    binding: &'h Binding,
    matched: Matched,
    params: Vec<Option<Arc<Value>>>,
}

impl<C: Send + Sync + 'static> Shared<C> {
    fn new(source: Arc<Source<C>>, wiring: &Wiring) -> Self {
        Self {
            source,
            lookup: wiring.lookup.clone(),
            rows: wiring.rows.clone(),
            authorizer: wiring.authorizer.clone(),
            decoded: Decoded::default(),
            metrics: wiring.metrics.clone(),
        }
    }

    /// Nearly every request ends here: there are no policies, or they are about other things.
    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        let hooks = self.source.hooks();
        !hooks.is_empty() && !is_excluded(request)
    }

    /// Every bound policy that is about the request, in order, and what cannot be used.
    fn invocations<'h>(
        &self,
        hooks: &'h [Hook<C>],
        request: &AdmissionRequest<'_>,
    ) -> (Vec<Invocation<'h, C>>, Vec<ConfigurationError<'h, C>>) {
        let (mut invocations, mut errors) = (Vec::new(), Vec::new());
        let find = |criteria: &Criteria| criteria.find(request, &self.rows, &*self.lookup);
        for hook in hooks {
            let mut fail = |binding: Option<&'h Binding>, message: String| {
                let whose = if binding.is_some() { "binding" } else { "policy" };
                let message = format!("failed to configure {whose}: {message}");
                errors.push(ConfigurationError { hook, binding, message });
            };
            let matched = match find(&hook.policy.constraints) {
                Ok(Some(matched)) => matched,
                Ok(None) => continue,
                Err(status) => {
                    fail(None, status.message);
                    continue;
                }
            };
            let kind = hook.policy.param_kind.as_ref();
            let row = match kind.map(|kind| params::find_row(&self.rows, kind)).transpose() {
                Ok(row) => row,
                Err(text) => {
                    fail(None, text);
                    continue;
                }
            };
            for binding in hook.bindings.iter().map(|binding| &**binding) {
                match binding.resources.as_ref().map(find).transpose() {
                    Ok(None | Some(Some(_))) => {}
                    Ok(Some(None)) => continue,
                    Err(status) => {
                        fail(Some(binding), status.message);
                        continue;
                    }
                }
                let namespace = request.namespace_attribute();
                let reference = binding.params.as_ref();
                match params::collect(row.as_deref(), reference, namespace, &*self.lookup, &self.decoded) {
                    Ok(params) if params.is_empty() => {}
                    Ok(params) => invocations.push(Invocation { hook, binding, matched: matched.clone(), params }),
                    Err(text) => fail(Some(binding), text),
                }
            }
        }
        (invocations, errors)
    }

    /// Expressions may look at the namespace, so it must be there.
    fn check_namespace(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let namespace = request.namespace.as_str();
        let is_missing = !namespace.is_empty()
            && !request.is_for("", "namespaces")
            && self.lookup.get("", "namespaces", "", namespace).is_none();
        if is_missing { Err(Status::not_found(&GroupResource::new("", "namespaces"), namespace)) } else { Ok(()) }
    }
}

/// Policies do not judge policies, lest one forbids its own removal, nor the reviews that
/// the cluster asks who may do what.
fn is_excluded(request: &AdmissionRequest<'_>) -> bool {
    match (request.row.group.as_ref(), request.row.plural.as_ref()) {
        (GROUP, plural) => matches!(
            plural,
            "validatingadmissionpolicies"
                | "validatingadmissionpolicybindings"
                | "mutatingadmissionpolicies"
                | "mutatingadmissionpolicybindings"
        ),
        ("authentication.k8s.io", plural) => matches!(plural, "selfsubjectreviews" | "tokenreviews"),
        ("authorization.k8s.io", plural) => matches!(
            plural,
            "localsubjectaccessreviews"
                | "selfsubjectaccessreviews"
                | "selfsubjectrulesreviews"
                | "subjectaccessreviews"
        ),
        _ => false,
    }
}
