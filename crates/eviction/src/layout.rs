//! The filesystems that the node's files, images and writable layers are on, and the consequences
//! for every disk signal: the thresholds of containerfs, the local storage that is ranked, and
//! what can be collected before a pod has to go (upstream: `UpdateContainerFsThresholds`,
//! `buildSignalToRankFunc` and `buildSignalToNodeReclaimFuncs` of pkg/kubelet/eviction/helpers.go).

use crate::signal::Signal;
use crate::threshold::Threshold;
use crate::usage::DiskPart;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesystemLayout {
    /// Everything is on one filesystem.
    Shared,
    /// Images and writable layers have one of their own.
    DedicatedImages,
    /// Images have one of their own, and writable layers are with the node's files.
    SplitImages,
}

/// Something that is collected without any pod's harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reclaim {
    DeadContainers,
    UnusedImages,
}

const CONTAINER_SIGNALS: [(Signal, Signal, Signal); 2] = [
    (Signal::ContainerFsAvailable, Signal::NodeFsAvailable, Signal::ImageFsAvailable),
    (Signal::ContainerFsInodesFree, Signal::NodeFsInodesFree, Signal::ImageFsInodesFree),
];

impl FilesystemLayout {
    /// Writable layers are on the filesystem of the images, or on that of the node: its
    /// thresholds hold for them too, whatever was configured.
    pub fn with_container_thresholds(self, configured: &[Threshold]) -> Vec<Threshold> {
        let is_own = |threshold: &&Threshold| !CONTAINER_SIGNALS.iter().any(|(own, ..)| *own == threshold.signal);
        let mut thresholds: Vec<Threshold> = configured.iter().filter(is_own).copied().collect();
        for (own, node, image) in CONTAINER_SIGNALS {
            let source = if self == Self::DedicatedImages { image } else { node };
            let known = configured.iter().filter(|threshold| threshold.signal == source);
            thresholds.extend(known.map(|threshold| Threshold { signal: own, ..*threshold }));
        }
        thresholds
    }

    /// The local storage of pods that counts for a signal.
    pub fn ranked_parts(self, signal: Signal) -> &'static [DiskPart] {
        use DiskPart::{LocalVolumes, Logs, Root};
        use Signal::{
            ContainerFsAvailable, ContainerFsInodesFree, ImageFsAvailable, ImageFsInodesFree, NodeFsAvailable,
            NodeFsInodesFree,
        };
        match (self, signal) {
            (_, Signal::MemoryAvailable | Signal::AllocatableMemoryAvailable | Signal::PidAvailable) => &[],
            (Self::Shared, _) => &[Root, Logs, LocalVolumes],
            (Self::DedicatedImages, NodeFsAvailable | NodeFsInodesFree) => &[Logs, LocalVolumes],
            (Self::DedicatedImages, _) => &[Root],
            (Self::SplitImages, ImageFsAvailable | ImageFsInodesFree) => &[],
            (Self::SplitImages, NodeFsAvailable | NodeFsInodesFree | ContainerFsAvailable | ContainerFsInodesFree) => {
                &[Root, Logs, LocalVolumes]
            }
        }
    }

    /// What is collected for a signal before pods go.
    pub fn reclaims(self, signal: Signal) -> &'static [Reclaim] {
        use Reclaim::{DeadContainers, UnusedImages};
        let is_image = matches!(signal, Signal::ImageFsAvailable | Signal::ImageFsInodesFree);
        let is_node = matches!(signal, Signal::NodeFsAvailable | Signal::NodeFsInodesFree);
        match (self, signal) {
            (_, Signal::MemoryAvailable | Signal::AllocatableMemoryAvailable | Signal::PidAvailable) => &[],
            (Self::Shared, _) => &[DeadContainers, UnusedImages],
            (Self::DedicatedImages, _) if is_node => &[],
            (Self::DedicatedImages, _) => &[DeadContainers, UnusedImages],
            (Self::SplitImages, _) if is_image => &[UnusedImages],
            (Self::SplitImages, _) => &[DeadContainers],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::EvictionSettings;
    use crate::threshold::ThresholdValue;

    #[test]
    fn writable_layers_have_the_thresholds_of_their_filesystem() {
        let configured = EvictionSettings::default().thresholds().expect("read");
        let check = |layout: FilesystemLayout, available, inodes| {
            let thresholds = layout.with_container_thresholds(&configured);
            let of = |signal| thresholds.iter().find(|known| known.signal == signal).map(|known| known.value);
            assert_eq!(of(Signal::ContainerFsAvailable), Some(ThresholdValue::Fraction(available)), "{layout:?}");
            assert_eq!(of(Signal::ContainerFsInodesFree), Some(ThresholdValue::Fraction(inodes)), "{layout:?}");
            assert_eq!(thresholds.len(), configured.len() + 2);
        };
        check(FilesystemLayout::Shared, 0.1, 0.05);
        check(FilesystemLayout::SplitImages, 0.1, 0.05);
        check(FilesystemLayout::DedicatedImages, 0.15, 0.05);
        let own = [Threshold::hard(Signal::ContainerFsAvailable, ThresholdValue::Fraction(0.5))];
        assert_eq!(FilesystemLayout::Shared.with_container_thresholds(&own), []);
    }

    #[test]
    fn a_full_disk_is_relieved_by_what_is_on_it() {
        use Signal::{ContainerFsAvailable, ImageFsAvailable, NodeFsAvailable};
        let both: &[Reclaim] = &[Reclaim::DeadContainers, Reclaim::UnusedImages];
        let check = |layout: FilesystemLayout, expected: [&[Reclaim]; 3]| {
            assert_eq!([NodeFsAvailable, ImageFsAvailable, ContainerFsAvailable].map(|s| layout.reclaims(s)), expected);
        };
        check(FilesystemLayout::Shared, [both; 3]);
        check(FilesystemLayout::DedicatedImages, [&[], both, both]);
        let (containers, images) = (&both[..1], &both[1..]);
        check(FilesystemLayout::SplitImages, [containers, images, containers]);
        assert_eq!(FilesystemLayout::Shared.reclaims(Signal::MemoryAvailable), []);
    }
}
