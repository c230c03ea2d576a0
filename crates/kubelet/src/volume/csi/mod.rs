//! csi: a volume of a CSI driver, behind a claim or made for one pod. The driver mounts; the kubelet
//! calls its node service in order, remembers on the disk what it has asked for, and gives the
//! volume to the pod's group.
//!
//! `…/kubernetes.io~csi/<name>/vol_data.json` names the driver and the volume, and is there from
//! before the first call until after the last: whatever a kill leaves can be taken away.
//!
//! Upstream: pkg/volume/csi.

mod expand;
mod source;
mod users;

use super::beneath::Dir;
use super::ownership::{Access, give_to_group, has_group};
use super::place::make_directory;
use super::stats::VolumeStats;
use super::token::TokenSource;
use super::{
    MountedVolume, VolumeFailure, VolumeMode, VolumePlace, VolumePlugin, VolumeRequest, blocking, mounts,
    pod_directory, tree,
};
use crate::cri::RuntimeError;
use crate::csi::{Driver, Drivers, NodeCapabilities, proto};
use async_trait::async_trait;
use ferry_api::view::core::v1::{Node, PersistentVolumeView, Secret, VolumeView};
use ferry_api::view::storage::v1::{CSIDriver, VolumeAttachment};
use ferry_client::{Client, Informer, Recorder, SharedObject};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, json};
use source::{CsiSource, Lifecycle, VolumeData, staging_directory};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) use users::Users;

pub(super) const NAME: &str = "csi";
pub(super) const MOUNT: &str = "mount";
/// An empty file that is made when the volume is mounted and the pod's group has got it.
const READY: &str = "ready";
/// A driver that asks for it gets each volume published again by the time of upstream's pod sync.
const REPUBLISH_EVERY: Duration = Duration::from_secs(60);

pub struct CsiVolume {
    pub(super) root: Arc<Path>,
    pub(super) drivers: Arc<Drivers>,
    pub(super) objects: Informer<CSIDriver>,
    pub(super) client: Client,
    pub(super) node_name: String,
    pub(super) users: Users,
    pub(super) recorder: Recorder,
    pub(super) node: Informer<Node>,
    /// When volumes were last published, by their directories.
    pub(super) published: Mutex<HashMap<PathBuf, Instant>>,
    /// The tokens of pods' service accounts that drivers have asked for, by the pod's uid.
    pub(super) tokens: tokio::sync::Mutex<HashMap<String, TokenSource>>,
}

