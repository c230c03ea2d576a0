//! The spec of a Job, which stands in a Job and in the template of a CronJob: its
//! defaults, its rules and its warnings (batch/validation).

use super::indexes::count_indexes;
use crate::pod_spec::template::{default_template, template_warnings, validate_template};
use crate::read::{Read, field_mut};
use crate::validation::shown;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Value, json};
use std::collections::HashSet;

const INDEXED: &str = "Indexed";
/// How many pods of an Indexed Job may run at once, so that status stays readable.
const MAX_PARALLELISM: i64 = 100_000;
const MAX_FAILED_INDEXES: i64 = 100_000;
/// Above this many completions, fewer pods may run and fewer indexes fail.
const MANY_COMPLETIONS: i64 = 100_000;
const MAX_OF_MANY: i64 = 10_000;

/// The part of the defaults that templates of jobs have too.
pub(super) fn default_job_template_spec(spec: &mut Value) {
    if let Some(template) = field_mut(spec, "template") {
        default_template(template);
    }
}

pub(super) fn is_indexed(spec: Option<&Value>) -> bool {
    spec.text("completionMode") == INDEXED
}

/// Everything but the selector, which a template of jobs has not.
pub(super) fn validate_job_spec(errors: &mut ErrorList, spec: &Value, path: &Path) {
    if spec.has("maxFailedIndexes") && !spec.has("backoffLimitPerIndex") {
        errors.push(Error::required(&path.child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"));
    }
    let indexed = is_indexed(Some(spec));
    if indexed {
        validate_indexed(errors, spec, path);
    } else if matches!(spec.opt_text("completionMode"), None | Some("NonIndexed")) {
        for key in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(value) = spec.opt_int(key) {
                errors.push(Error::invalid(&path.child(key), value, "requires indexed completion mode"));
            }
        }
    }
    if let Some(policy) = spec.field("podFailurePolicy") {
        validate_failure_policy(errors, spec, policy, &path.child("podFailurePolicy"));
    }
    if let Some(policy) = spec.field("successPolicy") {
        let at = path.child("successPolicy");
        if indexed {
            validate_success_policy(errors, spec, policy, &at);
        } else {
            errors.push(Error::invalid(&at, policy.clone(), "requires indexed completion mode"));
        }
    }
    validate_replacement_policy(errors, spec, &path.child("podReplacementPolicy"));
    let empty = json!({});
    let template = spec.field("template").unwrap_or(&empty);
    validate_template(errors, template, &path.child("template"));
    let at = path.child("template").child("spec").child("restartPolicy");
    match template.field("spec").text("restartPolicy") {
        // A pod's default would restart for ever, which is no job.
        "" | "Always" => errors.push(Error::required(&at, "valid values: \"OnFailure\", \"Never\"")),
        "Never" => {}
        "OnFailure" if spec.has("podFailurePolicy") => {
            let detail = "only \"Never\" is supported when podFailurePolicy is specified";
            errors.push(Error::invalid(&at, "OnFailure", detail));
        }
        "OnFailure" => {}
        other => errors.push(Error::not_supported(&at, other, &["OnFailure", "Never"])),
    }
}

fn validate_indexed(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let (completions, failed) = (spec.opt_int("completions"), spec.opt_int("maxFailedIndexes"));
    let parallelism = spec.int("parallelism");
    let failed_path = path.child("maxFailedIndexes");
    if completions.is_none() {
        errors.push(Error::required(&path.child("completions"), "when completion mode is Indexed"));
    }
    if parallelism > MAX_PARALLELISM {
        let detail = format!("must be less than or equal to {MAX_PARALLELISM} when completion mode is Indexed");
        errors.push(Error::invalid(&path.child("parallelism"), parallelism, detail));
    }
    if let (Some(completions), Some(failed)) = (completions, failed)
        && failed > completions
    {
        errors.push(Error::invalid(&failed_path, failed, "must be less than or equal to completions"));
    }
    if let Some(failed) = failed
        && failed > MAX_FAILED_INDEXES
    {
        let detail = format!("must be less than or equal to {MAX_FAILED_INDEXES}");
        errors.push(Error::invalid(&failed_path, failed, detail));
    }
    if completions.is_some_and(|completions| completions > MANY_COMPLETIONS) && spec.has("backoffLimitPerIndex") {
        let detail = format!(
            "must be less than or equal to {MAX_OF_MANY} when completions are above {MANY_COMPLETIONS} and used with backoff limit per index"
        );
        if failed.is_none() {
            let detail = format!("must be specified when completions is above {MANY_COMPLETIONS}");
            errors.push(Error::required(&failed_path, detail));
        }
        if parallelism > MAX_OF_MANY {
            errors.push(Error::invalid(&path.child("parallelism"), parallelism, detail.as_str()));
        }
        if let Some(failed) = failed
            && failed > MAX_OF_MANY
        {
            errors.push(Error::invalid(&failed_path, failed, detail));
        }
    }
}

fn validate_replacement_policy(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let Some(policy) = spec.opt_text("podReplacementPolicy") else { return };
    let supported: &[&str] =
        if spec.has("podFailurePolicy") { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
    if !supported.contains(&policy) {
        errors.push(Error::not_supported(path, policy, supported));
    }
}

/// An error that shows no value.
fn invalid_without_value(path: &Path, detail: impl Into<String>) -> Error {
    Error { value: None, ..Error::invalid(path, Value::Null, detail) }
}

fn validate_failure_policy(errors: &mut ErrorList, spec: &Value, policy: &Value, path: &Path) {
    let (rules, path) = (policy.list("rules"), path.child("rules"));
    let pod = spec.field("template").field("spec");
    let containers: HashSet<&str> = ["containers", "initContainers"]
        .iter()
        .flat_map(|list| pod.list(list))
        .map(|container| container.text("name"))
        .collect();
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index);
        let action = rule.text("action");
        if action == "FailIndex" && !spec.has("backoffLimitPerIndex") {
            let detail = "requires the backoffLimitPerIndex to be set";
            errors.push(Error::invalid(&path.child("action"), action, detail));
        }
        let (codes, patterns) = (rule.field("onExitCodes"), rule.list("onPodConditions"));
        if let Some(codes) = codes {
            validate_exit_codes(errors, codes, &containers, &path.child("onExitCodes"));
        }
        match (codes.is_some(), !patterns.is_empty()) {
            (true, true) => errors
                .push(invalid_without_value(&path, "specifying both OnExitCodes and OnPodConditions is not supported")),
            (false, false) => errors
                .push(invalid_without_value(&path, "specifying one of OnExitCodes and OnPodConditions is required")),
            _ => {}
        }
    }
}

