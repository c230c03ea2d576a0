//! The node's own settings under pressure and at its end, as upstream's KubeletConfiguration has
//! them. `lib.rs` holds them in the kubelet's `Config`; the reader of a configuration file fills
//! them in.

pub use ferry_eviction::settings::{
    EvictionSettings, ImageGcSettings, LogRotationSettings, PriorityGracePeriod, ShutdownSettings,
};

use crate::shutdown::logind::Logind;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeSettings {
    pub eviction: EvictionSettings,
    pub image_gc: ImageGcSettings,
    pub log_rotation: LogRotationSettings,
    pub shutdown: ShutdownSettings,
    pub boundary: NodeBoundary,
    /// The way to the machine's own shutdown.
    pub logind: Logind,
}

/// The cgroup whose memory and processes are the node's; the root of the machine by default. Nodes
/// that share a machine have one each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeBoundary {
    pub cgroup: String,
}

impl Default for NodeBoundary {
    fn default() -> Self {
        Self { cgroup: "/".into() }
    }
}

impl NodeSettings {
    /// Every mistake, in upstream's words.
    pub fn validate(&self) -> Vec<String> {
        let mut errors = self.image_gc.validate();
        errors.extend(self.log_rotation.validate());
        errors.extend(self.shutdown.validate());
        errors.extend(self.eviction.validate().err());
        errors
    }
}