#[async_trait]
impl VolumePlugin for CsiVolume {
    fn name(&self) -> &'static str {
        NAME
    }

    fn takes(&self, volume: VolumeView<'_>, bound: Option<PersistentVolumeView<'_>>) -> bool {
        takes(volume, bound)
    }

    async fn attach(&self, request: &VolumeRequest) -> Result<(), VolumeFailure> {
        let source = CsiSource::of(request)?;
        if self.is_published(request, &source).await? {
            return Ok(());
        }
        self.objects.synced().await;
        let object = self.object(&source.driver);
        if self.is_attachable(&source) {
            // Before anything is mounted: a volume in use is not detached.
            self.drivers.note_in_use(&source.id());
            self.check_attached(request, &source.id().unique_name())?;
        }
        self.drivers.find(&source.driver)?;
        source.check_lifecycle(object.as_ref().map(SharedObject::view))?;
        self.publish_context(&source).await?;
        Ok(())
    }

    async fn stage(&self, request: &VolumeRequest) -> Result<(), String> {
        let source = CsiSource::of(request)?;
        if self.is_published(request, &source).await? {
            return Ok(());
        }
        let place = request.directory(NAME, &source.spec_name);
        let data = source.data(&self.node_name);
        let calls = self.users.add(source.id(), &place);
        let _turn = calls.lock().await;
        let written = data.clone();
        request.on_disk(move |request| written.store(request.root(), &place)).await?;
        let driver = self.drivers.find(&source.driver)?;
        let capabilities = driver.capabilities;
        if source.lifecycle == Lifecycle::Ephemeral || !capabilities.stage {
            return Ok(());
        }
        let staging = staging_directory(&self.root, &source.driver, &source.handle);
        let (root, made) = (self.root.clone(), staging.clone());
        request.on_disk(move |_| make_directory(&root, &made, 0o750).map(drop)).await?;
        let message = proto::StageVolume {
            volume_id: source.handle.clone(),
            publish_context: self.publish_context(&source).await?,
            staging_target_path: staging.to_string_lossy().into_owned(),
            volume_capability: Some(capability(request, &source, capabilities)),
            secrets: self.secrets(source.stage_secret.as_ref()).await?,
            volume_context: source.attributes.clone(),
        };
        driver.stage(message).await.map_err(text)
    }

    async fn publish(&self, request: &VolumeRequest) -> Result<MountedVolume, VolumeFailure> {
        let source = CsiSource::of(request)?;
        let place = request.directory(NAME, &source.spec_name);
        let target = place.join(MOUNT);
        let object = self.object(&source.driver);
        let must_be_read_only = source.read_only;
        if !self.is_published(request, &source).await? || self.is_republish_due(&source, &place) {
            let calls = self.users.add(source.id(), &place);
            let _turn = calls.lock().await;
            let driver = self.drivers.find(&source.driver)?;
            self.publish_now(request, &source, &driver, &target, object.as_ref()).await?;
            self.published.lock().insert(place, Instant::now());
        }
        Ok(MountedVolume { path: target, must_be_read_only, mode: source.mode })
    }

    async fn expand(&self, request: &VolumeRequest) -> Result<(), String> {
        let source = CsiSource::of(request)?;
        match self.may_grow(&source) {
            true => self.grow(request, &source).await,
            false => Ok(()),
        }
    }

    fn look_again(&self, request: &VolumeRequest) -> Option<Duration> {
        let source = CsiSource::of(request).ok()?;
        let now = Timestamp::now();
        let retry = self.users.growth(&source.id()).retry_at(now).map(|at| at.duration_since(now));
        let retry = retry.and_then(|wait| Duration::try_from(wait).ok());
        retry.into_iter().chain(self.is_republished(&source.driver).then_some(REPUBLISH_EVERY)).min()
    }

    async fn stats(&self, path: &Path) -> Result<Option<VolumeStats>, String> {
        let place = path.parent().unwrap_or(path).to_owned();
        let data = blocking(move || Ok(VolumeData::load(&place))).await.map_err(|error| error.to_string())?;
        let Some(data) = data else { return Ok(None) };
        let driver = self.drivers.find(&data.driver)?;
        if !driver.capabilities.stats {
            return Ok(None);
        }
        let message =
            proto::GetVolumeStats { volume_id: data.handle, volume_path: path.to_string_lossy().into_owned() };
        let answer = driver.stats(message).await.map_err(text)?;
        render_stats(&answer).map(Some)
    }

    async fn unpublish(&self, place: &VolumePlace) -> Result<(), String> {
        let path = place.path();
        let of_place = path.clone();
        let data = blocking(move || Ok(VolumeData::load(&of_place))).await.map_err(|error| error.to_string())?;
        // Nothing was asked of a driver yet, or everything is taken back.
        let Some(data) = data else { return Ok(()) };
        let driver = self.drivers.find(&data.driver)?;
        let id = data.id();
        let calls = self.users.calls(id.clone());
        let _turn = calls.lock().await;
        let target = path.join(MOUNT);
        let message = proto::UnpublishVolume {
            volume_id: data.handle.clone(),
            target_path: target.to_string_lossy().into_owned(),
        };
        driver.unpublish(message).await.map_err(text)?;
        if data.lifecycle == Lifecycle::Persistent && !self.users.has_others(&id, &path) {
            self.unstage(&driver, &data).await?;
            self.drivers.note_unused(&id);
        }
        let of_place = path.clone();
        blocking(move || {
            tree::remove_tree(&target).map_err(std::io::Error::other)?;
            VolumeData::remove(&of_place)
        })
        .await
        .map_err(|error| error.to_string())?;
        self.users.remove(&id, &path);
        self.published.lock().remove(&path);
        self.tokens.lock().await.remove(&place.uid);
        Ok(())
    }

    async fn reconstruct(&self) -> Result<(), String> {
        let root = self.root.clone();
        let found = blocking(move || Ok(find_all(&root))).await.map_err(|error| error.to_string())?;
        if found.is_empty() {
            return Ok(());
        }
        self.objects.synced().await;
        for (place, data) in found {
            let id = data.id();
            self.users.add(id.clone(), &place);
            self.users.note_mounted(&id, None);
            if data.lifecycle == Lifecycle::Persistent && self.needs_attachment(&data.driver) {
                self.drivers.note_in_use(&id);
            }
        }
        Ok(())
    }
}

