//! The revision of the last acknowledged change, in a file beside the database. The writer
//! raises it after each fsync and before it answers anybody; opening compares it with the
//! database.
//!
//! SQLite's recovery ends at the first frame of the log that does not match its checksum, and
//! takes what stands before it for all there ever was. A flipped bit in the log therefore loses
//! every later change without a trace in the database itself. The mark is that trace:
//!
//! ```text
//! log    | 2 | 3 | 4 | X | 6 | 7 |     recovery ends before X, at revision 4
//! mark     7                           so 5 to 7 are lost, and the store is not opened
//! ```
//!
//! The file is written without an fsync, so it costs a batch one system call. After a power cut
//! it may be older than the database and then proves less, but it is never newer: its write
//! starts after the log is durable. Two slots are written in turn, each with a checksum, so that
//! damage to the file itself costs one batch of knowledge.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::disk;
use crate::{Error, Revision};

/// The slots lie in sectors of their own, because a torn write damages a whole sector.
const SLOT_BYTES: u64 = 512;
const RECORD_BYTES: usize = 12;

pub(super) fn path(directory: &Path) -> PathBuf {
    directory.join("acknowledged")
}

pub(super) struct AcknowledgedMark {
    file: File,
    path: PathBuf,
    /// The highest revision known to have been acknowledged; 0 in a new file.
    revision: Revision,
    slot: u64,
}

impl AcknowledgedMark {
    /// Opens the file, making it where a new store or an older version of ferry has none.
    pub(super) fn open(directory: &Path) -> Result<AcknowledgedMark, Error> {
        let path = path(directory);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(disk::io("opening", &path))?;
        let mut bytes = [0; 2 * SLOT_BYTES as usize];
        let length = file.metadata().map_err(disk::io("reading the size of", &path))?.len();
        if length < bytes.len() as u64 {
            // All of it is written once, so that no later write needs room on the disk.
            file.write_all_at(&bytes[length as usize..], length)
                .and_then(|()| file.sync_all())
                .and_then(|()| File::open(directory)?.sync_all())
                .map_err(disk::io("writing", &path))?;
        }
        file.read_exact_at(&mut bytes, 0).map_err(disk::io("reading", &path))?;
        let slots = [decode(&bytes), decode(&bytes[SLOT_BYTES as usize..])];
        if length > 0 && slots == [None, None] {
            tracing::warn!(path = %path.display(), "the mark of acknowledged writes is damaged; a loss would not be seen");
        }
        // The newer slot is kept and the other one written next.
        let slot = u64::from(slots[0] >= slots[1]);
        let revision = slots.into_iter().flatten().max().unwrap_or(0);
        Ok(AcknowledgedMark { file, path, revision, slot })
    }

    pub(super) fn revision(&self) -> Revision {
        self.revision
    }

    /// Fails if the database ends before what was acknowledged.
    pub(super) fn check(&self, database: &Path, found: Revision) -> Result<(), Error> {
        if found >= self.revision {
            return Ok(());
        }
        Err(Error::Lost { path: database.display().to_string(), acknowledged: self.revision, found })
    }

    /// Notes that everything up to `revision` is durable and may be acknowledged.
    pub(super) fn raise(&mut self, revision: Revision) -> std::io::Result<()> {
        if revision == self.revision {
            return Ok(());
        }
        self.file.write_all_at(&encode(revision), self.slot * SLOT_BYTES)?;
        self.slot = 1 - self.slot;
        self.revision = revision;
        Ok(())
    }

    /// Makes the mark outlive a power cut, for moments when time is no matter.
    pub(super) fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(disk::io("syncing", &self.path))
    }
}

fn encode(revision: Revision) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    let (number, checksum) = record.split_at_mut(8);
    number.copy_from_slice(&revision.to_le_bytes());
    checksum.copy_from_slice(&crc32fast::hash(number).to_le_bytes());
    record
}

/// `None` for a slot that is damaged or was never written: the checksum of zeros is not zero.
fn decode(slot: &[u8]) -> Option<Revision> {
    let (number, rest) = slot.split_first_chunk::<8>()?;
    let checksum = rest.first_chunk::<4>()?;
    (crc32fast::hash(number) == u32::from_le_bytes(*checksum)).then(|| Revision::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_survives_the_damage_of_either_slot() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut mark = AcknowledgedMark::open(directory.path()).expect("open");
        assert_eq!(mark.revision(), 0);
        for revision in 2..=9 {
            mark.raise(revision).expect("raise");
        }
        assert_eq!(AcknowledgedMark::open(directory.path()).expect("open").revision(), 9);
        for (slot, left) in [(0, [8, 9]), (1, [9, 8])] {
            let sound = std::fs::read(path(directory.path())).expect("read");
            let mut damaged = sound.clone();
            damaged[slot * SLOT_BYTES as usize] ^= 4;
            std::fs::write(path(directory.path()), damaged).expect("write");
            let found = AcknowledgedMark::open(directory.path()).expect("open").revision();
            assert!(left.contains(&found), "{found}");
            std::fs::write(path(directory.path()), sound).expect("write");
        }
    }

    #[test]
    fn a_store_that_ends_before_the_mark_has_lost_something() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut mark = AcknowledgedMark::open(directory.path()).expect("open");
        mark.raise(301).expect("raise");
        assert!(mark.check(Path::new("state.db"), 301).is_ok());
        let error = mark.check(Path::new("state.db"), 151).expect_err("lost");
        assert!(matches!(error, Error::Lost { acknowledged: 301, found: 151, .. }), "{error}");
    }
}
