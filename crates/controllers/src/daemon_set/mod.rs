//! Keeps one pod of a DaemonSet on every node that it is for, and rolls its template out.
//!
//! Split by decision: node.rs says which nodes fit, plan.rs which pods to make and delete,
//! history.rs which revision is present, pod.rs what a daemon pod is, status.rs what the
//! set reports. This file watches, gathers and writes. The reference is upstream's
//! pkg/controller/daemon.

mod history;
mod node;
mod plan;
mod pod;
mod status;

use crate::claim::{claim, controller_of, is_controlled_by};
use crate::error::{During, Result};
use crate::expectations::{Expectations, Seen};
use crate::pod::{Availability, availability, is_terminal, phase};
use crate::pod_control::PodControl;
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch, event_versions};
use crate::selector;
use async_trait::async_trait;
use ferry_client::{Event, Informer, Informers, reference};
use k8s_openapi::api::apps::v1::{ControllerRevision, DaemonSet};
use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use parking_lot::Mutex;
use plan::{Changes, Observed, PodsByNode, is_rolling, plan_nodes, plan_rolling};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How many pods one reconcile creates or deletes at most (upstream's BurstReplicas).
const BURST: usize = 250;

/// How long an unmet expectation may block a set that nothing else wakes.
const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

/// How long a failed pod stays before it is replaced: at first, and at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(15 * 60));

#[derive(Default)]
pub struct DaemonSetController {
    expectations: Arc<Expectations>,
    /// For each set and node, when its last failed pod was replaced and how long to wait.
    failures: Mutex<HashMap<(String, String), (Instant, Duration)>>,
}

#[async_trait]
impl Controller for DaemonSetController {
    fn name(&self) -> &'static str {
        "daemonset-controller"
    }

    fn identity(&self) -> &'static str {
        "daemon-set-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let expectations = self.expectations.clone();
        let (for_pods, for_nodes) = (informers.of::<DaemonSet>(), informers.of::<DaemonSet>());
        let for_revisions = informers.of::<DaemonSet>();
        vec![
            Watch::itself(informers.of::<DaemonSet>()),
            Watch::new(informers.of::<Pod>(), move |event, enqueue| {
                wake_for_pod(event, &for_pods, &expectations, enqueue);
            }),
            Watch::new(informers.of::<ControllerRevision>(), move |event, enqueue| {
                wake_for_revision(event, &for_revisions, enqueue);
            }),
            Watch::new(informers.of::<Node>(), move |event, enqueue| {
                if concerns_sets(event) {
                    for_nodes.list(None).iter().for_each(|set| enqueue.add_object(&set.metadata));
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(set) = ctx.informers.of::<DaemonSet>().get(&key.namespace, &key.name) else {
            self.expectations.forget(key);
            return Ok(Action::Done);
        };
        let Some(spec) = &set.spec else { return Ok(Action::Done) };
        if selector::is_empty(&spec.selector) {
            let why = "This daemon set is selecting all pods. A non-empty selector is required.";
            ctx.recorder.warning(&reference(&*set), "SelectingAll", why);
            return Ok(Action::Done);
        }
        // Its revisions may already be gone, so nothing certain can be said of it any more.
        if set.metadata.deletion_timestamp.is_some() {
            return Ok(Action::Done);
        }
        let pods = ctx.informers.of::<Pod>();
        let caught_up = self.expectations.are_met(key, |name, uid| match pods.get(&key.namespace, name) {
            Some(pod) if pod.metadata.uid.as_deref() != Some(uid) => Seen::Absent,
            Some(pod) if pod.metadata.deletion_timestamp.is_some() => Seen::Leaving,
            Some(_) => Seen::Alive,
            None => Seen::Absent,
        });
        let own = own_pods(ctx, &set, &pods).await?;
        let history = history::construct(ctx, &set, &own).await?;
        let by_node = by_node(&own);
        let nodes = ctx.informers.of::<Node>().list(None);
        let observed = Observed { set: &set, nodes: &nodes, pods: &by_node, hash: &history.hash, now: ctx.now() };
        let mut wait = None;
        let managed = if caught_up {
            let managed = self.manage(ctx, key, &observed, &mut wait).await;
            match managed {
                Ok(()) => history::clean_up(ctx, &set, &history.old, &own).await,
                failed => failed,
            }
        } else {
            wait = Some(RECHECK);
            Ok(())
        };
        if let Some(status) = status::compute_status(&observed, caught_up) {
            update_status(ctx, &set, status).await?;
        }
        managed?;
        let min_ready = spec.min_ready_seconds.unwrap_or(0);
        let next = own.iter().filter_map(|pod| match availability(pod, min_ready, observed.now) {
            Availability::In(left) => Some(left),
            _ => None,
        });
        Ok(Action::after(next.chain(wait).min()))
    }
}

impl DaemonSetController {
    async fn manage(
        &self,
        ctx: &Context,
        key: &Key,
        observed: &Observed<'_>,
        wait: &mut Option<Duration>,
    ) -> Result<()> {
        let mut changes = plan_nodes(observed);
        *wait = self.hold_back_failed(observed.set, &mut changes);
        // An update goes on only from nodes that are in order.
        if changes.is_empty() && is_rolling(observed.set) {
            changes = plan_rolling(observed);
        }
        if changes.is_empty() {
            return Ok(());
        }
        tell_ended(ctx, observed.set, &changes.ended);
        self.expectations.open(key);
        let pods = PodControl { ctx, key, subject: reference(observed.set), expectations: &self.expectations };
        let nodes = changes.create.iter().take(BURST);
        let planned: Vec<Pod> = nodes.map(|node| pod::plan_pod(observed.set, observed.hash, node)).collect();
        let created = pods.create(&planned).await;
        let deleted = pods.delete(changes.delete.iter().chain(&changes.ended).take(BURST)).await;
        self.expectations.close(key);
        created.and(deleted)
    }

    /// A pod that fails at once is not replaced at once: the kubelet may refuse it each
    /// time. Returns how long until the next of those held back is due.
    fn hold_back_failed(&self, set: &DaemonSet, changes: &mut Changes) -> Option<Duration> {
        let uid = set.metadata.uid.clone().unwrap_or_default();
        let mut failures = self.failures.lock();
        let mut soonest: Option<Duration> = None;
        failures.retain(|_, (since, delay)| since.elapsed() < *delay * 2 + BACK_OFF.1);
        changes.ended.retain(|pod| {
            if phase(pod) != "Failed" {
                return true;
            }
            let node = pod::target_node(pod).unwrap_or_default().to_owned();
            let now = Instant::now();
            match failures.get_mut(&(uid.clone(), node.clone())) {
                Some((since, delay)) if since.elapsed() < *delay => {
                    let left = delay.saturating_sub(since.elapsed());
                    soonest = Some(soonest.map_or(left, |soonest| soonest.min(left)));
                    false
                }
                Some(entry) => {
                    *entry = (now, (entry.1 * 2).min(BACK_OFF.1));
                    true
                }
                None => {
                    failures.insert((uid.clone(), node), (now, BACK_OFF.0));
                    true
                }
            }
        });
        soonest
    }
}

/// The set's pods after adoption and release, whatever their phase.
async fn own_pods(ctx: &Context, set: &Arc<DaemonSet>, pods: &Informer<Pod>) -> Result<Vec<Arc<Pod>>> {
    let Some(spec) = &set.spec else { return Ok(Vec::new()) };
    let matches = |pod: &Pod| selector::matches(&spec.selector, pod.metadata.labels.as_ref());
    let mut candidates = pods.owned_by(set.metadata.uid.as_deref().unwrap_or_default());
    candidates.retain(|pod| is_controlled_by(&pod.metadata, &set.metadata));
    let strays = pods.list(set.metadata.namespace.as_deref());
    candidates.extend(strays.into_iter().filter(|pod| controller_of(&pod.metadata).is_none() && matches(pod)));
    claim(ctx, &**set, candidates, matches).await
}

/// A pod that has ended and is being deleted no longer stands for its node.
fn by_node(pods: &[Arc<Pod>]) -> PodsByNode {
    let mut by_node = PodsByNode::new();
    for pod in pods.iter().filter(|pod| !(is_terminal(pod) && pod.metadata.deletion_timestamp.is_some())) {
        if let Some(node) = pod::target_node(pod) {
            by_node.entry(node.to_owned()).or_default().push(pod.clone());
        }
    }
    by_node
}

fn tell_ended(ctx: &Context, set: &DaemonSet, ended: &[Arc<Pod>]) {
    let subject = reference(set);
    for pod in ended {
        let meta = &pod.metadata;
        let (namespace, name) =
            (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default());
        let node = pod::target_node(pod).unwrap_or_default();
        if phase(pod) == "Failed" {
            let text = format!("Found failed daemon pod {namespace}/{name} on node {node}, will try to kill it");
            ctx.recorder.warning(&subject, "FailedDaemonPod", text);
        } else {
            let text = format!("Found succeeded daemon pod {namespace}/{name} on node {node}, will try to delete it");
            ctx.recorder.normal(&subject, "SucceededDaemonPod", text);
        }
    }
}

async fn update_status(
    ctx: &Context,
    set: &DaemonSet,
    status: k8s_openapi::api::apps::v1::DaemonSetStatus,
) -> Result<()> {
    let name = set.metadata.name.as_deref().unwrap_or_default();
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    let updated = DaemonSet { status: Some(status.clone()), ..set.clone() };
    match ctx.client.replace_status(namespace, &updated).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_conflict() => {
            let live = ctx.client.get::<DaemonSet>(namespace, name).await.during("get for its status", name)?;
            let updated = DaemonSet { status: Some(status), ..live };
            ctx.client.replace_status(namespace, &updated).await.during("update the status of", name).map(drop)
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error).during("update the status of", name),
    }
}

/// A node matters when it comes, goes, or is labelled or tainted otherwise.
fn concerns_sets(event: &Event<Node>) -> bool {
    match event_versions(event) {
        (Some(old), Some(new)) => {
            let taints = |node: &Node| node.spec.as_ref().and_then(|spec| spec.taints.clone());
            old.metadata.labels != new.metadata.labels || taints(old) != taints(new)
        }
        _ => true,
    }
}

fn controlling_set(meta: &ObjectMeta) -> Option<Key> {
    let owner = controller_of(meta).filter(|owner| owner.kind == "DaemonSet")?;
    Some(Key::new(meta.namespace.clone().unwrap_or_default(), owner.name.clone()))
}

fn wake_for_pod(event: &Event<Pod>, sets: &Informer<DaemonSet>, expectations: &Expectations, enqueue: &Enqueue) {
    let (old, new) = event_versions(event);
    let owner_of = |pod: Option<&Arc<Pod>>| pod.and_then(|pod| controlling_set(&pod.metadata));
    if let (Some(old), Some(key)) = (old, owner_of(old))
        && owner_of(new).as_ref() != Some(&key)
    {
        expectations.observe_gone(&key, old.metadata.uid.as_deref().unwrap_or_default());
        enqueue.add(key);
    }
    match (new, owner_of(new)) {
        (_, Some(key)) => enqueue.add(key),
        (Some(pod), None) if controller_of(&pod.metadata).is_none() => {
            wake_possible_owners(&pod.metadata, sets, enqueue);
        }
        _ => {}
    }
}

/// A revision that a set has just made is no news to it; a change of one is.
fn wake_for_revision(event: &Event<ControllerRevision>, sets: &Informer<DaemonSet>, enqueue: &Enqueue) {
    let (old, new) = event_versions(event);
    for revision in old.into_iter().chain(new.filter(|_| old.is_some())) {
        if let Some(key) = controlling_set(&revision.metadata) {
            enqueue.add(key);
        }
    }
    if let Some(new) = new.filter(|new| controller_of(&new.metadata).is_none()) {
        wake_possible_owners(&new.metadata, sets, enqueue);
    }
}

fn wake_possible_owners(orphan: &ObjectMeta, sets: &Informer<DaemonSet>, enqueue: &Enqueue) {
    for set in sets.list(orphan.namespace.as_deref()) {
        if let Some(spec) = &set.spec
            && selector::matches(&spec.selector, orphan.labels.as_ref())
        {
            enqueue.add_object(&set.metadata);
        }
    }
}
