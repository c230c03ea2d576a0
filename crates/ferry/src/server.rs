//! The wiring: every component of the cluster in this process, each speaking to the API
//! with an identity of its own over an in-memory transport.
//!
//! ```text
//!   containerd ─┐                      ┌─ controllers   system:kube-controller-manager and
//!   store ── API server ── in memory ──┼─ scheduler     one service account a controller
//!                │                     ├─ kubelet       system:node:<name>
//!             TLS :6443                ├─ volumes       kube-system/local-path-provisioner
//!                                      ├─ proxy         system:kube-proxy
//!                                      ├─ policy        system:kube-proxy
//!                                      └─ dns           kube-system/coredns
//! ```

use crate::cluster::{Cluster, parse_cidr};
use crate::preflight::Found;
use crate::progress::Progress;
use crate::supervise::Supervisor;
use crate::{addons, containerd, images, kubeconfig, network, renewal, secret_key, signing};
use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use ferry_api::problems::Problems;
use ferry_api::view::core::v1::Node;
use ferry_apiserver::authn::token::TokenAuthority;
use ferry_apiserver::authn::{UserInfo, legacy_token};
use ferry_apiserver::{ApiServer, Peer};
use ferry_client::{Body, BoxError, Client, Informers, Transport};
use ferry_pki::{Pki, PkiConfig};
use ferry_store::sqlite::{OnLoss, SqliteStore};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

/// How long a stage may take before `up` gives up and says which one it was.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long components may take to end before they are left behind.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// A running cluster.
pub struct Server {
    api: ApiServer,
    parts: Supervisor,
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
        // The API server renders the metrics of all work queues of the process.
        let queues = ferry_runner::Metrics::default();
        let options = ferry_scheduler::Options {
            configuration: cluster.scheduling.configuration()?,
            decisions: ferry_scheduler::Decisions::default(),
        };
        let (api, ()) = tokio::try_join!(start_api(cluster, &pki, &queues, &options.decisions), runtime)?;
        kubeconfig::write(cluster, &pki, user_kubeconfig, kubeconfig::Selection::Select)?;
        progress.done("API server and containerd");

        let mut parts = Supervisor::new(api.problems().clone(), shutdown.clone());
        if cluster.runtime_endpoint.is_none() {
            let (own, found) = (cluster.clone(), found.clone());
            parts.keep("containerd", move |token| containerd::keep(own.clone(), found.clone(), token));
        }
        keep_certificates(cluster, &pki, user_kubeconfig, &mut parts);
        serve(cluster, &pki, &api, &mut parts).await?;
        keep_control_plane(cluster, &pki, &api, queues.clone(), options, &mut parts);
        if cluster.runtime_endpoint.is_none() {
            images::import(cluster, &found.ctr).await?;
            progress.done("images");
        }
        // Before the first pod, which may open the bridge to loopback by its hostPort.
        ferry_proxy::guard_loopback(&proxy_config(cluster)).await.context("cannot guard the loopback network")?;
        ferry_policy::guard(&policy_config(cluster)).await.context("cannot close the network to unknown pods")?;
        let node_ready = keep_kubelet(cluster, &pki, &api, found, &mut parts)?;
        keep_local_volumes(cluster, &api, queues, &mut parts);
        let proxy_ready = keep_proxy(cluster, &api, &mut parts)?;

        let admin = client(&api, UserInfo::authenticated("kubernetes-admin", &["system:masters"]), "ferry");
        network::allow_forwarding()?;
        let (gateway, bits) = await_pod_range(cluster, &admin, &mut parts).await?;
        network::ensure_bridge(&cluster.bridge(), gateway, bits).await?;
        let dns_ready = keep_dns(cluster, (gateway, bits), &api, &mut parts);
        addons::apply(&admin, cluster, gateway).await?;
        let policies_ready = keep_policies(cluster, gateway, &api, &mut parts);
        await_stage("the node to be Ready", node_ready, &mut parts).await?;
        progress.done("node Ready");
        await_stage("the service rules", proxy_ready, &mut parts).await?;
        await_stage("the network policies", policies_ready, &mut parts).await?;
        await_stage("DNS to answer", dns_ready, &mut parts).await?;
        progress.done("services and DNS");
        parts.report_ready()?;
        Ok(Self { api, parts, shutdown })
    }

    /// The list that `ferry status` prints.
    pub fn problems(&self) -> &Problems {
        self.api.problems()
    }

    /// Ends every component and leaves the pods as they are.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.api.stop();
        self.parts.join(END_TIMEOUT).await;
    }
}

