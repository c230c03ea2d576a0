//! What may become of a Job's status: controllers other than ours may write it, and
//! clients rely on a finished Job staying finished (batch/validation and the options that
//! registry/batch/job chooses). A rule is only kept where its fields change, so that an
//! old mistake does not stop the rest.

use super::indexes::{count_indexes, first_shared_index};
use super::job_spec::is_indexed;
use crate::print::timestamp;
use crate::read::Read;
use crate::validation::shown;
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

pub(super) fn is_true(job: &Value, condition: &str) -> bool {
    has(job, condition, "True")
}

fn has(job: &Value, condition: &str, status: &str) -> bool {
    let conditions = job.field("status").list("conditions");
    conditions.iter().any(|found| found.text("type") == condition && found.text("status") == status)
}

fn is_finished(job: &Value) -> bool {
    is_true(job, "Complete") || is_true(job, "Failed")
}

pub(super) fn validate_job_status(new: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let path = Path::new("status");
    validate_uncounted(&mut errors, new.field("status"), &path);
    validate_conditions(&mut errors, new, old, &path);
    validate_times(&mut errors, new, old, &path);
    validate_finished(&mut errors, new, old, &path);
    validate_indexes(&mut errors, new, old, &path);
    validate_counters_grow(&mut errors, new, old, &path);
    errors
}

fn validate_uncounted(errors: &mut ErrorList, status: Option<&Value>, path: &Path) {
    let uncounted = status.field("uncountedTerminatedPods");
    let path = path.child("uncountedTerminatedPods");
    let mut seen = HashSet::new();
    for list in ["succeeded", "failed"] {
        for (index, uid) in uncounted.texts(list).enumerate() {
            let path = path.child(list).index(index);
            if uid.is_empty() {
                errors.push(Error::invalid(&path, uid, "must not be empty"));
            } else if !seen.insert(uid) {
                errors.push(Error::duplicate(&path, uid));
            }
        }
    }
}

fn validate_conditions(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let at = path.child("conditions");
    let mut refuse = |detail: String| {
        errors.push(Error { value: None, ..Error::invalid(&at, Value::Null, detail) });
    };
    let now = |condition: &str| is_true(new, condition);
    let changed = |condition: &str| is_true(new, condition) != is_true(old, condition);
    if (changed("Complete") || changed("Failed")) && now("Complete") && now("Failed") {
        refuse("cannot set Complete=True and Failed=true conditions".into());
    }
    if (changed("Complete") || changed("FailureTarget")) && now("Complete") && now("FailureTarget") {
        refuse("cannot set Complete=True and FailureTarget=true conditions".into());
    }
    let indexes_changed =
        new.field("status").opt_text("failedIndexes") != old.field("status").opt_text("failedIndexes");
    if (changed("Failed") || indexes_changed) && now("Failed") && !now("FailureTarget") {
        refuse("cannot set Failed=True condition without the FailureTarget=true condition".into());
    }
    if (changed("Complete") || changed("SuccessCriteriaMet")) && now("Complete") && !now("SuccessCriteriaMet") {
        refuse("cannot set Complete=True condition without the SuccessCriteriaMet=true condition".into());
    }
    for other in ["Failed", "FailureTarget"] {
        if now("SuccessCriteriaMet") && now(other) {
            refuse(format!("cannot set SuccessCriteriaMet=True and {other}=true conditions"));
        }
    }
    if new.field("spec").has("successPolicy") && !now("SuccessCriteriaMet") && now("Complete") {
        refuse("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True".into());
    }
    for condition in ["Failed", "Complete", "FailureTarget"] {
        if is_true(old, condition) && !now(condition) {
            refuse(format!("cannot disable the terminal {condition}=True condition"));
        }
    }
    if is_true(old, "SuccessCriteriaMet") && !now("SuccessCriteriaMet") {
        refuse("cannot disable the SuccessCriteriaMet=True condition".into());
    }
    if is_true(old, "Complete") && !is_true(old, "SuccessCriteriaMet") && now("SuccessCriteriaMet") {
        refuse("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions".into());
    }
}

