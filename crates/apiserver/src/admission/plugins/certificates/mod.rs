//! The plugins over CertificateSigningRequests and trust bundles.

pub(crate) mod certificate_approval;
pub(crate) mod certificate_signing;
pub(crate) mod certificate_subject;
pub(crate) mod signer;
pub(crate) mod trust_bundle_attest;
