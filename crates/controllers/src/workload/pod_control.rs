//! How a controller makes and removes its pods: many at a time, each reported to the owner's
//! events and to the controller's expectations. Called by the controllers of replica sets,
//! replication controllers, daemon sets and jobs; [`disrupt`] by those that evict.

use crate::error::{During, Result};
use crate::runner::{Context, Key};
use crate::workload::expectations::Expectations;
use ferry_api::view::core::v1::Pod;
use ferry_client::{DeleteParams, Patch, Reference, SharedObject};
use futures_util::future::join_all;
use serde_json::json;

/// The owner, as keys and events name it, and what it waits to see.
pub(crate) struct PodControl<'a> {
    pub ctx: &'a Context,
    pub key: &'a Key,
    pub subject: Reference,
    pub expectations: &'a Expectations,
}

impl PodControl<'_> {
    /// Creates in batches of 1, 2, 4 …, so that a quota or a broken template costs one
    /// failed request and not hundreds. The first failing batch ends the round.
    pub(crate) async fn create(&self, pods: &[&Pod]) -> Result<()> {
        self.create_counted(pods).await.1
    }

    /// [`PodControl::create`], and how many pods were made before the round ended.
    pub(crate) async fn create_counted(&self, pods: &[&Pod]) -> (usize, Result<()>) {
        let api = self.ctx.client.api::<Pod>(&self.key.namespace);
        let mut left = pods;
        let (mut batch, mut made) = (1, 0);
        while !left.is_empty() {
            let (now, later) = left.split_at(batch.min(left.len()));
            let created = join_all(now.iter().map(|pod| api.create(pod))).await;
            let mut failure = None;
            for result in created {
                match result {
                    Ok(pod) => {
                        made += 1;
                        self.expectations.created(self.key, pod.uid(), pod.name());
                        let message = format!("Created pod: {}", pod.name());
                        self.ctx.recorder.normal(&self.subject, "SuccessfulCreate", message);
                    }
                    // Nothing can be created there any more: no failure, and no more tries.
                    Err(error) if error.is_namespace_terminating() => return (made, Ok(())),
                    Err(error) => {
                        self.ctx.recorder.warning(&self.subject, "FailedCreate", format!("Error creating: {error}"));
                        failure = Some(error);
                    }
                }
            }
            if let Some(error) = failure {
                return (made, Err(error).during("create a pod of", self.key));
            }
            left = later;
            batch *= 2;
        }
        (made, Ok(()))
    }

    /// Deletes all of them at once. One that is gone, or is another by now, is no failure.
    pub(crate) async fn delete(&self, doomed: impl IntoIterator<Item = &SharedObject<Pod>>) -> Result<()> {
        join_all(doomed.into_iter().map(|pod| self.delete_one(pod))).await.into_iter().collect()
    }

    pub(crate) async fn delete_one(&self, pod: &SharedObject<Pod>) -> Result<()> {
        let api = self.ctx.client.api::<Pod>(&self.key.namespace);
        let params = DeleteParams { uid: Some(pod.uid().to_owned()), ..Default::default() };
        match api.delete(pod.name(), &params).await {
            Ok(()) => {
                self.expectations.deleted(self.key, pod.uid(), pod.name());
                let message = format!("Deleted pod: {}", pod.name());
                self.ctx.recorder.normal(&self.subject, "SuccessfulDelete", message);
                Ok(())
            }
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
            Err(error) => {
                self.ctx.recorder.warning(&self.subject, "FailedDelete", format!("Error deleting: {error}"));
                Err(error).during("delete the pod", pod.name())
            }
        }
    }
}

/// Deletes a pod that must leave, with a condition that tells why. A pod that is gone, or is
/// another by now, is no failure.
pub(crate) async fn disrupt(ctx: &Context, pod: &SharedObject<Pod>, reason: &str, message: &str) -> Result<()> {
    let patch = json!({"metadata": {"uid": pod.uid()}, "status": {"conditions": [{
        "type": "DisruptionTarget", "status": "True", "reason": reason, "message": message,
        "lastTransitionTime": ctx.now(),
    }]}});
    let pods = ctx.client.api::<Pod>(pod.namespace());
    match pods.patch_status(pod.name(), &Patch::Strategic(patch)).await {
        Err(error) if error.is_not_found() => return Ok(()),
        other => drop(other.during("mark as disrupted the pod", pod.name())?),
    }
    let params = DeleteParams { uid: Some(pod.uid().to_owned()), ..Default::default() };
    match pods.delete(pod.name(), &params).await {
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
        other => other.during("evict the pod", pod.name()),
    }
}
