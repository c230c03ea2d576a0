//! ResourceSlices by pool and by node, kept by their events, and the pools that one node can
//! take devices from.
//!
//! A driver replaces the slices of a pool bit by bit: the highest generation counts, and a pool
//! is whole only when it has all slices that it says. The pools of a node are put together when
//! they are first asked for and kept until one of their slices changes.
//!
//! Upstream: dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go.

use super::ledger::Ledger;
use super::slice::{Amounts, PoolId, Slice};
use ferry_api::document::Document;
use ferry_api::view::core::v1::Node;
use ferry_api::view::resource::v1::ResourceSlice;
use ferry_client::{Event, SharedObject};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Counter sets by name.
pub type CounterSets = BTreeMap<Box<str>, Amounts>;

/// A pool as one node sees it.
#[derive(Debug)]
pub struct NodePool {
    pub id: PoolId,
    pub state: PoolState,
    /// The slices with devices that the node reaches, by name.
    pub slices: Vec<Arc<Slice>>,
    /// Slices of other nodes, whose devices take of the same counters.
    others: Vec<Arc<Slice>>,
    counter_sets: CounterSets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolState {
    Usable,
    /// Slices are missing.
    Incomplete,
    /// Its slices contradict each other.
    Invalid,
}

/// The pools that a node can take devices from, in the order in which they are searched.
#[derive(Debug, Default)]
pub struct NodePools {
    pub pools: Vec<NodePool>,
}

struct CachedPools {
    pools: Arc<NodePools>,
    /// The version of the node whose labels decided, if they did.
    node: Option<Arc<Document>>,
}

#[derive(Default)]
pub struct SliceIndex {
    /// By the name of the slice.
    pools: BTreeMap<PoolId, BTreeMap<Box<str>, Arc<Slice>>>,
    /// The pools that have slices for one node alone.
    by_node: HashMap<Box<str>, BTreeSet<PoolId>>,
    /// The pools that have slices for several nodes.
    shared: BTreeSet<PoolId>,
    cached: HashMap<Box<str>, CachedPools>,
    /// The counters that are left of each pool, with the revisions that they were computed for.
    available: HashMap<PoolId, (u64, u64, Arc<CounterSets>)>,
    revision: u64,
}

impl SliceIndex {
    pub fn observe(&mut self, event: &Event<ResourceSlice>) {
        self.revision += 1;
        let (old, new) = event.versions();
        if let Some(old) = old {
            let spec = old.view().spec();
            let id = PoolId { driver: spec.driver().into(), name: spec.pool().name().into() };
            self.forget(&id);
            if let Some(pool) = self.pools.get_mut(&id) {
                pool.remove(old.name());
            }
            self.register(&id);
        }
        if let Some(new) = new {
            let slice = Slice::of(new.clone());
            let id = slice.pool.clone();
            self.forget(&id);
            self.pools.entry(id.clone()).or_default().insert(slice.name.clone(), Arc::new(slice));
            self.register(&id);
        }
    }

    /// Takes the pool out of the indexes, and with it everything that was computed of it.
    fn forget(&mut self, id: &PoolId) {
        self.available.remove(id);
        let Some(pool) = self.pools.get(id) else { return };
        for node in pool.values().filter_map(|slice| slice.node_name()) {
            self.cached.remove(node);
            if let Some(pools) = self.by_node.get_mut(node) {
                pools.remove(id);
                if pools.is_empty() {
                    self.by_node.remove(node);
                }
            }
        }
        if self.shared.remove(id) {
            self.cached.clear();
        }
    }

    fn register(&mut self, id: &PoolId) {
        let Some(pool) = self.pools.get(id) else { return };
        if pool.is_empty() {
            self.pools.remove(id);
            return;
        }
        for slice in pool.values() {
            match slice.node_name() {
                Some(node) => {
                    self.cached.remove(node);
                    self.by_node.entry(node.into()).or_default().insert(id.clone());
                }
                None => {
                    self.shared.insert(id.clone());
                }
            }
        }
        if self.shared.contains(id) {
            self.cached.clear();
        }
    }

    /// The node is gone: nothing is kept for it.
    pub fn forget_node(&mut self, node: &str) {
        self.cached.remove(node);
    }

    pub fn pools_of(&mut self, name: &str, node: &SharedObject<Node>) -> Arc<NodePools> {
        if let Some(CachedPools { pools, node: own }) = self.cached.get(name)
            && own.as_ref().is_none_or(|own| Arc::ptr_eq(own, node.document()))
        {
            return pools.clone();
        }
        let own = self.by_node.get(name).into_iter().flatten();
        let ids: BTreeSet<&PoolId> = own.chain(&self.shared).collect();
        let mut depends_on_labels = false;
        let mut pools: Vec<NodePool> = ids
            .into_iter()
            .filter_map(|id| {
                let slices = self.pools.get(id)?;
                depends_on_labels |= slices.values().any(|slice| slice.depends_on_labels());
                plan_pool(id, slices, node)
            })
            .collect();
        // Devices that have to be prepared before the pod is bound are the last resort.
        pools.sort_by_key(NodePool::has_binding_conditions);
        let pools = Arc::new(NodePools { pools });
        let node_version = depends_on_labels.then(|| node.document().clone());
        self.cached.insert(name.into(), CachedPools { pools: pools.clone(), node: node_version });
        pools
    }

