//! Whether a FlowSchema's priority level is there, said in the schema's status as the
//! condition Dangling. Looked at whenever a schema or a level changes.

use crate::ServerState;
use crate::registry::{Caller, IfAbsent, Part, Target, Tracking, timestamp};
use ferry_access::flow_control::GROUP;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

/// Ends with the server.
pub fn start(server: &Arc<ServerState>) {
    let changed = Arc::new(Notify::new());
    for plural in ["flowschemas", "prioritylevelconfigurations"] {
        let changed = changed.clone();
        server.lookup.subscribe(GROUP, plural, Box::new(move |_| changed.notify_one()));
    }
    let server: Weak<ServerState> = Arc::downgrade(server);
    tokio::spawn(async move {
        loop {
            changed.notified().await;
            let Some(server) = server.upgrade() else { return };
            for schema in server.lookup.list(GROUP, "flowschemas", None) {
                let schema = schema.value();
                let level = schema.str_at(&["spec", "priorityLevelConfiguration", "name"]);
                let is_there = server.lookup.get(GROUP, "prioritylevelconfigurations", "", level).is_some();
                let Some(condition) = plan_condition(&schema, is_there, Timestamp::now()) else { continue };
                if let Err(status) = write(&server, schema.name(), &condition).await
                    && !status.is_not_found()
                {
                    tracing::warn!(schema = schema.name(), %status.message, "the state of a flow schema was not told");
                }
            }
        }
    });
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
    let level = schema.str_at(&["spec", "priorityLevelConfiguration", "name"]);
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
