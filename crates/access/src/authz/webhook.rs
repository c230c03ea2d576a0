//! Asks another server whether something may be done: SubjectAccessReview to the server
//! that a kubeconfig names, after conditions that decide whether it is asked at all.
//! Called by the chain where the configuration has such an authorizer.

use super::chain::Verdict;
use super::config::WebhookConfiguration;
use super::selectors::{field_requirements, label_requirements};
use super::{Attributes, Decision};
use crate::retry::with_backoff;
use crate::webhook::{Hook, Kubeconfig};
use ferry_api::object::Meta;
use ferry_cel::{Activation, Budget, Environment, Program, StructType, Type, Value as Cel};
use ferry_metrics::Counters;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

const REMEMBERED: usize = 8192;
/// Questions longer than this are not kept: who asks decides their length.
const REMEMBERED_LENGTH: usize = 10_000;

/// A compiled match condition.
pub(super) type Condition = Program;

pub(super) struct WebhookAuthorizer {
    name: String,
    hook: Hook,
    version: String,
    timeout: Duration,
    authorized_ttl: Duration,
    unauthorized_ttl: Duration,
    denies_on_error: bool,
    conditions: Vec<Condition>,
    remembered: Mutex<HashMap<String, (Value, Instant)>>,
    counters: Arc<Counters>,
}

impl WebhookAuthorizer {
    pub(super) fn new(
        name: &str,
        config: &WebhookConfiguration,
        conditions: Vec<Condition>,
        counters: Arc<Counters>,
    ) -> Result<Self, String> {
        let file = config.connection_info.kube_config_file.as_deref().unwrap_or_default();
        let failed =
            |error: crate::webhook::Error| format!("authorizer {name}: connectionInfo.kubeConfigFile: {error}");
        let kubeconfig = Kubeconfig::read(Path::new(file)).map_err(failed)?;
        let ttl = |kept: bool, ttl: Duration| if kept { ttl } else { Duration::ZERO };
        Ok(Self {
            name: name.to_owned(),
            hook: Hook::from_kubeconfig(&kubeconfig).map_err(failed)?,
            version: config.subject_access_review_version.clone(),
            timeout: config.timeout.duration(),
            authorized_ttl: ttl(config.cache_authorized_requests, config.authorized_ttl.duration()),
            unauthorized_ttl: ttl(config.cache_unauthorized_requests, config.unauthorized_ttl.duration()),
            denies_on_error: config.failure_policy == "Deny",
            conditions,
            remembered: Mutex::default(),
            counters,
        })
    }

