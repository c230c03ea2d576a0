//! Container logs keep to a size: a file that has grown beyond it is renamed, and the
//! runtime opens a new one. The kernel tells which files are written to, so that a
//! container that writes a gigabyte a minute is cut as soon as one that writes a line.
//!
//! `lib.rs` runs one of these. Where the kernel has no watch to spare, the logs of all
//! containers are looked at as often as upstream's containerLogMonitorInterval.

use crate::Error;
use crate::context::Context;
use crate::cri::v1;
use crate::observed::{CONTAINER_NAME_LABEL, POD_UID_LABEL, PodIdentity};
use crate::volume::beneath::Dir;
use futures_util::StreamExt;
use jiff::Timestamp;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// The same beside a watch, for what no watch has seen.
const BESIDE_WATCH_EVERY: Duration = Duration::from_secs(300);
const COMPRESSED: &str = ".gz";
/// A file that is being compressed.
const TEMPORARY: &str = ".tmp";
/// Between two looks at what was written: a container that writes all the time must not
/// keep the kubelet busy all the time.
const PAUSE: Duration = Duration::from_millis(200);

/// The limits of a container's log.
#[derive(Clone, Copy, Debug)]
struct LogLimits {
    size: u64,
    /// The files of a log, the one that is written to among them.
    files: usize,
}

pub async fn run(context: Arc<Context>, shutdown: CancellationToken) -> Result<(), Error> {
    let settings = &context.config.settings.log_rotation;
    let Some(size) = settings.max_size().map_err(|why| Error::Settings(vec![why]))? else { return Ok(()) };
    let limits = LogLimits { size, files: usize::try_from(settings.container_log_max_files).unwrap_or(2).max(2) };
    let workers = usize::try_from(settings.container_log_max_workers).unwrap_or(1).max(1);
    let without_watch = settings.container_log_monitor_interval.duration();
    let mut watch = match LogWatch::new(&context.config.log_dir) {
        Ok(watch) => Some(watch),
        Err(error) => {
            tracing::warn!(%error, "container logs cannot be watched and are looked at every {without_watch:?}");
            None
        }
    };
    let every = if watch.is_some() { BESIDE_WATCH_EVERY } else { without_watch };
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let written = async {
            match &mut watch {
                Some(watch) => watch.written().await,
                None => std::future::pending().await,
            }
        };
        let files = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            files = written => files,
            _ = ticks.tick() => list_files(&context.config.log_dir, 2),
        };
        let large = files.into_iter().filter(|path| is_large(path, limits.size));
        futures_util::stream::iter(large)
            .for_each_concurrent(workers, async |path| {
                if let Err(error) = rotate(&context, &path, limits).await {
                    tracing::warn!(path = %path.display(), %error, "cannot rotate the log");
                }
            })
            .await;
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
}

fn is_large(path: &Path, size: u64) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() >= size)
}

/// Renames the log of a container that runs. That of one that has ended grows no more. The older
/// files are cut to their number and compressed first, so that whoever follows the log has the
/// newest one as it was written.
async fn rotate(context: &Context, path: &Path, limits: LogLimits) -> io::Result<()> {
    let Some(id) = find_writer(context, path).await else { return Ok(()) };
    let (directory, name) = context.container_files().log_directory(path)?;
    let (directory, name) = tokio::task::spawn_blocking(move || {
        tidy(&directory, &name, limits.files)?;
        Ok::<_, io::Error>((directory, name))
    })
    .await
    .map_err(io::Error::other)??;
    let old = rotated_name(&name, Timestamp::now(), &list_rotated(&directory, &name)?);
    directory.rename(&name, &old)?;
    if let Err(error) = context.runtime.reopen_container_log(&id).await {
        // The runtime still writes to the old file; give it its name back.
        directory.rename(&old, &name)?;
        return Err(io::Error::other(error));
    }
    Ok(())
}

