//! The reconcilers: each reads the present state through the API and narrows the gap to
//! what the objects ask for.
//!
//! **Invariant:** controllers know only the API. They import no other part of ferry, and
//! each speaks with the rights of its own service account.
//!
//! A controller is one file (or folder) that implements [`runner::Controller`], and one
//! line in all.rs. Each stands in the room of what it looks after; those that look after
//! every kind (garbage collection, namespaces, quotas) stand here.

#![warn(unreachable_pub)]

mod all;
mod autoscale;
mod device;
mod discovery;
mod error;
mod garbage_collector;
mod label_index;
mod namespace;
mod network;
mod node;
mod node_index;
mod resource_quota;
pub mod runner;
mod security;
mod storage;
mod workload;

pub use error::{Error, Result};
pub use security::certificates::signer::{CertificateSigner, SigningOrder};
pub use workload::stateful_set::Defaults;

use ferry_client::{Client, Informers, Recorder};
use ferry_runner::Metrics;
use runner::{Clock, Context, run_controller};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// What the controllers need to know of the cluster.
#[derive(Clone)]
pub struct Config {
    /// The PEM of the cluster's certificate authority, published in every namespace.
    pub root_ca: String,
    /// Signs the tokens that live in Secrets; none leaves such Secrets empty.
    pub legacy_signer: Option<LegacySigner>,
    /// Signs approved CertificateSigningRequests; none leaves them approved.
    pub certificate_signer: Option<CertificateSigner>,
    /// How long certificates live that do not ask for less.
    pub certificate_lifetime: Duration,
    /// The range that nodes get their podCIDR from; none allocates nothing.
    pub cluster_cidr: Option<String>,
    /// The size of one node's part of it.
    pub node_cidr_mask_size: u8,
    /// How long a node may be silent before it counts as unreachable.
    pub node_monitor_grace_period: Duration,
    /// The same for a node that has never reported.
    pub node_startup_grace_period: Duration,
    /// Whether Services of type LoadBalancer without a class get the nodes' addresses.
    pub load_balancer: bool,
    /// How many finished pods are kept.
    pub terminated_pod_threshold: usize,
    /// Fills in the API server's defaults of a StatefulSet, to compare a stored revision with
    /// the present template; none compares them as they are.
    pub stateful_set_defaults: Option<Defaults>,
    /// The metrics of the work queues, which the API server renders.
    pub metrics: Metrics,
    /// The time of day, which tests turn by themselves.
    pub clock: Clock,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            root_ca: String::new(),
            legacy_signer: None,
            certificate_signer: None,
            certificate_lifetime: Duration::from_secs(365 * 24 * 60 * 60),
            cluster_cidr: Some("10.244.0.0/16".to_owned()),
            node_cidr_mask_size: 24,
            node_monitor_grace_period: Duration::from_secs(50),
            node_startup_grace_period: Duration::from_secs(60),
            load_balancer: true,
            terminated_pod_threshold: 12_500,
            stateful_set_defaults: None,
            metrics: Metrics::default(),
            clock: Clock::system(),
        }
    }
}

/// Makes a token of claims, with the key of service accounts.
pub type LegacySigner = Arc<dyn Fn(&serde_json::Value) -> Result<String, String> + Send + Sync>;

/// Gives each controller the client that speaks as its service account
/// (`system:serviceaccount:kube-system:<name>`).
pub type ClientFor = Arc<dyn Fn(&str) -> Client + Send + Sync>;

/// Runs every controller until `shutdown`, or until one of them is lost.
pub async fn run(
    config: Config,
    client_for: ClientFor,
    informers: Informers,
    shutdown: CancellationToken,
) -> Result<()> {
    let mut running = JoinSet::new();
    for controller in all::all(&config)? {
        let client = client_for(controller.identity());
        let context = Context {
            recorder: Recorder::new(client.clone(), controller.name(), ""),
            client,
            informers: informers.clone(),
            clock: config.clock.clone(),
        };
        running.spawn(run_controller(controller, context, config.metrics.clone(), shutdown.clone()));
    }
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok(result) => result?,
            Err(error) => return Err(Error::Lost { controller: "one", why: error.to_string() }),
        }
    }
    Ok(())
}
