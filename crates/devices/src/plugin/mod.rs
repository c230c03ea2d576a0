//! Devices of device plugins: which there are, which are healthy, and which container has which
//! (upstream: pkg/kubelet/cm/devicemanager). The kubelet feeds in what plugins list, asks
//! [`PluginDevices::begin`] at a pod's admission, and records what a plugin answered.

mod allocate;
mod checkpoint;
mod hints;

pub use allocate::{Choice, Preference};

use crate::CpuSet;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// A plugin that has gone is waited for this long before its devices are forgotten.
pub const STOP_GRACE_PERIOD: Duration = Duration::from_secs(5 * 60);
/// The NUMA node of devices that are near none.
pub const NO_NUMA_NODE: i64 = -1;

/// One device as its plugin lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    pub is_healthy: bool,
    pub numa_nodes: CpuSet,
}

/// What one resource's plugin has listed.
#[derive(Clone, Debug, Default)]
struct Resource {
    devices: BTreeMap<String, Device>,
    /// When the plugin was lost; one of before the kubelet's start was lost at the start.
    stopped: Option<Instant>,
}

/// The devices of one container and one resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// Ids by NUMA node.
    pub devices: BTreeMap<i64, Vec<String>>,
    /// The plugin's answer (ContainerAllocateResponse), encoded.
    pub response: Vec<u8>,
}

impl Assignment {
    pub fn ids(&self) -> BTreeSet<&str> {
        self.devices.values().flatten().map(String::as_str).collect()
    }
}

/// By container, then by resource.
type PodAssignments = BTreeMap<String, BTreeMap<String, Assignment>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Healthy,
    Unhealthy,
    Unknown,
}

/// The health of an assigned device, as a container's status shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceHealth {
    pub id: String,
    pub health: Health,
    pub message: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct PluginDevices {
    resources: BTreeMap<String, Resource>,
    /// By pod uid.
    pods: BTreeMap<String, PodAssignments>,
    /// Devices that are promised while their plugin is asked.
    promised: BTreeMap<String, BTreeSet<String>>,
}

/// How many devices of a resource there are, and how many may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceCount {
    pub capacity: usize,
    pub allocatable: usize,
}

impl PluginDevices {
    /// A plugin has registered; its devices are those of its first list.
    pub fn connect(&mut self, resource: &str) {
        self.resources.entry(resource.to_owned()).or_default().stopped = None;
    }

    /// The plugin is gone: none of its devices may be used until it comes back.
    pub fn disconnect(&mut self, resource: &str, now: Instant) -> BTreeSet<String> {
        let Some(own) = self.resources.get_mut(resource) else { return BTreeSet::new() };
        own.stopped = Some(now);
        for device in own.devices.values_mut() {
            device.is_healthy = false;
        }
        self.users(resource, |_| true)
    }

    /// Takes over a plugin's list and returns the pods of which a device has changed its health.
    pub fn update(&mut self, resource: &str, devices: BTreeMap<String, Device>) -> BTreeSet<String> {
        let own = self.resources.entry(resource.to_owned()).or_default();
        let old = std::mem::replace(&mut own.devices, devices.clone());
        self.users(resource, |id| {
            let (before, now) = (old.get(id), devices.get(id));
            before.map(|device| device.is_healthy) != now.map(|device| device.is_healthy)
        })
    }

    fn users(&self, resource: &str, concerns: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let uses = |assignments: &PodAssignments| {
            assignments.values().filter_map(|own| own.get(resource)).any(|own| own.ids().into_iter().any(&concerns))
        };
        self.pods.iter().filter(|(_, assignments)| uses(assignments)).map(|(uid, _)| uid.clone()).collect()
    }

    /// A plugin's resource, or one of which a pod still has devices.
    pub fn is_plugin_resource(&self, resource: &str) -> bool {
        self.resources.contains_key(resource)
            || self.pods.values().flat_map(BTreeMap::values).any(|own| own.contains_key(resource))
    }

    /// The counts for the node's status. Resources whose plugin has been gone for too long are
    /// forgotten here, and missing from the answer.
    pub fn counts(&mut self, now: Instant) -> BTreeMap<String, ResourceCount> {
        let is_awaited =
            |own: &Resource| own.stopped.is_none_or(|at| now.saturating_duration_since(at) < STOP_GRACE_PERIOD);
        self.resources.retain(|_, own| is_awaited(own));
        let count = |own: &Resource| ResourceCount {
            capacity: own.devices.len(),
            allocatable: own.devices.values().filter(|device| device.is_healthy).count(),
        };
        self.resources.iter().map(|(name, own)| (name.clone(), count(own))).collect()
    }

