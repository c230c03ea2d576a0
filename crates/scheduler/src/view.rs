//! Pods and nodes as the scheduler keeps them: of every object only the fields that a
//! plugin reads. A whole pod takes some 37 KB in memory; of ten thousand that is too much
//! for a decision that looks at a tenth of it.

use ferry_client::Cached;
use k8s_openapi::api::core::v1::{NodeAffinity, ObjectReference, Taint, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Amounts by resource name, as written: `{"cpu": "100m"}`.
pub type ResourceList = BTreeMap<String, String>;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Pod {
    #[serde(deserialize_with = "without_annotations")]
    pub metadata: ObjectMeta,
    pub spec: PodSpec,
    pub status: PodStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    pub node_name: String,
    pub scheduler_name: String,
    pub priority: i32,
    pub preemption_policy: Option<String>,
    pub node_selector: BTreeMap<String, String>,
    pub affinity: Option<Affinity>,
    pub tolerations: Vec<Toleration>,
    pub containers: Vec<Container>,
    pub init_containers: Vec<Container>,
    pub overhead: ResourceList,
    /// What the pod asks for as a whole, over its containers.
    pub resources: Option<Requests>,
    pub scheduling_gates: Vec<SchedulingGate>,
    pub volumes: Vec<Volume>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    pub node_affinity: Option<NodeAffinity>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    pub image: String,
    pub ports: Vec<ContainerPort>,
    pub resources: Requests,
    pub restart_policy: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    #[serde(rename = "hostIP")]
    pub host_ip: String,
    pub host_port: i32,
    pub protocol: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Requests {
    pub requests: ResourceList,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SchedulingGate {
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Volume {
    pub image: Option<ImageVolume>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ImageVolume {
    pub reference: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    pub phase: String,
    pub nominated_node_name: String,
    pub conditions: Vec<PodCondition>,
    pub start_time: Option<Time>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub reason: String,
    pub message: String,
    pub last_transition_time: Option<Time>,
}

impl Pod {
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    pub fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    pub fn uid(&self) -> &str {
        self.metadata.uid.as_deref().unwrap_or_default()
    }

    pub fn is_deleting(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether it holds nothing on its node any more.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    pub fn is_assigned(&self) -> bool {
        !self.spec.node_name.is_empty()
    }

    pub fn reference(&self) -> ObjectReference {
        ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("Pod".to_owned()),
            name: self.metadata.name.clone(),
            namespace: self.metadata.namespace.clone(),
            uid: self.metadata.uid.clone(),
            resource_version: self.metadata.resource_version.clone(),
            ..Default::default()
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    #[serde(deserialize_with = "without_annotations")]
    pub metadata: ObjectMeta,
    pub spec: NodeSpec,
    pub status: NodeStatus,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    pub unschedulable: bool,
    pub taints: Vec<Taint>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    pub allocatable: ResourceList,
    pub images: Vec<ContainerImage>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerImage {
    pub names: Vec<String>,
    pub size_bytes: i64,
}

impl Node {
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    pub fn label(&self, key: &str) -> Option<&str> {
        self.metadata.labels.as_ref()?.get(key).map(String::as_str)
    }

    /// Whether a change from `old` can matter to a decision; heartbeats do not.
    pub fn differs_from(&self, old: &Self) -> bool {
        self.spec.unschedulable != old.spec.unschedulable
            || self.spec.taints != old.spec.taints
            || self.metadata.labels != old.metadata.labels
            || self.status.allocatable != old.status.allocatable
            || self.status.images != old.status.images
    }
}

impl Cached for Pod {
    fn object_meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn object_meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

impl Cached for Node {
    fn object_meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn object_meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// No plugin reads annotations, and client-side apply keeps whole objects in them.
fn without_annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let mut metadata = ObjectMeta::deserialize(deserializer)?;
    metadata.annotations = None;
    metadata.managed_fields = None;
    Ok(metadata)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_client::decode;
    use serde_json::{Value, json};

    /// The JSON pointers of everything in a document.
    fn pointers(value: &Value, path: &str, out: &mut Vec<String>) {
        let entries: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), field)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect(),
            _ => Vec::new(),
        };
        for (name, entry) in entries {
            let path = format!("{path}/{name}");
            pointers(entry, &path, out);
            out.push(path);
        }
    }

    fn check<T: serde::de::DeserializeOwned>(document: &Value) {
        let mut places = Vec::new();
        pointers(document, "", &mut places);
        for place in places {
            let mut changed = document.clone();
            *changed.pointer_mut(&place).expect("a place of the document") = Value::Null;
            let read = decode::<T>(changed.to_string().as_bytes());
            assert!(read.is_ok(), "{place} is null: {:?}", read.err());
        }
    }

    #[test]
    fn a_node_or_a_pod_with_any_field_null_is_still_scheduled_on_or_scheduled() {
        check::<Node>(&json!({"metadata": {"name": "n", "labels": {"a": "b"}, "annotations": {"a": "b"}},
            "spec": {"unschedulable": true, "taints": [{"key": "k", "effect": "NoSchedule"}]},
            "status": {"allocatable": {"cpu": "1"}, "images": [{"names": ["a"], "sizeBytes": 7}]}}));
        check::<Pod>(&json!({"metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeName": "n", "schedulerName": "s", "priority": 1, "preemptionPolicy": "Never",
                "nodeSelector": {"a": "b"}, "overhead": {"cpu": "1"}, "schedulingGates": [{"name": "g"}],
                "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}]}}},
                "tolerations": [{"key": "k"}], "volumes": [{"image": {"reference": "r"}}],
                "resources": {"requests": {"cpu": "1"}},
                "containers": [{"image": "i", "ports": [{"hostIP": "h", "hostPort": 1, "protocol": "TCP"}],
                    "resources": {"requests": {"cpu": "1"}}, "restartPolicy": "Always"}]},
            "status": {"phase": "Running", "nominatedNodeName": "n", "startTime": "2026-01-01T00:00:00Z",
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}));
    }
}
