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
    workers: HashMap<String, Worker>,
    /// The uid of the pod that a container or sandbox belongs to.
    owners: HashMap<String, String>,
    /// Those who wait for the end of a container, by its id.
    listeners: HashMap<String, Vec<Weak<Notify>>>,
}

#[derive(Default)]
struct Worker {
    notify: Arc<Notify>,
    ids: Vec<String>,
}

impl Wakers {
    pub fn register(&self, uid: &str) -> Arc<Notify> {
        self.inner.lock().workers.entry(uid.to_string()).or_default().notify.clone()
    }

    /// Whether a worker is busy with the pod.
    pub fn has(&self, uid: &str) -> bool {
        self.inner.lock().workers.contains_key(uid)
    }

    pub fn forget(&self, uid: &str) {
        let mut inner = self.inner.lock();
        for id in inner.workers.remove(uid).map(|worker| worker.ids).unwrap_or_default() {
            inner.owners.remove(&id);
        }
    }

    /// Replaces the ids known to belong to the pod.
    pub fn own<'a>(&self, uid: &str, ids: impl Iterator<Item = &'a str>) {
        let mut inner = self.inner.lock();
        let ids: Vec<String> = ids.map(str::to_owned).collect();
        let Some(worker) = inner.workers.get_mut(uid) else { return };
        for old in std::mem::replace(&mut worker.ids, ids.clone()) {
            inner.owners.remove(&old);
        }
        inner.owners.extend(ids.into_iter().map(|id| (id, uid.to_owned())));
    }

    /// One more id of the pod, added as soon as it exists: what happens to a container
    /// right after its start must find its owner.
    pub fn add(&self, uid: &str, id: &str) {
        let mut inner = self.inner.lock();
        let Some(worker) = inner.workers.get_mut(uid) else { return };
        if !worker.ids.iter().any(|known| known == id) {
            worker.ids.push(id.to_owned());
            inner.owners.insert(id.to_owned(), uid.to_owned());
        }
    }

    pub fn wake(&self, uid: &str) {
        if let Some(worker) = self.inner.lock().workers.get(uid) {
            worker.notify.notify_one();
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

    /// Whether a container or sandbox belongs to a pod of this node.
    pub fn has_owner(&self, id: &str) -> bool {
        self.inner.lock().owners.contains_key(id)
    }

    /// Wakes the pod that a container or sandbox belongs to.
    pub fn wake_owner(&self, id: &str) {
        let inner = self.inner.lock();
        let listeners = inner.listeners.get(id).into_iter().flatten();
        listeners.filter_map(Weak::upgrade).for_each(|listener| listener.notify_one());
        if let Some(worker) = inner.owners.get(id).and_then(|uid| inner.workers.get(uid)) {
            worker.notify.notify_one();
        }
    }

    pub fn wake_all(&self) {
        for worker in self.inner.lock().workers.values() {
            worker.notify.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_belong_to_a_pod_until_it_is_without_them() {
        let wakers = Wakers::default();
        wakers.register("a");
        wakers.add("a", "one");
        wakers.add("a", "two");
        assert!(wakers.has_owner("one") && wakers.has_owner("two"));
        wakers.own("a", ["two"].into_iter());
        assert!(!wakers.has_owner("one") && wakers.has_owner("two"));
        wakers.forget("a");
        assert!(!wakers.has_owner("two"));
        wakers.add("a", "three");
        assert!(!wakers.has_owner("three"), "nobody is there to be woken");
    }
}
