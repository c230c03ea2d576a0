//! Generated from facts/batch.v1.facts; see view/generate.rs.

use crate::view::{generated as g, owned as o, read as r};
use o::{IntoField, edit, insert, kind, object, part, push, set, set_list, set_map};
use r::{find, read};

object!(CronJob, CronJobView);
kind!(CronJob, "batch", "v1", "batch/v1", "cronjobs");
impl<'a> CronJobView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::batch::v1::CronJobSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::batch::v1::CronJobStatusView<'a> { read(self.0, "status") }
}
impl CronJob {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::CronJobSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::batch::v1::CronJobSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::batch::v1::CronJobSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::CronJobStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::batch::v1::CronJobStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::batch::v1::CronJobStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(CronJobList, CronJobListView);
part!(CronJobList);
impl<'a> CronJobListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::batch::v1::CronJobView<'a>> { read(self.0, "items") }
}
impl CronJobList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::batch::v1::CronJob>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::CronJob>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::CronJob>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(CronJobSpec, CronJobSpecView);
part!(CronJobSpec);
impl<'a> CronJobSpecView<'a> {
    pub fn schedule(self) -> &'a str { read(self.0, "schedule") }
    pub fn time_zone(self) -> Option<&'a str> { find(self.0, "timeZone") }
    pub fn starting_deadline_seconds(self) -> Option<i64> { find(self.0, "startingDeadlineSeconds") }
    pub fn concurrency_policy(self) -> &'a str { read(self.0, "concurrencyPolicy") }
    pub fn suspend(self) -> Option<bool> { find(self.0, "suspend") }
    pub fn job_template(self) -> g::batch::v1::JobTemplateSpecView<'a> { read(self.0, "jobTemplate") }
    pub fn successful_jobs_history_limit(self) -> Option<i32> { find(self.0, "successfulJobsHistoryLimit") }
    pub fn failed_jobs_history_limit(self) -> Option<i32> { find(self.0, "failedJobsHistoryLimit") }
}
impl CronJobSpec {
    pub fn set_schedule(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "schedule", value.into_field()) }
    pub fn with_schedule(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "schedule", value.into_field()); self }
    pub fn set_time_zone(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "timeZone", value.into_field()) }
    pub fn with_time_zone(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "timeZone", value.into_field()); self }
    pub fn set_starting_deadline_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "startingDeadlineSeconds", value.into_field()) }
    pub fn with_starting_deadline_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "startingDeadlineSeconds", value.into_field()); self }
    pub fn set_concurrency_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "concurrencyPolicy", value.into_field()) }
    pub fn with_concurrency_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "concurrencyPolicy", value.into_field()); self }
    pub fn set_suspend(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "suspend", value.into_field()) }
    pub fn with_suspend(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "suspend", value.into_field()); self }
    pub fn edit_job_template<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::JobTemplateSpec) -> R) -> R { edit(&mut self.0, "jobTemplate", change) }
    pub fn set_job_template(&mut self, value: impl o::IntoField<g::batch::v1::JobTemplateSpec>) { set(&mut self.0, "jobTemplate", value.into_field()) }
    pub fn with_job_template(mut self, value: impl o::IntoField<g::batch::v1::JobTemplateSpec>) -> Self { set(&mut self.0, "jobTemplate", value.into_field()); self }
    pub fn set_successful_jobs_history_limit(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "successfulJobsHistoryLimit", value.into_field()) }
    pub fn with_successful_jobs_history_limit(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "successfulJobsHistoryLimit", value.into_field()); self }
    pub fn set_failed_jobs_history_limit(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "failedJobsHistoryLimit", value.into_field()) }
    pub fn with_failed_jobs_history_limit(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "failedJobsHistoryLimit", value.into_field()); self }
}

object!(CronJobStatus, CronJobStatusView);
part!(CronJobStatus);
impl<'a> CronJobStatusView<'a> {
    pub fn active(self) -> r::List<'a, g::core::v1::ObjectReferenceView<'a>> { read(self.0, "active") }
    pub fn last_schedule_time(self) -> Option<r::Timestamp> { find(self.0, "lastScheduleTime") }
    pub fn last_successful_time(self) -> Option<r::Timestamp> { find(self.0, "lastSuccessfulTime") }
}
impl CronJobStatus {
    pub fn push_active(&mut self, item: impl o::IntoField<g::core::v1::ObjectReference>) { push(&mut self.0, "active", item) }
    pub fn set_active(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ObjectReference>>) { set_list(&mut self.0, "active", value) }
    pub fn with_active(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::core::v1::ObjectReference>>) -> Self { set_list(&mut self.0, "active", value); self }
    pub fn set_last_schedule_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastScheduleTime", value.into_field()) }
    pub fn with_last_schedule_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastScheduleTime", value.into_field()); self }
    pub fn set_last_successful_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastSuccessfulTime", value.into_field()) }
    pub fn with_last_successful_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastSuccessfulTime", value.into_field()); self }
}

