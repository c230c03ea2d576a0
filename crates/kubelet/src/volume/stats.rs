//! The room and use of pods' volumes, for /stats/summary and the metrics of claims. Nothing is
//! measured until somebody asks, and then not again for [`FRESH`]: walking a volume may take long.
//!
//! Upstream: pkg/kubelet/server/stats/volume_stat_calculator.go and pkg/volume/metrics_*.go.

use super::beneath::Dir;
use super::{VolumeRequest, Volumes, blocking};
use ferry_api::rules::volume_match::claim_name;
use ferry_api::view::core::v1::VolumeView;
use futures_util::future::join_all;
use jiff::Timestamp;
use nix::sys::statvfs::statvfs;
use parking_lot::Mutex;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

const FRESH: Duration = Duration::from_secs(10);
/// A driver that does not answer keeps nobody waiting for the figures of the others.
const PATIENCE: Duration = Duration::from_secs(5);
/// Deeper trees than this are not measured, because each directory on the way is held open.
const MAX_DEPTH: usize = 1024;
/// The unit of `st_blocks`.
const BLOCK: u64 = 512;

/// The figures of one volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumeStats {
    pub available: u64,
    pub capacity: u64,
    pub used: u64,
    pub inodes: u64,
    pub inodes_free: u64,
    pub inodes_used: u64,
}

/// How the figures of a kind of volume are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Nothing,
    /// What the files of the volume take, and the room of their file system.
    Files,
    /// The use and the room of the file system that the volume is.
    FileSystem,
}

/// One volume of a pod with its figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeUsage {
    /// The pod's own name for it.
    pub name: String,
    pub claim: Option<String>,
    /// Whether it is on the node's own disk and goes with the pod.
    pub is_local_ephemeral: bool,
    /// Nanoseconds since the epoch.
    pub time: i64,
    pub stats: VolumeStats,
}

#[derive(Clone, Debug)]
struct MountedRecord {
    name: String,
    claim: Option<String>,
    is_local_ephemeral: bool,
    plugin: &'static str,
    path: PathBuf,
}

#[derive(Default)]
struct OfPod {
    records: Vec<MountedRecord>,
    measured: Option<(Instant, Arc<[VolumeUsage]>)>,
}

/// The volumes that are mounted now, by the uid of their pod.
#[derive(Default)]
pub(super) struct MountedVolumes(Mutex<HashMap<String, OfPod>>);

impl MountedVolumes {
    pub(super) fn note(&self, request: &VolumeRequest, plugin: &'static str, path: &Path) {
        let mut pods = self.0.lock();
        let own = pods.entry(request.pod().metadata().uid().to_owned()).or_default();
        let volume = request.volume();
        if own.records.iter().any(|record| record.name == volume.name() && record.path == path) {
            return;
        }
        own.records.retain(|record| record.name != volume.name());
        own.records.push(MountedRecord {
            name: volume.name().to_owned(),
            claim: claim_name(request.pod(), volume).map(|name| name.into_owned()),
            is_local_ephemeral: is_local_ephemeral(volume),
            plugin,
            path: path.to_owned(),
        });
    }

    pub(super) fn forget(&self, uid: &str) {
        self.0.lock().remove(uid);
    }

    fn fresh(&self, uid: &str) -> Option<Arc<[VolumeUsage]>> {
        let pods = self.0.lock();
        let (at, measured) = pods.get(uid)?.measured.as_ref()?;
        (at.elapsed() < FRESH).then(|| measured.clone())
    }

    fn records(&self, uid: &str) -> Vec<MountedRecord> {
        self.0.lock().get(uid).map(|own| own.records.clone()).unwrap_or_default()
    }

    fn keep(&self, uid: &str, measured: Arc<[VolumeUsage]>) {
        if let Some(own) = self.0.lock().get_mut(uid) {
            own.measured = Some((Instant::now(), measured));
        }
    }
}

/// Upstream's IsLocalEphemeralVolume (pkg/volume/util).
fn is_local_ephemeral(volume: VolumeView<'_>) -> bool {
    volume.empty_dir().is_some_and(|source| source.medium().is_empty())
        || volume.config_map().is_some()
        || volume.downward_api().is_some()
}

impl Volumes {
    /// The figures of the pod's volumes, of those kinds that have some.
    pub async fn usage(&self, uid: &str) -> Arc<[VolumeUsage]> {
        if let Some(fresh) = self.mounted.fresh(uid) {
            return fresh;
        }
        let records = self.mounted.records(uid);
        let measured = join_all(records.into_iter().map(|record| self.measure(record))).await;
        let measured: Arc<[VolumeUsage]> = measured.into_iter().flatten().collect();
        self.mounted.keep(uid, measured.clone());
        measured
    }

