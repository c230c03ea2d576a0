//! `ferry up`: from nothing to a Ready node, a stage at a time.

use crate::access::Access;
use crate::audit::Audit;
use crate::cluster::{Cluster, Wishes};
use crate::daemon::{Presence, RunLock};
use crate::debugging::Debugging;
use crate::log::Audience;
use crate::node::settings::{NetworkFlags, NodeFlags};
use crate::progress::{Progress, render_duration, say};
use crate::role::Role;
use crate::scheduling::Scheduling;
use crate::server::Server;
use crate::{Place, daemon, kubeconfig, log, preflight, restore, systemd, teardown};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::net::IpAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

#[derive(Args, Clone)]
pub struct UpArgs {
    #[command(flatten)]
    place: Place,
    /// Return once the cluster is ready and leave it running
    #[arg(short, long)]
    detach: bool,
    /// The cluster's name, and that of its context in the kubeconfig [default: ferry]
    #[arg(long)]
    name: Option<String>,
    /// The node's name [default: this machine's]
    #[arg(long)]
    node_name: Option<String>,
    /// The address by which others reach this node [default: that of the default route]
    #[arg(long, value_name = "IP")]
    node_ip: Option<IpAddr>,
    /// The API's port [default: 6443]
    #[arg(long)]
    port: Option<u16>,
    /// The kubelet's port [default: 10250]
    #[arg(long)]
    kubelet_port: Option<u16>,
    /// The addresses of pods [default: 10.244.0.0/16]
    #[arg(long, value_name = "CIDR")]
    cluster_cidr: Option<String>,
    /// The addresses of services [default: 10.96.0.0/12]
    #[arg(long, value_name = "CIDR")]
    service_cidr: Option<String>,
    /// Use a container runtime that is there instead of starting containerd
    #[arg(long, value_name = "SOCKET")]
    container_runtime_endpoint: Option<PathBuf>,
    /// The pods that this node takes at most [default: 110]
    #[arg(long, value_name = "PODS")]
    max_pods: Option<u32>,
    #[command(flatten)]
    node: NodeFlags,
    #[command(flatten)]
    network: NetworkFlags,
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    audit: Audit,
    #[command(flatten)]
    scheduling: Scheduling,
    #[command(flatten)]
    debugging: Debugging,
    /// The kubeconfig to add the cluster to [default: the first of $KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Start although the store has lost writes that it had acknowledged; the rest is served
    #[arg(long)]
    accept_data_loss: bool,
    /// Start nothing: print a systemd unit that runs `ferry up` with the other flags given
    #[arg(long)]
    systemd: bool,
    /// What to log, as in RUST_LOG
    #[arg(long, value_name = "FILTER", default_value = "warn,ferry=info", env = "FERRY_LOG")]
    log: String,
    /// Set on the process that `-d` leaves behind
    #[arg(long, hide = true)]
    detached: bool,
}

impl UpArgs {
    fn wishes(&self, role: Role) -> Wishes {
        let socket = self.container_runtime_endpoint.as_ref().map(|socket| {
            let text = socket.to_string_lossy();
            PathBuf::from(text.strip_prefix("unix://").unwrap_or(&text))
        });
        Wishes {
            name: self.name.clone(),
            node_name: self.node_name.clone(),
            node_ip: self.node_ip,
            api_port: self.port,
            kubelet_port: self.kubelet_port,
            pod_cidr: self.cluster_cidr.clone(),
            service_cidr: self.service_cidr.clone(),
            runtime_endpoint: socket,
            access: self.access.clone(),
            audit: self.audit.clone(),
            scheduling: self.scheduling.clone(),
            debugging: self.debugging.clone(),
            max_pods: self.max_pods,
            role,
            node: self.node.clone(),
            network: self.network.clone(),
        }
    }
}

/// Starts a control plane, with a node or without.
pub async fn run(args: UpArgs, role: Role) -> Result<()> {
    log::parse_filter(&args.log)?;
    restore::finish_pending(&args.place.data_dir)?;
    let mut cluster = Cluster::load_or_decide(&args.place, &args.wishes(role))?;
    cluster.accept_data_loss = args.accept_data_loss;
    if args.systemd {
        say(systemd::unit(&args.place)?.trim_end());
        return Ok(());
    }
    // The process in the background takes its parent's word for it.
    if !args.detached
        && let Presence::Answers(pid) = daemon::settle(&cluster).await?
    {
        return report_running(&args.place, &cluster, pid);
    }
    make_directories(&cluster)?;
    if args.detach {
        return daemon::start_detached(&cluster.log_file());
    }
    let detached = args.detached;
    let result = serve(args, cluster).await;
    if detached && let Err(error) = &result {
        // The log has it too, but the person in front reads this.
        tracing::error!(error = format!("{error:#}"), "ferry ends");
        say(&format!("ferry: {error:#}"));
    }
    result
}

/// A cluster that runs stays as it is; flags that it was not started with are refused
/// rather than ignored.
fn report_running(place: &Place, wanted: &Cluster, pid: i32) -> Result<()> {
    let (name, flags) = (&wanted.name, wanted.flags());
    let running = Cluster::load(place)?;
    if running.is_some_and(|running| Cluster { node_ip: wanted.node_ip, ..running } != *wanted) {
        bail!(
            "cluster {name:?} runs already as process {pid}, with other flags; `ferry down{flags}` stops it, and then they can change"
        );
    }
    say(&format!("cluster {name:?} runs already as process {pid}; `ferry status{flags}` says more"));
    Ok(())
}

