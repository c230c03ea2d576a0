//! The decisions about one CronJob: which finished Jobs are too many, which are active, and
//! whether a Job is to be started now. Pure; executed by mod.rs.
//!
//! Upstream: syncCronJob and cleanupFinishedJobs of pkg/controller/cronjob.

use super::due::{Missed, RunTimes};
use ferry_api::rules::condition;
use ferry_api::rules::cron::{CronSchedule, time_zone};
use ferry_api::rules::owner::controller_reference;
use ferry_api::view::Owned;
use ferry_api::view::batch::v1::{CronJob, CronJobStatus, CronJobView, Job, JobView};
use ferry_api::view::core::v1::ObjectReference;
use ferry_api::view::meta::v1::ObjectMeta;
use ferry_client::{EventType, SharedObject};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::HashSet;
use std::time::Duration;

const SCHEDULED_TIMESTAMP: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// A CronJob and the Jobs that it controls, as one reconcile sees them.
pub(super) struct Observation<'a> {
    pub cron_job: CronJobView<'a>,
    pub jobs: &'a [SharedObject<Job>],
    /// The uids of Jobs of the active list that the API server no longer has.
    pub missing: &'a HashSet<String>,
    /// The uids of Jobs that this reconcile has deleted from the history.
    pub removed: &'a HashSet<String>,
    pub now: Timestamp,
    /// The time zone of a schedule that names none.
    pub local: &'a TimeZone,
}

/// An event of the CronJob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedEvent {
    pub kind: EventType,
    pub reason: &'static str,
    pub message: String,
}

/// A Job to create, and the active ones that it replaces.
#[derive(Debug)]
pub(super) struct JobStart {
    pub at: Timestamp,
    pub job: Job,
    pub replaces: Vec<ObjectReference>,
}

#[derive(Debug)]
pub(super) struct CronJobPlan {
    pub events: Vec<PlannedEvent>,
    /// The status before a Job is started.
    pub status: CronJobStatus,
    pub start: Option<JobStart>,
    /// How long until the CronJob is to be looked at again; `None` waits for an event.
    pub wait: Option<Duration>,
}

impl CronJobPlan {
    fn normal(&mut self, reason: &'static str, message: impl Into<String>) {
        self.events.push(PlannedEvent { kind: EventType::Normal, reason, message: message.into() });
    }

    fn warning(&mut self, reason: &'static str, message: impl Into<String>) {
        self.events.push(PlannedEvent { kind: EventType::Warning, reason, message: message.into() });
    }
}

pub(super) fn plan_cron_job(observed: &Observation<'_>) -> CronJobPlan {
    let status = observed.cron_job.status().to_owned();
    let mut plan = CronJobPlan { events: Vec::new(), status, start: None, wait: None };
    plan_active(observed, &mut plan);
    if observed.cron_job.metadata().deletion_timestamp().is_none() {
        plan_start(observed, &mut plan);
    }
    plan
}

