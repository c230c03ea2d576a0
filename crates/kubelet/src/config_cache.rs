//! ConfigMaps, Secrets and claims that pods of this node refer to, each followed by a watch of
//! its own for as long as some pod does. A kubelet may read only what its pods name, so
//! there is no watch over all of them.

use crate::wakers::Wakers;
use ferry_api::document::EventType;
use ferry_api::rules::backoff::Backoff;
use ferry_api::rules::key::ObjectKey;
use ferry_api::view::Kind;
use ferry_client::{Client, ListParams, ResourcePath, SharedObject};
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

enum Known<K> {
    Nothing,
    Absent,
    Present(SharedObject<K>),
    Failed(String),
}

struct Followed<K> {
    known: watch::Receiver<Known<K>>,
    users: Arc<Mutex<HashSet<String>>>,
    _stop: DropGuard,
}

pub struct ConfigCache<K> {
    client: Client,
    wakers: Arc<Wakers>,
    followed: Mutex<HashMap<ObjectKey, Followed<K>>>,
}

impl<K: Kind> ConfigCache<K> {
    pub fn new(client: Client, wakers: Arc<Wakers>) -> Self {
        Self { client, wakers, followed: Mutex::default() }
    }

    /// The object, or `None` if it does not exist. From now on the pod `uid` is woken
    /// when it changes, until [`ConfigCache::keep`] leaves it out.
    pub async fn get(&self, namespace: &str, name: &str, uid: &str) -> Result<Option<SharedObject<K>>, String> {
        let mut known = self.follow(namespace, name, uid);
        let answer = tokio::time::timeout(PATIENCE, known.wait_for(|known| !matches!(known, Known::Nothing))).await;
        match answer {
            Ok(Ok(known)) => match &*known {
                Known::Present(object) => Ok(Some(object.clone())),
                Known::Failed(why) => Err(why.clone()),
                Known::Absent | Known::Nothing => Ok(None),
            },
            _ => Err(format!("timed out waiting for {} {name:?}", K::PLURAL)),
        }
    }

    fn follow(&self, namespace: &str, name: &str, uid: &str) -> watch::Receiver<Known<K>> {
        let key = ObjectKey::new(namespace, name);
        let mut followed = self.followed.lock();
        let entry = followed.entry(key.clone()).or_insert_with(|| {
            let stop = CancellationToken::new();
            let users: Arc<Mutex<HashSet<String>>> = Arc::default();
            let (sender, known) = watch::channel(Known::Nothing);
            let follower = Follower {
                client: self.client.clone(),
                wakers: self.wakers.clone(),
                subject: format!("{} {key}", K::PLURAL),
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
        self.followed.lock().retain(|key, followed| {
            let mut users = followed.users.lock();
            if !(key.namespace == namespace && names.contains(&key.name)) {
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
    wakers: Arc<Wakers>,
    /// The object as the list of problems names it.
    subject: String,
    key: ObjectKey,
    known: watch::Sender<Known<K>>,
    users: Arc<Mutex<HashSet<String>>>,
}

impl<K> Drop for Follower<K> {
    fn drop(&mut self) {
        self.client.problems().resolve(self.client.component(), &self.subject);
    }
}

impl<K: Kind> Follower<K> {
    async fn run(self) {
        let api = self.client.api::<K>(&self.key.namespace);
        let selector = format!("metadata.name={}", self.key.name);
        let params = ListParams { field_selector: Some(selector), ..Default::default() };
        let mut backoff = Backoff::new(FIRST_RETRY, LAST_RETRY);
        loop {
            match api.list(&params).await {
                Ok(list) => {
                    backoff.reset();
                    self.learn(list.items.into_iter().next());
                    self.watch(&params, &list.resource_version).await;
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
            tokio::time::sleep(backoff.next_pause()).await;
        }
    }

    /// Returns when the watch ends for whatever reason; a fresh list follows.
    async fn watch(&self, params: &ListParams, revision: &str) {
        let path = ResourcePath::new(K::GROUP, K::VERSION, K::PLURAL);
        let watch = self.client.watch_documents(&path, &self.key.namespace, params, revision, None);
        let Ok(mut events) = watch.await else { return };
        while let Some(Ok(batch)) = events.next().await {
            for event in batch {
                match event.kind {
                    EventType::Added | EventType::Modified => self.learn(Some(SharedObject::new(event.document))),
                    EventType::Deleted => self.learn(None),
                    EventType::Bookmark => {}
                }
            }
        }
    }

    fn report(&self, error: &dyn std::fmt::Display) {
        tracing::warn!(object = %self.subject, %error, "cannot read an object that a pod refers to");
        self.client.problems().report(self.client.component(), &self.subject, &format!("cannot be read: {error}"));
    }

    fn learn(&self, object: Option<SharedObject<K>>) {
        self.client.problems().resolve(self.client.component(), &self.subject);
        let unchanged = match (&*self.known.borrow(), &object) {
            (Known::Present(old), Some(new)) => {
                let (old, new) = (old.meta().resource_version(), new.meta().resource_version());
                old == new && !new.is_empty()
            }
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
            self.wakers.wake(uid);
        }
    }
}
