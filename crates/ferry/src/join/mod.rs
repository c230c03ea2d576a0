//! `ferry join`: this machine becomes a node of a cluster whose server is elsewhere, or starts
//! again as the node that it is.
//!
//! ```text
//! discover.rs   the server, by the hash of its authority      nothing is sent before it is proven
//! settings.rs   what the cluster is like                      with the token
//! checks.rs     name, address, ranges, link                   nothing is written before they hold
//! identity.rs   the first certificate                         from here on the token is not needed
//! agent.rs      the node
//! ```

pub mod checks;
mod discover;
pub mod settings;
pub mod token;

use crate::agent::{Agent, AgentEnd};
use crate::cluster::{Cluster, Wishes};
use crate::daemon::{Presence, RunLock};
use crate::log::Audience;
use crate::node::identity::AgentIdentity;
use crate::node::settings::NodeFlags;
use crate::progress::{Progress, render_duration, say};
use crate::role::{Joined, Role};
use crate::up::{End, give_up, make_directories};
use crate::{Place, daemon, log, network, preflight, systemd, teardown};
use anyhow::{Context, Result, bail};
use clap::Args;
use discover::{Discovered, ServerUrl, check_clock, discover};
use ferry_api::view::core::v1::{ConfigMap, Node};
use ferry_client::{Client, ListParams, Request, TlsTransport, WithHeaders};
use settings::ClusterSettings;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use token::JoinToken;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long the cluster may take to sign the first certificate.
const CERTIFICATE_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Args, Clone)]
pub struct JoinArgs {
    #[command(flatten)]
    place: Place,
    /// The server, as `ferry token create` prints it; not needed by a machine that has joined
    #[arg(value_name = "https://SERVER:6443")]
    server: Option<String>,
    /// The token that `ferry token create` on the server prints
    #[arg(long, env = "FERRY_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The hash of the cluster's authority, for a token that carries none
    #[arg(long, value_name = "sha256:HASH")]
    ca_cert_hash: Option<String>,
    /// Return once the node is ready and leave it running
    #[arg(short, long)]
    detach: bool,
    /// What this node's bridge, firewall table and cgroup are called here [default: ferry]
    #[arg(long)]
    name: Option<String>,
    /// The node's name [default: this machine's]
    #[arg(long)]
    node_name: Option<String>,
    /// The address by which others reach this node [default: the one by which it reaches the server]
    #[arg(long, value_name = "IP")]
    node_ip: Option<IpAddr>,
    /// The kubelet's port [default: 10250]
    #[arg(long)]
    kubelet_port: Option<u16>,
    /// Use a container runtime that is there instead of starting containerd
    #[arg(long, value_name = "SOCKET")]
    container_runtime_endpoint: Option<PathBuf>,
    /// The pods that this node takes at most [default: 110]
    #[arg(long, value_name = "PODS")]
    max_pods: Option<u32>,
    #[command(flatten)]
    node: NodeFlags,
    /// Start nothing: print a systemd unit that runs `ferry join` with the other flags given
    #[arg(long)]
    systemd: bool,
    /// What to log, as in RUST_LOG
    #[arg(long, value_name = "FILTER", default_value = "warn,ferry=info", env = "FERRY_LOG")]
    log: String,
    /// Set on the process that `-d` leaves behind
    #[arg(long, hide = true)]
    detached: bool,
}

impl JoinArgs {
    fn wishes(&self) -> Wishes {
        let socket = self.container_runtime_endpoint.as_ref().map(|socket| {
            let text = socket.to_string_lossy();
            PathBuf::from(text.strip_prefix("unix://").unwrap_or(&text))
        });
        Wishes {
            name: self.name.clone(),
            node_name: self.node_name.clone(),
            node_ip: self.node_ip,
            kubelet_port: self.kubelet_port,
            runtime_endpoint: socket,
            max_pods: self.max_pods,
            role: Role::Node,
            node: self.node.clone(),
            ..Default::default()
        }
    }
}

