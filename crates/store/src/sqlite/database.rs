//! The files of a store and how they are opened: directory, lock, permissions, schema, pragmas
//! and the checks that tell a damaged database from a sound one. Called by `SqliteStore::open`
//! and by the reader pool for each further connection.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::acknowledged::AcknowledgedMark;
use super::disk;
use super::disk::io;
use crate::{Error, Revision};

/// Written into the database header, so that someone else's SQLite file is not taken for ours.
const APPLICATION_ID: i64 = 0x6665_7279;

/// The layout below. A change of the layout raises it and brings a migration.
const LAYOUT: i64 = 1;

/// `history` has one row per change, and its rowid is the revision: rows are only ever appended
/// at the right edge of the tree. `previous` is the revision of the row that a change replaced
/// or deleted, 0 for a creation; watches find the old value through it and compaction finds what
/// a change made superfluous. The index holds `deleted` so that counting needs no row. Keys are
/// blobs because ranges over prefixes are ranges over bytes.
const SCHEMA: &str = "
    CREATE TABLE history (
        revision        INTEGER PRIMARY KEY,
        key             BLOB    NOT NULL,
        deleted         INTEGER NOT NULL,
        create_revision INTEGER NOT NULL,
        version         INTEGER NOT NULL,
        previous        INTEGER NOT NULL,
        checksum        INTEGER NOT NULL,
        value           BLOB    NOT NULL
    );
    CREATE INDEX history_by_key ON history (key, revision, deleted);
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
    INSERT INTO meta (name, value) VALUES ('horizon', 0), ('compacted', 0);
";

/// A structural check reads every page, which a large store cannot afford at each start. Below
/// this size it takes some tens of milliseconds and is always made. Above it, the checksum of
/// each row still guards what is read.
const CHECKED_BYTES: u64 = 32 << 20;

/// The page caches are small because the operating system caches the same pages anyway.
const WRITER_CACHE_KIB: i64 = 2048;
const READER_CACHE_KIB: i64 = 256;

/// The write-ahead log is copied back into the database after this many pages (16 MiB), and its
/// file is cut back to that size should a long reader have let it grow.
const CHECKPOINT_PAGES: i64 = 4096;

/// Waiting happens only around recovery and the last close, both short.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How far the revisions of a store jump that has lost changes or was restored from a backup.
/// Nobody knows how many revisions had been given out after the last one that is left, and none
/// of them may be given out again. A thousand writes a second take eleven days to reach it.
pub(super) const REVISION_GAP: Revision = 1_000_000_000;

/// The choice of `open` when acknowledged changes are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLoss {
    /// Fail with [`Error::Lost`] and change nothing.
    #[default]
    Refuse,
    /// Go on with what is left, at a revision that was never given out.
    Accept,
}

/// An opened directory: the lock is held until this is dropped.
pub(super) struct Opened {
    pub writer: Connection,
    pub path: PathBuf,
    pub state: State,
    pub mark: AcknowledgedMark,
    pub lock: File,
}

/// How far the history reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The revision of the last change.
    pub latest: Revision,
    /// The oldest state that may be read.
    pub horizon: Revision,
    /// Up to where compaction has removed what the horizon made unreachable.
    pub compacted: Revision,
}

pub(super) fn open(directory: &Path, on_loss: OnLoss) -> Result<Opened, Error> {
    create_directory(directory)?;
    // The lock comes first: SQLite's own locks are lost when any other descriptor of the same
    // file is closed in this process, so nothing may touch the database before we own it.
    let lock = lock(directory)?;
    let path = path(directory);
    let size = create_private(&path)?;
    let mut writer = connect(&path, WRITER_CACHE_KIB)?;
    prepare(&mut writer, &path)?;
    check_structure(&writer, &path, size)?;
    let fail = failed(&writer, "reading the store's state");
    let mut state = read_state(&writer).map_err(&fail)?;
    let mut mark = AcknowledgedMark::open(directory)?;
    if let Err(loss) = mark.check(&path, state.latest) {
        if on_loss == OnLoss::Refuse {
            // Closing must not copy the shortened log into the database either.
            leave_log_alone(&writer);
            return Err(loss);
        }
        tracing::error!(%loss, "the store goes on without the changes that it has lost");
        state.latest = mark.revision() + REVISION_GAP;
        state.horizon = state.latest;
        jump(&mut writer, state.latest).map_err(&fail)?;
    }
    mark.raise(state.latest).map_err(io("writing", directory))?;
    Ok(Opened { writer, path, state, mark, lock })
}

