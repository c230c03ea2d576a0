//! What a server is told when it starts.

use crate::admission::PluginConfig;
use crate::audit::Auditor;
use crate::authn::AuthnConfig;
use crate::encryption::StorageKey;
use crate::non_resource::profiling::SetVerbosity;
use crate::outgoing::{Dial, Network};
use ferry_api::problems::Problems;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// Renders decisions of the scheduler as JSON.
pub type SchedulerDecisions = Arc<dyn Fn(Option<(&str, &str)>) -> serde_json::Value + Send + Sync>;

pub struct Config {
    pub authentication: AuthnConfig,
    /// `--authorization-config`: which authorizers are asked; Node and RBAC without one.
    pub authorization_config: Option<PathBuf>,
    /// Where Services get their addresses; `10.96.0.0/12` unless told otherwise.
    pub service_cidr: String,
    /// Where clients inside the cluster reach this server: the endpoint of
    /// default/kubernetes. `None` until [`crate::ApiServer::advertise`] says it.
    pub advertise_address: Option<SocketAddr>,
    /// EncryptionConfiguration files. The first that is about a kind decides how it is
    /// sealed; all of them open. They are read again when they change.
    pub encryption_config: Vec<PathBuf>,
    /// Keys for Secrets that are not from a file and come after the files: the first one
    /// seals, all open.
    pub secret_keys: Vec<StorageKey>,
    /// How the server reaches kubelets; `None` where there are none.
    pub kubelet: Option<KubeletAccess>,
    /// What is recorded about requests, and where; `None` records nothing.
    pub audit: Option<Arc<Auditor>>,
    /// The certificate by which aggregated API servers know this one; `None` where it has none.
    pub front_proxy: Option<Arc<ferry_pki::LiveIdentity>>,
    /// How connections to others are opened.
    pub dial: Arc<dyn Dial>,
    /// The words of `kubectl explain`; `None` leaves the documents without.
    pub prose: Option<ProseSource>,
    /// Which admission plugins are on, and what some of them are told.
    pub admission: PluginConfig,
    /// `--profiling`: whether /debug answers.
    pub profiling: bool,
    /// How much is logged can be changed by this at /debug/flags/v; `None` where it cannot.
    pub set_verbosity: Option<SetVerbosity>,
    /// The list of this process's problems, served at [`ferry_api::problems::PATH`].
    pub problems: Problems,
    /// The metrics of the work queues of this process, which /metrics renders with its own.
    pub queues: ferry_runner::Metrics,
    /// The scheduler's last decisions, if it runs in this process: about one pod, by namespace and
    /// name, or about all.
    pub scheduler_decisions: Option<SchedulerDecisions>,
}

/// Gathers the API's prose and gives the text of a definition (`io.k8s.api.core.v1.Pod`)
/// or of one of its fields.
pub type ProseSource = Arc<dyn Fn() -> Prose + Send + Sync>;
pub type Prose = Box<dyn Fn(&str, Option<&str>) -> Option<String> + Send + Sync>;

/// The server's side towards kubelets: logs, exec, attach, port-forward, proxy.
#[derive(Clone)]
pub struct KubeletAccess {
    /// Who vouches for the kubelets' serving certificates.
    pub ca_pem: String,
    pub identity: Arc<ferry_pki::LiveIdentity>,
}

impl Config {
    /// The configuration of a cluster with this key material and nothing else special.
    pub fn from_pki(pki: &ferry_pki::Pki, cluster_domain: &str, secret_keys: Vec<StorageKey>) -> Self {
        Self {
            authentication: AuthnConfig::from_pki(pki, cluster_domain),
            authorization_config: None,
            service_cidr: "10.96.0.0/12".into(),
            advertise_address: None,
            encryption_config: Vec::new(),
            secret_keys,
            kubelet: Some(KubeletAccess {
                ca_pem: pki.ca.certificate_pem().to_owned(),
                identity: pki.apiserver_kubelet_client.clone(),
            }),
            audit: None,
            front_proxy: Some(pki.front_proxy_client.clone()),
            dial: Arc::new(Network),
            prose: None,
            admission: PluginConfig::default(),
            profiling: true,
            set_verbosity: None,
            problems: Problems::default(),
            queues: ferry_runner::Metrics::default(),
            scheduler_decisions: None,
        }
    }

    /// `host:port` as documents name it.
    pub fn external_address(&self) -> String {
        self.advertise_address.map_or_else(|| "localhost:6443".into(), |address| address.to_string())
    }
}
