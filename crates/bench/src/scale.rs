//! A large cluster: what 1,000 nodes, 20,000 pods and 20,000 events cost in memory, in time to
//! start again and in processor time while nothing happens, and what is given back once the
//! pods are gone. Called by `main.rs`; `objects.rs` makes the objects.

pub mod objects;

use crate::cluster::Cluster;
use crate::load::{self, Connect, Connection};
use crate::report::{Better, Report};
use crate::upstream::{self, Parts};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

pub const PODS: &str = "/api/v1/namespaces/default/pods";
const EVENTS: &str = "/api/v1/namespaces/default/events";
pub const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

/// A kubelet renews its Lease this often.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// How long idleness is measured. Nodes may go without a heartbeat for 40 s before the node
/// lifecycle controller has something to do.
const IDLE: Duration = Duration::from_secs(20);

/// When the memory of deleted pods has to be back.
const GIVEN_BACK_AFTER: Duration = Duration::from_secs(60);

/// The ranges of 1,000 nodes need more than the default /16.
pub const POD_RANGE: &str = "100.64.0.0/10";

/// Every form in which a client can ask for a list.
const FORMATS: [&str; 6] = [
    "application/json",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/yaml",
];

/// How many objects of each kind; events are as many as pods.
#[derive(Clone, Copy)]
pub struct Scale {
    pub nodes: usize,
    pub pods: usize,
}

pub async fn measure(cluster: &mut Cluster, scale: Scale, upstream: Option<&Path>, report: &mut Report) -> Result<()> {
    cluster.up_with(&["--cluster-cidr", POD_RANGE])?;
    report.add("PSS of the empty cluster", "MB", cluster.memory()?, None, None, Better::Lower);
    fill(cluster, scale).await?;
    let heartbeats = Heartbeats::start(cluster, scale.nodes).await?;
    cluster.settle();
    let Scale { nodes, pods } = scale;
    let what = format!("PSS with {nodes} nodes, {pods} pods, {pods} events (was 653)");
    let our_memory = cluster.memory()?;
    let their_memory = upstream::figure(upstream, Parts::Server, async |upstream| {
        fill(upstream, scale).await?;
        upstream.memory()
    })
    .await?;
    report.add(&what, "MB", our_memory, their_memory, Some(250.0), Better::Lower);
    let grown = cluster.growth(list_everything(cluster)).await?;
    report.add("growth of RSS by lists in every format", "MB", grown, None, Some(64.0), Better::Lower);
    cluster.settle();
    report.add("  after lists in every format", "MB", cluster.memory()?, None, Some(250.0), Better::Lower);

    let busy = idle_share(cluster).await?;
    report.add("processor with their heartbeats every 10 s", "%", busy, None, None, Better::Lower);
    heartbeats.stop().await;
    cluster.settle();
    let idle = idle_share(cluster).await?;
    report.add("processor when nothing happens (was 10-17)", "%", idle, None, Some(0.5), Better::Lower);

    restart(cluster, report).await?;
    let heartbeats = Heartbeats::start(cluster, scale.nodes).await?;
    cluster.settle();
    report.add("PSS after kill -9 and restart (was 1,327)", "MB", cluster.memory()?, None, Some(250.0), Better::Lower);
    list_everything(cluster).await?;
    cluster.settle();
    report.add("  after lists in every format", "MB", cluster.memory()?, None, Some(250.0), Better::Lower);

    load::spread(cluster, 16, pods, |connection: &mut Connection, n| {
        Box::pin(async move {
            let path = format!("{PODS}/{}?gracePeriodSeconds=0", objects::name_of_pod(n));
            connection.delete(&path).await.map(drop)
        })
    })
    .await?;
    let left = given_back(cluster, 90.0).await?;
    heartbeats.stop().await;
    let what = "PSS one minute after the pods are deleted (was 327)";
    report.add(what, "MB", left, None, Some(90.0), Better::Lower);
    Ok(())
}

