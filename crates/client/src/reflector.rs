//! The loop that fills an informer's copy: list, watch from there, resume after a break,
//! list again when the server no longer has the revision. Started by informer.rs.
//!
//! **Invariant:** no object stops the loop. One that does not decode is skipped and
//! reported, and the revision moves past it. If an older version of it is known, that
//! version stays: its absence would make a controller act as if it had been deleted.

use crate::decode::{Unreadable, decode, decode_object};
use crate::error::Error;
use crate::informer::{Cached, Copy, Key, ObjectMetadata, Slim, key_of};
use crate::request::{Client, ListParams, ResourcePath};
use crate::watch::WatchEvent;
use parking_lot::RwLock;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The first and the longest pause between attempts to reach the API.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(10);

/// The media types that ask for another form of the objects.
#[derive(Clone, Debug)]
pub(crate) struct Accept {
    pub list: &'static str,
    pub watch: &'static str,
}

pub(crate) struct Reflector<K> {
    pub client: Client,
    pub path: ResourcePath,
    pub params: ListParams,
    pub accept: Option<Accept>,
    pub slim: Option<Slim>,
    pub copy: Arc<RwLock<Copy<K>>>,
    pub synced: watch::Sender<bool>,
}

impl<K: Cached> Reflector<K> {
    pub async fn run(self) {
        let mut pause = FIRST_RETRY;
        let mut skipped = Skipped::new(&self.client, &self.path);
        loop {
            match self.list(&mut skipped).await {
                Ok(revision) => {
                    pause = FIRST_RETRY;
                    let _ = self.synced.send(true);
                    self.watch(revision, &mut skipped).await;
                }
                Err(error) => {
                    tracing::warn!(resource = %self.path.plural, %error, "cannot list; will try again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LAST_RETRY);
                }
            }
        }
    }

    async fn list(&self, skipped: &mut Skipped) -> Result<String, Error> {
        let mut params = self.params.clone();
        let (mut objects, mut unreadable) = (Vec::new(), Vec::new());
        loop {
            let page = self.client.page_at::<K>(&self.path, "", &params, self.accept.as_ref().map(|a| a.list)).await?;
            objects.extend(page.items.into_iter().map(|object| trim(object, self.slim)));
            unreadable.extend(page.unreadable);
            match page.continue_token {
                Some(token) => params.continue_token = Some(token),
                None => {
                    self.copy.write().replace(objects, &unreadable);
                    skipped.replace(unreadable);
                    return Ok(page.resource_version);
                }
            }
        }
    }

    /// Follows the collection from `revision` until it has to be listed again.
    async fn watch(&self, mut revision: String, skipped: &mut Skipped) {
        let mut pause = FIRST_RETRY;
        loop {
            let started = tokio::time::Instant::now();
            let must_list = match self.follow(&mut revision, skipped).await {
                Ok(()) => false,
                Err(error) if error.is_expired() => return,
                Err(error) => {
                    tracing::debug!(resource = %self.path.plural, %error, "watch broke; will resume");
                    // A line that is no event would come again from the same revision.
                    matches!(error, Error::Decode { .. })
                }
            };
            // A watch that lasted was a good one; only quick failures slow down.
            if started.elapsed() > LAST_RETRY {
                pause = FIRST_RETRY;
            }
            tokio::time::sleep(pause).await;
            if must_list {
                return;
            }
            pause = (pause * 2).min(LAST_RETRY);
        }
    }

    async fn follow(&self, revision: &mut String, skipped: &mut Skipped) -> Result<(), Error> {
        let accept = self.accept.as_ref().map(|a| a.watch);
        let mut lines = self.client.watch_at(&self.path, "", &self.params, revision, accept).await?;
        while let Some(event) = lines.next().await {
            let event = event?;
            if event.kind == "BOOKMARK" {
                // A bookmark that does not decode only leaves the revision where it was.
                let mark = decode::<ObjectMetadata>(event.object.get().as_bytes()).unwrap_or_default();
                advance(revision, mark.metadata.resource_version.as_deref());
                continue;
            }
            self.take(&event, revision, skipped);
        }
        Ok(())
    }

    /// Brings the copy in line with one event.
    fn take(&self, event: &WatchEvent, revision: &mut String, skipped: &mut Skipped) {
        let is_deletion = event.kind == "DELETED";
        match decode_object::<K>(&event.object) {
            Ok(object) => {
                advance(revision, object.object_meta().resource_version.as_deref());
                let object = trim(object, self.slim);
                let key = key_of(object.object_meta());
                skipped.resolve(&key);
                let mut copy = self.copy.write();
                if is_deletion {
                    copy.remove(&key, Some(object));
                } else {
                    copy.put(object);
                }
            }
            Err(unreadable) => {
                advance(revision, Some(&unreadable.resource_version));
                let key = (unreadable.namespace.clone(), unreadable.name.clone());
                if is_deletion {
                    self.copy.write().remove(&key, None);
                    skipped.resolve(&key);
                } else {
                    self.copy.write().remove_predecessor(&unreadable);
                    skipped.report(*unreadable);
                }
            }
        }
    }
}

fn advance(revision: &mut String, seen: Option<&str>) {
    if let Some(seen) = seen.filter(|seen| !seen.is_empty()) {
        seen.clone_into(revision);
    }
}

/// The objects of one collection that do not decode, each with the revision that was
/// reported last. What is left when the informer ends is resolved: nobody reads it.
struct Skipped {
    client: Client,
    resource: String,
    revisions: HashMap<Key, String>,
}

impl Skipped {
    fn new(client: &Client, path: &ResourcePath) -> Self {
        let resource = match path.group.as_str() {
            "" => path.plural.clone(),
            group => format!("{}.{group}", path.plural),
        };
        Self { client: client.clone(), resource, revisions: HashMap::new() }
    }