object!(Job, JobView);
kind!(Job, "batch", "v1", "batch/v1", "jobs");
impl<'a> JobView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::batch::v1::JobSpecView<'a> { read(self.0, "spec") }
    pub fn status(self) -> g::batch::v1::JobStatusView<'a> { read(self.0, "status") }
}
impl Job {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::JobSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::batch::v1::JobSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::batch::v1::JobSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
    pub fn edit_status<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::JobStatus) -> R) -> R { edit(&mut self.0, "status", change) }
    pub fn set_status(&mut self, value: impl o::IntoField<g::batch::v1::JobStatus>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<g::batch::v1::JobStatus>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(JobCondition, JobConditionView);
part!(JobCondition);
impl<'a> JobConditionView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
    pub fn last_probe_time(self) -> Option<r::Timestamp> { find(self.0, "lastProbeTime") }
    pub fn last_transition_time(self) -> Option<r::Timestamp> { find(self.0, "lastTransitionTime") }
    pub fn reason(self) -> &'a str { read(self.0, "reason") }
    pub fn message(self) -> &'a str { read(self.0, "message") }
}
impl JobCondition {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
    pub fn set_last_probe_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastProbeTime", value.into_field()) }
    pub fn with_last_probe_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastProbeTime", value.into_field()); self }
    pub fn set_last_transition_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "lastTransitionTime", value.into_field()) }
    pub fn with_last_transition_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "lastTransitionTime", value.into_field()); self }
    pub fn set_reason(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "reason", value.into_field()) }
    pub fn with_reason(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "reason", value.into_field()); self }
    pub fn set_message(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "message", value.into_field()) }
    pub fn with_message(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "message", value.into_field()); self }
}

object!(JobList, JobListView);
part!(JobList);
impl<'a> JobListView<'a> {
    pub fn kind(self) -> &'a str { read(self.0, "kind") }
    pub fn api_version(self) -> &'a str { read(self.0, "apiVersion") }
    pub fn metadata(self) -> g::meta::v1::ListMetaView<'a> { read(self.0, "metadata") }
    pub fn items(self) -> r::List<'a, g::batch::v1::JobView<'a>> { read(self.0, "items") }
}
impl JobList {
    pub fn set_kind(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "kind", value.into_field()) }
    pub fn with_kind(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "kind", value.into_field()); self }
    pub fn set_api_version(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "apiVersion", value.into_field()) }
    pub fn with_api_version(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "apiVersion", value.into_field()); self }
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ListMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ListMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn push_items(&mut self, item: impl o::IntoField<g::batch::v1::Job>) { push(&mut self.0, "items", item) }
    pub fn set_items(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::Job>>) { set_list(&mut self.0, "items", value) }
    pub fn with_items(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::Job>>) -> Self { set_list(&mut self.0, "items", value); self }
}

