//! Removes pods that nobody else will: of nodes that are gone, of nodes declared out of
//! service, deleted before they were scheduled, and the oldest of too many finished ones.
//!
//! Upstream looks at every pod each 20 seconds (pkg/controller/podgc); here a pod is
//! looked at when an event or a deadline concerns it.

use crate::error::{During, Result};
use crate::node_index::{by_node, on_node};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::condition;
use ferry_api::rules::pod::is_terminal;
use ferry_api::view::core::v1::{Node, NodeView, Pod, PodView};
use ferry_client::{DeleteParams, Event, Informer, Informers, Patch, SharedObject};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;

/// How long a node may be missing before its pods are given up; it may come back.
const QUARANTINE: Duration = Duration::from_secs(40);

/// How often finished pods are counted at most.
const COUNT_EVERY: Duration = Duration::from_secs(20);

const OUT_OF_SERVICE: &str = "node.kubernetes.io/out-of-service";

/// The index of the pods that have finished, all under one value.
const FINISHED: &str = "finished";

/// The key that stands for all finished pods; no pod has an empty name.
fn finished_key() -> Key {
    Key::new("", "")
}

pub(crate) struct PodGcController {
    threshold: usize,
    missing_since: Mutex<HashMap<String, Timestamp>>,
}

impl PodGcController {
    pub(crate) fn new(threshold: usize) -> Self {
        Self { threshold, missing_since: Mutex::default() }
    }

