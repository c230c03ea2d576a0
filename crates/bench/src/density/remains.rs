//! Everything on the machine that a pod has while it lives: shims, mounts, network namespaces,
//! links, cgroups and addresses. Two readings are compared.

use crate::cluster::Cluster;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::Path;

#[derive(Debug)]
pub struct Remains(BTreeSet<String>);

impl Remains {
    pub fn of(cluster: &Cluster) -> Result<Self> {
        let mut found = BTreeSet::new();
        let socket = cluster.runtime_socket().to_string_lossy().into_owned();
        for entry in std::fs::read_dir("/proc")?.flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            if line.contains("containerd-shim") && line.contains(&socket) {
                found.insert(format!("shim {line}"));
            }
        }
        let below = [cluster.data_dir(), cluster.run_dir()];
        let table = std::fs::read_to_string("/proc/self/mountinfo")?;
        for point in table.lines().filter_map(|line| line.split(' ').nth(4)) {
            if below.iter().any(|own| Path::new(point).starts_with(own)) {
                found.insert(format!("mount {point}"));
            }
        }
        for (kind, directory) in [
            ("network namespace", "/run/netns".into()),
            ("address", cluster.run_dir().join("cni/addresses")),
            ("pod directory", cluster.data_dir().join("kubelet/pods")),
            ("log directory", cluster.data_dir().join("logs/pods")),
        ] {
            list(kind, &directory, 2, &mut found);
        }
        let name = cluster.cgroup()?;
        for controller in std::fs::read_dir("/sys/fs/cgroup")?.flatten() {
            for own in [name.as_str(), "ferry-density"] {
                pods_below(&controller.path().join(own), &mut found);
            }
        }
        for link in std::fs::read_dir("/sys/class/net")?.flatten() {
            let name = link.file_name().to_string_lossy().into_owned();
            if name.starts_with("veth") {
                found.insert(format!("link {name}"));
            }
        }
        Ok(Self(found))
    }

    /// What is there now and was not before.
    pub fn since(&self, before: &Self) -> Vec<String> {
        self.0.difference(&before.0).cloned().collect()
    }
}

/// The entries of a directory and of those in it. CNI notes its last address in a file that stays.
fn list(kind: &str, directory: &Path, depth: usize, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_note = entry.file_name().to_string_lossy().starts_with("last_reserved_ip");
        if depth > 1 && entry.path().is_dir() && kind == "address" {
            list(kind, &entry.path(), depth - 1, found);
        } else if !is_note {
            found.insert(format!("{kind} {}", entry.path().display()));
        }
    }
}

fn pods_below(cgroup: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(cgroup).into_iter().flatten().flatten() {
        if !entry.path().is_dir() {
            continue;
        }
        // The runs of the runtime alone have nobody who removes their parents.
        let is_direct = cgroup.ends_with("ferry-density");
        if entry.file_name().to_string_lossy().starts_with("pod") && !is_direct {
            found.insert(format!("cgroup {}", entry.path().display()));
        }
        pods_below(&entry.path(), found);
    }
}
