//! The frame of the table, which is there whatever Services there are: base chains, maps, and the
//! rules that look services up in the maps. `render.rs` has what a Service adds. Pure; called by
//! `sync.rs`.
//!
//! The way of a packet to 10.96.0.1:80 with two endpoints:
//!
//! ```text
//! nat-prerouting -> services: "10.96.0.1 . tcp . 80" in @service-ips4
//!   -> goto cluster4/default/web/tcp/http: dnat to one of 10.244.0.5 . 8080, 10.244.0.6 . 8080
//! nat-postrouting -> masquerading: if the mark says so, or the endpoint called itself
//! ```
//!
//! and without endpoints:
//!
//! ```text
//! filter-forward (or -output, -input) -> no-endpoints: in @no-endpoint-ips4 -> goto refuse
//! ```
//!
//! The semantics follow upstream's pkg/proxy/nftables. Names that end in 4 and 6 belong to one
//! address family; the table is of family inet and holds both.

use ferry_api::rules::cidr::Cidr;
use ferry_nftables::{
    Base, Chain, Family, Field, Hook, Key, KeyType, Name, Protocol, Set, Side, Statement, Transaction, Verdict,
};

use crate::Config;

pub(crate) const MARK_FOR_MASQUERADE: &str = "mark-for-masquerade";
pub(crate) const REFUSE: &str = "refuse";

/// The name that a family has for what both have.
pub(crate) fn suffixed(name: &str, family: Family) -> Name {
    match family {
        Family::V4 => format!("{name}4").into(),
        Family::V6 => format!("{name}6").into(),
    }
}

pub(crate) fn jump(chain: &str) -> Statement {
    Statement::Verdict(Verdict::Jump(chain.into()))
}

pub(crate) fn goto(chain: &str) -> Statement {
    Statement::Verdict(Verdict::Goto(chain.into()))
}

/// The ranges of a family, each once and without those within others.
pub(crate) fn ranges_of(ranges: &[Cidr], family: Family) -> Vec<Cidr> {
    let mut chosen: Vec<Cidr> = ranges.iter().filter(|range| Family::of(range.network()) == family).copied().collect();
    chosen.sort();
    chosen.dedup();
    let all = chosen.clone();
    chosen.retain(|range| !all.iter().any(|other| other != range && other.covers(range)));
    chosen
}

/// The address is in none of the ranges.
pub(crate) fn outside(side: Side, ranges: &[Cidr]) -> Vec<Statement> {
    ranges.iter().map(|cidr| Statement::Range { side, cidr: *cidr, within: false }).collect()
}

fn service_key(family: Family) -> Vec<Field> {
    vec![Field::Address(Side::Destination, family), Field::Protocol, Field::DestinationPort]
}

fn per_family(rules: impl Fn(Family) -> Vec<Vec<Statement>>) -> Vec<Vec<Statement>> {
    Family::ALL.into_iter().flat_map(rules).collect()
}