pub async fn run(args: JoinArgs) -> Result<()> {
    log::parse_filter(&args.log)?;
    let known = Cluster::load(&args.place)?;
    if args.systemd {
        say(systemd::unit(&args.place)?.trim_end());
        return Ok(());
    }
    if let Some(known) = known.as_ref().filter(|known| known.role == Role::Node)
        && !args.detached
        && let Presence::Answers(pid) = daemon::settle(known).await?
    {
        say(&format!(
            "node {:?} runs already as process {pid}; `ferry status{}` says more",
            known.node_name,
            known.flags()
        ));
        return Ok(());
    }
    if args.detach {
        return daemon::start_detached(&args.place.data_dir.join("logs/ferry.log"));
    }
    let detached = args.detached;
    let result = serve(args).await;
    if detached && let Err(error) = &result {
        // The log has it too, but the person in front reads this.
        tracing::error!(error = format!("{error:#}"), "ferry ends");
        say(&format!("ferry: {error:#}"));
    }
    result
}

/// Runs the node, and again when the machine's address has changed.
async fn serve(args: JoinArgs) -> Result<()> {
    let mut signals = Signals {
        interrupt: signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?,
        terminate: signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?,
    };
    let mut is_first = true;
    loop {
        match serve_once(&args, is_first, &mut signals).await? {
            Some(AgentEnd::Moved) => {
                tracing::warn!("this machine has lost the node's address; the node starts again with another");
                is_first = false;
            }
            Some(AgentEnd::Removed) => bail!("this node was removed from its cluster; {}", how_to_come_back(&args)),
            None => return Ok(()),
        }
    }
}

fn how_to_come_back(args: &JoinArgs) -> String {
    let place = Cluster::load(&args.place).ok().flatten().map(|cluster| cluster.flags()).unwrap_or_default();
    format!("`ferry token create` on the server prints how it joins again, `ferry uninstall{place}` removes the rest")
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    async fn next(&mut self) -> End {
        tokio::select! {
            _ = self.interrupt.recv() => End::Interrupted,
            _ = self.terminate.recv() => End::Terminated,
        }
    }
}

/// `None` where a signal has ended it.
async fn serve_once(args: &JoinArgs, is_first: bool, signals: &mut Signals) -> Result<Option<AgentEnd>> {
    let mut progress = Progress::new();
    let (mut cluster, found, identity, _lock) = prepare(args, is_first, &mut progress).await?;
    let shutdown = CancellationToken::new();
    let started = tokio::select! {
        started = Agent::start(&cluster, &found, identity, &mut progress, shutdown.clone()) => started.map(Ok),
        end = signals.next() => Ok(Err(end)),
    };
    let mut agent = match started {
        Ok(Ok(agent)) => agent,
        Ok(Err(end)) => {
            shutdown.cancel();
            if end == End::Interrupted {
                teardown::stop(&cluster).await?;
            }
            return Ok(None);
        }
        Err(error) => {
            shutdown.cancel();
            let is_new = !cluster.has_run;
            let error = give_up(&cluster, error).await;
            if is_new {
                AgentIdentity::remove(&cluster.pki_dir());
                let name = &cluster.node_name;
                return Err(error.context(format!(
                    "this machine did not become a node; if `kubectl get nodes` shows it: ferry node remove {name} (on the server)"
                )));
            }
            return Err(error);
        }
    };
    cluster.has_run = true;
    if let Err(error) = cluster.save() {
        tracing::error!(error = format!("{error:#}"), "cannot keep what this machine has joined");
    }
    if is_first {
        say(&render_welcome(&cluster, &render_state(agent.is_ready, &progress), args.detached));
        systemd::report_ready();
        if args.detached {
            daemon::report_ready()?;
        }
    }
    let ended = tokio::select! {
        end = signals.next() => Err(end),
        end = agent.ended() => Ok(end),
    };
    if ended == Err(End::Interrupted) && !args.detached {
        say("stopping the pods and the node; the data stays");
    }
    agent.stop().await;
    match ended {
        Ok(AgentEnd::Removed) => {
            tracing::warn!("this node was removed from its cluster; its pods are stopped");
            forget(&mut cluster).await;
            Ok(Some(AgentEnd::Removed))
        }
        Ok(end) => Ok(Some(end)),
        Err(End::Interrupted) => teardown::stop(&cluster).await.map(|()| None),
        Err(End::Terminated) => Ok(None),
    }
}

/// After a removal: nothing runs here, and the next `ferry join` is a first one.
async fn forget(cluster: &mut Cluster) {
    if let Err(error) = teardown::stop(cluster).await {
        tracing::warn!(error = format!("{error:#}"), "cannot clean up after the removal");
    }
    AgentIdentity::remove(&cluster.pki_dir());
    cluster.has_run = false;
    if let Err(error) = cluster.save() {
        tracing::warn!(error = format!("{error:#}"), "cannot note the removal");
    }
}

