//! Which route leads to the pods of each other node: over the link that both nodes are on
//! (host-gw), or through a tunnel (vxlan). Pure; `mod.rs` finds the facts, `apply.rs` makes
//! the kernel follow.
//!
//! ```text
//! host-gw   10.244.1.0/24 via 192.0.2.11                       the peer's own address
//! vxlan     10.244.1.0/24 via 10.244.1.0 dev ferryvx onlink    the peer's end of the tunnel
//!           10.244.1.0 lladdr 02:46:c0:00:02:0b                its hardware address
//!           02:46:c0:00:02:0b dst 192.0.2.11                   the machine behind it
//! ```
//!
//! The hardware address of a tunnel's end follows from its machine's address, so that nodes
//! need not publish it.

use ferry_api::rules::cidr::Cidr;
use ferry_api::view::core::v1::NodeView;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

/// The bytes that a tunnel's header takes of each packet: Ethernet 14, IPv4 20, UDP 8, VXLAN 8.
pub const VXLAN_OVERHEAD: u32 = 50;

/// Another node with pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub name: String,
    pub address: Ipv4Addr,
    pub range: Cidr,
    pub is_ready: bool,
}

/// The way that was found to a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    HostGateway,
    Tunnel,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub destination: Cidr,
    pub gateway: Ipv4Addr,
    /// Through the tunnel's device; else by the device that leads to the gateway.
    pub through_tunnel: bool,
}

/// The machine behind a tunnel's end.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TunnelEnd {
    pub inner: Ipv4Addr,
    pub hardware: [u8; 6],
    pub outer: Ipv4Addr,
}

/// Everything that the kernel should know of the other nodes' pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkPlan {
    pub routes: Vec<Route>,
    /// Every peer, also those that are reached without: the packets of a peer that chose the
    /// tunnel must be answered.
    pub ends: Vec<TunnelEnd>,
}

pub fn plan_network(peers: &[Peer], paths: &BTreeMap<String, Path>) -> NetworkPlan {
    let mut plan = NetworkPlan::default();
    for peer in peers {
        let IpAddr::V4(inner) = peer.range.network() else { continue };
        let through_tunnel = paths.get(&peer.name) == Some(&Path::Tunnel);
        let gateway = if through_tunnel { inner } else { peer.address };
        plan.routes.push(Route { destination: peer.range, gateway, through_tunnel });
        plan.ends.push(TunnelEnd { inner, hardware: hardware_address(peer.address), outer: peer.address });
    }
    plan.routes.sort();
    plan.ends.sort();
    plan
}

/// The hardware address of a machine's end of the tunnel: locally administered, one machine.
pub fn hardware_address(address: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = address.octets();
    [0x02, 0x46, a, b, c, d]
}

/// Another node as a peer, once it has an address and a range. `None` for this one, and for
/// one that names a range that is ours: packets to our own pods must stay here.
pub fn peer_of(node: NodeView<'_>, own_name: &str, own_range: Option<&Cidr>) -> Option<Peer> {
    let name = node.metadata().name();
    let range = pod_ranges(node).into_iter().find(Cidr::is_ipv4)?;
    let address = internal_address(node)?;
    let clashes = own_range.is_some_and(|own| own.overlaps(&range));
    let is_ready = ferry_api::rules::condition::is_true(node.status().conditions(), "Ready");
    (name != own_name && !clashes).then(|| Peer { name: name.to_owned(), address, range, is_ready })
}

/// A node's ranges of pod addresses, the first one first.
pub fn pod_ranges(node: NodeView<'_>) -> Vec<Cidr> {
    let spec = node.spec();
    let mut ranges: Vec<Cidr> = spec.pod_cidrs().iter().filter_map(|text| text.parse().ok()).collect();
    if ranges.is_empty() {
        ranges.extend(spec.pod_cidr().parse::<Cidr>());
    }
    ranges
}

fn internal_address(node: NodeView<'_>) -> Option<Ipv4Addr> {
    let addresses = node.status().addresses();
    addresses
        .iter()
        .filter(|address| address.type_() == "InternalIP")
        .find_map(|address| address.address().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Node;
    use serde_json::json;

    fn peer(name: &str, address: &str, range: &str) -> Peer {
        let (address, range) = (address.parse().expect("an address"), range.parse().expect("a range"));
        Peer { name: name.into(), address, range, is_ready: true }
    }

    #[test]
    fn each_peer_gets_a_route_by_its_path_and_an_end_of_the_tunnel() {
        let peers = [peer("b", "192.0.2.11", "10.244.1.0/24"), peer("c", "198.51.100.7", "10.244.2.0/24")];
        let plan = plan_network(&peers, &BTreeMap::from([("c".to_owned(), Path::Tunnel)]));
        let shown: Vec<String> = plan
            .routes
            .iter()
            .map(|route| format!("{} via {} {}", route.destination, route.gateway, route.through_tunnel))
            .collect();
        assert_eq!(shown, ["10.244.1.0/24 via 192.0.2.11 false", "10.244.2.0/24 via 10.244.2.0 true"]);
        assert_eq!(plan.ends.len(), 2, "one that we reach without may reach us with it");
        assert_eq!(plan.ends[1].hardware, [2, 0x46, 198, 51, 100, 7]);
    }

    #[test]
    fn a_node_is_a_peer_when_it_has_an_address_and_a_range_that_is_not_ours() {
        let node = |name: &str, range: &str| {
            Node::from(json!({"metadata": {"name": name}, "spec": {"podCIDR": range, "podCIDRs": [range]},
                "status": {"addresses": [{"type": "Hostname", "address": name},
                    {"type": "InternalIP", "address": "192.0.2.11"}]}}))
        };
        let own: Cidr = "10.244.0.0/24".parse().expect("a range");
        let of = |node: &Node| peer_of(node.view(), "a", Some(&own)).map(|peer| peer.range.to_string());
        assert_eq!(of(&node("b", "10.244.1.0/24")).as_deref(), Some("10.244.1.0/24"));
        assert_eq!(of(&node("a", "10.244.1.0/24")), None, "this node");
        assert_eq!(of(&node("b", "10.244.0.0/24")), None, "our own range");
        assert_eq!(of(&Node::from(json!({"metadata": {"name": "b"}, "spec": {"podCIDR": "10.244.1.0/24"}}))), None);
    }
}
