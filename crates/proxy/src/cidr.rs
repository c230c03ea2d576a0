//! An address range. Used by the configuration, for source ranges of load balancers, and by
//! the rules.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::Error;

/// A range with its host bits cleared, so that it renders as nft expects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cidr {
    network: IpAddr,
    length: u8,
}

impl Cidr {
    /// The host bits of `address` are ignored; a length beyond the address's is `None`.
    pub fn new(address: IpAddr, length: u8) -> Option<Cidr> {
        Some(Cidr { network: mask(address, length)?, length })
    }

    pub fn network(&self) -> IpAddr {
        self.network
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.network.is_ipv4() && mask(address, self.length) == Some(self.network)
    }

    /// The range of a single address.
    pub fn of(address: IpAddr) -> Cidr {
        Cidr { network: address, length: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// Whether every address of `other` is one of ours.
    pub fn covers(&self, other: &Cidr) -> bool {
        self.length <= other.length && self.contains(other.network)
    }

    /// Whether the range is its whole family.
    pub fn is_everything(&self) -> bool {
        self.length == 0
    }
}

fn mask(address: IpAddr, length: u8) -> Option<IpAddr> {
    // A shift by the full width is undefined in the language, hence the checked shifts.
    let length = u32::from(length);
    match address {
        IpAddr::V4(address) if length <= 32 => {
            let bits = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            Some(IpAddr::V4(Ipv4Addr::from_bits(address.to_bits() & bits)))
        }
        IpAddr::V6(address) if length <= 128 => {
            let bits = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            Some(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & bits)))
        }
        _ => None,
    }
}

impl FromStr for Cidr {
    type Err = Error;

    fn from_str(text: &str) -> Result<Cidr, Error> {
        let parse = || {
            let (address, length) = text.split_once('/')?;
            Cidr::new(address.parse().ok()?, length.parse().ok()?)
        };
        parse().ok_or_else(|| Error::Cidr(text.to_string()))
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.network, self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        text.parse().expect("a range")
    }

    #[test]
    fn ranges_contain_their_own() {
        for (range, address, expected) in [
            ("10.244.0.0/16", "10.244.255.1", true),
            ("10.244.0.0/16", "10.245.0.1", false),
            ("0.0.0.0/0", "255.255.255.255", true),
            ("0.0.0.0/0", "::1", false),
            ("10.0.0.1/32", "10.0.0.1", true),
            ("fd00::/8", "fdff::1", true),
            ("::/0", "fe80::1", true),
            ("fd00::1/128", "fd00::2", false),
        ] {
            assert_eq!(cidr(range).contains(address.parse().expect("an address")), expected, "{range} {address}");
        }
    }

    #[test]
    fn ranges_cover_smaller_ones() {
        for (range, other, expected) in [
            ("10.0.0.0/8", "10.1.0.0/16", true),
            ("10.0.0.0/8", "10.0.0.0/8", true),
            ("10.1.0.0/16", "10.0.0.0/8", false),
            ("10.0.0.0/8", "11.0.0.0/16", false),
            ("0.0.0.0/0", "fd00::/8", false),
        ] {
            assert_eq!(cidr(range).covers(&cidr(other)), expected, "{range} {other}");
        }
        assert!(cidr("10.0.0.0/8").covers(&Cidr::of("10.0.0.1".parse().expect("an address"))));
    }

    #[test]
    fn ranges_are_normalised_and_bad_ones_refused() {
        assert_eq!(cidr("10.244.3.7/16").to_string(), "10.244.0.0/16");
        assert_eq!(cidr("fd00:1::7/32").to_string(), "fd00:1::/32");
        for bad in ["", "10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0/8", "a/8", "10.0.0.0/-1"] {
            assert!(bad.parse::<Cidr>().is_err(), "{bad:?}");
        }
    }
}
