//! Which addresses Services have: the ranges that ServiceCIDRs open, who holds what of
//! them, and upstream's sentences for what cannot be given (service/ipallocator).

use super::allocation::pick;
use ferry_api::object::Meta;
use ferry_api::rules::cidr::Cidr;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};

/// A range of IPv4 addresses. Its first address (the network) and its last (broadcast)
/// are never given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    cidr: Cidr,
    network: Ipv4Addr,
}

impl Range {
    /// `10.96.0.0/12`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let cidr: Cidr = text.parse().ok()?;
        let IpAddr::V4(network) = cidr.network() else { return None };
        (8..=30).contains(&cidr.length()).then_some(Self { cidr, network })
    }

    fn size(self) -> u32 {
        (1 << (32 - self.cidr.length())) - 2
    }

    /// The address at an offset from the first, which is that of the API server's own Service
    /// where this is the cluster's range.
    fn nth(self, offset: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.network.to_bits() + 1 + offset)
    }

    /// Whether an address is one that this range can give.
    pub(super) fn contains(self, address: Ipv4Addr) -> bool {
        let position = self.cidr.position(address.into());
        position.is_some_and(|position| (1..=u128::from(self.size())).contains(&position))
    }

    /// Whether every address of the other is one of this.
    pub(super) fn covers(self, other: Self) -> bool {
        self.cidr.covers(&other.cidr)
    }
}

#[derive(Debug)]
pub(super) struct ServiceIps {
    /// The cluster's own range, as configured. It alone counts until there are ServiceCIDRs.
    configured: Range,
    cidr: String,
    /// By the name of the ServiceCIDR; only those that may give addresses.
    ranges: BTreeMap<String, Vec<Range>>,
    /// The namespace and name of the Service that holds an address.
    held: HashMap<Ipv4Addr, Owner>,
    /// Addresses of IPAddress objects that belong to somebody else than a Service.
    foreign: HashSet<Ipv4Addr>,
}

/// Namespace and name of a Service.
pub(super) type Owner = (String, String);

impl ServiceIps {
    pub(super) fn new(cidr: &str) -> Option<Self> {
        let configured = Range::parse(cidr)?;
        Some(Self {
            configured,
            cidr: cidr.to_owned(),
            ranges: BTreeMap::new(),
            held: HashMap::new(),
            foreign: HashSet::new(),
        })
    }

    /// The address of the API server's own Service: the first usable one.
    pub(super) fn first(&self) -> Ipv4Addr {
        self.configured.nth(0)
    }

    /// The cluster's own range, as configured.
    pub(super) fn cidr(&self) -> &str {
        &self.cidr
    }

    /// A ServiceCIDR as it is now; `None` when it is gone.
    pub(super) fn set_range(&mut self, name: &str, object: Option<&Value>) {
        match object.filter(|object| gives(object)) {
            Some(object) => {
                let cidrs = object.items_at(&["spec", "cidrs"]).iter().filter_map(Value::as_str);
                self.ranges.insert(name.to_owned(), cidrs.filter_map(Range::parse).collect());
            }
            // One that gives nothing is remembered, so that its end does not open the
            // configured range again.
            None if object.is_some() => {
                self.ranges.insert(name.to_owned(), Vec::new());
            }
            None => {
                self.ranges.remove(name);
            }
        }
    }

    /// An IPAddress that is somebody else's keeps its address from Services.
    pub(super) fn set_foreign(&mut self, address: &str, is_foreign: bool) {
        if let Ok(address) = address.parse() {
            if is_foreign {
                self.foreign.insert(address);
            } else {
                self.foreign.remove(&address);
            }
        }
    }

    pub(super) fn owner(&self, address: &str) -> Option<Owner> {
        self.held.get(&address.parse().ok()?).cloned()
    }

    pub(super) fn held(&self) -> Vec<String> {
        self.held.keys().map(ToString::to_string).collect()
    }

    /// Takes an address that a Service asks for.
    pub(super) fn take(&mut self, address: &str, owner: Owner) -> Result<(), String> {
        let mismatch = "the provided network does not match the current range";
        let address: Ipv4Addr = address.parse().map_err(|_| mismatch)?;
        if !self.open().any(|range| range.contains(address)) {
            return Err(mismatch.into());
        }
        if self.foreign.contains(&address) || self.held.contains_key(&address) {
            return Err("provided IP is already allocated".into());
        }
        self.held.insert(address, owner);
        Ok(())
    }

    /// Takes what a stored Service has, whatever range it once was of.
    pub(super) fn adopt(&mut self, address: &str, owner: Owner) -> Result<(), String> {
        let address: Ipv4Addr = address.parse().map_err(|_| format!("{address} is no IPv4 address"))?;
        match self.held.insert(address, owner) {
            None => Ok(()),
            Some(earlier) => {
                let why = format!("{address} is held by {}/{} too", earlier.0, earlier.1);
                self.held.insert(address, earlier);
                Err(why)
            }
        }
    }

