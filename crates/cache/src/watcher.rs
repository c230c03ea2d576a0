//! One watch: which changes concern it, and the queue between the feeder and the client.
//!
//! The feeder offers each change and never waits: a watcher whose queue is full is cut
//! off, and its client begins anew (upstream's cacher closes slow watchers the same way).

use super::Stored;
use crate::lookup::Change;
use crate::wire_form::WireForm;
use bytes::Bytes;
use ferry_api::document::Document;
use ferry_store::Revision;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// How many changes may wait for a client before it is cut off. A change is a shared
/// pointer, so the cost of a full queue is the old versions it keeps alive.
const QUEUE: usize = 1024;

/// Whether an object is one of those that a list or watch selected.
pub trait Filter: Send + Sync {
    fn matches(&self, object: &Stored) -> bool;
}

/// Which keys a watch is about: all, one namespace's, or exactly one.
#[derive(Clone, Debug)]
pub enum Scope {
    Prefix(String),
    Key(String),
}

impl Scope {
    pub fn prefix(&self) -> &str {
        match self {
            Self::Prefix(text) | Self::Key(text) => text,
        }
    }

    /// Whether this is all that is below a slash.
    pub fn is_collection(&self) -> bool {
        matches!(self, Self::Prefix(prefix) if prefix.ends_with('/'))
    }

    pub fn contains(&self, key: &str) -> bool {
        match self {
            Self::Prefix(prefix) => key.starts_with(prefix.as_str()),
            Self::Key(exact) => key == exact,
        }
    }
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With an ADDED for each object there is, then the changes.
    InitialState,
    /// With the first change after this revision.
    After(Revision),
    /// With the next change.
    Now,
}

/// One change to one object, shared by all watchers.
#[derive(Debug)]
pub struct Event {
    revision: Revision,
    new: Option<Arc<Stored>>,
    old: Option<Arc<Stored>>,
    /// The last version under the revision of its end, made for the first who needs it.
    ended: OnceLock<Arc<Document>>,
    ended_protobuf: WireForm,
}

/// What one watcher sees of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Added,
    Modified,
    Deleted,
}

impl Seen {
    /// What a change is to somebody for whom the object matched before, or does so now.
    pub fn of(before: bool, now: bool) -> Option<Self> {
        match (before, now) {
            (false, true) => Some(Self::Added),
            (true, true) => Some(Self::Modified),
            (true, false) => Some(Self::Deleted),
            (false, false) => None,
        }
    }
}

impl Event {
    pub fn put(new: Arc<Stored>, old: Option<Arc<Stored>>) -> Self {
        Self {
            revision: new.revision(),
            new: Some(new),
            old,
            ended: OnceLock::new(),
            ended_protobuf: WireForm::default(),
        }
    }

    pub fn delete(old: Arc<Stored>, revision: Revision) -> Self {
        Self { revision, new: None, old: Some(old), ended: OnceLock::new(), ended_protobuf: WireForm::default() }
    }

    pub fn revision(&self) -> Revision {
        self.revision
    }

    pub fn key(&self) -> &str {
        self.new.as_ref().or(self.old.as_ref()).map(|stored| &**stored.key()).unwrap_or_default()
    }

    /// The bytes that only this change keeps alive: the version that it replaced. The version
    /// that it made is either the present one or counted by the change that replaced it. The
    /// last version of a deleted object may stand here twice, as it was and under the revision
    /// of its end.
    pub(super) fn size(&self) -> usize {
        let replaced = self.old.as_ref().map_or(0, |old| old.size());
        let copies = if self.new.is_some() { 1 } else { 2 };
        size_of::<Self>() + copies * replaced
    }

    pub(super) fn change(&self) -> Change {
        match (&self.new, &self.old) {
            (Some(new), _) => Change::Put(new.clone()),
            (None, Some(old)) => Change::Delete(old.clone()),
            (None, None) => unreachable!("an event is about an object"),
        }
    }

    pub(super) fn concerns(&self, filter: &dyn Filter) -> bool {
        self.seen(filter).is_some()
    }

    /// An object that begins to match is ADDED and one that ceases to match is DELETED,
    /// whatever happened to it in the store.
    pub fn seen(&self, filter: &dyn Filter) -> Option<Seen> {
        let matches = |side: &Option<Arc<Stored>>| side.as_ref().is_some_and(|stored| filter.matches(stored));
        Seen::of(matches(&self.old), matches(&self.new))
    }

