//! Wakes the bindings that wait for a claim, by one subscription for all of them.

use crate::framework::Handle;
use ferry_client::Event;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// Namespace and name.
type ClaimKey = (String, String);

#[derive(Default)]
pub struct ClaimSignals {
    waiting: Arc<Mutex<HashMap<ClaimKey, Arc<Notify>>>>,
    is_running: OnceLock<()>,
}

/// An interest in a claim; the last to drop it ends it.
pub struct Interest {
    waiting: Arc<Mutex<HashMap<ClaimKey, Arc<Notify>>>>,
    key: ClaimKey,
    pub changed: Arc<Notify>,
}

impl Drop for Interest {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock();
        // The map and this are the last two.
        if Arc::strong_count(&self.changed) <= 2 {
            waiting.remove(&self.key);
        }
    }
}

impl ClaimSignals {
    /// Must be called inside the runtime: the first call starts the subscription.
    pub fn watch(&self, handle: &Handle, namespace: &str, name: &str) -> Interest {
        self.is_running.get_or_init(|| self.start(handle));
        let key = (namespace.to_owned(), name.to_owned());
        let changed = self.waiting.lock().entry(key.clone()).or_default().clone();
        Interest { waiting: self.waiting.clone(), key, changed }
    }

    fn start(&self, handle: &Handle) {
        let (mut claims, mut volumes) = (handle.claims.subscribe(), handle.volumes.subscribe());
        let waiting = Arc::downgrade(&self.waiting);
        tokio::spawn(async move {
            loop {
                let key = tokio::select! {
                    event = claims.recv() => event.map(|event: Event<_>| {
                        let claim = event.object();
                        (claim.namespace().to_owned(), claim.name().to_owned())
                    }),
                    event = volumes.recv() => event.map(|event: Event<_>| {
                        let claim = event.object().view().spec().claim_ref();
                        claim.map(|claim| (claim.namespace().to_owned(), claim.name().to_owned())).unwrap_or_default()
                    }),
                };
                // The informer or the plugin is gone.
                let (Some(key), Some(waiting)) = (key, waiting.upgrade()) else { return };
                if let Some(changed) = waiting.lock().get(&key) {
                    changed.notify_waiters();
                }
            }
        });
    }
}
