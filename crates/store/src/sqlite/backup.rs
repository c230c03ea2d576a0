//! Copying a store while it is in use, proving a copy, and making a store of one again. Called
//! by `ferry backup` and `ferry restore`, which put the copy together with keys and certificates.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::acknowledged::{self, AcknowledgedMark};
use super::database::{self, OnLoss, failed, read_state};
use super::disk;
use super::row::{COLUMNS, Row};
use crate::{DamagedEntry, Error, Revision};

/// The contents of a copy of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The one revision that the copy shows.
    pub revision: Revision,
    /// Rows of history, live or not.
    pub rows: u64,
    /// Rows that were damaged before they were copied.
    pub damaged: Vec<DamagedEntry>,
}

/// Copies the store in `directory` into the file `target`, as of one revision, and reads the copy
/// back. The process that has the store open goes on writing meanwhile; it need not run. The
/// target must not be there or be empty.
///
/// Fails with [`Error::Lost`] for a store that has lost acknowledged changes, because a backup
/// of it would hide that.
pub fn copy(directory: &Path, target: &Path) -> Result<Contents, Error> {
    let path = database::path(directory);
    if !path.is_file() {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(Error::Io { operation: "opening", path: path.display().to_string(), source });
    }
    // The mark comes first: whatever it says was in the database before we look there.
    let mark = AcknowledgedMark::open(directory)?;
    let source = database::open_reader(&path)?;
    // The log is its owner's to write back, even if that one ends before we do.
    database::leave_log_alone(&source);
    let fail = failed(&source, "copying the store");
    mark.check(&path, read_state(&source).map_err(&fail)?.latest)?;
    create_private(target)?;
    source.pragma_update(None, "query_only", false).map_err(&fail)?;
    let target_text = target.to_str().ok_or_else(|| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, "the path is not UTF-8");
        disk::io("copying the store to", target)(source)
    })?;
    source.execute("VACUUM INTO ?1", [target_text]).map_err(&fail)?;
    File::open(target).and_then(|file| file.sync_all()).map_err(disk::io("syncing", target))?;
    verify(target)
}

/// Reads a copy whole: its structure, and every row against its checksum.
pub fn verify(file: &Path) -> Result<Contents, Error> {
    let corrupt = |detail: String| Error::Corrupt { path: file.display().to_string(), detail };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)
        .map_err(|source| Error::Backend { operation: "opening a copy of the store", source: Box::new(source) })?;
    let fail = failed(&connection, "verifying a copy of the store");
    database::check_layout(&connection, file)?;
    let verdict: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0)).map_err(&fail)?;
    if verdict != "ok" {
        return Err(corrupt(verdict));
    }
    let state = read_state(&connection).map_err(&fail)?;
    let mut contents = Contents { revision: state.latest, rows: 0, damaged: Vec::new() };
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM history h")).map_err(&fail)?;
    let mut rows = statement.query([]).map_err(&fail)?;
    while let Some(row) = rows.next().map_err(&fail)? {
        contents.rows += 1;
        if let Err(damaged) = Row::read(row).map_err(&fail)? {
            contents.damaged.push(damaged.into());
        }
    }
    Ok(contents)
}

/// Makes a store of a directory that has a copy as its `state.db`, and returns its new revision.
///
/// That lies far above the copy's own and above `acknowledged`: clients know revisions from
/// after the copy was made, and none of them may come again with another meaning. Everything
/// before is compacted, so that their watches end and they list anew (as etcd's
/// `--bump-revision --mark-compacted`).
pub fn adopt(directory: &Path, acknowledged: Revision) -> Result<Revision, Error> {
    let mut opened = database::open(directory, OnLoss::Refuse)?;
    let revision = opened.state.latest.max(acknowledged) + database::REVISION_GAP;
    database::jump(&mut opened.writer, revision).map_err(failed(&opened.writer, "raising the revision"))?;
    let mark = acknowledged::path(directory);
    opened.mark.raise(revision).map_err(disk::io("writing", &mark))?;
    opened.mark.sync()?;
    Ok(revision)
}

/// The highest revision that the store in a directory is known to have acknowledged, whatever
/// its state; 0 if there is none. Fails with [`Error::Locked`] while it is in use.
pub fn acknowledged(directory: &Path) -> Result<Revision, Error> {
    if !directory.is_dir() {
        return Ok(0);
    }
    let _lock = database::lock(directory)?;
    Ok(AcknowledgedMark::open(directory)?.revision())
}

/// An empty file for nobody else's eyes, which SQLite then fills.
fn create_private(path: &Path) -> Result<(), Error> {
    let made = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path);
    made.map(drop).map_err(disk::io("making", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{get, put};
    use crate::sqlite::SqliteStore;
    use crate::{RangeOptions, Store};
    use std::sync::Arc;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_copy_of_a_store_in_use_shows_one_revision_and_becomes_a_store() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let target = tempfile::tempdir().expect("a temporary directory");
        let store = Arc::new(SqliteStore::open(&directory.path().join("store")).expect("open"));
        for number in 0..50 {
            put(&*store, &format!("/{number}"), "before").await;
        }
        let writing = {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for number in 0..200 {
                    put(&*store, &format!("/{}", number % 50), format!("{number}")).await;
                }
            })
        };
        let (from, to) = (directory.path().join("store"), target.path().join("state.db"));
        let contents = tokio::task::spawn_blocking(move || copy(&from, &to)).await.expect("task").expect("copy");
        writing.await.expect("writes");
        assert!((51..=251).contains(&contents.revision) && contents.damaged.is_empty(), "{contents:?}");
        assert_eq!(contents.rows, contents.revision - 1);
        let expected = store.range("", RangeOptions { revision: Some(contents.revision), ..Default::default() }).await;

        let adopted = adopt(target.path(), store.current_revision()).expect("adopt");
        assert_eq!(adopted, 251 + database::REVISION_GAP);
        let restored = SqliteStore::open(target.path()).expect("open");
        let entries = restored.range("", RangeOptions::default()).await.expect("range").entries;
        assert_eq!(entries, expected.expect("range").entries);
        assert!(matches!(restored.watch("", 251).await, Err(Error::Compacted { .. })));
        put(&restored, "/new", "after").await;
        assert_eq!(get(&restored, "/new").await.expect("there").revision, adopted + 1);
        assert_eq!(acknowledged(&directory.path().join("none")).expect("none"), 0);
        assert!(matches!(acknowledged(target.path()), Err(Error::Locked { .. })));
    }

    #[tokio::test]
    async fn a_damaged_copy_is_found() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = SqliteStore::open(directory.path()).expect("open");
        put(&store, "/a", "NEEDLE").await;
        let file = directory.path().join("copy");
        copy(directory.path(), &file).expect("copy");
        let mut content = std::fs::read(&file).expect("read");
        let place = content.windows(6).position(|window| window == b"NEEDLE").expect("the value");
        content[place] ^= 1;
        std::fs::write(&file, &content).expect("write");
        let damaged = verify(&file).expect("its structure is sound").damaged;
        assert_eq!(damaged, [DamagedEntry { key: "/a".into(), revision: 2 }]);
        std::fs::write(&file, &content[..content.len() / 2]).expect("write");
        assert!(verify(&file).is_err());
    }
}
