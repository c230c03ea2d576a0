//! `pods/eviction`: a delete that disruption budgets may refuse
//! (registry/core/pod/storage/eviction.go upstream).

use crate::admission::Operation;
use crate::door::answer;
use crate::door::negotiate::{self, Accepted};
use crate::door::wire;
use crate::registry::{Admit, Caller, DeleteOptions, IfAbsent, Part, Target, Tracking, check_preconditions};
use crate::transport::Body;
use crate::verbs::Call;
use crate::verbs::options::WriteOptions;
use bytes::Bytes;
use ferry_api::gvk::{GroupResource, GroupVersionKind};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::pod::is_ready;
use ferry_api::rules::{condition, label_selector};
use ferry_api::schema;
use ferry_api::status::{Cause, Status};
use ferry_api::view::core::v1::PodView;
use ferry_api::view::policy::v1::PodDisruptionBudgetView;
use ferry_resources::Propagation;
use http::{Response, StatusCode};
use jiff::Timestamp;
use serde_json::Value;

pub(super) async fn evict(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
    let format = negotiate::input(&call.headers)?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let kind = GroupVersionKind::new("policy", "v1", "Eviction");
    let definition = schema::of_kind(&kind).map(|definition| &**definition);
    let mut eviction = wire::decode(&body, format, &kind, definition, options.field_validation)?.object;
    let name = &call.info.name;
    if !eviction.name().is_empty() && eviction.name() != name {
        return Err(Status::bad_request("name in URL does not match name in Eviction object"));
    }
    let registry = &call.server.registry;
    let delete = eviction.get("deleteOptions").cloned().unwrap_or(Value::Null);
    let mut caller = call.caller(&options, "CreateOptions");
    caller.dry_run |= !delete.items_at(&["dryRun"]).is_empty();
    let target = Target {
        row: &call.row,
        namespace: call.namespace(),
        name,
        part: Part::Other("eviction"),
        absent: IfAbsent::AsKind,
    };
    registry.admit(Operation::Create, &target, &mut eviction, &caller).await?;

    let text = |path: &[&str]| Some(delete.str_at(path).to_owned()).filter(|text| !text.is_empty());
    let asked = DeleteOptions {
        grace_period_seconds: delete.i64_at(&["gracePeriodSeconds"]),
        uid: text(&["preconditions", "uid"]),
        resource_version: text(&["preconditions", "resourceVersion"]),
        propagation: propagation(delete.str_at(&["propagationPolicy"])),
        ignore_store_read_error: false,
    };
    let mut attempts = 0;
    let pod = loop {
        let pod = registry
            .current(&call.row, call.namespace(), name)
            .await?
            .ok_or_else(|| Status::not_found(&call.row.group_resource(), name))?;
        if !disrupts_nobody(&pod) {
            break pod;
        }
        let mut with = asked.clone();
        if pod.str_at(&["status", "phase"]) == "Pending" && !pod.is_deleting() && with.resource_version.is_none() {
            // It must not have become ready, and so a budget's matter, since we looked.
            with.resource_version = Some(pod.resource_version().to_owned());
        }
        attempts += 1;
        match mark_and_delete(call, &caller, &with).await {
            Err(status) if status.is_conflict() && asked.resource_version.is_none() && attempts < ATTEMPTS => {}
            Err(status) => return Err(status),
            Ok(()) => return Ok(evicted()),
        }
    };
    let budgets = call.server.lookup.list("policy", "poddisruptionbudgets", Some(call.namespace()));
    let budgets: Vec<Value> =
        budgets.iter().map(|stored| stored.value()).filter(|budget| covers(budget, &pod)).collect();
    let budget = match budgets.as_slice() {
        [] => None,
        [budget] => Some(budget),
        _ => {
            let why =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Err(Status::failure(500, "", why));
        }
    };
    let mut with = asked.clone();
    if let Some(budget) = budget {
        if is_free_to_go(&pod, budget) {
            with.resource_version = Some(pod.resource_version().to_owned());
        } else {
            charge(call, budget.name(), name, caller.dry_run).await?;
        }
    }
    match mark_and_delete(call, &caller, &with).await {
        Err(status) if status.is_conflict() && asked.resource_version.is_none() && with.resource_version.is_some() => {
            Err(still_processed(budget.map(Meta::name).unwrap_or_default()))
        }
        Err(status) => Err(status),
        Ok(()) => Ok(evicted()),
    }
}

/// How often a pod that changed under our hands is looked at again.
const ATTEMPTS: usize = 20;

/// More evictions than this that the disruption controller has not confirmed are too many.
const MOST_DISRUPTED: usize = 2000;

fn evicted() -> Response<Body> {
    let status = Status { code: 201, ..Status::success(Default::default()) };
    let mut value = serde_json::to_value(&status).unwrap_or(Value::Null);
    ensure_object(&mut value).remove("details");
    answer::document(StatusCode::CREATED, &value, &Accepted::JSON)
}