pub(super) fn takes(volume: VolumeView<'_>, bound: Option<PersistentVolumeView<'_>>) -> bool {
    volume.csi().is_some() || bound.is_some_and(|bound| bound.spec().csi().is_some())
}

impl CsiVolume {
    fn object(&self, driver: &str) -> Option<SharedObject<CSIDriver>> {
        self.objects.get("", driver)
    }

    /// Whether volumes of the driver are attached to nodes before they are mounted.
    fn needs_attachment(&self, driver: &str) -> bool {
        self.object(driver).is_none_or(|object| object.view().spec().attach_required() != Some(false))
    }

    fn is_attachable(&self, source: &CsiSource) -> bool {
        source.lifecycle == Lifecycle::Persistent && self.needs_attachment(&source.driver)
    }

    /// The volume waits until the API has it as in use here, so that it is not detached meanwhile,
    /// and then for the attach-detach controller; the node's own object tells of both
    /// (upstream: GenerateVerifyControllerAttachedVolumeFunc).
    fn check_attached(&self, request: &VolumeRequest, unique_name: &str) -> Result<(), VolumeFailure> {
        self.drivers.wait_for_attachment(request.pod().metadata().uid());
        let node = self.node.get("", &self.node_name);
        let status = node.as_ref().map(|node| node.view().status()).unwrap_or_default();
        if !status.volumes_in_use().contains(unique_name) {
            let why = "Volume has not been added to the list of VolumesInUse in the node's volume status";
            return Err(VolumeFailure::Pending(why.to_owned()));
        }
        if !status.volumes_attached().iter().any(|volume| volume.name() == unique_name) {
            return Err(VolumeFailure::Pending(format!("volume {unique_name} is not yet in node's status")));
        }
        Ok(())
    }

    fn is_republished(&self, driver: &str) -> bool {
        self.object(driver).is_some_and(|object| object.view().spec().requires_republish() == Some(true))
    }

    fn is_republish_due(&self, source: &CsiSource, place: &Path) -> bool {
        let is_old = |at: &Instant| at.elapsed() >= REPUBLISH_EVERY;
        self.is_republished(&source.driver) && self.published.lock().get(place).is_none_or(is_old)
    }

    async fn is_published(&self, request: &VolumeRequest, source: &CsiSource) -> Result<bool, String> {
        let place = request.directory(NAME, &source.spec_name);
        let look = move |_: &VolumeRequest| {
            let is_mounted = mounts::is_mount_point(&place.join(MOUNT)).map_err(|error| error.to_string())?;
            Ok(is_mounted && place.join(READY).exists())
        };
        request.on_disk(look).await
    }

