//! The cgroups above a pod's containers. The runtime makes each container's own; the
//! pod's is made here with its limits, resized, and removed here when the pod is gone. The values
//! of both are read here.

mod values;

pub use values::{CgroupValues, CpuWeight};

use crate::container::resources::PodCgroup;
use std::io;
use std::path::{Path, PathBuf};

const MOUNT: &str = "/sys/fs/cgroup";

/// Is the unified hierarchy the only one?
pub fn is_v2() -> bool {
    Path::new(MOUNT).join("cgroup.controllers").exists()
}

/// Makes the pod's cgroup. Blocking. Failures are not fatal: the containers' own limits
/// hold without it.
pub fn create(parent: &str, limits: &PodCgroup) -> io::Result<()> {
    create_at(Path::new(MOUNT), is_v2(), parent, limits)
}

fn create_at(mount: &Path, v2: bool, parent: &str, limits: &PodCgroup) -> io::Result<()> {
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
