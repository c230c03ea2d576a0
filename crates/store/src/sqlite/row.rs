//! One row of `history`: its columns, its checksum, and what it becomes outside. Used by the
//! reading functions and by the writer, so that both agree on what a sound row is.

use std::sync::Arc;

use bytes::Bytes;
use rusqlite::{CachedStatement, Connection};

use crate::{DamagedEntry, Entry, Error, Revision};

/// The columns in the order that [`Row::read`] expects them, of the table alias `h`.
pub(super) const COLUMNS: &str =
    "h.revision, h.key, h.deleted, h.create_revision, h.version, h.previous, h.checksum, h.value";

#[derive(Clone, Debug)]
pub(super) struct Row {
    pub key: Arc<str>,
    pub revision: Revision,
    pub deleted: bool,
    pub create_revision: Revision,
    pub version: u64,
    pub previous: Revision,
    pub value: Bytes,
}

/// Adds rows; prepared once for all of a batch.
pub(super) struct InsertRow<'c>(CachedStatement<'c>);

impl<'c> InsertRow<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> Result<Self, rusqlite::Error> {
        let text = "INSERT INTO history (revision, key, deleted, create_revision, version, previous, checksum, value)
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        connection.prepare_cached(text).map(Self)
    }

    pub(super) fn insert(&mut self, row: &Row) -> Result<(), rusqlite::Error> {
        let columns = (
            row.revision as i64,
            row.key.as_bytes(),
            i64::from(row.deleted),
            row.create_revision as i64,
            row.version as i64,
            row.previous as i64,
            row.checksum(),
            &row.value[..],
        );
        self.0.execute(columns).map(drop)
    }
}

/// A row came back different from how it was written. Its revision is the key of the table's
/// tree and its key was found through the index, so both can be relied on where the query
/// looked the row up by them.
#[derive(Debug)]
pub(super) struct DamagedRow {
    pub key: Arc<str>,
    pub revision: Revision,
}

impl From<DamagedRow> for Error {
    fn from(DamagedRow { key, revision }: DamagedRow) -> Error {
        Error::Damaged { key: key.to_string(), revision }
    }
}

impl From<DamagedRow> for DamagedEntry {
    fn from(DamagedRow { key, revision }: DamagedRow) -> DamagedEntry {
        DamagedEntry { key, revision }
    }
}

impl Row {
    /// The outer error is SQLite's; the inner one says that the row is not what was written.
    pub(super) fn read(row: &rusqlite::Row<'_>) -> Result<Result<Row, DamagedRow>, rusqlite::Error> {
        let revision: i64 = row.get(0)?;
        // A flipped bit may change the type of a column as well as its content, so a column of
        // the wrong type is damage and not an error of ours.
        Ok(Row::decode(row, revision).ok_or_else(|| {
            let key = row.get_ref(1).ok().and_then(|key| key.as_blob().ok()).unwrap_or_default();
            DamagedRow { key: String::from_utf8_lossy(key).into(), revision: revision as Revision }
        }))
    }

    fn decode(row: &rusqlite::Row<'_>, revision: i64) -> Option<Row> {
        let key = std::str::from_utf8(row.get_ref(1).ok()?.as_blob().ok()?).ok()?;
        let decoded = Row {
            key: Arc::from(key),
            revision: revision as Revision,
            deleted: row.get::<_, i64>(2).ok()? != 0,
            create_revision: row.get::<_, i64>(3).ok()? as Revision,
            version: row.get::<_, i64>(4).ok()? as u64,
            previous: row.get::<_, i64>(5).ok()? as Revision,
            value: Bytes::copy_from_slice(row.get_ref(7).ok()?.as_blob().ok()?),
        };
        (decoded.checksum() == row.get::<_, i64>(6).ok()?).then_some(decoded)
    }

    pub(super) fn checksum(&self) -> i64 {
        let mut hasher = crc32fast::Hasher::new();
        for number in [self.revision, u64::from(self.deleted), self.create_revision, self.version, self.previous] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(&(self.key.len() as u64).to_le_bytes());
        hasher.update(self.key.as_bytes());
        hasher.update(&self.value);
        i64::from(hasher.finalize())
    }

    /// `None` if the row says that the key was deleted.
    pub(super) fn into_entry(self) -> Option<Entry> {
        (!self.deleted).then_some(Entry {
            key: self.key,
            value: self.value,
            create_revision: self.create_revision,
            revision: self.revision,
            version: self.version,
        })
    }
}
