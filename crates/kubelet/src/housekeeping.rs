//! Housekeeping cuts what grows: images that nobody uses are removed when the disk fills up. One
//! loop, once a minute. Container logs have their own in `log_rotation.rs`.

use crate::Error;
use crate::context::Context;
use crate::cri::v1;
use crate::volume::image::images_in_use;
use ferry_client::EventType;
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

const EVERY: Duration = Duration::from_secs(60);
/// Upstream's imageGCHighThresholdPercent and imageGCLowThresholdPercent.
const HIGH_PERCENT: u64 = 85;
const LOW_PERCENT: u64 = 80;
/// An image just pulled may be about to be used.
const MIN_IMAGE_AGE: jiff::SignedDuration = jiff::SignedDuration::from_secs(120);

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let mut images = ImageAges::default();
    let mut ticks = tokio::time::interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            _ = ticks.tick() => {}
        }
        images.collect(&context).await;
    }
}

/// When each image was first seen and last used.
#[derive(Default)]
struct ImageAges(HashMap<String, (Timestamp, Timestamp)>);

impl ImageAges {
    async fn collect(&mut self, context: &Context) {
        let listed_at = Timestamp::now();
        let (Ok(images), Ok(containers)) =
            (context.runtime.list_images().await, context.runtime.list_containers(None).await)
        else {
            return;
        };
        context.images.prune_records(&images, listed_at).await;
        let now = Timestamp::now();
        let root = context.config.root_dir.clone();
        let in_volumes = tokio::task::spawn_blocking(move || images_in_use(&root)).await.unwrap_or_default();
        let mut used = compute_used(&containers, &context.config.kept_images);
        used.extend(in_volumes);
        self.0.retain(|id, _| images.iter().any(|image| image.id == *id));
        for image in &images {
            let ages = self.0.entry(image.id.clone()).or_insert((now, now));
            if used.contains(&image.id) {
                ages.1 = now;
            }
        }
        let Some((percent, capacity)) = image_disk_usage(context).await else { return };
        if percent < HIGH_PERCENT {
            return;
        }
        let wanted = (percent - LOW_PERCENT) * capacity / 100;
        let mut freed = 0;
        for image in plan_image_removal(&images, &used, &self.0, now) {
            if freed >= wanted {
                break;
            }
            if context.runtime.remove_image(&image.id).await.is_ok() {
                tracing::info!(image = ?image.repo_tags, size = image.size, "removed an unused image");
                freed += image.size;
            }
        }
        if freed < wanted {
            let message = format!(
                "Failed to garbage collect required amount of images. Attempted to free {wanted} bytes, but only found {freed} bytes eligible to free."
            );
            context.recorder.event(context.node_reference(), EventType::Warning, "FreeDiskSpaceFailed", message);
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

/// Images that may go, the longest unused first. Pinned ones stay, and so do those that
/// are used or named in the configuration.
fn plan_image_removal<'a>(
    images: &'a [v1::Image],
    used: &HashSet<String>,
    ages: &HashMap<String, (Timestamp, Timestamp)>,
    now: Timestamp,
) -> Vec<&'a v1::Image> {
    let mut unused: Vec<(&v1::Image, Timestamp)> = images
        .iter()
        .filter(|image| !image.pinned && !used.contains(&image.id))
        .filter(|image| !image.repo_tags.iter().any(|tag| used.contains(tag)))
        .filter_map(|image| {
            let (seen, last_used) = ages.get(&image.id)?;
            (now.duration_since(*seen) >= MIN_IMAGE_AGE).then_some((image, *last_used))
        })
        .collect();
    unused.sort_by_key(|(_, last_used)| *last_used);
    unused.into_iter().map(|(image, _)| image).collect()
}

/// How full the images' file system is, in percent, and how large.
async fn image_disk_usage(context: &Context) -> Option<(u64, u64)> {
    let usage = context.runtime.image_fs_info().await.ok()?.into_iter().next()?;
    let path = usage.fs_id?.mountpoint;
    let fs = nix::sys::statvfs::statvfs(path.as_str()).ok()?;
    let capacity = fs.blocks().checked_mul(fs.fragment_size())?;
    let available = fs.blocks_available().checked_mul(fs.fragment_size())?;
    let percent = 100 - available.min(capacity).checked_mul(100)?.checked_div(capacity)?;
    Some((percent, capacity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_in_use_pinned_or_new_are_kept() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let image = |id: &str, pinned| v1::Image { id: id.into(), pinned, ..Default::default() };
        let images =
            [image("used", false), image("pinned", true), image("new", false), image("b", false), image("a", false)];
        let ages = HashMap::from([
            ("used".to_string(), (at(0), at(0))),
            ("pinned".to_string(), (at(0), at(0))),
            ("new".to_string(), (at(950), at(950))),
            ("a".to_string(), (at(0), at(10))),
            ("b".to_string(), (at(0), at(20))),
        ]);
        let plan = plan_image_removal(&images, &HashSet::from(["used".to_string()]), &ages, at(1000));
        assert_eq!(plan.iter().map(|image| image.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn the_sandbox_image_is_kept_though_no_container_names_it() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let pause = v1::Image { id: "sha256:1".into(), repo_tags: vec!["pause:1".into()], ..Default::default() };
        let other = v1::Image { id: "sha256:2".into(), repo_tags: vec!["other:1".into()], ..Default::default() };
        let ages = HashMap::from([&pause, &other].map(|image| (image.id.clone(), (at(0), at(0)))));
        let used = compute_used(&[], &["pause:1".to_string()]);
        let images = [pause, other];
        let plan = plan_image_removal(&images, &used, &ages, at(1000));
        assert_eq!(plan.iter().map(|image| image.id.as_str()).collect::<Vec<_>>(), ["sha256:2"]);
    }
}
