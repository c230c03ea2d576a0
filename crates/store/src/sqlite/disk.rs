//! The disk below the database: naming its failures in words that lead to their cause, finding
//! out whether it takes writes again, and forgetting what the kernel remembers of it. Called by
//! the writer when a batch failed, and by whatever works on files around the database.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use rusqlite::{ErrorCode, ffi};

use crate::Error;

/// About a small batch of writes: a disk that has no room for it has none for us.
const PROBE_BYTES: usize = 64 << 10;

/// Writes to the disk and removes it again, as a batch would: room, quota and sync.
pub(super) fn probe(directory: &Path) -> std::io::Result<()> {
    let path = directory.join("probe");
    let write = || {
        let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&path)?;
        file.write_all(&[0; PROBE_BYTES])?;
        file.sync_data()
    };
    let written = write();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => written.and(Err(error)),
        _ => written,
    }
}

/// Drops the kernel's copies of the files' pages, so that the next read shows the disk.
///
/// After an fsync has failed, Linux marks the pages clean although they were never written: a
/// recovery that reads them would build on changes that a power cut takes away. Nobody may have
/// the files open meanwhile, because closing them ends SQLite's locks on them.
pub(super) fn forget_cached_pages(files: &[&Path]) -> Result<(), Error> {
    for path in files {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(io("opening", path)(error)),
        };
        posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)
            .map_err(|errno| io("dropping the cached pages of", path)(errno.into()))?;
    }
    Ok(())
}

/// The cause of a failed batch. SQLite keeps the error number to itself and reports an exceeded
/// quota as any other failure, so a fresh write is asked first.
pub(super) fn describe_failure(directory: &Path, source: &rusqlite::Error) -> String {
    match (probe(directory), source.sqlite_error_code()) {
        (Err(error), _) => describe_io(&error),
        (Ok(()), Some(ErrorCode::DiskFull)) => "disk is full".to_string(),
        (Ok(()), Some(ErrorCode::SystemIoFailure)) => {
            let extended = source.sqlite_error().map_or(0, |error| error.extended_code);
            format!("input/output error while {}", describe_operation(extended))
        }
        (Ok(()), _) => source.to_string(),
    }
}

/// An error of the operating system in the words of people.
pub(super) fn describe_io(error: &std::io::Error) -> String {
    match (error.kind(), error.raw_os_error().map(Errno::from_raw)) {
        (ErrorKind::StorageFull, _) => "disk is full".to_string(),
        (ErrorKind::QuotaExceeded, _) => "disk quota exceeded".to_string(),
        (ErrorKind::ReadOnlyFilesystem, _) => "file system is read-only".to_string(),
        (_, Some(Errno::EIO)) => "input/output error".to_string(),
        _ => error.to_string(),
    }
}

fn describe_operation(extended_code: i32) -> &'static str {
    match extended_code {
        ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC => "syncing to the disk",
        ffi::SQLITE_IOERR_WRITE => "writing to the disk",
        ffi::SQLITE_IOERR_READ | ffi::SQLITE_IOERR_SHORT_READ => "reading from the disk",
        ffi::SQLITE_IOERR_TRUNCATE => "truncating a file",
        _ => "working on the database's files",
    }
}

pub(super) fn io(operation: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.display().to_string();
    move |source| Error::Io { operation, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_named_by_their_cause() {
        let text = |errno: Errno| describe_io(&errno.into());
        assert_eq!(text(Errno::ENOSPC), "disk is full");
        assert_eq!(text(Errno::EDQUOT), "disk quota exceeded");
        assert_eq!(text(Errno::EIO), "input/output error");
        assert_eq!(text(Errno::EROFS), "file system is read-only");
        let directory = tempfile::tempdir().expect("a temporary directory");
        let failed = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        let told = |code| describe_failure(directory.path(), &failed(code));
        assert_eq!(told(ffi::SQLITE_FULL), "disk is full");
        assert_eq!(told(ffi::SQLITE_IOERR_FSYNC), "input/output error while syncing to the disk");
        assert!(!directory.path().join("probe").exists());
        let gone = directory.path().join("gone");
        assert!(describe_failure(&gone, &failed(ffi::SQLITE_IOERR_WRITE)).contains("No such file"));
    }
}
