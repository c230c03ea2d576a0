//! Gives Services of type LoadBalancer the addresses of the nodes at once, without pods: the
//! proxy of each node serves the ports of a Service on every address of its status.
//!
//! Services that name a loadBalancerClass are left to its implementation. A port that another
//! Service, a kubelet or the API server has on the nodes is reported in the condition
//! LoadBalancerPortsError. plan.rs decides; this file watches, gathers and writes. Nothing
//! outside the status is held, so that no finalizer is needed. The events are those of
//! upstream's k8s.io/cloud-provider/controllers/service.

mod plan;

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_api::view::core::v1::{Node, Service, ServiceView};
use ferry_api::view::discovery::v1::EndpointSlice;
use ferry_api::view::{Owned, View, alike};
use ferry_client::{Event, Informer, Informers, SharedObject};
use plan::{
    BalancerNode, HostPort, TakenPort, balanced_ports, describe, has_ports_error, is_balanced, node_ports,
    plan_addresses, precedence, render_status,
};
use std::collections::{BTreeSet, HashSet};
use std::net::IpAddr;

/// The index of balanced Services, all under one value.
const BALANCED: &str = "balanced";
/// The indexes of Services by the ports that they take on the nodes' addresses.
const BALANCED_PORT: &str = "balanced-port";
const NODE_PORT: &str = "node-port";
/// The index of EndpointSlices by their Service.
const SLICES: &str = "slices-of-service";

const SERVICE_NAME: &str = "kubernetes.io/service-name";

pub(crate) struct LoadBalancerController;

