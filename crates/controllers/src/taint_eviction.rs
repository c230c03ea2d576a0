//! Deletes pods that do not tolerate a NoExecute taint of their node, at once or when
//! their tolerationSeconds are over.
//!
//! The clock starts at the taint's timeAdded where it has one, so that a restart of ferry
//! does not grant the time anew. The reference is upstream's pkg/controller/tainteviction.

use crate::error::{During, Result};
use crate::pod;
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch, event_versions};
use async_trait::async_trait;
use ferry_client::{DeleteParams, Event, Informer, Informers, Patch};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Node, ObjectReference, Pod, Taint, Toleration};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;

pub struct TaintEvictionController {
    /// Since when an eviction is pending, by pod.
    pending: Mutex<HashMap<Key, Timestamp>>,
}

impl TaintEvictionController {
    pub fn new() -> Self {
        Self { pending: Mutex::default() }
    }

    fn cancel(&self, ctx: &Context, key: &Key) {
        if self.pending.lock().remove(key).is_some() {
            let message = format!("Cancelling deletion of Pod {key}");
            ctx.recorder.normal(&pod_reference(key), "TaintManagerEviction", message);
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
        let (nodes, pods) = (informers.of::<Node>(), informers.of::<Pod>());
        vec![
            Watch::new(informers.of::<Node>(), move |event, enqueue| {
                let (old, new) = event_versions(event);
                let taints =
                    |node: Option<&std::sync::Arc<Node>>| node.map(|node| no_execute(node)).unwrap_or_default();
                if taints(old) != taints(new) {
                    let name = event.object().metadata.name.clone().unwrap_or_default();
                    for pod in pods.list(None).iter().filter(|pod| pod::node_name(pod) == name) {
                        enqueue.add_object(&pod.metadata);
                    }
                }
            }),
            Watch::new(informers.of::<Pod>(), move |event, enqueue| wake_for_pod(event, &nodes, enqueue)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let pod = ctx.informers.of::<Pod>().get(&key.namespace, &key.name);
        let Some(pod) = pod.filter(|pod| pod.metadata.deletion_timestamp.is_none()) else {
            self.pending.lock().remove(key);
            return Ok(Action::Done);
        };
        let taints = ctx.informers.of::<Node>().get("", pod::node_name(&pod)).map(|node| no_execute(&node));
        let tolerations = pod.spec.as_ref().and_then(|spec| spec.tolerations.as_deref()).unwrap_or_default();
        let now = ctx.now();
        let since = self.pending.lock().get(key).copied().unwrap_or(now);
        match plan_eviction(taints.as_deref().unwrap_or_default(), tolerations, since) {
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

/// `since` stands in for the time of taints that do not say when they were added.
fn plan_eviction(taints: &[Taint], tolerations: &[Toleration], since: Timestamp) -> Eviction {
    let mut earliest: Option<Timestamp> = None;
    for taint in taints {
        let mut tolerating = tolerations.iter().filter(|toleration| tolerates(toleration, taint)).peekable();
        if tolerating.peek().is_none() {
            return Eviction::Now;
        }
        // Of several tolerations of one taint the shortest counts, as upstream has it.
        let Some(seconds) = tolerating.filter_map(|toleration| toleration.toleration_seconds).min() else { continue };
        let added = taint.time_added.as_ref().map_or(since, |time| time.0);
        let end = added.checked_add(SignedDuration::from_secs(seconds.max(0))).unwrap_or(Timestamp::MAX);
        earliest = Some(earliest.map_or(end, |earliest| earliest.min(end)));
    }
    earliest.map_or(Eviction::Never, Eviction::At)
}

pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let set = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let key = set(&toleration.key);
    let effect_fits = set(&toleration.effect).is_none_or(|effect| effect == taint.effect);
    let key_fits = key.as_ref().is_none_or(|key| *key == taint.key);
    let value_fits = match toleration.operator.as_deref() {
        Some("Exists") => true,
        // Without a key only "Exists" tolerates, and it tolerates everything.
        None | Some("" | "Equal") => {
            key.is_some()
                && toleration.value.as_deref().unwrap_or_default() == taint.value.as_deref().unwrap_or_default()
        }
        Some(_) => false,
    };
    effect_fits && key_fits && value_fits
}

fn no_execute(node: &Node) -> Vec<Taint> {
    let taints = node.spec.iter().flat_map(|spec| spec.taints.iter().flatten());
    taints.filter(|taint| taint.effect == "NoExecute").cloned().collect()
}

async fn evict(ctx: &Context, key: &Key, pod: &Pod) -> Result<()> {
    ctx.recorder.normal(&pod_reference(key), "TaintManagerEviction", format!("Marking for deletion Pod {key}"));
    let patch = json!({"metadata": {"uid": pod.metadata.uid}, "status": {"conditions": [{
        "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
        "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": ctx.now(),
    }]}});
    match ctx.client.patch_status::<Pod>(&key.namespace, &key.name, &Patch::Strategic(patch)).await {
        Err(error) if error.is_not_found() => return Ok(()),
        other => drop(other.during("mark as disrupted the pod", key)?),
    }
    let params = DeleteParams { uid: pod.metadata.uid.clone(), ..Default::default() };
    match ctx.client.delete::<Pod>(&key.namespace, &key.name, &params).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        other => other.during("evict the pod", key),
    }
}

fn wake_for_pod(event: &Event<Pod>, nodes: &Informer<Node>, enqueue: &Enqueue) {
    let (old, new) = event_versions(event);
    let state = |pod: &Pod| pod.spec.as_ref().map(|spec| (spec.node_name.clone(), spec.tolerations.clone()));
    if let (Some(old), Some(new)) = (old, new)
        && state(old) == state(new)
    {
        return;
    }
    let pod = event.object();
    let is_tainted = nodes.get("", pod::node_name(pod)).is_some_and(|node| !no_execute(&node).is_empty());
    if is_tainted {
        enqueue.add_object(&pod.metadata);
    }
}

fn pod_reference(key: &Key) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Pod".to_owned()),
        namespace: Some(key.namespace.clone()),
        name: Some(key.name.clone()),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn check(taints: Value, tolerations: Value, expected: Eviction) {
        let since = "2024-01-01T00:10:00Z".parse().expect("a time");
        let taints: Vec<Taint> = serde_json::from_value(taints).expect("taints");
        let tolerations: Vec<Toleration> = serde_json::from_value(tolerations).expect("tolerations");
        assert_eq!(plan_eviction(&taints, &tolerations, since), expected);
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
        check(unreachable(), json!([{"value": ""}]), Eviction::Now);
    }
}
