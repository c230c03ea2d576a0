//! The authorizers in the order in which they are asked. Called by [`Authorizer`] for every
//! request; which authorizers there are comes from the configuration.

use super::config::AuthorizationConfiguration;
use super::rule::PolicyRule;
use super::webhook::{Condition, WebhookAuthorizer};
use super::{Attributes, Authorizer, Decision};
use crate::authn::UserInfo;
use crate::authn::user::{MASTERS, node_name};
use crate::identity_figures::Authorized;
use ferry_api::status::Status;
use ferry_metrics::Counters;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A decision, and what went wrong on the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub decision: Decision,
    /// Why an authorizer could not judge. It matters only where nobody allowed.
    pub error: Option<String>,
}

impl Verdict {
    pub fn is_allowed(&self) -> bool {
        self.decision.is_allowed()
    }

    pub fn counted_as(&self) -> Authorized {
        match (&self.decision, &self.error) {
            (Decision::Allow { .. }, _) => Authorized::Allowed,
            (_, Some(_)) => Authorized::Error,
            (Decision::Deny { .. }, None) => Authorized::Denied,
            (Decision::NoOpinion { .. }, None) => Authorized::NoOpinion,
        }
    }

    /// `Ok` if it is allowed, else the 403. A failure to judge is no refusal: it is told as
    /// an error of the server.
    pub fn into_result(self, attributes: &Attributes<'_>) -> Result<(), Status> {
        match (self.decision, self.error) {
            (Decision::Allow { .. }, _) => Ok(()),
            (_, Some(error)) => {
                let text = format!("Internal Server Error: {:?}: {error}", attributes.path);
                Err(Status::failure(500, "InternalError", text))
            }
            (Decision::Deny { reason } | Decision::NoOpinion { reason }, None) => Err(attributes.forbidden(&reason)),
        }
    }
}

impl From<Decision> for Verdict {
    fn from(decision: Decision) -> Self {
        Self { decision, error: None }
    }
}

/// What one user may do, as far as it can be listed.
#[derive(Default)]
pub(super) struct Rules {
    pub rules: Vec<PolicyRule>,
    pub incomplete: bool,
    pub errors: Vec<&'static str>,
}

enum Judge {
    Node,
    Rbac,
    AlwaysAllow,
    AlwaysDeny,
    Webhook(Box<WebhookAuthorizer>),
}

/// One authorizer, and how often it settled something.
struct Link {
    kind: &'static str,
    name: String,
    judge: Judge,
    decisions: Arc<Decisions>,
}

#[derive(Default)]
struct Decisions {
    allowed: AtomicU64,
    denied: AtomicU64,
}

pub(super) struct Chain {
    links: Vec<Link>,
    has_webhook: bool,
}

impl Default for Chain {
    fn default() -> Self {
        let link = |kind, name: &str, judge| Link { kind, name: name.into(), judge, decisions: Arc::default() };
        Self { links: vec![link("Node", "node", Judge::Node), link("RBAC", "rbac", Judge::Rbac)], has_webhook: false }
    }
}

impl Chain {
    /// The chain that a configuration describes. `before` is the one that it replaces,
    /// whose counts go on.
    pub(super) fn new(
        config: &AuthorizationConfiguration,
        conditions: Vec<Vec<Condition>>,
        before: &Chain,
        counters: &Arc<Counters>,
    ) -> Result<Self, String> {
        let mut links = Vec::new();
        for (authorizer, conditions) in config.authorizers.iter().zip(conditions) {
            let (kind, judge) = match (authorizer.kind.as_str(), &authorizer.webhook) {
                ("Node", _) => ("Node", Judge::Node),
                ("RBAC", _) => ("RBAC", Judge::Rbac),
                ("AlwaysAllow", _) => ("AlwaysAllow", Judge::AlwaysAllow),
                ("AlwaysDeny", _) => ("AlwaysDeny", Judge::AlwaysDeny),
                ("Webhook", Some(webhook)) => {
                    let webhook = WebhookAuthorizer::new(&authorizer.name, webhook, conditions, counters.clone())?;
                    ("Webhook", Judge::Webhook(Box::new(webhook)))
                }
                (other, _) => return Err(format!("unknown authorization mode {other} specified")),
            };
            let known = before.links.iter().find(|link| link.kind == kind && link.name == authorizer.name);
            let decisions = known.map(|link| link.decisions.clone()).unwrap_or_default();
            links.push(Link { kind, name: authorizer.name.clone(), judge, decisions });
        }
        let has_webhook = links.iter().any(|link| matches!(link.judge, Judge::Webhook(_)));
        Ok(Self { links, has_webhook })
    }

