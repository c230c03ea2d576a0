//! The directories of the volumes on this node, one entry each of one directory that only
//! root may enter. Called by the provisioner, in a thread that may block.
//!
//! A name that is not one plain component is refused, and everything goes by descriptor below
//! the one directory, so that nothing else can be made or removed whatever a volume says.

use crate::volume::beneath::{Dir, components};
use crate::volume::tree::{self, TreeError};
use nix::errno::Errno;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Any user of a container may write to a volume without fsGroup, as with an emptyDir; the
/// directory above keeps the users of the machine out.
const VOLUME_MODE: u32 = 0o777;
const DIRECTORY_MODE: u32 = 0o700;

#[derive(Clone, Debug)]
pub struct Directory {
    /// Resolved, because volumes name their directories by it.
    path: PathBuf,
}

impl Directory {
    pub fn open(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        let path = std::fs::canonicalize(path)?;
        Dir::open(&path)?.set_mode(DIRECTORY_MODE)?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the directory of a volume; one that is there stays as it is. It is on the disk
    /// when this returns, because the volume is acknowledged next and must not be without it
    /// after a power cut.
    pub fn make(&self, volume: &str) -> io::Result<()> {
        let name = plain(volume)?;
        let directory = Dir::open(&self.path)?;
        match directory.make_dir(name, VOLUME_MODE) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let there = directory.descend(Path::new(name))?;
                // Killed between making it and opening it up; a used one keeps its mode.
                if there.read()?.next().is_none() {
                    there.set_mode(VOLUME_MODE)?;
                }
            }
            made => made?.sync()?,
        }
        directory.sync()
    }

    /// Removes the directory of a volume with all that is in it. What is gone is no error.
    pub fn remove(&self, volume: &str) -> Result<(), TreeError> {
        let failed = |source| TreeError::Io { path: self.path.join(volume), source };
        let name = plain(volume).map_err(failed)?;
        tree::remove_child(&Dir::open(&self.path).map_err(failed)?, name)
    }

    /// Removes the directory of a volume that nothing was ever written to.
    pub fn remove_empty(&self, volume: &str) -> io::Result<()> {
        match Dir::open(&self.path)?.remove_dir(plain(volume)?) {
            Ok(()) | Err(Errno::ENOENT | Errno::ENOTEMPTY | Errno::ENOTDIR | Errno::EBUSY) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The names of the entries; one that is not text is nobody's volume.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = Dir::open(&self.path)?.read()?;
        entries.filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose()).collect()
    }
}

fn plain(volume: &str) -> io::Result<&OsStr> {
    match components(Path::new(volume))?.as_slice() {
        [name] if *name == volume => Ok(OsStr::new(volume)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{volume:?} is no volume's name"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn place() -> (tempfile::TempDir, Directory) {
        let place = tempfile::tempdir().expect("a temporary directory");
        let directory = Directory::open(&place.path().join("volumes")).expect("opened");
        (place, directory)
    }

    #[test]
    fn a_volume_is_made_once_and_keeps_its_data() {
        let (_place, directory) = place();
        directory.make("pvc-1").expect("made");
        let path = directory.path().join("pvc-1");
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o7777;
        assert_eq!((mode(&path), mode(directory.path())), (VOLUME_MODE, DIRECTORY_MODE));
        std::fs::write(path.join("data"), "x").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).expect("set");
        directory.make("pvc-1").expect("it is there");
        assert_eq!(mode(&path), 0o750, "a volume that is used keeps its mode");
        directory.remove_empty("pvc-1").expect("left alone");
        assert_eq!(std::fs::read_to_string(path.join("data")).expect("read"), "x");
        directory.remove("pvc-1").expect("removed");
        assert!(!path.exists());
        directory.remove("pvc-1").expect("what is gone is no error");
    }

    #[test]
    fn nothing_beside_the_volumes_is_made_or_removed() {
        let (place, directory) = place();
        let host = place.path().join("host");
        std::fs::create_dir(&host).expect("made");
        std::fs::write(host.join("file"), "x").expect("written");
        for name in ["", ".", "..", "../host", "a/b", "/etc", "pvc-1/../../host"] {
            assert!(directory.make(name).is_err(), "{name:?} is made");
            assert!(directory.remove(name).is_err(), "{name:?} is removed");
            assert!(directory.remove_empty(name).is_err(), "{name:?} is removed where it is empty");
        }
        symlink(&host, directory.path().join("pvc-link")).expect("linked");
        assert!(directory.make("pvc-link").is_err());
        directory.make("pvc-2").expect("made");
        symlink(&host, directory.path().join("pvc-2/inside")).expect("linked");
        directory.remove("pvc-link").expect("the link is removed");
        directory.remove("pvc-2").expect("removed");
        assert!(host.join("file").exists(), "a link is never followed");
    }
}
