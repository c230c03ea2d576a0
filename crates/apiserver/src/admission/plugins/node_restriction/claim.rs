//! What a kubelet may write of a PersistentVolumeClaim: what it found of its size.

use super::Refusal;
use crate::admission::{AdmissionRequest, Operation};
use ferry_api::object::Meta;
use serde_json::Value;

pub(super) fn check_claim_status(node: &str, request: &AdmissionRequest<'_>) -> Result<(), Refusal> {
    if request.operation != Operation::Update {
        return Err(format!("unexpected operation {:?}", request.operation.as_str()).into());
    }
    let strip = |claim: Option<&Value>| {
        let mut claim = claim.cloned().unwrap_or_default();
        claim.remove_meta("resourceVersion");
        claim.remove_meta("managedFields");
        if let Some(Value::Object(status)) = claim.get_mut("status") {
            for key in ["capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"] {
                status.remove(key);
            }
        }
        claim
    };
    if strip(request.old_object) != strip(request.object.as_deref()) {
        let why =
            format!("node {node:?} is not allowed to update fields other than status.quantity and status.conditions");
        return Err(why.into());
    }
    Ok(())
}
