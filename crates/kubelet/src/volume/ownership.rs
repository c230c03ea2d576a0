//! fsGroup: a volume belongs to the pod's group (upstream: pkg/volume/volume_linux.go).

use super::beneath::{Dir, descriptor_path};
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::unistd::{Gid, fchownat};
use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Deeper trees than this are not walked; what the kubelet gives away it has just made.
const MAX_DEPTH: usize = 128;

/// How a volume is mounted into its containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

impl Access {
    /// The bits that the group gets in addition to the present ones.
    fn mask(self, is_directory: bool) -> u32 {
        let own = if self == Self::ReadOnly { 0o440 } else { 0o660 };
        // Directories hand the group on to what is made in them.
        if is_directory { own | 0o2110 } else { own }
    }
}

/// Gives the directory and all below it to the group. Links are given away themselves, what
/// they point to is not; nothing mounted below is entered.
pub fn give_to_group(directory: &Dir, group: Gid, access: Access) -> io::Result<()> {
    give(directory, group, access, 0)
}

/// Whether the directory itself is as [`give_to_group`] leaves it (fsGroupChangePolicy
/// OnRootMismatch looks no further).
pub fn has_group(directory: &Dir, group: Gid, access: Access) -> io::Result<bool> {
    let metadata = directory.metadata()?;
    let (mode, wanted) = (metadata.permissions().mode(), access.mask(true));
    Ok(metadata.gid() == group.as_raw() && mode & wanted == wanted)
}

fn give(directory: &Dir, group: Gid, access: Access, depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return Err(io::Error::other(format!("a volume is more than {MAX_DEPTH} directories deep")));
    }
    nix::unistd::fchown(directory, None, Some(group))?;
    directory.set_mode(directory.metadata()?.permissions().mode() & 0o7777 | access.mask(true))?;
    for entry in directory.read()? {
        let name = entry?.file_name();
        match directory.enter(&name) {
            Ok(child) => give(&child, group, access, depth + 1)?,
            Err(Errno::ENOTDIR | Errno::ELOOP) => give_file(directory, &name, group, access)?,
            Err(Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// A file is not opened for this, because a pipe or a device may stand under its name.
fn give_file(directory: &Dir, name: &OsStr, group: Gid, access: Access) -> io::Result<()> {
    let link_flags = AtFlags::AT_SYMLINK_NOFOLLOW;
    let found = match directory.locate_unlinked(Path::new(name)) {
        Ok(found) => File::from(found),
        Err(Errno::ENOENT) => return Ok(()),
        Err(Errno::ELOOP) => return Ok(fchownat(directory, name, None, Some(group), link_flags)?),
        Err(error) => return Err(error.into()),
    };
    fchownat(&found, "", None, Some(group), AtFlags::AT_EMPTY_PATH)?;
    let metadata = found.metadata()?;
    if metadata.file_type().is_symlink() {
        return Ok(());
    }
    let mode = metadata.permissions().mode() & 0o7777 | access.mask(false);
    std::fs::set_permissions(descriptor_path(found.as_fd()), Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_group_reads_or_writes_and_links_are_not_followed() {
        for (access, file_mode, directory_mode) in
            [(Access::ReadOnly, 0o640, 0o2750), (Access::ReadWrite, 0o660, 0o2770)]
        {
            let place = tempfile::tempdir().expect("a temporary directory");
            let (volume, host) = (place.path().join("v"), place.path().join("host"));
            std::fs::create_dir_all(volume.join("sub")).expect("made");
            let closed = |path: &Path, mode| {
                std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("set");
            };
            for file in [&host, &volume.join("sub/token")] {
                std::fs::write(file, "x").expect("written");
                closed(file, 0o600);
            }
            closed(&volume.join("sub"), 0o700);
            symlink(&host, volume.join("link")).expect("linked");
            give_to_group(&Dir::open(&volume).expect("opened"), Gid::from_raw(77), access).expect("given");
            let seen = |path: &Path| {
                let meta = std::fs::symlink_metadata(path).expect("there");
                (meta.mode() & 0o7777, meta.gid())
            };
            assert_eq!(seen(&volume.join("sub/token")), (file_mode, 77));
            assert_eq!(seen(&volume.join("sub")), (directory_mode, 77));
            assert_eq!(seen(&volume.join("link")).1, 77);
            assert_eq!(seen(&host), (0o600, nix::unistd::getegid().as_raw()));
        }
    }
}
