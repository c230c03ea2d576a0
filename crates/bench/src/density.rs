//! A node full of pods: how long a pod takes from its binding to Running beside what containerd,
//! runc and CNI need for the same pod alone, what is left when all are deleted, and what the pods
//! cost while nothing happens. Both sides share the machine, the runtime and the minute: a round of
//! the one follows a round of the other.

mod remains;

use crate::cluster::Cluster;
use crate::load::{self, Connection};
use crate::report::{Better, Report};
use anyhow::{Context, Result, ensure};
use ferry_kubelet::cri::grpc::GrpcRuntime;
use ferry_kubelet::cri::{Runtime, v1};
use futures_util::future::try_join_all;
use http_body_util::BodyExt;
use remains::Remains;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Sleeps until it is told to end; ferry brings it along.
const IMAGE: &str = "localhost/ferry/client:1";
const NAMESPACE: &str = "density";
const ROUNDS: usize = 3;
/// Over this long an idle kubelet is watched: longer than its rarest list.
const IDLE: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(600);

pub async fn measure(cluster: &mut Cluster, pods: usize, report: &mut Report) -> Result<()> {
    cluster.up_with(&["--max-pods", "253"])?;
    let node = node_name(cluster).await?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    cluster.connect().await?.post("/api/v1/namespaces", &namespace).await?;
    // The runtime and the code of both sides are read from the disk once before anything counts.
    direct_round(cluster, 2).await?;
    pod_round(cluster, &node, 2, "warm", async |_| Ok(())).await?;
    cluster.settle();
    let before = Remains::of(cluster)?;
    let empty = cluster.memory()?;
    let mut idle = (0.0, 0.0);
    let (mut alone, mut ours) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        alone.push(direct_round(cluster, pods).await?);
        let name = format!("round{round}");
        let took = pod_round(cluster, &node, pods, &name, async |cluster: &Cluster| {
            if round == 0 {
                idle = watch_idle(cluster).await?;
            }
            Ok(())
        });
        ours.push(took.await?);
        let left = Remains::of(cluster)?.since(&before);
        ensure!(left.is_empty(), "round {round} left: {left:#?}");
    }
    for (round, (alone, ours)) in alone.iter().zip(&ours).enumerate() {
        eprintln!("round {round}: containerd alone p50 {:.2} s, ferry p50 {:.2} s", median(alone), median(ours));
    }
    let (alone, ours) = (alone.concat(), ours.concat());
    let what = format!("{pods} pods at once, bind to Running, p50 of {ROUNDS} rounds");
    report.add(&what, "s", median(&ours), None, None, Better::Lower);
    report.add("  containerd, runc and CNI alone, driven over CRI", "s", median(&alone), None, None, Better::Lower);
    report.add("  ratio of the two", "x", median(&ours) / median(&alone), None, Some(1.5), Better::Lower);
    let (share, memory) = idle;
    report.add(&format!("idle process with {pods} pods, share of a core"), "%", share, None, Some(0.5), Better::Lower);
    let each = (memory - empty) * 1024.0 / pods as f64;
    report.add("  PSS of the process for each pod", "KB", each, None, Some(60.0), Better::Lower);
    report.add("  left after each round", "", 0.0, None, None, Better::Lower);
    Ok(())
}