async fn fill(cluster: &dyn Connect, Scale { nodes, pods }: Scale) -> Result<()> {
    load::spread(cluster, 16, nodes, |connection: &mut Connection, n| {
        Box::pin(async move {
            connection.post("/api/v1/nodes", &objects::node(n)).await?;
            connection.post(LEASES, &objects::lease(n)).await.map(drop)
        })
    })
    .await?;
    let heartbeats = Heartbeats::start(cluster, nodes).await?;
    load::spread(cluster, 16, pods, move |connection: &mut Connection, n| {
        Box::pin(async move {
            let created = connection.post(PODS, &objects::pod(n, nodes)).await?;
            let mut pod: Value = serde_json::from_slice(&created)?;
            pod["status"] = objects::pod_status(n, nodes);
            let path = format!("{PODS}/{}/status", objects::name_of_pod(n));
            connection.put(&path, &pod).await.map(drop)
        })
    })
    .await?;
    load::spread(cluster, 16, pods, move |connection: &mut Connection, n| {
        Box::pin(async move { connection.post(EVENTS, &objects::event(n, pods)).await.map(drop) })
    })
    .await?;
    heartbeats.stop().await;
    Ok(())
}

/// The Leases of all nodes, renewed in turn.
struct Heartbeats {
    task: JoinHandle<()>,
}

impl Heartbeats {
    async fn start(cluster: &dyn Connect, nodes: usize) -> Result<Self> {
        let mut connection = cluster.connect().await?;
        let task = tokio::spawn(async move {
            let mut tick = tokio::time::interval(HEARTBEAT / u32::try_from(nodes).unwrap_or(u32::MAX));
            for n in (0..nodes).cycle() {
                tick.tick().await;
                let path = format!("{LEASES}/{}", objects::name_of_node(n));
                if connection.merge_patch(&path, &objects::renewal()).await.is_err() {
                    // The server was ended under us, as a restart does.
                    return;
                }
            }
        });
        Ok(Self { task })
    }

    async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// Reads every kind that there are many of in every format.
async fn list_everything(cluster: &Cluster) -> Result<()> {
    let mut connection = cluster.connect().await?;
    for path in [PODS, EVENTS, "/api/v1/nodes", LEASES] {
        for accept in FORMATS {
            connection.get_as(path, accept).await.with_context(|| format!("list {path} as {accept}"))?;
        }
    }
    Ok(())
}

/// The share of one core that the server uses, in per cent.
async fn idle_share(cluster: &Cluster) -> Result<f64> {
    let (before, start) = (cluster.processor_time()?, Instant::now());
    tokio::time::sleep(IDLE).await;
    Ok((cluster.processor_time()? - before).as_secs_f64() * 100.0 / start.elapsed().as_secs_f64())
}

/// Ends the server as a crash would and starts it again. `ferry up` returns when the node is
/// Ready; that a new pod is bound shows that the scheduler has read everything.
async fn restart(cluster: &mut Cluster, report: &mut Report) -> Result<()> {
    cluster.kill()?;
    let start = Instant::now();
    cluster.up()?;
    let mut connection = cluster.connect().await?;
    connection.get("/readyz").await?;
    report.add("restart to Ready (was 10)", "s", start.elapsed().as_secs_f64(), None, Some(1.0), Better::Lower);
    let container = json!({"name": "web", "image": "registry.example/web:1"});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"},
        "spec": {"nodeSelector": {"kubernetes.io/hostname": objects::name_of_node(0)}, "containers": [container]}});
    connection.post(PODS, &pod).await?;
    while start.elapsed() < Duration::from_secs(60) {
        let now: Value = serde_json::from_slice(&connection.get(&format!("{PODS}/probe")).await?)?;
        if now["spec"]["nodeName"].is_string() {
            let took = start.elapsed().as_secs_f64();
            report.add("  to the first pod bound", "s", took, None, None, Better::Lower);
            connection.delete(&format!("{PODS}/probe?gracePeriodSeconds=0")).await?;
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    ensure!(false, "the first pod after the restart was not bound");
    Ok(())
}

/// The memory as soon as it is below the goal, or when the minute is over.
async fn given_back(cluster: &Cluster, goal: f64) -> Result<f64> {
    let start = Instant::now();
    loop {
        let now = cluster.memory()?;
        if now <= goal || start.elapsed() >= GIVEN_BACK_AFTER {
            return Ok(now);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
