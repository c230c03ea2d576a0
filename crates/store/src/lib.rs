//! Revisioned bytes and their watch.
//!
//! This file holds the [`Store`] trait and the plain types that cross it; it decides the
//! contract and nothing else. Only the API server calls it. Implementations live in rooms of
//! their own (`sqlite/`) and every one of them passes `conformance.rs`.
//!
//! # The model
//!
//! The store is a map from key to value with a history. Each successful [`Store::commit`]
//! takes the next revision, a deletion as well as a put, so that a revision names exactly one
//! change and the order of revisions is the order of changes:
//!
//! ```text
//! revision   change              state after it
//! 2          put    a = 1        a(create 2, revision 2, version 1)
//! 3          put    b = 1        a, b
//! 4          put    a = 2        a(create 2, revision 4, version 2), b
//! 5          delete a            b
//! 6          put    a = 3        a(create 6, revision 6, version 1), b
//! ```
//!
//! Reading at revision 4 gives the third state whatever happened later, until a compaction
//! raises the *horizon* above 4. A watch from 3 delivers the changes 4, 5, 6 and then waits.
//!
//! **Invariant:** nothing leaves the store, neither as an acknowledgement nor as a read nor as
//! a watch event, before it would survive a power cut.
//!
//! **Invariant:** a revision is never given to two changes, not even across restarts, deletions
//! and compactions.

#![warn(unreachable_pub)]

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
pub mod sqlite;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::Stream;

/// The number of one change. An empty store stands at 1, as etcd's does, so that 0 stays free
/// for the callers' "no particular revision" and the first change gets 2.
pub type Revision = u64;

/// One key with one of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: Arc<str>,
    pub value: Bytes,
    /// The change that brought the key into being (again, if it had been deleted).
    pub create_revision: Revision,
    /// The change that set this value.
    pub revision: Revision,
    /// How many puts the key has seen since its creation, which itself counts as 1.
    pub version: u64,
}

/// What a commit requires of the key's present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The key does not exist.
    Absent,
    /// The key exists and was last changed at this revision.
    Revision(Revision),
    /// A put may create or replace; a deletion still needs something to delete.
    Any,
}

/// What a commit does to its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    Put(Bytes),
    Delete,
}

/// One conditional change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    pub key: String,
    pub expect: Expect,
    pub op: Op,
}

/// The outcome of a commit that took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The revision that this change got.
    pub revision: Revision,
    /// The entry that was replaced or deleted; `None` for a creation, and for a value that
    /// nobody could read any more.
    pub previous: Option<Entry>,
}

/// Which part of a prefix a range returns, and as of when. The default is all of it, now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeOptions {
    /// The greatest number of entries to return; 0 means all.
    pub limit: usize,
    /// Return only keys that sort after this one: the last key of the page before.
    pub start_after: Option<String>,
    /// Read the state as of this revision instead of the latest.
    pub revision: Option<Revision>,
    /// Count what the limit leaves out. The count goes over all of it, so a reader of many
    /// pages that counted on each would pay for the square of their number.
    pub count_remaining: bool,
}

/// A key whose stored value is no longer what was written: its checksum does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedEntry {
    pub key: Arc<str>,
    /// The change that had set the value.
    pub revision: Revision,
}

/// One page of a prefix, in the byte order of its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub entries: Vec<Entry>,
    /// The keys that exist and whose value is lost to damage. They count towards the limit.
    pub damaged: Vec<DamagedEntry>,
    /// The revision that the page shows: the one asked for, else the latest.
    pub revision: Revision,
    /// Whether the limit cut the page short.
    pub more: bool,
    /// How many entries come after the last one returned; 0 unless `more`, and where the
    /// caller did not ask for the count.
    pub remaining: u64,
}

