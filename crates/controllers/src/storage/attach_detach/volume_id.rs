//! The identity of a CSI volume: the names by which nodes report it and attachments are found.
//! Used by every file of this controller.
//!
//! Upstream: `GetUniqueVolumeName` of pkg/volume/util and `getAttachmentName` of
//! pkg/volume/csi/csi_attacher.go.

use crate::runner::Key;
use ferry_api::view::core::v1::PersistentVolumeView;
use ring::digest::{SHA256, digest};
use std::fmt::Write;

const PLUGIN: &str = "kubernetes.io/csi/";

/// Stands between driver and handle in the unique name.
const SEPARATOR: char = '^';

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VolumeId {
    pub(super) driver: String,
    pub(super) handle: String,
}

impl VolumeId {
    /// The volume of a CSI driver; none for any other.
    pub(super) fn of(volume: PersistentVolumeView<'_>) -> Option<Self> {
        let source = volume.spec().csi()?;
        Some(Self { driver: source.driver().to_owned(), handle: source.volume_handle().to_owned() })
    }

    /// Reads the name under which a node reports the volume.
    pub(super) fn parse(unique_name: &str) -> Option<Self> {
        let (driver, handle) = unique_name.strip_prefix(PLUGIN)?.split_once(SEPARATOR)?;
        let is_whole = !driver.is_empty() && !handle.contains(SEPARATOR);
        is_whole.then(|| Self { driver: driver.to_owned(), handle: handle.to_owned() })
    }

    /// The name in `status.volumesAttached` and `status.volumesInUse` of nodes.
    pub(super) fn unique_name(&self) -> String {
        format!("{PLUGIN}{}{SEPARATOR}{}", self.driver, self.handle)
    }

    /// The name of the VolumeAttachment of the volume to a node.
    pub(super) fn attachment_name(&self, node: &str) -> String {
        let hash = digest(&SHA256, format!("{}{}{node}", self.handle, self.driver).as_bytes());
        hash.as_ref().iter().fold("csi-".to_owned(), |mut name, byte| {
            // Writing to a string cannot fail.
            let _ = write!(name, "{byte:02x}");
            name
        })
    }

    /// The key of the volume in the queue. Those of nodes have no namespace, and a driver has
    /// always a name.
    pub(super) fn key(&self) -> Key {
        Key::new(&self.driver, &self.handle)
    }

    pub(super) fn from_key(key: &Key) -> Self {
        Self { driver: key.namespace.clone(), handle: key.name.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_upstreams() {
        let id = VolumeId { driver: "csi.example.com".to_owned(), handle: "vol-1".to_owned() };
        assert_eq!(id.unique_name(), "kubernetes.io/csi/csi.example.com^vol-1");
        assert_eq!(VolumeId::parse(&id.unique_name()), Some(id.clone()));
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
            assert_eq!(VolumeId::parse(name), None, "{name}");
        }
    }
}
