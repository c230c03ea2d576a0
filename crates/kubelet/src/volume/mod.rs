//! A pod's volumes on this machine: making them before its containers start, keeping
//! their contents fresh, and leaving nothing behind.
//!
//! A kind of volume is one file that implements [`VolumePlugin`] and one line in `all.rs`.
//! Objects that the pod refers to, tokens, and the volumes behind its claims ([`claim`]) are
//! fetched before by `pod_worker`; a claim's volume is made by the plugin of its own kind.
//!
//! The layout is upstream's: `<root>/pods/<uid>/volumes/kubernetes.io~<plugin>/<name>`. The
//! disk and the mount table say what a pod has, so that a kubelet that starts anew needs no
//! memory to take it away.

mod all;
pub mod atomic;
pub mod beneath;
pub mod claim;
mod config_map;
mod csi;
mod downward_api;
mod empty_dir;
pub mod host_path;
pub mod image;
mod local;
pub mod mounts;
mod ownership;
pub mod payload;
mod place;
mod projected;
mod request;
mod secret;
mod stats;
pub mod subpath;
pub mod token;
pub mod tree;

pub use place::VolumePlace;
pub use request::{PodVolumes, Tokens, VolumeRequest};
pub use stats::{Measure, VolumeStats, VolumeUsage, measure_tree};

use crate::cri::Runtime;
use crate::csi::Drivers;
use crate::image::{Images, PullFailure};
use async_trait::async_trait;
use ferry_api::view::core::v1::{Node, PersistentVolumeView, PodView, VolumeView};
use ferry_api::view::storage::v1::CSIDriver;
use ferry_client::{Client, Informer, Recorder};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// One volume that could not be made. Shown as
/// `MountVolume.SetUp failed for volume "x" : why`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("MountVolume.SetUp failed for volume {volume:?} : {why}")]
pub struct VolumeError {
    pub volume: String,
    pub why: String,
    /// Nothing has failed: the volume waits for others, and the pod is woken when they are done.
    pub is_pending: bool,
}

/// Where each volume of a pod is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mounted {
    pub volumes: HashMap<String, MountedVolume>,
    /// When one of them is to be looked at again.
    pub look_again: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MountedVolume {
    pub path: PathBuf,
    /// The kubelet writes this volume, so containers only ever read it, whatever their
    /// volumeMounts ask for.
    pub must_be_read_only: bool,
    pub mode: VolumeMode,
}

impl MountedVolume {
    pub fn directory(path: impl Into<PathBuf>, must_be_read_only: bool) -> Self {
        Self { path: path.into(), must_be_read_only, mode: VolumeMode::Filesystem }
    }

    pub fn device(path: impl Into<PathBuf>, must_be_read_only: bool) -> Self {
        Self { path: path.into(), must_be_read_only, mode: VolumeMode::Block }
    }
}

/// How a container gets a volume: as a directory to mount, or as a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeMode {
    Filesystem,
    Block,
}

/// The reason why a volume cannot be used now.
#[derive(Clone, Debug, PartialEq)]
pub enum VolumeFailure {
    /// The end of the pod's FailedMount event; the pod waits.
    Mount(String),
    /// The volume waits for something that wakes the pod; there is no event.
    Pending(String),
    /// The image of the volume is not there; containers that mount it wait with this reason.
    Image(PullFailure),
}

impl From<String> for VolumeFailure {
    fn from(why: String) -> Self {
        Self::Mount(why)
    }
}

impl VolumeFailure {
    fn into_text(self) -> String {
        match self {
            Self::Mount(why) | Self::Pending(why) => why,
            Self::Image(failure) => failure.message,
        }
    }
}

/// When a volume is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetUpTime {
    /// In every round of the pod, before its sandbox.
    BeforeSandbox,
    /// Before each start of a container that mounts it.
    WithContainers,
}

/// One kind of volume. Every step may be repeated at any time, also after it succeeded and
/// after a kubelet was killed in the middle of it; none keeps anything in memory that the
/// disk does not have. A step's error is the end of the pod's FailedMount event, and the
/// pod's worker tries again with a back-off.
#[async_trait]
pub trait VolumePlugin: Send + Sync {
    /// The plugin's part of the volume's directory, as upstream spells it.
    fn name(&self) -> &'static str;

    /// Whether the volume is of this kind. `bound` is the volume behind its claim.
    fn takes(&self, volume: VolumeView<'_>, bound: Option<PersistentVolumeView<'_>>) -> bool;

    fn set_up_time(&self) -> SetUpTime {
        SetUpTime::BeforeSandbox
    }

    /// Returns once the volume is attached to this node; called before [`Self::stage`].
    async fn attach(&self, _: &VolumeRequest) -> Result<(), VolumeFailure> {
        Ok(())
    }

