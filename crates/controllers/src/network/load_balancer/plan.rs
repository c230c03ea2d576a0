//! Which addresses a Service of type LoadBalancer gets: those of the nodes that can serve it,
//! unless one of its ports is taken there. Pure; executed by mod.rs.

use ferry_api::rules::condition;
use ferry_api::view::Owned;
use ferry_api::view::core::v1::{
    LoadBalancerIngress, LoadBalancerStatus, NodeView, ServicePortView, ServiceStatus, ServiceView,
};
use ferry_api::view::meta::v1::Condition;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;

const PORTS_ERROR: &str = "LoadBalancerPortsError";
const EXCLUDED: &str = "node.kubernetes.io/exclude-from-external-load-balancers";
/// The cluster autoscaler's taint of a node that it is about to remove.
const TO_BE_DELETED: &str = "ToBeDeletedByClusterAutoscaler";

/// Whether the Service is for this controller: another one serves those that name a class.
pub(super) fn is_balanced(service: ServiceView<'_>) -> bool {
    service.spec().type_() == "LoadBalancer" && service.spec().load_balancer_class().is_none()
}

/// A port on the addresses of the nodes, as `80/TCP`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostPort {
    pub port: i32,
    pub protocol: String,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.port, self.protocol)
    }
}

fn protocol(port: ServicePortView<'_>) -> String {
    Some(port.protocol()).filter(|protocol| !protocol.is_empty()).unwrap_or("TCP").to_owned()
}

/// The ports that a balanced Service takes on the nodes' addresses.
pub(super) fn balanced_ports(service: ServiceView<'_>) -> Vec<HostPort> {
    let ports = service.spec().ports().iter().filter(|_| is_balanced(service));
    ports.map(|port| HostPort { port: port.port(), protocol: protocol(port) }).collect()
}

/// The node ports of a Service of any type.
pub(super) fn node_ports(service: ServiceView<'_>) -> Vec<HostPort> {
    let ports = service.spec().ports().iter().filter(|port| port.node_port() != 0);
    ports.map(|port| HostPort { port: port.node_port(), protocol: protocol(port) }).collect()
}

/// A Node, as far as load balancing looks at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BalancerNode {
    pub name: String,
    pub is_eligible: bool,
    external: Vec<IpAddr>,
    internal: Vec<IpAddr>,
    pub kubelet_port: i32,
}

impl BalancerNode {
    pub(super) fn of(node: NodeView<'_>) -> Self {
        let (metadata, status) = (node.metadata(), node.status());
        let addresses = |kind: &str| {
            let of_kind = status.addresses().iter().filter(|address| address.type_() == kind);
            of_kind.filter_map(|address| address.address().parse().ok()).collect()
        };
        let is_leaving = metadata.deletion_timestamp().is_some()
            || node.spec().taints().iter().any(|taint| taint.key() == TO_BE_DELETED);
        Self {
            name: metadata.name().to_owned(),
            is_eligible: !is_leaving
                && !metadata.labels().contains_key(EXCLUDED)
                && condition::is_true(status.conditions(), "Ready"),
            external: addresses("ExternalIP"),
            internal: addresses("InternalIP"),
            kubelet_port: status.daemon_endpoints().kubelet_endpoint().port(),
        }
    }
}

/// The addresses of the eligible nodes, in the families of the Service: the external ones where
/// any node has one, and else the internal ones.
pub(super) fn plan_addresses<'a>(
    service: ServiceView<'_>,
    nodes: impl Iterator<Item = &'a BalancerNode> + Clone,
) -> BTreeSet<IpAddr> {
    let families = service.spec().ip_families();
    let is_served = |address: &IpAddr| {
        let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
        families.is_empty() || families.contains(family)
    };
    let eligible = nodes.filter(|node| node.is_eligible);
    let external: BTreeSet<IpAddr> =
        eligible.clone().flat_map(|node| node.external.iter().copied()).filter(is_served).collect();
    if !external.is_empty() {
        return external;
    }
    eligible.flat_map(|node| node.internal.iter().copied()).filter(is_served).collect()
}

/// The order in which Services get a port that several want: first those that have it, then
/// the older ones.
pub(super) fn precedence(service: ServiceView<'_>) -> impl Ord + use<> {
    let metadata = service.metadata();
    let has_address = !service.status().load_balancer().ingress().is_empty();
    let name = (metadata.namespace().to_owned(), metadata.name().to_owned());
    (!has_address, metadata.creation_timestamp(), name)
}

/// A port of the Service that it cannot have, and the holder of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TakenPort {
    pub port: HostPort,
    pub holder: String,
}

/// The status with these addresses, or without any and with a condition where ports are taken.
pub(super) fn render_status(
    service: ServiceView<'_>,
    addresses: &BTreeSet<IpAddr>,
    taken: &[TakenPort],
    now: Timestamp,
) -> ServiceStatus {
    let ingress = addresses.iter().filter(|_| taken.is_empty());
    let ingress = ingress.map(|address| LoadBalancerIngress::new().with_ip(address.to_string()).with_ip_mode("VIP"));
    let balancer = LoadBalancerStatus::new().with_ingress(ingress);
    let mut status = service.status().to_owned().with_load_balancer(balancer);
    if taken.is_empty() {
        condition::remove(&mut status, PORTS_ERROR);
    } else {
        let error = Condition::new()
            .with_type(PORTS_ERROR)
            .with_status("True")
            .with_observed_generation(Some(service.metadata().generation()).filter(|generation| *generation != 0))
            .with_reason("PortsTaken")
            .with_message(describe(taken));
        condition::set(&mut status, error, now);
    }
    status
}

