//! The room that the files below a directory take, as `du` counts it, without following any link
//! or leaving the filesystem: containers write there.

use crate::volume::beneath::Dir;
use ferry_eviction::usage::DiskUsage;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The kernel counts blocks of this size, whatever the filesystem's own is.
const BLOCK: u64 = 512;

/// A directory and all below it; nothing where it does not exist. A file with several names counts
/// once. Directories whose path is longer than the kernel takes are not entered. Blocking.
pub fn measure(directory: &Path) -> io::Result<DiskUsage> {
    let top = match Dir::open(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(DiskUsage::default()),
        opened => opened?,
    };
    let meta = top.metadata()?;
    let mut walk = Walk { device: meta.dev(), seen: HashSet::new(), total: DiskUsage::default() };
    walk.count(&meta);
    let mut pending: Vec<PathBuf> = walk.read(&top)?.into_iter().map(PathBuf::from).collect();
    while let Some(relative) = pending.pop() {
        // What has gone or become something else meanwhile is no error.
        let Ok(below) = top.descend(&relative) else { continue };
        if below.metadata().is_ok_and(|meta| meta.dev() == walk.device)
            && let Ok(names) = walk.read(&below)
        {
            pending.extend(names.into_iter().map(|name| relative.join(name)));
        }
    }
    Ok(walk.total)
}

struct Walk {
    device: u64,
    /// Files that have more names than one.
    seen: HashSet<u64>,
    total: DiskUsage,
}

impl Walk {
    /// Counts the entries of a directory and returns the directories among them.
    fn read(&mut self, directory: &Dir) -> io::Result<Vec<OsString>> {
        let mut below = Vec::new();
        for entry in directory.read()?.flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.dev() != self.device {
                continue;
            }
            self.count(&meta);
            if meta.is_dir() {
                below.push(entry.file_name());
            }
        }
        Ok(below)
    }

    fn count(&mut self, meta: &std::fs::Metadata) {
        if !meta.is_dir() && meta.nlink() > 1 && !self.seen.insert(meta.ino()) {
            return;
        }
        self.total = self.total.plus(DiskUsage { bytes: meta.blocks().saturating_mul(BLOCK), inodes: 1 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn files_count_once_and_links_lead_nowhere() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let root = place.path().join("root");
        assert_eq!(measure(&root).expect("nothing"), DiskUsage::default());
        std::fs::create_dir_all(root.join("a/b")).expect("made");
        let empty = measure(&root).expect("measured");
        assert_eq!(empty.inodes, 3);
        std::fs::write(root.join("a/b/file"), vec![1; 64 << 10]).expect("written");
        std::fs::hard_link(root.join("a/b/file"), root.join("same")).expect("linked");
        std::fs::write(place.path().join("outside"), vec![1; 1 << 20]).expect("written");
        symlink("../outside", root.join("link")).expect("linked");
        symlink("..", root.join("up")).expect("linked");
        let full = measure(&root).expect("measured");
        assert_eq!(full.inodes - empty.inodes, 3);
        let added = full.bytes - empty.bytes;
        assert!((64 << 10..128 << 10).contains(&added), "{added}");
    }
}
