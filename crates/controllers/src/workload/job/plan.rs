//! The decisions of a Job's reconcile, in the order in which it acts:
//!
//! 1. [`Observation::of`] counts the pods and finds whether the Job has come to an end.
//! 2. [`plan_pods`] names the pods to create or to delete.
//! 3. [`plan_tracking`] writes down the pods that have ended; after that status is stored,
//!    their finalizers may go.
//! 4. [`Tally::count_released`] and [`Tally::seal`] count them, and finish the Job.
//!
//! All of it is pure. The reference is `syncJob` of upstream's pkg/controller/job/job_controller.go.

use super::backoff::FailureRecord;
use super::failure_policy::FailureAction;
use super::indexes::Intervals;
use super::pods::{JobPod, plan_pod, plan_removal};
use super::status::{Outcome, Tally, Verdict};
use super::success_policy::match_success_policy;
use super::terms::JobTerms;
use ferry_api::view::core::v1::Pod;
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// How many pods one reconcile creates or deletes at most (upstream's MaxPodCreateDeletePerSync).
const BURST: usize = 500;

/// How many pods may wait in `uncountedTerminatedPods`, so that a status stays below 20 KB.
const MAX_UNCOUNTED: usize = 500;

/// The state of a Job and its pods, counted.
pub(super) struct Observation<'a> {
    pub terms: JobTerms<'a>,
    pub now: Timestamp,
    pub pods: &'a [JobPod],
    pub active: Vec<&'a JobPod>,
    pub ready: i32,
    pub terminating: i32,
    pub succeeded: i32,
    /// The indexes that the status has, and those with the pods that succeeded since.
    counted_indexes: Intervals,
    succeeded_indexes: Intervals,
    failed_indexes: Option<Intervals>,
    /// For each index that waits to be tried again, its last failed pod. That pod stays until
    /// its replacement has taken over its count of failures.
    awaiting_replacement: HashMap<i32, &'a JobPod>,
    pub failures: FailureRecord,
    pub start_time: Option<Timestamp>,
    /// The end that the Job has come to by a failure, a rule, or an earlier reconcile.
    pub verdict: Option<Verdict>,
    /// The time until activeDeadlineSeconds ends the Job.
    pub deadline: Option<Duration>,
}

impl<'a> Observation<'a> {
    pub(super) fn of(terms: JobTerms<'a>, pods: &'a [JobPod], before: FailureRecord, now: Timestamp) -> Self {
        let status = terms.job.status();
        let uncounted = status.uncounted_terminated_pods().unwrap_or_default();
        let known_succeeded: HashSet<&str> = uncounted.succeeded().iter().collect();
        let known_failed: HashSet<&str> = uncounted.failed().iter().collect();
        let is_valid = |pod: &&JobPod| pod.is_tracked && (!terms.is_indexed || pod.valid_index(&terms).is_some());
        let tracked = || pods.iter().filter(is_valid);
        let newly_succeeded: Vec<&JobPod> =
            tracked().filter(|pod| pod.is_succeeded && !known_succeeded.contains(pod.uid())).collect();
        let newly_failed: Vec<&JobPod> =
            tracked().filter(|pod| pod.is_failed && !known_failed.contains(pod.uid())).collect();
        let counting = newly_failed.iter().filter(|pod| pod.failure.is_counted()).count();
        let active: Vec<&JobPod> = pods.iter().filter(|pod| pod.is_active).collect();
        let mut observation = Self {
            terms,
            now,
            pods,
            ready: count(active.iter().filter(|pod| pod.is_ready).count()),
            active,
            terminating: count(pods.iter().filter(|pod| pod.is_terminating).count()),
            succeeded: status.succeeded().saturating_add(count(newly_succeeded.len() + known_succeeded.len())),
            counted_indexes: Intervals::default(),
            succeeded_indexes: Intervals::default(),
            failed_indexes: None,
            awaiting_replacement: HashMap::new(),
            failures: before.after(&newly_succeeded, &newly_failed),
            start_time: status.start_time().or_else(|| (!terms.is_suspended).then_some(now)),
            verdict: None,
            deadline: None,
        };
        let failed = status.failed().saturating_add(count(counting + known_failed.len()));
        observation.judge(failed);
        if terms.is_indexed {
            observation.judge_indexes();
        }
        observation
    }

