//! One rule of a role: what it matches, and its JSON form.

use super::Attributes;
use serde_json::{Map, Value};

/// rbac.authorization.k8s.io/v1 PolicyRule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PolicyRule {
    pub verbs: Vec<String>,
    pub api_groups: Vec<String>,
    pub resources: Vec<String>,
    pub resource_names: Vec<String>,
    pub non_resource_urls: Vec<String>,
}

impl PolicyRule {
    /// Reads one entry of a role's `rules`; what is absent is empty.
    pub fn from_value(value: &Value) -> Self {
        let list = |key: &str| match value.get(key) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        Self {
            verbs: list("verbs"),
            api_groups: list("apiGroups"),
            resources: list("resources"),
            resource_names: list("resourceNames"),
            non_resource_urls: list("nonResourceURLs"),
        }
    }

    /// The rules of a Role or ClusterRole.
    pub fn list_from(role: &Value) -> Vec<Self> {
        match role.get("rules") {
            Some(Value::Array(rules)) => rules.iter().map(Self::from_value).collect(),
            _ => Vec::new(),
        }
    }

    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, list: &[String]| {
            if !list.is_empty() {
                out.insert(key.into(), list.to_vec().into());
            }
        };
        put("verbs", &self.verbs);
        put("apiGroups", &self.api_groups);
        put("resources", &self.resources);
        put("resourceNames", &self.resource_names);
        put("nonResourceURLs", &self.non_resource_urls);
        Value::Object(out)
    }

    pub fn allows(&self, attributes: &Attributes<'_>) -> bool {
        has_or_all(&self.verbs, attributes.verb) && self.allows_beside_verb(attributes)
    }

    fn allows_beside_verb(&self, attributes: &Attributes<'_>) -> bool {
        if attributes.is_resource {
            has_or_all(&self.api_groups, attributes.api_group)
                && self.resources.iter().any(|rule| resource_matches(rule, attributes.resource, attributes.subresource))
                && (self.resource_names.is_empty() || self.resource_names.iter().any(|name| name == attributes.name))
        } else {
            self.non_resource_urls.iter().any(|rule| url_matches(rule, attributes.path))
        }
    }
}

/// A rule with its verbs as a bit set, so that most rules are passed over at the price of
/// one comparison.
#[derive(Clone, Debug)]
pub(super) struct CompiledRule {
    verbs: u32,
    pub(super) rule: PolicyRule,
}

const VERBS: [&str; 12] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "proxy",
    "impersonate",
    "escalate",
    "bind",
];
/// The bit of every verb that has no own one; the names then decide.
const OTHER_VERB: u32 = 1 << VERBS.len();

/// The bit of a verb that is asked for.
pub(super) fn verb_bit(verb: &str) -> u32 {
    VERBS.iter().position(|known| *known == verb).map_or(OTHER_VERB, |at| 1 << at)
}

impl CompiledRule {
    pub(super) fn new(rule: PolicyRule) -> Self {
        let verbs = rule.verbs.iter().fold(0, |bits, verb| if verb == "*" { u32::MAX } else { bits | verb_bit(verb) });
        Self { verbs, rule }
    }

    /// `bit` is [`verb_bit`] of the attributes' verb.
    pub(super) fn allows(&self, attributes: &Attributes<'_>, bit: u32) -> bool {
        self.verbs & bit != 0
            && (bit != OTHER_VERB || has_or_all(&self.rule.verbs, attributes.verb))
            && self.rule.allows_beside_verb(attributes)
    }
}

fn has_or_all(list: &[String], wanted: &str) -> bool {
    list.iter().any(|item| item == "*" || item == wanted)
}

/// `pods` matches the resource itself, `pods/log` one subresource, `*/scale` that
/// subresource of anything, `*` everything.
fn resource_matches(rule: &str, resource: &str, subresource: &str) -> bool {
    if rule == "*" {
        return true;
    }
    if subresource.is_empty() {
        return rule == resource;
    }
    rule.split_once('/').is_some_and(|(first, rest)| rest == subresource && (first == "*" || first == resource))
}

pub(super) fn url_matches(rule: &str, path: &str) -> bool {
    rule == "*" || rule == path || (rule.ends_with('*') && path.starts_with(rule.trim_end_matches('*')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_match_as_upstream_matches_them() {
        let cases = [
            ("*", "pods", "", true),
            ("*", "pods", "log", true),
            ("pods", "pods", "", true),
            ("pods", "pods", "log", false),
            ("pods/log", "pods", "log", true),
            ("pods/log", "pods", "", false),
            ("pods/*", "pods", "log", false),
            ("*/scale", "deployments", "scale", true),
            ("*/scale", "deployments", "", false),
            ("*/scale", "deployments", "status", false),
            ("services", "pods", "", false),
            ("userextras/a/b", "userextras", "a/b", true),
        ];
        for (rule, resource, subresource, expected) in cases {
            assert_eq!(resource_matches(rule, resource, subresource), expected, "{rule} {resource}/{subresource}");
        }
    }

    #[test]
    fn urls_match_exactly_or_by_a_trailing_star() {
        let cases = [
            ("*", "/x", true),
            ("/healthz", "/healthz", true),
            ("/healthz", "/healthz/a", false),
            ("/healthz/*", "/healthz/a/b", true),
            ("/healthz/*", "/healthz", false),
            ("/api*", "/apis", true),
        ];
        for (rule, path, expected) in cases {
            assert_eq!(url_matches(rule, path), expected, "{rule} {path}");
        }
    }
}
