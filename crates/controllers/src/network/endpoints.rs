//! Writes the Endpoints object of every Service with a selector: the older form of
//! EndpointSlice, one object a service, for clients that still read it.

use crate::error::{During, Result};
use crate::network::service_pods::{
    self, HEADLESS, addresses, has_place, hostname, is_headless, node_name, protocol_or_tcp, publishes_not_ready,
    target_port, target_ref,
};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::pod;
use ferry_api::view::core::v1::{
    EndpointAddress, EndpointPort, EndpointSubset, Endpoints, EndpointsView, Pod, PodView, Service, ServiceView,
};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_api::view::{Kind, Owned};
use ferry_client::{DeleteParams, Event, Informers, Reference, SharedObject};
use std::collections::BTreeMap;

const MANAGED_BY: &str = "endpoints.kubernetes.io/managed-by";
const MANAGER: &str = "endpoint-controller";
const OVER_CAPACITY: &str = "endpoints.kubernetes.io/over-capacity";

/// An object cannot grow without end; readers of more endpoints use slices.
const MAX_ADDRESSES: usize = 1000;

pub(crate) struct EndpointsController;

#[async_trait]
impl Controller for EndpointsController {
    fn name(&self) -> &'static str {
        "endpoint-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let mut watches = service_pods::watches(informers);
        watches.push(Watch::new(informers.of::<Endpoints>(), |event, enqueue| {
            let metadata = event.object().meta();
            // Endpoints that people write by hand are none of ours until a service of
            // their name selects pods.
            let is_ours = metadata.labels().get(MANAGED_BY) == Some(MANAGER);
            if is_ours || matches!(event, Event::Deleted(_)) {
                enqueue.add_object(metadata);
            }
        }));
        watches
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let (informers, api) = (&ctx.informers, ctx.client.api::<Endpoints>(&key.namespace));
        let Some(service) = informers.of::<Service>().get(&key.namespace, &key.name) else {
            return match api.delete(&key.name, &DeleteParams::default()).await {
                Err(error) if error.is_not_found() => Ok(Action::Done),
                other => other.during("delete the endpoints", key).map(|()| Action::Done),
            };
        };
        let Some(pods) = service_pods::selected_pods(&service, &informers.of::<Pod>()) else {
            return Ok(Action::Done);
        };
        let current = informers.of::<Endpoints>().get(&key.namespace, &key.name);
        let plan = plan_endpoints(service.view(), &pods, current.as_ref().map(SharedObject::view));
        let Some(wanted) = plan else { return Ok(Action::Done) };
        let (result, reason, failure) = if current.is_some() {
            let failure = format!("Failed to update endpoint {key}");
            (api.replace(&wanted).await, "FailedToUpdateEndpoint", failure)
        } else {
            let failure = format!("Failed to create endpoint for service {key}");
            (api.create(&wanted).await, "FailedToCreateEndpoint", failure)
        };
        if let Err(error) = &result {
            // The cache lags behind our own write; its event brings us back.
            let is_stale = error.is_conflict() || error.is_already_exists();
            if !is_stale && !error.is_namespace_terminating() {
                let subject = Reference::of::<Endpoints>(Endpoints::metadata(wanted.view()));
                ctx.recorder.warning(subject, reason, format!("{failure}: {error}"));
            }
        }
        result.during("write the endpoints", key).map(|_| Action::Done)
    }
}

/// The object to write; `None` where the current one equals it.
fn plan_endpoints(
    service: ServiceView<'_>,
    pods: &[SharedObject<Pod>],
    current: Option<EndpointsView<'_>>,
) -> Option<Endpoints> {
    let mut subsets = compute_subsets(service, pods);
    let truncated = truncate(&mut subsets);
    let own = service.metadata();
    let metadata = || ObjectMeta::new().with_name(own.name()).with_namespace(own.namespace());
    let mut wanted = current.map_or_else(|| Endpoints::new().with_metadata(metadata()), EndpointsView::to_owned);
    wanted.set_subsets(subsets.into_iter().map(Subset::into_endpoint_subset));
    wanted.edit_metadata(|metadata| {
        metadata.set_labels(own.labels());
        metadata.insert_labels(HEADLESS, is_headless(service).then_some(""));
        metadata.insert_labels(MANAGED_BY, MANAGER);
        metadata.insert_annotations(OVER_CAPACITY, truncated.then_some("truncated"));
    });
    let is_same = |current: EndpointsView<'_>| {
        let (new, old) = (wanted.view(), current);
        new.subsets() == old.subsets()
            && new.metadata().labels() == old.metadata().labels()
            && new.metadata().annotations() == old.metadata().annotations()
    };
    (!current.is_some_and(is_same)).then_some(wanted)
}