    /// The counters of a pool that no allocated device takes; below zero where a driver has
    /// taken back counters that were in use.
    pub fn available_counters(&mut self, pool: &NodePool, ledger: &Ledger) -> Arc<CounterSets> {
        if let Some((revision, used, counters)) = self.available.get(&pool.id)
            && (*revision, *used) == (self.revision, ledger.revision())
        {
            return counters.clone();
        }
        let mut left = pool.counter_sets.clone();
        let devices = pool.slices.iter().chain(&pool.others).flat_map(|slice| &slice.devices);
        for device in devices.filter(|device| !device.counters.is_empty() && ledger.is_used(&device.key)) {
            for own in &device.counters {
                let Some(set) = left.get_mut(&own.set) else { continue };
                for (name, amount) in &own.counters {
                    if let Some(value) = set.get_mut(name) {
                        *value = value.sub(amount);
                    }
                }
            }
        }
        let left = Arc::new(left);
        self.available.insert(pool.id.clone(), (self.revision, ledger.revision(), left.clone()));
        left
    }
}

impl NodePool {
    fn has_binding_conditions(&self) -> bool {
        self.slices.iter().flat_map(|slice| &slice.devices).any(|device| device.has_binding_conditions)
    }

    fn unusable(id: &PoolId, state: PoolState) -> Self {
        Self { id: id.clone(), state, slices: Vec::new(), others: Vec::new(), counter_sets: CounterSets::new() }
    }
}

/// The pool as the node sees it. `None` if no slice is for the node, or if a newer generation
/// has none.
fn plan_pool(id: &PoolId, slices: &BTreeMap<Box<str>, Arc<Slice>>, node: &SharedObject<Node>) -> Option<NodePool> {
    let relevant: Vec<&Arc<Slice>> = slices.values().filter(|slice| slice.is_relevant_to(node.view())).collect();
    let generation = relevant.iter().map(|slice| slice.generation).max()?;
    let relevant: Vec<&Arc<Slice>> = relevant.into_iter().filter(|slice| slice.generation == generation).collect();
    let wanted = relevant.first()?.slices_of_pool;
    let is_whole = |count: usize| i64::try_from(count) == Ok(wanted);
    let mut others: Vec<&Arc<Slice>> = Vec::new();
    if !is_whole(relevant.len()) {
        if slices.values().any(|slice| slice.generation > generation) {
            return None;
        }
        let all: Vec<&Arc<Slice>> = slices.values().filter(|slice| slice.generation == generation).collect();
        if !is_whole(all.len()) {
            return Some(NodePool::unusable(id, PoolState::Incomplete));
        }
        others = all.into_iter().filter(|slice| !relevant.iter().any(|own| Arc::ptr_eq(own, slice))).collect();
    }
    let (with_counters, with_devices): (Vec<&Arc<Slice>>, Vec<&Arc<Slice>>) =
        relevant.into_iter().partition(|slice| !slice.counter_sets.is_empty());
    let Some(counter_sets) = read_counter_sets(&with_counters) else {
        return Some(NodePool::unusable(id, PoolState::Invalid));
    };
    let mut names = HashSet::new();
    let are_distinct = with_devices.iter().flat_map(|slice| &slice.devices).all(|device| names.insert(&*device.name));
    let are_counted = with_devices.iter().chain(&others).flat_map(|slice| &slice.devices).all(|device| {
        device.counters.iter().all(|own| {
            let set = counter_sets.get(&own.set);
            set.is_some_and(|set| own.counters.keys().all(|name| set.contains_key(name)))
        })
    });
    if !are_distinct || !are_counted {
        return Some(NodePool::unusable(id, PoolState::Invalid));
    }
    Some(NodePool {
        id: id.clone(),
        state: PoolState::Usable,
        slices: with_devices.into_iter().cloned().collect(),
        others: others.into_iter().cloned().collect(),
        counter_sets,
    })
}

/// `None` if two sets have the same name.
fn read_counter_sets(slices: &[&Arc<Slice>]) -> Option<CounterSets> {
    let mut out = CounterSets::new();
    for (name, counters) in slices.iter().flat_map(|slice| &slice.counter_sets) {
        if out.insert(name.clone(), counters.clone()).is_some() {
            return None;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugins::testing::node;
    use serde_json::{Value, json};

    fn slice(name: &str, generation: i64, count: i64, over: Value) -> SharedObject<ResourceSlice> {
        let mut spec = json!({"driver": "d", "pool": {"name": "p", "generation": generation, "resourceSliceCount": count},
            "devices": [{"name": format!("dev-{name}")}]});
        for (field, value) in over.as_object().into_iter().flatten() {
            spec[field] = value.clone();
        }
        SharedObject::of(json!({"metadata": {"name": name}, "spec": spec}))
    }

    fn pools_of(slices: &[SharedObject<ResourceSlice>], node: &SharedObject<Node>) -> Vec<(PoolState, Vec<String>)> {
        let mut index = SliceIndex::default();
        slices.iter().for_each(|slice| index.observe(&Event::Added(slice.clone())));
        let names = |pool: &NodePool| pool.slices.iter().map(|slice| slice.name.to_string()).collect();
        index.pools_of(node.name(), node).pools.iter().map(|pool| (pool.state, names(pool))).collect()
    }

    #[test]
    fn the_newest_generation_counts_and_only_when_it_is_whole() {
        let (on_a, a) = (json!({"nodeName": "a"}), node("a", json!({})));
        let check = |slices: &[SharedObject<ResourceSlice>], expected: &[(PoolState, &[&str])]| {
            let expected: Vec<(PoolState, Vec<String>)> = expected
                .iter()
                .map(|(state, names)| (*state, names.iter().map(|name| (*name).to_owned()).collect()))
                .collect();
            assert_eq!(pools_of(slices, &a), expected);
        };
        let one = slice("s1", 1, 1, on_a.clone());
        check(std::slice::from_ref(&one), &[(PoolState::Usable, &["s1"])]);
        check(&[one.clone(), slice("s2", 2, 1, on_a.clone())], &[(PoolState::Usable, &["s2"])]);
        check(&[one.clone(), slice("s2", 2, 2, on_a.clone())], &[(PoolState::Incomplete, &[])]);
        // The other slice of the pool belongs to another node.
        let (here, there) = (slice("s1", 1, 2, on_a.clone()), slice("s2", 1, 2, json!({"nodeName": "b"})));
        check(&[here.clone(), there.clone()], &[(PoolState::Usable, &["s1"])]);
        check(&[here, there, slice("s3", 2, 1, json!({"nodeName": "b"}))], &[]);
        let twins = json!({"nodeName": "a", "devices": [{"name": "x"}, {"name": "x"}]});
        check(&[slice("s1", 1, 1, twins)], &[(PoolState::Invalid, &[])]);
        let uncounted = json!({"nodeName": "a", "devices": [{"name": "x", "consumesCounters": [
            {"counterSet": "none", "counters": {"memory": {"value": "1"}}}]}]});
        check(&[slice("s1", 1, 1, uncounted)], &[(PoolState::Invalid, &[])]);
    }

    #[test]
    fn nodes_reach_slices_by_name_by_labels_and_by_device() {
        let zone = |zone: &str| {
            json!({"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "zone", "operator": "In", "values": [zone]}]}]})
        };
        let a = node("a", json!({"metadata": {"labels": {"zone": "east"}}}));
        let found = |over: Value| !pools_of(&[slice("s", 1, 1, over)], &a).is_empty();
        assert!(found(json!({"nodeName": "a"})) && !found(json!({"nodeName": "b"})));
        assert!(found(json!({"allNodes": true})) && !found(json!({})));
        assert!(found(json!({"nodeSelector": zone("east")})) && !found(json!({"nodeSelector": zone("west")})));
        let by_device = |device: Value| json!({"perDeviceNodeSelection": true, "devices": [device]});
        assert!(found(by_device(json!({"name": "x", "nodeName": "a"}))));
        assert!(!found(by_device(json!({"name": "x", "nodeSelector": zone("west")}))));
    }

    #[test]
    fn kept_pools_follow_slices_and_labels() {
        let mut index = SliceIndex::default();
        let (a, on_a) = (node("a", json!({})), json!({"nodeName": "a"}));
        let devices = |index: &mut SliceIndex, node: &SharedObject<Node>| {
            index
                .pools_of(node.name(), node)
                .pools
                .iter()
                .flat_map(|pool| &pool.slices)
                .map(|slice| slice.devices.len())
                .sum::<usize>()
        };
        assert_eq!(devices(&mut index, &a), 0);
        let one = slice("s1", 1, 1, on_a.clone());
        index.observe(&Event::Added(one.clone()));
        assert_eq!(devices(&mut index, &a), 1);
        let zone = json!({"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]},
            "pool": {"name": "q", "generation": 1, "resourceSliceCount": 1}});
        let shared = slice("s2", 1, 1, zone);
        index.observe(&Event::Added(shared.clone()));
        assert_eq!(devices(&mut index, &a), 1);
        assert_eq!(devices(&mut index, &node("a", json!({"metadata": {"labels": {"zone": "z"}}}))), 2);
        index.observe(&Event::Deleted(one));
        assert_eq!(devices(&mut index, &a), 0);
        index.observe(&Event::Deleted(shared));
        assert!(index.pools.is_empty() && index.by_node.is_empty() && index.shared.is_empty());
    }
}
