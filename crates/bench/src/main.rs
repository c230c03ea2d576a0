//! Starts a cluster of its own from the release binary, measures it over its real
//! interfaces, and prints each figure beside upstream's on like hardware as a ratio.
//! Everything stays on loopback and is bounded in count.

mod beside;
mod cluster;
mod crowd;
mod density;
mod formats;
mod gate;
mod growth;
mod load;
mod policies;
mod report;
mod scale;
mod scheduling;
mod upstream;
mod watchers;
mod wire;

use anyhow::{Context, Result};
use clap::Parser;
use cluster::Cluster;
use load::{Connect, Connection};
use report::{Better, Report};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use upstream::Parts;

#[derive(Parser)]
struct Args {
    /// The binary to measure
    #[arg(long, default_value = "target/release/ferry")]
    ferry: PathBuf,
    /// How many objects the LIST reads
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// How many requests each throughput figure is made of
    #[arg(long, default_value_t = 20_000)]
    requests: usize,
    /// How many clients create at once, each waiting for its own acknowledgement
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 256])]
    clients: Vec<usize>,
    /// How many objects the LIST reads whose memory is measured
    #[arg(long, default_value_t = 100_000)]
    large_list: usize,
    /// How many watchers see how many writes
    #[arg(long, default_value_t = 1_000)]
    watchers: usize,
    #[arg(long, default_value_t = 10_000)]
    watched_writes: usize,
    /// How many nodes and pods the large cluster has; events are as many as pods
    #[arg(long, default_value_t = 1_000)]
    scale_nodes: usize,
    #[arg(long, default_value_t = 20_000)]
    scale_pods: usize,
    /// How many pods run on the node at once
    #[arg(long, default_value_t = 250)]
    density_pods: usize,
    /// Run only the scheduling workloads whose name contains this
    #[arg(long)]
    workload: Option<String>,
    /// Run the scheduling workloads against this server of this machine, which has no nodes
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How many pods the cluster has in turn whose growth must not make a step dearer
    #[arg(long, value_delimiter = ',', default_values_t = [1_000, 4_000, 16_000])]
    growth_pods: Vec<usize>,
    /// How many steps each figure of that is made of
    #[arg(long, default_value_t = 1_000)]
    growth_steps: usize,
    /// Measure this part alone
    #[arg(long)]
    only: Option<Part>,
    /// Measure on upstream too what has two sides, from binaries of this directory; the memory is that of its API
    /// server and etcd
    #[arg(long, value_name = "DIRECTORY")]
    upstream: Option<PathBuf>,
    /// Also write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What can be measured by itself.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Start,
    Creates,
    Gets,
    Lists,
    Watchers,
    Formats,
    Crowd,
    Gate,
    /// Reads, writes and lists, with `--upstream` on both sides
    Beside,
    Scale,
    /// Pods created and bound as their number grows
    Binds,
    /// Upstream's scheduler_perf workloads; runs only when it is named
    Scheduling,
    /// The same work in ever larger clusters
    Growth,
    /// A node full of pods beside its runtime alone
    Density,
}

impl Args {
    fn measures(&self, part: Part) -> bool {
        self.only.is_none_or(|only| only == part)
    }
}