    pub(super) async fn decide(&self, attributes: &Attributes<'_>) -> Verdict {
        let spec = render_spec(attributes);
        match evaluate(&self.conditions, &spec) {
            Ok(true) => {}
            Ok(false) => {
                let help = "Total number of exclusions when an authorization webhook is skipped because match conditions exclude it.";
                self.count("apiserver_authorization_match_condition_exclusions_total", help, &[("type", "Webhook")]);
                return Decision::no_opinion("").into();
            }
            Err(why) => {
                let help = "Total number of errors when an authorization webhook encounters a match condition error split by authorizer type and name.";
                let name = "apiserver_authorization_match_condition_evaluation_errors_total";
                self.count(name, help, &[("type", "Webhook")]);
                return self.failed(why);
            }
        }
        let key = spec.to_string();
        if let Some((status, until)) = self.remembered.lock().get(&key)
            && Instant::now() < *until
        {
            return read(status);
        }
        let question = json!({
            "apiVersion": format!("authorization.k8s.io/{}", self.version), "kind": "SubjectAccessReview",
            "metadata": {"creationTimestamp": null}, "spec": in_version(spec, &self.version),
            "status": {"allowed": false},
        });
        let started = Instant::now();
        let answer = with_backoff(|| self.hook.post(&question, self.timeout)).await;
        let result = match &answer {
            Ok(_) => "success",
            Err(error) if error.is_timeout() => "timeout",
            Err(_) => "error",
        };
        self.count(
            "apiserver_authorization_webhook_evaluations_total",
            "Round-trips to authorization webhooks.",
            &[("result", result)],
        );
        let labels = [("name", self.name.as_str()), ("result", result)];
        let (sum, count) = (
            "apiserver_authorization_webhook_duration_seconds_sum",
            "apiserver_authorization_webhook_duration_seconds_count",
        );
        self.counters.add(sum, "Request latency in seconds.", &labels, started.elapsed().as_secs_f64());
        self.counters.count(count, "Request latency in seconds.", &labels);
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                if !self.denies_on_error {
                    let help = "NoOpinion results due to webhook timeout or error.";
                    self.count(
                        "apiserver_authorization_webhook_evaluations_fail_open_total",
                        help,
                        &[("result", result)],
                    );
                }
                tracing::error!(webhook = self.name, %error, "an authorization webhook failed");
                return self.failed(error.to_string());
            }
        };
        let status = answer.get("status").cloned().unwrap_or_default();
        let ttl = if status.bool_at(&["allowed"]) == Some(true) { self.authorized_ttl } else { self.unauthorized_ttl };
        if !ttl.is_zero() && asked_length(attributes) < REMEMBERED_LENGTH {
            let mut remembered = self.remembered.lock();
            if remembered.len() >= REMEMBERED {
                remembered.clear();
            }
            remembered.insert(key, (status.clone(), Instant::now() + ttl));
        }
        read(&status)
    }

    /// What follows from having no answer.
    fn failed(&self, why: String) -> Verdict {
        let decision =
            if self.denies_on_error { Decision::Deny { reason: String::new() } } else { Decision::no_opinion("") };
        Verdict { decision, error: Some(why) }
    }

    fn count(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) {
        let mut all = vec![("name", self.name.as_str())];
        all.extend_from_slice(labels);
        self.counters.count(name, help, &all);
    }
}

/// What an answered review means.
fn read(status: &Value) -> Verdict {
    let reason = status.str_at(&["reason"]).to_owned();
    let is = |field: &str| status.bool_at(&[field]) == Some(true);
    match (is("denied"), is("allowed")) {
        (true, true) => Verdict {
            decision: Decision::Deny { reason },
            error: Some("webhook subject access review returned both allow and deny response".into()),
        },
        (true, false) => Decision::Deny { reason }.into(),
        (false, true) => Decision::Allow { reason }.into(),
        (false, false) => Decision::NoOpinion { reason }.into(),
    }
}

/// SubjectAccessReviewSpec, what is empty left out.
fn render_spec(attributes: &Attributes<'_>) -> Value {
    let mut spec = Map::new();
    let mut inner = Map::new();
    let mut put = |key: &str, value: &str| {
        if !value.is_empty() {
            inner.insert(key.into(), value.into());
        }
    };
    if attributes.is_resource {
        put("namespace", attributes.namespace);
        put("verb", attributes.verb);
        put("group", attributes.api_group);
        put("version", attributes.api_version);
        put("resource", attributes.resource);
        put("subresource", attributes.subresource);
        put("name", attributes.name);
        for (key, requirements) in [
            ("fieldSelector", field_requirements(attributes.field_selector)),
            ("labelSelector", label_requirements(attributes.label_selector)),
        ] {
            if !requirements.is_empty() {
                inner.insert(key.into(), json!({"requirements": requirements}));
            }
        }
        spec.insert("resourceAttributes".into(), inner.into());
    } else {
        put("path", attributes.path);
        put("verb", attributes.verb);
        spec.insert("nonResourceAttributes".into(), inner.into());
    }
    let user = attributes.user;
    if !user.name.is_empty() {
        spec.insert("user".into(), user.name.as_str().into());
    }
    if !user.groups.is_empty() {
        spec.insert("groups".into(), json!(user.groups));
    }
    if !user.extra.is_empty() {
        spec.insert("extra".into(), json!(user.extra));
    }
    if !user.uid.is_empty() {
        spec.insert("uid".into(), user.uid.as_str().into());
    }
    spec.into()
}

