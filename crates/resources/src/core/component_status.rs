//! ComponentStatus: the health of the parts of the control plane, a kind from the time
//! when the API server asked each of them. In ferry they are one process with the API
//! server: whoever gets an answer at all knows that they run.

use crate::Strategy;
use crate::read::ReadNode;
use ferry_api::document::Node;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct ComponentStatus;

/// The names that upstream gives them.
const COMPONENTS: [&str; 3] = ["controller-manager", "scheduler", "etcd-0"];

impl Strategy for ComponentStatus {
    fn constant_objects(&self) -> Vec<Value> {
        let healthy = json!([{"type": "Healthy", "status": "True", "message": "ok"}]);
        let object = |name| json!({"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": name}, "conditions": healthy});
        COMPONENTS.into_iter().map(object).collect()
    }

    fn computed_cells(&self, component: Node<'_>, __now: Timestamp) -> Vec<Value> {
        let conditions = component.list("conditions");
        let condition = conditions.iter().find(|condition| condition.text("type") == "Healthy");
        let status = match condition.opt_text("status") {
            None => "Unknown",
            Some("True") => "Healthy",
            Some(_) => "Unhealthy",
        };
        vec![status.into(), condition.text("message").into(), condition.text("error").into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{now, row};

    #[test]
    fn the_parts_of_the_control_plane_are_well() {
        let lines: Vec<Value> = ComponentStatus
            .constant_objects()
            .iter()
            .map(|object| row("ComponentStatus").cells(Node::Value(object), now()).into())
            .collect();
        assert_eq!(lines[2], json!(["etcd-0", "Healthy", "ok", ""]));
        assert_eq!(row("ComponentStatus").cells(Node::Value(&json!({"metadata": {"name": "a"}})), now())[1], "Unknown");
    }
}