/// A port as an ordered key: name, number, protocol, application protocol. None stands
/// for a headless service without ports.
type PortKey<'a> = Option<(&'a str, i32, &'a str, Option<&'a str>)>;

/// Ports that lead to the same addresses.
struct Subset<'a> {
    ports: Vec<PortKey<'a>>,
    ready: Vec<EndpointAddress>,
    not_ready: Vec<EndpointAddress>,
}

fn compute_subsets<'a>(service: ServiceView<'a>, pods: &[SharedObject<Pod>]) -> Vec<Subset<'a>> {
    let (spec, publish) = (service.spec(), publishes_not_ready(service));
    // In order of address and pod.
    let mut places: Vec<(String, PodView<'_>)> = pods
        .iter()
        .map(SharedObject::view)
        .filter(|pod| has_place(*pod, publish))
        .filter_map(|pod| Some((address(service, pod)?, pod)))
        .collect();
    places.sort_by(|(ip, pod), (other_ip, other)| (ip, pod.metadata().uid()).cmp(&(other_ip, other.metadata().uid())));
    let mut by_port: BTreeMap<PortKey<'_>, Vec<usize>> = BTreeMap::new();
    for (number, (_, pod)) in places.iter().enumerate() {
        if spec.ports().is_empty() && spec.cluster_ip() == "None" {
            by_port.entry(None).or_default().push(number);
        }
        for port in spec.ports() {
            let Some(target) = target_port(*pod, port) else { continue };
            let key = (port.name(), target, protocol_or_tcp(port.protocol()), port.app_protocol());
            let numbers = by_port.entry(Some(key)).or_default();
            // Two ports may lead to the same one.
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
    }
    let mut groups: Vec<(Vec<PortKey<'_>>, Vec<usize>)> = Vec::new();
    for (port, numbers) in by_port {
        match groups.iter_mut().find(|(_, group)| *group == numbers) {
            Some((ports, _)) => ports.push(port),
            None => groups.push((vec![port], numbers)),
        }
    }
    let subset = |(ports, numbers): (Vec<PortKey<'a>>, Vec<usize>)| {
        let (mut ready, mut not_ready) = (Vec::new(), Vec::new());
        for (ip, pod) in numbers.into_iter().filter_map(|number| places.get(number)) {
            let list = if publish || pod::is_ready(*pod) { &mut ready } else { &mut not_ready };
            list.push(endpoint_address(service, *pod, ip));
        }
        Subset { ports, ready, not_ready }
    };
    groups.into_iter().map(subset).collect()
}

impl Subset<'_> {
    fn into_endpoint_subset(self) -> EndpointSubset {
        let ports = self.ports.into_iter().flatten().map(|(name, port, protocol, app_protocol)| {
            EndpointPort::new()
                .with_name(Some(name).filter(|name| !name.is_empty()))
                .with_port(port)
                .with_protocol(protocol)
                .with_app_protocol(app_protocol)
        });
        EndpointSubset::new().with_addresses(self.ready).with_not_ready_addresses(self.not_ready).with_ports(ports)
    }
}

/// The pod's address in the service's first IP family.
fn address(service: ServiceView<'_>, pod: PodView<'_>) -> Option<String> {
    let spec = service.spec();
    let wants_v6 = match spec.ip_families().first() {
        Some(family) => family == "IPv6",
        None => spec.cluster_ip().contains(':'),
    };
    addresses(pod).into_iter().find(|address| address.is_ipv6() == wants_v6).map(|address| address.to_string())
}

fn endpoint_address(service: ServiceView<'_>, pod: PodView<'_>, ip: &str) -> EndpointAddress {
    EndpointAddress::new()
        .with_ip(ip)
        .with_hostname(hostname(pod, service))
        .with_node_name(node_name(pod))
        .with_target_ref(target_ref(pod))
}

/// Cuts to the capacity, ready addresses before others, each subset by its share.
fn truncate(subsets: &mut [Subset<'_>]) -> bool {
    let ready: usize = subsets.iter().map(|subset| subset.ready.len()).sum();
    let not_ready: usize = subsets.iter().map(|subset| subset.not_ready.len()).sum();
    if ready + not_ready <= MAX_ADDRESSES {
        return false;
    }
    let cut_ready = ready > MAX_ADDRESSES;
    let (total, room) = if cut_ready { (ready, MAX_ADDRESSES) } else { (not_ready, MAX_ADDRESSES - ready) };
    let mut left = room;
    for subset in subsets {
        if cut_ready {
            subset.not_ready.clear();
        }
        let list = if cut_ready { &mut subset.ready } else { &mut subset.not_ready };
        let share = (list.len() * room).div_ceil(total).min(left);
        list.truncate(share);
        left -= list.len();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn service(ports: Value) -> Service {
        Service::from(json!({"metadata": {"name": "web", "namespace": "default", "labels": {"team": "a"}},
            "spec": {"clusterIP": "10.96.0.5", "selector": {"app": "web"}, "ports": ports}}))
    }

    fn pod(number: usize, ready: bool) -> SharedObject<Pod> {
        SharedObject::of(json!({
            "metadata": {"name": format!("web-{number}"), "namespace": "default", "uid": format!("u{number}")},
            "spec": {"nodeName": "n1", "containers": []},
            "status": {"podIP": format!("10.244.{}.{}", number / 250, number % 250 + 1),
                "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]},
        }))
    }

    #[test]
    fn ports_with_the_same_addresses_share_a_subset() {
        let service = service(json!([{"name": "a", "port": 80}, {"name": "b", "port": 443, "targetPort": 8443}]));
        let endpoints = plan_endpoints(service.view(), &[pod(0, true), pod(1, false)], None).expect("a change");
        let target = |n: usize| json!({"kind": "Pod", "namespace": "default", "name": format!("web-{n}"), "uid": format!("u{n}")});
        assert_eq!(
            endpoints.value()["subsets"],
            json!([{
                "addresses": [{"ip": "10.244.0.1", "nodeName": "n1", "targetRef": target(0)}],
                "notReadyAddresses": [{"ip": "10.244.0.2", "nodeName": "n1", "targetRef": target(1)}],
                "ports": [{"name": "a", "port": 80, "protocol": "TCP"}, {"name": "b", "port": 8443, "protocol": "TCP"}],
            }])
        );
        assert_eq!(endpoints.view().metadata().labels().get(MANAGED_BY), Some(MANAGER));
        assert_eq!(plan_endpoints(service.view(), &[pod(0, true), pod(1, false)], Some(endpoints.view())), None);
    }

    #[test]
    fn what_is_too_much_is_cut_and_said() {
        let service = service(json!([{"port": 80}]));
        let count = |endpoints: &Endpoints| {
            let subset = endpoints.view().subsets().first().expect("subsets");
            (subset.addresses().len(), subset.not_ready_addresses().len())
        };
        let pods: Vec<_> = (0..1200).map(|n| pod(n, n < 900)).collect();
        let endpoints = plan_endpoints(service.view(), &pods, None).expect("a change");
        assert_eq!(count(&endpoints), (900, 100));
        assert_eq!(endpoints.view().metadata().annotations().get(OVER_CAPACITY), Some("truncated"));
        assert_eq!(plan_endpoints(service.view(), &pods, Some(endpoints.view())), None);
        let fewer = plan_endpoints(service.view(), &pods[..10], Some(endpoints.view())).expect("a change");
        assert_eq!((count(&fewer), fewer.value()["metadata"].get("annotations")), ((10, 0), None));
    }

    #[test]
    fn no_pods_make_an_empty_object() {
        let endpoints = plan_endpoints(service(json!([{"port": 80}])).view(), &[], None).expect("a change");
        assert_eq!(endpoints.value().get("subsets"), None);
    }
}
