//! The kubelet: pods bound to this node become processes on it.
//!
//! [`run`] is the whole of it. It registers the node, follows the pods bound to it with
//! one `pod_worker` each, drives the runtime over `cri`, and answers the API server's
//! requests for logs and terminals on `server`.
//!
//! **Invariant:** all state is in the API and in the runtime. A kubelet that starts anew
//! reads both, adopts the containers that run, and restarts none.

pub mod admit;
mod allocation;
pub mod backoff;
pub mod cgroup;
pub mod cni;
mod config_cache;
pub mod container;
pub mod container_files;
mod context;
pub mod cri;
pub mod csi;
#[cfg(test)]
mod every_field;
pub mod eviction;
mod housekeeping;
pub mod image;
mod kill;
mod lifecycle;
pub mod local_path;
mod log_line;
mod log_rotation;
mod node;
pub mod observed;
mod oom_watch;
pub mod plan;
pub mod pod;
mod pod_end;
mod pod_worker;
pub mod probe;
mod runtime_watch;
pub mod server;
pub mod settings;
pub mod shutdown;
mod stats;
pub mod status;
mod sync;
pub mod unix_grpc;
mod unsupported;
pub mod volume;
pub mod wakers;
mod workers;

pub use cni::Cni;

use context::Context;
use cri::Runtime;
use cri::grpc::GrpcRuntime;
use eviction::settings::NodeSettings;
use ferry_api::view::core::v1::Taint;
use ferry_client::{Client, Informers};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot reach the container runtime at {endpoint}: {source}")]
    Runtime {
        endpoint: String,
        #[source]
        source: cri::RuntimeError,
    },
    #[error("cannot make {path}: {source}")]
    Directory {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the settings of the node are not valid: {}", .0.join("; "))]
    Settings(Vec<String>),
    #[error("cannot serve on {address}: {why}")]
    Server { address: SocketAddr, why: String },
}

/// The HTTPS server the API server calls for logs, exec and port-forward.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub address: SocketAddr,
    /// Gives the serving certificate of each connection, so that it can be renewed while
    /// the server runs.
    pub certificate: Arc<dyn rustls::server::ResolvesServerCert>,
    /// Client certificates must be signed by one of these.
    pub client_ca_pem: String,
    /// Common names that may do everything; the API server's kubelet client.
    pub allowed_names: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Config {
    pub node_name: String,
    pub node_ips: Vec<String>,
    /// Pods' volumes and files; `/var/lib/kubelet` to upstream.
    pub root_dir: PathBuf,
    /// Container logs; `/var/log/pods` to upstream.
    pub log_dir: PathBuf,
    /// The runtime's socket, as a path or `unix://…`.
    pub runtime_endpoint: String,
    pub cni: Cni,
    /// The pod range to use until the node object has one.
    pub pod_cidr: Option<String>,
    pub cluster_dns: Vec<String>,
    pub cluster_domain: String,
    pub resolv_conf: PathBuf,
    pub server: Option<ServerConfig>,
    pub max_pods: u32,
    /// The cgroup all pods live in; its own for each cluster on a machine.
    pub cgroup_root: String,
    pub heartbeat: Duration,
    pub runtime: settings::RuntimeSettings,
    /// Images that are never collected: the sandbox's, without which no pod can start (older
    /// runtimes do not pin it), and those that no registry has.
    pub kept_images: Vec<String>,
    /// Labels and taints beside the usual ones.
    pub labels: BTreeMap<String, String>,
    pub register_taints: Vec<Taint>,
    /// Whether /logs/ answers queries of services (`enableSystemLogQuery`).
    pub system_log_query: bool,
    /// Eviction, garbage collection, log rotation and shutdown.
    pub settings: NodeSettings,
    /// Shown as the node's kubelet version.
    pub version: String,
}

