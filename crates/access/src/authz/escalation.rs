//! Nobody may grant what they do not hold: the checks on writes of roles and bindings,
//! after upstream's registry/rbac. Called by the admission plugin of that name.

use super::rbac::GROUP;
use super::rule::{PolicyRule, url_matches};
use super::{Attributes, Authorizer};
use crate::authn::UserInfo;
use crate::authn::user::MASTERS;
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use serde_json::Value;
use std::collections::BTreeSet;

/// Whether the user may write this Role or ClusterRole. `plural` says which it is.
pub async fn check_role(
    authorizer: &Authorizer,
    user: &UserInfo,
    plural: &str,
    namespace: &str,
    role: &Value,
    old: Option<&Value>,
) -> Result<(), Status> {
    let request = attributes(user, "escalate", plural, namespace, role.name());
    if user.in_group(MASTERS) || is_housekeeping(role, old) || authorizer.decide(&request).await.is_allowed() {
        return Ok(());
    }
    let forbidden = |why: &str| Status::forbidden(&GroupResource::new(GROUP, plural.to_owned()), role.name(), why);
    let held = authorizer.rbac().rules_for(user, namespace);
    confirm_held(user, &held, &PolicyRule::list_from(role)).map_err(|why| forbidden(&why))?;
    let aggregates = |role: &Value| !role.items_at(&["aggregationRule", "clusterRoleSelectors"]).is_empty();
    // An aggregation rule can gather anything, so it takes the right to everything.
    if aggregates(role) || old.is_some_and(aggregates) {
        let all = |list: &str| vec![list.to_owned()];
        let everything = [
            PolicyRule { verbs: all("*"), api_groups: all("*"), resources: all("*"), ..Default::default() },
            PolicyRule { verbs: all("*"), non_resource_urls: all("*"), ..Default::default() },
        ];
        if confirm_held(user, &held, &everything).is_err() {
            return Err(forbidden("must have cluster-admin privileges to use the aggregationRule"));
        }
    }
    Ok(())
}

/// Whether the user may write this RoleBinding (`namespace` given) or ClusterRoleBinding.
pub async fn check_binding(
    authorizer: &Authorizer,
    user: &UserInfo,
    plural: &str,
    namespace: &str,
    binding: &Value,
    old: Option<&Value>,
) -> Result<(), Status> {
    if user.in_group(MASTERS) || is_housekeeping(binding, old) {
        return Ok(());
    }
    let (kind, name) = (binding.str_at(&["roleRef", "kind"]), binding.str_at(&["roleRef", "name"]));
    let referred = match kind {
        "ClusterRole" => "clusterroles",
        "Role" => "roles",
        // Validation names the mistake.
        _ => return Ok(()),
    };
    if authorizer.decide(&attributes(user, "bind", referred, namespace, name)).await.is_allowed() {
        return Ok(());
    }
    let Some(rules) = authorizer.rbac().role_rules(kind, name, namespace) else {
        return Err(Status::not_found(&GroupResource::new(GROUP, referred), name));
    };
    let held = authorizer.rbac().rules_for(user, namespace);
    confirm_held(user, &held, &rules)
        .map_err(|why| Status::forbidden(&GroupResource::new(GROUP, plural.to_owned()), binding.name(), &why))
}

fn attributes<'a>(
    user: &'a UserInfo,
    verb: &'a str,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
) -> Attributes<'a> {
    Attributes { namespace, name, ..Attributes::resource(user, verb, GROUP, "*", resource) }
}

/// Whether an update changes only what the garbage collector changes.
fn is_housekeeping(new: &Value, old: Option<&Value>) -> bool {
    let Some(old) = old else { return false };
    let strip = |object: &Value| {
        let mut object = object.clone();
        for key in ["ownerReferences", "finalizers", "managedFields", "selfLink"] {
            object.remove_meta(key);
        }
        object
    };
    strip(new) == strip(old)
}