    pub(super) fn take_any(&mut self, owner: Owner) -> Result<String, String> {
        let ranges: Vec<Range> = self.open().collect();
        let found = ranges.into_iter().find_map(|range| {
            let is_taken = |offset: u32| {
                let address = range.nth(offset);
                self.held.contains_key(&address) || self.foreign.contains(&address)
            };
            pick(range.size(), is_taken).map(|offset| range.nth(offset))
        });
        let address = found.ok_or("range is full")?;
        self.held.insert(address, owner);
        Ok(address.to_string())
    }

    pub(super) fn release(&mut self, address: &str) {
        if let Ok(address) = address.parse::<Ipv4Addr>() {
            self.held.remove(&address);
        }
    }

    /// The ranges that addresses are given from.
    fn open(&self) -> impl Iterator<Item = Range> {
        let configured = self.ranges.is_empty().then_some(self.configured);
        configured.into_iter().chain(self.ranges.values().flatten().copied())
    }
}

/// A range gives addresses unless it is going or says that it is not ready. One of which
/// nobody has said anything yet is ready.
fn gives(cidr: &Value) -> bool {
    let conditions = cidr.items_at(&["status", "conditions"]);
    let ready = conditions.iter().find(|condition| condition.str_at(&["type"]) == "Ready");
    !cidr.is_deleting() && ready.is_none_or(|condition| condition.str_at(&["status"]) == "True")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owner() -> Owner {
        ("ns".into(), "a".into())
    }

    #[test]
    fn the_range_has_its_borders() {
        let mut ips = ServiceIps::new("10.96.0.0/12").expect("a range");
        let mismatch = || Err("the provided network does not match the current range".to_owned());
        assert_eq!(ips.first().to_string(), "10.96.0.1");
        assert_eq!(ips.take("10.96.0.1", owner()), Ok(()));
        assert_eq!(ips.take("10.96.0.1", owner()), Err("provided IP is already allocated".into()));
        for outside in ["10.112.0.1", "10.96.0.0", "10.111.255.255", "fd00::1"] {
            assert_eq!(ips.take(outside, owner()), mismatch(), "{outside}");
        }
        assert!(ips.take("10.111.255.254", owner()).is_ok());
        assert!(ServiceIps::new("nonsense").is_none());
    }

    #[test]
    fn ranges_come_and_go_with_their_objects() {
        let mut ips = ServiceIps::new("10.96.0.0/30").expect("a range");
        ips.set_range("kubernetes", Some(&json!({"spec": {"cidrs": ["10.96.0.0/30"]}})));
        let given: Vec<String> = (0..2).filter_map(|_| ips.take_any(owner()).ok()).collect();
        assert_eq!(given.len(), 2);
        assert_eq!(ips.take_any(owner()), Err("range is full".into()));
        let more = json!({"spec": {"cidrs": ["203.0.113.0/24", "2001:db8::/64"]}});
        ips.set_range("more", Some(&more));
        assert!(ips.take_any(owner()).is_ok_and(|ip| ip.starts_with("203.0.113.")));
        assert_eq!(ips.take("203.0.113.10", owner()), Ok(()));
        ips.set_foreign("203.0.113.11", true);
        assert_eq!(ips.take("203.0.113.11", owner()), Err("provided IP is already allocated".into()));
        let mut going = more.clone();
        going.set_meta("deletionTimestamp", "2026-01-01T00:00:00Z");
        ips.set_range("more", Some(&going));
        assert!(ips.take("203.0.113.12", owner()).is_err());
        let not_ready = json!({"spec": {"cidrs": ["203.0.113.0/24"]}, "status": {"conditions": [{"type": "Ready", "status": "False"}]}});
        ips.set_range("more", Some(&not_ready));
        assert!(ips.take("203.0.113.12", owner()).is_err());
        ips.set_range("more", None);
        assert_eq!(ips.take_any(owner()), Err("range is full".into()));
        assert_eq!(ips.owner("203.0.113.10"), Some(owner()), "what is held stays held");
    }

    #[test]
    fn ranges_know_what_they_cover() {
        let range = |cidr: &str| Range::parse(cidr).expect("a range");
        assert!(range("10.0.0.0/8").covers(range("10.96.0.0/12")));
        assert!(range("10.0.0.0/24").covers(range("10.0.0.0/24")));
        assert!(!range("10.96.0.0/12").covers(range("10.0.0.0/8")));
        assert!(!range("10.0.0.0/24").covers(range("10.0.1.0/24")));
    }
}
