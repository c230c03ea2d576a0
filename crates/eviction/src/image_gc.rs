//! The images that go: those unused for too long, and the longest unused while the disk is too
//! full (upstream: pkg/kubelet/images/image_gc_manager.go).

use crate::settings::ImageGcSettings;
use jiff::{SignedDuration, Timestamp};
use std::collections::{HashMap, HashSet};

/// An image as far as collecting is concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageRecord {
    pub id: String,
    pub names: Vec<String>,
    pub size: u64,
    pub pinned: bool,
}

/// When each image was first seen and last used, since the kubelet started.
#[derive(Debug, Default)]
pub struct ImageAges(HashMap<String, ImageAge>);

#[derive(Clone, Copy, Debug)]
struct ImageAge {
    first_detected: Timestamp,
    /// `None` for one that was never used.
    last_used: Option<Timestamp>,
}

/// An image that may go.
#[derive(Clone, Copy, Debug)]
pub struct UnusedImage<'a> {
    pub image: &'a ImageRecord,
    first_detected: Timestamp,
    last_used: Option<Timestamp>,
}

/// Room that has to be freed on the images' filesystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageDiskNeed {
    pub usage_percent: u64,
    pub bytes: u64,
}

impl ImageAges {
    /// Notes the images that are there and returns the unused ones, the longest unused first.
    /// `used` holds ids and names.
    pub fn note<'a>(
        &mut self,
        images: &'a [ImageRecord],
        used: &HashSet<String>,
        now: Timestamp,
    ) -> Vec<UnusedImage<'a>> {
        let present: HashSet<&str> = images.iter().map(|image| image.id.as_str()).collect();
        self.0.retain(|id, _| present.contains(id.as_str()));
        let mut unused = Vec::new();
        for image in images {
            let new = ImageAge { first_detected: now, last_used: None };
            let age = self.0.entry(image.id.clone()).or_insert(new);
            if used.contains(&image.id) || image.names.iter().any(|name| used.contains(name)) {
                age.last_used = Some(now);
            } else if !image.pinned {
                let ImageAge { first_detected, last_used } = *age;
                unused.push(UnusedImage { image, first_detected, last_used });
            }
        }
        unused.sort_by_key(|image| (image.last_used, image.first_detected));
        unused
    }
}

/// Splits off the images that are unused for longer than the maximum age. Nothing is known of the
/// time before the kubelet started, so that none goes until the kubelet has run for as long.
pub fn plan_old_images<'a>(
    unused: Vec<UnusedImage<'a>>,
    settings: &ImageGcSettings,
    started: Timestamp,
    now: Timestamp,
) -> (Vec<UnusedImage<'a>>, Vec<UnusedImage<'a>>) {
    let maximum = SignedDuration::from_nanos(settings.image_maximum_gc_age.0);
    if maximum.is_zero() || now.duration_since(started) <= maximum {
        return (Vec::new(), unused);
    }
    let is_old =
        |image: &UnusedImage<'_>| image.last_used.is_none_or(|last_used| now.duration_since(last_used) > maximum);
    unused.into_iter().partition(is_old)
}

/// Those old enough to go for the sake of room.
pub fn plan_space<'a>(unused: &[UnusedImage<'a>], settings: &ImageGcSettings, now: Timestamp) -> Vec<&'a ImageRecord> {
    let minimum = SignedDuration::from_nanos(settings.image_minimum_gc_age.0);
    let is_due = |image: &&UnusedImage<'_>| now.duration_since(image.first_detected) >= minimum;
    unused.iter().filter(is_due).map(|image| image.image).collect()
}

/// The bytes to free so that the filesystem is back at the low threshold, if it is above the high one.
pub fn compute_need(settings: &ImageGcSettings, available: u64, capacity: u64) -> Option<ImageDiskNeed> {
    let available = available.min(capacity);
    let free_percent = u128::from(available) * 100 / u128::from(capacity.max(1));
    let usage_percent = 100 - u64::try_from(free_percent).unwrap_or(100).min(100);
    let percent = |value: i32| u64::try_from(value).unwrap_or(0).min(100);
    if capacity == 0 || usage_percent < percent(settings.image_gc_high_threshold_percent) {
        return None;
    }
    let low = u128::from(100 - percent(settings.image_gc_low_threshold_percent));
    let wanted = u64::try_from(u128::from(capacity) * low / 100).unwrap_or(u64::MAX);
    Some(ImageDiskNeed { usage_percent, bytes: wanted.saturating_sub(available) })
}

