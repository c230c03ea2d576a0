//! The condition Dangling of a FlowSchema: whether its priority level is there. Looked at whenever
//! the schema or its level changes (apf_controller.go upstream).

use super::{Action, Key, ServerController, key_of};
use crate::ServerState;
use crate::registry::lookup::Change;
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking, timestamp};
use ferry_access::flow_control::GROUP;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

struct DanglingFlowSchemas;

/// Ends with the server.
pub(crate) fn start(server: &Arc<ServerState>) {
    let queue = server.controllers.queue_of::<DanglingFlowSchemas>();
    // The level that each schema names, so that a level wakes its schemas only.
    let levels: Arc<Mutex<HashMap<Key, String>>> = Arc::default();
    let (of_schemas, schemas) = (levels.clone(), queue.clone());
    let observer = move |change: &Change| {
        let key = key_of(change);
        match change {
            Change::Put(stored) => of_schemas.lock().insert(key.clone(), level_of(&stored.value()).to_owned()),
            Change::Delete(_) => of_schemas.lock().remove(&key),
        };
        schemas.add(key);
    };
    server.lookup.subscribe(GROUP, "flowschemas", Box::new(observer));
    let enqueue = queue.clone();
    let observer = move |change: &Change| {
        let level = key_of(change).name;
        levels.lock().iter().filter(|(_, named)| **named == level).for_each(|(schema, _)| enqueue.add(schema.clone()));
    };
    server.lookup.subscribe(GROUP, "prioritylevelconfigurations", Box::new(observer));
    server.run_controller(Arc::new(DanglingFlowSchemas), &queue);
}

impl ServerController for DanglingFlowSchemas {
    const NAME: &'static str = "priority_and_fairness_config_queue";

    async fn reconcile(&self, server: &Arc<ServerState>, key: &Key) -> Result<Action, Status> {
        let Some(stored) = server.lookup.get(GROUP, "flowschemas", "", &key.name) else { return Ok(Action::Done) };
        let schema = stored.value();
        let is_there = server.lookup.get(GROUP, "prioritylevelconfigurations", "", level_of(&schema)).is_some();
        let Some(condition) = plan_condition(&schema, is_there, Timestamp::now()) else { return Ok(Action::Done) };
        match write(server, &key.name, &condition).await {
            Err(status) if !status.is_not_found() => Err(status),
            _ => Ok(Action::Done),
        }
    }
}

fn level_of(schema: &Value) -> &str {
    schema.str_at(&["spec", "priorityLevelConfiguration", "name"])
}

async fn write(server: &ServerState, name: &str, condition: &Value) -> Result<(), Status> {
    let Some(row) = server.registry.rows.find(GROUP, "v1", "flowschemas") else { return Ok(()) };
    let target = Target { row: &row, namespace: "", name, part: Part::Status, absent: IfAbsent::AsKind };
    let mut set = |present: Option<&Value>| {
        let mut schema = present.cloned().unwrap_or_default();
        let mut conditions = schema["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.retain(|old| old["type"] != "Dangling");
        conditions.push(condition.clone());
        schema["status"] = json!({"conditions": conditions});
        Ok(schema)
    };
    server.registry.update(&target, Tracking::Update, &Caller::server(), &mut set).await.map(|_| ())
}

/// The condition to write, or `None` if the schema says it already.
fn plan_condition(schema: &Value, is_there: bool, now: Timestamp) -> Option<Value> {
    let level = level_of(schema);
    let (status, reason, rest) = if is_there {
        ("False", "Found", "and it exists")
    } else {
        ("True", "NotFound", "but there is no such object")
    };
    let message = format!("This FlowSchema references the PriorityLevelConfiguration object named {level:?} {rest}");
    let old = schema["status"]["conditions"].as_array().into_iter().flatten().find(|old| old["type"] == "Dangling");
    if old.is_some_and(|old| old["status"] == status && old["message"] == message) {
        return None;
    }
    Some(json!({
        "type": "Dangling", "status": status, "lastTransitionTime": timestamp(now), "reason": reason, "message": message,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_told_once_whether_its_level_is_there() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let mut schema = json!({"spec": {"priorityLevelConfiguration": {"name": "x"}}});
        let condition = plan_condition(&schema, false, now).expect("a condition");
        assert_eq!(condition["status"], "True");
        let text =
            "This FlowSchema references the PriorityLevelConfiguration object named \"x\" but there is no such object";
        assert_eq!(condition["message"], text);
        schema["status"] = json!({"conditions": [condition]});
        assert_eq!(plan_condition(&schema, false, now), None);
        assert_eq!(plan_condition(&schema, true, now).expect("a condition")["reason"], "Found");
    }
}
