//! The NUMA nodes that a container's CPUs could come from
//! (upstream: generateCPUTopologyHints of pkg/kubelet/cm/cpumanager/policy_static.go).

use super::CpuManager;
use crate::CpuSet;
use crate::topology::{Hint, Hints, masks_of};

impl CpuManager {
    /// `None` for a container without exclusive CPUs.
    pub fn hints(&self, uid: &str, container: &str, count: usize, reusable: &CpuSet) -> Hints {
        if count == 0 {
            return None;
        }
        let nodes = self.topology.numa_nodes();
        if let Some(own) = self.of_container(uid, container) {
            // A changed request has no hint: it is rejected.
            if own.len() != count {
                return Some(Vec::new());
            }
            return Some(self.generate(&nodes, own, &CpuSet::new(), count));
        }
        let available = self.shared.difference(&self.reserved);
        Some(self.generate(&nodes, &available, reusable, count))
    }

    fn generate(&self, nodes: &CpuSet, available: &CpuSet, reusable: &CpuSet, count: usize) -> Vec<Hint> {
        let mut least = nodes.len();
        let mut hints = Vec::new();
        for mask in masks_of(nodes) {
            let cpus = self.topology.cpus_of_nodes(&mask);
            if cpus.len() >= count {
                least = least.min(mask.len());
            }
            let can_reuse = reusable.is_subset(&cpus);
            if can_reuse && available.union(reusable).intersection(&cpus).len() >= count {
                hints.push(Hint { nodes: Some(mask), is_preferred: false });
            }
        }
        for hint in &mut hints {
            hint.is_preferred = hint.nodes.as_ref().is_some_and(|nodes| nodes.len() == least);
        }
        hints
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, set};
    use super::super::{CpuManager, Options};
    use super::*;

    #[test]
    fn nodes_with_enough_free_cpus_are_hints() {
        let mut own = CpuManager::new(machine(), Options::default(), &set("0"), 0).expect("reserved");
        let show = |hints: Hints| -> Vec<(String, bool)> {
            let hints = hints.expect("hints").into_iter();
            hints.map(|hint| (hint.nodes.expect("nodes").to_string(), hint.is_preferred)).collect()
        };
        let all = |mask: &str, preferred| (mask.to_owned(), preferred);
        assert_eq!(show(own.hints("p", "c", 4, &CpuSet::new())), [all("1", true), all("0-1", false)]);
        assert_eq!(show(own.hints("p", "c", 6, &CpuSet::new())), [all("0-1", true)]);
        assert!(show(own.hints("p", "c", 8, &CpuSet::new())).is_empty());
        assert_eq!(own.hints("p", "c", 0, &CpuSet::new()), None);
        own.allocate("p", "c", 2, &CpuSet::new(), Some(&set("1"))).expect("free");
        assert_eq!(show(own.hints("p", "c", 2, &CpuSet::new())), [all("1", true), all("0-1", false)]);
        assert!(show(own.hints("p", "c", 3, &CpuSet::new())).is_empty());
    }
}
