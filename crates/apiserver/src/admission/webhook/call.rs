//! One question to one hook, and what can go wrong on the way. Which failures count as
//! failures of the call, and so fall under the failure policy, is upstream's distinction.

use super::configurations::Webhook;
use super::review::{self, Answer, Phase};
use crate::admission::AdmissionRequest;
use crate::admission::matching::Matched;
use crate::registry::lookup::ObjectLookup;
use ferry_api::status::Status;
use std::sync::Arc;

/// Why a write may not go on.
#[derive(Debug)]
pub(super) enum Failure {
    /// The hook could not be asked, or its answer makes no sense; the failure policy says
    /// what that means.
    Calling(String),
    /// The write is refused, whatever the failure policy says.
    Refused(Box<Status>),
}

impl Failure {
    pub(super) fn refused(status: Status) -> Self {
        Self::Refused(Box::new(status))
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
        request.annotations.add(format!("{}/{key}", hook.name), value.as_str());
    }
    answer.warnings.iter().for_each(|text| request.warnings.add(text.as_str()));
    if !answer.allowed {
        return Err(Failure::refused(review::denial(&hook.name, answer.result)));
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
