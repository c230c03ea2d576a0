//! The node's resources as the eviction thresholds see them: a few reads of the kernel's own files
//! and of the filesystems, and none of any pod.

use super::settings::NodeBoundary;
use crate::cri::{Runtime, v1};
use crate::stats::CgroupUsage;
use crate::stats::summary::FilesystemRoom;
use ferry_eviction::layout::FilesystemLayout;
use ferry_eviction::signal::Signal;
use ferry_eviction::threshold::{Observation, Observations};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directories whose filesystems are watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFilesystems {
    pub layout: FilesystemLayout,
    node: PathBuf,
    images: PathBuf,
    containers: PathBuf,
}

impl NodeFilesystems {
    /// Asks the runtime for its filesystems. `None` while it does not answer, or names none.
    pub async fn detect(runtime: &dyn Runtime, root: &Path) -> Option<Self> {
        let info = runtime.image_fs_info().await.ok()?;
        let path = |usage: &[v1::FilesystemUsage]| {
            usage.first().and_then(|usage| Some(PathBuf::from(&usage.fs_id.as_ref()?.mountpoint)))
        };
        let images = path(&info.image_filesystems)?;
        let containers = path(&info.container_filesystems).unwrap_or_else(|| images.clone());
        Self::of(root, &images, &containers)
    }

    fn of(node: &Path, images: &Path, containers: &Path) -> Option<Self> {
        let device = |path: &Path| Some(std::fs::metadata(path).ok()?.dev());
        let (of_node, of_images, of_containers) = (device(node)?, device(images)?, device(containers)?);
        let layout = if of_images == of_node {
            FilesystemLayout::Shared
        } else if of_containers == of_images {
            FilesystemLayout::DedicatedImages
        } else {
            FilesystemLayout::SplitImages
        };
        Some(Self { layout, node: node.into(), images: images.into(), containers: containers.into() })
    }
}

/// Reads the signals of a node.
#[derive(Clone, Debug)]
pub struct SignalSource {
    cgroups: CgroupUsage,
    boundary: NodeBoundary,
    pods_cgroup: String,
    proc: PathBuf,
}

impl SignalSource {
    pub fn of_this_machine(boundary: &NodeBoundary, pods_cgroup: &str) -> Self {
        Self::new(Path::new("/sys/fs/cgroup"), Path::new("/proc"), boundary, pods_cgroup)
    }

    pub fn new(mount: &Path, proc: &Path, boundary: &NodeBoundary, pods_cgroup: &str) -> Self {
        Self {
            cgroups: CgroupUsage::new(mount, proc),
            boundary: boundary.clone(),
            pods_cgroup: pods_cgroup.to_owned(),
            proc: proc.to_owned(),
        }
    }

    pub fn cgroups(&self) -> &CgroupUsage {
        &self.cgroups
    }

    /// Capacity and working set of the node, or of all pods, in bytes; with the file pages that
    /// the kernel would drop first.
    pub fn memory(&self, signal: Signal) -> Option<MemoryState> {
        let node = &self.boundary.cgroup;
        let total = self.cgroups.machine_memory_total()?;
        let capacity = self.cgroups.memory_limit(node).map_or(total, |limit| limit.min(total));
        let is_machine = node.trim_matches('/').is_empty();
        let (cgroup, counters, capacity) = match signal {
            Signal::AllocatableMemoryAvailable => {
                let limit = self.cgroups.memory_limit(&self.pods_cgroup);
                let counters = self.cgroups.memory(&self.pods_cgroup)?;
                (&self.pods_cgroup, counters, limit.map_or(capacity, |limit| limit.min(capacity)))
            }
            _ if is_machine => (node, self.cgroups.machine_memory()?, capacity),
            _ => (node, self.cgroups.memory(node)?, capacity),
        };
        let inactive_file = counters.usage.saturating_sub(counters.working_set);
        Some(MemoryState { cgroup: cgroup.clone(), capacity, working_set: counters.working_set, inactive_file })
    }

    /// Everything that can be observed now. Blocking, but for no disk.
    pub fn observe(&self, filesystems: Option<&NodeFilesystems>) -> Observations {
        let mut all = Observations::new();
        for signal in [Signal::MemoryAvailable, Signal::AllocatableMemoryAvailable] {
            if let Some(state) = self.memory(signal) {
                let available = state.capacity.saturating_sub(state.working_set);
                all.insert(signal, Observation::bytes(available, state.capacity));
            }
        }
        if let Some((running, most)) = self.processes() {
            all.insert(Signal::PidAvailable, Observation::count(most - running, most));
        }
        let Some(filesystems) = filesystems else { return all };
        let disks = [
            (Signal::NodeFsAvailable, Signal::NodeFsInodesFree, &filesystems.node),
            (Signal::ImageFsAvailable, Signal::ImageFsInodesFree, &filesystems.images),
            (Signal::ContainerFsAvailable, Signal::ContainerFsInodesFree, &filesystems.containers),
        ];
        for (bytes, inodes, path) in disks {
            let Some(room) = FilesystemRoom::of(path) else { continue };
            all.insert(bytes, Observation::bytes(room.available, room.capacity));
            // A filesystem that makes inodes as it needs them has no number of them.
            if room.inodes > 0 {
                let count = |inodes| i64::try_from(inodes).unwrap_or(i64::MAX);
                all.insert(inodes, Observation::count(count(room.inodes_free), count(room.inodes)));
            }
        }
        all
    }

