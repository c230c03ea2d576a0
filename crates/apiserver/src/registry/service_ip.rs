//! Which addresses Services have: the cluster's range, what is taken of it, and
//! upstream's sentences for what cannot be given (service/ipallocator).

use super::allocation::Allocation;
use std::net::Ipv4Addr;

#[derive(Debug)]
pub struct ServiceIps {
    base: u32,
    prefix: u8,
    /// Offsets from the first usable address.
    allocation: Allocation,
}

impl ServiceIps {
    /// `10.96.0.0/12`. The first address (the network) and the last (broadcast) are never given.
    pub fn new(cidr: &str) -> Option<Self> {
        let (address, prefix) = cidr.split_once('/')?;
        let (address, prefix): (Ipv4Addr, u8) = (address.parse().ok()?, prefix.parse().ok()?);
        if !(8..=30).contains(&prefix) {
            return None;
        }
        let base = u32::from(address) & (u32::MAX << (32 - prefix));
        let size = (1u32 << (32 - prefix)) - 2;
        Some(Self { base, prefix, allocation: Allocation::new(size) })
    }

    /// The address of the API server's own Service: the first usable one.
    pub fn first(&self) -> Ipv4Addr {
        Ipv4Addr::from(self.base + 1)
    }

    pub fn cidr(&self) -> String {
        format!("{}/{}", Ipv4Addr::from(self.base), self.prefix)
    }

    pub fn take(&mut self, address: &str) -> Result<(), String> {
        let offset = self.offset(address).ok_or_else(|| {
            format!("the provided IP ({address}) is not in the valid range. The range of valid IPs is {}", self.cidr())
        })?;
        if self.allocation.take(offset) { Ok(()) } else { Err("provided IP is already allocated".into()) }
    }

    pub fn take_any(&mut self) -> Result<String, String> {
        let offset = self.allocation.take_any().ok_or("range is full")?;
        Ok(Ipv4Addr::from(self.base + 1 + offset).to_string())
    }

    pub fn release(&mut self, address: &str) {
        if let Some(offset) = self.offset(address) {
            self.allocation.release(offset);
        }
    }

    fn offset(&self, address: &str) -> Option<u32> {
        let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let size = (1u32 << (32 - self.prefix)) - 2;
        address.checked_sub(self.base + 1).filter(|offset| *offset < size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_has_its_borders() {
        let mut ips = ServiceIps::new("10.96.0.0/12").expect("a range");
        assert_eq!(ips.first().to_string(), "10.96.0.1");
        assert_eq!(ips.take("10.96.0.1"), Ok(()));
        assert_eq!(ips.take("10.96.0.1"), Err("provided IP is already allocated".into()));
        assert_eq!(
            ips.take("10.112.0.1"),
            Err("the provided IP (10.112.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/12".into())
        );
        assert!(ips.take("10.96.0.0").is_err() && ips.take("10.111.255.255").is_err());
        assert!(ips.take("10.111.255.254").is_ok());
        assert!(ServiceIps::new("nonsense").is_none());
    }
}
