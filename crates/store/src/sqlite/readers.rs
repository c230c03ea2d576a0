//! The connections that read, and the threads they run on. `SqliteStore` and the watches hand it
//! the functions of `read.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::database::open_reader;
use super::progress::Progress;
use crate::{Error, Revision};

/// More than this many reads at once only take turns on the same disk and cores.
const CONCURRENT: usize = 4;

/// Connections kept open between reads. The rest, opened in a rush, give their caches back.
const KEPT: usize = 2;

pub(super) struct Readers {
    path: PathBuf,
    progress: Arc<Progress>,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
    /// Held shared by every read while its connection is open, and alone by whoever needs all
    /// connections closed.
    open: RwLock<()>,
}

impl Readers {
    pub(super) fn new(path: PathBuf, progress: Arc<Progress>) -> Readers {
        let permits = Arc::new(Semaphore::new(CONCURRENT));
        Readers { path, progress, idle: Mutex::new(Vec::new()), permits, open: RwLock::new(()) }
    }

    /// Runs a read on a thread that may block, waiting for a free connection first. The read
    /// gets the latest durable revision, beyond which it shows nothing.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&mut Connection, Revision) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
        let readers = Arc::clone(self);
        let run = move || {
            let _permit = permit;
            let _open = readers.open.read();
            let kept = readers.idle.lock().pop();
            let mut connection = match kept {
                Some(connection) => connection,
                None => open_reader(&readers.path)?,
            };
            let result = read(&mut connection, readers.progress.latest());
            let mut idle = readers.idle.lock();
            if idle.len() < KEPT && !readers.permits.is_closed() {
                idle.push(connection);
            }
            result
        };
        // The task fails only when the runtime goes down under it.
        tokio::task::spawn_blocking(run).await.map_err(|_| Error::Closed)?
    }

    /// Runs `work` while no connection that reads is open. Reads that come meanwhile wait.
    pub(super) fn suspended<T>(&self, work: impl FnOnce() -> T) -> T {
        let _alone = self.open.write();
        self.idle.lock().clear();
        work()
    }

    /// Refuses further reads and closes the idle connections. Reads under way end by themselves.
    pub(super) fn close(&self) {
        self.permits.close();
        self.idle.lock().clear();
    }
}
