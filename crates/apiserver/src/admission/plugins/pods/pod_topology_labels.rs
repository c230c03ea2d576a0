//! PodTopologyLabels: a pod carries the zone and the region of the node that it is bound
//! to as labels, so that it can be told where it runs without reading nodes.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use serde_json::{Value, json};
use std::sync::Arc;

const COPIED: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];

pub(crate) struct PodTopologyLabels {
    lookup: Arc<dyn ObjectLookup>,
}

impl PodTopologyLabels {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }

    /// None for a node that is not there: whether it must be is for others to say.
    fn labels_of(&self, node: &str) -> Vec<(&'static str, String)> {
        let Some(node) = self.lookup.get("", "nodes", "", node).map(|stored| stored.value()) else { return Vec::new() };
        COPIED.into_iter().filter_map(|key| Some((key, node.label(key)?.to_owned()))).collect()
    }
}

#[async_trait]
impl Plugin for PodTopologyLabels {
    fn name(&self) -> &'static str {
        "PodTopologyLabels"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create
            && request.is_for("", "pods")
            && matches!(request.subresource.as_str(), "" | "binding")
    }

    /// A binding's labels become the pod's when it is bound.
    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let is_binding = request.subresource == "binding";
        let Some(object) = request.object.as_deref_mut() else { return Ok(()) };
        let node = match (is_binding, object.str_at(&["target", "kind"])) {
            (false, _) => object.str_at(&["spec", "nodeName"]),
            (true, "Node") => object.str_at(&["target", "name"]),
            (true, _) => "",
        };
        let labels = if node.is_empty() { Vec::new() } else { self.labels_of(node) };
        if !labels.is_empty() {
            let kept = ensure_object(object.meta_mut().entry("labels").or_insert_with(|| json!({})));
            kept.extend(labels.into_iter().map(|(key, value)| (key.to_owned(), Value::from(value))));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use crate::authn::testing::Objects;

    #[tokio::test]
    async fn zone_and_region_follow_the_node() {
        let labels = json!({"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r", "other": "x"});
        let plugin = PodTopologyLabels::new(Objects::of(&[
            json!({"kind": "Node", "metadata": {"name": "n", "labels": labels}}),
            json!({"kind": "Node", "metadata": {"name": "bare"}}),
        ]));
        let run = async |subresource: &str, object: Value| {
            let mut case = Case::create(pods(), object);
            case.subresource = subresource;
            case.run(&plugin).await.expect("admitted")["metadata"]["labels"].clone()
        };
        let copied = json!({"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"});
        let binding = |kind: &str, node: &str| {
            json!({"metadata": {"name": "p"},
            "target": {"kind": kind, "name": node}})
        };
        assert_eq!(run("binding", binding("Node", "n")).await, copied);
        assert_eq!(run("binding", binding("", "n")).await, Value::Null, "upstream goes by the kind alone");
        assert_eq!(run("binding", binding("Node", "bare")).await, Value::Null);
        assert_eq!(run("binding", binding("Node", "gone")).await, Value::Null);
        let pod = json!({"metadata": {"name": "p", "labels": {"topology.kubernetes.io/zone": "mine", "app": "web"}},
            "spec": {"nodeName": "n"}});
        let expected = json!({"app": "web", "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"});
        assert_eq!(run("", pod).await, expected);
        assert_eq!(run("", json!({"metadata": {"name": "p"}, "spec": {}})).await, Value::Null);
    }
}