/// Waits for a readiness signal, but not for a component that is lost meanwhile.
async fn await_stage(what: &str, mut ready: watch::Receiver<bool>, parts: &mut Supervisor) -> Result<()> {
    tokio::select! {
        lost = parts.lost_before_ready() => Err(lost),
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

async fn start_api(
    cluster: &Cluster,
    pki: &Pki,
    queues: &ferry_runner::Metrics,
    decisions: &ferry_scheduler::Decisions,
) -> Result<ApiServer> {
    // The key comes first: a store without one is told from a lost key by not being there yet.
    secret_key::ensure(&cluster.data_dir)?;
    let directory = cluster.data_dir.join("store");
    // Opening replays the log of a killed process and so waits on the disk.
    let on_loss = if cluster.accept_data_loss { OnLoss::Accept } else { OnLoss::Refuse };
    let opened = tokio::task::spawn_blocking(move || SqliteStore::open_with(&directory, on_loss)).await?;
    let store = opened.map_err(|error| describe_unopened(error, cluster))?;
    let mut config = ferry_apiserver::Config::from_pki(pki, &cluster.cluster_domain, Vec::new());
    config.encryption_config = cluster.access.encryption_files(&cluster.data_dir);
    config.service_cidr.clone_from(&cluster.service_cidr);
    cluster.access.apply(&mut config, &cluster.pki_dir())?;
    config.audit = cluster.audit.auditor()?;
    cluster.debugging.apply(&mut config);
    config.queues = queues.clone();
    let decisions = decisions.clone();
    config.scheduler_decisions = Some(Arc::new(move |pod| decisions.render(pod)));
    config.advertise_address = Some(SocketAddr::new(cluster.node_ip, cluster.api_port));
    config.prose =
        Some(Arc::new(|| Box::new(|definition, field| ferry_prose::get(definition, field).map(str::to_owned))));
    ApiServer::start(Arc::new(store), config).await.context("cannot start the API server")
}

/// Adds the ways out to the failure of a store that has lost writes.
fn describe_unopened(error: ferry_store::Error, cluster: &Cluster) -> anyhow::Error {
    let lost = matches!(error, ferry_store::Error::Lost { .. });
    let error = anyhow::Error::new(error).context("cannot open the store");
    if !lost {
        return error;
    }
    let flags = cluster.flags();
    anyhow::anyhow!(
        "{error:#}; bring back a backup with `ferry restore FILE --replace{flags}`, or go on with what is left with \
         `ferry up --accept-data-loss{flags}`"
    )
}

fn keep_certificates(cluster: &Cluster, pki: &Pki, user_kubeconfig: Option<&Path>, parts: &mut Supervisor) {
    let (cluster, pki, file) = (cluster.clone(), pki.clone(), user_kubeconfig.map(Path::to_owned));
    parts.keep("renewal of certificates", move |token| {
        let renewal = renewal::run(pki.clone(), cluster.clone(), pki_config, file.clone(), token);
        async move {
            renewal.await;
            Ok(())
        }
    });
}

/// Opens the API to the network, on every address: its certificate names them all. The
/// first listener is opened here, so that the port is there before `ferry up` goes on.
async fn serve(cluster: &Cluster, pki: &Pki, api: &ApiServer, parts: &mut Supervisor) -> Result<()> {
    let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), cluster.api_port);
    let first = Arc::new(Mutex::new(Some(listen(address).await?)));
    let (api, pki) = (api.clone(), pki.clone());
    parts.keep("API listener", move |_| {
        let (api, pki) = (api.clone(), pki.clone());
        let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move {
            let listener = match first {
                Some(listener) => listener,
                None => listen(address).await?,
            };
            api.serve(listener, Arc::new(pki.apiserver_tls()?)).await.map_err(Into::into)
        }
    });
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))
}

