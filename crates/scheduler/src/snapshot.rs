//! What the cluster looks like to one scheduling cycle: the nodes with what runs on them.
//!
//! The cache follows the watch and assumes placements before they are bound; a snapshot
//! of it is what a cycle decides on. Nodes are shared between the two and copied only
//! when they change under a snapshot, so taking one costs what changed since the last.

use crate::resources::{Resources, compute_non_zero_requests, compute_requests};
use crate::view::{Node, Pod};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A port of the host that a pod takes. An empty address is all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort {
    pub ip: String,
    pub protocol: String,
    pub port: i32,
}

impl HostPort {
    const ALL: &str = "0.0.0.0";

    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || self.ip == Self::ALL || other.ip == Self::ALL)
    }
}

/// The host ports that a pod asks for; those of sidecars count, those of other init
/// containers are gone before they matter.
pub fn host_ports(pod: &Pod) -> Vec<HostPort> {
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.restart_policy.as_deref() == Some("Always"));
    let or = |text: &str, default: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
    pod.spec
        .containers
        .iter()
        .chain(sidecars)
        .flat_map(|container| &container.ports)
        .filter(|port| port.host_port > 0)
        .map(|port| HostPort {
            ip: or(&port.host_ip, HostPort::ALL),
            protocol: or(&port.protocol, "TCP"),
            port: port.host_port,
        })
        .collect()
}

/// What is kept of a pod that is on a node.
#[derive(Debug)]
pub struct PodInfo {
    pub uid: String,
    pub namespace: String,
    pub name: String,
    pub priority: i32,
    pub requests: Resources,
    pub non_zero_requests: Resources,
    pub ports: Vec<HostPort>,
    pub is_deleting: bool,
    /// When it started, in nanoseconds; pods that have not are the youngest.
    pub started: i128,
}

impl PodInfo {
    pub fn of(pod: &Pod) -> Self {
        Self {
            uid: pod.uid().to_owned(),
            namespace: pod.namespace().to_owned(),
            name: pod.name().to_owned(),
            priority: pod.spec.priority,
            requests: compute_requests(pod),
            non_zero_requests: compute_non_zero_requests(pod),
            ports: host_ports(pod),
            is_deleting: pod.is_deleting(),
            started: pod.status.start_time.as_ref().map_or(i128::MAX, |time| time.0.as_nanosecond()),
        }
    }
}

/// One node and what is on it.
#[derive(Clone, Debug, Default)]
pub struct NodeInfo {
    pub node: Arc<Node>,
    pub allocatable: Resources,
    pub requested: Resources,
    pub non_zero_requested: Resources,
    pub pods: Vec<Arc<PodInfo>>,
    /// Sizes of the images that are on the node, by name.
    pub images: Arc<HashMap<String, i64>>,
}

impl NodeInfo {
    pub fn of(node: Arc<Node>) -> Self {
        let mut info = Self::default();
        info.set_node(node);
        info
    }

    fn set_node(&mut self, node: Arc<Node>) {
        self.allocatable = Resources::of(&node.status.allocatable);
        self.images = Arc::new(
            node.status
                .images
                .iter()
                .flat_map(|image| image.names.iter().map(|name| (name.clone(), image.size_bytes)))
                .collect(),
        );
        self.node = node;
    }

    pub fn name(&self) -> &str {
        self.node.name()
    }

    pub fn add_pod(&mut self, pod: Arc<PodInfo>) {
        self.requested.add(&pod.requests);
        self.non_zero_requested.add(&pod.non_zero_requests);
        self.pods.push(pod);
    }

    pub fn remove_pod(&mut self, uid: &str) -> Option<Arc<PodInfo>> {
        let index = self.pods.iter().position(|pod| pod.uid == uid)?;
        let pod = self.pods.swap_remove(index);
        self.requested.subtract(&pod.requests);
        self.non_zero_requested.subtract(&pod.non_zero_requests);
        Some(pod)
    }

