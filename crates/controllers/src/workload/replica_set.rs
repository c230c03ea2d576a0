//! Keeps the number of a ReplicaSet's or ReplicationController's pods at what its spec
//! asks for.
//!
//! Reconciled by the runner; woken by the set itself and by every pod that it controls or
//! could adopt. The reference is upstream's pkg/controller/replicaset.

mod kind;
mod rank;
mod status;

use crate::error::{During, Error, Result};
use crate::label_index::{by_selector, may_select};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::claim::{candidates, claim, with_orphans};
use crate::workload::expectations::{Expectations, Seen};
use crate::workload::pod_control::PodControl;
use async_trait::async_trait;
use ferry_api::rules::owner::{controller_of, controller_reference};
use ferry_api::rules::pod;
use ferry_api::view::apps::v1::{ReplicaSetStatus, ReplicaSetView};
use ferry_api::view::core::v1::Pod;
use ferry_api::view::meta::v1::{ObjectMeta, OwnerReference};
use ferry_client::{Event, Informer, Informers, SharedObject};
use kind::{ReplicaKind, as_replica_set, with_status};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// How many pods one reconcile creates or deletes at most (upstream's BurstReplicas).
const BURST: usize = 500;

/// How long an unmet expectation may block a set that nothing else wakes.
const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

pub(crate) struct ReplicaController<K> {
    expectations: Arc<Expectations>,
    kind: PhantomData<fn() -> K>,
}

impl<K> Default for ReplicaController<K> {
    fn default() -> Self {
        Self { expectations: Arc::default(), kind: PhantomData }
    }
}

