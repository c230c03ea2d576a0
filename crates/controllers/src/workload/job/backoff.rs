//! How long a Job waits before it replaces failed pods: 10 s after the first failure since the
//! last success, twice as long after each further one, 10 min at most. The reference is
//! upstream's pkg/controller/job/backoff_utils.go.

use super::pods::JobPod;
use ferry_api::rules::backoff::Backoff;
use jiff::Timestamp;
use std::time::Duration;

const PAUSES: Backoff = Backoff::new(Duration::from_secs(10), Duration::from_secs(10 * 60));

/// The failures of a Job since its last success. It lives in memory only: a controller that
/// starts anew knows of no failures, as upstream's does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailureRecord {
    pub failures: u32,
    pub last: Option<Timestamp>,
}

impl FailureRecord {
    /// The record after pods have ended that no record knows of yet.
    pub(super) fn after(self, succeeded: &[&JobPod], failed: &[&JobPod]) -> Self {
        let last_success = succeeded.iter().map(|pod| pod.finish_time()).max();
        let failures = failed.iter().map(|pod| pod.finish_time());
        let later: Vec<Timestamp> = failures.filter(|at| last_success.is_none_or(|success| *at > success)).collect();
        let before = if last_success.is_some() { Self::default() } else { self };
        let count = u32::try_from(later.len()).unwrap_or(u32::MAX);
        Self { failures: before.failures.saturating_add(count), last: later.into_iter().max().or(before.last) }
    }

    /// The time left before a pod may be replaced; zero when there is none.
    pub(super) fn remaining(self, now: Timestamp) -> Duration {
        let Some(last) = self.last.filter(|_| self.failures > 0) else { return Duration::ZERO };
        let elapsed = Duration::try_from(now.duration_since(last)).unwrap_or_default();
        PAUSES.pause_after(self.failures - 1).saturating_sub(elapsed)
    }

    /// The record of one index, by the last pod of it that failed.
    pub(super) fn of_index(last_failed: Option<&JobPod>) -> Self {
        let Some(pod) = last_failed else { return Self::default() };
        let (failures, ignored) = pod.index_failures();
        let failures = failures.saturating_add(ignored).saturating_add(1).unsigned_abs();
        Self { failures, last: Some(pod.finish_time()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pods::INDEX;
    use super::super::terms::JobTerms;
    use super::*;
    use ferry_api::view::batch::v1::JobView;
    use ferry_client::SharedObject;
    use serde_json::{Value, json};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn pod(ended: i64) -> JobPod {
        annotated(ended, json!({}))
    }

    fn annotated(ended: i64, annotations: Value) -> JobPod {
        let job = json!({});
        let terms = JobTerms::of(JobView::from(&job));
        let object = json!({"metadata": {"annotations": annotations}, "status": {"phase": "Failed", "containerStatuses": [
            {"state": {"terminated": {"finishedAt": at(ended).to_string()}}}]}});
        JobPod::read(SharedObject::of(object), &terms)
    }

    #[test]
    fn failures_count_since_the_last_success() {
        let check = |before: (u32, Option<i64>), succeeded: &[i64], failed: &[i64], expected: (u32, Option<i64>)| {
            let record = |(failures, last): (u32, Option<i64>)| FailureRecord { failures, last: last.map(at) };
            let (succeeded, failed) = (succeeded.iter().map(|t| pod(*t)), failed.iter().map(|t| pod(*t)));
            let (succeeded, failed): (Vec<JobPod>, Vec<JobPod>) = (succeeded.collect(), failed.collect());
            let after = record(before).after(&succeeded.iter().collect::<Vec<_>>(), &failed.iter().collect::<Vec<_>>());
            assert_eq!(after, record(expected));
        };
        check((0, None), &[], &[], (0, None));
        check((0, None), &[], &[30, 20], (2, Some(30)));
        check((2, Some(30)), &[], &[40], (3, Some(40)));
        check((2, Some(30)), &[], &[], (2, Some(30)));
        check((2, Some(30)), &[35], &[], (0, None));
        check((2, Some(30)), &[35, 32], &[33, 36, 38], (2, Some(38)));
        check((2, Some(30)), &[35], &[35], (0, None));
    }

    #[test]
    fn the_pause_doubles_up_to_ten_minutes() {
        let check = |failures: u32, elapsed: i64, expected: u64| {
            let record = FailureRecord { failures, last: Some(at(1000)) };
            assert_eq!(record.remaining(at(1000 + elapsed)), Duration::from_secs(expected), "{failures} {elapsed}");
        };
        check(0, 0, 0);
        check(1, 0, 10);
        check(1, 4, 6);
        check(1, 11, 0);
        check(3, 0, 40);
        check(7, 0, 600);
        check(4_000_000, 0, 600);
        // A node whose clock is ahead of ours has failed nothing in the future.
        check(1, -5, 10);
    }

    #[test]
    fn an_index_waits_by_its_own_failures() {
        let pod = annotated(
            1000,
            json!({
            INDEX: "3", "batch.kubernetes.io/job-index-failure-count": "1",
            "batch.kubernetes.io/job-index-ignored-failure-count": "1"}),
        );
        assert_eq!(FailureRecord::of_index(Some(&pod)).remaining(at(1000)), Duration::from_secs(40));
        assert_eq!(FailureRecord::of_index(None).remaining(at(1000)), Duration::ZERO);
    }
}
