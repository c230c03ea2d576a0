//! A wait for changes in one directory, by the kernel's inotify. Sockets of plugins and manifests
//! of static pods are found with it; nothing polls.

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use tokio::io::unix::AsyncFd;

struct Events(Inotify);

impl AsRawFd for Events {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

pub struct DirectoryWatch {
    events: AsyncFd<Events>,
    /// Where it is set, a file that was created counts when its writer closes it, and a link at once.
    links_in: Option<PathBuf>,
}

impl DirectoryWatch {
    /// Reports entries that come and go.
    pub fn of_entries(directory: &Path) -> io::Result<Self> {
        let come_and_go = AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_MOVED_FROM;
        Self::new(directory, come_and_go)
    }

    /// Reports files that come, go and have been written.
    pub fn of_files(directory: &Path) -> io::Result<Self> {
        let changes = AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_ATTRIB
            | AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_MOVED_FROM;
        Ok(Self { links_in: Some(directory.to_owned()), ..Self::new(directory, changes)? })
    }

    fn new(directory: &Path, changes: AddWatchFlags) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        inotify.add_watch(directory, changes | AddWatchFlags::IN_ONLYDIR)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; these events own their descriptor as long as they live"
        )]
        let events = AsyncFd::new(Events(inotify))?;
        Ok(Self { events, links_in: None })
    }

    /// Returns when something has changed since the last call.
    pub async fn changed(&self) {
        loop {
            let mut ready = match self.events.readable().await {
                Ok(ready) => ready,
                Err(error) => {
                    tracing::error!(%error, "cannot watch a directory");
                    return std::future::pending().await;
                }
            };
            let mut has_changed = false;
            while let Ok(events) = ready.get_inner().0.read_events()
                && !events.is_empty()
            {
                has_changed |= events.iter().any(|event| self.counts(event));
            }
            ready.clear_ready();
            if has_changed {
                return;
            }
        }
    }

    fn counts(&self, event: &InotifyEvent) -> bool {
        let (Some(directory), true) = (&self.links_in, event.mask.contains(AddWatchFlags::IN_CREATE)) else {
            return true;
        };
        let path = event.name.as_ref().map(|name| directory.join(name));
        path.is_some_and(|path| path.is_symlink())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    #[tokio::test]
    async fn a_file_counts_when_it_is_written_and_a_link_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let watch = DirectoryWatch::of_files(directory.path()).expect("a watch");
        let path = directory.path().join("a");
        let mut file = std::fs::File::create(&path).expect("created");
        file.write_all(b"half").expect("written");
        let waited = tokio::time::timeout(Duration::from_millis(50), watch.changed()).await;
        assert!(waited.is_err(), "the writer is not done");
        drop(file);
        watch.changed().await;
        std::os::unix::fs::symlink(&path, directory.path().join("b")).expect("linked");
        watch.changed().await;
        std::fs::remove_file(&path).expect("removed");
        watch.changed().await;
    }
}
