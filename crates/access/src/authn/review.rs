//! TokenReview and SelfSubjectReview: what authentication answers when it is asked about
//! a token, or about the asker. Called by the handlers of these two kinds.

use super::{Authenticator, UserInfo};
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::status::Status;
use jiff::Timestamp;
use serde_json::{Value, json};

impl Authenticator {
    /// The TokenReview with its status. A bad token is no error: the status says so.
    pub async fn review_token(&self, review: Value) -> Result<Value, Status> {
        self.review_token_at(review, Timestamp::now()).await
    }

    pub(crate) async fn review_token_at(&self, mut review: Value, now: Timestamp) -> Result<Value, Status> {
        let token = review.str_at(&["spec", "token"]);
        if token.is_empty() {
            return Err(Status::bad_request("token is required for TokenReview in authentication"));
        }
        let audiences: Vec<String> =
            review.items_at(&["spec", "audiences"]).iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let status = match self.verify_token_at(token, &audiences, now).await {
            Ok(verified) => {
                json!({"authenticated": true, "user": verified.user.to_value(), "audiences": verified.audiences})
            }
            Err(why) => json!({"user": {}, "error": why}),
        };
        review.set_gvk(&GroupVersionKind::new("authentication.k8s.io", "v1", "TokenReview"));
        ensure_object(&mut review).insert("status".into(), status);
        Ok(review)
    }
}

/// What `kubectl auth whoami` shows.
pub fn render_self_subject_review(user: &UserInfo, now: Timestamp) -> Value {
    let created = Timestamp::from_second(now.as_second()).unwrap_or(now);
    json!({
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"creationTimestamp": created.to_string()},
        "status": {"userInfo": user.to_value()},
    })
}
