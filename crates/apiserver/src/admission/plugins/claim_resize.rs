//! PersistentVolumeClaimResize: a claim grows only when it is bound and its class allows
//! that.

use crate::admission::plugins::default_storage_class::CLASS_ANNOTATION;
use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::registry::lookup::ObjectLookup;
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::quantity::{Quantity, from_value};
use ferry_api::status::Status;
use serde_json::Value;
use std::sync::Arc;

pub(crate) struct PersistentVolumeClaimResize {
    lookup: Arc<dyn ObjectLookup>,
}

impl PersistentVolumeClaimResize {
    pub(crate) fn new(lookup: Arc<dyn ObjectLookup>) -> Self {
        Self { lookup }
    }

    fn allows(&self, new: &Value, old: &Value) -> bool {
        let (class, before) = (class_of(new), class_of(old));
        if class.is_empty() || class != before {
            return false;
        }
        let class = self.lookup.get("storage.k8s.io", "storageclasses", "", class);
        class.is_some_and(|class| class.value().bool_at(&["allowVolumeExpansion"]) == Some(true))
    }
}

#[async_trait]
impl Plugin for PersistentVolumeClaimResize {
    fn name(&self) -> &'static str {
        "PersistentVolumeClaimResize"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Update
            && request.is_for("", "persistentvolumeclaims")
            && request.subresource.is_empty()
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let (Some(new), Some(old)) = (request.object.as_deref(), request.old_object) else { return Ok(()) };
        if size_of(new) <= size_of(old) {
            return Ok(());
        }
        if old.str_at(&["status", "phase"]) != "Bound" {
            return Err(request.forbidden("Only bound persistent volume claims can be expanded"));
        }
        if !self.allows(new, old) {
            return Err(request.forbidden(
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
            ));
        }
        Ok(())
    }
}

fn class_of(claim: &Value) -> &str {
    claim.annotation(CLASS_ANNOTATION).unwrap_or_else(|| claim.str_at(&["spec", "storageClassName"]))
}

fn size_of(claim: &Value) -> Quantity {
    claim.at(&["spec", "resources", "requests", "storage"]).and_then(from_value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use crate::authn::testing::Objects;
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn a_claim_grows_when_it_may() {
        let class = |name: &str, allow: bool| json!({"kind": "StorageClass", "metadata": {"name": name}, "allowVolumeExpansion": allow});
        let plugin = PersistentVolumeClaimResize::new(Objects::of(&[class("grows", true), class("stays", false)]));
        let claim = |class: &str, phase: &str, size: &str| {
            json!({"metadata": {"name": "c", "namespace": "ns"}, "status": {"phase": phase},
                "spec": {"storageClassName": class, "resources": {"requests": {"storage": size}}}})
        };
        let run = async |class: &str, phase: &str, size: &str| {
            let row = row("", "PersistentVolumeClaim", "persistentvolumeclaims", Scope::Namespaced);
            let mut case = Case::create(row, claim(class, phase, size));
            case.operation = Operation::Update;
            case.old = Some(claim(class, phase, "2Gi"));
            case.run(&plugin).await.err().map(|status| status.message)
        };
        assert_eq!(run("grows", "Bound", "3Gi").await, None);
        assert_eq!(run("stays", "Pending", "2Gi").await, None);
        let refused = |why: &str| Some(format!("persistentvolumeclaims \"c\" is forbidden: {why}"));
        assert_eq!(
            run("grows", "Pending", "3Gi").await,
            refused("Only bound persistent volume claims can be expanded")
        );
        assert_eq!(
            run("stays", "Bound", "3Gi").await,
            refused(
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
            )
        );
    }
}
