//! PriorityClass: the strategy of how much a pod matters.

use crate::Strategy;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::Value;

pub(crate) struct PriorityClass;

/// Above this only the system's own classes go.
const HIGHEST_FOR_USERS: i64 = 1_000_000_000;
const SYSTEM_PREFIX: &str = "system-";

/// The classes that exist in every cluster; ferry creates them when it starts.
pub(crate) const SYSTEM_CLASSES: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

impl Strategy for PriorityClass {
    fn validate(&self, class: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (name, value) = (class.name(), class.int("value"));
        if name.starts_with(SYSTEM_PREFIX) {
            if let Err(problem) = is_known_system_class(name, value, class.flag("globalDefault")) {
                errors.push(Error::forbidden(
                    &Path::new("metadata").child("name"),
                    format!(
                        "priority class names with 'system-' prefix are reserved for system use only. error: {problem}"
                    ),
                ));
            }
        } else if value > HIGHEST_FOR_USERS {
            errors.push(Error::forbidden(
                &Path::new("value"),
                format!("maximum allowed value of a user defined priority is {HIGHEST_FOR_USERS}"),
            ));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        if new.int("value") != old.int("value") {
            errors.push(Error::forbidden(&Path::new("value"), "may not be changed in an update."));
        }
        errors
    }
}

fn is_known_system_class(name: &str, value: i64, global: bool) -> Result<(), String> {
    let Some((_, expected)) = SYSTEM_CLASSES.iter().find(|(known, _)| *known == name) else {
        return Err(format!("{name} is not a known system priority class"));
    };
    if value != *expected {
        Err(format!("value of {name} PriorityClass must be {expected}"))
    } else if global {
        Err(format!("globalDefault of {name} PriorityClass must be false"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, check_update};
    use serde_json::json;

    #[test]
    fn users_stay_below_the_system() {
        check(&PriorityClass, json!({"metadata": {"name": "high"}, "value": 1000}), &[]);
        check(&PriorityClass, json!({"metadata": {"name": "system-node-critical"}, "value": 2000001000}), &[]);
        check(
            &PriorityClass,
            json!({"metadata": {"name": "high"}, "value": 1000000001}),
            &["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
        );
        check(
            &PriorityClass,
            json!({"metadata": {"name": "system-mine"}, "value": 1}),
            &[
                "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
            ],
        );
    }

    #[test]
    fn a_value_never_changes() {
        check_update(
            &PriorityClass,
            json!({"value": 1}),
            json!({"value": 2}),
            &["value: Forbidden: may not be changed in an update."],
        );
    }
}
