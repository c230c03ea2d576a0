//! The loop that fills an informer's store: list, watch from there, resume after a break,
//! list again when the server no longer has the revision. Started by the informer.
//!
//! **Invariant:** no object stops the loop. Views read whatever stands in a document; an
//! object without a name is skipped and reported, and the revision moves past it. An object
//! that the server cannot read is left out of its list, because the list may be of any
//! version (resourceVersion 0), as upstream's reflectors begin; one of the newest version
//! would fail for as long as the object is there.

use super::Store;
use crate::error::Error;
use crate::object::SharedObject;
use crate::request::{Client, ListParams, ResourcePath};
use crate::watch::WatchEvents;
use ferry_api::document::{DocumentEvent, EventType};
use ferry_api::view::Kind;
use parking_lot::RwLock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The first and the longest pause between attempts to reach the API.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LAST_RETRY: Duration = Duration::from_secs(10);

/// The version that is asked for where any will do.
const ANY_VERSION: &str = "0";

/// The media types that ask for another form of the objects.
#[derive(Clone, Debug)]
pub(super) struct Accept {
    pub list: &'static str,
    pub watch: &'static str,
}

pub(super) struct Reflector<K> {
    pub client: Client,
    pub path: ResourcePath,
    pub params: ListParams,
    pub accept: Option<Accept>,
    pub store: Arc<RwLock<Store<K>>>,
    pub synced: watch::Sender<bool>,
}

impl<K: Kind> Reflector<K> {
    pub(super) async fn run(self) {
        let mut pause = FIRST_RETRY;
        let mut at_least = ANY_VERSION.to_owned();
        loop {
            match self.list(&at_least).await {
                Ok(mut revision) => {
                    pause = FIRST_RETRY;
                    let _ = self.synced.send(true);
                    self.watch(&mut revision).await;
                    at_least = revision;
                }
                Err(error) => {
                    // The store was brought back to an older state, or its history is gone.
                    ANY_VERSION.clone_into(&mut at_least);
                    tracing::warn!(resource = %self.path.plural, %error, "cannot list; will try again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LAST_RETRY);
                }
            }
        }
    }

    /// Lists a version that is not older than what was seen before.
    async fn list(&self, at_least: &str) -> Result<String, Error> {
        let mut params = ListParams { resource_version: Some(at_least.to_owned()), ..self.params.clone() };
        let api = self.client.api_at::<K>(self.path.clone(), "");
        let mut objects = Vec::new();
        loop {
            let page = api.list_as(&params, self.accept.as_ref().map(|accept| accept.list)).await?;
            objects.extend(page.items.into_iter().filter(|object| self.has_name(object)));
            if page.continue_token.is_empty() {
                self.store.write().replace(objects);
                return Ok(page.resource_version);
            }
            params.continue_token = Some(page.continue_token);
            params.resource_version = None;
        }
    }

    /// Follows the collection from `revision` until it has to be listed again.
    async fn watch(&self, revision: &mut String) {
        let mut pause = FIRST_RETRY;
        loop {
            let started = tokio::time::Instant::now();
            let must_list = match self.follow(revision).await {
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

    async fn follow(&self, revision: &mut String) -> Result<(), Error> {
        let accept = self.accept.as_ref().map(|accept| accept.watch);
        let mut events: WatchEvents =
            self.client.watch_documents(&self.path, "", &self.params, revision, accept).await?;
        while let Some(batch) = events.next().await {
            for event in batch? {
                self.apply(event, revision);
            }
        }
        Ok(())
    }

    /// Brings the store in line with one event.
    fn apply(&self, DocumentEvent { kind, document }: DocumentEvent, revision: &mut String) {
        let object = SharedObject::<K>::new(document);
        let seen = object.meta().resource_version();
        if !seen.is_empty() {
            seen.clone_into(revision);
        }
        if kind == EventType::Bookmark || !self.has_name(&object) {
            return;
        }
        let mut store = self.store.write();
        match kind {
            EventType::Deleted => store.remove(&super::key_of(object.meta()), Some(object)),
            _ => store.put(object),
        }
    }

    fn has_name(&self, object: &SharedObject<K>) -> bool {
        let has_name = !object.name().is_empty();
        if !has_name {
            let resource = &self.path.plural;
            tracing::warn!(%resource, "an object without a name is skipped");
            self.client.problems().report(self.client.component(), resource, "an object has no name and is skipped");
        }
        has_name
    }
}
