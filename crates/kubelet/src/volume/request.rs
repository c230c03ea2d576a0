//! The request that a plugin answers: one volume of one pod, with everything that was fetched
//! for it. Made by `pod_worker` in each round.

use super::claim::{ClaimObjects, Claims};
use crate::container::{Machine, References};
use crate::cri::v1;
use ferry_api::view::core::v1::{PersistentVolumeClaim, PersistentVolumeView, Pod, PodView, Secret, VolumeView};
use ferry_client::SharedObject;
use nix::unistd::Gid;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bound service account tokens by volume and path within it.
pub type Tokens = HashMap<(String, String), String>;

/// All that the volumes of one pod are made of.
pub struct PodVolumes {
    /// The kubelet's directory.
    pub root: Arc<Path>,
    pub pod: SharedObject<Pod>,
    pub references: Arc<References>,
    pub tokens: Tokens,
    pub claims: Claims,
    /// The claims themselves, as they are now.
    pub claim_objects: ClaimObjects,
    pub pod_ips: Vec<String>,
    pub machine: Machine,
    /// The configuration of the sandbox, for volumes that are made with containers.
    pub sandbox: Option<v1::PodSandboxConfig>,
}

impl PodVolumes {
    /// A pod whose volumes need nothing from the API.
    pub fn new(root: &Path, pod: SharedObject<Pod>) -> Self {
        Self {
            root: root.into(),
            pod,
            references: Arc::default(),
            tokens: Tokens::new(),
            claims: Claims::new(),
            claim_objects: ClaimObjects::new(),
            pod_ips: Vec::new(),
            machine: Machine::default(),
            sandbox: None,
        }
    }

    /// The secrets that open the registries of the pod's images.
    pub fn pull_secrets(&self) -> Vec<SharedObject<Secret>> {
        let named = self.pod.view().spec().image_pull_secrets().iter();
        named.filter_map(|secret| self.references.secrets.get(secret.name()).cloned()).collect()
    }
}

/// One volume of a pod. Cheap to clone, so that work on the disk can own it.
#[derive(Clone)]
pub struct VolumeRequest {
    pod: Arc<PodVolumes>,
    index: usize,
}

impl VolumeRequest {
    /// The volumes of the pod in the order of its spec.
    pub fn all(pod: &Arc<PodVolumes>) -> impl Iterator<Item = Self> {
        (0..pod.pod.view().spec().volumes().len()).map(|index| Self { pod: pod.clone(), index })
    }

    pub fn volume(&self) -> VolumeView<'_> {
        self.pod().spec().volumes().get(self.index).unwrap_or_default()
    }

    /// The volume behind the claim.
    pub fn bound(&self) -> Option<PersistentVolumeView<'_>> {
        self.pod.claims.get(self.volume().name()).map(SharedObject::view)
    }

    /// The claim itself.
    pub fn claim(&self) -> Option<&SharedObject<PersistentVolumeClaim>> {
        self.pod.claim_objects.get(self.volume().name())
    }

    pub fn is_claimed(&self) -> bool {
        self.volume().persistent_volume_claim().is_some() || self.volume().ephemeral().is_some()
    }

    /// Whether the pod asks for the claim's volume without the right to write.
    pub fn is_read_only(&self) -> bool {
        self.volume().persistent_volume_claim().is_some_and(|claim| claim.read_only())
    }

    pub fn pod(&self) -> PodView<'_> {
        self.pod.pod.view()
    }

    /// Everything that was fetched for the pod.
    pub fn sources(&self) -> &PodVolumes {
        &self.pod
    }

    pub fn root(&self) -> &Path {
        &self.pod.root
    }

    /// The volume's directory: `name` is the volume's, or that of the volume behind its claim.
    pub fn directory(&self, plugin: &str, name: &str) -> PathBuf {
        super::volume_directory(self.root(), self.pod().metadata().uid(), plugin, name)
    }

    pub fn fs_group(&self) -> Option<Gid> {
        let group = self.pod().spec().security_context()?.fs_group()?;
        u32::try_from(group).ok().map(Gid::from_raw)
    }

    /// Runs a plugin's work on the disk where it keeps no other task waiting.
    pub async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let request = self.clone();
        tokio::task::spawn_blocking(move || work(&request)).await.map_err(|error| error.to_string())?
    }
}
