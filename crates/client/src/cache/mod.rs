//! A local store of one collection, kept in step by list and watch, in shared documents.
//!
//! Readers get objects out of the store; subscribers get every change in order, starting with
//! what is already known. The loop that fills it is reflector.rs; one informer is shared by
//! all who follow the same collection (informers.rs).

mod informers;
pub mod labels;
mod reflector;

pub use informers::Informers;

use crate::object::SharedObject;
use crate::request::{Client, ListParams, ResourcePath};
use ferry_api::view::Kind;
use ferry_api::view::meta::v1::ObjectMetaView;
use parking_lot::RwLock;
use reflector::{Accept, Reflector};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A change of the store.
#[derive(Debug)]
pub enum Event<K> {
    Added(SharedObject<K>),
    Updated { old: SharedObject<K>, new: SharedObject<K> },
    Deleted(SharedObject<K>),
}

impl<K> Event<K> {
    /// The object as it is now, or as it last was.
    pub fn object(&self) -> &SharedObject<K> {
        match self {
            Self::Added(object) | Self::Deleted(object) | Self::Updated { new: object, .. } => object,
        }
    }

    /// The versions before and after the change.
    pub fn versions(&self) -> (Option<&SharedObject<K>>, Option<&SharedObject<K>>) {
        match self {
            Self::Added(new) => (None, Some(new)),
            Self::Updated { old, new } => (Some(old), Some(new)),
            Self::Deleted(old) => (Some(old), None),
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

/// The values under which an index finds an object: the node of a pod, the claims it mounts.
pub type IndexValues<K> = fn(&SharedObject<K>) -> Vec<String>;

/// The index that every informer has: by the uids of the owners.
const BY_OWNER: &str = "owner";

/// `namespace/name`. A slash sorts before every character of a name but `-` and `.`, which
/// no namespace ends with, so the objects of a namespace stand together.
type Key = Arc<str>;

fn key(namespace: &str, name: &str) -> Key {
    format!("{namespace}/{name}").into()
}

fn key_of(meta: ObjectMetaView<'_>) -> Key {
    key(meta.namespace(), meta.name())
}

struct Index<K> {
    values: IndexValues<K>,
    keys: HashMap<String, BTreeSet<Key>>,
}

struct Store<K> {
    objects: BTreeMap<Key, SharedObject<K>>,
    indexes: HashMap<&'static str, Index<K>>,
    subscribers: Vec<mpsc::UnboundedSender<Event<K>>>,
    /// The loop that fills the store is over; no event comes any more.
    ended: bool,
}

impl<K: Kind> Default for Store<K> {
    fn default() -> Self {
        let owners: IndexValues<K> =
            |object| object.meta().owner_references().iter().map(|owner| owner.uid().to_owned()).collect();
        let indexes = HashMap::from([(BY_OWNER, Index { values: owners, keys: HashMap::new() })]);
        Self { objects: BTreeMap::new(), indexes, subscribers: Vec::new(), ended: false }
    }
}

/// A handle on the store; clones share it.
pub struct Informer<K> {
    store: Arc<RwLock<Store<K>>>,
    synced: watch::Receiver<bool>,
}

impl<K> Clone for Informer<K> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone(), synced: self.synced.clone() }
    }
}

