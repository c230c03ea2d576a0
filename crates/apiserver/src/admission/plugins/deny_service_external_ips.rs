//! DenyServiceExternalIPs: nobody takes an address for a Service that the cluster did not
//! give it; those that have one may keep it. Off unless asked for.

use crate::admission::{AdmissionRequest, Operation, Plugin};
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;

pub(crate) struct DenyServiceExternalIps;

#[async_trait]
impl Plugin for DenyServiceExternalIps {
    fn name(&self) -> &'static str {
        "DenyServiceExternalIPs"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        matches!(request.operation, Operation::Create | Operation::Update)
            && request.is_for("", "services")
            && request.subresource.is_empty()
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(new) = request.object.as_deref() else { return Ok(()) };
        let before = request.old_object.map_or(&[][..], |old| old.items_at(&["spec", "externalIPs"]));
        if new.items_at(&["spec", "externalIPs"]).iter().all(|address| before.contains(address)) {
            return Ok(());
        }
        Err(request.forbidden("Use of external IPs is denied by admission control"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use ferry_resources::Scope;
    use serde_json::{Value, json};

    #[tokio::test]
    async fn no_new_external_addresses() {
        let run = async |new: Value, old: Option<Value>| {
            let service = |addresses: Value| json!({"metadata": {"name": "s"}, "spec": {"externalIPs": addresses}});
            let mut case = Case::create(row("", "Service", "services", Scope::Namespaced), service(new));
            if let Some(old) = old {
                (case.operation, case.old) = (Operation::Update, Some(service(old)));
            }
            case.run(&DenyServiceExternalIps).await.is_ok()
        };
        assert!(run(json!([]), None).await);
        assert!(!run(json!(["1.2.3.4"]), None).await);
        assert!(run(json!(["1.2.3.4"]), Some(json!(["1.2.3.4", "1.2.3.5"]))).await);
        assert!(!run(json!(["1.2.3.6"]), Some(json!(["1.2.3.4"]))).await);
    }
}
