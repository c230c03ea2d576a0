//! The usage of pods, read when a decision about them needs it: memory and processes from their
//! cgroups, writable layers from the runtime, logs and volumes by walking them.

use super::disk_walk;
use crate::container::sandbox::{cgroup_parents, pod_log_directory};
use crate::context::Context;
use crate::stats::{self, CgroupUsage};
use crate::volume::volume_directory;
use ferry_api::view::core::v1::Pod;
use ferry_client::SharedObject;
use ferry_eviction::usage::{ContainerUsage, DiskUsage, PodUsage, is_local_volume};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The parts of the usage that a decision is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    pub processes: bool,
    /// Logs and volumes, which are walked.
    pub disk: bool,
    /// Memory and writable layers, which the runtime and the cgroups have.
    pub runtime: bool,
}

/// The usage of these pods by uid. A pod of which nothing runs has none, if the runtime was asked.
pub async fn measure(context: &Context, pods: &[SharedObject<Pod>], what: Measured) -> HashMap<String, PodUsage> {
    let mut known: HashMap<String, stats::PodUsage> = HashMap::new();
    if what.runtime {
        match context.stats.sample(&*context.runtime, &context.machine().cgroup_root).await {
            Ok(sample) => known.extend(sample.pods.iter().map(|pod| (pod.uid.clone(), pod.clone()))),
            Err(error) => tracing::warn!(%error, "the usage of containers cannot be read"),
        }
    }
    let places = Places {
        root: context.config.root_dir.clone(),
        logs: context.config.log_dir.clone(),
        cgroup_root: context.machine().cgroup_root,
        cgroups: CgroupUsage::of_this_machine(),
    };
    let pods = pods.to_vec();
    let read = tokio::task::spawn_blocking(move || {
        pods.iter().filter_map(|pod| Some((pod.uid().to_owned(), read(&places, pod, &known, what)?))).collect()
    });
    read.await.unwrap_or_default()
}

struct Places {
    root: PathBuf,
    logs: PathBuf,
    cgroup_root: String,
    cgroups: CgroupUsage,
}

fn read(
    places: &Places,
    pod: &SharedObject<Pod>,
    known: &HashMap<String, stats::PodUsage>,
    what: Measured,
) -> Option<PodUsage> {
    let uid = pod.uid();
    let mut usage = PodUsage::default();
    if what.runtime {
        let sample = known.get(uid)?;
        usage.memory = sample.memory.and_then(|memory| memory.working_set);
        usage.containers = sample.containers.iter().map(of_container).collect();
    }
    if what.processes {
        let parents = cgroup_parents(uid, &places.cgroup_root);
        usage.processes = parents.iter().find_map(|parent| places.cgroups.processes(parent));
    }
    if what.disk {
        usage.volumes = read_volumes(&places.root, pod).into_iter().collect();
        read_logs(&pod_log_directory(&places.logs, pod.namespace(), pod.name(), uid), &mut usage.containers);
    }
    Some(usage)
}

fn of_container(sample: &stats::ContainerUsage) -> ContainerUsage {
    ContainerUsage {
        name: sample.name.clone(),
        memory: sample.memory.and_then(|memory| memory.working_set),
        root: sample
            .writable_layer
            .map(|layer| DiskUsage { bytes: layer.used.unwrap_or(0), inodes: layer.inodes.unwrap_or(0) }),
        logs: None,
    }
}

/// emptyDirs and ConfigMaps; those in memory too, which have a size limit of their own.
fn read_volumes(root: &Path, pod: &SharedObject<Pod>) -> Vec<(String, DiskUsage)> {
    let volumes = pod.view().spec().volumes().iter();
    let counted = volumes.filter(|volume| volume.empty_dir().is_some() || is_local_volume(*volume));
    let measured = counted.filter_map(|volume| {
        let plugin = if volume.empty_dir().is_some() { "empty-dir" } else { "configmap" };
        let directory = volume_directory(root, pod.uid(), plugin, volume.name());
        match disk_walk::measure(&directory) {
            Ok(usage) => Some((volume.name().to_owned(), usage)),
            Err(error) => {
                tracing::warn!(volume = %directory.display(), %error, "cannot measure the volume");
                None
            }
        }
    });
    measured.collect()
}

/// The logs of every container that has a directory, whether it runs or not.
fn read_logs(directory: &Path, containers: &mut Vec<ContainerUsage>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let Ok(usage) = disk_walk::measure(&entry.path()) else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        match containers.iter_mut().find(|container| container.name == name) {
            Some(container) => container.logs = Some(usage),
            None => containers.push(ContainerUsage { name, logs: Some(usage), ..ContainerUsage::default() }),
        }
    }
}
