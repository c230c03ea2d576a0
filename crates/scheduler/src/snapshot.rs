//! The cluster as one scheduling cycle sees it: the nodes and the pods on them.
//!
//! The cache follows the watch and assumes placements before they are bound; a cycle decides
//! on a snapshot of it. Nodes are shared between the two and copied only when they change
//! under a snapshot, so taking one costs what changed since the last.

use crate::labels::Labels;
use crate::node_info::NodeInfo;
use crate::pod_info::PodInfo;
use crate::topology::{NamespaceLabels, TopologyIndex};
use ferry_api::view::core::v1::{Namespace, Node};
use ferry_client::SharedObject;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

struct Slot {
    info: Arc<NodeInfo>,
    /// When it changed last; the key of the slot in `Cache::changes`.
    generation: u64,
    /// Pods may be known before their node is.
    has_node: bool,
}

struct Placed {
    node: Arc<str>,
    pod: Arc<PodInfo>,
    is_assumed: bool,
}

/// The nodes and placed pods as the watch has reported them, and the placements assumed.
#[derive(Default)]
pub struct Cache {
    nodes: HashMap<Arc<str>, Slot>,
    /// Names by the generation of their last change: a snapshot looks only at those after
    /// its own generation.
    changes: BTreeMap<u64, Arc<str>>,
    generation: u64,
    /// Raised when a node comes or goes, which changes the list and not only an entry.
    membership: u64,
    /// By uid.
    pods: HashMap<Arc<str>, Placed>,
    /// The number of nodes that have each image. Shared with snapshots, and copied when the
    /// images of a node change.
    image_nodes: Arc<HashMap<String, usize>>,
    /// Shared likewise.
    namespaces: Arc<NamespaceLabels>,
    /// The slots of nodes that are gone, and the first that no node has had.
    free_slots: Vec<u32>,
    next_slot: u32,
}

/// A view of the cache that does not change during a cycle.
pub struct Snapshot {
    /// By name.
    pub nodes: Vec<Arc<NodeInfo>>,
    index: HashMap<Arc<str>, usize>,
    generation: u64,
    membership: u64,
    pub image_nodes: Arc<HashMap<String, usize>>,
    /// The names of nodes by their slot.
    pub names_by_slot: Arc<[Arc<str>]>,
    /// Makes an array at its first use, which is a change that nobody sees.
    topology: Mutex<TopologyIndex>,
}

impl Default for Snapshot {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            index: HashMap::new(),
            generation: 0,
            membership: 0,
            image_nodes: Arc::default(),
            names_by_slot: Arc::new([]),
            topology: Mutex::default(),
        }
    }
}

impl Snapshot {
    pub fn get(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.index.get(name).and_then(|&index| self.nodes.get(index))
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The counters over the nodes and pods of this snapshot. A plugin takes what it needs of
    /// them and lets go before it calls another.
    pub fn topology(&self) -> MutexGuard<'_, TopologyIndex> {
        self.topology.lock()
    }

    /// A snapshot of nodes alone; for tests and trials.
    pub fn of(nodes: Vec<NodeInfo>) -> Self {
        let mut cache = Cache::default();
        for mut info in nodes {
            cache.set_node(info.node.clone());
            if let Some(slot) = cache.nodes.get_mut(info.name()) {
                info.slot = slot.info.slot;
                slot.info = Arc::new(info);
            }
        }
        let mut snapshot = Self::default();
        cache.update_snapshot(&mut snapshot);
        snapshot
    }
}

impl Cache {
    /// The node with the pods on it, unless only pods of it are known.
    pub fn node(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.nodes.get(name).filter(|slot| slot.has_node).map(|slot| &slot.info)
    }

    fn touch(&mut self, name: &str) -> Option<&mut NodeInfo> {
        let slot = self.nodes.get_mut(name)?;
        self.changes.remove(&slot.generation);
        self.generation += 1;
        slot.generation = self.generation;
        self.changes.insert(self.generation, slot.info.shared_name().clone());
        Some(Arc::make_mut(&mut slot.info))
    }

