//! Sets and maps, and the keys of their elements.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::rule::{Family, Name, Protocol, Verdict};

/// A part of a key, in the kernel's types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyType {
    Address(Family),
    Protocol,
    Port,
}

impl KeyType {
    /// Parts of a key stand on borders of four bytes.
    pub(crate) fn width(self) -> usize {
        match self {
            KeyType::Address(Family::V4) | KeyType::Protocol | KeyType::Port => 4,
            KeyType::Address(Family::V6) => 16,
        }
    }
}

/// What the elements of a set lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    Nothing,
    Verdict,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    pub name: Name,
    pub key: Vec<KeyType>,
    pub data: Data,
    /// Elements that packets add ([`crate::Statement::Remember`]) leave after so long.
    pub timeout: Option<Duration>,
}

impl Set {
    pub fn new(name: impl Into<Name>, key: impl Into<Vec<KeyType>>) -> Set {
        Set { name: name.into(), key: key.into(), data: Data::Nothing, timeout: None }
    }

    /// A map to verdicts.
    pub fn map(name: impl Into<Name>, key: impl Into<Vec<KeyType>>) -> Set {
        Set { data: Data::Verdict, ..Set::new(name, key) }
    }
}

/// The key of an element as the kernel compares it, with the types of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Three bits a part, the last one lowest.
    types: u16,
    bytes: Vec<u8>,
}

/// The parts that a key may have, by their number in [`Key::types`] less one.
const TYPES: [KeyType; 4] =
    [KeyType::Address(Family::V4), KeyType::Address(Family::V6), KeyType::Protocol, KeyType::Port];

impl Key {
    pub fn of(address: IpAddr) -> Key {
        Key::default().address(address)
    }

    /// `10.96.0.1 . tcp . 80`
    pub fn service(address: IpAddr, protocol: Protocol, port: u16) -> Key {
        Key::of(address).protocol(protocol).port(port)
    }

    pub fn address(self, address: IpAddr) -> Key {
        match address {
            IpAddr::V4(address) => self.part(KeyType::Address(Family::V4), &address.octets()),
            IpAddr::V6(address) => self.part(KeyType::Address(Family::V6), &address.octets()),
        }
    }

    pub fn protocol(self, protocol: Protocol) -> Key {
        self.part(KeyType::Protocol, &[protocol.number()])
    }

    pub fn port(self, port: u16) -> Key {
        self.part(KeyType::Port, &port.to_be_bytes())
    }

    fn part(mut self, part: KeyType, bytes: &[u8]) -> Key {
        let number = TYPES.iter().position(|known| *known == part).map_or(0, |index| index as u16 + 1);
        self.types = self.types << 3 | number;
        self.bytes.reserve_exact(part.width());
        self.bytes.extend(bytes);
        self.bytes.extend(std::iter::repeat_n(0, part.width() - bytes.len()));
        self
    }

    pub(crate) fn target(target: SocketAddr) -> Key {
        Key::of(target.ip()).port(target.port())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The parts with their types, in order.
    pub(crate) fn parts(&self) -> Vec<(KeyType, &[u8])> {
        let mut rest = self.bytes.as_slice();
        let numbers = (0..5).rev().map(|place| self.types >> (3 * place) & 7).filter(|number| *number > 0);
        let types = numbers.filter_map(|number| TYPES.get(usize::from(number) - 1).copied());
        types
            .map(|part| {
                let (bytes, after) = rest.split_at(part.width());
                rest = after;
                (part, bytes)
            })
            .collect()
    }
}

/// An element of a named set: its key, and its verdict in a map.
pub(crate) type Element = (Name, Key, Option<Verdict>);
