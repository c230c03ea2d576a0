//! One question to one hook, and what can go wrong on the way. Which failures count as
//! failures of the call, and so fall under the failure policy, is upstream's distinction.

use super::configurations::Webhook;
use super::review::{self, Answer, Phase};
use crate::admission::AdmissionRequest;
use crate::admission::matching::Matched;
use crate::metrics::admission::Asked;
use crate::registry::lookup::ObjectLookup;
use ferry_api::status::Status;
use std::sync::Arc;

/// Why a write may not go on.
#[derive(Debug)]
pub(super) enum Failure {
    /// The hook could not be asked, or its answer makes no sense; the failure policy says
    /// what that means.
    Calling(String),
    /// The hook said no.
    Denied(Box<Status>),
    /// The write is refused, whatever the failure policy says.
    Refused(Box<Status>),
}

impl Failure {
    pub(super) fn refused(status: Status) -> Self {
        Self::Refused(Box::new(status))
    }
}

/// How an outcome is counted.
pub(super) fn outcome<T>(hook: &Webhook, outcome: &Result<T, Failure>) -> Asked {
    match outcome {
        Ok(_) => Asked::Allowed,
        Err(Failure::Denied(status)) => Asked::Denied(status.code),
        Err(Failure::Calling(_)) => Asked::Failed { fails_open: hook.fails_open },
        Err(Failure::Refused(_)) => Asked::Internal,
    }
}

/// Asks, and passes on what the hook has to say besides its verdict.
pub(super) async fn ask(
    hook: &Webhook,
    matched: &Matched,
    request: &AdmissionRequest<'_>,
    lookup: &Arc<dyn ObjectLookup>,
    phase: Phase,
) -> Result<Answer, Failure> {
    if request.dry_run && hook.has_side_effects {
        let text = format!("admission webhook {:?} does not support dry run", hook.name);
        return Err(Failure::refused(Status::bad_request(text)));
    }
    let version = review::version(&hook.review_versions)
        .map_err(|why| Failure::Calling(format!("could not create admission objects: {why}")))?;
    let client = hook.client(lookup).map_err(|why| Failure::Calling(format!("could not get REST client: {why}")))?;
    let uid = uuid::Uuid::new_v4().to_string();
    let question = review::render(version, &uid, request, matched);
    let reply = client
        .post(&question, hook.timeout)
        .await
        .map_err(|error| Failure::Calling(format!("failed to call webhook: {error}")))?;
    let answer = review::read(version, &uid, phase, &reply).map_err(|unreadable| {
        Failure::Calling(match unreadable {
            review::Unreadable::Type(why) => format!("failed to call webhook: {why}"),
            review::Unreadable::Lie(why) => format!("received invalid webhook response: {why}"),
        })
    })?;
    for (key, value) in &answer.audit_annotations {
        request.notes.add(format!("{}/{key}", hook.name), value.as_str());
    }
    answer.warnings.iter().for_each(|text| request.warnings.add(text.as_str()));
    if !answer.allowed {
        return Err(Failure::Denied(Box::new(review::denial(&hook.name, answer.result))));
    }
    let patch = match &answer.patch {
        Some(patch) if !patch.is_array() => {
            let why = "received undecodable patch in webhook response: json: cannot unmarshal into Go value of type jsonpatch.Patch";
            return Err(Failure::Calling(why.into()));
        }
        // A patch of nothing changes nothing.
        Some(patch) => patch.as_array().is_some_and(|operations| !operations.is_empty()),
        None => false,
    };
    Ok(Answer { patch: answer.patch.filter(|_| patch), ..answer })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Operation;
    use crate::admission::testing::pods;
    use crate::authn::UserInfo;
    use crate::authn::testing::Objects;
    use crate::registry::Caller;
    use serde_json::{Value, json};

    /// How a call fails that never gets as far as the network.
    async fn failure(hook: Value, dry_run: bool) -> Failure {
        let hook = Webhook::of("c", "c/x/0".into(), &hook);
        let caller = Caller { dry_run, ..Caller::testing(UserInfo::default()) };
        let request = AdmissionRequest::new(Operation::Create, &pods(), "ns", "p", "", &caller);
        let matched = Matched { row: pods(), kind: pods().gvk() };
        let lookup: Arc<dyn ObjectLookup> = Objects::of(&[]);
        ask(&hook, &matched, &request, &lookup, Phase::Validating).await.expect_err("cannot be called")
    }

    #[tokio::test]
    async fn a_dry_run_has_no_side_effects() {
        let Failure::Refused(status) = failure(json!({"name": "x", "sideEffects": "Some"}), true).await else {
            panic!("the failure policy has no say in this");
        };
        assert_eq!((status.code, status.message.as_str()), (400, "admission webhook \"x\" does not support dry run"));
    }

    #[tokio::test]
    async fn a_hook_that_cannot_be_called_says_why() {
        let check = async |hook: Value, expected: &str| match failure(hook, false).await {
            Failure::Calling(why) => assert_eq!(why, expected),
            Failure::Denied(status) | Failure::Refused(status) => panic!("{status}"),
        };
        check(
            json!({"admissionReviewVersions": ["v2"]}),
            "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
        )
        .await;
        check(
            json!({"admissionReviewVersions": ["v1"], "clientConfig": {}}),
            "could not get REST client: webhook configuration must have either service or URL",
        )
        .await;
        check(
            json!({"admissionReviewVersions": ["v1"], "clientConfig": {"service": {"namespace": "ns", "name": "gone"}}}),
            "failed to call webhook: Post \"https://gone.ns.svc:443/?timeout=30s\": services \"gone\" not found",
        )
        .await;
    }
}
