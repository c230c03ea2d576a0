//! The choice of CPUs: whole sockets first, then NUMA nodes, then cores, then single threads where
//! others of the container are already (upstream: takeByTopologyNUMAPacked of
//! pkg/kubelet/cm/cpumanager/cpu_assignment.go).

use super::CpuTopology;
use crate::CpuSet;
use std::collections::BTreeMap;

/// `None` where there are fewer.
pub fn take_cpus(topology: &CpuTopology, available: &CpuSet, count: usize, spread_over_cores: bool) -> Option<CpuSet> {
    if available.len() < count {
        return None;
    }
    let mut taken = CpuSet::new();
    let mut free = available.clone();
    let take = |taken: &mut CpuSet, free: &mut CpuSet, cpus: CpuSet| {
        *free = free.difference(&cpus);
        *taken = taken.union(&cpus);
    };
    if !spread_over_cores {
        let levels: [fn(&CpuTopology, usize) -> usize; 3] = [
            |topology, cpu| topology.get(cpu).socket,
            |topology, cpu| topology.get(cpu).numa_node,
            |topology, cpu| topology.get(cpu).core,
        ];
        for level in levels {
            for whole in whole_groups(topology, &free, level) {
                if taken.len() + whole.len() <= count && whole.is_subset(&free) {
                    take(&mut taken, &mut free, whole);
                }
            }
        }
    }
    while taken.len() < count {
        let cpu = next_cpu(topology, &free, &taken, available, spread_over_cores)?;
        take(&mut taken, &mut free, [cpu].into_iter().collect());
    }
    Some(taken)
}

/// The groups of which every CPU is free: those of sockets with the fewest free CPUs first, so that
/// others stay whole.
fn whole_groups(topology: &CpuTopology, free: &CpuSet, level: fn(&CpuTopology, usize) -> usize) -> Vec<CpuSet> {
    let mut groups: BTreeMap<usize, CpuSet> = BTreeMap::new();
    for cpu in topology.cpus().iter() {
        groups.entry(level(topology, cpu)).or_default().insert(cpu);
    }
    let free_of_socket = |group: &CpuSet| {
        let socket = group.first().map(|cpu| topology.get(cpu).socket);
        free.iter().filter(|cpu| Some(topology.get(*cpu).socket) == socket).count()
    };
    let mut whole: Vec<CpuSet> = groups.into_values().filter(|group| group.is_subset(free)).collect();
    whole.sort_by_key(|group| (free_of_socket(group), group.first()));
    whole
}

/// On the socket and the core that have the most of the container already, and of the others those
/// with the fewest free CPUs.
fn next_cpu(
    topology: &CpuTopology,
    free: &CpuSet,
    taken: &CpuSet,
    available: &CpuSet,
    spread_over_cores: bool,
) -> Option<usize> {
    let count = |cpus: &CpuSet, same: &dyn Fn(usize) -> bool| cpus.iter().filter(|cpu| same(*cpu)).count();
    free.iter().min_by_key(|&cpu| {
        let own = topology.get(cpu);
        let same_socket = |other: usize| topology.get(other).socket == own.socket;
        let same_core = |other: usize| topology.get(other).core == own.core;
        let on_core = count(taken, &same_core);
        let spread = if spread_over_cores { on_core } else { 0 };
        (
            spread,
            std::cmp::Reverse(count(taken, &same_socket)),
            count(available, &same_socket),
            count(available, &same_core),
            own.socket,
            own.core,
            cpu,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{machine, set};
    use super::*;

    fn check(available: &str, count: usize, expected: Option<&str>) {
        let taken = take_cpus(&machine(), &set(available), count, false).map(|taken| taken.to_string());
        assert_eq!(taken.as_deref(), expected, "{count} of {available}");
    }

    #[test]
    fn whole_sockets_cores_and_then_threads_are_taken() {
        check("0-7", 4, Some("0-1,4-5"));
        check("0-7", 2, Some("0,4"));
        check("0-7", 1, Some("0"));
        check("0-7", 6, Some("0-2,4-6"));
        check("1-7", 2, Some("1,5"));
        check("1-7", 3, Some("1,4-5"));
        check("1-7", 4, Some("2-3,6-7"));
        check("0,2", 3, None);
    }

    #[test]
    fn a_broken_core_is_used_before_a_whole_one() {
        check("1-7", 1, Some("4"));
        check("0-3,5-7", 1, Some("0"));
    }

    #[test]
    fn threads_of_many_cores_are_taken_where_that_is_asked() {
        let taken = take_cpus(&machine(), &set("0-7"), 4, true).expect("enough");
        assert_eq!(taken.to_string(), "0-3");
    }
}
