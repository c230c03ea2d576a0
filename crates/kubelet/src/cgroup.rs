//! The cgroups above a pod's containers. The runtime makes each container's own; the
//! pod's is made here with its limits and removed here when the pod is gone.

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
        // Shares of 2..262144 are weights of 1..10000.
        let weight = 1 + ((limits.cpu_shares - 2).max(0) * 9999) / 262_142;
        set(&path, "cpu.weight", &weight.to_string());
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