/// Replaces whatever is in the table with the frame.
pub(crate) fn render_frame(config: &Config) -> Transaction {
    let mut frame = Transaction::replacement(config.table.as_str());
    add_sets(&mut frame, config);
    let plain: [(&str, Vec<Vec<Statement>>); 8] = [
        (MARK_FOR_MASQUERADE, vec![vec![Statement::Mark(config.masquerade_mark)]]),
        // A reset reaches a TCP client whatever it thinks of ICMP.
        (
            REFUSE,
            vec![vec![Statement::Protocol(Protocol::Tcp), Statement::RejectReset], vec![Statement::RejectUnreachable]],
        ),
        ("services", per_family(|family| services(config, family))),
        ("masquerading", masquerading(config)),
        ("no-endpoints", per_family(|family| vec![dispatch(family, "no-endpoint-ips")])),
        ("no-endpoints-nodeport", per_family(|family| vec![node_port(family, "no-endpoint-nodeports")])),
        ("cluster-ips-check", per_family(|family| cluster_ips_check(config, family))),
        ("firewall", per_family(|family| vec![dispatch(family, "firewall-ips")])),
    ];
    for (name, rules) in plain {
        frame.add_chain(name, Chain { base: None, rules });
    }

    // The numbers are the kernel's priorities: -300 comes before connection tracking, -100
    // translates destinations, 100 sources, 0 filters. Source ranges are judged before
    // translation, while the destination still is the load balancer's address.
    let filter = |hook, priority| Base { nat: false, hook, priority };
    let nat = |hook, priority| Base { nat: true, hook, priority };
    let new = |chain: &str| vec![Statement::New, jump(chain)];
    let all = |chain: &str| vec![vec![jump(chain)]];
    let based = [
        ("nat-prerouting", nat(Hook::Prerouting, -100), all("services")),
        ("nat-output", nat(Hook::Output, -100), all("services")),
        ("nat-postrouting", nat(Hook::Postrouting, 100), all("masquerading")),
        ("filter-prerouting", filter(Hook::Prerouting, -110), vec![new("firewall")]),
        ("filter-output-early", filter(Hook::Output, -110), vec![new("firewall")]),
        ("filter-input", filter(Hook::Input, 0), vec![new("no-endpoints-nodeport"), new("no-endpoints")]),
        ("filter-forward", filter(Hook::Forward, 0), vec![new("no-endpoints"), new("cluster-ips-check")]),
        ("filter-output", filter(Hook::Output, 0), vec![new("no-endpoints"), new("cluster-ips-check")]),
    ];
    add_loopback_chain(&mut frame);
    for (name, base, rules) in based {
        frame.add_chain(name, Chain { base: Some(base), rules });
    }
    frame
}

fn add_sets(frame: &mut Transaction, config: &Config) {
    for family in Family::ALL {
        let address = KeyType::Address(family);
        let service = [address, KeyType::Protocol, KeyType::Port];
        let port = [KeyType::Protocol, KeyType::Port];
        let set = |name: &str, key: &[KeyType]| Set::new(suffixed(name, family), key);
        let map = |name: &str, key: &[KeyType]| Set::map(suffixed(name, family), key);
        frame.add_set(set("cluster-ips", &[address]));
        frame.add_set(set("nodeport-ips", &[address]));
        frame.add_set(set("hairpin", &[address, address, KeyType::Protocol, KeyType::Port]));
        frame.add_set(map("service-ips", &service));
        frame.add_set(map("service-nodeports", &port));
        frame.add_set(map("no-endpoint-ips", &service));
        frame.add_set(map("no-endpoint-nodeports", &port));
        frame.add_set(map("firewall-ips", &service));
        for node_ip in config.node_ips.iter().filter(|node_ip| Family::of(**node_ip) == family) {
            frame.add_element(suffixed("nodeport-ips", family), Key::of(*node_ip), None);
        }
    }
}

fn dispatch(family: Family, map: &str) -> Vec<Statement> {
    vec![Statement::Dispatch { key: service_key(family), map: suffixed(map, family) }]
}

/// Node ports answer on the node's own addresses in the API and no others, as upstream's default
/// for nftables has it (`--nodeport-addresses primary`): not on loopback, from which the kernel
/// would not let the translated packet leave, and not on the bridges of other clusters.
fn node_port(family: Family, map: &str) -> Vec<Statement> {
    vec![
        Statement::Member {
            key: vec![Field::Address(Side::Destination, family)],
            set: suffixed("nodeport-ips", family),
        },
        Statement::Dispatch { key: vec![Field::Protocol, Field::DestinationPort], map: suffixed(map, family) },
    ]
}

fn to_cluster_ip(family: Family) -> Statement {
    Statement::Member { key: vec![Field::Address(Side::Destination, family)], set: suffixed("cluster-ips", family) }
}

fn services(config: &Config, family: Family) -> Vec<Vec<Statement>> {
    let mut rules = Vec::new();
    // Whoever is not a pod may have no way back to one other than through this node.
    let pods = ranges_of(&config.cluster_cidrs, family);
    if !pods.is_empty() {
        let outsiders = outside(Side::Source, &pods);
        rules.push([vec![to_cluster_ip(family)], outsiders, vec![jump(MARK_FOR_MASQUERADE)]].concat());
    }
    rules.push(dispatch(family, "service-ips"));
    rules.push(node_port(family, "service-nodeports"));
    rules
}