/// The node's event where not enough could be freed.
pub fn render_shortage(need: ImageDiskNeed, capacity: u64, freed: u64) -> String {
    let (percent, size) = (need.usage_percent, render_size(capacity));
    format!(
        "Insufficient free disk space on the node's image filesystem ({percent}% of {size} used). \
         Failed to free sufficient space by deleting unused images (freed {freed} bytes). \
         Investigate disk usage, as it could be used by active images, logs, volumes, or other data."
    )
}

fn render_size(bytes: u64) -> String {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let unit = units.iter().rev().find(|(_, shift)| bytes >> shift > 0);
    unit.map_or(format!("{bytes} B"), |(unit, shift)| format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::rules::duration::GoDuration;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn image(id: &str) -> ImageRecord {
        ImageRecord { id: id.into(), names: vec![format!("{id}:1")], ..ImageRecord::default() }
    }

    fn ids(images: &[UnusedImage<'_>]) -> Vec<String> {
        images.iter().map(|image| image.image.id.clone()).collect()
    }

    #[test]
    fn images_in_use_or_pinned_stay_and_the_longest_unused_go_first() {
        let pinned = ImageRecord { pinned: true, ..image("pinned") };
        let images = [image("by-id"), image("by-name"), pinned, image("b"), image("a"), image("never")];
        let used = HashSet::from(["by-id", "by-name:1"].map(str::to_owned));
        let mut ages = ImageAges::default();
        ages.note(&images, &HashSet::from(["a".to_owned()]), at(10));
        ages.note(&images, &HashSet::from(["b".to_owned()]), at(20));
        assert_eq!(ids(&ages.note(&images, &used, at(30))), ["never", "a", "b"]);
    }

    #[test]
    fn a_new_image_is_kept_for_the_minimum_age() {
        let mut ages = ImageAges::default();
        let images = [image("old"), image("new")];
        ages.note(&images[..1], &HashSet::new(), at(0));
        let unused = ages.note(&images, &HashSet::new(), at(120));
        let due = plan_space(&unused, &ImageGcSettings::default(), at(120));
        assert_eq!(due.iter().map(|image| image.id.as_str()).collect::<Vec<_>>(), ["old"]);
    }

    #[test]
    fn old_images_go_once_the_kubelet_has_run_for_as_long() {
        let settings =
            ImageGcSettings { image_maximum_gc_age: GoDuration(600_000_000_000), ..ImageGcSettings::default() };
        let images = [image("used-lately"), image("unused")];
        let check = |now, expected: &[&str]| {
            let mut ages = ImageAges::default();
            ages.note(&images, &HashSet::from(["unused".to_owned()]), at(0));
            ages.note(&images, &HashSet::from(["used-lately".to_owned()]), at(500));
            let unused = ages.note(&images, &HashSet::new(), at(now));
            assert_eq!(ids(&plan_old_images(unused, &settings, at(0), at(now)).0), expected, "at {now}");
        };
        check(600, &[]);
        check(601, &["unused"]);
        check(1101, &["unused", "used-lately"]);
    }

    #[test]
    fn room_is_freed_from_the_high_threshold_down_to_the_low_one() {
        let check = |available, expected: Option<(u64, u64)>| {
            let need = compute_need(&ImageGcSettings::default(), available, 1000);
            assert_eq!(need.map(|need| (need.usage_percent, need.bytes)), expected);
        };
        check(160, None);
        check(150, Some((85, 50)));
        check(0, Some((100, 200)));
        check(9999, None);
        assert_eq!(compute_need(&ImageGcSettings::default(), 0, 0), None);
        let need = ImageDiskNeed { usage_percent: 91, bytes: 5 };
        let message = render_shortage(need, 107_374_182_400, 3);
        assert!(message.contains("(91% of 100.0 GiB used). Failed to free") && message.contains("(freed 3 bytes)"));
        assert_eq!((render_size(1023), render_size(1536)), ("1023 B".into(), "1.5 KiB".into()));
    }
}
