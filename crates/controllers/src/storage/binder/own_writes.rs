//! The versions that the binder has written and its informers have not shown yet. A binding
//! is four writes; without this each event in between would be answered with a fifth, which
//! could only fail with a conflict (upstream's `storeObjectUpdate`).

use crate::error::{During, Result};
use crate::runner::{Context, Key};
use ferry_api::view::Kind;
use ferry_client::SharedObject;
use parking_lot::Mutex;
use std::collections::HashMap;

pub(super) struct OwnWrites<K>(Mutex<HashMap<Key, SharedObject<K>>>);

/// The part of an object that a write may change.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Spec,
    Status,
}

impl<K> Default for OwnWrites<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Kind> OwnWrites<K> {
    /// Sends a version and keeps the one that the API server answers with.
    pub(super) async fn write(&self, ctx: &Context, part: Part, object: &K) -> Result<SharedObject<K>> {
        let key = Key::of(K::metadata(object.view()));
        let api = ctx.client.api::<K>(&key.namespace);
        let written = match part {
            Part::Spec => api.replace(object).await.during("write", &key)?,
            Part::Status => api.replace_status(object).await.during("write the status of", &key)?,
        };
        self.keep(written.clone());
        Ok(written)
    }

    fn keep(&self, written: SharedObject<K>) {
        self.0.lock().insert(Key::of(written.meta()), written);
    }

    /// The newer of what the informer has and what was written. An object that the informer
    /// no longer has is deleted, because only objects that it had are written.
    pub(super) fn newest(&self, seen: SharedObject<K>) -> SharedObject<K> {
        let mut written = self.0.lock();
        let key = Key::of(seen.meta());
        match written.get(&key) {
            Some(own) if own.uid() == seen.uid() && revision(own) > revision(&seen) => own.clone(),
            Some(_) => {
                written.remove(&key);
                seen
            }
            None => seen,
        }
    }

    /// Forgets an object that is gone.
    pub(super) fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
    }
}

fn revision<K: Kind>(object: &SharedObject<K>) -> u64 {
    object.meta().resource_version().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::core::v1::PersistentVolume;
    use serde_json::json;

    #[test]
    fn the_newer_version_counts_until_the_informer_has_it() {
        let volume = |uid: &str, revision: &str| -> SharedObject<PersistentVolume> {
            SharedObject::of(json!({"metadata": {"name": "v", "uid": uid, "resourceVersion": revision}}))
        };
        let writes = OwnWrites::default();
        let newest = |seen| writes.newest(seen).meta().resource_version().to_owned();
        writes.keep(volume("u", "10"));
        assert_eq!(newest(volume("u", "9")), "10");
        assert_eq!(newest(volume("u", "11")), "11");
        assert_eq!(newest(volume("u", "9")), "9", "the write was forgotten when it had been seen");
        writes.keep(volume("u", "10"));
        assert_eq!(newest(volume("another", "9")), "9");
    }
}
