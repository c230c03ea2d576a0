//! Devices of dynamic resource allocation: where they are (`slice.rs`, `pools.rs`), which are in
//! use (`ledger.rs`), and which of them serve a claim (`search.rs`). The plugin DynamicResources
//! decides with them; NodeResourcesFit asks which extended resources are devices.
//!
//! One [`Devices`] is shared by all profiles, because they must not give one device away twice.
//! It follows the events of its kinds; whoever reads catches up first, so that a decision sees
//! all that the informers have.

mod capacity;
mod classes;
mod ledger;
mod pools;
mod request;
mod result;
mod search;
mod selector;
mod slice;

#[cfg(test)]
mod tests;

pub use classes::is_device_resource;
pub use ledger::version_number;
pub use request::ClaimRequests;
pub use result::{render_allocation, score_of};
pub use search::{Allocation, SearchError};

use crate::framework::Resource;
use crate::node_info::NodeInfo;
use classes::ClassIndex;
use ferry_api::rules::key::ObjectKey;
use ferry_api::view::resource::v1::{DeviceClass, ResourceClaim, ResourceSlice};
use ferry_client::{Event, Informer, SharedObject};
use ledger::Ledger;
use parking_lot::{Mutex, MutexGuard};
use pools::SliceIndex;
use selector::Selectors;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Notify, mpsc};

/// The kinds whose events the scheduler's loop must pass on, even if no plugin watches them.
pub const KINDS: [Resource; 3] =
    [Resource::of::<ResourceClaim>(), Resource::of::<ResourceSlice>(), Resource::of::<DeviceClass>()];

pub struct Devices {
    inner: Mutex<Inner>,
}

/// Everything that is known of devices, up to date.
pub struct Inner {
    claim_events: mpsc::UnboundedReceiver<Event<ResourceClaim>>,
    slice_events: mpsc::UnboundedReceiver<Event<ResourceSlice>>,
    class_events: mpsc::UnboundedReceiver<Event<DeviceClass>>,
    pub ledger: Ledger,
    pub classes: ClassIndex,
    slices: SliceIndex,
    selectors: Selectors,
    /// Bindings that wait for a change of a claim.
    waiting: HashMap<ObjectKey, Arc<Notify>>,
}

impl Devices {
    pub fn new(
        claims: &Informer<ResourceClaim>,
        slices: &Informer<ResourceSlice>,
        classes: &Informer<DeviceClass>,
    ) -> Self {
        let inner = Inner {
            claim_events: claims.subscribe(),
            slice_events: slices.subscribe(),
            class_events: classes.subscribe(),
            ledger: Ledger::default(),
            classes: ClassIndex::default(),
            slices: SliceIndex::default(),
            selectors: Selectors::default(),
            waiting: HashMap::new(),
        };
        Self { inner: Mutex::new(inner) }
    }

    /// Takes in the events that have come since. The loop calls it with each of them, so that
    /// they do not pile up while no pod asks for devices.
    pub fn catch_up(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock();
        while let Ok(event) = inner.claim_events.try_recv() {
            inner.ledger.observe(&event);
            if !inner.waiting.is_empty()
                && let Some(changed) = inner.waiting.get(&ObjectKey::of(event.object().meta()))
            {
                changed.notify_waiters();
            }
        }
        while let Ok(event) = inner.slice_events.try_recv() {
            inner.slices.observe(&event);
        }
        while let Ok(event) = inner.class_events.try_recv() {
            inner.classes.observe(&event);
        }
        inner
    }

    /// Whether devices stand behind an extended resource.
    pub fn is_behind(&self, resource: &str) -> bool {
        is_device_resource(resource) && self.catch_up().classes.behind(resource).is_some()
    }

    pub fn forget_node(&self, node: &str) {
        self.inner.lock().slices.forget_node(node);
    }

    /// Wakes the caller at each change of the claim, as long as it holds the interest.
    pub fn watch_claim(self: &Arc<Self>, claim: &SharedObject<ResourceClaim>) -> ClaimInterest {
        let key = ObjectKey::of(claim.meta());
        let changed = self.inner.lock().waiting.entry(key.clone()).or_default().clone();
        ClaimInterest { devices: self.clone(), key, changed }
    }
}

/// An interest in the changes of a claim; the last to drop it ends it.
pub struct ClaimInterest {
    devices: Arc<Devices>,
    key: ObjectKey,
    pub changed: Arc<Notify>,
}

impl Drop for ClaimInterest {
    fn drop(&mut self) {
        let mut inner = self.devices.inner.lock();
        // The map and this are the last two.
        if Arc::strong_count(&self.changed) <= 2 {
            inner.waiting.remove(&self.key);
        }
    }
}

impl Inner {
    /// Reads the requests of a claim. An error says what is wrong with it or its classes.
    pub fn read_requests(&mut self, claim: SharedObject<ResourceClaim>) -> Result<ClaimRequests, String> {
        ClaimRequests::read(claim, &self.classes, &mut self.selectors)
    }

    /// Finds devices on the node for all claims; `None` if there are not enough.
    pub fn allocate(
        &mut self,
        claims: &[&ClaimRequests],
        node: &NodeInfo,
        deadline: Option<Instant>,
    ) -> Result<Option<Allocation>, SearchError> {
        let pools = self.slices.pools_of(node.name(), &node.node);
        search::allocate(claims, node.view(), &pools, &mut self.slices, &self.ledger, deadline)
    }
}