/// The gate is measured in this process, with the allocator that ferry has.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CONFIGMAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    ferry_pki::tls::install_provider();
    let mut report = Report::default();
    if args.measures(Part::Gate) {
        gate::measure(&mut report).await?;
        policies::measure(&mut report).await?;
    }
    if !matches!(
        args.only,
        Some(
            Part::Crowd
                | Part::Gate
                | Part::Beside
                | Part::Scale
                | Part::Binds
                | Part::Scheduling
                | Part::Growth
                | Part::Density
        )
    ) {
        measure_server(&args, &mut report).await?;
    }
    if args.measures(Part::Crowd) {
        measure_crowd(&args, &mut report).await?;
    }
    if let Some(binaries) = args.upstream.as_deref().filter(|_| args.measures(Part::Beside)) {
        beside::measure(&mut cluster(&args)?, binaries, args.requests, &mut report).await?;
    }
    if args.measures(Part::Scale) {
        let scale = scale::Scale { nodes: args.scale_nodes, pods: args.scale_pods };
        scale::measure(&mut cluster(&args)?, scale, args.upstream.as_deref(), &mut report).await?;
    }
    if args.measures(Part::Binds) {
        scheduling::measure_growing(&mut cluster(&args)?, args.upstream.as_deref(), &mut report).await?;
    }
    if args.only == Some(Part::Scheduling) {
        let only = args.workload.as_deref();
        match &args.kubeconfig {
            None => scheduling::measure(|| cluster(&args), only, &mut report).await?,
            Some(file) => {
                scheduling::measure_remote(&scheduling::Remote::of_kubeconfig(file)?, only, &mut report).await?
            }
        }
    }
    if args.measures(Part::Growth) {
        let growth = growth::Growth { sizes: args.growth_pods.clone(), steps: args.growth_steps };
        growth::measure(&mut cluster(&args)?, &growth, &mut report).await?;
    }
    if args.measures(Part::Density) {
        density::measure(&mut cluster(&args)?, args.density_pods, &mut report).await?;
    }
    print!("{}", report.render());
    if let Some(file) = &args.json {
        std::fs::write(file, serde_json::to_vec_pretty(&report.json())?)?;
    }
    Ok(())
}

fn cluster(args: &Args) -> Result<Cluster> {
    Cluster::new(args.ferry.canonicalize().context("build it first: make build")?)
}

async fn measure_server(args: &Args, report: &mut Report) -> Result<()> {
    let mut cluster = cluster(args)?;
    cluster.up()?;
    if args.measures(Part::Start) {
        measure_start(args, &mut cluster, report).await?;
    }
    cluster.pin()?;
    if args.measures(Part::Creates) {
        for &clients in &args.clients {
            let count = if clients == 1 { 1_000 } else { args.requests / 2 };
            let before = cluster.processor_time()?;
            let rate = creates(&cluster, clients, count).await?;
            let used = (cluster.processor_time()? - before).as_secs_f64() * 1e6 / count as f64;
            let goal = (clients == 256).then_some(10_000.0);
            report.add(&format!("durable creates, {clients} clients"), "/s", rate, None, goal, Better::Higher);
            report.add("  processor time of each", "us", used, None, None, Better::Lower);
        }
    }
    if args.measures(Part::Gets) {
        // The part `beside` takes both sides, on all cores each.
        let rate = gets(&cluster, 64, args.requests).await?;
        report.add("GET one ConfigMap, 64 TLS connections", "/s", rate, None, Some(20_000.0), Better::Higher);
    }
    if args.measures(Part::Lists) {
        measure_lists(args, &cluster, report).await?;
    }
    if args.measures(Part::Formats) {
        formats::measure(&cluster, args.upstream.as_deref(), report).await?;
    }
    if args.measures(Part::Watchers) {
        let rate = watchers::deliver(&cluster, args.watchers, args.watched_writes).await?;
        let what = format!("events to {} watchers of {} writes, in order", args.watchers, args.watched_writes);
        report.add(&what, "/s", rate, None, None, Better::Higher);
    }
    Ok(())
}

/// The first start has made certificates and imported images; this one has containerd up
/// already, as after a crash of ferry alone.
async fn measure_start(args: &Args, cluster: &mut Cluster, report: &mut Report) -> Result<()> {
    cluster.kill()?;
    let start = Instant::now();
    cluster.up()?;
    report.add("exec to node Ready, containerd up", "s", start.elapsed().as_secs_f64(), None, Some(1.0), Better::Lower);
    cluster.settle();
    let our_memory = cluster.memory()?;
    let their_memory = upstream::figure(args.upstream.as_deref(), Parts::ControlPlane, async |upstream| {
        upstream.memory_at_rest().await
    })
    .await?;
    let what = "idle PSS, ferry whole, upstream's control plane without a node";
    report.add(what, "MB", our_memory, their_memory, Some(60.0), Better::Lower);
    let took = roll_out(cluster).await?.as_secs_f64();
    report.add("apply of Deployment(3)+Service to rolled out", "s", took, None, None, Better::Lower);
    Ok(())
}

