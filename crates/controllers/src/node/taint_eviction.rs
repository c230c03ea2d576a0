//! Deletes pods that do not tolerate a NoExecute taint of their node, at once or when
//! their tolerationSeconds are over.
//!
//! The clock starts at the taint's timeAdded where it has one, so that a restart of ferry
//! does not grant the time anew. The reference is upstream's pkg/controller/tainteviction.

use crate::error::Result;
use crate::node_index::{by_node, on_node};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::pod_control::disrupt;
use async_trait::async_trait;
use ferry_api::rules::toleration;
use ferry_api::view::core::v1::{Node, NodeView, Pod, TaintView, TolerationView};
use ferry_client::{Event, Informer, Informers, Reference, SharedObject};
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

pub(crate) struct TaintEvictionController {
    /// Since when an eviction is pending, by pod.
    pending: Mutex<HashMap<Key, Timestamp>>,
}

impl TaintEvictionController {
    pub(crate) fn new() -> Self {
        Self { pending: Mutex::default() }
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
        match plan_eviction(no_execute(node), spec.tolerations(), since) {
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

/// The end of a pod's time on a node with these taints. It runs from a taint's timeAdded, or
/// from `since` where that is not stated.
fn plan_eviction<'n, 'p>(
    taints: impl Iterator<Item = TaintView<'n>>,
    tolerations: impl IntoIterator<Item = TolerationView<'p>> + Clone,
    since: Timestamp,
) -> Eviction {
    let mut earliest: Option<Timestamp> = None;
    for taint in taints {
        let tolerating = tolerations.clone().into_iter().filter(|own| toleration::tolerates(*own, taint));
        let mut tolerating = tolerating.peekable();
        if tolerating.peek().is_none() {
            return Eviction::Now;
        }
        // Of several tolerations of one taint the shortest counts.
        let Some(seconds) = tolerating.filter_map(TolerationView::toleration_seconds).min() else { continue };
        let added = taint.time_added().unwrap_or(since);
        let end = added.checked_add(SignedDuration::from_secs(seconds.max(0))).unwrap_or(Timestamp::MAX);
        earliest = Some(earliest.map_or(end, |earliest| earliest.min(end)));
    }
    earliest.map_or(Eviction::Never, Eviction::At)
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
        assert_eq!(plan_eviction(no_execute(node.view()), tolerations, since), expected);
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
}