impl<K: Kind> Informer<K> {
    /// Starts the loop that fills the store; it ends when `shutdown` is cancelled.
    fn start(
        client: Client,
        path: ResourcePath,
        params: ListParams,
        accept: Option<Accept>,
        shutdown: tokio_util::sync::CancellationToken,
    ) -> Self {
        let store = Arc::new(RwLock::new(Store::default()));
        let (synced_tx, synced) = watch::channel(false);
        let reflector = Reflector { client, path, params, accept, store: store.clone(), synced: synced_tx };
        let ended = store.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = reflector.run() => {}
                () = shutdown.cancelled() => {}
            }
            // Subscribers see the end of their events.
            let mut store = ended.write();
            store.subscribers.clear();
            store.ended = true;
        });
        Self { store, synced }
    }

    /// A store that nothing fills but [`Informer::put`] and [`Informer::remove`]: for tests of
    /// what reads from an informer.
    pub fn fixed(objects: impl IntoIterator<Item = SharedObject<K>>) -> Self {
        let mut store = Store::default();
        objects.into_iter().for_each(|object| store.put(object));
        Self { store: Arc::new(RwLock::new(store)), synced: watch::channel(true).1 }
    }

    /// Puts a version into a fixed store.
    pub fn put(&self, object: SharedObject<K>) {
        self.store.write().put(object);
    }

    /// Removes an object from a fixed store.
    pub fn remove(&self, namespace: &str, name: &str) {
        self.store.write().remove(&key(namespace, name), None);
    }

    /// Waits until the store has been filled once.
    pub async fn synced(&self) {
        // An error means the loop has ended with the process; there is nothing to wait for.
        let _ = self.synced.clone().wait_for(|done| *done).await;
    }

    pub fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// An empty namespace for a cluster-scoped kind.
    pub fn get(&self, namespace: &str, name: &str) -> Option<SharedObject<K>> {
        self.store.read().objects.get(&*key(namespace, name)).cloned()
    }

    /// The objects of one namespace, or all of them, by namespace and name. Costs as much as
    /// there are: one event is worked off with an index.
    pub fn list(&self, namespace: Option<&str>) -> Vec<SharedObject<K>> {
        let store = self.store.read();
        match namespace {
            None => store.objects.values().cloned().collect(),
            Some(namespace) => {
                let prefix = key(namespace, "");
                let after = store.objects.range(prefix.clone()..);
                after.take_while(|(key, _)| key.starts_with(&*prefix)).map(|(_, object)| object.clone()).collect()
            }
        }
    }

    pub fn len(&self) -> usize {
        self.store.read().objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `each` for every object, without a list of them; it must not use the informer.
    pub fn for_each(&self, each: impl FnMut(&SharedObject<K>)) {
        self.store.read().objects.values().for_each(each);
    }

    /// Adds an index, from now on and over what is known; a second index of the same name is
    /// the same one.
    pub fn indexed(self, name: &'static str, values: IndexValues<K>) -> Self {
        let mut store = self.store.write();
        if !store.indexes.contains_key(name) {
            let mut index = Index { values, keys: HashMap::new() };
            for (key, object) in &store.objects {
                index.insert(key, object);
            }
            store.indexes.insert(name, index);
        }
        drop(store);
        self
    }

    /// The objects that an index has under a value, by namespace and name. The index must
    /// have been added by [`Informer::indexed`]; one that was not finds nothing.
    pub fn by_index(&self, name: &str, value: &str) -> Vec<SharedObject<K>> {
        let store = self.store.read();
        debug_assert!(store.indexes.contains_key(name), "no index {name}");
        let Some(keys) = store.indexes.get(name).and_then(|index| index.keys.get(value)) else { return Vec::new() };
        keys.iter().filter_map(|key| store.objects.get(key).cloned()).collect()
    }

    /// How many objects an index has under a value.
    pub fn count_by_index(&self, name: &str, value: &str) -> usize {
        self.store.read().indexes.get(name).and_then(|index| index.keys.get(value)).map_or(0, BTreeSet::len)
    }

    /// The objects that name this uid in their owner references.
    pub fn owned_by(&self, uid: &str) -> Vec<SharedObject<K>> {
        self.by_index(BY_OWNER, uid)
    }

    /// Every change from now on, after an `Added` for everything already known.
    pub fn subscribe(&self) -> mpsc::UnboundedReceiver<Event<K>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut store = self.store.write();
        for object in store.objects.values() {
            // The receiver is in our hands still, so this cannot fail.
            let _ = sender.send(Event::Added(object.clone()));
        }
        // A store that has ended has no more events, and the receiver ends at once.
        if !store.ended {
            store.subscribers.push(sender);
        }
        receiver
    }
}

impl<K: Kind> Index<K> {
    fn insert(&mut self, key: &Key, object: &SharedObject<K>) {
        for value in (self.values)(object) {
            self.keys.entry(value).or_default().insert(key.clone());
        }
    }

    fn remove(&mut self, key: &Key, object: &SharedObject<K>) {
        for value in (self.values)(object) {
            if let Some(keys) = self.keys.get_mut(&value) {
                keys.remove(key);
                if keys.is_empty() {
                    self.keys.remove(&value);
                }
            }
        }
    }
}

