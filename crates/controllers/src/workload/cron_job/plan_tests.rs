//! Tables over the decisions of plan.rs: every policy, and every event that one leads to.

use super::plan::{CronJobPlan, Observation, plan_cron_job, plan_history};
use super::{is_rescheduled, woken_by_job};
use ferry_api::rules::cron::time_zone;
use ferry_api::view::Owned;
use ferry_api::view::batch::v1::{CronJob, Job};
use ferry_client::{Event, SharedObject};
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use std::collections::HashSet;

/// An hourly CronJob that was made at 9:50 and ran at 10:00 last; the minute of 11:00 is
/// 29454420 since 1970.
fn cron_job(spec: Value, status: Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "tick", "namespace": "ns", "uid": "u", "creationTimestamp": "2026-01-01T09:50:00Z"},
        "spec": {"schedule": "0 * * * *", "concurrencyPolicy": "Allow", "jobTemplate": {
            "metadata": {"labels": {"l": "1"}, "annotations": {"a": "2"}},
            "spec": {"backoffLimit": 3, "template": {"spec": {"restartPolicy": "Never"}}}}},
        "status": {"lastScheduleTime": "2026-01-01T10:00:00Z"}});
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    for (key, value) in status.as_object().into_iter().flatten() {
        object["status"][key] = value.clone();
    }
    object
}

fn job(name: &str, end: Option<(&str, &str)>) -> SharedObject<Job> {
    let status = end.map(|(kind, at)| {
        let completed = (kind == "Complete").then_some(at);
        json!({"startTime": at, "completionTime": completed, "conditions": [{"type": kind, "status": "True"}]})
    });
    SharedObject::of(json!({"metadata": {"name": name, "namespace": "ns", "uid": format!("u-{name}"),
        "ownerReferences": [{"kind": "CronJob", "name": "tick", "uid": "u", "controller": true}]}, "status": status}))
}

fn active(names: &[&str]) -> Value {
    let reference = |name: &&str| json!({"kind": "Job", "namespace": "ns", "name": name, "uid": format!("u-{name}")});
    json!({"active": names.iter().map(reference).collect::<Vec<Value>>()})
}

fn plan(object: &Value, jobs: &[SharedObject<Job>], missing: &[&str], now: &str) -> CronJobPlan {
    let cron_job = SharedObject::<CronJob>::of(object.clone());
    plan_cron_job(&Observation {
        cron_job: cron_job.view(),
        jobs,
        missing: &missing.iter().map(|uid| (*uid).to_owned()).collect(),
        removed: &HashSet::new(),
        now: now.parse().expect("a time"),
        local: &TimeZone::UTC,
    })
}

fn reasons(plan: &CronJobPlan) -> Vec<&'static str> {
    plan.events.iter().map(|event| event.reason).collect()
}

fn started(plan: &CronJobPlan) -> Option<String> {
    plan.start.as_ref().map(|start| start.job.view().metadata().name().to_owned())
}

const HALF_PAST_TEN: &str = "2026-01-01T10:30:00Z";
const PAST_ELEVEN: &str = "2026-01-01T11:00:01Z";
const ELEVEN_JOB: &str = "tick-29454420";

/// The reasons of the events, the Job that is started, and the seconds until the next look.
#[track_caller]
fn check(spec: Value, status: Value, now: &str, events: &[&str], start: Option<&str>, wait: Option<u64>) {
    let object = cron_job(spec, status);
    let plan = plan(&object, &[], &[], now);
    assert_eq!(reasons(&plan), events, "{object}");
    assert_eq!(started(&plan).as_deref(), start, "{object}");
    assert_eq!(plan.wait.map(|wait| wait.as_secs()), wait, "{object}");
}

#[test]
fn a_job_is_started_when_its_time_has_come() {
    let no = || json!({});
    check(no(), no(), HALF_PAST_TEN, &[], None, Some(1800));
    check(no(), no(), PAST_ELEVEN, &[], Some(ELEVEN_JOB), Some(3599));
    check(no(), json!({"lastScheduleTime": "2026-01-01T11:00:00Z"}), PAST_ELEVEN, &[], None, Some(3599));
    check(json!({"suspend": true}), no(), PAST_ELEVEN, &[], None, None);
    check(no(), no(), "2026-01-01T14:10:00Z", &[], Some("tick-29454600"), Some(3000));
    check(json!({"startingDeadlineSeconds": 300}), no(), "2026-01-01T14:10:00Z", &[], None, Some(3000));
    let long_ago = json!({"lastScheduleTime": "2020-01-01T00:00:00Z"});
    check(no(), long_ago, PAST_ELEVEN, &["TooManyMissedTimes"], Some(ELEVEN_JOB), Some(3599));
}

