//! Writes the Endpoints object of every Service with a selector: the older form of
//! EndpointSlice, one object a service, for clients that still read it.

use crate::error::{During, Result};
use crate::pod;
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::service_pods::{
    self, HEADLESS, addresses, has_place, hostname, is_headless, publishes_not_ready, target_port,
};
use async_trait::async_trait;
use ferry_client::{DeleteParams, Event, Informers, reference};
use k8s_openapi::api::core::v1::{
    EndpointAddress, EndpointPort, EndpointSubset, Endpoints, ObjectReference, Pod, Service,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use std::collections::BTreeMap;
use std::sync::Arc;

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const MANAGER: &str = "endpoint-controller";
const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";

/// An object cannot grow without end; readers of more endpoints use slices.
const MAX_ADDRESSES: usize = 1000;

pub struct EndpointsController;

#[async_trait]
impl Controller for EndpointsController {
    fn name(&self) -> &'static str {
        "endpoint-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let mut watches = service_pods::watches(informers);
        watches.push(Watch::new(informers.of::<Endpoints>(), |event, enqueue| {
            let endpoints = event.object();
            // Endpoints that people write by hand are none of ours until a service of
            // their name selects pods.
            let is_ours = label(endpoints, MANAGED_BY) == Some(MANAGER);
            if is_ours || matches!(event, Event::Deleted(_)) {
                enqueue.add_object(&endpoints.metadata);
            }
        }));
        watches
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(service) = ctx.informers.of::<Service>().get(&key.namespace, &key.name) else {
            return match ctx.client.delete::<Endpoints>(&key.namespace, &key.name, &DeleteParams::default()).await {
                Err(error) if error.is_not_found() => Ok(Action::Done),
                other => other.during("delete the endpoints", key).map(|()| Action::Done),
            };
        };
        let Some(pods) = service_pods::selected_pods(&service, &ctx.informers.of::<Pod>()) else {
            return Ok(Action::Done);
        };
        let current = ctx.informers.of::<Endpoints>().get(&key.namespace, &key.name);
        let Some(wanted) = plan_endpoints(&service, &pods, current.as_deref()) else { return Ok(Action::Done) };
        let (result, reason, failure) = if current.is_some() {
            let failure = format!("Failed to update endpoint {key}");
            (ctx.client.replace(&key.namespace, &wanted).await, "FailedToUpdateEndpoint", failure)
        } else {
            let failure = format!("Failed to create endpoint for service {key}");
            (ctx.client.create(&key.namespace, &wanted).await, "FailedToCreateEndpoint", failure)
        };
        if let Err(error) = &result {
            // The cache lags behind our own write; its event brings us back.
            let is_stale = error.is_conflict() || error.is_already_exists();
            if !is_stale && !error.is_namespace_terminating() {
                ctx.recorder.warning(&reference(&wanted), reason, format!("{failure}: {error}"));
            }
        }
        result.during("write the endpoints", key).map(|_| Action::Done)
    }
}

/// The object to write, or None when the current one says the same.
pub fn plan_endpoints(service: &Service, pods: &[Arc<Pod>], current: Option<&Endpoints>) -> Option<Endpoints> {
    let mut subsets = compute_subsets(service, pods);
    let truncated = truncate(&mut subsets);
    let mut labels = service.metadata.labels.clone().unwrap_or_default();
    labels.remove(HEADLESS);
    if is_headless(service) {
        labels.insert(HEADLESS.to_owned(), String::new());
    }
    labels.insert(MANAGED_BY.to_owned(), MANAGER.to_owned());
    let mut wanted = current.cloned().unwrap_or_else(|| Endpoints {
        metadata: ObjectMeta {
            name: service.metadata.name.clone(),
            namespace: service.metadata.namespace.clone(),
            ..Default::default()
        },
        subsets: None,
    });
    wanted.subsets = (!subsets.is_empty()).then_some(subsets);
    wanted.metadata.labels = Some(labels);
    if truncated {
        wanted.metadata.annotations.get_or_insert_default().insert(OVER_CAPACITY.to_owned(), "truncated".to_owned());
    } else if let Some(annotations) = &mut wanted.metadata.annotations {
        annotations.remove(OVER_CAPACITY);
        if annotations.is_empty() {
            wanted.metadata.annotations = None;
        }
    }
    (Some(&wanted) != current).then_some(wanted)
}