type Prepared = (Cluster, preflight::Found, AgentIdentity, RunLock);

/// The node that is here, or the one that this machine becomes.
async fn prepare(args: &JoinArgs, is_first: bool, progress: &mut Progress) -> Result<Prepared> {
    let known = Cluster::load(&args.place)?;
    if let Some(known) = known.filter(|known| known.has_run || known.role != Role::Node) {
        // Refuses what another verb has made.
        let cluster = Cluster::load_or_decide(&args.place, &args.wishes())?;
        let identity = AgentIdentity::load(&cluster.pki_dir(), &cluster.node_name)?;
        if let Some(identity) = identity.filter(|identity| !identity.is_expired(jiff::Timestamp::now())) {
            return resume(args, known, cluster, identity, is_first, progress);
        }
        if args.token.is_none() {
            bail!(
                "this machine's certificate has expired or is gone; `ferry token create` on the server prints how it joins again"
            );
        }
    }
    become_node(args, is_first, progress).await
}

fn resume(
    args: &JoinArgs,
    known: Cluster,
    mut cluster: Cluster,
    identity: AgentIdentity,
    is_first: bool,
    progress: &mut Progress,
) -> Result<Prepared> {
    if let Some(server) = &args.server {
        // The server may have moved; the authority stays the same, so that no other is trusted.
        cluster.joined.server = ServerUrl::parse(server)?.render();
    }
    if args.token.is_some() {
        say(&format!(
            "this machine is node {:?} already, and the token is not needed; `ferry uninstall{}` starts over",
            known.node_name,
            known.flags()
        ));
    }
    let found = preflight::run(&cluster)?;
    let lock = take_lock(&cluster)?;
    cluster.register()?;
    start_log(args, &cluster, is_first)?;
    progress.done("checked this machine");
    Ok((cluster, found, identity, lock))
}

async fn become_node(args: &JoinArgs, is_first: bool, progress: &mut Progress) -> Result<Prepared> {
    let (Some(server), Some(token)) = (&args.server, &args.token) else {
        bail!(
            "this machine has joined no cluster yet: `ferry token create` on the server prints the whole command, ferry join https://SERVER:6443 --token …"
        );
    };
    let (server, token) = (ServerUrl::parse(server)?, JoinToken::parse(token, args.ca_cert_hash.as_deref())?);
    let discovered = discover(&server, token.pin).await?;
    progress.done("found the server");
    let client = bootstrap_client(&server, &discovered, &token)?;
    let joined_at = check_version(&client, &server).await?;
    let settings = read_settings(&client).await?;
    let mut cluster = decide(args, &discovered, &settings)?;
    cluster.joined = Joined { server: server.render(), at: joined_at };

    let found = preflight::run(&cluster)?;
    check_cluster(&client, &cluster, &settings).await?;
    if let (IpAddr::V4(own), IpAddr::V4(remote)) = (cluster.node_ip, discovered.server.ip()) {
        checks::prove_link(own, remote).await?;
    }
    progress.done("checked this machine and its link");

    let existed = cluster.data_dir.exists();
    make_directories(&cluster)?;
    let lock = take_lock(&cluster)?;
    cluster.register()?;
    start_log(args, &cluster, is_first)?;
    let dir = cluster.pki_dir();
    let asked =
        AgentIdentity::bootstrap(&dir, &cluster.node_name, &discovered.ca_pem, &client, CERTIFICATE_TIMEOUT).await;
    match asked {
        Ok(identity) => {
            progress.done("certificate");
            Ok((cluster, found, identity, lock))
        }
        Err(error) => {
            // As if nothing had been asked for.
            drop(lock);
            let _ = std::fs::remove_file(cluster.data_dir.join("cluster.json"));
            if !existed {
                let _ = std::fs::remove_dir_all(&cluster.data_dir);
            }
            Err(error)
        }
    }
}

fn take_lock(cluster: &Cluster) -> Result<RunLock> {
    RunLock::take(cluster)?.context("another `ferry join` is starting this node right now")
}

fn start_log(args: &JoinArgs, cluster: &Cluster, is_first: bool) -> Result<()> {
    if !is_first {
        return Ok(());
    }
    let audience = if args.detached { Audience::FileOnly } else { Audience::FileAndStderr };
    log::start(&args.log, &cluster.log_file(), audience)
}