object!(JobSpec, JobSpecView);
part!(JobSpec);
impl<'a> JobSpecView<'a> {
    pub fn parallelism(self) -> Option<i32> { find(self.0, "parallelism") }
    pub fn completions(self) -> Option<i32> { find(self.0, "completions") }
    pub fn active_deadline_seconds(self) -> Option<i64> { find(self.0, "activeDeadlineSeconds") }
    pub fn pod_failure_policy(self) -> Option<g::batch::v1::PodFailurePolicyView<'a>> { find(self.0, "podFailurePolicy") }
    pub fn success_policy(self) -> Option<g::batch::v1::SuccessPolicyView<'a>> { find(self.0, "successPolicy") }
    pub fn backoff_limit(self) -> Option<i32> { find(self.0, "backoffLimit") }
    pub fn backoff_limit_per_index(self) -> Option<i32> { find(self.0, "backoffLimitPerIndex") }
    pub fn max_failed_indexes(self) -> Option<i32> { find(self.0, "maxFailedIndexes") }
    pub fn selector(self) -> Option<g::meta::v1::LabelSelectorView<'a>> { find(self.0, "selector") }
    pub fn manual_selector(self) -> Option<bool> { find(self.0, "manualSelector") }
    pub fn template(self) -> g::core::v1::PodTemplateSpecView<'a> { read(self.0, "template") }
    pub fn ttl_seconds_after_finished(self) -> Option<i32> { find(self.0, "ttlSecondsAfterFinished") }
    pub fn completion_mode(self) -> Option<&'a str> { find(self.0, "completionMode") }
    pub fn suspend(self) -> Option<bool> { find(self.0, "suspend") }
    pub fn pod_replacement_policy(self) -> Option<&'a str> { find(self.0, "podReplacementPolicy") }
    pub fn managed_by(self) -> Option<&'a str> { find(self.0, "managedBy") }
}
impl JobSpec {
    pub fn set_parallelism(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "parallelism", value.into_field()) }
    pub fn with_parallelism(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "parallelism", value.into_field()); self }
    pub fn set_completions(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "completions", value.into_field()) }
    pub fn with_completions(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "completions", value.into_field()); self }
    pub fn set_active_deadline_seconds(&mut self, value: impl o::IntoField<i64>) { set(&mut self.0, "activeDeadlineSeconds", value.into_field()) }
    pub fn with_active_deadline_seconds(mut self, value: impl o::IntoField<i64>) -> Self { set(&mut self.0, "activeDeadlineSeconds", value.into_field()); self }
    pub fn edit_pod_failure_policy<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::PodFailurePolicy) -> R) -> R { edit(&mut self.0, "podFailurePolicy", change) }
    pub fn set_pod_failure_policy(&mut self, value: impl o::IntoField<g::batch::v1::PodFailurePolicy>) { set(&mut self.0, "podFailurePolicy", value.into_field()) }
    pub fn with_pod_failure_policy(mut self, value: impl o::IntoField<g::batch::v1::PodFailurePolicy>) -> Self { set(&mut self.0, "podFailurePolicy", value.into_field()); self }
    pub fn edit_success_policy<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::SuccessPolicy) -> R) -> R { edit(&mut self.0, "successPolicy", change) }
    pub fn set_success_policy(&mut self, value: impl o::IntoField<g::batch::v1::SuccessPolicy>) { set(&mut self.0, "successPolicy", value.into_field()) }
    pub fn with_success_policy(mut self, value: impl o::IntoField<g::batch::v1::SuccessPolicy>) -> Self { set(&mut self.0, "successPolicy", value.into_field()); self }
    pub fn set_backoff_limit(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "backoffLimit", value.into_field()) }
    pub fn with_backoff_limit(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "backoffLimit", value.into_field()); self }
    pub fn set_backoff_limit_per_index(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "backoffLimitPerIndex", value.into_field()) }
    pub fn with_backoff_limit_per_index(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "backoffLimitPerIndex", value.into_field()); self }
    pub fn set_max_failed_indexes(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "maxFailedIndexes", value.into_field()) }
    pub fn with_max_failed_indexes(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "maxFailedIndexes", value.into_field()); self }
    pub fn edit_selector<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::LabelSelector) -> R) -> R { edit(&mut self.0, "selector", change) }
    pub fn set_selector(&mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) { set(&mut self.0, "selector", value.into_field()) }
    pub fn with_selector(mut self, value: impl o::IntoField<g::meta::v1::LabelSelector>) -> Self { set(&mut self.0, "selector", value.into_field()); self }
    pub fn set_manual_selector(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "manualSelector", value.into_field()) }
    pub fn with_manual_selector(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "manualSelector", value.into_field()); self }
    pub fn edit_template<R>(&mut self, change: impl FnOnce(&mut g::core::v1::PodTemplateSpec) -> R) -> R { edit(&mut self.0, "template", change) }
    pub fn set_template(&mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) { set(&mut self.0, "template", value.into_field()) }
    pub fn with_template(mut self, value: impl o::IntoField<g::core::v1::PodTemplateSpec>) -> Self { set(&mut self.0, "template", value.into_field()); self }
    pub fn set_ttl_seconds_after_finished(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "ttlSecondsAfterFinished", value.into_field()) }
    pub fn with_ttl_seconds_after_finished(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "ttlSecondsAfterFinished", value.into_field()); self }
    pub fn set_completion_mode(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "completionMode", value.into_field()) }
    pub fn with_completion_mode(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "completionMode", value.into_field()); self }
    pub fn set_suspend(&mut self, value: impl o::IntoField<bool>) { set(&mut self.0, "suspend", value.into_field()) }
    pub fn with_suspend(mut self, value: impl o::IntoField<bool>) -> Self { set(&mut self.0, "suspend", value.into_field()); self }
    pub fn set_pod_replacement_policy(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "podReplacementPolicy", value.into_field()) }
    pub fn with_pod_replacement_policy(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "podReplacementPolicy", value.into_field()); self }
    pub fn set_managed_by(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "managedBy", value.into_field()) }
    pub fn with_managed_by(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "managedBy", value.into_field()); self }
}