fn propagation(policy: &str) -> Option<Propagation> {
    match policy {
        "Orphan" => Some(Propagation::Orphan),
        "Foreground" => Some(Propagation::Foreground),
        "Background" => Some(Propagation::Background),
        _ => None,
    }
}

/// A pod that never ran, is over or is going anyway.
fn disrupts_nobody(pod: &Value) -> bool {
    matches!(pod.str_at(&["status", "phase"]), "Succeeded" | "Failed" | "Pending") || pod.is_deleting()
}

fn covers(budget: &Value, pod: &Value) -> bool {
    let selector = PodDisruptionBudgetView::from(budget).spec().selector();
    label_selector::matches(selector, PodView::from(pod).metadata().labels())
}

/// A pod that is not ready counts for no budget, if its owner says so or enough others are.
fn is_free_to_go(pod: &Value, budget: &Value) -> bool {
    if is_ready(PodView::from(pod)) {
        return false;
    }
    let number = |key: &str| budget.i64_at(&["status", key]).unwrap_or(0);
    budget.str_at(&["spec", "unhealthyPodEvictionPolicy"]) == "AlwaysAllow"
        || (number("currentHealthy") >= number("desiredHealthy") && number("desiredHealthy") > 0)
}

/// Tells the pod why it goes, and deletes it.
async fn mark_and_delete(call: &Call, caller: &Caller, options: &DeleteOptions) -> Result<(), Status> {
    let (registry, name) = (&call.server.registry, call.info.name.as_str());
    let mut options = options.clone();
    if !caller.dry_run {
        let target =
            Target { row: &call.row, namespace: call.namespace(), name, part: Part::Status, absent: IfAbsent::AsKind };
        let mut mark = |pod: Option<&Value>| {
            let pod = pod.ok_or_else(|| Status::not_found(&call.row.group_resource(), name))?;
            check_preconditions(&call.row, name, &options, pod)?;
            Ok(marked(pod, call.now))
        };
        let written =
            registry.update_as(&target, Admit::Done, Tracking::Update, &Caller::server(), &mut mark).await?.written;
        if options.resource_version.is_some() {
            // The change of version is our own.
            options.resource_version = Some(written.object().resource_version().to_owned());
        }
    }
    registry.delete_as(&call.row, call.namespace(), name, Admit::Done, &options, caller).await.map(drop)
}

/// The pod with the condition that tells controllers of a disruption.
fn marked(pod: &Value, now: Timestamp) -> Value {
    let mut pod = pod.clone();
    let status = ensure_object(&mut pod).entry("status").or_insert(Value::Null);
    let disrupted = serde_json::json!({
        "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastProbeTime": null,
    });
    condition::set_value(status, disrupted, now);
    pod
}

/// Takes one disruption from the budget, as it is at this moment.
async fn charge(call: &Call, budget: &str, pod: &str, dry_run: bool) -> Result<(), Status> {
    let registry = &call.server.registry;
    let row = registry.rows.find("policy", "v1", "poddisruptionbudgets").ok_or_else(Status::no_such_path)?;
    let target =
        Target { row: &row, namespace: call.namespace(), name: budget, part: Part::Status, absent: IfAbsent::AsKind };
    let mut caller = Caller::server();
    caller.dry_run = dry_run;
    let mut change = |current: Option<&Value>| {
        let current = current.ok_or_else(|| Status::not_found(&row.group_resource(), budget))?;
        plan_disruption(current, pod, call.now)
    };
    registry.update(&target, Tracking::Update, &caller, &mut change).await.map(drop)
}

/// The budget with one disruption less and the pod on its list, or why there is none left.
fn plan_disruption(budget: &Value, pod: &str, now: Timestamp) -> Result<Value, Status> {
    let name = budget.name();
    let number = |key: &str| budget.i64_at(&["status", key]).unwrap_or(0);
    if number("observedGeneration") < budget.generation() {
        return Err(still_processed(name));
    }
    let allowed = number("disruptionsAllowed");
    let resource = GroupResource::new("policy", "poddisruptionbudget");
    if allowed < 0 {
        return Err(Status::forbidden(&resource, name, "pdb disruptions allowed is negative"));
    }
    let disrupted = budget.at(&["status", "disruptedPods"]).and_then(Value::as_object).map_or(0, |pods| pods.len());
    if disrupted > MOST_DISRUPTED {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Status::forbidden(&resource, name, why));
    }
    if allowed == 0 {
        return Err(refused(0, why_none(budget)));
    }
    let mut new = budget.clone();
    let generation = number("observedGeneration");
    let status = ensure_object(&mut new).entry("status").or_insert(Value::Null);
    if allowed == 1 {
        let forbidden = serde_json::json!({
            "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "",
            "observedGeneration": generation,
        });
        condition::set_value(status, forbidden, now);
    }
    let status = ensure_object(status);
    status.insert("disruptionsAllowed".into(), (allowed - 1).into());
    let disrupted = ensure_object(status.entry("disruptedPods").or_insert(Value::Null));
    disrupted.insert(pod.to_owned(), crate::registry::timestamp(now).into());
    Ok(new)
}

