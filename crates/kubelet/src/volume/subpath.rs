//! subPath: a part of a volume mounted by itself.
//!
//! The path inside a volume belongs to whoever writes there, so a link in it may point
//! anywhere and may move while it is looked at (CVE-2017-1002101, CVE-2021-25741). The
//! kernel resolves the path below the volume; the file it opened is bind-mounted by its
//! descriptor to a place of our own, and that place is given to the runtime
//! (upstream: pkg/volume/util/subpath/subpath_linux.go).

use super::beneath::{Dir, components, descriptor_path};
use super::pod_directory;
use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub struct Wanted<'a> {
    pub root: &'a Path,
    pub uid: &'a str,
    pub volume: &'a str,
    pub volume_path: &'a Path,
    pub container: &'a str,
    pub index: usize,
    pub sub_path: &'a str,
}

/// The host path to mount instead of the volume. Blocking.
pub fn prepare(wanted: &Wanted<'_>) -> Result<PathBuf, String> {
    let relative: PathBuf = components(Path::new(wanted.sub_path))
        .map_err(|_| format!("subPath {:?} must not be absolute or contain '..'", wanted.sub_path))?
        .iter()
        .collect();
    let volume = Dir::open(wanted.volume_path).map_err(|error| format!("cannot open the volume: {error}"))?;
    let target = open_or_make(&volume, &relative).map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EXDEV | Errno::ELOOP) => format!("subPath {:?} leads out of the volume", wanted.sub_path),
        _ => format!("cannot open subPath {:?}: {error}", wanted.sub_path),
    })?;
    let place = pod_directory(wanted.root, wanted.uid)
        .join("volume-subpaths")
        .join(wanted.volume)
        .join(wanted.container)
        .join(wanted.index.to_string());
    let is_directory = target.metadata().map_err(|error| error.to_string())?.is_dir();
    make_place(wanted.root, &place, is_directory)
        .map_err(|error| format!("cannot make {}: {error}", place.display()))?;
    // Not recursively, as upstream: what is mounted inside belongs to the host, and would be
    // unmounted with the pod.
    let source = descriptor_path(target.as_fd());
    mount(Some(&source), &place, None::<&str>, MsFlags::MS_BIND, None::<&str>)
        .map_err(|error| format!("cannot mount subPath {:?}: {error}", wanted.sub_path))?;
    Ok(place)
}

/// The file or directory that the path names inside the volume; a directory is made where nothing is.
fn open_or_make(volume: &Dir, relative: &Path) -> io::Result<File> {
    match locate(volume, relative) {
        Err(Errno::ENOENT) => {
            make_inside(volume, relative)?;
            Ok(locate(volume, relative)?)
        }
        found => Ok(found?),
    }
}

/// The file under the path. Links lead as far as the volume does; absolute ones, which the
/// kernel refuses, are allowed where they come back into the volume by its own path.
fn locate(volume: &Dir, relative: &Path) -> nix::Result<File> {
    match volume.locate(relative) {
        Err(Errno::EXDEV) => {}
        found => return found.map(File::from),
    }
    // The answer may be stale at once, so it only says where to look: what is opened is
    // below the volume, and no link on the way is followed.
    let base = volume.path().map_err(|_| Errno::EXDEV)?;
    let resolved = std::fs::canonicalize(base.join(relative)).map_err(|_| Errno::EXDEV)?;
    let inside = resolved.strip_prefix(&base).map_err(|_| Errno::EXDEV)?;
    let found = File::from(volume.locate_unlinked(inside).map_err(|_| Errno::EXDEV)?);
    // A link that has taken the last name meanwhile is itself what was opened.
    match found.metadata() {
        Ok(metadata) if !metadata.file_type().is_symlink() => Ok(found),
        _ => Err(Errno::EXDEV),
    }
}

/// Makes the missing directories one by one, with the volume's own mode.
fn make_inside(volume: &Dir, relative: &Path) -> io::Result<()> {
    let mode = volume.metadata()?.permissions().mode() & 0o7777;
    for existing in relative.ancestors().skip(1) {
        let Ok(below) = relative.strip_prefix(existing) else { continue };
        match volume.locate_directory(existing) {
            Ok(directory) => return directory.make_dirs(below, mode).map(drop),
            Err(Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// An empty file or directory to mount on. A restart of the container mounts anew, because
/// the volume's content may have moved.
fn make_place(root: &Path, place: &Path, is_directory: bool) -> io::Result<()> {
    let (Some(parent), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let relative = parent.strip_prefix(root).map_err(io::Error::other)?;
    let parent = Dir::open(root)?.make_dirs(relative, 0o750)?;
    loop {
        match umount2(place, MntFlags::MNT_DETACH | MntFlags::UMOUNT_NOFOLLOW) {
            Ok(()) => {}
            Err(Errno::EINVAL | Errno::ENOENT) => break,
            Err(error) => return Err(error.into()),
        }
    }
    match parent.remove_dir(name) {
        Err(Errno::ENOTDIR) => parent.remove_file(name)?,
        Ok(()) | Err(Errno::ENOENT) => {}
        Err(error) => return Err(error.into()),
    }
    match is_directory {
        true => parent.make_dir(name, 0o750).map(drop),
        false => parent.create_file(name, 0o640).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn volume() -> (tempfile::TempDir, Dir) {
        let place = tempfile::tempdir().expect("a temporary directory");
        let dir = Dir::open(place.path()).expect("opened");
        (place, dir)
    }

    #[test]
    fn links_cannot_lead_out_of_the_volume() {
        let (place, volume) = volume();
        symlink("/etc", place.path().join("out")).expect("linked");
        symlink("/no/such/thing", place.path().join("nowhere")).expect("linked");
        symlink("../..", place.path().join("above")).expect("linked");
        for path in ["out", "out/passwd", "out/new", "nowhere", "nowhere/new", "above", "above/new"] {
            assert!(open_or_make(&volume, Path::new(path)).is_err(), "{path}");
        }
        let wanted = |sub_path| Wanted {
            root: place.path(),
            uid: "u",
            volume: "v",
            volume_path: place.path(),
            container: "c",
            index: 0,
            sub_path,
        };
        for path in ["../x", "/etc", "a/../../x"] {
            let why = prepare(&wanted(path)).expect_err(path);
            assert!(why.contains("must not be absolute or contain '..'"), "{why}");
        }
    }

    #[test]
    fn links_inside_the_volume_are_followed_and_directories_made_behind_them() {
        let (place, volume) = volume();
        volume.set_mode(0o2775).expect("set");
        std::fs::create_dir_all(place.path().join("v1/sub")).expect("made");
        symlink("v1", place.path().join("relative")).expect("linked");
        symlink(place.path().join("v1"), place.path().join("absolute")).expect("linked");
        symlink("../v1", place.path().join("v1/round")).expect("linked");
        for path in ["relative/sub", "absolute/sub", "v1/round/sub"] {
            let found = open_or_make(&volume, Path::new(path)).expect(path);
            assert!(found.metadata().expect("there").is_dir(), "{path}");
        }
        open_or_make(&volume, Path::new("relative/a/b")).expect("made");
        for made in ["v1/a", "v1/a/b"] {
            let mode = std::fs::metadata(place.path().join(made)).expect("there").permissions().mode();
            assert_eq!(mode & 0o7777, 0o2775, "{made} has the volume's mode");
        }
    }
}
