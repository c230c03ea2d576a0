//! The notation of `nft`: for snapshots that people review, and for errors. What `nft -f` reads
//! and the kernel gets by `encode/` are the same; a test compares their outcome.

use std::fmt::{self, Display, Formatter};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::rule::{Base, Family, Field, Hook, Name, Protocol, Side, Statement, Verdict};
use crate::ruleset::OwnedRules;
use crate::set::{Data, Key, KeyType, Set};
use crate::transaction::Transaction;

impl Display for Protocol {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
            Protocol::Sctp => "sctp",
        })
    }
}

fn ip(family: Family) -> &'static str {
    match family {
        Family::V4 => "ip",
        Family::V6 => "ip6",
    }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Source => "saddr",
        Side::Destination => "daddr",
    }
}

impl Display for Field {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Field::Address(at, family) => write!(f, "{} {}", ip(*family), side(*at)),
            Field::Protocol => f.write_str("meta l4proto"),
            Field::DestinationPort => f.write_str("th dport"),
        }
    }
}

/// Parts with something between them.
fn joined<T: Display>(parts: impl IntoIterator<Item = T>, between: &str) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(between)
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Accept => f.write_str("accept"),
            Verdict::Drop => f.write_str("drop"),
            Verdict::Return => f.write_str("return"),
            Verdict::Jump(chain) => write!(f, "jump {chain}"),
            Verdict::Goto(chain) => write!(f, "goto {chain}"),
        }
    }
}

fn not(holds: bool) -> &'static str {
    if holds { "" } else { "!= " }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Range { side: at, cidr, within } => {
                let family = Family::of(cidr.network());
                write!(f, "{} {} {}{cidr}", ip(family), side(*at), not(*within))
            }
            Statement::Interface { side: Side::Source, name, same } => write!(f, "iifname {}\"{name}\"", not(*same)),
            Statement::Interface { side: Side::Destination, name, same } => {
                write!(f, "oifname {}\"{name}\"", not(*same))
            }
            Statement::Protocol(protocol) => write!(f, "meta l4proto {protocol}"),
            Statement::Ports { first, last } if first == last => write!(f, "th dport {first}"),
            Statement::Ports { first, last } => write!(f, "th dport {first}-{last}"),
            Statement::Established => f.write_str("ct state established,related"),
            Statement::New => f.write_str("ct state new"),
            Statement::Translated => f.write_str("ct status dnat"),
            Statement::Local(at) => write!(f, "fib {} type local", side(*at)),
            Statement::NeighborDiscovery => f.write_str("icmpv6 type 133-137"),
            Statement::Marked(mark) => write!(f, "meta mark and {mark:#x} != 0"),
            Statement::Mark(mark) => write!(f, "meta mark set meta mark or {mark:#x}"),
            Statement::ToggleMark(mark) => write!(f, "meta mark set meta mark xor {mark:#x}"),
            Statement::Member { key, set } => write!(f, "{} @{set}", joined(key, " . ")),
            Statement::Dispatch { key, map } => write!(f, "{} vmap @{map}", joined(key, " . ")),
            Statement::Remember { key, set } => write!(f, "update @{set} {{ {} }}", joined(key, " . ")),
            Statement::Dnat(target) => write!(f, "dnat {} to {target}", ip(Family::of(target.ip()))),
            Statement::DnatRandom(targets) => {
                let family = targets.first().map_or("ip", |target| ip(Family::of(target.ip())));
                let choices = targets.iter().enumerate().map(|(index, target)| format!("{index} : {}", pair(target)));
                let choices = joined(choices, ", ");
                write!(f, "dnat {family} addr . port to numgen random mod {} map {{ {choices} }}", targets.len())
            }
            Statement::GotoRandom(chains) => {
                let choices = chains.iter().enumerate().map(|(index, chain)| format!("{index} : goto {chain}"));
                write!(f, "numgen random mod {} vmap {{ {} }}", chains.len(), joined(choices, ", "))
            }
            Statement::Masquerade => f.write_str("masquerade fully-random"),
            Statement::RejectReset => f.write_str("reject with tcp reset"),
            Statement::RejectUnreachable => f.write_str("reject with icmpx port-unreachable"),
            Statement::Verdict(verdict) => verdict.fmt(f),
        }
    }
}

fn pair(target: &SocketAddr) -> String {
    format!("{} . {}", target.ip(), target.port())
}

impl Display for Base {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = if self.nat { "nat" } else { "filter" };
        let hook = match self.hook {
            Hook::Prerouting => "prerouting",
            Hook::Input => "input",
            Hook::Forward => "forward",
            Hook::Output => "output",
            Hook::Postrouting => "postrouting",
        };
        write!(f, "type {kind} hook {hook} priority {}; policy accept;", self.priority)
    }
}