async fn measure_lists(args: &Args, cluster: &Cluster, report: &mut Report) -> Result<()> {
    let (took, bytes) = list(cluster, args.objects).await?;
    let their = upstream::figure(args.upstream.as_deref(), Parts::Server, async |upstream| {
        let (took, _) = list(upstream, args.objects).await?;
        Ok(took.as_secs_f64())
    })
    .await?;
    let what = format!("LIST of {} objects ({:.1} MB)", args.objects, bytes as f64 / 1e6);
    report.add(&what, "s", took.as_secs_f64(), their, None, Better::Lower);
    fill(cluster, "more", args.large_list).await?;
    let mut connection = cluster.connect().await?;
    let grown = cluster.growth(async { connection.get("/api/v1/namespaces/more/configmaps").await.map(drop) }).await?;
    let what = format!("growth of RSS by a LIST of {} objects", args.large_list);
    report.add(&what, "MB", grown, None, Some(64.0), Better::Lower);
    Ok(())
}

async fn measure_crowd(args: &Args, report: &mut Report) -> Result<()> {
    let mut cluster = cluster(args)?;
    cluster.up()?;
    crowd::fill(&cluster).await?;
    cluster.settle();
    let our_memory = cluster.memory()?;
    let their_memory = upstream::figure(args.upstream.as_deref(), Parts::Server, async |upstream| {
        crowd::fill(upstream).await?;
        upstream.memory()
    })
    .await?;
    let what = "PSS with 500 nodes, 3,000 pods, 8,000 ConfigMaps";
    report.add(what, "MB", our_memory, their_memory, Some(170.0), Better::Lower);
    Ok(())
}

async fn roll_out(cluster: &Cluster) -> Result<Duration> {
    let container = json!({"name": "web", "image": "localhost/ferry/web:1",
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}}});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}});
    let mut connection = cluster.connect().await?;
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let start = Instant::now();
    connection.post(path, &deployment).await?;
    connection.post("/api/v1/namespaces/default/services", &service).await?;
    loop {
        let now: Value = serde_json::from_slice(&connection.get(&format!("{path}/web")).await?)?;
        if now["status"]["readyReplicas"] == 3 {
            return Ok(start.elapsed());
        }
        anyhow::ensure!(
            start.elapsed() < Duration::from_secs(60),
            "the deployment did not roll out: {}",
            now["status"]
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": "x".repeat(900)}})
}

/// Creates per second with each client waiting for its own acknowledgement.
async fn creates(cluster: &Cluster, clients: usize, count: usize) -> Result<f64> {
    let run = format!("c{clients}");
    load::spread(cluster, clients, count, move |connection: &mut Connection, n| {
        let body = config_map(&format!("{run}-{n}"));
        Box::pin(async move { connection.post(CONFIGMAPS, &body).await.map(drop) })
    })
    .await
}

async fn gets(cluster: &Cluster, clients: usize, count: usize) -> Result<f64> {
    cluster.connect().await?.post(CONFIGMAPS, &config_map("read")).await?;
    load::spread(cluster, clients, count, |connection: &mut Connection, _| {
        Box::pin(async move { connection.get(&format!("{CONFIGMAPS}/read")).await.map(drop) })
    })
    .await
}

/// The best of five reads of a namespace filled to `objects`.
async fn list(cluster: &dyn Connect, objects: usize) -> Result<(Duration, usize)> {
    fill(cluster, "many", objects).await?;
    let mut connection = cluster.connect().await?;
    let mut best = (Duration::MAX, 0);
    for _ in 0..5 {
        let start = Instant::now();
        let body = connection.get("/api/v1/namespaces/many/configmaps").await?;
        best = best.min((start.elapsed(), body.len()));
    }
    Ok(best)
}

/// A namespace with so many ConfigMaps of one kilobyte.
async fn fill(cluster: &dyn Connect, namespace: &str, objects: usize) -> Result<()> {
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    cluster.connect().await?.post("/api/v1/namespaces", &object).await?;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    load::spread(cluster, 64, objects, move |connection: &mut Connection, n| {
        let (path, body) = (path.clone(), config_map(&format!("m-{n}")));
        Box::pin(async move { connection.post(&path, &body).await.map(drop) })
    })
    .await?;
    Ok(())
}
