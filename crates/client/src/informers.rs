//! One informer a collection and selector, shared by all who ask for it.

use crate::informer::{Cached, Informer, ObjectMetadata, Slim};
use crate::reflector::Accept;
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

type Started = HashMap<(TypeId, ResourcePath, ListParams), Running>;

/// An informer of some type, and the way to end it.
struct Running {
    informer: Box<dyn Any + Send + Sync>,
    stop: CancellationToken,
}

#[derive(Clone)]
pub struct Informers {
    client: Client,
    started: Arc<Mutex<Started>>,
    slim: Option<Slim>,
    shutdown: CancellationToken,
    cache: crate::cache::Informers,
}

impl Informers {
    pub fn new(client: Client) -> Self {
        Self::with_shutdown(client, CancellationToken::new())
    }

    /// Every informer ends when `shutdown` is cancelled.
    pub fn with_shutdown(client: Client, shutdown: CancellationToken) -> Self {
        let cache = crate::cache::Informers::with_shutdown(client.clone(), shutdown.clone());
        Self { client, started: Arc::default(), slim: None, shutdown, cache }
    }

    /// Every informer that is started from here on keeps less of each object.
    pub fn slimmed(mut self, slim: Slim) -> Self {
        self.slim = Some(slim);
        self
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The informers of components that read documents.
    pub fn cache(&self) -> &crate::cache::Informers {
        &self.cache
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

    /// The collections that are followed by their metadata only.
    pub fn followed_metadata(&self) -> Vec<ResourcePath> {
        let is_metadata = |kind: &TypeId| *kind == TypeId::of::<ObjectMetadata>();
        self.started.lock().keys().filter(|(kind, ..)| is_metadata(kind)).map(|(_, path, _)| path.clone()).collect()
    }

    /// Ends every informer of a collection that is no longer served: its watch stops, and
    /// those who subscribed see the end of their events. Whoever asks again gets a new one.
    pub fn forget(&self, path: &ResourcePath) {
        self.started.lock().retain(|(_, known, _), running| {
            let stays = known != path;
            if !stays {
                running.stop.cancel();
            }
            stays
        });
    }

    fn shared<K: Cached>(&self, path: ResourcePath, params: ListParams, accept: Option<Accept>) -> Informer<K> {
        let key = (TypeId::of::<K>(), path.clone(), params.clone());
        let mut started = self.started.lock();
        let running = started.entry(key).or_insert_with(|| {
            let stop = self.shutdown.child_token();
            let informer = Informer::<K>::start(self.client.clone(), path, params, accept, self.slim, stop.clone());
            Running { informer: Box::new(informer), stop }
        });
        running.informer.downcast_ref::<Informer<K>>().expect("the key holds the type").clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, BoxError, Transport};
    use async_trait::async_trait;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Has no objects, and counts how often it is asked for them. Its watches stay open.
    #[derive(Default)]
    struct Empty(AtomicUsize);

    #[async_trait]
    impl Transport for Empty {
        async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
            if request.uri().query().is_some_and(|query| query.contains("watch")) {
                std::future::pending::<()>().await;
            }
            self.0.fetch_add(1, Ordering::Relaxed);
            let list = br#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}"#;
            Ok(http::Response::new(crate::transport::full_body(&list[..])))
        }
    }

    #[tokio::test]
    async fn a_forgotten_collection_ends_and_can_be_followed_anew() {
        let server = Arc::new(Empty::default());
        let informers = Informers::new(Client::new(server.clone(), "test"));
        let first = informers.metadata("example.com", "v1", "ships", "Ship");
        first.synced().await;
        assert_eq!(informers.followed_metadata(), [ResourcePath::new("example.com", "v1", "ships")]);
        let mut events = first.subscribe();
        informers.forget(&ResourcePath::new("example.com", "v1", "harbours"));
        assert!(events.try_recv().is_err_and(|error| error == tokio::sync::mpsc::error::TryRecvError::Empty));
        informers.forget(&ResourcePath::new("example.com", "v1", "ships"));
        assert!(events.recv().await.is_none(), "the events end");
        assert!(informers.followed_metadata().is_empty());
        assert!(first.subscribe().recv().await.is_none(), "one who comes too late does not wait for ever");
        informers.metadata("example.com", "v1", "ships", "Ship").synced().await;
        assert_eq!(server.0.load(Ordering::Relaxed), 2);
    }
}
