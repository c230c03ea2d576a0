//! The one thread that writes. It takes all requests that have queued up, has them judged
//! (`batch.rs`), and makes the lot durable with one fsync before it answers any of them. Started
//! by `SqliteStore::open`.
//!
//! With one client a batch is one commit. With many, the queue fills while the disk works, and
//! `gather.rs` lets a batch wait a moment until it is worth its fsync.
//!
//! A batch that fails leaves the disk in doubt. The connection is closed, requests are refused
//! with the cause, and the writer tries to open the database anew, at first at once and then
//! with growing pauses (docs/design/0008-a-store-that-recovers.md).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TryRecvError;

use super::acknowledged::AcknowledgedMark;
use super::batch::{Batch, Judged, Request};
use super::compaction;
use super::database::{self, State};
use super::disk;
use super::gather::{Gathering, LoadMeter, Wait, plan_wait};
use super::progress::Progress;
use super::readers::Readers;
use super::watchers::Watchers;
use crate::{Error, Event};

/// Requests that may wait before callers have to.
pub(super) const QUEUE: usize = 1024;

/// Bounds of one batch, so that its transaction fits the caches and nobody waits too long.
const BATCH_REQUESTS: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;

/// The pauses between attempts to recover double from the first to the last of these. A disk
/// that was full for a minute is noticed to have room within ten seconds.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(10);

/// The parts of an opened store that the writer works with.
pub(super) struct Parts {
    pub connection: Connection,
    pub path: PathBuf,
    pub state: State,
    pub mark: AcknowledgedMark,
    pub readers: Arc<Readers>,
    pub watchers: Arc<Watchers>,
    pub progress: Arc<Progress>,
    pub gathering: Arc<Gathering>,
}

pub(super) struct Writer {
    disk: Disk,
    path: PathBuf,
    mark: AcknowledgedMark,
    requests: mpsc::Receiver<Request>,
    readers: Arc<Readers>,
    watchers: Arc<Watchers>,
    progress: Arc<Progress>,
    gathering: Arc<Gathering>,
    /// How long the next batch waits for company, as the last one taught.
    wait: Option<Wait>,
    load: LoadMeter,
    state: State,
    /// Failures in a row. Only a batch that succeeds ends the row: a disk that takes the writes
    /// of a recovery and then no batch must not be asked again and again at once.
    failures: u32,
}

/// The database as the writer has it.
enum Disk {
    Open(Connection),
    Failed { reason: String, try_at: Instant },
}

impl Writer {
    pub(super) fn new(parts: Parts, requests: mpsc::Receiver<Request>) -> Writer {
        let Parts { connection, path, state, mark, readers, watchers, progress, gathering } = parts;
        Writer {
            disk: Disk::Open(connection),
            path,
            mark,
            requests,
            readers,
            watchers,
            progress,
            gathering,
            wait: None,
            load: LoadMeter::new(),
            state,
            failures: 0,
        }
    }

    /// Works until every sender is gone and what they sent is done.
    pub(super) fn run(mut self) {
        while let Some(first) = self.next_request() {
            if let Some(first) = first {
                self.write_batch(first);
            }
            // One step between two batches: compaction neither starves nor holds anyone up.
            self.compact_step();
            self.try_to_recover();
        }
        if let Err(error) = self.mark.sync() {
            tracing::warn!(%error, "the mark of acknowledged writes is left to the kernel");
        }
    }

    /// The next request, if there is one before something else is due; `None` at the end.
    fn next_request(&mut self) -> Option<Option<Request>> {
        match &self.disk {
            Disk::Open(_) if self.state.compacted == self.state.horizon => {
                return self.requests.blocking_recv().map(Some);
            }
            Disk::Open(_) => {}
            Disk::Failed { try_at, .. } => {
                let has_come = || !self.requests.is_empty() || self.requests.is_closed();
                self.gathering.wait_for_one(*try_at, has_come);
            }
        }
        match self.requests.try_recv() {
            Ok(request) => Some(Some(request)),
            Err(TryRecvError::Empty) => Some(None),
            Err(TryRecvError::Disconnected) => None,
        }
    }

    fn write_batch(&mut self, first: Request) {
        if let Some(wait) = self.wait.take() {
            self.gathering.wait(wait, || self.requests.len() + 1);
        }
        let batch = self.drain(first);
        let connection = match &mut self.disk {
            Disk::Open(connection) => connection,
            Disk::Failed { reason, .. } => {
                for request in batch {
                    request.refuse(Error::Halted { reason: reason.clone() });
                }
                return;
            }
        };
        let mut state = self.state;
        let mut events = Vec::new();
        let mut judged = Vec::with_capacity(batch.len());
        let mut requests = batch.into_iter();
        let mut began = Instant::now();
        self.progress.writing();
        let result = (|| {
            let transaction = connection.transaction()?;
            let mut batch = Batch::begin(&transaction)?;
            for request in requests.by_ref() {
                judged.push(batch.judge(request, &mut state, &mut events)?);
            }
            drop(batch);
            began = Instant::now();
            transaction.commit()
        })();
        let commit = began.elapsed();
        self.progress.written();
        match result {
            Ok(()) => self.acknowledge(state, events, judged, commit),
            Err(source) => {
                let reason = disk::describe_failure(self.directory(), &source);
                for judged in judged {
                    judged.refuse(Error::Halted { reason: reason.clone() });
                }
                for request in requests {
                    request.refuse(Error::Halted { reason: reason.clone() });
                }
                self.fail(reason);
            }
        }
    }

