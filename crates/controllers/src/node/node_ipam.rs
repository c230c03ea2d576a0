//! Gives each Node its part of the cluster's pod addresses (spec.podCIDR).

use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::cidr::Cidr;
use ferry_api::view::core::v1::{Node, NodeView};
use ferry_client::{Event, Informers, Patch};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(crate) struct NodeIpamController {
    ranges: Arc<Mutex<Ranges>>,
}

impl NodeIpamController {
    /// `cluster_cidrs` is one range, or one of each family with a comma between.
    pub(crate) fn new(cluster_cidrs: &str, mask_size: u8) -> Result<Self> {
        let pools = cluster_cidrs.split(',').map(|text| {
            let wrong = || Error::Config { what: "cluster CIDR", value: text.to_owned() };
            let cluster: Cidr = text.trim().parse().map_err(|_| wrong())?;
            // Upstream's default for the other family.
            let mask = if cluster.is_ipv4() { mask_size } else { 64 };
            cluster.part(mask, 0).ok_or_else(wrong)?;
            Ok(Pool { cluster, mask, first_free: 0 })
        });
        let ranges = Ranges { pools: pools.collect::<Result<_>>()?, ..Default::default() };
        Ok(Self { ranges: Arc::new(Mutex::new(ranges)) })
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
        let ranges = self.ranges.clone();
        vec![Watch::new(informers.of::<Node>(), move |event, enqueue| {
            // Every node that is known at the start is counted before the first worker runs.
            let (node, named) = (event.object(), ranges_of(event.object().view()));
            if matches!(event, Event::Deleted(_)) {
                ranges.lock().release(node.name());
            } else if named.is_empty() {
                enqueue.add_object(node.meta());
            } else {
                ranges.lock().observe(node.name(), named);
            }
        })]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(node) = ctx.informers.of::<Node>().get("", &key.name) else {
            self.ranges.lock().release(&key.name);
            return Ok(Action::Done);
        };
        if !ranges_of(node.view()).is_empty() || node.is_deleting() {
            return Ok(Action::Done);
        }
        let Some(given) = self.ranges.lock().allocate(&key.name) else {
            let message = format!("Node {} status is now: CIDRNotAvailable", key.name);
            ctx.recorder.normal(&node, "CIDRNotAvailable", message);
            return Err(Error::Retry(format!("no pod range is left for node {key}")));
        };
        let texts: Vec<String> = given.iter().map(ToString::to_string).collect();
        let patch = json!({"metadata": {"uid": node.uid()}, "spec": {"podCIDR": texts.first(), "podCIDRs": texts}});
        match ctx.client.api::<Node>("").patch(&key.name, &Patch::Strategic(patch)).await {
            // The end of the node may have been seen before its range was taken.
            Err(error) if error.is_not_found() => self.ranges.lock().release(&key.name),
            other => drop(other.during("give a pod range to node", key)?),
        }
        Ok(Action::Done)
    }
}

fn ranges_of(node: NodeView<'_>) -> Vec<Cidr> {
    let listed = node.spec().pod_cidrs().iter().chain([node.spec().pod_cidr()]);
    listed.filter_map(|text| text.parse().ok()).collect()
}

/// The ranges that nodes have or were given, kept by the events of nodes. A given range may
/// not be in the cache yet, so a node without one keeps the range that it was given here.
#[derive(Default)]
struct Ranges {
    pools: Vec<Pool>,
    by_node: HashMap<String, Vec<Cidr>>,
    /// Each range with the number of times that nodes name it.
    used: BTreeMap<Cidr, usize>,
}

/// A range of the cluster that is divided into parts of one size.
struct Pool {
    cluster: Cidr,
    mask: u8,
    /// No part before this one is free, so that a search does not begin at the first.
    first_free: u128,
}

impl Ranges {
    /// Counts the ranges that a node names.
    fn observe(&mut self, node: &str, named: Vec<Cidr>) {
        if named.is_empty() || self.by_node.get(node) == Some(&named) {
            return;
        }
        self.release(node);
        for range in &named {
            *self.used.entry(*range).or_default() += 1;
        }
        self.by_node.insert(node.to_owned(), named);
    }

    /// Frees the ranges of a node that is gone.
    fn release(&mut self, node: &str) {
        for range in self.by_node.remove(node).unwrap_or_default() {
            if let Some(count) = self.used.get_mut(&range) {
                *count -= 1;
                if *count == 0 {
                    self.used.remove(&range);
                }
            }
            for pool in &mut self.pools {
                pool.first_free = pool.first_free.min(pool.part_at(&range));
            }
        }
    }

    /// The ranges of a node, one of each pool: those that it was given before, or the first
    /// free ones. `None` where a pool has no free part.
    fn allocate(&mut self, node: &str) -> Option<Vec<Cidr>> {
        if let Some(before) = self.by_node.get(node) {
            return Some(before.clone());
        }
        let mut given = Vec::new();
        for pool in &mut self.pools {
            let (position, range) = pool.find_free(&self.used)?;
            pool.first_free = position;
            given.push(range);
        }
        self.observe(node, given.clone());
        Some(given)
    }
}

