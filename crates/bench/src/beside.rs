//! The same load on ferry and on upstream in one run, on all cores: reads, durable writes and
//! LISTs in every wire format. `--upstream DIR` names the directory of upstream's binaries.

use crate::cluster::Cluster;
use crate::formats::FORMATS;
use crate::load::{self, Connect};
use crate::report::{Better, Report};
use crate::upstream::{Parts, Upstream};
use crate::{CONFIGMAPS, config_map, crowd, wire};
use anyhow::Result;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 64;
const NODE_CONNECTIONS: usize = 32;
pub const NODE: &str = "/api/v1/nodes/measured";
const PODS: &str = "/api/v1/namespaces/default/pods";
/// How often each list is read; the best counts.
const READS: usize = 5;

/// One measured figure and the rule for reading it.
struct Figure {
    what: String,
    unit: &'static str,
    value: f64,
    goal: Goal,
    better: Better,
}

enum Goal {
    /// Ten times better than upstream in this run.
    TenTimes,
    Fixed(f64),
}

/// Measures ferry, then upstream, and reports each figure with both.
pub async fn measure(cluster: &mut Cluster, binaries: &Path, requests: usize, report: &mut Report) -> Result<()> {
    cluster.up()?;
    let ours = figures(cluster, requests).await?;
    let our_memory = cluster.memory()?;
    cluster.kill()?;
    let upstream = Upstream::start(binaries, Parts::Server).await?;
    let theirs = figures(&upstream, requests / 5).await?;
    let their_memory = upstream.memory()?;
    for (our, their) in ours.into_iter().zip(theirs) {
        let goal = match (our.goal, our.better) {
            (Goal::Fixed(goal), _) => goal,
            (Goal::TenTimes, Better::Higher) => their.value * 10.0,
            (Goal::TenTimes, Better::Lower) => their.value / 10.0,
        };
        report.add(&our.what, our.unit, our.value, Some(their.value), Some(goal), our.better);
    }
    let what = "PSS after these, ferry whole, upstream's API server and etcd";
    report.add(what, "MB", our_memory, Some(their_memory), Some(their_memory / 10.0), Better::Lower);
    Ok(())
}

async fn figures(server: &dyn Connect, requests: usize) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut add = |what: &str, unit, value, goal, better| {
        eprintln!("measured in turn: {what}: {value:.2} {unit}");
        figures.push(Figure { what: what.to_owned(), unit, value, goal, better });
    };
    let mut connection = server.connect().await?;
    connection.post(CONFIGMAPS, &config_map("beside")).await?;
    let read = wire::get(&format!("{CONFIGMAPS}/beside"), load::JSON);
    let rate = wire::spread(server, CONNECTIONS, requests, move |_| read.clone()).await?;
    add("GET one ConfigMap, 64 connections, all cores", "/s", rate, Goal::TenTimes, Better::Higher);
    let body = config_map("NAME").to_string();
    let rate = wire::spread(server, CONNECTIONS, requests / 2, move |n| {
        wire::post(CONFIGMAPS, &body.replacen("NAME", &format!("beside-{n}"), 1))
    })
    .await?;
    add("durable creates, 64 connections, all cores", "/s", rate, Goal::TenTimes, Better::Higher);
    connection.post("/api/v1/nodes", &node()).await?;
    for (name, accept) in [("JSON", load::JSON), ("protobuf", "application/vnd.kubernetes.protobuf")] {
        let read = wire::get(NODE, accept);
        let rate = wire::spread(server, NODE_CONNECTIONS, requests, move |_| read.clone()).await?;
        let what = format!("GET one Node as {name}, 32 connections, all cores");
        add(&what, "/s", rate, Goal::Fixed(40_000.0), Better::Higher);
    }
    crowd::pods(server).await?;
    for format in FORMATS {
        let mut best = Duration::MAX;
        for _ in 0..READS {
            let start = Instant::now();
            connection.get_as(PODS, format.accept).await?;
            best = best.min(start.elapsed());
        }
        let took = best.as_secs_f64() * 1e3 * 1_000.0 / crowd::PODS as f64;
        let what = format!("LIST as {}, for each 1,000 pods, all cores", format.name);
        add(&what, "ms", took, Goal::Fixed(format.goal), Better::Lower);
    }
    Ok(figures)
}

/// A node as a kubelet reports it.
pub fn node() -> serde_json::Value {
    let now = jiff::Timestamp::now();
    let conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map(|name| {
        json!({"type": name, "status": if name == "Ready" { "True" } else { "False" },
            "lastHeartbeatTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "lastTransitionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            "reason": "KubeletReports", "message": "the kubelet reports this condition"})
    });
    let images: Vec<_> = (0..20)
        .map(|n| json!({"names": [format!("registry.example/image-{n}@sha256:{n:064}"), format!("registry.example/image-{n}:1")], "sizeBytes": 10_000_000 + n}))
        .collect();
    let resources = json!({"cpu": "4", "memory": "8Gi", "pods": "110", "ephemeral-storage": "100Gi"});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "measured", "labels": {"kubernetes.io/os": "linux"}},
        "status": {"capacity": resources, "allocatable": resources, "conditions": conditions, "images": images,
            "addresses": [{"type": "InternalIP", "address": "10.0.0.9"}, {"type": "Hostname", "address": "measured"}]}})
}
