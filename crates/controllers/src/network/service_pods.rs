//! Services and the pods they select, as both endpoint controllers see them: which event
//! wakes which service, which pods have a place, on which port and address.

use crate::label_index::{by_label, by_selector, labelled, may_select};
use crate::runner::{Enqueue, Watch};
use ferry_api::rules::{label_selector, pod};
use ferry_api::view::IntOrString;
use ferry_api::view::core::v1::{ObjectReference, Pod, PodView, Service, ServicePortView, ServiceView};
use ferry_client::{Event, Informer, Informers, SharedObject};
use std::net::IpAddr;

pub(crate) const HEADLESS: &str = "service.kubernetes.io/headless";

/// The watches both controllers start with, and the indexes that they need.
pub(crate) fn watches(informers: &Informers) -> Vec<Watch> {
    let services = by_selector(informers.of::<Service>());
    let pods = by_label(informers.of::<Pod>());
    vec![
        Watch::itself(services.clone()),
        Watch::new(pods, move |event, enqueue| wake_for_pod(event, &services, enqueue)),
    ]
}

/// Most changes of a pod do not concern its services; waking them for each probe result
/// of each pod would be most of the work of a large cluster.
fn wake_for_pod(event: &Event<Pod>, services: &Informer<Service>, enqueue: &Enqueue) {
    let (mut old, new) = event.versions();
    if let (Some(before), Some(after)) = (old, new)
        && before.meta().labels() == after.meta().labels()
    {
        if place(before.view()) == place(after.view()) {
            return;
        }
        // The same services select both.
        old = None;
    }
    for pod in [old, new].into_iter().flatten() {
        let labels = pod.meta().labels();
        for service in may_select(services, pod.namespace(), labels) {
            if label_selector::matches_service(service.view().spec().selector(), labels) {
                enqueue.add_object(service.meta());
            }
        }
    }
}

/// All of a pod that an endpoint is made of.
fn place(pod: PodView<'_>) -> (bool, bool, bool, Vec<IpAddr>, [&str; 3]) {
    let spec = pod.spec();
    (
        pod::is_ready(pod),
        pod::is_terminal(pod),
        pod::is_deleting(pod),
        addresses(pod),
        [spec.node_name(), spec.hostname(), spec.subdomain()],
    )
}

/// The pods a service selects. A service without a selector is somebody else's to fill.
pub(crate) fn selected_pods(service: &SharedObject<Service>, pods: &Informer<Pod>) -> Option<Vec<SharedObject<Pod>>> {
    let spec = service.view().spec();
    let selects = spec.type_() != "ExternalName" && !spec.selector().is_empty();
    selects.then(|| labelled(pods, service.namespace(), spec.selector()))
}

/// A pod has a place once it has an address and until it has ended.
pub(crate) fn has_place(pod: PodView<'_>, even_if_terminating: bool) -> bool {
    !pod::is_terminal(pod) && (even_if_terminating || !pod::is_deleting(pod)) && !addresses(pod).is_empty()
}

pub(crate) fn addresses(pod: PodView<'_>) -> Vec<IpAddr> {
    let status = pod.status();
    let listed: Vec<IpAddr> = status.pod_ips().iter().filter_map(|ip| ip.ip().parse().ok()).collect();
    if listed.is_empty() { status.pod_ip().parse().into_iter().collect() } else { listed }
}

/// The number a service port leads to in this pod. A named port may differ from pod to
/// pod, and a pod without it is no endpoint of that port.
pub(crate) fn target_port(pod: PodView<'_>, port: ServicePortView<'_>) -> Option<i32> {
    let name = match port.target_port() {
        None | Some(IntOrString::Int(0)) => return Some(port.port()),
        Some(IntOrString::Int(number)) => return Some(number),
        Some(IntOrString::String(name)) => name,
    };
    let spec = pod.spec();
    let sidecars = spec.init_containers().iter().filter(|container| pod::is_sidecar(*container));
    let mut ports = spec.containers().iter().chain(sidecars).flat_map(|container| container.ports());
    ports
        .find(|own| own.name() == name && protocol_or_tcp(own.protocol()) == protocol_or_tcp(port.protocol()))
        .map(|own| own.container_port())
}