    fn touch_or_create(&mut self, name: &Arc<str>) -> Option<&mut NodeInfo> {
        if !self.nodes.contains_key(name) {
            let mut info = NodeInfo::without_node(name.clone());
            info.slot = self.free_slots.pop().unwrap_or_else(|| {
                self.next_slot += 1;
                self.next_slot - 1
            });
            self.nodes.insert(name.clone(), Slot { info: Arc::new(info), generation: 0, has_node: false });
        }
        self.touch(name)
    }

    fn drop_slot(&mut self, name: &str) {
        if let Some(slot) = self.nodes.remove(name) {
            self.changes.remove(&slot.generation);
            self.free_slots.push(slot.info.slot);
        }
    }

    /// The name as the node's slot has it, so that a pod holds no copy of it.
    fn shared_name(&self, name: &str) -> Arc<str> {
        self.nodes.get(name).map_or_else(|| name.into(), |slot| slot.info.shared_name().clone())
    }

    fn recount_images(&mut self, before: &HashMap<String, i64>, after: &HashMap<String, i64>) {
        let counts = Arc::make_mut(&mut self.image_nodes);
        for image in after.keys() {
            *counts.entry(image.clone()).or_default() += 1;
        }
        for image in before.keys() {
            if let Some(count) = counts.get_mut(image) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(image);
                }
            }
        }
    }

    /// A node that is new, or that changed in something that a decision reads.
    pub fn set_node(&mut self, node: SharedObject<Node>) {
        let name = self.shared_name(node.name());
        let Some(info) = self.touch_or_create(&name) else { return };
        let before = info.images.clone();
        info.set_node(node);
        let after = info.images.clone();
        if !Arc::ptr_eq(&before, &after) {
            self.recount_images(&before, &after);
        }
        if let Some(slot) = self.nodes.get_mut(&name)
            && !slot.has_node
        {
            slot.has_node = true;
            self.membership += 1;
        }
    }

    /// A version of a node that changed in nothing that a decision reads: its facts stay, and
    /// the version before is given back.
    pub fn refresh_node(&mut self, node: SharedObject<Node>) {
        if self.node(node.name()).is_some()
            && let Some(info) = self.touch(node.name())
        {
            info.node = node;
        }
    }

    /// Pods that are still on the node are remembered until they go too.
    pub fn remove_node(&mut self, name: &str) {
        let Some(slot) = self.nodes.get_mut(name) else { return };
        slot.has_node = false;
        self.membership += 1;
        let images = slot.info.images.clone();
        if slot.info.pods.is_empty() {
            self.drop_slot(name);
        } else if let Some(info) = self.touch(name) {
            info.set_node(SharedObject::of(Node::new()));
        }
        if !images.is_empty() {
            self.recount_images(&images, &HashMap::new());
        }
    }

    /// A pod that is on a node, as the API has it. Confirms an assumed one, and returns the
    /// version before.
    pub fn add_pod(&mut self, pod: Arc<PodInfo>) -> Option<Arc<PodInfo>> {
        let node = self.shared_name(pod.spec().node_name());
        match self.pods.get_mut(&pod.uid) {
            Some(placed) if placed.node == node => {
                placed.is_assumed = false;
                let old = std::mem::replace(&mut placed.pod, pod.clone());
                if let Some(info) = self.touch(&node) {
                    info.replace_pod(&old, pod);
                }
                Some(old)
            }
            _ => {
                let old = self.remove_pod(&pod.uid);
                self.place(pod, node, false);
                old
            }
        }
    }

    /// A pod that is about to be bound to a node.
    pub fn assume_pod(&mut self, pod: Arc<PodInfo>, node: &str) {
        self.remove_pod(&pod.uid);
        let node = self.shared_name(node);
        self.place(pod, node, true);
    }

    fn place(&mut self, pod: Arc<PodInfo>, node: Arc<str>, is_assumed: bool) {
        if let Some(info) = self.touch_or_create(&node) {
            info.add_pod(pod.clone());
        }
        self.pods.insert(pod.uid.clone(), Placed { node, pod, is_assumed });
    }

    /// Returns the pod, if it was on a node or assumed there.
    pub fn remove_pod(&mut self, uid: &str) -> Option<Arc<PodInfo>> {
        let placed = self.pods.remove(uid)?;
        if let Some(info) = self.touch(&placed.node) {
            info.remove_pod(&placed.pod);
        }
        let is_abandoned = self.nodes.get(&placed.node).is_some_and(|slot| !slot.has_node && slot.info.pods.is_empty());
        if is_abandoned {
            self.drop_slot(&placed.node);
        }
        Some(placed.pod)
    }

    /// Takes back an assumption; a pod that the API has confirmed stays.
    pub fn forget_pod(&mut self, uid: &str) {
        if self.is_assumed(uid) {
            self.remove_pod(uid);
        }
    }

    pub fn is_assumed(&self, uid: &str) -> bool {
        self.pods.get(uid).is_some_and(|placed| placed.is_assumed)
    }

    /// A namespace that is new, or one whose labels may have changed.
    pub fn set_namespace(&mut self, namespace: &SharedObject<Namespace>) {
        let labels = Labels::of(namespace.meta().labels());
        if self.namespaces.get(namespace.name()) != Some(&labels) {
            Arc::make_mut(&mut self.namespaces).insert(namespace.name().into(), labels);
        }
    }

    pub fn remove_namespace(&mut self, name: &str) {
        if self.namespaces.contains_key(name) {
            Arc::make_mut(&mut self.namespaces).remove(name);
        }
    }

    /// Whether something has changed since the snapshot was brought up to date.
    pub fn is_newer_than(&self, snapshot: &Snapshot) -> bool {
        snapshot.generation != self.generation || snapshot.membership != self.membership
    }

    /// Brings a snapshot up to date.
    pub fn update_snapshot(&self, snapshot: &mut Snapshot) {
        let topology = snapshot.topology.get_mut();
        topology.set_namespaces(&self.namespaces);
        if snapshot.membership != self.membership {
            // A node that went and came back may have another slot.
            let is_gone = |node: &&Arc<NodeInfo>| self.node(node.name()).is_none_or(|new| new.slot != node.slot);
            for gone in snapshot.nodes.iter().filter(is_gone) {
                topology.set_node(gone.slot, None);
            }
            let names: BTreeSet<&Arc<str>> =
                self.nodes.iter().filter(|(_, slot)| slot.has_node).map(|(name, _)| name).collect();
            snapshot.nodes = names.iter().map(|name| self.nodes[*name].info.clone()).collect();
            // One that did not change costs a comparison of addresses.
            snapshot.nodes.iter().for_each(|node| topology.set_node(node.slot, Some(node.clone())));
            let mut by_slot: Vec<Arc<str>> = vec!["".into(); self.next_slot as usize];
            for node in &snapshot.nodes {
                by_slot[node.slot as usize] = node.shared_name().clone();
            }
            snapshot.names_by_slot = by_slot.into();
            snapshot.index = names.into_iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
            snapshot.membership = self.membership;
        } else {
            for name in self.changes.range(snapshot.generation + 1..).map(|(_, name)| name) {
                if let (Some(slot), Some(&index)) = (self.nodes.get(name), snapshot.index.get(name)) {
                    snapshot.nodes[index] = slot.info.clone();
                    topology.set_node(slot.info.slot, Some(slot.info.clone()));
                }
            }
        }
        snapshot.image_nodes = self.image_nodes.clone();
        snapshot.generation = self.generation;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(name: &str) -> SharedObject<Node> {
        SharedObject::of(json!({
            "metadata": {"name": name},
            "status": {"allocatable": {"cpu": "4", "pods": "10"}, "images": [{"names": ["i:1"], "sizeBytes": 10}]},
        }))
    }

    fn pod(name: &str, node: &str) -> Arc<PodInfo> {
        Arc::new(PodInfo::of(SharedObject::of(json!({
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": "1"}}}]},
        }))))
    }

    fn requested(snapshot: &Snapshot) -> Vec<(String, i64)> {
        snapshot.nodes.iter().map(|node| (node.name().to_owned(), node.requested.milli_cpu)).collect()
    }

    #[test]
    fn only_what_changed_is_taken_anew() {
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        cache.set_node(node("a"));
        cache.set_node(node("b"));
        cache.update_snapshot(&mut snapshot);
        let before = snapshot.nodes.clone();
        cache.add_pod(pod("p", "b"));
        assert_eq!(requested(&snapshot), [("a".to_owned(), 0), ("b".to_owned(), 0)], "a snapshot stands still");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 0), ("b".to_owned(), 1000)]);
        assert!(Arc::ptr_eq(&before[0], &snapshot.nodes[0]) && !Arc::ptr_eq(&before[1], &snapshot.nodes[1]));
    }

    #[test]
    fn assumed_pods_count_until_they_are_forgotten_or_confirmed() {
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        cache.set_node(node("a"));
        cache.assume_pod(pod("p", ""), "a");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)]);
        cache.add_pod(pod("p", "a"));
        assert!(!cache.is_assumed("p"));
        cache.forget_pod("p");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)], "a confirmed pod is not forgotten");
        cache.assume_pod(pod("q", ""), "a");
        cache.forget_pod("q");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)]);
    }

    #[test]
    fn pods_may_come_before_their_node_and_stay_after_it() {
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        cache.add_pod(pod("p", "a"));
        cache.update_snapshot(&mut snapshot);
        assert!(snapshot.is_empty());
        cache.set_node(node("a"));
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)]);
        assert_eq!(snapshot.image_nodes["i:1"], 1);
        cache.remove_node("a");
        cache.update_snapshot(&mut snapshot);
        assert!(snapshot.is_empty() && snapshot.image_nodes.is_empty());
        cache.set_node(node("a"));
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)]);
        cache.remove_pod("p");
        cache.remove_node("a");
        assert!(cache.nodes.is_empty() && cache.changes.is_empty());
    }

    #[test]
    fn a_heartbeat_replaces_the_version_and_an_image_is_counted_once_a_node() {
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        let beat = || SharedObject::of(json!({"metadata": {"name": "a", "resourceVersion": "2"}}));
        cache.refresh_node(beat());
        assert!(cache.node("a").is_none(), "a heartbeat makes no node");
        cache.set_node(node("a"));
        cache.set_node(node("a"));
        cache.set_node(node("b"));
        cache.refresh_node(beat());
        cache.update_snapshot(&mut snapshot);
        assert_eq!(snapshot.image_nodes["i:1"], 2);
        let info = snapshot.get("a").expect("a node");
        assert_eq!((info.node.meta().resource_version(), info.allocatable.milli_cpu), ("2", 4000));
    }

    #[test]
    fn a_pod_that_changes_on_its_node_is_counted_once() {
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        cache.set_node(node("a"));
        cache.set_node(node("b"));
        assert!(cache.add_pod(pod("p", "a")).is_none());
        assert!(cache.add_pod(pod("p", "a")).is_some());
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000), ("b".to_owned(), 0)]);
        assert!(!cache.is_newer_than(&snapshot));
        cache.add_pod(pod("p", "b"));
        assert!(cache.is_newer_than(&snapshot));
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 0), ("b".to_owned(), 1000)]);
        assert_eq!(snapshot.nodes.iter().map(|node| node.pods.len()).collect::<Vec<_>>(), [0, 1]);
    }
}
