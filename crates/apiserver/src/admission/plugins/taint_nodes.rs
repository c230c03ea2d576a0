//! TaintNodesByCondition: a new node is not ready until the node controller says so, and
//! nothing is scheduled to it before.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::{Value, json};

const NOT_READY: &str = "node.kubernetes.io/not-ready";

pub(crate) struct TaintNodesByCondition;

#[async_trait]
impl Plugin for TaintNodesByCondition {
    fn name(&self) -> &'static str {
        "TaintNodesByCondition"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create && request.is_for("", "nodes") && request.subresource.is_empty()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(node) = request.object_of("", "nodes") else { return Ok(()) };
        let same = |taint: &Value| taint.str_at(&["key"]) == NOT_READY && taint.str_at(&["effect"]) == "NoSchedule";
        if node.items_at(&["spec", "taints"]).iter().any(same) {
            return Ok(());
        }
        let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
        let spec = ensure_object(ensure_object(node).entry("spec").or_insert(Value::Null));
        match spec.entry("taints").or_insert(Value::Null) {
            Value::Array(items) => items.push(taint),
            other => *other = Value::Array(vec![taint]),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use ferry_resources::Scope;

    #[tokio::test]
    async fn a_new_node_is_tainted_once() {
        let nodes = || row("", "Node", "nodes", Scope::Cluster);
        let node = Case::create(nodes(), json!({"metadata": {"name": "a"}})).run(&TaintNodesByCondition).await;
        let node = node.expect("admitted");
        assert_eq!(node["spec"]["taints"], json!([{"key": NOT_READY, "effect": "NoSchedule"}]));
        let again = Case::create(nodes(), node.clone()).run(&TaintNodesByCondition).await.expect("admitted");
        assert_eq!(again, node);
    }
}
