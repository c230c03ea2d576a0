//! `pods/eviction`: a delete that disruption budgets may refuse
//! (registry/core/pod/storage/eviction.go upstream).

use crate::admission::Operation;
use crate::answer;
use crate::negotiate::{self, Accepted};
use crate::registry::{Admit, DeleteOptions, IfAbsent, Part, Target};
use crate::transport::Body;
use crate::verbs::Call;
use crate::verbs::options::WriteOptions;
use crate::wire;
use bytes::Bytes;
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::schema;
use ferry_api::selector::Selector;
use ferry_api::status::{Cause, Status};
use http::{Response, StatusCode};
use serde_json::Value;

pub async fn evict(call: &Call, body: Bytes) -> Result<Response<Body>, Status> {
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
    let mut caller = call.caller(&options, "CreateOptions");
    let asked = Target {
        row: &call.row,
        namespace: call.namespace(),
        name,
        part: Part::Other("eviction"),
        absent: IfAbsent::AsKind,
    };
    registry.admit(Operation::Create, &asked, &mut eviction, &caller).await?;
    let pod = registry
        .current(&call.row, call.namespace(), name)
        .await?
        .ok_or_else(|| Status::not_found(&call.row.group_resource(), name))?;
    // A pod that never ran, is over or is going anyway disrupts nobody.
    let harmless = matches!(pod.str_at(&["status", "phase"]), "Succeeded" | "Failed" | "Pending") || pod.is_deleting();
    if !harmless {
        let budgets = call.server.lookup.list("policy", "poddisruptionbudgets", Some(call.namespace()));
        check_budgets(&pod, budgets.iter().map(|stored| stored.value()))?;
    }
    let delete = eviction.get("deleteOptions").cloned().unwrap_or(Value::Null);
    let text = |path: &[&str]| Some(delete.str_at(path).to_owned()).filter(|text| !text.is_empty());
    let delete_options = DeleteOptions {
        grace_period_seconds: delete.i64_at(&["gracePeriodSeconds"]),
        uid: text(&["preconditions", "uid"]).or_else(|| Some(pod.uid().to_owned())),
        resource_version: text(&["preconditions", "resourceVersion"]),
        propagation: None,
    };
    caller.dry_run |= !delete.items_at(&["dryRun"]).is_empty();
    registry.delete_as(&call.row, call.namespace(), name, Admit::Done, &delete_options, &caller).await?;
    let status = Status { code: 201, ..Status::success(Default::default()) };
    let mut value = serde_json::to_value(&status).unwrap_or(Value::Null);
    ensure_object(&mut value).remove("details");
    Ok(answer::document(StatusCode::CREATED, &value, &Accepted::JSON))
}

/// Refuses when a budget that covers the pod has nothing left.
fn check_budgets(pod: &Value, budgets: impl Iterator<Item = Value>) -> Result<(), Status> {
    let covering: Vec<Value> = budgets
        .filter(|budget| {
            Selector::from_object(budget.at(&["spec", "selector"]))
                .is_ok_and(|selector| selector.matches_with(|key| pod.label(key)))
        })
        .collect();
    if covering.len() > 1 {
        return Err(Status::internal(
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        ));
    }
    let Some(budget) = covering.first() else { return Ok(()) };
    if budget.i64_at(&["status", "disruptionsAllowed"]).unwrap_or(0) > 0 {
        return Ok(());
    }
    let mut status = Status::too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.", 10);
    let needed = budget.i64_at(&["status", "desiredHealthy"]).unwrap_or(0);
    let healthy = budget.i64_at(&["status", "currentHealthy"]).unwrap_or(0);
    if let Some(details) = &mut status.details {
        details.causes.push(Cause {
            reason: "DisruptionBudget".into(),
            message: format!(
                "The disruption budget {} needs {needed} healthy pods and has {healthy} currently",
                budget.name()
            ),
            field: String::new(),
        });
    }
    Err(status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_budget_without_room_refuses() {
        let pod = json!({"metadata": {"labels": {"app": "a"}}});
        let budget = |allowed: i64| {
            json!({"metadata": {"name": "b"}, "spec": {"selector": {"matchLabels": {"app": "a"}}},
                "status": {"disruptionsAllowed": allowed, "desiredHealthy": 2, "currentHealthy": 2}})
        };
        assert!(check_budgets(&pod, [budget(1)].into_iter()).is_ok());
        let refused = check_budgets(&pod, [budget(0)].into_iter()).expect_err("no room");
        assert_eq!((refused.code, refused.reason.as_str()), (429, "TooManyRequests"));
        assert!(check_budgets(&json!({"metadata": {}}), [budget(0)].into_iter()).is_ok());
    }
}
