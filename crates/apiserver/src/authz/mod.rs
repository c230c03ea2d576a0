//! May the user do this? Called by the chain for every request, by impersonation for every
//! header, and by the access reviews.
//!
//! The order is upstream's: the group system:masters may do anything, then the Node
//! authorizer judges kubelets, then RBAC. The first that allows wins; what none allows is
//! forbidden, with the reasons they gave. All of it works on indexes in memory, so the
//! answer is synchronous.

pub mod aggregation;
pub mod bootstrap;
pub mod escalation;
mod node;
mod rbac;
pub mod review;
mod rule;

pub use rbac::RbacIndex;
pub use rule::PolicyRule;

use crate::authn::UserInfo;
use crate::authn::user::MASTERS;
use crate::registry::lookup::ObjectLookup;
use ferry_api::gvk::GroupResource;
use ferry_api::status::Status;
use node::NodeAuthorizer;
use std::sync::Arc;

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
    /// As the query has it; the Node authorizer lets a kubelet list the pods of its node.
    pub field_selector: &'a str,
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

/// The chain of authorizers over indexes that follow the objects.
#[derive(Clone)]
pub struct Authorizer {
    rbac: Arc<RbacIndex>,
    nodes: Arc<NodeAuthorizer>,
}

impl Authorizer {
    /// Subscribes to roles, bindings, pods, volumes and attachments.
    pub fn new(lookup: &dyn ObjectLookup) -> Self {
        Self { rbac: RbacIndex::follow(lookup), nodes: NodeAuthorizer::follow(lookup) }
    }

    pub fn authorize(&self, attributes: &Attributes<'_>) -> Decision {
        if attributes.user.in_group(MASTERS) {
            return Decision::allow();
        }
        let node_reason = match self.nodes.authorize(attributes) {
            Decision::NoOpinion { reason } => reason,
            decided => return decided,
        };
        match self.rbac.authorize(attributes) {
            Decision::NoOpinion { reason } => {
                let separator = if node_reason.is_empty() || reason.is_empty() { "" } else { "\n" };
                Decision::NoOpinion { reason: format!("{node_reason}{separator}{reason}") }
            }
            decided => decided,
        }
    }

    /// `Ok` if it is allowed, else the 403.
    pub fn check(&self, attributes: &Attributes<'_>) -> Result<(), Status> {
        match self.authorize(attributes) {
            Decision::Allow { .. } => Ok(()),
            Decision::Deny { reason } | Decision::NoOpinion { reason } => Err(attributes.forbidden(&reason)),
        }
    }

    pub fn rbac(&self) -> &RbacIndex {
        &self.rbac
    }
}

#[cfg(test)]
mod tests;
