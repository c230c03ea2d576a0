//! PodSecurity: pods keep to the level that their namespace's labels ask for. A pod that
//! does not is refused, noted in the audit log or warned of, as the labels say; an object
//! that makes pods is only noted and warned of, since it is its pods that count. A
//! namespace whose level rises is told which of its pods would not be let in any more.
//!
//! ```text
//! config.rs     defaults and exemptions
//! namespace.rs  new level, pods that are there -> warnings
//! ```
//!
//! The levels and their checks are the crate `pod_security`.

mod config;
mod namespace;

pub use config::PodSecurityConfig;

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use crate::metrics::Metrics;
use crate::metrics::admission::yes_no;
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::field::ErrorList;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_pod_security::evaluate::{self, Subject, Violation, evaluate, render_details};
use ferry_pod_security::policy::{Level, LevelVersion, PREFIX, Policy, compute_policy};
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct PodSecurity {
    lookup: Arc<dyn ObjectLookup>,
    config: Arc<PodSecurityConfig>,
    metrics: Arc<Metrics>,
}

impl PodSecurity {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        let config = Arc::new(wiring.config.pod_security.clone());
        Self { lookup: wiring.lookup.clone(), config, metrics: wiring.metrics.clone() }
    }
}

/// Where kinds that make pods keep the template of them.
fn template_of(request: &AdmissionRequest<'_>) -> Option<&'static [&'static str]> {
    let path: &[&str] = match (&*request.row.group, &*request.row.plural) {
        ("", "podtemplates") => &["template"],
        ("", "replicationcontrollers")
        | ("apps", "replicasets" | "deployments" | "statefulsets" | "daemonsets")
        | ("batch", "jobs") => &["spec", "template"],
        ("batch", "cronjobs") => &["spec", "jobTemplate", "spec", "template"],
        _ => return None,
    };
    Some(path)
}

/// What changes nothing that a check looks at. Any other subresource carries a pod.
const IGNORED_SUBRESOURCES: [&str; 8] =
    ["exec", "attach", "binding", "eviction", "log", "portforward", "proxy", "status"];

#[async_trait]
impl Plugin for PodSecurity {
    fn name(&self) -> &'static str {
        "PodSecurity"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        let is_write = matches!(request.operation, Operation::Create | Operation::Update);
        let subresource = request.subresource.as_str();
        is_write
            && if request.is_for("", "pods") {
                !IGNORED_SUBRESOURCES.contains(&subresource)
            } else {
                subresource.is_empty() && (request.is_for("", "namespaces") || template_of(request).is_some())
            }
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(object) = request.object.as_deref() else { return Ok(()) };
        if request.is_for("", "namespaces") {
            return self.validate_namespace(request, object).await;
        }
        match template_of(request) {
            None => self.validate_pod(request, object),
            Some(path) => {
                self.look_at_template(request, object.at(path).filter(|template| template.is_object()));
                Ok(())
            }
        }
    }
}

impl PodSecurity {
    async fn validate_namespace(&self, request: &AdmissionRequest<'_>, object: &Value) -> Result<(), Status> {
        let (policy, errors) = self.policy_of(object);
        let old = request.old_object.map(|old| self.policy_of(old));
        let is_new_mistake = match &old {
            None => true,
            Some((_, old_errors)) => *old_errors != errors,
        };
        if !errors.is_empty() && is_new_mistake {
            return Err(Status::invalid(&request.kind(), object.name(), errors));
        }
        let is_exempt = contains(&self.config.exempt_namespaces, request.namespace_attribute());
        let Some((old, _)) = old else {
            if is_exempt {
                self.warn_of_exemption(request, object, &policy);
            }
            return Ok(());
        };
        let (new, old) = (policy.enforce, old.enforce);
        let is_stricter =
            new != old && new.level != Level::Privileged && !(new.version == old.version && new.level <= old.level);
        if !is_stricter {
            return Ok(());
        }
        if is_exempt {
            self.count_exemption(request);
            self.warn_of_exemption(request, object, &policy);
            return Ok(());
        }
        let pods = self.lookup.list("", "pods", Some(object.name()));
        let (config, name) = (self.config.clone(), object.name().to_owned());
        // Thousands of pods are looked at for up to a second, which others must not wait for.
        let looked = tokio::task::spawn_blocking(move || {
            namespace::warn_of_pods(&name, new, &pods, &config.exempt_runtime_classes, namespace::Limits::default())
        });
        match looked.await {
            Ok(warnings) => warnings.into_iter().for_each(|warning| request.warnings.add(warning)),
            Err(_) => request.warnings.add("failed to list pods while checking new PodSecurity enforce level"),
        }
        Ok(())
    }

