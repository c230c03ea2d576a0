//! Carries out the steps that plan.rs decided: each write is reported to the set's events in
//! upstream's words, and each pod to the controller's expectations.

use super::identity::{identity_matches, ordinal, plan_claims, set_identity, set_storage, storage_matches};
use super::plan::{Claims, Plan, Step};
use super::retention::Owners;
use crate::error::{During, Error, Result};
use crate::runner::{Context, Key};
use crate::workload::expectations::Expectations;
use ferry_api::view::Owned;
use ferry_api::view::apps::v1::StatefulSet;
use ferry_api::view::core::v1::{PersistentVolumeClaim, Pod, PodView};
use ferry_client::{DeleteParams, SharedObject};
use futures_util::future::join_all;

/// How many requests a Parallel set has in flight at most (upstream's MaxBatchSize).
const MAX_BATCH: usize = 500;

/// The set whose pods are changed, and what its caches held when the plan was made.
pub(super) struct Executor<'a> {
    pub ctx: &'a Context,
    pub key: &'a Key,
    pub set: &'a SharedObject<StatefulSet>,
    pub claims: &'a Claims,
    pub expectations: &'a Expectations,
    pub is_ordered: bool,
}

impl Executor<'_> {
    /// Returns whether a pod was deleted for the update. The first failure ends it.
    pub(super) async fn execute(&self, plan: &Plan) -> Result<bool> {
        for round in &plan.rounds {
            self.take(round).await?;
        }
        match &plan.outdated {
            Some(pod) => self.delete(pod).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// An ordered set takes one step at a time. A Parallel one takes batches of 1, 2, 4 …, so
    /// that a quota or a broken template costs one failed request and not hundreds.
    async fn take(&self, steps: &[Step]) -> Result<()> {
        let (mut left, mut batch) = (steps, 1);
        while !left.is_empty() {
            let (now, later) = left.split_at(batch.min(left.len()));
            join_all(now.iter().map(|step| self.step(step))).await.into_iter().collect::<Result<()>>()?;
            left = later;
            batch = if self.is_ordered { 1 } else { (batch * 2).min(MAX_BATCH) };
        }
        Ok(())
    }

    async fn step(&self, step: &Step) -> Result<()> {
        match step {
            Step::Create(pod) => self.create(pod).await,
            Step::Delete(pod) => self.delete(pod).await,
            Step::MakeClaims(pod) => {
                self.make_claims(pod.view()).await?;
                let retained = self.retain_claims(pod.view()).await;
                self.report_failure("Update", pod.name(), retained)
            }
            Step::Mend(pod) => self.mend(pod).await,
            Step::RetainClaims(pod) => self.retain_claims(pod.view()).await,
        }
    }

    async fn create(&self, pod: &Pod) -> Result<()> {
        let name = pod.view().metadata().name();
        let made = self.make_claims(pod.view()).await;
        self.report_failure("Create", name, made)?;
        match self.ctx.client.api::<Pod>(&self.key.namespace).create(pod).await {
            Ok(made) => {
                self.expectations.created(self.key, made.uid(), name);
                let retained = self.retain_claims(made.view()).await;
                self.report_failure("Update", name, retained)?;
                self.report("Create", name);
                Ok(())
            }
            // Somebody else's pod has the name; it is not worth an event, as upstream sees it.
            Err(error) if error.is_already_exists() => Err(error).during("create the pod", name),
            Err(error) => self.report_failure("Create", name, Err(error).during("create the pod", name)),
        }
    }

    /// A pod that is gone counts as deleted, and so does one whose name another has by now.
    async fn delete(&self, pod: &SharedObject<Pod>) -> Result<()> {
        let params = DeleteParams { uid: Some(pod.uid().to_owned()), ..Default::default() };
        match self.ctx.client.api::<Pod>(&self.key.namespace).delete(pod.name(), &params).await {
            Ok(()) => self.expectations.deleted(self.key, pod.uid(), pod.name()),
            Err(error) if error.is_not_found() => {}
            Err(error) if error.is_conflict() => return Ok(()),
            Err(error) => {
                return self.report_failure("Delete", pod.name(), Err(error).during("delete the pod", pod.name()));
            }
        }
        self.report("Delete", pod.name());
        Ok(())
    }

    /// Brings a pod back to the identity, the volumes and the claims of its ordinal.
    async fn mend(&self, pod: &SharedObject<Pod>) -> Result<()> {
        let mended = self.mend_pod(pod).await;
        self.report_failure("Update", pod.name(), mended)?;
        self.report("Update", pod.name());
        Ok(())
    }

    async fn mend_pod(&self, pod: &SharedObject<Pod>) -> Result<()> {
        let set = self.set.view();
        let Some(place) = ordinal(set, pod.view()) else { return Ok(()) };
        let has_storage = storage_matches(set, pod.view(), place);
        if !has_storage {
            self.make_claims(pod.view()).await?;
        }
        self.retain_claims(pod.view()).await?;
        if has_storage && identity_matches(pod.view()) {
            return Ok(());
        }
        let mut mended = pod.to_owned();
        mended.edit_metadata(|meta| set_identity(meta, pod.name(), place));
        mended.edit_spec(|spec| set_storage(set, spec, place));
        let api = self.ctx.client.api::<Pod>(&self.key.namespace);
        api.replace(&mended).await.during("update the pod", pod.name()).map(drop)
    }

    /// Makes the claims that the pod lacks. A claim that is being deleted fails: the pod must
    /// not start with data that is about to go.
    async fn make_claims(&self, pod: PodView<'_>) -> Result<()> {
        let set = self.set.view();
        let Some(place) = ordinal(set, pod) else { return Ok(()) };
        let mut failure = Ok(());
        for mut claim in plan_claims(set, place) {
            let name = claim.view().metadata().name().to_owned();
            let is_leaving = match self.claims.get(&name) {
                Some(there) => there.is_deleting(),
                None => {
                    let references = Owners { set, pod }.judge(claim.view().metadata()).references;
                    if let Some(references) = references {
                        claim.edit_metadata(|meta| meta.set_owner_references(references));
                    }
                    match self.make_claim(pod.metadata().name(), &claim).await {
                        Ok(there) => there.is_deleting(),
                        Err(error) => {
                            failure = Err(error);
                            continue;
                        }
                    }
                }
            };
            if is_leaving {
                failure = Err(Error::Retry(format!("pvc {name} is being deleted")));
            }
        }
        failure
    }

    async fn make_claim(
        &self,
        pod: &str,
        claim: &PersistentVolumeClaim,
    ) -> Result<SharedObject<PersistentVolumeClaim>> {
        let api = self.ctx.client.api::<PersistentVolumeClaim>(&self.key.namespace);
        let (recorder, set, name) = (&self.ctx.recorder, self.set, claim.view().metadata().name());
        match api.create(claim).await {
            Ok(made) => {
                let text = format!("Create Claim {name} Pod {pod} in StatefulSet {} success", set.name());
                recorder.normal(set, "SuccessfulCreate", text);
                Ok(made)
            }
            // The cache is behind: the claim may have been made by the last reconcile.
            Err(error) if error.is_already_exists() => api.get(name).await.during("get the claim", name),
            Err(error) => {
                let text =
                    format!("Create Claim {name} for Pod {pod} in StatefulSet {} failed error: {error}", set.name());
                recorder.warning(set, "FailedCreate", text);
                Err(error).during("failed to create PVC", name)
            }
        }
    }

    /// Gives the claims that are known the owners that the retention policy asks for.
    async fn retain_claims(&self, pod: PodView<'_>) -> Result<()> {
        let set = self.set.view();
        let Some(place) = ordinal(set, pod) else { return Ok(()) };
        let api = self.ctx.client.api::<PersistentVolumeClaim>(&self.key.namespace);
        for planned in plan_claims(set, place) {
            let Some(claim) = self.claims.get(planned.view().metadata().name()) else { continue };
            let ownership = Owners { set, pod }.judge(claim.meta());
            if ownership.is_contested {
                let text = format!(
                    "PersistentVolumeClaim {} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim",
                    claim.name()
                );
                self.ctx.recorder.warning(self.set, "ConflictingController", text);
            }
            if let Some(references) = ownership.references {
                let mut owned = claim.to_owned();
                owned.edit_metadata(|meta| meta.set_owner_references(references));
                api.replace(&owned).await.during("set the owners of claim", claim.name())?;
            }
        }
        Ok(())
    }

    fn report(&self, verb: &str, pod: &str) {
        let text = format!("{verb} Pod {pod} in StatefulSet {} successful", self.set.name());
        self.ctx.recorder.normal(self.set, &format!("Successful{verb}"), text);
    }

    fn report_failure(&self, verb: &str, pod: &str, result: Result<()>) -> Result<()> {
        if let Err(error) = &result
            && !error.is_namespace_terminating()
        {
            let text = format!("{verb} Pod {pod} in StatefulSet {} failed error: {}", self.set.name(), error.cause());
            self.ctx.recorder.warning(self.set, &format!("Failed{verb}"), text);
        }
        result
    }
}
