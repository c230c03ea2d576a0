//! Removes pods that nobody else will: of nodes that are gone, of nodes declared out of
//! service, deleted before they were scheduled, and the oldest of too many finished ones.
//!
//! Upstream looks at every pod each 20 seconds (pkg/controller/podgc); here a pod is
//! looked at when an event or a deadline concerns it.

use crate::error::{During, Result};
use crate::pod;
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_client::{DeleteParams, Event, Informer, Informers, Patch};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a node may be missing before its pods are given up; it may come back.
const QUARANTINE: Duration = Duration::from_secs(40);

/// How often finished pods are counted at most.
const COUNT_EVERY: Duration = Duration::from_secs(20);

const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// The key that stands for all finished pods; no pod has an empty name.
fn finished_key() -> Key {
    Key::new("", "")
}

pub struct PodGcController {
    threshold: usize,
    missing_since: Mutex<HashMap<String, Timestamp>>,
}

impl PodGcController {
    pub fn new(threshold: usize) -> Self {
        Self { threshold, missing_since: Mutex::default() }
    }

    async fn collect_finished(&self, ctx: &Context) -> Result<()> {
        for pod in plan_finished(ctx.informers.of::<Pod>().list(None), self.threshold) {
            remove(ctx, &pod, None).await?;
        }
        Ok(())
    }

    /// How long the node has been missing.
    fn missing_for(&self, node: &str, now: Timestamp) -> Duration {
        let since = *self.missing_since.lock().entry(node.to_owned()).or_insert(now);
        Duration::try_from(now.duration_since(since)).unwrap_or_default()
    }
}

