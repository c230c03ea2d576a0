//! The store in one SQLite database, for a control plane on one machine. The API server opens a
//! [`SqliteStore`] and sees only the [`Store`] trait.
//!
//! ```text
//!  commit, compact --> queue --> writer.rs (one thread) --fsync--> acknowledged.rs --> answers
//!                                    |  \
//!             batch.rs, compaction.rs-+   +--> watchers.rs --> live events
//!                                                 |
//!  get, range ------> readers.rs --> read.rs <----+ replay of older events
//! ```
//!
//! `database.rs` decides what is on disk, `row.rs` what a row is, `disk.rs` what a failure of
//! the disk is called, and `progress.rs` what others may know of the writer.

mod acknowledged;
pub mod backup;
mod batch;
mod compaction;
mod database;
mod disk;
mod gather;
mod progress;
mod read;
mod readers;
mod row;
mod watchers;
mod writer;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

use self::batch::Request;
pub use self::database::OnLoss;
use self::gather::Gathering;
use self::progress::Progress;
use self::readers::Readers;
use self::watchers::Watchers;
use self::writer::{Parts, QUEUE, Writer};
use crate::{Commit, Committed, Entry, Error, Range, RangeOptions, Revision, Store, Watch};

/// A store in a directory of its own. Dropping it finishes the commits under way, ends the
/// watches and frees the directory.
pub struct SqliteStore {
    /// `None` only while dropping: the writer stops when its last sender is gone.
    requests: Option<mpsc::Sender<Request>>,
    writer: Option<JoinHandle<()>>,
    readers: Arc<Readers>,
    watchers: Arc<Watchers>,
    progress: Arc<Progress>,
    gathering: Arc<Gathering>,
    file: PathBuf,
    /// Held for its lock, which ends with it.
    _lock: File,
}

impl SqliteStore {
    /// Opens the store in `directory`, creating both where they are missing. It blocks on the
    /// disk for some milliseconds, longer when a large log has to be recovered.
    ///
    /// Fails with [`Error::Locked`] if another process has it open, with [`Error::Corrupt`] if
    /// what is there is not a sound store, and with [`Error::Lost`] if changes are missing that
    /// had been acknowledged; none of them changes anything.
    pub fn open(directory: &Path) -> Result<SqliteStore, Error> {
        SqliteStore::open_with(directory, OnLoss::Refuse)
    }

    /// As [`SqliteStore::open`], for those who may have decided to live with a loss.
    pub fn open_with(directory: &Path, on_loss: OnLoss) -> Result<SqliteStore, Error> {
        let database::Opened { writer: connection, path, state, mark, lock } = database::open(directory, on_loss)?;
        let (sender, requests) = mpsc::channel(QUEUE);
        let watchers = Arc::new(Watchers::new(state.latest));
        let progress = Arc::new(Progress::new(state));
        let gathering = Arc::new(Gathering::default());
        let readers = Arc::new(Readers::new(path.clone(), Arc::clone(&progress)));
        let parts = Parts {
            connection,
            path: path.clone(),
            state,
            mark,
            readers: Arc::clone(&readers),
            watchers: Arc::clone(&watchers),
            progress: Arc::clone(&progress),
            gathering: Arc::clone(&gathering),
        };
        let writer = Writer::new(parts, requests);
        let writer = std::thread::Builder::new()
            .name("store-writer".to_string())
            .spawn(|| writer.run())
            .map_err(disk::io("starting the writer of", &path))?;
        Ok(SqliteStore {
            requests: Some(sender),
            writer: Some(writer),
            readers,
            file: path,
            watchers,
            progress,
            gathering,
            _lock: lock,
        })
    }

    async fn request<T>(&self, make: impl FnOnce(oneshot::Sender<Result<T, Error>>) -> Request) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        let requests = self.requests.as_ref().ok_or(Error::Closed)?;
        requests.send(make(reply)).await.map_err(|_| Error::Closed)?;
        // A writer that waits has one request in its hands already.
        self.gathering.arrived(requests.max_capacity() - requests.capacity() + 1);
        answer.await.map_err(|_| Error::Closed)?
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn get(&self, key: &str, revision: Option<Revision>) -> Result<Option<Entry>, Error> {
        let key = key.to_string();
        self.readers.run(move |connection, durable| read::get(connection, durable, &key, revision)).await
    }

    async fn range(&self, prefix: &str, options: RangeOptions) -> Result<Range, Error> {
        let prefix = prefix.to_string();
        self.readers.run(move |connection, durable| read::range(connection, durable, &prefix, &options)).await
    }

    async fn commit(&self, commit: Commit) -> Result<Committed, Error> {
        self.request(|reply| Request::Commit { commit, reply }).await
    }

    async fn watch(&self, prefix: &str, from: Revision) -> Result<Watch, Error> {
        // The horizon may rise right after this; the replay checks it again.
        let horizon = self.progress.horizon();
        if from < horizon {
            return Err(Error::Compacted { horizon });
        }
        Ok(self.watchers.watch(&self.readers, prefix, from))
    }

    async fn compact(&self, revision: Revision) -> Result<(), Error> {
        self.request(|reply| Request::Compact { revision, reply }).await
    }

    fn health(&self) -> Result<(), Error> {
        self.progress.health()
    }

    fn size_bytes(&self) -> Option<u64> {
        // The log beside the database is part of it until it is written back.
        let size = |file: &Path| std::fs::metadata(file).map(|found| found.len());
        Some(size(&self.file).ok()? + size(&database::log_path(&self.file)).unwrap_or(0))
    }

    fn current_revision(&self) -> Revision {
        self.progress.latest()
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        drop(self.requests.take());
        self.gathering.finish();
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the store's writer had panicked");
        }
        self.watchers.close();
        self.readers.close();
    }
}
