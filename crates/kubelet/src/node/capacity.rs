//! How much this machine has, and how much of it pods may use.

use crate::Config;
use ferry_api::quantity::{Format, Quantity};
use ferry_eviction::signal::Signal;
use ferry_eviction::threshold::Threshold;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capacity {
    pub cpus: u64,
    pub memory: u64,
    pub storage: u64,
    pub pods: u32,
    /// Kept back from pods: the hard eviction thresholds.
    pub reserved_memory: u64,
    pub reserved_storage: u64,
}

pub fn read_capacity(config: &Config) -> Capacity {
    let root = config.root_dir.as_path();
    let storage = nix::sys::statvfs::statvfs(root).map(|fs| fs.blocks() * fs.fragment_size()).unwrap_or(0);
    let memory = meminfo("MemTotal:").unwrap_or(0);
    let thresholds = config.settings.eviction.thresholds().unwrap_or_default();
    Capacity {
        cpus: count_cpus(),
        memory,
        storage,
        pods: config.max_pods,
        reserved_memory: reserved(&thresholds, Signal::MemoryAvailable, memory),
        reserved_storage: reserved(&thresholds, Signal::NodeFsAvailable, storage),
    }
}

/// Upstream: `hardEvictionReservation` of pkg/kubelet/cm/node_container_manager_linux.go.
fn reserved(thresholds: &[Threshold], signal: Signal, capacity: u64) -> u64 {
    let capacity = Quantity::from_int(i64::try_from(capacity).unwrap_or(i64::MAX), Format::BinarySi);
    let hard = thresholds.iter().find(|known| known.signal == signal && known.is_hard());
    hard.and_then(|known| u64::try_from(known.value.quantity(capacity).value()).ok()).unwrap_or(0)
}

impl Capacity {
    pub fn allocatable_memory(&self) -> u64 {
        self.memory.saturating_sub(self.reserved_memory)
    }

    pub fn allocatable_storage(&self) -> u64 {
        self.storage.saturating_sub(self.reserved_storage)
    }

    /// The quantities of each resource, as a node's status has them.
    pub fn render_capacity(&self) -> BTreeMap<&'static str, String> {
        self.render(format!("{}Ki", self.memory / 1024), format!("{}Ki", self.storage / 1024))
    }

    pub fn render_allocatable(&self) -> BTreeMap<&'static str, String> {
        self.render(format!("{}Ki", self.allocatable_memory() / 1024), self.allocatable_storage().to_string())
    }

    fn render(&self, memory: String, storage: String) -> BTreeMap<&'static str, String> {
        BTreeMap::from([
            ("cpu", self.cpus.to_string()),
            ("memory", memory),
            ("ephemeral-storage", storage),
            ("pods", self.pods.to_string()),
            ("hugepages-1Gi", "0".into()),
            ("hugepages-2Mi", "0".into()),
        ])
    }
}

/// Processors that are online, whatever this process itself may use.
fn count_cpus() -> u64 {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let count: u64 = text
        .trim()
        .split(',')
        .filter_map(|range| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            Some(last.saturating_sub(first) + 1)
        })
        .sum();
    if count > 0 { count } else { std::thread::available_parallelism().map_or(1, |n| n.get() as u64) }
}

/// A line of /proc/meminfo in bytes.
pub(super) fn meminfo(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_may_use_less_than_there_is() {
        let thresholds = ferry_eviction::settings::EvictionSettings::default().thresholds().expect("read");
        let capacity = Capacity {
            cpus: 2,
            memory: 1 << 30,
            storage: 1000,
            pods: 110,
            reserved_memory: reserved(&thresholds, Signal::MemoryAvailable, 1 << 30),
            reserved_storage: reserved(&thresholds, Signal::NodeFsAvailable, 1000),
        };
        assert_eq!(capacity.render_capacity()["memory"], "1048576Ki");
        assert_eq!(capacity.render_allocatable()["memory"], "946176Ki");
        assert_eq!(capacity.render_allocatable()["ephemeral-storage"], "900");
        assert_eq!(capacity.render_capacity()["pods"], "110");
    }

    #[test]
    fn this_machine_has_something() {
        let root = std::path::Path::new("/");
        let mut config = Config::new("n", "127.0.0.1", root, "/run/none");
        config.root_dir = root.to_owned();
        let capacity = read_capacity(&config);
        assert!(capacity.cpus > 0 && capacity.memory > 0 && capacity.storage > 0);
    }
}
