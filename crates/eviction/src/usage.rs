//! The usage of a pod as eviction needs it. The kubelet reads it (`kubelet/eviction/usage.rs`) only
//! while something runs short, and the local storage also of pods that are limited in it.

use ferry_api::rules::pod_requests::requests;
use ferry_api::view::core::v1::{PodView, VolumeView};
use std::collections::BTreeMap;

/// Room that files take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUsage {
    pub bytes: u64,
    pub inodes: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerUsage {
    pub name: String,
    /// The working set, in bytes.
    pub memory: Option<u64>,
    /// The writable layer.
    pub root: Option<DiskUsage>,
    pub logs: Option<DiskUsage>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodUsage {
    /// The working set, in bytes.
    pub memory: Option<u64>,
    pub processes: Option<u64>,
    pub containers: Vec<ContainerUsage>,
    /// By the name of the volume.
    pub volumes: BTreeMap<String, DiskUsage>,
}

/// A pod that may have to go, with its usage where that is known.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub pod: PodView<'a>,
    pub usage: Option<&'a PodUsage>,
}

/// A part of a pod's local storage. Images are shared, so no pod is charged for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskPart {
    Root,
    Logs,
    LocalVolumes,
}

impl DiskUsage {
    pub fn plus(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_add(other.bytes), inodes: self.inodes.saturating_add(other.inodes) }
    }
}

impl PodUsage {
    /// The local storage that the pod takes of the given parts.
    pub fn disk(&self, pod: PodView<'_>, parts: &[DiskPart]) -> DiskUsage {
        let mut total = DiskUsage::default();
        for container in &self.containers {
            for (part, usage) in [(DiskPart::Root, container.root), (DiskPart::Logs, container.logs)] {
                if parts.contains(&part) {
                    total = total.plus(usage.unwrap_or_default());
                }
            }
        }
        if parts.contains(&DiskPart::LocalVolumes) {
            let local = pod.spec().volumes().iter().filter(|volume| is_local_volume(*volume));
            let used = local.filter_map(|volume| self.volumes.get(volume.name()));
            total = used.fold(total, |total, usage| total.plus(*usage));
        }
        total
    }

    /// All of the pod's local storage, which its limit of ephemeral-storage is about.
    pub fn ephemeral_storage(&self, pod: PodView<'_>) -> DiskUsage {
        self.disk(pod, &[DiskPart::Root, DiskPart::Logs, DiskPart::LocalVolumes])
    }
}

/// A volume whose files are the node's and end with the pod (upstream: `IsLocalEphemeralVolume` of
/// pkg/volume/util/util.go).
pub fn is_local_volume(volume: VolumeView<'_>) -> bool {
    volume.empty_dir().is_some_and(|source| source.medium().is_empty()) || volume.config_map().is_some()
}

/// The amount of a resource that the pod requests, in whole units.
pub(crate) fn request(pod: PodView<'_>, resource: &str) -> i64 {
    requests(pod).get(resource).map_or(0, |quantity| quantity.value())
}

/// Pods that the node itself needs are never evicted: static ones, which would not come back, and
/// those of a system priority (upstream: `IsCriticalPod` of pkg/kubelet/types/pod_update.go).
pub fn is_critical(pod: PodView<'_>) -> bool {
    let annotations = pod.metadata().annotations();
    let is_static = annotations.get("kubernetes.io/config.source").is_some_and(|source| source != "api");
    let is_mirror = annotations.contains_key("kubernetes.io/config.mirror");
    is_static || is_mirror || pod.spec().priority().is_some_and(|priority| priority >= SYSTEM_CRITICAL_PRIORITY)
}

/// The priority of system-cluster-critical.
pub const SYSTEM_CRITICAL_PRIORITY: i32 = 2_000_000_000;
