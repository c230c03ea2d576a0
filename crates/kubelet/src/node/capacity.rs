//! How much this machine has, and how much of it pods may use: what is left after systemReserved,
//! kubeReserved and the hard eviction thresholds
//! (upstream: pkg/kubelet/cm/node_container_manager_linux.go).

use crate::Config;
use crate::cgroup::NodeLimits;
use crate::container::resources::cpu_shares;
use ferry_api::quantity::{Format, Quantity};
use ferry_devices::CpuSet;
use ferry_eviction::signal::Signal;
use ferry_eviction::threshold::Threshold;
use ferry_kubelet_config::{KubeletConfiguration, reservation};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capacity {
    pub cpus: u64,
    pub memory: u64,
    pub storage: u64,
    pub pods: u32,
    /// Bytes of preallocated huge pages, by the size of a page as the API spells it: `2Mi`.
    pub huge_pages: BTreeMap<String, u64>,
    pub reserved: Reserved,
    /// Kept back from pods: the hard eviction thresholds.
    pub evicted_memory: u64,
    pub evicted_storage: u64,
}

/// The amounts that are kept from pods by the configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reserved {
    pub milli_cpu: u64,
    pub memory: u64,
    pub storage: u64,
    pub pids: u64,
    /// Of `memory-manager`'s reservations of huge pages, by the size of a page.
    pub huge_pages: BTreeMap<String, u64>,
}

impl Reserved {
    /// The sum of systemReserved and kubeReserved. reservedSystemCPUs stands for the CPU of both.
    pub fn of(configuration: &KubeletConfiguration) -> Self {
        let mut out = Self::default();
        for amounts in [&configuration.system_reserved, &configuration.kube_reserved] {
            // Judged when the configuration was read.
            let amounts = reservation::parse(amounts).unwrap_or_default();
            let take = |name: &str, of: fn(&Quantity) -> i64| {
                amounts.get(name).and_then(|quantity| u64::try_from(of(quantity)).ok()).unwrap_or(0)
            };
            out.milli_cpu += take("cpu", |quantity| quantity.milli_value());
            out.memory += take("memory", |quantity| quantity.value());
            out.storage += take("ephemeral-storage", |quantity| quantity.value());
            out.pids += take("pid", |quantity| quantity.value());
        }
        if let Ok(cpus) = configuration.reserved_system_cpus.parse::<CpuSet>()
            && !cpus.is_empty()
        {
            out.milli_cpu = cpus.len() as u64 * 1000;
        }
        for reserved in &configuration.reserved_memory {
            for (name, amount) in &reserved.limits {
                let bytes = amount.parse::<Quantity>().map(|quantity| quantity.value()).unwrap_or(0);
                if let Some(size) = name.strip_prefix("hugepages-") {
                    *out.huge_pages.entry(size.to_owned()).or_default() += u64::try_from(bytes).unwrap_or(0);
                }
            }
        }
        out
    }
}

/// Pods are as many as maxPods, and no more than podsPerCore for each CPU.
pub fn read_capacity(config: &Config) -> Capacity {
    let root = config.root_dir.as_path();
    let storage = nix::sys::statvfs::statvfs(root).map(|fs| fs.blocks() * fs.fragment_size()).unwrap_or(0);
    let memory = meminfo("MemTotal:").unwrap_or(0);
    let thresholds = config.settings.eviction.thresholds().unwrap_or_default();
    let cpus = count_cpus();
    let pods = match u64::try_from(config.configuration.pods_per_core) {
        Ok(each) if each > 0 => config.max_pods.min(u32::try_from(each.saturating_mul(cpus)).unwrap_or(u32::MAX)),
        _ => config.max_pods,
    };
    Capacity {
        cpus,
        memory,
        storage,
        pods,
        huge_pages: read_huge_pages(Path::new("/sys/kernel/mm/hugepages")),
        reserved: Reserved::of(&config.configuration),
        evicted_memory: evicted(&thresholds, Signal::MemoryAvailable, memory),
        evicted_storage: evicted(&thresholds, Signal::NodeFsAvailable, storage),
    }
}

