//! This machine as a Node: registration, capacity, conditions, and the lease that says
//! it is alive. One loop, ticking with the heartbeat.

mod capacity;
mod conditions;
mod info;
mod lease;

use capacity::read_capacity;
pub use info::local_machine;

use crate::context::Context;
use crate::cri::features::RuntimeFeatures;
use crate::{Error, cni};
use conditions::{Health, compute_conditions};
use ferry_api::rules::condition;
use ferry_api::view::core::v1::{
    ContainerImage, DaemonEndpoint, Node, NodeAddress, NodeConditionView, NodeDaemonEndpoints, NodeSpec, NodeStatus,
    NodeStatusView, NodeSystemInfo,
};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_api::view::{Owned, View, alike};
use ferry_client::{EventType, Patch};
use jiff::Timestamp;
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
    keeper.context.recorder.event(keeper.context.node_reference(), EventType::Normal, "Starting", "Starting kubelet.");
    let mut beat_at = tokio::time::Instant::now();
    let mut failures = 0;
    let (mut pressure, mut shutting_down) =
        (keeper.context.pressure.subscribe(), keeper.context.shutting_down.subscribe());
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
            () = keeper.context.csi.in_use_changed(), if failures == 0 => {}
            // A shortage is reported at once: the scheduler must send nobody more here.
            _ = pressure.changed(), if failures == 0 => {}
            _ = shutting_down.changed(), if failures == 0 => {}
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
    info: NodeSystemInfo,
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
        if self.info.view().container_runtime_version().is_empty() {
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
        let node = context.node.get("", &context.config.node_name);
        let of_node = node.and_then(|node| {
            let spec = node.view().spec();
            let cidrs = spec.pod_cidrs().to_vec();
            if cidrs.is_empty() { non_empty(spec.pod_cidr()).map(|cidr| vec![cidr]) } else { Some(cidrs) }
        });
        let Some(cidrs) = of_node.or_else(|| context.config.pod_cidr.clone().map(|cidr| vec![cidr])) else { return };
        match cni::write_conflist(&context.config.cni, &cidrs) {
            Ok(true) => tracing::info!(?cidrs, bridge = %context.config.cni.bridge, "wrote the pod network"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "cannot write the pod network"),
        }
    }

    async fn read_health(&self) -> Health {
        let is_ending = *self.context.shutting_down.borrow();
        let mut health = Health {
            runtime: Ok(()),
            network: Ok(()),
            shutdown: if is_ending { Err("node is shutting down".into()) } else { Ok(()) },
            pressure: self.context.pressure.borrow().clone(),
        };
        match self.context.runtime.status().await {
            Err(error) => {
                tracing::debug!(%error, "the runtime does not answer");
                health.runtime = Err("container runtime is down".into());
                health.network = Err("container runtime is down".into());
            }
            Ok(status) => {
                *self.context.features.write() = RuntimeFeatures::of(&status);
                let conditions = status.status.unwrap_or_default().conditions;
                for condition in conditions.iter().filter(|condition| !condition.status) {
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
        let capacity = read_capacity(config);
        let ips = config.node_ips.iter().map(|ip| NodeAddress::new().with_type("InternalIP").with_address(ip));
        let hostname = NodeAddress::new().with_type("Hostname").with_address(&config.node_name);
        let endpoint = config.server.as_ref().map(|server| {
            let port = DaemonEndpoint::new().with_port(i32::from(server.address.port()));
            NodeDaemonEndpoints::new().with_kubelet_endpoint(port)
        });
        let old = self.reported.view().conditions();
        NodeStatus::new()
            .with_addresses(ips.chain([hostname]))
            .with_capacity(capacity.render_capacity())
            .with_allocatable(capacity.render_allocatable())
            .with_conditions(compute_conditions(health, old, Timestamp::now()))
            .with_daemon_endpoints(endpoint)
            .with_node_info(self.info.view())
            .with_images(self.images.iter().map(Owned::view))
            .with_volumes_in_use(self.context.csi.volumes_in_use())
            .with_runtime_handlers(self.context.features.read().render_handlers())
            .with_features(self.context.features.read().render_features())
    }

    async fn register(&mut self, status: &NodeStatus) -> Result<(), ferry_client::Error> {
        let context = self.context.clone();
        let config = &context.config;
        let labels = render_labels(config);
        let metadata = ObjectMeta::new()
            .with_name(&config.node_name)
            .with_labels(&labels)
            .with_annotations([("volumes.kubernetes.io/controller-managed-attach-detach", "true")]);
        let node = Node::new()
            .with_metadata(metadata)
            .with_spec(NodeSpec::new().with_taints(config.register_taints.iter().map(Owned::view)))
            .with_status(status.view());
        let nodes = context.client.api::<Node>("");
        let known = match nodes.create(&node).await {
            Ok(created) => {
                tracing::info!(node = %config.node_name, "registered the node");
                created
            }
            Err(error) if error.is_already_exists() => {
                let found = nodes.get(&config.node_name).await?;
                if labels.iter().any(|(key, value)| found.meta().labels().get(key) != Some(value.as_str())) {
                    let patch = Patch::Merge(json!({ "metadata": { "labels": labels } }));
                    nodes.patch(&config.node_name, &patch).await?;
                }
                found
            }
            Err(error) => return Err(error),
        };
        self.uid = non_empty(known.uid());
        self.reported = known.view().status().to_owned();
        let health = self.read_health().await;
        let status = self.render_status(&health);
        self.report(status, true).await
    }

    /// Writes what differs, and everything's heartbeat when the report is old.
    async fn report(&mut self, status: NodeStatus, beat: bool) -> Result<(), ferry_client::Error> {
        let due = beat && self.reported_at.is_none_or(|at| at.elapsed() >= REPORT_EVERY);
        let changed = differs(self.reported.view(), status.view());
        if due || changed {
            let patch = render_patch(self.reported.view(), status.view());
            let name = &self.context.config.node_name;
            match self.context.client.api::<Node>("").patch_status(name, &Patch::Strategic(patch)).await {
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
        let is_ready = condition::is_true(self.reported.view().conditions(), "Ready");
        self.ready.send_if_modified(|ready| std::mem::replace(ready, is_ready) != is_ready);
        Ok(())
    }

    /// An event for each condition that has turned.
    fn announce(&self, status: &NodeStatus) {
        for new in status.view().conditions() {
            let before = condition::find(self.reported.view().conditions(), new.type_());
            if before.is_some_and(|before| before.status() == new.status()) && self.reported_at.is_some() {
                continue;
            }
            let event = match (new.type_(), new.status()) {
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
            if event == "NodeNotReady" && before.is_none_or(|before| before.status() != "True") {
                continue;
            }
            let message = format!("Node {} status is now: {event}", self.context.config.node_name);
            self.context.recorder.event(self.context.node_reference(), EventType::Normal, event, message);
        }
    }
}

fn non_empty(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
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
        .map(|image| {
            ContainerImage::new()
                .with_names(image.repo_digests.into_iter().chain(image.repo_tags))
                .with_size_bytes(i64::try_from(image.size).ok())
        })
        .collect()
}

/// The fields of a node's status that the kubelet writes; others belong to the controllers
/// of volumes and to upstream features that this kubelet has not.
const OWN_FIELDS: [&str; 8] =
    ["addresses", "allocatable", "capacity", "conditions", "daemonEndpoints", "images", "nodeInfo", "volumesInUse"];

/// The own fields whose value changes, and their new value; null where there is none any more.
fn changes<'a>(
    old: NodeStatusView<'a>,
    new: NodeStatusView<'a>,
) -> impl Iterator<Item = (&'static str, ferry_api::document::Node<'a>)> {
    OWN_FIELDS.into_iter().filter_map(move |field| {
        let value = |status: NodeStatusView<'a>| status.node().get(field).unwrap_or_default();
        (!alike(value(old), value(new))).then(|| (field, value(new)))
    })
}

/// Whether a report is due before its time. The times of conditions alone are no difference.
fn differs(old: NodeStatusView<'_>, new: NodeStatusView<'_>) -> bool {
    fn bare<'a>(condition: NodeConditionView<'a>) -> [&'a str; 4] {
        [condition.type_(), condition.status(), condition.reason(), condition.message()]
    }
    changes(old, new).any(|(field, _)| field != "conditions")
        || !old.conditions().iter().map(bare).eq(new.conditions().iter().map(bare))
}

fn render_patch(old: NodeStatusView<'_>, new: NodeStatusView<'_>) -> Value {
    let mut patch: Map<String, Value> =
        changes(old, new).map(|(field, value)| (field.to_owned(), value.to_value())).collect();
    // Merged by type, which several addresses share; so the list is replaced whole.
    if let Some(Value::Array(addresses)) = patch.get_mut("addresses") {
        addresses.push(json!({ "$patch": "replace" }));
    }
    // The heartbeat is written also by a report in which nothing else is new.
    patch.insert("conditions".to_owned(), new.conditions().node().to_value());
    json!({ "status": patch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::core::v1::AttachedVolume;

    #[test]
    fn a_node_that_cannot_report_does_not_spin() {
        let overdue = Duration::ZERO;
        let pauses: Vec<u128> = (1..=8).map(|failures| plan_pause(true, overdue, failures).as_millis()).collect();
        assert_eq!(pauses, [200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
        assert_eq!(plan_pause(false, overdue, u32::MAX), LAST_RETRY);
        assert_eq!(plan_pause(true, Duration::from_secs(7), 0), Duration::from_secs(7));
        assert_eq!(plan_pause(false, Duration::from_secs(7), 0), IMPATIENT);
    }

    #[test]
    fn a_report_holds_the_changes_and_the_conditions() {
        let ready = |at: &str| json!([{ "type": "Ready", "status": "True", "lastHeartbeatTime": at }]);
        let old = NodeStatus::from(
            json!({ "conditions": ready("2026-01-01T00:00:00Z"), "volumesAttached": [{ "name": "v" }],
            "addresses": [{ "type": "Hostname", "address": "a" }], "images": [{ "names": ["i"] }],
            "daemonEndpoints": { "kubeletEndpoint": { "Port": 0 } }, "capacity": { "cpu": "2" } }),
        );
        let mut new = old.clone();
        new.set_conditions([NodeConditionView::from(&ready("2026-01-01T00:00:09Z")[0])]);
        new.set_volumes_attached(None::<AttachedVolume>);
        new.set_daemon_endpoints(None::<NodeDaemonEndpoints>);
        assert!(!differs(old.view(), new.view()), "a heartbeat, a field of another's and zeros are no difference");
        assert_eq!(
            render_patch(old.view(), new.view()),
            json!({ "status": { "conditions": ready("2026-01-01T00:00:09Z") } })
        );
        new.set_addresses([NodeAddress::new().with_type("Hostname").with_address("b")]);
        new.set_images(None::<ContainerImage>);
        assert!(differs(old.view(), new.view()));
        assert_eq!(
            render_patch(old.view(), new.view()),
            json!({ "status": { "conditions": ready("2026-01-01T00:00:09Z"), "images": null,
                "addresses": [{ "type": "Hostname", "address": "b" }, { "$patch": "replace" }] } })
        );
    }
}