    fn validate_pod(&self, request: &AdmissionRequest<'_>, pod: &Value) -> Result<(), Status> {
        let Some((policy, errors)) = self.policy_for(request)? else { return Ok(()) };
        if errors.is_empty() && policy.is_privileged() {
            let allowed = LevelVersion::default();
            annotate(request, "enforce-policy", allowed.to_string());
            self.count_evaluation(request, "allow", allowed, "enforce");
            return Ok(());
        }
        if let Some(old) = request.old_object.filter(|_| request.operation == Operation::Update)
            && !is_significant(pod, old)
        {
            return Ok(());
        }
        let subject = Subject::new(pod);
        if !self.judge(request, subject, &errors) {
            return Ok(());
        }
        annotate(request, "enforce-policy", policy.enforce.to_string());
        let found = evaluate(policy.enforce, subject);
        let decision = if found.is_empty() { "allow" } else { "deny" };
        self.count_evaluation(request, decision, policy.enforce, "enforce");
        let refused = (!found.is_empty()).then(|| {
            request.forbidden(&format!("violates PodSecurity \"{}\": {}", policy.enforce, render_details(&found)))
        });
        let known = [(policy.enforce, found)];
        self.audit_and_warn(request, &policy, subject, &known, refused.is_none());
        refused.map_or(Ok(()), Err)
    }

    fn look_at_template(&self, request: &AdmissionRequest<'_>, template: Option<&Value>) {
        let Ok(Some((policy, errors))) = self.policy_for(request) else { return };
        let is_silent = policy.warn.level == Level::Privileged && policy.audit.level == Level::Privileged;
        if errors.is_empty() && is_silent {
            return;
        }
        let Some(template) = template else { return };
        let subject = Subject::new(template);
        if self.judge(request, subject, &errors) {
            self.audit_and_warn(request, &policy, subject, &[], true);
        }
    }

    /// The policy of the request's namespace, or `None` for those who are exempt from any.
    /// A namespace that is not there fails a pod and leaves a template alone.
    fn policy_for(&self, request: &AdmissionRequest<'_>) -> Result<Option<(Policy, ErrorList)>, Status> {
        for (list, name, reason) in [
            (&self.config.exempt_namespaces, request.namespace.as_str(), "namespace"),
            (&self.config.exempt_users, request.user.name.as_str(), "user"),
        ] {
            if contains(list, name) {
                annotate(request, "exempt", reason);
                self.count_exemption(request);
                return Ok(None);
            }
        }
        let Some(namespace) = self.lookup.get("", "namespaces", "", &request.namespace) else {
            let why = format!("failed to lookup namespace {:?}", request.namespace);
            annotate(request, "error", why.clone());
            self.count_error(request, true);
            return Err(Status::internal(why));
        };
        Ok(Some(compute_policy(|key| namespace.label(key), &self.config.defaults)))
    }

    fn policy_of(&self, namespace: &Value) -> (Policy, ErrorList) {
        compute_policy(|key| namespace.label(key), &self.config.defaults)
    }

    /// Whether the subject is judged at all: its runtime class may be exempt. Labels that
    /// could not be read are noted.
    fn judge(&self, request: &AdmissionRequest<'_>, subject: Subject<'_>, errors: &ErrorList) -> bool {
        let class = subject.spec(&["runtimeClassName"]).and_then(Value::as_str).unwrap_or_default();
        if contains(&self.config.exempt_runtime_classes, class) {
            annotate(request, "exempt", "runtimeClass");
            self.count_exemption(request);
            return false;
        }
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        if !texts.is_empty() {
            self.count_error(request, false);
        }
        match texts.as_slice() {
            [] => {}
            [one] => annotate(request, "error", format!("Failed to parse policy: {one}")),
            many => annotate(request, "error", format!("Failed to parse policy: [{}]", many.join(", "))),
        }
        true
    }

    /// Labels of an exempt namespace change nothing; who sets them may not know that.
    fn warn_of_exemption(&self, request: &AdmissionRequest<'_>, namespace: &Value, policy: &Policy) {
        if policy.is_privileged() || policy.is_like(&self.config.defaults) {
            return;
        }
        let is_labelled = |mode: &str| {
            let key = format!("{PREFIX}{mode}");
            namespace.label(&key).is_some() || namespace.label(&format!("{key}-version")).is_some()
        };
        let modes: Vec<String> = policy
            .modes()
            .into_iter()
            .filter(|(mode, wanted)| wanted.level != Level::Privileged && is_labelled(mode))
            .map(|(mode, wanted)| format!("{mode}={wanted}"))
            .collect();
        request.warnings.add(format!(
            "namespace {:?} is exempt from Pod Security, and the policy ({}) will be ignored",
            namespace.name(),
            modes.join(", ")
        ));
    }
}

