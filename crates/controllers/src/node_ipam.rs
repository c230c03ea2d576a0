//! Gives each Node its part of the cluster's pod addresses (spec.podCIDR).

use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_client::{Informers, Patch, reference};
use k8s_openapi::api::core::v1::Node;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub struct NodeIpamController {
    clusters: Vec<(Cidr, u8)>,
    /// What was given out and may not be in the cache yet.
    given: Mutex<HashMap<String, Vec<Cidr>>>,
}

impl NodeIpamController {
    /// `cluster_cidrs` is one range, or one of each family with a comma between.
    pub fn new(cluster_cidrs: &str, mask_size: u8) -> Result<Self> {
        let clusters = cluster_cidrs.split(',').map(|text| {
            let wrong = || Error::Config { what: "cluster CIDR", value: text.to_owned() };
            let cidr = Cidr::parse(text.trim()).ok_or_else(wrong)?;
            // Upstream's default for the other family.
            let mask = if cidr.width == 32 { mask_size } else { 64 };
            if mask < cidr.prefix || mask > cidr.width { Err(wrong()) } else { Ok((cidr, mask)) }
        });
        Ok(Self { clusters: clusters.collect::<Result<_>>()?, given: Mutex::default() })
    }
}

#[async_trait]
impl Controller for NodeIpamController {
    fn name(&self) -> &'static str {
        "cidrAllocator"
    }

    fn identity(&self) -> &'static str {
        "node-controller"
    }

    /// One at a time: two nodes must not be given the same range.
    fn workers(&self) -> usize {
        1
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(informers.of::<Node>())]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let nodes = ctx.informers.of::<Node>();
        let Some(node) = nodes.get("", &key.name) else {
            self.given.lock().remove(&key.name);
            return Ok(Action::Done);
        };
        if !ranges(&node).is_empty() || node.metadata.deletion_timestamp.is_some() {
            return Ok(Action::Done);
        }
        let mut used: Vec<Cidr> = nodes.list(None).iter().flat_map(|node| ranges(node)).collect();
        let before = {
            let given = self.given.lock();
            used.extend(given.iter().filter(|(name, _)| **name != key.name).flat_map(|(_, ranges)| ranges));
            given.get(&key.name).cloned()
        };
        let planned: Option<Vec<Cidr>> = match before {
            Some(before) => Some(before),
            None => self.clusters.iter().map(|(cluster, mask)| plan_range(*cluster, *mask, &used)).collect(),
        };
        let Some(planned) = planned else {
            let message = format!("Node {} status is now: CIDRNotAvailable", key.name);
            ctx.recorder.normal(&reference(&*node), "CIDRNotAvailable", message);
            return Err(Error::Retry(format!("no pod range is left for node {key}")));
        };
        self.given.lock().insert(key.name.clone(), planned.clone());
        let texts: Vec<String> = planned.iter().map(ToString::to_string).collect();
        let patch =
            json!({"metadata": {"uid": node.metadata.uid}, "spec": {"podCIDR": texts.first(), "podCIDRs": texts}});
        match ctx.client.patch::<Node>("", &key.name, &Patch::Strategic(patch)).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("give a pod range to node", key)?),
        }
        Ok(Action::Done)
    }
}

fn ranges(node: &Node) -> Vec<Cidr> {
    let Some(spec) = &node.spec else { return Vec::new() };
    let listed = spec.pod_cidrs.iter().flatten().chain(&spec.pod_cidr);
    listed.filter_map(|text| Cidr::parse(text)).collect()
}

/// The first part of `cluster` that overlaps nothing in use.
fn plan_range(cluster: Cidr, mask: u8, used: &[Cidr]) -> Option<Cidr> {
    let count = 1u128.checked_shl(u32::from(mask - cluster.prefix))?;
    let size = 1u128.checked_shl(u32::from(cluster.width - mask))?;
    let mut index = 0;
    while index < count {
        let candidate = Cidr { start: cluster.start + index * size, prefix: mask, width: cluster.width };
        match used.iter().find(|other| other.overlaps(&candidate)) {
            None => return Some(candidate),
            // What is in use may be larger than one part; the search goes on behind it.
            Some(other) => index = (other.end() - cluster.start) / size + 1,
        }
    }
    None
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cidr {
    start: u128,
    prefix: u8,
    width: u8,
}

impl Cidr {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/')?;
        let (bits, width) = match address.parse().ok()? {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        let prefix: u8 = prefix.parse().ok().filter(|prefix| *prefix <= width)?;
        let mask = u128::MAX.checked_shl(u32::from(width - prefix)).unwrap_or(0);
        Some(Self { start: bits & mask, prefix, width })
    }

    fn end(&self) -> u128 {
        let size = 1u128.checked_shl(u32::from(self.width - self.prefix)).unwrap_or(0);
        self.start.wrapping_add(size).wrapping_sub(1)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.width == other.width && self.start <= other.end() && other.start <= self.end()
    }
}

impl std::fmt::Display for Cidr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let address: IpAddr = match u32::try_from(self.start) {
            Ok(bits) if self.width == 32 => Ipv4Addr::from(bits).into(),
            _ => Ipv6Addr::from(self.start).into(),
        };
        write!(f, "{address}/{}", self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_free_part_is_given() {
        let check = |cluster: &str, mask: u8, used: &[&str], expected: Option<&str>| {
            let used: Vec<Cidr> = used.iter().map(|text| Cidr::parse(text).expect("a range")).collect();
            let planned = plan_range(Cidr::parse(cluster).expect("a range"), mask, &used);
            assert_eq!(planned.map(|range| range.to_string()).as_deref(), expected);
        };
        check("10.244.0.0/16", 24, &[], Some("10.244.0.0/24"));
        check("10.244.0.0/16", 24, &["10.244.0.0/24", "10.244.2.0/24"], Some("10.244.1.0/24"));
        check("10.244.0.0/16", 24, &["10.244.0.0/22"], Some("10.244.4.0/24"));
        check("10.244.0.0/23", 24, &["10.244.0.0/24", "10.244.1.0/24"], None);
        check("10.244.0.0/16", 24, &["192.168.0.0/16", "fd00::/8"], Some("10.244.0.0/24"));
        check("fd00:10:244::/48", 64, &["fd00:10:244::/64"], Some("fd00:10:244:1::/64"));
    }

    #[test]
    fn a_wrong_range_is_refused_at_the_start() {
        assert!(NodeIpamController::new("10.244.0.0", 24).is_err());
        assert!(NodeIpamController::new("10.244.0.0/28", 24).is_err());
        assert!(NodeIpamController::new("10.244.0.0/16,fd00::/48", 24).is_ok());
    }
}