    fn drain(&mut self, first: Request) -> Vec<Request> {
        let mut bytes = first.bytes();
        let mut batch = vec![first];
        while batch.len() < BATCH_REQUESTS && bytes < BATCH_BYTES {
            let Ok(request) = self.requests.try_recv() else { break };
            bytes += request.bytes();
            batch.push(request);
        }
        batch
    }

    /// The batch is durable. The mark comes before anybody learns of it; a mark that cannot be
    /// written takes nothing from this batch, but no further one is taken without it.
    fn acknowledge(&mut self, state: State, events: Vec<Event>, judged: Vec<Judged>, commit: Duration) {
        let marked = self.mark.raise(state.latest);
        self.state = state;
        self.failures = 0;
        self.progress.reached(state);
        if !events.is_empty() {
            self.watchers.publish(events, state.latest);
        }
        self.wait = plan_wait(judged.len(), self.requests.len(), commit, self.load.read());
        for judged in judged {
            judged.answer();
        }
        if let Err(error) = marked {
            self.fail(disk::describe_io(&error));
        }
    }

    fn compact_step(&mut self) {
        let State { compacted, horizon, .. } = self.state;
        let Disk::Open(connection) = &mut self.disk else { return };
        if compacted == horizon {
            return;
        }
        match compaction::step(connection, compacted, horizon) {
            Ok(compacted) => self.state.compacted = compacted,
            Err(source) => self.fail(disk::describe_failure(self.directory(), &source)),
        }
    }

    /// Gives up the connection: once a sync has failed, nobody can know what the disk holds of
    /// the pages that it was for, and what SQLite remembers of them is no help.
    fn fail(&mut self, reason: String) {
        let pause = plan_pause(self.failures);
        self.failures = self.failures.saturating_add(1);
        tracing::error!(reason, "the store takes no writes until it has recovered; next attempt in {pause:?}");
        self.progress.failed(&reason);
        let failed = Disk::Failed { reason, try_at: Instant::now() + pause };
        if let Disk::Open(connection) = std::mem::replace(&mut self.disk, failed) {
            database::leave_log_alone(&connection);
        }
    }

    fn try_to_recover(&mut self) {
        match &self.disk {
            Disk::Failed { try_at, .. } if Instant::now() >= *try_at => {}
            _ => return,
        }
        match self.recover() {
            Ok(()) => tracing::info!(revision = self.state.latest, "the store takes writes again"),
            Err(reason) => self.fail(reason),
        }
    }

    /// Opens the database anew. A batch that had failed may turn out to be durable: then it is
    /// shown to everyone, as any other change is.
    fn recover(&mut self) -> Result<(), String> {
        disk::probe(self.directory()).map_err(|error| disk::describe_io(&error))?;
        let (connection, state) = self
            .readers
            .suspended(|| database::reopen(&self.path, &self.mark))
            .map_err(|error| describe_recovery(&error))?;
        self.mark.raise(state.latest).map_err(|error| disk::describe_io(&error))?;
        self.disk = Disk::Open(connection);
        let found_more = state.latest > self.state.latest;
        self.state = state;
        self.progress.reached(state);
        self.progress.recovered();
        if found_more {
            self.watchers.replay_up_to(state.latest);
        }
        Ok(())
    }

    fn directory(&self) -> &std::path::Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

/// The first attempt follows at once, since most failures pass.
fn plan_pause(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        n => FIRST_PAUSE.saturating_mul(1 << (n - 1).min(16)).min(LAST_PAUSE),
    }
}

fn describe_recovery(error: &Error) -> String {
    match error {
        Error::Halted { reason } => reason.clone(),
        Error::Io { operation, path, source } => format!("{} while {operation} {path}", disk::describe_io(source)),
        Error::Backend { operation, source } => format!("{operation}: {source}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_between_attempts_grow_to_a_bound() {
        let pauses: Vec<u128> = [0, 1, 2, 3, 7, 8, 9, u32::MAX].map(|n| plan_pause(n).as_millis()).to_vec();
        assert_eq!(pauses, [0, 100, 200, 400, 6400, 10_000, 10_000, 10_000]);
    }
}
