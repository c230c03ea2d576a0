//! The identity of a CSI volume: the names by which nodes report it and attachments are found.
//! The attach-detach controller and the kubelet meet by them and never talk to each other.
//!
//! Upstream: `GetUniqueVolumeName` of pkg/volume/util and `getAttachmentName` of
//! pkg/volume/csi/csi_attacher.go.

use crate::view::core::v1::PersistentVolumeView;
use sha2::{Digest, Sha256};
use std::fmt::Write;

const PLUGIN: &str = "kubernetes.io/csi/";

/// Stands between driver and handle in the unique name.
const SEPARATOR: char = '^';

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CsiVolumeId {
    pub driver: String,
    pub handle: String,
}

impl CsiVolumeId {
    pub fn new(driver: &str, handle: &str) -> Self {
        Self { driver: driver.to_owned(), handle: handle.to_owned() }
    }

    /// The volume of a CSI driver; none for any other.
    pub fn of(volume: PersistentVolumeView<'_>) -> Option<Self> {
        let source = volume.spec().csi()?;
        Some(Self::new(source.driver(), source.volume_handle()))
    }

    /// Reads the name under which a node reports the volume.
    pub fn parse(unique_name: &str) -> Option<Self> {
        let (driver, handle) = unique_name.strip_prefix(PLUGIN)?.split_once(SEPARATOR)?;
        let is_whole = !driver.is_empty() && !handle.contains(SEPARATOR);
        is_whole.then(|| Self::new(driver, handle))
    }

    /// The name in `status.volumesAttached` and `status.volumesInUse` of nodes.
    pub fn unique_name(&self) -> String {
        format!("{PLUGIN}{}{SEPARATOR}{}", self.driver, self.handle)
    }

    /// The name of the VolumeAttachment of the volume to a node.
    pub fn attachment_name(&self, node: &str) -> String {
        format!("csi-{}", hex_digest(&[&self.handle, &self.driver, node]))
    }
}

/// SHA-256 of the texts one after another, in hexadecimal digits.
pub fn hex_digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    texts.iter().for_each(|text| hash.update(text));
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_upstreams() {
        let id = CsiVolumeId::new("csi.example.com", "vol-1");
        assert_eq!(id.unique_name(), "kubernetes.io/csi/csi.example.com^vol-1");
        assert_eq!(CsiVolumeId::parse(&id.unique_name()), Some(id.clone()));
        // sha256("vol-1csi.example.comnode-a"), as `sha256sum` prints it.
        assert_eq!(
            id.attachment_name("node-a"),
            "csi-664f93e6befe920d56b73708bbb3eb1888cad5fb3e7203b1b501f466d0bea90f"
        );
    }

    #[test]
    fn names_of_other_plugins_and_torn_names_are_none() {
        for name in
            ["kubernetes.io/nfs/x", "kubernetes.io/csi/driver", "kubernetes.io/csi/^h", "kubernetes.io/csi/d^h^i"]
        {
            assert_eq!(CsiVolumeId::parse(name), None, "{name}");
        }
    }
}
