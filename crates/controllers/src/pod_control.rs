//! How a controller makes and removes its pods: many at a time, each told to the owner's
//! events and to the controller's expectations. Called by the controllers of replica sets,
//! replication controllers and daemon sets.

use crate::error::{During, Result};
use crate::expectations::Expectations;
use crate::runner::{Context, Key};
use ferry_client::DeleteParams;
use futures_util::future::join_all;
use k8s_openapi::api::core::v1::{ObjectReference, Pod};
use std::sync::Arc;

/// The owner, as keys and events name it, and what it waits to see.
pub struct PodControl<'a> {
    pub ctx: &'a Context,
    pub key: &'a Key,
    pub subject: ObjectReference,
    pub expectations: &'a Expectations,
}

impl PodControl<'_> {
    /// Creates in batches of 1, 2, 4 …, so that a quota or a broken template costs one
    /// failed request and not hundreds. The first failing batch ends the round.
    pub async fn create(&self, pods: &[Pod]) -> Result<()> {
        let mut left = pods;
        let mut batch = 1;
        while !left.is_empty() {
            let (now, later) = left.split_at(batch.min(left.len()));
            let created = join_all(now.iter().map(|pod| self.ctx.client.create(&self.key.namespace, pod))).await;
            let mut failure = None;
            for result in created {
                match result {
                    Ok(pod) => {
                        let name = pod.metadata.name.unwrap_or_default();
                        self.expectations.created(self.key, pod.metadata.uid.as_deref().unwrap_or_default(), &name);
                        self.ctx.recorder.normal(&self.subject, "SuccessfulCreate", format!("Created pod: {name}"));
                    }
                    // Nothing can be created there any more: no failure, and no more tries.
                    Err(error) if error.is_namespace_terminating() => return Ok(()),
                    Err(error) => {
                        self.ctx.recorder.warning(&self.subject, "FailedCreate", format!("Error creating: {error}"));
                        failure = Some(error);
                    }
                }
            }
            if let Some(error) = failure {
                return Err(error).during("create a pod of", self.key);
            }
            left = later;
            batch *= 2;
        }
        Ok(())
    }

    /// Deletes all of them at once. One that is gone, or is another by now, is no failure.
    pub async fn delete(&self, doomed: impl IntoIterator<Item = &Arc<Pod>>) -> Result<()> {
        let deletions = doomed.into_iter().map(|pod| async move {
            let name = pod.metadata.name.as_deref().unwrap_or_default();
            let params = DeleteParams { uid: pod.metadata.uid.clone(), ..Default::default() };
            match self.ctx.client.delete::<Pod>(&self.key.namespace, name, &params).await {
                Ok(()) => {
                    self.expectations.deleted(self.key, pod.metadata.uid.as_deref().unwrap_or_default(), name);
                    self.ctx.recorder.normal(&self.subject, "SuccessfulDelete", format!("Deleted pod: {name}"));
                    Ok(())
                }
                Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
                Err(error) => {
                    self.ctx.recorder.warning(&self.subject, "FailedDelete", format!("Error deleting: {error}"));
                    Err(error).during("delete the pod", name)
                }
            }
        });
        join_all(deletions).await.into_iter().collect()
    }
}
