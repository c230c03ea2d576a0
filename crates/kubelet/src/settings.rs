//! The settings of images, the runtime and security that users may change; each has the name and the
//! default of its field in KubeletConfiguration.

use crate::cri::grpc::REQUEST_TIMEOUT;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeSettings {
    /// runtimeRequestTimeout. Pulls have no limit, and a sandbox has twice as long.
    pub request_timeout: Duration,
    /// serializeImagePulls: one pull at a time. Upstream's default is true unless there is a
    /// maximum; ours is the maximum below, because its pods start sooner.
    pub serialize_image_pulls: bool,
    /// maxParallelImagePulls; `None` is no limit.
    pub max_parallel_image_pulls: Option<usize>,
    /// seccompDefault: containers without a profile get the runtime's.
    pub seccomp_default: bool,
    /// allowedUnsafeSysctls: names, or prefixes that end in `*`.
    pub allowed_unsafe_sysctls: Vec<String>,
    /// imagePullCredentialsVerificationPolicy.
    pub verification: VerificationPolicy,
    /// --image-credential-provider-config: a file, or a directory of files read in their order.
    pub credential_provider_config: Option<PathBuf>,
    /// --image-credential-provider-bin-dir.
    pub credential_provider_bin_dir: Option<PathBuf>,
    /// The node's own file of mirrors, authorities and credentials.
    pub registries: Option<RegistriesPlace>,
    /// userNamespaces.idsPerPod, a multiple of 65536.
    pub ids_per_pod: u32,
}

/// Where the node's file of registries stands, and where the runtime looks for its own form of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RegistriesPlace {
    pub file: PathBuf,
    /// A directory that belongs to the rendering: what is in it and not of it is removed.
    pub hosts: PathBuf,
}

/// Which images that are present a pod must prove its right to.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum VerificationPolicy {
    /// Images that were not pulled by this kubelet are everybody's.
    #[default]
    NeverVerifyPreloadedImages,
    NeverVerify,
    AlwaysVerify,
    /// Images of these names are everybody's if they were not pulled by this kubelet
    /// (preloadedImagesVerificationAllowlist): full names without tag, or prefixes that end in `/*`.
    NeverVerifyAllowlistedImages(Vec<String>),
}

impl Default for RuntimeSettings {
    fn default() -> Self {
        Self {
            request_timeout: REQUEST_TIMEOUT,
            serialize_image_pulls: false,
            max_parallel_image_pulls: Some(5),
            seccomp_default: false,
            allowed_unsafe_sysctls: Vec::new(),
            verification: VerificationPolicy::default(),
            credential_provider_config: None,
            credential_provider_bin_dir: None,
            registries: None,
            ids_per_pod: 65_536,
        }
    }
}

impl RuntimeSettings {
    /// How many images are pulled at once.
    pub fn parallel_pulls(&self) -> usize {
        match (self.serialize_image_pulls, self.max_parallel_image_pulls) {
            (true, _) => 1,
            (false, Some(most)) => most.max(1),
            (false, None) => tokio::sync::Semaphore::MAX_PERMITS,
        }
    }
}
