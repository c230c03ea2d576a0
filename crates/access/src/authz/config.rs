//! AuthorizationConfiguration (apiserver.config.k8s.io): the file that
//! `--authorization-config` names, read and judged after upstream's
//! apiserver/validation/validation.go. Called at the start and whenever the file changes.

use super::webhook::{Condition, compile_condition};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::duration::GoDuration;
use ferry_resources::names::is_dns1123_subdomain;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

const VERSIONS: [&str; 3] =
    ["apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1"];
const TYPES: [&str; 5] = ["AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook"];
const CONDITIONS_MAX: usize = 64;
const TIMEOUT_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthorizationConfiguration {
    #[serde(default)]
    pub api_version: String,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub authorizers: Vec<AuthorizerConfiguration>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AuthorizerConfiguration {
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub webhook: Option<WebhookConfiguration>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookConfiguration {
    #[serde(default = "five_minutes", rename = "authorizedTTL", deserialize_with = "authorized_ttl")]
    pub authorized_ttl: GoDuration,
    #[serde(default = "yes")]
    pub cache_authorized_requests: bool,
    #[serde(default = "half_a_minute", rename = "unauthorizedTTL", deserialize_with = "unauthorized_ttl")]
    pub unauthorized_ttl: GoDuration,
    #[serde(default = "yes")]
    pub cache_unauthorized_requests: bool,
    #[serde(default)]
    pub timeout: GoDuration,
    #[serde(default)]
    pub subject_access_review_version: String,
    #[serde(default)]
    pub match_condition_subject_access_review_version: String,
    #[serde(default)]
    pub failure_policy: String,
    #[serde(default)]
    pub connection_info: ConnectionInfo,
    #[serde(default)]
    pub match_conditions: Vec<MatchCondition>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectionInfo {
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub kube_config_file: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MatchCondition {
    #[serde(default)]
    pub expression: String,
}

fn yes() -> bool {
    true
}

fn five_minutes() -> GoDuration {
    GoDuration(300_000_000_000)
}

fn half_a_minute() -> GoDuration {
    GoDuration(30_000_000_000)
}

/// Zero means that nothing was said.
fn authorized_ttl<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GoDuration, D::Error> {
    GoDuration::deserialize(deserializer).map(|span| if span.0 == 0 { five_minutes() } else { span })
}

fn unauthorized_ttl<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GoDuration, D::Error> {
    GoDuration::deserialize(deserializer).map(|span| if span.0 == 0 { half_a_minute() } else { span })
}

impl AuthorizationConfiguration {
    /// Reads YAML or JSON and judges it. With the compiled conditions of each authorizer.
    /// `required` are the types that must stay: a server that began with RBAC is not to
    /// lose it by a slip in a file.
    pub fn load(text: &str, required: &BTreeSet<String>) -> Result<(Self, Vec<Vec<Condition>>), String> {
        let config: Self = serde_yaml_ng::from_str(text)
            .map_err(|e| format!("failed to load AuthorizationConfiguration from file: {e}"))?;
        if !VERSIONS.contains(&config.api_version.as_str()) || config.kind != "AuthorizationConfiguration" {
            return Err(format!(
                "failed to load AuthorizationConfiguration from file: no kind {:?} is registered for version {:?}",
                config.kind, config.api_version
            ));
        }
        let conditions = validate(&config).map_err(|errors| {
            let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
            if texts.len() == 1 { texts[0].clone() } else { format!("[{}]", texts.join(", ")) }
        })?;
        let mut problems = Vec::new();
        for authorizer in config.authorizers.iter().filter(|authorizer| authorizer.kind != "Webhook") {
            let expected = authorizer.kind.to_lowercase();
            if expected != authorizer.name {
                let (kind, name) = (&authorizer.kind, &authorizer.name);
                problems.push(format!("expected name {expected} for authorizer {kind} instead of {name}"));
            }
        }
        let present = config.local_types();
        let missing: Vec<&str> = required.difference(&present).map(String::as_str).collect();
        if !missing.is_empty() {
            problems.push(format!("missing required types: [{}]", missing.join(" ")));
        }
        match problems.as_slice() {
            [] => Ok((config, conditions)),
            [one] => Err(one.clone()),
            many => Err(format!("[{}]", many.join(", "))),
        }
    }

    /// The types of all authorizers but webhooks.
    pub fn local_types(&self) -> BTreeSet<String> {
        self.authorizers.iter().map(|a| a.kind.clone()).filter(|kind| kind != "Webhook").collect()
    }
}

fn validate(config: &AuthorizationConfiguration) -> Result<Vec<Vec<Condition>>, ErrorList> {
    let root = Path::new("authorizers");
    let mut errors = ErrorList::new();
    let mut conditions = Vec::new();
    if config.authorizers.is_empty() {
        errors.push(Error::required(&root, "at least one authorization mode must be defined"));
    }
    let (mut types, mut names) = (BTreeSet::new(), BTreeSet::new());
    for (index, authorizer) in config.authorizers.iter().enumerate() {
        let path = root.index(index);
        let kind = authorizer.kind.as_str();
        let is_webhook = kind == "Webhook";
        conditions.push(Vec::new());
        if kind.is_empty() {
            errors.push(Error::required(&path.child("type"), ""));
            continue;
        }
        if !TYPES.contains(&kind) {
            errors.push(Error::not_supported(&path.child("type"), kind, &TYPES));
            continue;
        }
        if !types.insert(kind) && !is_webhook {
            errors.push(Error::duplicate(&path.child("type"), kind));
            continue;
        }
        let (name, name_path) = (authorizer.name.as_str(), path.child("name"));
        let mistakes = is_dns1123_subdomain(name);
        if name.is_empty() {
            errors.push(Error::required(&name_path, ""));
        } else if names.contains(name) {
            errors.push(Error::duplicate(&name_path, name));
        } else if !mistakes.is_empty() {
            let detail = format!("authorizer name is invalid: {}", mistakes.join(", "));
            errors.push(Error::invalid(&name_path, name, detail));
        }
        names.insert(name);
        match &authorizer.webhook {
            None if is_webhook => errors.push(Error::required(&path.child("webhook"), "required when type=Webhook")),
            None => {}
            Some(webhook) if is_webhook => conditions[index] = validate_webhook(webhook, &path, &mut errors),
            Some(_) => errors.push(Error::invalid(
                &path.child("webhook"),
                "non-null",
                "may only be specified when type=Webhook",
            )),
        }
    }
    if errors.is_empty() { Ok(conditions) } else { Err(errors) }
}

fn validate_webhook(webhook: &WebhookConfiguration, path: &Path, errors: &mut ErrorList) -> Vec<Condition> {
    let shown = |span: GoDuration| {
        let sign = if span.0 < 0 { "-" } else { "" };
        format!("{sign}{:?}", Duration::from_nanos(span.0.unsigned_abs()))
    };
    if webhook.timeout.0 == 0 {
        errors.push(Error::required(&path.child("timeout"), ""));
    } else if webhook.timeout.0 < 0 || webhook.timeout.duration() > TIMEOUT_MAX {
        errors.push(Error::invalid(&path.child("timeout"), shown(webhook.timeout), "must be > 0s and <= 30s"));
    }
    for (name, ttl) in [("authorizedTTL", webhook.authorized_ttl), ("unauthorizedTTL", webhook.unauthorized_ttl)] {
        if ttl.0 < 0 {
            errors.push(Error::invalid(&path.child(name), shown(ttl), "must be > 0s"));
        }
    }
    let mut one_of = |name: &str, value: &str, allowed: &[&str]| match value {
        "" => errors.push(Error::required(&path.child(name), "")),
        value if allowed.contains(&value) => {}
        value => errors.push(Error::not_supported(&path.child(name), value, allowed)),
    };
    one_of("subjectAccessReviewVersion", &webhook.subject_access_review_version, &["v1", "v1beta1"]);
    let version = webhook.match_condition_subject_access_review_version.as_str();
    if !version.is_empty() {
        one_of("matchConditionSubjectAccessReviewVersion", version, &["v1"]);
    }
    one_of("failurePolicy", &webhook.failure_policy, &["NoOpinion", "Deny"]);
    if version.is_empty() && !webhook.match_conditions.is_empty() {
        let path = path.child("matchConditionSubjectAccessReviewVersion");
        errors.push(Error::required(&path, "required if match conditions are specified"));
    }
    validate_connection(&webhook.connection_info, &path.child("connectionInfo"), errors);
    validate_conditions(&webhook.match_conditions, &path.child("matchConditions"), errors)
}

fn validate_connection(connection: &ConnectionInfo, path: &Path, errors: &mut ErrorList) {
    let file = connection.kube_config_file.as_deref();
    let file_path = path.child("kubeConfigFile");
    match connection.kind.as_str() {
        "" => errors.push(Error::required(&path.child("type"), "")),
        "InClusterConfig" => match file {
            Some(file) => errors.push(Error::invalid(&file_path, file, "can only be set when type=KubeConfigFile")),
            // The API server would ask itself whether it may answer.
            None => errors.push(Error::invalid(
                &path.child("type"),
                "InClusterConfig",
                "the API server cannot be its own authorization webhook; use KubeConfigFile",
            )),
        },
        "KubeConfigFile" => match file.unwrap_or_default() {
            "" => errors.push(Error::required(&file_path, "")),
            file if !file.starts_with('/') => errors.push(Error::invalid(&file_path, file, "must be an absolute path")),
            file => match std::fs::metadata(file) {
                Err(error) => {
                    errors.push(Error::invalid(&file_path, file, format!("error loading file: {error}")));
                }
                Ok(found) if !found.is_file() => {
                    errors.push(Error::invalid(&file_path, file, "must be a regular file"));
                }
                Ok(_) => {}
            },
        },
        other => {
            let shown = json!({"type": other, "kubeConfigFile": file});
            errors.push(Error::not_supported(&path.child("type"), shown, &["InClusterConfig", "KubeConfigFile"]));
        }
    }
}

fn validate_conditions(conditions: &[MatchCondition], path: &Path, errors: &mut ErrorList) -> Vec<Condition> {
    if conditions.len() > CONDITIONS_MAX {
        errors.push(Error::too_many(path, conditions.len(), CONDITIONS_MAX));
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut compiled = Vec::new();
    for (index, condition) in conditions.iter().enumerate() {
        let path = path.index(index).child("expression");
        let expression = condition.expression.as_str();
        if expression.trim().is_empty() {
            errors.push(Error::required(&path, ""));
        } else if !seen.insert(expression) {
            errors.push(Error::duplicate(&path, expression));
        } else {
            match compile_condition(expression) {
                Ok(condition) => compiled.push(condition),
                Err(why) => errors.push(Error::invalid(&path, expression, why)),
            }
        }
    }
    compiled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(authorizers: &str, required: &[&str]) -> Result<AuthorizationConfiguration, String> {
        let text = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: {authorizers}"
        );
        let required = required.iter().map(|kind| (*kind).to_owned()).collect();
        AuthorizationConfiguration::load(&text, &required).map(|(config, _)| config)
    }

    #[test]
    fn types_and_names_are_judged() {
        let check =
            |authorizers: &str, expected: &str| assert_eq!(load(authorizers, &[]).err().as_deref(), Some(expected));
        assert!(load("[{type: Node, name: node}, {type: RBAC, name: rbac}]", &["RBAC"]).is_ok());
        check("[]", "authorizers: Required value: at least one authorization mode must be defined");
        check("[{name: x}]", "authorizers[0].type: Required value");
        check(
            "[{type: ABAC, name: abac}]",
            "authorizers[0].type: Unsupported value: \"ABAC\": supported values: \"AlwaysAllow\", \"AlwaysDeny\", \"Node\", \"RBAC\", \"Webhook\"",
        );
        check(
            "[{type: RBAC, name: rbac}, {type: RBAC, name: other}]",
            "authorizers[1].type: Duplicate value: \"RBAC\"",
        );
        check("[{type: RBAC, name: mine}]", "expected name rbac for authorizer RBAC instead of mine");
        check("[{type: Webhook, name: w}]", "authorizers[0].webhook: Required value: required when type=Webhook");
        assert_eq!(
            load("[{type: AlwaysDeny, name: alwaysdeny}]", &["RBAC"]).err().as_deref(),
            Some("missing required types: [RBAC]")
        );
        assert!(load("[{type: RBAC, name: rbac, colour: red}]", &[]).expect_err("unknown").contains("colour"));
    }

    #[test]
    fn webhooks_are_judged_and_defaulted() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("kubeconfig");
        std::fs::write(&file, "").expect("written");
        let webhook = |changes: &str| {
            format!("[{{type: Webhook, name: w, webhook: {{subjectAccessReviewVersion: v1, {changes}}}}}]")
        };
        let connection = format!("connectionInfo: {{type: KubeConfigFile, kubeConfigFile: {}}}", file.display());
        let config = load(&webhook(&format!("timeout: 3s, failurePolicy: Deny, {connection}")), &[]).expect("valid");
        let read = config.authorizers[0].webhook.as_ref().expect("a webhook");
        assert_eq!(read.authorized_ttl.duration(), Duration::from_secs(300));
        assert_eq!(read.unauthorized_ttl.duration(), Duration::from_secs(30));
        assert!(read.cache_authorized_requests && read.cache_unauthorized_requests);
        let check = |changes: &str, expected: &str| {
            assert_eq!(load(&webhook(changes), &[]).err().as_deref(), Some(expected), "{changes}");
        };
        check(
            "",
            "[authorizers[0].timeout: Required value, authorizers[0].failurePolicy: Required value, authorizers[0].connectionInfo.type: Required value]",
        );
        check(
            &format!("timeout: 31s, failurePolicy: Maybe, {connection}"),
            "[authorizers[0].timeout: Invalid value: \"31s\": must be > 0s and <= 30s, authorizers[0].failurePolicy: Unsupported value: \"Maybe\": supported values: \"NoOpinion\", \"Deny\"]",
        );
        check(
            "timeout: 3s, failurePolicy: Deny, connectionInfo: {type: KubeConfigFile, kubeConfigFile: here}",
            "authorizers[0].connectionInfo.kubeConfigFile: Invalid value: \"here\": must be an absolute path",
        );
        let conditions = |expression: &str| {
            format!(
                "timeout: 3s, failurePolicy: Deny, {connection}, matchConditionSubjectAccessReviewVersion: v1, matchConditions: [{{expression: '{expression}'}}]"
            )
        };
        assert!(load(&webhook(&conditions("has(request.resourceAttributes)")), &[]).is_ok());
        check(
            &conditions("request.user"),
            "authorizers[0].matchConditions[0].expression: Invalid value: \"request.user\": must evaluate to bool but got string",
        );
    }
}
