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
