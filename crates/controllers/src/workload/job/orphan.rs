//! Takes the tracking finalizer off pods that no Job will count: the Job is gone, has finished,
//! or has let the pod go. Without it such a pod could never be deleted.
//!
//! A queue of its own, as upstream's `job_orphan_pod`: its keys are pods.

use super::executor::remove_finalizer;
use super::pods::is_tracked;
use super::terms::{is_finished, is_managed_elsewhere};
use crate::error::Result;
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::owner::controller_of;
use ferry_api::view::Kind;
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::Pod;
use ferry_client::{Event, Informer, Informers, SharedObject};
use std::time::Duration;

pub(crate) struct JobOrphanPodController;

#[async_trait]
impl Controller for JobOrphanPodController {
    fn name(&self) -> &'static str {
        "job-orphan-pod-controller"
    }

    fn identity(&self) -> &'static str {
        "job-controller"
    }

    fn longest_pause(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let (jobs, pods) = (informers.of::<Job>(), informers.of::<Pod>());
        let of_jobs = pods.clone();
        vec![
            Watch::new(jobs.clone(), move |event, enqueue| wake_for_job(event, &of_jobs, enqueue)),
            Watch::new(pods, move |event, enqueue| wake_for_pod(event, &jobs, enqueue)),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(pod) = ctx.informers.of::<Pod>().get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        if is_tracked(pod.view()) && is_uncounted(&pod, &ctx.informers.of::<Job>()) {
            remove_finalizer(ctx, &pod).await?;
        }
        Ok(Action::Done)
    }
}

/// The Job that controls the pod, by name and uid.
fn job_of(pod: &SharedObject<Pod>, jobs: &Informer<Job>) -> Option<SharedObject<Job>> {
    let owner = controller_of(pod.meta())?;
    jobs.get(pod.namespace(), owner.name()).filter(|job| job.uid() == owner.uid())
}

/// Whether nobody counts the pod. Pods of other kinds and of other controllers' Jobs are theirs.
fn is_uncounted(pod: &SharedObject<Pod>, jobs: &Informer<Job>) -> bool {
    let Some(owner) = controller_of(pod.meta()) else { return true };
    let is_ours = (owner.kind(), owner.api_version()) == (Job::KIND, Job::API_VERSION);
    is_ours && job_of(pod, jobs).is_none_or(|job| !is_managed_elsewhere(job.view()) && is_finished(job.view()))
}

fn wake_for_job(event: &Event<Job>, pods: &Informer<Pod>, enqueue: &Enqueue) {
    let job = event.object();
    if matches!(event, Event::Deleted(_)) || is_finished(job.view()) {
        let left = pods.owned_by(job.uid()).into_iter().filter(|pod| is_tracked(pod.view()));
        left.for_each(|pod| enqueue.add_object(pod.meta()));
    }
}

/// A pod whose Job is not in the cache may be ahead of it, so it must also be on its way out.
fn wake_for_pod(event: &Event<Pod>, jobs: &Informer<Job>, enqueue: &Enqueue) {
    let (_, Some(pod)) = event.versions() else { return };
    let is_orphan = || controller_of(pod.meta()).is_none() || pod.is_deleting();
    if is_tracked(pod.view()) && is_orphan() && is_uncounted(pod, jobs) {
        enqueue.add_object(pod.meta());
    }
}

#[cfg(test)]
mod tests {
    use super::super::pods::TRACKING_FINALIZER;
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_pod_is_let_go_when_no_job_will_count_it() {
        let job = |name: &str, spec: Value, conditions: Value| {
            SharedObject::<Job>::of(json!({"metadata": {"namespace": "ns", "name": name, "uid": name}, "spec": spec,
                "status": {"conditions": conditions}}))
        };
        let complete = || json!([{"type": "Complete", "status": "True"}]);
        let jobs = Informer::fixed([
            job("running", json!({}), json!([])),
            job("finished", json!({}), complete()),
            job("foreign", json!({"managedBy": "example.com/queue"}), complete()),
        ]);
        let check = |owner: Option<(&str, &str, &str)>, expected: bool| {
            let owners: Vec<Value> = owner
                .into_iter()
                .map(|(version, kind, name)| json!({"apiVersion": version, "kind": kind, "name": name, "uid": name, "controller": true}))
                .collect();
            let pod = SharedObject::<Pod>::of(json!({"metadata": {"namespace": "ns", "name": "p",
                "finalizers": [TRACKING_FINALIZER], "ownerReferences": owners}}));
            assert_eq!(is_uncounted(&pod, &jobs), expected, "{owner:?}");
        };
        check(None, true);
        check(Some(("batch/v1", "Job", "running")), false);
        check(Some(("batch/v1", "Job", "finished")), true);
        check(Some(("batch/v1", "Job", "foreign")), false);
        check(Some(("batch/v1", "Job", "deleted")), true);
        check(Some(("apps/v1", "ReplicaSet", "web")), false);
    }
}