    async fn measure(&self, record: MountedRecord) -> Option<VolumeUsage> {
        let plugin = self.plugins.iter().find(|plugin| plugin.name() == record.plugin)?;
        let time = i64::try_from(Timestamp::now().as_nanosecond()).unwrap_or_default();
        let why = match tokio::time::timeout(PATIENCE, plugin.stats(&record.path)).await {
            Ok(Ok(stats)) => {
                let MountedRecord { name, claim, is_local_ephemeral, .. } = record;
                return Some(VolumeUsage { name, claim, is_local_ephemeral, time, stats: stats? });
            }
            Ok(Err(why)) => why,
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::debug!(volume = %record.name, path = %record.path.display(), %why, "cannot measure a volume");
        None
    }
}

/// The figures of a directory. Called by the plugins.
pub(super) async fn of_directory(path: &Path, measure: Measure) -> Result<Option<VolumeStats>, String> {
    if measure == Measure::Nothing {
        return Ok(None);
    }
    let path = path.to_owned();
    let measured = blocking(move || {
        let room = of_file_system(&path)?;
        if measure == Measure::FileSystem {
            return Ok(room);
        }
        let (used, inodes_used) = measure_tree(&Dir::open(&path)?)?;
        Ok(VolumeStats { used, inodes_used, ..room })
    });
    measured.await.map(Some).map_err(|error| error.to_string())
}

fn of_file_system(path: &Path) -> io::Result<VolumeStats> {
    let room = statvfs(path)?;
    let size = room.fragment_size();
    Ok(VolumeStats {
        available: room.blocks_available().saturating_mul(size),
        capacity: room.blocks().saturating_mul(size),
        used: room.blocks().saturating_sub(room.blocks_free()).saturating_mul(size),
        inodes: room.files(),
        inodes_free: room.files_free(),
        inodes_used: room.files().saturating_sub(room.files_free()),
    })
}

/// The bytes on the disk and the files of a tree, each file once however many names it has. No
/// link is followed and nothing that is mounted below is entered. Blocking.
pub fn measure_tree(root: &Dir) -> io::Result<(u64, u64)> {
    let metadata = root.metadata()?;
    let mut sum =
        TreeSum { device: metadata.dev(), bytes: metadata.blocks() * BLOCK, files: 1, linked: HashSet::new() };
    sum.add(root, 0)?;
    Ok((sum.bytes, sum.files))
}

struct TreeSum {
    device: u64,
    bytes: u64,
    files: u64,
    /// The files with several names that are counted already.
    linked: HashSet<u64>,
}

impl TreeSum {
    fn add(&mut self, directory: &Dir, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other(format!("a volume is more than {MAX_DEPTH} directories deep")));
        }
        let names: Vec<OsString> = directory.read()?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
        for name in names {
            // A file that is gone again counts for nothing.
            let Ok(found) = directory.locate_unlinked(Path::new(&name)).map(File::from) else { continue };
            let metadata = found.metadata()?;
            if metadata.dev() != self.device {
                continue;
            }
            let is_counted = metadata.nlink() > 1 && !metadata.is_dir() && !self.linked.insert(metadata.ino());
            if !is_counted {
                self.bytes = self.bytes.saturating_add(metadata.blocks().saturating_mul(BLOCK));
                self.files += 1;
            }
            if metadata.is_dir()
                && let Ok(child) = directory.enter(&name)
            {
                self.add(&child, depth + 1)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_tree_is_measured_without_its_links_and_each_file_once() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (inside, outside) = (place.path().join("v"), place.path().join("out"));
        std::fs::create_dir_all(inside.join("sub")).expect("made");
        std::fs::create_dir(&outside).expect("made");
        std::fs::write(outside.join("big"), vec![7; 1 << 20]).expect("written");
        std::fs::write(inside.join("sub/a"), vec![7; 64 << 10]).expect("written");
        std::fs::hard_link(inside.join("sub/a"), inside.join("b")).expect("linked");
        symlink(&outside, inside.join("link")).expect("linked");
        symlink(outside.join("big"), inside.join("sub/link")).expect("linked");
        let (bytes, files) = measure_tree(&Dir::open(&inside).expect("opened")).expect("measured");
        assert_eq!(files, 5, "two directories, one file, two links");
        assert!((64 << 10..512 << 10).contains(&bytes), "{bytes}");
    }
}
