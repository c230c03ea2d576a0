//! Signs approved requests to the builtin signers with the cluster's authority. A request
//! that a signer must not sign gets the condition Failed with the reason.

use super::request::Asked;
use super::{RequestController, certificate, has_condition, push_condition};
use crate::error::{During, Error, Result};
use crate::runner::{Action, Context, Key};
use async_trait::async_trait;
use ferry_api::view::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestView};
use ferry_client::SharedObject;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// One certificate that the authority is asked for.
pub struct SigningOrder<'a> {
    pub request_pem: &'a [u8],
    pub usages: &'a [String],
    pub lifetime: Duration,
    pub now: Timestamp,
}

/// The cluster's authority: a certificate in PEM, or why there is none.
pub type CertificateSigner = Arc<dyn Fn(&SigningOrder<'_>) -> std::result::Result<String, String> + Send + Sync>;

pub(crate) struct SigningController {
    pub signer: CertificateSigner,
    /// How long certificates live unless less is asked for.
    pub lifetime: Duration,
}

/// Twice what certificates are backdated by.
const SHORTEST: Duration = Duration::from_secs(10 * 60);

#[async_trait]
impl RequestController for SigningController {
    const NAME: &'static str = "certificatesigningrequest-signing-controller";
    const WORKERS: usize = 5;

    async fn reconcile_request(
        &self,
        ctx: &Context,
        key: &Key,
        request: &SharedObject<CertificateSigningRequest>,
    ) -> Result<Action> {
        let plan =
            plan_signing(request.view()).map_err(|why| Error::Retry(format!("unable to parse csr {key}: {why}")))?;
        let mut changed = request.to_owned();
        match plan {
            Plan::Leave => return Ok(Action::Done),
            Plan::Fail(why) => push_condition(&mut changed, "Failed", "SignerValidationFailure", &why),
            Plan::Sign => {
                let spec = request.view().spec();
                let order = SigningOrder {
                    request_pem: &spec.request().decode(),
                    usages: &spec.usages().to_vec(),
                    lifetime: compute_lifetime(spec.expiration_seconds(), self.lifetime),
                    now: ctx.now(),
                };
                let signed = (self.signer)(&order);
                let pem = signed.map_err(|why| Error::Retry(format!("error auto signing csr {key}: {why}")))?;
                changed.edit_status(|status| status.set_certificate(pem.into_bytes()));
            }
        }
        match ctx.client.api("").replace_status(&changed).await {
            Err(error) if error.is_not_found() => {}
            other => drop(other.during("write the certificate or the failure of", key)?),
        }
        Ok(Action::Done)
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Plan {
    Leave,
    Fail(String),
    Sign,
}

fn plan_signing(request: CertificateSigningRequestView<'_>) -> std::result::Result<Plan, String> {
    let spec = request.spec();
    let is_open = has_condition(request, "Approved")
        && !has_condition(request, "Denied")
        && !has_condition(request, "Failed")
        && certificate(request).is_none();
    if !is_open || !spec.signer_name().starts_with("kubernetes.io/") {
        return Ok(Plan::Leave);
    }
    let asked = Asked::parse(&spec.request().decode())?;
    Ok(match asked.check(spec.signer_name(), &spec.usages().to_vec()) {
        None => Plan::Leave,
        Some(Err(why)) => Plan::Fail(why),
        Some(Ok(())) => Plan::Sign,
    })
}

/// The lifetime that is asked for, but never longer than the cluster's own and never uselessly short.
fn compute_lifetime(asked_seconds: Option<i32>, longest: Duration) -> Duration {
    let Some(seconds) = asked_seconds else { return longest };
    let asked = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    if asked > longest { longest } else { asked.max(SHORTEST) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{pem, request};
    use super::super::{KUBE_APISERVER_CLIENT, KUBELET_CLIENT};
    use super::*;
    use ferry_api::view::Owned;

    #[test]
    fn only_what_is_approved_is_signed() {
        let usages = &["digital signature", "client auth"];
        let pem = pem("system:node:a", "system:nodes", &[]);
        let pending = request(KUBELET_CLIENT, usages, pem.clone());
        assert_eq!(plan_signing(pending.view()), Ok(Plan::Leave));
        let approved = |signer: &str, usages: &[&str]| {
            let mut approved = request(signer, usages, pem.clone());
            push_condition(&mut approved, "Approved", "", "");
            approved
        };
        assert_eq!(plan_signing(approved(KUBELET_CLIENT, usages).view()), Ok(Plan::Sign));
        for over in ["Denied", "Failed"] {
            let mut over_one = approved(KUBELET_CLIENT, usages);
            push_condition(&mut over_one, over, "", "");
            assert_eq!(plan_signing(over_one.view()), Ok(Plan::Leave), "{over}");
        }
        assert_eq!(plan_signing(approved("example.com/mine", usages).view()), Ok(Plan::Leave));
        assert_eq!(plan_signing(approved("kubernetes.io/other", usages).view()), Ok(Plan::Leave));
        assert_eq!(
            plan_signing(approved(KUBE_APISERVER_CLIENT, &["server auth"]).view()),
            Ok(Plan::Fail("invalid usage for client certificate: server auth".into()))
        );
        let mut signed = approved(KUBELET_CLIENT, usages);
        signed.edit_status(|status| status.set_certificate(b"PEM".to_vec()));
        assert_eq!(plan_signing(signed.view()), Ok(Plan::Leave));
    }

    #[test]
    fn a_life_is_as_long_as_asked_within_bounds() {
        let hour = Duration::from_secs(3600);
        assert_eq!(compute_lifetime(None, hour), hour);
        assert_eq!(compute_lifetime(Some(7200), hour), hour);
        assert_eq!(compute_lifetime(Some(1800), hour), Duration::from_secs(1800));
        assert_eq!(compute_lifetime(Some(1), hour), SHORTEST);
        assert_eq!(compute_lifetime(Some(-1), hour), SHORTEST);
    }
}
