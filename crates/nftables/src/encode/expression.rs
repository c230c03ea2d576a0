//! Statements in the kernel's words: loads into registers, comparisons of them, and actions.
//! As `nft` writes them, so that it can read them back.

use std::net::IpAddr;

use super::attribute::Writer;
use super::{ANONYMOUS_MAP, verdict};
use crate::rule::{Family, Field, Protocol, Side, Statement};
use crate::set::KeyType;

/// Registers of four bytes; the first of sixteen bytes is the first four of these.
const REGISTER: u32 = 8;
/// The register that a verdict goes to.
const VERDICT: u32 = 0;

const EQUAL: u32 = 0;
const NOT_EQUAL: u32 = 1;
const LESS_OR_EQUAL: u32 = 3;
const GREATER_OR_EQUAL: u32 = 5;

const MARK: u32 = 3;
const INPUT_NAME: u32 = 6;
const OUTPUT_NAME: u32 = 7;
const NETWORK_PROTOCOL: u32 = 15;
const TRANSPORT_PROTOCOL: u32 = 16;

const NETWORK_HEADER: u32 = 1;
const TRANSPORT_HEADER: u32 = 2;

const ICMP6: u8 = 58;
/// The address is one of this machine's (`RTN_LOCAL`).
const LOCAL_ROUTE: u32 = 2;
/// `NF_NAT_RANGE_PROTO_SPECIFIED` and `NF_NAT_RANGE_PROTO_RANDOM_FULLY`.
const PORT_GIVEN: u32 = 2;
const FULLY_RANDOM: u32 = 16;
const INTERFACE_NAME: usize = 16;

/// The conditions that the rule has made sure of already are not written twice.
pub(super) struct RuleEncoder<'w, 'b> {
    writer: &'w mut Writer<'b>,
    /// The number of the map inside the rule, if it has one.
    anonymous: u32,
    family: Option<Family>,
}

impl<'w, 'b> RuleEncoder<'w, 'b> {
    pub(super) fn new(writer: &'w mut Writer<'b>, anonymous: u32) -> RuleEncoder<'w, 'b> {
        RuleEncoder { writer, anonymous, family: None }
    }