    /// Prepares the volume once for all pods of this node.
    async fn stage(&self, _: &VolumeRequest) -> Result<(), String> {
        Ok(())
    }

    /// Makes the volume for one pod, or refreshes it while containers use it: it is called
    /// whenever [`Self::set_up_time`] comes. The answer is the place to mount from.
    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure>;

    /// Grows what is mounted to the size that the claim has by now; called after
    /// [`Self::publish`].
    async fn expand(&self, _: &VolumeRequest) -> Result<(), String> {
        Ok(())
    }

    /// When the volume is to be looked at again although nothing has happened to its pod.
    fn look_again(&self, _: &VolumeRequest) -> Option<Duration> {
        None
    }

    /// The room and use of the volume that was published at the path; nothing for kinds that
    /// upstream has no figures of.
    async fn stats(&self, path: &Path) -> Result<Option<VolumeStats>, String> {
        stats::of_directory(path, self.measure()).await
    }

    fn measure(&self) -> Measure {
        Measure::Nothing
    }

    /// Undoes [`Self::publish`], and [`Self::stage`] when no other pod has the volume. Only the
    /// disk says what there was: the API may have forgotten the pod. Called for each
    /// directory of the plugin's before the pod's files are unmounted and removed.
    async fn unpublish(&self, _: &VolumePlace) -> Result<(), String> {
        Ok(())
    }

    /// Takes over what an earlier kubelet has staged; called once, before any pod.
    async fn reconstruct(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Whether a volume of a pod's spec is made on this node, by a plugin or behind a claim.
#[cfg(test)]
pub(crate) fn is_made(volume: VolumeView<'_>) -> bool {
    let is_claimed = volume.persistent_volume_claim().is_some() || volume.ephemeral().is_some();
    let of_machine = all::plugins_of_machine().iter().any(|plugin| plugin.takes(volume, None));
    is_claimed || of_machine || image::takes(volume) || csi::takes(volume, None)
}

/// The parts of the kubelet that some kinds of volumes need.
pub(crate) struct NodeParts {
    pub images: Arc<Images>,
    pub runtime: Arc<dyn Runtime>,
    pub csi: Arc<Drivers>,
    pub csi_objects: Informer<CSIDriver>,
    pub node: Informer<Node>,
    pub client: Client,
    pub recorder: Recorder,
    pub node_name: String,
}

/// The volumes of all pods of this node.
pub struct Volumes {
    root: Arc<Path>,
    plugins: Vec<Box<dyn VolumePlugin>>,
    mounted: stats::MountedVolumes,
}

impl Volumes {
    /// `root` is the kubelet's directory.
    pub(crate) fn new(root: &Path, parts: NodeParts) -> Self {
        Self { root: root.into(), plugins: all::plugins(root, parts), mounted: Default::default() }
    }

    /// Only the kinds that need nothing but this machine.
    pub fn of_machine(root: &Path) -> Self {
        Self { root: root.into(), plugins: all::plugins_of_machine(), mounted: Default::default() }
    }

    pub fn root(&self) -> &Arc<Path> {
        &self.root
    }

    /// Takes over what an earlier kubelet has left.
    pub async fn reconstruct(&self) {
        for plugin in &self.plugins {
            if let Err(error) = plugin.reconstruct().await {
                tracing::warn!(plugin = plugin.name(), %error, "cannot take over the volumes of an earlier kubelet");
            }
        }
    }

    /// Makes or refreshes the volumes of the pod that come before its sandbox. One that fails
    /// keeps no other from being made; the first that has failed is returned, and one that waits
    /// only where none has failed.
    pub async fn set_up(&self, pod: &Arc<PodVolumes>) -> Result<Mounted, VolumeError> {
        let mut mounted = Mounted::default();
        let mut errors = Vec::new();
        for request in VolumeRequest::all(pod) {
            let name = request.volume().name().to_owned();
            let made = match self.plugin_for(&request) {
                Ok(plugin) if plugin.set_up_time() != SetUpTime::BeforeSandbox => continue,
                Ok(plugin) => set_up_one(plugin, &request).await.map(|volume| (plugin, volume)),
                Err(why) => Err(why.into()),
            };
            match made {
                Ok((plugin, volume)) => {
                    self.mounted.note(&request, plugin.name(), &volume.path);
                    mounted.volumes.insert(name, volume);
                    mounted.look_again = mounted.look_again.into_iter().chain(plugin.look_again(&request)).min();
                }
                Err(failure) => {
                    let is_pending = matches!(failure, VolumeFailure::Pending(_));
                    errors.push(VolumeError { volume: name, why: failure.into_text(), is_pending });
                }
            }
        }
        match errors.into_iter().min_by_key(|error| error.is_pending) {
            Some(error) => Err(error),
            None => Ok(mounted),
        }
    }

    /// The names of the pod's volumes that are made with the containers that mount them.
    pub fn made_with_containers<'a>(&self, pod: PodView<'a>) -> Vec<&'a str> {
        let late = |volume: &VolumeView<'a>| {
            let plugin = self.plugins.iter().find(|plugin| plugin.takes(*volume, None));
            plugin.is_some_and(|plugin| plugin.set_up_time() == SetUpTime::WithContainers)
        };
        pod.spec().volumes().iter().filter(late).map(|volume| volume.name()).collect()
    }

    /// Makes one of [`Self::made_with_containers`].
    pub async fn set_up_with_container(
        &self,
        pod: &Arc<PodVolumes>,
        name: &str,
    ) -> Result<MountedVolume, VolumeFailure> {
        let mut requests = VolumeRequest::all(pod);
        let Some(request) = requests.find(|request| request.volume().name() == name) else {
            return Err(VolumeFailure::Mount(format!("the pod has no volume {name:?}")));
        };
        set_up_one(self.plugin_for(&request)?, &request).await
    }
}

