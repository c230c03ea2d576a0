//! What every pod worker shares: the way to the API and the runtime, the caches, and
//! what is known of the machine.

use crate::Config;
use crate::container::Machine;
use crate::container::dns::{HostResolver, parse_resolv_conf};
use crate::container_files::ContainerFiles;
use crate::cri::Runtime;
use crate::image::Images;
use crate::objects::ObjectCache;
use crate::registry::Registry;
use crate::server::ServedLogs;
use ferry_client::{Client, Informer, Informers, ListParams, Recorder};
use k8s_openapi::api::core::v1::{ConfigMap, Node, ObjectReference, Pod, Secret, Service};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::watch;

pub struct Context {
    pub config: Config,
    pub client: Client,
    pub runtime: Arc<dyn Runtime>,
    pub registry: Arc<Registry>,
    pub recorder: Recorder,
    pub services: Informer<Service>,
    pub pods: Informer<Pod>,
    pub node: Informer<Node>,
    pub config_maps: ObjectCache<ConfigMap>,
    pub secrets: ObjectCache<Secret>,
    pub images: Images,
    pub served_logs: ServedLogs,
    /// Pods this node has taken on and that have not finished, by uid.
    pub admitted: Mutex<HashMap<String, Arc<Pod>>>,
    pub machine: RwLock<Machine>,
    /// Why pods cannot be given a network, while they cannot.
    pub network: watch::Sender<Result<(), String>>,
}

impl Context {
    pub fn new(
        config: Config,
        client: Client,
        runtime: Arc<dyn Runtime>,
        informers: &Informers,
        machine: Machine,
    ) -> std::io::Result<Self> {
        let registry = Arc::<Registry>::default();
        let recorder = Recorder::new(client.clone(), "kubelet", &config.node_name);
        let select = |selector: String| ListParams { field_selector: Some(selector), ..Default::default() };
        Ok(Self {
            services: informers.of(),
            pods: informers.with(select(format!("spec.nodeName={}", config.node_name))),
            node: informers.with(select(format!("metadata.name={}", config.node_name))),
            config_maps: ObjectCache::new(client.clone(), registry.clone()),
            secrets: ObjectCache::new(client.clone(), registry.clone()),
            images: Images::new(runtime.clone(), recorder.clone(), config.parallel_pulls, &config.root_dir)?,
            served_logs: ServedLogs::default(),
            admitted: Mutex::default(),
            machine: RwLock::new(machine),
            network: watch::Sender::new(Err("container runtime network not ready".into())),
            config,
            client,
            runtime,
            registry,
            recorder,
        })
    }

    pub fn container_files(&self) -> ContainerFiles {
        ContainerFiles { root_dir: self.config.root_dir.clone(), log_dir: self.config.log_dir.clone() }
    }

    pub fn machine(&self) -> Machine {
        self.machine.read().clone()
    }

    pub fn host_resolver(&self) -> HostResolver {
        match std::fs::read_to_string(&self.config.resolv_conf) {
            Ok(text) => parse_resolv_conf(&text),
            Err(_) => HostResolver::default(),
        }
    }

    /// How events name this node. Upstream uses the node's name as its uid.
    pub fn node_reference(&self) -> ObjectReference {
        ObjectReference {
            kind: Some("Node".into()),
            name: Some(self.config.node_name.clone()),
            uid: Some(self.config.node_name.clone()),
            ..Default::default()
        }
    }
}