fn masquerading(config: &Config) -> Vec<Vec<Statement>> {
    let mark = config.masquerade_mark;
    let mut rules = vec![vec![Statement::Marked(mark), Statement::ToggleMark(mark), Statement::Masquerade]];
    rules.extend(per_family(|family| {
        // An endpoint that reached itself through its Service must not see its own address
        // as the source, or it would answer without passing here.
        let key = [vec![Field::Address(Side::Source, family)], service_key(family)].concat();
        let hairpin = Statement::Member { key, set: suffixed("hairpin", family) };
        let mut rules = vec![vec![Statement::Translated, hairpin, Statement::Masquerade]];
        // Nobody outside knows the way to a pod's address. The CNI plugin could do this
        // too, but through iptables, whose tables it would leave behind.
        let pods = ranges_of(&config.cluster_cidrs, family);
        let beyond = [pods.clone(), vec![multicast(family)]].concat();
        rules.extend(pods.iter().map(|range| {
            let from_pod = Statement::Range { side: Side::Source, cidr: *range, within: true };
            [vec![from_pod], outside(Side::Destination, &beyond), vec![Statement::Masquerade]].concat()
        }));
        rules
    }));
    rules
}

fn multicast(family: Family) -> Cidr {
    let network = match family {
        Family::V4 => ([224, 0, 0, 0].into(), 4),
        Family::V6 => ([0xff00, 0, 0, 0, 0, 0, 0, 0].into(), 8),
    };
    Cidr::new(network.0, network.1).unwrap_or_else(|| Cidr::of(network.0))
}

fn loopback(family: Family) -> Cidr {
    match family {
        Family::V4 => Cidr::new([127, 0, 0, 0].into(), 8).unwrap_or_else(|| Cidr::of([127, 0, 0, 1].into())),
        Family::V6 => Cidr::of([0, 0, 0, 0, 0, 0, 0, 1].into()),
    }
}

/// What still has a cluster IP for its destination met no port of the Service.
fn cluster_ips_check(config: &Config, family: Family) -> Vec<Vec<Statement>> {
    let mut rules = vec![vec![to_cluster_ip(family), goto(REFUSE)]];
    rules.extend(ranges_of(&config.service_cidrs, family).into_iter().map(|cidr| {
        let unallocated = Statement::Range { side: Side::Destination, cidr, within: true };
        vec![unallocated, Statement::Verdict(Verdict::Drop)]
    }));
    rules
}

/// Drops what claims to be of the host's loopback network and does not come from `lo`.
///
/// A pod with a hostPort makes the CNI plugin portmap set `route_localnet` on the bridge, and
/// from then on the kernel delivers 127.0.0.1 from any pod to servers that trust their loopback
/// (the class of CVE-2020-8558). The chain sees packets as they are on the wire: answers to a
/// connection that portmap or this table translated carry the bridge's address here, so that no
/// such flow is cut. No protocol is named, because none has a reason to be let through.
fn add_loopback_chain(transaction: &mut Transaction) {
    let foreign = || Statement::Interface { side: Side::Source, name: "lo".into(), same: false };
    let rules = per_family(|family| {
        let sides = [Side::Destination, Side::Source];
        sides
            .map(|side| {
                let cidr = loopback(family);
                vec![foreign(), Statement::Range { side, cidr, within: true }, Statement::Verdict(Verdict::Drop)]
            })
            .to_vec()
    });
    let base = Base { nat: false, hook: Hook::Prerouting, priority: -300 };
    transaction.add_chain("loopback", Chain { base: Some(base), rules });
}

/// The loopback chain alone, which leaves the rest of the table as it is: what has to be in
/// place before the first pod, whether any Service is known or not.
pub(crate) fn render_loopback_guard(table: &str) -> Transaction {
    let mut guard = Transaction::new(table);
    guard.make_table();
    add_loopback_chain(&mut guard);
    guard
}
