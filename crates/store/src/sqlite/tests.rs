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
use crate::{DamagedEntry, Error, Event, Expect, Op};

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
    assert_eq!(names, ["acknowledged", "lock", "state.db", "state.db-shm", "state.db-wal"]);
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
    let opened = database::open(directory.path(), OnLoss::Refuse).expect("open");
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

/// Flips the lowest bit of the first byte of `needle` in a file of the store.
fn flip(directory: &TempDir, file: &str, needle: &[u8]) {
    let path = directory.path().join(file);
    let mut content = std::fs::read(&path).expect("read");
    let place = content.windows(needle.len()).position(|window| window == needle).expect("it is in the file");
    content[place] ^= 1;
    std::fs::write(&path, content).expect("write");
}

fn commit(key: &str, expect: Expect, op: Op) -> Commit {
    Commit { key: key.to_string(), expect, op }
}

/// A store with `/good`, `/bad` (damaged, at revision 3) and `/next`.
async fn with_a_damaged_row(directory: &TempDir) -> SqliteStore {
    let store = open(directory);
    put(&store, "/good", "unharmed").await;
    put(&store, "/bad", "NEEDLE").await;
    put(&store, "/next", "unharmed").await;
    drop(store);
    flip(directory, "state.db", b"NEEDLE");
    open(directory)
}

#[tokio::test]
async fn a_damaged_row_is_named_and_the_rest_is_served() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = with_a_damaged_row(&directory).await;
    assert!(get(&store, "/good").await.is_some());
    let error = store.get("/bad", None).await.expect_err("damaged");
    assert!(matches!(&error, Error::Damaged { key, revision: 3 } if key == "/bad"), "{error}");
    let range = store.range("/", RangeOptions::default()).await.expect("range");
    let keys: Vec<&str> = range.entries.iter().map(|entry| &*entry.key).collect();
    assert_eq!(keys, ["/good", "/next"]);
    assert_eq!(range.damaged, [DamagedEntry { key: "/bad".into(), revision: 3 }]);
    // A page that has nothing but damage leads on to the next one.
    let options = RangeOptions { limit: 1, count_remaining: true, ..RangeOptions::default() };
    let page = store.range("/", options).await.expect("range");
    assert_eq!((page.entries.len(), page.last_key().map(|key| &**key), page.remaining), (0, Some("/bad"), 2));
    // A watch that would have to show it ends, and one from after it goes on.
    let mut watch = store.watch("", 2).await.expect("watch");
    assert!(matches!(next(&mut watch).await, Some(Err(Error::Damaged { revision: 3, .. }))));
    let mut watch = store.watch("", 3).await.expect("watch");
    assert_eq!(take(&mut watch, 1).await[0].revision, 4);
}

#[tokio::test]
async fn a_damaged_row_can_be_replaced_and_deleted_by_who_knows_of_it() {
    for op in [Op::Put("new".into()), Op::Delete] {
        let directory = TempDir::new().expect("a temporary directory");
        let store = with_a_damaged_row(&directory).await;
        let mut watch = store.watch("", 4).await.expect("watch");
        for expect in [Expect::Absent, Expect::Revision(2)] {
            let refused = store.commit(commit("/bad", expect, op.clone())).await;
            assert!(matches!(refused, Err(Error::Damaged { revision: 3, .. })), "{refused:?}");
        }
        let done = store.commit(commit("/bad", Expect::Revision(3), op.clone())).await.expect("repaired");
        assert_eq!(done, Committed { revision: 5, previous: None });
        let left = store.get("/bad", None).await.expect("readable again");
        assert_eq!(left.map(|entry| entry.value), if let Op::Put(value) = op { Some(value) } else { None });
        assert_eq!(take(&mut watch, 1).await[0].revision, 5);
        let mut replayed = store.watch("", 4).await.expect("watch");
        assert_eq!(take(&mut replayed, 1).await[0].previous, None);
        assert!(store.range("/", RangeOptions::default()).await.expect("range").damaged.is_empty());
    }
}

/// Leaves the files as a killed process does: with everything in the log.
async fn killed_after(directory: &TempDir, puts: usize) {
    let copy = TempDir::new().expect("a temporary directory");
    let store = open(&copy);
    for number in 0..puts {
        put(&store, &format!("/{number}"), format!("VALUE-{number:04}")).await;
    }
    for file in ["state.db", "state.db-wal", "acknowledged"] {
        std::fs::copy(copy.path().join(file), directory.path().join(file)).expect("copy");
    }
}

#[tokio::test]
async fn a_flipped_bit_in_the_log_that_loses_acknowledged_writes_is_not_passed_over() {
    let directory = TempDir::new().expect("a temporary directory");
    killed_after(&directory, 300).await;
    assert_eq!(open(&directory).current_revision(), 301);

    let directory = TempDir::new().expect("a temporary directory");
    killed_after(&directory, 300).await;
    flip(&directory, "state.db-wal", b"VALUE-0150");
    let log = std::fs::read(directory.path().join("state.db-wal")).expect("read");
    for _ in 0..2 {
        let error = SqliteStore::open(directory.path()).err().expect("refused");
        assert!(matches!(&error, Error::Lost { acknowledged: 301, found: 151, .. }), "{error}");
    }
    assert_eq!(std::fs::read(directory.path().join("state.db-wal")).expect("read"), log, "refusing changes nothing");

    // A store whose loss is accepted goes on with what is left, at revisions never seen before.
    let store = SqliteStore::open_with(directory.path(), OnLoss::Accept).expect("open");
    assert_eq!(store.range("", RangeOptions::default()).await.expect("range").entries.len(), 150);
    assert!(matches!(store.watch("", 200).await, Err(Error::Compacted { .. })));
    let done = store.commit(commit("/new", Expect::Absent, Op::Put("v".into()))).await.expect("commit");
    assert_eq!(done.revision, 301 + database::REVISION_GAP + 1);
    drop(store);
    assert_eq!(open(&directory).current_revision(), done.revision);
}

#[tokio::test]
async fn a_store_of_an_older_version_has_no_mark_and_opens() {
    let directory = TempDir::new().expect("a temporary directory");
    let store = open(&directory);
    put(&store, "a", "1").await;
    drop(store);
    std::fs::remove_file(directory.path().join("acknowledged")).expect("remove");
    assert_eq!(open(&directory).current_revision(), 2);
    std::fs::remove_file(database_of(&directory)).expect("remove");
    assert!(matches!(SqliteStore::open(directory.path()).err(), Some(Error::Lost { acknowledged: 2, found: 1, .. })));
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
