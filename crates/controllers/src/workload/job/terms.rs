//! The terms of a Job, read once a reconcile: how many pods, how they are counted, and what a
//! failure means. Defaults stand here for Jobs from before a field existed.

use ferry_api::rules::condition;
use ferry_api::view::batch::v1::{JobView, PodFailurePolicyView};

/// The value of `managedBy` that names this controller.
const OWN_NAME: &str = "kubernetes.io/job-controller";

#[derive(Clone, Copy)]
pub(crate) struct JobTerms<'a> {
    pub job: JobView<'a>,
    pub parallelism: i32,
    /// `None` for a Job that one success completes.
    pub completions: Option<i32>,
    pub is_indexed: bool,
    pub is_suspended: bool,
    pub is_deleting: bool,
    pub backoff_limit: i32,
    /// Only of an Indexed Job.
    pub backoff_limit_per_index: Option<i32>,
    pub failure_policy: Option<PodFailurePolicyView<'a>>,
    /// A pod is replaced when it has ended, and not when it is being deleted.
    pub replaces_only_failed: bool,
}

impl<'a> JobTerms<'a> {
    pub(crate) fn of(job: JobView<'a>) -> Self {
        let spec = job.spec();
        let is_indexed = spec.completion_mode() == Some("Indexed");
        let failure_policy = spec.pod_failure_policy();
        Self {
            job,
            parallelism: spec.parallelism().unwrap_or(1).max(0),
            completions: spec.completions(),
            is_indexed,
            is_suspended: spec.suspend() == Some(true),
            is_deleting: job.metadata().deletion_timestamp().is_some(),
            backoff_limit: spec.backoff_limit().unwrap_or(6),
            backoff_limit_per_index: spec.backoff_limit_per_index().filter(|_| is_indexed),
            failure_policy,
            replaces_only_failed: failure_policy.is_some() || spec.pod_replacement_policy() == Some("Failed"),
        }
    }

    /// Whether the completion mode is one that this controller knows.
    pub(crate) fn is_known_mode(&self) -> bool {
        matches!(self.job.spec().completion_mode(), None | Some("NonIndexed" | "Indexed"))
    }
}

/// Whether another controller has been asked to look after the Job.
pub(crate) fn is_managed_elsewhere(job: JobView<'_>) -> bool {
    job.spec().managed_by().is_some_and(|name| name != OWN_NAME)
}

/// Whether the Job has ended, in success or in failure.
pub(crate) fn is_finished(job: JobView<'_>) -> bool {
    let conditions = job.status().conditions();
    condition::is_true(conditions, "Complete") || condition::is_true(conditions, "Failed")
}
