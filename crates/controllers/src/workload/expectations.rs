//! What a controller has done and not yet seen in its cache. Asked by the replica set
//! controller before it counts pods.
//!
//! Without it a stale cache makes a controller create again what it has just created.
//! Where upstream counts expected events, ferry remembers the uid of each pod: a creation
//! is met when the cache holds the pod or the watch has told of its end, a deletion when
//! the cache no longer holds the pod as alive. Nothing can be miscounted.
//!
//! Worked example: a set of 3 with an empty cache creates a, b and c. The watch has shown
//! only a when an event wakes the set again. It counts 1 pod, but b and c are pending, so
//! it does nothing; c's arrival wakes it, it finds 3 and nothing pending.

use crate::runner::Key;
use ferry_api::view::core::v1::Pod;
use ferry_client::Informer;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::time::Instant;

/// Upstream's `ExpectationsTimeout`: past it a lost event no longer blocks the key.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

#[derive(Default)]
pub(crate) struct Expectations {
    keys: Mutex<HashMap<Key, Pending>>,
}

struct Pending {
    since: Instant,
    creating: bool,
    creations: HashMap<String, String>,
    deletions: HashMap<String, String>,
    gone: HashSet<String>,
}

/// What a cache says of an object that was created or deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Absent,
    Alive,
    Leaving,
}

impl Seen {
    /// The state of the pod of that name and uid in a cache.
    pub(crate) fn of(pods: &Informer<Pod>, namespace: &str, name: &str, uid: &str) -> Self {
        match pods.get(namespace, name).filter(|pod| pod.uid() == uid) {
            Some(pod) if pod.is_deleting() => Self::Leaving,
            Some(_) => Self::Alive,
            None => Self::Absent,
        }
    }
}

impl Expectations {
    /// Opens a round of writes. Until `close` is called, ends of objects are remembered,
    /// because the watch may tell of them before the answer to their creation arrives.
    pub(crate) fn open(&self, key: &Key) {
        let pending = Pending {
            since: Instant::now(),
            creating: true,
            creations: HashMap::new(),
            deletions: HashMap::new(),
            gone: HashSet::new(),
        };
        self.keys.lock().insert(key.clone(), pending);
    }

    pub(crate) fn created(&self, key: &Key, uid: &str, name: &str) {
        if let Some(pending) = self.keys.lock().get_mut(key)
            && !pending.gone.contains(uid)
        {
            pending.creations.insert(uid.to_owned(), name.to_owned());
        }
    }

    pub(crate) fn deleted(&self, key: &Key, uid: &str, name: &str) {
        if let Some(pending) = self.keys.lock().get_mut(key)
            && !pending.gone.contains(uid)
        {
            pending.deletions.insert(uid.to_owned(), name.to_owned());
        }
    }

    pub(crate) fn close(&self, key: &Key) {
        if let Some(pending) = self.keys.lock().get_mut(key) {
            pending.creating = false;
            pending.gone.clear();
        }
    }

    /// The watch has told that the object is gone.
    pub(crate) fn observe_gone(&self, key: &Key, uid: &str) {
        if let Some(pending) = self.keys.lock().get_mut(key) {
            pending.creations.remove(uid);
            pending.deletions.remove(uid);
            if pending.creating {
                pending.gone.insert(uid.to_owned());
            }
        }
    }

    /// Whether the cache has caught up with everything written for the key.
    pub(crate) fn are_met(&self, key: &Key, look_up: impl Fn(&str, &str) -> Seen) -> bool {
        let mut keys = self.keys.lock();
        let Some(pending) = keys.get_mut(key) else { return true };
        pending.creations.retain(|uid, name| look_up(name, uid) == Seen::Absent);
        pending.deletions.retain(|uid, name| look_up(name, uid) == Seen::Alive);
        let met = pending.creations.is_empty() && pending.deletions.is_empty();
        if met || pending.since.elapsed() > TIMEOUT {
            keys.remove(key);
            return true;
        }
        false
    }

    pub(crate) fn forget(&self, key: &Key) {
        self.keys.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_creation_is_met_by_the_cache_or_by_the_objects_end() {
        let (expectations, key) = (Expectations::default(), Key::new("default", "web"));
        assert!(expectations.are_met(&key, |_, _| Seen::Absent));
        expectations.open(&key);
        expectations.created(&key, "u1", "a");
        expectations.created(&key, "u2", "b");
        expectations.close(&key);
        assert!(!expectations.are_met(&key, |_, uid| if uid == "u1" { Seen::Alive } else { Seen::Absent }));
        expectations.observe_gone(&key, "u2");
        assert!(expectations.are_met(&key, |_, _| Seen::Absent));
    }

    #[test]
    fn an_end_that_overtakes_the_answer_to_the_creation_counts() {
        let (expectations, key) = (Expectations::default(), Key::new("default", "web"));
        expectations.open(&key);
        expectations.observe_gone(&key, "u1");
        expectations.created(&key, "u1", "a");
        expectations.close(&key);
        assert!(expectations.are_met(&key, |_, _| Seen::Absent));
    }

    #[test]
    fn a_deletion_is_met_when_the_pod_is_leaving_or_gone() {
        let (expectations, key) = (Expectations::default(), Key::new("default", "web"));
        expectations.open(&key);
        expectations.deleted(&key, "u1", "a");
        expectations.close(&key);
        assert!(!expectations.are_met(&key, |_, _| Seen::Alive));
        assert!(expectations.are_met(&key, |_, _| Seen::Leaving));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_event_blocks_for_five_minutes_at_most() {
        let (expectations, key) = (Expectations::default(), Key::new("default", "web"));
        expectations.open(&key);
        expectations.created(&key, "u1", "a");
        expectations.close(&key);
        tokio::time::advance(Duration::from_secs(299)).await;
        assert!(!expectations.are_met(&key, |_, _| Seen::Absent));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(expectations.are_met(&key, |_, _| Seen::Absent));
    }
}