/// `port 80/TCP is taken by service default/web`, with a semicolon between several.
pub(super) fn describe(taken: &[TakenPort]) -> String {
    let texts = taken.iter().map(|taken| format!("port {} is taken by {}", taken.port, taken.holder));
    texts.collect::<Vec<_>>().join("; ")
}

/// Whether the status says already that ports are taken.
pub(super) fn has_ports_error(status: &ServiceStatus) -> bool {
    condition::is_true(status.view().conditions(), PORTS_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::core::v1::{Node, Service};
    use serde_json::{Value, json};

    fn node(name: &str, addresses: Value, change: impl FnOnce(&mut Value)) -> BalancerNode {
        let mut node = json!({"metadata": {"name": name}, "status": {"addresses": addresses,
            "conditions": [{"type": "Ready", "status": "True"}]}});
        change(&mut node);
        BalancerNode::of(Node::from(node).view())
    }

    fn service(spec: Value) -> Service {
        let mut all = json!({"type": "LoadBalancer", "ports": [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]});
        for (key, value) in spec.as_object().expect("a spec") {
            all[key] = value.clone();
        }
        Service::from(json!({"metadata": {"name": "web", "namespace": "ns", "generation": 2}, "spec": all}))
    }

    #[test]
    fn a_service_gets_the_addresses_of_the_nodes_that_serve_it() {
        let internal = |ip: &str| json!([{"type": "InternalIP", "address": ip}, {"type": "Hostname", "address": "n"}]);
        let check = |spec: Value, nodes: &[BalancerNode], expected: &[&str]| {
            let found = plan_addresses(service(spec.clone()).view(), nodes.iter());
            let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(texts, expected, "{spec} {nodes:?}");
        };
        let plain = |name: &str, ip: &str| node(name, internal(ip), |_| {});
        let two = [plain("b", "10.0.0.2"), plain("a", "10.0.0.1")];
        check(json!({}), &two, &["10.0.0.1", "10.0.0.2"]);
        check(json!({"ipFamilies": ["IPv6"]}), &two, &[]);
        let dual = json!([{"type": "InternalIP", "address": "10.0.0.3"}, {"type": "InternalIP", "address": "fd00::3"}]);
        check(json!({"ipFamilies": ["IPv6"]}), &[node("c", dual.clone(), |_| {})], &["fd00::3"]);
        check(json!({}), &[node("c", dual, |_| {})], &["10.0.0.3", "fd00::3"]);
        let outside =
            json!([{"type": "InternalIP", "address": "10.0.0.4"}, {"type": "ExternalIP", "address": "203.0.113.4"}]);
        check(json!({}), &[plain("a", "10.0.0.1"), node("d", outside, |_| {})], &["203.0.113.4"]);
        let unfit: [fn(&mut Value); 4] = [
            |node| node["status"]["conditions"][0]["status"] = json!("Unknown"),
            |node| node["metadata"]["labels"] = json!({EXCLUDED: ""}),
            |node| node["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"),
            |node| node["spec"] = json!({"taints": [{"key": TO_BE_DELETED, "effect": "NoSchedule"}]}),
        ];
        for change in unfit {
            check(json!({}), &[plain("a", "10.0.0.1"), node("e", internal("10.0.0.5"), change)], &["10.0.0.1"]);
        }
    }

    #[test]
    fn only_services_without_a_class_take_ports() {
        let check = |spec: Value, balanced: &[&str], on_nodes: &[&str]| {
            let service = service(spec.clone());
            let texts = |ports: Vec<HostPort>| ports.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(texts(balanced_ports(service.view())), balanced, "{spec}");
            assert_eq!(texts(node_ports(service.view())), on_nodes, "{spec}");
        };
        check(json!({}), &["80/TCP", "53/UDP"], &["30080/TCP"]);
        check(json!({"loadBalancerClass": "example.com/vip"}), &[], &["30080/TCP"]);
        check(json!({"type": "NodePort"}), &[], &["30080/TCP"]);
        check(json!({"type": "ClusterIP", "ports": [{"port": 80}]}), &[], &[]);
    }

    #[test]
    fn a_taken_port_leaves_no_address_and_a_condition() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let addresses = BTreeSet::from(["10.0.0.1".parse().expect("an address")]);
        let mut service = service(json!({}));
        let port = HostPort { port: 80, protocol: "TCP".to_owned() };
        let taken = [TakenPort { port, holder: "service ns/other".to_owned() }];
        let status = render_status(service.view(), &addresses, &taken, now);
        assert!(has_ports_error(&status) && status.view().load_balancer().ingress().is_empty());
        let error = condition::find(status.view().conditions(), PORTS_ERROR).expect("the condition");
        assert_eq!((error.reason(), error.message()), ("PortsTaken", "port 80/TCP is taken by service ns/other"));
        service.set_status(status);
        let status = render_status(service.view(), &addresses, &[], now);
        assert_eq!(
            status.value(),
            &json!({"loadBalancer": {"ingress": [{"ip": "10.0.0.1", "ipMode": "VIP"}]}, "conditions": []})
        );
    }

    #[test]
    fn a_port_belongs_to_the_service_that_has_it_and_then_to_the_older() {
        let service = |name: &str, created: &str, ip: Option<&str>| {
            let ingress: Vec<Value> = ip.into_iter().map(|ip| json!({"ip": ip})).collect();
            Service::from(json!({"metadata": {"name": name, "namespace": "ns", "creationTimestamp": created},
                "status": {"loadBalancer": {"ingress": ingress}}}))
        };
        let (early, late) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z");
        let check = |first: Service, second: Service| {
            assert!(precedence(first.view()) < precedence(second.view()), "{:?} {:?}", first.value(), second.value());
        };
        check(service("b", late, Some("10.0.0.1")), service("a", early, None));
        check(service("b", early, None), service("a", late, None));
        check(service("a", early, None), service("b", early, None));
    }
}