impl Pool {
    /// The first part that overlaps nothing in use, and its position.
    fn find_free(&self, used: &BTreeMap<Cidr, usize>) -> Option<(u128, Cidr)> {
        let mut position = self.first_free;
        loop {
            let part = self.cluster.part(self.mask, position)?;
            let Some(taken) = find_overlapping(used, &part) else { return Some((position, part)) };
            // A range in use may be larger than one part; the search goes on behind it. One
            // that ends outside of the pool covers all of it.
            position = self.position(self.cluster.position(taken.last())?) + 1;
        }
    }

    /// The position of the first part that a range overlaps; beyond all parts if none.
    fn part_at(&self, range: &Cidr) -> u128 {
        match self.cluster.position(range.network()) {
            Some(offset) => self.position(offset),
            None if range.covers(&self.cluster) => 0,
            None => u128::MAX,
        }
    }

    /// The position of the part that has the address at an offset.
    fn position(&self, offset: u128) -> u128 {
        let width = if self.cluster.is_ipv4() { 32 } else { 128 };
        offset.checked_shr(width - u32::from(self.mask)).unwrap_or(0)
    }
}

/// A range in use that overlaps the candidate. Two ranges overlap only if one covers the
/// other: those that may cover it are looked up by their lengths, and those that it may
/// cover stand behind it in order.
fn find_overlapping(used: &BTreeMap<Cidr, usize>, candidate: &Cidr) -> Option<Cidr> {
    let covering = (0..candidate.length()).filter_map(|length| Cidr::new(candidate.network(), length));
    let covered = || used.range(candidate..).next().map(|(range, _)| *range).filter(|range| candidate.covers(range));
    covering.into_iter().find(|range| used.contains_key(range)).or_else(covered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(texts: &[&str]) -> Vec<Cidr> {
        texts.iter().map(|text| text.parse().expect("a range")).collect()
    }

    #[test]
    fn the_first_free_part_is_given() {
        let check = |cluster: &str, mask: u8, used: &[&str], expected: Option<&str>| {
            let cluster = cluster.parse().expect("a range");
            let mut all = Ranges { pools: vec![Pool { cluster, mask, first_free: 0 }], ..Default::default() };
            for (number, range) in ranges(used).into_iter().enumerate() {
                all.observe(&format!("n{number}"), vec![range]);
            }
            let planned = all.allocate("new");
            assert_eq!(planned.map(|ranges| ranges[0].to_string()).as_deref(), expected);
        };
        check("10.244.0.0/16", 24, &[], Some("10.244.0.0/24"));
        check("10.244.0.0/16", 24, &["10.244.0.0/24", "10.244.2.0/24"], Some("10.244.1.0/24"));
        check("10.244.0.0/16", 24, &["10.244.0.0/22"], Some("10.244.4.0/24"));
        check("10.244.0.0/23", 24, &["10.244.0.0/24", "10.244.1.0/24"], None);
        check("10.244.0.0/23", 24, &["10.0.0.0/8"], None);
        check("10.244.0.0/16", 24, &["10.244.0.16/28"], Some("10.244.1.0/24"));
        check("10.244.0.0/16", 24, &["192.168.0.0/16", "fd00::/8"], Some("10.244.0.0/24"));
        check("fd00:10:244::/48", 64, &["fd00:10:244::/64"], Some("fd00:10:244:1::/64"));
    }

    #[test]
    fn a_range_is_free_again_when_its_node_is_gone() {
        let controller = NodeIpamController::new("10.244.0.0/16", 24).expect("a range");
        let mut all = controller.ranges.lock();
        let give = |all: &mut Ranges, node: &str| all.allocate(node).map(|ranges| ranges[0].to_string());
        for (node, expected) in [("a", "10.244.0.0/24"), ("b", "10.244.1.0/24"), ("a", "10.244.0.0/24")] {
            assert_eq!(give(&mut all, node).as_deref(), Some(expected));
        }
        // An event about a node that does not show its range yet changes nothing.
        all.observe("a", Vec::new());
        assert_eq!(give(&mut all, "c").as_deref(), Some("10.244.2.0/24"));
        // Nodes name their range twice, in podCIDR and in podCIDRs.
        all.observe("b", ranges(&["10.244.1.0/24", "10.244.1.0/24"]));
        all.release("b");
        assert_eq!(give(&mut all, "d").as_deref(), Some("10.244.1.0/24"));
        assert_eq!(give(&mut all, "e").as_deref(), Some("10.244.3.0/24"));
    }

    #[test]
    fn a_wrong_range_is_refused_at_the_start() {
        assert!(NodeIpamController::new("10.244.0.0", 24).is_err());
        assert!(NodeIpamController::new("10.244.0.0/28", 24).is_err());
        assert!(NodeIpamController::new("10.244.0.0/16,fd00::/48", 24).is_ok());
    }
}
