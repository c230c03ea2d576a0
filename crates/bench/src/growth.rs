//! Whether the same work costs the same in a larger cluster: the processor time of one step of
//! the server with 1k, 4k and 16k pods around it, and by how much it grows from the first to the
//! last. Called by `main.rs`.
//!
//! Nodes, Leases, Deployments and ReplicaSets grow along, one for twenty pods, and all stand in
//! one namespace. A step counts until the server is at rest again, so that whatever its
//! controllers do about it belongs to it; what the server uses without any step does not.

use crate::cluster::Cluster;
use crate::load::{self, Connection};
use crate::report::{Better, Report};
use crate::scale::{LEASES, POD_RANGE, PODS, objects};
use anyhow::{Result, ensure};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::ops::Range;
use std::time::{Duration, Instant};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const NODES: &str = "/api/v1/nodes";

/// One node, and one Deployment, for so many pods.
const PODS_PER_NODE: usize = 20;

/// Pods of a Deployment that is rolled out as a step.
const REPLICAS: usize = 3;

/// Deployments that are rolled out in turn.
const ROLLED: usize = 5;

/// The cost of one step may grow by this factor from the smallest to the largest cluster.
const GOAL: f64 = 1.3;

/// Each figure is the middle one of so many rounds.
const ROUNDS: usize = 3;

/// How long the server is watched without any step.
const REST: Duration = Duration::from_secs(1);

/// Clients that take the steps, each waiting for its own answer.
const CLIENTS: usize = 4;

/// How many pods the cluster has in turn, and how many steps a figure is made of.
pub struct Growth {
    pub sizes: Vec<usize>,
    pub steps: usize,
}

/// The work that is measured, in the order in which it is done: the steps of a pod are about
/// the same pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    CreatePod,
    UpdatePod,
    BindPod,
    DeletePod,
    RollOut,
    Heartbeat,
    ListPage,
}

const STEPS: [Step; 7] =
    [Step::CreatePod, Step::UpdatePod, Step::BindPod, Step::DeletePod, Step::RollOut, Step::Heartbeat, Step::ListPage];

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::CreatePod => "create a pod",
            Self::UpdatePod => "update a pod",
            Self::BindPod => "bind a pod",
            Self::DeletePod => "delete a pod",
            Self::RollOut => "reconcile a Deployment (3 pods anew)",
            Self::Heartbeat => "a node's heartbeat",
            Self::ListPage => "LIST a page of 500 pods",
        }
    }

    /// Roll-outs and pages are some twenty writes each.
    fn count(self, steps: usize) -> usize {
        match self {
            Self::RollOut | Self::ListPage => steps.div_ceil(10),
            _ => steps,
        }
    }

    async fn run(self, cluster: &Cluster, nodes: usize, count: usize) -> Result<()> {
        // Two roll-outs of one Deployment at a time would be one.
        let clients = if self == Self::RollOut { 1 } else { CLIENTS };
        load::spread(cluster, clients, count, move |connection, n| self.once(connection, n, nodes)).await.map(drop)
    }

    fn once(self, connection: &mut Connection, n: usize, nodes: usize) -> BoxFuture<'_, Result<()>> {
        let name = format!("step-{n}");
        Box::pin(async move {
            let answer = match self {
                Self::CreatePod => connection.post(PODS, &stepping_pod(&name)).await,
                Self::UpdatePod => {
                    let label = json!({"metadata": {"labels": {"step": "updated"}}});
                    connection.merge_patch(&format!("{PODS}/{name}"), &label).await
                }
                Self::BindPod => {
                    let target = json!({"target": {"kind": "Node", "name": objects::name_of_node(n % nodes)}});
                    connection.post(&format!("{PODS}/{name}/binding"), &target).await
                }
                Self::DeletePod => connection.delete(&format!("{PODS}/{name}?gracePeriodSeconds=0")).await,
                Self::Heartbeat => {
                    let lease = format!("{LEASES}/{}", objects::name_of_node(n % nodes));
                    connection.merge_patch(&lease, &objects::renewal()).await
                }
                Self::ListPage => connection.get(&format!("{PODS}?limit=500")).await,
                Self::RollOut => return roll_out(connection, n).await,
            };
            answer.map(drop)
        })
    }
}

