//! Writes a set of files so that a reader sees all of the old or all of the new.
//!
//! The files live in a dated directory; `..data` links to it and the names a container
//! sees link through `..data`. Swapping that one link by rename is the whole update
//! (upstream: pkg/volume/util/atomic_writer.go). For example:
//!
//! ```text
//! ..2026_01_01_00_00_00.123/color
//! ..data -> ..2026_01_01_00_00_00.123
//! color -> ..data/color
//! ```
//!
//! Nothing that is found in the volume is trusted: a `..data` that names anything but a
//! dated directory beside it is replaced and never followed (CVE-2017-1002102).

use super::beneath::{Dir, components};
use super::tree;
use nix::errno::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const DATA: &str = "..data";
const NEXT: &str = "..data_tmp";

/// Upstream's limits of a path and of one name in it.
const MAX_PATH: usize = 4096;
const MAX_NAME: usize = 255;

#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub data: Vec<u8>,
    pub mode: u32,
    pub user: Option<u32>,
}

/// Relative paths and what is in them.
pub type Payload = BTreeMap<String, File>;

/// Makes the volume hold exactly the payload; answers whether anything changed. `own` sets
/// who may read the volume and is called before the new files can be seen.
pub fn write(volume: &Dir, payload: &Payload, own: impl FnOnce(&Dir) -> io::Result<()>) -> io::Result<bool> {
    let payload = clean(payload)?;
    let current = current_directory(volume)?;
    let is_current = match &current {
        Some(name) => holds(volume, name, &payload),
        None => false,
    };
    let dated = match current {
        Some(name) if is_current => name,
        _ => publish(volume, &payload, own)?,
    };
    // Also where nothing changed: a kubelet may have died between the two steps.
    link_visible(volume, &payload)?;
    remove_stale(volume, &dated)?;
    Ok(!is_current)
}

/// Keys come from users; a path must stay inside the volume and not look like our own.
fn clean(payload: &Payload) -> io::Result<BTreeMap<PathBuf, &File>> {
    let refuse = |path: &str, rule: &str| {
        Err(io::Error::new(io::ErrorKind::InvalidInput, format!("invalid path {path:?} in a volume: it must {rule}")))
    };
    let mut cleaned = BTreeMap::new();
    for (path, file) in payload {
        if path.len() > MAX_PATH {
            return refuse(path, "not be longer than 4096 bytes");
        }
        let Ok(names) = components(Path::new(path)) else {
            return refuse(path, "be relative and not contain '..'");
        };
        let Some(first) = names.first() else { return refuse(path, "not be empty") };
        if first.as_bytes().starts_with(b"..") {
            return refuse(path, "not start with '..'");
        }
        if names.iter().any(|name| name.len() > MAX_NAME) {
            return refuse(path, "not have a name longer than 255 bytes");
        }
        cleaned.insert(names.iter().collect(), file);
    }
    Ok(cleaned)
}

/// The dated directory that `..data` names, if it is one: a single name that begins with
/// two dots and means neither the directory above nor a name of ours.
fn current_directory(volume: &Dir) -> io::Result<Option<OsString>> {
    let target = match volume.read_link(OsStr::new(DATA)) {
        Ok(target) => target,
        // No link, or none that could be followed.
        Err(Errno::ENOENT | Errno::EINVAL) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    Ok(is_dated(&target).then_some(target))
}

fn is_dated(target: &OsStr) -> bool {
    let mut parts = Path::new(target).components();
    let is_one_name = parts.next() == Some(Component::Normal(target)) && parts.next().is_none();
    is_one_name && target.as_bytes().starts_with(b"..") && target != DATA && target != NEXT
}

/// Writes the files into a new dated directory and lets `..data` name it.
fn publish(
    volume: &Dir,
    payload: &BTreeMap<PathBuf, &File>,
    own: impl FnOnce(&Dir) -> io::Result<()>,
) -> io::Result<OsString> {
    let stamp = jiff::Timestamp::now().strftime("..%Y_%m_%d_%H_%M_%S").to_string();
    let name = OsString::from(format!("{stamp}.{}", rand::random::<u32>()));
    let dated = volume.make_dir(&name, 0o755)?;
    for (path, file) in payload {
        write_file(&dated, path, file)?;
    }
    own(volume)?;
    let (data, next) = (OsStr::new(DATA), OsStr::new(NEXT));
    remove_any(volume, next)?;
    volume.symlink(&name, next)?;
    // A link can replace a link; a directory under that name would be in the way.
    if volume.read_link(data) == Err(Errno::EINVAL) {
        remove_any(volume, data)?;
    }
    volume.rename(next, data)?;
    Ok(name)
}

fn write_file(dated: &Dir, path: &Path, file: &File) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut written = dated.make_dirs(parent, 0o755)?.create_file(name, file.mode)?;
    written.write_all(&file.data)?;
    if let Some(user) = file.user {
        nix::unistd::fchown(&written, Some(nix::unistd::Uid::from_raw(user)), None)?;
    }
    Ok(())
}

/// Whether the dated directory holds these files and no others.
fn holds(volume: &Dir, dated: &OsStr, payload: &BTreeMap<PathBuf, &File>) -> bool {
    let Ok(dated) = volume.enter(dated) else { return false };
    let same = |path: &Path, file: &File| {
        let read = |found: std::fs::File| {
            let mut data = Vec::new();
            // One byte more than expected is enough to know of a difference.
            found.take(file.data.len() as u64 + 1).read_to_end(&mut data).map(|_| data)
        };
        dated.open_file(path).and_then(read).is_ok_and(|data| data == file.data)
    };
    payload.iter().all(|(path, file)| same(path, file)) && has_no_other(&dated, Path::new(""), payload)
}

