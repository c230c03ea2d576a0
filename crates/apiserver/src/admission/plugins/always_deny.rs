//! AlwaysDeny: refuses every write. Off unless asked for; it stands last of all.

use crate::admission::{AdmissionRequest, Plugin};
use async_trait::async_trait;
use ferry_api::status::Status;

pub(crate) struct AlwaysDeny;

#[async_trait]
impl Plugin for AlwaysDeny {
    fn name(&self) -> &'static str {
        "AlwaysDeny"
    }

    fn handles(&self, _: &AdmissionRequest<'_>) -> bool {
        true
    }

    async fn mutate(&self, request: &mut AdmissionRequest<'_>) -> Result<(), Status> {
        self.validate(request).await
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        Err(request.forbidden("admission control is denying all modifications"))
    }
}
