//! Addresses and ranges of addresses: `10.96.0.0/12`, `fd00::/8`. Validation, the service
//! address allocator, the node range allocator and the proxy's rules compute with them.
//!
//! Reading lets leading zeros of IPv4 pass (`010.0.0.1` is 10.0.0.1), because objects that
//! were stored before Go rejected them must still mean the same to every component.
//!
//! Upstream: `ParseIPSloppy` and `ParseCIDRSloppy` of k8s.io/utils/net.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A range whose host bits are cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    network: IpAddr,
    length: u8,
}

/// The message is Go's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid CIDR address: {0}")]
pub struct InvalidCidr(pub String);

impl Cidr {
    /// The host bits of `address` are cleared; a length beyond the address's is `None`.
    pub fn new(address: IpAddr, length: u8) -> Option<Self> {
        (length <= width(address)).then(|| Self { network: masked(address, length), length })
    }

    /// The range of a single address.
    pub fn of(address: IpAddr) -> Self {
        Self { network: address, length: width(address) }
    }

    /// The first address, which is the network's own.
    pub fn network(&self) -> IpAddr {
        self.network
    }

    /// The number of bits that all addresses of the range share.
    pub fn length(&self) -> u8 {
        self.length
    }

    pub fn is_ipv4(&self) -> bool {
        self.network.is_ipv4()
    }

    /// The last address; of an IPv4 range, the broadcast address.
    pub fn last(&self) -> IpAddr {
        from_bits(self.network, bits(self.network) | !prefix(self.network, self.length))
    }

    /// The address at a position: `10.96.0.0/12` has 10.96.0.1 at 1. `None` beyond the range.
    pub fn nth(&self, position: u128) -> Option<IpAddr> {
        let address = bits(self.network).checked_add(position)?;
        (address <= bits(self.last())).then(|| from_bits(self.network, address))
    }

    /// The position of an address in the range.
    pub fn position(&self, address: IpAddr) -> Option<u128> {
        self.contains(address).then(|| bits(address) - bits(self.network))
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.is_ipv4() && masked(address, self.length) == self.network
    }

    /// Whether every address of `other` is one of this range.
    pub fn covers(&self, other: &Self) -> bool {
        self.length <= other.length && self.contains(other.network)
    }

    /// Whether the ranges have an address in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.covers(other) || other.covers(self)
    }

    /// The part of that length at a position: `10.244.0.0/16` has `10.244.2.0/24` at 2.
    /// `None` beyond the range, or for a part larger than the whole.
    pub fn part(&self, length: u8, position: u128) -> Option<Self> {
        let width = width(self.network);
        if length < self.length || length > width {
            return None;
        }
        let shift = u32::from(width - length);
        // Only a part of all addresses shifts by the full width, and then there is but one.
        let offset = if shift == 128 { 0 } else { position.checked_mul(1 << shift)? };
        if shift == 128 && position > 0 {
            return None;
        }
        Self::new(self.nth(offset)?, length)
    }

    /// Whether the range is its whole family.
    pub fn is_everything(&self) -> bool {
        self.length == 0
    }
}

/// Host bits are cleared.
impl FromStr for Cidr {
    type Err = InvalidCidr;

    fn from_str(text: &str) -> Result<Self, InvalidCidr> {
        let range = parse_cidr_sloppy(text).and_then(|(address, length)| Self::new(address, length));
        range.ok_or_else(|| InvalidCidr(text.to_owned()))
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.length)
    }
}

/// The address of a text in which octets may begin with zeros.
pub fn parse_ip_sloppy(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let mut octets = text.split('.').map(number);
    let mut next = || u8::try_from(octets.next()??).ok();
    let address = Ipv4Addr::new(next()?, next()?, next()?, next()?);
    octets.next().is_none().then_some(address.into())
}

/// The address and the length of a text such as `10.96.0.7/12`, with the host bits as they
/// stand.
pub fn parse_cidr_sloppy(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address = parse_ip_sloppy(address)?;
    let length = u8::try_from(number(length)?).ok()?;
    (length <= width(address)).then_some((address, length))
}

/// The address with the bits beyond the length cleared.
pub fn masked(address: IpAddr, length: u8) -> IpAddr {
    from_bits(address, bits(address) & prefix(address, length))
}

/// Digits alone: no sign, no space. Leading zeros do not count.
fn number(digits: &str) -> Option<u32> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address of these bits, of the family of `like`.
fn from_bits(like: IpAddr, bits: u128) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::from_bits(bits as u32).into(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(bits).into(),
    }
}

