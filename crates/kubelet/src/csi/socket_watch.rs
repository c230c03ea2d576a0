//! The sockets in the registration directory, and a wait for their change.

use crate::directory_watch::DirectoryWatch;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::{DirEntryExt, FileTypeExt};
use std::path::{Path, PathBuf};

pub struct SocketWatch {
    directory: PathBuf,
    changes: DirectoryWatch,
}

impl SocketWatch {
    pub fn new(directory: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        Ok(Self { directory: directory.to_owned(), changes: DirectoryWatch::of_entries(directory)? })
    }

    /// The sockets that are there, each with its inode: a driver that starts anew has a new one
    /// under the old name. Names that begin with a dot are being made.
    pub fn list(&self) -> BTreeMap<PathBuf, u64> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let sockets = entries.filter(|entry| {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_socket())
        });
        sockets.map(|entry| (entry.path(), entry.ino())).collect()
    }

    /// Returns when something has come or gone since the last call.
    pub async fn changed(&self) {
        self.changes.changed().await;
    }
}
