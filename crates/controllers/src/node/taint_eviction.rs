//! Deletes pods that do not tolerate a NoExecute taint of their node, at once or when
//! their tolerationSeconds are over.
//!
//! The clock starts at the taint's timeAdded where it has one, or when the pod came to the node if
//! that was later, so that a restart of ferry does not grant the time anew. A control plane that
//! was away itself knows nothing of its nodes: for the first grace period it evicts nobody for
//! being on a silent node. The reference is upstream's pkg/controller/tainteviction.

use crate::Config;
use crate::error::Result;
use crate::node_index::{by_node, on_node};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::pod_control::disrupt;
use async_trait::async_trait;
use ferry_api::rules::pod::condition;
use ferry_api::rules::toleration;
use ferry_api::view::core::v1::{Node, NodeView, Pod, PodView, TaintView, TolerationView};
use ferry_client::{Event, Informer, Informers, Reference, SharedObject};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

/// The taints of nodes that the node lifecycle controller has not heard of.
const SILENCE: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

pub(crate) struct TaintEvictionController {
    grace: Duration,
    /// When the first pod was looked at.
    started: OnceLock<Timestamp>,
    /// Since when an eviction is pending, by pod.
    pending: Mutex<HashMap<Key, Timestamp>>,
}

impl TaintEvictionController {
    pub(crate) fn new(config: &Config) -> Self {
        Self { grace: config.node_monitor_grace_period, started: OnceLock::new(), pending: Mutex::default() }
    }

    fn cancel(&self, ctx: &Context, key: &Key) {
        if self.pending.lock().remove(key).is_some() {
            let message = format!("Cancelling deletion of Pod {key}");
            ctx.recorder.normal(pod_reference(key), "TaintManagerEviction", message);
        }
    }
}

