//! One batch of writes: judging each request against the state that the ones before it left,
//! and adding the rows of those that may. The writer opens the transaction, makes it durable and
//! only then lets the outcomes go.

use std::sync::Arc;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::compaction;
use super::database::State;
use super::read::{LatestRow, event};
use super::row::{DamagedRow, InsertRow, Row};
use crate::{Commit, Committed, Entry, Error, Event, Expect, Op, Revision};

pub(super) enum Request {
    Commit { commit: Commit, reply: oneshot::Sender<Result<Committed, Error>> },
    Compact { revision: Revision, reply: oneshot::Sender<Result<(), Error>> },
}

/// A request that has been judged, waiting for the batch to become durable.
pub(super) enum Judged {
    Commit { reply: oneshot::Sender<Result<Committed, Error>>, outcome: Result<Committed, Error> },
    Compact { reply: oneshot::Sender<Result<(), Error>>, outcome: Result<(), Error> },
}

/// The transaction that the requests of a batch share. An `Err` of its methods is a failure of
/// the database, and so the whole batch's.
pub(super) struct Batch<'c> {
    connection: &'c Connection,
    latest: LatestRow<'c>,
    insert: InsertRow<'c>,
}

impl<'c> Batch<'c> {
    pub(super) fn begin(connection: &'c Connection) -> Result<Self, rusqlite::Error> {
        let (latest, insert) = (LatestRow::prepare(connection)?, InsertRow::prepare(connection)?);
        Ok(Batch { connection, latest, insert })
    }

    /// Judges one request and, if it may, writes it.
    pub(super) fn judge(
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
        let revision = state.latest + 1;
        let (row, current) = match self.latest.of(&commit.key, state.latest)? {
            Some(Err(damaged)) => match plan_repair(&commit, &damaged, revision) {
                Some(row) => (row, None),
                None => return Ok(Err(damaged.into())),
            },
            found => {
                let current = found.and_then(Result::ok).filter(|row| !row.deleted);
                match plan_row(&commit, current.as_ref(), revision) {
                    Some(row) => (row, current),
                    None => {
                        let current = current.and_then(Row::into_entry);
                        return Ok(Err(Error::Conflict { key: commit.key, current }));
                    }
                }
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

/// The row that ends a damaged one, or `None` if the commit expects something else. What the
/// damaged row said of its key cannot be relied on, so the key starts again; the row is named as
/// the previous one, so that compaction removes it.
fn plan_repair(commit: &Commit, damaged: &DamagedRow, revision: Revision) -> Option<Row> {
    match commit.expect {
        Expect::Any => {}
        Expect::Revision(expected) if expected == damaged.revision => {}
        Expect::Revision(_) | Expect::Absent => return None,
    }
    let (deleted, value) = match &commit.op {
        Op::Put(value) => (false, value.clone()),
        Op::Delete => (true, bytes::Bytes::new()),
    };
    let key = Arc::from(commit.key.as_str());
    Some(Row { key, revision, deleted, create_revision: revision, version: 1, previous: damaged.revision, value })
}

// A caller that has gone away is no concern of the writer's, so the results of the replies'
// `send` are ignored here and below.
impl Request {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Request::Commit { commit: Commit { op: Op::Put(value), .. }, .. } => value.len(),
            _ => 0,
        }
    }

    pub(super) fn refuse(self, error: Error) {
        match self {
            Request::Commit { reply, .. } => drop(reply.send(Err(error))),
            Request::Compact { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}

impl Judged {
    pub(super) fn answer(self) {
        match self {
            Judged::Commit { reply, outcome } => drop(reply.send(outcome)),
            Judged::Compact { reply, outcome } => drop(reply.send(outcome)),
        }
    }

    pub(super) fn refuse(self, error: Error) {
        match self {
            Judged::Commit { reply, .. } => drop(reply.send(Err(error))),
            Judged::Compact { reply, .. } => drop(reply.send(Err(error))),
        }
    }
}
