//! Services and the pods they select, as both endpoint controllers see them: which event
//! wakes which service, which pods have a place, on which port and address.

use crate::pod;
use crate::runner::{Enqueue, Watch, event_versions};
use crate::selector::{Labels, matches_map};
use ferry_client::{Event, Informer, Informers};
use k8s_openapi::api::core::v1::{Pod, Service, ServicePort};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::net::IpAddr;
use std::sync::Arc;

pub const HEADLESS: &str = "service.kubernetes.io/headless";

/// The watches both controllers start with.
pub fn watches(informers: &Informers) -> Vec<Watch> {
    let services = informers.of::<Service>();
    vec![
        Watch::itself(informers.of::<Service>()),
        Watch::new(informers.of::<Pod>(), move |event, enqueue| wake_for_pod(event, &services, enqueue)),
    ]
}

/// Most changes of a pod do not concern its services; waking them for each probe result
/// of each pod would be most of the work of a large cluster.
fn wake_for_pod(event: &Event<Pod>, services: &Informer<Service>, enqueue: &Enqueue) {
    let (old, new) = event_versions(event);
    if let (Some(old), Some(new)) = (old, new)
        && old.metadata.labels == new.metadata.labels
        && place(old) == place(new)
    {
        return;
    }
    let selects = |service: &Service, pod: Option<&Arc<Pod>>| {
        let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
        pod.is_some_and(|pod| matches_map(selector, pod.metadata.labels.as_ref()))
    };
    for service in services.list(event.object().metadata.namespace.as_deref()) {
        if selects(&service, old) || selects(&service, new) {
            enqueue.add_object(&service.metadata);
        }
    }
}

/// All of a pod that an endpoint is made of.
fn place(pod: &Pod) -> impl PartialEq {
    let spec = pod.spec.as_ref();
    (
        pod::is_ready(pod),
        pod::is_terminal(pod),
        pod.metadata.deletion_timestamp.is_some(),
        addresses(pod),
        spec.map(|spec| (spec.node_name.clone(), spec.hostname.clone(), spec.subdomain.clone())),
    )
}

/// The pods a service selects. A service without a selector is somebody else's to fill.
pub fn selected_pods(service: &Service, pods: &Informer<Pod>) -> Option<Vec<Arc<Pod>>> {
    let spec = service.spec.as_ref()?;
    if spec.type_.as_deref() == Some("ExternalName") {
        return None;
    }
    let selector: &Labels = spec.selector.as_ref()?;
    let mut selected = pods.list(service.metadata.namespace.as_deref());
    selected.retain(|pod| crate::selector::contains(pod.metadata.labels.as_ref(), selector));
    Some(selected)
}

/// A pod has a place once it has an address and until it has ended.
pub fn has_place(pod: &Pod, even_if_terminating: bool) -> bool {
    !pod::is_terminal(pod)
        && (even_if_terminating || pod.metadata.deletion_timestamp.is_none())
        && !addresses(pod).is_empty()
}

pub fn addresses(pod: &Pod) -> Vec<IpAddr> {
    let Some(status) = &pod.status else { return Vec::new() };
    let listed: Vec<IpAddr> = status.pod_ips.iter().flatten().filter_map(|ip| ip.ip.parse().ok()).collect();
    if listed.is_empty() { status.pod_ip.iter().filter_map(|ip| ip.parse().ok()).collect() } else { listed }
}

/// The number a service port leads to in this pod. A named port may differ from pod to
/// pod, and a pod without it is no endpoint of that port.
pub fn target_port(pod: &Pod, port: &ServicePort) -> Option<i32> {
    let name = match &port.target_port {
        None | Some(IntOrString::Int(0)) => return Some(port.port),
        Some(IntOrString::Int(number)) => return Some(*number),
        Some(IntOrString::String(name)) => name,
    };
    let protocol = port.protocol.as_deref().unwrap_or("TCP");
    let spec = pod.spec.as_ref()?;
    let sidecars = spec.init_containers.iter().flatten();
    let sidecars = sidecars.filter(|container| container.restart_policy.as_deref() == Some("Always"));
    let mut ports = spec.containers.iter().chain(sidecars).flat_map(|container| container.ports.iter().flatten());
    ports
        .find(|port| port.name.as_ref() == Some(name) && port.protocol.as_deref().unwrap_or("TCP") == protocol)
        .map(|port| port.container_port)
}

/// The name under which DNS knows the pod within this service.
pub fn hostname(pod: &Pod, service: &Service) -> Option<String> {
    let spec = pod.spec.as_ref()?;
    let hostname = spec.hostname.clone().filter(|hostname| !hostname.is_empty())?;
    (spec.subdomain == service.metadata.name && pod.metadata.namespace == service.metadata.namespace)
        .then_some(hostname)
}

pub fn is_headless(service: &Service) -> bool {
    let address = service.spec.as_ref().and_then(|spec| spec.cluster_ip.as_deref()).unwrap_or_default();
    address.is_empty() || address == "None"
}

pub fn publishes_not_ready(service: &Service) -> bool {
    service.spec.as_ref().and_then(|spec| spec.publish_not_ready_addresses) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_named_port_is_looked_up_in_each_pod() {
        let pod: Pod = serde_json::from_value(json!({"spec": {
            "containers": [{"name": "c", "ports": [{"name": "http", "containerPort": 8080}]}],
            "initContainers": [
                {"name": "once", "ports": [{"name": "once", "containerPort": 1}]},
                {"name": "proxy", "restartPolicy": "Always", "ports": [{"name": "mesh", "containerPort": 15001}]}],
        }}))
        .expect("a pod");
        let check = |port: serde_json::Value, expected: Option<i32>| {
            let port: ServicePort = serde_json::from_value(port).expect("a port");
            assert_eq!(target_port(&pod, &port), expected);
        };
        check(json!({"port": 80}), Some(80));
        check(json!({"port": 80, "targetPort": 8081}), Some(8081));
        check(json!({"port": 80, "targetPort": "http"}), Some(8080));
        check(json!({"port": 80, "targetPort": "http", "protocol": "UDP"}), None);
        check(json!({"port": 80, "targetPort": "mesh"}), Some(15001));
        check(json!({"port": 80, "targetPort": "once"}), None);
    }
}