impl Config {
    /// Everything at upstream's defaults, under `root` where it is a path.
    pub fn new(node_name: &str, node_ip: &str, root: &std::path::Path, runtime_endpoint: &str) -> Self {
        Self {
            node_name: node_name.into(),
            node_ips: vec![node_ip.into()],
            root_dir: root.join("kubelet"),
            log_dir: root.join("logs"),
            runtime_endpoint: runtime_endpoint.into(),
            cni: Cni {
                conf_dir: root.join("cni/net.d"),
                bin_dir: "/usr/lib/cni".into(),
                bridge: "ferry0".into(),
                data_dir: root.join("cni/data"),
                mtu: None,
            },
            pod_cidr: None,
            cluster_dns: vec!["10.96.0.10".into()],
            cluster_domain: "cluster.local".into(),
            resolv_conf: "/etc/resolv.conf".into(),
            server: None,
            max_pods: 110,
            cgroup_root: "kubepods".into(),
            heartbeat: Duration::from_secs(10),
            runtime: settings::RuntimeSettings::default(),
            kept_images: Vec::new(),
            labels: BTreeMap::new(),
            register_taints: Vec::new(),
            system_log_query: false,
            settings: NodeSettings::default(),
            version: "v1.36.4".into(),
        }
    }
}

/// Runs the kubelet against the runtime of the configuration until `shutdown`. `ready`
/// becomes true when the node is registered and its Ready condition is written.
pub async fn run(
    config: Config,
    client: Client,
    ready: watch::Sender<bool>,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let runtime = GrpcRuntime::connect(&config.runtime_endpoint)
        .map_err(|source| Error::Runtime { endpoint: config.runtime_endpoint.clone(), source })?;
    let runtime = runtime.with_request_timeout(config.runtime.request_timeout);
    run_with_runtime(config, client, Arc::new(runtime), ready, shutdown).await
}

/// The same over any runtime, which is how it is tested.
pub async fn run_with_runtime(
    config: Config,
    client: Client,
    runtime: Arc<dyn Runtime>,
    ready: watch::Sender<bool>,
    shutdown: CancellationToken,
) -> Result<(), Error> {
    let mut config = config;
    let mistakes = config.settings.validate();
    if !mistakes.is_empty() {
        return Err(Error::Settings(mistakes));
    }
    for path in [&mut config.root_dir, &mut config.log_dir] {
        // The mount table and the runtime know resolved paths only; one that leads through a
        // link, or starts at the working directory, would match nothing there.
        let made = std::fs::create_dir_all(&path).and_then(|()| std::fs::canonicalize(&path));
        *path = made.map_err(|source| Error::Directory { path: path.clone(), source })?;
    }
    // Ends everything below when this function returns, for whatever reason.
    let shutdown = shutdown.child_token();
    let _ends_all = shutdown.clone().drop_guard();
    let informers = Informers::with_shutdown(client.clone(), shutdown.clone());
    let machine = node::local_machine(&config);
    let root_dir = config.root_dir.clone();
    let context = Context::new(config, client, runtime, &informers, machine)
        .map_err(|source| Error::Directory { path: root_dir, source })?;
    let context = Arc::new(context);
    let watch_runtime = runtime_watch::run(context.clone(), shutdown.clone());
    let keep_node = node::run(context.clone(), ready, shutdown.clone());
    let run_pods = workers::run(context.clone(), shutdown.clone());
    let serve = server::run(context.clone(), shutdown.clone());
    let keep_house = housekeeping::run(context.clone(), shutdown.clone());
    let rotate_logs = log_rotation::run(context.clone(), shutdown.clone());
    let register_drivers = csi::run(context.clone(), shutdown.clone());
    let watch_attachments = csi::watch_attachments(context.clone(), shutdown.clone());
    let evict = eviction::run(context.clone(), shutdown.clone());
    let end_with_node = shutdown::run(context.clone(), shutdown.clone());
    let watch_oom = oom_watch::run(context.clone(), shutdown.clone());
    tokio::try_join!(
        watch_runtime,
        keep_node,
        run_pods,
        serve,
        keep_house,
        rotate_logs,
        register_drivers,
        watch_attachments,
        evict,
        end_with_node,
        watch_oom
    )?;
    Ok(())
}