/// A port as an ordered key: name, number, protocol, application protocol. None stands
/// for a headless service without ports.
type PortKey = Option<(String, i32, String, Option<String>)>;

/// Addresses in order of address and pod, each with whether it is ready.
type Addresses = BTreeMap<(String, String), (bool, EndpointAddress)>;

/// Ports that lead to the same addresses share a subset.
fn compute_subsets(service: &Service, pods: &[Arc<Pod>]) -> Vec<EndpointSubset> {
    let Some(spec) = &service.spec else { return Vec::new() };
    let publish = publishes_not_ready(service);
    let mut by_port: BTreeMap<PortKey, Addresses> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| has_place(pod, publish)) {
        let Some(address) = endpoint_address(service, pod) else { continue };
        let ready = publish || pod::is_ready(pod);
        let identity = (address.ip.clone(), pod.metadata.uid.clone().unwrap_or_default());
        let ports = spec.ports.as_deref().unwrap_or_default();
        if ports.is_empty() && spec.cluster_ip.as_deref() == Some("None") {
            by_port.entry(None).or_default().insert(identity.clone(), (ready, address.clone()));
        }
        for port in ports {
            let Some(number) = target_port(pod, port) else { continue };
            let protocol = port.protocol.clone().unwrap_or_else(|| "TCP".to_owned());
            let key = Some((port.name.clone().unwrap_or_default(), number, protocol, port.app_protocol.clone()));
            by_port.entry(key).or_default().insert(identity.clone(), (ready, address.clone()));
        }
    }
    let mut groups: Vec<(Vec<PortKey>, Addresses)> = Vec::new();
    for (port, addresses) in by_port {
        match groups.iter_mut().find(|(_, group)| *group == addresses) {
            Some((ports, _)) => ports.push(port),
            None => groups.push((vec![port], addresses)),
        }
    }
    groups.into_iter().map(|(ports, addresses)| subset(ports, addresses)).collect()
}

fn subset(ports: Vec<PortKey>, addresses: Addresses) -> EndpointSubset {
    let (ready, not_ready): (Vec<_>, Vec<_>) = addresses.into_values().partition(|(ready, _)| *ready);
    let list = |of: Vec<(bool, EndpointAddress)>| {
        (!of.is_empty()).then(|| of.into_iter().map(|(_, address)| address).collect())
    };
    let ports: Vec<EndpointPort> = ports
        .into_iter()
        .flatten()
        .map(|(name, port, protocol, app_protocol)| EndpointPort {
            name: Some(name).filter(|name| !name.is_empty()),
            port,
            protocol: Some(protocol),
            app_protocol,
        })
        .collect();
    EndpointSubset {
        addresses: list(ready),
        not_ready_addresses: list(not_ready),
        ports: (!ports.is_empty()).then_some(ports),
    }
}

/// The pod's address in the service's first IP family.
fn endpoint_address(service: &Service, pod: &Pod) -> Option<EndpointAddress> {
    let spec = service.spec.as_ref()?;
    let first = spec.ip_families.as_ref().and_then(|families| families.first()).map(String::as_str);
    let wants_v6 = match first {
        Some(family) => family == "IPv6",
        None => spec.cluster_ip.as_deref().is_some_and(|address| address.contains(':')),
    };
    let address = addresses(pod).into_iter().find(|address| address.is_ipv6() == wants_v6)?;
    Some(EndpointAddress {
        ip: address.to_string(),
        hostname: hostname(pod, service),
        node_name: Some(pod::node_name(pod).to_owned()).filter(|name| !name.is_empty()),
        target_ref: Some(ObjectReference {
            kind: Some("Pod".to_owned()),
            namespace: pod.metadata.namespace.clone(),
            name: pod.metadata.name.clone(),
            uid: pod.metadata.uid.clone(),
            ..Default::default()
        }),
    })
}