    async fn publish_now(
        &self,
        request: &VolumeRequest,
        source: &CsiSource,
        driver: &Driver,
        target: &Path,
        object: Option<&SharedObject<CSIDriver>>,
    ) -> Result<(), String> {
        let capabilities = driver.capabilities;
        let spec = object.map(|object| object.view().spec()).unwrap_or_default();
        let mut volume_context = source.attributes.clone();
        if spec.pod_info_on_mount() == Some(true) {
            volume_context.extend(source.pod_info(request.pod()));
        }
        let mut secrets = self.secrets(source.publish_secret.as_ref()).await?;
        if let Some(tokens) = self.tokens(request, object).await? {
            let goes_to = match spec.service_account_token_in_secrets() {
                Some(true) => &mut secrets,
                _ => &mut volume_context,
            };
            goes_to.insert("csi.storage.k8s.io/serviceAccount.tokens".to_owned(), tokens);
        }
        let is_staged = source.lifecycle == Lifecycle::Persistent && capabilities.stage;
        let staging = is_staged.then(|| staging_directory(&self.root, &source.driver, &source.handle));
        let message = proto::PublishVolume {
            volume_id: source.handle.clone(),
            publish_context: self.publish_context(source).await?,
            staging_target_path: staging.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
            target_path: target.to_string_lossy().into_owned(),
            volume_capability: Some(capability(request, source, capabilities)),
            readonly: source.read_only,
            secrets,
            volume_context,
        };
        driver.publish(message).await.map_err(text)?;
        let gives = source.mode == VolumeMode::Filesystem
            && !capabilities.mount_group
            && source.gives_group(object.map(SharedObject::view));
        let (target, handle) = (target.to_owned(), source.handle.clone());
        let given = request.on_disk(move |request| give(request, &target, gives).map_err(|error| error.to_string()));
        given.await.map_err(|why| format!("applyFSGroup failed for vol {handle}: {why}"))
    }

    async fn unstage(&self, driver: &Driver, data: &VolumeData) -> Result<(), String> {
        let staging = staging_directory(&self.root, &data.driver, &data.handle);
        let Some(volume) = staging.parent().map(Path::to_owned) else { return Ok(()) };
        if !staging.exists() {
            return Ok(());
        }
        if driver.capabilities.stage {
            let message = proto::UnstageVolume {
                volume_id: data.handle.clone(),
                staging_target_path: staging.to_string_lossy().into_owned(),
            };
            driver.unstage(message).await.map_err(text)?;
        }
        let removed = blocking(move || tree::remove_tree(&volume).map_err(std::io::Error::other)).await;
        removed.map_err(|error| error.to_string())
    }

    /// The attacher's metadata of the volume, once it is attached.
    async fn publish_context(&self, source: &CsiSource) -> Result<HashMap<String, String>, String> {
        if !self.is_attachable(source) {
            return Ok(HashMap::new());
        }
        let name = source.id().attachment_name(&self.node_name);
        let found = self.client.api::<VolumeAttachment>("").get(&name).await;
        let found = found.map_err(|error| format!("error fetching the VolumeAttachment {name}: {error}"))?;
        let status = found.view().status();
        if let Some(error) = status.attach_error().filter(|_| !status.attached()) {
            return Err(error.message().to_owned());
        }
        if !status.attached() {
            return Err(format!("volume {} is not attached to node {} yet", source.handle, self.node_name));
        }
        Ok(status.attachment_metadata().to_map().into_iter().collect())
    }

    pub(super) async fn secrets(
        &self,
        reference: Option<&(String, String)>,
    ) -> Result<HashMap<String, String>, String> {
        let Some((namespace, name)) = reference else { return Ok(HashMap::new()) };
        let found = self.client.api::<Secret>(namespace).get(name).await;
        let found = found.map_err(|error| {
            format!("failed to find the secret {name} in the namespace {namespace} with error: {error}")
        })?;
        let data = found.view().data();
        Ok(data
            .iter()
            .map(|(key, value)| (key.to_owned(), String::from_utf8_lossy(&value.decode()).into_owned()))
            .collect())
    }

