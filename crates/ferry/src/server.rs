//! The wiring: every component of the cluster in this process, each speaking to the API
//! with an identity of its own over an in-memory transport.
//!
//! ```text
//!   containerd ─┐                      ┌─ controllers   system:kube-controller-manager and
//!   store ── API server ── in memory ──┼─ scheduler     one service account a controller
//!                │                     ├─ kubelet       system:node:<name>
//!             TLS :6443                ├─ proxy         system:kube-proxy
//!                                      └─ dns           kube-system/coredns
//! ```

use crate::cluster::{Cluster, parse_cidr};
use crate::preflight::Found;
use crate::progress::Progress;
use crate::{addons, containerd, images, kubeconfig, network, renewal, secret_key, signing};
use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use ferry_apiserver::authn::token::TokenAuthority;
use ferry_apiserver::authn::{UserInfo, legacy_token};
use ferry_apiserver::{ApiServer, Peer};
use ferry_client::{Body, BoxError, Client, Informers, Transport};
use ferry_pki::{Pki, PkiConfig};
use ferry_store::sqlite::{OnLoss, SqliteStore};
use k8s_openapi::api::core::v1::Node;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long a stage may take before `up` gives up and says which one it was.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long components may take to end before they are left behind.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A running cluster.
pub struct Server {
    api: ApiServer,
    parts: tokio::sync::Mutex<JoinSet<(&'static str, Result<()>)>>,
    shutdown: CancellationToken,
}

/// The API server without a socket in between: the same requests, the same answers, and
/// an identity that authorization judges like any other.
struct InProcess {
    api: ApiServer,
    user: Arc<UserInfo>,
}

#[async_trait]
impl Transport for InProcess {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        Ok(self.api.handle(request, Peer::InProcess(self.user.clone())).await)
    }
}

pub fn client(api: &ApiServer, user: UserInfo, component: &str) -> Client {
    let transport = InProcess { api: api.clone(), user: Arc::new(user) };
    Client::new(Arc::new(transport), &format!("{component}/v1.36.4 (ferry)")).with_problems(api.problems().clone())
}

impl Server {
    /// Starts everything and returns when the node is Ready and DNS answers.
    pub async fn start(
        cluster: &Cluster,
        found: &Found,
        user_kubeconfig: Option<&Path>,
        progress: &mut Progress,
        shutdown: CancellationToken,
    ) -> Result<Self> {
        let pki =
            ferry_pki::ensure(&cluster.pki_dir(), &pki_config(cluster)).context("cannot make the certificates")?;
        progress.done("certificates");

        // Neither needs the other, and each waits on the disk.
        let runtime = async {
            match &cluster.runtime_endpoint {
                Some(_) => Ok(()),
                None => containerd::start(cluster, found).await,
            }
        };
        // What the controllers count is told with the rest of this process.
        let queues = ferry_controllers::Metrics::default();
        let (api, ()) = tokio::try_join!(start_api(cluster, &pki, &queues), runtime)?;
        kubeconfig::write(cluster, &pki, user_kubeconfig)?;
        progress.done("API server and containerd");

        let mut parts = JoinSet::new();
        let (own, file, token) = (cluster.clone(), user_kubeconfig.map(Path::to_owned), shutdown.clone());
        let current = pki.clone();
        parts.spawn(async move {
            renewal::run(current, own, pki_config, file, token).await;
            ("the renewal of certificates", Ok(()))
        });
        serve(cluster, &pki, &api, &mut parts).await?;
        start_control_plane(cluster, &pki, &api, queues, &mut parts, &shutdown);
        if cluster.runtime_endpoint.is_none() {
            images::import(cluster, &found.ctr).await?;
            progress.done("images");
        }
        let node_ready = start_kubelet(cluster, &pki, &api, found, &mut parts, &shutdown)?;
        let proxy_ready = start_proxy(cluster, &api, &mut parts, &shutdown)?;

        let admin = client(&api, UserInfo::authenticated("kubernetes-admin", &["system:masters"]), "ferry");
        network::allow_forwarding()?;
        let gateway = prepare_bridge(cluster, &admin, &mut parts).await?;
        let dns_ready = start_dns(cluster, gateway, &api, &mut parts, &shutdown);
        addons::apply(&admin, cluster, gateway).await?;
        await_stage("the node to be Ready", node_ready, &mut parts).await?;
        progress.done("node Ready");
        await_stage("the service rules", proxy_ready, &mut parts).await?;
        await_stage("DNS to answer", dns_ready, &mut parts).await?;
        progress.done("services and DNS");
        Ok(Self { api, parts: tokio::sync::Mutex::new(parts), shutdown })
    }

