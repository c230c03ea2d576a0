//! What a Service means on this node: its addresses, and the endpoints that traffic to them may
//! go to. Pure; `sync.rs` calls [`compute_service`] for each Service that changed.
//!
//! The rules are upstream's (pkg/proxy/topology.go, serviceport.go, endpointslicecache.go): ready
//! endpoints are used, those hinted for this node or its zone alone where all have hints; where
//! none is ready, those that are terminating but still serve. That choice is made separately for
//! all endpoints and for the local ones, which hints do not concern.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ferry_api::rules::cidr::Cidr;
use ferry_api::view::core::v1::{ServicePortView, ServiceSpecView, ServiceView};
use ferry_api::view::discovery::v1::{EndpointSliceView, EndpointView};
use ferry_nftables::{Family, Protocol};

/// Services with this label belong to another proxy.
const OTHER_PROXY_LABEL: &str = "service.kubernetes.io/service-proxy-name";

/// The default of `sessionAffinityConfig.clientIP.timeoutSeconds`: three hours.
const AFFINITY_SECONDS: i32 = 10_800;

/// Where this node stands, for endpoints that are hinted for some nodes or zones.
#[derive(Clone, Copy, Debug)]
pub struct NodePlace<'a> {
    pub name: &'a str,
    /// The node's label `topology.kubernetes.io/zone`, or empty.
    pub zone: &'a str,
}

impl<'a> From<&'a str> for NodePlace<'a> {
    fn from(name: &'a str) -> NodePlace<'a> {
        NodePlace { name, zone: "" }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficPolicy {
    Cluster,
    Local,
}

/// A place that traffic is sent to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    pub address: IpAddr,
    pub port: u16,
    /// Whether it runs on this node.
    pub local: bool,
}

/// One port of a Service in one address family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    pub family: Family,
    /// The port's name, or its number where it has none: unique among the Service's ports.
    pub label: String,
    pub protocol: Protocol,
    pub port: u16,
    pub cluster_ip: IpAddr,
    pub external_ips: Vec<IpAddr>,
    pub load_balancer_ips: Vec<IpAddr>,
    /// Who may use the load balancer's addresses; everyone, if empty.
    pub source_ranges: Vec<Cidr>,
    pub node_port: Option<u16>,
    /// How long a client stays with its endpoint, if it does.
    pub affinity_seconds: Option<u32>,
    pub internal_policy: TrafficPolicy,
    pub external_policy: TrafficPolicy,
    /// Where traffic under policy Cluster goes; empty if no traffic is.
    pub cluster_endpoints: Vec<Endpoint>,
    /// Where traffic under policy Local goes; empty if no traffic is.
    pub local_endpoints: Vec<Endpoint>,
    /// Whether the Service has an endpoint at all, on whatever node.
    pub has_endpoints: bool,
}

impl ServicePort {
    /// Whether there is a way in besides the cluster IP.
    pub fn is_external(&self) -> bool {
        self.node_port.is_some() || !self.external_ips.is_empty() || !self.load_balancer_ips.is_empty()
    }

    pub fn endpoints(&self, policy: TrafficPolicy) -> &[Endpoint] {
        match policy {
            TrafficPolicy::Cluster => &self.cluster_endpoints,
            TrafficPolicy::Local => &self.local_endpoints,
        }
    }

