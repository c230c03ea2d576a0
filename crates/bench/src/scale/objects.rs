//! The objects that fill a large cluster: nodes with the status and Lease of a kubelet, pods
//! with the status of a running one, and events, each of the size that real ones have. No
//! kubelet stands behind them.

use serde_json::{Value, json};

const TIME: &str = "2026-01-02T03:04:05Z";

pub fn node(n: usize) -> Value {
    let quantities = json!({"cpu": "16", "memory": "65536000Ki", "pods": "250", "ephemeral-storage": "209715200Ki",
        "hugepages-1Gi": "0", "hugepages-2Mi": "0"});
    let condition = |kind: &str, status: &str, reason: &str| {
        json!({"type": kind, "status": status, "reason": reason, "message": format!("kubelet reports {reason}"),
            "lastHeartbeatTime": TIME, "lastTransitionTime": TIME})
    };
    let image = |i: usize| {
        json!({"names": [format!("registry.example/team/service-{i}@sha256:{i:064}"),
            format!("registry.example/team/service-{i}:v1.{i}.0")], "sizeBytes": 40_000_000 + i})
    };
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name_of_node(n), "labels": {"kubernetes.io/hostname": name_of_node(n),
            "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
            "topology.kubernetes.io/zone": format!("zone-{}", n % 3)}},
        "status": {"capacity": quantities, "allocatable": quantities,
            "addresses": [{"type": "Hostname", "address": name_of_node(n)},
                {"type": "InternalIP", "address": format!("10.200.{}.{}", n / 250, n % 250)}],
            "conditions": [
                condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                condition("PIDPressure", "False", "KubeletHasSufficientPID"),
                condition("Ready", "True", "KubeletReady")],
            "images": (0..10).map(image).collect::<Vec<_>>(),
            "nodeInfo": {"machineID": format!("{n:032}"), "systemUUID": format!("{n:032}"),
                "bootID": format!("{n:032}"), "kernelVersion": "6.8.0", "osImage": "Debian GNU/Linux 12 (bookworm)",
                "containerRuntimeVersion": "containerd://2.1.0", "kubeletVersion": "v1.36.4",
                "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64"}}})
}

pub fn lease(n: usize) -> Value {
    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": name_of_node(n), "namespace": "kube-node-lease"},
        "spec": {"holderIdentity": name_of_node(n), "leaseDurationSeconds": 40, "renewTime": now()}})
}

/// The change that a kubelet's heartbeat is.
pub fn renewal() -> Value {
    json!({"spec": {"renewTime": now()}})
}

fn now() -> String {
    format!("{:.6}", jiff::Timestamp::now())
}

pub fn name_of_node(n: usize) -> String {
    format!("hollow-{n}")
}

pub fn name_of_pod(n: usize) -> String {
    format!("web-{}-7d4b9c6f5d-{n:05}", n % 200)
}

/// A pod as a ReplicaSet makes it, already on its node. Admission adds its token volume.
pub fn pod(n: usize, nodes: usize) -> Value {
    let probe = json!({"httpGet": {"path": "/readyz", "port": 8080}, "periodSeconds": 10});
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name_of_pod(n), "labels": {"app": format!("web-{}", n % 200),
            "pod-template-hash": "7d4b9c6f5d"}},
        "spec": {"nodeName": name_of_node(n % nodes), "containers": [{
            "name": "web", "image": format!("registry.example/team/service-{}:v1.2.0", n % 10),
            "env": [{"name": "REGION", "value": "eu-west"}],
            "ports": [{"name": "http", "containerPort": 8080}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
            "readinessProbe": probe}]}})
}

/// The status that a kubelet writes once the pod runs.
pub fn pod_status(n: usize, nodes: usize) -> Value {
    let condition = |kind: &str| {
        json!({"type": kind, "status": "True", "observedGeneration": 1, "lastProbeTime": null,
            "lastTransitionTime": TIME})
    };
    let node = n % nodes;
    let ip = format!("10.{}.{}.{}", 128 + node / 250, node % 250, 1 + (n / nodes) % 250);
    let host = format!("10.200.{}.{}", node / 250, node % 250);
    let image = n % 10;
    json!({"phase": "Running", "observedGeneration": 1, "startTime": TIME, "qosClass": "Burstable",
        "hostIP": host, "hostIPs": [{"ip": host}], "podIP": ip, "podIPs": [{"ip": ip}],
        "conditions": [condition("PodReadyToStartContainers"), condition("Initialized"), condition("Ready"),
            condition("ContainersReady"), condition("PodScheduled")],
        "containerStatuses": [{"name": "web", "ready": true, "started": true, "restartCount": 0,
            "image": format!("registry.example/team/service-{image}:v1.2.0"),
            "imageID": format!("registry.example/team/service-{image}@sha256:{image:064}"),
            "containerID": format!("containerd://{n:064}"),
            "state": {"running": {"startedAt": TIME}}, "lastState": {}}]})
}

pub fn event(n: usize, pods: usize) -> Value {
    let pod = name_of_pod(n % pods);
    json!({"apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{pod}.{n:016x}"), "namespace": "default"},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": pod,
            "uid": format!("00000000-0000-4000-8000-{n:012x}"), "fieldPath": "spec.containers{web}"},
        "reason": "Started", "message": "Container started", "type": "Normal", "count": 1,
        "firstTimestamp": TIME, "lastTimestamp": TIME, "source": {"component": "kubelet",
            "host": name_of_node(n % 1000)}, "reportingComponent": "kubelet", "reportingInstance": name_of_node(n % 1000)})
}
