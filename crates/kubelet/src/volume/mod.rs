//! A pod's volumes on this machine: making them before its containers start, keeping
//! their contents fresh, and leaving nothing behind.
//!
//! A kind of volume is one file that implements [`VolumePlugin`] and one line in [`PLUGINS`].
//! What a plugin needs from the API is fetched before, by `pod_worker`: objects that the pod
//! refers to, tokens, and the volumes behind its claims ([`persistent_claim`]). Publishing is
//! then work on this machine alone, in one thread that may block.
//!
//! The layout is upstream's: `<root>/pods/<uid>/volumes/kubernetes.io~<plugin>/<name>`. The
//! disk and the mount table say what a pod has, so that a kubelet that starts anew needs no
//! memory to take it away.

pub mod atomic;
pub mod beneath;
mod empty_dir;
pub mod host_path;
pub mod mounts;
mod ownership;
pub mod payload;
pub mod persistent_claim;
mod place;
pub mod subpath;
pub mod token;
pub mod tree;

use crate::container::{Machine, References};
use ferry_api::view::core::v1::{PodView, VolumeView};
use nix::unistd::Gid;
use persistent_claim::Claims;
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

/// All that publishing a pod's volumes needs.
#[derive(Clone, Copy)]
pub struct Publication<'a> {
    pub root: &'a Path,
    pub pod: PodView<'a>,
    pub references: &'a References,
    pub tokens: &'a Tokens,
    pub claims: &'a Claims,
    pub pod_ips: &'a [String],
    pub machine: &'a Machine,
}

impl Publication<'_> {
    fn fs_group(&self) -> Option<Gid> {
        let group = self.pod.spec().security_context()?.fs_group()?;
        u32::try_from(group).ok().map(Gid::from_raw)
    }
}

/// One kind of volume, or several that are made alike.
pub trait VolumePlugin: Sync {
    /// Whether the volume is of this kind.
    fn takes(&self, volume: VolumeView<'_>) -> bool;

    /// Makes the volume, or refreshes it while containers use it: it is called in every round
    /// of the pod and again after a failure. Blocking. The answer is the place to mount
    /// from; an error is told in the pod's FailedMount event.
    fn publish(&self, publication: &Publication<'_>, volume: VolumeView<'_>) -> Result<MountedVolume, String>;
}

/// Every kind of volume, one line each.
static PLUGINS: &[&dyn VolumePlugin] =
    &[&empty_dir::EmptyDir, &host_path::HostPath, &payload::Written, &persistent_claim::PersistentClaim];

/// Makes or refreshes every volume of the pod. Blocking; may be repeated at any time,
/// also while containers use the volumes.
pub fn set_up(publication: &Publication<'_>) -> Result<Mounted, VolumeError> {
    let mut mounted = Mounted::default();
    for volume in publication.pod.spec().volumes() {
        let published = match PLUGINS.iter().find(|plugin| plugin.takes(volume)) {
            Some(plugin) => plugin.publish(publication, volume),
            None => Err("this node has no plugin for the volume's kind".into()),
        };
        let published = published.map_err(|why| VolumeError { volume: volume.name().to_owned(), why })?;
        mounted.volumes.insert(volume.name().to_owned(), published);
    }
    Ok(mounted)
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
