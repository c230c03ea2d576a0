//! The cgroups above a pod's containers. The runtime makes each container's own; the
//! pod's is made here with its limits, resized, and removed here when the pod is gone. The values
//! of both are read here.

mod values;

pub use values::{CgroupValues, CpuWeight};

use crate::container::resources::{PodCgroup, cpu_shares};
use std::io;
use std::path::{Path, PathBuf};

const MOUNT: &str = "/sys/fs/cgroup";

/// Is the unified hierarchy the only one?
pub fn is_v2() -> bool {
    Path::new(MOUNT).join("cgroup.controllers").exists()
}

/// Makes the pod's cgroup. Blocking. Failures are not fatal: the containers' own limits
/// hold without it.
pub fn create(parent: &str, limits: &PodCgroup, pids: Option<i64>) -> io::Result<()> {
    create_at(Path::new(MOUNT), is_v2(), parent, limits, pids)
}

fn create_at(mount: &Path, v2: bool, parent: &str, limits: &PodCgroup, pids: Option<i64>) -> io::Result<()> {
    let relative = parent.trim_start_matches('/');
    if v2 {
        let path = mount.join(relative);
        std::fs::create_dir_all(&path)?;
        delegate(mount, Path::new(relative));
        set(&path, "cpu.weight", &values::weight_of(limits.cpu_shares).to_string());
        if let Some(quota) = limits.cpu_quota.filter(|quota| *quota > 0) {
            set(&path, "cpu.max", &format!("{quota} 100000"));
        }
        if let Some(limit) = limits.memory_limit {
            set(&path, "memory.max", &limit.to_string());
        }
        if let Some(pids) = pids {
            set(&path, "pids.max", &pids.to_string());
        }
        return Ok(());
    }
    let cpu = mount.join("cpu").join(relative);
    if mount.join("cpu").is_dir() {
        std::fs::create_dir_all(&cpu)?;
        set(&cpu, "cpu.shares", &limits.cpu_shares.to_string());
        if let Some(quota) = limits.cpu_quota.filter(|quota| *quota > 0) {
            set(&cpu, "cpu.cfs_period_us", "100000");
            set(&cpu, "cpu.cfs_quota_us", &quota.to_string());
        }
    }
    if let (Some(limit), true) = (limits.memory_limit, mount.join("memory").is_dir()) {
        let memory = mount.join("memory").join(relative);
        std::fs::create_dir_all(&memory)?;
        set(&memory, "memory.limit_in_bytes", &limit.to_string());
    }
    if let (Some(limit), true) = (pids, mount.join("pids").is_dir()) {
        let pids = mount.join("pids").join(relative);
        std::fs::create_dir_all(&pids)?;
        set(&pids, "pids.max", &limit.to_string());
    }
    Ok(())
}

/// The limits of all pods together, on the cgroup that they live in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeLimits {
    pub cpu_shares: i64,
    pub memory: u64,
    pub pids: Option<u64>,
}

/// Limits all pods together. Blocking
/// (upstream: enforceNodeAllocatableCgroups of pkg/kubelet/cm/node_container_manager_linux.go).
pub fn limit_pods(root: &str, limits: NodeLimits) -> io::Result<()> {
    let pids = limits.pids.and_then(|pids| i64::try_from(pids).ok());
    let memory_limit = i64::try_from(limits.memory).ok().filter(|memory| *memory > 0);
    let own = PodCgroup { cpu_shares: limits.cpu_shares, cpu_quota: None, memory_limit };
    create_at(Path::new(MOUNT), is_v2(), root, &own, pids)
}

/// How the classes of pods share CPU below `root`: pods of class BestEffort get the least that there
/// is, those of class Burstable as much as they request together. Blocking
/// (upstream: setCPUCgroupConfig of pkg/kubelet/cm/qos_container_manager_linux.go).
pub fn share_among_classes(root: &str, burstable_milli_cpu: i64) -> io::Result<()> {
    share_at(Path::new(MOUNT), is_v2(), root, burstable_milli_cpu)
}

fn share_at(mount: &Path, v2: bool, root: &str, burstable_milli_cpu: i64) -> io::Result<()> {
    for (class, milli) in [("besteffort", 0), ("burstable", burstable_milli_cpu)] {
        let class = format!("{}/{class}", root.trim_end_matches('/'));
        let own = PodCgroup { cpu_shares: cpu_shares(milli), cpu_quota: None, memory_limit: None };
        create_at(mount, v2, &class, &own, None)?;
    }
    Ok(())
}