impl PodSecurity {
    /// Notes and warns of what the modes that refuse nothing find; `known` are verdicts that
    /// are there already. Who is refused anyway is not warned too.
    fn audit_and_warn(
        &self,
        request: &AdmissionRequest<'_>,
        policy: &Policy,
        subject: Subject<'_>,
        known: &[(LevelVersion, Vec<Violation>)],
        warn: bool,
    ) {
        let describe = |mode: LevelVersion| {
            let found = match known.iter().find(|(judged, _)| *judged == mode) {
                Some((_, found)) => render_details(found),
                None => render_details(&evaluate(mode, subject)),
            };
            (!found.is_empty()).then(|| format!("would violate PodSecurity \"{mode}\": {found}"))
        };
        let audited = describe(policy.audit);
        if let Some(text) = &audited {
            annotate(request, "audit-violations", text.clone());
            self.count_evaluation(request, "deny", policy.audit, "audit");
        }
        if warn {
            let warning = if policy.warn == policy.audit { audited } else { describe(policy.warn) };
            if let Some(text) = warning {
                request.warnings.add(text);
                self.count_evaluation(request, "deny", policy.warn, "warn");
            }
        }
    }

    fn count_evaluation(&self, request: &AdmissionRequest<'_>, decision: &str, judged: LevelVersion, mode: &str) {
        let [operation, resource, subresource] = counted_as(request);
        let (level, version) = (judged.level.as_str(), judged.version.to_string());
        let labels = [decision, level, &version, mode, operation, resource, subresource];
        self.metrics.admission.pod_security.evaluations.of(&labels).count();
    }

    fn count_exemption(&self, request: &AdmissionRequest<'_>) {
        self.metrics.admission.pod_security.exemptions.of(&counted_as(request)).count();
    }

    fn count_error(&self, request: &AdmissionRequest<'_>, fatal: bool) {
        let [operation, resource, subresource] = counted_as(request);
        let labels = [yes_no(fatal), operation, resource, subresource];
        self.metrics.admission.pod_security.errors.of(&labels).count();
    }
}

/// The operation, the sort of resource and the subresource, as figures name them.
fn counted_as<'a>(request: &'a AdmissionRequest<'_>) -> [&'a str; 3] {
    let operation = if request.operation == Operation::Update { "update" } else { "create" };
    let resource = if request.is_for("", "pods") {
        "pod"
    } else if request.is_for("", "namespaces") {
        "namespace"
    } else {
        "controller"
    };
    [operation, resource, &request.subresource]
}

fn annotate(request: &AdmissionRequest<'_>, key: &str, value: impl Into<String>) {
    request.notes.add(format!("{PREFIX}{key}"), value);
}

fn contains(list: &[String], name: &str) -> bool {
    !name.is_empty() && list.iter().any(|item| item == name)
}

/// Whether an update of a pod changes what it runs. Nothing else that may change about a
/// pod is looked at by a check, and a pod that was let in once must be able to end.
fn is_significant(new: &Value, old: &Value) -> bool {
    let image = |container: &Value| container.str_at(&["image"]).to_owned();
    for list in ["containers", "initContainers"] {
        let (new, old) = (new.items_at(&["spec", list]), old.items_at(&["spec", list]));
        if new.len() != old.len() || new.iter().zip(old).any(|(new, old)| image(new) != image(old)) {
            return true;
        }
    }
    let old = old.items_at(&["spec", "ephemeralContainers"]);
    new.items_at(&["spec", "ephemeralContainers"]).iter().any(|new| {
        let before = old.iter().find(|old| evaluate::name(old) == evaluate::name(new));
        before.is_none_or(|old| image(new) != image(old))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_update_counts_when_something_else_runs() {
        let pod = json!({"spec": {
            "containers": [{"name": "c", "image": "i:1"}],
            "initContainers": [{"name": "init", "image": "i:1"}],
            "ephemeralContainers": [{"name": "e", "image": "i:1"}],
        }});
        assert!(!is_significant(&pod, &pod));
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            let mut changed = pod.clone();
            changed["spec"][list][0]["image"] = "i:2".into();
            assert!(is_significant(&changed, &pod), "{list}");
            let mut more = pod.clone();
            more["spec"][list].as_array_mut().expect("a list").push(json!({"name": "more", "image": "i:1"}));
            assert!(is_significant(&more, &pod), "{list}");
        }
        let mut labelled = pod.clone();
        labelled["metadata"] = json!({"labels": {"a": "b"}, "finalizers": []});
        labelled["spec"]["activeDeadlineSeconds"] = 5.into();
        assert!(!is_significant(&labelled, &pod));
    }
}