    /// Waits until a component ends by itself, which none should.
    pub async fn failed(&self) -> anyhow::Error {
        let mut parts = self.parts.lock().await;
        match parts.join_next().await {
            Some(ended) => describe_end(ended),
            None => anyhow::anyhow!("nothing runs"),
        }
    }

    /// Waits for the components to end after the shutdown was asked for.
    pub async fn join(self) {
        self.shutdown.cancel();
        self.api.stop();
        let mut parts = self.parts.into_inner();
        let _ = tokio::time::timeout(END_TIMEOUT, async { while parts.join_next().await.is_some() {} }).await;
    }
}

type Parts = JoinSet<(&'static str, Result<()>)>;

fn describe_end(ended: Result<(&'static str, Result<()>), tokio::task::JoinError>) -> anyhow::Error {
    match ended {
        Ok((part, Ok(()))) => anyhow::anyhow!("{part} ended unasked"),
        Ok((part, Err(error))) => error.context(format!("{part} failed")),
        Err(error) => anyhow::anyhow!("a component was lost: {error}"),
    }
}

/// Waits for a readiness signal, but not for a component that has failed meanwhile.
async fn await_stage(what: &str, mut ready: watch::Receiver<bool>, parts: &mut Parts) -> Result<()> {
    tokio::select! {
        ended = parts.join_next() => match ended {
            Some(ended) => Err(describe_end(ended)),
            None => bail!("nothing runs"),
        },
        waited = tokio::time::timeout(STAGE_TIMEOUT, ready.wait_for(|ready| *ready)) => match waited {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => bail!("gave up on {what}: the component that says so is gone"),
            Err(_) => bail!("gave up waiting for {what} after {STAGE_TIMEOUT:?}; the log says more"),
        },
    }
}

fn pki_config(cluster: &Cluster) -> PkiConfig {
    let mut advertise_ips = network::addresses();
    advertise_ips.push(cluster.node_ip);
    PkiConfig {
        advertise_ips,
        node_names: vec![cluster.node_name.clone()],
        dns_sans: Vec::new(),
        service_ip: cluster.service_ip(1).into(),
        cluster_domain: cluster.cluster_domain.clone(),
    }
}

async fn start_api(cluster: &Cluster, pki: &Pki, queues: &ferry_controllers::Metrics) -> Result<ApiServer> {
    // The key comes first: a store without one is told from a lost key by not being there yet.
    secret_key::ensure(&cluster.data_dir)?;
    let directory = cluster.data_dir.join("store");
    // Opening replays the log of a killed process and so waits on the disk.
    let on_loss = if cluster.accept_data_loss { OnLoss::Accept } else { OnLoss::Refuse };
    let opened = tokio::task::spawn_blocking(move || SqliteStore::open_with(&directory, on_loss)).await?;
    let store = opened.map_err(describe_unopened)?;
    let mut config = ferry_apiserver::Config::from_pki(pki, &cluster.cluster_domain, Vec::new());
    config.encryption_config = cluster.access.encryption_files(&cluster.data_dir);
    config.service_cidr.clone_from(&cluster.service_cidr);
    cluster.access.apply(&mut config, &cluster.pki_dir())?;
    config.audit = cluster.audit.auditor()?;
    cluster.debugging.apply(&mut config);
    let queues = queues.clone();
    config.more_metrics.push(Arc::new(move |out| queues.render(out)));
    config.advertise_address = Some(SocketAddr::new(cluster.node_ip, cluster.api_port));
    config.prose = Some(Arc::new(|| {
        let prose = ferry_prose::collect();
        Box::new(move |definition, field| prose.get(definition, field).map(str::to_owned))
    }));
    ApiServer::start(Arc::new(store), config).await.context("cannot start the API server")
}

/// Adds the ways out to the failure of a store that has lost writes.
fn describe_unopened(error: ferry_store::Error) -> anyhow::Error {
    let lost = matches!(error, ferry_store::Error::Lost { .. });
    let error = anyhow::Error::new(error).context("cannot open the store");
    if !lost {
        return error;
    }
    let ways_out = "bring back a backup with `ferry restore FILE --replace`, or go on with what is left with \
                    `ferry up --accept-data-loss`";
    anyhow::anyhow!("{error:#}; {ways_out}")
}

/// Opens the API to the network, on every address: its certificate names them all.
async fn serve(cluster: &Cluster, pki: &Pki, api: &ApiServer, parts: &mut Parts) -> Result<()> {
    let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), cluster.api_port);
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let tls = Arc::new(pki.apiserver_tls()?);
    let api = api.clone();
    parts.spawn(async move { ("the API server", api.serve(listener, tls).await.map_err(Into::into)) });
    Ok(())
}