/// The condition that ended the Job: Complete or Failed.
pub(super) fn finished_as(job: JobView<'_>) -> Option<&'static str> {
    let conditions = job.status().conditions();
    ["Complete", "Failed"].into_iter().find(|kind| condition::is_true(conditions, kind))
}

/// The finished Jobs beyond the limits of the history, those that began first.
pub(super) fn plan_history<'a>(cron_job: CronJobView<'_>, jobs: &'a [SharedObject<Job>]) -> Vec<&'a SharedObject<Job>> {
    let spec = cron_job.spec();
    let limits = [("Complete", spec.successful_jobs_history_limit()), ("Failed", spec.failed_jobs_history_limit())];
    let mut surplus = Vec::new();
    for (kind, limit) in limits {
        let Some(limit) = limit else { continue };
        let mut ended: Vec<_> = jobs.iter().filter(|job| finished_as(job.view()) == Some(kind)).collect();
        ended.sort_by_key(|job| {
            let start = job.view().status().start_time();
            (start.is_none(), start, job.name())
        });
        ended.truncate(ended.len().saturating_sub(usize::try_from(limit).unwrap_or(0)));
        surplus.extend(ended);
    }
    surplus
}

/// Takes the uid out of the list of active Jobs, and returns whether it was there.
pub(super) fn remove_active(status: &mut CronJobStatus, uid: &str) -> bool {
    let before = status.view().active().len();
    let left: Vec<_> = status.view().active().iter().filter(|job| job.uid() != uid).map(|job| job.to_owned()).collect();
    let is_removed = left.len() != before;
    if is_removed {
        status.set_active(left);
    }
    is_removed
}

/// Whether a Job is active by the list in the status.
pub(super) fn is_listed(cron_job: CronJobView<'_>, uid: &str) -> bool {
    cron_job.status().active().iter().any(|job| job.uid() == uid)
}

fn plan_active(observed: &Observation<'_>, plan: &mut CronJobPlan) {
    for uid in observed.removed {
        remove_active(&mut plan.status, uid);
    }
    for job in observed.jobs {
        let Some(ended) = finished_as(job.view()) else {
            if !is_listed(observed.cron_job, job.uid()) {
                let message = format!("Saw a job that the controller did not create or forgot: {}", job.name());
                plan.warning("UnexpectedJob", message);
            }
            continue;
        };
        if remove_active(&mut plan.status, job.uid()) {
            plan.normal("SawCompletedJob", format!("Saw completed job: {}, condition: {ended}", job.name()));
        }
        let completed = job.view().status().completion_time().filter(|_| ended == "Complete");
        if completed > plan.status.view().last_successful_time() {
            plan.status.set_last_successful_time(completed);
        }
    }
    let active: Vec<ObjectReference> = plan.status.view().active().iter().map(|job| job.to_owned()).collect();
    for job in active.iter().map(ObjectReference::view).filter(|job| observed.missing.contains(job.uid())) {
        plan.normal("MissingJob", format!("Active job went missing: {}", job.name()));
        remove_active(&mut plan.status, job.uid());
    }
}

fn plan_start(observed: &Observation<'_>, plan: &mut CronJobPlan) {
    let (cron_job, spec) = (observed.cron_job, observed.cron_job.spec());
    if let Some(zone) = spec.time_zone()
        && let Err(error) = zone_named(zone)
    {
        plan.warning("UnknownTimeZone", format!("invalid timeZone: {zone:?}: {error}"));
        return;
    }
    if spec.suspend() == Some(true) {
        return;
    }
    if has_zone(spec.schedule()) {
        let message = format!(
            "CRON_TZ or TZ used in schedule {:?} is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
            spec.schedule()
        );
        plan.warning("UnsupportedSchedule", message);
    }
    let schedule = match schedule_of(cron_job, observed.local) {
        Ok(schedule) => schedule,
        Err(error) => {
            plan.warning("UnparseableSchedule", format!("unparseable schedule: {:?} : {error}", spec.schedule()));
            return;
        }
    };
    let mut times = RunTimes::of(cron_job, &schedule, observed.now);
    let due = match times.due() {
        Ok(due) => due,
        Err(error) => {
            plan.warning("InvalidSchedule", format!("invalid schedule: {} : {error}", spec.schedule()));
            return;
        }
    };
    plan.wait = times.wait();
    let Some(at) = due.latest else { return };
    if due.missed == Missed::Many {
        let message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
        plan.warning("TooManyMissedTimes", message);
    }
    let latest_start = spec.starting_deadline_seconds().map(|deadline| at.as_second().saturating_add(deadline));
    if latest_start.is_some_and(|latest| latest < observed.now.as_second()) {
        let missed = at.strftime("%a, %d %b %Y %H:%M:%S +0000");
        plan.warning("MissSchedule", format!("Missed scheduled time to start a job: {missed}"));
        return;
    }
    let name = job_name(cron_job, at);
    let active = plan.status.view().active();
    if active.iter().any(|job| job.name() == name) || cron_job.status().last_schedule_time() == Some(at) {
        return;
    }
    if spec.concurrency_policy() == "Forbid" && !active.is_empty() {
        plan.normal(
            "JobAlreadyActive",
            "Not starting job because prior execution is running and concurrency policy is Forbid",
        );
        return;
    }
    let is_replacing = spec.concurrency_policy() == "Replace";
    let replaces = active.iter().filter(|_| is_replacing).map(|job| job.to_owned()).collect();
    plan.start = Some(JobStart { at, job: render_job(cron_job, at), replaces });
    times.since = at;
    plan.wait = times.wait();
}

/// The schedule of a CronJob in its time zone.
pub(super) fn schedule_of(cron_job: CronJobView<'_>, local: &TimeZone) -> Result<CronSchedule, String> {
    let spec = cron_job.spec();
    let own = spec.time_zone().filter(|_| !has_zone(spec.schedule())).and_then(|zone| zone_named(zone).ok());
    CronSchedule::parse(spec.schedule(), own.unwrap_or_else(|| local.clone()))
}

/// Such a schedule is older than the field `timeZone`, and validation takes no new one.
fn has_zone(schedule: &str) -> bool {
    schedule.contains("TZ")
}

/// Go's LoadLocation, for which no name is UTC.
fn zone_named(name: &str) -> Result<TimeZone, String> {
    if name.is_empty() { Ok(TimeZone::UTC) } else { time_zone(name) }
}

/// A run has one name, so that no run is started twice.
fn job_name(cron_job: CronJobView<'_>, at: Timestamp) -> String {
    format!("{}-{}", cron_job.metadata().name(), at.as_second() / 60)
}

fn render_job(cron_job: CronJobView<'_>, at: Timestamp) -> Job {
    let template = cron_job.spec().job_template();
    let mut metadata = ObjectMeta::new()
        .with_name(job_name(cron_job, at))
        .with_namespace(cron_job.metadata().namespace())
        .with_labels(template.metadata().labels().iter())
        .with_annotations(template.metadata().annotations().iter())
        .with_owner_references([controller_reference::<CronJob>(cron_job)]);
    let zone = cron_job.spec().time_zone().and_then(|zone| zone_named(zone).ok()).unwrap_or(TimeZone::UTC);
    let clock = at.to_zoned(zone);
    let format = if clock.offset().is_zero() { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S%:z" };
    metadata.insert_annotations(SCHEDULED_TIMESTAMP, clock.strftime(format).to_string());
    Job::new().with_metadata(metadata).with_spec(template.spec().to_owned())
}