fn why_none(budget: &Value) -> String {
    let name = budget.name();
    let number = |key: &str| budget.i64_at(&["status", key]).unwrap_or(0);
    let (needed, healthy) = (number("desiredHealthy"), number("currentHealthy"));
    let conditions = budget.items_at(&["status", "conditions"]);
    let said = conditions.iter().find(|condition| condition.str_at(&["type"]) == "DisruptionAllowed");
    let said = said.filter(|said| said.str_at(&["status"]) == "False" && !said.str_at(&["message"]).is_empty());
    let (reason, message) = said.map(|said| (said.str_at(&["reason"]), said.str_at(&["message"]))).unwrap_or_default();
    match reason {
        // The numbers are not to be trusted when the controller could not compute them.
        "SyncFailed" => format!(
            "The disruption budget {name} does not allow evicting pods currently because it failed sync: {message}"
        ),
        _ if healthy <= needed => {
            format!("The disruption budget {name} needs {needed} healthy pods and has {healthy} currently")
        }
        "" => format!("The disruption budget {name} does not allow evicting pods currently"),
        reason => {
            format!("The disruption budget {name} does not allow evicting pods currently ({reason}): {message}")
        }
    }
}

fn still_processed(name: &str) -> Status {
    refused(10, format!("The disruption budget {name} is still being processed by the server."))
}

fn refused(retry_after_seconds: i32, why: String) -> Status {
    let text = "Cannot evict pod as it would violate the pod's disruption budget.";
    let mut status = Status::too_many_requests(text, retry_after_seconds);
    if let Some(details) = &mut status.details {
        details.causes.push(Cause { reason: "DisruptionBudget".into(), message: why, field: String::new() });
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn budget(spec: Value, status: Value) -> Value {
        json!({"metadata": {"name": "b", "generation": 1}, "spec": spec, "status": status})
    }

    #[test]
    fn a_budget_gives_what_it_has() {
        let status =
            json!({"observedGeneration": 1, "disruptionsAllowed": 2, "desiredHealthy": 2, "currentHealthy": 4});
        let once = plan_disruption(&budget(json!({}), status), "p", NOW).expect("two left");
        assert_eq!(once["status"]["disruptionsAllowed"], 1);
        assert_eq!(once["status"]["disruptedPods"], json!({"p": "1970-01-01T00:00:00Z"}));
        assert!(once["status"].get("conditions").is_none());
        let twice = plan_disruption(&once, "q", NOW).expect("one left");
        assert_eq!(twice["status"]["disruptedPods"], json!({"p": "1970-01-01T00:00:00Z", "q": "1970-01-01T00:00:00Z"}));
        assert_eq!(twice["status"]["conditions"][0]["reason"], "InsufficientPods");
        let thrice = plan_disruption(&twice, "r", NOW).expect_err("none left");
        assert_eq!((thrice.code, thrice.reason.as_str()), (429, "TooManyRequests"));
        let cause = &thrice.details.expect("details").causes[0];
        assert_eq!(
            (cause.reason.as_str(), cause.message.as_str()),
            ("DisruptionBudget", "The disruption budget b does not allow evicting pods currently")
        );
    }

    #[test]
    fn a_refusal_tells_the_reason() {
        let check = |status: Value, expected: &str| {
            let refused = plan_disruption(&budget(json!({}), status), "p", NOW).expect_err("refused");
            assert_eq!(refused.details.expect("details").causes[0].message, expected);
        };
        check(
            json!({"observedGeneration": 1, "desiredHealthy": 2, "currentHealthy": 2}),
            "The disruption budget b needs 2 healthy pods and has 2 currently",
        );
        check(json!({}), "The disruption budget b is still being processed by the server.");
        let failed = json!([{"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "no controllers"}]);
        check(
            json!({"observedGeneration": 1, "conditions": failed}),
            "The disruption budget b does not allow evicting pods currently because it failed sync: no controllers",
        );
    }

    #[test]
    fn an_unready_pod_goes_when_the_others_suffice() {
        let pod = |ready: &str| json!({"status": {"conditions": [{"type": "Ready", "status": ready}]}});
        let healthy = |current: i64| budget(json!({}), json!({"desiredHealthy": 2, "currentHealthy": current}));
        assert!(is_free_to_go(&pod("False"), &healthy(2)));
        assert!(!is_free_to_go(&pod("False"), &healthy(1)));
        assert!(!is_free_to_go(&pod("True"), &healthy(3)));
        let always = budget(json!({"unhealthyPodEvictionPolicy": "AlwaysAllow"}), json!({}));
        assert!(is_free_to_go(&pod("False"), &always) && !is_free_to_go(&pod("True"), &always));
    }
}
