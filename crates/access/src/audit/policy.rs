//! The audit policy: how much of which request is recorded, as a file of kind Policy
//! (audit.k8s.io/v1) says. The first rule that matches decides; a request that no rule
//! matches is not recorded (audit/policy/checker.go upstream).

use super::{Error, Level, Stage};
use crate::authn::UserInfo;
use crate::request_info::RequestInfo;
use ferry_api::field::{self, ErrorList, Path};
use serde::Deserialize;

/// What the policy says about one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub level: Level,
    pub omit_stages: Vec<Stage>,
    pub omit_managed_fields: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    api_version: String,
    kind: String,
    #[serde(default, rename = "metadata")]
    _metadata: serde_json::Value,
    #[serde(default)]
    rules: Vec<Rule>,
    #[serde(default)]
    omit_stages: Vec<String>,
    #[serde(default)]
    omit_managed_fields: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Rule {
    level: String,
    users: Vec<String>,
    user_groups: Vec<String>,
    verbs: Vec<String>,
    resources: Vec<GroupResources>,
    namespaces: Vec<String>,
    #[serde(rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    omit_stages: Vec<String>,
    omit_managed_fields: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct GroupResources {
    group: String,
    resources: Vec<String>,
    resource_names: Vec<String>,
}

impl Policy {
    /// Reads a policy file. Every mistake is told with its field; a policy that could be
    /// misread would record too little without anyone noticing.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let policy: Self = serde_yaml_ng::from_str(text).map_err(|error| Error::Policy(error.to_string()))?;
        let errors = policy.validate();
        if errors.is_empty() {
            return Ok(policy);
        }
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Err(Error::Policy(texts.join("; ")))
    }

    fn validate(&self) -> ErrorList {
        let mut errors = ErrorList::new();
        if self.api_version != "audit.k8s.io/v1" {
            errors.push(field::Error::not_supported(
                &Path::new("apiVersion"),
                self.api_version.as_str(),
                &["audit.k8s.io/v1"],
            ));
        }
        if self.kind != "Policy" {
            errors.push(field::Error::not_supported(&Path::new("kind"), self.kind.as_str(), &["Policy"]));
        }
        if self.rules.is_empty() {
            errors.push(field::Error::required(&Path::new("rules"), "a policy without rules records nothing"));
        }
        validate_stages(&mut errors, &self.omit_stages, &Path::new("omitStages"));
        for (index, rule) in self.rules.iter().enumerate() {
            rule.validate(&mut errors, &Path::new("rules").index(index));
        }
        errors
    }

    /// How a request is recorded. There is no user where none could be told.
    pub fn evaluate(&self, info: &RequestInfo, user: Option<&UserInfo>) -> Settings {
        let Some(rule) = self.rules.iter().find(|rule| rule.matches(info, user)) else {
            return Settings { level: Level::None, omit_stages: Vec::new(), omit_managed_fields: false };
        };
        let omitted = self.omit_stages.iter().chain(&rule.omit_stages);
        Settings {
            level: Level::parse(&rule.level).unwrap_or(Level::None),
            omit_stages: omitted.filter_map(|name| Stage::parse(name)).collect(),
            omit_managed_fields: rule.omit_managed_fields.unwrap_or(self.omit_managed_fields),
        }
    }
}

impl Rule {
    fn validate(&self, errors: &mut ErrorList, path: &Path) {
        let level = path.child("level");
        if self.level.is_empty() {
            errors.push(field::Error::required(&level, ""));
        } else if Level::parse(&self.level).is_none() {
            errors.push(field::Error::not_supported(&level, self.level.as_str(), &Level::NAMES));
        }
        let urls = path.child("nonResourceURLs");
        for (index, url) in self.non_resource_urls.iter().enumerate().filter(|(_, url)| *url != "*") {
            if !url.starts_with('/') {
                let why = "non-resource URL rules must begin with a '/' character";
                errors.push(field::Error::invalid(&urls.index(index), url.as_str(), why));
            }
            if url.find('*').is_some_and(|at| at + 1 != url.len()) {
                let why = "non-resource URL wildcards '*' must be the final character of the rule";
                errors.push(field::Error::invalid(&urls.index(index), url.as_str(), why));
            }
        }
        let resources = path.child("resources");
        for entry in &self.resources {
            if !entry.group.is_empty() && entry.group != "*" {
                let mistakes = ferry_resources::names::dns1123_subdomain(&entry.group, false);
                if !mistakes.is_empty() {
                    let why = mistakes.join(",");
                    errors.push(field::Error::invalid(&resources.child("group"), entry.group.as_str(), why));
                }
            }
            if !entry.resource_names.is_empty() && entry.resources.is_empty() {
                let why = "using resourceNames requires at least one resource";
                let names = entry.resource_names.clone();
                errors.push(field::Error::invalid(&resources.child("resourceNames"), names, why));
            }
        }
        validate_stages(errors, &self.omit_stages, &path.child("omitStages"));
        let names_resources = !self.resources.is_empty() || !self.namespaces.is_empty();
        if names_resources && !self.non_resource_urls.is_empty() {
            let why = "rules cannot apply to both regular resources and non-resource URLs";
            errors.push(field::Error::invalid(&urls, self.non_resource_urls.clone(), why));
        }
    }

