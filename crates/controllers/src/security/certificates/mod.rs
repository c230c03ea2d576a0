//! CertificateSigningRequests: automatic approval, the builtin signers, and the removal of
//! old ones.
//!
//! ```text
//! request.rs   the content of a request, and whether a builtin signer may sign it
//! approver.rs  a kubelet's client certificate, if the kubelet may have one
//! serving.rs   a kubelet's serving certificate, for the addresses of its node alone
//! signer.rs    approved requests to the four builtin signers
//! cleaner.rs   requests that are done with, or were never decided
//! ```

pub(crate) mod approver;
pub(crate) mod cleaner;
mod request;
pub(crate) mod serving;
pub(crate) mod signer;

use crate::error::Result;
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_api::rules::condition;
use ferry_api::view::Base64;
use ferry_api::view::certificates::v1::{
    CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestView,
};
use ferry_client::{Informers, SharedObject};

/// The account whose rights all of them use, as upstream's do.
const IDENTITY: &str = "certificate-controller";

const KUBE_APISERVER_CLIENT: &str = "kubernetes.io/kube-apiserver-client";
const KUBELET_CLIENT: &str = "kubernetes.io/kube-apiserver-client-kubelet";
const KUBELET_SERVING: &str = "kubernetes.io/kubelet-serving";
const LEGACY_UNKNOWN: &str = "kubernetes.io/legacy-unknown";

/// The parts in which the controllers of requests differ.
#[async_trait]
pub trait RequestController: Send + Sync + 'static {
    const NAME: &'static str;
    const WORKERS: usize;

    /// Called for each request that exists, at its changes and when its time has come.
    async fn reconcile_request(
        &self,
        ctx: &Context,
        key: &Key,
        request: &SharedObject<CertificateSigningRequest>,
    ) -> Result<Action>;
}

#[async_trait]
impl<C: RequestController> Controller for C {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn identity(&self) -> &'static str {
        IDENTITY
    }

    fn workers(&self) -> usize {
        C::WORKERS
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(informers.of::<CertificateSigningRequest>())]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        match ctx.informers.of::<CertificateSigningRequest>().get("", &key.name) {
            Some(request) => self.reconcile_request(ctx, key, &request).await,
            None => Ok(Action::Done),
        }
    }
}

fn has_condition(request: CertificateSigningRequestView<'_>, kind: &str) -> bool {
    condition::find(request.status().conditions(), kind).is_some()
}

/// The certificate that was issued.
fn certificate(request: CertificateSigningRequestView<'_>) -> Option<Base64<'_>> {
    Some(request.status().certificate()).filter(|certificate| !certificate.0.is_empty())
}

/// Appends a condition; the server fills in the times.
fn push_condition(request: &mut CertificateSigningRequest, kind: &str, reason: &str, message: &str) {
    let condition = CertificateSigningRequestCondition::new()
        .with_type(kind)
        .with_status("True")
        .with_reason(reason)
        .with_message(message);
    request.edit_status(|status| status.push_conditions(condition));
}

#[cfg(test)]
mod testing {
    use super::*;
    use ferry_api::view::certificates::v1::CertificateSigningRequestSpec;
    use ferry_api::view::meta::v1::ObjectMeta;
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};

    /// The PEM of a request for this subject.
    pub(crate) fn pem(common_name: &str, organization: &str, names: &[SanType]) -> Vec<u8> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::OrganizationName, organization);
        parameters.distinguished_name.push(DnType::CommonName, common_name);
        parameters.subject_alt_names = names.to_vec();
        let key = KeyPair::generate().expect("a key");
        parameters.serialize_request(&key).expect("a request").pem().expect("PEM").into_bytes()
    }

    pub(crate) fn request(signer: &str, usages: &[&str], pem: Vec<u8>) -> CertificateSigningRequest {
        let spec = CertificateSigningRequestSpec::new()
            .with_request(pem)
            .with_signer_name(signer)
            .with_usages(usages.iter().copied())
            .with_username("system:node:a");
        CertificateSigningRequest::new().with_metadata(ObjectMeta::new().with_name("r")).with_spec(spec)
    }
}
