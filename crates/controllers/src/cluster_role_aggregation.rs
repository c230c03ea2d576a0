//! Fills ClusterRoles that are made of others (admin, edit, view and what operators add).

use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use crate::selector;
use async_trait::async_trait;
use ferry_client::{Informers, Patch};
use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use serde_json::json;
use std::sync::Arc;

pub struct ClusterRoleAggregationController;

#[async_trait]
impl Controller for ClusterRoleAggregationController {
    fn name(&self) -> &'static str {
        "clusterrole-aggregation-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let roles = informers.of::<ClusterRole>();
        vec![Watch::new(informers.of::<ClusterRole>(), move |_, enqueue| {
            for role in roles.list(None).iter().filter(|role| role.aggregation_rule.is_some()) {
                enqueue.add_object(&role.metadata);
            }
        })]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let roles = ctx.informers.of::<ClusterRole>();
        let Some(role) = roles.get("", &key.name) else { return Ok(Action::Done) };
        let Some(rules) = plan_rules(&role, &roles.list(None)) else { return Ok(Action::Done) };
        let patch = Patch::Apply {
            manager: self.name().to_owned(),
            force: true,
            body: json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": key.name}, "rules": rules,
            }),
        };
        match ctx.client.patch::<ClusterRole>("", &key.name, &patch).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("aggregate the cluster role", key)?),
        }
        Ok(Action::Done)
    }
}

/// The rules of all selected roles in order of name, each once; None when the role has
/// them or is no aggregate.
fn plan_rules(role: &ClusterRole, all: &[Arc<ClusterRole>]) -> Option<Vec<PolicyRule>> {
    let rule = role.aggregation_rule.as_ref()?;
    let mut rules: Vec<PolicyRule> = Vec::new();
    for selector in rule.cluster_role_selectors.iter().flatten() {
        let mut selected: Vec<&Arc<ClusterRole>> = all
            .iter()
            .filter(|other| other.metadata.name != role.metadata.name)
            .filter(|other| selector::matches(selector, other.metadata.labels.as_ref()))
            .collect();
        selected.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        for rule in selected.iter().flat_map(|other| other.rules.iter().flatten()) {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
    (rules != role.rules.clone().unwrap_or_default()).then_some(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_gathered_by_label_once_each() {
        let role = |value: serde_json::Value| Arc::new(serde_json::from_value::<ClusterRole>(value).expect("a role"));
        let rule = |resource: &str| json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]});
        let view = role(json!({"metadata": {"name": "view", "labels": {"to": "view"}},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "view"}}]}}));
        let all = [
            role(
                json!({"metadata": {"name": "b", "labels": {"to": "view"}}, "rules": [rule("pods"), rule("services")]}),
            ),
            role(json!({"metadata": {"name": "a", "labels": {"to": "view"}}, "rules": [rule("services")]})),
            role(json!({"metadata": {"name": "c"}, "rules": [rule("secrets")]})),
            view.clone(),
        ];
        let rules = plan_rules(&view, &all).expect("a change");
        assert_eq!(serde_json::to_value(&rules).expect("JSON"), json!([rule("services"), rule("pods")]));
        let filled = ClusterRole { rules: Some(rules), ..ClusterRole::clone(&view) };
        assert_eq!(plan_rules(&filled, &all), None);
        assert_eq!(plan_rules(&all[0], &all), None);
    }
}