async fn node_name(cluster: &Cluster) -> Result<String> {
    let nodes: Value = serde_json::from_slice(&cluster.connect().await?.get("/api/v1/nodes").await?)?;
    Ok(nodes["items"][0]["metadata"]["name"].as_str().context("the cluster has a node")?.to_owned())
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The share of a core in percent, and the memory in MB.
async fn watch_idle(cluster: &Cluster) -> Result<(f64, f64)> {
    cluster.settle();
    let (before, from) = (cluster.processor_time()?, Instant::now());
    tokio::time::sleep(IDLE).await;
    let used = cluster.processor_time()? - before;
    Ok((used.as_secs_f64() / from.elapsed().as_secs_f64() * 100.0, cluster.memory()?))
}

/// Starts and removes as many pods as the runtime alone can have, all at once. The time of each is
/// that from the first call to the container's start.
async fn direct_round(cluster: &Cluster, pods: usize) -> Result<Vec<f64>> {
    let socket = cluster.runtime_socket();
    let runtime = Arc::new(GrpcRuntime::connect(&socket.to_string_lossy())?.with_request_timeout(LIMIT));
    let from = Instant::now();
    let starts = (0..pods).map(|number| {
        let runtime = runtime.clone();
        tokio::spawn(async move {
            let config = sandbox(number);
            let id = runtime.run_pod_sandbox(config.clone(), "").await?;
            let container = runtime.create_container(&id, container(), config).await?;
            runtime.start_container(&container).await?;
            Ok::<_, anyhow::Error>((id, from.elapsed().as_secs_f64()))
        })
    });
    let started = try_join_all(starts).await?.into_iter().collect::<Result<Vec<_>>>()?;
    let ends = started.iter().map(|(id, _)| {
        let (runtime, id) = (runtime.clone(), id.clone());
        tokio::spawn(async move {
            runtime.stop_pod_sandbox(&id).await?;
            runtime.remove_pod_sandbox(&id).await
        })
    });
    for ended in try_join_all(ends).await? {
        ended?;
    }
    Ok(started.into_iter().map(|(_, took)| took).collect())
}

fn sandbox(number: usize) -> v1::PodSandboxConfig {
    let name = format!("direct-{number}");
    v1::PodSandboxConfig {
        metadata: Some(v1::PodSandboxMetadata {
            name: name.clone(),
            uid: name.clone(),
            namespace: "direct".into(),
            attempt: 0,
        }),
        hostname: name.clone(),
        log_directory: std::env::temp_dir().join("ferry-density").join(&name).to_string_lossy().into_owned(),
        linux: Some(v1::LinuxPodSandboxConfig {
            cgroup_parent: format!("/ferry-density/pod{name}"),
            security_context: Some(v1::LinuxSandboxSecurityContext {
                seccomp: Some(v1::SecurityProfile::default()),
                ..Default::default()
            }),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn container() -> v1::ContainerConfig {
    v1::ContainerConfig {
        metadata: Some(v1::ContainerMetadata { name: "c".into(), attempt: 0 }),
        image: Some(v1::ImageSpec { image: IMAGE.into(), ..Default::default() }),
        log_path: "c.log".into(),
        linux: Some(v1::LinuxContainerConfig::default()),
        ..Default::default()
    }
}

/// Creates bound pods at once, waits until all of them run, and deletes them. The time of each is
/// that from the answer to its creation to the watch event that shows it running.
async fn pod_round(
    cluster: &Cluster,
    node: &str,
    pods: usize,
    round: &str,
    meanwhile: impl AsyncFnOnce(&Cluster) -> Result<()>,
) -> Result<Vec<f64>> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods");
    let list: Value = serde_json::from_slice(&cluster.connect().await?.get(&path).await?)?;
    let from = list["metadata"]["resourceVersion"].as_str().context("a list has a version")?.to_owned();
    let mut watching = cluster.connect().await?;
    let body = watching.stream(&format!("{path}?watch=1&resourceVersion={from}")).await?;
    let seen = tokio::spawn(async move {
        let _connection = watching;
        follow(body, pods).await
    });
    let created = Arc::new(parking_lot::Mutex::new(HashMap::new()));
    let (times, to, node, round) = (created.clone(), path.clone(), node.to_owned(), round.to_owned());
    load::spread(cluster, 16, pods, move |connection: &mut Connection, number| {
        let name = format!("{round}-{number}");
        let body = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"nodeName": node, "containers": [{"name": "c", "image": IMAGE}]}});
        let (times, to) = (times.clone(), to.clone());
        Box::pin(async move {
            connection.post(&to, &body).await?;
            times.lock().insert(name, Instant::now());
            Ok(())
        })
    })
    .await?;
    let running = tokio::time::timeout(LIMIT, seen).await.context("the pods did not all run")???;
    let bound = created.lock().clone();
    let times = running.iter().map(|(name, at)| {
        let from = bound.get(name).with_context(|| format!("{name} is not ours"))?;
        Ok(at.saturating_duration_since(*from).as_secs_f64())
    });
    let times = times.collect::<Result<Vec<f64>>>()?;
    meanwhile(cluster).await?;
    let names: Arc<Vec<String>> = Arc::new(bound.into_keys().collect());
    let to = path.clone();
    load::spread(cluster, 16, pods, move |connection: &mut Connection, number| {
        let path = format!("{to}/{}?gracePeriodSeconds=1", names[number]);
        Box::pin(async move { connection.delete(&path).await.map(drop) })
    })
    .await?;
    let (mut connection, deadline) = (cluster.connect().await?, Instant::now() + LIMIT);
    loop {
        let list: Value = serde_json::from_slice(&connection.get(&path).await?)?;
        let left = list["items"].as_array().map_or(0, Vec::len);
        if left == 0 {
            return Ok(times);
        }
        ensure!(Instant::now() < deadline, "{left} pods are not gone");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Reads events until so many pods run, and returns when each did first.
async fn follow(mut body: hyper::body::Incoming, pods: usize) -> Result<Vec<(String, Instant)>> {
    let (mut running, mut known) = (Vec::new(), HashSet::new());
    let mut rest: Vec<u8> = Vec::new();
    while running.len() < pods {
        let frame = body.frame().await.context("the watch ended early")??;
        let Ok(data) = frame.into_data() else { continue };
        rest.extend_from_slice(&data);
        let mut begin = 0;
        while let Some(length) = rest[begin..].iter().position(|byte| *byte == b'\n') {
            let event: Value = serde_json::from_slice(&rest[begin..begin + length])?;
            begin += length + 1;
            let pod = &event["object"];
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            if pod["status"]["phase"] == "Running" && known.insert(name.to_owned()) {
                running.push((name.to_owned(), Instant::now()));
            }
        }
        rest.drain(..begin);
    }
    Ok(running)
}
