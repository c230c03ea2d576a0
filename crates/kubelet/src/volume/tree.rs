//! Removing a tree without ever leaving it. Used when a pod's files go, and by ferry when a
//! cluster is uninstalled.
//!
//! A tree may hold a mount that could not be found or not be taken away. What is mounted is
//! somebody else's data: the removal ends with an error that names the mount.

use super::beneath::Dir;
use super::mounts;
use nix::errno::Errno;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory deeper than this is first moved to the top of the tree. A container may nest
/// directories until neither the stack nor the descriptors last.
const MAX_DEPTH: usize = 48;

#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    #[error("{} is not removed: {} is mounted below it or on it", directory.display(), point.display())]
    Mounted { directory: PathBuf, point: PathBuf },
    #[error("cannot remove {}: {source}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Removes a directory and all that is in it. What is already gone is no error; a mount on
/// the directory or below it is, and then nothing mounted is touched. Blocking.
pub fn remove_tree(directory: &Path) -> Result<(), TreeError> {
    let failed = |source: io::Error| TreeError::Io { path: directory.into(), source };
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(failed(io::ErrorKind::InvalidInput.into()));
    };
    let parent = match Dir::open(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(failed)?,
    };
    remove_child(&parent, name)
}

/// Empties a directory that may be a mount point itself, such as a disk of its own for a
/// cluster's data. Blocking.
pub fn empty_tree(directory: &Path) -> Result<(), TreeError> {
    match Dir::open(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => Removal::new(opened.map_err(|source| TreeError::Io { path: directory.into(), source })?)?.empty(),
    }
}

/// Removes one entry of an open directory with all that is below it.
pub fn remove_child(parent: &Dir, name: &OsStr) -> Result<(), TreeError> {
    let path = parent.path().unwrap_or_default().join(name);
    let failed = |error: Errno| TreeError::Io { path: path.clone(), source: error.into() };
    let top = match parent.enter(name) {
        Ok(top) => top,
        Err(Errno::ENOENT) => return Ok(()),
        Err(Errno::EXDEV) => return Err(TreeError::Mounted { directory: path.clone(), point: path }),
        Err(Errno::ENOTDIR | Errno::ELOOP) => return parent.remove_file(name).map_err(failed),
        Err(error) => return Err(failed(error)),
    };
    Removal::new(top)?.empty()?;
    parent.remove_dir(name).map_err(failed)
}

/// One removal, from the top of the tree downwards.
struct Removal {
    top: Dir,
    path: PathBuf,
    device: u64,
}

impl Removal {
    /// Looks at the mount table first, so that a tree with a mount in it stays whole.
    fn new(top: Dir) -> Result<Self, TreeError> {
        let path = top.path().unwrap_or_default();
        let failed = |source| TreeError::Io { path: path.clone(), source };
        if let Some(point) = mounts::below(&path).map_err(failed)?.into_iter().next() {
            return Err(TreeError::Mounted { directory: path, point });
        }
        let device = top.metadata().map_err(failed)?.dev();
        Ok(Self { top, path, device })
    }

    /// Again for as long as directories were moved to the top.
    fn empty(&self) -> Result<(), TreeError> {
        while self.empty_directory(&self.top, &self.path, 0)? {}
        Ok(())
    }

    /// Answers whether a directory was moved to the top instead.
    fn empty_directory(&self, directory: &Dir, path: &Path, depth: usize) -> Result<bool, TreeError> {
        let failed = |source| TreeError::Io { path: path.into(), source };
        let mut moved = false;
        for entry in directory.read().map_err(failed)? {
            moved |= self.remove(directory, path, &entry.map_err(failed)?, depth)?;
        }
        Ok(moved)
    }

    fn remove(&self, parent: &Dir, at: &Path, entry: &std::fs::DirEntry, depth: usize) -> Result<bool, TreeError> {
        let name = entry.file_name();
        let path = at.join(&name);
        let failed = |error: Errno| match error {
            Errno::EXDEV | Errno::EBUSY => TreeError::Mounted { directory: self.path.clone(), point: path.clone() },
            error => TreeError::Io { path: path.clone(), source: error.into() },
        };
        if entry.file_type().is_ok_and(|kind| !kind.is_dir()) {
            return gone_or(parent.remove_file(&name), false).map_err(failed);
        }
        let child = match parent.enter(&name) {
            Ok(child) => child,
            Err(Errno::ENOTDIR | Errno::ELOOP) => return gone_or(parent.remove_file(&name), false).map_err(failed),
            Err(error) => return gone_or(Err(error), false).map_err(failed),
        };
        let device = child.metadata().map_err(|source| TreeError::Io { path: path.clone(), source })?.dev();
        if device != self.device {
            return Err(failed(Errno::EXDEV));
        }
        if depth >= MAX_DEPTH {
            let fresh = OsString::from(format!("..removed-{:016x}", rand::random::<u64>()));
            return gone_or(parent.move_to(&name, &self.top, &fresh), true).map_err(failed);
        }
        let moved = self.empty_directory(&child, &path, depth + 1)?;
        gone_or(parent.remove_dir(&name), moved).map_err(failed)
    }
}

/// A name that somebody else has removed meanwhile counts as removed.
fn gone_or(result: nix::Result<()>, done: bool) -> nix::Result<bool> {
    match result {
        Ok(()) | Err(Errno::ENOENT) => Ok(done),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_removed_and_what_they_point_to_stays() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let (tree, kept) = (place.path().join("tree"), place.path().join("kept"));
        std::fs::create_dir_all(tree.join("a/b")).expect("made");
        std::fs::create_dir(&kept).expect("made");
        std::fs::write(kept.join("file"), "x").expect("written");
        std::fs::write(tree.join("a/file"), "x").expect("written");
        symlink(&kept, tree.join("a/b/link")).expect("linked");
        remove_tree(&tree).expect("removed");
        assert!(!tree.exists() && kept.join("file").exists());
        symlink(&kept, &tree).expect("linked");
        remove_tree(&tree).expect("the link is removed");
        assert!(std::fs::symlink_metadata(&tree).is_err() && kept.join("file").exists());
        remove_tree(&tree).expect("what is gone is no error");
        remove_tree(&tree.join("x")).expect("nor is a parent that is gone");
    }

    #[test]
    fn a_tree_that_is_deeper_than_there_are_descriptors_is_removed() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let mut at = Dir::open(place.path()).expect("opened").make_dir(OsStr::new("tree"), 0o755).expect("made");
        for _ in 0..5_000 {
            at = at.make_dir(OsStr::new("d"), 0o755).expect("made");
        }
        remove_tree(&place.path().join("tree")).expect("removed");
        assert!(!place.path().join("tree").exists());
    }
}