    async fn collect_finished(&self, ctx: &Context) -> Result<()> {
        let pods = ctx.informers.of::<Pod>();
        if self.threshold == 0 || pods.count_by_index(FINISHED, "") <= self.threshold {
            return Ok(());
        }
        for pod in plan_finished(pods.by_index(FINISHED, ""), self.threshold) {
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
        let pods = with_finished(by_node(informers.of::<Pod>()));
        let (nodes, for_nodes) = (informers.of::<Node>(), pods.clone());
        vec![
            Watch::new(nodes.clone(), move |event, enqueue| {
                let matters = match event {
                    Event::Deleted(_) => true,
                    Event::Added(_) => false,
                    Event::Updated { new, .. } => is_out_of_service(new.view()),
                };
                if matters {
                    let pods = on_node(&for_nodes, event.object().name());
                    pods.iter().for_each(|pod| enqueue.add_object(pod.meta()));
                }
            }),
            Watch::new(pods, move |event, enqueue| wake_for_pod(event, &nodes, enqueue)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        if *key == finished_key() {
            return self.collect_finished(ctx).await.map(|()| Action::Done);
        }
        let informers = &ctx.informers;
        let Some(pod) = informers.of::<Pod>().get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let node_name = pod.view().spec().node_name();
        let node = informers.of::<Node>().get("", node_name);
        if node.is_some() {
            self.missing_since.lock().remove(node_name);
        }
        match plan_pod(pod.view(), node.as_ref().map(SharedObject::view)) {
            Verdict::Keep => Ok(Action::Done),
            Verdict::Remove => remove(ctx, &pod, None).await.map(|()| Action::Done),
            Verdict::RemoveUnlessNodeReturns => {
                let missing = self.missing_for(node_name, ctx.now());
                if missing < QUARANTINE {
                    return Ok(Action::RequeueAfter(QUARANTINE - missing));
                }
                // The cache is not proof enough to delete a pod by force.
                match ctx.client.api::<Node>("").get(node_name).await {
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

fn plan_pod(pod: PodView<'_>, node: Option<NodeView<'_>>) -> Verdict {
    let is_leaving = pod.metadata().deletion_timestamp().is_some();
    match (pod.spec().node_name(), node) {
        ("", _) if is_leaving => Verdict::Remove,
        ("", _) => Verdict::Keep,
        (_, None) => Verdict::RemoveUnlessNodeReturns,
        (_, Some(node)) if is_leaving && is_out_of_service(node) && !is_ready(node) => Verdict::Remove,
        (_, Some(_)) => Verdict::Keep,
    }
}

/// The finished pods beyond the threshold: evicted ones first, then the oldest.
fn plan_finished(mut finished: Vec<SharedObject<Pod>>, threshold: usize) -> Vec<SharedObject<Pod>> {
    let surplus = finished.len().saturating_sub(threshold);
    if threshold == 0 || surplus == 0 {
        return Vec::new();
    }
    let order = |pod: &SharedObject<Pod>| {
        let status = pod.view().status();
        let is_evicted = status.phase() == "Failed" && status.reason() == "Evicted";
        (!is_evicted, pod.meta().creation_timestamp())
    };
    finished.sort_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.name().cmp(b.name())));
    finished.truncate(surplus);
    finished
}

/// A pod that is deleted by force must not be left looking alive to those who watch it.
async fn remove(ctx: &Context, pod: &SharedObject<Pod>, why: Option<&str>) -> Result<()> {
    let key = Key::of(pod.meta());
    let api = ctx.client.api::<Pod>(&key.namespace);
    if !is_terminal(pod.view()) {
        let mut status = json!({"phase": "Failed"});
        if let Some(why) = why {
            status["conditions"] = json!([{
                "type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC", "message": why,
                "lastTransitionTime": ctx.now(),
            }]);
        }
        let patch = json!({"metadata": {"uid": pod.uid()}, "status": status});
        match api.patch_status(&key.name, &Patch::Strategic(patch)).await {
            Err(error) if error.is_not_found() => return Ok(()),
            other => drop(other.during("mark as failed the pod", &key)?),
        }
    }
    let uid = Some(pod.uid().to_owned());
    let params = DeleteParams { grace_period_seconds: Some(0), uid, ..Default::default() };
    match api.delete(&key.name, &params).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        other => other.during("delete by force the pod", &key),
    }
}

fn with_finished(pods: Informer<Pod>) -> Informer<Pod> {
    pods.indexed(FINISHED, |pod| if is_terminal(pod.view()) { vec![String::new()] } else { Vec::new() })
}

fn wake_for_pod(event: &Event<Pod>, nodes: &Informer<Node>, enqueue: &Enqueue) {
    let (old, Some(pod)) = event.versions() else { return };
    if is_terminal(pod.view()) && !old.is_some_and(|old| is_terminal(old.view())) {
        enqueue.add_after(finished_key(), COUNT_EVERY);
    }
    let node = nodes.get("", pod.view().spec().node_name());
    if plan_pod(pod.view(), node.as_ref().map(SharedObject::view)) != Verdict::Keep {
        enqueue.add_object(pod.meta());
    }
}

fn is_out_of_service(node: NodeView<'_>) -> bool {
    node.spec().taints().iter().any(|taint| taint.key() == OUT_OF_SERVICE)
}

fn is_ready(node: NodeView<'_>) -> bool {
    condition::is_true(node.status().conditions(), "Ready")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn only_the_forsaken_are_removed() {
        let healthy = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        let written_off = json!({"spec": {"taints": [{"key": OUT_OF_SERVICE, "effect": "NoExecute"}]}});
        let leaving = json!({"deletionTimestamp": "2024-01-01T00:00:00Z"});
        let check = |metadata: &Value, node_name: &str, node: Option<&Value>, expected: Verdict| {
            let pod = json!({"metadata": metadata, "spec": {"nodeName": node_name, "containers": []}});
            assert_eq!(plan_pod((&pod).into(), node.map(NodeView::from)), expected);
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
            SharedObject::of(
                json!({"metadata": {"name": name, "creationTimestamp": format!("2024-01-01T00:00:{second:02}Z")},
                "status": {"phase": "Failed", "reason": reason}}),
            )
        };
        let pods =
            vec![finished("young", 30, None), finished("old", 10, None), finished("evicted", 40, Some("Evicted"))];
        let names = |threshold| -> Vec<String> {
            plan_finished(pods.clone(), threshold).iter().map(|pod| pod.name().to_owned()).collect()
        };
        assert_eq!(names(1), ["evicted", "old"]);
        assert_eq!(names(3), Vec::<String>::new());
        assert_eq!(names(0), Vec::<String>::new(), "0 keeps all");
    }

    #[test]
    fn only_finished_pods_are_counted() {
        let pod = |name: &str, phase: &str| {
            SharedObject::of(json!({"metadata": {"namespace": "ns", "name": name}, "status": {"phase": phase}}))
        };
        let pods = with_finished(Informer::fixed([pod("alive", "Running"), pod("done", "Succeeded")]));
        assert_eq!(pods.count_by_index(FINISHED, ""), 1);
        pods.put(pod("alive", "Failed"));
        assert_eq!(pods.count_by_index(FINISHED, ""), 2);
    }
}
