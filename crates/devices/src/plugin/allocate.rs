//! The devices that one container gets of one resource
//! (upstream: devicesToAllocate and filterByAffinity of pkg/kubelet/cm/devicemanager/manager.go).
//!
//! The plugin may be asked which it prefers, so that the decision is made in two steps:
//! [`PluginDevices::begin`], and [`PluginDevices::finish`] with the plugin's answer.

use super::{Assignment, Device, NO_NUMA_NODE, PluginDevices};
use crate::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

type Ids = BTreeSet<String>;

/// What the plugin may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preference {
    pub available: Vec<String>,
    pub must_include: Vec<String>,
    pub size: usize,
    allocated: Ids,
    /// The sets to take from, after those that the plugin prefers among the first.
    from: [Ids; 3],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The container has its devices already.
    Unchanged,
    Devices(Vec<String>),
    Ask(Preference),
}

impl PluginDevices {
    /// `reusable` are devices of init containers that have ended by then, `affinity` the NUMA nodes
    /// that the topology manager has chosen.
    pub fn begin(
        &mut self,
        uid: &str,
        container: &str,
        resource: &str,
        required: usize,
        reusable: &BTreeSet<String>,
        affinity: Option<&CpuSet>,
    ) -> Result<Choice, String> {
        let present = self.pods.get(uid).and_then(|pod| pod.get(container)?.get(resource));
        let present: Option<Ids> = present.map(|own| own.ids().into_iter().map(str::to_owned).collect());
        if let Some(present) = &present
            && present.len() != required
        {
            let had = present.len();
            return Err(format!(
                "pod {uid:?} container {container:?} changed request for resource {resource:?} from {had} to {required}"
            ));
        }
        let Some(own) = self.resources.get(resource) else {
            return Err(format!("cannot allocate unregistered device {resource}"));
        };
        let healthy: Ids = own.devices.iter().filter(|(_, own)| own.is_healthy).map(|(id, _)| id.clone()).collect();
        if healthy.is_empty() {
            return Err(format!("no healthy devices present; cannot allocate unhealthy devices {resource}"));
        }
        if let Some(present) = present {
            return match present.is_subset(&healthy) {
                true => Ok(Choice::Unchanged),
                false => Err(format!(
                    "previously allocated devices are no longer healthy; cannot allocate unhealthy devices {resource}"
                )),
            };
        }
        if required == 0 {
            return Ok(Choice::Unchanged);
        }
        let mut allocated = Ids::new();
        if take(&mut allocated, required, reusable) {
            return Ok(self.promise(resource, allocated));
        }
        let in_use = self.in_use(resource);
        let available: Ids = healthy.difference(&in_use).filter(|id| !allocated.contains(*id)).cloned().collect();
        let needed = required - allocated.len();
        if available.len() < needed {
            return Err(format!(
                "requested number of devices unavailable for {resource}. Requested: {needed}, Available: {}",
                available.len()
            ));
        }
        let [aligned, unaligned, without] = filter_by_affinity(&own.devices, &available, affinity);
        let ask = |allocated: Ids, among: &Ids, from: [Ids; 3]| {
            Choice::Ask(Preference {
                available: among.union(&allocated).cloned().collect(),
                must_include: allocated.iter().cloned().collect(),
                size: required,
                allocated,
                from,
            })
        };
        if needed < aligned.len() {
            let among = aligned.clone();
            return Ok(ask(allocated, &among, [aligned, Ids::new(), Ids::new()]));
        }
        // All the aligned ones first, so that the chosen alignment is honored.
        if take(&mut allocated, required, &aligned) {
            return Ok(self.promise(resource, allocated));
        }
        Ok(ask(allocated, &available, [available.clone(), unaligned, without]))
    }

