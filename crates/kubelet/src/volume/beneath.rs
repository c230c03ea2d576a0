//! Work below a directory by descriptor, following no link.
//!
//! A container that writes into a volume can replace any name in it by a link between two looks of
//! the kubelet. A [`Dir`] is therefore opened once, and everything below it is named by one
//! component, or resolved by the kernel with the promise not to leave the directory
//! (openat2(2), `RESOLVE_BENEATH`). Every module that writes, reads or removes what
//! containers can reach goes through here.

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, RenameFlags, ResolveFlag, openat, openat2, readlinkat, renameat, renameat2};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// openat2 answers EAGAIN when a rename elsewhere kept it from proving where `..` leads.
/// Somebody who renames for ever gets an error, not a kubelet that never comes back.
const RESOLVE_ATTEMPTS: usize = 64;

/// The mode of a new directory until it is known to be the one that was made.
const UNPUBLISHED: u32 = 0o700;

/// An open directory.
#[derive(Debug)]
pub struct Dir(File);

impl Dir {
    /// Opens a directory by its path and follows links in it: for paths that only the
    /// kubelet or an administrator decides.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        Ok(Self(nix::fcntl::open(path, flags, Mode::empty())?.into()))
    }

    /// A directory further below, reached without any link.
    pub fn descend(&self, relative: &Path) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
        Ok(Self(self.resolve(relative, flags, resolve)?.into()))
    }

    /// The directory of this name, unless it is a link or something is mounted on it: then
    /// ELOOP or EXDEV. Bind mounts of the same device count.
    pub fn enter(&self, name: &OsStr) -> nix::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW;
        let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_XDEV;
        Ok(Self(self.resolve(Path::new(name), flags, resolve)?.into()))
    }

    /// Whatever is at `relative`, as a place to mount from. Links are followed as long as
    /// they stay below this directory.
    pub fn locate(&self, relative: &Path) -> nix::Result<OwnedFd> {
        self.resolve(relative, OFlag::O_PATH, ResolveFlag::RESOLVE_BENEATH)
    }

    /// The same without following any link.
    pub fn locate_unlinked(&self, relative: &Path) -> nix::Result<OwnedFd> {
        let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
        self.resolve(relative, OFlag::O_PATH | OFlag::O_NOFOLLOW, resolve)
    }

    /// A directory at `relative` by [`Dir::locate`]'s rules.
    pub fn locate_directory(&self, relative: &Path) -> nix::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY;
        Ok(Self(self.resolve(relative, flags, ResolveFlag::RESOLVE_BENEATH)?.into()))
    }

    fn resolve(&self, relative: &Path, flags: OFlag, resolve: ResolveFlag) -> nix::Result<OwnedFd> {
        let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        let how = OpenHow::new().flags(flags | OFlag::O_CLOEXEC).resolve(resolve);
        for _ in 0..RESOLVE_ATTEMPTS {
            match openat2(&self.0, relative, how) {
                Err(Errno::EAGAIN) => {}
                other => return other,
            }
        }
        Err(Errno::EAGAIN)
    }

    /// Makes one directory and gives it exactly this mode, whatever the process's umask.
    pub fn make_dir(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        mkdirat(&self.0, name, Mode::from_bits_truncate(UNPUBLISHED))?;
        let made = self.enter(name)?;
        // Another directory may stand under the name by now. The one that was made is empty
        // and closed to everybody; one that is not is none of ours to open up.
        let is_ours = made.metadata()?.permissions().mode() & 0o777 == UNPUBLISHED && made.read()?.next().is_none();
        if !is_ours {
            return Err(io::Error::other(format!("{name:?} was replaced while it was made")));
        }
        made.set_mode(mode)?;
        Ok(made)
    }

    /// The directory at `relative`, with those on the way that are missing. Existing ones
    /// keep their mode.
    pub fn make_dirs(&self, relative: &Path, mode: u32) -> io::Result<Self> {
        let mut at = self.try_clone()?;
        for name in components(relative)? {
            at = match at.descend(Path::new(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => match at.make_dir(name, mode) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => at.descend(Path::new(name))?,
                    made => made?,
                },
                found => found?,
            };
        }
        Ok(at)
    }

    /// A regular file to read. Anything else is refused before it is waited for: opening a
    /// pipe would block, opening a device would do whatever the device does.
    pub fn open_file(&self, relative: &Path) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let resolve = ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS;
        regular(self.resolve(relative, flags, resolve)?.into(), relative.as_os_str())
    }

    /// A file that did not exist, with exactly this mode.
    pub fn create_file(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::from_bits_truncate(0o600))?);
        file.set_permissions(Permissions::from_mode(mode))?;
        Ok(file)
    }

    /// Writes over a file in place, so that containers that have it mounted see the change.
    pub fn overwrite_file(&self, name: &OsStr, data: &[u8], mode: u32) -> io::Result<()> {
        let flags = OFlag::O_WRONLY
            | OFlag::O_CREAT
            | OFlag::O_NOFOLLOW
            | OFlag::O_NONBLOCK
            | OFlag::O_NOCTTY
            | OFlag::O_CLOEXEC;
        let opened = openat(&self.0, name, flags, Mode::from_bits_truncate(0o600))?;
        let mut file = regular(opened.into(), name)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.set_len(0)?;
        file.write_all(data)
    }

    /// Writes a file anew and puts it in the place of the old one, which readers see whole until
    /// then. Returns when it is on the disk.
    pub fn replace_file(&self, name: &OsStr, data: &[u8], mode: u32) -> io::Result<()> {
        let mut fresh = name.to_owned();
        fresh.push(".new");
        match self.remove_file(&fresh) {
            Ok(()) | Err(Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = self.create_file(&fresh, mode)?;
        file.write_all(data)?;
        file.sync_all()?;
        self.rename(&fresh, name)?;
        self.sync()
    }

    pub fn read_link(&self, name: &OsStr) -> nix::Result<OsString> {
        readlinkat(&self.0, name)
    }

    pub fn symlink(&self, target: &OsStr, name: &OsStr) -> nix::Result<()> {
        symlinkat(target, &self.0, name)
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> nix::Result<()> {
        renameat(&self.0, from, &self.0, to)
    }

    /// Moves an entry to another directory, where nothing has its new name.
    pub fn move_to(&self, from: &OsStr, directory: &Self, to: &OsStr) -> nix::Result<()> {
        renameat2(&self.0, from, &directory.0, to, RenameFlags::RENAME_NOREPLACE)
    }

    /// Removes a file or a link, never what the link points to.
    pub fn remove_file(&self, name: &OsStr) -> nix::Result<()> {
        unlinkat(&self.0, name, UnlinkatFlags::NoRemoveDir)
    }

    pub fn remove_dir(&self, name: &OsStr) -> nix::Result<()> {
        unlinkat(&self.0, name, UnlinkatFlags::RemoveDir)
    }

    /// The entries, by way of the descriptor: the path the answers carry names no directory
    /// that could be replaced.
    pub fn read(&self) -> io::Result<std::fs::ReadDir> {
        std::fs::read_dir(descriptor_path(self.0.as_fd()))
    }

    /// Where the directory is now, for messages and for the mount table.
    pub fn path(&self) -> io::Result<PathBuf> {
        std::fs::read_link(descriptor_path(self.0.as_fd()))
    }

    pub fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }

    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.0.set_permissions(Permissions::from_mode(mode))
    }

    /// Returns when the entries and the mode are on the disk.
    pub fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A name for what a descriptor holds, whatever happens to the path it was opened by. Good
/// for system calls that take a path only.
pub fn descriptor_path(descriptor: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd()))
}

