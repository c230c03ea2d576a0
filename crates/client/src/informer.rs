//! A local copy of one collection, kept in step by list and watch.
//!
//! Readers get `Arc`s out of the copy; subscribers get every change in order, starting
//! with what is already known. The loop that fills it is reflector.rs.

use crate::decode::Unreadable;
use crate::reflector::{Accept, Reflector};
use crate::request::{Client, ListParams, ResourcePath};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};
use parking_lot::RwLock;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// What an informer can hold: anything with object metadata.
pub trait Cached: DeserializeOwned + Clone + Send + Sync + 'static {
    fn object_meta(&self) -> &ObjectMeta;
    fn object_meta_mut(&mut self) -> &mut ObjectMeta;
}

impl<K> Cached for K
where
    K: k8s_openapi::Metadata<Ty = ObjectMeta> + DeserializeOwned + Clone + Send + Sync + 'static,
{
    fn object_meta(&self) -> &ObjectMeta {
        self.metadata()
    }

    fn object_meta_mut(&mut self) -> &mut ObjectMeta {
        self.metadata_mut()
    }
}

/// Takes from an object what the readers of a cache never look at.
pub type Slim = fn(&mut dyn Any);

/// An object of any kind, of which only the metadata was asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct ObjectMetadata {
    #[serde(default, deserialize_with = "unmanaged")]
    pub metadata: ObjectMeta,
}

/// Metadata without who manages which field: the larger part of it, which `trim` would
/// take away again, is passed over and never built.
fn unmanaged<'de, D: Deserializer<'de>>(source: D) -> Result<ObjectMeta, D::Error> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Unmanaged {
        annotations: Option<BTreeMap<String, String>>,
        creation_timestamp: Option<Time>,
        deletion_grace_period_seconds: Option<i64>,
        deletion_timestamp: Option<Time>,
        finalizers: Option<Vec<String>>,
        generate_name: Option<String>,
        generation: Option<i64>,
        labels: Option<BTreeMap<String, String>>,
        name: Option<String>,
        namespace: Option<String>,
        owner_references: Option<Vec<OwnerReference>>,
        resource_version: Option<String>,
        self_link: Option<String>,
        uid: Option<String>,
    }
    let read = Option::<Unmanaged>::deserialize(source)?.unwrap_or_default();
    Ok(ObjectMeta {
        annotations: read.annotations,
        creation_timestamp: read.creation_timestamp,
        deletion_grace_period_seconds: read.deletion_grace_period_seconds,
        deletion_timestamp: read.deletion_timestamp,
        finalizers: read.finalizers,
        generate_name: read.generate_name,
        generation: read.generation,
        labels: read.labels,
        managed_fields: None,
        name: read.name,
        namespace: read.namespace,
        owner_references: read.owner_references,
        resource_version: read.resource_version,
        self_link: read.self_link,
        uid: read.uid,
    })
}

impl Cached for ObjectMetadata {
    fn object_meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn object_meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[derive(Debug)]
pub enum Event<K> {
    Added(Arc<K>),
    Updated { old: Arc<K>, new: Arc<K> },
    Deleted(Arc<K>),
}

impl<K> Event<K> {
    /// The object as it is now, or as it last was.
    pub fn object(&self) -> &Arc<K> {
        match self {
            Self::Added(object) | Self::Deleted(object) | Self::Updated { new: object, .. } => object,
        }
    }
}

impl<K> Clone for Event<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Added(object) => Self::Added(object.clone()),
            Self::Updated { old, new } => Self::Updated { old: old.clone(), new: new.clone() },
            Self::Deleted(object) => Self::Deleted(object.clone()),
        }
    }
}

pub(crate) type Key = (String, String);

pub(crate) struct Copy<K> {
    objects: BTreeMap<Key, Arc<K>>,
    owned: HashMap<String, HashSet<Key>>,
    subscribers: Vec<mpsc::UnboundedSender<Event<K>>>,
    /// The loop that fills the copy is over; no event comes any more.
    ended: bool,
}

impl<K> Default for Copy<K> {
    fn default() -> Self {
        Self { objects: BTreeMap::new(), owned: HashMap::new(), subscribers: Vec::new(), ended: false }
    }
}

