//! The policies in nftables' words: the frame that is always there, the chains of a policy, and
//! the stack of policies that a pod is judged by. Pure; called by `state.rs` and `sync.rs`.

use std::net::IpAddr;

use ferry_api::rules::key::ObjectKey;
use ferry_nftables::{
    Base, Chain, Family, Field, Hook, Key, KeyType, Name, OwnedRules, Protocol, Set, Side, Statement, Transaction,
    Verdict, short_name,
};

use crate::Config;
use crate::group::{GroupId, GroupKey};
use crate::policy::{Direction, Numbers, Peer, Policy, Port, Rule};

/// Where packets of addresses go that are no known pod's.
const UNKNOWN: &str = "unknown";
const DNS_PORT: u16 = 53;

pub(crate) fn digit(family: Family) -> char {
    match family {
        Family::V4 => '4',
        Family::V6 => '6',
    }
}

/// The map from a pod of this node to its verdict.
pub(crate) fn pod_map(direction: Direction, family: Family) -> Name {
    format!("{}{}", direction.name(), digit(family)).into()
}

/// The pairs of an address with itself: a pod that reaches itself through a Service.
pub(crate) fn self_set(family: Family) -> Name {
    format!("self{}", digit(family)).into()
}

pub(crate) fn peer_set(group: GroupId, family: Family) -> Name {
    format!("peers{}/{group}", digit(family)).into()
}

pub(crate) fn port_set(port_name: &str, family: Family) -> Name {
    format!("port{}/{port_name}", digit(family)).into()
}

pub(crate) fn policy_chain(direction: Direction, policy: &ObjectKey) -> Name {
    short_name(&format!("{}/{policy}", direction.name()))
}

pub(crate) fn stack_chain(stack: u64) -> Name {
    format!("stack/{stack}").into()
}

/// The pod's own side of a connection, and its peer's.
fn sides(direction: Direction) -> (Side, Side) {
    match direction {
        Direction::Ingress => (Side::Destination, Side::Source),
        Direction::Egress => (Side::Source, Side::Destination),
    }
}

fn jump(chain: &str) -> Statement {
    Statement::Verdict(Verdict::Jump(chain.into()))
}

fn accept() -> Statement {
    Statement::Verdict(Verdict::Accept)
}

/// Replaces the table with what is there whatever pods and policies there are.
pub(crate) fn render_frame(config: &Config) -> Transaction {
    let mut frame = Transaction::replacement(config.table.as_str());
    add_frame(&mut frame, config);
    frame
}

/// The frame around what is there, closed to pods that are not known.
pub(crate) fn render_guard(config: &Config) -> Transaction {
    let mut guard = Transaction::new(config.table.as_str());
    guard.make_table();
    add_frame(&mut guard, config);
    for (name, rules) in render_unknown(true).chains {
        guard.add_chain(name, Chain { base: None, rules });
    }
    guard
}

fn add_frame(frame: &mut Transaction, config: &Config) {
    for family in Family::ALL {
        let address = KeyType::Address(family);
        for direction in Direction::BOTH {
            frame.add_set(Set::map(pod_map(direction, family), [address]));
        }
        frame.add_set(Set::new(self_set(family), [address, address]));
        let dns: Name = format!("dns{}", digit(family)).into();
        frame.add_set(Set::new(dns.clone(), [address, KeyType::Protocol, KeyType::Port]));
        for at in config.dns.iter().filter(|at| Family::of(**at) == family) {
            for protocol in [Protocol::Udp, Protocol::Tcp] {
                frame.add_element(dns.clone(), Key::service(*at, protocol, DNS_PORT), None);
            }
        }
    }
    for (priority, direction) in [(0, Direction::Egress), (1, Direction::Ingress)] {
        // An accepted packet goes on to the next hook: both directions are judged.
        let base = Base { nat: false, hook: Hook::Forward, priority };
        let rules = [passing(), judging(config, direction)].concat();
        frame.add_chain(direction.name(), Chain { base: Some(base), rules });
    }
    // DNS answers on the node itself, and no packet to it is forwarded.
    let base = Base { nat: false, hook: Hook::Input, priority: 0 };
    let mut rules = vec![vec![Statement::Established, accept()]];
    for family in Family::ALL {
        let key = vec![Field::Address(Side::Destination, family), Field::Protocol, Field::DestinationPort];
        let set = format!("dns{}", digit(family)).into();
        rules.push(vec![Statement::Member { key, set }, jump("dns-egress")]);
    }
    frame.add_chain("dns", Chain { base: Some(base), rules });
    frame.add_chain("dns-egress", Chain { base: None, rules: judging(config, Direction::Egress) });
}

