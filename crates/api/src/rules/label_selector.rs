//! Whether a label selector matches labels, asked by all that look for objects by label.
//!
//! | selector | absent | empty |
//! |---|---|---|
//! | a LabelSelector object ([`matches`]) | matches nothing | matches everything |
//! | a Service's map ([`matches_service`]) | matches nothing | matches nothing |
//! | a map that narrows, as `nodeSelector` ([`contains`]) | matches everything | matches everything |
//!
//! Upstream: `LabelSelectorAsSelector` of apimachinery/pkg/apis/meta/v1/helpers.go, and
//! `NewRequirement` and `Matches` of apimachinery/pkg/labels/selector.go.

use crate::selector::{Selector, SelectorError, label_key_errors, label_value_errors};
use crate::view::meta::v1::LabelSelectorView;
use crate::view::{List, Map, View};

/// Whether a LabelSelector object matches. One that is not valid matches nothing, so that a
/// controller never acts on more objects than its owner meant.
pub fn matches(selector: Option<LabelSelectorView<'_>>, labels: Map<'_, &str>) -> bool {
    let Some(selector) = selector else { return false };
    contains(labels, selector.match_labels())
        && selector.match_expressions().iter().all(|expression| {
            // Node selectors know two operators more.
            !matches!(expression.operator(), "Gt" | "Lt")
                && holds(expression.key(), expression.operator(), expression.values(), labels.get(expression.key()))
        })
}

/// Whether a LabelSelector object restricts nothing.
pub fn is_empty(selector: LabelSelectorView<'_>) -> bool {
    selector.match_labels().is_empty() && selector.match_expressions().is_empty()
}

/// The selector as it is written in a `labelSelector` parameter, to be kept, printed or sent.
pub fn to_selector(selector: Option<LabelSelectorView<'_>>) -> Result<Selector, SelectorError> {
    let value = selector.map(|selector| selector.node().to_value());
    Selector::from_object(value.as_ref())
}

/// Whether a Service's selector matches: all of its labels, and none selects nothing.
pub fn matches_service(selector: Map<'_, &str>, labels: Map<'_, &str>) -> bool {
    !selector.is_empty() && contains(labels, selector)
}

/// Whether `labels` has every pair of `wanted`; upstream's `SelectorFromSet`.
pub fn contains(labels: Map<'_, &str>, wanted: Map<'_, &str>) -> bool {
    wanted.iter().all(|(name, value)| labels.get(name) == Some(value))
}

/// Whether a label, or its absence, meets a requirement. A requirement that
/// `NewRequirement` would reject is met by nothing.
pub(super) fn holds(key: &str, operator: &str, values: List<'_, &str>, label: Option<&str>) -> bool {
    let number = |text: &str| text.parse::<i64>().ok();
    let compare = |is_met: fn(&i64, &i64) -> bool| {
        let mut bounds = values.iter();
        let (Some(bound), None) = (bounds.next(), bounds.next()) else { return false };
        label.and_then(number).zip(number(bound)).is_some_and(|(own, bound)| is_met(&own, &bound))
    };
    let is_met = match operator {
        "In" => label.is_some_and(|label| values.contains(label)),
        "NotIn" => !values.is_empty() && label.is_none_or(|label| !values.contains(label)),
        "Exists" => values.is_empty() && label.is_some(),
        "DoesNotExist" => values.is_empty() && label.is_none(),
        "Gt" => compare(i64::gt),
        "Lt" => compare(i64::lt),
        _ => false,
    };
    // Checked last, because most labels do not match.
    is_met && label_key_errors(key).is_empty() && values.iter().all(|value| label_value_errors(value).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::meta::v1::ObjectMetaView;
    use serde_json::{Value, json};

    fn labels(value: &Value) -> Map<'_, &str> {
        ObjectMetaView::from(value).labels()
    }

    /// A selector object answers alike read directly and as a [`Selector`].
    #[track_caller]
    fn check(selector: Value, own: Value, expected: bool) {
        let view = (!selector.is_null()).then(|| LabelSelectorView::from(&selector));
        let meta = json!({"labels": own});
        assert_eq!(matches(view, labels(&meta)), expected, "{selector} on {own}");
        let parsed = to_selector(view).is_ok_and(|parsed| parsed.matches_with(|key| labels(&meta).get(key)));
        assert_eq!(parsed, expected, "{selector} on {own}, parsed");
    }

    #[test]
    fn an_absent_selector_matches_nothing_and_an_empty_one_everything() {
        check(Value::Null, json!({"a": "1"}), false);
        check(Value::Null, json!({}), false);
        check(json!({}), json!({"a": "1"}), true);
        check(json!({}), json!({}), true);
        check(json!({"matchLabels": {}, "matchExpressions": []}), json!({}), true);
        assert!(is_empty(LabelSelectorView::from(&json!({"matchLabels": {}}))));
        assert!(!is_empty(LabelSelectorView::from(&json!({"matchLabels": {"a": "1"}}))));
    }

    #[test]
    fn labels_and_expressions_must_all_hold() {
        let expression = |operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": "a", "operator": operator, "values": values}]});
        check(json!({"matchLabels": {"a": "1"}}), json!({"a": "1", "b": "2"}), true);
        check(json!({"matchLabels": {"a": "1"}}), json!({"a": "2"}), false);
        check(json!({"matchLabels": {"a": "1", "b": "2"}}), json!({"a": "1"}), false);
        check(expression("In", &["1", "2"]), json!({"a": "2"}), true);
        check(expression("In", &["1"]), json!({}), false);
        check(expression("NotIn", &["1"]), json!({}), true);
        check(expression("NotIn", &["1"]), json!({"a": "1"}), false);
        check(expression("Exists", &[]), json!({"a": ""}), true);
        check(expression("DoesNotExist", &[]), json!({"a": ""}), false);
        check(expression("DoesNotExist", &[]), json!({}), true);
        let mut both = expression("In", &["1"]);
        both["matchLabels"] = json!({"b": "2"});
        check(both.clone(), json!({"a": "1", "b": "2"}), true);
        check(both, json!({"a": "1"}), false);
    }

    #[test]
    fn a_selector_that_is_not_valid_matches_nothing() {
        let expression = |key: &str, operator: &str, values: &[&str]| json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]});
        check(expression("a", "Unheard", &[]), json!({"a": "1"}), false);
        check(expression("a", "NotIn", &[]), json!({"a": "1"}), false);
        check(expression("a", "Exists", &["1"]), json!({"a": "1"}), false);
        check(expression("a", "Gt", &["0"]), json!({"a": "1"}), false);
        check(expression("not a key", "DoesNotExist", &[]), json!({}), false);
        check(expression("a", "NotIn", &["not a value"]), json!({"a": "1"}), false);
    }

    #[test]
    fn maps_want_every_pair() {
        let check = |wanted: Value, own: Value, service: bool, narrows: bool| {
            let (wanted, own) = (json!({"labels": wanted}), json!({"labels": own}));
            assert_eq!(matches_service(labels(&wanted), labels(&own)), service, "{wanted} on {own}");
            assert_eq!(contains(labels(&own), labels(&wanted)), narrows, "{wanted} on {own}");
        };
        check(json!({"a": "1"}), json!({"a": "1", "b": "2"}), true, true);
        check(json!({"a": "1"}), json!({"a": "2"}), false, false);
        check(json!({"a": ""}), json!({}), false, false);
        check(json!({}), json!({"a": "1"}), false, true);
        check(Value::Null, json!({"a": "1"}), false, true);
    }
}