/// The key of service accounts, for the controller that fills Secrets with tokens.
fn legacy_signer(pki: &Pki) -> Option<ferry_controllers::LegacySigner> {
    let authority = TokenAuthority::new(&pki.service_account, legacy_token::ISSUER, &[]).ok()?;
    Some(Arc::new(move |claims: &serde_json::Value| authority.sign_raw(claims)))
}

/// The defaults that the API server fills in, for the controller that compares revisions.
fn stateful_set_defaults() -> Option<ferry_controllers::Defaults> {
    let row = ferry_resources::all().iter().find(|row| row.group == "apps" && row.kind == "StatefulSet")?;
    Some(Arc::new(|set: &mut serde_json::Value| row.default(set)))
}

fn keep_control_plane(
    cluster: &Cluster,
    pki: &Pki,
    api: &ApiServer,
    queues: ferry_runner::Metrics,
    options: ferry_scheduler::Options,
    parts: &mut Supervisor,
) {
    let config = ferry_controllers::Config {
        root_ca: pki.ca.certificate_pem().to_owned(),
        legacy_signer: legacy_signer(pki),
        certificate_signer: Some(signing::certificate_signer(pki)),
        cluster_cidr: Some(cluster.pod_cidr.clone()),
        node_cidr_mask_size: cluster.node_mask_size(),
        metrics: queues,
        stateful_set_defaults: stateful_set_defaults(),
        ..Default::default()
    };
    let for_controllers = api.clone();
    let client_for: ferry_controllers::ClientFor =
        Arc::new(move |name: &str| client(&for_controllers, UserInfo::service_account("kube-system", name), name));
    let manager =
        client(api, UserInfo::authenticated("system:kube-controller-manager", &[]), "kube-controller-manager");
    parts.keep("controllers", move |token| {
        let informers = Informers::with_shutdown(manager.clone(), token.clone());
        let running = ferry_controllers::run(config.clone(), client_for.clone(), informers, token);
        async move { running.await.map_err(Into::into) }
    });

    let scheduler = client(api, UserInfo::authenticated("system:kube-scheduler", &[]), "kube-scheduler");
    parts.keep("scheduler", move |token| {
        let informers = Informers::with_shutdown(scheduler.clone(), token.clone());
        let running = ferry_scheduler::run_with(scheduler.clone(), informers, options.clone(), token);
        async move {
            running.await;
            Ok(())
        }
    });
}

fn keep_kubelet(
    cluster: &Cluster,
    pki: &Pki,
    api: &ApiServer,
    found: &Found,
    parts: &mut Supervisor,
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
    config.max_pods = cluster.max_pods();
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
    parts.keep("kubelet", move |token| {
        let running = ferry_kubelet::run(config.clone(), client.clone(), ready.clone(), token);
        async move { running.await.map_err(Into::into) }
    });
    Ok(is_ready)
}

/// The directories behind claims of the built-in StorageClass.
fn keep_local_volumes(cluster: &Cluster, api: &ApiServer, queues: ferry_runner::Metrics, parts: &mut Supervisor) {
    let config = ferry_kubelet::local_path::Config {
        node_name: cluster.node_name.clone(),
        directory: cluster.data_dir.join("volumes"),
        metrics: queues,
    };
    let user = UserInfo::service_account("kube-system", "local-path-provisioner");
    let client = client(api, user, "local-path-provisioner");
    parts.keep("local-path provisioner", move |token| {
        let running = ferry_kubelet::local_path::run(config.clone(), client.clone(), token);
        async move { running.await.map_err(Into::into) }
    });
}

