//! A control plane that can be killed: API server, store and controllers in a runtime of their
//! own, and the clients of the test outside of it, which see the server go and come back.

use async_trait::async_trait;
use ferry_apiserver::authn::UserInfo;
use ferry_apiserver::{ApiServer, Peer};
use ferry_client::{Body, BoxError, Client, Informers, Transport};
use ferry_controllers::Config;
use ferry_pki::PkiConfig;
use ferry_store::sqlite::SqliteStore;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;

/// Whether the numbers of a large cluster are asked for.
pub fn is_full_size() -> bool {
    std::env::var_os("FERRY_FULL_SIZE").is_some_and(|value| value != "0")
}

/// Waits for what must come about, and fails with its name if it does not.
pub async fn within<T>(limit: Duration, what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(limit, future).await {
        Ok(value) => value,
        Err(_) => panic!("it did not come about in {limit:?} that {what}"),
    }
}

/// Numbers that are the same in every run with one seed.
pub struct Dice(u64);

impl Dice {
    /// Of the seed in `FERRY_SEED`, or of a fixed one.
    pub fn new() -> Self {
        let seed = std::env::var("FERRY_SEED").ok().and_then(|text| text.parse().ok());
        Self(seed.unwrap_or(20_260_101))
    }

    pub fn roll(&mut self, sides: u64) -> u64 {
        // A linear congruential generator; its high bits are random enough for a test.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// The control plane of a test, with its data in a directory that goes with it.
pub struct Cluster {
    directory: TempDir,
    door: Door,
    runtime: Option<Runtime>,
    shutdown: CancellationToken,
}

/// The way in to whichever server lives; without one every request fails.
#[derive(Clone, Default)]
struct Door(Arc<Mutex<Option<(ApiServer, Handle)>>>);

impl Door {
    fn server(&self) -> MutexGuard<'_, Option<(ApiServer, Handle)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Transport for Door {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let Some((api, handle)) = self.server().clone() else { return Err("the server is down".into()) };
        let user = Arc::new(UserInfo::authenticated("admin", &["system:masters"]));
        // The request is worked on in the server's runtime, so that it ends with the server.
        let answer = handle.spawn(async move { api.handle(request, Peer::InProcess(user)).await });
        answer.await.map_err(Into::into)
    }
}

/// A component of the server's process.
struct InProcess(ApiServer, Arc<UserInfo>);

#[async_trait]
impl Transport for InProcess {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        Ok(self.0.handle(request, Peer::InProcess(self.1.clone())).await)
    }
}

impl Cluster {
    pub async fn start() -> Self {
        let directory = TempDir::new().expect("a directory");
        let mut cluster = Self { directory, door: Door::default(), runtime: None, shutdown: CancellationToken::new() };
        cluster.revive().await;
        cluster
    }

    /// A client outside of the server's process, with every right.
    pub fn client(&self) -> Client {
        Client::new(Arc::new(self.door.clone()), "test")
    }

    /// Informers outside of the server's process; they end with the cluster.
    pub fn informers(&self) -> Informers {
        Informers::with_shutdown(self.client(), self.shutdown.clone())
    }

    pub fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Ends server, store and controllers wherever they are. No task of theirs goes on, and
    /// whatever was not acknowledged may or may not be on the disk.
    pub fn kill(&mut self) {
        let server = self.door.server().take();
        // Watches of the clients outside end, as they do with the process.
        if let Some((api, _)) = server {
            api.stop();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Starts all of it again on the data that is there.
    pub async fn revive(&mut self) {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let directory = self.directory.path().to_owned();
        let api = runtime.spawn(async move { start_in(&directory).await }).await.expect("the server starts");
        *self.door.server() = Some((api, runtime.handle().clone()));
        self.runtime = Some(runtime);
    }

    /// Kills and revives.
    pub async fn restart(&mut self) {
        self.kill();
        self.revive().await;
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.kill();
    }
}

async fn start_in(directory: &Path) -> ApiServer {
    let config = PkiConfig { advertise_ips: vec!["127.0.0.1".parse().expect("an address")], ..PkiConfig::default() };
    let pki = ferry_pki::ensure(&directory.join("pki"), &config).expect("key material");
    let store = open_store(&directory.join("store")).await;
    let config = ferry_apiserver::Config::from_pki(&pki, "cluster.local", Vec::new());
    let api = ApiServer::start(Arc::new(store), config).await.expect("the server starts");
    let client =
        |user: UserInfo, api: &ApiServer| Client::new(Arc::new(InProcess(api.clone(), Arc::new(user))), "test");
    let manager = client(UserInfo::authenticated("system:kube-controller-manager", &[]), &api);
    let shutdown = CancellationToken::new();
    let informers = Informers::with_shutdown(manager, shutdown.clone());
    let config = Config {
        root_ca: "PEM".to_owned(),
        stateful_set_defaults: Some(defaults()),
        // Hollow nodes send no heartbeats.
        node_monitor_grace_period: Duration::from_secs(3_600),
        ..Default::default()
    };
    let for_controllers = api.clone();
    let client_for = move |name: &str| client(UserInfo::service_account("kube-system", name), &for_controllers);
    tokio::spawn(ferry_controllers::run(config, Arc::new(client_for), informers, shutdown));
    api
}

/// The store is free once the last task of the life before has noticed its end.
async fn open_store(directory: &Path) -> SqliteStore {
    let open = async {
        loop {
            match SqliteStore::open(directory) {
                Ok(store) => return store,
                Err(ferry_store::Error::Locked { .. }) => tokio::time::sleep(Duration::from_millis(5)).await,
                Err(error) => panic!("the store cannot be opened: {error}"),
            }
        }
    };
    within(Duration::from_secs(20), "the store is released", open).await
}

fn defaults() -> ferry_controllers::Defaults {
    let row = ferry_resources::all().iter().find(|row| row.group == "apps" && row.kind == "StatefulSet");
    let row = row.expect("a builtin kind").clone();
    Arc::new(move |set: &mut serde_json::Value| row.strategy.default(set))
}
