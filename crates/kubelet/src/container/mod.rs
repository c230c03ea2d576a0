//! From a container's spec to the runtime's configuration of it. Everything here is
//! pure: `sync` gathers what is needed first and calls [`config::render_container`].

pub mod config;
pub mod dns;
pub mod downward;
pub mod env;
pub mod expand;
pub mod hosts;
pub mod resources;
pub mod sandbox;
pub mod security;
pub mod service_env;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

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
    pub config_maps: HashMap<String, Arc<ConfigMap>>,
    pub secrets: HashMap<String, Arc<Secret>>,
}

impl References {
    pub fn config_map(&self, name: &str) -> Result<&ConfigMap, ConfigError> {
        self.config_maps.get(name).map(Arc::as_ref).ok_or_else(|| ConfigError(format!("configmap {name:?} not found")))
    }

    pub fn secret(&self, name: &str) -> Result<&Secret, ConfigError> {
        self.secrets.get(name).map(Arc::as_ref).ok_or_else(|| ConfigError(format!("secret {name:?} not found")))
    }
}

/// Names of everything [`References`] must hold for this pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferencedNames {
    pub config_maps: BTreeSet<String>,
    pub secrets: BTreeSet<String>,
}

pub fn referenced_names(pod: &Pod) -> ReferencedNames {
    let mut names = ReferencedNames::default();
    let spec = crate::pod::spec(pod);
    let ephemeral = crate::pod::ephemeral_containers(pod).iter().map(crate::pod::ephemeral_as_container);
    let inits = crate::pod::init_containers(pod).iter().cloned();
    for container in spec.containers.iter().cloned().chain(inits).chain(ephemeral) {
        for source in container.env_from.into_iter().flatten() {
            names.config_maps.extend(source.config_map_ref.map(|r| r.name));
            names.secrets.extend(source.secret_ref.map(|r| r.name));
        }
        for source in container.env.into_iter().flatten().filter_map(|variable| variable.value_from) {
            names.config_maps.extend(source.config_map_key_ref.map(|r| r.name));
            names.secrets.extend(source.secret_key_ref.map(|r| r.name));
        }
    }
    for volume in spec.volumes.iter().flatten() {
        names.config_maps.extend(volume.config_map.as_ref().map(|source| source.name.clone()));
        names.secrets.extend(volume.secret.as_ref().and_then(|source| source.secret_name.clone()));
        for source in volume.projected.iter().flat_map(|projected| projected.sources.iter().flatten()) {
            names.config_maps.extend(source.config_map.as_ref().map(|source| source.name.clone()));
            names.secrets.extend(source.secret.as_ref().map(|source| source.name.clone()));
        }
    }
    names.secrets.extend(spec.image_pull_secrets.iter().flatten().map(|secret| secret.name.clone()));
    names.config_maps.remove("");
    names.secrets.remove("");
    names
}
