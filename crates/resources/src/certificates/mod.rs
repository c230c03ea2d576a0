//! The kinds of the group `certificates.k8s.io`.

pub mod certificate_signing_request;
pub mod cluster_trust_bundle;
mod pem;
pub mod pod_certificate_request;
pub mod signer_name;
