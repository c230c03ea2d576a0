//! `create role`, `clusterrole`, `rolebinding`, `clusterrolebinding` and `token`.

use super::Planned;
use crate::error::Result;
use crate::session::Session;
use clap::Args;
use ferry_client::Request;
use serde_json::{Map, Value, json};

/// The flags of a rule.
#[derive(Args, Debug)]
pub(crate) struct RuleFlags {
    /// Verb that applies to the resources contained in the rule
    #[arg(long, value_delimiter = ',')]
    verb: Vec<String>,
    /// Resource that the rule applies to
    #[arg(long, value_delimiter = ',')]
    resource: Vec<String>,
    /// Resource in the white list that the rule applies to
    #[arg(long)]
    resource_name: Vec<String>,
}

impl RuleFlags {
    /// A rule for each API group, as upstream groups them.
    async fn rules(&self, session: &Session) -> Result<Vec<Value>> {
        let discovery = session.discovery().await?;
        let verbs: Vec<&str> = match self.verb.iter().any(|verb| verb == "*") {
            true => vec!["*"],
            false => self.verb.iter().map(|verb| verb.trim()).collect(),
        };
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for text in &self.resource {
            let (word, subresource) = text.split_once('/').map_or((text.as_str(), None), |(w, s)| (w, Some(s)));
            if word.is_empty() {
                return Err("resource must be specified if apiGroup/subresource specified".into());
            }
            let (group, mut resource) = match word {
                "*" => ("*".to_owned(), "*".to_owned()),
                word => {
                    let found = discovery.resolve(word)?;
                    (found.group.clone(), found.plural.clone())
                }
            };
            if let Some(subresource) = subresource {
                resource = format!("{resource}/{subresource}");
            }
            match groups.iter_mut().find(|(own, _)| *own == group) {
                Some((_, resources)) if resources.contains(&resource) => {}
                Some((_, resources)) => resources.push(resource),
                None => groups.push((group, vec![resource])),
            }
        }
        groups.sort();
        let rule = |(group, resources): (String, Vec<String>)| {
            let mut rule = json!({ "verbs": verbs, "apiGroups": [group], "resources": resources });
            if !self.resource_name.is_empty() {
                rule["resourceNames"] = json!(self.resource_name);
            }
            rule
        };
        Ok(groups.into_iter().map(rule).collect())
    }
}

#[derive(Args, Debug)]
pub(crate) struct RoleArgs {
    name: String,
    #[command(flatten)]
    rule: RuleFlags,
}

impl RoleArgs {
    pub(super) async fn plan(&self, session: &Session) -> Result<Planned> {
        if self.rule.verb.is_empty() {
            return Err("at least one verb must be specified".into());
        }
        if self.rule.resource.is_empty() {
            return Err("at least one resource must be specified".into());
        }
        let object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "Role",
            "metadata": { "name": self.name },
            "rules": self.rule.rules(session).await?,
        });
        Ok(Planned { word: "role", object })
    }
}

#[derive(Args, Debug)]
pub(crate) struct ClusterRoleArgs {
    name: String,
    #[command(flatten)]
    rule: RuleFlags,
    /// A partial url that user should have access to
    #[arg(long = "non-resource-url", value_delimiter = ',')]
    non_resource_url: Vec<String>,
    /// An aggregation label selector for combining ClusterRoles
    #[arg(long)]
    aggregation_rule: Option<String>,
}

impl ClusterRoleArgs {
    pub(super) async fn plan(&self, session: &Session) -> Result<Planned> {
        let mut object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": { "name": self.name },
            "rules": [],
        });
        if let Some(text) = &self.aggregation_rule {
            if !self.rule.verb.is_empty() || !self.rule.resource.is_empty() || !self.non_resource_url.is_empty() {
                return Err(
                    "aggregation rule must be specified without nonResourceURLs, resources, verbs or resourceNames"
                        .into(),
                );
            }
            let mut labels = Map::new();
            for pair in text.split(',') {
                let (key, value) = pair
                    .split_once('=')
                    .ok_or_else(|| format!("unexpected aggregation rule {pair}, expected key=value"))?;
                labels.insert(key.to_owned(), value.into());
            }
            object["aggregationRule"] = json!({ "clusterRoleSelectors": [{ "matchLabels": labels }] });
            object["rules"] = Value::Null;
            return Ok(Planned { word: "clusterrole", object });
        }
        if self.rule.verb.is_empty() {
            return Err("at least one verb must be specified".into());
        }
        if self.rule.resource.is_empty() && self.non_resource_url.is_empty() {
            return Err("one of resource or nonResourceURL must be specified".into());
        }
        let mut rules = self.rule.rules(session).await?;
        if !self.non_resource_url.is_empty() {
            rules.push(json!({ "verbs": self.rule.verb, "nonResourceURLs": self.non_resource_url }));
        }
        object["rules"] = rules.into();
        Ok(Planned { word: "clusterrole", object })
    }
}

/// Users, groups and service accounts that a binding names.
#[derive(Args, Debug)]
pub(crate) struct SubjectFlags {
    /// Usernames to bind to the role
    #[arg(long, value_delimiter = ',')]
    user: Vec<String>,
    /// Groups to bind to the role
    #[arg(long, value_delimiter = ',')]
    group: Vec<String>,
    /// Service accounts to bind to the role, in the format <namespace>:<name>
    #[arg(long, value_delimiter = ',')]
    serviceaccount: Vec<String>,
}

