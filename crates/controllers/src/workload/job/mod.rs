//! Runs the pods of a Job until enough of them have succeeded, or too many have failed.
//!
//! | file | decides |
//! |---|---|
//! | terms.rs | the terms of a Job, read once a reconcile |
//! | pods.rs | what is read of a pod, the pod that is made, which surplus pod goes first |
//! | plan.rs | the end that a Job has come to, the pods to make and delete, the pods to count |
//! | status.rs | counters, uncounted pods and conditions |
//! | indexes.rs | sets of completion indexes |
//! | failure_policy.rs, success_policy.rs | the rules that a user gave |
//! | backoff.rs | the pause before failed pods are replaced |
//! | memory.rs | writes that the caches have not shown yet |
//! | executor.rs | the writes |
//! | orphan.rs | finalizers of pods whose Job no longer counts them |
//!
//! This file watches and gathers. The reference is upstream's pkg/controller/job.

mod backoff;
mod executor;
mod failure_policy;
mod indexes;
mod memory;
pub(crate) mod orphan;
mod plan;
mod pods;
mod status;
mod success_policy;
pub(crate) mod terms;

use crate::error::Result;
use crate::label_index::{by_selector, may_select};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use crate::workload::claim::{candidates, claim_tracked, with_orphans};
use crate::workload::expectations::{Expectations, Seen};
use async_trait::async_trait;
use executor::Executor;
use ferry_api::rules::label_selector;
use ferry_api::rules::owner::controller_of;
use ferry_api::view::batch::v1::Job;
use ferry_api::view::core::v1::Pod;
use ferry_client::{Event, Informer, Informers, SharedObject};
use memory::Memory;
use plan::{Observation, plan_pods};
use pods::{JobPod, TRACKING_FINALIZER};
use std::sync::Arc;
use std::time::Duration;
use terms::{JobTerms, is_finished, is_managed_elsewhere};

/// Events of pods are gathered for this long, so that a Job whose pods end one after the other
/// is counted a few times a second and not once a pod (upstream's SyncJobBatchPeriod is 1 s).
const BATCH: Duration = Duration::from_millis(100);

/// How long an unmet expectation may block a Job that nothing else wakes.
const RECHECK: Duration = Duration::from_secs(5 * 60 + 1);

#[derive(Default)]
pub(crate) struct JobController {
    expectations: Arc<Expectations>,
    memory: Memory,
}

#[async_trait]
impl Controller for JobController {
    fn name(&self) -> &'static str {
        "job-controller"
    }

    fn longest_pause(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let expectations = self.expectations.clone();
        let jobs = by_selector(informers.of::<Job>());
        vec![
            Watch::new(jobs.clone(), wake_for_job),
            Watch::new(with_orphans(informers.of::<Pod>()), move |event, enqueue| {
                wake_for_pod(event, &jobs, &expectations, enqueue);
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let found = ctx.informers.of::<Job>().get(&key.namespace, &key.name);
        let Some(job) = found.filter(|job| !is_finished(job.view())) else {
            self.expectations.forget(key);
            self.memory.forget(key);
            return Ok(Action::Done);
        };
        let terms = JobTerms::of(job.view());
        if is_managed_elsewhere(job.view()) {
            return Ok(Action::Done);
        }
        if !terms.is_known_mode() {
            let why = "Skipped Job sync because completion mode is unknown";
            ctx.recorder.warning(&job, "UnknownCompletionMode", why);
            return Ok(Action::Done);
        }
        let cached = ctx.informers.of::<Pod>();
        let has_seen_pods = self.expectations.are_met(key, |name, uid| Seen::of(&cached, &key.namespace, name, uid));
        if !has_seen_pods || !self.memory.has_seen_writes(&job, &cached) {
            return Ok(Action::RequeueAfter(RECHECK));
        }
        let selector = terms.job.spec().selector();
        let own = claim_tracked(ctx, &job, candidates(&cached, &job), TRACKING_FINALIZER, |pod| {
            label_selector::matches(selector, pod.meta().labels())
        })
        .await?;
        let pods: Vec<JobPod> = own.into_iter().map(|pod| JobPod::read(pod, &terms)).collect();
        let observed = Observation::of(terms, &pods, self.memory.failures(key), ctx.now());
        let plan = plan_pods(&observed);
        let next = plan.wait.into_iter().chain(observed.deadline).min();
        let executor = Executor { ctx, key, job: &job, expectations: &self.expectations, memory: &self.memory };
        let (done, managed) = executor.change_pods(plan).await;
        executor.track(&observed, done).await?;
        managed?;
        Ok(Action::after(next))
    }
}

/// A finished Job is no work. It is looked at once when it finishes, to be forgotten.
fn wake_for_job(event: &Event<Job>, enqueue: &Enqueue) {
    let key = Key::of(event.object().meta());
    match event {
        Event::Added(job) if is_finished(job.view()) => {}
        Event::Updated { old, new } if old.meta().generation() == new.meta().generation() => {
            if !is_finished(old.view()) {
                enqueue.add_after(key, BATCH);
            }
        }
        _ => enqueue.add(key),
    }
}

fn controlling_job(pod: &SharedObject<Pod>) -> Option<Key> {
    let owner = controller_of(pod.meta()).filter(|owner| owner.kind() == "Job")?;
    Some(Key::new(pod.namespace(), owner.name()))
}

fn wake_for_pod(event: &Event<Pod>, jobs: &Informer<Job>, expectations: &Expectations, enqueue: &Enqueue) {
    let (old, new) = event.versions();
    if let Some(old) = old
        && let Some(key) = controlling_job(old)
        && new.and_then(controlling_job).as_ref() != Some(&key)
    {
        expectations.observe_gone(&key, old.uid());
        enqueue.add_after(key, BATCH);
    }
    let Some(pod) = new else { return };
    if let Some(key) = controlling_job(pod) {
        enqueue.add_after(key, BATCH);
        return;
    }
    let labels = pod.meta().labels();
    let is_same = |old: &SharedObject<Pod>| old.meta().labels() == labels && controller_of(old.meta()).is_none();
    if controller_of(pod.meta()).is_some() || old.is_some_and(is_same) {
        return;
    }
    for job in may_select(jobs, pod.namespace(), labels) {
        if label_selector::matches(job.view().spec().selector(), labels) {
            enqueue.add_after(Key::of(job.meta()), BATCH);
        }
    }
}
