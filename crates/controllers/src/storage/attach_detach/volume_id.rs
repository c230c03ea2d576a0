//! The key of a CSI volume in this controller's queue. Those of nodes have no namespace, and a
//! driver has always a name.

use crate::runner::Key;
use ferry_api::rules::csi_volume::CsiVolumeId;

pub(super) fn key(id: &CsiVolumeId) -> Key {
    Key::new(&id.driver, &id.handle)
}

pub(super) fn of_key(key: &Key) -> CsiVolumeId {
    CsiVolumeId::new(&key.namespace, &key.name)
}
