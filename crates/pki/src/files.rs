//! How key material reaches the disk: whole or not at all, private keys readable by
//! their owner only, and (for what must never change) only if nothing is there yet.

use crate::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// 0600: private keys.
    Private,
    /// 0644: certificates and public keys.
    Public,
}

impl Mode {
    fn bits(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Public => 0o644,
        }
    }
}

/// The file's text, or `None` if there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { operation: "read", path: path.to_owned(), source }),
    }
}

/// Replaces the file: a reader sees the old text or the new, never a part of it.
pub fn replace(path: &Path, text: &str, mode: Mode) -> Result<(), Error> {
    let temporary = write_beside(path, text, mode)?;
    fs::rename(&temporary, path).map_err(|source| Error::File {
        operation: "replace",
        path: path.to_owned(),
        source,
    })?;
    sync_directory(path)
}

/// Writes the file unless one is there, and gives the text that is there afterwards.
/// Of two processes that start at once, both end up with the first one's text.
pub fn create_once(path: &Path, text: &str, mode: Mode) -> Result<String, Error> {
    let temporary = write_beside(path, text, mode)?;
    // A hard link, unlike a rename, fails when the name is taken.
    let linked = fs::hard_link(&temporary, path);
    let removed = fs::remove_file(&temporary);
    match linked {
        Ok(()) => {
            removed.map_err(|source| Error::File { operation: "remove", path: temporary, source })?;
            sync_directory(path)?;
            Ok(text.to_owned())
        }
        Err(source) if source.kind() == ErrorKind::AlreadyExists => {
            read(path)?.ok_or_else(|| Error::File { operation: "read", path: path.to_owned(), source })
        }
        Err(source) => Err(Error::File { operation: "create", path: path.to_owned(), source }),
    }
}

/// The directory and its parents, closed to others.
pub fn ensure_directory(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| Error::File {
        operation: "create directory",
        path: path.to_owned(),
        source,
    })
}

fn write_beside(path: &Path, text: &str, mode: Mode) -> Result<PathBuf, Error> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    // A leftover of a process that died with this id must not lend its mode to the new file.
    let _ = fs::remove_file(&temporary);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode.bits())
        .open(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
    match written {
        Ok(()) => Ok(temporary),
        Err(source) => Err(Error::File { operation: "write", path: temporary, source }),
    }
}

/// A rename is durable only when the directory that holds the name is.
fn sync_directory(path: &Path) -> Result<(), Error> {
    let directory = path.parent().unwrap_or(Path::new("."));
    File::open(directory).and_then(|opened| opened.sync_all()).map_err(|source| Error::File {
        operation: "sync",
        path: directory.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_created_once_and_replaced_whole() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("x.key");
        assert_eq!(read(&path).expect("readable"), None);
        assert_eq!(create_once(&path, "first", Mode::Private).expect("created"), "first");
        assert_eq!(create_once(&path, "second", Mode::Private).expect("kept"), "first");
        let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        replace(&path, "third", Mode::Private).expect("replaced");
        assert_eq!(read(&path).expect("readable").as_deref(), Some("third"));
        assert_eq!(fs::read_dir(dir.path()).expect("listed").count(), 1, "no temporary file stays behind");
    }
}