/// Packets that no policy judges: those of known connections, those without which IPv6 finds
/// nobody, and those of a pod to itself.
fn passing() -> Vec<Vec<Statement>> {
    let mut rules = vec![vec![Statement::Established, accept()], vec![Statement::NeighborDiscovery, accept()]];
    for family in Family::ALL {
        let key = vec![Field::Address(Side::Source, family), Field::Address(Side::Destination, family)];
        rules.push(vec![Statement::Member { key, set: self_set(family) }, accept()]);
    }
    rules
}

fn judging(config: &Config, direction: Direction) -> Vec<Vec<Statement>> {
    let (own, _) = sides(direction);
    let mut rules: Vec<Vec<Statement>> = Family::ALL
        .into_iter()
        .map(|family| {
            vec![Statement::Dispatch { key: vec![Field::Address(own, family)], map: pod_map(direction, family) }]
        })
        .collect();
    if let Some(bridge) = &config.bridge {
        rules.push(vec![Statement::Interface { side: own, name: bridge.clone(), same: true }, jump(UNKNOWN)]);
    }
    rules
}

/// What happens to pods that are not known.
pub(crate) fn render_unknown(closed: bool) -> OwnedRules {
    let mut owned = OwnedRules::default();
    let rules = if closed { vec![vec![Statement::Verdict(Verdict::Drop)]] } else { Vec::new() };
    owned.chains.insert(UNKNOWN.into(), rules);
    owned
}

pub(crate) fn render_group(group: GroupId) -> OwnedRules {
    let mut owned = OwnedRules::default();
    for family in Family::ALL {
        let name = peer_set(group, family);
        owned.sets.insert(name.clone(), Set::new(name, [KeyType::Address(family)]));
    }
    owned
}

pub(crate) fn render_port_name(port_name: &str) -> OwnedRules {
    let mut owned = OwnedRules::default();
    for family in Family::ALL {
        let name = port_set(port_name, family);
        let key = [KeyType::Address(family), KeyType::Protocol, KeyType::Port];
        owned.sets.insert(name.clone(), Set::new(name, key));
    }
    owned
}

/// The policies that isolate a pod in one direction. One of them must accept.
pub(crate) fn render_stack<'k>(
    stack: u64,
    direction: Direction,
    policies: impl IntoIterator<Item = &'k ObjectKey>,
) -> OwnedRules {
    let mut rules: Vec<Vec<Statement>> =
        policies.into_iter().map(|policy| vec![jump(&policy_chain(direction, policy))]).collect();
    rules.push(vec![Statement::Verdict(Verdict::Drop)]);
    let mut owned = OwnedRules::default();
    owned.chains.insert(stack_chain(stack), rules);
    owned
}