/// Ones where a range of this length has its prefix. A shift by the full width is an
/// overflow in Rust, hence the checked one.
fn prefix(address: IpAddr, length: u8) -> u128 {
    let host_bits = width(address).saturating_sub(length);
    u128::MAX.checked_shl(host_bits.into()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr {
        text.parse().expect("a range")
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn ranges_are_read_and_written_without_host_bits() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(text.parse::<Cidr>().ok().map(|range| range.to_string()).as_deref(), expected, "{text:?}");
        };
        check("10.244.3.7/16", Some("10.244.0.0/16"));
        check("fd00:1::7/32", Some("fd00:1::/32"));
        check("0.0.0.0/0", Some("0.0.0.0/0"));
        check("::/0", Some("::/0"));
        check("010.0.0.0/08", Some("10.0.0.0/8"));
        for bad in
            ["", "10.0.0.0", "10.0.0.0/33", "::/129", "10.0.0/8", "a/8", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/"]
        {
            check(bad, None);
        }
        assert_eq!("x".parse::<Cidr>(), Err(InvalidCidr("x".to_owned())));
    }

    #[test]
    fn addresses_may_begin_with_zeros() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse_ip_sloppy(text).map(|address| address.to_string()).as_deref(), expected, "{text:?}");
        };
        check("10.0.0.1", Some("10.0.0.1"));
        check("010.000.0.0001", Some("10.0.0.1"));
        check("256.0.0.1", None);
        check("1.2.3", None);
        check("1.2.3.4.5", None);
        check("1.2.3.", None);
        check("+1.2.3.4", None);
        check("2001:db8::1", Some("2001:db8::1"));
        check("", None);
    }

    #[test]
    fn ranges_contain_addresses_of_their_family() {
        let check = |range: &str, address: &str, expected: bool| {
            assert_eq!(cidr(range).contains(ip(address)), expected, "{range} {address}");
        };
        check("10.244.0.0/16", "10.244.255.1", true);
        check("10.244.0.0/16", "10.245.0.1", false);
        check("0.0.0.0/0", "255.255.255.255", true);
        check("0.0.0.0/0", "::1", false);
        check("10.0.0.1/32", "10.0.0.1", true);
        check("fd00::/8", "fdff::1", true);
        check("::/0", "fe80::1", true);
        check("fd00::1/128", "fd00::2", false);
    }

    #[test]
    fn ranges_cover_and_overlap() {
        let check = |range: &str, other: &str, covers: bool, overlaps: bool| {
            let (range, other) = (cidr(range), cidr(other));
            assert_eq!((range.covers(&other), range.overlaps(&other)), (covers, overlaps), "{range} {other}");
            assert_eq!(other.overlaps(&range), overlaps, "{other} {range}");
        };
        check("10.0.0.0/8", "10.1.0.0/16", true, true);
        check("10.0.0.0/8", "10.0.0.0/8", true, true);
        check("10.1.0.0/16", "10.0.0.0/8", false, true);
        check("10.0.0.0/8", "11.0.0.0/16", false, false);
        check("0.0.0.0/0", "fd00::/8", false, false);
        assert!(cidr("10.0.0.0/8").covers(&Cidr::of(ip("10.0.0.1"))));
    }

    #[test]
    fn addresses_and_parts_stand_at_positions() {
        let address = |range: &str, position: u128, expected: Option<&str>| {
            let found = cidr(range).nth(position);
            assert_eq!(found.map(|address| address.to_string()).as_deref(), expected, "{range} {position}");
            if let Some(found) = found {
                assert_eq!(cidr(range).position(found), Some(position));
            }
        };
        address("10.96.0.0/12", 1, Some("10.96.0.1"));
        address("10.96.0.0/30", 3, Some("10.96.0.3"));
        address("10.96.0.0/30", 4, None);
        address("255.255.255.255/32", 1, None);
        address("::/0", u128::MAX, Some("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"));
        assert_eq!(cidr("10.0.0.0/8").position(ip("11.0.0.0")), None);
        assert_eq!(cidr("10.0.0.0/8").last(), ip("10.255.255.255"));
        let part = |range: &str, length: u8, position: u128, expected: Option<&str>| {
            let found = cidr(range).part(length, position).map(|part| part.to_string());
            assert_eq!(found.as_deref(), expected, "{range} /{length} {position}");
        };
        part("10.244.0.0/16", 24, 2, Some("10.244.2.0/24"));
        part("10.244.0.0/16", 24, 256, None);
        part("10.244.0.0/16", 8, 0, None);
        part("10.244.0.0/16", 33, 0, None);
        part("fd00:10:244::/48", 64, 1, Some("fd00:10:244:1::/64"));
        part("::/0", 0, 0, Some("::/0"));
        part("::/0", 0, 1, None);
    }
}