    fn subject(&self, (namespace, name): &Key) -> String {
        match namespace.as_str() {
            "" => format!("{} {name}", self.resource),
            namespace => format!("{} {namespace}/{name}", self.resource),
        }
    }

    fn report(&mut self, unreadable: Unreadable) {
        let key = (unreadable.namespace, unreadable.name);
        if self.revisions.get(&key).is_some_and(|reported| *reported == unreadable.resource_version) {
            return;
        }
        let subject = self.subject(&key);
        let error = unreadable.error;
        tracing::warn!(object = %subject, revision = %unreadable.resource_version, %error, "cannot read an object; it is skipped");
        let message = format!("cannot be read and is skipped, what was known of it stays: {error}");
        self.client.problems().report(self.client.component(), &subject, &message);
        self.revisions.insert(key, unreadable.resource_version);
    }

    fn resolve(&mut self, key: &Key) {
        if !self.revisions.is_empty() && self.revisions.remove(key).is_some() {
            self.client.problems().resolve(self.client.component(), &self.subject(key));
        }
    }

    /// After a fresh list these and no others are unreadable.
    fn replace(&mut self, unreadable: Vec<Unreadable>) {
        let still: HashSet<Key> = unreadable.iter().map(|u| (u.namespace.clone(), u.name.clone())).collect();
        let resolved: Vec<Key> = self.revisions.keys().filter(|key| !still.contains(*key)).cloned().collect();
        for key in resolved {
            self.resolve(&key);
        }
        for object in unreadable {
            self.report(object);
        }
    }
}

impl Drop for Skipped {
    fn drop(&mut self) {
        for key in self.revisions.keys() {
            self.client.problems().resolve(self.client.component(), &self.subject(key));
        }
    }
}

/// An object as it is kept. Nobody who reads from a cache looks at who manages which field,
/// and it is often the larger half of an object. The decoder leaves room in every list for
/// items that never come, which for a pod is half of the rest; a copy has none.
fn trim<K: Cached>(mut object: K, slim: Option<Slim>) -> K {
    object.object_meta_mut().managed_fields = None;
    if let Some(slim) = slim {
        slim(&mut object);
    }
    object.clone()
}
