//! Fills ClusterRoles that are made of others (admin, edit, view and what operators add).

use crate::error::{During, Result};
use crate::label_index;
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::label_selector;
use ferry_api::view::Map;
use ferry_api::view::rbac::v1::{ClusterRole, ClusterRoleView, PolicyRule, PolicyRuleView};
use ferry_client::{Informer, Informers, Patch, SharedObject};
use serde_json::{Value, json};

/// The index that has all roles with an aggregation rule under one value.
const AGGREGATES: &str = "aggregates";

pub(crate) struct ClusterRoleAggregationController;

#[async_trait]
impl Controller for ClusterRoleAggregationController {
    fn name(&self) -> &'static str {
        "clusterrole-aggregation-controller"
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        let roles = label_index::by_label(informers.of::<ClusterRole>()).indexed(AGGREGATES, |role| {
            role.view().aggregation_rule().map(|_| AGGREGATES.to_owned()).into_iter().collect()
        });
        vec![Watch::new(roles.clone(), move |event, enqueue| {
            let (old, new) = event.versions();
            for aggregate in roles.by_index(AGGREGATES, AGGREGATES) {
                let selects = |role: Option<&SharedObject<ClusterRole>>| {
                    role.is_some_and(|role| is_selected(aggregate.view(), role.meta().labels()))
                };
                if aggregate.name() == event.object().name() || selects(old) || selects(new) {
                    enqueue.add_object(aggregate.meta());
                }
            }
        })]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let roles = ctx.informers.of::<ClusterRole>();
        let Some(role) = roles.get("", &key.name) else { return Ok(Action::Done) };
        let Some(rules) = plan_rules(role.view(), &roles) else { return Ok(Action::Done) };
        // No rules are an empty list and not an absent one, which would take nothing away.
        let rules: Vec<Value> = rules.into_iter().map(Value::from).collect();
        let patch = Patch::Apply {
            manager: self.name().to_owned(),
            force: true,
            body: json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": key.name}, "rules": rules,
            }),
        };
        match ctx.client.api::<ClusterRole>("").patch(&key.name, &patch).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("aggregate the cluster role", key)?),
        }
        Ok(Action::Done)
    }
}

/// Whether an aggregate takes the rules of a role with these labels.
fn is_selected(aggregate: ClusterRoleView<'_>, labels: Map<'_, &str>) -> bool {
    let selectors = aggregate.aggregation_rule().unwrap_or_default().cluster_role_selectors();
    selectors.iter().any(|selector| label_selector::matches(Some(selector), labels))
}

/// The rules of all selected roles in order of name, each once; `None` when the role has
/// them or is no aggregate.
fn plan_rules(role: ClusterRoleView<'_>, all: &Informer<ClusterRole>) -> Option<Vec<PolicyRule>> {
    let selectors = role.aggregation_rule()?.cluster_role_selectors();
    let selected: Vec<SharedObject<ClusterRole>> =
        selectors.iter().flat_map(|selector| label_index::matching(all, "", Some(selector))).collect();
    let mut rules: Vec<PolicyRuleView<'_>> = Vec::new();
    for other in selected.iter().filter(|other| other.name() != role.metadata().name()) {
        for rule in other.view().rules() {
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    (!rules.iter().copied().eq(role.rules())).then(|| rules.into_iter().map(PolicyRuleView::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_gathered_by_label_once_each() {
        let role = |value: Value| SharedObject::<ClusterRole>::of(value);
        let rule = |resource: &str| json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]});
        let view = role(json!({"metadata": {"name": "view", "labels": {"to": "view"}},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"to": "view"}}]}}));
        let selected = role(
            json!({"metadata": {"name": "b", "labels": {"to": "view"}}, "rules": [rule("pods"), rule("services")]}),
        );
        let all = label_index::by_label(Informer::fixed([
            selected.clone(),
            role(json!({"metadata": {"name": "a", "labels": {"to": "view"}}, "rules": [rule("services")]})),
            role(json!({"metadata": {"name": "c"}, "rules": [rule("secrets")]})),
            view.clone(),
        ]));
        let rules = plan_rules(view.view(), &all).expect("a change");
        let mut filled = view.to_owned();
        filled.set_rules(rules.clone());
        let rules: Vec<Value> = rules.into_iter().map(Value::from).collect();
        assert_eq!(rules, [rule("services"), rule("pods")]);
        assert_eq!(plan_rules(role(filled.into()).view(), &all), None);
        assert_eq!(plan_rules(selected.view(), &all), None);
        assert!(is_selected(view.view(), selected.meta().labels()));
        assert!(!is_selected(selected.view(), selected.meta().labels()));
    }
}