fn validate_exit_codes(errors: &mut ErrorList, codes: &Value, containers: &HashSet<&str>, path: &Path) {
    let operator = codes.text("operator");
    if let Some(name) = codes.opt_text("containerName")
        && !containers.contains(name)
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        errors.push(Error::invalid(&path.child("containerName"), name, detail));
    }
    let (values, at) = (codes.list("values"), path.child("values"));
    if values.is_empty() {
        errors.push(Error::invalid(&at, shown(codes.field("values")), "at least one value is required"));
    }
    let numbers: Vec<i64> = values.iter().map(|value| value.as_i64().unwrap_or_default()).collect();
    let mut seen = HashSet::new();
    for (index, number) in numbers.iter().enumerate() {
        if operator == "In" && *number == 0 {
            errors.push(Error::invalid(&at.index(index), *number, "must not be 0 for the In operator"));
        }
        if !seen.insert(number) {
            errors.push(Error::duplicate(&at.index(index), *number));
        }
    }
    if !numbers.is_sorted() {
        errors.push(Error::invalid(&at, Value::from(values), "must be ordered"));
    }
}

fn validate_success_policy(errors: &mut ErrorList, spec: &Value, policy: &Value, path: &Path) {
    let (rules, path) = (policy.list("rules"), path.child("rules"));
    let completions = spec.int("completions");
    for (index, rule) in rules.iter().enumerate() {
        let path = path.index(index);
        let (count, indexes) = (rule.opt_int("succeededCount"), rule.opt_text("succeededIndexes"));
        if count.is_none() && indexes.is_none() {
            let detail = "at least one of succeededCount or succeededIndexes must be specified";
            errors.push(Error::required(&path, detail));
        }
        let mut total = 0;
        if let Some(indexes) = indexes {
            let at = path.child("succeededIndexes");
            match count_indexes(indexes, completions) {
                Ok(count) => total = count,
                Err(error) => {
                    errors.push(Error::invalid(&at, indexes, format!("error parsing succeededIndexes: {error}")));
                }
            }
        }
        if let Some(count) = count {
            let at = path.child("succeededCount");
            if count > completions {
                let detail =
                    format!("must be less than or equal to {completions} (the number of specified completions)");
                errors.push(Error::invalid(&at, count, detail));
            }
            if indexes.is_some() && count > total {
                let detail = format!(
                    "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
                );
                errors.push(Error::invalid(&at, count, detail));
            }
        }
    }
}

pub(super) fn job_spec_warnings(spec: Option<&Value>, path: &Path) -> Vec<String> {
    let mut warnings = Vec::new();
    if is_indexed(spec) && spec.int("completions") > MANY_COMPLETIONS && spec.int("parallelism") > MAX_OF_MANY {
        warnings.push(format!(
            "{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        ));
    }
    warnings.extend(template_warnings(spec.field("template"), &path.child("template")));
    warnings
}
