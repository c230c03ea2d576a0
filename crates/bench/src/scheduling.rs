//! Upstream's scheduler_perf workloads over HTTP: hollow nodes with heartbeats, 30 parallel
//! creators, binds counted by a watch. The server is a ferry that this program starts, or any
//! other on this machine (`--kubeconfig`). Called by `main.rs`; `make scale` runs all of them.

mod devices;
mod kubeconfig;
mod templates;
mod workloads;

use crate::cluster::Cluster;
use crate::load::{self, Connect, Connection};
use crate::report::{Better, Report};
use crate::upstream::{self, Parts};
use anyhow::{Context, Result, ensure};
use http_body_util::BodyExt;
pub use kubeconfig::Remote;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use templates::PodTemplate;
use tokio::task::JoinHandle;
use workloads::{Churn, Workload};
pub use workloads::{GROWING, WORKLOADS};

/// As many creators as upstream's harness has.
const CREATORS: usize = 30;
const HEARTBEAT: Duration = Duration::from_secs(10);
/// A step that takes longer has failed.
const STEP: Duration = Duration::from_secs(300);
const NODES: &str = "/api/v1/nodes";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
/// Ranges for the pods of 5,000 nodes.
const POD_RANGE: &str = "100.64.0.0/10";

/// Runs the workloads whose name contains `only`, each on a cluster of its own.
pub async fn measure(make: impl Fn() -> Result<Cluster>, only: Option<&str>, report: &mut Report) -> Result<()> {
    let mut failed = Vec::new();
    for workload in chosen(only) {
        let mut cluster = make()?;
        cluster.up_with(&["--cluster-cidr", POD_RANGE])?;
        cordon_own_nodes(&cluster).await?;
        match run(&cluster, workload).await {
            Ok(rate) => add(report, workload, rate),
            Err(error) => failed.push(format!("{}: {error:#}", workload.name)),
        }
    }
    // The figures of the others are printed all the same.
    if !failed.is_empty() {
        print!("{}", report.render());
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

/// Runs them one after another on a server that is there and has no nodes of its own.
pub async fn measure_remote(remote: &Remote, only: Option<&str>, report: &mut Report) -> Result<()> {
    for workload in chosen(only) {
        let rate = run(remote, workload).await.with_context(|| workload.name)?;
        add(report, workload, rate);
        remove(remote, workload).await?;
    }
    Ok(())
}

fn chosen(only: Option<&str>) -> impl Iterator<Item = &'static Workload> {
    WORKLOADS.iter().filter(move |workload| only.is_none_or(|part| workload.name.contains(part)))
}

fn add(report: &mut Report, workload: &Workload, rate: f64) {
    let what = format!("{}, {} nodes", workload.name, workload.nodes);
    report.add(&what, "pods/s", rate, Some(workload.floor), Some(workload.floor * 10.0), Better::Higher);
}

/// The pace of creating and binding pods on 1,000 nodes, and the server's processor time for
/// each pod, as their number grows.
pub async fn measure_growing(cluster: &mut Cluster, upstream: Option<&Path>, report: &mut Report) -> Result<()> {
    cluster.up_with(&["--cluster-cidr", POD_RANGE])?;
    cordon_own_nodes(cluster).await?;
    let hollow = Hollow::start(cluster, &GROWING).await?;
    let (namespace, template, all) = GROWING.measured;
    create_namespace(cluster, namespace).await?;
    let binds = Binds::watch(cluster).await?;
    const SHARES: usize = 4;
    let part = all / SHARES;
    let mut figures = Vec::new();
    for n in 0..SHARES {
        let (before, start) = (cluster.processor_time()?, Instant::now());
        create_pods(cluster, namespace, template, n * part, part).await?;
        binds.reach((n + 1) * part).await?;
        let rate = part as f64 / start.elapsed().as_secs_f64();
        let used = (cluster.processor_time()? - before).as_secs_f64() * 1e3 / part as f64;
        figures.push((rate, used));
    }
    hollow.stop();
    // Upstream's side is so much slower that a tenth of the first part says as much.
    let their = upstream::figure(upstream, Parts::ControlPlane, async |upstream| {
        let hollow = Hollow::start(upstream, &GROWING).await?;
        create_namespace(upstream, namespace).await?;
        let binds = Binds::watch(upstream).await?;
        let start = Instant::now();
        create_pods(upstream, namespace, template, 0, part / 10).await?;
        binds.reach(part / 10).await?;
        hollow.stop();
        Ok((part / 10) as f64 / start.elapsed().as_secs_f64())
    })
    .await?;
    for (n, (rate, used)) in figures.into_iter().enumerate() {
        let what = format!("pods created and bound, 1,000 nodes, {} there", n * part);
        report.add(&what, "/s", rate, their.filter(|_| n == 0), Some(4_000.0), Better::Higher);
        report.add("  processor time of each", "ms", used, None, Some(0.4), Better::Lower);
    }
    Ok(())
}

/// Binds per second of the measured step: the average over whole seconds without the first, as
/// upstream counts them.
async fn run(server: &dyn Connect, workload: &Workload) -> Result<f64> {
    let hollow = Hollow::start(server, workload).await?;
    let binds = Binds::watch(server).await?;
    let mut expected = 0;
    for (step, &(namespace, template, count)) in workload.before.iter().enumerate() {
        create_namespace(server, namespace).await?;
        devices::prepare(server, namespace, template).await?;
        create_pods_named(server, namespace, template, &format!("before-{step}"), 0, count).await?;
        expected += count;
        binds.reach(expected).await?;
    }
    let churn = hollow.churn(server, workload.churn).await?;
    let (namespace, template, count) = workload.measured;
    create_namespace(server, namespace).await?;
    prepare(server, namespace, template, count).await?;
    let sampler = binds.sample();
    let start = Instant::now();
    create_pods(server, namespace, template, 0, count).await?;
    binds.reach(expected + count).await?;
    let took = start.elapsed();
    let samples = sampler.stop();
    if let Some(churn) = churn {
        churn.abort();
    }
    hollow.stop();
    Ok(average(&samples).unwrap_or(count as f64 / took.as_secs_f64()))
}

/// The mean of the samples without the first; none if fewer than three are left.
fn average(samples: &[usize]) -> Option<f64> {
    let rest = samples.get(1..).filter(|rest| rest.len() >= 3)?;
    Some(rest.iter().sum::<usize>() as f64 / rest.len() as f64)
}

/// Pods belong on hollow nodes: a real one would start to pull their image.
async fn cordon_own_nodes(cluster: &Cluster) -> Result<()> {
    let mut connection = cluster.connect().await?;
    let nodes: Value = serde_json::from_slice(&connection.get(NODES).await?)?;
    for name in nodes["items"].as_array().into_iter().flatten().filter_map(|node| node["metadata"]["name"].as_str()) {
        connection.merge_patch(&format!("{NODES}/{name}"), &json!({"spec": {"unschedulable": true}})).await?;
    }
    Ok(())
}

async fn create_namespace(server: &dyn Connect, name: &str) -> Result<()> {
    let mut connection = server.connect().await?;
    if connection.get(&format!("/api/v1/namespaces/{name}")).await.is_ok() {
        return Ok(());
    }
    connection.post("/api/v1/namespaces", &templates::namespace(name)).await?;
    // Pods are admitted with this account, which a controller makes.
    let deadline = Instant::now() + Duration::from_secs(10);
    let account = format!("/api/v1/namespaces/{name}/serviceaccounts/default");
    while connection.get(&account).await.is_err() {
        ensure!(Instant::now() < deadline, "namespace {name} gets no default ServiceAccount");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// The volumes and claims of pods that are measured are there before them.
async fn prepare(server: &dyn Connect, namespace: &'static str, template: PodTemplate, count: usize) -> Result<()> {
    devices::prepare(server, namespace, template).await?;
    if template != PodTemplate::CsiVolume {
        return Ok(());
    }
    volumes(server, namespace, "measured", 0, count).await
}

async fn volumes(server: &dyn Connect, namespace: &'static str, prefix: &str, from: usize, count: usize) -> Result<()> {
    let prefix = prefix.to_owned();
    load::spread(server, CREATORS, count, move |connection: &mut Connection, n| {
        let name = format!("{prefix}-{}", from + n);
        Box::pin(async move {
            connection.post("/api/v1/persistentvolumes", &templates::csi_volume(namespace, &name)).await?;
            let claims = format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims");
            connection.post(&claims, &templates::claim(namespace, &name)).await.map(drop)
        })
    })
    .await?;
    let (mut connection, deadline) = (server.connect().await?, Instant::now() + STEP);
    while unbound(&mut connection, namespace).await? > 0 {
        ensure!(Instant::now() < deadline, "claims of {namespace} are not bound; does a volume binder run?");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

async fn unbound(connection: &mut Connection, namespace: &str) -> Result<usize> {
    let path = format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims");
    let claims: Value = serde_json::from_slice(&connection.get(&path).await?)?;
    Ok(claims["items"].as_array().into_iter().flatten().filter(|claim| claim["status"]["phase"] != "Bound").count())
}

async fn create_pods(
    server: &dyn Connect,
    namespace: &'static str,
    template: PodTemplate,
    from: usize,
    count: usize,
) -> Result<()> {
    create_named(server, namespace, template, "measured", from, count).await
}

async fn create_pods_named(
    server: &dyn Connect,
    namespace: &'static str,
    template: PodTemplate,
    prefix: &str,
    from: usize,
    count: usize,
) -> Result<()> {
    if template == PodTemplate::CsiVolume {
        volumes(server, namespace, prefix, from, count).await?;
    }
    create_named(server, namespace, template, prefix, from, count).await
}

async fn create_named(
    server: &dyn Connect,
    namespace: &'static str,
    template: PodTemplate,
    prefix: &str,
    from: usize,
    count: usize,
) -> Result<()> {
    let prefix = prefix.to_owned();
    load::spread(server, CREATORS, count, move |connection: &mut Connection, n| {
        let body = template.pod(&format!("{prefix}-{}", from + n));
        Box::pin(async move { connection.post(&format!("/api/v1/namespaces/{namespace}/pods"), &body).await.map(drop) })
    })
    .await?;
    Ok(())
}

/// Counts pods that are bound: each enters the selection of this watch once. Pods of churn
/// workloads are counted only where they are bound.
struct Binds {
    seen: Arc<AtomicUsize>,
    changed: Arc<tokio::sync::Notify>,
    task: JoinHandle<()>,
}

impl Binds {
    async fn watch(server: &dyn Connect) -> Result<Self> {
        let mut connection = server.connect().await?;
        let path = "/api/v1/pods?watch=true&fieldSelector=spec.nodeName!%3D&resourceVersion=0";
        let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
        let response = connection.answer("GET", path, bytes::Bytes::new(), accept).await?;
        ensure!(response.status().is_success(), "the watch of pods: {}", response.status());
        let (seen, changed) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Notify::new()));
        let (counter, waker) = (seen.clone(), changed.clone());
        let task = tokio::spawn(async move {
            let _open = connection;
            let (mut body, mut line) = (response.into_body(), Vec::new());
            while let Some(Ok(frame)) = body.frame().await {
                let Some(data) = frame.data_ref() else { continue };
                for part in data.split_inclusive(|&byte| byte == b'\n') {
                    line.extend_from_slice(part);
                    if line.ends_with(b"\n") {
                        if counts(&line) {
                            counter.fetch_add(1, Ordering::Relaxed);
                        }
                        line.clear();
                    }
                }
                waker.notify_waiters();
            }
        });
        Ok(Self { seen, changed, task })
    }

    async fn reach(&self, count: usize) -> Result<()> {
        let wait = async {
            loop {
                let changed = self.changed.notified();
                if self.seen.load(Ordering::Relaxed) >= count || self.task.is_finished() {
                    return;
                }
                changed.await;
            }
        };
        let outcome = tokio::time::timeout(STEP, wait).await;
        let seen = self.seen.load(Ordering::Relaxed);
        ensure!(seen >= count, "{seen} of {count} pods bound{}", if outcome.is_err() { " in time" } else { "" });
        Ok(())
    }

    /// Takes the count once a second until it is stopped.
    fn sample(&self) -> Sampler {
        let seen = self.seen.clone();
        let samples = Arc::new(parking_lot::Mutex::new(Vec::new()));
        let taken = samples.clone();
        let task = tokio::spawn(async move {
            let mut tick = tokio::time::interval(Duration::from_secs(1));
            tick.tick().await;
            let mut last = seen.load(Ordering::Relaxed);
            loop {
                tick.tick().await;
                let now = seen.load(Ordering::Relaxed);
                taken.lock().push(now - last);
                last = now;
            }
        });
        Sampler { samples, task }
    }
}

impl Drop for Binds {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether an event of the watch is a pod that was bound and belongs to a step.
fn counts(line: &[u8]) -> bool {
    let has = |needle: &[u8]| line.windows(needle.len()).any(|window| window == needle);
    line.starts_with(br#"{"type":"ADDED""#) && (has(br#""name":"measured-"#) || has(br#""name":"before-"#))
}

struct Sampler {
    samples: Arc<parking_lot::Mutex<Vec<usize>>>,
    task: JoinHandle<()>,
}

impl Sampler {
    fn stop(self) -> Vec<usize> {
        self.task.abort();
        std::mem::take(&mut self.samples.lock())
    }
}

/// Nodes without a kubelet whose Leases are renewed.
struct Hollow {
    heartbeats: JoinHandle<()>,
}

impl Hollow {
    async fn start(server: &dyn Connect, workload: &Workload) -> Result<Self> {
        let mut connection = server.connect().await?;
        let classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
        if connection.get(&format!("{classes}/{}", templates::PRIORITY_CLASS)).await.is_err() {
            connection.post(classes, &templates::priority_class()).await?;
        }
        let (nodes, room, zones) = (workload.nodes, workload.room, workload.zones);
        let with_csi = workload.measured.1 == PodTemplate::CsiVolume;
        load::spread(server, CREATORS, nodes, move |connection: &mut Connection, n| {
            Box::pin(async move {
                connection.post(LEASES, &templates::lease(n)).await?;
                if with_csi {
                    connection.post("/apis/storage.k8s.io/v1/csinodes", &templates::csi_node(n)).await?;
                }
                connection.post(NODES, &templates::node(n, zones, room)).await.map(drop)
            })
        })
        .await?;
        if workload.measured.1 == PodTemplate::ClaimTemplate {
            devices::publish(server, nodes).await?;
        }
        let heartbeats = tokio::spawn(renew(server.connect().await?, nodes));
        let deadline = Instant::now() + STEP;
        while untolerated(&mut connection).await? > 0 {
            ensure!(Instant::now() < deadline, "nodes keep the not-ready taint");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(Self { heartbeats })
    }

    async fn churn(&self, server: &dyn Connect, churn: Churn) -> Result<Option<JoinHandle<()>>> {
        if churn == Churn::None {
            return Ok(None);
        }
        create_namespace(server, "churn").await?;
        let connection = server.connect().await?;
        Ok(Some(match churn {
            Churn::Create(template) => tokio::spawn(create_on_and_on(connection, template)),
            _ => tokio::spawn(recreate_on_and_on(connection)),
        }))
    }

    fn stop(self) {
        self.heartbeats.abort();
    }
}

async fn renew(mut connection: Connection, nodes: usize) {
    let mut tick = tokio::time::interval(HEARTBEAT / u32::try_from(nodes).unwrap_or(u32::MAX));
    for n in (0..nodes).cycle() {
        tick.tick().await;
        let path = format!("{LEASES}/{}", templates::node_name(n));
        if let Err(error) = connection.merge_patch(&path, &templates::renewal()).await {
            eprintln!("heartbeats end: {error}");
            return;
        }
    }
}

/// How many nodes still carry the taint that admission puts on a new one.
async fn untolerated(connection: &mut Connection) -> Result<usize> {
    let nodes: Value = serde_json::from_slice(&connection.get(NODES).await?)?;
    let tainted = |node: &&Value| {
        node["spec"]["taints"].as_array().into_iter().flatten().any(|t| t["key"] == "node.kubernetes.io/not-ready")
    };
    Ok(nodes["items"].as_array().into_iter().flatten().filter(tainted).count())
}

const CHURN_PODS: &str = "/api/v1/namespaces/churn/pods";

async fn create_on_and_on(mut connection: Connection, template: PodTemplate) {
    let mut tick = tokio::time::interval(Duration::from_millis(200));
    for n in 0.. {
        tick.tick().await;
        if let Err(error) = connection.post(CHURN_PODS, &template.pod(&format!("churn-{n}"))).await {
            eprintln!("churn ends: {error}");
            return;
        }
    }
}

async fn recreate_on_and_on(mut connection: Connection) {
    let mut tick = tokio::time::interval(Duration::from_secs(1));
    loop {
        tick.tick().await;
        if let Err(error) = recreate(&mut connection).await {
            eprintln!("churn ends: {error}");
            return;
        }
    }
}

async fn recreate(connection: &mut Connection) -> Result<()> {
    const SERVICES: &str = "/api/v1/namespaces/churn/services";
    let node = templates::node(usize::MAX, &[], 110);
    let name = templates::node_name(usize::MAX);
    connection.post(NODES, &node).await?;
    connection.post(CHURN_PODS, &PodTemplate::LargeCpu.pod("churn")).await?;
    connection.post(SERVICES, &templates::service("churn")).await?;
    connection.delete(&format!("{CHURN_PODS}/churn?gracePeriodSeconds=0")).await?;
    connection.delete(&format!("{SERVICES}/churn")).await?;
    connection.delete(&format!("{NODES}/{name}")).await.map(drop)
}

/// Takes a workload's objects off a server that lives on.
async fn remove(server: &dyn Connect, workload: &Workload) -> Result<()> {
    let mut connection = server.connect().await?;
    let steps = workload.before.iter().chain([&workload.measured]).map(|(namespace, ..)| *namespace);
    for namespace in steps.chain(["churn"]) {
        let pods = format!("/api/v1/namespaces/{namespace}/pods?gracePeriodSeconds=0");
        connection.delete(&pods).await?;
        connection.delete(&format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims")).await?;
        connection.delete(&devices::templates_in(namespace)).await?;
    }
    for path in [
        "/api/v1/persistentvolumes",
        "/apis/storage.k8s.io/v1/csinodes",
        devices::SLICES,
        devices::CLASSES,
        NODES,
        LEASES,
    ] {
        connection.delete(path).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bound_pods_of_steps_count() {
        let event = |kind: &str, name: &str| {
            format!("{}\n", json!({"type": kind, "object": {"metadata": {"name": name}}})).replace(
                &format!(r#"{{"object":{{"metadata":{{"name":"{name}"}}}},"type":"{kind}"}}"#),
                &format!(r#"{{"type":"{kind}","object":{{"metadata":{{"name":"{name}"}}}}}}"#),
            )
        };
        assert!(counts(event("ADDED", "measured-7").as_bytes()));
        assert!(counts(event("ADDED", "before-0-7").as_bytes()));
        assert!(!counts(event("MODIFIED", "measured-7").as_bytes()));
        assert!(!counts(event("ADDED", "churn-7").as_bytes()));
    }

    #[test]
    fn the_first_sample_is_dropped_and_three_are_the_least() {
        assert_eq!(average(&[900, 10, 20, 30]), Some(20.0));
        assert_eq!(average(&[900, 10, 20]), None);
        assert_eq!(average(&[]), None);
    }
}