pub(super) fn path(directory: &Path) -> PathBuf {
    directory.join("state.db")
}

/// SQLite's write-ahead log of a database.
pub(super) fn log_path(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

/// Opens the writer's connection again after the disk had failed, with nothing taken from the
/// kernel's memory: no connection is open, so SQLite recovers from the files, and those are read
/// from the disk. Before anything is built on them, all that the log holds is written to the
/// database once more and synced, together with a change of our own.
pub(super) fn reopen(path: &Path, mark: &AcknowledgedMark) -> Result<(Connection, State), Error> {
    disk::forget_cached_pages(&[path, &log_path(path)])?;
    let mut writer = connect(path, WRITER_CACHE_KIB)?;
    prepare(&mut writer, path)?;
    let fail = failed(&writer, "recovering the database");
    let checked = || {
        let state = read_state(&writer).map_err(&fail)?;
        mark.check(path, state.latest)?;
        let busy: i64 = writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(&fail)?;
        if busy != 0 {
            return Err(Error::Halted { reason: "the database is in use by another process".to_string() });
        }
        let probe = "UPDATE meta SET value = value WHERE name = 'horizon'";
        writer.execute(probe, []).map_err(&fail)?;
        Ok(state)
    };
    match checked() {
        Ok(state) => Ok((writer, state)),
        Err(error) => {
            leave_log_alone(&writer);
            Err(error)
        }
    }
}

/// Keeps the closing of a connection from writing the log back into the database.
pub(super) fn leave_log_alone(connection: &Connection) {
    if let Err(error) = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true) {
        tracing::warn!(%error, "the log of a failed database is written back on closing");
    }
}

/// Moves the store to a revision far above its last change, with everything before it compacted
/// away for those who ask: clients that knew later revisions start over.
pub(super) fn jump(connection: &mut Connection, revision: Revision) -> Result<(), rusqlite::Error> {
    let transaction = connection.transaction()?;
    super::compaction::raise_horizon(&transaction, revision)?;
    transaction.commit()
}

/// Opens a further connection, which may only read.
pub(super) fn open_reader(path: &Path) -> Result<Connection, Error> {
    let reader = connect(path, READER_CACHE_KIB)?;
    reader.pragma_update(None, "query_only", true).map_err(failed(&reader, "opening a reader"))?;
    Ok(reader)
}

/// The state as this connection's transaction sees it. After a compaction the last change may
/// have been a deletion whose row is gone, hence the horizon counts as well; an empty store
/// stands at 1.
pub(super) fn read_state(connection: &Connection) -> Result<State, rusqlite::Error> {
    connection
        .prepare_cached(
            "SELECT (SELECT max(revision) FROM history),
                    (SELECT value FROM meta WHERE name = 'horizon'),
                    (SELECT value FROM meta WHERE name = 'compacted')",
        )?
        .query_row([], |row| {
            let newest: Option<i64> = row.get(0)?;
            let (horizon, compacted): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(State {
                latest: newest.unwrap_or(0).max(horizon).max(1) as Revision,
                horizon: horizon as Revision,
                compacted: compacted as Revision,
            })
        })
}