/// The names along a relative path; `.` is passed over, everything else that is not a plain
/// name is refused.
pub fn components(relative: &Path) -> io::Result<Vec<&OsStr>> {
    let parts = relative.components().filter(|part| *part != Component::CurDir);
    parts
        .map(|part| match part {
            Component::Normal(name) => Ok(name),
            _ => {
                let why = format!("{} must not be absolute or contain '..'", relative.display());
                Err(io::Error::new(io::ErrorKind::InvalidInput, why))
            }
        })
        .collect()
}

fn regular(file: File, name: &OsStr) -> io::Result<File> {
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{name:?} is not a regular file"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn temporary() -> (tempfile::TempDir, Dir) {
        let place = tempfile::tempdir().expect("a temporary directory");
        let dir = Dir::open(place.path()).expect("opened");
        (place, dir)
    }

    #[test]
    fn directories_are_made_with_their_mode_and_links_on_the_way_are_refused() {
        let (place, dir) = temporary();
        dir.make_dirs(Path::new("a/./b"), 0o2777).expect("made");
        let mode = std::fs::metadata(place.path().join("a/b")).expect("there").permissions().mode();
        assert_eq!(mode & 0o7777, 0o2777);
        dir.make_dirs(Path::new("a/b/c"), 0o700).expect("made below what exists");
        let mode = std::fs::metadata(place.path().join("a")).expect("there").permissions().mode();
        assert_eq!(mode & 0o7777, 0o2777, "what existed keeps its mode");
        symlink("/tmp", place.path().join("out")).expect("linked");
        for path in ["out/x", "../x", "/x", "a/../../x"] {
            assert!(dir.make_dirs(Path::new(path), 0o755).is_err(), "{path}");
        }
    }

    #[test]
    fn only_regular_files_are_opened_and_written_over() {
        let (place, dir) = temporary();
        std::fs::write(place.path().join("host"), "secret").expect("written");
        symlink("host", place.path().join("link")).expect("linked");
        nix::unistd::mkfifo(&place.path().join("pipe"), Mode::from_bits_truncate(0o666)).expect("made");
        for name in ["link", "pipe", "."] {
            assert!(dir.open_file(Path::new(name)).is_err(), "{name}");
        }
        for name in ["link", "pipe"] {
            assert!(dir.overwrite_file(OsStr::new(name), b"x", 0o644).is_err(), "{name}");
        }
        assert!(dir.open_file(Path::new("host")).is_ok());
        assert_eq!(std::fs::read_to_string(place.path().join("host")).expect("read"), "secret");
    }

    #[test]
    fn links_are_followed_below_the_directory_and_no_further() {
        let (place, dir) = temporary();
        std::fs::create_dir(place.path().join("in")).expect("made");
        symlink("in", place.path().join("inside")).expect("linked");
        symlink("../..", place.path().join("in/above")).expect("linked");
        symlink("/etc", place.path().join("absolute")).expect("linked");
        assert!(dir.locate(Path::new("inside")).is_ok());
        assert_eq!(dir.locate(Path::new("in/above")).err(), Some(Errno::EXDEV));
        assert_eq!(dir.locate(Path::new("absolute")).err(), Some(Errno::EXDEV));
        assert_eq!(dir.locate_unlinked(Path::new("inside/x")).err(), Some(Errno::ELOOP));
    }
}
