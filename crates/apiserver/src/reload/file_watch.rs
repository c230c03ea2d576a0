//! Says when files change: certificates and configurations that are replaced while the
//! server runs. The directories are watched, not the files, because files are replaced by
//! renaming another over them, and the mounts of ConfigMaps by turning a link.

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::unix::AsyncFd;

/// The files are looked at this often even if nothing was heard: some filesystems tell
/// nobody (upstream's interval).
const LOOK_EVERY: Duration = Duration::from_secs(60);

pub(super) struct FileWatch {
    files: Vec<(PathBuf, Option<String>)>,
    events: AsyncFd<Events>,
}

struct Events(Inotify);

impl AsRawFd for Events {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl FileWatch {
    /// What the files hold now is what changes are told against.
    pub(super) fn new(files: &[PathBuf]) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        let directories: BTreeSet<&Path> = files
            .iter()
            .filter_map(|file| file.parent())
            .filter(|directory| !directory.as_os_str().is_empty())
            .collect();
        // Whole files only: one that is being written says nothing yet.
        let flags = AddWatchFlags::IN_CLOSE_WRITE | AddWatchFlags::IN_MOVED_TO | AddWatchFlags::IN_CREATE;
        for directory in directories {
            inotify.add_watch(directory, flags)?;
        }
        let files = files.iter().map(|file| (file.clone(), std::fs::read_to_string(file).ok())).collect();
        #[expect(
            deprecated,
            reason = "its successor is unsafe; these events own their descriptor as long as they live"
        )]
        let events = AsyncFd::new(Events(inotify))?;
        Ok(Self { files, events })
    }

    /// Waits until files hold something else, and gives which and what. A file that is gone
    /// says nothing until it is back.
    pub(super) async fn changed(&mut self) -> Vec<(usize, String)> {
        loop {
            let changed = self.look();
            if !changed.is_empty() {
                return changed;
            }
            // Both ends of the wait, and an error of it, lead to another look.
            if let Ok(Ok(mut ready)) = tokio::time::timeout(LOOK_EVERY, self.events.readable()).await {
                while ready.get_inner().0.read_events().is_ok_and(|events| !events.is_empty()) {}
                ready.clear_ready();
            }
        }
    }

    fn look(&mut self) -> Vec<(usize, String)> {
        let mut changed = Vec::new();
        for (index, (file, known)) in self.files.iter_mut().enumerate() {
            if let Ok(text) = std::fs::read_to_string(&*file)
                && known.as_ref() != Some(&text)
            {
                *known = Some(text.clone());
                changed.push((index, text));
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn next(watch: &mut FileWatch) -> Vec<(usize, String)> {
        tokio::time::timeout(Duration::from_secs(20), watch.changed()).await.expect("heard in time")
    }

    #[tokio::test]
    async fn files_that_are_written_or_replaced_are_told() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("a"), "1").expect("written");
        let mut watch = FileWatch::new(&[file("a"), file("b")]).expect("watched");
        std::fs::write(file("a"), "2").expect("written");
        assert_eq!(next(&mut watch).await, [(0, "2".to_owned())]);
        std::fs::write(file("other"), "3").expect("written");
        std::fs::rename(file("other"), file("b")).expect("renamed");
        assert_eq!(next(&mut watch).await, [(1, "3".to_owned())]);

        std::fs::create_dir(file("v1")).expect("made");
        std::fs::write(file("v1").join("c"), "old").expect("written");
        std::os::unix::fs::symlink("v1", file("..data")).expect("linked");
        std::os::unix::fs::symlink("..data/c", file("c")).expect("linked");
        let mut watch = FileWatch::new(&[file("c")]).expect("watched");
        std::fs::create_dir(file("v2")).expect("made");
        std::fs::write(file("v2").join("c"), "new").expect("written");
        std::os::unix::fs::symlink("v2", file("..tmp")).expect("linked");
        std::fs::rename(file("..tmp"), file("..data")).expect("turned");
        assert_eq!(next(&mut watch).await, [(0, "new".to_owned())]);
    }
}