/// The old version calls the groups `group`.
fn in_version(mut spec: Value, version: &str) -> Value {
    if version == "v1beta1"
        && let Some(groups) = spec.as_object_mut().and_then(|spec| spec.remove("groups"))
    {
        spec["group"] = groups;
    }
    spec
}

fn asked_length(attributes: &Attributes<'_>) -> usize {
    [
        attributes.namespace,
        attributes.verb,
        attributes.api_group,
        attributes.api_version,
        attributes.resource,
        attributes.subresource,
        attributes.name,
        attributes.path,
    ]
    .iter()
    .map(|text| text.len())
    .sum()
}

/// What conditions may name: `request`, the spec of the review.
fn environment() -> &'static Environment {
    static REQUEST: LazyLock<Environment> = LazyLock::new(|| {
        let record = |name: &str, fields: Vec<(&str, Type)>| {
            let fields: BTreeMap<String, Type> =
                fields.into_iter().map(|(name, declared)| (name.to_owned(), declared)).collect();
            Type::Struct(StructType::new(name, fields))
        };
        let text = |names: &[&'static str]| names.iter().map(|name| (*name, Type::String)).collect::<Vec<_>>();
        let strings = || Type::list(Type::String);
        let selector = |name: &str| {
            let mut fields = text(&["key", "operator"]);
            fields.push(("values", strings()));
            let requirement = record("kubernetes.SelectorRequirement", fields);
            record(name, vec![("rawSelector", Type::String), ("requirements", Type::list(requirement))])
        };
        let mut resource = text(&["namespace", "verb", "group", "version", "resource", "subresource", "name"]);
        resource.push(("fieldSelector", selector("kubernetes.FieldSelectorAttributes")));
        resource.push(("labelSelector", selector("kubernetes.LabelSelectorAttributes")));
        let mut spec = text(&["user", "uid"]);
        spec.push(("groups", strings()));
        spec.push(("extra", Type::map(Type::String, strings())));
        spec.push(("resourceAttributes", record("kubernetes.ResourceAttributes", resource)));
        spec.push(("nonResourceAttributes", record("kubernetes.NonResourceAttributes", text(&["path", "verb"]))));
        Environment::kubernetes().with_variable("request", record("kubernetes.SubjectAccessReviewSpec", spec))
    });
    &REQUEST
}

/// The reason why an expression is no condition is upstream's.
pub(super) fn compile_condition(expression: &str) -> Result<Condition, String> {
    let program = environment().compile(expression).map_err(|why| format!("compilation failed: {why}"))?;
    match program.result_type() {
        Type::Bool => Ok(program),
        other => Err(format!("must evaluate to bool but got {other}")),
    }
}

/// Whether every condition holds. One that does not hold settles it, whatever the others;
/// otherwise one that fails is an error.
fn evaluate(conditions: &[Condition], spec: &Value) -> Result<bool, String> {
    if conditions.is_empty() {
        return Ok(true);
    }
    let request = with_every_field(spec);
    let activation = Activation::new().with("request", Cel::from_json(&request));
    let mut problems = Vec::new();
    for condition in conditions {
        match condition.evaluate(&activation, &mut Budget::default()) {
            Ok(value) if value.as_bool() == Some(true) => {}
            Ok(_) => return Ok(false),
            Err(error) => problems
                .push(format!("cel evaluation error: expression '{}' resulted in error: {error}", condition.source())),
        }
    }
    match problems.as_slice() {
        [] => Ok(true),
        [one] => Err(one.clone()),
        many => Err(format!("[{}]", many.join(", "))),
    }
}