    pub fn ports(&self) -> impl Iterator<Item = &HostPort> {
        self.pods.iter().flat_map(|pod| &pod.ports)
    }
}

struct Slot {
    info: Arc<NodeInfo>,
    /// When it changed last; the key of the slot in `Cache::changes`.
    generation: u64,
    /// Pods may be known before their node is.
    has_node: bool,
}

struct Placed {
    node: String,
    is_assumed: bool,
}

/// The nodes and placed pods as the watch has told them, and the placements assumed.
#[derive(Default)]
pub struct Cache {
    nodes: HashMap<String, Slot>,
    /// Names by the generation of their last change: what is after a snapshot's
    /// generation is all that it has to look at.
    changes: BTreeMap<u64, String>,
    generation: u64,
    /// Raised when a node comes or goes, which changes the list and not only an entry.
    membership: u64,
    pods: HashMap<String, Placed>,
    /// On how many nodes each image is.
    image_nodes: HashMap<String, usize>,
}

/// A view of the cache that does not change during a cycle.
#[derive(Default)]
pub struct Snapshot {
    pub nodes: Vec<Arc<NodeInfo>>,
    index: HashMap<String, usize>,
    generation: u64,
    membership: u64,
    pub image_nodes: HashMap<String, usize>,
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

    /// A snapshot of nodes alone; for tests and trials.
    pub fn of(nodes: Vec<NodeInfo>) -> Self {
        let mut cache = Cache::default();
        for info in nodes {
            let name = info.name().to_owned();
            cache.set_node(info.node.clone());
            if let Some(slot) = cache.nodes.get_mut(&name) {
                slot.info = Arc::new(info);
            }
        }
        let mut snapshot = Self::default();
        cache.update_snapshot(&mut snapshot);
        snapshot
    }
}

impl Cache {
    fn touch(&mut self, name: &str) -> Option<&mut NodeInfo> {
        let slot = self.nodes.get_mut(name)?;
        self.changes.remove(&slot.generation);
        self.generation += 1;
        slot.generation = self.generation;
        self.changes.insert(self.generation, name.to_owned());
        Some(Arc::make_mut(&mut slot.info))
    }

    fn touch_or_create(&mut self, name: &str) -> Option<&mut NodeInfo> {
        if !self.nodes.contains_key(name) {
            let slot = Slot { info: Arc::default(), generation: 0, has_node: false };
            self.nodes.insert(name.to_owned(), slot);
        }
        self.touch(name)
    }

    fn count_images(&mut self, name: &str, by: isize) {
        let Some(slot) = self.nodes.get(name) else { return };
        for image in slot.info.images.clone().keys() {
            let count = self.image_nodes.entry(image.clone()).or_default();
            *count = count.saturating_add_signed(by);
            if *count == 0 {
                self.image_nodes.remove(image);
            }
        }
    }

    pub fn set_node(&mut self, node: Arc<Node>) {
        let name = node.name().to_owned();
        self.count_images(&name, -1);
        if let Some(info) = self.touch_or_create(&name) {
            info.set_node(node);
        }
        self.count_images(&name, 1);
        if let Some(slot) = self.nodes.get_mut(&name)
            && !slot.has_node
        {
            slot.has_node = true;
            self.membership += 1;
        }
    }

    /// Pods that are still on the node are remembered until they go too.
    pub fn remove_node(&mut self, name: &str) {
        self.count_images(name, -1);
        let Some(slot) = self.nodes.get_mut(name) else { return };
        slot.has_node = false;
        self.membership += 1;
        if slot.info.pods.is_empty() {
            self.changes.remove(&slot.generation);
            self.nodes.remove(name);
        } else if let Some(info) = self.touch(name) {
            info.node = Arc::default();
            info.images = Arc::default();
        }
    }

