//! Collects what nobody needs any more: images while their disk is full or that are unused for too
//! long, dead containers and sandboxes, and the logs of pods that are gone. `lib.rs` runs one loop
//! every five minutes, and `eviction` collects everything it can before a pod has to go.
//!
//! The pods' workers remove their own remains as they come to be; the loop finds what was left by
//! a failure. Container logs are cut in `log_rotation.rs`. Upstream:
//! pkg/kubelet/images/image_gc_manager.go, pkg/kubelet/kuberuntime/kuberuntime_gc.go.

use crate::Error;
use crate::context::Context;
use crate::cri::v1;
use crate::observed::{CONTAINER_NAME_LABEL, POD_UID_LABEL, PodIdentity};
use crate::pod;
use crate::stats::summary::FilesystemRoom;
use crate::volume::image::images_in_use;
use crate::volume::tree;
use ferry_client::EventType;
use ferry_eviction::container_gc::{ContainerRecord, SandboxRecord, plan_container_gc};
use ferry_eviction::image_gc::{ImageAges, ImageRecord, compute_need, plan_old_images, plan_space, render_shortage};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// Upstream's ImageGCPeriod.
const EVERY: Duration = Duration::from_secs(300);
/// A kubelet that has just started may not know of all its pods yet, and their dead containers say
/// what has run already.
const SETTLED: jiff::SignedDuration = jiff::SignedDuration::from_secs(30);

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    tokio::select! {
        () = shutdown.cancelled() => return Ok(()),
        () = context.pods.synced() => {}
    }
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + EVERY, EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            _ = ticks.tick() => {}
        }
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = async {
                context.garbage.collect_gone(&context, HashSet::new()).await;
                context.garbage.collect_images(&context).await;
                remove_logs_of_gone_pods(&context).await;
            } => {}
        }
    }
}

/// The garbage of a node. One collection runs at a time.
pub struct Garbage {
    ages: Mutex<ImageAges>,
    started: Timestamp,
}

impl Default for Garbage {
    fn default() -> Self {
        Self { ages: Mutex::default(), started: Timestamp::now() }
    }
}

/// Room that images have to make.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    /// As much as the thresholds ask for.
    ByThreshold,
    All,
}

impl Garbage {
    /// Removes the images that are too old, and others while the disk is too full.
    pub async fn collect_images(&self, context: &Context) {
        self.collect(context, Room::ByThreshold).await;
    }

    /// Removes every image that nobody uses.
    pub async fn delete_unused_images(&self, context: &Context) {
        self.collect(context, Room::All).await;
    }

    async fn collect(&self, context: &Context, room: Room) {
        let settings = &context.config.settings.image_gc;
        let mut ages = self.ages.lock().await;
        let listed_at = Timestamp::now();
        let (Ok(images), Ok(containers)) =
            (context.runtime.list_images().await, context.runtime.list_containers(None).await)
        else {
            return;
        };
        context.images.prune_records(&images, listed_at).await;
        let root = context.config.root_dir.clone();
        let in_volumes = tokio::task::spawn_blocking(move || images_in_use(&root)).await.unwrap_or_default();
        let mut used = compute_used(&containers, &context.config.kept_images);
        used.extend(in_volumes);
        let records: Vec<ImageRecord> = images.into_iter().map(record).collect();
        let mut unused = ages.note(&records, &used, listed_at);
        if room == Room::ByThreshold {
            let (old, others) = plan_old_images(unused, settings, self.started, listed_at);
            for image in old {
                remove_image(context, image.image, "age").await;
            }
            unused = others;
        }
        let (wanted, shortage) = match room {
            Room::All => (u64::MAX, None),
            Room::ByThreshold => {
                let Some(filesystem) = image_filesystem(context).await else { return };
                if filesystem.capacity == 0 {
                    let message = "invalid capacity 0 on image filesystem";
                    let node = context.node_reference();
                    return context.recorder.event(node, EventType::Warning, "InvalidDiskCapacity", message);
                }
                let Some(need) = compute_need(settings, filesystem.available, filesystem.capacity) else { return };
                (need.bytes, Some((need, filesystem.capacity)))
            }
        };
        let mut freed: u64 = 0;
        for image in plan_space(&unused, settings, listed_at) {
            if freed >= wanted {
                break;
            }
            if remove_image(context, image, "space").await {
                freed = freed.saturating_add(image.size);
            }
        }
        if let Some((need, capacity)) = shortage.filter(|(need, _)| freed < need.bytes) {
            let message = render_shortage(need, capacity, freed);
            context.recorder.event(context.node_reference(), EventType::Warning, "FreeDiskSpaceFailed", message);
        }
    }

    /// Removes all dead containers and sandboxes but those that a restart or `kubectl logs
    /// --previous` of a pod that still runs may need.
    pub async fn collect_containers(&self, context: &Context) {
        let mut over = HashSet::new();
        context.pods.for_each(|pod| {
            if pod::is_terminal_phase(pod::phase(pod.view())) {
                over.insert(pod.uid().to_owned());
            }
        });
        self.collect_gone(context, over).await;
    }