    /// `preferred` is the plugin's answer, or nothing where it has no preference.
    pub fn finish(
        &mut self,
        resource: &str,
        preference: Preference,
        preferred: &[String],
    ) -> Result<Vec<String>, String> {
        let Preference { size, mut allocated, from, .. } = preference;
        let in_use = self.in_use(resource);
        let is_free = |ids: &Ids| -> Ids { ids.difference(&in_use).cloned().collect() };
        let [first, second, third] = &from;
        let preferred: Ids = preferred.iter().filter(|id| first.contains(*id)).cloned().collect();
        // The aligned set stands in the first place where it suffices.
        let rest = if second.is_empty() && third.is_empty() { [first, second, third] } else { [second, third, first] };
        let is_done = take(&mut allocated, size, &is_free(&preferred))
            || rest.into_iter().any(|ids| take(&mut allocated, size, &is_free(ids)));
        if !is_done {
            return Err(format!(
                "unexpectedly allocated less resources than required. Requested: {size}, Got: {}",
                allocated.len()
            ));
        }
        match self.promise(resource, allocated) {
            Choice::Devices(devices) => Ok(devices),
            _ => Ok(Vec::new()),
        }
    }

    /// Keeps others from the devices until the plugin has answered.
    fn promise(&mut self, resource: &str, devices: Ids) -> Choice {
        self.promised.entry(resource.to_owned()).or_default().extend(devices.iter().cloned());
        Choice::Devices(devices.into_iter().collect())
    }

    /// The plugin did not give the devices.
    pub fn take_back(&mut self, resource: &str, devices: &[String]) {
        if let Some(promised) = self.promised.get_mut(resource) {
            promised.retain(|id| !devices.contains(id));
        }
    }

    /// The container has the devices, with the plugin's encoded answer.
    pub fn record(&mut self, uid: &str, container: &str, resource: &str, devices: &[String], response: Vec<u8>) {
        self.take_back(resource, devices);
        let known = self.resources.get(resource);
        let mut by_node: BTreeMap<i64, Vec<String>> = BTreeMap::new();
        for id in devices {
            let nodes = known.and_then(|own| own.devices.get(id)).map(|device| device.numa_nodes.clone());
            match nodes.filter(|nodes| !nodes.is_empty()) {
                Some(nodes) => {
                    for node in nodes.iter() {
                        by_node.entry(node as i64).or_default().push(id.clone());
                    }
                }
                None => by_node.entry(NO_NUMA_NODE).or_default().push(id.clone()),
            }
        }
        let containers = self.pods.entry(uid.to_owned()).or_default();
        let assignment = Assignment { devices: by_node, response };
        containers.entry(container.to_owned()).or_default().insert(resource.to_owned(), assignment);
    }

    pub(super) fn in_use(&self, resource: &str) -> Ids {
        let assigned = self.pods.values().flat_map(BTreeMap::values).filter_map(|own| own.get(resource));
        let assigned = assigned.flat_map(|own| own.ids().into_iter().map(str::to_owned).collect::<Vec<_>>());
        assigned.chain(self.promised.get(resource).into_iter().flatten().cloned()).collect()
    }
}

/// Takes from the set until there are enough.
fn take(allocated: &mut Ids, required: usize, from: &Ids) -> bool {
    for id in from {
        if allocated.len() == required {
            break;
        }
        allocated.insert(id.clone());
    }
    allocated.len() == required
}

/// Devices near the chosen NUMA nodes, near others, and near none. A device that is near several
/// counts with the node of its that has the fewest devices, the chosen ones first.
fn filter_by_affinity(all: &BTreeMap<String, Device>, available: &Ids, affinity: Option<&CpuSet>) -> [Ids; 3] {
    let has_topology = all.values().any(|device| !device.numa_nodes.is_empty());
    let Some(affinity) = affinity.filter(|_| has_topology) else {
        return [Ids::new(), Ids::new(), available.clone()];
    };
    let [mut aligned, mut unaligned, mut without] = [Ids::new(), Ids::new(), Ids::new()];
    for id in available {
        let nodes = all.get(id).map(|device| &device.numa_nodes);
        match nodes {
            Some(nodes) if !nodes.intersection(affinity).is_empty() => aligned.insert(id.clone()),
            Some(nodes) if !nodes.is_empty() => unaligned.insert(id.clone()),
            _ => without.insert(id.clone()),
        };
    }
    [aligned, unaligned, without]
}

#[cfg(test)]
mod tests {
    use super::super::tests::devices;
    use super::*;

