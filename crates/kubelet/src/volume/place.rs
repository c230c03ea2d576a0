//! The directory of one volume below the kubelet's root, and a tmpfs on it. Used by the
//! plugins.

use super::beneath::Dir;
use super::mounts;
use nix::mount::{MsFlags, mount};
use std::io;
use std::path::Path;

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
    let failed = |error: io::Error| format!("cannot mount a tmpfs on {}: {error}", path.display());
    let place = directory.path().map_err(failed)?;
    if mounts::is_mount_point(&place).map_err(failed)? {
        return Ok((directory, false));
    }
    let options = size.map(|size| format!("size={size}"));
    mount(Some("tmpfs"), &place, Some("tmpfs"), MsFlags::empty(), options.as_deref())
        .map_err(|error| failed(error.into()))?;
    // The descriptor still holds the directory below the mount.
    Ok((Dir::open(&place).map_err(failed)?, true))
}