    /// The object before and after the change.
    pub fn sides(&self) -> (Option<&Arc<Stored>>, Option<&Arc<Stored>>) {
        (self.old.as_ref(), self.new.as_ref())
    }

    /// The object as it is sent: the new version, or the last matching one.
    pub fn document(&self, seen: Seen) -> Option<&Arc<Document>> {
        match (seen, &self.new, &self.old) {
            (Seen::Deleted, _, Some(old)) => Some(self.ended.get_or_init(|| Arc::new(old.document_at(self.revision)))),
            (_, Some(new), _) => Some(new.document()),
            (_, None, Some(old)) => Some(old.document()),
            (_, None, None) => None,
        }
    }

    /// The same in protobuf, if a watcher or a reader asked for it.
    pub fn protobuf(&self, seen: Seen) -> Option<&WireForm> {
        match (seen, &self.new, &self.old) {
            (Seen::Deleted, _, Some(_)) => Some(&self.ended_protobuf),
            (_, Some(stored), _) | (_, None, Some(stored)) => Some(stored.protobuf()),
            (_, None, None) => None,
        }
    }

    pub fn object(&self, seen: Seen) -> Bytes {
        self.document(seen).map(|document| document.to_bytes()).unwrap_or_default()
    }
}

/// What became of an event that a watcher was offered; unless it was kept, the watcher is
/// over and its slot can go.
pub(super) enum Offered {
    Kept,
    Left,
    TooSlow,
}

/// The feeder's end.
pub(super) struct WatcherSlot {
    scope: Scope,
    filter: Arc<dyn Filter>,
    after: Revision,
    queue: mpsc::Sender<Arc<Event>>,
}

/// The client's end.
pub struct Watcher {
    filter: Arc<dyn Filter>,
    initial: VecDeque<Arc<Event>>,
    /// The revision that the initial events bring the client to.
    pub initial_revision: Revision,
    queue: mpsc::Receiver<Arc<Event>>,
}

impl WatcherSlot {
    pub(super) fn new(
        scope: Scope,
        filter: Arc<dyn Filter>,
        initial: VecDeque<Arc<Event>>,
        initial_revision: Revision,
        after: Revision,
    ) -> (Self, Watcher) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let watcher = Watcher { filter: filter.clone(), initial, initial_revision, queue: receiver };
        (Self { scope, filter, after, queue: sender }, watcher)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }

    pub(super) fn offer(&self, event: &Arc<Event>) -> Offered {
        if event.revision() <= self.after || !self.scope.contains(event.key()) || !event.concerns(&*self.filter) {
            return if self.queue.is_closed() { Offered::Left } else { Offered::Kept };
        }
        match self.queue.try_send(event.clone()) {
            Ok(()) => Offered::Kept,
            Err(TrySendError::Closed(_)) => Offered::Left,
            Err(TrySendError::Full(_)) => Offered::TooSlow,
        }
    }
}

impl Watcher {
    /// The objects that the first events are about.
    pub fn initial_objects(&self) -> Vec<Arc<Stored>> {
        self.initial.iter().filter_map(|event| event.new.clone()).collect()
    }

    /// The events to show before any change; `None` once they are used up.
    pub fn next_initial(&mut self) -> Option<(Seen, Arc<Event>)> {
        while let Some(event) = self.initial.pop_front() {
            if let Some(seen) = event.seen(&*self.filter) {
                return Some((seen, event));
            }
        }
        None
    }

    /// The next change; `None` when the watcher was cut off. Cancellation safe.
    pub fn poll_next(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<Option<(Seen, Arc<Event>)>> {
        loop {
            match self.queue.poll_recv(context) {
                std::task::Poll::Ready(Some(event)) => {
                    if let Some(seen) = event.seen(&*self.filter) {
                        return std::task::Poll::Ready(Some((seen, event)));
                    }
                }
                std::task::Poll::Ready(None) => return std::task::Poll::Ready(None),
                std::task::Poll::Pending => return std::task::Poll::Pending,
            }
        }
    }

    pub async fn next(&mut self) -> Option<(Seen, Arc<Event>)> {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }
}