/// Removes what an interrupted rotation has left and the oldest files, and compresses the others.
/// Blocking.
fn tidy(directory: &Dir, name: &OsStr, files: usize) -> io::Result<()> {
    let plan = plan_tidying(list_rotated(directory, name)?, files);
    for stale in &plan.remove {
        directory.remove_file(stale)?;
    }
    for log in &plan.compress {
        compress(directory, log)?;
    }
    Ok(())
}

/// A file becomes another of the same name with `.gz`, which is whole from its first moment.
fn compress(directory: &Dir, name: &OsStr) -> io::Result<()> {
    let mut log = directory.open_file(Path::new(name))?;
    let mode = log.metadata()?.permissions().mode() & 0o777;
    let temporary = with_suffix(name, TEMPORARY);
    let packed = directory.create_file(&temporary, mode)?;
    let mut encoder = flate2::write::GzEncoder::new(packed, flate2::Compression::default());
    let written = io::copy(&mut log, &mut encoder).and_then(|_| encoder.finish());
    if let Err(error) = written {
        directory.remove_file(&temporary)?;
        return Err(error);
    }
    directory.rename(&temporary, &with_suffix(name, COMPRESSED))?;
    Ok(directory.remove_file(name)?)
}

fn with_suffix(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

/// The container that writes to a file, by the path's own words:
/// `<namespace>_<name>_<uid>/<container>/<attempt>.log`.
async fn find_writer(context: &Context, path: &Path) -> Option<String> {
    let directory = path.parent()?;
    let pod = directory.parent()?.file_name()?.to_string_lossy().into_owned();
    let labels = [
        (POD_UID_LABEL.to_owned(), PodIdentity::from_log_directory(&pod)?.uid),
        (CONTAINER_NAME_LABEL.to_owned(), directory.file_name()?.to_string_lossy().into_owned()),
    ];
    let running = v1::ContainerStateValue { state: v1::ContainerState::ContainerRunning as i32 };
    let filter = v1::ContainerFilter { state: Some(running), label_selector: labels.into(), ..Default::default() };
    for container in context.runtime.list_containers(Some(filter)).await.ok()? {
        let status = context.runtime.container_status(&container.id).await;
        if status.is_ok_and(|status| Path::new(&status.log_path) == path) {
            return Some(container.id);
        }
    }
    None
}

/// `0.log` becomes `0.log.20260101-120000`, upstream's form, with a number behind it where
/// that second has had one.
fn rotated_name(name: &OsStr, at: Timestamp, taken: &[OsString]) -> OsString {
    let named = |suffix: &str| with_suffix(name, &format!(".{}{suffix}", at.strftime("%Y%m%d-%H%M%S")));
    let is_free = |name: &OsString| !taken.iter().any(|taken| bare(taken) == name.as_encoded_bytes());
    let numbered = (1..100).map(|n| named(&format!("-{n:02}")));
    std::iter::once(named("")).chain(numbered).find(is_free).unwrap_or_else(|| named("-99"))
}

/// The name that the file had before it was compressed.
fn bare(name: &OsStr) -> &[u8] {
    let name = name.as_encoded_bytes();
    name.strip_suffix(COMPRESSED.as_bytes()).unwrap_or(name)
}

fn list_rotated(directory: &Dir, name: &OsStr) -> io::Result<Vec<OsString>> {
    let prefix = [name.as_encoded_bytes(), b"."].concat();
    let names = directory.read()?.flatten().map(|entry| entry.file_name());
    Ok(names.filter(|name| name.as_encoded_bytes().starts_with(&prefix)).collect())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct TidyPlan {
    remove: Vec<OsString>,
    compress: Vec<OsString>,
}

/// The rotated files that go and those that are compressed, before another is rotated: with the one
/// that is written to and the new one there are to be `files` (upstream: `rotateLog` of
/// pkg/kubelet/logs/container_log_manager.go).
fn plan_tidying(rotated: Vec<OsString>, files: usize) -> TidyPlan {
    let ends_with = |name: &OsStr, suffix: &str| name.as_encoded_bytes().ends_with(suffix.as_bytes());
    let is_compressed = |name: &OsStr| ends_with(name, COMPRESSED);
    let has_compressed = |name: &OsStr| rotated.contains(&with_suffix(name, COMPRESSED));
    let (mut remove, mut kept): (Vec<OsString>, Vec<OsString>) = rotated
        .iter()
        .cloned()
        .partition(|name| ends_with(name, TEMPORARY) || (!is_compressed(name) && has_compressed(name)));
    kept.sort_by(|a, b| bare(a).cmp(bare(b)));
    let excess = kept.len().saturating_sub(files.saturating_sub(2));
    remove.extend(kept.drain(..excess));
    kept.retain(|name| !is_compressed(name));
    TidyPlan { remove, compress: kept }
}

/// The logs that are being written, `levels` directories down.
fn list_files(directory: &Path, levels: usize) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && levels > 0 => files.extend(list_files(&entry.path(), levels - 1)),
            Ok(kind) if kind.is_file() && levels == 0 && is_log(&entry.path()) => {
                files.insert(entry.path());
            }
            _ => {}
        }
    }
    files
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log")
}

