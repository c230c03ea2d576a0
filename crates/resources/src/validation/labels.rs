//! Labels, annotations and label selectors (apimachinery/pkg/apis/meta/v1/validation).

use super::each;
use crate::names;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::selector::Selector;
use serde_json::{Map, Value};

/// All annotations of an object together, keys and values.
const MAX_ANNOTATIONS_BYTES: usize = 256 * 1024;

pub fn validate_labels(errors: &mut ErrorList, labels: &Map<String, Value>, path: &Path) {
    for (key, value) in labels {
        each(errors, path, key, names::is_qualified_name(key));
        let value = value.as_str().unwrap_or_default();
        each(errors, path, value, names::is_label_value(value));
    }
}

pub fn validate_annotations(errors: &mut ErrorList, annotations: &Map<String, Value>, path: &Path) {
    let mut size = 0;
    for (key, value) in annotations {
        // Annotations follow the rule of labels' keys but for the case of letters.
        each(errors, path, key, names::is_qualified_name(&key.to_lowercase()));
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MAX_ANNOTATIONS_BYTES {
        errors.push(Error::too_long(path, MAX_ANNOTATIONS_BYTES));
    }
}

pub fn validate_label_name(errors: &mut ErrorList, name: &str, path: &Path) {
    each(errors, path, name, names::is_qualified_name(name));
}

pub fn validate_label_selector(errors: &mut ErrorList, selector: Option<&Value>, path: &Path) {
    if selector.is_none() {
        return;
    }
    validate_labels(errors, selector.entries("matchLabels"), &path.child("matchLabels"));
    for (index, requirement) in selector.list("matchExpressions").iter().enumerate() {
        validate_requirement(errors, requirement, &path.child("matchExpressions").index(index));
    }
}

/// Whether a label selector breaks no rule.
pub fn is_label_selector(selector: &Value) -> bool {
    let mut errors = ErrorList::new();
    validate_label_selector(&mut errors, Some(selector), &Path::root());
    errors.is_empty()
}

fn validate_requirement(errors: &mut ErrorList, requirement: &Value, path: &Path) {
    let values = requirement.list("values");
    match requirement.text("operator") {
        "In" | "NotIn" => {
            if values.is_empty() {
                errors.push(Error::required(
                    &path.child("values"),
                    "must be specified when `operator` is 'In' or 'NotIn'",
                ));
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                errors.push(Error::forbidden(
                    &path.child("values"),
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                ));
            }
        }
        other => errors.push(Error::invalid(&path.child("operator"), other, "not a valid selector operator")),
    }
    validate_label_name(errors, requirement.text("key"), &path.child("key"));
    for (index, value) in requirement.texts("values").enumerate() {
        each(errors, &path.child("values").index(index), value, names::is_label_value(value));
    }
}

/// Whether a `meta/v1 LabelSelector` selects these labels; an invalid one selects none.
pub fn selector_matches(selector: &Value, labels: &Map<String, Value>) -> bool {
    let selector = Selector::from_object(Some(selector));
    selector.is_ok_and(|selector| selector.matches_with(|key| labels.get(key).and_then(Value::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(selector: Value, expected: &[&str]) {
        let mut errors = Vec::new();
        validate_label_selector(&mut errors, Some(&selector), &Path::new("s"));
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn selectors_are_checked_term_by_term() {
        check(json!({"matchLabels": {"a": "b"}}), &[]);
        check(
            json!({"matchExpressions": [{"key": "a", "operator": "In"}]}),
            &["s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"],
        );
        check(
            json!({"matchExpressions": [{"key": "a", "operator": "Near"}]}),
            &["s.matchExpressions[0].operator: Invalid value: \"Near\": not a valid selector operator"],
        );
    }

    #[test]
    fn selectors_match_as_upstream_matches() {
        let labels = json!({"app": "web", "tier": "front"});
        let labels = labels.as_object().expect("an object");
        for (selector, expected) in [
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "db"}}), false),
            (json!({"matchExpressions": [{"key": "tier", "operator": "In", "values": ["front", "back"]}]}), true),
            (json!({"matchExpressions": [{"key": "none", "operator": "NotIn", "values": ["x"]}]}), true),
            (json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), false),
        ] {
            assert_eq!(selector_matches(&selector, labels), expected, "{selector}");
        }
    }
}
