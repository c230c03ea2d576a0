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

use crate::claim::{claim, controller_of, is_controlled_by};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch, event_versions};
use crate::template::same_template;
use crate::{pod, selector};
use async_trait::async_trait;
pub(crate) use fencepost::scaled;
use ferry_client::{DeleteParams, Event, EventType, Informer, Informers, reference};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
use k8s_openapi::api::core::v1::Pod;
use plan::{Observed, Write, plan_deployment};
use progress::{PROGRESSING, condition, progress_deadline, set_condition};
use std::sync::Arc;

pub struct DeploymentController;

#[async_trait]
impl Controller for DeploymentController {
    fn name(&self) -> &'static str {
        "deployment-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let (deployments, sets) = (informers.of::<Deployment>(), informers.of::<ReplicaSet>());
        vec![
            Watch::itself(informers.of::<Deployment>()),
            Watch::new(informers.of::<ReplicaSet>(), move |event, enqueue| wake_for_set(event, &deployments, enqueue)),
            Watch::new(informers.of::<Pod>(), move |event, enqueue| wake_for_pod(event, &sets, enqueue)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(deployment) = ctx.informers.of::<Deployment>().get(&key.namespace, &key.name) else {
            return Ok(Action::Done);
        };
        let Some(observed) = observe(ctx, deployment).await? else { return Ok(Action::Done) };
        let plan = plan_deployment(&observed);
        for write in plan.writes {
            execute(ctx, &observed.deployment, write).await?;
        }
        Ok(Action::after(plan.check_after))
    }
}

/// Gathers the deployment's sets, adopting and releasing on the way.
async fn observe(ctx: &Context, deployment: Arc<Deployment>) -> Result<Option<Observed>> {
    let Some(spec) = &deployment.spec else { return Ok(None) };
    let all = ctx.informers.of::<ReplicaSet>();
    let matches = |set: &ReplicaSet| selector::matches(&spec.selector, set.metadata.labels.as_ref());
    let candidates: Vec<Arc<ReplicaSet>> = all
        .list(deployment.metadata.namespace.as_deref())
        .into_iter()
        .filter(|set| is_controlled_by(&set.metadata, &deployment.metadata) || controller_of(&set.metadata).is_none())
        .collect();
    let sets = if selector::is_empty(&spec.selector) {
        Vec::new()
    } else {
        claim(ctx, &*deployment, candidates, matches).await?
    };
    let pods = ctx.informers.of::<Pod>();
    let has_pods = |uid: &String| pods.owned_by(uid).iter().any(|pod| !pod::is_terminal(pod));
    let sets_with_pods = if fencepost::is_rolling(&deployment) {
        Vec::new()
    } else {
        sets.iter().filter_map(|set| set.metadata.uid.clone()).filter(has_pods).collect()
    };
    Ok(Some(Observed { deployment, sets, sets_with_pods, now: ctx.now() }))
}

async fn execute(ctx: &Context, deployment: &Deployment, write: Write) -> Result<()> {
    let namespace = deployment.metadata.namespace.as_deref().unwrap_or_default();
    let subject = reference(deployment);
    match write {
        Write::Event { kind, reason, message } => ctx.recorder.event(&subject, kind, reason, message),
        Write::CreateSet(set) => create_set(ctx, deployment, *set).await?,
        Write::UpdateSet { set, scaled } => {
            let name = set.metadata.name.as_deref().unwrap_or_default();
            ctx.client.replace(namespace, &*set).await.during("update the replica set", name)?;
            if let Some((from, to)) = scaled {
                let direction = if from < to { "up" } else { "down" };
                let message = format!("Scaled {direction} replica set {name} from {from} to {to}");
                ctx.recorder.event(&subject, EventType::Normal, "ScalingReplicaSet", message);
            }
        }
        Write::DeleteSet(name) => {
            match ctx.client.delete::<ReplicaSet>(namespace, &name, &DeleteParams::default()).await {
                Err(error) if error.is_not_found() => {}
                other => other.during("delete the replica set", &name)?,
            }
        }
        Write::UpdateDeployment(changed) => {
            ctx.client.replace(namespace, &*changed).await.during("roll back", Key::of(&deployment.metadata))?;
        }
        Write::UpdateStatus(changed) => {
            let key = Key::of(&deployment.metadata);
            ctx.client.replace_status(namespace, &*changed).await.during("update the status of", key)?;
        }
    }
    Ok(())
}

/// A set of that name may exist already: ours, when the cache lags; or another template
/// with the same hash, and then the collision count makes another name.
async fn create_set(ctx: &Context, deployment: &Deployment, set: ReplicaSet) -> Result<()> {
    let namespace = deployment.metadata.namespace.as_deref().unwrap_or_default();
    let name = set.metadata.name.as_deref().unwrap_or_default();
    let subject = reference(deployment);
    match ctx.client.create(namespace, &set).await {
        Ok(_) => {
            let size = replicas(&set);
            if size > 0 {
                let message = format!("Scaled up replica set {name} from 0 to {size}");
                ctx.recorder.normal(&subject, "ScalingReplicaSet", message);
            }
            Ok(())
        }
        Err(error) if error.is_already_exists() => {
            let live = ctx.client.get::<ReplicaSet>(namespace, name).await.during("get the replica set", name)?;
            let template = live.spec.as_ref().and_then(|spec| spec.template.as_ref());
            let wanted = deployment.spec.as_ref().map(|spec| &spec.template);
            let is_ours = is_controlled_by(&live.metadata, &deployment.metadata)
                && template.zip(wanted).is_some_and(|(a, b)| same_template(a, b));
            if is_ours {
                // The watch will bring it, and the rollout goes on from there.
                return Err(Error::Retry(format!("replica set {name} exists and is not yet in the cache")));
            }
            let mut collided = deployment.clone();
            let status = collided.status.get_or_insert_default();
            status.collision_count = Some(status.collision_count.unwrap_or(0).saturating_add(1));
            let key = Key::of(&deployment.metadata);
            ctx.client.replace_status(namespace, &collided).await.during("count a hash collision of", &key)?;
            Err(error).during("create the replica set", name)
        }
        Err(error) if error.is_namespace_terminating() => Err(error).during("create the replica set", name),
        Err(error) => {
            let message = format!("Failed to create new replica set {name:?}: {error}");
            if progress_deadline(deployment).is_some() {
                let mut failed = deployment.clone();
                let reason = "ReplicaSetCreateError";
                let noted = condition(PROGRESSING, "False", reason, message.clone(), ctx.now());
                set_condition(failed.status.get_or_insert_default(), noted);
                // The failure to create is what matters; failing to report it is not.
                let _ = ctx.client.replace_status(namespace, &failed).await;
            }
            ctx.recorder.warning(&subject, "ReplicaSetCreateError", message);
            Err(error).during("create the replica set", name)
        }
    }
}

fn wake_for_set(event: &Event<ReplicaSet>, deployments: &Informer<Deployment>, enqueue: &Enqueue) {
    let (old, new) = event_versions(event);
    for set in [old, new].into_iter().flatten() {
        if let Some(owner) = controller_of(&set.metadata).filter(|owner| owner.kind == "Deployment") {
            enqueue.add(Key::new(set.metadata.namespace.clone().unwrap_or_default(), owner.name.clone()));
        }
    }
    let Some(orphan) = new.filter(|set| controller_of(&set.metadata).is_none()) else { return };
    if old.is_some_and(|old| old.metadata.labels == orphan.metadata.labels)
        && old.is_some_and(|old| controller_of(&old.metadata).is_none())
    {
        return;
    }
    for deployment in deployments.list(orphan.metadata.namespace.as_deref()) {
        if let Some(spec) = &deployment.spec
            && !selector::is_empty(&spec.selector)
            && selector::matches(&spec.selector, orphan.metadata.labels.as_ref())
        {
            enqueue.add_object(&deployment.metadata);
        }
    }
}

/// Only Recreate waits for pods, and only for their end.
fn wake_for_pod(event: &Event<Pod>, sets: &Informer<ReplicaSet>, enqueue: &Enqueue) {
    let ended = match event {
        Event::Deleted(_) => true,
        Event::Updated { old, new } => !pod::is_terminal(old) && pod::is_terminal(new),
        Event::Added(_) => false,
    };
    let pod = event.object();
    let Some(owner) = controller_of(&pod.metadata).filter(|owner| ended && owner.kind == "ReplicaSet") else { return };
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let Some(set) = sets.get(namespace, &owner.name) else { return };
    if let Some(owner) = controller_of(&set.metadata).filter(|owner| owner.kind == "Deployment") {
        enqueue.add(Key::new(namespace, owner.name.clone()));
    }
}

fn wanted(deployment: &Deployment) -> i32 {
    deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
}

/// A sum that stays within the type: sizes are whatever users write.
fn total_of(sizes: impl Iterator<Item = i32>) -> i32 {
    sizes.fold(0, i32::saturating_add)
}

fn replicas(set: &ReplicaSet) -> i32 {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
}

/// The pods that can be relied on. A set that was just scaled down still reports what it
/// had; what is about to go must not be counted, or a quick undo would take too many.
fn available(set: &ReplicaSet) -> i32 {
    set.status.as_ref().and_then(|status| status.available_replicas).unwrap_or(0).min(replicas(set))
}

fn created(set: &ReplicaSet) -> Option<Timestamp> {
    set.metadata.creation_timestamp.as_ref().map(|time| time.0)
}