    /// When [`Self::counts`] forgets the next resource.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.resources.values().filter_map(|own| Some(own.stopped? + STOP_GRACE_PERIOD)).min()
    }

    /// The healthy devices of every resource.
    pub fn allocatable(&self) -> impl Iterator<Item = (&str, &str, &Device)> {
        self.resources.iter().flat_map(|(name, own)| {
            let healthy = own.devices.iter().filter(|(_, device)| device.is_healthy);
            healthy.map(move |(id, device)| (name.as_str(), id.as_str(), device))
        })
    }

    pub fn has_pod(&self, uid: &str) -> bool {
        self.pods.contains_key(uid)
    }

    /// How many devices of each resource pods have.
    pub fn used(&self) -> BTreeMap<String, usize> {
        let mut out = BTreeMap::new();
        for (name, own) in self.pods.values().flat_map(BTreeMap::values).flatten() {
            *out.entry(name.clone()).or_default() += own.ids().len();
        }
        out
    }

    /// The assignments of one container by resource.
    pub fn of_container(&self, uid: &str, container: &str) -> impl Iterator<Item = (&str, &Assignment)> {
        let own = self.pods.get(uid).and_then(|pod| pod.get(container));
        own.into_iter().flatten().map(|(resource, assignment)| (resource.as_str(), assignment))
    }

    /// The health of a container's devices by resource. A device that its plugin no longer lists
    /// counts as healthy, as upstream has it.
    pub fn health(&self, uid: &str, container: &str) -> BTreeMap<String, Vec<DeviceHealth>> {
        let health = |resource: &str, id: &str| {
            let known = self.resources.get(resource).and_then(|own| own.devices.get(id));
            let is_healthy = known.is_none_or(|device| device.is_healthy);
            let health = if is_healthy { Health::Healthy } else { Health::Unhealthy };
            DeviceHealth { id: id.to_owned(), health, message: None }
        };
        let all = self.of_container(uid, container);
        all.map(|(resource, own)| {
            let devices = own.ids().into_iter().map(|id| health(resource, id)).collect();
            (resource.to_owned(), devices)
        })
        .collect()
    }

    pub fn remove_pod(&mut self, uid: &str) -> bool {
        self.pods.remove(uid).is_some()
    }

    /// Frees the devices of pods that are not among these.
    pub fn retain_pods(&mut self, is_active: impl Fn(&str) -> bool) -> bool {
        let before = self.pods.len();
        self.pods.retain(|uid, _| is_active(uid));
        before != self.pods.len()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn devices(list: &[(&str, bool, &[usize])]) -> BTreeMap<String, Device> {
        let device = |is_healthy, nodes: &[usize]| Device { is_healthy, numa_nodes: nodes.iter().copied().collect() };
        list.iter().map(|(id, is_healthy, nodes)| ((*id).to_owned(), device(*is_healthy, nodes))).collect()
    }

    #[test]
    fn counts_follow_the_plugin() {
        let mut own = PluginDevices::default();
        own.connect("a/x");
        own.update("a/x", devices(&[("d1", true, &[]), ("d2", false, &[])]));
        let now = Instant::now();
        assert_eq!(own.counts(now)["a/x"], ResourceCount { capacity: 2, allocatable: 1 });
        own.disconnect("a/x", now);
        assert_eq!(own.counts(now)["a/x"], ResourceCount { capacity: 2, allocatable: 0 });
        assert_eq!(own.next_expiry(), Some(now + STOP_GRACE_PERIOD));
        assert!(own.counts(now + STOP_GRACE_PERIOD).is_empty());
        assert!(!own.is_plugin_resource("a/x"));
    }

    #[test]
    fn pods_are_told_of_devices_that_change_their_health() {
        let mut own = PluginDevices::default();
        own.update("a/x", devices(&[("d1", true, &[]), ("d2", true, &[])]));
        own.record("p", "c", "a/x", &["d1".to_owned()], Vec::new());
        assert!(own.update("a/x", devices(&[("d1", true, &[]), ("d2", false, &[])])).is_empty());
        let changed = own.update("a/x", devices(&[("d1", false, &[]), ("d2", false, &[])]));
        assert_eq!(changed, BTreeSet::from(["p".to_owned()]));
        let unhealthy = DeviceHealth { id: "d1".into(), health: Health::Unhealthy, message: None };
        assert_eq!(own.health("p", "c")["a/x"], [unhealthy]);
        assert_eq!(own.update("a/x", BTreeMap::new()), BTreeSet::from(["p".to_owned()]));
        assert_eq!(own.health("p", "c")["a/x"][0].health, Health::Healthy);
        assert!(own.remove_pod("p") && !own.has_pod("p"));
    }
}
