//! OwnerReferencesPermissionEnforcement: who sets an owner could delete the object, and
//! who makes the owner's deletion wait could hold it up by a finalizer as well. Off unless
//! asked for.

use crate::admission::{AdmissionRequest, Operation, Plugin, Wiring};
use crate::authn::UserInfo;
use crate::authz::{Attributes, Authorizer, Decision};
use crate::registry::Rows;
use async_trait::async_trait;
use ferry_api::gvk::GroupVersion;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::Row;
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct OwnerReferencesPermissionEnforcement {
    authorizer: Authorizer,
    rows: Arc<Rows>,
}

impl OwnerReferencesPermissionEnforcement {
    pub(crate) fn new(wiring: &Wiring) -> Self {
        Self { authorizer: wiring.authorizer.clone(), rows: wiring.rows.clone() }
    }

    async fn check(&self, request: &AdmissionRequest<'_>) -> Result<(), String> {
        let new = request.object.as_deref().unwrap_or(&Value::Null);
        let owners = |object: &Value| object.items_at(&["metadata", "ownerReferences"]).to_vec();
        let (before, after) = (request.old_object.map(owners).unwrap_or_default(), owners(new));
        if before == after {
            return Ok(());
        }
        // Who creates an object could have left it alone; only changes need the right.
        if request.operation != Operation::Create {
            let (subresource, namespace, name) = (&request.subresource, &request.namespace, &request.name);
            let decision = self.decide(&request.user, "delete", &request.row, subresource, namespace, name).await;
            if !decision.is_allowed() {
                return Err(format!(
                    "cannot set an ownerRef on a resource you can't delete: {}, <nil>",
                    decision.reason()
                ));
            }
        }
        let blocks = |owner: &Value| owner.bool_at(&["blockOwnerDeletion"]) == Some(true);
        let uid = |owner: &Value| owner.str_at(&["uid"]).to_owned();
        let is_new = |owner: &&Value| !before.iter().any(|old| uid(old) == uid(owner) && blocks(old));
        for owner in after.iter().filter(|owner| blocks(owner)).filter(is_new) {
            let (version, kind) = (owner.str_at(&["apiVersion"]), owner.str_at(&["kind"]));
            let group_version = GroupVersion::parse(version);
            let is_meant = |row: &&Arc<Row>| row.group_version() == group_version && row.kind == kind;
            let found: Vec<Arc<Row>> = self.rows.all().iter().filter(is_meant).cloned().collect();
            if found.is_empty() {
                return Err(format!(
                    "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} Kind {kind}: no matches for kind {kind:?} in version {version:?}"
                ));
            }
            for row in &found {
                // An owner in a namespace is in the object's own.
                let namespace = if row.is_namespaced() { request.namespace.as_str() } else { "" };
                let name = owner.str_at(&["name"]);
                let decision = self.decide(&request.user, "update", row, "finalizers", namespace, name).await;
                if !decision.is_allowed() {
                    return Err(format!(
                        "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: {}, <nil>",
                        decision.reason()
                    ));
                }
            }
        }
        Ok(())
    }

    async fn decide(
        &self,
        user: &UserInfo,
        verb: &str,
        row: &Row,
        subresource: &str,
        namespace: &str,
        name: &str,
    ) -> Decision {
        let resource = Attributes::resource(user, verb, &row.group, &row.version, &row.plural);
        let attributes = Attributes { subresource, namespace, name, ..resource };
        self.authorizer.decide(&attributes).await.decision
    }
}

#[async_trait]
impl Plugin for OwnerReferencesPermissionEnforcement {
    fn name(&self) -> &'static str {
        "OwnerReferencesPermissionEnforcement"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        // A pod's status cannot change its owners, whatever it is sent with.
        matches!(request.operation, Operation::Create | Operation::Update)
            && !(request.is_for("", "pods") && request.subresource == "status")
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        self.check(request).await.map_err(|why| request.forbidden(&why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn owners_need_the_right_to_delete_and_to_hold_up() {
        let rules =
            |verb: &str, resource: &str| json!({"verbs": [verb], "apiGroups": ["", "apps"], "resources": [resource]});
        let objects = Objects::of(&[
            json!({"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [rules("delete", "configmaps"), rules("update", "deployments/finalizers")]}),
            json!({"kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "tester", "apiGroup": "rbac.authorization.k8s.io"}],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}}),
        ]);
        let rows = vec![
            row("apps", "Deployment", "deployments", Scope::Namespaced),
            row("apps", "ReplicaSet", "replicasets", Scope::Namespaced),
        ];
        let plugin = OwnerReferencesPermissionEnforcement {
            authorizer: Authorizer::new(&*objects),
            rows: Arc::new(Rows::new(rows)),
        };
        let run = async |kind: &str, plural: &'static str, owner: &str, blocks: bool, is_update: bool| {
            let object =
                |owners: Value| json!({"metadata": {"name": "o", "namespace": "ns", "ownerReferences": owners}});
            let owners = json!([{"apiVersion": "apps/v1", "kind": owner, "name": "d", "uid": "u", "blockOwnerDeletion": blocks}]);
            let kind = if kind == "Secret" { "Secret" } else { "ConfigMap" };
            let mut case = Case::create(row("", kind, plural, Scope::Namespaced), object(owners));
            if is_update {
                (case.operation, case.old) = (Operation::Update, Some(object(json!([]))));
            }
            case.run(&plugin).await.err().map(|status| status.message)
        };
        assert_eq!(run("ConfigMap", "configmaps", "Deployment", true, true).await, None);
        assert_eq!(run("Secret", "secrets", "Deployment", true, false).await, None, "a create needs no delete");
        let refused = run("Secret", "secrets", "Deployment", false, true).await.expect("refused");
        assert!(refused.contains("cannot set an ownerRef on a resource you can't delete"), "{refused}");
        let refused = run("ConfigMap", "configmaps", "ReplicaSet", true, false).await.expect("refused");
        assert!(refused.contains("a resource you can't set finalizers on"), "{refused}");
        assert_eq!(run("ConfigMap", "configmaps", "ReplicaSet", false, false).await, None);
        let refused = run("ConfigMap", "configmaps", "Thing", true, false).await.expect("refused");
        assert!(
            refused.ends_with("APIVersion apps/v1 Kind Thing: no matches for kind \"Thing\" in version \"apps/v1\""),
            "{refused}"
        );
    }
}