object!(JobStatus, JobStatusView);
part!(JobStatus);
impl<'a> JobStatusView<'a> {
    pub fn conditions(self) -> r::List<'a, g::batch::v1::JobConditionView<'a>> { read(self.0, "conditions") }
    pub fn start_time(self) -> Option<r::Timestamp> { find(self.0, "startTime") }
    pub fn completion_time(self) -> Option<r::Timestamp> { find(self.0, "completionTime") }
    pub fn active(self) -> i32 { read(self.0, "active") }
    pub fn succeeded(self) -> i32 { read(self.0, "succeeded") }
    pub fn failed(self) -> i32 { read(self.0, "failed") }
    pub fn terminating(self) -> Option<i32> { find(self.0, "terminating") }
    pub fn completed_indexes(self) -> &'a str { read(self.0, "completedIndexes") }
    pub fn failed_indexes(self) -> Option<&'a str> { find(self.0, "failedIndexes") }
    pub fn uncounted_terminated_pods(self) -> Option<g::batch::v1::UncountedTerminatedPodsView<'a>> { find(self.0, "uncountedTerminatedPods") }
    pub fn ready(self) -> Option<i32> { find(self.0, "ready") }
}
impl JobStatus {
    pub fn push_conditions(&mut self, item: impl o::IntoField<g::batch::v1::JobCondition>) { push(&mut self.0, "conditions", item) }
    pub fn set_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::JobCondition>>) { set_list(&mut self.0, "conditions", value) }
    pub fn with_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::JobCondition>>) -> Self { set_list(&mut self.0, "conditions", value); self }
    pub fn set_start_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "startTime", value.into_field()) }
    pub fn with_start_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "startTime", value.into_field()); self }
    pub fn set_completion_time(&mut self, value: impl o::IntoField<o::Time>) { set(&mut self.0, "completionTime", value.into_field()) }
    pub fn with_completion_time(mut self, value: impl o::IntoField<o::Time>) -> Self { set(&mut self.0, "completionTime", value.into_field()); self }
    pub fn set_active(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "active", value.into_field()) }
    pub fn with_active(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "active", value.into_field()); self }
    pub fn set_succeeded(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "succeeded", value.into_field()) }
    pub fn with_succeeded(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "succeeded", value.into_field()); self }
    pub fn set_failed(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "failed", value.into_field()) }
    pub fn with_failed(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "failed", value.into_field()); self }
    pub fn set_terminating(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "terminating", value.into_field()) }
    pub fn with_terminating(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "terminating", value.into_field()); self }
    pub fn set_completed_indexes(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "completedIndexes", value.into_field()) }
    pub fn with_completed_indexes(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "completedIndexes", value.into_field()); self }
    pub fn set_failed_indexes(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "failedIndexes", value.into_field()) }
    pub fn with_failed_indexes(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "failedIndexes", value.into_field()); self }
    pub fn edit_uncounted_terminated_pods<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::UncountedTerminatedPods) -> R) -> R { edit(&mut self.0, "uncountedTerminatedPods", change) }
    pub fn set_uncounted_terminated_pods(&mut self, value: impl o::IntoField<g::batch::v1::UncountedTerminatedPods>) { set(&mut self.0, "uncountedTerminatedPods", value.into_field()) }
    pub fn with_uncounted_terminated_pods(mut self, value: impl o::IntoField<g::batch::v1::UncountedTerminatedPods>) -> Self { set(&mut self.0, "uncountedTerminatedPods", value.into_field()); self }
    pub fn set_ready(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "ready", value.into_field()) }
    pub fn with_ready(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "ready", value.into_field()); self }
}

