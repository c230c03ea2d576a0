//! The connections that read, and the threads they run on. `SqliteStore` and the watches hand it
//! the functions of `read.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::database::open_reader;
use crate::Error;

/// More than this many reads at once only take turns on the same disk and cores.
const CONCURRENT: usize = 4;

/// Connections kept open between reads. The rest, opened in a rush, give their caches back.
const KEPT: usize = 2;

pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub fn new(path: PathBuf) -> Readers {
        Readers { path, idle: Mutex::new(Vec::new()), permits: Arc::new(Semaphore::new(CONCURRENT)) }
    }

    /// Runs a read on a thread that may block, waiting for a free connection first.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
        let readers = Arc::clone(self);
        let run = move || {
            let _permit = permit;
            let kept = readers.idle.lock().pop();
            let mut connection = match kept {
                Some(connection) => connection,
                None => open_reader(&readers.path)?,
            };
            let result = read(&mut connection);
            let mut idle = readers.idle.lock();
            if idle.len() < KEPT && !readers.permits.is_closed() {
                idle.push(connection);
            }
            result
        };
        // The task fails only when the runtime goes down under it.
        tokio::task::spawn_blocking(run).await.map_err(|_| Error::Closed)?
    }

    /// Refuses further reads and closes the idle connections. Reads under way end by themselves.
    pub fn close(&self) {
        self.permits.close();
        self.idle.lock().clear();
    }
}
