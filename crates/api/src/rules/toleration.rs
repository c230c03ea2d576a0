//! Whether a pod's tolerations cover a node's taints, and for how long: the scheduler and
//! the daemon set controller choose nodes by it, the kubelet admits by it, and the taint
//! eviction controller evicts by it.
//!
//! Upstream: `ToleratesTaint` of api/core/v1/toleration.go, `FindMatchingUntoleratedTaint` of
//! component-helpers/scheduling/corev1/helpers.go, and `GetMatchingTolerations` of
//! pkg/apis/core/v1/helper/helpers.go.

use crate::view::core::v1::{TaintView, TolerationView};
use std::time::Duration;

/// New pods stay away from a node with such a taint.
pub const KEEPS_OUT: &[&str] = &["NoSchedule", "NoExecute"];
/// Pods that already run on the node leave it.
pub const DRIVES_OUT: &[&str] = &["NoExecute"];
/// The scheduler prefers other nodes.
pub const DISCOURAGES: &[&str] = &["PreferNoSchedule"];

/// Whether one toleration covers a taint. An empty effect or key covers every one, and an
/// empty operator is `Equal`. `Lt` and `Gt` cover nothing while their feature
/// (TaintTolerationComparisonOperators, alpha in 1.36) is off.
pub fn tolerates(toleration: TolerationView<'_>, taint: TaintView<'_>) -> bool {
    let is_or_blank = |own: &str, other: &str| own.is_empty() || own == other;
    is_or_blank(toleration.effect(), taint.effect())
        && is_or_blank(toleration.key(), taint.key())
        && match toleration.operator() {
            "" | "Equal" => toleration.value_() == taint.value_(),
            "Exists" => true,
            _ => false,
        }
}

/// Whether any of the tolerations covers the taint.
pub fn is_tolerated<'t>(tolerations: impl IntoIterator<Item = TolerationView<'t>>, taint: TaintView<'_>) -> bool {
    tolerations.into_iter().any(|toleration| tolerates(toleration, taint))
}

/// The first taint of one of the effects that no toleration covers. The tolerations are
/// walked once a taint: `spec.tolerations()`, or `owned.iter().map(Owned::view)`.
///
/// ```
/// use ferry_api::rules::toleration::{KEEPS_OUT, find_untolerated};
/// use ferry_api::view::core::v1::{NodeView, PodView};
///
/// let node = serde_json::json!({"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}});
/// let pod = serde_json::json!({});
/// let (node, pod) = (NodeView::from(&node), PodView::from(&pod));
/// let taint = find_untolerated(node.spec().taints(), pod.spec().tolerations(), KEEPS_OUT);
/// assert_eq!(taint.map(|taint| taint.key()), Some("gpu"));
/// ```
pub fn find_untolerated<'n, 't>(
    taints: impl IntoIterator<Item = TaintView<'n>>,
    tolerations: impl IntoIterator<Item = TolerationView<'t>> + Clone,
    effects: &[&str],
) -> Option<TaintView<'n>> {
    let mut taints = taints.into_iter().filter(|taint| effects.contains(&taint.effect()));
    taints.find(|taint| !is_tolerated(tolerations.clone(), *taint))
}

/// How long taints are tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tolerance {
    /// One taint has no toleration, or one that is over at once.
    None,
    For(Duration),
    Forever,
}

