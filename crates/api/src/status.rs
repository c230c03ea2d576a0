//! The API's answer when something is wrong: `Status` with upstream's reasons, codes
//! and sentences (apimachinery/pkg/api/errors). HTTP only renders it.

use crate::field::ErrorList;
use crate::gvk::{GroupResource, GroupVersionKind};
use serde::{Deserialize, Serialize};

/// `meta/v1 Status`. Failures are made by the constructors below, never by hand.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub api_version: String,
    #[serde(default)]
    pub metadata: serde_json::Map<String, serde_json::Value>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Details>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub code: u16,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uid: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    #[serde(default, skip_serializing_if = "is_zero_i32")]
    pub retry_after_seconds: i32,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct Cause {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field: String,
}

fn is_zero(n: &u16) -> bool {
    *n == 0
}

fn is_zero_i32(n: &i32) -> bool {
    *n == 0
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}

impl Status {
    pub fn failure(code: u16, reason: &str, message: impl Into<String>) -> Self {
        Self {
            kind: "Status".into(),
            api_version: "v1".into(),
            metadata: Default::default(),
            status: "Failure".into(),
            message: message.into(),
            reason: reason.into(),
            details: None,
            code,
        }
    }

    /// What a delete that left nothing answers.
    pub fn success(details: Details) -> Self {
        Self { status: "Success".into(), details: Some(details), ..Self::failure(0, "", "") }
    }

    pub fn with_details(mut self, details: Details) -> Self {
        self.details = Some(details);
        self
    }

    fn about(self, resource: &GroupResource, name: &str) -> Self {
        let details = Details {
            name: name.into(),
            group: resource.group.to_string(),
            kind: resource.resource.to_string(),
            ..Default::default()
        };
        self.with_details(details)
    }

    pub fn not_found(resource: &GroupResource, name: &str) -> Self {
        Self::failure(404, "NotFound", format!("{resource} {name:?} not found")).about(resource, name)
    }

    /// A URL that names nothing we serve.
    pub fn no_such_path() -> Self {
        Self::failure(404, "NotFound", "the server could not find the requested resource")
            .with_details(Details::default())
    }

    pub fn already_exists(resource: &GroupResource, name: &str) -> Self {
        Self::failure(409, "AlreadyExists", format!("{resource} {name:?} already exists")).about(resource, name)
    }

    pub fn conflict(resource: &GroupResource, name: &str, why: &str) -> Self {
        Self::failure(409, "Conflict", format!("Operation cannot be fulfilled on {resource} {name:?}: {why}"))
            .about(resource, name)
    }

    /// The optimistic-concurrency conflict, with upstream's sentence.
    pub fn modified(resource: &GroupResource, name: &str) -> Self {
        Self::conflict(
            resource,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    pub fn apply_conflict(causes: Vec<Cause>, message: impl Into<String>) -> Self {
        Self::failure(409, "Conflict", message).with_details(Details { causes, ..Default::default() })
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, "BadRequest", message)
    }

    pub fn unauthorized() -> Self {
        Self::failure(401, "Unauthorized", "Unauthorized")
    }

    /// `why` is the authorizer's sentence: `User "x" cannot list resource …`.
    pub fn forbidden(resource: &GroupResource, name: &str, why: &str) -> Self {
        let message = match (resource.resource.is_empty(), name.is_empty()) {
            (true, _) => format!("forbidden: {why}"),
            (false, true) => format!("{resource} is forbidden: {why}"),
            (false, false) => format!("{resource} {name:?} is forbidden: {why}"),
        };
        Self::failure(403, "Forbidden", message).about(resource, name)
    }

    pub fn method_not_allowed(resource: &GroupResource, verb: &str) -> Self {
        Self::failure(
            405,
            "MethodNotAllowed",
            format!("{verb} is not supported on resources of kind {:?}", resource.to_string()),
        )
        .about(resource, "")
    }

    pub fn invalid(kind: &GroupVersionKind, name: &str, errors: ErrorList) -> Self {
        let qualified =
            if kind.group.is_empty() { kind.kind.to_string() } else { format!("{}.{}", kind.kind, kind.group) };
        // Upstream prints a lone error bare and several in brackets, each once.
        let mut texts: Vec<String> = Vec::new();
        for error in &errors {
            let text = error.to_string();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let body = match texts.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let causes = errors
            .iter()
            .map(|e| Cause { reason: e.kind.reason().into(), message: e.body(), field: e.field().to_owned() })
            .collect();
        Self::failure(422, "Invalid", format!("{qualified} {name:?} is invalid: {body}")).with_details(Details {
            name: name.into(),
            group: kind.group.to_string(),
            kind: kind.kind.to_string(),
            causes,
            ..Default::default()
        })
    }

    pub fn not_acceptable(accepted: &[&str]) -> Self {
        Self::failure(
            406,
            "NotAcceptable",
            format!("only the following media types are accepted: {}", accepted.join(", ")),
        )
    }

    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        Self::failure(
            415,
            "UnsupportedMediaType",
            format!(
                "the body of the request was in an unknown format - accepted media types include: {}",
                accepted.join(", ")
            ),
        )
    }

    pub fn too_large(message: impl Into<String>) -> Self {
        Self::failure(413, "RequestEntityTooLarge", message)
    }

    pub fn expired(message: impl Into<String>) -> Self {
        Self::failure(410, "Expired", message)
    }

    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: i32) -> Self {
        Self::failure(429, "TooManyRequests", message)
            .with_details(Details { retry_after_seconds, ..Default::default() })
    }

    pub fn timeout(message: impl Into<String>) -> Self {
        Self::failure(504, "Timeout", message)
    }

    pub fn service_unavailable(message: impl Into<String>) -> Self {
        Self::failure(503, "ServiceUnavailable", message)
    }

    pub fn internal(why: impl std::fmt::Display) -> Self {
        Self::failure(500, "InternalError", format!("Internal error occurred: {why}")).with_details(Details {
            causes: vec![Cause { message: why.to_string(), ..Default::default() }],
            ..Default::default()
        })
    }

    pub fn is_not_found(&self) -> bool {
        self.reason == "NotFound"
    }

    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }

    pub fn is_already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    pub fn is_expired(&self) -> bool {
        self.reason == "Expired" || self.reason == "Gone"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Error, Path};

    #[test]
    fn sentences_are_upstreams() {
        let pods = GroupResource::new("", "pods");
        assert_eq!(Status::not_found(&pods, "a").message, "pods \"a\" not found");
        let kind = GroupVersionKind::new("apps", "v1", "Deployment");
        let one = vec![Error::required(&Path::new("spec"), "")];
        assert_eq!(
            Status::invalid(&kind, "d", one.clone()).message,
            "Deployment.apps \"d\" is invalid: spec: Required value"
        );
        let two = [one.clone(), vec![Error::required(&Path::new("metadata"), "x")]].concat();
        assert_eq!(
            Status::invalid(&kind, "d", two).message,
            "Deployment.apps \"d\" is invalid: [spec: Required value, metadata: Required value: x]"
        );
    }
}
