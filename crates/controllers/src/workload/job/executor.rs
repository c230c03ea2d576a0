//! The writes of a reconcile of a Job, in the order that keeps every finished pod counted once:
//! the status with the uncounted pods, then their finalizers, then the status with the counts.

use super::memory::Memory;
use super::plan::{Observation, PodPlan, PodsDone, plan_tracking};
use super::pods::{JobPod, TRACKING_FINALIZER};
use super::status::{Outcome, Tally, Verdict};
use crate::error::{During, Result};
use crate::runner::{Context, Key};
use crate::workload::expectations::Expectations;
use crate::workload::pod_control::PodControl;
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::Pod;
use ferry_client::{Patch, SharedObject};
use futures_util::future::join_all;
use serde_json::json;
use std::collections::HashSet;

pub(super) struct Executor<'a> {
    pub ctx: &'a Context,
    pub key: &'a Key,
    pub job: &'a SharedObject<Job>,
    pub expectations: &'a Expectations,
    pub memory: &'a Memory,
}

impl Executor<'_> {
    /// Creates or deletes pods. What was done counts even where some of it failed.
    pub(super) async fn change_pods(&self, plan: PodPlan<'_>) -> (PodsDone, Result<()>) {
        let mut done = PodsDone::default();
        if plan.create.is_empty() && plan.delete.is_empty() {
            return (done, Ok(()));
        }
        let (ctx, key, expectations) = (self.ctx, self.key, self.expectations);
        let pods = PodControl { ctx, key, subject: self.job.reference(), expectations };
        expectations.open(key);
        let outcome = if plan.delete.is_empty() {
            let (created, outcome) = pods.create_counted(&plan.create.iter().collect::<Vec<_>>()).await;
            done.created = created;
            outcome
        } else {
            let deletions = plan.delete.iter().map(|pod| async {
                if plan.uncounted && pod.is_tracked {
                    remove_finalizer(ctx, &pod.object).await?;
                }
                pods.delete_one(&pod.object).await
            });
            let results = join_all(deletions).await;
            for (pod, _) in plan.delete.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
                done.deleted += 1;
                done.deleted_ready += usize::from(pod.is_ready);
            }
            results.into_iter().collect()
        };
        expectations.close(key);
        (done, outcome)
    }

    /// Counts the pods that have ended, and finishes the Job when it is time.
    pub(super) async fn track(&self, observed: &Observation<'_>, done: PodsDone) -> Result<()> {
        let tracking = plan_tracking(observed, done);
        let mut tally = tracking.tally;
        let mut job = self.job.clone();
        self.write(&mut job, &tally, observed).await?;
        if let Some((reason, message)) = tracking.suspension {
            self.ctx.recorder.normal(self.job, reason, message);
        }
        let (released, outcome) = self.release(&tracking.release).await;
        let tracked: HashSet<&str> = observed.pods.iter().filter(|pod| pod.is_tracked).map(JobPod::uid).collect();
        tally.count_released(|uid| tracked.contains(uid) && !released.contains(uid));
        let verdict = tracking.verdict.filter(|_| outcome.is_ok() && !tracking.is_partial);
        let finished = verdict.filter(|verdict| tally.seal(verdict, observed.now));
        self.write(&mut job, &tally, observed).await?;
        outcome?;
        if let Some(verdict) = finished {
            self.report_finished(&verdict, tally.succeeded, observed.terms.completions);
        }
        Ok(())
    }

    /// A conflict is an error and the next reconcile begins from the present state: counts of a
    /// stale status must never be written over newer ones.
    async fn write(&self, job: &mut SharedObject<Job>, tally: &Tally, observed: &Observation<'_>) -> Result<()> {
        let Some(status) = tally.render(job.view().status()) else { return Ok(()) };
        let api = self.ctx.client.api::<Job>(job.namespace());
        let written = match api.replace_status(&job.to_owned().with_status(status)).await {
            Err(error) if error.is_not_found() => return Ok(()),
            other => other.during("update the status of", self.key)?,
        };
        self.memory.wrote_status(&written, observed.failures);
        *job = written;
        Ok(())
    }

    /// Removes the finalizers, and returns the uids of the pods that have none any more.
    async fn release<'p>(&self, pods: &[&'p JobPod]) -> (HashSet<&'p str>, Result<()>) {
        let removals = join_all(pods.iter().map(|pod| remove_finalizer(self.ctx, &pod.object))).await;
        let (mut released, mut outcome) = (HashSet::new(), Ok(()));
        for (pod, removal) in pods.iter().zip(removals) {
            match removal {
                Ok(left) => {
                    released.insert(pod.uid());
                    if let Some(left) = left {
                        self.memory.released(self.job, &left);
                    }
                }
                Err(error) => outcome = Err(error),
            }
        }
        (released, outcome)
    }

    fn report_finished(&self, verdict: &Verdict, succeeded: i32, completions: Option<i32>) {
        let recorder = &self.ctx.recorder;
        if verdict.outcome == Outcome::Failure {
            recorder.warning(self.job, &verdict.reason, verdict.message.clone());
            return;
        }
        if completions.is_some_and(|completions| succeeded > completions) {
            let why = "Too many succeeded pods running after completion count reached";
            recorder.warning(self.job, "TooManySucceededPods", why);
        }
        recorder.normal(self.job, "Completed", "Job completed");
    }
}

/// Takes the tracking finalizer off a pod. `None` where the pod is gone.
pub(super) async fn remove_finalizer(ctx: &Context, pod: &SharedObject<Pod>) -> Result<Option<SharedObject<Pod>>> {
    let patch = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER]}});
    match ctx.client.api::<Pod>(pod.namespace()).patch(pod.name(), &Patch::Strategic(patch)).await {
        Err(error) if error.is_not_found() => Ok(None),
        other => other.during("remove the tracking finalizer of", pod.name()).map(Some),
    }
}
