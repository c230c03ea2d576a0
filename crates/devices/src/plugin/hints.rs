//! The NUMA nodes that a container's devices could come from
//! (upstream: pkg/kubelet/cm/devicemanager/topology_hints.go).

use super::PluginDevices;
use crate::CpuSet;
use crate::topology::{Hint, Hints, masks_of};
use std::collections::BTreeSet;

impl PluginDevices {
    /// The hints for `required` devices of a resource; `None` where its devices are near no node.
    pub fn hints(
        &self,
        uid: &str,
        container: &str,
        resource: &str,
        required: usize,
        reusable: &BTreeSet<String>,
        numa_nodes: &CpuSet,
    ) -> Hints {
        let own = self.resources.get(resource)?;
        if !own.devices.values().any(|device| !device.numa_nodes.is_empty()) {
            return None;
        }
        let present = self.pods.get(uid).and_then(|pod| pod.get(container)?.get(resource));
        let healthy = |id: &&String| own.devices.get(*id).is_some_and(|device| device.is_healthy);
        let (free, reusable): (BTreeSet<String>, BTreeSet<String>) = match present {
            // What is assigned already is the only choice, and must still be enough.
            Some(present) if present.ids().len() != required => return Some(Vec::new()),
            Some(present) => {
                let ids: BTreeSet<String> = present.ids().into_iter().map(str::to_owned).collect();
                (ids.clone(), ids)
            }
            None => {
                let in_use = self.in_use(resource);
                let is_free = |id: &&String| !in_use.contains(*id) || reusable.contains(*id);
                (own.devices.keys().filter(healthy).filter(is_free).cloned().collect(), reusable.clone())
            }
        };
        if free.len() < required {
            return Some(Vec::new());
        }
        let near = |id: &String, mask: &CpuSet| {
            let nodes = own.devices.get(id).map(|device| device.numa_nodes.clone()).unwrap_or_default();
            nodes.is_empty() || !nodes.intersection(mask).is_empty()
        };
        let mut least = numa_nodes.len();
        let mut hints = Vec::new();
        for mask in masks_of(numa_nodes) {
            // How few nodes could do, were every device free.
            if own.devices.keys().filter(|id| near(id, &mask)).count() >= required {
                least = least.min(mask.len());
            }
            let is_all_reused = reusable.iter().all(|id| near(id, &mask));
            if is_all_reused && free.iter().filter(|id| near(id, &mask)).count() >= required {
                hints.push(Hint { nodes: Some(mask), is_preferred: false });
            }
        }
        for hint in &mut hints {
            hint.is_preferred = hint.nodes.as_ref().is_some_and(|nodes| nodes.len() == least);
        }
        Some(hints)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::devices;
    use super::*;

    fn hints(own: &PluginDevices, required: usize) -> Vec<(String, bool)> {
        let nodes: CpuSet = [0, 1].into_iter().collect();
        let hints = own.hints("p", "c", "a/x", required, &BTreeSet::new(), &nodes).expect("near nodes");
        hints.into_iter().map(|hint| (hint.nodes.expect("a mask").to_string(), hint.is_preferred)).collect()
    }

    #[test]
    fn masks_with_enough_devices_are_hints_and_the_narrowest_are_preferred() {
        let mut own = PluginDevices::default();
        own.update("a/x", devices(&[("d1", true, &[0]), ("d2", true, &[1]), ("d3", true, &[1])]));
        assert_eq!(hints(&own, 1), [("0".into(), true), ("1".into(), true), ("0-1".into(), false)]);
        assert_eq!(hints(&own, 2), [("1".into(), true), ("0-1".into(), false)]);
        own.record("q", "c", "a/x", &["d2".into()], Vec::new());
        assert_eq!(hints(&own, 2), [("0-1".into(), false)], "node 1 alone would do, were it free");
        assert!(hints(&own, 3).is_empty());
        own.update("a/y", devices(&[("e", true, &[])]));
        assert_eq!(own.hints("p", "c", "a/y", 1, &BTreeSet::new(), &CpuSet::new()), None);
    }
}