    /// All endpoints that some traffic of this node goes to.
    pub fn reachable_endpoints(&self) -> Vec<&Endpoint> {
        let mut all: Vec<&Endpoint> = self.cluster_endpoints.iter().chain(&self.local_endpoints).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// The ports of a Service with what they lead to on this node. Empty for a Service that has no
/// addresses to serve: headless, ExternalName, or another proxy's.
pub fn compute_service<'s>(
    service: ServiceView<'_>,
    slices: impl IntoIterator<Item = EndpointSliceView<'s>>,
    node: impl Into<NodePlace<'s>>,
) -> Vec<ServicePort> {
    let node = node.into();
    let spec = service.spec();
    if spec.type_() == "ExternalName" || service.metadata().labels().contains_key(OTHER_PROXY_LABEL) {
        return Vec::new();
    }
    let slices: Vec<EndpointSliceView<'_>> = slices.into_iter().collect();
    let mut ports = Vec::new();
    for cluster_ip in cluster_ips(spec) {
        for port in spec.ports() {
            ports.extend(compute_port(service, port, cluster_ip, &slices, node));
        }
    }
    ports
}

fn compute_port(
    service: ServiceView<'_>,
    port: ServicePortView<'_>,
    cluster_ip: IpAddr,
    slices: &[EndpointSliceView<'_>],
    node: NodePlace<'_>,
) -> Option<ServicePort> {
    let spec = service.spec();
    let family = Family::of(cluster_ip);
    let protocol = Protocol::parse(port.protocol())?;
    let number = port_number(port.port())?;
    let name = port.name();
    let in_family = |addresses: &mut dyn Iterator<Item = &str>| -> Vec<IpAddr> {
        addresses
            .filter_map(|address| address.parse().ok())
            .filter(|address: &IpAddr| Family::of(*address) == family)
            .collect()
    };
    let mut computed = ServicePort {
        family,
        label: if name.is_empty() { number.to_string() } else { name.to_string() },
        protocol,
        port: number,
        cluster_ip,
        external_ips: in_family(&mut spec.external_ips().iter()),
        load_balancer_ips: in_family(&mut load_balancer_vips(service)),
        source_ranges: source_ranges(spec, family),
        node_port: port_number(port.node_port()),
        affinity_seconds: affinity_seconds(spec),
        internal_policy: policy(spec.internal_traffic_policy().unwrap_or_default()),
        external_policy: policy(spec.external_traffic_policy()),
        cluster_endpoints: Vec::new(),
        local_endpoints: Vec::new(),
        has_endpoints: false,
    };

    let candidates = candidates(slices, family, name, protocol, node);
    let preference = preference(&candidates);
    let all = usable(&candidates, |endpoint| preference.admits(endpoint));
    let external = computed.is_external();
    computed.has_endpoints = !all.is_empty();
    // External traffic under policy Local still needs the others: what comes from this node or
    // its pods goes to any endpoint, as if it had gone out to a load balancer and come back.
    if computed.internal_policy == TrafficPolicy::Cluster || external {
        computed.cluster_endpoints = all;
    }
    let external_local = external && computed.external_policy == TrafficPolicy::Local;
    if computed.internal_policy == TrafficPolicy::Local || external_local {
        computed.local_endpoints = usable(&candidates, |endpoint| endpoint.local);
    }
    Some(computed)
}

/// The port of that number; 0 is none.
fn port_number(number: i32) -> Option<u16> {
    u16::try_from(number).ok().filter(|number| *number > 0)
}

/// An endpoint that might be used, with its conditions.
struct Candidate {
    local: bool,
    for_nodes: Hint,
    for_zones: Hint,
    ready: bool,
    serving: bool,
    terminating: bool,
}

/// What an endpoint's hints are to this node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Absent,
    ForOthers,
    ForUs,
}

impl Hint {
    fn of<'a>(hinted: impl Iterator<Item = &'a str>, own: &str) -> Hint {
        hinted.fold(
            Hint::Absent,
            |hint, name| if name == own || hint == Hint::ForUs { Hint::ForUs } else { Hint::ForOthers },
        )
    }
}

/// Which endpoints are preferred to others.
#[derive(Clone, Copy)]
enum Preference {
    Nothing,
    SameNode,
    SameZone,
}

impl Preference {
    fn admits(self, endpoint: &Candidate) -> bool {
        // Hints are for ready endpoints; there is one that is ready where there is a preference.
        match self {
            Preference::Nothing => true,
            Preference::SameNode => endpoint.for_nodes == Hint::ForUs,
            Preference::SameZone => endpoint.for_zones == Hint::ForUs,
        }
    }
}

/// Upstream's `topologyModeFromHints`: hints count if every ready endpoint has some and one of
/// them is for us, and those for nodes come before those for zones.
fn preference(candidates: &BTreeMap<(IpAddr, u16), Candidate>) -> Preference {
    let ready = || candidates.values().filter(|endpoint| endpoint.ready);
    let decides = |hint: fn(&Candidate) -> Hint| {
        ready().all(|endpoint| hint(endpoint) != Hint::Absent) && ready().any(|endpoint| hint(endpoint) == Hint::ForUs)
    };
    if decides(|endpoint| endpoint.for_nodes) {
        Preference::SameNode
    } else if decides(|endpoint| endpoint.for_zones) {
        Preference::SameZone
    } else {
        Preference::Nothing
    }
}

/// The endpoints of a port from all slices, by address and port. While an address is handed
/// from a terminating pod to a new one both may be listed, and the new one counts.
fn candidates(
    slices: &[EndpointSliceView<'_>],
    family: Family,
    port_name: &str,
    protocol: Protocol,
    node: NodePlace<'_>,
) -> BTreeMap<(IpAddr, u16), Candidate> {
    let mut candidates = BTreeMap::new();
    let address_type = match family {
        Family::V4 => "IPv4",
        Family::V6 => "IPv6",
    };
    for slice in slices.iter().filter(|slice| slice.address_type() == address_type) {
        let matching = slice.ports().iter().filter(|port| {
            port.name().unwrap_or_default() == port_name
                && Protocol::parse(port.protocol().unwrap_or_default()) == Some(protocol)
        });
        for port in matching.filter_map(|port| port_number(port.port()?)) {
            for endpoint in slice.endpoints() {
                let address = endpoint.addresses().first().and_then(|address| address.parse::<IpAddr>().ok());
                let Some(address) = address.filter(|address| Family::of(*address) == family) else { continue };
                let candidate = candidate(endpoint, node);
                let place = (address, port);
                if !candidate.terminating || !candidates.contains_key(&place) {
                    candidates.insert(place, candidate);
                }
            }
        }
    }
    candidates
}

fn candidate(endpoint: EndpointView<'_>, node: NodePlace<'_>) -> Candidate {
    let conditions = endpoint.conditions();
    let hints = endpoint.hints();
    let nodes = hints.into_iter().flat_map(|hints| hints.for_nodes().iter().map(|hint| hint.name()));
    let zones = hints.into_iter().flat_map(|hints| hints.for_zones().iter().map(|hint| hint.name()));
    Candidate {
        local: endpoint.node_name() == Some(node.name),
        for_nodes: Hint::of(nodes, node.name),
        for_zones: Hint::of(zones, node.zone),
        ready: conditions.ready().unwrap_or(true),
        serving: conditions.serving().unwrap_or(true),
        terminating: conditions.terminating().unwrap_or(false),
    }
}

/// A port by which load balancers ask whether this node has endpoints of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthCheck {
    pub port: u16,
    /// The addresses of ready endpoints on this node.
    pub local_endpoints: usize,
}

