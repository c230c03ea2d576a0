//! Keeps one pod of a DaemonSet on every node that it is for, and rolls its template out.
//!
//! Split by decision: node.rs says which nodes fit, plan.rs which pods to make and delete,
//! history.rs which revision is present, pod.rs what a daemon pod is, status.rs what the
//! set reports. ledger.rs keeps what each node counts for, so that an event costs its own node
//! and not every node. This file watches, gathers and writes. The reference is upstream's
//! pkg/controller/daemon.

mod changed;
mod history;
mod ledger;
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
use changed::ChangedNodes;
use ferry_api::rules::label_selector;
use ferry_api::rules::owner::controller_of;
use ferry_api::rules::pod::is_terminal;
use ferry_api::view::apps::v1::{ControllerRevision, DaemonSet, DaemonSetStatus};
use ferry_api::view::core::v1::{Node, Pod};
use ferry_api::view::meta::v1::ObjectMetaView;
use ferry_client::{Event, Informer, Informers, SharedObject};
use jiff::Timestamp;
use ledger::{Basis, Ledger};
use node::{Criteria, Fit};
use parking_lot::Mutex;
use plan::{Changes, Observed, Outside, PodsByNode, is_rolling, plan_nodes, plan_rolling};
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

/// The index of daemon pods by their set's uid and the node that they are on or were made for.
const BY_PLACE: &str = "daemon-place";

