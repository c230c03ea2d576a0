//! CPU time and memory as the kernel counts them for a cgroup, on cgroup v1, v2 and the
//! hybrid of both. `stats/mod.rs` reads the pods' cgroups and the machine's root with it.

use std::path::{Path, PathBuf};

/// The kernel's USER_HZ, in nanoseconds a tick: the unit of /proc/stat.
const TICK_NANOSECONDS: u64 = 10_000_000;

/// Memory of one cgroup or of the machine, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounters {
    pub usage: u64,
    /// Usage without the file pages that the kernel would drop first.
    pub working_set: u64,
    pub rss: u64,
    pub page_faults: u64,
    pub major_page_faults: u64,
}

/// The hierarchy that has a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Hierarchy {
    V1(PathBuf),
    V2(PathBuf),
}

/// Reads below one mount of cgroups and one of procfs.
#[derive(Clone, Debug)]
pub struct CgroupUsage {
    cpu: Option<Hierarchy>,
    memory: Option<Hierarchy>,
    pids: Option<Hierarchy>,
    proc: PathBuf,
}

impl CgroupUsage {
    pub fn of_this_machine() -> Self {
        Self::new(Path::new("/sys/fs/cgroup"), Path::new("/proc"))
    }

    pub fn new(mount: &Path, proc: &Path) -> Self {
        Self {
            cpu: find(mount, "cpu", &["cpuacct", "cpu,cpuacct"]),
            memory: find(mount, "memory", &["memory"]),
            pids: find(mount, "pids", &["pids"]),
            proc: proc.to_path_buf(),
        }
    }

    /// The CPU time that a cgroup has used, in nanoseconds; `None` where there is no such
    /// cgroup.
    pub fn cpu(&self, cgroup: &str) -> Option<u64> {
        match self.cpu.as_ref()? {
            Hierarchy::V1(root) => number(&below(root, cgroup)?.join("cpuacct.usage")),
            Hierarchy::V2(root) => {
                let stat = Fields::read(&below(root, cgroup)?.join("cpu.stat"))?;
                stat.get("usage_usec")?.checked_mul(1000)
            }
        }
    }

    pub fn memory(&self, cgroup: &str) -> Option<MemoryCounters> {
        let (usage, stat, prefix) = match self.memory.as_ref()? {
            Hierarchy::V1(root) => {
                let directory = below(root, cgroup)?;
                (
                    number(&directory.join("memory.usage_in_bytes"))?,
                    Fields::read(&directory.join("memory.stat"))?,
                    "total_",
                )
            }
            Hierarchy::V2(root) => {
                let directory = below(root, cgroup)?;
                (number(&directory.join("memory.current"))?, Fields::read(&directory.join("memory.stat"))?, "")
            }
        };
        let field = |name: &str| stat.get(&format!("{prefix}{name}")).unwrap_or(0);
        let rss = if prefix.is_empty() { field("anon") } else { field("rss") };
        Some(MemoryCounters {
            usage,
            working_set: usage.saturating_sub(field("inactive_file")),
            rss,
            page_faults: field("pgfault"),
            major_page_faults: field("pgmajfault"),
        })
    }

    /// The most memory that a cgroup may use; `None` without a limit.
    pub fn memory_limit(&self, cgroup: &str) -> Option<u64> {
        match self.memory.as_ref()? {
            // The largest number of whole pages stands for no limit.
            Hierarchy::V1(root) => {
                let limit = number(&below(root, cgroup)?.join("memory.limit_in_bytes"));
                limit.filter(|limit| *limit < u64::try_from(i64::MAX).unwrap_or(u64::MAX) / 4096 * 4096)
            }
            Hierarchy::V2(root) => number(&below(root, cgroup)?.join("memory.max")),
        }
    }

    /// The directory of a cgroup's memory, and whether it is of version 2.
    pub fn memory_directory(&self, cgroup: &str) -> Option<(PathBuf, bool)> {
        match self.memory.as_ref()? {
            Hierarchy::V1(root) => Some((below(root, cgroup)?, false)),
            Hierarchy::V2(root) => Some((below(root, cgroup)?, true)),
        }
    }

    /// The tasks of a cgroup.
    pub fn processes(&self, cgroup: &str) -> Option<u64> {
        let (Hierarchy::V1(root) | Hierarchy::V2(root)) = self.pids.as_ref()?;
        number(&below(root, cgroup)?.join("pids.current"))
    }

