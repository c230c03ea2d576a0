//! This machine as a Node: registration, capacity, conditions, and the lease that says
//! it is alive. One loop, ticking with the heartbeat.

mod capacity;
mod conditions;
mod info;
mod lease;

use capacity::read_capacity;
pub use info::local_machine;

use crate::context::Context;
use crate::{Error, cni};
use conditions::{Health, compute_conditions};
use ferry_client::{EventType, Patch};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    ContainerImage, DaemonEndpoint, Node, NodeAddress, NodeCondition, NodeDaemonEndpoints, NodeSpec, NodeStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A status without changes is still written this often, as upstream's
/// nodeStatusReportFrequency.
const REPORT_EVERY: Duration = Duration::from_secs(300);
/// While the node is not ready its reasons are looked at more often than it beats.
const IMPATIENT: Duration = Duration::from_millis(200);
/// The pauses after a report that failed double from the first to the last of these: an API
/// that refuses every write, for its disk is full, is not asked hundreds of times a second.
const FIRST_RETRY: Duration = Duration::from_millis(200);
const LAST_RETRY: Duration = Duration::from_secs(10);
/// Listing images is not free, and nobody schedules by them in a hurry.
const IMAGES_EVERY: Duration = Duration::from_secs(60);
/// The largest images are listed, as upstream's nodeStatusMaxImages.
const MAX_IMAGES: usize = 50;