#[async_trait]
impl<K: ReplicaKind> Controller for ReplicaController<K> {
    fn name(&self) -> &'static str {
        K::CONTROLLER
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let expectations = self.expectations.clone();
        let sets = by_selector(informers.of::<K>());
        vec![
            Watch::itself(sets.clone()),
            Watch::new(with_orphans(informers.of::<Pod>()), move |event, enqueue| {
                wake_for_pod(event, &sets, &expectations, enqueue);
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let informers = &ctx.informers;
        let Some(owner) = informers.of::<K>().get(&key.namespace, &key.name) else {
            self.expectations.forget(key);
            return Ok(Action::Done);
        };
        let set = as_replica_set(&owner);
        let pods = informers.of::<Pod>();
        let caught_up = self.expectations.are_met(key, |name, uid| Seen::of(&pods, &key.namespace, name, uid));
        let (active, terminating) = own_pods(ctx, &owner, &pods).await?;
        let managed =
            if caught_up && !owner.is_deleting() { self.manage(ctx, key, &owner, set, &active).await } else { Ok(()) };
        let now = ctx.now();
        let counted = K::COUNTS_TERMINATING.then_some(terminating.as_slice());
        if let Some(status) = status::compute_status(set, &active, counted, managed.as_ref().err(), now) {
            update_status(ctx, &owner, status).await?;
        }
        managed?;
        if !caught_up {
            return Ok(Action::RequeueAfter(RECHECK));
        }
        let min_ready = set.spec().min_ready_seconds();
        let next = active.iter().filter_map(|pod| match pod::availability(pod.view(), min_ready, now) {
            pod::Availability::In(left) => Some(left),
            _ => None,
        });
        Ok(Action::after(next.min()))
    }
}

impl<K: ReplicaKind> ReplicaController<K> {
    async fn manage(
        &self,
        ctx: &Context,
        key: &Key,
        owner: &SharedObject<K>,
        set: ReplicaSetView<'_>,
        active: &[SharedObject<Pod>],
    ) -> Result<()> {
        let pods = PodControl { ctx, key, subject: owner.reference(), expectations: &self.expectations };
        match plan_replicas(wanted(set), active.len()) {
            Plan::Nothing => Ok(()),
            Plan::Create(count) => {
                let pod = plan_pod(set, controller_reference::<K>(owner.view()));
                self.expectations.open(key);
                let result = pods.create(&vec![&pod; count]).await;
                self.expectations.close(key);
                result
            }
            Plan::Delete(count) => {
                let related = related_pods(ctx, owner);
                let doomed = rank::plan_deletions(active, &related, count, ctx.now());
                self.expectations.open(key);
                let result = pods.delete(&doomed).await;
                self.expectations.close(key);
                result
            }
        }
    }
}

type Pods = Vec<SharedObject<Pod>>;

/// The pods that are the set's after adoption and release: active and terminating.
async fn own_pods<K: ReplicaKind>(
    ctx: &Context,
    owner: &SharedObject<K>,
    pods: &Informer<Pod>,
) -> Result<(Pods, Pods)> {
    let matches = |pod: &SharedObject<Pod>| K::selects(owner, pod.meta().labels());
    let (mut active, mut terminating) = (Vec::new(), Vec::new());
    for pod in candidates(pods, owner) {
        if pod::is_active(pod.view()) {
            active.push(pod);
        } else if pod::is_terminating(pod.view()) && controller_of(pod.meta()).is_some() && matches(&pod) {
            terminating.push(pod);
        }
    }
    Ok((claim(ctx, owner, active, matches).await?, terminating))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Nothing,
    Create(usize),
    Delete(usize),
}

fn plan_replicas(wanted: usize, active: usize) -> Plan {
    match (wanted.saturating_sub(active), active.saturating_sub(wanted)) {
        (0, 0) => Plan::Nothing,
        (missing, 0) => Plan::Create(missing.min(BURST)),
        (_, surplus) => Plan::Delete(surplus.min(BURST)),
    }
}

fn wanted(set: ReplicaSetView<'_>) -> usize {
    set.spec().replicas().unwrap_or(1).try_into().unwrap_or(0)
}

/// The pod that the set's template describes.
fn plan_pod(set: ReplicaSetView<'_>, owner: OwnerReference) -> Pod {
    let template = set.spec().template();
    let meta = template.metadata();
    let metadata = ObjectMeta::new()
        .with_generate_name(format!("{}-", set.metadata().name()))
        .with_namespace(set.metadata().namespace())
        .with_labels(meta.labels())
        .with_annotations(meta.annotations())
        .with_finalizers(meta.finalizers())
        .with_owner_references([owner]);
    Pod::new().with_metadata(metadata).with_spec(template.spec())
}

/// The pods of every set with the same owner: a rollout's old and new pods are ranked
/// against each other, so that a scale-down evens out the nodes.
fn related_pods<K: ReplicaKind>(ctx: &Context, set: &SharedObject<K>) -> Pods {
    let Some(owner) = controller_of(set.meta()) else { return Vec::new() };
    let informers = &ctx.informers;
    let pods = informers.of::<Pod>();
    let siblings = informers.of::<K>().owned_by(owner.uid());
    siblings.iter().flat_map(|sibling| pods.owned_by(sibling.uid())).collect()
}

/// One retry with the live object, as upstream: the cache often lags by a moment and the
/// status is ours alone to write.
async fn update_status<K: ReplicaKind>(ctx: &Context, owner: &SharedObject<K>, status: ReplicaSetStatus) -> Result<()> {
    let (api, name) = (ctx.client.api::<K>(owner.namespace()), owner.name());
    match api.replace_status(&with_status(owner, status.clone())).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_conflict() => {
            let live = api.get(name).await.during("get for its status", name)?;
            if live.uid() != owner.uid() {
                return Err(Error::Retry(format!("{} {name} was replaced by another", K::KIND)));
            }
            api.replace_status(&with_status(&live, status)).await.during("update the status of", name).map(drop)
        }
        Err(error) if error.is_not_found() => Ok(()),
        Err(error) => Err(error).during("update the status of", name),
    }
}

fn wake_for_pod<K: ReplicaKind>(
    event: &Event<Pod>,
    sets: &Informer<K>,
    expectations: &Expectations,
    enqueue: &Enqueue,
) {
    let wake_controller = |pod: &SharedObject<Pod>, gone: bool| {
        let Some(owner) = controller_of(pod.meta()).filter(|owner| owner.kind() == K::KIND) else { return false };
        let key = Key::new(pod.namespace(), owner.name());
        if gone {
            expectations.observe_gone(&key, pod.uid());
        }
        enqueue.add(key);
        true
    };
    match event {
        Event::Deleted(pod) => drop(wake_controller(pod, true)),
        Event::Updated { old, new } => {
            let controller = |pod| controller_of(SharedObject::<Pod>::meta(pod)).map(|owner| owner.uid());
            if controller(old) != controller(new) {
                wake_controller(old, true);
            }
            if !wake_controller(new, false) && old.meta().labels() != new.meta().labels() {
                wake_possible_owners(new, sets, enqueue);
            }
        }
        Event::Added(pod) => {
            if !wake_controller(pod, false) {
                wake_possible_owners(pod, sets, enqueue);
            }
        }
    }
}

fn wake_possible_owners<K: ReplicaKind>(pod: &SharedObject<Pod>, sets: &Informer<K>, enqueue: &Enqueue) {
    if controller_of(pod.meta()).is_some() || !pod::is_active(pod.view()) {
        return;
    }
    let labels = pod.meta().labels();
    let possible = may_select(sets, pod.namespace(), labels);
    possible.iter().filter(|set| K::selects(set, labels)).for_each(|set| enqueue.add_object(set.meta()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::apps::v1::ReplicaSet;
    use serde_json::json;

    #[test]
    fn the_gap_is_closed_in_bursts() {
        let check = |wanted, active, expected| assert_eq!(plan_replicas(wanted, active), expected);
        check(3, 3, Plan::Nothing);
        check(3, 1, Plan::Create(2));
        check(1000, 0, Plan::Create(500));
        check(1, 4, Plan::Delete(3));
        check(0, 501, Plan::Delete(500));
    }

    #[test]
    fn a_pod_takes_the_templates_metadata_and_the_sets_ownership() {
        let set = ReplicaSet::from(json!({
            "metadata": {"name": "web-5d4", "namespace": "default", "uid": "u"},
            "spec": {"selector": {}, "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}, "finalizers": ["x/y"]},
                "spec": {"containers": [{"name": "c"}]},
            }},
        }));
        let pod = plan_pod(set.view(), controller_reference::<ReplicaSet>(set.view()));
        let pod = pod.value();
        assert_eq!(
            pod["metadata"],
            json!({
                "generateName": "web-5d4-", "namespace": "default", "labels": {"app": "web"},
                "annotations": {"a": "b"}, "finalizers": ["x/y"],
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d4", "uid": "u",
                    "controller": true, "blockOwnerDeletion": true}],
            })
        );
        assert_eq!(pod["spec"]["containers"][0]["name"], "c");
    }
}
