//! How much this machine has, and how much of it pods may use.

use std::collections::BTreeMap;
use std::path::Path;

/// Kept back from pods: upstream's hard eviction threshold.
const RESERVED_MEMORY: u64 = 100 << 20;
const RESERVED_STORAGE_PERCENT: u64 = 10;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capacity {
    pub cpus: u64,
    pub memory: u64,
    pub storage: u64,
    pub pods: u32,
}

pub fn read_capacity(root: &Path, pods: u32) -> Capacity {
    let storage = nix::sys::statvfs::statvfs(root).map(|fs| fs.blocks() * fs.fragment_size()).unwrap_or(0);
    Capacity { cpus: count_cpus(), memory: meminfo("MemTotal:").unwrap_or(0), storage, pods }
}

impl Capacity {
    pub fn allocatable_memory(&self) -> u64 {
        self.memory.saturating_sub(RESERVED_MEMORY)
    }

    pub fn allocatable_storage(&self) -> u64 {
        self.storage - self.storage / 100 * RESERVED_STORAGE_PERCENT
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
        let capacity = Capacity { cpus: 2, memory: 1 << 30, storage: 1000, pods: 110 };
        assert_eq!(capacity.render_capacity()["memory"], "1048576Ki");
        assert_eq!(capacity.render_allocatable()["memory"], "946176Ki");
        assert_eq!(capacity.render_allocatable()["ephemeral-storage"], "900");
        assert_eq!(capacity.render_capacity()["pods"], "110");
    }

    #[test]
    fn this_machine_has_something() {
        let capacity = read_capacity(Path::new("/"), 110);
        assert!(capacity.cpus > 0 && capacity.memory > 0 && capacity.storage > 0);
    }
}