fn confirm_held(user: &UserInfo, held: &[PolicyRule], wanted: &[PolicyRule]) -> Result<(), String> {
    let missing = missing_rules(held, wanted);
    if missing.is_empty() {
        return Ok(());
    }
    let texts: BTreeSet<String> = compact(missing).iter().map(describe).collect();
    Err(format!(
        "user {:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
        user.name,
        quoted(&user.groups),
        texts.into_iter().collect::<Vec<_>>().join("\n")
    ))
}

/// The parts of `wanted`, each of one verb, resource and name, that no held rule covers.
pub fn missing_rules(held: &[PolicyRule], wanted: &[PolicyRule]) -> Vec<PolicyRule> {
    let parts = wanted.iter().flat_map(break_down);
    parts.filter(|part| !held.iter().any(|rule| covers(rule, part))).collect()
}

fn break_down(rule: &PolicyRule) -> Vec<PolicyRule> {
    let one = |text: &String| vec![text.clone()];
    let mut out = Vec::new();
    for group in &rule.api_groups {
        for resource in &rule.resources {
            for verb in &rule.verbs {
                let part = PolicyRule {
                    verbs: one(verb),
                    api_groups: one(group),
                    resources: one(resource),
                    ..Default::default()
                };
                if rule.resource_names.is_empty() {
                    out.push(part);
                } else {
                    let named = |name| PolicyRule { resource_names: one(name), ..part.clone() };
                    out.extend(rule.resource_names.iter().map(named));
                }
            }
        }
    }
    for url in &rule.non_resource_urls {
        for verb in &rule.verbs {
            out.push(PolicyRule { verbs: one(verb), non_resource_urls: one(url), ..Default::default() });
        }
    }
    out
}

/// Whether a rule gives everything that a part of one verb, resource and name gives.
fn covers(rule: &PolicyRule, part: &PolicyRule) -> bool {
    let in_list = |list: &[String], wanted: &[String]| {
        list.iter().any(|item| item == "*") || wanted.iter().all(|item| list.contains(item))
    };
    let resources = part.resources.iter().all(|wanted| {
        rule.resources.iter().any(|held| {
            held == "*"
                || held == wanted
                || wanted.split_once('/').is_some_and(|(_, sub)| held.strip_prefix("*/") == Some(sub))
        })
    });
    let names = rule.resource_names.is_empty()
        || (!part.resource_names.is_empty()
            && part.resource_names.iter().all(|name| rule.resource_names.contains(name)));
    let urls =
        part.non_resource_urls.iter().all(|wanted| rule.non_resource_urls.iter().any(|held| url_matches(held, wanted)));
    in_list(&rule.verbs, &part.verbs) && in_list(&rule.api_groups, &part.api_groups) && resources && names && urls
}

/// Joins parts that differ only in their verb, as the message shows them.
fn compact(parts: Vec<PolicyRule>) -> Vec<PolicyRule> {
    let mut out: Vec<PolicyRule> = Vec::new();
    for part in parts {
        let same = |other: &&mut PolicyRule| {
            part.non_resource_urls.is_empty()
                && other.api_groups == part.api_groups
                && other.resources == part.resources
                && other.resource_names == part.resource_names
                && other.non_resource_urls.is_empty()
        };
        match out.iter_mut().find(same) {
            Some(other) => other.verbs.extend(part.verbs),
            None => out.push(part),
        }
    }
    out
}

fn describe(rule: &PolicyRule) -> String {
    let fields = [
        ("APIGroups", &rule.api_groups),
        ("Resources", &rule.resources),
        ("NonResourceURLs", &rule.non_resource_urls),
        ("ResourceNames", &rule.resource_names),
        ("Verbs", &rule.verbs),
    ];
    let shown =
        fields.iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| format!("{name}:{}", quoted(list)));
    format!("{{{}}}", shown.collect::<Vec<_>>().join(", "))
}

/// Go's `%q` of a list of strings.
fn quoted(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| format!("{item:?}")).collect();
    format!("[{}]", quoted.join(" "))
}
