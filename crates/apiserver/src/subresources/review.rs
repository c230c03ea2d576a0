//! Kinds that are only asked and answered: token and access reviews, and POST of
//! `bindings`. Authentication and authorization have the answers.

use crate::authn::review::render_self_subject_review;
use crate::door::answer;
use crate::door::negotiate::{self, Use};
use crate::door::wire;
use crate::transport::Body;
use crate::verbs::options::WriteOptions;
use crate::verbs::{self, Call};
use bytes::Bytes;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use http::{Response, StatusCode};

pub(crate) async fn create_review(call: Call, body: Bytes) -> Result<Response<Body>, Status> {
    if call.info.verb != "create" {
        return Err(verbs::method_not_allowed());
    }
    if call.row.group.is_empty() && call.row.plural == "bindings" {
        return super::binding::bind(&call, body).await;
    }
    let accepted = negotiate::output(&call.headers, &call.query, Use::Review)?;
    let format = negotiate::input(&call.headers)?;
    let options = WriteOptions::parse(&call.query, "CreateOptions")?;
    let schema = call.row.schema.as_deref();
    let decoded = wire::decode(&body, format, &call.row.gvk(), schema, options.field_validation)?;
    decoded.warnings.into_iter().for_each(|text| call.warnings.add(text));
    let review = decoded.object;
    let (authenticator, authorizer) = (&call.server.authenticator, &call.server.authorizer);
    let mut answered = match call.row.kind.as_ref() {
        "TokenReview" => authenticator.review_token(review).await?,
        "SelfSubjectReview" => render_self_subject_review(&call.user, call.now),
        "SubjectAccessReview" => authorizer.review_subject_access(review).await?,
        "LocalSubjectAccessReview" => authorizer.review_local_subject_access(&call.info.namespace, review).await?,
        "SelfSubjectAccessReview" => authorizer.review_self_subject_access(&call.user, review).await?,
        "SelfSubjectRulesReview" => authorizer.review_self_subject_rules(&call.user, review)?,
        _ => return Err(Status::no_such_path()),
    };
    answered.set_gvk(&call.row.gvk());
    Ok(answer::document(StatusCode::CREATED, &answered, &accepted))
}
