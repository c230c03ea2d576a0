//! The conformance suite for SQLite, and what only this implementation promises: its files,
//! its lock, what it says of damage, and that compaction and the log stay within bounds.

use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::conformance::{Harness, delete, get, next, put, take};
use crate::{Error, Event};

mod suite {
    use super::Directories;

    crate::conformance_tests!(Directories::default());
}

/// Remembers which directory a store lives in, so that it can be opened again.
#[derive(Default)]
struct Directories {
    current: Mutex<Option<TempDir>>,
}

#[async_trait]
impl Harness for Directories {
    type Store = SqliteStore;

    async fn open(&self) -> SqliteStore {
        let directory = TempDir::new().expect("a temporary directory");
        let store = open(&directory);
        *self.current.lock() = Some(directory);
        store
    }

    async fn restart(&self, store: SqliteStore) -> SqliteStore {
        drop(store);
        open(self.current.lock().as_ref().expect("opened before"))
    }
}

fn open(directory: &TempDir) -> SqliteStore {
    SqliteStore::open(directory.path()).expect("open")
}

fn database_of(directory: &TempDir) -> PathBuf {
    directory.path().join("state.db")
}

/// Looks at the database from outside.
fn query(directory: &TempDir, sql: &str) -> i64 {
    let connection = Connection::open(database_of(directory)).expect("open");
    connection.query_row(sql, [], |row| row.get(0)).expect("query")
}

#[tokio::test]
async fn files_are_private() {
    let directory = TempDir::new().expect("a temporary directory");
    let inner = directory.path().join("new");
    let store = SqliteStore::open(&inner).expect("open");
    put(&store, "secret", "value").await;
    assert_eq!(inner.metadata().expect("metadata").permissions().mode() & 0o777, 0o700);
    let mut names = Vec::new();
    for file in std::fs::read_dir(&inner).expect("read_dir") {
        let file = file.expect("file");
        assert_eq!(file.metadata().expect("metadata").permissions().mode() & 0o777, 0o600, "{file:?}");
        names.push(file.file_name().into_string().expect("a name of ours"));
    }
    names.sort();
    assert_eq!(names, ["lock", "state.db", "state.db-shm", "state.db-wal"]);
}

#[tokio::test]
async fn a_second_open_is_refused_until_the_first_is_closed() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    let error = SqliteStore::open(directory.path()).err().expect("refused");
    assert!(matches!(&error, Error::Locked { path } if *path == directory.path().display().to_string()));
    drop(store);
    open(&directory);
}

#[tokio::test]
async fn commits_wait_for_the_disk() {
    let directory = TempDir::new().expect("a temporary directory");
    let opened = database::open(directory.path()).expect("open");
    let synchronous: i64 = opened.writer.pragma_query_value(None, "synchronous", |row| row.get(0)).expect("pragma");
    assert_eq!(synchronous, 2, "FULL");
    let journal: String = opened.writer.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("pragma");
    assert_eq!(journal, "wal");
}

#[tokio::test]
async fn an_empty_store_stands_at_one() {
    let directory = TempDir::new().expect("a temporary directory");
    assert_eq!(open(&directory).current_revision(), 1);
    assert_eq!(open(&directory).current_revision(), 1);
}

#[track_caller]
fn check_refused_as_damaged(directory: &TempDir, says: &str) {
    match SqliteStore::open(directory.path()).err() {
        Some(Error::Corrupt { path, detail }) => {
            assert_eq!(path, database_of(directory).display().to_string());
            assert!(detail.contains(says), "{detail}");
        }
        other => panic!("opened or failed otherwise: {other:?}"),
    }
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let directory = TempDir::new().expect("a temporary directory");
    std::fs::write(database_of(&directory), vec![b'x'; 8192]).expect("write");
    check_refused_as_damaged(&directory, "not a database");
    // Refusing leaves it as it was.
    assert_eq!(std::fs::read(database_of(&directory)).expect("read"), vec![b'x'; 8192]);
}

#[test]
fn a_database_of_someone_else_is_refused() {
    let directory = TempDir::new().expect("a temporary directory");
    Connection::open(database_of(&directory)).expect("open").execute_batch("CREATE TABLE t (a)").expect("create");
    check_refused_as_damaged(&directory, "not a ferry store");
}

#[test]
fn a_database_of_a_later_layout_is_refused() {
    let directory = TempDir::new().expect("a temporary directory");
    drop(open(&directory));
    let connection = Connection::open(database_of(&directory)).expect("open");
    connection.pragma_update(None, "user_version", 99).expect("pragma");
    drop(connection);
    check_refused_as_damaged(&directory, "layout is 99");
}

