//! The node's own say on a pod that was bound to it: does it still fit, and does it
//! still belong here? (upstream: pkg/kubelet/lifecycle/predicate.go)

use ferry_api::quantity::Quantity;
use ferry_api::rules::host_port::{self, HostPort};
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::rules::toleration::{DRIVES_OUT, find_untolerated, is_tolerated};
use ferry_api::rules::{node_selector, pod_requests};
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{NodeView, Pod, PodView, Taint};
use ferry_client::SharedObject;
use ferry_eviction::message::{EVICTED, rejection_message};
use ferry_eviction::pressure::Conditions;
use ferry_eviction::shutdown;
use ferry_eviction::signal::NodeCondition;
use ferry_eviction::usage::is_critical;
use std::collections::BTreeMap;

/// Why a pod is turned away; both become part of its status.
#[derive(Clone, Debug, PartialEq)]
pub struct Rejection {
    pub reason: String,
    pub message: String,
}

/// Whether the node takes new pods at all (upstream: `Admit` of
/// pkg/kubelet/eviction/eviction_manager.go and of pkg/kubelet/nodeshutdown). Under pressure only
/// pods that the node needs may come, and where memory alone is short those that request some.
pub fn admit_in_state(pod: PodView<'_>, pressure: &Conditions, is_shutting_down: bool) -> Result<(), Rejection> {
    if is_shutting_down {
        let (reason, message) = (shutdown::REJECTED, shutdown::REJECTED_MESSAGE);
        return Err(Rejection { reason: reason.into(), message: message.into() });
    }
    if pressure.is_empty() || is_critical(pod) {
        return Ok(());
    }
    if pressure.iter().eq([&NodeCondition::MemoryPressure]) {
        let taint = Taint::new().with_key("node.kubernetes.io/memory-pressure").with_effect("NoSchedule");
        if qos_class(pod) != QosClass::BestEffort || is_tolerated(pod.spec().tolerations(), taint.view()) {
            return Ok(());
        }
    }
    Err(Rejection { reason: EVICTED.into(), message: rejection_message(pressure) })
}

