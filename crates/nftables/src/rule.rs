//! What a rule may say. Each statement is one that the service proxy or the policies need, with
//! its meaning and its notation; `encode/expression.rs` has the kernel's words for it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use ferry_api::rules::cidr::Cidr;

/// The name of a chain, a set or a map. Shared, because maps hold thousands of verdicts that
/// name the same chains.
pub type Name = Arc<str>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    V4,
    V6,
}

impl Family {
    pub const ALL: [Family; 2] = [Family::V4, Family::V6];

    pub fn of(address: IpAddr) -> Family {
        if address.is_ipv4() { Family::V4 } else { Family::V6 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    Tcp,
    Udp,
    Sctp,
}

impl Protocol {
    pub const ALL: [Protocol; 3] = [Protocol::Tcp, Protocol::Udp, Protocol::Sctp];

    /// Reads the API's name. An absent protocol is TCP, as the API defaults it.
    pub fn parse(name: &str) -> Option<Protocol> {
        match name {
            "" | "TCP" => Some(Protocol::Tcp),
            "UDP" => Some(Protocol::Udp),
            "SCTP" => Some(Protocol::Sctp),
            _ => None,
        }
    }

    pub fn number(self) -> u8 {
        match self {
            Protocol::Tcp => 6,
            Protocol::Udp => 17,
            Protocol::Sctp => 132,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Source,
    Destination,
}

/// A part of a packet that sets and maps are keyed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Address(Side, Family),
    Protocol,
    DestinationPort,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Accept,
    Drop,
    Return,
    Jump(Name),
    Goto(Name),
}

/// A condition, of which a rule goes on only if it holds, or an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `ip daddr 10.0.0.0/8`; not `within`: `ip daddr != 10.0.0.0/8`.
    Range {
        side: Side,
        cidr: Cidr,
        within: bool,
    },
    /// `iifname "lo"` for the source, `oifname` for the destination.
    Interface {
        side: Side,
        name: String,
        same: bool,
    },
    /// `meta l4proto tcp`
    Protocol(Protocol),
    /// `th dport 80`, `th dport 8000-8080`
    Ports {
        first: u16,
        last: u16,
    },
    /// `ct state established,related`
    Established,
    /// `ct state new`
    New,
    /// `ct status dnat`
    Translated,
    /// `fib daddr type local`
    Local(Side),
    /// `icmpv6 type 133-137`, without which nobody finds a neighbour.
    NeighborDiscovery,
    /// `meta mark and 0x4000 != 0`
    Marked(u32),
    /// `meta mark set meta mark or 0x4000`
    Mark(u32),
    /// `meta mark set meta mark xor 0x4000`
    ToggleMark(u32),
    /// `ip saddr . th dport @set`
    Member {
        key: Vec<Field>,
        set: Name,
    },
    /// `ip saddr . th dport vmap @map`
    Dispatch {
        key: Vec<Field>,
        map: Name,
    },
    /// `update @set { ip saddr }`
    Remember {
        key: Vec<Field>,
        set: Name,
    },
    /// `dnat ip to 10.244.0.5:8080`
    Dnat(SocketAddr),
    /// `dnat ip addr . port to numgen random mod 2 map { 0 : 10.244.0.5 . 8080, … }`; all of one family.
    DnatRandom(Arc<[SocketAddr]>),
    /// `numgen random mod 2 vmap { 0 : goto a, 1 : goto b }`
    GotoRandom(Vec<Name>),
    /// `masquerade fully-random`
    Masquerade,
    /// `reject with tcp reset`
    RejectReset,
    /// `reject with icmpx port-unreachable`
    RejectUnreachable,
    Verdict(Verdict),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    Prerouting,
    Input,
    Forward,
    Output,
    Postrouting,
}

/// Where a base chain hangs. Its policy is accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// Address translation; a filter otherwise.
    pub nat: bool,
    pub hook: Hook,
    pub priority: i32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    pub base: Option<Base>,
    pub rules: Vec<Vec<Statement>>,
}

/// The kernel takes names of up to 255 bytes, so a very long one keeps its beginning and a hash
/// (FNV-1a) of the whole.
pub fn short_name(name: &str) -> Name {
    const LIMIT: usize = 150;
    if name.len() <= LIMIT {
        return name.into();
    }
    let hash = name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let kept: String = name.chars().take_while(char::is_ascii).take(LIMIT - 17).collect();
    format!("{kept}-{hash:016x}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_stay_short_and_distinct() {
        let long = |last: char| short_name(&format!("{}{last}", "n".repeat(190)));
        assert_eq!(long('a').len(), 150);
        assert_ne!(long('a'), long('b'));
        assert_eq!(&*short_name("default/web/tcp/http"), "default/web/tcp/http");
    }
}