impl Range {
    /// The greatest key of the page, readable or damaged: where the next page starts after.
    pub fn last_key(&self) -> Option<&Arc<str>> {
        let readable = self.entries.last().map(|entry| &entry.key);
        readable.max(self.damaged.last().map(|damaged| &damaged.key))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    Put,
    Delete,
}

/// One change as a watch shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub key: Arc<str>,
    pub revision: Revision,
    pub kind: EventKind,
    /// The new value; for a deletion the last value that the key had (empty if that one was
    /// damaged).
    pub value: Bytes,
    /// The value before this change; `None` for a creation and for the end of a damaged value.
    pub previous: Option<Bytes>,
    /// Equal to `revision` for a creation.
    pub create_revision: Revision,
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The expectation of a commit did not hold. `current` is the state that it met, so that
    /// the caller can decide anew without another read.
    #[error("commit to {key:?}: the key is {}", describe_current(.current))]
    Conflict { key: String, current: Option<Entry> },
    /// The history below the horizon is gone; the horizon itself can still be read.
    #[error("the requested revision has been compacted; the oldest one left is {horizon}")]
    Compacted { horizon: Revision },
    /// A read or a compaction at a revision that no change has got yet.
    #[error("revision {requested} lies in the future; the latest is {current}")]
    FutureRevision { requested: Revision, current: Revision },
    /// The store was closed while, or before, the call was under way. A commit that gets this
    /// answer may or may not have taken place.
    #[error("the store is closed")]
    Closed,
    /// The disk does not take writes. A commit that gets this answer may or may not have taken
    /// place. The store goes on trying to recover by itself, and reads go on meanwhile.
    #[error("the store takes no writes: {reason}")]
    Halted { reason: String },
    /// The value of one key is not what was written there. Every other key can be used, and
    /// this one can be replaced or deleted by a commit that expects its revision, or any.
    #[error("the value of {key:?} is damaged: the row of revision {revision} does not match its checksum")]
    Damaged { key: String, revision: Revision },
    /// Changes that had been acknowledged are not in the store any more. It is not opened,
    /// because it would give their revisions to other changes.
    #[error(
        "{path} has lost acknowledged changes: it ends at revision {found}, and revision {acknowledged} had been \
         acknowledged"
    )]
    Lost { path: String, acknowledged: Revision, found: Revision },
    /// Another process has the directory open.
    #[error("{path} is in use by another process (its lock file is held)")]
    Locked { path: String },
    /// What is on disk is not what was written there.
    #[error("{path} is damaged: {detail}; bring back a backup, or move it away to start empty")]
    Corrupt { path: String, detail: String },
    /// A file operation around the database failed.
    #[error("{operation} {path}")]
    Io { operation: &'static str, path: String, source: std::io::Error },
    /// The database below failed.
    #[error("{operation}")]
    Backend { operation: &'static str, source: Box<dyn std::error::Error + Send + Sync> },
}

fn describe_current(current: &Option<Entry>) -> String {
    match current {
        Some(entry) => format!("at revision {}", entry.revision),
        None => "absent".to_string(),
    }
}

/// The changes of a prefix from a revision on: see [`Store::watch`].
///
/// Each item is a non-empty batch in the order of revisions. An `Err` is the last item.
/// Dropping the watch ends it.
pub struct Watch {
    batches: Pin<Box<dyn Stream<Item = Result<Vec<Event>, Error>> + Send>>,
}

impl Watch {
    /// Implementations make a watch from whatever stream keeps the contract.
    pub fn new(batches: impl Stream<Item = Result<Vec<Event>, Error>> + Send + 'static) -> Self {
        Watch { batches: Box::pin(batches) }
    }

    /// The next batch; `None` once the watch has ended.
    pub async fn next(&mut self) -> Option<Result<Vec<Event>, Error>> {
        std::future::poll_fn(|context| self.batches.as_mut().poll_next(context)).await
    }
}

impl Stream for Watch {
    type Item = Result<Vec<Event>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.batches.as_mut().poll_next(context)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Watch")
    }
}

/// A durable, revisioned map of keys to bytes. Calls may come from any task at any time; no
/// method holds up another for longer than one disk write.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The entry of `key` as of `revision` (now, if `None`), or `None` if there was none.
    ///
    /// Fails with [`Error::Compacted`] below the horizon, [`Error::FutureRevision`] above the
    /// latest revision, and [`Error::Damaged`] if the key's value is. Changes nothing, may be
    /// retried.
    async fn get(&self, key: &str, revision: Option<Revision>) -> Result<Option<Entry>, Error>;

    /// The entries whose key starts with `prefix` (the empty prefix matches all), in the byte
    /// order of keys, all as of one revision.
    ///
    /// To page through a state, pass the first page's `revision` and its [`Range::last_key`].
    /// Damaged values are listed apart and fail nobody else's; otherwise it fails as
    /// [`Store::get`] does. Changes nothing, may be retried.
    async fn range(&self, prefix: &str, options: RangeOptions) -> Result<Range, Error>;

    /// Changes one key if the expectation holds, and returns once the change is durable.
    ///
    /// Commits of one task take effect in the order it awaits them. A deletion of an absent key
    /// is a conflict whatever was expected, because there is no change to give a revision to.
    /// A damaged value can be replaced or deleted by whoever expects its revision or any; the
    /// key then starts again as a new one does, and everyone else gets [`Error::Damaged`].
    /// [`Error::Conflict`] and [`Error::Damaged`] mean that nothing changed. After any other
    /// error, and after dropping the future half-way, the change may or may not have taken
    /// place: read before trying again.
    async fn commit(&self, commit: Commit) -> Result<Committed, Error>;

    /// The changes to keys under `prefix` with a revision greater than `from`: past ones first,
    /// then new ones as they become durable, in order, each once, none left out.
    ///
    /// A range followed by a watch from the range's revision misses nothing. `from` may lie in
    /// the future. Fails with [`Error::Compacted`] if `from` is below the horizon; a watcher so
    /// slow that the horizon overtakes it gets the same error as its last item, and one whose
    /// way leads over a damaged value gets [`Error::Damaged`]: both read a range and watch on
    /// from there. A slow watcher never holds up commits.
    async fn watch(&self, prefix: &str, from: Revision) -> Result<Watch, Error>;

    /// Raises the horizon to `revision`: older states and the changes up to and including it
    /// can no longer be asked for. What is live at the horizon stays, whatever its age.
    ///
    /// Returns once the horizon is durable; space is given back later, in small steps. Asking
    /// for a horizon at or below the present one does nothing. Fails with
    /// [`Error::FutureRevision`] above the latest revision.
    async fn compact(&self, revision: Revision) -> Result<(), Error>;

    /// The revision of the latest durable change. A read that starts after this returns shows
    /// at least this revision.
    fn current_revision(&self) -> Revision;

    /// Whether commits are taken at the moment; answered from memory. An `Err` is what a commit
    /// would get, or would wait for. A store that is not well recovers by itself where it can.
    fn health(&self) -> Result<(), Error> {
        Ok(())
    }

    /// How large the store is on disk, where it can say so without asking for long.
    fn size_bytes(&self) -> Option<u64> {
        None
    }
}
