//! PodDisruptionBudget: the strategy of how many pods may be missing at once.

use crate::Strategy;
use crate::read::{Read, field_mut};
use crate::validation::shown;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub(crate) struct PodDisruptionBudget;

/// By this key v1beta1 said whether an empty selector meant all pods or none. It has no
/// meaning beside anything else and is taken away there.
const OLD_EMPTY_SELECTOR: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

impl Strategy for PodDisruptionBudget {
    fn default(&self, budget: &mut Value) {
        let selector = field_mut(budget, "spec").and_then(|spec| field_mut(spec, "selector"));
        if let Some(selector) = selector
            && !is_match_none(selector)
            && let Some(Value::Array(expressions)) = field_mut(selector, "matchExpressions")
        {
            expressions.retain(|expression| expression.text("key") != OLD_EMPTY_SELECTOR);
        }
    }

    fn validate(&self, budget: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (budget.field("spec"), Path::new("spec"));
        if spec.has("minAvailable") && spec.has("maxUnavailable") {
            let detail = "minAvailable and maxUnavailable cannot be both set";
            errors.push(Error::invalid(&path, shown(spec), detail));
        }
        errors
    }
}

/// Whether a selector says by that key, and by nothing else, that it selects nothing.
fn is_match_none(selector: &Value) -> bool {
    match selector.list("matchExpressions") {
        [one] => {
            one.text("key") == OLD_EMPTY_SELECTOR
                && one.text("operator") == "Exists"
                && one.list("values").is_empty()
                && selector.entries("matchLabels").is_empty()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, texts};
    use serde_json::json;

    fn budget(spec: Value) -> Value {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web"}, "spec": spec})
    }

    #[test]
    fn a_budget_says_one_thing() {
        check(&PodDisruptionBudget, budget(json!({"minAvailable": 1, "selector": {}})), &[]);
        check(
            &PodDisruptionBudget,
            budget(json!({"minAvailable": -1, "maxUnavailable": "101%", "unhealthyPodEvictionPolicy": "Some"})),
            &[
                "spec: Invalid value: {\"maxUnavailable\":\"101%\",\"minAvailable\":-1,\"unhealthyPodEvictionPolicy\":\"Some\"}: minAvailable and maxUnavailable cannot be both set",
                "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0",
                "spec.maxUnavailable: Invalid value: \"101%\": must not be greater than 100%",
                "spec.unhealthyPodEvictionPolicy: Unsupported value: \"Some\": supported values: \"AlwaysAllow\", \"IfHealthyBudget\"",
            ],
        );
    }

    #[test]
    fn the_old_key_stands_alone_or_not_at_all() {
        let old = json!({"key": OLD_EMPTY_SELECTOR, "operator": "Exists"});
        let mut alone = budget(json!({"selector": {"matchExpressions": [old]}}));
        crate::testing::default(&PodDisruptionBudget, &mut alone);
        assert_eq!(alone["spec"]["selector"]["matchExpressions"], json!([old]));
        let mut beside = budget(json!({"selector": {"matchExpressions": [old], "matchLabels": {"a": "b"}}}));
        crate::testing::default(&PodDisruptionBudget, &mut beside);
        assert_eq!(beside["spec"]["selector"]["matchExpressions"], json!([]));
    }

    #[test]
    fn counts_are_not_negative() {
        let status = json!({"status": {"disruptionsAllowed": -1}});
        assert_eq!(
            texts(&crate::testing::update_errors(&PodDisruptionBudget, "status", &status, &json!({}))),
            ["status.disruptionsAllowed: Invalid value: -1: must be greater than or equal to 0"]
        );
    }

    #[test]
    fn a_budget_shows_what_is_left_of_it() {
        let mut object = budget(json!({"maxUnavailable": "25%"}));
        object["status"] = json!({"disruptionsAllowed": 2});
        assert_eq!(Value::from(cells("PodDisruptionBudget", object)), json!(["web", "N/A", "25%", 2, "10m"]));
    }
}
