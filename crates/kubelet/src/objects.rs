//! ConfigMaps and Secrets that pods of this node refer to, each followed by a watch of
//! its own for as long as some pod does. A kubelet may read only what its pods name, so
//! there is no watch over all of them.

use crate::registry::Registry;
use ferry_client::{Client, ListParams, Object, ResourcePath};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long a pod waits for the first answer about an object.
const PATIENCE: Duration = Duration::from_secs(10);
const FIRST_RETRY: Duration = Duration::from_millis(200);
const LAST_RETRY: Duration = Duration::from_secs(30);

type Key = (String, String);

#[derive(Clone, Debug)]
enum Known<K> {
    Nothing,
    Absent,
    Present(Arc<K>),
    Failed(String),
}

struct Followed<K> {
    known: watch::Receiver<Known<K>>,
    users: Arc<Mutex<HashSet<String>>>,
    _stop: DropGuard,
}

pub struct ObjectCache<K> {
    client: Client,
    registry: Arc<Registry>,
    followed: Mutex<HashMap<Key, Followed<K>>>,
}

impl<K: Object> ObjectCache<K> {
    pub fn new(client: Client, registry: Arc<Registry>) -> Self {
        Self { client, registry, followed: Mutex::default() }
    }

    /// The object, or `None` if it does not exist. From now on the pod `uid` is woken
    /// when it changes, until [`ObjectCache::keep`] leaves it out.
    pub async fn get(&self, namespace: &str, name: &str, uid: &str) -> Result<Option<Arc<K>>, String> {
        let mut known = self.follow(namespace, name, uid);
        let answer = tokio::time::timeout(PATIENCE, known.wait_for(|known| !matches!(known, Known::Nothing))).await;
        match answer {
            Ok(Ok(known)) => match &*known {
                Known::Present(object) => Ok(Some(object.clone())),
                Known::Failed(why) => Err(why.clone()),
                Known::Absent | Known::Nothing => Ok(None),
            },
            _ => Err(format!("timed out waiting for {} {name:?}", K::URL_PATH_SEGMENT)),
        }
    }

    fn follow(&self, namespace: &str, name: &str, uid: &str) -> watch::Receiver<Known<K>> {
        let key = (namespace.to_string(), name.to_string());
        let mut followed = self.followed.lock();
        let entry = followed.entry(key.clone()).or_insert_with(|| {
            let stop = CancellationToken::new();
            let users: Arc<Mutex<HashSet<String>>> = Arc::default();
            let (sender, known) = watch::channel(Known::Nothing);
            let follower = Follower {
                client: self.client.clone(),
                registry: self.registry.clone(),
                subject: format!("{} {}/{}", K::URL_PATH_SEGMENT, key.0, key.1),
                key,
                known: sender,
                users: users.clone(),
            };
            let stopped = stop.clone();
            tokio::spawn(async move {
                tokio::select! {
                    () = follower.run() => {}
                    () = stopped.cancelled() => {}
                }
            });
            Followed { known, users, _stop: stop.drop_guard() }
        });
        entry.users.lock().insert(uid.to_string());
        entry.known.clone()
    }

    /// Says which objects the pod still refers to; others without users are let go.
    pub fn keep(&self, uid: &str, namespace: &str, names: &BTreeSet<String>) {
        self.followed.lock().retain(|(ns, name), followed| {
            let mut users = followed.users.lock();
            if !(ns == namespace && names.contains(name)) {
                users.remove(uid);
            }
            !users.is_empty()
        });
    }

    /// The pod is gone.
    pub fn release(&self, uid: &str) {
        self.keep(uid, "", &BTreeSet::new());
    }
}

struct Follower<K> {
    client: Client,
    registry: Arc<Registry>,
    /// The object as the list of problems names it.
    subject: String,
    key: Key,
    known: watch::Sender<Known<K>>,
    users: Arc<Mutex<HashSet<String>>>,
}

impl<K> Drop for Follower<K> {
    fn drop(&mut self) {
        self.client.problems().resolve(self.client.component(), &self.subject);
    }
}

impl<K: Object> Follower<K> {
    async fn run(self) {
        let path = ResourcePath::of::<K>();
        let params = ListParams { field_selector: Some(format!("metadata.name={}", self.key.1)), ..Default::default() };
        let mut pause = FIRST_RETRY;
        loop {
            match self.client.list::<K>(&self.key.0, &params).await {
                Ok(list) => {
                    pause = FIRST_RETRY;
                    self.learn(list.items.into_iter().next());
                    self.watch(&path, &params, list.resource_version).await;
                }
                Err(error) => {
                    if matches!(error, ferry_client::Error::Decode { .. }) {
                        self.report(&error);
                    }
                    let keep = matches!(&*self.known.borrow(), Known::Present(_) | Known::Absent);
                    if !keep {
                        self.known.send_replace(Known::Failed(error.to_string()));
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_RETRY);
        }
    }

    /// Returns when the watch ends for whatever reason; a fresh list follows.
    async fn watch(&self, path: &ResourcePath, params: &ListParams, revision: String) {
        let Ok(mut lines) = self.client.watch_at(path, &self.key.0, params, &revision, None).await else { return };
        while let Some(Ok(event)) = lines.next().await {
            match event.kind.as_str() {
                "ADDED" | "MODIFIED" => match ferry_client::decode::<K>(event.object.get().as_bytes()) {
                    Ok(object) => self.learn(Some(object)),
                    // The last version that could be read stays, as in an informer.
                    Err(error) => self.report(&error),
                },
                "DELETED" => self.learn(None),
                "BOOKMARK" => {}
                _ => return,
            }
        }
    }

    fn report(&self, error: &dyn std::fmt::Display) {
        tracing::warn!(object = %self.subject, %error, "cannot read an object that a pod refers to");
        self.client.problems().report(self.client.component(), &self.subject, &format!("cannot be read: {error}"));
    }

    fn learn(&self, object: Option<K>) {
        self.client.problems().resolve(self.client.component(), &self.subject);
        let object = object.map(|mut object| {
            object.metadata_mut().managed_fields = None;
            Arc::new(object)
        });
        let version = |object: &K| object.metadata().resource_version.clone();
        let unchanged = match (&*self.known.borrow(), &object) {
            (Known::Present(old), Some(new)) => version(old) == version(new) && version(new).is_some(),
            (Known::Absent, None) => true,
            _ => false,
        };
        if unchanged {
            return;
        }
        self.known.send_replace(match object {
            Some(object) => Known::Present(object),
            None => Known::Absent,
        });
        for uid in self.users.lock().iter() {
            self.registry.wake(uid);
        }
    }
}
