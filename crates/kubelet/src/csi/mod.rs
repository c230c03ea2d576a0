//! CSI drivers on this node: their registration over the socket directory, the CSINode object that
//! tells the cluster of them, and the calls of their node service. The volumes themselves are
//! `volume/csi/`.

mod driver;
mod node_object;
pub mod proto;
mod registration;
mod socket_watch;

pub(crate) use driver::{Driver, NodeCapabilities};
pub(crate) use registration::run;

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};

/// The drivers that have registered, and the volumes of theirs that pods of this node use.
#[derive(Default)]
pub(crate) struct Drivers {
    registered: Mutex<HashMap<String, Driver>>,
    in_use: Mutex<BTreeSet<String>>,
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

    /// The names for node.status.volumesInUse.
    pub fn volumes_in_use(&self) -> Vec<String> {
        self.in_use.lock().iter().cloned().collect()
    }

    pub fn note_in_use(&self, driver: &str, handle: &str) {
        self.in_use.lock().insert(unique_name(driver, handle));
    }

    pub fn note_unused(&self, driver: &str, handle: &str) {
        self.in_use.lock().remove(&unique_name(driver, handle));
    }
}

/// Upstream's name of an attachable volume.
fn unique_name(driver: &str, handle: &str) -> String {
    format!("kubernetes.io/csi/{driver}^{handle}")
}