    /// Tokens of the pod's service account for the audiences that the driver wants.
    async fn tokens(
        &self,
        request: &VolumeRequest,
        object: Option<&SharedObject<CSIDriver>>,
    ) -> Result<Option<String>, String> {
        let wanted = object.map(|object| object.view().spec().token_requests()).unwrap_or_default();
        if wanted.is_empty() {
            return Ok(None);
        }
        let mut sources = self.tokens.lock().await;
        let source = sources.entry(request.pod().metadata().uid().to_owned()).or_default();
        let mut tokens = Map::new();
        for one in wanted {
            let (token, expires) =
                source.fetch(&self.client, request.pod(), one.audience(), one.expiration_seconds()).await?;
            tokens.insert(
                one.audience().to_owned(),
                json!({ "token": token, "expirationTimestamp": expires.to_string() }),
            );
        }
        Ok(Some(serde_json::Value::Object(tokens).to_string()))
    }
}

/// The amounts of a driver's answer, by their unit. Pure.
fn render_stats(answer: &proto::VolumeStats) -> Result<VolumeStats, String> {
    if answer.usage.is_empty() {
        return Err("failed to get usage from response. usage is nil".to_owned());
    }
    let mut stats = VolumeStats::default();
    let amount = |value: i64| u64::try_from(value).unwrap_or_default();
    for usage in &answer.usage {
        let (available, total, used) = (amount(usage.available), amount(usage.total), amount(usage.used));
        match usage.unit {
            proto::BYTES => (stats.available, stats.capacity, stats.used) = (available, total, used),
            proto::INODES => (stats.inodes_free, stats.inodes, stats.inodes_used) = (available, total, used),
            _ => {}
        }
    }
    Ok(stats)
}

pub(super) fn text(status: tonic::Status) -> String {
    RuntimeError::from(status).to_string()
}

/// Upstream's mapping of the first access mode (pkg/volume/csi/csi_client.go).
pub(super) fn capability(
    request: &VolumeRequest,
    source: &CsiSource,
    capabilities: NodeCapabilities,
) -> proto::VolumeCapability {
    let group = request.fs_group().filter(|_| capabilities.mount_group);
    let mount = proto::MountVolume {
        fs_type: source.fs_type.clone(),
        mount_flags: source.mount_options.clone(),
        volume_mount_group: group.map(|group| group.to_string()).unwrap_or_default(),
    };
    let is_block = source.mode == VolumeMode::Block;
    proto::VolumeCapability {
        block: is_block.then_some(proto::Empty {}),
        mount: (!is_block).then_some(mount),
        access_mode: Some(proto::AccessMode { mode: source.access_mode(capabilities.single_node_multi_writer) }),
    }
}

/// Gives the volume to the pod's group, once: what the pod changes later is its own. Blocking.
fn give(request: &VolumeRequest, target: &Path, gives: bool) -> std::io::Result<()> {
    let Some(place) = target.parent().filter(|place| !place.join(READY).exists()) else { return Ok(()) };
    if let Some(group) = request.fs_group().filter(|_| gives) {
        let directory = Dir::open(target)?;
        let context = request.pod().spec().security_context().unwrap_or_default();
        let is_done = context.fs_group_change_policy() == Some("OnRootMismatch")
            && has_group(&directory, group, Access::ReadWrite)?;
        if !is_done {
            give_to_group(&directory, group, Access::ReadWrite)?;
        }
    }
    Dir::open(place)?.create_file(OsStr::new(READY), 0o600).map(drop)
}

/// Every volume that a pod of this node has data of. Blocking.
fn find_all(root: &Path) -> Vec<(PathBuf, VolumeData)> {
    let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let volumes = entries(pod_directory(root, "")).flat_map(|pod| {
        let kind = pod.path().join("volumes").join(format!("{}{NAME}", super::place::PREFIX));
        entries(kind)
    });
    volumes.filter_map(|volume| Some((volume.path(), VolumeData::load(&volume.path())?))).collect()
}