/// One value of a pod's cgroup that a resize changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupChange {
    CpuShares(i64),
    /// Microseconds of every 100 ms.
    CpuQuota(i64),
    MemoryLimit(i64),
}

/// Changes the cgroup of a running pod. Blocking.
pub fn change(parent: &str, change: CgroupChange) -> io::Result<()> {
    change_at(Path::new(MOUNT), is_v2(), parent, change)
}

fn change_at(mount: &Path, v2: bool, parent: &str, change: CgroupChange) -> io::Result<()> {
    let relative = parent.trim_start_matches('/');
    let (controller, file, value) = match (change, v2) {
        (CgroupChange::CpuShares(shares), true) => ("cpu", "cpu.weight", values::weight_of(shares).to_string()),
        (CgroupChange::CpuShares(shares), false) => ("cpu", "cpu.shares", shares.to_string()),
        (CgroupChange::CpuQuota(quota), true) => ("cpu", "cpu.max", format!("{quota} 100000")),
        (CgroupChange::CpuQuota(quota), false) => ("cpu", "cpu.cfs_quota_us", quota.to_string()),
        (CgroupChange::MemoryLimit(limit), true) => ("memory", "memory.max", limit.to_string()),
        (CgroupChange::MemoryLimit(limit), false) => ("memory", "memory.limit_in_bytes", limit.to_string()),
    };
    let directory = if v2 { mount.join(relative) } else { mount.join(controller).join(relative) };
    let path = directory.join(file);
    std::fs::write(&path, &value).map_err(|error| {
        io::Error::new(error.kind(), format!("failed to write {value:?} to {}: {error}", path.display()))
    })
}

/// The values of a cgroup; `None` where there is no such cgroup. Blocking.
pub fn read(cgroup: &str) -> Option<CgroupValues> {
    CgroupValues::read(Path::new(MOUNT), is_v2(), cgroup)
}

/// Lets children use the controllers, from the root downwards.
fn delegate(mount: &Path, relative: &Path) {
    let mut at = mount.to_path_buf();
    for part in relative.components() {
        for controller in ["+cpu", "+cpuset", "+io", "+memory", "+pids"] {
            set(&at, "cgroup.subtree_control", controller);
        }
        at.push(part);
    }
}

fn set(directory: &Path, file: &str, value: &str) {
    if let Err(error) = std::fs::write(directory.join(file), value) {
        tracing::debug!(path = %directory.join(file).display(), value, %error, "cannot write to cgroup");
    }
}

/// Removes a cgroup and everything below it from every hierarchy. Blocking; what is
/// still busy is left for the next try.
pub fn remove(parent: &str) {
    let relative = parent.trim_start_matches('/');
    if relative.is_empty() || relative.split('/').any(|part| part == "..") {
        return;
    }
    for hierarchy in hierarchies(Path::new(MOUNT)) {
        remove_tree(&hierarchy.join(relative));
    }
}

fn hierarchies(mount: &Path) -> Vec<PathBuf> {
    if mount.join("cgroup.controllers").exists() {
        return vec![mount.to_path_buf()];
    }
    let entries = std::fs::read_dir(mount).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

fn remove_tree(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_tree(&entry.path());
        }
    }
    match std::fs::remove_dir(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::debug!(path = %directory.display(), %error, "cannot remove cgroup");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_share_cpu_by_what_their_pods_request() {
        let mount = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(mount.path().join("cpu")).expect("made");
        share_at(mount.path(), false, "/pods", 1500).expect("written");
        let shares = |class: &str| {
            std::fs::read_to_string(mount.path().join("cpu/pods").join(class).join("cpu.shares")).expect("written")
        };
        assert_eq!((shares("besteffort").as_str(), shares("burstable").as_str()), ("2", "1536"));
        share_at(mount.path(), true, "/pods", 0).expect("written");
        let weight = std::fs::read_to_string(mount.path().join("pods/burstable/cpu.weight")).expect("written");
        assert_eq!(weight, "1");
    }

    #[test]
    fn a_pods_processes_are_counted_on_both_hierarchies() {
        let mount = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(mount.path().join("pids")).expect("made");
        let own = PodCgroup { cpu_shares: 2, ..Default::default() };
        create_at(mount.path(), false, "/pods/pod1", &own, Some(7)).expect("written");
        create_at(mount.path(), true, "/pods/pod1", &own, Some(7)).expect("written");
        for path in ["pids/pods/pod1/pids.max", "pods/pod1/pids.max"] {
            assert_eq!(std::fs::read_to_string(mount.path().join(path)).expect("written"), "7");
        }
    }
}
