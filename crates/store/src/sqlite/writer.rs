//! The one thread that writes. It takes all requests that have queued up, judges each against
//! the state that the ones before it left, and makes the lot durable with one fsync before it
//! answers any of them. Started by `SqliteStore::open`.
//!
//! With one client a batch is one commit. With many, the queue fills while the disk works, and
//! `gather.rs` lets a batch wait a moment until it is worth its fsync.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot};

use super::compaction;
use super::database::{State, read_state};
use super::gather::{Gathering, LoadMeter, Wait, plan_wait};
use super::read::{LatestRow, damaged, event};
use super::row::{InsertRow, Row};
use super::watchers::Watchers;
use crate::{Commit, Committed, Entry, Error, Event, Expect, Op, Revision};

/// Requests that may wait before callers have to.
pub(super) const QUEUE: usize = 1024;

/// Bounds of one batch, so that its transaction fits the caches and nobody waits too long.
const BATCH_REQUESTS: usize = 1024;
const BATCH_BYTES: usize = 4 << 20;

pub(super) enum Request {
    Commit { commit: Commit, reply: oneshot::Sender<Result<Committed, Error>> },
    Compact { revision: Revision, reply: oneshot::Sender<Result<(), Error>> },
}

/// What other threads may know of the writer's progress.
#[derive(Default)]
pub(super) struct Progress {
    pub latest: AtomicU64,
    pub horizon: AtomicU64,
}

pub(super) struct Writer {
    connection: Connection,
    requests: mpsc::Receiver<Request>,
    watchers: Arc<Watchers>,
    progress: Arc<Progress>,
    gathering: Arc<Gathering>,
    /// What the next batch waits for, as the last one taught.
    wait: Option<Wait>,
    load: LoadMeter,
    state: State,
    /// A step of compaction failed: leave it until the next request for one.
    compaction_stalled: bool,
    /// Why no write is accepted any more.
    halted: Option<String>,
}

/// A request that has been judged, waiting for the batch to become durable.
enum Judged {
    Commit { reply: oneshot::Sender<Result<Committed, Error>>, outcome: Result<Committed, Error> },
    Compact { reply: oneshot::Sender<Result<(), Error>>, outcome: Result<(), Error> },
}

impl Writer {
    pub fn new(
        connection: Connection,
        requests: mpsc::Receiver<Request>,
        watchers: Arc<Watchers>,
        progress: Arc<Progress>,
        gathering: Arc<Gathering>,
        state: State,
    ) -> Writer {
        progress.latest.store(state.latest, Ordering::Release);
        progress.horizon.store(state.horizon, Ordering::Release);
        Writer {
            connection,
            requests,
            watchers,
            progress,
            gathering,
            wait: None,
            load: LoadMeter::new(),
            state,
            compaction_stalled: false,
            halted: None,
        }
    }

    /// Works until every sender is gone and what they sent is done.
    pub fn run(mut self) {
        loop {
            let compaction_due = self.state.compacted < self.state.horizon && !self.compaction_stalled;
            let first = if compaction_due {
                match self.requests.try_recv() {
                    Ok(request) => Some(request),
                    Err(mpsc::error::TryRecvError::Empty) => None,
                    Err(mpsc::error::TryRecvError::Disconnected) => return,
                }
            } else {
                match self.requests.blocking_recv() {
                    Some(request) => Some(request),
                    None => return,
                }
            };
            if let Some(first) = first {
                self.write_batch(first);
            }
            // One step between two batches: compaction neither starves nor holds anyone up.
            if compaction_due && self.halted.is_none() {
                self.compact_step();
            }
        }
    }

    fn write_batch(&mut self, first: Request) {
        if let Some(wait) = self.wait.take() {
            self.gathering.wait(wait, || self.requests.len() + 1);
        }
        let batch = self.drain(first);
        if let Some(reason) = &self.halted {
            for request in batch {
                refuse(request, Error::Halted { reason: reason.clone() });
            }
            return;
        }
        let mut state = self.state;
        let mut events = Vec::new();
        let mut judged = Vec::with_capacity(batch.len());
        let mut requests = batch.into_iter();
        let mut began = Instant::now();
        let result = (|| {
            let transaction = self.connection.transaction()?;
            let mut batch = Batch::begin(&transaction)?;
            for request in requests.by_ref() {
                judged.push(batch.judge(request, &mut state, &mut events)?);
            }
            drop(batch);
            began = Instant::now();
            transaction.commit()
        })();
        let commit = began.elapsed();
        if let Err(source) = result {
            self.fail_batch(source, judged, requests);
            return;
        }
        if state.horizon > self.state.horizon {
            self.compaction_stalled = false;
        }
        self.state = state;
        self.progress.latest.store(state.latest, Ordering::Release);
        self.progress.horizon.store(state.horizon, Ordering::Release);
        if !events.is_empty() {
            self.watchers.publish(events, state.latest);
        }
        self.wait = plan_wait(judged.len(), self.requests.len(), commit, self.load.read());
        for judged in judged {
            judged.answer();
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

    /// The transaction was rolled back. A full disk may be emptied, so writing goes on; but once
    /// a sync has failed, nobody can know what the disk holds of earlier pages, and only
    /// recovery from the log on the next open is sure to be right.
    fn fail_batch(&mut self, source: rusqlite::Error, judged: Vec<Judged>, rest: impl Iterator<Item = Request>) {
        tracing::error!(error = %source, "a batch of writes failed");
        let disk_failed = source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure);
        let untouched = matches!(read_state(&self.connection), Ok(state) if state == self.state);
        if disk_failed || !untouched {
            self.halted = Some(source.to_string());
        }
        let source = Arc::new(source);
        let error = || Error::Backend { operation: "writing a batch", source: Box::new(Arc::clone(&source)) };
        for judged in judged {
            judged.refuse(error());
        }
        for request in rest {
            refuse(request, error());
        }
    }

    fn compact_step(&mut self) {
        match compaction::step(&mut self.connection, self.state.compacted, self.state.horizon) {
            Ok(compacted) => self.state.compacted = compacted,
            Err(source) => {
                tracing::error!(error = %source, "a step of compaction failed; the next compaction resumes it");
                self.compaction_stalled = true;
                if source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) {
                    self.halted = Some(source.to_string());
                }
            }
        }
    }
}

