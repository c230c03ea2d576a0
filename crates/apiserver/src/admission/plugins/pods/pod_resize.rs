//! PodResizeValidator: a pod on a node is not resized to more than the node has, nor on a
//! node that cannot resize.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::quantity::Quantity;
use ferry_api::rules::pod_requests::spec_requests;
use ferry_api::status::{Cause, Status};
use ferry_api::view::core::v1::{NodeView, PodView};
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct PodResizeValidator {
    lookup: Arc<dyn ObjectLookup>,
}

impl PodResizeValidator {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }
}

#[async_trait]
impl Plugin for PodResizeValidator {
    fn name(&self) -> &'static str {
        "PodResizeValidator"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Update && request.is_for("", "pods") && request.subresource == "resize"
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let (Some(pod), Some(old)) = (request.object.as_deref(), request.old_object) else { return Ok(()) };
        let name = pod.str_at(&["spec", "nodeName"]);
        if name.is_empty() || pod.get("spec") == old.get("spec") {
            return Ok(());
        }
        let Some(node) = self.lookup.get("", "nodes", "", name).map(|stored| stored.value()) else {
            return Err(request.forbidden(&format!("node {name:?} not found")));
        };
        let refused = |why: String, cause: &str| {
            let mut status = request.forbidden(&why);
            let details = status.details.get_or_insert_default();
            details.causes.push(Cause { reason: cause.to_owned(), ..Cause::default() });
            Err(status)
        };
        if let Some(system) = node.label("kubernetes.io/os").filter(|system| *system != "linux") {
            let why = format!("pod resize is only supported on linux nodes, node {name:?} is {system:?}");
            return refused(why, "UnsupportedPlatform");
        }
        match compute_excess(pod, &node) {
            Some(excess) => refused(format!("node didn't have enough allocatable resources: {excess}"), "NodeCapacity"),
            None => Ok(()),
        }
    }
}

/// What the pod asks for beyond what the node has to give, in upstream's words.
fn compute_excess(pod: &Value, node: &Value) -> Option<String> {
    // The spec counts, and not the amounts that the pod has been given so far.
    let asked = spec_requests(PodView::from(pod).spec());
    let allocatable = NodeView::from(node).status().allocatable();
    let exceeds = |name: &str, show: fn(&Quantity) -> i64| {
        let asked = asked.get(name).unwrap_or(&Quantity::ZERO);
        let given = allocatable.get(name).unwrap_or(Quantity::ZERO);
        (*asked > given).then(|| format!("{name}, requested: {}, allocatable: {}", show(asked), show(&given)))
    };
    let excess: Vec<String> =
        [exceeds("cpu", Quantity::milli_value), exceeds("memory", Quantity::value)].into_iter().flatten().collect();
    (!excess.is_empty()).then(|| excess.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use crate::authn::UserInfo;
    use crate::authn::testing::Objects;
    use serde_json::json;

    #[tokio::test]
    async fn a_node_must_be_able_to_give_what_is_asked() {
        let node = |name: &str, system: &str| {
            json!({"kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/os": system}},
            "status": {"allocatable": {"cpu": "2", "memory": "1Gi"}}})
        };
        let plugin = PodResizeValidator::new(Objects::of(&[node("n", "linux"), node("w", "windows")]));
        let pod = |node: &str, cpu: &str, memory: &str| {
            json!({"metadata": {"name": "p"}, "spec": {"nodeName": node, "containers": [
            {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}}]}})
        };
        let run = async |node: &str, cpu: &str, memory: &str| {
            let user = UserInfo::authenticated("tester", &[]);
            let (object, old) = (Some(pod(node, cpu, memory)), Some(pod(node, "100m", "1Mi")));
            let case = Case { operation: Operation::Update, row: pods(), subresource: "resize", object, old, user };
            case.run(&plugin).await.map(drop).map_err(|status| {
                let causes = status.details.map(|details| details.causes).unwrap_or_default();
                let cause = causes.first().map(|cause| cause.reason.clone()).unwrap_or_default();
                (status.message.replace("pods \"p\" is forbidden: ", ""), cause)
            })
        };
        let refused = |why: &str, cause: &str| Err((why.to_owned(), cause.to_owned()));
        assert_eq!(run("n", "2", "1Gi").await, Ok(()));
        assert_eq!(
            run("n", "2500m", "2Gi").await,
            refused(
                "node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
                "NodeCapacity"
            )
        );
        assert_eq!(
            run("w", "1", "1Mi").await,
            refused("pod resize is only supported on linux nodes, node \"w\" is \"windows\"", "UnsupportedPlatform")
        );
        assert_eq!(run("gone", "1", "1Mi").await, refused("node \"gone\" not found", ""));
        assert_eq!(run("gone", "100m", "1Mi").await, Ok(()), "nothing is resized");
        assert_eq!(run("", "9", "9Gi").await, Ok(()), "it has no node yet");
    }
}
