//! CertificateSubjectRestriction: no certificate for clients of the API makes its owner a
//! member of system:masters, whom no authorizer can refuse.

use crate::admission::plugins::certificates::certificate_approval::{GROUP, REQUESTS};
use crate::admission::{AdmissionRequest, Operation, Plugin};
use crate::authn::user::MASTERS;
use async_trait::async_trait;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_resources::certificates::certificate_signing_request::requested_organizations;

const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

pub(crate) struct CertificateSubjectRestriction;

#[async_trait]
impl Plugin for CertificateSubjectRestriction {
    fn name(&self) -> &'static str {
        "CertificateSubjectRestriction"
    }

    fn handles(&self, request: &AdmissionRequest<'_>) -> bool {
        request.operation == Operation::Create && request.is_for(GROUP, REQUESTS) && request.subresource.is_empty()
    }

    async fn validate(&self, request: &AdmissionRequest<'_>) -> Result<(), Status> {
        let Some(asked) = request.object.as_deref() else { return Ok(()) };
        if asked.str_at(&["spec", "signerName"]) != CLIENT_SIGNER {
            return Ok(());
        }
        let organizations =
            requested_organizations(asked).map_err(|why| request.forbidden(&format!("failed to parse CSR: {why}")))?;
        if organizations.iter().any(|organization| organization == MASTERS) {
            let why = format!("use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed");
            return Err(request.forbidden(&why));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::testing::{Case, row};
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use ferry_resources::Scope;
    use serde_json::json;

    fn csr(organization: &str, signer: &str) -> serde_json::Value {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name.push(rcgen::DnType::OrganizationName, organization);
        let key = rcgen::KeyPair::generate().expect("a key");
        let pem = params.serialize_request(&key).expect("a request").pem().expect("PEM");
        json!({"metadata": {"name": "c"}, "spec": {"signerName": signer, "request": BASE64_STANDARD.encode(pem)}})
    }

    #[tokio::test]
    async fn nobody_asks_to_be_a_master() {
        let run = async |organization: &str, signer: &str| {
            let row = row(GROUP, "CertificateSigningRequest", REQUESTS, Scope::Cluster);
            let outcome = Case::create(row, csr(organization, signer)).run(&CertificateSubjectRestriction).await;
            outcome.err().map(|status| status.message)
        };
        assert_eq!(run("developers", CLIENT_SIGNER).await, None);
        assert_eq!(run(MASTERS, "example.com/own").await, None);
        assert_eq!(
            run(MASTERS, CLIENT_SIGNER).await.expect("refused"),
            "certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"
        );
    }
}
