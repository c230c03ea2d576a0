//! Reading a state or a stretch of history through one connection: what `get`, `range` and the
//! replay of a watch answer. Each function reads in one transaction, so that the horizon it
//! checks and the rows it returns belong together. Run by the reader pool.
//!
//! A reader sees a transaction only after the writer's fsync: SQLite publishes the log's new end
//! to other connections after syncing it. While the disk fails, a fresh connection may find more
//! in the log than was ever synced, so every read also ends at the writer's latest revision,
//! which callers pass as `durable`.

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction};

use super::database::{State, failed, read_state};
use super::row::{COLUMNS, DamagedRow, Row};
use crate::{Entry, Error, Event, EventKind, Range, RangeOptions, Revision};

/// Limits of one page of replay: the rows looked at, and the bytes handed on.
const REPLAY_ROWS: u64 = 2000;
const REPLAY_BYTES: usize = 1 << 20;

pub(super) fn get(
    connection: &mut Connection,
    durable: Revision,
    key: &str,
    revision: Option<Revision>,
) -> Result<Option<Entry>, Error> {
    const OPERATION: &str = "reading a key";
    let (transaction, state) = begin(connection, durable, OPERATION)?;
    let revision = resolve(revision, state)?;
    let row = LatestRow::prepare(&transaction)
        .and_then(|mut latest| latest.of(key, revision))
        .map_err(failed(&transaction, OPERATION))?;
    match row {
        Some(row) => Ok(row?.into_entry()),
        None => Ok(None),
    }
}

/// Finds the last row of a key up to a revision. The writer uses this too, once prepared for
/// all of a batch.
pub(super) struct LatestRow<'c>(CachedStatement<'c>);

impl<'c> LatestRow<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> Result<Self, rusqlite::Error> {
        let text = format!(
            "SELECT {COLUMNS} FROM history h WHERE h.key = ?1 AND h.revision <= ?2
             ORDER BY h.revision DESC LIMIT 1"
        );
        connection.prepare_cached(&text).map(Self)
    }

    pub(super) fn of(
        &mut self,
        key: &str,
        revision: Revision,
    ) -> Result<Option<Result<Row, DamagedRow>>, rusqlite::Error> {
        self.0.query_row((key.as_bytes(), signed(revision)), Row::read).optional()
    }
}

pub(super) fn range(
    connection: &mut Connection,
    durable: Revision,
    prefix: &str,
    options: &RangeOptions,
) -> Result<Range, Error> {
    const OPERATION: &str = "reading a range";
    let (transaction, state) = begin(connection, durable, OPERATION)?;
    let revision = resolve(options.revision, state)?;
    let fail = failed(&transaction, OPERATION);
    let bounds = Bounds::of(prefix, options.start_after.as_deref());

    let limit = if options.limit == 0 { usize::MAX } else { options.limit };
    // One row more than the page holds shows that there is another page.
    let looked_at = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let mut range = Range { entries: Vec::new(), damaged: Vec::new(), revision, more: false, remaining: 0 };
    let mut statement =
        transaction.prepare_cached(&format!("SELECT {COLUMNS} {LIVE} ORDER BY h.key LIMIT ?4")).map_err(&fail)?;
    let mut rows = statement.query((&bounds.after, &bounds.before, signed(revision), looked_at)).map_err(&fail)?;
    while let Some(row) = rows.next().map_err(&fail)? {
        if range.entries.len() + range.damaged.len() == limit {
            range.more = true;
            break;
        }
        match Row::read(row).map_err(&fail)? {
            Ok(row) => range.entries.extend(row.into_entry()),
            Err(damaged) => range.damaged.push(damaged.into()),
        }
    }

    if let Some(last) = range.last_key().filter(|_| range.more && options.count_remaining) {
        let rest = Bounds::of(prefix, Some(last));
        let count: i64 = transaction
            .prepare_cached(&format!("SELECT count(*) {LIVE}"))
            .and_then(|mut statement| {
                statement.query_row((&rest.after, &rest.before, signed(revision)), |row| row.get(0))
            })
            .map_err(&fail)?;
        range.remaining = count as u64;
    }
    Ok(range)
}

/// The rows that are a live key's last one as of revision ?3, with ?1 <= key < ?2. It walks the
/// index over all versions of the keys, which compaction keeps few.
const LIVE: &str = "FROM history h INDEXED BY history_by_key
     WHERE h.key >= ?1 AND h.key < ?2 AND h.revision <= ?3 AND h.deleted = 0
       AND NOT EXISTS (SELECT 1 FROM history n WHERE n.key = h.key AND n.revision > h.revision AND n.revision <= ?3)";

/// A stretch of history.
#[derive(Debug)]
pub(super) struct Page {
    pub events: Vec<Event>,
    /// Every event up to here was looked at: the next page starts after it.
    pub through: Revision,
}