#[tokio::test]
async fn a_damaged_page_is_found_on_open() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    for number in 0..200 {
        put(&store, &format!("/{number}"), vec![b'v'; 500]).await;
    }
    drop(store);
    let file = std::fs::OpenOptions::new().write(true).open(database_of(&directory)).expect("open");
    let pages = file.metadata().expect("metadata").len() / 4096;
    file.write_all_at(&[0xee; 64], (pages / 2) * 4096).expect("write");
    check_refused_as_damaged(&directory, "");
}

#[tokio::test]
async fn a_flipped_bit_in_a_value_is_found_on_reading() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    put(&store, "/good", "unharmed").await;
    put(&store, "/bad", "NEEDLE").await;
    drop(store);
    let mut content = std::fs::read(database_of(&directory)).expect("read");
    let place = content.windows(6).position(|window| window == b"NEEDLE").expect("the value is in the file");
    content[place] ^= 1;
    std::fs::write(database_of(&directory), content).expect("write");

    let store = open(&directory);
    assert!(get(&store, "/good").await.is_some());
    let error = store.get("/bad", None).await.expect_err("damaged");
    assert!(matches!(&error, Error::Corrupt { detail, .. } if detail.contains("revision 3")), "{error}");
    assert!(matches!(store.range("/", RangeOptions::default()).await, Err(Error::Corrupt { .. })));
    let commit = Commit { key: "/bad".to_string(), expect: crate::Expect::Any, op: crate::Op::Delete };
    assert!(matches!(store.commit(commit).await, Err(Error::Corrupt { .. })));
    // The rest of the store still works.
    put(&store, "/good", "again").await;
}

#[tokio::test]
async fn compaction_gives_space_back_and_resumes_after_a_restart() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = Arc::new(open(&directory));
    let writes: Vec<_> = (0..3000)
        .map(|number| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { put(&*store, &format!("/{}", number % 10), "value").await })
        })
        .collect();
    for write in writes {
        write.await.expect("write");
    }
    delete(&*store, "/0").await;
    let latest = store.current_revision();
    store.compact(latest).await.expect("compact");
    // Closing stops the compaction wherever it is; opening resumes it.
    drop(store);
    let store = open(&directory);
    while query(&directory, "SELECT value FROM meta WHERE name = 'compacted'") as Revision != latest {
        put(&store, "/1", "value").await;
    }
    let range = store.range("", RangeOptions::default()).await.expect("range");
    assert_eq!(range.entries.len(), 9);
    let below = format!("SELECT count(*) FROM history WHERE revision <= {latest}");
    assert_eq!(query(&directory, &below), 9);
}

#[tokio::test]
async fn a_watch_that_the_horizon_overtakes_ends_with_compacted() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    put(&store, "a", "1").await;
    let mut watch = store.watch("", 1).await.expect("watch");
    put(&store, "a", "2").await;
    put(&store, "a", "3").await;
    store.compact(3).await.expect("compact");
    assert!(matches!(next(&mut watch).await, Some(Err(Error::Compacted { horizon: 3 }))));
    assert!(next(&mut watch).await.is_none());
}

#[tokio::test]
async fn closing_ends_the_watches() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    let mut idle = store.watch("", 1).await.expect("watch");
    put(&store, "a", "1").await;
    assert_eq!(take(&mut idle, 1).await.len(), 1);
    let waiting =
        tokio::spawn(async move { idle.next().await.map(|result| result.map(|events: Vec<Event>| events.len())) });
    drop(store);
    assert!(waiting.await.expect("task").is_none());
}

/// The log is copied back as it grows, so that it does not grow with what was written.
#[tokio::test]
async fn the_log_stays_bounded() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    let written = 80 << 20;
    let value = vec![1; 1 << 20];
    for number in 0..(written / value.len()) {
        put(&store, &format!("/{}", number % 4), value.clone()).await;
        if number % 8 == 0 {
            store.compact(store.current_revision()).await.expect("compact");
        }
    }
    let log = directory.path().join("state.db-wal").metadata().expect("metadata").len();
    assert!(log < 24 << 20, "the log has {log} bytes after {written} were written");
    let database = database_of(&directory).metadata().expect("metadata").len();
    assert!(database < 40 << 20, "the database has {database} bytes for 4 MiB that are live");
}
