//! Starts the Jobs of a CronJob by the clock, and keeps a few of those that have ended.
//!
//! due.rs computes the times, plan.rs decides; this file watches, gathers and writes. A
//! CronJob between two runs is one entry in the runner's delayed queue. The reference is
//! upstream's pkg/controller/cronjob.

mod due;
mod plan;
#[cfg(test)]
mod plan_tests;

use crate::error::{During, Error, Result};
use crate::runner::{Action, Clock, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use due::RunTimes;
use ferry_api::rules::owner::{controller_of, is_controlled_by};
use ferry_api::view::batch::v1::{CronJob, CronJobStatus, Job};
use ferry_api::view::core::v1::{ObjectReference, ObjectReferenceView};
use ferry_api::view::{Kind, Owned, View, alike};
use ferry_client::{DeleteParams, Event, Informers, SharedObject};
use futures_util::future::join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use plan::{
    CronJobPlan, JobStart, Observation, finished_as, is_listed, plan_cron_job, plan_history, remove_active, schedule_of,
};
use std::collections::HashSet;

pub(crate) struct CronJobController {
    pub(crate) clock: Clock,
}

#[async_trait]
impl Controller for CronJobController {
    fn name(&self) -> &'static str {
        "cronjob-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let clock = self.clock.clone();
        vec![
            Watch::new(informers.of::<CronJob>(), move |event, enqueue| {
                wake_for_cron_job(event, clock.now(), enqueue);
            }),
            Watch::new(informers.of::<Job>(), |event, enqueue| {
                woken_by_job(event).into_iter().for_each(|key| enqueue.add(key));
            }),
        ]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let cached = ctx.informers.of::<CronJob>().get(&key.namespace, &key.name);
        let Some(cached) = cached else { return Ok(Action::Done) };
        let mut jobs = ctx.informers.of::<Job>().owned_by(cached.uid());
        jobs.retain(|job| is_controlled_by(job.meta(), cached.meta()));
        let cron_job = latest(ctx, cached, &jobs).await?;
        let run = Run { ctx, key, cron_job: &cron_job };
        let removed = run.trim_history(&jobs).await;
        let missing = run.find_missing(&jobs).await?;
        let plan = plan_cron_job(&Observation {
            cron_job: cron_job.view(),
            jobs: &jobs,
            missing: &missing,
            removed: &removed,
            now: ctx.now(),
            local: &TimeZone::system(),
        });
        run.execute(plan).await
    }
}

/// The cache may not show the status that the last reconcile wrote. An unfinished Job that the
/// status does not list is the sign of it, and the API server is asked.
async fn latest(
    ctx: &Context,
    cached: SharedObject<CronJob>,
    jobs: &[SharedObject<Job>],
) -> Result<SharedObject<CronJob>> {
    let is_unlisted =
        |job: &SharedObject<Job>| finished_as(job.view()).is_none() && !is_listed(cached.view(), job.uid());
    if !jobs.iter().any(is_unlisted) {
        return Ok(cached);
    }
    let fresh = ctx.client.api::<CronJob>(cached.namespace()).get(cached.name()).await;
    let fresh = fresh.during("get the cron job", cached.name())?;
    if fresh.uid() != cached.uid() {
        return Err(Error::Retry(format!("cron job {} is another one by now", cached.name())));
    }
    Ok(fresh)
}

/// The writes of one reconcile.
struct Run<'a> {
    ctx: &'a Context,
    key: &'a Key,
    cron_job: &'a SharedObject<CronJob>,
}