#[async_trait]
impl Controller for TaintEvictionController {
    fn name(&self) -> &'static str {
        "taint-eviction-controller"
    }

    fn identity(&self) -> &'static str {
        "node-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let (nodes, pods) = (informers.of::<Node>(), by_node(informers.of::<Pod>()));
        vec![
            Watch::new(nodes.clone(), {
                let pods = pods.clone();
                move |event, enqueue| {
                    let (old, new) = event.versions();
                    let old = old.map(SharedObject::view).unwrap_or_default();
                    let new = new.map(SharedObject::view).unwrap_or_default();
                    if !no_execute(old).eq(no_execute(new)) {
                        for pod in on_node(&pods, event.object().name()) {
                            enqueue.add_object(pod.meta());
                        }
                    }
                }
            }),
            Watch::new(pods, move |event, enqueue| wake_for_pod(event, &nodes, enqueue)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let pod = ctx.informers.of::<Pod>().get(&key.namespace, &key.name);
        let Some(pod) = pod.filter(|pod| !pod.is_deleting()) else {
            self.pending.lock().remove(key);
            return Ok(Action::Done);
        };
        let spec = pod.view().spec();
        let node = ctx.informers.of::<Node>().get("", spec.node_name());
        let node = node.as_ref().map(SharedObject::view).unwrap_or_default();
        let now = ctx.now();
        let since = self.pending.lock().get(key).copied().unwrap_or(now);
        let started = *self.started.get_or_init(|| now);
        let times = Times {
            since,
            arrived: arrived(pod.view()).unwrap_or(Timestamp::MIN),
            silence_counts_from: started.checked_add(self.grace).unwrap_or(started),
        };
        match plan_eviction(no_execute(node), spec.tolerations(), times) {
            Eviction::Never => {
                self.cancel(ctx, key);
                Ok(Action::Done)
            }
            Eviction::At(time) if time > now => {
                self.pending.lock().insert(key.clone(), since);
                Ok(Action::RequeueAfter(Duration::try_from(time.duration_since(now)).unwrap_or_default()))
            }
            Eviction::At(_) | Eviction::Now => {
                evict(ctx, key, &pod).await?;
                self.pending.lock().remove(key);
                Ok(Action::Done)
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Eviction {
    Never,
    Now,
    At(Timestamp),
}

/// The times that a pod's end on a node is reckoned from.
#[derive(Clone, Copy)]
struct Times {
    /// For taints without a timeAdded.
    since: Timestamp,
    /// When the pod came to the node.
    arrived: Timestamp,
    /// The silence of a node is believed from then on.
    silence_counts_from: Timestamp,
}

/// The end of a pod's time on a node with these taints.
fn plan_eviction<'n, 'p>(
    taints: impl Iterator<Item = TaintView<'n>>,
    tolerations: impl IntoIterator<Item = TolerationView<'p>> + Clone,
    times: Times,
) -> Eviction {
    let mut earliest: Option<Timestamp> = None;
    for taint in taints {
        let tolerating = tolerations.clone().into_iter().filter(|own| toleration::tolerates(*own, taint));
        let mut tolerating = tolerating.peekable();
        let end = if tolerating.peek().is_some() {
            // Of several tolerations of one taint the shortest counts.
            let Some(seconds) = tolerating.filter_map(TolerationView::toleration_seconds).min() else { continue };
            let began = taint.time_added().map_or(times.since, |added| added.max(times.arrived));
            began.checked_add(SignedDuration::from_secs(seconds.max(0))).unwrap_or(Timestamp::MAX)
        } else if SILENCE.contains(&taint.key()) {
            times.silence_counts_from
        } else {
            return Eviction::Now;
        };
        let end = if SILENCE.contains(&taint.key()) { end.max(times.silence_counts_from) } else { end };
        earliest = Some(earliest.map_or(end, |earliest| earliest.min(end)));
    }
    earliest.map_or(Eviction::Never, Eviction::At)
}

/// When a pod was bound to its node, or else made.
fn arrived(pod: PodView<'_>) -> Option<Timestamp> {
    let bound = condition(pod, "PodScheduled").filter(|bound| bound.status() == "True");
    bound.and_then(|bound| bound.last_transition_time()).or(pod.metadata().creation_timestamp())
}

fn no_execute(node: NodeView<'_>) -> impl Iterator<Item = TaintView<'_>> {
    node.spec().taints().iter().filter(|taint| toleration::DRIVES_OUT.contains(&taint.effect()))
}

async fn evict(ctx: &Context, key: &Key, pod: &SharedObject<Pod>) -> Result<()> {
    ctx.recorder.normal(pod_reference(key), "TaintManagerEviction", format!("Marking for deletion Pod {key}"));
    disrupt(ctx, pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint").await
}

fn wake_for_pod(event: &Event<Pod>, nodes: &Informer<Node>, enqueue: &Enqueue) {
    if let (Some(old), Some(new)) = event.versions() {
        let (old, new) = (old.view().spec(), new.view().spec());
        if old.node_name() == new.node_name() && old.tolerations() == new.tolerations() {
            return;
        }
    }
    let pod = event.object();
    let node = nodes.get("", pod.view().spec().node_name());
    if node.is_some_and(|node| no_execute(node.view()).next().is_some()) {
        enqueue.add_object(pod.meta());
    }
}

/// The pod by its name alone, because it may be gone.
fn pod_reference(key: &Key) -> Reference {
    Reference {
        api_version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        namespace: key.namespace.clone(),
        name: key.name.clone(),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use serde_json::{Value, json};

    fn check(taints: Value, tolerations: Value, expected: Eviction) {
        let since = "2024-01-01T00:10:00Z".parse().expect("a time");
        let node = Node::from(json!({"spec": {"taints": taints}}));
        let pod = Pod::from(json!({"spec": {"tolerations": tolerations}}));
        let tolerations = pod.view().spec().tolerations();
        let silence_counts_from = "2023-12-31T23:00:00Z".parse().expect("a time");
        let times = Times { since, arrived: Timestamp::MIN, silence_counts_from };
        assert_eq!(plan_eviction(no_execute(node.view()), tolerations, times), expected);
    }

    #[test]
    fn time_runs_from_the_taint_and_the_shortest_counts() {
        let at = |text: &str| Eviction::At(text.parse().expect("a time"));
        let unreachable =
            || json!([{"key": "unreachable", "effect": "NoExecute", "timeAdded": "2024-01-01T00:00:00Z"}]);
        check(json!([]), json!([]), Eviction::Never);
        check(unreachable(), json!([]), Eviction::Now);
        check(unreachable(), json!([{"operator": "Exists"}]), Eviction::Never);
        check(
            unreachable(),
            json!([{"key": "unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]),
            at("2024-01-01T00:05:00Z"),
        );
        check(
            unreachable(),
            json!([{"key": "unreachable", "operator": "Exists", "tolerationSeconds": 300}, {"operator": "Exists", "tolerationSeconds": 10}]),
            at("2024-01-01T00:00:10Z"),
        );
        check(
            json!([{"key": "mine", "value": "x", "effect": "NoExecute"}]),
            json!([{"key": "mine", "value": "x", "tolerationSeconds": 60}]),
            at("2024-01-01T00:11:00Z"),
        );
        check(
            json!([{"key": "mine", "value": "x", "effect": "NoExecute"}]),
            json!([{"key": "mine", "value": "y"}]),
            Eviction::Now,
        );
        check(
            unreachable(),
            json!([{"key": "unreachable", "operator": "Exists", "effect": "NoSchedule"}]),
            Eviction::Now,
        );
        // Upstream's ToleratesTaint: without a key every taint is covered, if the values are equal.
        check(unreachable(), json!([{"value": ""}]), Eviction::Never);
    }

    #[test]
    fn a_late_pod_has_its_whole_time_and_silence_counts_after_the_first_grace_period() {
        let time = |text: &str| -> Timestamp { text.parse().expect("a time") };
        let check = |key: &str, tolerations: Value, expected: Eviction| {
            let taint = json!({"key": key, "effect": "NoExecute", "timeAdded": "2024-01-01T00:00:00Z"});
            let node = Node::from(json!({"spec": {"taints": [taint]}}));
            let pod = Pod::from(json!({"spec": {"tolerations": tolerations}}));
            let times = Times {
                since: time("2024-01-01T01:00:00Z"),
                arrived: time("2024-01-01T00:30:00Z"),
                silence_counts_from: time("2024-01-01T01:00:50Z"),
            };
            let tolerations = pod.view().spec().tolerations();
            assert_eq!(plan_eviction(no_execute(node.view()), tolerations, times), expected, "{key}");
        };
        let for_a_minute = || json!([{"operator": "Exists", "tolerationSeconds": 60}]);
        check("mine", for_a_minute(), Eviction::At(time("2024-01-01T00:31:00Z")));
        check("mine", json!([]), Eviction::Now);
        check(SILENCE[0], for_a_minute(), Eviction::At(time("2024-01-01T01:00:50Z")));
        check(SILENCE[1], json!([]), Eviction::At(time("2024-01-01T01:00:50Z")));
        let for_two_hours = json!([{"operator": "Exists", "tolerationSeconds": 7200}]);
        check(SILENCE[1], for_two_hours, Eviction::At(time("2024-01-01T02:30:00Z")));
    }
}
