//! A pod's volumes on this machine: making them before its containers start, keeping
//! their contents fresh, and leaving nothing behind.
//!
//! The layout is upstream's: `<root>/pods/<uid>/volumes/kubernetes.io~<plugin>/<name>`.

pub mod atomic;
mod host_path;
pub mod payload;
pub mod subpath;
pub mod token;

use crate::container::{Machine, References};
use crate::pod;
use crate::resource;
use atomic::Payload;
use k8s_openapi::api::core::v1::{EmptyDirVolumeSource, Pod, Volume};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{Gid, chown};
use std::collections::HashMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
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
    pub paths: HashMap<String, PathBuf>,
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
    pod: &Pod,
    references: &References,
    tokens: &Tokens,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<Mounted, VolumeError> {
    let mut mounted = Mounted::default();
    for volume in pod::spec(pod).volumes.iter().flatten() {
        let path = set_up_one(root, pod, volume, references, tokens, pod_ips, machine)
            .map_err(|why| VolumeError { volume: volume.name.clone(), why })?;
        mounted.paths.insert(volume.name.clone(), path);
    }
    Ok(mounted)
}

fn set_up_one(
    root: &Path,
    pod: &Pod,
    volume: &Volume,
    references: &References,
    tokens: &Tokens,
    pod_ips: &[String],
    machine: &Machine,
) -> Result<PathBuf, String> {
    if let Some(source) = &volume.empty_dir {
        return empty_dir(root, pod, volume, source);
    }
    if let Some(source) = &volume.host_path {
        host_path::check(&source.path, source.type_.as_deref().unwrap_or_default())?;
        return Ok(PathBuf::from(&source.path));
    }
    let rendered = payload::render(pod, volume, references, tokens, pod_ips, machine)?;
    let Some((plugin, payload)) = rendered else {
        return Err("this node has no plugin for the volume's kind".into());
    };
    let directory = volume_directory(root, pod::uid(pod), plugin, &volume.name);
    // What may be secret stays off the disk.
    if plugin != "configmap" {
        make_tmpfs(&directory, None)?;
    }
    write_payload(&directory, &payload, fs_group(pod))?;
    Ok(directory)
}

fn write_payload(directory: &Path, payload: &Payload, group: Option<Gid>) -> Result<(), String> {
    make_directory(directory, 0o755)?;
    let changed = atomic::write(directory, payload).map_err(|error| error.to_string())?;
    if let (true, Some(group)) = (changed, group) {
        give_to_group(directory, group).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn empty_dir(root: &Path, pod: &Pod, volume: &Volume, source: &EmptyDirVolumeSource) -> Result<PathBuf, String> {
    let directory = volume_directory(root, pod::uid(pod), "empty-dir", &volume.name);
    let memory = source.medium.as_deref() == Some("Memory");
    // What containers have since made of it is theirs.
    let fresh = if memory { !is_mount_point(&directory) } else { !directory.exists() };
    match source.medium.as_deref().unwrap_or_default() {
        "" => make_directory(&directory, 0o777)?,
        "Memory" if fresh => {
            make_tmpfs(&directory, source.size_limit.as_ref().map(resource::value).filter(|size| *size > 0))?;
            set_mode(&directory, 0o777)?;
        }
        "Memory" => {}
        other => return Err(format!("unknown storage medium {other:?}")),
    }
    if let (true, Some(group)) = (fresh, fs_group(pod)) {
        give_to_group(&directory, group).map_err(|error| error.to_string())?;
    }
    Ok(directory)
}

fn fs_group(pod: &Pod) -> Option<Gid> {
    let group = pod::spec(pod).security_context.as_ref()?.fs_group?;
    u32::try_from(group).ok().map(Gid::from_raw)
}

fn make_directory(directory: &Path, mode: u32) -> Result<(), String> {
    if directory.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(directory).map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
    set_mode(directory, mode)
}

fn set_mode(path: &Path, mode: u32) -> Result<(), String> {
    // Set afterwards, because the process's umask narrows what mkdir is told.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(|error| format!("cannot set the mode of {}: {error}", path.display()))
}

fn make_tmpfs(directory: &Path, size: Option<i64>) -> Result<(), String> {
    make_directory(directory, 0o755)?;
    if is_mount_point(directory) {
        return Ok(());
    }
    let options = size.map(|size| format!("size={size}"));
    mount(Some("tmpfs"), directory, Some("tmpfs"), MsFlags::empty(), options.as_deref())
        .map_err(|error| format!("cannot mount a tmpfs on {}: {error}", directory.display()))
}

/// A directory on another device than its parent has something mounted on it.
pub fn is_mount_point(path: &Path) -> bool {
    let Some(parent) = path.parent() else { return true };
    match (std::fs::symlink_metadata(path), std::fs::symlink_metadata(parent)) {
        (Ok(own), Ok(above)) => own.dev() != above.dev(),
        _ => false,
    }
}

/// fsGroup: everything belongs to the group and the group may do what the owner may;
/// directories hand the group on (upstream: pkg/volume/volume_linux.go).
fn give_to_group(path: &Path, group: Gid) -> std::io::Result<()> {
    let meta = std::fs::symlink_metadata(path)?;
    if meta.file_type().is_symlink() {
        nix::unistd::fchownat(nix::fcntl::AT_FDCWD, path, None, Some(group), nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW)?;
        return Ok(());
    }
    chown(path, None, Some(group))?;
    let mode = meta.permissions().mode();
    if meta.is_dir() {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode | 0o2770))?;
        for entry in std::fs::read_dir(path)? {
            give_to_group(&entry?.path(), group)?;
        }
    } else {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode | ((mode & 0o600) >> 3)))?;
    }
    Ok(())
}

/// Unmounts and removes everything a pod had under its directory. Blocking; what is
/// already gone is no error.
pub fn tear_down(root: &Path, uid: &str) -> std::io::Result<()> {
    // An empty uid would name the directory of all pods.
    if uid.is_empty() || uid.contains('/') || uid == ".." {
        return Ok(());
    }
    let directory = pod_directory(root, uid);
    unmount_below(&directory)?;
    match std::fs::remove_dir_all(&directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Unmounts the pod's volumes but leaves its directory, for pods that have finished and
/// still exist.
pub fn unmount(root: &Path, uid: &str) -> std::io::Result<()> {
    unmount_below(&pod_directory(root, uid))
}

/// The deepest first, because a mount with another one inside is busy.
fn unmount_below(directory: &Path) -> std::io::Result<()> {
    let table = std::fs::read_to_string("/proc/self/mountinfo")?;
    let mut points: Vec<PathBuf> = table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|point| PathBuf::from(unescape(point)))
        .filter(|point| point.starts_with(directory))
        .collect();
    points.sort_by_key(|point| std::cmp::Reverse(point.as_os_str().len()));
    for point in points {
        // Lazily: a process that still holds a file open must not keep the pod from going.
        match umount2(&point, MntFlags::MNT_DETACH) {
            Ok(()) | Err(nix::errno::Errno::EINVAL | nix::errno::Errno::ENOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// mountinfo writes blanks and backslashes as octal.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        match rest.get(at + 1..at + 4).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = &rest[at + 4..];
            }
            None => {
                out.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}
