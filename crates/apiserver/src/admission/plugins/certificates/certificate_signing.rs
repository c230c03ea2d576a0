//! CertificateSigning: whoever hands out a certificate, or says why there is none, may do
//! so for its signer.

use crate::admission::plugins::certificates::certificate_approval::{GROUP, REQUESTS};
use crate::admission::plugins::certificates::signer;
use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::authz::Authorizer;
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use serde_json::Value;

pub(crate) struct CertificateSigning {
    authorizer: Authorizer,
}

impl CertificateSigning {
    pub(crate) fn new(authorizer: Authorizer) -> Self {
        Self { authorizer }
    }
}

#[async_trait]
impl Plugin for CertificateSigning {
    fn name(&self) -> &'static str {
        "CertificateSigning"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Update && request.is_for(GROUP, REQUESTS) && request.subresource == "status"
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let null = Value::Null;
        let (old, new) = (request.old_object.unwrap_or(&null), request.object.as_deref().unwrap_or(&null));
        let is_same = old.str_at(&["status", "certificate"]) == new.str_at(&["status", "certificate"])
            && old.items_at(&["status", "conditions"]) == new.items_at(&["status", "conditions"]);
        let name = old.str_at(&["spec", "signerName"]);
        if is_same || signer::may(&self.authorizer, &request.user, "sign", name).await {
            return Ok(());
        }
        Err(request.forbidden(&format!("user not permitted to sign requests with signerName {name:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::plugins::certificates::certificate_approval::CertificateApproval;
    use crate::admission::testing::{Case, row};
    use crate::authn::UserInfo;
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn approval_and_signing_need_the_signer() {
        let objects = Objects::of(&[
            json!({"kind": "ClusterRole", "metadata": {"name": "approver"}, "rules": [
                {"verbs": ["approve"], "apiGroups": [GROUP], "resources": ["signers"], "resourceNames": ["example.com/*"]}]}),
            json!({"kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "subjects": [{"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}],
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "approver"}}),
        ]);
        let authorizer = Authorizer::new(&*objects);
        let (approval, signing) = (CertificateApproval::new(authorizer.clone()), CertificateSigning::new(authorizer));
        let run = async |plugin: &dyn Plugin, subresource: &str, signer: &str, status: Value| {
            let csr =
                |status: Value| json!({"metadata": {"name": "c"}, "spec": {"signerName": signer}, "status": status});
            let case = Case {
                operation: Operation::Update,
                row: row(GROUP, "CertificateSigningRequest", REQUESTS, Scope::Cluster),
                subresource,
                object: Some(csr(status)),
                old: Some(csr(json!({}))),
                user: UserInfo::authenticated("bob", &[]),
            };
            case.run(plugin).await.err().map(|status| status.message)
        };
        let refused =
            |why: &str| Some(format!("certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: {why}"));
        assert_eq!(run(&approval, "approval", "example.com/a", json!({})).await, None);
        assert_eq!(
            run(&approval, "approval", "other.com/a", json!({})).await,
            refused("user not permitted to approve requests with signerName \"other.com/a\"")
        );
        assert_eq!(run(&signing, "status", "example.com/a", json!({})).await, None, "nothing is signed");
        assert_eq!(
            run(&signing, "status", "example.com/a", json!({"certificate": "x"})).await,
            refused("user not permitted to sign requests with signerName \"example.com/a\"")
        );
    }
}