    pub(super) fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Range { side, cidr, within } => self.range(*side, cidr.network(), cidr.length(), *within),
            Statement::Interface { side, name, same } => {
                let mut padded = name.as_bytes().to_vec();
                padded.resize(INTERFACE_NAME, 0);
                self.meta(if *side == Side::Source { INPUT_NAME } else { OUTPUT_NAME }, REGISTER);
                self.compare(if *same { EQUAL } else { NOT_EQUAL }, &padded);
            }
            Statement::Protocol(protocol) => self.protocol(*protocol),
            Statement::Ports { first, last } => {
                self.payload(TRANSPORT_HEADER, 2, 2, REGISTER);
                if first == last {
                    self.compare(EQUAL, &first.to_be_bytes());
                } else {
                    self.compare(GREATER_OR_EQUAL, &first.to_be_bytes());
                    self.compare(LESS_OR_EQUAL, &last.to_be_bytes());
                }
            }
            // Established and related.
            Statement::Established => self.connection(0, 2 | 4),
            Statement::New => self.connection(0, 8),
            // IPS_DST_NAT of the connection's status.
            Statement::Translated => self.connection(2, 32),
            Statement::Local(side) => self.local(*side),
            Statement::NeighborDiscovery => self.neighbor_discovery(),
            Statement::Marked(mark) => {
                self.meta(MARK, REGISTER);
                self.mask(&mark.to_ne_bytes(), &[0; 4]);
                self.compare(NOT_EQUAL, &[0; 4]);
            }
            Statement::Mark(mark) => self.set_mark(!mark, *mark),
            Statement::ToggleMark(mark) => self.set_mark(u32::MAX, *mark),
            Statement::Member { key, set } => {
                self.load(key);
                self.lookup(set, None, None);
            }
            Statement::Dispatch { key, map } => {
                self.load(key);
                self.lookup(map, Some(VERDICT), None);
            }
            Statement::Remember { key, set } => {
                self.load(key);
                self.expression("dynset", |data| {
                    data.text(1, set);
                    data.number(3, 1);
                    data.number(4, REGISTER);
                });
            }
            Statement::Dnat(target) => {
                let port_register = REGISTER + 4;
                match target.ip() {
                    IpAddr::V4(address) => self.immediate(REGISTER, &address.octets()),
                    IpAddr::V6(address) => self.immediate(REGISTER, &address.octets()),
                }
                self.immediate(port_register, &target.port().to_be_bytes());
                self.dnat(Family::of(target.ip()), port_register, PORT_GIVEN);
            }
            Statement::DnatRandom(targets) => {
                let family = targets.first().map_or(Family::V4, |target| Family::of(target.ip()));
                self.random(targets.len());
                self.lookup(ANONYMOUS_MAP, Some(REGISTER), Some(self.anonymous));
                self.dnat(family, REGISTER + (KeyType::Address(family).width() / 4) as u32, 0);
            }
            Statement::GotoRandom(chains) => {
                self.random(chains.len());
                self.lookup(ANONYMOUS_MAP, Some(VERDICT), Some(self.anonymous));
            }
            Statement::Masquerade => self.expression("masq", |data| data.number(1, FULLY_RANDOM)),
            Statement::RejectReset => self.expression("reject", |data| {
                data.number(1, 1);
                data.bytes(2, &[0]);
            }),
            Statement::RejectUnreachable => self.expression("reject", |data| {
                data.number(1, 2);
                data.bytes(2, &[1]);
            }),
            Statement::Verdict(given) => self.expression("immediate", |data| {
                data.number(1, VERDICT);
                data.nested(2, |data| verdict(data, given));
            }),
        }
    }

    fn expression(&mut self, name: &str, body: impl FnOnce(&mut Writer<'_>)) {
        self.writer.nested(1, |element| {
            element.text(1, name);
            element.nested(2, body);
        });
    }

    fn meta(&mut self, key: u32, register: u32) {
        self.expression("meta", |data| {
            data.number(2, key);
            data.number(1, register);
        });
    }

    fn payload(&mut self, base: u32, offset: u32, length: u32, register: u32) {
        self.expression("payload", |data| {
            data.number(1, register);
            data.number(2, base);
            data.number(3, offset);
            data.number(4, length);
        });
    }

    fn compare(&mut self, operator: u32, value: &[u8]) {
        self.expression("cmp", |data| {
            data.number(1, REGISTER);
            data.number(2, operator);
            data.nested(3, |data| data.bytes(1, value));
        });
    }

    /// What is in the register becomes `(register & mask) ^ flip`.
    fn mask(&mut self, mask: &[u8], flip: &[u8]) {
        self.expression("bitwise", |data| {
            data.number(1, REGISTER);
            data.number(2, REGISTER);
            data.number(3, mask.len() as u32);
            data.nested(4, |data| data.bytes(1, mask));
            data.nested(5, |data| data.bytes(1, flip));
        });
    }

    fn lookup(&mut self, set: &str, to: Option<u32>, id: Option<u32>) {
        self.expression("lookup", |data| {
            data.text(1, set);
            data.number(2, REGISTER);
            if let Some(to) = to {
                data.number(3, to);
            }
            if let Some(id) = id {
                data.number(4, id);
            }
        });
    }

    fn immediate(&mut self, register: u32, value: &[u8]) {
        self.expression("immediate", |data| {
            data.number(1, register);
            data.nested(2, |data| data.bytes(1, value));
        });
    }

    /// The header of the other family has something else at the same place.
    fn require_family(&mut self, family: Family) {
        if self.family == Some(family) {
            return;
        }
        self.meta(NETWORK_PROTOCOL, REGISTER);
        self.compare(EQUAL, &[family_number(family) as u8]);
        self.family = Some(family);
    }

    fn protocol(&mut self, protocol: Protocol) {
        self.meta(TRANSPORT_PROTOCOL, REGISTER);
        self.compare(EQUAL, &[protocol.number()]);
    }

    /// A range that ends at a byte's border needs no mask.
    fn range(&mut self, side: Side, network: IpAddr, length: u8, within: bool) {
        let family = Family::of(network);
        self.require_family(family);
        let octets = match network {
            IpAddr::V4(network) => network.octets().to_vec(),
            IpAddr::V6(network) => network.octets().to_vec(),
        };
        let operator = if within { EQUAL } else { NOT_EQUAL };
        let whole = usize::from(length / 8);
        if length > 0 && length.is_multiple_of(8) {
            self.payload(NETWORK_HEADER, address_offset(side, family), whole as u32, REGISTER);
            self.compare(operator, &octets[..whole]);
            return;
        }
        self.payload(NETWORK_HEADER, address_offset(side, family), octets.len() as u32, REGISTER);
        let mut mask = vec![0; octets.len()];
        mask[..whole].fill(0xff);
        if let Some(partial) = mask.get_mut(whole) {
            *partial = !(0xff_u8.checked_shr(u32::from(length % 8)).unwrap_or(0));
        }
        self.mask(&mask, &vec![0; octets.len()]);
        self.compare(operator, &octets);
    }

    fn connection(&mut self, key: u32, bits: u32) {
        self.expression("ct", |data| {
            data.number(2, key);
            data.number(1, REGISTER);
        });
        self.mask(&bits.to_ne_bytes(), &[0; 4]);
        self.compare(NOT_EQUAL, &[0; 4]);
    }

    fn local(&mut self, side: Side) {
        let side = match side {
            Side::Source => 1,
            Side::Destination => 2,
        };
        self.expression("fib", |data| {
            data.number(3, side);
            data.number(2, 3);
            data.number(1, REGISTER);
        });
        self.compare(EQUAL, &LOCAL_ROUTE.to_ne_bytes());
    }

    fn neighbor_discovery(&mut self) {
        self.require_family(Family::V6);
        self.meta(TRANSPORT_PROTOCOL, REGISTER);
        self.compare(EQUAL, &[ICMP6]);
        self.payload(TRANSPORT_HEADER, 0, 1, REGISTER);
        self.compare(GREATER_OR_EQUAL, &[133]);
        self.compare(LESS_OR_EQUAL, &[137]);
    }

    fn set_mark(&mut self, mask: u32, flip: u32) {
        self.meta(MARK, REGISTER);
        self.mask(&mask.to_ne_bytes(), &flip.to_ne_bytes());
        self.expression("meta", |data| {
            data.number(2, MARK);
            data.number(3, REGISTER);
        });
    }

    fn random(&mut self, modulus: usize) {
        self.expression("numgen", |data| {
            data.number(1, REGISTER);
            data.number(2, modulus as u32);
            data.number(3, 1);
            data.number(4, 0);
        });
    }

    fn dnat(&mut self, family: Family, port_register: u32, flags: u32) {
        self.expression("nat", |data| {
            data.number(1, 1);
            data.number(2, family_number(family));
            data.number(3, REGISTER);
            data.number(5, port_register);
            if flags != 0 {
                data.number(7, flags);
            }
        });
    }

    /// Loads the parts of a key side by side.
    fn load(&mut self, key: &[Field]) {
        for field in key {
            if let Field::Address(_, family) = field {
                self.require_family(*family);
            }
        }
        let mut register = REGISTER;
        for field in key {
            match field {
                Field::Address(side, family) => {
                    let width = KeyType::Address(*family).width() as u32;
                    self.payload(NETWORK_HEADER, address_offset(*side, *family), width, register);
                    register += width / 4;
                }
                Field::Protocol => {
                    self.meta(TRANSPORT_PROTOCOL, register);
                    register += 1;
                }
                Field::DestinationPort => {
                    self.payload(TRANSPORT_HEADER, 2, 2, register);
                    register += 1;
                }
            }
        }
    }
}

/// `NFPROTO_IPV4` and `NFPROTO_IPV6`.
fn family_number(family: Family) -> u32 {
    match family {
        Family::V4 => 2,
        Family::V6 => 10,
    }
}

/// Where an address stands in its header.
fn address_offset(side: Side, family: Family) -> u32 {
    match (family, side) {
        (Family::V4, Side::Source) => 12,
        (Family::V4, Side::Destination) => 16,
        (Family::V6, Side::Source) => 8,
        (Family::V6, Side::Destination) => 24,
    }
}
