//! The objects of upstream's scheduler_perf workloads: nodes, pods and what goes with them, by
//! the facts of test/integration/scheduler_perf/templates. `workloads.rs` names them.

use super::devices;
use serde_json::{Value, json};

/// The classes of pods that a workload creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodTemplate {
    Default,
    SecretVolume,
    NodeAffinity,
    AntiAffinity,
    Affinity,
    PreferredAffinity,
    PreferredAntiAffinity,
    Spreading,
    PreferredSpreading,
    LowPriority,
    HighPriority,
    LargeCpu,
    /// With a claim that is bound to a CSI volume of its own.
    CsiVolume,
    /// With a device, by a claim that is made of a template.
    ClaimTemplate,
}

pub const PRIORITY_CLASS: &str = "scheduling-high";
pub const CSI_DRIVER: &str = "ebs.csi.aws.com";
/// How many volumes of the driver a node takes.
pub const CSI_LIMIT: usize = 39;

impl PodTemplate {
    pub fn pod(self, name: &str) -> Value {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "pause", "image": "registry.example/pause:1",
                "ports": [{"containerPort": 80}], "resources": resources("100m")}]}});
        match self {
            Self::Default => {}
            Self::SecretVolume => {
                pod["spec"]["volumes"] = json!([{"name": "secret", "secret": {"secretName": "secret"}}]);
            }
            Self::NodeAffinity => {
                let zones = json!({"key": ZONE, "operator": "In", "values": ["zone1", "zone2"]});
                pod["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                    {"nodeSelectorTerms": [{"matchExpressions": [zones]}]}}});
            }
            Self::AntiAffinity => require(&mut pod, "podAntiAffinity", "green", HOSTNAME),
            Self::Affinity => require(&mut pod, "podAffinity", "blue", ZONE),
            Self::PreferredAffinity => prefer(&mut pod, "podAffinity", "red"),
            Self::PreferredAntiAffinity => prefer(&mut pod, "podAntiAffinity", "yellow"),
            Self::Spreading => spread(&mut pod, "DoNotSchedule"),
            Self::PreferredSpreading => spread(&mut pod, "ScheduleAnyway"),
            Self::LowPriority => {
                pod["spec"]["terminationGracePeriodSeconds"] = json!(0);
                pod["spec"]["containers"][0]["resources"] = resources("900m");
            }
            Self::HighPriority => {
                pod["spec"]["priorityClassName"] = json!(PRIORITY_CLASS);
                pod["spec"]["containers"][0]["resources"] = resources("3000m");
            }
            Self::LargeCpu => {
                pod["spec"]["priorityClassName"] = json!(PRIORITY_CLASS);
                pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "9", "memory": "500Mi"}});
            }
            Self::CsiVolume => {
                pod["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
            }
            Self::ClaimTemplate => {
                pod["spec"]["containers"][0]["resources"] = json!({"claims": [{"name": "resource"}]});
                pod["spec"]["resourceClaims"] =
                    json!([{"name": "resource", "resourceClaimTemplateName": devices::TEMPLATE}]);
            }
        }
        pod
    }
}

const ZONE: &str = "topology.kubernetes.io/zone";
const HOSTNAME: &str = "kubernetes.io/hostname";

fn resources(cpu: &str) -> Value {
    let amounts = json!({"cpu": cpu, "memory": "500Mi"});
    json!({"requests": amounts, "limits": amounts})
}

fn term(color: &str, topology: &str) -> Value {
    json!({"labelSelector": {"matchLabels": {"color": color}}, "topologyKey": topology,
        "namespaces": ["sched-1", "sched-0"]})
}

fn require(pod: &mut Value, kind: &str, color: &str, topology: &str) {
    pod["metadata"]["labels"] = json!({"color": color});
    pod["spec"]["affinity"] =
        json!({kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term(color, topology)]}});
}

fn prefer(pod: &mut Value, kind: &str, color: &str) {
    pod["metadata"]["labels"] = json!({"color": color});
    let preference = json!({"weight": 1, "podAffinityTerm": term(color, HOSTNAME)});
    pod["spec"]["affinity"] = json!({kind: {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}});
}

fn spread(pod: &mut Value, otherwise: &str) {
    pod["metadata"]["labels"] = json!({"color": "blue"});
    pod["spec"]["topologySpreadConstraints"] = json!([{"maxSkew": 5, "topologyKey": ZONE,
        "whenUnsatisfiable": otherwise, "labelSelector": {"matchLabels": {"color": "blue"}}}]);
}

pub fn node_name(n: usize) -> String {
    format!("scheduler-perf-{n}")
}

/// A node that reports Ready; `pods` is how many it takes.
pub fn node(n: usize, zones: &[&str], pods: usize) -> Value {
    let mut labels = json!({HOSTNAME: node_name(n)});
    if !zones.is_empty() {
        labels[ZONE] = json!(zones[n % zones.len()]);
    }
    let amounts = json!({"pods": pods.to_string(), "cpu": "4", "memory": "32Gi",
        format!("attachable-volumes-csi-{CSI_DRIVER}"): CSI_LIMIT.to_string()});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node_name(n), "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
}

pub fn csi_node(n: usize) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node_name(n)},
        "spec": {"drivers": [{"name": CSI_DRIVER, "nodeID": node_name(n), "topologyKeys": [],
            "allocatable": {"count": CSI_LIMIT}}]}})
}

pub fn lease(n: usize) -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": node_name(n), "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": node_name(n), "leaseDurationSeconds": 40, "renewTime": now()}})
}

/// The change that a kubelet's heartbeat is.
pub fn renewal() -> Value {
    json!({"spec": {"renewTime": now()}})
}

fn now() -> String {
    format!("{:.6}", jiff::Timestamp::now())
}

/// The volume of a pod of the template `CsiVolume`, meant for the claim of the same name.
pub fn csi_volume(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": format!("{namespace}-{name}")},
        "spec": {"accessModes": ["ReadOnlyMany"], "capacity": {"storage": "1Gi"},
            "csi": {"driver": CSI_DRIVER, "volumeHandle": format!("{namespace}-{name}")},
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name}}})
}

pub fn claim(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadOnlyMany"], "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": "", "volumeName": format!("{namespace}-{name}")}})
}

pub fn priority_class() -> Value {
    json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": PRIORITY_CLASS},
        "value": 10})
}

pub fn service(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"selector": {"app": "foo"}, "ports": [{"protocol": "TCP", "port": 8080, "targetPort": 8080}]}})
}

pub fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}
