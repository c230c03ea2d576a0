//! Services and their endpoints as DNS, inside the binary.
//!
//! records.rs holds the zone and answers from it, forward.rs asks the host's resolvers
//! about everything else, or those of a ConfigMap (upstreams.rs), cache.rs remembers what they
//! answer, server.rs and tcp.rs listen on what bind.rs opens. The zone follows
//! the Kubernetes DNS-Based Service Discovery specification 1.1.0, with CoreDNS' answers where
//! it is silent.

#![warn(unreachable_pub)]

mod bind;
mod cache;
mod forward;
mod records;
mod server;
mod tcp;
mod upstreams;

use ferry_api::view::Kind;
use ferry_api::view::core::v1::{ConfigMap, Namespace, Service};
use ferry_api::view::discovery::v1::EndpointSlice;
use ferry_client::{Event, Informer, Informers, ListParams};
use futures_util::future::{BoxFuture, FutureExt};
use parking_lot::RwLock;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use forward::Forwarder;
use upstreams::{CONFIG_MAP, NAMESPACE};

pub use records::{Answer, Zone};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot listen for DNS queries on {address}: {source}")]
    Bind { address: SocketAddr, source: std::io::Error },
    #[error("the DNS server failed: {0}")]
    Serve(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("{0:?} is no domain name")]
    Domain(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

pub struct Config {
    /// Where to listen, over UDP and TCP. The proxy leads the cluster's DNS address here.
    pub bind: Vec<SocketAddr>,
    /// The interfaces whose packets are answered; none means all of them. An address alone
    /// keeps nobody out, because the node takes packets for it by any interface.
    pub devices: Vec<String>,
    /// The cluster's domain.
    pub domain: String,
    /// The addresses that pods ask; they are never forwarded to.
    pub cluster_dns: Vec<IpAddr>,
    /// Names the resolvers that know the rest of the world.
    pub resolv_conf: PathBuf,
    /// Those resolvers, where they are not the host's.
    pub resolvers: Option<Vec<SocketAddr>>,
    /// Told the addresses that are listened on, once the zone is filled.
    pub ready: Option<oneshot::Sender<Vec<SocketAddr>>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            bind: Vec::new(),
            devices: Vec::new(),
            domain: "cluster.local".to_owned(),
            cluster_dns: vec![IpAddr::from([10, 96, 0, 10])],
            resolv_conf: "/etc/resolv.conf".into(),
            resolvers: None,
            ready: None,
        }
    }
}

/// Answers queries until `shutdown`. The future is boxed, so that it is compiled in this crate
/// and not once more in the binary.
pub fn run(config: Config, informers: Informers, shutdown: CancellationToken) -> BoxFuture<'static, Result<()>> {
    answer_queries(config, informers, shutdown).boxed()
}

async fn answer_queries(config: Config, informers: Informers, shutdown: CancellationToken) -> Result<()> {
    let zone = Zone::new(&config.domain, &config.cluster_dns).ok_or_else(|| Error::Domain(config.domain.clone()))?;
    let zone = Arc::new(RwLock::new(zone));
    let (namespaces, namespaces_filled) = follow(zone.clone(), informers.of::<Namespace>(), Zone::on_namespace);
    let (services, services_filled) = follow(zone.clone(), informers.of::<Service>(), Zone::on_service);
    let (slices, slices_filled) = follow(zone.clone(), informers.of::<EndpointSlice>(), Zone::on_slice);
    let forwarder = Arc::new(server::forwarder(&config));
    let upstreams = follow_upstreams(&informers, forwarder.clone());
    let serve = async {
        // An answer from half a zone would be a wrong "no such name", and remembered.
        let filled = async { tokio::join!(namespaces_filled, services_filled, slices_filled) };
        tokio::select! {
            _ = filled => server::serve(config, zone.clone(), forwarder.clone(), shutdown.clone()).await,
            () = shutdown.cancelled() => Ok(()),
        }
    };
    let following = async { tokio::join!(namespaces, services, slices, upstreams) };
    tokio::select! {
        result = serve => result,
        _ = following => Ok(()),
    }
}

/// Keeps the forwarder in step with the ConfigMap. Nobody waits for it: without one, or the right
/// to read it, the host's resolvers are asked.
fn follow_upstreams(informers: &Informers, forwarder: Arc<Forwarder>) -> impl Future<Output = ()> + use<> {
    let by_name = ListParams { field_selector: Some(format!("metadata.name={CONFIG_MAP}")), ..Default::default() };
    let mut events = informers.with::<ConfigMap>(by_name).subscribe();
    async move {
        while let Some(event) = events.recv().await {
            let (_, new) = event.versions();
            if event.object().namespace() != NAMESPACE {
                continue;
            }
            for problem in forwarder.read_upstreams(|key| new.and_then(|map| map.view().data().get(key))) {
                tracing::warn!(config_map = %format!("{NAMESPACE}/{CONFIG_MAP}"), problem, "cannot be used; what was known stays");
            }
        }
        std::future::pending::<()>().await;
    }
}

/// Keeps the zone in step with one kind. The second future ends when everything that was
/// known at the start is in the zone.
fn follow<K: Kind>(
    zone: Arc<RwLock<Zone>>,
    informer: Informer<K>,
    apply: fn(&mut Zone, &Event<K>),
) -> (impl Future<Output = ()>, impl Future<Output = ()>) {
    let (filled, is_filled) = oneshot::channel::<()>();
    let follow = async move {
        informer.synced().await;
        let mut events = informer.subscribe();
        while let Ok(event) = events.try_recv() {
            apply(&mut zone.write(), &event);
        }
        let _ = filled.send(());
        while let Some(event) = events.recv().await {
            apply(&mut zone.write(), &event);
        }
        // The informer has ended with the process; what the zone holds stays served.
        std::future::pending::<()>().await;
    };
    let wait = async move {
        let _ = is_filled.await;
    };
    (follow, wait)
}