/// Upstream: `hardEvictionReservation` of pkg/kubelet/cm/node_container_manager_linux.go.
fn evicted(thresholds: &[Threshold], signal: Signal, capacity: u64) -> u64 {
    let capacity = Quantity::from_int(i64::try_from(capacity).unwrap_or(i64::MAX), Format::BinarySi);
    let hard = thresholds.iter().find(|known| known.signal == signal && known.is_hard());
    hard.and_then(|known| u64::try_from(known.value.quantity(capacity).value()).ok()).unwrap_or(0)
}

/// Pages of each size that the kernel has set aside. A size without pages is shown as zero.
fn read_huge_pages(directory: &Path) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let size = name.to_str().and_then(|name| name.strip_prefix("hugepages-")?.strip_suffix("kB"));
        let Some(kib) = size.and_then(|size| size.parse::<u64>().ok()) else { continue };
        let count = std::fs::read_to_string(entry.path().join("nr_hugepages")).unwrap_or_default();
        out.insert(render_size(kib), count.trim().parse::<u64>().unwrap_or(0).saturating_mul(kib * 1024));
    }
    out
}

/// `2048` kilobytes are `2Mi`.
fn render_size(kib: u64) -> String {
    match kib {
        kib if kib % (1 << 20) == 0 => format!("{}Gi", kib >> 20),
        kib if kib % (1 << 10) == 0 => format!("{}Mi", kib >> 10),
        kib => format!("{kib}Ki"),
    }
}

/// Bytes in the largest power of two that loses none, as Go prints a binary quantity.
fn render_bytes(bytes: u64) -> String {
    match bytes {
        0 => "0".into(),
        bytes if bytes % 1024 == 0 => render_size(bytes / 1024),
        bytes => bytes.to_string(),
    }
}

impl Capacity {
    pub fn allocatable_milli_cpu(&self) -> u64 {
        (self.cpus * 1000).saturating_sub(self.reserved.milli_cpu)
    }

    /// Pages that are set aside as huge ones are no memory for anyone else.
    pub fn allocatable_memory(&self) -> u64 {
        let huge: u64 = self.huge_pages.values().sum();
        self.memory.saturating_sub(self.evicted_memory + self.reserved.memory + huge)
    }

    pub fn allocatable_storage(&self) -> u64 {
        self.storage.saturating_sub(self.evicted_storage + self.reserved.storage)
    }

    /// The limits of all pods together: what is not reserved. An eviction comes before the limit of
    /// memory (upstream: getNodeAllocatableAbsolute).
    pub fn limits_of_pods(&self) -> NodeLimits {
        let pids = std::fs::read_to_string("/proc/sys/kernel/pid_max").ok().and_then(|text| text.trim().parse().ok());
        NodeLimits {
            cpu_shares: cpu_shares(i64::try_from(self.allocatable_milli_cpu()).unwrap_or(i64::MAX)),
            memory: self.memory.saturating_sub(self.reserved.memory),
            // Without a reservation there is nothing to keep.
            pids: pids.filter(|_| self.reserved.pids > 0).map(|all: u64| all.saturating_sub(self.reserved.pids)),
        }
    }

    /// The quantities of each resource, as a node's status has them.
    pub fn render_capacity(&self) -> BTreeMap<String, String> {
        let huge = self.huge_pages.iter().map(|(size, bytes)| (size.as_str(), *bytes));
        self.render(self.cpus * 1000, format!("{}Ki", self.memory / 1024), format!("{}Ki", self.storage / 1024), huge)
    }

    pub fn render_allocatable(&self) -> BTreeMap<String, String> {
        let memory = format!("{}Ki", self.allocatable_memory() / 1024);
        let huge = self.huge_pages.iter().map(|(size, bytes)| {
            let reserved = self.reserved.huge_pages.get(size).copied().unwrap_or(0);
            (size.as_str(), bytes.saturating_sub(reserved))
        });
        self.render(self.allocatable_milli_cpu(), memory, self.allocatable_storage().to_string(), huge)
    }

