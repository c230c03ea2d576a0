//! Rolls a Deployment's template out over ReplicaSets.
//!
//! Split by decision: plan.rs has the order, rolling.rs and recreate.rs the strategies,
//! scale.rs size and pause, revision.rs names and history, rollback.rs the old rollback,
//! progress.rs the status, fencepost.rs the bounds. This file watches, gathers and writes.
//! The reference is upstream's pkg/controller/deployment.

mod fencepost;
mod plan;
mod progress;
mod recreate;
mod revision;
mod rollback;
mod rolling;
mod scale;
#[cfg(test)]
mod simulation;

use crate::error::{During, Error, Result};
use crate::label_index::{by_selector, may_select};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::claim::{candidates, claim, with_orphans};
use crate::workload::template::same_template;
use async_trait::async_trait;
pub(crate) use fencepost::scaled;
use ferry_api::rules::condition::set_unless_same_reason;
use ferry_api::rules::owner::{controller_of, is_controlled_by};
use ferry_api::rules::{label_selector, pod};
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::{Deployment, DeploymentView, ReplicaSet, ReplicaSetView};
use ferry_api::view::core::v1::Pod;
use ferry_client::{DeleteParams, Event, EventType, Informer, Informers, SharedObject};
use plan::{Observed, Set, Write, plan_deployment};
use progress::{PROGRESSING, condition, progress_deadline};
use std::cmp::Ordering;

pub(crate) struct DeploymentController;