/// The processor time of each step at each size, in microseconds.
type Costs = Vec<(Step, Vec<f64>)>;

pub async fn measure(cluster: &mut Cluster, growth: &Growth, report: &mut Report) -> Result<()> {
    cluster.up_with(&["--cluster-cidr", POD_RANGE])?;
    let mut costs: Costs = STEPS.map(|step| (step, Vec::new())).into();
    create_rolled(cluster).await?;
    let mut filled = 0;
    for &size in &growth.sizes {
        let nodes = size.div_ceil(PODS_PER_NODE);
        fill(cluster, filled..size, filled.div_ceil(PODS_PER_NODE)..nodes).await?;
        // A short round at each size fills pools and caches.
        for step in STEPS {
            cost(cluster, step, nodes, step.count(growth.steps.div_ceil(10))).await?;
        }
        let mut rounds = STEPS.map(|_| Vec::new());
        for _ in 0..ROUNDS {
            for (step, figures) in STEPS.into_iter().zip(&mut rounds) {
                figures.push(cost(cluster, step, nodes, step.count(growth.steps)).await?);
            }
        }
        for ((_, figures), round) in costs.iter_mut().zip(rounds) {
            figures.push(middle(round));
        }
        filled = size;
    }
    for (what, unit, figure, goal) in summarize(&growth.sizes, &costs) {
        report.add(&what, unit, figure, None, goal, Better::Lower);
    }
    Ok(())
}

fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

/// The processor time of one step, in microseconds.
async fn cost(cluster: &Cluster, step: Step, nodes: usize, count: usize) -> Result<f64> {
    // No node may be found to be gone while the steps are measured.
    Step::Heartbeat.run(cluster, nodes, nodes).await?;
    cluster.settle();
    let at_rest = cluster.processor_time()?;
    tokio::time::sleep(REST).await;
    let (before, start) = (cluster.processor_time()?, Instant::now());
    step.run(cluster, nodes, count).await?;
    cluster.settle();
    let (used, took) = (cluster.processor_time()? - before, start.elapsed());
    let without = (before - at_rest).as_secs_f64() * took.as_secs_f64() / REST.as_secs_f64();
    Ok((used.as_secs_f64() - without).max(0.0) * 1e6 / count as f64)
}

/// A line for each step and size, and one for the growth of each step.
fn summarize(sizes: &[usize], costs: &Costs) -> Vec<(String, &'static str, f64, Option<f64>)> {
    let mut lines = Vec::new();
    for (step, figures) in costs {
        for (size, figure) in sizes.iter().zip(figures) {
            lines.push((format!("{}, {size} pods there", step.name()), "us", *figure, None));
        }
        if let ([first, .., last], [smallest, .., largest]) = (&figures[..], sizes) {
            // A step too cheap to be seen has not grown.
            let grown = if *first > 0.0 { last / first } else { 1.0 };
            lines.push((format!("  grows from {smallest} to {largest} by"), "x", grown, Some(GOAL)));
        }
    }
    lines
}

/// A pod that no scheduler takes, so that the step that binds it is ours.
fn stepping_pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "stepping"}},
        "spec": {"schedulerName": "nobody", "containers": [{"name": "web", "image": "registry.example/web:1",
            "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}}}]}})
}

fn deployment(name: &str, replicas: usize) -> Value {
    let template = json!({"metadata": {"labels": {"app": name}}, "spec": {"schedulerName": "nobody",
        "containers": [{"name": "web", "image": "registry.example/web:1"}]}});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"replicas": replicas,
        "strategy": {"type": "Recreate"}, "revisionHistoryLimit": 1, "selector": {"matchLabels": {"app": name}},
        "template": template}})
}