    /// Tasks that run, and the most that may (upstream: pkg/kubelet/stats/pidlimit).
    fn processes(&self) -> Option<(i64, i64)> {
        let number = |name: &str| std::fs::read_to_string(self.proc.join(name)).ok()?.trim().parse::<i64>().ok();
        let of_kernel = ["sys/kernel/pid_max", "sys/kernel/threads-max"].into_iter().filter_map(number).min();
        let node = &self.boundary.cgroup;
        if !node.trim_matches('/').is_empty()
            && let Some(running) = self.cgroups.processes(node)
        {
            let limit = self.cgroups.processes_limit(node).and_then(|limit| i64::try_from(limit).ok());
            let most = limit.into_iter().chain(of_kernel).min()?;
            return Some((i64::try_from(running).ok()?, most));
        }
        let load = std::fs::read_to_string(self.proc.join("loadavg")).ok()?;
        let (_, running) = load.split_whitespace().nth(3)?.split_once('/')?;
        Some((running.parse().ok()?, of_kernel?))
    }
}

/// Memory of a cgroup against its capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryState {
    pub cgroup: String,
    pub capacity: u64,
    pub working_set: u64,
    pub inactive_file: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal: 1000 kB\nMemFree: 400 kB\nInactive(file): 100 kB\nAnonPages: 1 kB\n";

    fn source(files: &[(&str, &str)], node: &str) -> (tempfile::TempDir, SignalSource) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let (mount, proc) = (directory.path().join("cgroup"), directory.path().join("proc"));
        let source = SignalSource::new(&mount, &proc, &NodeBoundary { cgroup: node.into() }, "/pods");
        (directory, source)
    }

    fn check(files: &[(&str, &str)], node: &str, expected: &[(Signal, i64, i64)]) {
        let (_directory, source) = source(files, node);
        let observed = source.observe(None);
        let observed: Vec<_> =
            observed.iter().map(|(signal, seen)| (*signal, seen.available.value(), seen.capacity.value())).collect();
        assert_eq!(observed, expected);
    }

    #[test]
    fn a_machine_and_its_pods_are_read_on_both_versions_of_cgroups() {
        let stat = "total_inactive_file 1024\ninactive_file 1024\n";
        let kernel = [
            ("proc/meminfo", MEMINFO),
            ("proc/loadavg", "1.36 3.49 4.53 2/200 3715089\n"),
            ("proc/sys/kernel/pid_max", "32768\n"),
            ("proc/sys/kernel/threads-max", "1000\n"),
        ];
        let v1 = [
            ("cgroup/memory/memory.usage_in_bytes", "205824"),
            ("cgroup/memory/memory.stat", stat),
            ("cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
            ("cgroup/memory/pods/memory.usage_in_bytes", "3072"),
            ("cgroup/memory/pods/memory.stat", stat),
            ("cgroup/memory/pods/memory.limit_in_bytes", "102400"),
        ];
        let expected = [
            (Signal::MemoryAvailable, 1_024_000 - 204_800, 1_024_000),
            (Signal::AllocatableMemoryAvailable, 102_400 - 2048, 102_400),
            (Signal::PidAvailable, 800, 1000),
        ];
        check(&[&kernel[..], &v1[..]].concat(), "/", &expected);
        let v2 = [
            ("cgroup/cgroup.controllers", "cpu memory pids"),
            ("cgroup/pods/memory.current", "3072"),
            ("cgroup/pods/memory.stat", stat),
            ("cgroup/pods/memory.max", "max\n"),
        ];
        let expected = [
            // Usage is what is not free, and the inactive file pages are not in the working set.
            (Signal::MemoryAvailable, 1_024_000 - 500 * 1024, 1_024_000),
            (Signal::AllocatableMemoryAvailable, 1_024_000 - 2048, 1_024_000),
            (Signal::PidAvailable, 800, 1000),
        ];
        check(&[&kernel[..], &v2[..]].concat(), "/", &expected);
    }

    #[test]
    fn a_node_in_a_cgroup_has_what_the_cgroup_has() {
        let files = [
            ("proc/meminfo", MEMINFO),
            ("proc/sys/kernel/pid_max", "32768\n"),
            ("cgroup/cgroup.controllers", "memory pids"),
            ("cgroup/node/memory.current", "3072"),
            ("cgroup/node/memory.stat", "inactive_file 1024\n"),
            ("cgroup/node/memory.max", "10240\n"),
            ("cgroup/node/pids.current", "7\n"),
            ("cgroup/node/pids.max", "10\n"),
        ];
        check(&files, "/node", &[(Signal::MemoryAvailable, 10_240 - 2048, 10_240), (Signal::PidAvailable, 3, 10)]);
    }

    #[test]
    fn filesystems_on_one_device_are_shared() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let found = NodeFilesystems::of(place.path(), place.path(), place.path()).expect("found");
        assert_eq!(found.layout, FilesystemLayout::Shared);
        let dedicated = NodeFilesystems::of(place.path(), Path::new("/proc"), Path::new("/proc")).expect("found");
        assert_eq!(dedicated.layout, FilesystemLayout::DedicatedImages);
        let split = NodeFilesystems::of(place.path(), Path::new("/proc"), place.path()).expect("found");
        assert_eq!(split.layout, FilesystemLayout::SplitImages);
        assert_eq!(NodeFilesystems::of(place.path(), Path::new("/nowhere"), place.path()), None);
    }
}
