//! From a container's spec to the runtime's configuration of it. Everything here is
//! pure: `sync` gathers what is needed first and calls [`config::render_container`].

pub mod config;
pub mod dns;
pub mod downward;
pub mod env;
pub mod env_file;
pub mod expand;
pub mod hosts;
pub mod resources;
pub mod sandbox;
pub mod security;
pub mod service_env;

use crate::pod;
use ferry_api::view::core::v1::{ConfigMap, ConfigMapView, PodView, Secret, SecretView};
use ferry_client::SharedObject;
use std::collections::{BTreeSet, HashMap};

/// Why a container cannot be described; upstream's sentences, shown as the message of
/// CreateContainerConfigError.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

impl ConfigError {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What the machine contributes to a container's configuration.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    pub node_name: String,
    pub node_ips: Vec<String>,
    pub memory_capacity: i64,
    pub allocatable_milli_cpu: i64,
    pub allocatable_memory: i64,
    pub allocatable_storage: i64,
    pub cgroup_v2: bool,
    /// `/` of the pod cgroups, for example `/kubepods`.
    pub cgroup_root: String,
}

/// The ConfigMaps and Secrets a pod's spec names, as they were when it was synced.
/// A name that is absent was looked for and does not exist.
#[derive(Clone, Debug, Default)]
pub struct References {
    pub config_maps: HashMap<String, SharedObject<ConfigMap>>,
    pub secrets: HashMap<String, SharedObject<Secret>>,
    /// The files in volumes that the environment of the container that is started names.
    pub env_files: env_file::EnvFiles,
}

impl References {
    pub fn config_map(&self, name: &str) -> Result<ConfigMapView<'_>, ConfigError> {
        let found = self.config_maps.get(name).map(SharedObject::view);
        found.ok_or_else(|| ConfigError(format!("configmap {name:?} not found")))
    }

    pub fn secret(&self, name: &str) -> Result<SecretView<'_>, ConfigError> {
        let found = self.secrets.get(name).map(SharedObject::view);
        found.ok_or_else(|| ConfigError(format!("secret {name:?} not found")))
    }
}

/// Names of everything [`References`] must hold for this pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferencedNames {
    pub config_maps: BTreeSet<String>,
    pub secrets: BTreeSet<String>,
}

impl ReferencedNames {
    fn add_config_map(&mut self, name: &str) {
        self.config_maps.insert(name.to_owned());
    }

    fn add_secret(&mut self, name: &str) {
        self.secrets.insert(name.to_owned());
    }
}

/// The names that the environments, volumes and pull secrets of a pod refer to.
pub fn referenced_names(pod: PodView<'_>) -> ReferencedNames {
    let mut names = ReferencedNames::default();
    let spec = pod.spec();
    let ephemeral = pod::ephemeral_containers(pod).iter().map(pod::ephemeral_as_container);
    for container in spec.containers().iter().chain(spec.init_containers()).chain(ephemeral) {
        for source in container.env_from() {
            source.config_map_ref().into_iter().for_each(|wanted| names.add_config_map(wanted.name()));
            source.secret_ref().into_iter().for_each(|wanted| names.add_secret(wanted.name()));
        }
        for source in container.env().iter().filter_map(|variable| variable.value_from()) {
            source.config_map_key_ref().into_iter().for_each(|wanted| names.add_config_map(wanted.name()));
            source.secret_key_ref().into_iter().for_each(|wanted| names.add_secret(wanted.name()));
        }
    }
    for volume in spec.volumes() {
        volume.config_map().into_iter().for_each(|source| names.add_config_map(source.name()));
        volume.secret().into_iter().for_each(|source| names.add_secret(source.secret_name()));
        for source in volume.projected().into_iter().flat_map(|projected| projected.sources()) {
            source.config_map().into_iter().for_each(|source| names.add_config_map(source.name()));
            source.secret().into_iter().for_each(|source| names.add_secret(source.name()));
        }
    }
    spec.image_pull_secrets().iter().for_each(|secret| names.add_secret(secret.name()));
    names.config_maps.remove("");
    names.secrets.remove("");
    names
}
