//! The conditions that newer kinds keep in their status, `meta/v1 Condition`
//! (apimachinery/pkg/apis/meta/v1/validation).

use super::labels::validate_label_name;
use crate::names;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

const STATUSES: &[&str] = &["False", "True", "Unknown"];
const MAX_REASON_BYTES: usize = 1024;
const MAX_MESSAGE_BYTES: usize = 32 * 1024;

pub fn validate_conditions(errors: &mut ErrorList, conditions: &[Value], path: &Path) {
    let mut seen = HashSet::new();
    for (index, condition) in conditions.iter().enumerate() {
        let (path, name) = (path.index(index), condition.text("type"));
        if !seen.insert(name) {
            errors.push(Error::duplicate(&path.child("type"), name));
        }
        validate_condition(errors, condition, &path);
    }
}

fn validate_condition(errors: &mut ErrorList, condition: &Value, path: &Path) {
    validate_label_name(errors, condition.text("type"), &path.child("type"));
    let status = condition.text("status");
    if !STATUSES.contains(&status) {
        errors.push(Error::not_supported(&path.child("status"), status, STATUSES));
    }
    let generation = condition.int("observedGeneration");
    if generation < 0 {
        let detail = "must be greater than or equal to zero";
        errors.push(Error::invalid(&path.child("observedGeneration"), generation, detail));
    }
    if condition.text("lastTransitionTime").is_empty() {
        errors.push(Error::required(&path.child("lastTransitionTime"), ""));
    }
    let (reason, at) = (condition.text("reason"), path.child("reason"));
    if reason.is_empty() {
        errors.push(Error::required(&at, ""));
    } else {
        super::each(errors, &at, reason, names::is_condition_reason(reason));
        if reason.len() > MAX_REASON_BYTES {
            errors.push(Error::too_long(&at, MAX_REASON_BYTES));
        }
    }
    if condition.text("message").len() > MAX_MESSAGE_BYTES {
        errors.push(Error::too_long(&path.child("message"), MAX_MESSAGE_BYTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(conditions: Value, expected: &[&str]) {
        let mut errors = ErrorList::new();
        let conditions = conditions.as_array().cloned().unwrap_or_default();
        validate_conditions(&mut errors, &conditions, &Path::new("conditions"));
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn conditions_say_what_they_are_and_why() {
        let good =
            json!({"type": "Ready", "status": "True", "reason": "Ok", "lastTransitionTime": "2026-01-01T00:00:00Z"});
        check(json!([good]), &[]);
        check(json!([good, good]), &["conditions[1].type: Duplicate value: \"Ready\""]);
        check(
            json!([{"type": "Ready", "status": "Yes", "reason": "1"}]),
            &[
                "conditions[0].status: Unsupported value: \"Yes\": supported values: \"False\", \"True\", \"Unknown\"",
                "conditions[0].lastTransitionTime: Required value",
                "conditions[0].reason: Invalid value: \"1\": a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')",
            ],
        );
    }
}