#[test]
fn impossible_schedules_end_in_an_event_and_no_timer() {
    check(json!({"schedule": "0 0 30 2 *"}), json!({}), PAST_ELEVEN, &["InvalidSchedule"], None, None);
    check(json!({"schedule": "some day"}), json!({}), PAST_ELEVEN, &["UnparseableSchedule"], None, None);
    check(json!({"timeZone": "Some/Where"}), json!({}), PAST_ELEVEN, &["UnknownTimeZone"], None, None);
    let old = json!({"schedule": "TZ=Europe/Berlin 0 12 * * *"});
    check(old, json!({}), PAST_ELEVEN, &["UnsupportedSchedule"], Some(ELEVEN_JOB), Some(24 * 3600 - 1));
    let message = |spec: Value| plan(&cron_job(spec, json!({})), &[], &[], PAST_ELEVEN).events.remove(0).message;
    assert_eq!(
        message(json!({"schedule": "0 0 30 2 *"})),
        "invalid schedule: 0 0 30 2 * : time difference between two schedules is less than 1 second"
    );
    assert_eq!(
        message(json!({"schedule": "some day"})),
        "unparseable schedule: \"some day\" : expected exactly 5 fields, found 2: [some day]"
    );
    assert_eq!(
        message(json!({"timeZone": "Some/Where"})),
        "invalid timeZone: \"Some/Where\": unknown time zone Some/Where"
    );
}

#[test]
fn a_running_job_meets_the_next_by_policy() {
    let check = |policy: &str, events: &[&str], start: Option<&str>, replaced: usize| {
        let object = cron_job(json!({"concurrencyPolicy": policy}), active(&["old"]));
        let plan = plan(&object, &[job("old", None)], &[], PAST_ELEVEN);
        assert_eq!((reasons(&plan).as_slice(), started(&plan).as_deref()), (events, start), "{policy}");
        assert_eq!(plan.start.map_or(0, |start| start.replaces.len()), replaced, "{policy}");
        assert_eq!(plan.wait.map(|wait| wait.as_secs()), Some(3599), "{policy}");
        assert_eq!(plan.status.view().active().len(), 1, "{policy}");
    };
    check("Allow", &[], Some(ELEVEN_JOB), 0);
    check("Forbid", &["JobAlreadyActive"], None, 0);
    check("Replace", &[], Some(ELEVEN_JOB), 1);
}

#[test]
fn the_job_is_the_template_with_an_owner_and_the_scheduled_time() {
    let plan = plan(
        &cron_job(json!({"timeZone": "Asia/Kolkata", "schedule": "30 16 * * *"}), json!({})),
        &[],
        &[],
        PAST_ELEVEN,
    );
    let start = plan.start.expect("a job");
    let expected = json!({
        "metadata": {"name": ELEVEN_JOB, "namespace": "ns", "labels": {"l": "1"},
            "annotations": {"a": "2", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T16:30:00+05:30"},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "tick", "uid": "u",
                "controller": true, "blockOwnerDeletion": true}]},
        "spec": {"backoffLimit": 3, "template": {"spec": {"restartPolicy": "Never"}}}});
    let job = start.job.value();
    assert_eq!((&job["metadata"], &job["spec"]), (&expected["metadata"], &expected["spec"]));
    let stamp = |spec: Value| {
        let plan = self::plan(&cron_job(spec, json!({})), &[], &[], PAST_ELEVEN);
        let job = plan.start.expect("a job").job;
        job.value()["metadata"]["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"].clone()
    };
    assert_eq!(stamp(json!({})), "2026-01-01T11:00:00Z");
    assert_eq!(stamp(json!({"timeZone": "Europe/London"})), "2026-01-01T11:00:00Z");
}

#[test]
fn a_schedule_without_a_zone_goes_by_the_local_clock() {
    let cron_job = SharedObject::<CronJob>::of(cron_job(json!({"schedule": "0 12 * * *"}), json!({})));
    let observed = Observation {
        cron_job: cron_job.view(),
        jobs: &[],
        missing: &HashSet::new(),
        removed: &HashSet::new(),
        now: PAST_ELEVEN.parse().expect("a time"),
        local: &time_zone("Europe/Berlin").expect("a zone"),
    };
    assert_eq!(started(&plan_cron_job(&observed)).as_deref(), Some(ELEVEN_JOB));
}