/// A handle on the copy; clones share it.
pub struct Informer<K> {
    copy: Arc<RwLock<Copy<K>>>,
    synced: watch::Receiver<bool>,
}

impl<K> Clone for Informer<K> {
    fn clone(&self) -> Self {
        Self { copy: self.copy.clone(), synced: self.synced.clone() }
    }
}

impl<K: Cached> Informer<K> {
    /// Starts the loop that fills the copy; it ends when `shutdown` is cancelled.
    pub(crate) fn start(
        client: Client,
        path: ResourcePath,
        params: ListParams,
        accept: Option<Accept>,
        slim: Option<Slim>,
        shutdown: tokio_util::sync::CancellationToken,
    ) -> Self {
        let copy = Arc::new(RwLock::new(Copy::default()));
        let (synced_tx, synced) = watch::channel(false);
        let reflector = Reflector { client, path, params, accept, slim, copy: copy.clone(), synced: synced_tx };
        let ended = copy.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = reflector.run() => {}
                () = shutdown.cancelled() => {}
            }
            // Nothing comes any more, and those who wait for it are to know.
            let mut copy = ended.write();
            copy.subscribers.clear();
            copy.ended = true;
        });
        Self { copy, synced }
    }

    /// Waits until the copy has been filled once.
    pub async fn synced(&self) {
        // An error means the loop has ended with the process; there is nothing to wait for.
        let _ = self.synced.clone().wait_for(|done| *done).await;
    }

    pub fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// An empty namespace for a cluster-scoped kind.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<K>> {
        self.copy.read().objects.get(&(namespace.to_owned(), name.to_owned())).cloned()
    }

    /// The objects of one namespace, or all of them, by namespace and name.
    pub fn list(&self, namespace: Option<&str>) -> Vec<Arc<K>> {
        let copy = self.copy.read();
        match namespace {
            None => copy.objects.values().cloned().collect(),
            Some(namespace) => copy
                .objects
                .range((namespace.to_owned(), String::new())..)
                .take_while(|((ns, _), _)| ns == namespace)
                .map(|(_, object)| object.clone())
                .collect(),
        }
    }

    /// The objects that name this uid in their owner references.
    pub fn owned_by(&self, uid: &str) -> Vec<Arc<K>> {
        let copy = self.copy.read();
        let Some(keys) = copy.owned.get(uid) else { return Vec::new() };
        let mut keys: Vec<&Key> = keys.iter().collect();
        keys.sort();
        keys.into_iter().filter_map(|key| copy.objects.get(key).cloned()).collect()
    }

    /// Every change from now on, after an `Added` for everything already known.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<Event<K>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut copy = self.copy.write();
        for object in copy.objects.values() {
            // The receiver is in our hands still, so this cannot fail.
            let _ = sender.send(Event::Added(object.clone()));
        }
        // Of a copy that has ended the receiver ends too, and whoever waits for it with it.
        if !copy.ended {
            copy.subscribers.push(sender);
        }
        receiver
    }
}

impl<K: Cached> Copy<K> {
    pub(crate) fn put(&mut self, object: K) {
        let key = key_of(object.object_meta());
        let new = Arc::new(object);
        let old = self.objects.insert(key.clone(), new.clone());
        if let Some(old) = &old {
            self.disown(&key, old.object_meta());
        }
        for owner in new.object_meta().owner_references.iter().flatten() {
            self.owned.entry(owner.uid.clone()).or_default().insert(key.clone());
        }
        match old {
            Some(old) if old.object_meta().resource_version == new.object_meta().resource_version => {}
            // A new object under an old name: its predecessor's end was not seen.
            Some(old) if old.object_meta().uid != new.object_meta().uid => {
                self.tell(Event::Deleted(old));
                self.tell(Event::Added(new));
            }
            Some(old) => self.tell(Event::Updated { old, new }),
            None => self.tell(Event::Added(new)),
        }
    }

    pub(crate) fn remove(&mut self, key: &Key, last: Option<K>) {
        let Some(old) = self.objects.remove(key) else { return };
        self.disown(key, old.object_meta());
        self.tell(Event::Deleted(last.map_or(old, Arc::new)));
    }