    /// A pod that is on a node, as the API has it. Confirms an assumed one.
    pub fn add_pod(&mut self, pod: &Pod) {
        self.remove_pod(pod.uid());
        self.place(pod, &pod.spec.node_name, false);
    }

    /// A pod that is about to be bound to a node.
    pub fn assume_pod(&mut self, pod: &Pod, node: &str) {
        self.remove_pod(pod.uid());
        self.place(pod, node, true);
    }

    fn place(&mut self, pod: &Pod, node: &str, is_assumed: bool) {
        let info = Arc::new(PodInfo::of(pod));
        if let Some(slot) = self.touch_or_create(node) {
            slot.add_pod(info);
        }
        self.pods.insert(pod.uid().to_owned(), Placed { node: node.to_owned(), is_assumed });
    }

    pub fn remove_pod(&mut self, uid: &str) {
        let Some(placed) = self.pods.remove(uid) else { return };
        if let Some(info) = self.touch(&placed.node) {
            info.remove_pod(uid);
        }
        let is_abandoned = self.nodes.get(&placed.node).is_some_and(|slot| !slot.has_node && slot.info.pods.is_empty());
        if is_abandoned && let Some(slot) = self.nodes.remove(&placed.node) {
            self.changes.remove(&slot.generation);
        }
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

    /// Brings a snapshot up to date.
    pub fn update_snapshot(&self, snapshot: &mut Snapshot) {
        if snapshot.membership != self.membership {
            let names: BTreeSet<&String> =
                self.nodes.iter().filter(|(_, slot)| slot.has_node).map(|(name, _)| name).collect();
            snapshot.nodes = names.iter().map(|name| self.nodes[*name].info.clone()).collect();
            snapshot.index = names.into_iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
            snapshot.membership = self.membership;
        } else {
            for name in self.changes.range(snapshot.generation + 1..).map(|(_, name)| name) {
                if let (Some(slot), Some(&index)) = (self.nodes.get(name), snapshot.index.get(name)) {
                    snapshot.nodes[index] = slot.info.clone();
                }
            }
        }
        if snapshot.generation != self.generation {
            snapshot.image_nodes.clone_from(&self.image_nodes);
        }
        snapshot.generation = self.generation;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(name: &str) -> Arc<Node> {
        Arc::new(
            serde_json::from_value(json!({
                "metadata": {"name": name},
                "status": {"allocatable": {"cpu": "4", "pods": "10"}, "images": [{"names": ["i:1"], "sizeBytes": 10}]},
            }))
            .expect("a node"),
        )
    }

    fn pod(name: &str, node: &str) -> Pod {
        serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"nodeName": node, "containers": [{"resources": {"requests": {"cpu": "1"}}}]},
        }))
        .expect("a pod")
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
        cache.add_pod(&pod("p", "b"));
        assert_eq!(requested(&snapshot), [("a".to_owned(), 0), ("b".to_owned(), 0)], "a snapshot stands still");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 0), ("b".to_owned(), 1000)]);
        assert!(Arc::ptr_eq(&before[0], &snapshot.nodes[0]) && !Arc::ptr_eq(&before[1], &snapshot.nodes[1]));
    }

    #[test]
    fn assumed_pods_count_until_they_are_forgotten_or_confirmed() {
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        cache.set_node(node("a"));
        cache.assume_pod(&pod("p", ""), "a");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)]);
        cache.add_pod(&pod("p", "a"));
        assert!(!cache.is_assumed("p"));
        cache.forget_pod("p");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)], "a confirmed pod is not forgotten");
        cache.assume_pod(&pod("q", ""), "a");
        cache.forget_pod("q");
        cache.update_snapshot(&mut snapshot);
        assert_eq!(requested(&snapshot), [("a".to_owned(), 1000)]);
    }

    #[test]
    fn pods_may_come_before_their_node_and_stay_after_it() {
        let (mut cache, mut snapshot) = (Cache::default(), Snapshot::default());
        cache.add_pod(&pod("p", "a"));
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
}