/// The key of service accounts, for the controller that fills Secrets with tokens.
fn legacy_signer(pki: &Pki) -> Option<ferry_controllers::LegacySigner> {
    let authority = TokenAuthority::new(&pki.service_account, legacy_token::ISSUER, &[]).ok()?;
    Some(Arc::new(move |claims: &serde_json::Value| authority.sign_raw(claims)))
}

fn start_control_plane(
    cluster: &Cluster,
    pki: &Pki,
    api: &ApiServer,
    queues: ferry_controllers::Metrics,
    parts: &mut Parts,
    shutdown: &CancellationToken,
) {
    let config = ferry_controllers::Config {
        root_ca: pki.ca.certificate_pem().to_owned(),
        legacy_signer: legacy_signer(pki),
        certificate_signer: Some(signing::certificate_signer(pki)),
        cluster_cidr: Some(cluster.pod_cidr.clone()),
        metrics: queues,
        ..Default::default()
    };
    let manager =
        client(api, UserInfo::authenticated("system:kube-controller-manager", &[]), "kube-controller-manager");
    let informers = Informers::with_shutdown(manager, shutdown.clone());
    let for_controllers = api.clone();
    let client_for: ferry_controllers::ClientFor =
        Arc::new(move |name: &str| client(&for_controllers, UserInfo::service_account("kube-system", name), name));
    let token = shutdown.clone();
    parts.spawn(async move {
        ("the controllers", ferry_controllers::run(config, client_for, informers, token).await.map_err(Into::into))
    });

    let scheduler = client(api, UserInfo::authenticated("system:kube-scheduler", &[]), "kube-scheduler");
    let informers = Informers::with_shutdown(scheduler.clone(), shutdown.clone());
    let token = shutdown.clone();
    parts.spawn(async move {
        ferry_scheduler::run(scheduler, informers, token).await;
        ("the scheduler", Ok(()))
    });
}

fn start_kubelet(
    cluster: &Cluster,
    pki: &Pki,
    api: &ApiServer,
    found: &Found,
    parts: &mut Parts,
    shutdown: &CancellationToken,
) -> Result<watch::Receiver<bool>> {
    let identity = pki.nodes.get(&cluster.node_name).context("the node has no certificate")?;
    let mut config = ferry_kubelet::Config::new(
        &cluster.node_name,
        &cluster.node_ip.to_string(),
        &cluster.data_dir,
        &cluster.runtime_socket().to_string_lossy(),
    );
    config.log_dir = cluster.data_dir.join("logs/pods");
    config.cni = ferry_kubelet::Cni {
        conf_dir: cluster.cni_conf_dir(),
        bin_dir: found.cni_bin_dir.clone(),
        bridge: cluster.bridge(),
        data_dir: cluster.run_dir.join("cni/addresses"),
        mtu: None,
    };
    config.cluster_dns = vec![cluster.service_ip(10).to_string()];
    config.cluster_domain.clone_from(&cluster.cluster_domain);
    config.cgroup_root.clone_from(&cluster.name);
    config.kept_images = images::ALL.map(str::to_owned).to_vec();
    config.server = Some(ferry_kubelet::ServerConfig {
        address: SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), cluster.kubelet_port),
        certificate: identity.serving.clone(),
        client_ca_pem: pki.ca.certificate_pem().to_owned(),
        allowed_names: vec!["kube-apiserver-kubelet-client".to_owned()],
    });
    let user = UserInfo::authenticated(&format!("system:node:{}", cluster.node_name), &["system:nodes"]);
    let client = client(api, user, "kubelet");
    let (ready, is_ready) = watch::channel(false);
    let token = shutdown.clone();
    parts.spawn(
        async move { ("the kubelet", ferry_kubelet::run(config, client, ready, token).await.map_err(Into::into)) },
    );
    Ok(is_ready)
}