fn validate_times(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let (status, before) = (new.field("status"), old.field("status"));
    let (start, end) = (status.field("startTime"), status.field("completionTime"));
    let (start_changed, end_changed) = (start != before.field("startTime"), end != before.field("completionTime"));
    let complete = is_true(new, "Complete");
    let time = |value: Option<&Value>| timestamp(Node::Value(value?));
    let at = path.child("completionTime");
    if complete != is_true(old, "Complete") || end_changed {
        if end.is_some() && !complete {
            let detail = "cannot set completionTime when there is no Complete=True condition";
            errors.push(Error::invalid(&at, shown(end), detail));
        }
        if end.is_none() && complete {
            errors.push(Error::required(&at, "completionTime is required for Complete jobs"));
        }
    }
    if (start_changed || end_changed)
        && let (Some(started), Some(ended)) = (time(start), time(end))
        && ended < started
    {
        errors.push(Error::invalid(&at, shown(end), "must be equal to or after `startTime`"));
    }
    if end.is_some() && before.has("completionTime") && end_changed {
        errors.push(Error::invalid(&at, shown(end), "field is immutable"));
    }
    let resumes = is_true(old, "Suspended") && has(new, "Suspended", "False");
    if start_changed && !resumes && before.has("startTime") && !new.field("spec").flag("suspend") {
        let detail = "field is immutable for unsuspended job once set";
        errors.push(Error::invalid(&path.child("startTime"), shown(start), detail));
    }
}

/// Nothing of a finished Job still runs.
fn validate_finished(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let (status, before, spec) = (new.field("status"), old.field("status"), new.field("spec"));
    let finished = is_finished(new);
    let finished_changed = finished != is_finished(old);
    let changed = |key: &str| finished_changed || status.field(key) != before.field(key);
    let active = status.int("active");
    if finished && changed("active") && active > 0 {
        errors.push(Error::invalid(&path.child("active"), active, "active>0 is invalid for finished job"));
    }
    let had_nothing_to_do = spec.flag("suspend") && spec.opt_int("completions") == Some(0);
    if finished && changed("startTime") && !had_nothing_to_do && !status.has("startTime") {
        errors.push(Error::required(&path.child("startTime"), "startTime is required for finished job"));
    }
    let uncounted = status.field("uncountedTerminatedPods");
    let waits = !uncounted.list("failed").is_empty() || !uncounted.list("succeeded").is_empty();
    if finished && changed("uncountedTerminatedPods") && waits {
        let at = path.child("uncountedTerminatedPods");
        errors.push(Error::invalid(&at, shown(uncounted), "must be empty for finished job"));
    }
    let terminating = status.int("terminating");
    if finished && changed("terminating") && terminating > 0 {
        let detail = "terminating>0 is invalid for finished job";
        errors.push(Error::invalid(&path.child("terminating"), terminating, detail));
    }
    let counts_changed = status.opt_int("ready") != before.opt_int("ready") || active != before.int("active");
    let ready = status.int("ready");
    if counts_changed && ready > active {
        errors.push(Error::invalid(&path.child("ready"), ready, "cannot set more ready pods than active"));
    }
}

fn validate_indexes(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let (status, before, spec) = (new.field("status"), old.field("status"), new.field("spec"));
    let completions = spec.opt_int("completions");
    let limited = spec.has("backoffLimitPerIndex");
    let (completed, failed) = (status.text("completedIndexes"), status.opt_text("failedIndexes"));
    let completed_changed = completed != before.text("completedIndexes");
    let failed_changed = failed != before.opt_text("failedIndexes");
    let (completed_path, failed_path) = (path.child("completedIndexes"), path.child("failedIndexes"));
    if completed_changed {
        if let Some(completions) = completions
            && let Err(error) = count_indexes(completed, completions)
        {
            let detail = format!("error parsing completedIndexes: {error}");
            errors.push(Error::invalid(&completed_path, completed, detail));
        }
        if !completed.is_empty() && !is_indexed(spec) {
            let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
            errors.push(Error::invalid(&completed_path, completed, detail));
        }
    }
    let Some(failed) = failed else { return };
    if failed_changed {
        if let (Some(completions), true) = (completions, limited)
            && let Err(error) = count_indexes(failed, completions)
        {
            errors.push(Error::invalid(&failed_path, failed, format!("error parsing failedIndexes: {error}")));
        }
        if !limited {
            let detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
            errors.push(Error::invalid(&failed_path, failed, detail));
        }
    }
    if (failed_changed || completed_changed)
        && let Some(completions) = completions
        && let Some(index) = first_shared_index(completed, failed, completions)
    {
        let detail = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.push(Error::invalid(&failed_path, failed, detail));
    }
}

/// What has ended has ended; only an Indexed Job that is made smaller forgets successes.
fn validate_counters_grow(errors: &mut ErrorList, new: &Value, old: &Value, path: &Path) {
    let spec = new.field("spec");
    let may_shrink = is_indexed(spec) && spec.opt_int("completions") == spec.opt_int("parallelism");
    for (key, kept) in [("failed", true), ("succeeded", !may_shrink)] {
        let count = new.field("status").int(key);
        if kept && count < old.field("status").int(key) {
            errors.push(Error::invalid(&path.child(key), count, format!("cannot decrease the {key} counter")));
        }
    }
}
