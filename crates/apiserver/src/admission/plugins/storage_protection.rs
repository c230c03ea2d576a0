//! StorageObjectInUseProtection: claims, volumes and attribute classes get a finalizer, so
//! that one that is in use stays until nobody uses it. The protection controllers take it
//! away again.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;

pub(crate) struct StorageObjectInUseProtection;

fn finalizer(request: &AdmissionRequest<'_>) -> Option<&'static str> {
    match (request.row.group.as_ref(), request.row.plural.as_ref()) {
        ("", "persistentvolumes") => Some("kubernetes.io/pv-protection"),
        ("", "persistentvolumeclaims") => Some("kubernetes.io/pvc-protection"),
        ("storage.k8s.io", "volumeattributesclasses") => Some("kubernetes.io/vac-protection"),
        _ => None,
    }
}

#[async_trait]
impl Plugin for StorageObjectInUseProtection {
    fn name(&self) -> &'static str {
        "StorageObjectInUseProtection"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create && request.subresource.is_empty() && finalizer(request).is_some()
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(finalizer) = finalizer(request) else { return Ok(()) };
        let Some(object) = request.object.as_deref_mut() else { return Ok(()) };
        let mut finalizers: Vec<String> = object.finalizers().into_iter().map(str::to_owned).collect();
        if !finalizers.iter().any(|has| has == finalizer) {
            finalizers.push(finalizer.to_owned());
            object.set_meta("finalizers", finalizers);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, pods, row};
    use ferry_resources::Scope;
    use serde_json::json;

    #[tokio::test]
    async fn storage_is_protected_once() {
        let claims = || row("", "PersistentVolumeClaim", "persistentvolumeclaims", Scope::Namespaced);
        let claim = json!({"metadata": {"name": "c", "finalizers": ["mine"]}});
        let claim = Case::create(claims(), claim).run(&StorageObjectInUseProtection).await.expect("admitted");
        assert_eq!(claim.finalizers(), ["mine", "kubernetes.io/pvc-protection"]);
        let again = Case::create(claims(), claim.clone()).run(&StorageObjectInUseProtection).await.expect("admitted");
        assert_eq!(again, claim);
        let pod = Case::create(pods(), json!({"metadata": {"name": "p"}})).run(&StorageObjectInUseProtection).await;
        assert!(pod.expect("admitted").finalizers().is_empty());
    }
}
