//! A pod's volumes on this machine: making them before its containers start, keeping
//! their contents fresh, and leaving nothing behind.
//!
//! The layout is upstream's: `<root>/pods/<uid>/volumes/kubernetes.io~<plugin>/<name>`.

pub mod atomic;
pub mod beneath;
pub mod host_path;
pub mod mounts;
mod ownership;
pub mod payload;
pub mod subpath;
pub mod token;
pub mod tree;

use crate::container::{Machine, References};
use atomic::Payload;
use beneath::Dir;
use ferry_api::view::core::v1::{EmptyDirVolumeSourceView, PodView, VolumeView};
use nix::mount::{MsFlags, mount};
use nix::unistd::Gid;
use ownership::{Access, give_to_group};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// One volume that could not be made. Shown as
/// `MountVolume.SetUp failed for volume "x" : why`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("MountVolume.SetUp failed for volume {volume:?} : {why}")]
pub struct VolumeError {
    pub volume: String,
    pub why: String,
}

/// Where each volume of a pod is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mounted {
    pub volumes: HashMap<String, MountedVolume>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MountedVolume {
    pub path: PathBuf,
    /// The kubelet writes this volume, so containers only ever read it, whatever their
    /// volumeMounts ask for.
    pub must_be_read_only: bool,
}

/// Bound service account tokens by volume and path within it.
pub type Tokens = HashMap<(String, String), String>;

pub fn pod_directory(root: &Path, uid: &str) -> PathBuf {
    root.join("pods").join(uid)
}

pub fn volume_directory(root: &Path, uid: &str, plugin: &str, name: &str) -> PathBuf {
    pod_directory(root, uid).join("volumes").join(format!("kubernetes.io~{plugin}")).join(name)
}

/// Makes or refreshes every volume of the pod. Blocking; may be repeated at any time,
/// also while containers use the volumes.
pub fn set_up(
    root: &Path,
    pod: PodView<'_>,
    references: &References,
    tokens: &Tokens,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<Mounted, VolumeError> {
    let mut mounted = Mounted::default();
    for volume in pod.spec().volumes() {
        let volume_mounted = set_up_one(root, pod, volume, references, tokens, pod_ips, machine)
            .map_err(|why| VolumeError { volume: volume.name().to_owned(), why })?;
        mounted.volumes.insert(volume.name().to_owned(), volume_mounted);
    }
    Ok(mounted)
}

fn set_up_one(
    root: &Path,
    pod: PodView<'_>,
    volume: VolumeView<'_>,
    references: &References,
    tokens: &Tokens,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<MountedVolume, String> {
    let writable = |path| MountedVolume { path, must_be_read_only: false };
    if let Some(source) = volume.empty_dir() {
        return empty_dir(root, pod, volume, source).map(writable);
    }
    if let Some(source) = volume.host_path() {
        host_path::check(source.path(), source.type_().unwrap_or_default())?;
        return Ok(writable(PathBuf::from(source.path())));
    }
    let rendered = payload::render(pod, volume, references, tokens, pod_ips, machine)?;
    let Some((plugin, payload)) = rendered else {
        return Err("this node has no plugin for the volume's kind".into());
    };
    let path = volume_directory(root, pod.metadata().uid(), plugin, volume.name());
    let (mut directory, _) = make_directory(root, &path, 0o755)?;
    // What may be secret stays off the disk.
    if plugin != "configmap" {
        directory = mount_tmpfs(directory, &path, None)?.0;
    }
    write_payload(&directory, &payload, fs_group(pod)).map_err(|error| error.to_string())?;
    Ok(MountedVolume { path, must_be_read_only: true })
}

fn write_payload(directory: &Dir, payload: &Payload, group: Option<Gid>) -> io::Result<()> {
    let own = |volume: &Dir| match group {
        Some(group) => give_to_group(volume, group, Access::ReadOnly),
        None => Ok(()),
    };
    atomic::write(directory, payload, own).map(drop)
}

fn empty_dir(
    root: &Path,
    pod: PodView<'_>,
    volume: VolumeView<'_>,
    source: EmptyDirVolumeSourceView<'_>,
) -> Result<PathBuf, String> {
    let path = volume_directory(root, pod.metadata().uid(), "empty-dir", volume.name());
    let (directory, is_fresh) = match source.medium() {
        "" => make_directory(root, &path, 0o777)?,
        "Memory" => {
            let size = source.size_limit().map(|limit| limit.value()).filter(|size| *size > 0);
            mount_tmpfs(make_directory(root, &path, 0o755)?.0, &path, size)?
        }
        other => return Err(format!("unknown storage medium {other:?}")),
    };
    // Changes that containers have made since are theirs.
    if is_fresh {
        let failed = |error: io::Error| format!("cannot set the mode of {}: {error}", path.display());
        directory.set_mode(0o777).map_err(failed)?;
        if let Some(group) = fs_group(pod) {
            give_to_group(&directory, group, Access::ReadWrite).map_err(failed)?;
        }
    }
    Ok(path)
}

fn fs_group(pod: PodView<'_>) -> Option<Gid> {
    let group = pod.spec().security_context()?.fs_group()?;
    u32::try_from(group).ok().map(Gid::from_raw)
}

/// The directory below the root, and whether it was not there before.
fn make_directory(root: &Path, path: &Path, mode: u32) -> Result<(Dir, bool), String> {
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
fn mount_tmpfs(directory: Dir, path: &Path, size: Option<i64>) -> Result<(Dir, bool), String> {
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

/// Unmounts and removes everything a pod had under its directory. Blocking; what is
/// already gone is no error.
pub fn tear_down(root: &Path, uid: &str) -> io::Result<()> {
    let directory = one_pod_directory(root, uid)?;
    mounts::unmount_below(&directory)?;
    tree::remove_tree(&directory).map_err(io::Error::other)
}

/// Unmounts the pod's volumes but leaves its directory, for pods that have finished and
/// still exist.
pub fn unmount(root: &Path, uid: &str) -> io::Result<()> {
    mounts::unmount_below(&one_pod_directory(root, uid)?)
}

/// An empty uid, or one that is a path, would name the directory of all pods.
fn one_pod_directory(root: &Path, uid: &str) -> io::Result<PathBuf> {
    match beneath::components(Path::new(uid)).as_deref() {
        Ok([name]) if *name == uid => Ok(pod_directory(root, uid)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{uid:?} is no pod's uid"))),
    }
}