/// `others` are the pods already admitted that have not finished.
pub fn admit(pod: PodView<'_>, node: NodeView<'_>, others: &[SharedObject<Pod>]) -> Result<(), Rejection> {
    check_os(pod)?;
    check_resources(pod, node, others)?;
    if !node_selector::matches_required(pod.spec(), node) {
        return Err(predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector"));
    }
    if !ports_are_free(pod, others) {
        return Err(predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports"));
    }
    // NoSchedule was the scheduler's business; only NoExecute concerns a pod already here.
    if find_untolerated(node.spec().taints(), pod.spec().tolerations(), DRIVES_OUT).is_some() {
        return Err(predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate"));
    }
    Ok(())
}

fn predicate(name: &str, why: &str) -> Rejection {
    Rejection { reason: name.into(), message: format!("Predicate {name} failed: {why}") }
}

/// Upstream: rejectPodAdmissionBasedOnOSField of pkg/kubelet/lifecycle/predicate.go.
fn check_os(pod: PodView<'_>) -> Result<(), Rejection> {
    match pod.spec().os() {
        Some(os) if os.name() != "linux" => Err(Rejection {
            reason: "PodOSNotSupported".into(),
            message: "Failed to admit pod as the OS field doesn't match node OS".into(),
        }),
        _ => Ok(()),
    }
}

fn check_resources(pod: PodView<'_>, node: NodeView<'_>, others: &[SharedObject<Pod>]) -> Result<(), Rejection> {
    let allocatable = node.status().allocatable();
    let refuse = |name: &str, requested: i64, used: i64, capacity: i64| {
        Err(Rejection {
            reason: format!("OutOf{name}"),
            message: format!(
                "Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"
            ),
        })
    };
    if let Some(limit) = allocatable.get("pods").map(|quantity| quantity.value())
        && others.len() as i64 + 1 > limit
    {
        return refuse("pods", 1, others.len() as i64, limit);
    }
    let others: Vec<BTreeMap<&str, i64>> = others.iter().map(|other| requests(other.view())).collect();
    for (name, amount) in requests(pod) {
        if amount == 0 {
            continue;
        }
        let capacity = allocatable.get(name).map_or(0, |quantity| amount_of(name, quantity));
        let used: i64 = others.iter().filter_map(|other| other.get(name)).sum();
        if used.saturating_add(amount) > capacity {
            return refuse(name, amount, used, capacity);
        }
    }
    Ok(())
}

/// The amounts that a pod takes of the node, in the units of [`amount_of`].
fn requests(pod: PodView<'_>) -> BTreeMap<&str, i64> {
    let requests = pod_requests::requests(pod).into_iter();
    requests.map(|(name, quantity)| (name, amount_of(name, quantity))).collect()
}

/// CPU is counted in thousandths, everything else in whole units.
fn amount_of(name: &str, quantity: Quantity) -> i64 {
    if name == "cpu" { quantity.milli_value() } else { quantity.value() }
}

fn ports_are_free(pod: PodView<'_>, others: &[SharedObject<Pod>]) -> bool {
    let wanted: Vec<HostPort<'_>> = host_port::host_ports(pod.spec()).collect();
    if wanted.is_empty() {
        return true;
    }
    let taken: Vec<HostPort<'_>> = others.iter().flat_map(|other| host_port::host_ports(other.view().spec())).collect();
    !host_port::conflict(&wanted, &taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::core::v1::Node;
    use serde_json::{Value, json};

    fn pod(spec: Value) -> SharedObject<Pod> {
        crate::pod::tests::pod(spec).into()
    }

    fn node(taints: Value) -> SharedObject<Node> {
        SharedObject::of(json!({ "metadata": { "name": "n1", "labels": { "zone": "a" } },
            "spec": { "taints": taints },
            "status": { "allocatable": { "cpu": "1", "memory": "1Gi", "pods": "2" } } }))
    }

    fn cpu(amount: &str) -> SharedObject<Pod> {
        pod(json!({ "containers": [{ "name": "a", "resources": { "requests": { "cpu": amount } } }] }))
    }

    fn admit(
        pod: &SharedObject<Pod>,
        node: &SharedObject<Node>,
        others: &[SharedObject<Pod>],
    ) -> Result<(), Rejection> {
        super::admit(pod.view(), node.view(), others)
    }

    #[test]
    fn what_does_not_fit_is_refused_in_upstreams_words() {
        let node = node(json!([]));
        assert_eq!(admit(&cpu("500m"), &node, &[cpu("500m")]), Ok(()));
        let rejection = admit(&cpu("600m"), &node, &[cpu("500m")]).expect_err("too much");
        assert_eq!(rejection.reason, "OutOfcpu");
        assert_eq!(
            rejection.message,
            "Node didn't have enough resource: cpu, requested: 600, used: 500, capacity: 1000"
        );
        let two = [cpu("0"), cpu("0")];
        assert_eq!(admit(&cpu("0"), &node, &two).expect_err("full").reason, "OutOfpods");
    }

    #[test]
    fn affinity_ports_and_taints() {
        let wrong = pod(json!({ "nodeSelector": { "zone": "b" }, "containers": [] }));
        assert_eq!(admit(&wrong, &node(json!([])), &[]).expect_err("elsewhere").reason, "NodeAffinity");
        let port = pod(json!({ "containers": [{ "name": "a", "ports": [{ "containerPort": 1, "hostPort": 80 }] }] }));
        let refused = admit(&port, &node(json!([])), std::slice::from_ref(&port));
        assert_eq!(refused.expect_err("taken").reason, "NodePorts");
        let tainted = node(json!([{ "key": "k", "value": "v", "effect": "NoExecute" }]));
        assert_eq!(admit(&cpu("0"), &tainted, &[]).expect_err("tainted").reason, "TaintToleration");
        let tolerant = pod(json!({ "tolerations": [{ "key": "k", "operator": "Exists" }], "containers": [] }));
        assert_eq!(admit(&tolerant, &tainted, &[]), Ok(()));
        let scheduled = node(json!([{ "key": "k", "effect": "NoSchedule" }]));
        assert_eq!(admit(&cpu("0"), &scheduled, &[]), Ok(()));
    }

    #[test]
    fn under_pressure_only_pods_that_cost_nothing_more_are_admitted() {
        let best_effort = pod(json!({ "containers": [{ "name": "a" }] }));
        let tolerant = pod(json!({ "containers": [],
            "tolerations": [{ "key": "node.kubernetes.io/memory-pressure", "operator": "Exists" }] }));
        let critical = pod(json!({ "priority": 2_000_000_000, "containers": [] }));
        let check = |pod: &SharedObject<Pod>, conditions: &[NodeCondition], expected: Option<&str>| {
            let pressure = conditions.iter().copied().collect();
            let found = admit_in_state(pod.view(), &pressure, false).err();
            assert!(found.iter().all(|rejection| rejection.reason == "Evicted"));
            assert_eq!(found.map(|rejection| rejection.message).as_deref(), expected);
        };
        let (memory, disk) = (NodeCondition::MemoryPressure, NodeCondition::DiskPressure);
        check(&best_effort, &[], None);
        check(&best_effort, &[memory], Some("The node had condition: [MemoryPressure]. "));
        check(&tolerant, &[memory], None);
        check(&cpu("1"), &[memory], None);
        check(&cpu("1"), &[memory, disk], Some("The node had condition: [DiskPressure MemoryPressure]. "));
        check(&tolerant, &[disk], Some("The node had condition: [DiskPressure]. "));
        check(&critical, &[memory, disk], None);
        let late = admit_in_state(critical.view(), &Conditions::new(), true).expect_err("the node ends");
        assert_eq!((late.reason.as_str(), late.message.as_str()), (shutdown::REJECTED, shutdown::REJECTED_MESSAGE));
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
        assert_eq!(requests(pod.view())["cpu"], 350);
    }

    #[test]
    fn amounts_of_the_pod_as_a_whole_and_its_overhead_count() {
        let whole = pod(json!({ "resources": { "requests": { "cpu": "700m" } }, "overhead": { "cpu": "200m" },
            "containers": [{ "name": "a", "resources": { "requests": { "cpu": "100m" } } }] }));
        assert_eq!(requests(whole.view())["cpu"], 900);
        let refused = admit(&whole, &node(json!([])), &[cpu("200m")]).expect_err("too much");
        assert_eq!(refused.message, "Node didn't have enough resource: cpu, requested: 900, used: 200, capacity: 1000");
    }

    #[test]
    fn an_unspecified_ipv6_address_is_one_of_many() {
        let port = |ip: &str| {
            let port = json!({ "containerPort": 1, "hostPort": 80, "hostIP": ip });
            pod(json!({ "containers": [{ "name": "a", "ports": [port] }] }))
        };
        let other = port("192.0.2.1");
        assert_eq!(admit(&port("::"), &node(json!([])), std::slice::from_ref(&other)), Ok(()));
        let refused = admit(&port("0.0.0.0"), &node(json!([])), &[other]);
        assert_eq!(refused.expect_err("taken").reason, "NodePorts");
    }
}
