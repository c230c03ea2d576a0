//! Whether a label selector matches a set of labels; asked by every controller that
//! looks for objects by label.
//!
//! A selector that cannot be understood matches nothing: validation keeps such objects
//! out, and a controller must never act on more objects than its owner meant.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use std::collections::BTreeMap;

pub type Labels = BTreeMap<String, String>;

/// An empty selector matches everything, as upstream's `LabelSelectorAsSelector` has it.
pub fn matches(selector: &LabelSelector, labels: Option<&Labels>) -> bool {
    let value = |key: &str| labels.and_then(|labels| labels.get(key)).map(String::as_str);
    let equal = selector.match_labels.iter().flatten().all(|(key, want)| value(key) == Some(want));
    equal
        && selector.match_expressions.iter().flatten().all(|requirement| {
            let has = value(&requirement.key);
            let listed = || has.is_some_and(|has| requirement.values.iter().flatten().any(|value| value == has));
            match requirement.operator.as_str() {
                "In" => listed(),
                "NotIn" => !listed(),
                "Exists" => has.is_some(),
                "DoesNotExist" => has.is_none(),
                _ => false,
            }
        })
}

pub fn is_empty(selector: &LabelSelector) -> bool {
    selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
        && selector.match_expressions.as_ref().is_none_or(Vec::is_empty)
}

/// A Service's selector: plain equality, and an empty one selects nothing.
pub fn matches_map(selector: Option<&Labels>, labels: Option<&Labels>) -> bool {
    match selector {
        Some(selector) if !selector.is_empty() => contains(labels, selector),
        _ => false,
    }
}

/// Whether `labels` holds every pair of `wanted`.
pub fn contains(labels: Option<&Labels>, wanted: &Labels) -> bool {
    wanted.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selector: serde_json::Value, labels: &[(&str, &str)], expected: bool) {
        let selector: LabelSelector = serde_json::from_value(selector).expect("a selector");
        let labels: Labels = labels.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        assert_eq!(matches(&selector, Some(&labels)), expected, "{selector:?} on {labels:?}");
    }

    #[test]
    fn selectors_match_as_upstreams_do() {
        use serde_json::json;
        let expression =
            |op: &str, values: &[&str]| json!({"matchExpressions": [{"key": "a", "operator": op, "values": values}]});
        check(json!({}), &[("a", "1")], true);
        check(json!({"matchLabels": {"a": "1"}}), &[("a", "1"), ("b", "2")], true);
        check(json!({"matchLabels": {"a": "1"}}), &[("a", "2")], false);
        check(expression("In", &["1", "2"]), &[("a", "2")], true);
        check(expression("In", &["1"]), &[], false);
        check(expression("NotIn", &["1"]), &[], true);
        check(expression("NotIn", &["1"]), &[("a", "1")], false);
        check(expression("Exists", &[]), &[("a", "")], true);
        check(expression("DoesNotExist", &[]), &[("a", "")], false);
        check(expression("Unheard", &[]), &[("a", "")], false);
    }

    #[test]
    fn a_service_without_selector_selects_nothing() {
        assert!(!matches_map(None, None));
        assert!(!matches_map(Some(&Labels::new()), Some(&Labels::new())));
    }
}