    fn three() -> PluginDevices {
        let mut own = PluginDevices::default();
        own.connect("a/x");
        own.update("a/x", devices(&[("d1", true, &[0]), ("d2", true, &[1]), ("d3", true, &[1]), ("d4", false, &[0])]));
        own
    }

    fn choose(
        own: &mut PluginDevices,
        uid: &str,
        required: usize,
        affinity: Option<&CpuSet>,
    ) -> Result<Vec<String>, String> {
        match own.begin(uid, "c", "a/x", required, &BTreeSet::new(), affinity)? {
            Choice::Unchanged => Ok(Vec::new()),
            Choice::Devices(devices) => Ok(devices),
            Choice::Ask(preference) => own.finish("a/x", preference, &[]),
        }
    }

    #[test]
    fn healthy_devices_are_given_once() {
        let mut own = three();
        let first = choose(&mut own, "p", 2, None).expect("two are free");
        own.record("p", "c", "a/x", &first, vec![1]);
        let error = choose(&mut own, "q", 2, None).expect_err("one is left");
        assert_eq!(error, "requested number of devices unavailable for a/x. Requested: 2, Available: 1");
        assert_eq!(own.begin("p", "c", "a/x", 2, &BTreeSet::new(), None), Ok(Choice::Unchanged));
        assert_eq!(own.used()["a/x"], 2);
        let last = choose(&mut own, "q", 1, None).expect("one is left");
        assert!(choose(&mut own, "r", 1, None).is_err(), "promised while the plugin is asked");
        own.take_back("a/x", &last);
        assert_eq!(choose(&mut own, "r", 1, None), Ok(last));
    }

    #[test]
    fn mistakes_are_named_in_upstreams_words() {
        let mut own = three();
        let unknown = own.begin("p", "c", "a/y", 1, &BTreeSet::new(), None);
        assert_eq!(unknown, Err("cannot allocate unregistered device a/y".into()));
        own.record("p", "c", "a/x", &["d1".into()], Vec::new());
        own.update("a/x", devices(&[("d1", false, &[]), ("d2", true, &[])]));
        let lost = own.begin("p", "c", "a/x", 1, &BTreeSet::new(), None).expect_err("unhealthy");
        assert_eq!(lost, "previously allocated devices are no longer healthy; cannot allocate unhealthy devices a/x");
        let changed = own.begin("p", "c", "a/x", 2, &BTreeSet::new(), None).expect_err("changed");
        assert_eq!(changed, "pod \"p\" container \"c\" changed request for resource \"a/x\" from 1 to 2");
        own.update("a/x", devices(&[("d1", false, &[])]));
        let none = own.begin("q", "c", "a/x", 1, &BTreeSet::new(), None).expect_err("unhealthy");
        assert_eq!(none, "no healthy devices present; cannot allocate unhealthy devices a/x");
    }

    #[test]
    fn devices_near_the_chosen_nodes_come_first() {
        let node = |node: usize| [node].into_iter().collect::<CpuSet>();
        assert_eq!(choose(&mut three(), "p", 1, Some(&node(1))), Ok(vec!["d2".into()]));
        assert_eq!(choose(&mut three(), "p", 2, Some(&node(1))), Ok(vec!["d2".into(), "d3".into()]));
        assert_eq!(choose(&mut three(), "p", 3, Some(&node(0))).map(|all| all.len()), Ok(3));
    }

    #[test]
    fn the_plugin_may_prefer() {
        let mut own = three();
        let Ok(Choice::Ask(preference)) = own.begin("p", "c", "a/x", 1, &BTreeSet::new(), None) else {
            panic!("the plugin is asked");
        };
        assert_eq!((preference.available.len(), preference.size), (3, 1));
        assert_eq!(own.finish("a/x", preference, &["d3".into(), "no-such".into()]), Ok(vec!["d3".into()]));
    }

    #[test]
    fn devices_of_ended_init_containers_are_used_again() {
        let mut own = three();
        own.record("p", "init", "a/x", &["d1".into(), "d2".into(), "d3".into()], Vec::new());
        let reusable = BTreeSet::from(["d2".to_owned()]);
        let choice = own.begin("p", "c", "a/x", 1, &reusable, None);
        assert_eq!(choice, Ok(Choice::Devices(vec!["d2".into()])));
    }
}