impl Run<'_> {
    /// Deletes finished Jobs beyond the limits, and returns the uids of those that are gone.
    async fn trim_history(&self, jobs: &[SharedObject<Job>]) -> HashSet<String> {
        let surplus = plan_history(self.cron_job.view(), jobs);
        let deletions = join_all(surplus.iter().map(|job| self.delete_job(job))).await;
        let gone = surplus.iter().zip(deletions).filter(|(_, is_deleted)| *is_deleted);
        gone.map(|(job, _)| job.uid().to_owned()).collect()
    }

    /// Active Jobs that neither the cache nor the API server has.
    async fn find_missing(&self, jobs: &[SharedObject<Job>]) -> Result<HashSet<String>> {
        let mut missing = HashSet::new();
        for active in self.cron_job.view().status().active().iter() {
            if jobs.iter().any(|job| job.uid() == active.uid()) {
                continue;
            }
            match self.get_job(active).await {
                Err(error) if error.is_not_found() => drop(missing.insert(active.uid().to_owned())),
                other => drop(other.during("get the job", active.name())?),
            }
        }
        Ok(missing)
    }

    async fn execute(&self, plan: CronJobPlan) -> Result<Action> {
        for event in plan.events {
            self.ctx.recorder.event(self.cron_job, event.kind, event.reason, event.message);
        }
        let mut status = plan.status;
        let outcome = match plan.start {
            Some(start) => self.start(start, &mut status).await,
            None => Ok(()),
        };
        self.write(status).await?;
        outcome.map(|()| Action::after(plan.wait))
    }

    async fn start(&self, start: JobStart, status: &mut CronJobStatus) -> Result<()> {
        for active in &start.replaces {
            let active = active.view();
            let job = match self.get_job(active).await {
                Ok(job) => job,
                Err(error) => {
                    self.ctx.recorder.warning(self.cron_job, "FailedGet", format!("Get job: {error}"));
                    return Err(error).during("get the job to replace", active.name());
                }
            };
            if !self.delete_job(&job).await {
                return Err(Error::Retry(format!("could not replace job {}/{}", job.namespace(), job.name())));
            }
            remove_active(status, job.uid());
        }
        let api = self.ctx.client.api::<Job>(&self.key.namespace);
        let name = start.job.view().metadata().name();
        let job = match api.create(&start.job).await {
            Ok(job) => {
                self.ctx.recorder.normal(self.cron_job, "SuccessfulCreate", format!("Created job {}", job.name()));
                job
            }
            // The name belongs to this run: either an earlier reconcile made the Job and could not
            // write the status, or somebody else runs it.
            Err(error) if error.is_already_exists() => {
                let job = api.get(name).await.during("get the job", name)?;
                let is_listed = status.view().active().iter().any(|active| active.uid() == job.uid());
                if is_listed || !is_controlled_by(job.meta(), self.cron_job.meta()) {
                    return Ok(());
                }
                job
            }
            Err(error) => {
                if !error.is_namespace_terminating() {
                    let message = format!("Error creating job: {error}");
                    self.ctx.recorder.warning(self.cron_job, "FailedCreate", message);
                }
                return Err(error).during("create the job", name);
            }
        };
        status.push_active(reference_to(&job));
        status.set_last_schedule_time(start.at);
        Ok(())
    }

    /// Counts of a stale status are never written over newer ones: a conflict is an error, and
    /// the next reconcile begins from the present state.
    async fn write(&self, status: CronJobStatus) -> Result<()> {
        if alike(self.cron_job.view().status().node(), status.view().node()) {
            return Ok(());
        }
        let changed = self.cron_job.to_owned().with_status(status);
        let api = self.ctx.client.api::<CronJob>(&self.key.namespace);
        api.replace_status(&changed).await.during("update the status of", self.key).map(drop)
    }

    async fn get_job(&self, job: ObjectReferenceView<'_>) -> Result<SharedObject<Job>, ferry_client::Error> {
        self.ctx.client.api::<Job>(job.namespace()).get(job.name()).await
    }

    /// Deletes a Job with its pods, and reports whether that succeeded.
    async fn delete_job(&self, job: &SharedObject<Job>) -> bool {
        let params = DeleteParams {
            propagation_policy: Some("Background".to_owned()),
            uid: Some(job.uid().to_owned()),
            ..Default::default()
        };
        let recorder = &self.ctx.recorder;
        match self.ctx.client.api::<Job>(job.namespace()).delete(job.name(), &params).await {
            Ok(()) => {
                recorder.normal(self.cron_job, "SuccessfulDelete", format!("Deleted job {}", job.name()));
                true
            }
            Err(error) if error.is_not_found() => true,
            Err(error) => {
                recorder.warning(self.cron_job, "FailedDelete", format!("Deleted job: {error}"));
                false
            }
        }
    }
}

fn reference_to(job: &SharedObject<Job>) -> ObjectReference {
    ObjectReference::new()
        .with_api_version(Job::API_VERSION)
        .with_kind(Job::KIND)
        .with_namespace(job.namespace())
        .with_name(job.name())
        .with_uid(job.uid())
        .with_resource_version(job.meta().resource_version())
}

/// A changed schedule begins with its next time: the runs that it would have had before now
/// were never asked for.
fn wake_for_cron_job(event: &Event<CronJob>, now: Timestamp, enqueue: &Enqueue) {
    let key = Key::of(event.object().meta());
    let wait = match event {
        Event::Updated { old, new } if is_rescheduled(old, new) => {
            let schedule = schedule_of(new.view(), &TimeZone::system()).ok();
            schedule.and_then(|schedule| RunTimes::of(new.view(), &schedule, now).wait())
        }
        _ => None,
    };
    match wait {
        Some(wait) => enqueue.add_after(key, wait),
        None => enqueue.add(key),
    }
}

fn is_rescheduled(old: &SharedObject<CronJob>, new: &SharedObject<CronJob>) -> bool {
    let terms = |cron_job: &SharedObject<CronJob>| {
        let spec = cron_job.view().spec();
        (spec.schedule().to_owned(), spec.time_zone().map(str::to_owned))
    };
    terms(old) != terms(new)
}

/// The CronJobs that a Job concerns: when it comes, goes, ends, or changes hands.
fn woken_by_job(event: &Event<Job>) -> Vec<Key> {
    let owner_of = |job: &SharedObject<Job>| {
        let owner = controller_of(job.meta()).filter(|owner| owner.kind() == CronJob::KIND)?;
        Some(Key::new(job.namespace(), owner.name()))
    };
    let (old, new) = event.versions();
    let (former, present) = (old.and_then(owner_of), new.and_then(owner_of));
    if let (Some(old), Some(new)) = (old, new)
        && former == present
        && finished_as(old.view()) == finished_as(new.view())
    {
        return Vec::new();
    }
    let former = former.filter(|former| present.as_ref() != Some(former));
    former.into_iter().chain(present).collect()
}
