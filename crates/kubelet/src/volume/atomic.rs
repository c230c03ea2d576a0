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

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

const DATA: &str = "..data";
const NEXT: &str = "..data_tmp";

#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub data: Vec<u8>,
    pub mode: u32,
    pub user: Option<u32>,
}

/// Relative paths and what is in them.
pub type Payload = BTreeMap<String, File>;

/// Makes the directory hold exactly the payload; answers whether anything changed.
pub fn write(directory: &Path, payload: &Payload) -> io::Result<bool> {
    for path in payload.keys() {
        check_path(path)?;
    }
    let current = std::fs::read_link(directory.join(DATA)).ok();
    if let Some(current) = &current
        && holds(&directory.join(current), payload)
    {
        return Ok(false);
    }
    let dated = fresh_directory(directory)?;
    for (path, file) in payload {
        let target = dated.join(path);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(&target, &file.data)?;
        // Set afterwards: the process's umask narrows what open is told.
        std::fs::set_permissions(&target, std::fs::Permissions::from_mode(file.mode))?;
        if let Some(user) = file.user {
            nix::unistd::chown(&target, Some(nix::unistd::Uid::from_raw(user)), None)?;
        }
    }
    let next = directory.join(NEXT);
    let _ = std::fs::remove_file(&next);
    symlink(dated.file_name().unwrap_or_default(), &next)?;
    std::fs::rename(&next, directory.join(DATA))?;
    link_visible(directory, payload)?;
    if let Some(old) = current
        && Some(old.as_os_str()) != dated.file_name()
    {
        let _ = std::fs::remove_dir_all(directory.join(old));
    }
    Ok(true)
}

/// Keys come from users; a path must stay inside the volume and not look like our own.
fn check_path(path: &str) -> io::Result<()> {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if path.is_empty() || !plain || path.starts_with("..") {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("invalid path {path:?} in a volume")));
    }
    Ok(())
}

fn fresh_directory(directory: &Path) -> io::Result<PathBuf> {
    let now = jiff::Timestamp::now();
    let stamp = now.strftime("..%Y_%m_%d_%H_%M_%S");
    let dated = directory.join(format!("{stamp}.{}", rand::random::<u32>()));
    std::fs::create_dir(&dated)?;
    std::fs::set_permissions(&dated, std::fs::Permissions::from_mode(0o755))?;
    Ok(dated)
}

fn holds(dated: &Path, payload: &Payload) -> bool {
    let mut present = BTreeSet::new();
    if list(dated, dated, &mut present).is_err() {
        return false;
    }
    present.len() == payload.len()
        && payload.iter().all(|(path, file)| {
            present.contains(Path::new(path)) && std::fs::read(dated.join(path)).is_ok_and(|data| data == file.data)
        })
}

fn list(base: &Path, directory: &Path, out: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            list(base, &path, out)?;
        } else if let Ok(relative) = path.strip_prefix(base) {
            out.insert(relative.to_path_buf());
        }
    }
    Ok(())
}

/// One link for each first component, and none for what is no longer there.
fn link_visible(directory: &Path, payload: &Payload) -> io::Result<()> {
    let wanted: BTreeSet<&str> = payload.keys().filter_map(|path| path.split('/').next()).collect();
    for name in &wanted {
        let link = directory.join(name);
        if std::fs::symlink_metadata(&link).is_err() {
            symlink(Path::new(DATA).join(name), &link)?;
        }
    }
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !name.starts_with("..") && !wanted.contains(name.as_ref()) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(files: &[(&str, &str)]) -> Payload {
        files
            .iter()
            .map(|(path, data)| ((*path).into(), File { data: data.as_bytes().to_vec(), mode: 0o640, user: None }))
            .collect()
    }

    #[test]
    fn an_update_swaps_everything_at_once_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path();
        assert!(write(root, &payload(&[("a", "1"), ("sub/b", "2")])).expect("written"));
        assert_eq!(std::fs::read_to_string(root.join("sub/b")).expect("read"), "2");
        let mode = std::fs::metadata(root.join("a")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(!write(root, &payload(&[("a", "1"), ("sub/b", "2")])).expect("unchanged"));
        let before = std::fs::read_link(root.join(DATA)).expect("a link");
        assert!(write(root, &payload(&[("a", "3"), ("c", "4")])).expect("written"));
        assert_eq!(std::fs::read_to_string(root.join("a")).expect("read"), "3");
        assert!(!root.join("sub").exists() && !root.join(before).exists());
        let names: Vec<_> = std::fs::read_dir(root).expect("listed").flatten().collect();
        assert_eq!(names.len(), 4, "a, c, ..data and one dated directory: {names:?}");
    }

    #[test]
    fn paths_cannot_leave_the_volume() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        for path in ["../x", "/x", "a/../../x", "..data", ""] {
            assert!(write(directory.path(), &payload(&[(path, "1")])).is_err(), "{path}");
        }
    }
}