fn keep_proxy(cluster: &Cluster, api: &ApiServer, parts: &mut Supervisor) -> Result<watch::Receiver<bool>> {
    let mut config = proxy_config(cluster);
    config.cluster_cidrs = vec![cluster.pod_cidr.parse().context("--cluster-cidr")?];
    config.service_cidrs = vec![cluster.service_cidr.parse().context("--service-cidr")?];
    let (ready, is_ready) = watch::channel(false);
    let client = client(api, UserInfo::authenticated("system:kube-proxy", &[]), "kube-proxy");
    parts.keep("service proxy", move |token| {
        let informers = Informers::with_shutdown(client.clone(), token.clone());
        let running = ferry_proxy::run(informers, config.clone(), ready.clone(), token);
        async move { running.await.map_err(Into::into) }
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

/// The policies of this node's pods, in the rights of the service proxy (`addons.rs`).
fn keep_policies(
    cluster: &Cluster,
    gateway: Ipv4Addr,
    api: &ApiServer,
    parts: &mut Supervisor,
) -> watch::Receiver<bool> {
    let mut config = policy_config(cluster);
    config.dns = vec![gateway.into()];
    let (ready, is_ready) = watch::channel(false);
    let client = client(api, UserInfo::authenticated("system:kube-proxy", &[]), "network-policies");
    parts.keep("network policies", move |token| {
        let informers = Informers::with_shutdown(client.clone(), token.clone());
        let running = ferry_policy::run(informers, config.clone(), ready.clone(), token);
        async move { running.await.map_err(Into::into) }
    });
    is_ready
}

/// What names the policies' table on this machine; also what removes it.
pub fn policy_config(cluster: &Cluster) -> ferry_policy::Config {
    ferry_policy::Config {
        table: format!("{}-policies", cluster.name),
        node_name: cluster.node_name.clone(),
        bridge: Some(cluster.bridge()),
        dns: Vec::new(),
    }
}

/// Waits for the node's range of pod addresses; its first is the bridge's.
async fn await_pod_range(cluster: &Cluster, admin: &Client, parts: &mut Supervisor) -> Result<(Ipv4Addr, u8)> {
    let (told, is_told) = watch::channel(false);
    let look = async {
        loop {
            if let Ok(node) = admin.api::<Node>("").get(&cluster.node_name).await
                && let range = node.view().spec().pod_cidr()
                && !range.is_empty()
            {
                let _ = told.send(true);
                return range.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let wait = await_stage("the node's range of pod addresses", is_told, parts);
    let mut look = std::pin::pin!(look);
    let mut wait = std::pin::pin!(wait);
    let range = tokio::select! {
        range = &mut look => range,
        waited = &mut wait => {
            waited?;
            look.await
        }
    };
    let (base, bits) = parse_cidr("the node's pod range", &range)?;
    Ok((Ipv4Addr::from(u32::from(base) + 1), bits))
}

/// DNS listens on the bridge, which is made again for an attempt if somebody has removed it.
fn keep_dns(
    cluster: &Cluster,
    (gateway, bits): (Ipv4Addr, u8),
    api: &ApiServer,
    parts: &mut Supervisor,
) -> watch::Receiver<bool> {
    let (ready, is_ready) = watch::channel(false);
    let cluster = cluster.clone();
    let client = client(api, UserInfo::service_account("kube-system", "coredns"), "coredns");
    parts.keep("DNS", move |token| {
        let (bound, is_bound) = oneshot::channel();
        let config = ferry_dns::Config {
            bind: vec![SocketAddr::new(gateway.into(), 53)],
            devices: vec![cluster.bridge(), "lo".to_owned()],
            domain: cluster.cluster_domain.clone(),
            cluster_dns: vec![cluster.service_ip(10).into()],
            ready: Some(bound),
            ..Default::default()
        };
        let informers = Informers::with_shutdown(client.clone(), token.clone());
        let (ready, bridge) = (ready.clone(), cluster.bridge());
        async move {
            network::ensure_bridge(&bridge, gateway, bits).await?;
            let report = async {
                if is_bound.await.is_ok() {
                    ready.send_replace(true);
                }
            };
            let (served, ()) = tokio::join!(ferry_dns::run(config, informers, token), report);
            served.map_err(Into::into)
        }
    });
    is_ready
}
