//! The status of a Job while a reconcile works on it: counters, pods that are not counted yet,
//! conditions and times. Read from the Job, changed by the plan, and written back.
//!
//! **Invariant:** a finished pod is counted once. Its uid is written to
//! `uncountedTerminatedPods` before its finalizer goes, and moves from there to a counter after
//! it has gone. A controller that stops between two of these steps finds the pod again by its
//! finalizer or by its uid. An Indexed Job has the index in `completedIndexes` in place of the
//! uid of a succeeded pod.

use ferry_api::rules::condition;
use ferry_api::view::batch::v1::{
    JobCondition, JobConditionView, JobStatus, JobStatusView, UncountedTerminatedPods, UncountedTerminatedPodsView,
};
use ferry_api::view::{Owned, View, alike};
use jiff::Timestamp;

/// Whether a Job ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Success,
    Failure,
}

/// The end that a Job has come to. It is announced by one condition while pods still end, and
/// sealed by another when none is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub outcome: Outcome,
    pub reason: String,
    pub message: String,
}

impl Verdict {
    pub(super) fn success(reason: &str, message: &str) -> Self {
        Self { outcome: Outcome::Success, reason: reason.to_owned(), message: message.to_owned() }
    }

    pub(super) fn failure(reason: &str, message: &str) -> Self {
        Self { outcome: Outcome::Failure, reason: reason.to_owned(), message: message.to_owned() }
    }

    /// The verdict of an earlier reconcile. It stands, whatever has become of the pods since.
    pub(super) fn announced(status: JobStatusView<'_>) -> Option<Self> {
        let find =
            |kind: &str| condition::find(status.conditions(), kind).filter(|condition| condition.status() == "True");
        let of = |outcome: Outcome, condition: JobConditionView<'_>| Self {
            outcome,
            reason: condition.reason().to_owned(),
            message: condition.message().to_owned(),
        };
        let success = find("SuccessCriteriaMet").map(|condition| of(Outcome::Success, condition));
        success.or_else(|| find("FailureTarget").map(|condition| of(Outcome::Failure, condition)))
    }

    fn announcement(&self) -> &'static str {
        match self.outcome {
            Outcome::Success => "SuccessCriteriaMet",
            Outcome::Failure => "FailureTarget",
        }
    }

    fn seal(&self) -> &'static str {
        match self.outcome {
            Outcome::Success => "Complete",
            Outcome::Failure => "Failed",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    pub active: i32,
    pub ready: i32,
    pub terminating: i32,
    pub succeeded: i32,
    pub failed: i32,
    pub uncounted_succeeded: Vec<String>,
    pub uncounted_failed: Vec<String>,
    pub completed_indexes: String,
    pub failed_indexes: Option<String>,
    pub start_time: Option<Timestamp>,
    completion_time: Option<Timestamp>,
    conditions: Vec<JobCondition>,
}

impl Tally {
    pub(super) fn read(status: JobStatusView<'_>) -> Self {
        let uncounted: UncountedTerminatedPodsView<'_> = status.uncounted_terminated_pods().unwrap_or_default();
        Self {
            active: status.active(),
            ready: status.ready().unwrap_or(0),
            terminating: status.terminating().unwrap_or(0),
            succeeded: status.succeeded(),
            failed: status.failed(),
            uncounted_succeeded: uncounted.succeeded().to_vec(),
            uncounted_failed: uncounted.failed().to_vec(),
            completed_indexes: status.completed_indexes().to_owned(),
            failed_indexes: status.failed_indexes().map(str::to_owned),
            start_time: status.start_time(),
            completion_time: status.completion_time(),
            conditions: status.conditions().iter().map(|condition| condition.to_owned()).collect(),
        }
    }

    /// The status to write, or `None` when the stored one says the same.
    pub(super) fn render(&self, stored: JobStatusView<'_>) -> Option<JobStatus> {
        let some = |count: i32| (count != 0).then_some(count);
        let uncounted = UncountedTerminatedPods::new()
            .with_succeeded(self.uncounted_succeeded.iter())
            .with_failed(self.uncounted_failed.iter());
        let indexes = (!self.completed_indexes.is_empty()).then_some(self.completed_indexes.as_str());
        let status = stored
            .to_owned()
            .with_active(some(self.active))
            .with_ready(self.ready)
            .with_terminating(self.terminating)
            .with_succeeded(some(self.succeeded))
            .with_failed(some(self.failed))
            .with_uncounted_terminated_pods(uncounted)
            .with_completed_indexes(indexes)
            .with_failed_indexes(self.failed_indexes.as_deref())
            .with_start_time(self.start_time)
            .with_completion_time(self.completion_time)
            .with_conditions(self.conditions.iter().cloned());
        // The first status of a Job has its zeros written out, as upstream has it.
        let is_first = stored.ready().is_none() || stored.terminating().is_none();
        (is_first || !alike(stored.node(), status.view().node())).then_some(status)
    }

    /// Counts the pods whose finalizer has gone. `is_tracked` is whether a uid still has one.
    pub(super) fn count_released(&mut self, is_tracked: impl Fn(&str) -> bool) {
        let settle = |uids: &mut Vec<String>| {
            let before = uids.len();
            uids.retain(|uid| is_tracked(uid));
            i32::try_from(before - uids.len()).unwrap_or(i32::MAX)
        };
        self.succeeded = self.succeeded.saturating_add(settle(&mut self.uncounted_succeeded));
        self.failed = self.failed.saturating_add(settle(&mut self.uncounted_failed));
    }

    /// Adds the condition that announces the end, unless it is there.
    pub(super) fn announce(&mut self, verdict: &Verdict, now: Timestamp) {
        self.ensure(verdict.announcement(), "True", &verdict.reason, &verdict.message, now);
    }

    /// Marks the Job as finished, unless pods are still to be counted or to end.
    pub(super) fn seal(&mut self, verdict: &Verdict, now: Timestamp) -> bool {
        if !self.uncounted_succeeded.is_empty() || !self.uncounted_failed.is_empty() || self.terminating > 0 {
            return false;
        }
        self.ensure(verdict.seal(), "True", &verdict.reason, &verdict.message, now);
        if verdict.outcome == Outcome::Success {
            self.completion_time = Some(now);
        }
        true
    }

    /// Sets a condition, and returns whether that changed it. One that was never there is not
    /// added as False.
    pub(super) fn ensure(&mut self, kind: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> bool {
        let new = JobCondition::new()
            .with_type(kind)
            .with_status(status)
            .with_last_probe_time(now)
            .with_last_transition_time(now)
            .with_reason(reason)
            .with_message(message);
        match self.conditions.iter_mut().find(|condition| condition.view().type_() == kind) {
            Some(old) => {
                let before = old.view();
                if (before.status(), before.reason(), before.message()) == (status, reason, message) {
                    return false;
                }
                *old = new;
            }
            None if status == "False" => return false,
            None => self.conditions.push(new),
        }
        true
    }
}
