//! CertificateSigningRequests: who approves them by themselves, who signs them, and when
//! they go.
//!
//! ```text
//! request.rs   what a request asks, and whether that is right for a builtin signer
//! approver.rs  a kubelet's client certificate, if the kubelet may have one
//! signer.rs    approved requests to the four builtin signers
//! cleaner.rs   what is done with, or was never done
//! ```

pub mod approver;
pub mod cleaner;
mod request;
pub mod signer;

use k8s_openapi::api::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestCondition};

/// The account whose rights all three use, as upstream's do.
const IDENTITY: &str = "certificate-controller";

const KUBE_APISERVER_CLIENT: &str = "kubernetes.io/kube-apiserver-client";
const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const KUBELET_SERVING: &str = "kubernetes.io/kubelet-serving";
const LEGACY_UNKNOWN: &str = "kubernetes.io/legacy-unknown";

fn conditions(request: &CertificateSigningRequest) -> &[CertificateSigningRequestCondition] {
    request.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default()
}

fn has_condition(request: &CertificateSigningRequest, kind: &str) -> bool {
    conditions(request).iter().any(|condition| condition.type_ == kind)
}

fn certificate(request: &CertificateSigningRequest) -> Option<&[u8]> {
    let bytes = request.status.as_ref()?.certificate.as_ref()?;
    (!bytes.0.is_empty()).then_some(&bytes.0)
}

fn push_condition(request: &mut CertificateSigningRequest, kind: &str, reason: &str, message: &str) {
    let condition = CertificateSigningRequestCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        // The server fills in the times.
        ..Default::default()
    };
    request.status.get_or_insert_default().conditions.get_or_insert_default().push(condition);
}

#[cfg(test)]
mod testing {
    use super::*;
    use k8s_openapi::ByteString;
    use k8s_openapi::api::certificates::v1::CertificateSigningRequestSpec;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    /// The PEM of a request for this subject.
    pub fn pem(common_name: &str, organization: &str, names: &[SanType]) -> Vec<u8> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::OrganizationName, organization);
        parameters.distinguished_name.push(DnType::CommonName, common_name);
        parameters.subject_alt_names = names.to_vec();
        let key = KeyPair::generate().expect("a key");
        parameters.serialize_request(&key).expect("a request").pem().expect("PEM").into_bytes()
    }

    pub fn request(signer: &str, usages: &[&str], pem: Vec<u8>) -> CertificateSigningRequest {
        CertificateSigningRequest {
            metadata: ObjectMeta { name: Some("r".to_owned()), ..Default::default() },
            spec: CertificateSigningRequestSpec {
                request: ByteString(pem),
                signer_name: signer.to_owned(),
                usages: Some(usages.iter().map(|usage| (*usage).to_owned()).collect()),
                username: Some("system:node:a".to_owned()),
                ..Default::default()
            },
            status: None,
        }
    }
}