fn start_proxy(
    cluster: &Cluster,
    api: &ApiServer,
    parts: &mut Parts,
    shutdown: &CancellationToken,
) -> Result<watch::Receiver<bool>> {
    let mut config = proxy_config(cluster);
    config.cluster_cidrs = vec![cluster.pod_cidr.parse().context("--cluster-cidr")?];
    config.service_cidrs = vec![cluster.service_cidr.parse().context("--service-cidr")?];
    let (ready, is_ready) = watch::channel(false);
    let client = client(api, UserInfo::authenticated("system:kube-proxy", &[]), "kube-proxy");
    let (informers, token) = (Informers::with_shutdown(client, shutdown.clone()), shutdown.clone());
    parts.spawn(async move {
        ("the service proxy", ferry_proxy::run(&informers, config, ready, token).await.map_err(Into::into))
    });
    Ok(is_ready)
}

/// What names the proxy's table on this machine; also what removes it.
pub fn proxy_config(cluster: &Cluster) -> ferry_proxy::Config {
    let mut config = ferry_proxy::Config::new(&cluster.node_name);
    config.table.clone_from(&cluster.name);
    config.node_ips = vec![cluster.node_ip];
    config
}

/// Waits for the node's range of pod addresses and makes the bridge with its gateway.
async fn prepare_bridge(cluster: &Cluster, admin: &Client, parts: &mut Parts) -> Result<Ipv4Addr> {
    let (found, has_range) = watch::channel(None::<String>);
    let (admin, name) = (admin.clone(), cluster.node_name.clone());
    let look = tokio::spawn(async move {
        loop {
            if let Ok(node) = admin.get::<Node>("", &name).await
                && let Some(range) = node.spec.and_then(|spec| spec.pod_cidr)
            {
                let _ = found.send(Some(range));
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let mut has_range = has_range;
    let (told, is_told) = watch::channel(false);
    let wait = async {
        let range = has_range.wait_for(Option::is_some).await.ok().and_then(|range| range.clone());
        let _ = told.send(true);
        range
    };
    let (range, waited) = tokio::join!(wait, await_stage("the node's range of pod addresses", is_told, parts));
    look.abort();
    waited?;
    let range = range.context("the node has no range of pod addresses")?;
    let (base, bits) = parse_cidr("the node's pod range", &range)?;
    let gateway = Ipv4Addr::from(u32::from(base) + 1);
    network::ensure_bridge(&cluster.bridge(), gateway, bits).await?;
    Ok(gateway)
}

fn start_dns(
    cluster: &Cluster,
    gateway: Ipv4Addr,
    api: &ApiServer,
    parts: &mut Parts,
    shutdown: &CancellationToken,
) -> watch::Receiver<bool> {
    let (ready, is_bound) = oneshot::channel();
    let config = ferry_dns::Config {
        bind: vec![SocketAddr::new(gateway.into(), 53)],
        domain: cluster.cluster_domain.clone(),
        cluster_dns: vec![cluster.service_ip(10).into()],
        ready: Some(ready),
        ..Default::default()
    };
    let client = client(api, UserInfo::service_account("kube-system", "coredns"), "coredns");
    let informers = Informers::with_shutdown(client, shutdown.clone());
    let token = shutdown.clone();
    parts.spawn(async move { ("DNS", ferry_dns::run(config, informers, token).await.map_err(Into::into)) });
    let (ready, is_ready) = watch::channel(false);
    tokio::spawn(async move {
        if is_bound.await.is_ok() {
            let _ = ready.send(true);
        }
    });
    is_ready
}