    /// The order matters where several ends apply: an earlier verdict, the failure policy, the
    /// back-off limit, the deadline.
    fn judge(&mut self, failed: i32) {
        let terms = &self.terms;
        let by_policy = || {
            self.pods.iter().filter(|pod| pod.is_failed).find_map(|pod| match &pod.failure {
                FailureAction::FailJob(message) => Some(Verdict::failure("PodFailurePolicy", message)),
                _ => None,
            })
        };
        self.verdict = Verdict::announced(terms.job.status()).or_else(by_policy);
        if self.verdict.is_some() {
            return;
        }
        if failed > terms.backoff_limit || exceeds_restarts(terms, self.pods) {
            let message = "Job has reached the specified backoff limit";
            self.verdict = Some(Verdict::failure("BackoffLimitExceeded", message));
            return;
        }
        let (Some(seconds), Some(start)) = (terms.job.spec().active_deadline_seconds(), self.start_time) else {
            return;
        };
        if terms.is_suspended {
            return;
        }
        let allowed = Duration::from_secs(seconds.max(0).unsigned_abs());
        let elapsed = Duration::try_from(self.now.duration_since(start)).unwrap_or_default();
        match allowed.checked_sub(elapsed).filter(|left| !left.is_zero()) {
            Some(left) => self.deadline = Some(left),
            None => {
                let message = "Job was active longer than specified deadline";
                self.verdict = Some(Verdict::failure("DeadlineExceeded", message));
            }
        }
    }

    fn judge_indexes(&mut self) {
        let terms = &self.terms;
        let (status, completions) = (terms.job.status(), terms.completions.unwrap_or(0));
        let indexes = |wanted: &dyn Fn(&JobPod) -> bool| -> BTreeSet<i32> {
            self.pods
                .iter()
                .filter(|pod| pod.is_tracked && wanted(pod))
                .filter_map(|pod| pod.valid_index(terms))
                .collect()
        };
        self.counted_indexes = Intervals::parse(status.completed_indexes(), completions);
        self.succeeded_indexes = self.counted_indexes.with(&indexes(&|pod| pod.is_succeeded));
        self.succeeded = self.succeeded_indexes.total();
        if let Some(limit) = terms.backoff_limit_per_index {
            let is_index_failed = |pod: &JobPod| {
                pod.is_failed
                    && (pod.failure == FailureAction::FailIndex
                        || (pod.failure.is_counted() && pod.index_failures().0 >= limit))
            };
            let before = Intervals::parse(status.failed_indexes().unwrap_or_default(), completions);
            let failed = before.with(&indexes(&is_index_failed));
            if self.verdict.is_none() {
                if terms.job.spec().max_failed_indexes().is_some_and(|max| failed.total() > max) {
                    let message = "Job has exceeded the specified maximal number of failed indexes";
                    self.verdict = Some(Verdict::failure("MaxFailedIndexesExceeded", message));
                } else if !failed.is_empty()
                    && failed.total().saturating_add(self.succeeded_indexes.total()) >= completions
                {
                    self.verdict = Some(Verdict::failure("FailedIndexes", "Job has failed indexes"));
                }
            }
            self.awaiting_replacement = self.find_awaiting_replacement(&failed);
            self.failed_indexes = Some(failed);
        }
        if self.verdict.is_none() {
            let met =
                match_success_policy(self.terms.job.spec().success_policy(), completions, &self.succeeded_indexes);
            self.verdict = met.map(|message| Verdict::success("SuccessPolicy", &message));
        }
    }

    fn find_awaiting_replacement(&self, failed: &Intervals) -> HashMap<i32, &'a JobPod> {
        let active: HashSet<i32> = self.active.iter().filter_map(|pod| pod.index).collect();
        let mut last: HashMap<i32, &JobPod> = HashMap::new();
        let rank = |pod: &JobPod| {
            let (failures, ignored) = pod.index_failures();
            (failures.saturating_add(ignored), pod.finish_time())
        };
        for pod in self.pods.iter().filter(|pod| pod.is_tracked && pod.is_failed) {
            let Some(index) = pod.valid_index(&self.terms) else { continue };
            if self.succeeded_indexes.contains(index) || failed.contains(index) || active.contains(&index) {
                continue;
            }
            let best = last.entry(index).or_insert(pod);
            let ((more, later), (count, ended)) = (rank(pod), rank(best));
            if more >= count && later >= ended {
                *best = pod;
            }
        }
        last
    }

    /// The indexes that need a pod, lowest first.
    fn pending_indexes(&self, wanted: usize) -> Vec<i32> {
        let indexes = |chosen: &dyn Fn(&JobPod) -> bool| -> BTreeSet<i32> {
            self.pods.iter().filter(|pod| chosen(pod)).filter_map(|pod| pod.index).collect()
        };
        let holds = |pod: &JobPod| pod.is_active || (self.terms.replaces_only_failed && pod.is_terminating);
        let mut taken = self.succeeded_indexes.with(&indexes(&holds));
        if let Some(failed) = &self.failed_indexes {
            taken = taken.merge(failed);
        }
        taken.first_missing(wanted, self.terms.completions.unwrap_or(0))
    }
}

