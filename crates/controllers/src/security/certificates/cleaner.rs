//! Removes requests that are done with: an hour after they were decided, a day after they
//! were made if nobody decided, and when the certificate they gave is over. Upstream looks
//! once an hour; here each request is looked at when its time has come.

use super::{RequestController, certificate};
use crate::error::{During, Result};
use crate::runner::{Action, Context, Key};
use async_trait::async_trait;
use ferry_api::view::certificates::v1::{CertificateSigningRequest, CertificateSigningRequestView};
use ferry_client::{DeleteParams, SharedObject};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use x509_parser::pem::Pem;

pub(crate) struct CleanerController;

const DECIDED: SignedDuration = SignedDuration::from_hours(1);
const PENDING: SignedDuration = SignedDuration::from_hours(24);

#[async_trait]
impl RequestController for CleanerController {
    const NAME: &'static str = "certificatesigningrequest-cleaner-controller";
    const WORKERS: usize = 1;

    async fn reconcile_request(
        &self,
        ctx: &Context,
        key: &Key,
        request: &SharedObject<CertificateSigningRequest>,
    ) -> Result<Action> {
        let Some(end) = compute_end(request.view()) else { return Ok(Action::Done) };
        let left = end.duration_since(ctx.now());
        if !left.is_negative() {
            // A second more, since the time must be past and not only reached.
            let wait = Duration::try_from(left).unwrap_or_default() + Duration::from_secs(1);
            return Ok(Action::RequeueAfter(wait));
        }
        match ctx.client.api::<CertificateSigningRequest>("").delete(&key.name, &DeleteParams::default()).await {
            Err(error) if error.is_not_found() => {}
            other => other.during("remove the request", key)?,
        }
        Ok(Action::Done)
    }
}

/// When the request is to go: the earliest of the times that apply to it.
fn compute_end(request: CertificateSigningRequestView<'_>) -> Option<Timestamp> {
    let issued = certificate(request);
    let conditions = request.status().conditions();
    if conditions.is_empty() {
        return request.metadata().creation_timestamp()?.checked_add(PENDING).ok();
    }
    let mut ends: Vec<Timestamp> = Vec::new();
    for condition in conditions {
        let kept = match (condition.type_(), issued.is_some()) {
            ("Denied" | "Failed", _) | ("Approved", true) => DECIDED,
            ("Approved", false) => PENDING,
            _ => continue,
        };
        ends.extend(condition.last_update_time().and_then(|updated| updated.checked_add(kept).ok()));
        if condition.type_() == "Approved" {
            ends.extend(issued.and_then(|issued| expiry(&issued.decode())));
        }
    }
    ends.into_iter().min()
}

fn expiry(pem: &[u8]) -> Option<Timestamp> {
    let block = Pem::iter_from_buffer(pem).next()?.ok()?;
    let certificate = block.parse_x509().ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

#[cfg(test)]
mod tests {
    use super::super::testing::request;
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::certificates::v1::CertificateSigningRequestCondition;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).expect("in range")
    }

    fn made(kinds: &[&str]) -> CertificateSigningRequest {
        let mut request = request("example.com/s", &["client auth"], Vec::new());
        request.edit_metadata(|metadata| metadata.set_creation_timestamp(at(0)));
        for kind in kinds {
            let condition = CertificateSigningRequestCondition::new().with_type(*kind).with_status("True");
            request.edit_status(|status| status.push_conditions(condition.with_last_update_time(at(100))));
        }
        request
    }

    #[test]
    fn requests_go_when_nobody_needs_them() {
        assert_eq!(compute_end(made(&[]).view()), Some(at(86_400)));
        assert_eq!(compute_end(made(&["Denied"]).view()), Some(at(3_700)));
        assert_eq!(compute_end(made(&["Approved"]).view()), Some(at(86_500)));
        assert_eq!(compute_end(made(&["Approved", "Failed"]).view()), Some(at(3_700)));
        let mut issued = made(&["Approved"]);
        issued.edit_status(|status| status.set_certificate(b"no certificate".to_vec()));
        assert_eq!(compute_end(issued.view()), Some(at(3_700)));
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut parameters = rcgen::CertificateParams::default();
        parameters.not_after = rcgen::date_time_ymd(2020, 1, 1);
        let expired = parameters.self_signed(&key).expect("a certificate").pem();
        issued.edit_status(|status| status.set_certificate(expired.into_bytes()));
        assert_eq!(compute_end(issued.view()), Some("2020-01-01T00:00:00Z".parse().expect("a time")));
        assert_eq!(compute_end(made(&["Other"]).view()), None);
    }
}
