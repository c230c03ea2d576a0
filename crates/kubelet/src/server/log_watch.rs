//! Waits for growth and rotation of the logs that are followed, by one inotify instance for all of
//! them: a user may have few instances, and as many followers as he likes. Used by `logs.rs`.

use crate::volume::beneath::descriptor_path;
use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Arc, Weak};
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

/// One log that is followed.
pub(super) struct FollowedLog {
    shared: Arc<Shared>,
    watch: WatchDescriptor,
    notify: Arc<Notify>,
}

impl FollowedLog {
    /// Returns when the file has grown or has another name, now or since the last call.
    pub(super) async fn changed(&self) {
        self.notify.notified().await;
    }
}

impl Drop for FollowedLog {
    fn drop(&mut self) {
        let mut followers = self.shared.followers.lock();
        let Some(all) = followers.get_mut(&self.watch) else { return };
        all.retain(|own| !Arc::ptr_eq(own, &self.notify));
        if all.is_empty() {
            followers.remove(&self.watch);
            let _ = self.shared.inotify.rm_watch(self.watch);
        }
    }
}

struct Shared {
    inotify: Inotify,
    followers: Mutex<HashMap<WatchDescriptor, Vec<Arc<Notify>>>>,
    _ends_task: DropGuard,
}

/// All logs that are followed now.
#[derive(Default)]
pub struct LogWatch(Mutex<Weak<Shared>>);

impl LogWatch {
    /// Follows an open file, whatever its name.
    pub(super) fn follow(&self, file: &impl AsFd) -> io::Result<FollowedLog> {
        let shared = self.shared()?;
        let changes = AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_MOVE_SELF | AddWatchFlags::IN_ATTRIB;
        // The lock is held, so that a watch that ends does not take this one, which is the same, with it.
        let mut followers = shared.followers.lock();
        let watch = shared.inotify.add_watch(&descriptor_path(file.as_fd()), changes)?;
        let notify = Arc::<Notify>::default();
        followers.entry(watch).or_default().push(notify.clone());
        drop(followers);
        Ok(FollowedLog { shared, watch, notify })
    }

    /// The instance lives as long as some log is followed.
    fn shared(&self) -> io::Result<Arc<Shared>> {
        let mut known = self.0.lock();
        if let Some(shared) = known.upgrade() {
            return Ok(shared);
        }
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; these events own their descriptor as long as they live"
        )]
        let events = AsyncFd::new(Events(inotify.as_fd().try_clone_to_owned()?))?;
        let ended = CancellationToken::new();
        let ends_task = ended.clone().drop_guard();
        let shared = Arc::new(Shared { inotify, followers: Mutex::default(), _ends_task: ends_task });
        let known_followers = Arc::downgrade(&shared);
        tokio::spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = pass_on(known_followers, events) => {}
            }
        });
        *known = Arc::downgrade(&shared);
        Ok(shared)
    }
}

/// The instance's descriptor once more, which the runtime waits for.
struct Events(std::os::fd::OwnedFd);

impl AsRawFd for Events {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

async fn pass_on(shared: Weak<Shared>, events: AsyncFd<Events>) {
    while let Ok(mut ready) = events.readable().await {
        let Some(shared) = shared.upgrade() else { return };
        loop {
            match shared.inotify.read_events() {
                Ok(batch) => {
                    let followers = shared.followers.lock();
                    for event in batch {
                        followers.get(&event.wd).into_iter().flatten().for_each(|own| own.notify_one());
                    }
                }
                Err(Errno::EINTR) => {}
                Err(_) => break,
            }
        }
        ready.clear_ready();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    async fn learn(log: &FollowedLog, what: &str) {
        tokio::time::timeout(Duration::from_secs(10), log.changed()).await.expect(what);
    }

    #[tokio::test]
    async fn every_follower_learns_of_growth_and_rotation() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("0.log");
        let mut file = std::fs::File::create(&path).expect("made");
        let watch = LogWatch::default();
        let (one, other) = (watch.follow(&file).expect("followed"), watch.follow(&file).expect("followed"));
        file.write_all(b"x").expect("written");
        learn(&one, "one learns of it").await;
        learn(&other, "the other too").await;
        drop(other);
        std::fs::rename(&path, place.path().join("0.log.1")).expect("rotated");
        learn(&one, "one learns of the rotation, also when the other is gone").await;
        drop(one);
        assert!(watch.0.lock().upgrade().is_none(), "nothing is kept for nobody");
        let again = watch.follow(&file).expect("followed anew");
        file.write_all(b"x").expect("written");
        learn(&again, "learned").await;
    }
}
