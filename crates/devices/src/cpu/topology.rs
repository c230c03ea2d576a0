//! The CPUs of a machine and where each is.

use crate::CpuSet;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuInfo {
    /// Unique in the machine.
    pub core: usize,
    pub socket: usize,
    pub numa_node: usize,
}

#[derive(Clone, Debug, Default)]
pub struct CpuTopology {
    cpus: BTreeMap<usize, CpuInfo>,
}

impl CpuTopology {
    pub fn new(cpus: impl IntoIterator<Item = (usize, CpuInfo)>) -> Self {
        Self { cpus: cpus.into_iter().collect() }
    }

    pub fn get(&self, cpu: usize) -> CpuInfo {
        self.cpus.get(&cpu).copied().unwrap_or_default()
    }

    pub fn cpus(&self) -> CpuSet {
        self.cpus.keys().copied().collect()
    }

    pub fn numa_nodes(&self) -> CpuSet {
        self.cpus.values().map(|info| info.numa_node).collect()
    }

    pub fn cpus_of_nodes(&self, nodes: &CpuSet) -> CpuSet {
        self.cpus.iter().filter(|(_, info)| nodes.contains(info.numa_node)).map(|(cpu, _)| *cpu).collect()
    }

    /// All CPUs of the cores that have one of these.
    pub fn cpus_of_cores_with(&self, cpus: &CpuSet) -> CpuSet {
        let cores: BTreeSet<usize> = cpus.iter().map(|cpu| self.get(cpu).core).collect();
        self.cpus.iter().filter(|(_, info)| cores.contains(&info.core)).map(|(cpu, _)| *cpu).collect()
    }

    pub fn threads_per_core(&self) -> usize {
        let cores: BTreeSet<usize> = self.cpus.values().map(|info| info.core).collect();
        if cores.is_empty() { 0 } else { self.cpus.len() / cores.len() }
    }
}
