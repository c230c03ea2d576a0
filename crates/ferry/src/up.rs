//! `ferry up`: from nothing to a Ready node, a stage at a time.

use crate::access::Access;
use crate::audit::Audit;
use crate::cluster::{Cluster, Wishes};
use crate::daemon::RunLock;
use crate::debugging::Debugging;
use crate::progress::{Progress, render_duration, say};
use crate::server::Server;
use crate::{Place, daemon, kubeconfig, log, preflight, restore, teardown};
use anyhow::{Context, Result};
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
    #[command(flatten)]
    access: Access,
    #[command(flatten)]
    audit: Audit,
    #[command(flatten)]
    debugging: Debugging,
    /// The kubeconfig to add the cluster to [default: the first of $KUBECONFIG, or ~/.kube/config]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Start although the store has lost writes that it had acknowledged; the rest is served
    #[arg(long)]
    accept_data_loss: bool,
    /// What to log, as in RUST_LOG
    #[arg(long, value_name = "FILTER", default_value = "warn,ferry=info", env = "FERRY_LOG")]
    log: String,
    /// Set on the process that `-d` leaves behind
    #[arg(long, hide = true)]
    detached: bool,
}

impl UpArgs {
    fn wishes(&self) -> Wishes {
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
            debugging: self.debugging.clone(),
        }
    }
}

pub async fn run(args: UpArgs) -> Result<()> {
    restore::finish_pending(&args.place.data_dir)?;
    let mut cluster = Cluster::load_or_decide(&args.place, &args.wishes())?;
    cluster.accept_data_loss = args.accept_data_loss;
    if let Some(pid) = daemon::running_pid(&cluster) {
        say(&format!("cluster {:?} runs already as process {pid}; `ferry status` says more", cluster.name));
        return Ok(());
    }
    make_directories(&cluster)?;
    if args.detach {
        return daemon::start_detached(&cluster);
    }
    let detached = args.detached;
    let result = serve(args, cluster).await;
    if detached && let Err(error) = &result {
        // The log has it too, but the person in front reads this.
        say(&format!("ferry: {error:#}"));
    }
    result
}

async fn serve(args: UpArgs, cluster: Cluster) -> Result<()> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for SIGINT")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let mut progress = Progress::new();
    let found = preflight::run(&cluster)?;
    let Some(_lock) = RunLock::take(&cluster)? else {
        anyhow::bail!("another `ferry up` is starting this cluster right now")
    };
    cluster.save()?;
    log::start(&args.log, args.detached)?;
    progress.done("checked this machine");

    let shutdown = CancellationToken::new();
    let user_kubeconfig = args.kubeconfig.clone().or_else(kubeconfig::path);
    let started = tokio::select! {
        started = Server::start(&cluster, &found, user_kubeconfig.as_deref(), &mut progress, shutdown.clone()) => started.map(Some),
        _ = interrupt.recv() => Ok(None),
        _ = terminate.recv() => Ok(None),
    };
    let server = match started {
        Ok(Some(server)) => server,
        // What had been started must not stay behind half-made.
        other => {
            shutdown.cancel();
            teardown::stop(&cluster).await?;
            return other.map(drop);
        }
    };
    say(&render_welcome(&cluster, &render_duration(progress.total()), args.detached));
    if args.detached {
        daemon::report_ready()?;
    }
    let failure = tokio::select! {
        _ = interrupt.recv() => None,
        _ = terminate.recv() => None,
        failed = server.failed() => Some(failed),
    };
    if !args.detached {
        say("stopping the pods and the cluster; the data stays");
    }
    shutdown.cancel();
    server.join().await;
    teardown::stop(&cluster).await?;
    match failure {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn make_directories(cluster: &Cluster) -> Result<()> {
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
    let mut out = format!(
        "\ncluster {:?} is ready after {took}: Kubernetes 1.36 on node {}\n\n",
        cluster.name, cluster.node_name
    );
    out.push_str(&format!("  kubectl --context {} get nodes,pods -A\n", cluster.name));
    out.push_str("  ferry demo      three web servers behind one name\n");
    out.push_str("  ferry status    how it is\n");
    out.push_str(if detached {
        "  ferry down      stop it, keep its data\n"
    } else {
        "  Ctrl-C          stop it, keep its data\n"
    });
    out
}
