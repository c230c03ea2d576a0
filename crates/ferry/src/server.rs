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

use crate::cluster::Cluster;
use crate::join::settings::ClusterSettings;
use crate::node::{self, Clients, NodeParts, Speaker};
use crate::preflight::Found;
use crate::progress::Progress;
use crate::supervise::Supervisor;
use crate::{addons, containerd, images, kubeconfig, network, renewal, secret_key, signing};
use anyhow::{Context, Result, bail};
use async_trait::async_trait;
use ferry_api::problems::Problems;
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
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long a stage may take before `up` gives up and says which one it was.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// How long components may take to end before they are left behind.
pub const END_TIMEOUT: Duration = Duration::from_secs(5);

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
        let own_runtime = cluster.role.has_node() && cluster.runtime_endpoint.is_none();
        let runtime = async { if own_runtime { containerd::start(cluster, found).await } else { Ok(()) } };
        // The API server renders the metrics of all work queues of the process.
        let queues = ferry_runner::Metrics::default();
        let options = ferry_scheduler::Options {
            configuration: cluster.scheduling.configuration()?,
            decisions: ferry_scheduler::Decisions::default(),
        };
        let (api, ()) = tokio::try_join!(start_api(cluster, &pki, &queues, &options.decisions), runtime)?;
        kubeconfig::write(cluster, &pki, user_kubeconfig, kubeconfig::Selection::Select)?;
        progress.done(if own_runtime { "API server and containerd" } else { "API server" });

        let mut parts = Supervisor::new(api.problems().clone(), shutdown.clone());
        if own_runtime {
            let (own, found) = (cluster.clone(), found.clone());
            parts.keep("containerd", move |token| containerd::keep(own.clone(), found.clone(), token));
        }
        keep_certificates(cluster, &pki, user_kubeconfig, &mut parts);
        serve(cluster, &pki, &api, &mut parts).await?;
        keep_control_plane(cluster, &pki, &api, queues.clone(), options, &mut parts);
        if own_runtime {
            images::import(cluster, &found.ctr).await?;
            progress.done("images");
        }
        let clients = in_process(cluster, &api);
        let admin = client(&api, UserInfo::authenticated("kubernetes-admin", &["system:masters"]), "ferry");
        let settings = ClusterSettings::of(cluster);
        if cluster.role.has_node() {
            let identity = pki.nodes.get(&cluster.node_name).context("the node has no certificate")?;
            let node = NodeParts {
                cluster: cluster.clone(),
                found: found.clone(),
                clients,
                serving: identity.serving.clone(),
                client_ca_pem: pki.ca.certificate_pem().to_owned(),
                queues,
                problems: api.problems().clone(),
            };
            let ready = node.start(&mut parts).await?;
            addons::apply(&admin, cluster, &settings).await?;
            keep_addons(&admin, &mut parts);
            await_stage("the node to be Ready", ready.node, &mut parts).await?;
            addons::label_control_plane(&admin, &cluster.node_name).await?;
            progress.done("node Ready");
            await_stage("the service rules", ready.proxy, &mut parts).await?;
            await_stage("the network policies", ready.policies, &mut parts).await?;
            await_stage("DNS to answer", ready.dns, &mut parts).await?;
            progress.done("services and DNS");
        } else {
            // The API server calls webhooks and aggregated servers, which run in pods.
            node::keep_pod_network(cluster, &clients, api.problems(), &mut parts)?;
            addons::apply(&admin, cluster, &settings).await?;
            keep_addons(&admin, &mut parts);
        }
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
pub async fn await_stage(what: &str, mut ready: watch::Receiver<bool>, parts: &mut Supervisor) -> Result<()> {
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
        node_names: if cluster.role.has_node() { vec![cluster.node_name.clone()] } else { Vec::new() },
        // Machines that join may know this one by its name.
        dns_sans: vec![cluster.node_name.clone()],
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

/// The clients of a node's parts, in memory.
fn in_process(cluster: &Cluster, api: &ApiServer) -> Clients {
    let (api, node_name) = (api.clone(), cluster.node_name.clone());
    Arc::new(move |speaker: Speaker| {
        let account = |name: &str| UserInfo::service_account("kube-system", name);
        let user = match speaker {
            Speaker::Kubelet => UserInfo::authenticated(&format!("system:node:{node_name}"), &["system:nodes"]),
            Speaker::Proxy | Speaker::Policies => UserInfo::authenticated("system:kube-proxy", &[]),
            Speaker::LocalVolumes | Speaker::Dns => account(speaker.component()),
        };
        client(&api, user, speaker.component())
    })
}

fn keep_addons(admin: &Client, parts: &mut Supervisor) {
    let admin = admin.clone();
    parts.keep("DNS endpoints", move |token| {
        let informers = Informers::with_shutdown(admin.clone(), token.clone());
        addons::keep_dns_endpoints(admin.clone(), informers, token)
    });
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