impl SubjectFlags {
    fn subjects(&self) -> Result<Vec<Value>> {
        let named =
            |kind: &str, name: &String| json!({ "kind": kind, "apiGroup": "rbac.authorization.k8s.io", "name": name });
        let mut subjects: Vec<Value> = self.user.iter().map(|name| named("User", name)).collect();
        subjects.extend(self.group.iter().map(|name| named("Group", name)));
        for account in &self.serviceaccount {
            let Some((namespace, name)) =
                account.split_once(':').filter(|(ns, name)| !ns.is_empty() && !name.is_empty())
            else {
                return Err("serviceaccount must be <namespace>:<name>".into());
            };
            subjects.push(json!({ "kind": "ServiceAccount", "namespace": namespace, "name": name }));
        }
        Ok(subjects)
    }
}

fn binding(kind: &str, name: &str, role_kind: &str, role: &str, subjects: &SubjectFlags) -> Result<Value> {
    Ok(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": { "name": name },
        "subjects": subjects.subjects()?,
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role },
    }))
}

#[derive(Args, Debug)]
pub(crate) struct RoleBindingArgs {
    name: String,
    /// ClusterRole this RoleBinding should reference
    #[arg(long)]
    clusterrole: Option<String>,
    /// Role this RoleBinding should reference
    #[arg(long)]
    role: Option<String>,
    #[command(flatten)]
    subjects: SubjectFlags,
}

impl RoleBindingArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let (kind, role) = match (&self.clusterrole, &self.role) {
            (Some(role), None) => ("ClusterRole", role),
            (None, Some(role)) => ("Role", role),
            _ => return Err("exactly one of clusterrole or role must be specified".into()),
        };
        Ok(Planned { word: "rolebinding", object: binding("RoleBinding", &self.name, kind, role, &self.subjects)? })
    }
}

#[derive(Args, Debug)]
pub(crate) struct ClusterRoleBindingArgs {
    name: String,
    /// ClusterRole this ClusterRoleBinding should reference
    #[arg(long, required = true)]
    clusterrole: String,
    #[command(flatten)]
    subjects: SubjectFlags,
}

impl ClusterRoleBindingArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let object = binding("ClusterRoleBinding", &self.name, "ClusterRole", &self.clusterrole, &self.subjects)?;
        Ok(Planned { word: "clusterrolebinding", object })
    }
}

#[derive(Args, Debug)]
pub(crate) struct TokenArgs {
    /// The service account
    name: String,
    /// Audience of the requested token
    #[arg(long)]
    audience: Vec<String>,
    /// Requested lifetime of the issued token
    #[arg(long)]
    duration: Option<String>,
    /// Kind of an object to bind the token to: Pod, Secret or Node
    #[arg(long)]
    bound_object_kind: Option<String>,
    /// Name of an object to bind the token to
    #[arg(long)]
    bound_object_name: Option<String>,
    /// UID of an object to bind the token to
    #[arg(long)]
    bound_object_uid: Option<String>,
    #[command(flatten)]
    output: crate::print::OutputFlags,
}

pub(super) async fn token(session: &Session, args: &TokenArgs) -> Result<()> {
    let mut spec = Map::new();
    if !args.audience.is_empty() {
        spec.insert("audiences".into(), json!(args.audience));
    }
    if let Some(text) = &args.duration {
        let duration = ferry_api::rules::duration::parse(text)
            .map_err(|error| format!("invalid argument \"{text}\" for \"--duration\" flag: {error}"))?;
        if duration.is_zero() || duration.subsec_nanos() > 0 {
            return Err("duration must be positive and cannot be expressed in units smaller than seconds".into());
        }
        spec.insert("expirationSeconds".into(), duration.as_secs().into());
    }
    match (&args.bound_object_kind, &args.bound_object_name) {
        (None, None) if args.bound_object_uid.is_some() => {
            return Err("--bound-object-uid can only be set if --bound-object-kind is provided".into());
        }
        (None, None) => {}
        (None, Some(_)) => return Err("--bound-object-name can only be set if --bound-object-kind is provided".into()),
        (Some(_), None) => return Err("--bound-object-name is required if --bound-object-kind is provided".into()),
        (Some(kind), Some(name)) => {
            if !matches!(kind.as_str(), "Pod" | "Secret" | "Node") {
                return Err(format!("supported --bound-object-kind values are Node, Pod, Secret: got {kind}").into());
            }
            spec.insert(
                "boundObjectRef".into(),
                json!({ "apiVersion": "v1", "kind": kind, "name": name, "uid": args.bound_object_uid }),
            );
        }
    }
    let accounts = session.discovery().await?.resolve("serviceaccounts")?.path();
    let body = json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec });
    let request = Request {
        method: http::Method::POST,
        path: accounts.url(session.namespace()?, Some(&args.name), Some("token")),
        body: Some(body.to_string().into_bytes()),
        ..Default::default()
    };
    let answer = session.json(request).await.map_err(|error| super::failed(error, "token"))?;
    match args.output.format()? {
        Some(format) => session.print(&crate::print::Printer::new(format, &args.output).render(&answer)?),
        None => {
            let token = answer.pointer("/status/token").and_then(Value::as_str).unwrap_or_default();
            if token.is_empty() {
                return Err("failed to create token: no token in server response".into());
            }
            session.print(&format!("{token}\n"))
        }
    }
}