    pub(super) fn has_webhook(&self) -> bool {
        self.has_webhook
    }

    /// Asks everyone but webhooks, which count as having no opinion.
    pub(super) fn decide_locally(&self, authorizer: &Authorizer, attributes: &Attributes<'_>) -> Verdict {
        if attributes.user.in_group(MASTERS) {
            return Decision::allow().into();
        }
        let mut gathered = Gathered::default();
        for link in &self.links {
            match link.decide_locally(authorizer, attributes) {
                Decision::NoOpinion { reason } => gathered.add(&reason, None),
                decided => return link.settle(decided.into()),
            }
        }
        gathered.into()
    }

    pub(super) async fn decide(&self, authorizer: &Authorizer, attributes: &Attributes<'_>) -> Verdict {
        if attributes.user.in_group(MASTERS) {
            return Decision::allow().into();
        }
        let mut gathered = Gathered::default();
        for link in &self.links {
            let verdict = match &link.judge {
                Judge::Webhook(webhook) => webhook.decide(attributes).await,
                _ => link.decide_locally(authorizer, attributes).into(),
            };
            match verdict {
                Verdict { decision: Decision::NoOpinion { reason }, error } => gathered.add(&reason, error),
                settled => return link.settle(settled),
            }
        }
        gathered.into()
    }

    /// What the user may do in a namespace, as far as each authorizer can tell.
    pub(super) fn rules_for(&self, authorizer: &Authorizer, user: &UserInfo, namespace: &str) -> Rules {
        let mut out = Rules::default();
        let all = || vec!["*".to_owned()];
        for link in &self.links {
            match &link.judge {
                Judge::Node if node_name(user).is_some() => {
                    out.incomplete = true;
                    out.errors.push("node authorizer does not support user rule resolution");
                }
                Judge::Node | Judge::AlwaysDeny => {}
                Judge::Rbac => out.rules.extend(authorizer.rbac.rules_for(user, namespace)),
                Judge::AlwaysAllow => {
                    let resources =
                        PolicyRule { verbs: all(), api_groups: all(), resources: all(), ..PolicyRule::default() };
                    let urls = PolicyRule { verbs: all(), non_resource_urls: all(), ..PolicyRule::default() };
                    out.rules.extend([resources, urls]);
                }
                Judge::Webhook(_) => {
                    out.incomplete = true;
                    out.errors.push("webhook authorizer does not support user rule resolution");
                }
            }
        }
        out
    }

    pub(super) fn render_metrics(&self, out: &mut String) {
        let name = "apiserver_authorization_decisions_total";
        let help =
            "Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.";
        let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter");
        for link in &self.links {
            let (kind, label) = (link.kind, &link.name);
            for (decision, count) in [("allowed", &link.decisions.allowed), ("denied", &link.decisions.denied)] {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let _ = writeln!(out, "{name}{{decision={decision:?},name={label:?},type={kind:?}}} {count}");
                }
            }
        }
    }
}

impl Link {
    fn decide_locally(&self, authorizer: &Authorizer, attributes: &Attributes<'_>) -> Decision {
        match self.judge {
            Judge::Node => authorizer.nodes.authorize(attributes),
            Judge::Rbac => authorizer.rbac.authorize(attributes),
            Judge::AlwaysAllow => Decision::allow(),
            Judge::AlwaysDeny => Decision::no_opinion("Everything is forbidden."),
            Judge::Webhook(_) => Decision::no_opinion(""),
        }
    }

    fn settle(&self, verdict: Verdict) -> Verdict {
        let count = if verdict.is_allowed() { &self.decisions.allowed } else { &self.decisions.denied };
        count.fetch_add(1, Ordering::Relaxed);
        verdict
    }
}

/// What those said who had no opinion.
#[derive(Default)]
struct Gathered {
    reasons: String,
    errors: Vec<String>,
}

impl Gathered {
    fn add(&mut self, reason: &str, error: Option<String>) {
        if !reason.is_empty() {
            if !self.reasons.is_empty() {
                self.reasons.push('\n');
            }
            self.reasons.push_str(reason);
        }
        self.errors.extend(error);
    }
}

impl From<Gathered> for Verdict {
    fn from(gathered: Gathered) -> Self {
        let error = match gathered.errors.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            many => Some(format!("[{}]", many.join(", "))),
        };
        Self { decision: Decision::NoOpinion { reason: gathered.reasons }, error }
    }
}
