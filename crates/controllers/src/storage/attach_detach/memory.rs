//! Facts that no object holds: since when a volume is to be detached, which failures pods have been
//! told, and our own writes until the caches show them. Kept for as long as a volume has to do
//! with a node.

use super::plan::NodeMemory;
use super::volume_id;
use crate::runner::Key;
use ferry_api::rules::csi_volume::CsiVolumeId;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};

#[derive(Default)]
pub(super) struct Memory {
    volumes: Mutex<HashMap<Key, BTreeMap<String, NodeMemory>>>,
    /// The volumes that nodes used when they went, of those that have attachments left.
    gone: Mutex<HashMap<String, Vec<String>>>,
}

impl Memory {
    pub(super) fn get(&self, id: &CsiVolumeId, node: &str) -> NodeMemory {
        let volumes = self.volumes.lock();
        volumes.get(&volume_id::key(id)).and_then(|nodes| nodes.get(node)).cloned().unwrap_or_default()
    }

    /// The nodes of a volume that there is something to remember of.
    pub(super) fn nodes_of(&self, id: &CsiVolumeId) -> Vec<String> {
        self.volumes.lock().get(&volume_id::key(id)).map(|nodes| nodes.keys().cloned().collect()).unwrap_or_default()
    }

    pub(super) fn set(&self, id: &CsiVolumeId, node: &str, memory: NodeMemory) {
        let mut volumes = self.volumes.lock();
        let key = volume_id::key(id);
        if memory != NodeMemory::default() {
            volumes.entry(key).or_default().insert(node.to_owned(), memory);
        } else if let Some(nodes) = volumes.get_mut(&key) {
            nodes.remove(node);
            if nodes.is_empty() {
                volumes.remove(&key);
            }
        }
    }

    pub(super) fn edit(&self, id: &CsiVolumeId, node: &str, change: impl FnOnce(&mut NodeMemory)) {
        let mut memory = self.get(id, node);
        change(&mut memory);
        self.set(id, node, memory);
    }

    /// Marks an attachment as on its way out until the guard says whether it is.
    pub(super) fn detaching<'a>(&'a self, id: &'a CsiVolumeId, node: &'a str, uid: String) -> Detaching<'a> {
        self.edit(id, node, |memory| memory.detaching = Some(uid));
        Detaching { memory: self, id, node, is_kept: false }
    }

    pub(super) fn is_detaching(&self, id: &CsiVolumeId, node: &str) -> bool {
        self.get(id, node).detaching.is_some()
    }

    /// A node is gone; what it used last is remembered while it has attachments.
    pub(super) fn node_gone(&self, node: &str, in_use: Vec<String>, has_attachments: bool) {
        let mut gone = self.gone.lock();
        match has_attachments {
            true => drop(gone.insert(node.to_owned(), in_use)),
            false => drop(gone.remove(node)),
        }
    }

    /// Whether a node that is gone used a volume. One that was never seen may have.
    pub(super) fn was_in_use(&self, node: &str, volume: &str) -> bool {
        self.gone.lock().get(node).is_none_or(|used| used.iter().any(|name| name == volume))
    }

    /// A node is back, or has no attachment left.
    pub(super) fn forget_gone(&self, node: &str) {
        self.gone.lock().remove(node);
    }
}

/// A detach under way. Dropped without [`Detaching::keep`], the volume counts as attached again.
pub(super) struct Detaching<'a> {
    memory: &'a Memory,
    id: &'a CsiVolumeId,
    node: &'a str,
    is_kept: bool,
}

impl Detaching<'_> {
    /// The attachment is deleted, or will be.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Detaching<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.memory.edit(self.id, self.node, |memory| memory.detaching = None);
        }
    }
}
