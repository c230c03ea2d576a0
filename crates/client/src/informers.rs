//! One informer a collection and selector, shared by all who ask for it.

use crate::informer::{Accept, Cached, Informer, ObjectMetadata};
use crate::request::{Client, ListParams, Object, ResourcePath};
use parking_lot::Mutex;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Objects stripped to their metadata, in lists and in watches.
const METADATA_ONLY: Accept = Accept {
    list: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json",
    watch: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
};

type Started = HashMap<(TypeId, ResourcePath, ListParams), Box<dyn Any + Send + Sync>>;

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

    pub fn of<K: Object>(&self) -> Informer<K> {
        self.with(ListParams::default())
    }

    pub fn with<K: Object>(&self, params: ListParams) -> Informer<K> {
        self.shared(ResourcePath::of::<K>(), params, None)
    }

    /// The collection of a builtin kind, held as a type of the caller's own with fewer
    /// fields; what a scheduler or a proxy keeps of ten thousand objects adds up.
    pub fn view<K: k8s_openapi::Resource, V: Cached>(&self, params: ListParams) -> Informer<V> {
        self.shared(ResourcePath::of::<K>(), params, None)
    }

    /// Any kind by name, metadata only.
    pub fn metadata(&self, group: &str, version: &str, plural: &str, _kind: &str) -> Informer<ObjectMetadata> {
        self.shared(ResourcePath::new(group, version, plural), ListParams::default(), Some(METADATA_ONLY))
    }

    fn shared<K: Cached>(&self, path: ResourcePath, params: ListParams, accept: Option<Accept>) -> Informer<K> {
        let key = (TypeId::of::<K>(), path.clone(), params.clone());
        let mut started = self.started.lock();
        let informer = started.entry(key).or_insert_with(|| {
            Box::new(Informer::<K>::start(self.client.clone(), path, params, accept, self.shutdown.child_token()))
        });
        informer.downcast_ref::<Informer<K>>().expect("the key holds the type").clone()
    }
}
