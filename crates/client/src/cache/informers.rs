//! One informer a collection and selector, shared by all who ask for it.

use super::Informer;
use super::reflector::Accept;
use crate::api::METADATA_LIST;
use crate::request::{Client, ListParams, ResourcePath};
use ferry_api::view::Kind;
use ferry_api::view::meta::v1::PartialObjectMetadata;
use parking_lot::Mutex;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Objects stripped to their metadata, in lists and in watches.
const METADATA_ONLY: Accept = Accept {
    list: METADATA_LIST,
    watch: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
};

type Started = HashMap<(TypeId, ResourcePath, ListParams), Running>;

/// An informer of some kind, and the way to end it.
struct Running {
    informer: Box<dyn Any + Send + Sync>,
    stop: CancellationToken,
}

#[derive(Clone)]
pub struct Informers {
    client: Client,
    started: Arc<Mutex<Started>>,
    shutdown: CancellationToken,
}

impl Informers {
    pub fn new(client: Client) -> Self {
        Self::with_shutdown(client, CancellationToken::new())
    }

    /// Every informer ends when `shutdown` is cancelled.
    pub fn with_shutdown(client: Client, shutdown: CancellationToken) -> Self {
        Self { client, started: Arc::default(), shutdown }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn of<K: Kind>(&self) -> Informer<K> {
        self.with(ListParams::default())
    }

    pub fn with<K: Kind>(&self, params: ListParams) -> Informer<K> {
        self.shared(ResourcePath::new(K::GROUP, K::VERSION, K::PLURAL), params, None)
    }

    /// Any kind by name, metadata only.
    pub fn metadata(&self, path: &ResourcePath) -> Informer<PartialObjectMetadata> {
        self.shared(path.clone(), ListParams::default(), Some(METADATA_ONLY))
    }

    /// The collections that are followed by their metadata only.
    pub fn followed_metadata(&self) -> Vec<ResourcePath> {
        let is_metadata = |kind: &TypeId| *kind == TypeId::of::<PartialObjectMetadata>();
        self.started.lock().keys().filter(|(kind, ..)| is_metadata(kind)).map(|(_, path, _)| path.clone()).collect()
    }

    /// Ends every informer of a collection that is no longer served: its watch stops, and
    /// subscribers see the end of their events. A later caller gets a new one.
    pub fn forget(&self, path: &ResourcePath) {
        self.started.lock().retain(|(_, known, _), running| {
            let stays = known != path;
            if !stays {
                running.stop.cancel();
            }
            stays
        });
    }

    fn shared<K: Kind>(&self, path: ResourcePath, params: ListParams, accept: Option<Accept>) -> Informer<K> {
        let key = (TypeId::of::<K>(), path.clone(), params.clone());
        let mut started = self.started.lock();
        let running = started.entry(key).or_insert_with(|| {
            let stop = self.shutdown.child_token();
            let informer = Informer::<K>::start(self.client.clone(), path, params, accept, stop.clone());
            Running { informer: Box::new(informer), stop }
        });
        running.informer.downcast_ref::<Informer<K>>().expect("the key holds the type").clone()
    }
}