    /// The most tasks that a cgroup may have; `None` without a limit.
    pub fn processes_limit(&self, cgroup: &str) -> Option<u64> {
        let (Hierarchy::V1(root) | Hierarchy::V2(root)) = self.pids.as_ref()?;
        number(&below(root, cgroup)?.join("pids.max"))
    }

    /// The CPU time of all processes of the machine, in nanoseconds.
    pub fn machine_cpu(&self) -> Option<u64> {
        self.cpu("/").or_else(|| {
            let text = std::fs::read_to_string(self.proc.join("stat")).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
            let ticks: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
            // user nice system idle iowait irq softirq steal; guests are part of user.
            let busy = [0, 1, 2, 5, 6, 7].iter().filter_map(|at| ticks.get(*at)).sum::<u64>();
            busy.checked_mul(TICK_NANOSECONDS)
        })
    }

    /// The machine's memory in use. The root of cgroup v2 counts none, so that usage is
    /// taken from /proc/meminfo there, as cAdvisor does.
    pub fn machine_memory(&self) -> Option<MemoryCounters> {
        self.memory("/").or_else(|| {
            let meminfo = Fields::read(&self.proc.join("meminfo"))?;
            let kibibytes = |name: &str| meminfo.get(name).and_then(|kib| kib.checked_mul(1024));
            let usage = kibibytes("MemTotal:")?.saturating_sub(kibibytes("MemFree:")?);
            let faults = Fields::read(&self.proc.join("vmstat"));
            let fault = |name: &str| faults.as_ref().and_then(|fields| fields.get(name)).unwrap_or(0);
            Some(MemoryCounters {
                usage,
                working_set: usage.saturating_sub(kibibytes("Inactive(file):").unwrap_or(0)),
                rss: kibibytes("AnonPages:").unwrap_or(0),
                page_faults: fault("pgfault"),
                major_page_faults: fault("pgmajfault"),
            })
        })
    }

    /// All memory of the machine.
    pub fn machine_memory_total(&self) -> Option<u64> {
        Fields::read(&self.proc.join("meminfo"))?.get("MemTotal:")?.checked_mul(1024)
    }

    /// The second since the epoch at which the machine was started.
    pub fn boot_time(&self) -> Option<u64> {
        Fields::read(&self.proc.join("stat"))?.get("btime")
    }
}

/// The hierarchy of a controller: the only one, one of its own, or the unified one beside
/// those of version 1.
fn find(mount: &Path, controller: &str, v1_names: &[&str]) -> Option<Hierarchy> {
    if mount.join("cgroup.controllers").exists() {
        return Some(Hierarchy::V2(mount.to_path_buf()));
    }
    if let Some(own) = v1_names.iter().map(|name| mount.join(name)).find(|path| path.is_dir()) {
        return Some(Hierarchy::V1(own));
    }
    let unified = mount.join("unified");
    let controllers = std::fs::read_to_string(unified.join("cgroup.controllers")).ok()?;
    controllers.split_whitespace().any(|name| name == controller).then_some(Hierarchy::V2(unified))
}

/// The directory of a cgroup, which never leaves its hierarchy.
fn below(root: &Path, cgroup: &str) -> Option<PathBuf> {
    let relative = cgroup.trim_matches('/');
    (!relative.split('/').any(|part| part == "..")).then(|| root.join(relative))
}

fn number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// A file of lines that are a name and a number each.
struct Fields(String);

impl Fields {
    fn read(path: &Path) -> Option<Self> {
        std::fs::read_to_string(path).ok().map(Self)
    }