async fn set_up_one(plugin: &dyn VolumePlugin, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
    plugin.attach(request).await?;
    plugin.stage(request).await?;
    let mounted = plugin.publish(request).await?;
    plugin.expand(request).await?;
    Ok(mounted)
}

impl Volumes {
    fn plugin_for(&self, request: &VolumeRequest) -> Result<&dyn VolumePlugin, String> {
        let (volume, bound) = (request.volume(), request.bound());
        if request.is_claimed() && bound.is_none() {
            return Err("PVC is not bound".into());
        }
        match self.plugins.iter().find(|plugin| plugin.takes(volume, bound)) {
            Some(plugin) => Ok(&**plugin),
            None => Err(match bound {
                Some(bound) => {
                    format!("this node has no plugin for the kind of PersistentVolume {}", bound.metadata().name())
                }
                None => "this node has no plugin for the volume's kind".into(),
            }),
        }
    }

    /// Unmounts the pod's volumes but leaves its directory, for pods that have finished and
    /// still exist.
    pub async fn unmount(&self, uid: &str) -> io::Result<()> {
        self.mounted.forget(uid);
        self.unpublish(uid).await?;
        let (root, uid) = (self.root.clone(), uid.to_owned());
        blocking(move || mounts::unmount_below(&one_pod_directory(&root, &uid)?)).await
    }

    /// Unmounts and removes everything a pod had under its directory. What is already gone is
    /// no error.
    pub async fn tear_down(&self, uid: &str) -> io::Result<()> {
        self.mounted.forget(uid);
        self.unpublish(uid).await?;
        let (root, uid) = (self.root.clone(), uid.to_owned());
        blocking(move || tear_down(&root, &uid)).await
    }

    async fn unpublish(&self, uid: &str) -> io::Result<()> {
        let (root, of_pod) = (self.root.clone(), uid.to_owned());
        let places = blocking(move || {
            one_pod_directory(&root, &of_pod)?;
            VolumePlace::list(&root, &of_pod)
        });
        for place in places.await? {
            let plugin = self.plugins.iter().find(|plugin| plugin.name() == place.plugin);
            let Some(plugin) = plugin else { continue };
            plugin.unpublish(&place).await.map_err(|why| {
                let name = &place.name;
                io::Error::other(format!("UnmountVolume.TearDown failed for volume {name:?} : {why}"))
            })?;
        }
        Ok(())
    }
}

pub fn pod_directory(root: &Path, uid: &str) -> PathBuf {
    root.join("pods").join(uid)
}

pub fn volume_directory(root: &Path, uid: &str, plugin: &str, name: &str) -> PathBuf {
    pod_directory(root, uid).join("volumes").join(format!("{}{plugin}", place::PREFIX)).join(name)
}

/// Unmounts and removes everything a pod had under its directory, whatever made it. Blocking;
/// what is already gone is no error.
pub fn tear_down(root: &Path, uid: &str) -> io::Result<()> {
    let directory = one_pod_directory(root, uid)?;
    mounts::unmount_below(&directory)?;
    tree::remove_tree(&directory).map_err(io::Error::other)
}

/// An empty uid, or one that is a path, would name the directory of all pods.
fn one_pod_directory(root: &Path, uid: &str) -> io::Result<PathBuf> {
    match beneath::components(Path::new(uid)).as_deref() {
        Ok([name]) if *name == uid => Ok(pod_directory(root, uid)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{uid:?} is no pod's uid"))),
    }
}

/// Runs work on the disk where it keeps no other task waiting.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