/// Turns a failure of SQLite into ours, telling damage from everything else.
pub(super) fn failed(connection: &Connection, operation: &'static str) -> impl Fn(rusqlite::Error) -> Error + use<> {
    let path = connection.path().unwrap_or_default().to_string();
    move |source| failed_at(&path, operation, source)
}

fn failed_at(path: &str, operation: &'static str, source: rusqlite::Error) -> Error {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Corrupt { path: path.to_string(), detail: source.to_string() }
        }
        _ => Error::Backend { operation, source: Box::new(source) },
    }
}

fn create_directory(directory: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(io("creating directory", directory))
}

pub(super) fn lock(directory: &Path) -> Result<File, Error> {
    let path = directory.join("lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(io("opening lock file", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked { path: directory.display().to_string() }),
        Err(TryLockError::Error(source)) => Err(io("locking", &path)(source)),
    }
}

/// SQLite gives its log and index files the permissions of the database, so making that one
/// private is enough. Returns the size it had.
fn create_private(path: &Path) -> Result<u64, Error> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
        .map_err(io("opening database", path))?;
    let metadata = file.metadata().map_err(io("reading the size of", path))?;
    if metadata.permissions().mode() & 0o077 != 0 {
        let private = std::fs::Permissions::from_mode(0o600);
        file.set_permissions(private).map_err(io("restricting the permissions of", path))?;
    }
    Ok(metadata.len())
}

fn connect(path: &Path, cache_kib: i64) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|source| failed_at(&path.display().to_string(), "opening the database", source))?;
    let tune = || {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // A plan must not depend on the values that are bound: SQLite would compile the
        // statement anew for each of them, which cost a tenth of every write.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.pragma_update(None, "cache_size", -cache_kib)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "trusted_schema", false)
    };
    tune().map_err(failed(&connection, "configuring the database"))?;
    Ok(connection)
}

fn prepare(writer: &mut Connection, path: &Path) -> Result<(), Error> {
    let fail = failed(writer, "preparing the database");
    let corrupt = |detail: String| Error::Corrupt { path: path.display().to_string(), detail };

    let journal: String =
        writer.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).map_err(&fail)?;
    if journal != "wal" {
        return Err(corrupt(format!("its journal mode is {journal:?} and cannot be changed to \"wal\"")));
    }
    // FULL is what makes a commit wait for the disk.
    writer.pragma_update(None, "synchronous", "FULL").map_err(&fail)?;
    writer.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(&fail)?;
    writer.pragma_update(None, "journal_size_limit", CHECKPOINT_PAGES * 4096).map_err(&fail)?;

    let tables: i64 = writer.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&fail)?;
    if tables == 0 {
        return create_schema(writer).map_err(&fail);
    }
    check_layout(writer, path)
}

/// Fails for a database that is not ours, or that this version does not know how to read.
pub(super) fn check_layout(connection: &Connection, path: &Path) -> Result<(), Error> {
    let fail = failed(connection, "reading the database's header");
    let corrupt = |detail: String| Err(Error::Corrupt { path: path.display().to_string(), detail });
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(&fail);
    let (application, layout) = (number("application_id")?, number("user_version")?);
    if application != APPLICATION_ID {
        return corrupt("it is not a ferry store".to_string());
    }
    if layout != LAYOUT {
        return corrupt(format!("its layout is {layout} and this version of ferry knows {LAYOUT}"));
    }
    Ok(())
}

fn check_structure(writer: &Connection, path: &Path, size: u64) -> Result<(), Error> {
    if size > CHECKED_BYTES {
        return Ok(());
    }
    let fail = failed(writer, "checking the database");
    let verdict: String = writer.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(fail)?;
    match verdict.as_str() {
        "ok" => Ok(()),
        _ => Err(Error::Corrupt { path: path.display().to_string(), detail: verdict }),
    }
}

fn create_schema(writer: &mut Connection) -> Result<(), rusqlite::Error> {
    let transaction = writer.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", LAYOUT)?;
    transaction.commit()
}