/// The changes under a prefix after a revision, as many as fit into one page.
pub(super) fn replay(
    connection: &mut Connection,
    durable: Revision,
    prefix: &str,
    after: Revision,
) -> Result<Page, Error> {
    const OPERATION: &str = "replaying history";
    let (transaction, state) = begin(connection, durable, OPERATION)?;
    if after < state.horizon {
        return Err(Error::Compacted { horizon: state.horizon });
    }
    let fail = failed(&transaction, OPERATION);
    let bounds = Bounds::of(prefix, None);
    let end = after.saturating_add(REPLAY_ROWS).min(state.latest);

    let mut page = Page { events: Vec::new(), through: end.max(after) };
    let mut bytes = 0;
    let mut statement = transaction
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM history h WHERE h.revision > ?1 AND h.revision <= ?2 AND h.key >= ?3 AND h.key < ?4
             ORDER BY h.revision"
        ))
        .map_err(&fail)?;
    let mut rows = statement.query((signed(after), signed(end), &bounds.after, &bounds.before)).map_err(&fail)?;
    while let Some(row) = rows.next().map_err(&fail)? {
        let row = Row::read(row).map_err(&fail)??;
        let previous = previous_row(&transaction, &row)?;
        let revision = row.revision;
        let event = event(row, previous);
        bytes += size(&event);
        page.events.push(event);
        if bytes >= REPLAY_BYTES {
            page.through = revision;
            break;
        }
    }
    Ok(page)
}

/// The event that a row stands for, given the row that it replaced.
pub(super) fn event(row: Row, previous: Option<Row>) -> Event {
    let previous = previous.map(|row| row.value);
    Event {
        key: row.key,
        revision: row.revision,
        kind: if row.deleted { EventKind::Delete } else { EventKind::Put },
        value: if row.deleted { previous.clone().unwrap_or_default() } else { row.value },
        previous,
        create_revision: row.create_revision,
    }
}

/// What an event weighs in a buffer. A deletion's two values share their bytes.
pub(super) fn size(event: &Event) -> usize {
    let previous = match event.kind {
        EventKind::Put => event.previous.as_ref().map_or(0, |value| value.len()),
        EventKind::Delete => 0,
    };
    size_of::<Event>() + event.key.len() + event.value.len() + previous
}

/// The row that a change replaced, unless nobody can read it any more. Above the horizon it is
/// always there, because compaction keeps whatever was live at the horizon.
fn previous_row(transaction: &Transaction<'_>, row: &Row) -> Result<Option<Row>, Error> {
    if row.previous == 0 {
        return Ok(None);
    }
    transaction
        .prepare_cached(&format!("SELECT {COLUMNS} FROM history h WHERE h.revision = ?1"))
        .and_then(|mut statement| statement.query_row([signed(row.previous)], Row::read).optional())
        .map(|found| found.and_then(Result::ok))
        .map_err(failed(transaction, "replaying history"))
}

fn begin<'c>(
    connection: &'c mut Connection,
    durable: Revision,
    operation: &'static str,
) -> Result<(Transaction<'c>, State), Error> {
    let fail = failed(connection, operation);
    let transaction = connection.transaction().map_err(&fail)?;
    let mut state = read_state(&transaction).map_err(&fail)?;
    // The horizon is never above what is readable: a state below it may have lost rows.
    state.latest = state.latest.min(durable).max(state.horizon);
    Ok((transaction, state))
}

fn resolve(requested: Option<Revision>, state: State) -> Result<Revision, Error> {
    match requested {
        None => Ok(state.latest),
        Some(requested) if requested < state.horizon => Err(Error::Compacted { horizon: state.horizon }),
        Some(requested) if requested > state.latest => Err(Error::FutureRevision { requested, current: state.latest }),
        Some(requested) => Ok(requested),
    }
}

/// SQLite's integers are signed. A revision beyond them is a caller's arbitrary number, and
/// lies as far in the future as the greatest that fits.
fn signed(revision: Revision) -> i64 {
    i64::try_from(revision).unwrap_or(i64::MAX)
}

/// The keys `after <= key < before` in bytes.
#[derive(Debug, PartialEq, Eq)]
struct Bounds {
    after: Vec<u8>,
    before: Vec<u8>,
}

impl Bounds {
    /// `start_after` is exclusive, and the smallest key above it is itself with a zero byte.
    /// The end is the prefix with its last byte raised, which cannot overflow: 0xff occurs
    /// nowhere in UTF-8. For the same reason a single 0xff lies above every key.
    fn of(prefix: &str, start_after: Option<&str>) -> Bounds {
        let mut before = prefix.as_bytes().to_vec();
        match before.last_mut() {
            Some(last) => *last += 1,
            None => before.push(0xff),
        }
        let first = prefix.as_bytes().to_vec();
        let after = match start_after {
            Some(key) => first.max([key.as_bytes(), &[0]].concat()),
            None => first,
        };
        Bounds { after, before }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prefix: &str, start_after: Option<&str>, after: &[u8], before: &[u8]) {
        let expected = Bounds { after: after.to_vec(), before: before.to_vec() };
        assert_eq!(Bounds::of(prefix, start_after), expected);
    }

    #[test]
    fn bounds_enclose_exactly_the_prefix() {
        check("/pods/", None, b"/pods/", b"/pods0");
        check("", None, b"", b"\xff");
        check("é", None, "é".as_bytes(), b"\xc3\xaa");
        check("/pods/", Some("/pods/a"), b"/pods/a\0", b"/pods0");
        // A continuation from before the prefix starts at the prefix.
        check("/pods/", Some("/nodes/z"), b"/pods/", b"/pods0");
        check("/pods/", Some("/services/"), b"/services/\0", b"/pods0");
    }
}