object!(JobTemplateSpec, JobTemplateSpecView);
part!(JobTemplateSpec);
impl<'a> JobTemplateSpecView<'a> {
    pub fn metadata(self) -> g::meta::v1::ObjectMetaView<'a> { read(self.0, "metadata") }
    pub fn spec(self) -> g::batch::v1::JobSpecView<'a> { read(self.0, "spec") }
}
impl JobTemplateSpec {
    pub fn edit_metadata<R>(&mut self, change: impl FnOnce(&mut g::meta::v1::ObjectMeta) -> R) -> R { edit(&mut self.0, "metadata", change) }
    pub fn set_metadata(&mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) { set(&mut self.0, "metadata", value.into_field()) }
    pub fn with_metadata(mut self, value: impl o::IntoField<g::meta::v1::ObjectMeta>) -> Self { set(&mut self.0, "metadata", value.into_field()); self }
    pub fn edit_spec<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::JobSpec) -> R) -> R { edit(&mut self.0, "spec", change) }
    pub fn set_spec(&mut self, value: impl o::IntoField<g::batch::v1::JobSpec>) { set(&mut self.0, "spec", value.into_field()) }
    pub fn with_spec(mut self, value: impl o::IntoField<g::batch::v1::JobSpec>) -> Self { set(&mut self.0, "spec", value.into_field()); self }
}

object!(PodFailurePolicy, PodFailurePolicyView);
part!(PodFailurePolicy);
impl<'a> PodFailurePolicyView<'a> {
    pub fn rules(self) -> r::List<'a, g::batch::v1::PodFailurePolicyRuleView<'a>> { read(self.0, "rules") }
}
impl PodFailurePolicy {
    pub fn push_rules(&mut self, item: impl o::IntoField<g::batch::v1::PodFailurePolicyRule>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::PodFailurePolicyRule>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::PodFailurePolicyRule>>) -> Self { set_list(&mut self.0, "rules", value); self }
}

object!(PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnExitCodesRequirementView);
part!(PodFailurePolicyOnExitCodesRequirement);
impl<'a> PodFailurePolicyOnExitCodesRequirementView<'a> {
    pub fn container_name(self) -> Option<&'a str> { find(self.0, "containerName") }
    pub fn operator(self) -> &'a str { read(self.0, "operator") }
    pub fn values(self) -> r::List<'a, i32> { read(self.0, "values") }
}
impl PodFailurePolicyOnExitCodesRequirement {
    pub fn set_container_name(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "containerName", value.into_field()) }
    pub fn with_container_name(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "containerName", value.into_field()); self }
    pub fn set_operator(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "operator", value.into_field()) }
    pub fn with_operator(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "operator", value.into_field()); self }
    pub fn push_values(&mut self, item: impl o::IntoField<i32>) { push(&mut self.0, "values", item) }
    pub fn set_values(&mut self, value: impl IntoIterator<Item = impl o::IntoField<i32>>) { set_list(&mut self.0, "values", value) }
    pub fn with_values(mut self, value: impl IntoIterator<Item = impl o::IntoField<i32>>) -> Self { set_list(&mut self.0, "values", value); self }
}

object!(PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyOnPodConditionsPatternView);
part!(PodFailurePolicyOnPodConditionsPattern);
impl<'a> PodFailurePolicyOnPodConditionsPatternView<'a> {
    pub fn type_(self) -> &'a str { read(self.0, "type") }
    pub fn status(self) -> &'a str { read(self.0, "status") }
}
impl PodFailurePolicyOnPodConditionsPattern {
    pub fn set_type(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "type", value.into_field()) }
    pub fn with_type(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "type", value.into_field()); self }
    pub fn set_status(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "status", value.into_field()) }
    pub fn with_status(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "status", value.into_field()); self }
}

