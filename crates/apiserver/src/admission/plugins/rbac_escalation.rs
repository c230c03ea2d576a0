//! The checks of `authz/escalation.rs` on every write of a role or a binding.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::authz::{Authorizer, escalation};
use async_trait::async_trait;
use ferry_api::status::Status;

pub(crate) struct RbacEscalation {
    authorizer: Authorizer,
}

impl RbacEscalation {
    pub(crate) fn new(authorizer: Authorizer) -> Self {
        Self { authorizer }
    }
}

#[async_trait]
impl Plugin for RbacEscalation {
    fn name(&self) -> &'static str {
        "RBACEscalation"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.row.group == "rbac.authorization.k8s.io"
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(object) = request.object.as_deref() else { return Ok(()) };
        let (plural, old) = (request.row.plural.as_ref(), request.old_object);
        let (authorizer, user, namespace) = (&self.authorizer, &request.user, &request.namespace);
        match plural {
            "roles" | "clusterroles" => escalation::check_role(authorizer, user, plural, namespace, object, old).await,
            "rolebindings" | "clusterrolebindings" => {
                escalation::check_binding(authorizer, user, plural, namespace, object, old).await
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use crate::authn::UserInfo;
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn only_masters_bind_what_they_do_not_hold() {
        let plugin = RbacEscalation::new(Authorizer::new(&*Objects::of(&crate::authz::bootstrap::default_objects())));
        let bindings = || row("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", Scope::Cluster);
        let binding = json!({"metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "tester"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}});
        let refused = Case::create(bindings(), binding.clone()).run(&plugin).await.expect_err("not held");
        assert_eq!(refused.code, 403);
        let mut by_admin = Case::create(bindings(), binding);
        by_admin.user = UserInfo::authenticated("admin", &["system:masters"]);
        assert!(by_admin.run(&plugin).await.is_ok());
    }
}
