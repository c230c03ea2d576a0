//! NamespaceExists: nothing is written to a namespace that is not there, and nothing
//! deleted from it. Off unless asked for, since NamespaceLifecycle says the same of creates.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::gvk::GroupResource;
use ferry_api::status::Status;
use std::sync::Arc;

pub(crate) struct NamespaceExists {
    lookup: Arc<dyn ObjectLookup>,
}

impl NamespaceExists {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }
}

#[async_trait]
impl Plugin for NamespaceExists {
    fn name(&self) -> &'static str {
        "NamespaceExists"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation != Operation::Connect && request.row.is_namespaced()
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let name = request.namespace.as_str();
        match self.lookup.get("", "namespaces", "", name) {
            Some(_) => Ok(()),
            None => Err(Status::not_found(&GroupResource::new("", "namespaces"), name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods};
    use crate::authn::testing::Objects;
    use serde_json::json;

    #[tokio::test]
    async fn a_namespace_must_be_there_even_to_delete_from() {
        let plugin = NamespaceExists::new(Objects::of(&[json!({"kind": "Namespace", "metadata": {"name": "ns"}})]));
        let pod = |namespace: &str| json!({"metadata": {"name": "p", "namespace": namespace}});
        assert!(Case::create(pods(), pod("ns")).run(&plugin).await.is_ok());
        let mut delete = Case::create(pods(), pod("gone"));
        (delete.operation, delete.old, delete.object) = (Operation::Delete, Some(pod("gone")), None);
        let refused = delete.run(&plugin).await.expect_err("no such namespace");
        assert_eq!((refused.code, refused.message.as_str()), (404, "namespaces \"gone\" not found"));
    }
}