impl<K: Kind> Store<K> {
    fn put(&mut self, new: SharedObject<K>) {
        let key = key_of(new.meta());
        let old = self.objects.insert(key.clone(), new.clone());
        for index in self.indexes.values_mut() {
            if let Some(old) = &old {
                index.remove(&key, old);
            }
            index.insert(&key, &new);
        }
        match old {
            Some(old) if old.meta().resource_version() == new.meta().resource_version() => {}
            // A new object under an old name: its predecessor's end was not seen.
            Some(old) if old.uid() != new.uid() => {
                self.send(Event::Deleted(old));
                self.send(Event::Added(new));
            }
            Some(old) => self.send(Event::Updated { old, new }),
            None => self.send(Event::Added(new)),
        }
    }

    fn remove(&mut self, key: &Key, last: Option<SharedObject<K>>) {
        let Some(old) = self.objects.remove(key) else { return };
        for index in self.indexes.values_mut() {
            index.remove(key, &old);
        }
        self.send(Event::Deleted(last.unwrap_or(old)));
    }

    fn send(&mut self, event: Event<K>) {
        self.subscribers.retain(|subscriber| subscriber.send(event.clone()).is_ok());
    }

    /// Makes the store equal to a fresh list; what is not in it was deleted unseen.
    fn replace(&mut self, objects: Vec<SharedObject<K>>) {
        let fresh: HashSet<Key> = objects.iter().map(|object| key_of(object.meta())).collect();
        let gone: Vec<Key> = self.objects.keys().filter(|key| !fresh.contains(*key)).cloned().collect();
        for key in gone {
            self.remove(&key, None);
        }
        for object in objects {
            self.put(object);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::core::v1::Pod;
    use serde_json::json;

    fn object(name: &str, uid: &str, revision: &str, owner: Option<&str>) -> SharedObject<Pod> {
        let owners: Vec<_> = owner.into_iter().map(|uid| json!({"uid": uid})).collect();
        SharedObject::of(
            json!({"metadata": {"namespace": "default", "name": name, "uid": uid, "resourceVersion": revision,
            "ownerReferences": owners}, "spec": {"nodeName": format!("node-{uid}")}}),
        )
    }

    fn describe(events: &mut mpsc::UnboundedReceiver<Event<Pod>>) -> Vec<String> {
        let mut out = Vec::new();
        while let Ok(event) = events.try_recv() {
            let kind = match &event {
                Event::Added(_) => "added",
                Event::Updated { .. } => "updated",
                Event::Deleted(_) => "deleted",
            };
            out.push(format!("{kind} {} {}", event.object().name(), event.object().uid()));
        }
        out
    }

    #[test]
    fn a_fresh_list_sends_only_what_changed() {
        let informer = Informer::<Pod>::fixed([]);
        informer.store.write().replace(vec![
            object("a", "1", "1", Some("o")),
            object("b", "2", "2", None),
            object("c", "3", "3", None),
        ]);
        let mut events = informer.subscribe();
        assert_eq!(describe(&mut events), ["added a 1", "added b 2", "added c 3"]);
        // a stays, b is gone, c was replaced by another object of the same name, d is new.
        informer.store.write().replace(vec![
            object("a", "1", "1", Some("o")),
            object("c", "4", "5", None),
            object("d", "5", "6", Some("o")),
        ]);
        assert_eq!(describe(&mut events), ["deleted b 2", "deleted c 3", "added c 4", "added d 5"]);
        let owned: Vec<_> = informer.owned_by("o").iter().map(|object| object.name().to_owned()).collect();
        assert_eq!(owned, ["a", "d"]);
        assert_eq!((informer.list(Some("default")).len(), informer.list(Some("other")).len()), (3, 0));
    }

    #[test]
    fn an_index_follows_every_change() {
        let by_node: IndexValues<Pod> = |pod| vec![pod.view().spec().node_name().to_owned()];
        let informer = Informer::<Pod>::fixed([object("a", "1", "1", None)]).indexed("node", by_node);
        let names = |node: &str| -> Vec<String> {
            informer.by_index("node", node).iter().map(|pod| pod.name().to_owned()).collect()
        };
        assert_eq!(names("node-1"), ["a"]);
        informer.put(object("a", "9", "2", None));
        informer.put(object("b", "9", "3", None));
        assert_eq!((names("node-1").len(), names("node-9")), (0, vec!["a".to_owned(), "b".to_owned()]));
        informer.remove("default", "a");
        assert_eq!((names("node-9"), informer.count_by_index("node", "node-9")), (vec!["b".to_owned()], 1));
    }
}
