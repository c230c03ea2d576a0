//! hostPath: a path of this machine, as a volume of the pod or behind its claim. It is given to
//! the runtime where it is, after a look whether it is of the kind that the pod asks for.

use super::beneath::Dir;
use super::claim::volume_mode;
use super::{MountedVolume, VolumeFailure, VolumeMode, VolumePlugin, VolumeRequest};
use async_trait::async_trait;
use ferry_api::view::core::v1::{PersistentVolumeView, VolumeView};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

pub struct HostPath;

#[async_trait]
impl VolumePlugin for HostPath {
    fn name(&self) -> &'static str {
        "host-path"
    }

    fn takes(&self, volume: VolumeView<'_>, bound: Option<PersistentVolumeView<'_>>) -> bool {
        volume.host_path().is_some() || bound.is_some_and(|bound| bound.spec().host_path().is_some())
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        Ok(request.on_disk(find).await?)
    }
}

fn find(request: &VolumeRequest) -> Result<MountedVolume, String> {
    if volume_mode(request)? == VolumeMode::Block {
        return Err("a hostPath volume is no block device".to_owned());
    }
    let bound = request.bound().and_then(|bound| bound.spec().host_path());
    let source = request.volume().host_path().or(bound).unwrap_or_default();
    check(source.path(), source.type_().unwrap_or_default())?;
    Ok(MountedVolume::directory(source.path(), request.is_read_only()))
}

/// Checks by type, and makes what `…OrCreate` asks for.
pub fn check(path: &str, kind: &str) -> Result<(), String> {
    let target = Path::new(path);
    let meta = std::fs::metadata(target).ok();
    let complain = |what: &str| Err(format!("hostPath type check failed: {path} is not {what}"));
    match kind {
        "" => Ok(()),
        "DirectoryOrCreate" => match meta {
            Some(meta) if meta.is_dir() => Ok(()),
            Some(_) => complain("a directory"),
            None => named(target, make_directory(target)),
        },
        "FileOrCreate" => match meta {
            Some(meta) if meta.is_file() => Ok(()),
            Some(_) => complain("a file"),
            None => named(target, make_file(target)),
        },
        "Directory" if meta.as_ref().is_some_and(|m| m.is_dir()) => Ok(()),
        "Directory" => complain("a directory"),
        "File" if meta.as_ref().is_some_and(|m| m.is_file()) => Ok(()),
        "File" => complain("a file"),
        "Socket" if meta.as_ref().is_some_and(|m| m.file_type().is_socket()) => Ok(()),
        "Socket" => complain("a socket file"),
        "CharDevice" if meta.as_ref().is_some_and(|m| m.file_type().is_char_device()) => Ok(()),
        "CharDevice" => complain("a character device"),
        "BlockDevice" if meta.as_ref().is_some_and(|m| m.file_type().is_block_device()) => Ok(()),
        "BlockDevice" => complain("a block device"),
        other => Err(format!("{other} is an invalid volume type")),
    }
}

fn named(path: &Path, made: io::Result<()>) -> Result<(), String> {
    made.map_err(|error| format!("cannot make {}: {error}", path.display()))
}

/// Below the directories that exist, which may be links of the administrator's, everything
/// is made by descriptor: another pod may have the directory mounted and put links into it.
fn make_directory(target: &Path) -> io::Result<()> {
    let (existing, missing) = split_existing(target)?;
    existing.make_dirs(&missing, 0o755).map(drop)
}

/// The file alone; the directory it is in must exist, as upstream has it.
fn make_file(target: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (target.parent(), target.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    Dir::open(parent)?.create_file(name, 0o644).map(drop)
}

/// The longest part of a path that exists, and the rest.
fn split_existing(target: &Path) -> io::Result<(Dir, PathBuf)> {
    for ancestor in target.ancestors() {
        match Dir::open(ancestor) {
            Ok(existing) => {
                let missing = target.strip_prefix(ancestor).map_err(io::Error::other)?;
                return Ok((existing, missing.to_path_buf()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn kinds_are_checked_and_made() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        assert_eq!(check(&at("no"), ""), Ok(()));
        assert!(check(&at("no"), "Directory").is_err_and(|why| why.ends_with("is not a directory")));
        assert_eq!(check(&at("d/e"), "DirectoryOrCreate"), Ok(()));
        assert_eq!(check(&at("d/e"), "Directory"), Ok(()));
        assert_eq!(std::fs::metadata(at("d/e")).expect("there").permissions().mode() & 0o7777, 0o755);
        assert_eq!(check(&at("f"), "FileOrCreate"), Ok(()));
        assert_eq!(std::fs::metadata(at("f")).expect("there").permissions().mode() & 0o7777, 0o644);
        assert_eq!(check(&at("f"), "File"), Ok(()));
        assert!(check(&at("f"), "Socket").is_err());
        assert!(check(&at("f"), "Wrong").is_err());
    }

    #[test]
    fn nothing_is_made_through_a_link_that_leads_nowhere() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let elsewhere = directory.path().join("elsewhere");
        symlink(&elsewhere, directory.path().join("link")).expect("linked");
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        for (path, kind) in [("link", "FileOrCreate"), ("link", "DirectoryOrCreate"), ("link/x", "DirectoryOrCreate")] {
            assert!(check(&at(path), kind).is_err(), "{path} {kind}");
        }
        assert!(!elsewhere.exists());
    }
}
