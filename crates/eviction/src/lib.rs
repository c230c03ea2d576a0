//! The decisions of a node that runs short of something, or that is about to stop. No file here
//! reads the machine or waits for anything: the kubelet observes and acts (`kubelet/eviction/`,
//! `kubelet/housekeeping.rs`, `kubelet/log_rotation.rs`, `kubelet/shutdown/`).
//!
//! | decision | file |
//! |---|---|
//! | the settings, in upstream's names and with upstream's messages | [`settings`] |
//! | the signals, their resources and node conditions | [`signal`] |
//! | the threshold that is met, the conditions that hold, the one to act on | [`pressure`] |
//! | the pod that goes first | [`rank`] |
//! | the words about it | [`message`] |
//! | a pod that used more local storage than it may | [`local_storage`] |
//! | the images and containers that go | [`image_gc`], [`container_gc`] |
//! | the order in which pods end with the node | [`shutdown`] |
//! | the process that the kernel killed | [`oom`] |
//!
//! Upstream: pkg/kubelet/eviction, pkg/kubelet/images/image_gc_manager.go,
//! pkg/kubelet/kuberuntime/kuberuntime_gc.go, pkg/kubelet/nodeshutdown, pkg/kubelet/oom.

#![warn(unreachable_pub)]

pub mod container_gc;
pub mod image_gc;
pub mod layout;
pub mod local_storage;
pub mod message;
pub mod oom;
pub mod pressure;
pub mod rank;
pub mod settings;
pub mod shutdown;
pub mod signal;
pub mod threshold;
pub mod usage;
