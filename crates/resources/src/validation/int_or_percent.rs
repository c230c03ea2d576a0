//! Numbers that may be given as a share: `1` or `25%` of the pods. Used by the kinds that
//! roll pods out and by disruption budgets (apps/validation).

use super::{nonnegative, shown};
use crate::names;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub(crate) fn validate_int_or_percent(errors: &mut ErrorList, value: Option<&Value>, path: &Path) {
    match value {
        Some(Value::String(text)) => {
            for sentence in names::is_percent(text) {
                errors.push(Error::invalid(path, text.as_str(), sentence));
            }
        }
        other => nonnegative(errors, path, other.and_then(Value::as_i64).unwrap_or(0)),
    }
}

pub(crate) fn validate_at_most_100_percent(errors: &mut ErrorList, value: Option<&Value>, path: &Path) {
    if matches!(value, Some(Value::String(_))) && int_or_percent(value) > 100 {
        errors.push(Error::invalid(path, shown(value), "must not be greater than 100%"));
    }
}

/// The number, whether of pods or of percent; a text that is neither counts as nothing.
pub(crate) fn int_or_percent(value: Option<&Value>) -> i64 {
    match value {
        Some(Value::String(text)) => text.trim_end_matches('%').parse().unwrap_or(0),
        other => other.and_then(Value::as_i64).unwrap_or(0),
    }
}
