//! The sockets in the registration directory, and a wait for their change.

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::{DirEntryExt, FileTypeExt};
use std::path::{Path, PathBuf};
use tokio::io::unix::AsyncFd;

struct Events(Inotify);

impl AsRawFd for Events {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

pub struct SocketWatch {
    directory: PathBuf,
    events: AsyncFd<Events>,
}

impl SocketWatch {
    pub fn new(directory: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(directory)?;
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        let changes = AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_MOVED_FROM;
        inotify.add_watch(directory, changes | AddWatchFlags::IN_ONLYDIR)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; these events own their descriptor as long as they live"
        )]
        let events = AsyncFd::new(Events(inotify))?;
        Ok(Self { directory: directory.to_owned(), events })
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
        match self.events.readable().await {
            Ok(mut ready) => {
                while ready.get_inner().0.read_events().is_ok_and(|events| !events.is_empty()) {}
                ready.clear_ready();
            }
            Err(error) => {
                tracing::error!(%error, "cannot watch for CSI drivers");
                std::future::pending().await
            }
        }
    }
}