/// The health check of a Service, if it has one: of type LoadBalancer with external policy Local.
pub fn compute_health_check<'s>(
    service: ServiceView<'_>,
    slices: impl IntoIterator<Item = EndpointSliceView<'s>>,
    node_name: &str,
) -> Option<HealthCheck> {
    let spec = service.spec();
    let is_checked = spec.type_() == "LoadBalancer" && spec.external_traffic_policy() == "Local";
    let port = port_number(spec.health_check_node_port()).filter(|_| is_checked)?;
    let endpoints = slices.into_iter().flat_map(|slice| slice.endpoints().iter());
    let local = endpoints
        .filter(|endpoint| endpoint.node_name() == Some(node_name) && endpoint.conditions().ready().unwrap_or(true));
    let addresses: BTreeSet<&str> = local.filter_map(|endpoint| endpoint.addresses().first()).collect();
    Some(HealthCheck { port, local_endpoints: addresses.len() })
}

/// The ready ones among those that pass; failing that, those that end but still serve.
fn usable(candidates: &BTreeMap<(IpAddr, u16), Candidate>, passes: impl Fn(&Candidate) -> bool) -> Vec<Endpoint> {
    let select = |wanted: fn(&Candidate) -> bool| -> Vec<Endpoint> {
        candidates
            .iter()
            .filter(|(_, candidate)| passes(candidate) && wanted(candidate))
            .map(|((address, port), candidate)| Endpoint { address: *address, port: *port, local: candidate.local })
            .collect()
    };
    let ready = select(|candidate| candidate.ready);
    if ready.is_empty() { select(|candidate| candidate.serving && candidate.terminating) } else { ready }
}

/// At most one per family. A headless Service says "None", which is no address.
fn cluster_ips(spec: ServiceSpecView<'_>) -> Vec<IpAddr> {
    let listed = spec.cluster_ips().iter();
    let single = spec.cluster_ips().is_empty().then(|| spec.cluster_ip());
    let mut addresses: Vec<IpAddr> = listed.chain(single).filter_map(|address| address.parse().ok()).collect();
    addresses.sort();
    addresses.dedup_by_key(|address| Family::of(*address));
    addresses
}

/// The addresses that a load balancer leaves on the packets it forwards. One in mode Proxy
/// replaces them, and packets for its address must then go out to it.
fn load_balancer_vips<'a>(service: ServiceView<'a>) -> impl Iterator<Item = &'a str> {
    let ingress = service.status().load_balancer().ingress().iter();
    ingress.filter(|ingress| ingress.ip_mode().unwrap_or("VIP") == "VIP").map(|ingress| ingress.ip())
}

/// A range that holds everyone is no restriction.
fn source_ranges(spec: ServiceSpecView<'_>, family: Family) -> Vec<Cidr> {
    let ranges = spec.load_balancer_source_ranges();
    let mut ranges: Vec<Cidr> = ranges
        .iter()
        .filter_map(|range| range.trim().parse().ok())
        .filter(|range: &Cidr| Family::of(range.network()) == family)
        .collect();
    if ranges.iter().any(Cidr::is_everything) {
        ranges.clear();
    }
    ranges
}

fn affinity_seconds(spec: ServiceSpecView<'_>) -> Option<u32> {
    if spec.session_affinity() != "ClientIP" {
        return None;
    }
    let config = spec.session_affinity_config().and_then(|config| config.client_ip());
    let seconds = config.and_then(|config| config.timeout_seconds()).unwrap_or(AFFINITY_SECONDS);
    u32::try_from(seconds).ok().filter(|seconds| *seconds > 0)
}

fn policy(name: &str) -> TrafficPolicy {
    match name {
        "Local" => TrafficPolicy::Local,
        _ => TrafficPolicy::Cluster,
    }
}

#[cfg(test)]
mod tests;
