//! The context that all pod workers share: the way to the API and the runtime, the caches,
//! and what is known of the machine.

use crate::Config;
use crate::allocation::Allocations;
use crate::config_cache::ConfigCache;
use crate::container::Machine;
use crate::container::dns::{HostResolver, parse_resolv_conf};
use crate::container_files::ContainerFiles;
use crate::cri::Runtime;
use crate::cri::features::RuntimeFeatures;
use crate::csi::Drivers;
use crate::eviction::metrics::EvictionMetrics;
use crate::eviction::{LIMITED_INDEX, limited_index};
use crate::housekeeping::Garbage;
use crate::image::Images;
use crate::pod_end::PodEnds;
use crate::probe::metrics::ProbeMetrics;
use crate::server::{LogWatch, ServedLogs};
use crate::stats::Stats;
use crate::volume::{NodeParts, Volumes};
use crate::wakers::Wakers;
use ferry_api::view::core::v1::{ConfigMap, Node, PersistentVolumeClaim, Pod, Secret, Service};
use ferry_client::{Client, Informer, Informers, ListParams, Recorder, Reference};
use ferry_eviction::pressure::Conditions;
use jiff::Timestamp;
use parking_lot::RwLock;
use std::sync::Arc;
use tokio::sync::watch;

pub struct Context {
    pub config: Config,
    pub client: Client,
    pub runtime: Arc<dyn Runtime>,
    pub wakers: Arc<Wakers>,
    pub recorder: Recorder,
    pub services: Informer<Service>,
    pub pods: Informer<Pod>,
    pub node: Informer<Node>,
    pub config_maps: ConfigCache<ConfigMap>,
    pub secrets: ConfigCache<Secret>,
    pub claims: ConfigCache<PersistentVolumeClaim>,
    pub images: Arc<Images>,
    pub volumes: Volumes,
    pub(crate) csi: Arc<Drivers>,
    pub served_logs: ServedLogs,
    pub log_watch: LogWatch,
    pub stats: Stats,
    pub probe_metrics: Arc<ProbeMetrics>,
    /// When this kubelet began.
    pub started: Timestamp,
    pub allocations: Arc<Allocations>,
    pub machine: RwLock<Machine>,
    /// The features that the runtime reported last.
    pub features: RwLock<RuntimeFeatures>,
    /// Why pods cannot be given a network, while they cannot.
    pub network: watch::Sender<Result<(), String>>,
    /// The conditions under which the node takes no more pods.
    pub pressure: watch::Sender<Conditions>,
    /// The node is about to stop.
    pub shutting_down: watch::Sender<bool>,
    pub(crate) ends: PodEnds,
    pub(crate) garbage: Garbage,
    pub eviction_metrics: EvictionMetrics,
}

impl Context {
    pub fn new(
        config: Config,
        client: Client,
        runtime: Arc<dyn Runtime>,
        informers: &Informers,
        machine: Machine,
    ) -> std::io::Result<Self> {
        let wakers = Arc::<Wakers>::default();
        let recorder = Recorder::new(client.clone(), "kubelet", &config.node_name);
        let select = |selector: String| ListParams { field_selector: Some(selector), ..Default::default() };
        let images = Images::new(runtime.clone(), recorder.clone(), &client, &config.runtime, &config.root_dir)?;
        let images = Arc::new(images);
        let csi = Arc::<Drivers>::default();
        let node = informers.with(select(format!("metadata.name={}", config.node_name)));
        Ok(Self {
            services: informers.of(),
            pods: informers
                .with(select(format!("spec.nodeName={}", config.node_name)))
                .indexed(LIMITED_INDEX, limited_index),
            node: node.clone(),
            claims: ConfigCache::new(client.clone(), wakers.clone()),
            config_maps: ConfigCache::new(client.clone(), wakers.clone()),
            secrets: ConfigCache::new(client.clone(), wakers.clone()),
            volumes: Volumes::new(
                &config.root_dir,
                NodeParts {
                    images: images.clone(),
                    runtime: runtime.clone(),
                    csi: csi.clone(),
                    csi_objects: informers.of(),
                    node,
                    client: client.clone(),
                    recorder: recorder.clone(),
                    node_name: config.node_name.clone(),
                },
            ),
            csi,
            images,
            served_logs: ServedLogs::default(),
            log_watch: LogWatch::default(),
            stats: Stats::default(),
            probe_metrics: Arc::default(),
            started: Timestamp::now(),
            allocations: Arc::new(Allocations::new(config.root_dir.clone(), wakers.clone(), recorder.clone())),
            machine: RwLock::new(machine),
            features: RwLock::default(),
            network: watch::Sender::new(Err("container runtime network not ready".into())),
            pressure: watch::Sender::default(),
            shutting_down: watch::Sender::new(false),
            ends: PodEnds::default(),
            garbage: Garbage::default(),
            eviction_metrics: EvictionMetrics::default(),
            config,
            client,
            runtime,
            wakers,
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
    pub fn node_reference(&self) -> Reference {
        Reference {
            kind: "Node".into(),
            name: self.config.node_name.clone(),
            uid: self.config.node_name.clone(),
            ..Default::default()
        }
    }
}