/// Registers the node and keeps it posted until `shutdown`. `ready` follows the Ready
/// condition as the API has it.
pub async fn run(context: Arc<Context>, ready: watch::Sender<bool>, shutdown: CancellationToken) -> Result<(), Error> {
    let mut keeper = NodeKeeper {
        reported: NodeStatus::default(),
        reported_at: None,
        images: Vec::new(),
        images_at: None,
        info: info::read_info(&*context.runtime, &context.config).await,
        lease: lease::LeaseKeeper::default(),
        uid: None,
        context,
        ready,
    };
    keeper.context.recorder.event(&keeper.context.node_reference(), EventType::Normal, "Starting", "Starting kubelet.");
    let mut beat_at = tokio::time::Instant::now();
    let mut failures = 0;
    loop {
        let done = tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            done = keeper.tick(tokio::time::Instant::now() >= beat_at) => done,
        };
        if let Err(error) = done {
            tracing::warn!(%error, "cannot report the node");
            failures += 1;
        } else {
            failures = 0;
            if tokio::time::Instant::now() >= beat_at {
                beat_at = tokio::time::Instant::now() + keeper.context.config.heartbeat;
            }
        }
        let until_beat = beat_at.saturating_duration_since(tokio::time::Instant::now());
        let pause = plan_pause(*keeper.ready.borrow(), until_beat, failures);
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// How long to wait before the next tick.
fn plan_pause(ready: bool, until_beat: Duration, failures: u32) -> Duration {
    match failures {
        0 if ready => until_beat,
        0 => IMPATIENT,
        n => FIRST_RETRY.saturating_mul(1 << (n - 1).min(16)).min(LAST_RETRY),
    }
}

struct NodeKeeper {
    context: Arc<Context>,
    ready: watch::Sender<bool>,
    info: k8s_openapi::api::core::v1::NodeSystemInfo,
    /// The status as last written, to write only what changes.
    reported: NodeStatus,
    reported_at: Option<tokio::time::Instant>,
    images: Vec<ContainerImage>,
    images_at: Option<tokio::time::Instant>,
    lease: lease::LeaseKeeper,
    uid: Option<String>,
}

impl NodeKeeper {
    async fn tick(&mut self, beat: bool) -> Result<(), ferry_client::Error> {
        let context = self.context.clone();
        if self.info.container_runtime_version.is_empty() {
            self.info = info::read_info(&*context.runtime, &context.config).await;
        }
        self.write_network();
        let health = self.read_health().await;
        let network = health.network.clone();
        context.network.send_if_modified(|known| {
            let changed = *known != network;
            *known = network;
            changed
        });
        if self.images_at.is_none_or(|at| at.elapsed() >= IMAGES_EVERY)
            && let Ok(images) = context.runtime.list_images().await
        {
            self.images = render_images(images);
            self.images_at = Some(tokio::time::Instant::now());
        }
        let status = self.render_status(&health);
        if self.uid.is_none() {
            self.register(&status).await?;
        } else {
            self.report(status, beat).await?;
        }
        if beat {
            self.lease.renew(&context.client, &context.config.node_name, self.uid.as_deref()).await?;
        }
        Ok(())
    }

    /// Gives CNI its network once the node's pod range is known.
    fn write_network(&self) {
        let context = &self.context;
        let of_node = context.node.get("", &context.config.node_name).and_then(|node| {
            let spec = node.spec.clone()?;
            spec.pod_cidrs.filter(|cidrs| !cidrs.is_empty()).or(spec.pod_cidr.map(|cidr| vec![cidr]))
        });
        let Some(cidrs) = of_node.or_else(|| context.config.pod_cidr.clone().map(|cidr| vec![cidr])) else { return };
        match cni::write_conflist(&context.config.cni, &cidrs) {
            Ok(true) => tracing::info!(?cidrs, bridge = %context.config.cni.bridge, "wrote the pod network"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "cannot write the pod network"),
        }
    }

    async fn read_health(&self) -> Health {
        let mut health =
            Health { runtime: Ok(()), network: Ok(()), ..Health::from_machine(&self.context.config.root_dir) };
        match self.context.runtime.status().await {
            Err(error) => {
                tracing::debug!(%error, "the runtime does not answer");
                health.runtime = Err("container runtime is down".into());
                health.network = Err("container runtime is down".into());
            }
            Ok(status) => {
                for condition in status.conditions.iter().filter(|condition| !condition.status) {
                    let text =
                        format!("{}=false reason:{} message:{}", condition.r#type, condition.reason, condition.message);
                    match condition.r#type.as_str() {
                        "RuntimeReady" => health.runtime = Err(format!("container runtime not ready: {text}")),
                        "NetworkReady" => health.network = Err(format!("container runtime network not ready: {text}")),
                        _ => {}
                    }
                }
            }
        }
        health
    }

    fn render_status(&self, health: &Health) -> NodeStatus {
        let config = &self.context.config;
        let capacity = read_capacity(&config.root_dir, config.max_pods);
        let mut addresses: Vec<NodeAddress> =
            config.node_ips.iter().map(|ip| NodeAddress { type_: "InternalIP".into(), address: ip.clone() }).collect();
        addresses.push(NodeAddress { type_: "Hostname".into(), address: config.node_name.clone() });
        let old = self.reported.conditions.as_deref().unwrap_or_default();
        NodeStatus {
            addresses: Some(addresses),
            capacity: Some(capacity.render_capacity()),
            allocatable: Some(capacity.render_allocatable()),
            conditions: Some(compute_conditions(health, old, Timestamp::now())),
            daemon_endpoints: config.server.as_ref().map(|server| NodeDaemonEndpoints {
                kubelet_endpoint: Some(DaemonEndpoint { port: i32::from(server.address.port()) }),
            }),
            node_info: Some(self.info.clone()),
            images: Some(self.images.clone()),
            ..Default::default()
        }
    }

    async fn register(&mut self, status: &NodeStatus) -> Result<(), ferry_client::Error> {
        let context = self.context.clone();
        let config = &context.config;
        let labels = render_labels(config);
        let node = Node {
            metadata: ObjectMeta {
                name: Some(config.node_name.clone()),
                labels: Some(labels.clone()),
                annotations: Some(BTreeMap::from([(
                    "volumes.kubernetes.io/controller-managed-attach-detach".into(),
                    "true".into(),
                )])),
                ..Default::default()
            },
            spec: Some(NodeSpec {
                taints: (!config.register_taints.is_empty()).then(|| config.register_taints.clone()),
                ..Default::default()
            }),
            status: Some(status.clone()),
        };
        let known = match context.client.create("", &node).await {
            Ok(created) => {
                tracing::info!(node = %config.node_name, "registered the node");
                created
            }
            Err(error) if error.is_already_exists() => {
                let found: Node = context.client.get("", &config.node_name).await?;
                let stale = labels.iter().any(|(key, value)| {
                    found.metadata.labels.as_ref().and_then(|labels| labels.get(key)) != Some(value)
                });
                if stale {
                    let patch = Patch::Merge(json!({ "metadata": { "labels": labels } }));
                    context.client.patch::<Node>("", &config.node_name, &patch).await?;
                }
                found
            }
            Err(error) => return Err(error),
        };
        self.uid = known.metadata.uid.clone();
        self.reported = known.status.unwrap_or_default();
        let health = self.read_health().await;
        let status = self.render_status(&health);
        self.report(status, true).await
    }

    /// Writes what differs, and everything's heartbeat when the report is old.
    async fn report(&mut self, status: NodeStatus, beat: bool) -> Result<(), ferry_client::Error> {
        let due = beat && self.reported_at.is_none_or(|at| at.elapsed() >= REPORT_EVERY);
        let changed = differs(&self.reported, &status);
        if due || changed {
            let patch = render_patch(&self.reported, &status);
            let name = &self.context.config.node_name;
            match self.context.client.patch_status::<Node>("", name, &Patch::Strategic(patch)).await {
                Ok(_) => {}
                Err(error) if error.is_not_found() => {
                    // Somebody deleted the node; register anew.
                    self.uid = None;
                    self.lease = lease::LeaseKeeper::default();
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
            self.announce(&status);
            self.reported = status;
            self.reported_at = Some(tokio::time::Instant::now());
        }
        let is_ready = condition(&self.reported, "Ready").is_some_and(|condition| condition.status == "True");
        self.ready.send_if_modified(|ready| std::mem::replace(ready, is_ready) != is_ready);
        Ok(())
    }

    /// An event for each condition that has turned.
    fn announce(&self, status: &NodeStatus) {
        for new in status.conditions.iter().flatten() {
            let before = condition(&self.reported, &new.type_);
            if before.is_some_and(|before| before.status == new.status) && self.reported_at.is_some() {
                continue;
            }
            let event = match (new.type_.as_str(), new.status.as_str()) {
                ("Ready", "True") => "NodeReady",
                ("Ready", _) => "NodeNotReady",
                ("MemoryPressure", "True") => "NodeHasInsufficientMemory",
                ("MemoryPressure", _) => "NodeHasSufficientMemory",
                ("DiskPressure", "True") => "NodeHasDiskPressure",
                ("DiskPressure", _) => "NodeHasNoDiskPressure",
                ("PIDPressure", "True") => "NodeHasInsufficientPID",
                ("PIDPressure", _) => "NodeHasSufficientPID",
                _ => continue,
            };
            // A node that has never been ready has not become unready.
            if event == "NodeNotReady" && before.is_none_or(|before| before.status != "True") {
                continue;
            }
            let message = format!("Node {} status is now: {event}", self.context.config.node_name);
            self.context.recorder.event(&self.context.node_reference(), EventType::Normal, event, message);
        }
    }
}

fn condition<'a>(status: &'a NodeStatus, kind: &str) -> Option<&'a NodeCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == kind)
}

fn render_labels(config: &crate::Config) -> BTreeMap<String, String> {
    let arch = info::architecture();
    let mut labels = config.labels.clone();
    for prefix in ["kubernetes.io", "beta.kubernetes.io"] {
        labels.insert(format!("{prefix}/arch"), arch.into());
        labels.insert(format!("{prefix}/os"), "linux".into());
    }
    labels.insert("kubernetes.io/hostname".into(), config.node_name.clone());
    labels
}

fn render_images(mut images: Vec<crate::cri::v1::Image>) -> Vec<ContainerImage> {
    images.sort_by_key(|image| std::cmp::Reverse(image.size));
    images
        .into_iter()
        .take(MAX_IMAGES)
        .map(|image| ContainerImage {
            names: Some(image.repo_digests.into_iter().chain(image.repo_tags).collect()),
            size_bytes: i64::try_from(image.size).ok(),
        })
        .collect()
}

fn object(status: &NodeStatus) -> Map<String, Value> {
    match serde_json::to_value(status) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Heartbeat times alone are no difference.
fn differs(old: &NodeStatus, new: &NodeStatus) -> bool {
    let bare = |status: &NodeStatus| {
        let mut status = status.clone();
        for condition in status.conditions.iter_mut().flatten() {
            condition.last_heartbeat_time = None;
            condition.last_transition_time = None;
        }
        let mut map = object(&status);
        // Written by others.
        for key in
            ["volumesAttached", "volumesInUse", "config", "phase", "features", "runtimeHandlers", "declaredFeatures"]
        {
            map.remove(key);
        }
        map
    };
    bare(old) != bare(new)
}

fn render_patch(old: &NodeStatus, new: &NodeStatus) -> Value {
    let (old, new) = (object(old), object(new));
    let mut changes = Map::new();
    for (key, value) in new {
        if key == "conditions" || old.get(&key) != Some(&value) {
            let value = match (key.as_str(), value) {
                // Merged by type, which several addresses share; so the list is replaced whole.
                ("addresses", Value::Array(mut list)) => {
                    list.push(json!({ "$patch": "replace" }));
                    Value::Array(list)
                }
                (_, value) => value,
            };
            changes.insert(key, value);
        }
    }
    json!({ "status": changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_cannot_report_does_not_spin() {
        let overdue = Duration::ZERO;
        let pauses: Vec<u128> = (1..=8).map(|failures| plan_pause(true, overdue, failures).as_millis()).collect();
        assert_eq!(pauses, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(plan_pause(false, overdue, u32::MAX), LAST_RETRY);
        assert_eq!(plan_pause(true, Duration::from_secs(7), 0), Duration::from_secs(7));
        assert_eq!(plan_pause(false, Duration::from_secs(7), 0), IMPATIENT);
    }
}
