//! What must be so before a machine becomes a node: nothing is written before all of it holds.
//! Pure but for [`prove_link`]; `mod.rs` reads the facts.

use crate::node::pod_network::{find_uplink, probe};
use crate::preflight::Problem;
use anyhow::{Context, Result, bail};
use ferry_api::rules::cidr::Cidr;
use ferry_api::view::core::v1::NodeView;
use probe::LinkSize;
use std::net::{IpAddr, Ipv4Addr};

/// A node of the cluster as the checks see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownNode {
    pub name: String,
    pub addresses: Vec<IpAddr>,
}

impl KnownNode {
    pub fn of(node: NodeView<'_>) -> Self {
        let addresses = node.status().addresses();
        let ips = addresses.iter().filter(|address| address.type_() == "InternalIP");
        Self {
            name: node.metadata().name().to_owned(),
            addresses: ips.filter_map(|address| address.address().parse().ok()).collect(),
        }
    }
}

/// The name and the address must be nobody's yet.
pub fn check_nodes(known: &[KnownNode], name: &str, address: IpAddr) -> Vec<Problem> {
    let mut problems = Vec::new();
    if known.iter().any(|node| node.name == name) {
        problems.push(Problem::new(
            format!("a node named {name:?} exists in the cluster already"),
            format!("choose another with --node-name; or, if that node is gone for good: ferry node remove {name} (on the server)"),
        ));
    }
    if let Some(other) = known.iter().find(|node| node.name != name && node.addresses.contains(&address)) {
        problems.push(Problem::new(
            format!("the address {address} is that of node {:?} already", other.name),
            format!(
                "choose another with --node-ip; or, if that node is gone for good: ferry node remove {} (on the server)",
                other.name
            ),
        ));
    }
    problems
}

/// The ranges of pods and services must not be those of a link of this machine: it would no
/// longer reach its neighbours, or the pods.
pub fn check_ranges(links: &[(String, Cidr)], pods: &[Cidr], services: &[Cidr]) -> Vec<Problem> {
    let ranges = pods.iter().map(|range| ("pods", range)).chain(services.iter().map(|range| ("services", range)));
    let clashes = ranges.flat_map(|(whose, range)| {
        let overlapping = links.iter().filter(|(_, network)| network.overlaps(range));
        overlapping.map(move |(link, network)| {
            Problem::new(
                format!("the cluster's range for {whose}, {range}, overlaps {network} of this machine's link {link}"),
                format!("give {link} addresses outside of {range}, or make the cluster with other ranges (--cluster-cidr, --service-cidr)"),
            )
        })
    });
    clashes.collect()
}

pub fn check_address(address: IpAddr, own: &[IpAddr]) -> Vec<Problem> {
    if own.contains(&address) {
        return Vec::new();
    }
    let list: Vec<String> = own.iter().map(ToString::to_string).collect();
    vec![Problem::new(
        format!("--node-ip: {address} is no address of this machine"),
        format!("choose one of {}", list.join(", ")),
    )]
}

/// Sends a full-size packet to the server. A link that loses large packets lets a node join and
/// then stalls whatever sends much.
pub async fn prove_link(own: Ipv4Addr, server: Ipv4Addr) -> Result<()> {
    let (connection, handle, _) = rtnetlink::new_connection().context("cannot open a netlink socket")?;
    let _connection = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(connection));
    let uplink = find_uplink(&handle, own).await?;
    // A loopback link may be larger than a packet can be.
    let mtu = uplink.mtu.min(65_000);
    match probe::prove_mtu(own, server, mtu).await? {
        LinkSize::Full => Ok(()),
        LinkSize::Unknown => {
            tracing::warn!(%server, "no answer to ICMP: the MTU of the link is not proven");
            Ok(())
        }
        LinkSize::Only(size) => bail!(
            "packets of {mtu} bytes, the MTU of this machine's link, do not reach the server {server}; those of {size} bytes do; fix: let the link carry {mtu} bytes, or make its MTU what it carries: ip link set dev $(ip -o addr show to {own} | awk '{{print $2}}') mtu {size}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn shown(problems: &[Problem]) -> Vec<&str> {
        problems.iter().map(|problem| problem.what.as_str()).collect()
    }

    #[test]
    fn a_name_and_an_address_belong_to_one_node() {
        let known = [KnownNode { name: "a".into(), addresses: vec![ip("192.0.2.1")] }];
        assert!(check_nodes(&known, "b", ip("192.0.2.2")).is_empty());
        assert_eq!(
            shown(&check_nodes(&known, "a", ip("192.0.2.1"))),
            ["a node named \"a\" exists in the cluster already"]
        );
        assert_eq!(
            shown(&check_nodes(&known, "b", ip("192.0.2.1"))),
            ["the address 192.0.2.1 is that of node \"a\" already"]
        );
    }

    #[test]
    fn ranges_that_meet_a_link_are_named_with_it() {
        let range = |text: &str| text.parse::<Cidr>().expect("a range");
        let links = [("eth0".to_owned(), range("10.0.0.0/8")), ("eth1".to_owned(), range("192.0.2.0/24"))];
        let problems = check_ranges(&links, &[range("10.244.0.0/16")], &[range("172.16.0.0/16")]);
        assert_eq!(
            shown(&problems),
            ["the cluster's range for pods, 10.244.0.0/16, overlaps 10.0.0.0/8 of this machine's link eth0"]
        );
        assert!(check_ranges(&links[1..], &[range("10.244.0.0/16")], &[range("10.96.0.0/12")]).is_empty());
    }

    #[test]
    fn an_address_must_be_this_machines() {
        assert!(check_address(ip("192.0.2.1"), &[ip("192.0.2.1")]).is_empty());
        let problems = check_address(ip("192.0.2.9"), &[ip("192.0.2.1"), ip("fd00::1")]);
        assert_eq!(problems[0].fix, "choose one of 192.0.2.1, fd00::1");
    }
}
