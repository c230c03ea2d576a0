//! Removes requests that are done with: an hour after they were decided, a day after they
//! were made if nobody decided, and when the certificate they gave is over. Upstream looks
//! once an hour; here each request is looked at when its time has come.

use super::{IDENTITY, certificate, conditions};
use crate::error::{During, Result};
use crate::runner::{Action, Context, Controller, Key, Watch};
use async_trait::async_trait;
use ferry_client::{DeleteParams, Informers};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::certificates::v1::CertificateSigningRequest;
use std::time::Duration;
use x509_parser::pem::Pem;

pub struct CleanerController;

const DECIDED: SignedDuration = SignedDuration::from_hours(1);
const PENDING: SignedDuration = SignedDuration::from_hours(24);

#[async_trait]
impl Controller for CleanerController {
    fn name(&self) -> &'static str {
        "certificatesigningrequest-cleaner-controller"
    }

    fn identity(&self) -> &'static str {
        IDENTITY
    }

    fn workers(&self) -> usize {
        1
    }

    fn watches(&self, informers: &Informers) -> Vec<Watch> {
        vec![Watch::itself(informers.of::<CertificateSigningRequest>())]
    }

    async fn reconcile(&self, ctx: &Context, key: &Key) -> Result<Action> {
        let Some(request) = ctx.informers.of::<CertificateSigningRequest>().get("", &key.name) else {
            return Ok(Action::Done);
        };
        let Some(end) = compute_end(&request) else { return Ok(Action::Done) };
        let left = end.duration_since(ctx.now());
        if !left.is_negative() {
            // A second more, since the time must be past and not only reached.
            let wait = Duration::try_from(left).unwrap_or_default() + Duration::from_secs(1);
            return Ok(Action::RequeueAfter(wait));
        }
        match ctx.client.delete::<CertificateSigningRequest>("", &key.name, &DeleteParams::default()).await {
            Err(error) if error.is_not_found() => {}
            other => other.during("remove the request", key)?,
        }
        Ok(Action::Done)
    }
}

/// When the request is to go: the earliest of the times that apply to it.
fn compute_end(request: &CertificateSigningRequest) -> Option<Timestamp> {
    let issued = certificate(request);
    if conditions(request).is_empty() {
        let created = request.metadata.creation_timestamp.as_ref()?;
        return created.0.checked_add(PENDING).ok();
    }
    let mut ends: Vec<Timestamp> = Vec::new();
    for condition in conditions(request) {
        let kept = match (condition.type_.as_str(), issued.is_some()) {
            ("Denied" | "Failed", _) | ("Approved", true) => DECIDED,
            ("Approved", false) => PENDING,
            _ => continue,
        };
        let updated = condition.last_update_time.as_ref();
        ends.extend(updated.and_then(|updated| updated.0.checked_add(kept).ok()));
        if condition.type_ == "Approved" {
            ends.extend(issued.and_then(expiry));
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
    use super::super::push_condition;
    use super::super::testing::request;
    use super::*;
    use k8s_openapi::ByteString;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).expect("in range")
    }

    fn made(kinds: &[&str]) -> CertificateSigningRequest {
        let mut request = request("example.com/s", &["client auth"], Vec::new());
        request.metadata.creation_timestamp = Some(Time(at(0)));
        for (index, kind) in kinds.iter().enumerate() {
            push_condition(&mut request, kind, "", "");
            let conditions = request.status.as_mut().and_then(|status| status.conditions.as_mut()).expect("conditions");
            conditions[index].last_update_time = Some(Time(at(100)));
        }
        request
    }

    #[test]
    fn requests_go_when_nobody_needs_them() {
        assert_eq!(compute_end(&made(&[])), Some(at(86_400)));
        assert_eq!(compute_end(&made(&["Denied"])), Some(at(3_700)));
        assert_eq!(compute_end(&made(&["Approved"])), Some(at(86_500)));
        assert_eq!(compute_end(&made(&["Approved", "Failed"])), Some(at(3_700)));
        let mut issued = made(&["Approved"]);
        issued.status.get_or_insert_default().certificate = Some(ByteString(b"no certificate".to_vec()));
        assert_eq!(compute_end(&issued), Some(at(3_700)));
        let key = rcgen::KeyPair::generate().expect("a key");
        let mut parameters = rcgen::CertificateParams::default();
        parameters.not_after = rcgen::date_time_ymd(2020, 1, 1);
        let expired = parameters.self_signed(&key).expect("a certificate").pem();
        issued.status.get_or_insert_default().certificate = Some(ByteString(expired.into_bytes()));
        assert_eq!(compute_end(&issued), Some("2020-01-01T00:00:00Z".parse().expect("a time")));
        assert_eq!(compute_end(&made(&["Other"])), None);
    }
}