    fn disown(&mut self, key: &Key, meta: &ObjectMeta) {
        for owner in meta.owner_references.iter().flatten() {
            if let Some(keys) = self.owned.get_mut(&owner.uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.owned.remove(&owner.uid);
                }
            }
        }
    }

    fn tell(&mut self, event: Event<K>) {
        self.subscribers.retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }

    /// An object exists that does not decode: the one of its name that is known stays,
    /// unless it was another object, which must have been deleted unseen.
    pub(crate) fn remove_predecessor(&mut self, unreadable: &Unreadable) {
        let key = (unreadable.namespace.clone(), unreadable.name.clone());
        let is_other = |known: &Arc<K>| known.object_meta().uid.as_deref().unwrap_or_default() != unreadable.uid;
        if !unreadable.uid.is_empty() && self.objects.get(&key).is_some_and(is_other) {
            self.remove(&key, None);
        }
    }

    /// Makes the copy equal to a fresh list; what is not in it was deleted unseen.
    pub(crate) fn replace(&mut self, objects: Vec<K>, unreadable: &[Unreadable]) {
        let mut fresh: HashSet<Key> = objects.iter().map(|o| key_of(o.object_meta())).collect();
        for object in unreadable {
            self.remove_predecessor(object);
            fresh.insert((object.namespace.clone(), object.name.clone()));
        }
        let gone: Vec<Key> = self.objects.keys().filter(|key| !fresh.contains(*key)).cloned().collect();
        for key in gone {
            self.remove(&key, None);
        }
        for object in objects {
            self.put(object);
        }
    }
}

pub(crate) fn key_of(meta: &ObjectMeta) -> Key {
    (meta.namespace.clone().unwrap_or_default(), meta.name.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

    fn object(name: &str, uid: &str, revision: &str, owner: Option<&str>) -> ObjectMetadata {
        ObjectMetadata {
            metadata: ObjectMeta {
                namespace: Some("default".into()),
                name: Some(name.into()),
                uid: Some(uid.into()),
                resource_version: Some(revision.into()),
                owner_references: owner.map(|uid| vec![OwnerReference { uid: uid.into(), ..Default::default() }]),
                ..Default::default()
            },
        }
    }

    fn describe(events: &mut mpsc::UnboundedReceiver<Event<ObjectMetadata>>) -> Vec<String> {
        let mut out = Vec::new();
        while let Ok(event) = events.try_recv() {
            let kind = match &event {
                Event::Added(_) => "added",
                Event::Updated { .. } => "updated",
                Event::Deleted(_) => "deleted",
            };
            let meta = event.object().object_meta();
            out.push(format!(
                "{kind} {} {}",
                meta.name.as_deref().unwrap_or_default(),
                meta.uid.as_deref().unwrap_or_default()
            ));
        }
        out
    }

    #[test]
    fn a_fresh_list_tells_only_what_changed() {
        let copy = Arc::new(RwLock::new(Copy::default()));
        let (_tx, synced) = watch::channel(true);
        let informer = Informer { copy: copy.clone(), synced };
        copy.write().replace(
            vec![object("a", "1", "1", Some("o")), object("b", "2", "2", None), object("c", "3", "3", None)],
            &[],
        );
        let mut events = informer.subscribe();
        assert_eq!(describe(&mut events), ["added a 1", "added b 2", "added c 3"]);
        // a stays, b is gone, c was replaced by another object of the same name, d is new.
        copy.write().replace(
            vec![object("a", "1", "1", Some("o")), object("c", "4", "5", None), object("d", "5", "6", Some("o"))],
            &[],
        );
        assert_eq!(describe(&mut events), ["deleted b 2", "deleted c 3", "added c 4", "added d 5"]);
        let owned: Vec<_> = informer.owned_by("o").iter().filter_map(|o| o.metadata.name.clone()).collect();
        assert_eq!(owned, ["a", "d"]);
        assert_eq!(informer.list(Some("default")).len(), 3);
        assert_eq!(informer.list(Some("other")).len(), 0);
    }
}