/// The transaction that the requests of a batch share. An `Err` of its methods is a failure of
/// the database, and so the whole batch's.
struct Batch<'c> {
    connection: &'c Connection,
    latest: LatestRow<'c>,
    insert: InsertRow<'c>,
}

impl<'c> Batch<'c> {
    fn begin(connection: &'c Connection) -> Result<Self, rusqlite::Error> {
        let (latest, insert) = (LatestRow::prepare(connection)?, InsertRow::prepare(connection)?);
        Ok(Batch { connection, latest, insert })
    }

    /// Judges one request and, if it may, writes it.
    fn judge(
        &mut self,
        request: Request,
        state: &mut State,
        events: &mut Vec<Event>,
    ) -> Result<Judged, rusqlite::Error> {
        match request {
            Request::Commit { commit, reply } => {
                let outcome = self.write(commit, state, events)?;
                Ok(Judged::Commit { reply, outcome })
            }
            Request::Compact { revision, reply } => {
                let outcome = if revision > state.latest {
                    Err(Error::FutureRevision { requested: revision, current: state.latest })
                } else {
                    if revision > state.horizon {
                        compaction::raise_horizon(self.connection, revision)?;
                        state.horizon = revision;
                    }
                    Ok(())
                };
                Ok(Judged::Compact { reply, outcome })
            }
        }
    }

    fn write(
        &mut self,
        commit: Commit,
        state: &mut State,
        events: &mut Vec<Event>,
    ) -> Result<Result<Committed, Error>, rusqlite::Error> {
        let current = match self.latest.of(&commit.key, state.latest)? {
            Some(Ok(row)) if row.deleted => None,
            Some(Ok(row)) => Some(row),
            Some(Err(damage)) => return Ok(Err(damaged(self.connection, damage))),
            None => None,
        };
        let revision = state.latest + 1;
        let row = match plan_row(&commit, current.as_ref(), revision) {
            Some(row) => row,
            None => {
                let current = current.and_then(Row::into_entry);
                return Ok(Err(Error::Conflict { key: commit.key, current }));
            }
        };
        self.insert.insert(&row)?;
        state.latest = revision;
        let previous: Option<Entry> = current.clone().and_then(Row::into_entry);
        events.push(event(row, current));
        Ok(Ok(Committed { revision, previous }))
    }
}

/// The row that a commit adds, or `None` if its expectation does not hold.
fn plan_row(commit: &Commit, current: Option<&Row>, revision: Revision) -> Option<Row> {
    match (commit.expect, current) {
        (Expect::Absent, Some(_)) | (Expect::Revision(_), None) => return None,
        (Expect::Revision(expected), Some(row)) if row.revision != expected => return None,
        _ => {}
    }
    let (deleted, value) = match (&commit.op, current) {
        (Op::Put(value), _) => (false, value.clone()),
        (Op::Delete, Some(_)) => (true, bytes::Bytes::new()),
        (Op::Delete, None) => return None,
    };
    Some(match current {
        Some(row) => Row {
            key: Arc::clone(&row.key),
            revision,
            deleted,
            create_revision: row.create_revision,
            version: row.version + u64::from(!deleted),
            previous: row.revision,
            value,
        },
        None => Row {
            key: Arc::from(commit.key.as_str()),
            revision,
            deleted,
            create_revision: revision,
            version: 1,
            previous: 0,
            value,
        },
    })
}

impl Request {
    fn bytes(&self) -> usize {
        match self {
            Request::Commit { commit: Commit { op: Op::Put(value), .. }, .. } => value.len(),
            _ => 0,
        }
    }
}

// A caller that has gone away is no concern of the writer's, so the results of the replies'
// `send` are ignored.
impl Judged {
    fn answer(self) {
        match self {
            Judged::Commit { reply, outcome } => drop(reply.send(outcome)),
            Judged::Compact { reply, outcome } => drop(reply.send(outcome)),
        }
    }

    fn refuse(self, error: Error) {
        match self {
            Judged::Commit { reply, .. } => drop(reply.send(Err(error))),
            Judged::Compact { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}

fn refuse(request: Request, error: Error) {
    match request {
        Request::Commit { reply, .. } => drop(reply.send(Err(error))),
        Request::Compact { reply, .. } => drop(reply.send(Err(error))),
    }
}