/// Cuts to the capacity, ready addresses before others, each subset by its share.
fn truncate(subsets: &mut [EndpointSubset]) -> bool {
    let count = |list: &Option<Vec<EndpointAddress>>| list.as_ref().map_or(0, Vec::len);
    let ready: usize = subsets.iter().map(|subset| count(&subset.addresses)).sum();
    let not_ready: usize = subsets.iter().map(|subset| count(&subset.not_ready_addresses)).sum();
    if ready + not_ready <= MAX_ADDRESSES {
        return false;
    }
    let cut_ready = ready > MAX_ADDRESSES;
    let (total, room) = if cut_ready { (ready, MAX_ADDRESSES) } else { (not_ready, MAX_ADDRESSES - ready) };
    let mut left = room;
    for subset in subsets {
        if cut_ready {
            subset.not_ready_addresses = None;
        }
        let list = if cut_ready { &mut subset.addresses } else { &mut subset.not_ready_addresses };
        let share = (count(list) * room).div_ceil(total).min(left);
        if let Some(addresses) = list {
            addresses.truncate(share);
            left -= addresses.len();
        }
        if count(list) == 0 {
            *list = None;
        }
    }
    true
}

fn label<'a>(endpoints: &'a Endpoints, key: &str) -> Option<&'a str> {
    endpoints.metadata.labels.as_ref()?.get(key).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn service(ports: Value) -> Service {
        serde_json::from_value(json!({"metadata": {"name": "web", "namespace": "default", "labels": {"team": "a"}},
            "spec": {"clusterIP": "10.96.0.5", "selector": {"app": "web"}, "ports": ports}}))
        .expect("a service")
    }

    fn pod(number: usize, ready: bool) -> Arc<Pod> {
        Arc::new(
            serde_json::from_value(json!({
                "metadata": {"name": format!("web-{number}"), "namespace": "default", "uid": format!("u{number}")},
                "spec": {"nodeName": "n1", "containers": []},
                "status": {"podIP": format!("10.244.{}.{}", number / 250, number % 250 + 1),
                    "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]},
            }))
            .expect("a pod"),
        )
    }

    #[test]
    fn ports_with_the_same_addresses_share_a_subset() {
        let service = service(json!([{"name": "a", "port": 80}, {"name": "b", "port": 443, "targetPort": 8443}]));
        let endpoints = plan_endpoints(&service, &[pod(0, true), pod(1, false)], None).expect("a change");
        let target = |n: usize| json!({"kind": "Pod", "namespace": "default", "name": format!("web-{n}"), "uid": format!("u{n}")});
        assert_eq!(
            serde_json::to_value(&endpoints.subsets).expect("JSON"),
            json!([{
                "addresses": [{"ip": "10.244.0.1", "nodeName": "n1", "targetRef": target(0)}],
                "notReadyAddresses": [{"ip": "10.244.0.2", "nodeName": "n1", "targetRef": target(1)}],
                "ports": [{"name": "a", "port": 80, "protocol": "TCP"}, {"name": "b", "port": 8443, "protocol": "TCP"}],
            }])
        );
        assert_eq!(label(&endpoints, MANAGED_BY), Some(MANAGER));
        assert_eq!(plan_endpoints(&service, &[pod(0, true), pod(1, false)], Some(&endpoints)), None);
    }

    #[test]
    fn what_is_too_much_is_cut_and_said() {
        let service = service(json!([{"port": 80}]));
        let count = |endpoints: &Endpoints| {
            let subset = &endpoints.subsets.as_ref().expect("subsets")[0];
            let length = |list: &Option<Vec<EndpointAddress>>| list.as_ref().map_or(0, Vec::len);
            (length(&subset.addresses), length(&subset.not_ready_addresses))
        };
        let pods: Vec<_> = (0..1200).map(|n| pod(n, n < 900)).collect();
        let endpoints = plan_endpoints(&service, &pods, None).expect("a change");
        assert_eq!(count(&endpoints), (900, 100));
        assert_eq!(endpoints.metadata.annotations.as_ref().expect("annotations")[OVER_CAPACITY], "truncated");
        assert_eq!(plan_endpoints(&service, &pods, Some(&endpoints)), None);
        let fewer = plan_endpoints(&service, &pods[..10], Some(&endpoints)).expect("a change");
        assert_eq!((count(&fewer), fewer.metadata.annotations), ((10, 0), None));
    }

    #[test]
    fn no_pods_make_an_empty_object() {
        let endpoints = plan_endpoints(&service(json!([{"port": 80}])), &[], None).expect("a change");
        assert_eq!(endpoints.subsets, None);
    }
}
