//! CronJob: the strategy of jobs that begin by the clock.

use super::job_spec::{default_job_template_spec, job_spec_warnings, validate_job_spec};
use crate::Strategy;
use crate::apps::replicas::warn_of_unlike_label_name;
use crate::read::{Read, ReadNode, field_mut};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::rules::cron::{CronSchedule, time_zone};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

pub(crate) struct CronJob;

/// The controller adds 11 characters to make the name of a job, which has room for 63.
const MAX_NAME_BYTES: usize = 52;

impl Strategy for CronJob {
    fn default(&self, cron_job: &mut Value) {
        let Some(spec) = field_mut(cron_job, "spec") else { return };
        // The job's own defaults wait until there is a job.
        if let Some(job) = field_mut(spec, "jobTemplate").and_then(|template| field_mut(template, "spec")) {
            default_job_template_spec(job);
        }
    }

    fn validate(&self, cron_job: &Value) -> ErrorList {
        let mut errors = validate_spec(cron_job, None);
        if cron_job.name().len() > MAX_NAME_BYTES {
            let detail = format!("must be no more than {MAX_NAME_BYTES} characters");
            errors.push(Error::invalid(&Path::new("metadata").child("name"), cron_job.name(), detail));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_spec(new, Some(old))
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let (spec, path) = (new.field("spec"), Path::new("spec").child("jobTemplate").child("spec"));
        let mut warnings = Vec::new();
        if old.is_none() {
            warn_of_unlike_label_name(&mut warnings, new);
        }
        if old.is_none_or(|old| new.generation() != old.generation()) {
            warnings.extend(job_spec_warnings(spec.field("jobTemplate").field("spec"), &path));
        }
        if old.is_some() && spec.text("schedule").contains("TZ") {
            warnings.push("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details".to_owned());
        }
        warnings
    }

    fn computed_cells(&self, cron_job: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let suspend = match cron_job.field("spec").opt_flag("suspend") {
            Some(true) => "True",
            Some(false) => "False",
            None => "<unset>",
        };
        vec![suspend.into()]
    }
}

fn validate_spec(cron_job: &Value, old: Option<&Value>) -> ErrorList {
    let mut errors = ErrorList::new();
    let (path, empty) = (Path::new("spec"), json!({}));
    let spec = cron_job.field("spec").unwrap_or(&empty);
    let old_spec = old.field("spec");
    validate_schedule(&mut errors, spec, old_spec, &path.child("schedule"));
    let zone = spec.opt_text("timeZone");
    if old.is_none() || old_spec.opt_text("timeZone") != zone {
        validate_time_zone(&mut errors, zone, &path.child("timeZone"));
    }
    let at = path.child("jobTemplate").child("spec");
    let job = spec.field("jobTemplate").field("spec").unwrap_or(&empty);
    validate_job_spec(&mut errors, job, &at);
    if let Some(selector) = job.field("selector") {
        errors.push(Error::invalid(&at.child("selector"), selector.clone(), "`selector` will be auto-generated"));
    }
    if job.flag("manualSelector") {
        errors.push(Error::not_supported(&at.child("manualSelector"), true, &["nil", "false"]));
    }
    errors
}

/// A zone belongs in its own field; only a schedule that had one before may keep it.
fn validate_schedule(errors: &mut ErrorList, spec: &Value, old: Option<&Value>, path: &Path) {
    let schedule = spec.text("schedule");
    if schedule.is_empty() {
        return;
    }
    if let Err(error) = CronSchedule::parse(schedule, TimeZone::UTC) {
        errors.push(Error::invalid(path, schedule, error));
    }
    if !schedule.contains("TZ") {
        return;
    }
    if !old.text("schedule").contains("TZ") {
        let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        errors.push(Error::invalid(path, schedule, detail));
    } else if spec.has("timeZone") {
        let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
        errors.push(Error::invalid(path, schedule, detail));
    }
}

fn validate_time_zone(errors: &mut ErrorList, zone: Option<&str>, path: &Path) {
    let Some(zone) = zone else { return };
    let detail = if zone.is_empty() {
        "timeZone must be nil or non-empty string".to_owned()
    } else if zone.eq_ignore_ascii_case("Local") {
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones".to_owned()
    } else if let Err(unknown) = time_zone(zone) {
        unknown
    } else {
        return;
    };
    errors.push(Error::invalid(path, zone, detail));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};

    fn cron_job() -> Value {
        json!({
            "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly", "namespace": "default"},
            "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": {"spec": {
                "restartPolicy": "OnFailure", "containers": [{"name": "backup", "image": "backup:v1"}],
            }}}}},
        })
    }

    fn with(key: &str, value: Value) -> Value {
        let mut object = cron_job();
        object["spec"][key] = value;
        object
    }

    #[test]
    fn a_schedule_can_be_read() {
        check(&CronJob, cron_job(), &[]);
        check(&CronJob, with("schedule", "".into()), &["spec.schedule: Required value"]);
        check(
            &CronJob,
            with("schedule", "some day".into()),
            &["spec.schedule: Invalid value: \"some day\": expected exactly 5 fields, found 2: [some day]"],
        );
        let zoned = with("schedule", "TZ=UTC 0 3 * * *".into());
        check(
            &CronJob,
            zoned.clone(),
            &[
                "spec.schedule: Invalid value: \"TZ=UTC 0 3 * * *\": cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
            ],
        );
        check_update(&CronJob, zoned.clone(), zoned.clone(), &[]);
        let mut both = zoned.clone();
        both["spec"]["timeZone"] = "UTC".into();
        check_update(
            &CronJob,
            zoned,
            both,
            &[
                "spec.schedule: Invalid value: \"TZ=UTC 0 3 * * *\": cannot use both timeZone field and TZ or CRON_TZ in schedule",
            ],
        );
    }

    #[test]
    fn a_zone_exists() {
        check(&CronJob, with("timeZone", "Europe/Berlin".into()), &[]);
        check(
            &CronJob,
            with("timeZone", "Some/Where".into()),
            &["spec.timeZone: Invalid value: \"Some/Where\": unknown time zone Some/Where"],
        );
        check(
            &CronJob,
            with("timeZone", "local".into()),
            &[
                "spec.timeZone: Invalid value: \"local\": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
            ],
        );
    }

    #[test]
    fn jobs_select_their_pods_themselves() {
        let mut object = with("concurrencyPolicy", "Some".into());
        object["spec"]["jobTemplate"]["spec"]["selector"] = json!({});
        object["spec"]["jobTemplate"]["spec"]["manualSelector"] = true.into();
        object["metadata"]["name"] = "a".repeat(53).into();
        check(
            &CronJob,
            object,
            &[
                "spec.concurrencyPolicy: Unsupported value: \"Some\": supported values: \"Allow\", \"Forbid\", \"Replace\"",
                "spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated",
                "spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: \"nil\", \"false\"",
                "metadata.name: Invalid value: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": must be no more than 52 characters",
            ],
        );
    }

    #[test]
    fn a_cron_job_shows_when_it_ran() {
        let mut object = cron_job();
        assert_eq!(
            Value::from(cells("CronJob", object.clone())),
            json!(["nightly", "0 3 * * *", "<none>", "False", 0, "<none>", "10m", "backup", "backup:v1", "<none>"])
        );
        object["status"] = json!({"active": [{}], "lastScheduleTime": "2026-01-01T00:09:00Z"});
        assert_eq!(cells("CronJob", object)[4..6], [json!(1), json!("60s")]);
    }
}