    fn get(&self, name: &str) -> Option<u64> {
        self.0.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(name)).then(|| words.next()?.parse().ok())?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine's files: pairs of a path below the mounts and its text.
    fn check(files: &[(&str, &str)], cgroup: &str, cpu: Option<u64>, memory: Option<MemoryCounters>) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let usage = CgroupUsage::new(&directory.path().join("cgroup"), &directory.path().join("proc"));
        if cgroup == "machine" {
            assert_eq!((usage.machine_cpu(), usage.machine_memory()), (cpu, memory), "{files:?}");
        } else {
            assert_eq!((usage.cpu(cgroup), usage.memory(cgroup)), (cpu, memory), "{files:?}");
        }
    }

    const V1_STAT: &str = "cache 900\nrss 50\ninactive_file 7\ntotal_rss 400\ntotal_pgfault 30\ntotal_pgmajfault 3\ntotal_inactive_file 200\n";
    const V2_STAT: &str = "anon 400\nfile 500\ninactive_file 200\npgfault 30\npgmajfault 3\n";
    const COUNTED: MemoryCounters =
        MemoryCounters { usage: 1000, working_set: 800, rss: 400, page_faults: 30, major_page_faults: 3 };

    #[test]
    fn a_pods_usage_is_read_from_every_layout_of_cgroups() {
        let v1 = [
            ("cgroup/cpuacct/kubepods/podu1/cpuacct.usage", "123456789\n"),
            ("cgroup/memory/kubepods/podu1/memory.usage_in_bytes", "1000\n"),
            ("cgroup/memory/kubepods/podu1/memory.stat", V1_STAT),
        ];
        check(&v1, "/kubepods/podu1", Some(123_456_789), Some(COUNTED));
        let joined = [("cgroup/cpu,cpuacct/kubepods/podu1/cpuacct.usage", "5"), v1[1], v1[2]];
        check(&joined, "/kubepods/podu1", Some(5), Some(COUNTED));
        let v2 = [
            ("cgroup/cgroup.controllers", "cpu memory\n"),
            ("cgroup/kubepods/podu1/cpu.stat", "usage_usec 123\nuser_usec 100\nsystem_usec 23\n"),
            ("cgroup/kubepods/podu1/memory.current", "1000\n"),
            ("cgroup/kubepods/podu1/memory.stat", V2_STAT),
        ];
        check(&v2, "/kubepods/podu1", Some(123_000), Some(COUNTED));
        let hybrid = [
            ("cgroup/cpuacct/kubepods/podu1/cpuacct.usage", "77"),
            ("cgroup/unified/cgroup.controllers", "memory\n"),
            ("cgroup/unified/kubepods/podu1/memory.current", "1000\n"),
            ("cgroup/unified/kubepods/podu1/memory.stat", V2_STAT),
        ];
        check(&hybrid, "/kubepods/podu1", Some(77), Some(COUNTED));
    }

    #[test]
    fn a_cgroup_that_is_gone_garbled_or_elsewhere_has_no_usage() {
        let v1 = [
            ("cgroup/cpuacct/a/cpuacct.usage", "many"),
            ("cgroup/memory/a/memory.usage_in_bytes", ""),
            ("cgroup/memory/a/memory.stat", "x"),
            ("proc/cpuacct.usage", "1"),
        ];
        check(&v1, "/a", None, None);
        check(&v1, "/b", None, None);
        check(&v1, "/../../proc", None, None);
        check(&[], "/a", None, None);
    }

    #[test]
    fn inactive_files_above_the_usage_leave_a_working_set_of_zero() {
        let v2 = [
            ("cgroup/cgroup.controllers", ""),
            ("cgroup/a/memory.current", "100"),
            ("cgroup/a/memory.stat", "inactive_file 200\n"),
        ];
        let memory = MemoryCounters { usage: 100, ..MemoryCounters::default() };
        check(&v2, "a", None, Some(memory));
    }

    #[test]
    fn the_machines_usage_comes_from_the_root_or_from_procfs() {
        let v1 = [
            ("cgroup/cpuacct/cpuacct.usage", "9"),
            ("cgroup/memory/memory.usage_in_bytes", "1000"),
            ("cgroup/memory/memory.stat", V1_STAT),
        ];
        check(&v1, "machine", Some(9), Some(COUNTED));
        let v2 = [
            ("cgroup/cgroup.controllers", "cpu memory"),
            ("cgroup/cpu.stat", "usage_usec 4\n"),
            ("cgroup/memory.stat", V2_STAT),
            (
                "proc/meminfo",
                "MemTotal: 10 kB\nMemFree: 4 kB\nMemAvailable: 5 kB\nAnonPages: 2 kB\nInactive(file): 1 kB\n",
            ),
            ("proc/vmstat", "pgfault 8\npgmajfault 2\n"),
        ];
        let memory = MemoryCounters { usage: 6144, working_set: 5120, rss: 2048, page_faults: 8, major_page_faults: 2 };
        check(&v2, "machine", Some(4000), Some(memory));
        let bare = [("proc/stat", "cpu  1 2 3 100 200 4 5 6 0 0\ncpu0 1 2 3 4\nbtime 1700000000\n")];
        check(&bare, "machine", Some(21 * TICK_NANOSECONDS), None);
    }
}