/// Watches the directories of pods for containers, and those of containers for writes.
struct LogWatch {
    root: PathBuf,
    events: AsyncFd<Events>,
    directories: HashMap<WatchDescriptor, (PathBuf, Level)>,
}

struct Events(Inotify);

impl AsRawFd for Events {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Pod,
    Container,
}

impl LogWatch {
    fn new(root: &Path) -> io::Result<Self> {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC)?;
        #[expect(
            deprecated,
            reason = "its successor is unsafe; these events own their descriptor as long as they live"
        )]
        let events = AsyncFd::new(Events(inotify))?;
        let mut watch = Self { root: root.to_owned(), events, directories: HashMap::new() };
        watch.add(root, Level::Root, &mut BTreeSet::new())?;
        Ok(watch)
    }

    /// Watches a directory and what is in it already, which may have come before the watch.
    fn add(&mut self, path: &Path, level: Level, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        let what = match level {
            Level::Root | Level::Pod => AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MOVED_TO,
            Level::Container => AddWatchFlags::IN_MODIFY,
        };
        let flags = what | AddWatchFlags::IN_ONLYDIR | AddWatchFlags::IN_DONT_FOLLOW;
        let descriptor = self.events.get_ref().0.add_watch(path, flags)?;
        self.directories.insert(descriptor, (path.to_owned(), level));
        let below = match level {
            Level::Root => Level::Pod,
            Level::Pod => Level::Container,
            Level::Container => {
                files.extend(list_files(path, 0));
                return Ok(());
            }
        };
        for entry in std::fs::read_dir(path)?.flatten().filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir())) {
            // A pod that goes at this moment is no reason to miss the others.
            let _ = self.add(&entry.path(), below, files);
        }
        Ok(())
    }

    /// Waits until logs are written to, and returns which.
    async fn written(&mut self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        while files.is_empty() {
            let events = match self.events.readable().await {
                Ok(mut ready) => {
                    let mut events = Vec::new();
                    while let Ok(more) = ready.get_inner().0.read_events() {
                        if more.is_empty() {
                            break;
                        }
                        events.extend(more);
                    }
                    ready.clear_ready();
                    events
                }
                Err(_) => std::future::pending().await,
            };
            for event in events {
                if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                    // Directories may have come unseen; watching one twice is the same watch.
                    let root = self.root.clone();
                    let _ = self.add(&root, Level::Root, &mut files);
                    continue;
                }
                if event.mask.contains(AddWatchFlags::IN_IGNORED) {
                    self.directories.remove(&event.wd);
                    continue;
                }
                let (Some((directory, level)), Some(name)) = (self.directories.get(&event.wd), event.name) else {
                    continue;
                };
                let path = directory.join(name);
                match level {
                    Level::Root => drop(self.add(&path, Level::Pod, &mut files)),
                    Level::Pod => drop(self.add(&path, Level::Container, &mut files)),
                    Level::Container if is_log(&path) => {
                        files.insert(path);
                    }
                    Level::Container => {}
                }
            }
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_newest_logs_are_kept_and_compressed() {
        let names = |names: &[&str]| names.iter().map(OsString::from).collect::<Vec<_>>();
        let day = |n: usize| format!("0.log.2026010{n}-000000");
        let all: Vec<OsString> = (0..5).map(|n| OsString::from(day(n))).collect();
        let plan = plan_tidying(all.iter().rev().cloned().collect(), 5);
        assert_eq!((plan.remove, plan.compress), (all[..2].to_vec(), all[2..].to_vec()));
        assert_eq!(plan_tidying(all[..1].to_vec(), 2), TidyPlan { remove: all[..1].to_vec(), compress: vec![] });
        let mixed = names(&["0.log.1.tmp", "0.log.1", "0.log.1.gz", "0.log.2.gz", "0.log.3", "0.log.3-01.gz"]);
        let plan = plan_tidying(mixed, 5);
        assert_eq!(plan.remove, names(&["0.log.1.tmp", "0.log.1", "0.log.1.gz"]));
        assert_eq!(plan.compress, names(&["0.log.3"]));
    }

    #[test]
    fn a_compressed_log_holds_the_same_lines() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = Dir::open(place.path()).expect("opened");
        for (name, text) in [("0.log.1", "one\n"), ("0.log.2", "two\n"), ("0.log.2.tmp", "half")] {
            std::fs::write(place.path().join(name), text).expect("written");
        }
        tidy(&directory, OsStr::new("0.log"), 3).expect("tidied");
        let names = list_rotated(&directory, OsStr::new("0.log")).expect("listed");
        assert_eq!(names, [OsString::from("0.log.2.gz")]);
        let file = std::fs::File::open(place.path().join("0.log.2.gz")).expect("opened");
        let mut text = String::new();
        io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).expect("a gzip file");
        assert_eq!(text, "two\n");
    }

    #[test]
    fn two_rotations_within_a_second_keep_both_files_in_their_order() {
        let at = Timestamp::from_second(1_767_268_800).expect("a time");
        let mut taken: Vec<OsString> = Vec::new();
        for _ in 0..12 {
            taken.push(rotated_name(OsStr::new("0.log"), at, &taken));
        }
        let packed = [with_suffix(&taken[0], COMPRESSED)];
        assert_eq!(rotated_name(OsStr::new("0.log"), at, &packed), taken[1]);
        assert_eq!(taken[0], "0.log.20260101-120000");
        assert_eq!(taken[1], "0.log.20260101-120000-01");
        assert!(taken.is_sorted() && taken.len() == taken.iter().collect::<BTreeSet<_>>().len());
    }

    fn write(path: &Path) {
        let mut file = std::fs::File::options().create(true).append(true).open(path).expect("opened");
        file.write_all(b"line\n").expect("written");
    }

    #[tokio::test]
    async fn a_write_is_noticed_in_pods_that_were_there_and_in_those_that_come() {
        let dir = tempfile::tempdir().expect("a directory");
        let there = dir.path().join("a_b_1/main");
        std::fs::create_dir_all(&there).expect("made");
        let mut watch = LogWatch::new(dir.path()).expect("a watch");
        write(&there.join("0.log"));
        assert_eq!(watch.written().await, BTreeSet::from([there.join("0.log")]));

        let new = dir.path().join("a_b_2/main");
        std::fs::create_dir_all(&new).expect("made");
        write(&new.join("0.log"));
        assert_eq!(watch.written().await, BTreeSet::from([new.join("0.log")]));
        write(&new.join("0.log.20260101-120000"));
        std::fs::remove_dir_all(dir.path().join("a_b_1")).expect("removed");
        write(&new.join("1.log"));
        assert_eq!(watch.written().await, BTreeSet::from([new.join("1.log")]));
        assert_eq!(list_files(dir.path(), 2), BTreeSet::from([new.join("0.log"), new.join("1.log")]));
    }
}
