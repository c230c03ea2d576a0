//! Deletes a finished Job when its `ttlSecondsAfterFinished` is over, with its pods. A Job that
//! still has time is one entry in the runner's delayed queue, and one without the field none.
//!
//! Upstream: pkg/controller/ttlafterfinished.

use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Controller, Enqueue, Key, Watch};
use async_trait::async_trait;
use ferry_api::view::batch::v1::{Job, JobView};
use ferry_client::{DeleteParams, Event, Informers};
use jiff::Timestamp;
use std::time::Duration;

pub(crate) struct TtlAfterFinishedController;

#[async_trait]
impl Controller for TtlAfterFinishedController {
    fn name(&self) -> &'static str {
        "ttl-after-finished-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::new(informers.of::<Job>(), wake_for_job)]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(job) = ctx.informers.of::<Job>().get(&key.namespace, &key.name) else { return Ok(Action::Done) };
        match plan_expiry(job.view(), ctx.now())? {
            Expiry::Never => return Ok(Action::Done),
            Expiry::Later(left) => return Ok(Action::RequeueAfter(left)),
            Expiry::Over => {}
        }
        // The cache is not proof enough to delete: somebody may have prolonged the time just now.
        let api = ctx.client.api::<Job>(&key.namespace);
        let fresh = match api.get(&key.name).await {
            Err(error) if error.is_not_found() => return Ok(Action::Done),
            other => other.during("get the job", key)?,
        };
        match plan_expiry(fresh.view(), ctx.now())? {
            Expiry::Never => return Ok(Action::Done),
            Expiry::Later(left) => return Ok(Action::RequeueAfter(left)),
            Expiry::Over => {}
        }
        let params = DeleteParams {
            propagation_policy: Some("Foreground".to_owned()),
            uid: Some(fresh.uid().to_owned()),
            ..Default::default()
        };
        match api.delete(&key.name, &params).await {
            Err(error) if error.is_not_found() => Ok(Action::Done),
            other => other.during("delete the expired job", key).map(|()| Action::Done),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expiry {
    /// The Job has no end yet, no time to live, or is being deleted already.
    Never,
    Later(Duration),
    Over,
}

fn plan_expiry(job: JobView<'_>, now: Timestamp) -> Result<Expiry> {
    let Some(ttl) = job.spec().ttl_seconds_after_finished() else { return Ok(Expiry::Never) };
    let mut conditions = job.status().conditions().iter();
    let is_end = |kind: &str, status: &str| matches!(kind, "Complete" | "Failed") && status == "True";
    let end = conditions.find(|condition| is_end(condition.type_(), condition.status()));
    let Some(end) = end.filter(|_| job.metadata().deletion_timestamp().is_none()) else { return Ok(Expiry::Never) };
    let Some(finished) = end.last_transition_time() else {
        let key = Key::of(job.metadata());
        return Err(Error::Retry(format!("unable to find the time when the Job {key} finished")));
    };
    let left = finished.duration_since(now).saturating_add(jiff::SignedDuration::from_secs(ttl.into()));
    let left = Duration::try_from(left).unwrap_or_default();
    Ok(if left.is_zero() { Expiry::Over } else { Expiry::Later(left) })
}

fn wake_for_job(event: &Event<Job>, enqueue: &Enqueue) {
    let (_, Some(job)) = event.versions() else { return };
    // A Job without an expiry is no work, and most Jobs have none.
    if !matches!(plan_expiry(job.view(), Timestamp::MIN), Ok(Expiry::Never)) {
        enqueue.add_object(job.meta());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_job_expires_after_its_end() {
        let end = |kind: &str, status: &str| json!([{"type": kind, "status": status, "lastTransitionTime": "2026-01-01T10:00:00Z"}]);
        let check = |ttl: Value, conditions: Value, now: &str, expected: Expiry| {
            let job = json!({"metadata": {"name": "j"}, "spec": {"ttlSecondsAfterFinished": ttl},
                "status": {"conditions": conditions}});
            let expiry = plan_expiry((&job).into(), now.parse().expect("a time"));
            assert_eq!(expiry.expect("the end has a time"), expected, "{job} at {now}");
        };
        let (soon, late) = ("2026-01-01T10:00:04Z", "2026-01-01T10:00:10Z");
        check(json!(10), end("Complete", "True"), soon, Expiry::Later(Duration::from_secs(6)));
        check(json!(10), end("Failed", "True"), late, Expiry::Over);
        check(json!(0), end("Complete", "True"), "2026-01-01T10:00:00Z", Expiry::Over);
        check(json!(10), end("Complete", "True"), "2026-01-01T09:59:00Z", Expiry::Later(Duration::from_secs(70)));
        check(json!(null), end("Complete", "True"), late, Expiry::Never);
        check(json!(10), end("Complete", "False"), late, Expiry::Never);
        check(json!(10), end("Suspended", "True"), late, Expiry::Never);
        check(json!(i32::MAX), end("Complete", "True"), soon, Expiry::Later(Duration::from_secs(i32::MAX as u64 - 4)));
    }

    #[test]
    fn a_deleted_job_does_not_expire_and_one_without_a_time_is_tried_again() {
        let mut job = json!({"metadata": {"name": "j", "namespace": "ns", "deletionTimestamp": "2026-01-01T10:00:00Z"},
            "spec": {"ttlSecondsAfterFinished": 0}, "status": {"conditions": [{"type": "Complete", "status": "True"}]}});
        let now = "2026-01-01T10:00:00Z".parse().expect("a time");
        assert_eq!(plan_expiry((&job).into(), now).expect("no error"), Expiry::Never);
        job["metadata"]["deletionTimestamp"] = Value::Null;
        let error = plan_expiry((&job).into(), now).expect_err("no time");
        assert_eq!(error.to_string(), "unable to find the time when the Job ns/j finished");
    }
}