    fn matches(&self, info: &RequestInfo, user: Option<&UserInfo>) -> bool {
        let any = |list: &[String], value: &str| list.is_empty() || list.iter().any(|entry| entry == value);
        if !self.users.is_empty() && !user.is_some_and(|user| self.users.contains(&user.name)) {
            return false;
        }
        if !self.user_groups.is_empty()
            && !user.is_some_and(|user| self.user_groups.iter().any(|group| user.in_group(group)))
        {
            return false;
        }
        if !any(&self.verbs, &info.verb) {
            return false;
        }
        if !self.namespaces.is_empty() || !self.resources.is_empty() {
            return info.is_resource
                && any(&self.namespaces, &info.namespace)
                && (self.resources.is_empty() || self.resources.iter().any(|entry| entry.matches(info)));
        }
        if !self.non_resource_urls.is_empty() {
            return !info.is_resource && self.non_resource_urls.iter().any(|url| path_matches(&info.path, url));
        }
        true
    }
}

impl GroupResources {
    fn matches(&self, info: &RequestInfo) -> bool {
        if self.group != info.api_group && self.group != "*" {
            return false;
        }
        if self.resources.is_empty() {
            return true;
        }
        if !self.resource_names.is_empty() && !self.resource_names.contains(&info.name) {
            return false;
        }
        let full = info.resource_and_subresource();
        self.resources.iter().any(|entry| {
            // `pods` is pods alone, `pods/*` also their subresources, `*/scale` everyone's scale.
            entry == "*"
                || *entry == full
                || entry.strip_prefix("*/").is_some_and(|name| name == info.subresource)
                || entry.strip_suffix("/*").is_some_and(|name| name == info.resource)
        })
    }
}

fn path_matches(path: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => path.starts_with(prefix),
        None => path == pattern,
    }
}

fn validate_stages(errors: &mut ErrorList, stages: &[String], path: &Path) {
    for (index, stage) in stages.iter().enumerate() {
        if Stage::parse(stage).is_none() {
            let why = format!("allowed stages are {}", Stage::NAMES.join(","));
            errors.push(field::Error::invalid(&path.index(index), stage.as_str(), why));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Query;
    use http::Method;

    const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [system:kube-proxy]
  verbs: [watch]
  resources: [{group: "", resources: [endpoints, services]}]
- level: None
  userGroups: [system:authenticated]
  nonResourceURLs: ["/api*", /version]
- level: Request
  resources: [{group: "", resources: [configmaps], resourceNames: [watched]}]
  namespaces: [kube-system]
- level: Metadata
  resources: [{group: "", resources: [secrets, "pods/*", "*/scale"]}]
  omitStages: [ResponseStarted]
- level: RequestResponse
  omitManagedFields: true
"#;

    fn level(user: &str, groups: &[&str], method: Method, url: &str) -> Level {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let info = crate::request_info::resolve(&method, path, &Query::parse(query));
        let policy = Policy::parse(POLICY).expect("a good policy");
        policy.evaluate(&info, Some(&UserInfo::authenticated(user, groups))).level
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let of = |url| level("a", &[], Method::GET, url);
        assert_eq!(level("system:kube-proxy", &[], Method::GET, "/api/v1/endpoints?watch=1"), Level::None);
        assert_eq!(level("system:kube-proxy", &[], Method::GET, "/api/v1/endpoints"), Level::RequestResponse);
        assert_eq!(of("/api"), Level::None);
        assert_eq!(of("/versions"), Level::RequestResponse);
        assert_eq!(of("/api/v1/namespaces/kube-system/configmaps/watched"), Level::Request);
        assert_eq!(of("/api/v1/namespaces/kube-system/configmaps/other"), Level::RequestResponse);
        assert_eq!(of("/api/v1/namespaces/a/secrets/s"), Level::Metadata);
        assert_eq!(of("/api/v1/namespaces/a/pods/p/log"), Level::Metadata);
        assert_eq!(of("/api/v1/namespaces/a/pods/p"), Level::Metadata);
        assert_eq!(of("/api/v1/namespaces/a/replicationcontrollers/r/scale"), Level::Metadata);
        assert_eq!(of("/apis/apps/v1/namespaces/a/deployments/r/scale"), Level::RequestResponse);
    }

    #[test]
    fn stages_add_up() {
        let policy = Policy::parse(POLICY).expect("a good policy");
        let info = crate::request_info::resolve(&Method::GET, "/api/v1/secrets", &Query::default());
        let settings = policy.evaluate(&info, None);
        assert_eq!(settings.omit_stages, [Stage::RequestReceived, Stage::ResponseStarted]);
        assert!(!settings.omit_managed_fields);
    }

    #[test]
    fn mistakes_name_their_field() {
        let check = |text: &str, expected: &str| {
            let error = Policy::parse(text).expect_err("a mistake").to_string();
            assert!(error.contains(expected), "{error}");
        };
        let head = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n";
        check(&format!("{head}- level: Everything\n"), "rules[0].level: Unsupported value: \"Everything\"");
        check(&format!("{head}- verbs: [get]\n"), "rules[0].level: Required value");
        check(&format!("{head}- level: None\n  nonResourceURLs: [logs]\n"), "must begin with a '/' character");
        check(
            &format!("{head}- level: None\n  nonResourceURLs: ['/a*b']\n"),
            "must be the final character of the rule",
        );
        check(
            &format!("{head}- level: None\n  nonResourceURLs: [/a]\n  namespaces: [x]\n"),
            "rules[0].nonResourceURLs: Invalid value",
        );
        check(&format!("{head}- level: None\n  omitStages: [Never]\n"), "rules[0].omitStages[0]: Invalid value");
        check(
            &format!("{head}- level: None\n  resources: [{{resourceNames: [a]}}]\n"),
            "using resourceNames requires at least one resource",
        );
        check(&format!("{head}- level: None\n  verb: [get]\n"), "unknown field `verb`");
        check("apiVersion: audit.k8s.io/v2\nkind: Policy\nrules: [{level: None}]\n", "apiVersion: Unsupported value");
    }
}