/// Every entry is a file of the payload or a directory on the way to one, so that the walk
/// ends with the payload, however large the directory is.
fn has_no_other(directory: &Dir, at: &Path, payload: &BTreeMap<PathBuf, &File>) -> bool {
    let Ok(mut entries) = directory.read() else { return false };
    entries.all(|entry| {
        let Ok(entry) = entry else { return false };
        let path = at.join(entry.file_name());
        if payload.contains_key(&path) {
            return true;
        }
        let is_on_the_way = payload.keys().any(|file| file.starts_with(&path));
        is_on_the_way && directory.enter(&entry.file_name()).is_ok_and(|child| has_no_other(&child, &path, payload))
    })
}

/// One link for each first component, and none for what is no longer there.
fn link_visible(volume: &Dir, payload: &BTreeMap<PathBuf, &File>) -> io::Result<()> {
    let wanted: BTreeSet<&OsStr> = payload.keys().filter_map(|path| path.iter().next()).collect();
    let through_data = |name: &OsStr| Path::new(DATA).join(name).into_os_string();
    for name in &wanted {
        if volume.read_link(name).is_ok_and(|target| target == through_data(name)) {
            continue;
        }
        remove_any(volume, name)?;
        volume.symlink(&through_data(name), name)?;
    }
    for entry in volume.read()? {
        let name = entry?.file_name();
        // Directories that a subPath asked for stay.
        if !wanted.contains(name.as_os_str())
            && volume.read_link(&name).is_ok_and(|target| target == through_data(&name))
        {
            volume.remove_file(&name)?;
        }
    }
    Ok(())
}

/// Dated directories that nothing names any more: the one before this, and those of a
/// kubelet that died while it wrote.
fn remove_stale(volume: &Dir, current: &OsStr) -> io::Result<()> {
    for entry in volume.read()? {
        let name = entry?.file_name();
        if is_dated(&name) && name != current {
            remove_any(volume, &name)?;
        }
    }
    Ok(())
}

fn remove_any(volume: &Dir, name: &OsStr) -> io::Result<()> {
    tree::remove_child(volume, name).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn payload(files: &[(&str, &str)]) -> Payload {
        files
            .iter()
            .map(|(path, data)| ((*path).into(), File { data: data.as_bytes().to_vec(), mode: 0o640, user: None }))
            .collect()
    }

    fn check(root: &Path, files: &[(&str, &str)]) -> io::Result<bool> {
        write(&Dir::open(root)?, &payload(files), |_| Ok(()))
    }

    #[test]
    fn an_update_swaps_everything_at_once_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        assert!(check(root, &[("a", "1"), ("sub/b", "2")]).expect("written"));
        assert_eq!(std::fs::read_to_string(root.join("sub/b")).expect("read"), "2");
        let mode = std::fs::metadata(root.join("a")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(!check(root, &[("a", "1"), ("./sub//b", "2")]).expect("unchanged"));
        let before = std::fs::read_link(root.join(DATA)).expect("a link");
        assert!(check(root, &[("a", "3"), ("c", "4")]).expect("written"));
        assert_eq!(std::fs::read_to_string(root.join("a")).expect("read"), "3");
        assert!(!root.join("sub").exists() && !root.join(before).exists());
        let names: Vec<_> = std::fs::read_dir(root).expect("listed").flatten().collect();
        assert_eq!(names.len(), 4, "a, c, ..data and one dated directory: {names:?}");
    }

    #[test]
    fn paths_cannot_leave_the_volume() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (long_name, long_path) = ("n".repeat(256), "p/".repeat(2049));
        for path in ["../x", "/x", "a/../../x", "..data", "..x/y", "", ".", &long_name, &long_path] {
            let error = check(directory.path(), &[(path, "1")]).expect_err(path).to_string();
            assert!(error.contains("it must"), "{error}");
        }
        assert!(check(directory.path(), &[("a/..b", "1")]).is_ok(), "two dots further down mean nothing");
    }

    #[test]
    fn a_kubelet_that_died_while_it_wrote_is_cleaned_up_after() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        check(root, &[("a", "1"), ("b", "2")]).expect("written");
        std::fs::create_dir_all(root.join("..2026_01_01_00_00_00.1/sub")).expect("made");
        symlink("..2026_01_01_00_00_00.1", root.join(NEXT)).expect("linked");
        std::fs::remove_file(root.join("b")).expect("removed");
        assert!(!check(root, &[("a", "1"), ("b", "2")]).expect("unchanged"));
        assert_eq!(std::fs::read_to_string(root.join("b")).expect("its link is back"), "2");
        assert!(!root.join("..2026_01_01_00_00_00.1").exists());
        assert!(check(root, &[("a", "2")]).expect("written over the link that was left"));
    }

    #[test]
    fn a_directory_that_a_sub_path_made_does_not_stop_updates() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        check(root, &[("a", "1")]).expect("written");
        std::fs::create_dir(root.join("asked-for")).expect("made");
        assert!(check(root, &[("a", "2")]).expect("written"));
        assert!(root.join("asked-for").is_dir());
        assert!(check(root, &[("asked-for", "3")]).expect("written"));
        assert_eq!(std::fs::read_to_string(root.join("asked-for")).expect("a key now"), "3");
    }

    #[test]
    fn the_owner_is_set_before_the_files_are_seen() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        let seen = |_: &Dir| {
            assert!(std::fs::symlink_metadata(root.join(DATA)).is_err());
            Ok(())
        };
        assert!(write(&Dir::open(root).expect("opened"), &payload(&[("a", "1")]), seen).expect("written"));
    }
}
