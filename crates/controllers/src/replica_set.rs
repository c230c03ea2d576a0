//! Keeps the number of a ReplicaSet's or ReplicationController's pods at what its spec
//! asks for.
//!
//! Reconciled by the runner; woken by the set itself and by every pod that it controls or
//! could adopt. The reference is upstream's pkg/controller/replicaset.

mod kind;
mod rank;
mod status;

use crate::claim::{claim, controller_of, controller_reference, is_controlled_by};
use crate::error::{During, Error, Result};
use crate::expectations::{Expectations, Seen};
use crate::pod;
use crate::pod_control::PodControl;
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_client::{Event, Informer, Informers, reference};
use k8s_openapi::api::apps::v1::{ReplicaSet, ReplicaSetStatus};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kind::ReplicaKind;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// How many pods one reconcile creates or deletes at most (upstream's BurstReplicas).
const BURST: usize = 500;

/// How long an unmet expectation may block a set that nothing else wakes.
const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

pub struct ReplicaController<K> {
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
        let sets = informers.of::<K>();
        vec![
            Watch::itself(informers.of::<K>()),
            Watch::new(informers.of::<Pod>(), move |event, enqueue| {
                wake_for_pod(event, &sets, &expectations, enqueue);
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let pods = ctx.informers.of::<Pod>();
        let Some(owner) = ctx.informers.of::<K>().get(&key.namespace, &key.name) else {
            self.expectations.forget(key);
            return Ok(Action::Done);
        };
        let set = owner.as_replica_set();
        let caught_up = self.expectations.are_met(key, |name, uid| match pods.get(&key.namespace, name) {
            Some(pod) if pod.metadata.uid.as_deref() != Some(uid) => Seen::Absent,
            Some(pod) if pod.metadata.deletion_timestamp.is_some() => Seen::Leaving,
            Some(_) => Seen::Alive,
            None => Seen::Absent,
        });
        let Some(spec) = &set.spec else { return Ok(Action::Done) };
        let (active, terminating) = self.own_pods(ctx, &*owner, &pods).await?;
        let managed = if caught_up && set.metadata.deletion_timestamp.is_none() {
            self.manage(ctx, key, &*owner, &set, &active).await
        } else {
            Ok(())
        };
        let now = ctx.now();
        let counted = K::COUNTS_TERMINATING.then_some(terminating.as_slice());
        if let Some(status) = status::compute_status(&set, &active, counted, managed.as_ref().err(), now) {
            update_status(ctx, &*owner, status).await?;
        }
        managed?;
        if !caught_up {
            return Ok(Action::RequeueAfter(RECHECK));
        }
        let min_ready = spec.min_ready_seconds.unwrap_or(0);
        let next = active.iter().filter_map(|pod| match pod::availability(pod, min_ready, now) {
            pod::Availability::In(left) => Some(left),
            _ => None,
        });
        Ok(Action::after(next.min()))
    }
}

impl<K: ReplicaKind> ReplicaController<K> {
    /// The pods that are the set's after adoption and release: active and terminating.
    async fn own_pods(&self, ctx: &Context, owner: &K, pods: &Informer<Pod>) -> Result<(Vec<Arc<Pod>>, Vec<Arc<Pod>>)> {
        let meta = owner.metadata();
        let matches = |pod: &Pod| owner.selects(pod.metadata.labels.as_ref());
        let namespace = meta.namespace.as_deref().unwrap_or_default();
        let mut candidates = pods.owned_by(meta.uid.as_deref().unwrap_or_default());
        candidates.retain(|pod| is_controlled_by(&pod.metadata, meta));
        let (terminating, mut active): (Vec<_>, Vec<_>) = candidates
            .into_iter()
            .filter(|pod| pod::is_active(pod) || pod::is_terminating(pod))
            .partition(|pod| pod::is_terminating(pod));
        active.extend(
            pods.list(Some(namespace))
                .into_iter()
                .filter(|pod| controller_of(&pod.metadata).is_none() && pod::is_active(pod) && matches(pod)),
        );
        let active = claim(ctx, owner, active, matches).await?;
        let terminating = terminating.into_iter().filter(|pod| matches(pod)).collect();
        Ok((active, terminating))
    }

    async fn manage(&self, ctx: &Context, key: &Key, owner: &K, set: &ReplicaSet, active: &[Arc<Pod>]) -> Result<()> {
        let pods = PodControl { ctx, key, subject: reference(owner), expectations: &self.expectations };
        match plan_replicas(wanted(set), active.len()) {
            Plan::Nothing => Ok(()),
            Plan::Create(count) => {
                self.expectations.open(key);
                let result = pods.create(&vec![plan_pod(set, controller_reference(owner)); count]).await;
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

fn wanted(set: &ReplicaSet) -> usize {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1).try_into().unwrap_or(0)
}

/// The pod that the set's template describes.
fn plan_pod(set: &ReplicaSet, owner: OwnerReference) -> Pod {
    let template = set.spec.as_ref().and_then(|spec| spec.template.clone()).unwrap_or_default();
    let meta = template.metadata.unwrap_or_default();
    Pod {
        metadata: ObjectMeta {
            generate_name: Some(format!("{}-", set.metadata.name.as_deref().unwrap_or_default())),
            namespace: set.metadata.namespace.clone(),
            labels: meta.labels,
            annotations: meta.annotations,
            finalizers: meta.finalizers,
            owner_references: Some(vec![owner]),
            ..Default::default()
        },
        spec: template.spec,
        status: None,
    }
}

/// The pods of every set with the same owner: a rollout's old and new pods are ranked
/// against each other, so that a scale-down evens out the nodes.
fn related_pods<K: ReplicaKind>(ctx: &Context, set: &K) -> Vec<Arc<Pod>> {
    let Some(owner) = controller_of(set.metadata()) else { return Vec::new() };
    let pods = ctx.informers.of::<Pod>();
    let siblings = ctx.informers.of::<K>().owned_by(&owner.uid);
    siblings.iter().flat_map(|sibling| pods.owned_by(sibling.metadata().uid.as_deref().unwrap_or_default())).collect()
}

/// One retry with the live object, as upstream: the cache often lags by a moment and the
/// status is ours alone to write.
async fn update_status<K: ReplicaKind>(ctx: &Context, owner: &K, status: ReplicaSetStatus) -> Result<()> {
    let meta = owner.metadata();
    let (namespace, name) = (meta.namespace.as_deref().unwrap_or_default(), meta.name.as_deref().unwrap_or_default());
    match ctx.client.replace_status(namespace, &owner.with_status(status.clone())).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_conflict() => {
            let live = ctx.client.get::<K>(namespace, name).await.during("get for its status", name)?;
            if live.metadata().uid != meta.uid {
                return Err(Error::Retry(format!("{} {name} was replaced by another", K::KIND)));
            }
            let updated = live.with_status(status);
            ctx.client.replace_status(namespace, &updated).await.during("update the status of", name).map(drop)
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
    let wake_controller = |pod: &Pod, gone: bool| {
        let Some(owner) = controller_of(&pod.metadata).filter(|owner| owner.kind == K::KIND) else { return false };
        let key = Key::new(pod.metadata.namespace.clone().unwrap_or_default(), owner.name.clone());
        if gone {
            expectations.observe_gone(&key, pod.metadata.uid.as_deref().unwrap_or_default());
        }
        enqueue.add(key);
        true
    };
    match event {
        Event::Deleted(pod) => drop(wake_controller(pod, true)),
        Event::Updated { old, new } => {
            if controller_of(&old.metadata).map(|owner| &owner.uid)
                != controller_of(&new.metadata).map(|owner| &owner.uid)
            {
                wake_controller(old, true);
            }
            if !wake_controller(new, false) && old.metadata.labels != new.metadata.labels {
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

fn wake_possible_owners<K: ReplicaKind>(pod: &Pod, sets: &Informer<K>, enqueue: &Enqueue) {
    if controller_of(&pod.metadata).is_some() || !pod::is_active(pod) {
        return;
    }
    for set in sets.list(pod.metadata.namespace.as_deref()) {
        if set.selects(pod.metadata.labels.as_ref()) {
            enqueue.add_object(set.metadata());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let set: ReplicaSet = serde_json::from_value(json!({
            "metadata": {"name": "web-5d4", "namespace": "default", "uid": "u"},
            "spec": {"selector": {}, "template": {
                "metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}, "finalizers": ["x/y"]},
                "spec": {"containers": [{"name": "c"}]},
            }},
        }))
        .expect("a replica set");
        let pod = serde_json::to_value(plan_pod(&set, controller_reference(&set))).expect("JSON");
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