#[async_trait]
impl Controller for LoadBalancerController {
    fn name(&self) -> &'static str {
        "service-controller"
    }

    /// One at a time: two Services must not be given the same port.
    fn workers(&self) -> usize {
        1
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let services = indexed(informers.of::<Service>());
        let slices = by_service(informers.of::<EndpointSlice>());
        let (for_nodes, for_slices) = (services.clone(), services.clone());
        vec![
            Watch::new(services.clone(), move |event, enqueue| wake_for_service(event, &services, enqueue)),
            Watch::new(informers.of::<Node>(), move |event, enqueue| {
                let (old, new) = event.versions();
                let state = |node: Option<&SharedObject<Node>>| node.map(|node| BalancerNode::of(node.view()));
                if state(old) != state(new) {
                    for_nodes.by_index(BALANCED, "").iter().for_each(|service| enqueue.add_object(service.meta()));
                }
            }),
            Watch::new(slices, move |event, enqueue| {
                let Some(key) = service_of(event.object()) else { return };
                let service = for_slices.get(&key.namespace, &key.name);
                if service.is_some_and(|service| is_balanced(service.view()) && is_local(service.view())) {
                    enqueue.add(key);
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let services = ctx.informers.of::<Service>();
        let found = services.get(&key.namespace, &key.name);
        let Some(service) = found.filter(|service| is_balanced(service.view()) && !service.is_deleting()) else {
            // The API server clears the status of a Service that changes its type.
            return Ok(Action::Done);
        };
        let mut nodes = Vec::new();
        ctx.informers.of::<Node>().for_each(|node| nodes.push(BalancerNode::of(node.view())));
        if is_local(service.view()) {
            let serving = nodes_with_endpoints(&ctx.informers.of::<EndpointSlice>(), key);
            nodes.retain(|node| serving.contains(&node.name));
        }
        let addresses = plan_addresses(service.view(), nodes.iter());
        let mut taken = taken_by_services(&services, &service);
        taken.extend(taken_by_components(ctx, &service, &nodes, &addresses));
        write(ctx, &service, &addresses, &taken).await.map(|()| Action::Done)
    }
}

async fn write(
    ctx: &Context,
    service: &SharedObject<Service>,
    addresses: &BTreeSet<IpAddr>,
    taken: &[TakenPort],
) -> Result<()> {
    let status = render_status(service.view(), addresses, taken, ctx.now());
    let before = service.view().status();
    if alike(before.node(), status.view().node()) {
        return Ok(());
    }
    let had_address = !before.load_balancer().ingress().is_empty();
    let has_address = !status.view().load_balancer().ingress().is_empty();
    let has_error = has_ports_error(&status);
    let key = Key::of(service.meta());
    let changed = service.to_owned().with_status(status);
    match ctx.client.api::<Service>(&key.namespace).replace_status(&changed).await {
        Err(error) if error.is_not_found() => return Ok(()),
        other => drop(other.during("update the load balancer of", &key)?),
    }
    if has_error {
        let message = format!("Error syncing load balancer: {}", describe(taken));
        ctx.recorder.warning(service, "SyncLoadBalancerFailed", message);
    } else if has_address && !had_address {
        ctx.recorder.normal(service, "EnsuredLoadBalancer", "Ensured load balancer");
    }
    Ok(())
}

/// Ports that other Services have on the nodes: as node ports, or balanced before this one.
fn taken_by_services(services: &Informer<Service>, service: &SharedObject<Service>) -> Vec<TakenPort> {
    let is_other = |other: &&SharedObject<Service>| other.uid() != service.uid() && !other.is_deleting();
    let mut taken = Vec::new();
    for port in balanced_ports(service.view()) {
        let on_nodes = services.by_index(NODE_PORT, &port.to_string());
        let balanced = services.by_index(BALANCED_PORT, &port.to_string());
        let before = |other: &&SharedObject<Service>| precedence(other.view()) < precedence(service.view());
        let holder = on_nodes.iter().find(is_other).or_else(|| balanced.iter().filter(is_other).find(before));
        if let Some(holder) = holder {
            taken.push(TakenPort { port, holder: format!("service {}", Key::of(holder.meta())) });
        }
    }
    taken
}

/// Ports of the kubelets and of the API server. A Service on one of them would cut the node off.
fn taken_by_components(
    ctx: &Context,
    service: &SharedObject<Service>,
    nodes: &[BalancerNode],
    addresses: &BTreeSet<IpAddr>,
) -> Vec<TakenPort> {
    let slices = ctx.informers.of::<EndpointSlice>();
    let mut api_ports = BTreeSet::new();
    for slice in slices.by_index(SLICES, &Key::new("default", "kubernetes").to_string()) {
        let mut endpoints = slice.view().endpoints().iter().flat_map(|endpoint| endpoint.addresses().iter());
        if endpoints.any(|address| address.parse().is_ok_and(|address: IpAddr| addresses.contains(&address))) {
            api_ports.extend(slice.view().ports().iter().filter_map(|port| port.port()));
        }
    }
    let holder = |port: &HostPort| {
        if port.protocol != "TCP" {
            None
        } else if api_ports.contains(&port.port) {
            Some("the API server")
        } else if nodes.iter().any(|node| node.is_eligible && node.kubelet_port == port.port) {
            Some("the kubelet")
        } else {
            None
        }
    };
    let ports = balanced_ports(service.view()).into_iter();
    ports.filter_map(|port| holder(&port).map(|holder| TakenPort { holder: holder.to_owned(), port })).collect()
}

/// The nodes that have a ready endpoint of the Service.
fn nodes_with_endpoints(slices: &Informer<EndpointSlice>, key: &Key) -> HashSet<String> {
    let mut nodes = HashSet::new();
    for slice in slices.by_index(SLICES, &key.to_string()) {
        let ready = slice.view().endpoints().iter().filter(|endpoint| endpoint.conditions().ready() != Some(false));
        nodes.extend(ready.filter_map(|endpoint| endpoint.node_name().map(str::to_owned)));
    }
    nodes
}

fn is_local(service: ServiceView<'_>) -> bool {
    service.spec().external_traffic_policy() == "Local"
}

fn indexed(services: Informer<Service>) -> Informer<Service> {
    services
        .indexed(BALANCED, |service| is_balanced(service.view()).then(String::new).into_iter().collect())
        .indexed(BALANCED_PORT, |service| balanced_ports(service.view()).iter().map(ToString::to_string).collect())
        .indexed(NODE_PORT, |service| node_ports(service.view()).iter().map(ToString::to_string).collect())
}

fn by_service(slices: Informer<EndpointSlice>) -> Informer<EndpointSlice> {
    slices.indexed(SLICES, |slice| service_of(slice).map(|key| key.to_string()).into_iter().collect())
}

fn service_of(slice: &SharedObject<EndpointSlice>) -> Option<Key> {
    Some(Key::new(slice.namespace(), slice.meta().labels().get(SERVICE_NAME)?))
}

/// A Service wakes itself, and the others that want a port which it has or had.
fn wake_for_service(event: &Event<Service>, services: &Informer<Service>, enqueue: &Enqueue) {
    let (old, new) = event.versions();
    if new.is_some_and(|service| is_balanced(service.view())) {
        enqueue.add_object(event.object().meta());
    }
    let ports = |service: &SharedObject<Service>| -> BTreeSet<HostPort> {
        balanced_ports(service.view()).into_iter().chain(node_ports(service.view())).collect()
    };
    let (before, now) = (old.map(ports).unwrap_or_default(), new.map(ports).unwrap_or_default());
    for port in before.symmetric_difference(&now) {
        for other in services.by_index(BALANCED_PORT, &port.to_string()) {
            enqueue.add_object(other.meta());
        }
    }
}
