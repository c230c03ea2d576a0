//! Request to stored object and back.
//!
//! ```text
//! door/serve.rs (TLS) ──┐
//!                       ├─> chain.rs ─> verbs/ ─> registry/ ─> store (fsync) ─> watch
//! in this process ──────┘                 │                                       │
//!                                         └────────── cache/ <────────────────────┘
//! ```
//!
//! **Invariant:** only this crate touches the store. Everyone else, in this process or
//! another, comes through [`ApiServer::handle`] and is authenticated, authorized and
//! admitted on the way.

#![warn(unreachable_pub)]

pub mod admission;
mod aggregation;
mod chain;
mod config;
mod controlplane;
mod crd;
mod door;
mod error;
pub mod metrics;
mod non_resource;
pub mod outgoing;
pub mod registry;
mod reload;
pub mod reseal;
pub mod resource_metrics;
mod services;
mod stream;
mod subresources;
mod verbs;

pub use admission::PluginConfig;
pub use config::{Config, KubeletAccess, Prose, ProseSource, SchedulerDecisions};
pub use door::continue_token;
pub use error::Error;
pub use ferry_access::query::Query;
pub use ferry_access::{audit, authn, authz, request_info, transport, webhook};
pub use ferry_cache as cache;
pub use ferry_cache::encryption::{self, StorageKey};
pub use transport::{Body, BoxError, Peer};

use admission::{Admission, Wiring};
use authn::Authenticator;
use authz::Authorizer;
use cache::Cache;
use controlplane::{
    Controllers, bootstrap, compaction, dangling_flow_schema, event_ttl, kept_objects, legacy_token_use,
};
use encryption::Encryption;
use ferry_access::flow_control::{self, FlowControl};
use ferry_access::{query, retry};
use ferry_store::Store;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use metrics::Metrics;
use registry::lookup::{CacheLookup, ObjectLookup};
use registry::{HookTable, Registry, Rows};
use services::Services;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// The API server. Cheap to clone; every clone is the same server.
#[derive(Clone)]
pub struct ApiServer(Arc<ServerState>);

/// What every request shares.
pub(crate) struct ServerState {
    pub config: Config,
    pub registry: Arc<Registry>,
    pub services: Services,
    pub lookup: Arc<dyn ObjectLookup>,
    pub authenticator: Authenticator,
    pub authorizer: Authorizer,
    pub flow_control: FlowControl,
    pub metrics: Arc<Metrics>,
    pub openapi: non_resource::openapi::Documents,
    pub backends: stream::Backends,
    pub resource_metrics: resource_metrics::ResourceMetrics,
    pub aggregator: Arc<aggregation::Aggregator>,
    pub controllers: Controllers,
    /// The default namespaces, roles and the kubernetes Service are there.
    pub bootstrapped: AtomicBool,
    pub stopping: AtomicBool,
    pub stop: watch::Sender<bool>,
    /// Where pods reach this server, in the endpoints of default/kubernetes.
    pub advertised: watch::Sender<Option<SocketAddr>>,
}

impl ApiServer {
    /// Reads the store into memory and makes what every cluster has. The server is ready
    /// for requests when this returns; [`ApiServer::serve`] opens it to the network.
    pub async fn start(store: Arc<dyn Store>, config: Config) -> Result<Self, Error> {
        Self::start_with_rows(store, config, ferry_resources::all().to_vec()).await
    }