/// The protocol of a port that may not state it.
pub(crate) fn protocol_or_tcp(protocol: &str) -> &str {
    if protocol.is_empty() { "TCP" } else { protocol }
}

/// The name under which DNS knows the pod within this service.
pub(crate) fn hostname<'a>(pod: PodView<'a>, service: ServiceView<'_>) -> Option<&'a str> {
    let (spec, own, other) = (pod.spec(), pod.metadata(), service.metadata());
    let is_within = spec.subdomain() == other.name() && own.namespace() == other.namespace();
    Some(spec.hostname()).filter(|hostname| is_within && !hostname.is_empty())
}

/// The node of a pod that has one.
pub(crate) fn node_name(pod: PodView<'_>) -> Option<&str> {
    Some(pod.spec().node_name()).filter(|name| !name.is_empty())
}

/// How an endpoint names its pod.
pub(crate) fn target_ref(pod: PodView<'_>) -> ObjectReference {
    let metadata = pod.metadata();
    ObjectReference::new()
        .with_kind("Pod")
        .with_namespace(metadata.namespace())
        .with_name(metadata.name())
        .with_uid(metadata.uid())
}

pub(crate) fn is_headless(service: ServiceView<'_>) -> bool {
    matches!(service.spec().cluster_ip(), "" | "None")
}

pub(crate) fn publishes_not_ready(service: ServiceView<'_>) -> bool {
    service.spec().publish_not_ready_addresses()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::ServicePort;
    use serde_json::json;

    #[test]
    fn a_named_port_is_looked_up_in_each_pod() {
        let pod = Pod::from(json!({"spec": {
            "containers": [{"name": "c", "ports": [{"name": "http", "containerPort": 8080}]}],
            "initContainers": [
                {"name": "once", "ports": [{"name": "once", "containerPort": 1}]},
                {"name": "proxy", "restartPolicy": "Always", "ports": [{"name": "mesh", "containerPort": 15001}]}],
        }}));
        let check = |port: serde_json::Value, expected: Option<i32>| {
            assert_eq!(target_port(pod.view(), ServicePort::from(port).view()), expected);
        };
        check(json!({"port": 80}), Some(80));
        check(json!({"port": 80, "targetPort": 8081}), Some(8081));
        check(json!({"port": 80, "targetPort": "http"}), Some(8080));
        check(json!({"port": 80, "targetPort": "http", "protocol": "UDP"}), None);
        check(json!({"port": 80, "targetPort": "mesh"}), Some(15001));
        check(json!({"port": 80, "targetPort": "once"}), None);
    }

    #[test]
    fn pods_are_found_by_the_selector_of_their_service() {
        let pod = |name: &str, labels: serde_json::Value| {
            SharedObject::<Pod>::of(json!({"metadata": {"name": name, "namespace": "ns", "labels": labels}}))
        };
        let pods = by_label(Informer::fixed([
            pod("a", json!({"app": "web", "tier": "front"})),
            pod("b", json!({"app": "web"})),
            pod("c", json!({"tier": "front"})),
        ]));
        let check = |spec: serde_json::Value, expected: Option<&[&str]>| {
            let service = SharedObject::<Service>::of(json!({"metadata": {"namespace": "ns"}, "spec": spec}));
            let selected = selected_pods(&service, &pods);
            let names: Option<Vec<&str>> = selected.as_ref().map(|pods| pods.iter().map(|pod| pod.name()).collect());
            assert_eq!(names.as_deref(), expected);
        };
        check(json!({"selector": {"app": "web"}}), Some(&["a", "b"]));
        check(json!({"selector": {"app": "web", "tier": "front"}}), Some(&["a"]));
        check(json!({"selector": {"app": "db"}}), Some(&[]));
        check(json!({}), None);
        check(json!({"selector": {}}), None);
        check(json!({"selector": {"app": "web"}, "type": "ExternalName"}), None);
    }
}