async fn fill(cluster: &Cluster, pods: Range<usize>, nodes: Range<usize>) -> Result<()> {
    let first = nodes.start;
    load::spread(cluster, 16, nodes.len(), move |connection: &mut Connection, n| {
        Box::pin(async move {
            connection.post(NODES, &objects::node(first + n)).await?;
            connection.post(LEASES, &objects::lease(first + n)).await?;
            connection.post(DEPLOYMENTS, &deployment(&format!("around-{}", first + n), 0)).await.map(drop)
        })
    })
    .await?;
    let (first, nodes) = (pods.start, nodes.end);
    load::spread(cluster, 16, pods.len(), move |connection: &mut Connection, n| {
        Box::pin(async move {
            let created = connection.post(PODS, &objects::pod(first + n, nodes)).await?;
            let mut pod: Value = serde_json::from_slice(&created)?;
            pod["status"] = objects::pod_status(first + n, nodes);
            let path = format!("{PODS}/{}/status", objects::name_of_pod(first + n));
            connection.put(&path, &pod).await.map(drop)
        })
    })
    .await?;
    Ok(())
}

async fn create_rolled(cluster: &Cluster) -> Result<()> {
    let mut connection = cluster.connect().await?;
    for n in 0..ROLLED {
        connection.post(DEPLOYMENTS, &deployment(&format!("rolled-{n}"), REPLICAS)).await?;
    }
    for n in 0..ROLLED {
        wait_rolled_out(&mut connection, n).await?;
    }
    Ok(())
}

/// Changes the template of a Deployment and waits until its pods are of the new one.
async fn roll_out(connection: &mut Connection, n: usize) -> Result<()> {
    let annotations = json!({"step": jiff::Timestamp::now().to_string()});
    let patch = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
    let rolled = n % ROLLED;
    connection.merge_patch(&format!("{DEPLOYMENTS}/rolled-{rolled}"), &patch).await?;
    wait_rolled_out(connection, rolled).await
}

async fn wait_rolled_out(connection: &mut Connection, n: usize) -> Result<()> {
    let start = Instant::now();
    loop {
        let now: Value = serde_json::from_slice(&connection.get(&format!("{DEPLOYMENTS}/rolled-{n}")).await?)?;
        let status = &now["status"];
        let is_observed = status["observedGeneration"] == now["metadata"]["generation"];
        if is_observed && status["updatedReplicas"] == REPLICAS && status["replicas"] == REPLICAS {
            return Ok(());
        }
        ensure!(start.elapsed() < Duration::from_secs(60), "the deployment was not rolled out: {status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_that_from_the_first_size_to_the_last() {
        let costs = vec![(Step::CreatePod, vec![100.0, 400.0, 125.0]), (Step::Heartbeat, vec![0.0, 0.0, 0.0])];
        let lines = summarize(&[1_000, 4_000, 16_000], &costs);
        let grown: Vec<_> = lines.iter().filter(|line| line.3.is_some()).map(|line| (line.0.trim(), line.2)).collect();
        assert_eq!(grown, [("grows from 1000 to 16000 by", 1.25), ("grows from 1000 to 16000 by", 1.0)]);
        assert_eq!(lines[1], ("create a pod, 4000 pods there".to_owned(), "us", 400.0, None));
        assert_eq!((middle(vec![3.0, 1.0, 2.0]), middle(Vec::new())), (2.0, 0.0));
        assert!(summarize(&[1_000], &vec![(Step::CreatePod, vec![1.0])]).iter().all(|line| line.3.is_none()));
    }

    #[test]
    fn every_step_is_measured_once_and_named() {
        let names: std::collections::BTreeSet<_> = STEPS.iter().map(|step| step.name()).collect();
        assert_eq!(names.len(), STEPS.len());
        assert_eq!((Step::RollOut.count(15), Step::CreatePod.count(15)), (2, 15));
    }
}