/// Expressions see fields of plain text even where they are empty.
fn with_every_field(spec: &Value) -> Value {
    let filled = |given: Option<&Value>, names: &[&str]| {
        let mut out = given.and_then(Value::as_object).cloned().unwrap_or_default();
        for name in names {
            out.entry(*name).or_insert_with(|| "".into());
        }
        Value::Object(out)
    };
    let mut out = filled(Some(spec), &["user", "uid"]);
    for (name, empty) in [("groups", json!([])), ("extra", json!({}))] {
        if out.get(name).is_none() {
            out[name] = empty;
        }
    }
    if let Some(resource) = spec.get("resourceAttributes") {
        let names = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];
        out["resourceAttributes"] = filled(Some(resource), &names);
    }
    if let Some(other) = spec.get("nonResourceAttributes") {
        out["nonResourceAttributes"] = filled(Some(other), &["path", "verb"]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authn::UserInfo;

    fn spec(path: &str) -> Value {
        let user = UserInfo::authenticated("ann", &["dev"]);
        let blank = Attributes {
            user: &user,
            verb: "list",
            api_group: "",
            api_version: "v1",
            resource: "pods",
            subresource: "",
            namespace: "team",
            name: "",
            path,
            is_resource: path.is_empty(),
            field_selector: "spec.nodeName=a",
            label_selector: "app in (x)",
        };
        render_spec(&blank)
    }

    #[test]
    fn the_question_is_the_review_of_upstream() {
        assert_eq!(
            spec(""),
            json!({"user": "ann", "groups": ["dev", "system:authenticated"], "resourceAttributes": {
                "namespace": "team", "verb": "list", "version": "v1", "resource": "pods",
                "fieldSelector": {"requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["a"]}]},
                "labelSelector": {"requirements": [{"key": "app", "operator": "In", "values": ["x"]}]}}})
        );
        let other = in_version(spec("/metrics"), "v1beta1");
        assert_eq!(
            other,
            json!({"user": "ann", "group": ["dev", "system:authenticated"],
                "nonResourceAttributes": {"path": "/metrics", "verb": "list"}})
        );
    }

    #[test]
    fn conditions_decide_whether_it_is_asked() {
        let check = |expressions: &[&str], path: &str| {
            let conditions: Vec<Condition> =
                expressions.iter().map(|e| compile_condition(e).expect("compiles")).collect();
            evaluate(&conditions, &spec(path))
        };
        assert_eq!(check(&[], ""), Ok(true));
        assert_eq!(
            check(&["has(request.resourceAttributes)", "request.resourceAttributes.namespace == 'team'"], ""),
            Ok(true)
        );
        assert_eq!(check(&["request.resourceAttributes.subresource == ''"], ""), Ok(true), "empty fields are there");
        assert_eq!(check(&["!('system:masters' in request.groups)"], ""), Ok(true));
        assert_eq!(check(&["request.resourceAttributes.fieldSelector.requirements[0].values[0] == 'a'"], ""), Ok(true));
        assert_eq!(check(&["request.resourceAttributes.namespace == 'x'"], ""), Ok(false));
        let broken = "request.resourceAttributes.namespace == 'x'";
        assert!(check(&[broken], "/metrics").is_err(), "no such key");
        assert_eq!(check(&[broken, "request.user == 'bob'"], "/metrics"), Ok(false), "another settles it");
        assert!(
            compile_condition("request.nothing == ''").expect_err("no such field").starts_with("compilation failed")
        );
    }

    #[test]
    fn answers_allow_deny_or_say_nothing() {
        let decision = |status: Value| read(&status).decision;
        assert_eq!(decision(json!({"allowed": true, "reason": "r"})), Decision::Allow { reason: "r".into() });
        assert_eq!(decision(json!({"allowed": false, "denied": true})), Decision::Deny { reason: String::new() });
        assert_eq!(decision(json!({"allowed": false})), Decision::NoOpinion { reason: String::new() });
        assert!(read(&json!({"allowed": true, "denied": true})).error.is_some());
    }
}