#[async_trait]
impl Controller for PodGcController {
    fn name(&self) -> &'static str {
        "pod-garbage-collector"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let (nodes, pods) = (informers.of::<Node>(), informers.of::<Pod>());
        vec![
            Watch::new(informers.of::<Node>(), move |event, enqueue| {
                let is_tainted = |node: &Node| taint(node, OUT_OF_SERVICE);
                let matters = match event {
                    Event::Deleted(_) => true,
                    Event::Added(_) => false,
                    Event::Updated { new, .. } => is_tainted(new),
                };
                if matters {
                    wake_pods_of(event.object().metadata.name.as_deref().unwrap_or_default(), &pods, enqueue);
                }
            }),
            Watch::new(informers.of::<Pod>(), move |event, enqueue| wake_for_pod(event, &nodes, enqueue)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        if *key == finished_key() {
            return self.collect_finished(ctx).await.map(|()| Action::Done);
        }
        let Some(pod) = ctx.informers.of::<Pod>().get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let node_name = pod::node_name(&pod);
        let node = ctx.informers.of::<Node>().get("", node_name);
        if node.is_some() {
            self.missing_since.lock().remove(node_name);
        }
        match plan_pod(&pod, node.as_deref()) {
            Verdict::Keep => Ok(Action::Done),
            Verdict::Remove => remove(ctx, &pod, None).await.map(|()| Action::Done),
            Verdict::RemoveUnlessNodeReturns => {
                let missing = self.missing_for(node_name, ctx.now());
                if missing < QUARANTINE {
                    return Ok(Action::RequeueAfter(QUARANTINE - missing));
                }
                // The cache is not proof enough to delete a pod by force.
                match ctx.client.get::<Node>("", node_name).await {
                    Ok(_) => Ok(Action::Done),
                    Err(error) if error.is_not_found() => {
                        let message = "PodGC: node no longer exists";
                        remove(ctx, &pod, Some(message)).await.map(|()| Action::Done)
                    }
                    Err(error) => Err(error).during("look for node", node_name),
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Keep,
    Remove,
    RemoveUnlessNodeReturns,
}

fn plan_pod(pod: &Pod, node: Option<&Node>) -> Verdict {
    let is_leaving = pod.metadata.deletion_timestamp.is_some();
    match (pod::node_name(pod), node) {
        ("", _) if is_leaving => Verdict::Remove,
        ("", _) => Verdict::Keep,
        (_, None) => Verdict::RemoveUnlessNodeReturns,
        (_, Some(node)) if is_leaving && taint(node, OUT_OF_SERVICE) && !is_ready(node) => Verdict::Remove,
        (_, Some(_)) => Verdict::Keep,
    }
}

/// The finished pods beyond the threshold: evicted ones first, then the oldest.
fn plan_finished(pods: Vec<Arc<Pod>>, threshold: usize) -> Vec<Arc<Pod>> {
    let mut finished: Vec<Arc<Pod>> = pods.into_iter().filter(|pod| pod::is_terminal(pod)).collect();
    let surplus = finished.len().saturating_sub(threshold);
    if threshold == 0 || surplus == 0 {
        return Vec::new();
    }
    finished.sort_by_key(|pod| {
        let reason = pod.status.as_ref().and_then(|status| status.reason.as_deref());
        let is_evicted = pod::phase(pod) == "Failed" && reason == Some("Evicted");
        (!is_evicted, pod.metadata.creation_timestamp.clone(), pod.metadata.name.clone())
    });
    finished.truncate(surplus);
    finished
}

/// A pod that is deleted by force must not be left looking alive to those who watch it.
async fn remove(ctx: &Context, pod: &Pod, why: Option<&str>) -> Result<()> {
    let key = Key::of(&pod.metadata);
    if !pod::is_terminal(pod) {
        let mut status = json!({"phase": "Failed"});
        if let Some(why) = why {
            status["conditions"] = json!([{
                "type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": why,
                "lastTransitionTime": ctx.now(),
            }]);
        }
        let patch = json!({"metadata": {"uid": pod.metadata.uid}, "status": status});
        match ctx.client.patch_status::<Pod>(&key.namespace, &key.name, &Patch::Strategic(patch)).await {
            Err(error) if error.is_not_found() => return Ok(()),
            other => drop(other.during("mark as failed the pod", &key)?),
        }
    }
    let params = DeleteParams { grace_period_seconds: Some(0), uid: pod.metadata.uid.clone(), ..Default::default() };
    match ctx.client.delete::<Pod>(&key.namespace, &key.name, &params).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        other => other.during("delete by force the pod", &key),
    }
}

fn wake_for_pod(event: &Event<Pod>, nodes: &Informer<Node>, enqueue: &Enqueue) {
    let pod = match event {
        Event::Deleted(_) => return,
        Event::Added(pod) => pod,
        Event::Updated { new, .. } => new,
    };
    let was_finished = matches!(event, Event::Updated { old, .. } if pod::is_terminal(old));
    if pod::is_terminal(pod) && !was_finished {
        enqueue.add_after(finished_key(), COUNT_EVERY);
    }
    let node = nodes.get("", pod::node_name(pod));
    if plan_pod(pod, node.as_deref()) != Verdict::Keep {
        enqueue.add_object(&pod.metadata);
    }
}

fn wake_pods_of(node: &str, pods: &Informer<Pod>, enqueue: &Enqueue) {
    for pod in pods.list(None).iter().filter(|pod| pod::node_name(pod) == node) {
        enqueue.add_object(&pod.metadata);
    }
}

fn taint(node: &Node, key: &str) -> bool {
    node.spec.as_ref().is_some_and(|spec| spec.taints.iter().flatten().any(|taint| taint.key == key))
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn pod(value: Value) -> Arc<Pod> {
        Arc::new(serde_json::from_value(value).expect("a pod"))
    }

    #[test]
    fn only_the_forsaken_are_removed() {
        let node = |value: Value| serde_json::from_value::<Node>(value).expect("a node");
        let healthy = node(json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}));
        let written_off = node(json!({"spec": {"taints": [{"key": OUT_OF_SERVICE, "effect": "NoExecute"}]}}));
        let leaving = json!({"deletionTimestamp": "2024-01-01T00:00:00Z"});
        let check = |metadata: &Value, node_name: &str, node: Option<&Node>, expected: Verdict| {
            let pod = pod(json!({"metadata": metadata, "spec": {"nodeName": node_name, "containers": []}}));
            assert_eq!(plan_pod(&pod, node), expected);
        };
        check(&json!({}), "", None, Verdict::Keep);
        check(&leaving, "", None, Verdict::Remove);
        check(&json!({}), "n1", None, Verdict::RemoveUnlessNodeReturns);
        check(&json!({}), "n1", Some(&healthy), Verdict::Keep);
        check(&leaving, "n1", Some(&healthy), Verdict::Keep);
        check(&leaving, "n1", Some(&written_off), Verdict::Remove);
        check(&json!({}), "n1", Some(&written_off), Verdict::Keep);
    }

    #[test]
    fn evicted_and_old_pods_go_first() {
        let finished = |name: &str, second: u32, reason: Option<&str>| {
            pod(json!({"metadata": {"name": name, "creationTimestamp": format!("2024-01-01T00:00:{second:02}Z")},
                "status": {"phase": "Failed", "reason": reason}}))
        };
        let pods = vec![
            finished("young", 30, None),
            finished("old", 10, None),
            finished("evicted", 40, Some("Evicted")),
            pod(json!({"metadata": {"name": "alive"}, "status": {"phase": "Running"}})),
        ];
        let names = |threshold| -> Vec<String> {
            plan_finished(pods.clone(), threshold).iter().filter_map(|pod| pod.metadata.name.clone()).collect()
        };
        assert_eq!(names(1), ["evicted", "old"]);
        assert_eq!(names(3), Vec::<String>::new());
        assert_eq!(names(0), Vec::<String>::new(), "0 keeps all");
    }
}