/// Restarts in place count towards the back-off limit where pods restart by themselves.
fn exceeds_restarts(terms: &JobTerms<'_>, pods: &[JobPod]) -> bool {
    if terms.job.spec().template().spec().restart_policy() != "OnFailure" {
        return false;
    }
    let restarts: i64 = pods
        .iter()
        .map(|pod| pod.object.view().status())
        .filter(|status| matches!(status.phase(), "Running" | "Pending"))
        .flat_map(|status| status.init_container_statuses().iter().chain(status.container_statuses()))
        .map(|container| i64::from(container.restart_count()))
        .sum();
    restarts >= i64::from(terms.backoff_limit.max(1))
}

/// The pods to create or delete. A reconcile does one of both.
#[derive(Debug, Default)]
pub(super) struct PodPlan<'a> {
    pub create: Vec<Pod>,
    pub delete: Vec<&'a JobPod>,
    /// The deleted pods are surplus and are not counted, so their finalizer goes first.
    pub uncounted: bool,
    /// The time until a failed pod may be replaced.
    pub wait: Option<Duration>,
}

pub(super) fn plan_pods<'a>(observed: &Observation<'a>) -> PodPlan<'a> {
    let terms = &observed.terms;
    if observed.verdict.is_some() {
        return PodPlan { delete: observed.active.clone(), ..Default::default() };
    }
    if terms.is_deleting {
        return PodPlan::default();
    }
    let active = observed.active.len();
    if terms.is_suspended {
        let delete = plan_removal(terms, &observed.active, active);
        return PodPlan { delete, uncounted: true, ..Default::default() };
    }
    let wanted = match terms.completions {
        // One success is enough, and those that run may end.
        None if observed.succeeded > 0 => active,
        None => size(terms.parallelism),
        Some(completions) => size(completions.saturating_sub(observed.succeeded).min(terms.parallelism)),
    };
    let mut delete = plan_removal(terms, &observed.active, active.saturating_sub(wanted));
    delete.truncate(BURST);
    if !delete.is_empty() {
        return PodPlan { delete, uncounted: true, ..Default::default() };
    }
    let leaving = if terms.replaces_only_failed { size(observed.terminating) } else { 0 };
    let missing = wanted.saturating_sub(leaving + active).min(BURST);
    plan_creations(observed, missing)
}

fn plan_creations<'a>(observed: &Observation<'a>, missing: usize) -> PodPlan<'a> {
    let (terms, now) = (&observed.terms, observed.now);
    if missing == 0 {
        return PodPlan::default();
    }
    let waiting = |left: Duration| PodPlan { wait: Some(left), ..Default::default() };
    if terms.backoff_limit_per_index.is_none() {
        let left = observed.failures.remaining(now);
        if !left.is_zero() {
            return waiting(left);
        }
    }
    if !terms.is_indexed {
        return PodPlan { create: vec![plan_pod(terms, None, None); missing], ..Default::default() };
    }
    let last_failed = |index: &i32| observed.awaiting_replacement.get(index).copied();
    let remaining = |index: &i32| match terms.backoff_limit_per_index {
        Some(_) => FailureRecord::of_index(last_failed(index)).remaining(now),
        None => Duration::ZERO,
    };
    let (due, waits): (Vec<i32>, Vec<i32>) =
        observed.pending_indexes(missing).into_iter().partition(|index| remaining(index).is_zero());
    PodPlan {
        create: due.iter().map(|index| plan_pod(terms, Some(*index), last_failed(index))).collect(),
        wait: waits.iter().map(remaining).min(),
        ..Default::default()
    }
}

/// The outcome of the pod plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PodsDone {
    pub created: usize,
    pub deleted: usize,
    pub deleted_ready: usize,
}

/// The status to store before finalizers go, and the pods whose finalizers may go then.
pub(super) struct Tracking<'a> {
    pub tally: Tally,
    pub release: Vec<&'a JobPod>,
    pub verdict: Option<Verdict>,
    /// There are more pods to count than one reconcile takes.
    pub is_partial: bool,
    /// The event of a Job that was suspended or resumed: its reason and message.
    pub suspension: Option<(&'static str, &'static str)>,
}