fn bootstrap_client(server: &ServerUrl, discovered: &Discovered, token: &JoinToken) -> Result<Client> {
    let mut config = ferry_pki::tls::client_config(&discovered.ca_pem, None)?;
    // The connector chooses the protocols itself.
    config.alpn_protocols.clear();
    let transport = WithHeaders::bearer(TlsTransport::new(server.render(), config), &token.bootstrap());
    Ok(Client::new(Arc::new(transport.map_err(|error| anyhow::anyhow!("{error}"))?), "ferry-join"))
}

/// Proves the token and the clock. Returns the server's time in seconds.
async fn check_version(client: &Client, server: &ServerUrl) -> Result<i64> {
    let asked = client.call(Request { path: "/version".into(), ..Default::default() }).await;
    let response = match asked {
        Err(error) if error.status().is_some_and(|status| status.code == 401) => bail!(
            "{} does not accept the token: it is wrong, or it has expired or was deleted; fix: `ferry token create` on the server prints a new one, `ferry token list` those that hold",
            server.render()
        ),
        other => other.with_context(|| format!("{} does not answer", server.render()))?,
    };
    let now = jiff::Timestamp::now();
    let date = response.headers().get("date").and_then(|date| date.to_str().ok());
    check_clock(date, now)?;
    Ok(now.as_second())
}

async fn read_settings(client: &Client) -> Result<ClusterSettings> {
    match client.api::<ConfigMap>(settings::NAMESPACE).get(settings::NAME).await {
        Ok(map) => ClusterSettings::parse(map.view()),
        Err(error) if error.is_not_found() => bail!("this server is no ferry: it has no ConfigMap {}", settings::NAME),
        Err(error) if error.is_forbidden() => bail!(
            "the token may not join machines: {error}; fix: `ferry token create` on the server prints one that may"
        ),
        Err(error) => Err(error).context("cannot read what the cluster is like"),
    }
}

fn decide(args: &JoinArgs, discovered: &Discovered, settings: &ClusterSettings) -> Result<Cluster> {
    let mut wishes = args.wishes();
    wishes.pod_cidr = Some(settings.cluster_cidr.clone());
    wishes.service_cidr = Some(settings.service_cidr.clone());
    wishes.network.pod_network = Some(settings.pod_network);
    // The address by which this machine has just reached the server.
    wishes.node_ip = wishes.node_ip.or(Some(discovered.own.ip()));
    let mut cluster = Cluster::load_or_decide(&args.place, &wishes)?;
    cluster.cluster_domain.clone_from(&settings.cluster_domain);
    cluster.node.vni = settings.vni;
    cluster.has_run = false;
    Ok(cluster)
}

async fn check_cluster(client: &Client, cluster: &Cluster, settings: &ClusterSettings) -> Result<()> {
    let nodes = client.api::<Node>("").list(&ListParams::default()).await.context("cannot list nodes")?;
    let known: Vec<checks::KnownNode> = nodes.items.iter().map(|node| checks::KnownNode::of(node.view())).collect();
    let mut problems = checks::check_nodes(&known, &cluster.node_name, cluster.node_ip);
    problems.extend(checks::check_address(cluster.node_ip, &network::addresses()));
    let links: Vec<_> = network::networks().into_iter().filter(|(link, _)| *link != cluster.bridge()).collect();
    let ranges = |text: &str| text.split(',').filter_map(|range| range.trim().parse().ok()).collect::<Vec<_>>();
    problems.extend(checks::check_ranges(&links, &ranges(&settings.cluster_cidr), &ranges(&settings.service_cidr)));
    if problems.is_empty() {
        return Ok(());
    }
    bail!("{}", preflight::render(&problems));
}

fn render_state(is_ready: bool, progress: &Progress) -> String {
    if is_ready { format!("is ready after {}", render_duration(progress.total())) } else { "runs".to_owned() }
}

fn render_welcome(cluster: &Cluster, state: &str, detached: bool) -> String {
    let flags = cluster.flags();
    let mut out = format!("\nnode {:?} {state}, in the cluster of {}\n\n", cluster.node_name, cluster.joined.server);
    let mut add = |verb: &str, effect: &str| out.push_str(&format!("  {:<15} {effect}\n", format!("{verb}{flags}")));
    add("ferry status", "how it is");
    add("ferry logs", "what it logs");
    if detached {
        add("ferry down", "stop it, keep its data");
    } else {
        out.push_str("  Ctrl-C          stop it, keep its data\n");
    }
    out
}
