//! CertificateApproval: whoever approves a request may do so for its signer.

use crate::admission::plugins::certificates::signer;
use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::authz::Authorizer;
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;

pub(crate) const GROUP: &str = "certificates.k8s.io";
pub(crate) const REQUESTS: &str = "certificatesigningrequests";

pub(crate) struct CertificateApproval {
    authorizer: Authorizer,
}

impl CertificateApproval {
    pub(crate) fn new(authorizer: Authorizer) -> Self {
        Self { authorizer }
    }
}

#[async_trait]
impl Plugin for CertificateApproval {
    fn name(&self) -> &'static str {
        "CertificateApproval"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Update && request.is_for(GROUP, REQUESTS) && request.subresource == "approval"
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        // The old object's signer: nobody talks their way in by naming another one.
        let name = request.old_object.map(|old| old.str_at(&["spec", "signerName"])).unwrap_or_default();
        if signer::may(&self.authorizer, &request.user, "approve", name).await {
            return Ok(());
        }
        Err(request.forbidden(&format!("user not permitted to approve requests with signerName {name:?}")))
    }
}
