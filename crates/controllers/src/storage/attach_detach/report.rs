//! `status.volumesAttached` of a node: the volumes whose attachments say that they are attached
//! and that nobody is about to detach. Written by the node's own key, and before each detach.
//!
//! Upstream: pkg/controller/volume/attachdetach/statusupdater.

use super::memory::Memory;
use super::seen::Seen;
use crate::error::{During, Result};
use crate::runner::Context;
use ferry_api::rules::csi_volume::CsiVolumeId;
use ferry_api::view::core::v1::Node;
use ferry_client::{Patch, SharedObject};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::hash_map::RandomState;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;

/// Locks for the nodes; two nodes may share one.
const LOCKS: usize = 64;

pub(super) struct Reports {
    /// One report of a node is written at a time, so that the newer one is the last.
    locks: Vec<tokio::sync::Mutex<()>>,
    hasher: RandomState,
    /// The reports that were written last, which the cache may not show yet.
    written: Mutex<HashMap<String, BTreeSet<String>>>,
}

impl Default for Reports {
    fn default() -> Self {
        let locks = (0..LOCKS).map(|_| tokio::sync::Mutex::default()).collect();
        Self { locks, hasher: RandomState::new(), written: Mutex::default() }
    }
}

impl Reports {
    /// Makes a node report what is attached to it now.
    pub(super) async fn report(&self, ctx: &Context, seen: &Seen, memory: &Memory, name: &str) -> Result<()> {
        let _turn = self.locks[self.hasher.hash_one(name) as usize % LOCKS].lock().await;
        let Some(node) = seen.nodes.get("", name) else {
            if seen.attachments_on(name).is_empty() {
                memory.forget_gone(name);
            }
            return Ok(());
        };
        memory.forget_gone(name);
        let attached = attached_to(seen, memory, &node);
        let reported: BTreeSet<String> =
            node.view().status().volumes_attached().iter().map(|volume| volume.name().to_owned()).collect();
        let is_last = self.written.lock().get(name).is_none_or(|last| *last == attached);
        if reported == attached && is_last {
            self.written.lock().remove(name);
            return Ok(());
        }
        let list: Vec<Value> = attached.iter().map(|name| json!({"name": name, "devicePath": ""})).collect();
        let list = if list.is_empty() { Value::Null } else { list.into() };
        let patch = Patch::Merge(json!({"status": {"volumesAttached": list}}));
        match ctx.client.api::<Node>("").patch_status(name, &patch).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("report the volumes of node", name)?),
        }
        self.written.lock().insert(name.to_owned(), attached);
        Ok(())
    }

    pub(super) fn forget(&self, node: &str) {
        self.written.lock().remove(node);
    }
}

fn attached_to(seen: &Seen, memory: &Memory, node: &SharedObject<Node>) -> BTreeSet<String> {
    let reported: Vec<CsiVolumeId> =
        node.view().status().volumes_attached().iter().filter_map(|volume| CsiVolumeId::parse(volume.name())).collect();
    let mut attached = BTreeSet::new();
    for attachment in seen.attachments_on(node.name()) {
        if attachment.is_deleting() || !attachment.view().status().attached() {
            continue;
        }
        // The PersistentVolume may be gone; the node has named the volume itself.
        let by_report = || reported.iter().find(|id| id.attachment_name(node.name()) == attachment.name()).cloned();
        let Some(id) = seen.volume_of(&attachment).or_else(by_report) else { continue };
        if !memory.is_detaching(&id, node.name()) {
            attached.insert(id.unique_name());
        }
    }
    attached
}
