//! Aggregated cluster roles: a role with an aggregationRule takes its rules from the
//! cluster roles whose labels it selects. Called by `bootstrap.rs`, so that admin, edit
//! and view are whole from the first second; the controller of that name keeps them so.

use super::rule::PolicyRule;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::label_selector;
use ferry_api::view::meta::v1::LabelSelectorView;
use ferry_api::view::rbac::v1::ClusterRoleView;
use serde_json::Value;

/// The cluster roles whose rules are not what their selectors gather, with their new rules.
pub fn compute_aggregation(roles: &[Value]) -> Vec<Value> {
    let mut changed = Vec::new();
    for role in roles {
        let Some(rules) = aggregated_rules(role, roles) else { continue };
        if rules != PolicyRule::list_from(role) {
            let mut role = role.clone();
            let rules: Vec<Value> = rules.iter().map(PolicyRule::to_value).collect();
            ensure_object(&mut role).insert("rules".into(), rules.into());
            changed.push(role);
        }
    }
    changed
}

/// The rules that a role's selectors gather, each once, in the order of the roles' names;
/// `None` for a role without an aggregation rule.
pub fn aggregated_rules(role: &Value, all: &[Value]) -> Option<Vec<PolicyRule>> {
    role.get("aggregationRule").filter(|rule| rule.is_object())?;
    let mut rules: Vec<PolicyRule> = Vec::new();
    let mut sources: Vec<&Value> = all.iter().collect();
    sources.sort_by_key(|source| source.name());
    for selector in role.items_at(&["aggregationRule", "clusterRoleSelectors"]) {
        for source in sources.iter().filter(|source| source.name() != role.name() && selects(selector, source)) {
            for rule in PolicyRule::list_from(source) {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
    }
    Some(rules)
}

fn selects(selector: &Value, role: &Value) -> bool {
    label_selector::matches(Some(LabelSelectorView::from(selector)), ClusterRoleView::from(role).metadata().labels())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rules_are_gathered_once_and_in_order() {
        let part = |name: &str, resource: &str| {
            json!({"metadata": {"name": name, "labels": {"into": "admin"}},
                   "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": [resource]}]})
        };
        let admin = json!({"metadata": {"name": "admin", "labels": {"into": "admin"}},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"into": "admin"}}]}, "rules": []});
        let roles = [part("z", "pods"), admin, part("a", "services"), part("m", "pods")];
        let changed = compute_aggregation(&roles);
        assert_eq!(changed.len(), 1);
        let resources: Vec<String> =
            PolicyRule::list_from(&changed[0]).into_iter().map(|rule| rule.resources.concat()).collect();
        assert_eq!(resources, ["services", "pods"]);
        let settled = [roles[0].clone(), changed[0].clone(), roles[2].clone(), roles[3].clone()];
        assert_eq!(compute_aggregation(&settled), Vec::<Value>::new());
    }

    #[test]
    fn expressions_select_too() {
        let object = json!({"metadata": {"labels": {"tier": "a"}}});
        let check = |operator: &str, values: &[&str], expected: bool| {
            let selector = json!({"matchExpressions": [{"key": "tier", "operator": operator, "values": values}]});
            assert_eq!(selects(&selector, &object), expected, "{operator} {values:?}");
        };
        check("In", &["a", "b"], true);
        check("In", &["b"], false);
        check("NotIn", &["b"], true);
        check("Exists", &[], true);
        check("DoesNotExist", &[], false);
    }
}