#[derive(Default)]
pub(crate) struct DaemonSetController {
    expectations: Arc<Expectations>,
    changed: Arc<ChangedNodes>,
    ledgers: Mutex<HashMap<Key, Ledger>>,
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
        let pods = with_orphans(informers.of::<Pod>()).indexed(BY_PLACE, |pod| {
            let owner = controller_of(pod.meta()).filter(|owner| owner.kind() == "DaemonSet");
            let place = owner.zip(pod::target_node(pod.view())).map(|(owner, node)| place(owner.uid(), node));
            place.into_iter().collect()
        });
        let (for_pods, for_revisions, for_nodes) = (sets.clone(), sets.clone(), sets.clone());
        let (by_pods, by_nodes) = (self.changed.clone(), self.changed.clone());
        vec![
            Watch::itself(sets),
            Watch::new(pods, move |event, enqueue| {
                by_pods.observe_pod(event, &for_pods);
                wake_for_pod(event, &for_pods, &expectations, enqueue);
            }),
            Watch::new(with_orphans(informers.of::<ControllerRevision>()), move |event, enqueue| {
                wake_for_revision(event, &for_revisions, enqueue);
            }),
            Watch::new(informers.of::<Node>(), move |event, enqueue| {
                by_nodes.observe_node(event, &for_nodes);
                concerned_by_node(event, &for_nodes).into_iter().for_each(|key| enqueue.add(key));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let Some(set) = informers.of::<DaemonSet>().get(&key.namespace, &key.name) else {
            self.expectations.forget(key);
            self.changed.take(key);
            self.ledgers.lock().remove(key);
            return Ok(Action::Done);
        };
        if label_selector::is_empty(set.view().spec().selector().unwrap_or_default()) {
            let why = "This daemon set is selecting all pods. A non-empty selector is required.";
            ctx.recorder.warning(&set, "SelectingAll", why);
            return Ok(Action::Done);
        }
        // Its revisions may already be gone, so nothing certain can be said of it any more.
        if set.is_deleting() {
            return Ok(Action::Done);
        }
        let result = self.sync(ctx, key, &set).await;
        if result.is_err() {
            // The next try begins anew, whatever this one had got to.
            self.ledgers.lock().remove(key);
        }
        result
    }
}

impl DaemonSetController {
    async fn sync(&self, ctx: &Context, key: &Key, set: &SharedObject<DaemonSet>) -> Result<Action> {
        let pods = ctx.informers.of::<Pod>();
        let caught_up = self.expectations.are_met(key, |name, uid| Seen::of(&pods, &key.namespace, name, uid));
        let history = history::construct(ctx, set).await?;
        let (spec, now) = (set.view().spec(), ctx.now());
        let criteria = Criteria::of(spec.template());
        let template = Template { set, criteria: &criteria, hash: &history.hash, now };
        let ledger = self.bring_up_to_date(ctx, key, &template).await?;
        let counts = ledger.counts();
        let mut wait = None;
        let managed = if caught_up {
            match self.manage(ctx, key, &template, &ledger, &mut wait).await {
                Ok(()) => history::clean_up(ctx, set, &history.old).await,
                failed => failed,
            }
        } else {
            wait = Some(RECHECK);
            Ok(())
        };
        let ripe = ledger.next_ripe().map(|time| Duration::try_from(time.duration_since(now)).unwrap_or_default());
        self.ledgers.lock().insert(key.clone(), ledger);
        if let Some(status) = status::compute_status(set.view(), counts, caught_up) {
            update_status(ctx, set, status).await?;
        }
        managed?;
        Ok(Action::after(ripe.into_iter().chain(wait).min()))
    }

    /// The ledger of the set with every change that has been seen.
    async fn bring_up_to_date(&self, ctx: &Context, key: &Key, template: &Template<'_>) -> Result<Ledger> {
        let set = template.set;
        let pods = ctx.informers.of::<Pod>();
        let selector = set.view().spec().selector();
        let matches = |pod: &SharedObject<Pod>| label_selector::matches(selector, pod.meta().labels());
        let changed = self.changed.take(key);
        let basis = template.basis();
        let kept = self.ledgers.lock().remove(key).filter(|ledger| ledger.is_for(&basis));
        if let (Some(mut ledger), Some(mut names)) = (kept, changed.nodes()) {
            names.extend(ledger.ripe(template.now));
            let candidates = names.iter().flat_map(|node| pods.by_index(BY_PLACE, &place(set.uid(), node))).collect();
            let own = claim(ctx, set, candidates, matches).await?;
            let nodes = nodes_named(ctx, names.iter().map(String::as_str));
            ledger.update(&template.observe(&nodes, &by_node(&own)), names.iter().map(String::as_str));
            return Ok(ledger);
        }
        let own = claim(ctx, set, candidates(&pods, set), matches).await?;
        let mut ledger = Ledger::new(basis);
        ledger.update_all(&template.observe(&ctx.informers.of::<Node>().list(None), &by_node(&own)));
        Ok(ledger)
    }

    async fn manage(
        &self,
        ctx: &Context,
        key: &Key,
        template: &Template<'_>,
        ledger: &Ledger,
        wait: &mut Option<Duration>,
    ) -> Result<()> {
        let set = template.set;
        let (nodes, pods) = gather(ctx, set, ledger.unsettled());
        let mut changes = plan_nodes(&template.observe(&nodes, &pods));
        *wait = self.hold_back_failed(set.uid(), &mut changes);
        // An update goes on only from nodes that are in order.
        if changes.is_empty() && is_rolling(set.view()) {
            let wanted = usize::try_from(ledger.counts().desired).unwrap_or(0);
            let (surge, unavailable) = template.observe(&[], &PodsByNode::new()).bounds(wanted);
            let (chosen, outside) = ledger.next_in_update(surge.max(unavailable));
            let (nodes, pods) = gather(ctx, set, chosen.iter().copied());
            changes = plan_rolling(&Observed { outside, ..template.observe(&nodes, &pods) });
        }
        if changes.is_empty() {
            return Ok(());
        }
        report_ended(ctx, set, &changes.ended);
        self.expectations.open(key);
        let control = PodControl { ctx, key, subject: set.reference(), expectations: &self.expectations };
        let nodes = changes.create.iter().take(BURST);
        let planned: Vec<Pod> = nodes.map(|node| pod::plan_pod(set.view(), template.hash, node)).collect();
        let created = control.create(&planned.iter().collect::<Vec<_>>()).await;
        let deleted = control.delete(changes.delete.iter().chain(&changes.ended).take(BURST)).await;
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

/// The set with its present template, as plans look at it.
struct Template<'a> {
    set: &'a SharedObject<DaemonSet>,
    criteria: &'a Criteria<'a>,
    hash: &'a str,
    now: Timestamp,
}

impl Template<'_> {
    fn observe<'o>(&'o self, nodes: &'o [SharedObject<Node>], pods: &'o PodsByNode) -> Observed<'o> {
        let outside = Outside::default();
        Observed { set: self.set.view(), criteria: self.criteria, nodes, pods, hash: self.hash, now: self.now, outside }
    }

    fn basis(&self) -> Basis {
        Basis {
            uid: self.set.uid().to_owned(),
            generation: self.set.meta().generation(),
            template_generation: pod::template_generation(self.set.view()),
            hash: self.hash.to_owned(),
        }
    }
}

fn place(uid: &str, node: &str) -> String {
    format!("{uid}/{node}")
}

fn nodes_named<'n>(ctx: &Context, names: impl Iterator<Item = &'n str>) -> Vec<SharedObject<Node>> {
    let nodes = ctx.informers.of::<Node>();
    names.filter_map(|name| nodes.get("", name)).collect()
}

/// Some nodes, and the set's pods on them.
fn gather<'n>(
    ctx: &Context,
    set: &SharedObject<DaemonSet>,
    names: impl Iterator<Item = &'n str> + Clone,
) -> (Vec<SharedObject<Node>>, PodsByNode) {
    let pods = ctx.informers.of::<Pod>();
    let selector = set.view().spec().selector();
    let mut own: Vec<_> = names.clone().flat_map(|node| pods.by_index(BY_PLACE, &place(set.uid(), node))).collect();
    own.retain(|pod| label_selector::matches(selector, pod.meta().labels()));
    (nodes_named(ctx, names), by_node(&own))
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