/// The chains of a policy, which accept what it allows and else return.
pub(crate) fn render_policy(
    key: &ObjectKey,
    policy: &Policy,
    group_id: impl Fn(&GroupKey) -> Option<GroupId>,
) -> OwnedRules {
    let mut owned = OwnedRules::default();
    for direction in Direction::BOTH {
        let Some(rules) = policy.rules(direction) else { continue };
        let chain = policy_chain(direction, key);
        let mut lines = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let peers = render_peers(direction, rule, &group_id);
            let ports = render_ports(rule);
            if peers.len() > 1 && ports.len() > 1 {
                // So many ports for so many peers become a chain that each peer leads to.
                let ports_chain = short_name(&format!("{chain}/{index}/ports"));
                lines.extend(peers.into_iter().map(|peer| [peer, vec![jump(&ports_chain)]].concat()));
                owned
                    .chains
                    .insert(ports_chain, ports.into_iter().map(|port| [port, vec![accept()]].concat()).collect());
            } else {
                for peer in &peers {
                    lines.extend(ports.iter().map(|port| [peer.clone(), port.clone(), vec![accept()]].concat()));
                }
            }
        }
        owned.chains.insert(chain, lines);
    }
    owned
}

/// One list of conditions for each way to be one of the peers.
fn render_peers(
    direction: Direction,
    rule: &Rule,
    group_id: &impl Fn(&GroupKey) -> Option<GroupId>,
) -> Vec<Vec<Statement>> {
    if rule.peers.is_empty() {
        return vec![Vec::new()];
    }
    let (_, side) = sides(direction);
    let mut ways = Vec::new();
    for peer in &rule.peers {
        match peer {
            Peer::Pods(group) => {
                for (family, id) in Family::ALL.into_iter().filter_map(|family| Some((family, group_id(group)?))) {
                    let key = vec![Field::Address(side, family)];
                    ways.push(vec![Statement::Member { key, set: peer_set(id, family) }]);
                }
            }
            Peer::Block { cidr, except } => {
                let mut way = vec![Statement::Range { side, cidr: *cidr, within: true }];
                way.extend(except.iter().map(|range| Statement::Range { side, cidr: *range, within: false }));
                ways.push(way);
            }
        }
    }
    ways
}

/// One list of conditions for each of the ports.
fn render_ports(rule: &Rule) -> Vec<Vec<Statement>> {
    if rule.ports.is_empty() {
        return vec![Vec::new()];
    }
    let mut ways = Vec::new();
    for Port { protocol, numbers } in &rule.ports {
        let protocol = Statement::Protocol(*protocol);
        match numbers {
            Numbers::All => ways.push(vec![protocol]),
            Numbers::Between(first, last) => ways.push(vec![protocol, Statement::Ports { first: *first, last: *last }]),
            // The receiving pod says which number the name has, in either direction.
            Numbers::Named(name) => ways.extend(Family::ALL.into_iter().map(|family| {
                let receiver = Field::Address(Side::Destination, family);
                let key = vec![receiver, Field::Protocol, Field::DestinationPort];
                vec![protocol.clone(), Statement::Member { key, set: port_set(name, family) }]
            })),
        }
    }
    ways
}

/// Whom a pod is a peer of, what its ports are called, and by which stacks it is judged if it
/// is of this node.
pub(crate) fn render_pod(
    addresses: &[IpAddr],
    groups: impl IntoIterator<Item = GroupId> + Clone,
    ports: &[(&str, Protocol, u16)],
    judged: Option<[Option<u64>; 2]>,
) -> OwnedRules {
    let mut owned = OwnedRules::default();
    for address in addresses {
        let family = Family::of(*address);
        for group in groups.clone() {
            owned.add_element(peer_set(group, family), Key::of(*address), None);
        }
        for (name, protocol, port) in ports {
            owned.add_element(port_set(name, family), Key::service(*address, *protocol, *port), None);
        }
        let Some(stacks) = judged else { continue };
        owned.add_element(self_set(family), Key::of(*address).address(*address), None);
        for (direction, stack) in Direction::BOTH.into_iter().zip(stacks) {
            let verdict = stack.map_or(Verdict::Accept, |stack| Verdict::Goto(stack_chain(stack)));
            owned.add_element(pod_map(direction, family), Key::of(*address), Some(verdict));
        }
    }
    owned
}
