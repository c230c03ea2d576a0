//! The variable `authorizer`: expressions ask the server's own authorizers, for the user
//! of the request or for a service account.

use crate::authn::UserInfo;
use crate::authn::user::{service_account_groups, service_account_user};
use crate::authz::{Attributes, Authorizer};
use ferry_cel::{Authorize, Decision, Question};

pub(super) struct Host<'s> {
    authorizer: &'s Authorizer,
    user: &'s UserInfo,
}

impl<'s> Host<'s> {
    pub(super) fn new(authorizer: &'s Authorizer, user: &'s UserInfo) -> Self {
        Self { authorizer, user }
    }
}

impl Authorize for Host<'_> {
    fn authorize(&self, question: &Question<'_>) -> Decision {
        // As upstream has it, nobody says of the account that it is authenticated.
        let account = question.service_account.map(|(namespace, name)| UserInfo {
            name: service_account_user(namespace, name),
            groups: service_account_groups(namespace),
            ..UserInfo::default()
        });
        let is_resource = question.path.is_none();
        let decision = self.authorizer.authorize(&Attributes {
            user: account.as_ref().unwrap_or(self.user),
            verb: question.verb,
            api_group: question.group,
            api_version: if is_resource { "*" } else { "" },
            resource: question.resource,
            subresource: question.subresource,
            namespace: question.namespace,
            name: question.name,
            path: question.path.unwrap_or_default(),
            is_resource,
            field_selector: question.field_selector,
            label_selector: question.label_selector,
        });
        Decision { allowed: decision.is_allowed(), reason: decision.reason().to_owned(), error: None }
    }
}
