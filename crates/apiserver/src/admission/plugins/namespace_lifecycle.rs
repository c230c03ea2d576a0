//! NamespaceLifecycle: nothing is made in a namespace that is not there or is on its way
//! out, and the cluster's own namespaces stay.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::{Cause, Status};
use std::sync::Arc;

const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

pub(crate) struct NamespaceLifecycle {
    lookup: Arc<dyn ObjectLookup>,
}

impl NamespaceLifecycle {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }
}

#[async_trait]
impl Plugin for NamespaceLifecycle {
    fn name(&self) -> &'static str {
        "NamespaceLifecycle"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        match request.operation {
            Operation::Delete => request.is_for("", "namespaces"),
            // A review answers nothing about whether the namespace exists.
            Operation::Create | Operation::Update => {
                request.row.is_namespaced() && !request.is_for("authorization.k8s.io", "localsubjectaccessreviews")
            }
            Operation::Connect => false,
        }
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        if request.operation == Operation::Delete {
            if request.subresource.is_empty() && IMMORTAL.contains(&request.name.as_str()) {
                return Err(request.forbidden("this namespace may not be deleted"));
            }
            return Ok(());
        }
        let name = request.namespace.as_str();
        let Some(namespace) = self.lookup.get("", "namespaces", "", name) else {
            return Err(Status::not_found(&GroupResource::new("", "namespaces"), name));
        };
        if request.operation != Operation::Create {
            return Ok(());
        }
        let is_terminating = match namespace.field("status.phase") {
            Some(phase) => phase == "Terminating",
            None => namespace.value().str_at(&["status", "phase"]) == "Terminating",
        };
        if !is_terminating {
            return Ok(());
        }
        let why = format!("unable to create new content in namespace {name} because it is being terminated");
        let mut status = request.forbidden(&why);
        if let Some(details) = &mut status.details {
            details.causes.push(Cause {
                reason: "NamespaceTerminating".into(),
                message: format!("namespace {name} is being terminated"),
                field: "metadata.namespace".into(),
            });
        }
        Err(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods, row};
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn namespaces_must_be_there_and_stay() {
        let plugin = NamespaceLifecycle::new(Objects::of(&[
            json!({"kind": "Namespace", "metadata": {"name": "live"}, "status": {"phase": "Active"}}),
            json!({"kind": "Namespace", "metadata": {"name": "going"}, "status": {"phase": "Terminating"}}),
        ]));
        let pod = |namespace: &str| json!({"metadata": {"name": "p", "namespace": namespace}});
        assert!(Case::create(pods(), pod("live")).run(&plugin).await.is_ok());
        let status = Case::create(pods(), pod("x")).run(&plugin).await.expect_err("absent");
        assert_eq!((status.code, status.message.as_str()), (404, "namespaces \"x\" not found"));
        let status = Case::create(pods(), pod("going")).run(&plugin).await.expect_err("going");
        assert_eq!(
            (status.code, status.message.as_str()),
            (
                403,
                "pods \"p\" is forbidden: unable to create new content in namespace going because it is being terminated"
            )
        );
        assert_eq!(status.details.expect("details").causes[0].reason, "NamespaceTerminating");
        let mut update = Case::create(pods(), pod("going"));
        update.operation = Operation::Update;
        assert!(update.run(&plugin).await.is_ok(), "what is there may still change");

        let namespaces = || row("", "Namespace", "namespaces", Scope::Cluster);
        for (name, allowed) in [("default", false), ("kube-system", false), ("kube-public", false), ("mine", true)] {
            let mut delete = Case::create(namespaces(), json!(null));
            (delete.operation, delete.object) = (Operation::Delete, None);
            delete.old = Some(json!({"metadata": {"name": name}}));
            let outcome = delete.run(&plugin).await.map_err(|status| status.message);
            let refused = Err(format!("namespaces {name:?} is forbidden: this namespace may not be deleted"));
            assert_eq!(outcome, if allowed { Ok(json!(null)) } else { refused });
        }
        assert!(Case::create(namespaces(), json!({"metadata": {"name": "new"}})).run(&plugin).await.is_ok());
    }
}
