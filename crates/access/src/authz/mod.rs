//! May the user do this? Called by the chain for every request, by impersonation for every
//! header, and by the access reviews.
//!
//! The order is upstream's: the group system:masters may do anything, then the authorizers
//! that are configured (`chain.rs`), which without a configuration are Node and RBAC. The
//! first that allows or denies wins; what none allows is forbidden, with the reasons they
//! gave. Node and RBAC work on indexes in memory, so that without a webhook the answer is
//! synchronous.

pub mod aggregation;
pub mod bootstrap;
mod chain;
pub mod config;
pub mod escalation;
mod node;
mod rbac;
pub mod review;
mod rule;
pub mod selectors;
mod webhook;

pub use chain::Verdict;
pub use rbac::RbacIndex;
pub use rule::PolicyRule;

use crate::authn::UserInfo;
use arc_swap::ArcSwap;
use chain::Chain;
use config::AuthorizationConfiguration;
use ferry_api::gvk::GroupResource;
use ferry_api::status::Status;
use ferry_cache::lookup::ObjectLookup;
use ferry_metrics::Counters;
use node::NodeAuthorizer;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// What someone wants to do. For a request that names no resource only `user`, `verb`
/// and `path` matter.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    pub user: &'a UserInfo,
    pub verb: &'a str,
    pub api_group: &'a str,
    pub api_version: &'a str,
    pub resource: &'a str,
    pub subresource: &'a str,
    pub namespace: &'a str,
    pub name: &'a str,
    pub path: &'a str,
    pub is_resource: bool,
    /// As the query has them: what the answer of a list is narrowed to. An authorizer may
    /// allow a narrow list that it would not allow whole, as the Node authorizer does.
    pub field_selector: &'a str,
    pub label_selector: &'a str,
}

impl<'a> Attributes<'a> {
    /// The question about all objects of a resource, everywhere; callers narrow it.
    pub fn resource(
        user: &'a UserInfo,
        verb: &'a str,
        api_group: &'a str,
        api_version: &'a str,
        resource: &'a str,
    ) -> Self {
        Self {
            user,
            verb,
            api_group,
            api_version,
            resource,
            subresource: "",
            namespace: "",
            name: "",
            path: "",
            is_resource: true,
            field_selector: "",
            label_selector: "",
        }
    }
}

impl Attributes<'_> {
    /// Why it is forbidden, in upstream's words, with the authorizers' reason if there is one.
    pub fn denial(&self, reason: &str) -> String {
        let (user, verb) = (&self.user.name, self.verb);
        let mut text = if !self.is_resource {
            format!("User {user:?} cannot {verb} path {:?}", self.path)
        } else {
            let resource = match self.subresource {
                "" => self.resource.to_owned(),
                subresource => format!("{}/{subresource}", self.resource),
            };
            let what = format!("User {user:?} cannot {verb} resource {resource:?} in API group {:?}", self.api_group);
            match self.namespace {
                "" => format!("{what} at the cluster scope"),
                namespace => format!("{what} in the namespace {namespace:?}"),
            }
        };
        // The text may be shown by a browser, so nothing in it may look like markup.
        if text.contains(['&', '<', '>']) {
            text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        }
        if reason.is_empty() { text } else { format!("{text}: {reason}") }
    }

    /// The 403 for it.
    pub fn forbidden(&self, reason: &str) -> Status {
        let resource = GroupResource::new(self.api_group.to_owned(), self.resource.to_owned());
        Status::forbidden(&resource, self.name, &self.denial(reason))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow { reason: String },
    Deny { reason: String },
    NoOpinion { reason: String },
}

impl Decision {
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    pub fn reason(&self) -> &str {
        match self {
            Self::Allow { reason } | Self::Deny { reason } | Self::NoOpinion { reason } => reason,
        }
    }

    fn no_opinion(reason: impl Into<String>) -> Self {
        Self::NoOpinion { reason: reason.into() }
    }

    fn allow() -> Self {
        Self::Allow { reason: String::new() }
    }
}

/// The authorizers over indexes that follow the objects.
#[derive(Clone)]
pub struct Authorizer {
    rbac: Arc<RbacIndex>,
    nodes: Arc<NodeAuthorizer>,
    chain: Arc<ArcSwap<Chain>>,
    /// The types of authorizers that the first configuration had and no later one may lose.
    required: Arc<OnceLock<BTreeSet<String>>>,
    counters: Arc<Counters>,
}

impl Authorizer {
    /// Subscribes to roles, bindings and what nodes are related to. Node and RBAC judge
    /// until another chain is set.
    pub fn new(lookup: &dyn ObjectLookup) -> Self {
        Self {
            rbac: RbacIndex::follow(lookup),
            nodes: NodeAuthorizer::follow(lookup),
            chain: Arc::new(ArcSwap::from_pointee(Chain::default())),
            required: Arc::default(),
            counters: Arc::default(),
        }
    }

    /// Asks the authorizers of this AuthorizationConfiguration from now on. What is wrong
    /// with it changes nothing.
    pub fn reload(&self, text: &str) -> Result<(), String> {
        let none = BTreeSet::new();
        let (config, conditions) = AuthorizationConfiguration::load(text, self.required.get().unwrap_or(&none))?;
        let chain = Chain::new(&config, conditions, &self.chain.load(), &self.counters)?;
        self.chain.store(Arc::new(chain));
        self.required.get_or_init(|| config.local_types());
        Ok(())
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn render_metrics(&self, out: &mut String) {
        self.chain.load().render_metrics(out);
        self.counters.render(out);
    }

    /// The verdict for a request. Waits only where a webhook is asked.
    pub async fn decide(&self, attributes: &Attributes<'_>) -> Verdict {
        let chain = self.chain.load();
        if !chain.has_webhook() {
            return chain.decide_locally(self, attributes);
        }
        let chain = Arc::clone(&chain);
        Box::pin(chain.decide(self, attributes)).await
    }

    /// The decision for callers that cannot wait: expressions. A webhook is waited for on
    /// this thread all the same, which only a runtime with several threads can do; on
    /// another it counts as failed.
    pub fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        let chain = self.chain.load();
        if !chain.has_webhook() {
            return chain.decide_locally(self, attributes).decision;
        }
        let chain = Arc::clone(&chain);
        let runtime = tokio::runtime::Handle::try_current().ok();
        match runtime.filter(|r| r.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread) {
            Some(runtime) => tokio::task::block_in_place(|| runtime.block_on(chain.decide(self, attributes))).decision,
            None => chain.decide_locally(self, attributes).decision,
        }
    }

    /// `Ok` if it is allowed, else the 403, or the 500 if an authorizer failed.
    pub async fn check(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        self.decide(attributes).await.into_result(attributes)
    }

    pub fn rbac(&self) -> &RbacIndex {
        &self.rbac
    }
}

#[cfg(test)]
mod tests;
