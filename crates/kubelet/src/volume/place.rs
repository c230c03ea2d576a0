//! The directory of one volume below the kubelet's root, and a tmpfs on it. Used by the
//! plugins.

use super::beneath::Dir;
use super::{mounts, pod_directory, volume_directory};
use nix::mount::{MsFlags, mount};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const PREFIX: &str = "kubernetes.io~";

/// The directory of one volume, as the disk has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumePlace {
    /// The kubelet's directory.
    pub root: Arc<Path>,
    pub uid: String,
    pub plugin: String,
    pub name: String,
}

impl VolumePlace {
    pub fn path(&self) -> PathBuf {
        volume_directory(&self.root, &self.uid, &self.plugin, &self.name)
    }

    /// Every volume that the pod has a directory for. Blocking.
    pub(super) fn list(root: &Arc<Path>, uid: &str) -> io::Result<Vec<Self>> {
        let mut places = Vec::new();
        for plugin in names(&pod_directory(root, uid).join("volumes"))? {
            let Some(kind) = plugin.strip_prefix(PREFIX) else { continue };
            let names = names(&pod_directory(root, uid).join("volumes").join(&plugin))?;
            places.extend(names.into_iter().map(|name| Self {
                root: root.clone(),
                uid: uid.to_owned(),
                plugin: kind.to_owned(),
                name,
            }));
        }
        Ok(places)
    }
}

/// The names in a directory that only the kubelet writes to; none where it does not exist.
fn names(directory: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// The directory below the root, and whether it was not there before.
pub fn make_directory(root: &Path, path: &Path, mode: u32) -> Result<(Dir, bool), String> {
    let make = || -> io::Result<(Dir, bool)> {
        let relative = path.strip_prefix(root).map_err(io::Error::other)?;
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let parent = Dir::open(root)?.make_dirs(parent, 0o755)?;
        match parent.make_dir(name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok((parent.descend(Path::new(name))?, false)),
            made => Ok((made?, true)),
        }
    };
    make().map_err(|error| format!("cannot make {}: {error}", path.display()))
}

/// The directory with a tmpfs on it, and whether that is new.
pub fn mount_tmpfs(directory: Dir, path: &Path, size: Option<i64>) -> Result<(Dir, bool), String> {
    mount_memory(directory, path, "tmpfs", size.map(|size| format!("size={size}")).as_deref())
}

/// The directory with a file system of huge pages on it, and whether that is new.
pub fn mount_huge_pages(directory: Dir, path: &Path, page_size: i64) -> Result<(Dir, bool), String> {
    mount_memory(directory, path, "hugetlbfs", Some(&format!("pagesize={page_size}")))
}

fn mount_memory(directory: Dir, path: &Path, kind: &str, options: Option<&str>) -> Result<(Dir, bool), String> {
    let failed = |error: io::Error| format!("cannot mount a {kind} on {}: {error}", path.display());
    let place = directory.path().map_err(failed)?;
    if mounts::is_mount_point(&place).map_err(failed)? {
        return Ok((directory, false));
    }
    mount(Some(kind), &place, Some(kind), MsFlags::empty(), options).map_err(|error| failed(error.into()))?;
    // The descriptor still holds the directory below the mount.
    Ok((Dir::open(&place).map_err(failed)?, true))
}
