//! CSI drivers on this node: their registration over the socket directory, the CSINode object that
//! tells the cluster of them, and the calls of their node service. The volumes themselves are
//! `volume/csi/`.

mod attachments;
mod driver;
mod node_object;
pub mod proto;
mod registration;
mod socket_watch;

pub(crate) use attachments::watch_attachments;
pub(crate) use driver::{Driver, NodeCapabilities};
pub(crate) use registration::run;

use ferry_api::rules::csi_volume::CsiVolumeId;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap, HashSet};
use tokio::sync::Notify;

/// The drivers that have registered, and the volumes of theirs that pods of this node use.
#[derive(Default)]
pub(crate) struct Drivers {
    registered: Mutex<HashMap<String, Driver>>,
    in_use: Mutex<BTreeSet<String>>,
    in_use_changed: Notify,
    /// The uids of pods that wait for an attachment.
    waiting: Mutex<HashSet<String>>,
}

impl Drivers {
    pub fn find(&self, name: &str) -> Result<Driver, String> {
        let found = self.registered.lock().get(name).cloned();
        found.ok_or_else(|| format!("driver name {name} not found in the list of registered CSI drivers"))
    }

    fn insert(&self, driver: Driver) {
        self.registered.lock().insert(driver.name.clone(), driver);
    }

    fn remove(&self, name: &str) {
        self.registered.lock().remove(name);
    }

    /// The names for node.status.volumesInUse: attachable volumes that are mounted, or about to be.
    pub fn volumes_in_use(&self) -> Vec<String> {
        self.in_use.lock().iter().cloned().collect()
    }

    /// Returns when [`Self::volumes_in_use`] has changed; the node is reported at once then,
    /// because a pod waits for it to mount, or the attach-detach controller to detach.
    pub async fn in_use_changed(&self) {
        self.in_use_changed.notified().await;
    }

    pub fn note_in_use(&self, id: &CsiVolumeId) {
        if self.in_use.lock().insert(id.unique_name()) {
            self.in_use_changed.notify_one();
        }
    }

    pub fn note_unused(&self, id: &CsiVolumeId) {
        if self.in_use.lock().remove(&id.unique_name()) {
            self.in_use_changed.notify_one();
        }
    }

    /// The pod is woken by the next change of the node's attachments.
    pub fn wait_for_attachment(&self, uid: &str) {
        self.waiting.lock().insert(uid.to_owned());
    }

    fn take_waiting(&self) -> HashSet<String> {
        std::mem::take(&mut *self.waiting.lock())
    }
}