    /// The same of pods that nobody works on any more and of those in `over`.
    async fn collect_gone(&self, context: &Context, over: HashSet<String>) {
        if Timestamp::now().duration_since(self.started) < SETTLED {
            return;
        }
        let _one_at_a_time = self.ages.lock().await;
        let (Ok(containers), Ok(sandboxes)) =
            (context.runtime.list_containers(None).await, context.runtime.list_pod_sandboxes(None).await)
        else {
            return;
        };
        let containers: Vec<ContainerRecord> = containers.into_iter().filter_map(container_record).collect();
        let sandboxes: Vec<SandboxRecord> = sandboxes.into_iter().filter_map(sandbox_record).collect();
        let known = known_pods(context);
        let is_over = |uid: &str| over.contains(uid) || !(known.contains(uid) || context.wakers.has(uid));
        let plan = plan_container_gc(&containers, &sandboxes, is_over);
        for id in &plan.containers {
            remove_container(context, id).await;
        }
        for id in &plan.sandboxes {
            let stopped = context.runtime.stop_pod_sandbox(id).await;
            let removed = match stopped {
                Ok(()) => context.runtime.remove_pod_sandbox(id).await,
                failed => failed,
            };
            if let Err(error) = removed {
                tracing::warn!(sandbox = %id, %error, "cannot remove sandbox");
            }
        }
    }
}

/// The uids of the pods that the API has for this node.
fn known_pods(context: &Context) -> HashSet<String> {
    let mut known = HashSet::new();
    context.pods.for_each(|pod| known.extend([pod.uid().to_owned()]));
    known
}

/// A dead container with its logs.
async fn remove_container(context: &Context, id: &str) {
    let log = context.runtime.container_status(id).await.map(|status| status.log_path);
    match context.runtime.remove_container(id).await {
        Ok(()) => {
            if let Ok(log) = log {
                let _ = context.container_files().remove_logs(Path::new(&log));
            }
        }
        Err(error) => tracing::warn!(container = %id, %error, "cannot remove container"),
    }
}

async fn remove_logs_of_gone_pods(context: &Arc<Context>) {
    let context = context.clone();
    let remove = move || {
        // Read before the pods, so that one that comes meanwhile is known.
        let entries: Vec<_> = std::fs::read_dir(&context.config.log_dir).into_iter().flatten().flatten().collect();
        let known = known_pods(&context);
        for entry in entries {
            let identity = PodIdentity::from_log_directory(&entry.file_name().to_string_lossy());
            let is_gone = |uid: &str| !known.contains(uid) && !context.wakers.has(uid);
            let Some(identity) = identity.filter(|identity| is_gone(&identity.uid)) else { continue };
            if let Err(error) = tree::remove_tree(&entry.path()) {
                tracing::warn!(uid = %identity.uid, %error, "cannot remove the logs of a pod that is gone");
            }
        }
    };
    let _ = tokio::task::spawn_blocking(remove).await;
}

async fn remove_image(context: &Context, image: &ImageRecord, reason: &'static str) -> bool {
    match context.runtime.remove_image(&image.id).await {
        Ok(()) => {
            tracing::info!(image = ?image.names, size = image.size, reason, "removed an unused image");
            context.eviction_metrics.count_collected_image(reason);
            true
        }
        Err(error) => {
            tracing::warn!(image = ?image.names, %error, "cannot remove the image");
            false
        }
    }
}

/// Every name and id by which an image is needed: by a container, dead ones included, or
/// by the node itself.
fn compute_used(containers: &[v1::Container], kept: &[String]) -> HashSet<String> {
    let by_id = containers.iter().map(|container| container.image_ref.clone());
    let by_name = containers.iter().filter_map(|container| container.image.as_ref()).map(|image| image.image.clone());
    by_id.chain(by_name).chain(kept.iter().cloned()).collect()
}

fn record(image: v1::Image) -> ImageRecord {
    ImageRecord { id: image.id, names: image.repo_tags, size: image.size, pinned: image.pinned }
}

/// A container of a pod; the runtime may have others of nobody's.
fn container_record(container: v1::Container) -> Option<ContainerRecord> {
    let label = |labels: &HashMap<String, String>, key: &str| labels.get(key).cloned();
    Some(ContainerRecord {
        pod_uid: label(&container.labels, POD_UID_LABEL)?,
        name: label(&container.labels, CONTAINER_NAME_LABEL)?,
        running: container.state != v1::ContainerState::ContainerExited as i32,
        id: container.id,
        sandbox_id: container.pod_sandbox_id,
        created_at: container.created_at,
    })
}

fn sandbox_record(sandbox: v1::PodSandbox) -> Option<SandboxRecord> {
    Some(SandboxRecord {
        pod_uid: sandbox.labels.get(POD_UID_LABEL)?.clone(),
        ready: sandbox.state == v1::PodSandboxState::SandboxReady as i32,
        id: sandbox.id,
        created_at: sandbox.created_at,
    })
}

async fn image_filesystem(context: &Context) -> Option<FilesystemRoom> {
    let info = context.runtime.image_fs_info().await.ok()?;
    let path = info.image_filesystems.into_iter().next()?.fs_id?.mountpoint;
    FilesystemRoom::of(Path::new(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_image_is_kept_though_no_container_names_it() {
        let image =
            |id: &str, name: &str| ImageRecord { id: id.into(), names: vec![name.into()], ..Default::default() };
        let images = [image("sha256:1", "pause:1"), image("sha256:2", "other:1")];
        let used = compute_used(&[], &["pause:1".to_string()]);
        let unused = ImageAges::default().note(&images, &used, Timestamp::UNIX_EPOCH).len();
        assert_eq!(unused, 1);
    }

    #[test]
    fn a_container_that_was_made_and_not_started_yet_is_not_dead() {
        let labels = HashMap::from([POD_UID_LABEL, CONTAINER_NAME_LABEL].map(|key| (key.to_owned(), "x".to_owned())));
        let made = |state: v1::ContainerState| v1::Container {
            state: state as i32,
            labels: labels.clone(),
            ..Default::default()
        };
        let running = |state| container_record(made(state)).map(|record| record.running);
        assert_eq!(running(v1::ContainerState::ContainerCreated), Some(true));
        assert_eq!(running(v1::ContainerState::ContainerExited), Some(false));
        assert_eq!(container_record(v1::Container::default()), None);
    }
}