object!(PodFailurePolicyRule, PodFailurePolicyRuleView);
part!(PodFailurePolicyRule);
impl<'a> PodFailurePolicyRuleView<'a> {
    pub fn action(self) -> &'a str { read(self.0, "action") }
    pub fn on_exit_codes(self) -> Option<g::batch::v1::PodFailurePolicyOnExitCodesRequirementView<'a>> { find(self.0, "onExitCodes") }
    pub fn on_pod_conditions(self) -> r::List<'a, g::batch::v1::PodFailurePolicyOnPodConditionsPatternView<'a>> { read(self.0, "onPodConditions") }
}
impl PodFailurePolicyRule {
    pub fn set_action(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "action", value.into_field()) }
    pub fn with_action(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "action", value.into_field()); self }
    pub fn edit_on_exit_codes<R>(&mut self, change: impl FnOnce(&mut g::batch::v1::PodFailurePolicyOnExitCodesRequirement) -> R) -> R { edit(&mut self.0, "onExitCodes", change) }
    pub fn set_on_exit_codes(&mut self, value: impl o::IntoField<g::batch::v1::PodFailurePolicyOnExitCodesRequirement>) { set(&mut self.0, "onExitCodes", value.into_field()) }
    pub fn with_on_exit_codes(mut self, value: impl o::IntoField<g::batch::v1::PodFailurePolicyOnExitCodesRequirement>) -> Self { set(&mut self.0, "onExitCodes", value.into_field()); self }
    pub fn push_on_pod_conditions(&mut self, item: impl o::IntoField<g::batch::v1::PodFailurePolicyOnPodConditionsPattern>) { push(&mut self.0, "onPodConditions", item) }
    pub fn set_on_pod_conditions(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::PodFailurePolicyOnPodConditionsPattern>>) { set_list(&mut self.0, "onPodConditions", value) }
    pub fn with_on_pod_conditions(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::PodFailurePolicyOnPodConditionsPattern>>) -> Self { set_list(&mut self.0, "onPodConditions", value); self }
}

object!(SuccessPolicy, SuccessPolicyView);
part!(SuccessPolicy);
impl<'a> SuccessPolicyView<'a> {
    pub fn rules(self) -> r::List<'a, g::batch::v1::SuccessPolicyRuleView<'a>> { read(self.0, "rules") }
}
impl SuccessPolicy {
    pub fn push_rules(&mut self, item: impl o::IntoField<g::batch::v1::SuccessPolicyRule>) { push(&mut self.0, "rules", item) }
    pub fn set_rules(&mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::SuccessPolicyRule>>) { set_list(&mut self.0, "rules", value) }
    pub fn with_rules(mut self, value: impl IntoIterator<Item = impl o::IntoField<g::batch::v1::SuccessPolicyRule>>) -> Self { set_list(&mut self.0, "rules", value); self }
}

object!(SuccessPolicyRule, SuccessPolicyRuleView);
part!(SuccessPolicyRule);
impl<'a> SuccessPolicyRuleView<'a> {
    pub fn succeeded_indexes(self) -> Option<&'a str> { find(self.0, "succeededIndexes") }
    pub fn succeeded_count(self) -> Option<i32> { find(self.0, "succeededCount") }
}
impl SuccessPolicyRule {
    pub fn set_succeeded_indexes(&mut self, value: impl o::IntoField<o::Text>) { set(&mut self.0, "succeededIndexes", value.into_field()) }
    pub fn with_succeeded_indexes(mut self, value: impl o::IntoField<o::Text>) -> Self { set(&mut self.0, "succeededIndexes", value.into_field()); self }
    pub fn set_succeeded_count(&mut self, value: impl o::IntoField<i32>) { set(&mut self.0, "succeededCount", value.into_field()) }
    pub fn with_succeeded_count(mut self, value: impl o::IntoField<i32>) -> Self { set(&mut self.0, "succeededCount", value.into_field()); self }
}

object!(UncountedTerminatedPods, UncountedTerminatedPodsView);
part!(UncountedTerminatedPods);
impl<'a> UncountedTerminatedPodsView<'a> {
    pub fn succeeded(self) -> r::List<'a, &'a str> { read(self.0, "succeeded") }
    pub fn failed(self) -> r::List<'a, &'a str> { read(self.0, "failed") }
}
impl UncountedTerminatedPods {
    pub fn push_succeeded(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "succeeded", item) }
    pub fn set_succeeded(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "succeeded", value) }
    pub fn with_succeeded(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "succeeded", value); self }
    pub fn push_failed(&mut self, item: impl o::IntoField<o::Text>) { push(&mut self.0, "failed", item) }
    pub fn set_failed(&mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) { set_list(&mut self.0, "failed", value) }
    pub fn with_failed(mut self, value: impl IntoIterator<Item = impl o::IntoField<o::Text>>) -> Self { set_list(&mut self.0, "failed", value); self }
}