#[async_trait]
impl Controller for DeploymentController {
    fn name(&self) -> &'static str {
        "deployment-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let deployments = by_selector(informers.of::<Deployment>());
        let sets = with_orphans(informers.of::<ReplicaSet>());
        vec![
            Watch::itself(deployments.clone()),
            Watch::new(sets.clone(), move |event, enqueue| wake_for_set(event, &deployments, enqueue)),
            Watch::new(informers.of::<Pod>(), move |event, enqueue| wake_for_pod(event, &sets, enqueue)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let deployments = ctx.informers.of::<Deployment>();
        let Some(deployment) = deployments.get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        let observed = observe(ctx, deployment).await?;
        let plan = plan_deployment(&observed);
        for write in plan.writes {
            execute(ctx, &observed.deployment, write).await?;
        }
        Ok(Action::after(plan.check_after))
    }
}

/// Gathers the deployment's sets, adopting and releasing on the way.
async fn observe(ctx: &Context, deployment: SharedObject<Deployment>) -> Result<Observed> {
    let informers = &ctx.informers;
    let sets = if selects_all(deployment.view()) {
        Vec::new()
    } else {
        let selector = deployment.view().spec().selector();
        let matches = |set: &SharedObject<ReplicaSet>| label_selector::matches(selector, set.meta().labels());
        claim(ctx, &deployment, candidates(&informers.of::<ReplicaSet>(), &deployment), matches).await?
    };
    let pods = informers.of::<Pod>();
    let has_pods = |uid: &&str| pods.owned_by(uid).iter().any(|pod| !pod::is_terminal(pod.view()));
    let sets_with_pods = if fencepost::is_rolling(deployment.view()) {
        Vec::new()
    } else {
        sets.iter().map(SharedObject::uid).filter(has_pods).map(str::to_owned).collect()
    };
    Ok(Observed { deployment, sets, sets_with_pods, now: ctx.now() })
}

async fn execute(ctx: &Context, deployment: &SharedObject<Deployment>, write: Write) -> Result<()> {
    let deployments = ctx.client.api::<Deployment>(deployment.namespace());
    let sets = ctx.client.api::<ReplicaSet>(deployment.namespace());
    match write {
        Write::Event { kind, reason, message } => ctx.recorder.event(deployment, kind, reason, message),
        Write::CreateSet(set) => create_set(ctx, deployment, *set).await?,
        Write::UpdateSet { set, scaled } => {
            let name = set.view().metadata().name();
            sets.replace(&set).await.during("update the replica set", name)?;
            if let Some((from, to)) = scaled {
                let direction = if from < to { "up" } else { "down" };
                let message = format!("Scaled {direction} replica set {name} from {from} to {to}");
                ctx.recorder.event(deployment, EventType::Normal, "ScalingReplicaSet", message);
            }
        }
        Write::DeleteSet(name) => match sets.delete(&name, &DeleteParams::default()).await {
            Err(error) if error.is_not_found() => {}
            other => other.during("delete the replica set", &name)?,
        },
        Write::UpdateDeployment(changed) => {
            deployments.replace(&changed).await.during("roll back", Key::of(deployment.meta()))?;
        }
        Write::UpdateStatus(changed) => {
            deployments.replace_status(&changed).await.during("update the status of", Key::of(deployment.meta()))?;
        }
    }
    Ok(())
}

/// A set of that name may exist already: ours, when the cache lags; or another template
/// with the same hash, and then the collision count makes another name.
async fn create_set(ctx: &Context, deployment: &SharedObject<Deployment>, set: ReplicaSet) -> Result<()> {
    let name = set.view().metadata().name();
    let sets = ctx.client.api::<ReplicaSet>(deployment.namespace());
    let deployments = ctx.client.api::<Deployment>(deployment.namespace());
    match sets.create(&set).await {
        Ok(_) => {
            let size = replicas(set.view());
            if size > 0 {
                let message = format!("Scaled up replica set {name} from 0 to {size}");
                ctx.recorder.normal(deployment, "ScalingReplicaSet", message);
            }
            Ok(())
        }
        Err(error) if error.is_already_exists() => {
            let live = sets.get(name).await.during("get the replica set", name)?;
            let wanted = deployment.view().spec().template();
            let is_ours = is_controlled_by(live.meta(), deployment.meta())
                && same_template(live.view().spec().template(), wanted);
            if is_ours {
                // The watch will bring it, and the rollout goes on from there.
                return Err(Error::Retry(format!("replica set {name} exists and is not yet in the cache")));
            }
            let mut collided = deployment.to_owned();
            collided.edit_status(|status| {
                let count = status.view().collision_count().unwrap_or(0);
                status.set_collision_count(count.saturating_add(1));
            });
            let key = Key::of(deployment.meta());
            deployments.replace_status(&collided).await.during("count a hash collision of", &key)?;
            Err(error).during("create the replica set", name)
        }
        Err(error) if error.is_namespace_terminating() => Err(error).during("create the replica set", name),
        Err(error) => {
            let message = format!("Failed to create new replica set {name:?}: {error}");
            if progress_deadline(deployment.view()).is_some() {
                let mut failed = deployment.to_owned();
                let noted = condition(PROGRESSING, "False", "ReplicaSetCreateError", &message, ctx.now());
                failed.edit_status(|status| set_unless_same_reason(status, noted, ctx.now()));
                // The failure to create is what matters; failing to report it is not.
                let _ = deployments.replace_status(&failed).await;
            }
            ctx.recorder.warning(deployment, "ReplicaSetCreateError", message);
            Err(error).during("create the replica set", name)
        }
    }
}

fn wake_for_set(event: &Event<ReplicaSet>, deployments: &Informer<Deployment>, enqueue: &Enqueue) {
    let (old, new) = event.versions();
    for set in [old, new].into_iter().flatten() {
        if let Some(owner) = controller_of(set.meta()).filter(|owner| owner.kind() == "Deployment") {
            enqueue.add(Key::new(set.namespace(), owner.name()));
        }
    }
    let Some(orphan) = new.filter(|set| controller_of(set.meta()).is_none()) else { return };
    let labels = orphan.meta().labels();
    if old.is_some_and(|old| old.meta().labels() == labels && controller_of(old.meta()).is_none()) {
        return;
    }
    for deployment in may_select(deployments, orphan.namespace(), labels) {
        let selector = deployment.view().spec().selector();
        if !selects_all(deployment.view()) && label_selector::matches(selector, labels) {
            enqueue.add_object(deployment.meta());
        }
    }
}

/// Only Recreate waits for pods, and only for their end.
fn wake_for_pod(event: &Event<Pod>, sets: &Informer<ReplicaSet>, enqueue: &Enqueue) {
    let ended = match event {
        Event::Deleted(_) => true,
        Event::Updated { old, new } => !pod::is_terminal(old.view()) && pod::is_terminal(new.view()),
        Event::Added(_) => false,
    };
    let pod = event.object();
    let Some(owner) = controller_of(pod.meta()).filter(|owner| ended && owner.kind() == "ReplicaSet") else { return };
    let Some(set) = sets.get(pod.namespace(), owner.name()) else { return };
    if let Some(owner) = controller_of(set.meta()).filter(|owner| owner.kind() == "Deployment") {
        enqueue.add(Key::new(pod.namespace(), owner.name()));
    }
}

/// A deployment without a selector of its own is left alone.
fn selects_all(deployment: DeploymentView<'_>) -> bool {
    label_selector::is_empty(deployment.spec().selector().unwrap_or_default())
}

fn wanted(deployment: DeploymentView<'_>) -> i32 {
    deployment.spec().replicas().unwrap_or(1)
}

/// A sum that stays within the type: sizes are whatever users write.
fn total_of(sizes: impl Iterator<Item = i32>) -> i32 {
    sizes.fold(0, i32::saturating_add)
}

fn replicas(set: ReplicaSetView<'_>) -> i32 {
    set.spec().replicas().unwrap_or(1)
}

/// The pods that can be relied on. A set that was just scaled down still reports what it
/// had; what is about to go must not be counted, or a quick undo would take too many.
fn available(set: ReplicaSetView<'_>) -> i32 {
    set.status().available_replicas().min(replicas(set))
}

/// Older sets first, and of one age by name.
fn by_age(a: &Set, b: &Set) -> Ordering {
    let (a, b) = (a.view().metadata(), b.view().metadata());
    (a.creation_timestamp(), a.name()).cmp(&(b.creation_timestamp(), b.name()))
}