impl Display for KeyType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyType::Address(Family::V4) => "ipv4_addr",
            KeyType::Address(Family::V6) => "ipv6_addr",
            KeyType::Protocol => "inet_proto",
            KeyType::Port => "inet_service",
        })
    }
}

impl Display for Set {
    /// The kind, name and definition: `set hairpin4 { type ipv4_addr . inet_service; }`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (kind, data) = match self.data {
            Data::Nothing => ("set", ""),
            Data::Verdict => ("map", " : verdict"),
        };
        write!(f, "{kind} {} {{ type {}{data};", self.name, joined(&self.key, " . "))?;
        if let Some(timeout) = self.timeout {
            write!(f, " flags dynamic, timeout; timeout {}s;", timeout.as_secs())?;
        }
        f.write_str(" }")
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(self.parts().into_iter().map(|(part, bytes)| part_text(part, bytes)), " . "))
    }
}

fn part_text(part: KeyType, bytes: &[u8]) -> String {
    match (part, bytes) {
        (KeyType::Address(Family::V4), [a, b, c, d]) => Ipv4Addr::new(*a, *b, *c, *d).to_string(),
        (KeyType::Protocol, [number, ..]) => Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.number() == *number)
            .map_or_else(|| number.to_string(), |protocol| protocol.to_string()),
        (KeyType::Port, [high, low, ..]) => u16::from_be_bytes([*high, *low]).to_string(),
        (_, bytes) => {
            <[u8; 16]>::try_from(bytes).map_or_else(|_| format!("{bytes:?}"), |a| Ipv6Addr::from(a).to_string())
        }
    }
}

pub(crate) fn element(key: &Key, verdict: Option<&Verdict>) -> String {
    match verdict {
        Some(verdict) => format!("{{ {key} : {verdict} }}"),
        None => format!("{{ {key} }}"),
    }
}

pub(crate) fn rule(statements: &[Statement]) -> String {
    joined(statements, " ")
}

/// One line for each rule, set and element, to review what an owner adds.
impl Display for OwnedRules {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (chain, rules) in &self.chains {
            writeln!(f, "chain {chain}")?;
            for statements in rules {
                writeln!(f, "    {}", rule(statements))?;
            }
        }
        for set in self.sets.values() {
            writeln!(f, "{set}")?;
        }
        for (place, verdict) in self.elements() {
            writeln!(f, "element {} {}", place.set, element(&place.key, verdict))?;
        }
        Ok(())
    }
}

impl Transaction {
    /// The script that does the same by `nft -f`.
    pub fn script(&self) -> String {
        let table = &self.table;
        let mut lines: Vec<String> = Vec::new();
        if self.removes_table {
            // Adding first makes the deletion succeed whether the table was there or not.
            lines.push(format!("add table inet {table}"));
            lines.push(format!("delete table inet {table}"));
        }
        if self.makes_table {
            let flags = if self.dormant { " { flags dormant; }" } else { "" };
            lines.push(format!("add table inet {table}{flags}"));
        }
        for set in &self.new_sets {
            let text = set.to_string();
            let (kind, rest) = text.split_once(' ').unwrap_or_default();
            lines.push(format!("add {kind} inet {table} {rest}"));
        }
        for (name, chain) in &self.new_chains {
            let base = chain.base.map(|base| format!(" {{ {base} }}")).unwrap_or_default();
            lines.push(format!("add chain inet {table} {name}{base}"));
            lines.push(format!("flush chain inet {table} {name}"));
        }
        let mut each = |command: &str, names: &mut dyn Iterator<Item = String>| {
            lines.extend(names.map(|name| format!("{command} inet {table} {name}")));
        };
        let names = |names: &[Name]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>().into_iter();
        each("flush chain", &mut names(&self.flushed_chains));
        each(
            "delete element",
            &mut self.deleted_elements.iter().map(|(set, key)| format!("{set} {}", element(key, None))),
        );
        each("add rule", &mut self.rules.iter().map(|(chain, statements)| format!("{chain} {}", rule(statements))));
        let added = self.new_elements.iter();
        each("add element", &mut added.map(|(set, key, verdict)| format!("{set} {}", element(key, verdict.as_ref()))));
        each("delete chain", &mut names(&self.deleted_chains));
        each("delete set", &mut names(&self.deleted_sets));
        if let Some(table) = &self.superseded {
            lines.extend(["add", "delete"].map(|command| format!("{command} table inet {table}")));
        }
        if self.wakes_table {
            lines.push(format!("add table inet {table}"));
        }
        lines.iter().map(|line| format!("{line}\n")).collect()
    }
}