/// The reason why a running cluster ends.
#[derive(PartialEq, Eq)]
pub enum End {
    /// Ctrl-C, by a person who has the cluster in front: `ferry down` on the spot.
    Interrupted,
    /// SIGTERM, by `ferry down`, which stops the pods itself, or by systemd: the pods stay.
    Terminated,
}

async fn serve(args: UpArgs, mut cluster: Cluster) -> Result<()> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut progress = Progress::new();
    let found = preflight::run(&cluster)?;
    let Some(_lock) = RunLock::take(&cluster)? else { bail!("another `ferry up` is starting this cluster right now") };
    cluster.register()?;
    let audience = if args.detached { Audience::FileOnly } else { Audience::FileAndStderr };
    log::start(&args.log, &cluster.log_file(), audience)?;
    progress.done("checked this machine");

    let shutdown = CancellationToken::new();
    let user_kubeconfig = args.kubeconfig.clone().or_else(kubeconfig::path);
    let started = tokio::select! {
        started = Server::start(&cluster, &found, user_kubeconfig.as_deref(), &mut progress, shutdown.clone()) => started.map(Ok),
        _ = interrupt.recv() => Ok(Err(End::Interrupted)),
        _ = terminate.recv() => Ok(Err(End::Terminated)),
    };
    let server = match started {
        Ok(Ok(server)) => server,
        Ok(Err(end)) => {
            shutdown.cancel();
            return if end == End::Interrupted { teardown::stop(&cluster).await } else { Ok(()) };
        }
        Err(error) => {
            shutdown.cancel();
            return Err(give_up(&cluster, error).await);
        }
    };
    remember(&mut cluster, &server);
    say(&render_welcome(&cluster, &render_duration(progress.total()), args.detached));
    systemd::report_ready();
    if args.detached {
        daemon::report_ready()?;
    }
    let end = tokio::select! {
        _ = interrupt.recv() => End::Interrupted,
        _ = terminate.recv() => End::Terminated,
    };
    if end == End::Interrupted && !args.detached {
        say("stopping the pods and the cluster; the data stays");
    }
    server.stop().await;
    if end == End::Interrupted { teardown::stop(&cluster).await } else { Ok(()) }
}

/// Keeps the flags of a start that succeeded for the next one. A disk that is full must not
/// end a cluster that runs, so that this only reports.
fn remember(cluster: &mut Cluster, server: &Server) {
    cluster.has_run = true;
    if let Err(error) = cluster.save() {
        let message = format!("{error:#}; the next `ferry up` needs its flags again");
        tracing::error!(message);
        server.problems().report("ferry", "cluster.json", &message);
    }
}

/// After a failed start. Pods that an earlier ferry has left running stay: only `down` and
/// `uninstall` stop them. What a first start has made goes again, the store of a cluster
/// that never was among it, so that the next may choose other ranges.
pub async fn give_up(cluster: &Cluster, error: anyhow::Error) -> anyhow::Error {
    if cluster.has_run {
        return error.context(format!("pods that run are left running; `ferry down{}` stops them", cluster.flags()));
    }
    if let Err(error) = teardown::stop(cluster).await {
        tracing::warn!(error = format!("{error:#}"), "cannot clean up after a start that failed");
    }
    if let Err(error) = std::fs::remove_dir_all(cluster.data_dir.join("store")) {
        tracing::warn!(%error, "cannot remove the store of a start that failed");
    }
    error
}

pub fn make_directories(cluster: &Cluster) -> Result<()> {
    let mut private = std::fs::DirBuilder::new();
    private.recursive(true).mode(0o700);
    for dir in [cluster.data_dir.clone(), cluster.data_dir.join("logs"), cluster.data_dir.join("registries")] {
        private.create(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    // Containers and their shims reach through it.
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(&cluster.run_dir)
        .with_context(|| format!("cannot make {}", cluster.run_dir.display()))
}

fn render_welcome(cluster: &Cluster, took: &str, detached: bool) -> String {
    let place = match cluster.role {
        Role::Server => "without a node here".to_owned(),
        _ => format!("on node {}", cluster.node_name),
    };
    let mut out = format!("\ncluster {:?} is ready after {took}: Kubernetes 1.36 {place}\n\n", cluster.name);
    out.push_str(&format!("  kubectl --context {} get nodes,pods -A\n", cluster.name));
    let flags = cluster.flags();
    let mut add = |verb: &str, effect: &str| out.push_str(&format!("  {:<15} {effect}\n", format!("{verb}{flags}")));
    if cluster.role.has_node() {
        add("ferry demo", "three web servers behind one name");
    }
    add("ferry token create", "how another machine joins");
    add("ferry status", "how it is");
    add("ferry logs", "what it logs");
    if detached {
        add("ferry down", "stop it, keep its data");
    } else {
        out.push_str("  Ctrl-C          stop it, keep its data\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hints_of_a_second_cluster_name_its_directories() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = Place { data_dir: dir.path().join("data"), run_dir: Some(dir.path().join("run")) };
        let wishes = Wishes {
            node_name: Some("a".into()),
            node_ip: Some("192.0.2.7".parse().expect("an address")),
            ..Default::default()
        };
        let mut cluster = Cluster::load_or_decide(&place, &wishes).expect("decided");
        let welcome = render_welcome(&cluster, "1 s", true);
        let flags = format!("--data-dir {0}/data --run-dir {0}/run", dir.path().display());
        let hints: Vec<&str> = welcome.lines().filter(|line| line.starts_with("  ferry ")).collect();
        assert!(hints.len() == 5 && hints.iter().all(|hint| hint.contains(&flags)), "{welcome}");
        (cluster.data_dir, cluster.run_dir) = ("/var/lib/ferry".into(), "/run/ferry".into());
        assert!(!render_welcome(&cluster, "1 s", true).contains("--data-dir"));
    }
}
