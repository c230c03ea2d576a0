//! ClusterTrustBundleAttest: whoever writes a signer's trust bundle may attest for it.

use crate::admission::plugins::certificates::signer;
use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::authz::Authorizer;
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use serde_json::Value;

const GROUP: &str = "certificates.k8s.io";

pub(crate) struct ClusterTrustBundleAttest {
    authorizer: Authorizer,
}

impl ClusterTrustBundleAttest {
    pub(crate) fn new(authorizer: Authorizer) -> Self {
        Self { authorizer }
    }
}

#[async_trait]
impl Plugin for ClusterTrustBundleAttest {
    fn name(&self) -> &'static str {
        "ClusterTrustBundleAttest"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.is_for(GROUP, "clustertrustbundles")
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let new = request.object.as_deref().unwrap_or(&Value::Null);
        let name = new.str_at(&["spec", "signerName"]);
        // The collector of garbage and a storage migration change nothing that matters.
        let is_same = request.old_object.is_some_and(|old| stripped(old) == stripped(new));
        if name.is_empty() || is_same || signer::may(&self.authorizer, &request.user, "attest", name).await {
            return Ok(());
        }
        Err(request.forbidden(&format!("user not permitted to attest for signerName {name:?}")))
    }
}

/// The object without what the garbage collector and every write change.
fn stripped(object: &Value) -> Value {
    let mut object = object.clone();
    for key in ["ownerReferences", "finalizers", "managedFields", "resourceVersion"] {
        object.remove_meta(key);
    }
    object
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
    async fn a_bundle_of_a_signer_needs_the_signer() {
        let plugin = ClusterTrustBundleAttest::new(Authorizer::new(&*Objects::of(&[])));
        let bundles = || row(GROUP, "ClusterTrustBundle", "clustertrustbundles", Scope::Cluster);
        let bundle =
            |signer: &str| json!({"metadata": {"name": "b"}, "spec": {"signerName": signer, "trustBundle": "x"}});
        assert!(Case::create(bundles(), bundle("")).run(&plugin).await.is_ok());
        let refused = Case::create(bundles(), bundle("example.com/a")).run(&plugin).await.expect_err("may not attest");
        assert!(refused.message.ends_with("user not permitted to attest for signerName \"example.com/a\""));
        let mut collected = Case::create(bundles(), bundle("example.com/a"));
        let mut old = bundle("example.com/a");
        old.set_meta("finalizers", json!(["x"]));
        (collected.operation, collected.old) = (Operation::Update, Some(old));
        assert!(collected.run(&plugin).await.is_ok());
        let mut by_admin = Case::create(bundles(), bundle("example.com/a"));
        by_admin.user = UserInfo::authenticated("admin", &["system:masters"]);
        assert!(by_admin.run(&plugin).await.is_ok());
    }
}
