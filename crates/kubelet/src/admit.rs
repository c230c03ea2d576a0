//! The node's own say on a pod that was bound to it: does it still fit, and does it
//! still belong here? (upstream: pkg/kubelet/lifecycle/predicate.go)

use crate::pod;
use crate::resource;
use k8s_openapi::api::core::v1::{Node, NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a pod is turned away; both become part of its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub reason: String,
    pub message: String,
}

/// `others` are the pods already admitted that have not finished.
pub fn admit(pod: &Pod, node: &Node, others: &[Arc<Pod>]) -> Result<(), Rejection> {
    check_os(pod)?;
    check_resources(pod, node, others)?;
    if !matches_node(pod, node) {
        return Err(predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector"));
    }
    if !ports_are_free(pod, others) {
        return Err(predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports"));
    }
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    let spec = pod::spec(pod);
    let tolerations = spec.tolerations.as_deref().unwrap_or_default();
    // NoSchedule was the scheduler's business; only NoExecute concerns a pod already here.
    if taints.filter(|taint| taint.effect == "NoExecute").any(|taint| !is_tolerated(taint, tolerations)) {
        return Err(predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate"));
    }
    Ok(())
}

fn predicate(name: &str, why: &str) -> Rejection {
    Rejection { reason: name.into(), message: format!("Predicate {name} failed: {why}") }
}

/// Upstream: rejectPodAdmissionBasedOnOSField of pkg/kubelet/lifecycle/predicate.go.
fn check_os(pod: &Pod) -> Result<(), Rejection> {
    match &pod::spec(pod).os {
        Some(os) if os.name != "linux" => Err(Rejection {
            reason: "PodOSNotSupported".into(),
            message: "Failed to admit pod as the OS field doesn't match node OS".into(),
        }),
        _ => Ok(()),
    }
}

fn check_resources(pod: &Pod, node: &Node, others: &[Arc<Pod>]) -> Result<(), Rejection> {
    let empty = BTreeMap::new();
    let allocatable = node.status.as_ref().and_then(|status| status.allocatable.as_ref()).unwrap_or(&empty);
    let refuse = |name: &str, requested: i64, used: i64, capacity: i64| {
        Err(Rejection {
            reason: format!("OutOf{name}"),
            message: format!(
                "Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"
            ),
        })
    };
    if let Some(limit) = allocatable.get("pods").map(resource::value)
        && others.len() as i64 + 1 > limit
    {
        return refuse("pods", 1, others.len() as i64, limit);
    }
    let wanted = requests(pod);
    for (name, amount) in &wanted {
        if *amount == 0 {
            continue;
        }
        let capacity = allocatable.get(name).map(|quantity| amount_of(name, quantity)).unwrap_or(0);
        let used: i64 = others.iter().map(|other| requests(other).get(name).copied().unwrap_or(0)).sum();
        if used.saturating_add(*amount) > capacity {
            return refuse(name, *amount, used, capacity);
        }
    }
    Ok(())
}

/// CPU is counted in thousandths, everything else in whole units.
fn amount_of(name: &str, quantity: &Quantity) -> i64 {
    if name == "cpu" { resource::milli_value(quantity) } else { resource::value(quantity) }
}

/// What a pod asks for: its containers together with its sidecars, or the hungriest
/// init container with the sidecars before it, and the overhead on top.
pub fn requests(pod: &Pod) -> BTreeMap<String, i64> {
    let of = |container: &k8s_openapi::api::core::v1::Container| -> BTreeMap<String, i64> {
        let requests = container.resources.as_ref().and_then(|resources| resources.requests.as_ref());
        requests.into_iter().flatten().map(|(name, quantity)| (name.clone(), amount_of(name, quantity))).collect()
    };
    let add = |total: &mut BTreeMap<String, i64>, more: &BTreeMap<String, i64>| {
        for (name, amount) in more {
            *total.entry(name.clone()).or_default() += amount;
        }
    };
    let mut regular = BTreeMap::new();
    for container in pod::containers(pod) {
        add(&mut regular, &of(container));
    }
    let mut sidecars = BTreeMap::new();
    let mut peak: BTreeMap<String, i64> = BTreeMap::new();
    for container in pod::init_containers(pod) {
        let mut at_once = sidecars.clone();
        add(&mut at_once, &of(container));
        if pod::is_sidecar(container) {
            sidecars = at_once.clone();
        }
        for (name, amount) in at_once {
            let highest = peak.entry(name).or_default();
            *highest = (*highest).max(amount);
        }
    }
    add(&mut regular, &sidecars);
    for (name, amount) in peak {
        let total = regular.entry(name).or_default();
        *total = (*total).max(amount);
    }
    let spec = pod::spec(pod);
    for (name, quantity) in spec.overhead.iter().flatten() {
        *regular.entry(name.clone()).or_default() += amount_of(name, quantity);
    }
    regular
}

fn matches_node(pod: &Pod, node: &Node) -> bool {
    let empty = BTreeMap::new();
    let labels = node.metadata.labels.as_ref().unwrap_or(&empty);
    let spec = pod::spec(pod);
    if !spec.node_selector.iter().flatten().all(|(key, value)| labels.get(key) == Some(value)) {
        return false;
    }
    let required = spec
        .affinity
        .as_ref()
        .and_then(|affinity| affinity.node_affinity.as_ref())
        .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
    let Some(required) = required else { return true };
    let name = node.metadata.name.as_deref().unwrap_or_default();
    required.node_selector_terms.iter().any(|term| matches_term(term, labels, name))
}

fn matches_term(term: &NodeSelectorTerm, labels: &BTreeMap<String, String>, name: &str) -> bool {
    let expressions = term.match_expressions.as_deref().unwrap_or_default();
    let fields = term.match_fields.as_deref().unwrap_or_default();
    // A term that asks nothing matches nothing.
    if expressions.is_empty() && fields.is_empty() {
        return false;
    }
    expressions.iter().all(|e| matches_requirement(e, labels.get(&e.key).map(String::as_str)))
        && fields.iter().all(|f| f.key == "metadata.name" && matches_requirement(f, Some(name)))
}

fn matches_requirement(requirement: &NodeSelectorRequirement, actual: Option<&str>) -> bool {
    let values = requirement.values.as_deref().unwrap_or_default();
    let listed = actual.is_some_and(|actual| values.iter().any(|value| value == actual));
    let compare = |holds: fn(i64, i64) -> bool| {
        let number = |text: &str| text.parse::<i64>().ok();
        match (actual.and_then(number), values.first().and_then(|v| number(v))) {
            (Some(actual), Some(wanted)) => holds(actual, wanted),
            _ => false,
        }
    };
    match requirement.operator.as_str() {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => actual.is_some(),
        "DoesNotExist" => actual.is_none(),
        "Gt" => compare(|actual, wanted| actual > wanted),
        "Lt" => compare(|actual, wanted| actual < wanted),
        _ => false,
    }
}

fn ports_are_free(pod: &Pod, others: &[Arc<Pod>]) -> bool {
    let taken: Vec<HostPort> = others.iter().flat_map(|other| host_ports(other)).collect();
    host_ports(pod).iter().all(|wanted| !taken.iter().any(|taken| taken.conflicts(wanted)))
}

#[derive(Debug, PartialEq)]
struct HostPort {
    ip: String,
    protocol: String,
    port: i32,
}

impl HostPort {
    fn conflicts(&self, other: &Self) -> bool {
        let any = |ip: &str| matches!(ip, "" | "0.0.0.0" | "::");
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || any(&self.ip) || any(&other.ip))
    }
}

fn host_ports(pod: &Pod) -> Vec<HostPort> {
    let sidecars = pod::init_containers(pod).iter().filter(|c| pod::is_sidecar(c));
    let ports = pod::containers(pod).iter().chain(sidecars).flat_map(|c| c.ports.iter().flatten());
    ports
        .filter_map(|port| {
            Some(HostPort {
                ip: port.host_ip.clone().unwrap_or_default(),
                protocol: port.protocol.clone().unwrap_or_else(|| "TCP".into()),
                port: port.host_port.filter(|port| *port > 0)?,
            })
        })
        .collect()
}

pub fn is_tolerated(taint: &Taint, tolerations: &[Toleration]) -> bool {
    tolerations.iter().any(|toleration| {
        let effect = toleration.effect.as_deref().unwrap_or_default();
        let key = toleration.key.as_deref().unwrap_or_default();
        if !(effect.is_empty() || effect == taint.effect) || !(key.is_empty() || key == taint.key) {
            return false;
        }
        match toleration.operator.as_deref().unwrap_or("Equal") {
            "Exists" => true,
            "Equal" | "" => {
                !key.is_empty()
                    && toleration.value.as_deref().unwrap_or_default() == taint.value.as_deref().unwrap_or_default()
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use serde_json::{Value, json};

    fn node(taints: Value) -> Node {
        serde_json::from_value(json!({ "metadata": { "name": "n1", "labels": { "zone": "a" } },
            "spec": { "taints": taints },
            "status": { "allocatable": { "cpu": "1", "memory": "1Gi", "pods": "2" } } }))
        .expect("a node")
    }

    fn cpu(amount: &str) -> Pod {
        pod(json!({ "containers": [{ "name": "a", "resources": { "requests": { "cpu": amount } } }] }))
    }

    #[test]
    fn what_does_not_fit_is_refused_in_upstreams_words() {
        let node = node(json!([]));
        assert_eq!(admit(&cpu("500m"), &node, &[Arc::new(cpu("500m"))]), Ok(()));
        let rejection = admit(&cpu("600m"), &node, &[Arc::new(cpu("500m"))]).expect_err("too much");
        assert_eq!(rejection.reason, "OutOfcpu");
        assert_eq!(
            rejection.message,
            "Node didn't have enough resource: cpu, requested: 600, used: 500, capacity: 1000"
        );
        let two = [Arc::new(cpu("0")), Arc::new(cpu("0"))];
        assert_eq!(admit(&cpu("0"), &node, &two).expect_err("full").reason, "OutOfpods");
    }

    #[test]
    fn affinity_ports_and_taints() {
        let wrong = pod(json!({ "nodeSelector": { "zone": "b" }, "containers": [] }));
        assert_eq!(admit(&wrong, &node(json!([])), &[]).expect_err("elsewhere").reason, "NodeAffinity");
        let port = pod(json!({ "containers": [{ "name": "a", "ports": [{ "containerPort": 1, "hostPort": 80 }] }] }));
        let refused = admit(&port, &node(json!([])), &[Arc::new(port.clone())]);
        assert_eq!(refused.expect_err("taken").reason, "NodePorts");
        let tainted = node(json!([{ "key": "k", "value": "v", "effect": "NoExecute" }]));
        assert_eq!(admit(&cpu("0"), &tainted, &[]).expect_err("tainted").reason, "TaintToleration");
        let tolerant = pod(json!({ "tolerations": [{ "key": "k", "operator": "Exists" }], "containers": [] }));
        assert_eq!(admit(&tolerant, &tainted, &[]), Ok(()));
        let scheduled = node(json!([{ "key": "k", "effect": "NoSchedule" }]));
        assert_eq!(admit(&cpu("0"), &scheduled, &[]), Ok(()));
    }

    #[test]
    fn a_pod_of_another_operating_system_is_refused() {
        let windows = pod(json!({ "os": { "name": "windows" }, "containers": [] }));
        assert_eq!(admit(&windows, &node(json!([])), &[]).expect_err("windows").reason, "PodOSNotSupported");
        let linux = pod(json!({ "os": { "name": "linux" }, "containers": [] }));
        assert_eq!(admit(&linux, &node(json!([])), &[]), Ok(()));
    }

    #[test]
    fn init_containers_and_sidecars_are_counted_as_they_run() {
        let resources = |cpu: &str| json!({ "requests": { "cpu": cpu } });
        let pod = pod(json!({ "containers": [{ "name": "a", "resources": resources("100m") }], "initContainers": [
            { "name": "s", "restartPolicy": "Always", "resources": resources("50m") },
            { "name": "i", "resources": resources("300m") }] }));
        assert_eq!(requests(&pod)["cpu"], 350);
    }
}