    fn render<'a>(
        &self,
        milli_cpu: u64,
        memory: String,
        storage: String,
        huge_pages: impl Iterator<Item = (&'a str, u64)>,
    ) -> BTreeMap<String, String> {
        let cpu = if milli_cpu.is_multiple_of(1000) { (milli_cpu / 1000).to_string() } else { format!("{milli_cpu}m") };
        let mut out = BTreeMap::from([
            ("cpu".to_owned(), cpu),
            ("memory".to_owned(), memory),
            ("ephemeral-storage".to_owned(), storage),
            ("pods".to_owned(), self.pods.to_string()),
            ("hugepages-1Gi".to_owned(), "0".to_owned()),
            ("hugepages-2Mi".to_owned(), "0".to_owned()),
        ]);
        out.extend(huge_pages.map(|(size, bytes)| (format!("hugepages-{size}"), render_bytes(bytes))));
        out
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
            evicted_memory: evicted(&thresholds, Signal::MemoryAvailable, 1 << 30),
            evicted_storage: evicted(&thresholds, Signal::NodeFsAvailable, 1000),
            ..Default::default()
        };
        assert_eq!(capacity.render_capacity()["memory"], "1048576Ki");
        assert_eq!(capacity.render_allocatable()["memory"], "946176Ki");
        assert_eq!(capacity.render_allocatable()["ephemeral-storage"], "900");
        assert_eq!(capacity.render_capacity()["pods"], "110");
        assert_eq!(capacity.render_capacity()["hugepages-2Mi"], "0");
    }

    #[test]
    fn reserved_amounts_and_huge_pages_are_kept_from_pods() {
        let amounts = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, amount)| ((*name).to_owned(), (*amount).to_owned())).collect::<BTreeMap<_, _>>()
        };
        let mut configuration = KubeletConfiguration {
            system_reserved: amounts(&[("cpu", "300m"), ("memory", "100Mi"), ("pid", "7")]),
            kube_reserved: amounts(&[("cpu", "200m"), ("ephemeral-storage", "50")]),
            ..Default::default()
        };
        let mut capacity = Capacity {
            cpus: 2,
            memory: 1 << 30,
            storage: 1000,
            pods: 110,
            huge_pages: BTreeMap::from([("2Mi".to_owned(), 64 << 20)]),
            reserved: Reserved::of(&configuration),
            evicted_memory: 100 << 20,
            evicted_storage: 100,
        };
        let allocatable = capacity.render_allocatable();
        assert_eq!((allocatable["cpu"].as_str(), allocatable["ephemeral-storage"].as_str()), ("1500m", "850"));
        assert_eq!(allocatable["memory"], format!("{}Ki", (1024 - 100 - 100 - 64) * 1024));
        assert_eq!((allocatable["hugepages-2Mi"].as_str(), capacity.reserved.pids), ("64Mi", 7));
        configuration.reserved_system_cpus = "1".into();
        capacity.reserved = Reserved::of(&configuration);
        assert_eq!(capacity.render_allocatable()["cpu"], "1");
    }

    #[test]
    fn this_machine_has_something() {
        let root = Path::new("/");
        let mut config = Config::new("n", "127.0.0.1", root, "/run/none");
        config.root_dir = root.to_owned();
        let capacity = read_capacity(&config);
        assert!(capacity.cpus > 0 && capacity.memory > 0 && capacity.storage > 0);
        config.configuration = std::sync::Arc::new(KubeletConfiguration { pods_per_core: 1, ..Default::default() });
        assert_eq!(u64::from(read_capacity(&config).pods), capacity.cpus.min(110));
    }

    #[test]
    fn huge_pages_are_read_by_their_size() {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, count) in [("hugepages-2048kB", "3\n"), ("hugepages-1048576kB", "0\n"), ("other", "1")] {
            let path = directory.path().join(name);
            std::fs::create_dir(&path).expect("made");
            std::fs::write(path.join("nr_hugepages"), count).expect("written");
        }
        let expected = BTreeMap::from([("2Mi".to_owned(), 6 << 20), ("1Gi".to_owned(), 0)]);
        assert_eq!(read_huge_pages(directory.path()), expected);
    }
}
