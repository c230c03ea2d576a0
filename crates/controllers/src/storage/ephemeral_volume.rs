//! Makes the claims of generic ephemeral volumes: each belongs to its pod and goes with it by
//! garbage collection. A claim of the name that belongs to somebody else is never taken; the
//! pod reports it and waits.
//!
//! Upstream: pkg/controller/volume/ephemeral.

use super::pods_by_claim::{by_claim, using_claim};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::owner::controller_reference;
use ferry_api::rules::volume_match::{claim_name, not_made_for_pod};
use ferry_api::view::core::v1::{PersistentVolumeClaim, Pod, PodView, VolumeView};
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::{Event, Informers, SharedObject};

pub(crate) struct EphemeralVolumeController;

#[async_trait]
impl Controller for EphemeralVolumeController {
    fn name(&self) -> &'static str {
        "ephemeral-volume-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let pods = by_claim(informers.of::<Pod>());
        let users = pods.clone();
        vec![
            // A pod's volumes never change, so that only its arrival matters.
            Watch::new(pods, |event, enqueue| {
                if let Event::Added(pod) = event {
                    wake(pod, enqueue);
                }
            }),
            Watch::new(informers.of::<PersistentVolumeClaim>(), move |event, enqueue| {
                if let Event::Deleted(claim) = event {
                    using_claim(&users, &Key::of(claim.meta())).iter().for_each(|pod| wake(pod, enqueue));
                }
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(pod) = ctx.informers.of::<Pod>().get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        if pod.is_deleting() {
            return Ok(Action::Done);
        }
        for volume in pod.view().spec().volumes().iter().filter(|volume| volume.ephemeral().is_some()) {
            if let Err(error) = ensure_claim(ctx, &pod, volume).await {
                let message = format!("ephemeral volume {}: {}", volume.name(), error.cause());
                ctx.recorder.warning(&pod, "FailedBinding", message);
                return Err(error);
            }
        }
        Ok(Action::Done)
    }
}

fn wake(pod: &SharedObject<Pod>, enqueue: &Enqueue) {
    if !pod.is_deleting() && pod.view().spec().volumes().iter().any(|volume| volume.ephemeral().is_some()) {
        enqueue.add_object(pod.meta());
    }
}

async fn ensure_claim(ctx: &Context, pod: &SharedObject<Pod>, volume: VolumeView<'_>) -> Result<()> {
    let Some(claim) = plan_claim(pod.view(), volume) else { return Ok(()) };
    let key = Key::of(SharedObject::<PersistentVolumeClaim>::of(claim.clone()).meta());
    let api = ctx.client.api::<PersistentVolumeClaim>(&key.namespace);
    let found = match ctx.informers.of::<PersistentVolumeClaim>().get(&key.namespace, &key.name) {
        Some(found) => found,
        None => match api.create(&claim).await {
            // Our copy is late: it was made in an earlier round, or by somebody else.
            Err(error) if error.is_already_exists() => api.get(&key.name).await.during("read claim", &key)?,
            made => return made.during("create PVC", &key.name).map(drop),
        },
    };
    match not_made_for_pod(pod.view(), found.view()) {
        Some(why) => Err(Error::Retry(why)),
        None => Ok(()),
    }
}

/// The claim of an ephemeral volume, after its template.
fn plan_claim(pod: PodView<'_>, volume: VolumeView<'_>) -> Option<PersistentVolumeClaim> {
    let template = volume.ephemeral()?.volume_claim_template()?;
    let metadata = ObjectMeta::new()
        .with_namespace(pod.metadata().namespace())
        .with_name(claim_name(pod, volume)?)
        .with_annotations(template.metadata().annotations().iter())
        .with_labels(template.metadata().labels().iter())
        .with_owner_references([controller_reference::<Pod>(pod)]);
    Some(PersistentVolumeClaim::new().with_metadata(metadata).with_spec(template.spec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn the_claim_follows_the_template_and_belongs_to_the_pod() {
        let pod = json!({"metadata": {"namespace": "ns", "name": "web", "uid": "p1"}});
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let volume = json!({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {
            "metadata": {"labels": {"a": "b"}}, "spec": spec}}});
        let claim: Value = plan_claim((&pod).into(), (&volume).into()).expect("a claim").into();
        let expected = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec,
            "metadata": {"namespace": "ns", "name": "web-scratch", "labels": {"a": "b"}, "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": "web", "uid": "p1", "controller": true,
                    "blockOwnerDeletion": true}]}});
        assert_eq!(claim, expected);
        assert!(plan_claim((&pod).into(), (&json!({"name": "v", "emptyDir": {}})).into()).is_none());
    }
}