    /// As [`ApiServer::start`], with these kinds instead of the builtin ones.
    pub async fn start_with_rows(
        store: Arc<dyn Store>,
        config: Config,
        rows: Vec<Arc<ferry_resources::Row>>,
    ) -> Result<Self, Error> {
        let encryption = Encryption::start(config.encryption_config.clone(), config.secret_keys.clone())
            .await
            .map_err(Error::Encryption)?;
        let cache = Cache::start(store.clone(), encryption.clone(), config.problems.clone(), &rows)
            .await
            .map_err(Error::Load)?;
        let services =
            Services::new(&config.service_cidr).ok_or_else(|| Error::ServiceCidr(config.service_cidr.clone()))?;
        let rows = Arc::new(Rows::new(rows));
        let lookup: Arc<dyn ObjectLookup> = Arc::new(CacheLookup { cache: cache.clone(), rows: rows.clone() });
        services.follow(&*lookup);
        let metrics = Arc::<Metrics>::default();
        let registry = Arc::new(Registry {
            store,
            cache,
            encryption,
            rows: rows.clone(),
            hooks: HookTable::default().with("", "services", Arc::new(services.clone())),
            metrics: metrics.clone(),
            admission: OnceLock::new(),
        });
        let authorizer = Authorizer::new(&*lookup);
        if let Some(file) = &config.authorization_config {
            let text = std::fs::read_to_string(file).map_err(|e| e.to_string());
            let told = |why: String| Error::Configuration(format!("--authorization-config: {}: {why}", file.display()));
            text.and_then(|text| authorizer.reload(&text)).map_err(told)?;
        }
        let (authenticator, token_uses) = Authenticator::new(config.authentication.clone(), lookup.clone())?;
        let wiring = Wiring {
            lookup: lookup.clone(),
            authorizer: authorizer.clone(),
            rows,
            registry: Arc::downgrade(&registry),
            config: config.admission.clone(),
            metrics: metrics.clone(),
        };
        let _ = registry.admission.set(Admission::new(&wiring).map_err(Error::Configuration)?);
        let backends = stream::Backends::new(config.kubelet.as_ref(), config.dial.clone())?;
        let aggregator = aggregation::Aggregator::new(lookup.clone(), config.dial.clone(), config.front_proxy.clone());
        let flow_control = FlowControl::follow(&*lookup);
        let advertised = watch::Sender::new(config.advertise_address);
        let server = Self(Arc::new(ServerState {
            controllers: Controllers::new(config.queues.clone()),
            config,
            registry,
            services,
            lookup,
            authenticator,
            authorizer,
            flow_control,
            metrics,
            openapi: non_resource::openapi::Documents::default(),
            backends,
            resource_metrics: resource_metrics::ResourceMetrics::default(),
            aggregator,
            bootstrapped: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            stop: watch::Sender::new(false),
            advertised,
        }));
        bootstrap::run(&server.0).await.map_err(Error::Bootstrap)?;
        kept_objects::start(&server.0);
        services::start(&server.0).await.map_err(Error::Bootstrap)?;
        crd::start(&server.0).await?;
        aggregation::start(&server.0).await;
        server.0.bootstrapped.store(true, Ordering::Release);
        dangling_flow_schema::start(&server.0);
        compaction::start(&server.0);
        event_ttl::start(&server.0);
        admission::policy::status::start(&server.0);
        legacy_token_use::start(&server.0, token_uses);
        reload::start(&server.0);
        Ok(server)
    }

    /// Answers one request, whatever it came over. Never fails: a failure is an answer.
    pub async fn handle(&self, request: Request<Body>, peer: Peer) -> Response<Body> {
        // Boxed, so that the many layers below are one type to whoever calls this.
        let answered: BoxFuture<'static, _> = Box::pin(chain::handle(self.0.clone(), request, peer));
        answered.await
    }

    /// Serves TLS connections until [`ApiServer::stop`]. The listener is bound by the caller,
    /// so that nobody is told of an address that is not open yet.
    pub async fn serve(&self, listener: TcpListener, tls: Arc<rustls::ServerConfig>) -> Result<(), Error> {
        door::serve::serve(self.clone(), listener, tls).await
    }

    /// The list that components of this process report to; it is served to administrators.
    pub fn problems(&self) -> &ferry_api::problems::Problems {
        &self.0.config.problems
    }

    /// Stops taking connections and ends those that are idle; requests under way may finish.
    pub fn stop(&self) {
        self.0.stopping.store(true, Ordering::Release);
        self.0.stop.send_replace(true);
        self.0.controllers.close();
    }

    fn stopped(&self) -> watch::Receiver<bool> {
        self.0.stop.subscribe()
    }

    /// The objects in memory, for components that are wired into the server itself.
    pub fn lookup(&self) -> Arc<dyn ObjectLookup> {
        self.0.lookup.clone()
    }

    /// Keeps the endpoints of default/kubernetes at this address from now on.
    pub async fn advertise(&self, address: SocketAddr) -> Result<(), Error> {
        self.0.advertised.send_replace(Some(address));
        bootstrap::advertise(&self.0, address).await.map_err(Error::Bootstrap)
    }
}