pub(super) fn plan_tracking<'a>(observed: &Observation<'a>, done: PodsDone) -> Tracking<'a> {
    let (terms, now) = (&observed.terms, observed.now);
    let mut tally = Tally::read(terms.job.status());
    tally.start_time = observed.start_time;
    tally.active = count(observed.active.len() + done.created - done.deleted.min(observed.active.len()));
    tally.ready = observed.ready.saturating_sub(count(done.deleted_ready)).max(0);
    tally.terminating = observed.terminating.saturating_add(count(done.deleted));
    let mut suspension = None;
    // An end that could not be carried out yet is found again by the next reconcile.
    let mut verdict = observed.verdict.clone().filter(|_| done.deleted == observed.active.len());
    if observed.verdict.is_none() {
        if is_complete(observed, tally.active) {
            let message = "Reached expected number of succeeded pods";
            verdict = Some(Verdict::success("CompletionsReached", message));
        } else if !terms.is_deleting {
            suspension = track_suspension(&mut tally, terms.is_suspended, now);
        }
    }
    let mut tracking = Tracking { tally, release: Vec::new(), verdict, is_partial: false, suspension };
    track_pods(observed, &mut tracking);
    if let Some(verdict) = &tracking.verdict {
        tracking.tally.announce(verdict, now);
    }
    tracking
}

fn is_complete(observed: &Observation<'_>, active: i32) -> bool {
    let enough = observed.terms.completions.unwrap_or(1);
    active == 0 && observed.succeeded >= enough
}

fn track_suspension(tally: &mut Tally, is_suspended: bool, now: Timestamp) -> Option<(&'static str, &'static str)> {
    if is_suspended {
        tally.ensure("Suspended", "True", "JobSuspended", "Job suspended", now).then(|| {
            tally.start_time = None;
            ("Suspended", "Job suspended")
        })
    } else {
        // The deadline counts the time that a Job is active without a pause.
        tally.ensure("Suspended", "False", "JobResumed", "Job resumed", now).then(|| {
            tally.start_time = Some(now);
            ("Resumed", "Job resumed")
        })
    }
}

fn track_pods<'a>(observed: &Observation<'a>, tracking: &mut Tracking<'a>) {
    let terms = &observed.terms;
    let tracked: HashSet<&str> = observed.pods.iter().filter(|pod| pod.is_tracked).map(JobPod::uid).collect();
    let tally = &mut tracking.tally;
    let known = |uids: &[String]| uids.iter().cloned().collect::<HashSet<String>>();
    let (known_succeeded, known_failed) = (known(&tally.uncounted_succeeded), known(&tally.uncounted_failed));
    tally.count_released(|uid| tracked.contains(uid));
    let mut ordered: Vec<&JobPod> = observed.pods.iter().filter(|pod| pod.is_tracked).collect();
    if terms.is_indexed {
        ordered.sort_by_key(|pod| pod.index);
    }
    let failing = tracking.verdict.as_ref().is_some_and(|verdict| verdict.outcome == Outcome::Failure);
    let mut new_indexes = BTreeSet::new();
    for pod in ordered {
        let is_over = terms.is_deleting || tracking.verdict.is_some() || pod.is_succeeded;
        let is_kept = || {
            pod.index
                .and_then(|index| observed.awaiting_replacement.get(&index))
                .is_some_and(|kept| kept.uid() == pod.uid())
        };
        if !is_over && (!pod.is_failed || is_kept()) {
            continue;
        }
        tracking.release.push(pod);
        let index = pod.valid_index(terms);
        let is_countable = !terms.is_indexed || index.is_some();
        if pod.is_succeeded && !known_failed.contains(pod.uid()) {
            if terms.is_indexed {
                new_indexes.extend(index.filter(|index| !observed.counted_indexes.contains(*index)));
            } else if !known_succeeded.contains(pod.uid()) {
                tally.uncounted_succeeded.push(pod.uid().to_owned());
            }
        } else if (pod.is_failed || failing)
            && is_countable
            && !known_failed.contains(pod.uid())
            && pod.failure.is_counted()
        {
            tally.uncounted_failed.push(pod.uid().to_owned());
        }
        if new_indexes.len() + tally.uncounted_succeeded.len() + tally.uncounted_failed.len() >= MAX_UNCOUNTED {
            tracking.is_partial = true;
            break;
        }
    }
    if terms.is_indexed {
        // A succeeded pod whose finalizer stays for now has its index counted already, so that
        // no other pod is made for it.
        let indexes = observed.succeeded_indexes.with(&new_indexes);
        tally.succeeded = indexes.total();
        tally.completed_indexes = indexes.to_string();
        tally.failed_indexes = observed.failed_indexes.as_ref().map(Intervals::to_string);
    }
}

fn count(pods: usize) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}

fn size(pods: i32) -> usize {
    usize::try_from(pods).unwrap_or(0)
}

#[cfg(test)]
mod tests;
