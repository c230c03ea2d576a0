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

use crate::error::{During, Result};
use crate::label_index::{by_selector, may_select};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::claim::{candidates, claim, with_orphans};
use crate::workload::expectations::{Expectations, Seen};
use crate::workload::pod_control::PodControl;
use async_trait::async_trait;
use ferry_api::rules::label_selector;
use ferry_api::rules::owner::controller_of;
use ferry_api::rules::pod::{Availability, availability, is_terminal};
use ferry_api::view::apps::v1::{ControllerRevision, DaemonSet, DaemonSetStatus};
use ferry_api::view::core::v1::{Node, Pod};
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_client::{Event, Informer, Informers, SharedObject};
use node::{Criteria, Fit};
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
pub(crate) struct DaemonSetController {
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
        let sets = by_selector(informers.of::<DaemonSet>());
        let (for_pods, for_revisions, for_nodes) = (sets.clone(), sets.clone(), sets.clone());
        vec![
            Watch::itself(sets),
            Watch::new(with_orphans(informers.of::<Pod>()), move |event, enqueue| {
                wake_for_pod(event, &for_pods, &expectations, enqueue);
            }),
            Watch::new(with_orphans(informers.of::<ControllerRevision>()), move |event, enqueue| {
                wake_for_revision(event, &for_revisions, enqueue);
            }),
            Watch::new(informers.of::<Node>(), move |event, enqueue| {
                concerned_by_node(event, &for_nodes).into_iter().for_each(|key| enqueue.add(key));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let Some(set) = informers.of::<DaemonSet>().get(&key.namespace, &key.name) else {
            self.expectations.forget(key);
            return Ok(Action::Done);
        };
        let spec = set.view().spec();
        if label_selector::is_empty(spec.selector().unwrap_or_default()) {
            let why = "This daemon set is selecting all pods. A non-empty selector is required.";
            ctx.recorder.warning(&set, "SelectingAll", why);
            return Ok(Action::Done);
        }
        // Its revisions may already be gone, so nothing certain can be said of it any more.
        if set.is_deleting() {
            return Ok(Action::Done);
        }
        let pods = informers.of::<Pod>();
        let caught_up = self.expectations.are_met(key, |name, uid| Seen::of(&pods, &key.namespace, name, uid));
        let own = own_pods(ctx, &set, &pods).await?;
        let history = history::construct(ctx, &set, &own).await?;
        let by_node = by_node(&own);
        let nodes = informers.of::<Node>().list(None);
        let observed = Observed {
            set: set.view(),
            criteria: Criteria::of(spec.template()),
            nodes: &nodes,
            pods: &by_node,
            hash: &history.hash,
            now: ctx.now(),
        };
        let mut wait = None;
        let managed = if caught_up {
            let managed = self.manage(ctx, key, &set, &observed, &mut wait).await;
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
        let min_ready = spec.min_ready_seconds();
        let next = own.iter().filter_map(|pod| match availability(pod.view(), min_ready, observed.now) {
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
        set: &SharedObject<DaemonSet>,
        observed: &Observed<'_>,
        wait: &mut Option<Duration>,
    ) -> Result<()> {
        let mut changes = plan_nodes(observed);
        *wait = self.hold_back_failed(set.uid(), &mut changes);
        // An update goes on only from nodes that are in order.
        if changes.is_empty() && is_rolling(observed.set) {
            changes = plan_rolling(observed);
        }
        if changes.is_empty() {
            return Ok(());
        }
        report_ended(ctx, set, &changes.ended);
        self.expectations.open(key);
        let pods = PodControl { ctx, key, subject: set.reference(), expectations: &self.expectations };
        let nodes = changes.create.iter().take(BURST);
        let planned: Vec<Pod> = nodes.map(|node| pod::plan_pod(observed.set, observed.hash, node)).collect();
        let created = pods.create(&planned.iter().collect::<Vec<_>>()).await;
        let deleted = pods.delete(changes.delete.iter().chain(&changes.ended).take(BURST)).await;
        self.expectations.close(key);
        created.and(deleted)
    }

    /// A pod that fails at once is not replaced at once: the kubelet may refuse it each
    /// time. Returns how long until the next of those held back is due.
    fn hold_back_failed(&self, uid: &str, changes: &mut Changes) -> Option<Duration> {
        let mut failures = self.failures.lock();
        let mut soonest: Option<Duration> = None;
        failures.retain(|_, (since, delay)| since.elapsed() < *delay * 2 + BACK_OFF.1);
        changes.ended.retain(|pod| {
            if pod.view().status().phase() != "Failed" {
                return true;
            }
            let place = (uid.to_owned(), pod::target_node(pod.view()).unwrap_or_default().to_owned());
            let now = Instant::now();
            match failures.get_mut(&place) {
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
                    failures.insert(place, (now, BACK_OFF.0));
                    true
                }
            }
        });
        soonest
    }
}

/// The set's pods after adoption and release, whatever their phase.
async fn own_pods(
    ctx: &Context,
    set: &SharedObject<DaemonSet>,
    pods: &Informer<Pod>,
) -> Result<Vec<SharedObject<Pod>>> {
    let selector = set.view().spec().selector();
    claim(ctx, set, candidates(pods, set), |pod| label_selector::matches(selector, pod.meta().labels())).await
}

/// A pod that has ended and is being deleted no longer stands for its node.
fn by_node(pods: &[SharedObject<Pod>]) -> PodsByNode {
    let mut by_node = PodsByNode::new();
    for pod in pods.iter().filter(|pod| !(is_terminal(pod.view()) && pod.is_deleting())) {
        if let Some(node) = pod::target_node(pod.view()) {
            by_node.entry(node.to_owned()).or_default().push(pod.clone());
        }
    }
    by_node
}

fn report_ended(ctx: &Context, set: &SharedObject<DaemonSet>, ended: &[SharedObject<Pod>]) {
    for pod in ended {
        let (key, node) = (Key::of(pod.meta()), pod::target_node(pod.view()).unwrap_or_default());
        if pod.view().status().phase() == "Failed" {
            let text = format!("Found failed daemon pod {key} on node {node}, will try to kill it");
            ctx.recorder.warning(set, "FailedDaemonPod", text);
        } else {
            let text = format!("Found succeeded daemon pod {key} on node {node}, will try to delete it");
            ctx.recorder.normal(set, "SucceededDaemonPod", text);
        }
    }
}

async fn update_status(ctx: &Context, set: &SharedObject<DaemonSet>, status: DaemonSetStatus) -> Result<()> {
    let (api, name) = (ctx.client.api::<DaemonSet>(set.namespace()), set.name());
    match api.replace_status(&set.to_owned().with_status(status.clone())).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_conflict() => {
            let live = api.get(name).await.during("get for its status", name)?;
            let updated = live.to_owned().with_status(status);
            api.replace_status(&updated).await.during("update the status of", name).map(drop)
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error).during("update the status of", name),
    }
}

/// The sets for which a node is another than before: one that comes or goes concerns those that
/// it fits, and one that is labelled or tainted otherwise those that judge it otherwise.
fn concerned_by_node(event: &Event<Node>, sets: &Informer<DaemonSet>) -> Vec<Key> {
    let (old, new) = event.versions();
    let taints = |node| SharedObject::<Node>::view(node).spec().taints();
    let mut concerned = Vec::new();
    if let (Some(old), Some(new)) = (old, new)
        && old.meta().labels() == new.meta().labels()
        && taints(old) == taints(new)
    {
        return concerned;
    }
    sets.for_each(|set| {
        let criteria = Criteria::of(set.view().spec().template());
        let fit = |node: Option<&SharedObject<Node>>| node.map_or(Fit::NONE, |node| criteria.judge(node.view()));
        if fit(old) != fit(new) {
            concerned.push(Key::of(set.meta()));
        }
    });
    concerned
}

fn controlling_set(meta: ObjectMetaView<'_>) -> Option<Key> {
    let owner = controller_of(meta).filter(|owner| owner.kind() == "DaemonSet")?;
    Some(Key::new(meta.namespace(), owner.name()))
}

fn wake_for_pod(event: &Event<Pod>, sets: &Informer<DaemonSet>, expectations: &Expectations, enqueue: &Enqueue) {
    let (old, new) = event.versions();
    let owner_of = |pod: Option<&SharedObject<Pod>>| pod.and_then(|pod| controlling_set(pod.meta()));
    if let (Some(old), Some(key)) = (old, owner_of(old))
        && owner_of(new).as_ref() != Some(&key)
    {
        expectations.observe_gone(&key, old.uid());
        enqueue.add(key);
    }
    match (new, owner_of(new)) {
        (_, Some(key)) => enqueue.add(key),
        (Some(pod), None) if controller_of(pod.meta()).is_none() => wake_possible_owners(pod.meta(), sets, enqueue),
        _ => {}
    }
}

/// A revision that a set has just made is no news to it; a change of one is.
fn wake_for_revision(event: &Event<ControllerRevision>, sets: &Informer<DaemonSet>, enqueue: &Enqueue) {
    let (old, new) = event.versions();
    for revision in old.into_iter().chain(new.filter(|_| old.is_some())) {
        if let Some(key) = controlling_set(revision.meta()) {
            enqueue.add(key);
        }
    }
    if let Some(new) = new.filter(|new| controller_of(new.meta()).is_none()) {
        wake_possible_owners(new.meta(), sets, enqueue);
    }
}

fn wake_possible_owners(orphan: ObjectMetaView<'_>, sets: &Informer<DaemonSet>, enqueue: &Enqueue) {
    for set in may_select(sets, orphan.namespace(), orphan.labels()) {
        if label_selector::matches(set.view().spec().selector(), orphan.labels()) {
            enqueue.add_object(set.meta());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_node_wakes_the_sets_for_which_it_is_another() {
        let set = |name: &str, spec: Value| {
            SharedObject::<DaemonSet>::of(
                json!({"metadata": {"namespace": "ns", "name": name}, "spec": {"template": {"spec": spec}}}),
            )
        };
        let ssd = json!({"nodeSelector": {"disk": "ssd"}});
        let sets =
            Informer::fixed([set("everywhere", json!({})), set("ssd", ssd), set("n2", json!({"nodeName": "n2"}))]);
        let node = |labels: Value, taints: Value, ready: &str| {
            SharedObject::<Node>::of(json!({"metadata": {"name": "n1", "labels": labels}, "spec": {"taints": taints},
                "status": {"conditions": [{"type": "Ready", "status": ready}]}}))
        };
        let check = |event: Event<Node>, expected: &[&str]| {
            let woken: Vec<String> = concerned_by_node(&event, &sets).into_iter().map(|key| key.name).collect();
            assert_eq!(woken, expected, "{event:?}");
        };
        let plain = || node(json!({}), json!([]), "True");
        let with_disk = || node(json!({"disk": "ssd"}), json!([]), "True");
        let tainted = || node(json!({}), json!([{"key": "a", "effect": "NoExecute"}]), "True");
        check(Event::Added(plain()), &["everywhere"]);
        check(Event::Deleted(with_disk()), &["everywhere", "ssd"]);
        check(Event::Updated { old: plain(), new: with_disk() }, &["ssd"]);
        check(Event::Updated { old: plain(), new: tainted() }, &["everywhere"]);
        check(Event::Updated { old: plain(), new: node(json!({"rack": "7"}), json!([]), "True") }, &[]);
        check(Event::Updated { old: plain(), new: node(json!({}), json!([]), "False") }, &[]);
    }
}
