//! The wakers of pod workers: by the uid of a pod, and by the id of a container or sandbox.
//!
//! Runtime events, probes and watched objects know only an id; workers register theirs.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use tokio::sync::Notify;

#[derive(Default)]
pub struct Wakers {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    workers: HashMap<String, Arc<Notify>>,
    owners: HashMap<String, String>,
    /// Those who wait for the end of a container, by its id.
    listeners: HashMap<String, Vec<Weak<Notify>>>,
}

impl Wakers {
    pub fn register(&self, uid: &str) -> Arc<Notify> {
        self.inner.lock().workers.entry(uid.to_string()).or_default().clone()
    }

    pub fn forget(&self, uid: &str) {
        let mut inner = self.inner.lock();
        inner.workers.remove(uid);
        inner.owners.retain(|_, owner| owner != uid);
    }

    /// Replaces the ids known to belong to the pod.
    pub fn own<'a>(&self, uid: &str, ids: impl Iterator<Item = &'a str>) {
        let mut inner = self.inner.lock();
        inner.owners.retain(|_, owner| owner != uid);
        for id in ids {
            inner.owners.insert(id.to_string(), uid.to_string());
        }
    }

    /// One more id of the pod, added as soon as it exists: what happens to a container
    /// right after its start must find its owner.
    pub fn add(&self, uid: &str, id: &str) {
        self.inner.lock().owners.insert(id.to_string(), uid.to_string());
    }

    pub fn wake(&self, uid: &str) {
        if let Some(worker) = self.inner.lock().workers.get(uid) {
            worker.notify_one();
        }
    }

    /// Notified whenever something happens to the container, for as long as it is held.
    pub fn listen(&self, id: &str) -> Arc<Notify> {
        let notify = Arc::<Notify>::default();
        let mut inner = self.inner.lock();
        inner.listeners.retain(|_, all| {
            all.retain(|listener| listener.strong_count() > 0);
            !all.is_empty()
        });
        inner.listeners.entry(id.to_owned()).or_default().push(Arc::downgrade(&notify));
        notify
    }

    /// Wakes the pod that a container or sandbox belongs to.
    pub fn wake_owner(&self, id: &str) {
        let owner = {
            let inner = self.inner.lock();
            let listeners = inner.listeners.get(id).into_iter().flatten();
            listeners.filter_map(Weak::upgrade).for_each(|listener| listener.notify_one());
            inner.owners.get(id).cloned()
        };
        if let Some(uid) = owner {
            self.wake(&uid);
        }
    }

    pub fn wake_all(&self) {
        for worker in self.inner.lock().workers.values() {
            worker.notify_one();
        }
    }
}