#[test]
fn active_jobs_are_those_that_run() {
    let check = |listed: &[&str], jobs: &[SharedObject<Job>], missing: &[&str], events: &[&str], left: &[&str]| {
        let plan = plan(&cron_job(json!({}), active(listed)), jobs, missing, HALF_PAST_TEN);
        assert_eq!(reasons(&plan), events);
        let names: Vec<String> = plan.status.view().active().iter().map(|job| job.name().to_owned()).collect();
        assert_eq!(names, left);
    };
    let (done, failed) = (("Complete", "2026-01-01T10:05:00Z"), ("Failed", "2026-01-01T10:05:00Z"));
    check(&["a"], &[job("a", None)], &[], &[], &["a"]);
    check(&["a", "b"], &[job("a", Some(done)), job("b", None)], &[], &["SawCompletedJob"], &["b"]);
    check(&["a"], &[job("a", Some(failed))], &[], &["SawCompletedJob"], &[]);
    check(&[], &[job("a", Some(failed))], &[], &[], &[]);
    check(&[], &[job("a", None)], &[], &["UnexpectedJob"], &[]);
    check(&["a", "b"], &[], &["u-a"], &["MissingJob"], &["b"]);
}

#[test]
fn the_last_success_is_the_latest_completion() {
    let check = |jobs: &[SharedObject<Job>], before: Option<&str>, expected: Option<&str>| {
        let object = cron_job(json!({}), json!({"lastSuccessfulTime": before}));
        let plan = plan(&object, jobs, &[], HALF_PAST_TEN);
        assert_eq!(plan.status.view().last_successful_time(), expected.map(|time| time.parse().expect("a time")));
    };
    let (early, late) = ("2026-01-01T10:05:00Z", "2026-01-01T10:09:00Z");
    check(&[job("a", Some(("Complete", early)))], None, Some(early));
    check(&[job("a", Some(("Complete", late))), job("b", Some(("Complete", early)))], None, Some(late));
    check(&[job("a", Some(("Complete", early)))], Some(late), Some(late));
    check(&[job("a", Some(("Failed", early)))], None, None);
}

#[test]
fn a_deleted_cron_job_starts_nothing() {
    let mut object = cron_job(json!({}), active(&["a"]));
    object["metadata"]["deletionTimestamp"] = json!(HALF_PAST_TEN);
    let plan = plan(&object, &[], &["u-a"], PAST_ELEVEN);
    assert_eq!((reasons(&plan), started(&plan), plan.wait), (vec!["MissingJob"], None, None));
}

#[test]
fn the_oldest_jobs_leave_the_history() {
    let at = |hour: u32| format!("2026-01-01T{hour:02}:00:00Z");
    let jobs: Vec<SharedObject<Job>> =
        [("c", "Complete", 3), ("a", "Complete", 1), ("b", "Complete", 2), ("f", "Failed", 1)]
            .map(|(name, kind, hour)| job(name, Some((kind, &at(hour)))))
            .into_iter()
            .chain([job("r", None)])
            .collect();
    let check = |successful: Value, failed: Value, expected: &[&str]| {
        let limits = json!({"successfulJobsHistoryLimit": successful, "failedJobsHistoryLimit": failed});
        let object = SharedObject::<CronJob>::of(cron_job(limits, json!({})));
        let names: Vec<&str> = plan_history(object.view(), &jobs).iter().map(|job| job.name()).collect();
        assert_eq!(names, expected);
    };
    check(json!(3), json!(1), &[]);
    check(json!(1), json!(1), &["a", "b"]);
    check(json!(0), json!(0), &["a", "b", "c", "f"]);
    check(json!(null), json!(null), &[]);
}

#[test]
fn only_what_matters_wakes_a_cron_job() {
    let check = |event: Event<Job>, expected: usize| assert_eq!(woken_by_job(&event).len(), expected, "{event:?}");
    let (running, done) = (job("a", None), job("a", Some(("Complete", "2026-01-01T10:05:00Z"))));
    let mut lone = running.to_owned();
    lone.edit_metadata(|meta| meta.set_owner_references(Vec::<ferry_api::view::meta::v1::OwnerReference>::new()));
    let lone = SharedObject::of(lone);
    check(Event::Added(running.clone()), 1);
    check(Event::Updated { old: running.clone(), new: running.clone() }, 0);
    check(Event::Updated { old: running.clone(), new: done.clone() }, 1);
    check(Event::Updated { old: running, new: lone.clone() }, 1);
    check(Event::Deleted(done), 1);
    check(Event::Added(lone), 0);
    let object = |spec: Value| SharedObject::<CronJob>::of(cron_job(spec, json!({})));
    assert!(is_rescheduled(&object(json!({})), &object(json!({"schedule": "1 * * * *"}))));
    assert!(is_rescheduled(&object(json!({})), &object(json!({"timeZone": "UTC"}))));
    assert!(!is_rescheduled(&object(json!({})), &object(json!({"suspend": true}))));
}