/// How long all of the taints are tolerated together. The first toleration that covers a
/// taint counts for it, and the shortest time of those that count is the answer; a
/// toleration without `tolerationSeconds` sets no bound, and zero or less is over at once.
///
/// Upstream: `GetMatchingTolerations` and `getMinTolerationTime` of
/// pkg/controller/tainteviction/taint_eviction.go.
pub fn tolerance<'n, 't>(
    taints: impl IntoIterator<Item = TaintView<'n>>,
    tolerations: impl IntoIterator<Item = TolerationView<'t>> + Clone,
) -> Tolerance {
    let mut shortest = None::<u64>;
    for taint in taints {
        let Some(toleration) = tolerations.clone().into_iter().find(|toleration| tolerates(*toleration, taint)) else {
            return Tolerance::None;
        };
        if let Some(seconds) = toleration.toleration_seconds() {
            let seconds = u64::try_from(seconds).unwrap_or(0);
            shortest = Some(shortest.map_or(seconds, |shortest| shortest.min(seconds)));
        }
    }
    match shortest {
        None => Tolerance::Forever,
        Some(0) => Tolerance::None,
        Some(seconds) => Tolerance::For(Duration::from_secs(seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::core::v1::{NodeSpecView, PodSpecView};
    use serde_json::{Value, json};

    #[test]
    fn a_toleration_covers_by_effect_key_and_value() {
        let taint = json!({"key": "k", "value": "v", "effect": "NoSchedule"});
        let check = |toleration: Value, expected: bool| {
            let covers = tolerates(TolerationView::from(&toleration), TaintView::from(&taint));
            assert_eq!(covers, expected, "{toleration}");
        };
        check(json!({"key": "k", "value": "v", "effect": "NoSchedule"}), true);
        check(json!({"key": "k", "operator": "Equal", "value": "v"}), true);
        check(json!({"key": "k", "operator": "Equal", "value": "w"}), false);
        check(json!({"key": "k", "value": "v", "effect": "NoExecute"}), false);
        check(json!({"key": "other", "operator": "Exists"}), false);
        check(json!({"key": "k", "operator": "Exists"}), true);
        check(json!({"operator": "Exists"}), true);
        check(json!({"operator": "Exists", "effect": "NoExecute"}), false);
        // Validation rejects an empty key with Equal, and ToleratesTaint has no rule for it.
        check(json!({"value": "v"}), true);
        check(json!({"value": "w"}), false);
        check(json!({"key": "k", "operator": "Unheard", "value": "v"}), false);
    }

    #[test]
    fn numeric_operators_are_off() {
        let taint = json!({"key": "sla", "value": "950", "effect": "NoSchedule"});
        for operator in ["Gt", "Lt"] {
            let toleration = json!({"key": "sla", "operator": operator, "value": "900"});
            assert!(!tolerates(TolerationView::from(&toleration), TaintView::from(&taint)), "{operator}");
        }
    }

    #[test]
    fn the_first_taint_of_an_effect_without_toleration_is_found() {
        let node = json!({"taints": [
            {"key": "soft", "effect": "PreferNoSchedule"},
            {"key": "covered", "effect": "NoSchedule"},
            {"key": "new", "effect": "NoSchedule"},
            {"key": "all", "effect": "NoExecute"},
        ]});
        let pod = json!({"tolerations": [{"key": "covered", "operator": "Exists"}]});
        let check = |effects: &[&str], expected: Option<&str>| {
            let (taints, tolerations) = (NodeSpecView::from(&node).taints(), PodSpecView::from(&pod).tolerations());
            assert_eq!(find_untolerated(taints, tolerations, effects).map(|taint| taint.key()), expected);
        };
        check(KEEPS_OUT, Some("new"));
        check(DRIVES_OUT, Some("all"));
        check(DISCOURAGES, Some("soft"));
        check(&[], None);
    }

    #[test]
    fn the_shortest_of_the_tolerations_that_count_is_the_time() {
        let check = |taints: &[&str], tolerations: Value, expected: Tolerance| {
            let taints: Vec<Value> = taints.iter().map(|key| json!({"key": key, "effect": "NoExecute"})).collect();
            let (node, pod) = (json!({"taints": taints}), json!({"tolerations": tolerations}));
            let found = tolerance(NodeSpecView::from(&node).taints(), PodSpecView::from(&pod).tolerations());
            assert_eq!(found, expected, "{tolerations}");
        };
        let seconds = |key: &str, seconds: i64| json!({"key": key, "operator": "Exists", "tolerationSeconds": seconds});
        let forever = |key: &str| json!({"key": key, "operator": "Exists"});
        let time = |seconds: u64| Tolerance::For(Duration::from_secs(seconds));
        check(&[], json!([]), Tolerance::Forever);
        check(&["a"], json!([]), Tolerance::None);
        check(&["a"], json!([forever("a")]), Tolerance::Forever);
        check(&["a"], json!([seconds("a", 300)]), time(300));
        check(&["a", "b"], json!([seconds("a", 300), seconds("b", 60)]), time(60));
        check(&["a", "b"], json!([seconds("a", 300), forever("b")]), time(300));
        check(&["a", "b"], json!([seconds("a", 300)]), Tolerance::None);
        // The first that covers the taint counts, however short the second is.
        check(&["a"], json!([seconds("a", 300), seconds("a", 60)]), time(300));
        check(&["a"], json!([forever("a"), seconds("a", 60)]), Tolerance::Forever);
        check(&["a"], json!([seconds("a", 0)]), Tolerance::None);
        check(&["a"], json!([seconds("a", -5)]), Tolerance::None);
    }
}
