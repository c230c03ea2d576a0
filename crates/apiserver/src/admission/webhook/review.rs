//! The question that a hook is asked and the answer it gives: AdmissionReview of
//! admission.k8s.io/v1, or v1beta1 for those who only know that. Pure.

use crate::admission::AdmissionRequest;
use crate::admission::matching::{Matched, convert};
use base64::Engine as _;
use ferry_api::gvk::{GroupVersionKind, GroupVersionResource};
use ferry_api::status::Status;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V1beta1,
}

impl Version {
    fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "admission.k8s.io/v1",
            Self::V1beta1 => "admission.k8s.io/v1beta1",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Mutating,
    Validating,
}

/// The first version that a hook lists and we know.
pub(super) fn version(listed: &[String]) -> Result<Version, &'static str> {
    let known = |version: &String| match version.as_str() {
        "v1" => Some(Version::V1),
        "v1beta1" => Some(Version::V1beta1),
        _ => None,
    };
    listed.iter().find_map(known).ok_or("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
}

pub(super) fn render(version: Version, uid: &str, request: &AdmissionRequest<'_>, matched: &Matched) -> Value {
    let shown =
        |object: Option<&Value>| object.map_or(Value::Null, |o| convert(o, &request.row, &matched.row).into_owned());
    let mut body = Map::new();
    body.insert("uid".into(), uid.into());
    body.insert("kind".into(), render_kind(&matched.kind));
    body.insert("resource".into(), render_resource(&matched.resource()));
    insert_text(&mut body, "subResource", &request.subresource);
    body.insert("requestKind".into(), render_kind(&request.kind()));
    body.insert("requestResource".into(), render_resource(&request.row.gvr()));
    insert_text(&mut body, "requestSubResource", &request.subresource);
    insert_text(&mut body, "name", &request.name);
    insert_text(&mut body, "namespace", request.namespace_attribute());
    body.insert("operation".into(), request.operation.as_str().into());
    body.insert("userInfo".into(), request.user.to_value());
    body.insert("object".into(), shown(request.object.as_deref()));
    body.insert("oldObject".into(), shown(request.old_object));
    body.insert("dryRun".into(), request.dry_run.into());
    body.insert("options".into(), request.options());
    json!({"kind": "AdmissionReview", "apiVersion": version.api_version(), "request": body})
}

fn insert_text(map: &mut Map<String, Value>, key: &str, text: &str) {
    if !text.is_empty() {
        map.insert(key.into(), text.into());
    }
}

fn render_kind(kind: &GroupVersionKind) -> Value {
    json!({"group": kind.group, "version": kind.version, "kind": kind.kind})
}

fn render_resource(resource: &GroupVersionResource) -> Value {
    json!({"group": resource.group, "version": resource.version, "resource": resource.resource})
}

/// What a hook says.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub allowed: bool,
    pub result: Option<Status>,
    /// The operations, decoded.
    pub patch: Option<Value>,
    pub audit_annotations: BTreeMap<String, String>,
    pub warnings: Vec<String>,
}

/// Why an answer is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is no AdmissionReview.
    Type(String),
    /// It is one, and cannot be true.
    Lie(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    api_version: String,
    response: Option<Response>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    allowed: bool,
    status: Option<Status>,
    patch: Option<String>,
    patch_type: Option<String>,
    audit_annotations: Option<BTreeMap<String, String>>,
    warnings: Option<Vec<String>>,
}

pub(super) fn read(version: Version, uid: &str, phase: Phase, reply: &Value) -> Result<Answer, Unreadable> {
    let review = Review::deserialize(reply).map_err(|error| Unreadable::Type(error.to_string()))?;
    let lie = |text: &str| Err(Unreadable::Lie(text.to_owned()));
    let Some(response) = review.response else { return lie("webhook response was absent") };
    let patch = match response.patch.as_deref() {
        None | Some("") => None,
        Some(text) => Some(base64::engine::general_purpose::STANDARD.decode(text).map_err(|error| {
            // Go's decoder names the byte at which it gives up.
            Unreadable::Type(match error {
                base64::DecodeError::InvalidByte(at, _) => format!("illegal base64 data at input byte {at}"),
                other => format!("illegal base64 data: {other}"),
            })
        })?),
    };
    if version == Version::V1 {
        if response.uid != uid {
            return Err(Unreadable::Lie(format!("expected response.uid={uid:?}, got {:?}", response.uid)));
        }
        if review.kind != "AdmissionReview" || review.api_version != version.api_version() {
            return Err(Unreadable::Lie(format!(
                "expected webhook response of {}, Kind=AdmissionReview, got {}, Kind={}",
                version.api_version(),
                if review.api_version.is_empty() { "/" } else { &review.api_version },
                review.kind
            )));
        }
        match (phase, &patch, response.patch_type.as_deref()) {
            (Phase::Mutating, Some(_), None) => {
                return lie("webhook returned response.patch but not response.patchType");
            }
            (Phase::Mutating, None, Some(_)) => {
                return lie("webhook returned response.patchType but not response.patch");
            }
            (Phase::Mutating, Some(_), Some("")) => return lie("webhook returned invalid response.patchType of \"\""),
            (Phase::Validating, Some(_), _) => return lie("validating webhook may not return response.patch"),
            (Phase::Validating, None, Some(_)) => return lie("validating webhook may not return response.patchType"),
            _ => {}
        }
    }
    let patch_type = response.patch_type.as_deref().unwrap_or("JSONPatch");
    let patch = match patch.filter(|_| phase == Phase::Mutating && response.allowed) {
        None => None,
        Some(bytes) => match ferry_api::codec::decode_any(&bytes) {
            Ok(_) if version == Version::V1 && patch_type != "JSONPatch" => {
                return Err(Unreadable::Lie(format!("unsupported patch type {patch_type:?}")));
            }
            Ok(decoded) => Some(decoded.value),
            // Not an array, and so told as a patch that cannot be decoded.
            Err(_) => Some(Value::Null),
        },
    };
    Ok(Answer {
        allowed: response.allowed,
        result: response.status,
        patch,
        audit_annotations: response.audit_annotations.unwrap_or_default(),
        warnings: response.warnings.unwrap_or_default(),
    })
}

/// The answer to a write that a hook refuses (upstream's webhook/errors ToStatusErr).
pub(super) fn denial(name: &str, result: Option<Status>) -> Status {
    let mut status = result.unwrap_or_else(|| Status::failure(400, "", ""));
    let denied = format!("admission webhook {name:?} denied the request");
    // A refusal is never told with a code or a word of success.
    status.code = status.code.max(400);
    if status.status.is_empty() || status.status == "Success" {
        status.status = "Failure".into();
    }
    status.message = match (status.message.as_str(), status.reason.as_str()) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    status.kind = "Status".into();
    status.api_version = "v1".into();
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Operation;
    use crate::authn::UserInfo;
    use crate::registry::{Caller, Rows};

    fn reply(response: Value) -> Value {
        json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response})
    }

    fn patch() -> String {
        base64::engine::general_purpose::STANDARD.encode(r#"[{"op":"add","path":"/data","value":{}}]"#)
    }

    #[test]
    fn a_question_says_what_is_written_by_whom() {
        let row = Rows::new(ferry_resources::all().to_vec()).find("apps", "v1", "deployments").expect("builtin");
        let caller = Caller::testing(UserInfo::authenticated("ann", &["dev"]));
        let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}});
        let mut request = AdmissionRequest::new(Operation::Update, &row, "ns", "d", "status", &caller);
        request.object = Some(&mut object);
        let matched = Matched { row: row.clone(), kind: row.gvk() };
        let review = render(Version::V1, "u", &request, &matched);
        assert_eq!(review["apiVersion"], "admission.k8s.io/v1");
        let expected = json!({
            "uid": "u", "operation": "UPDATE", "name": "d", "namespace": "ns", "dryRun": false,
            "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "subResource": "status",
            "requestKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "requestResource": {"group": "apps", "version": "v1", "resource": "deployments"},
            "requestSubResource": "status",
            "userInfo": {"username": "ann", "groups": ["dev", "system:authenticated"]},
            "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}},
            "oldObject": null, "options": null,
        });
        assert_eq!(review["request"], expected);
    }

    #[test]
    fn the_first_version_known_to_both_is_spoken() {
        let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(version(&listed(&["v2", "v1beta1", "v1"])), Ok(Version::V1beta1));
        assert!(version(&listed(&["v2"])).is_err());
    }

    #[test]
    fn lies_are_found_out() {
        let check = |phase: Phase, reply: Value, expected: &str| match read(Version::V1, "u", phase, &reply) {
            Err(Unreadable::Lie(text)) => assert_eq!(text, expected),
            other => panic!("{expected}: {other:?}"),
        };
        use Phase::{Mutating, Validating};
        check(Mutating, json!({"kind": "AdmissionReview"}), "webhook response was absent");
        check(Mutating, reply(json!({"uid": "x"})), "expected response.uid=\"u\", got \"x\"");
        check(
            Mutating,
            json!({"response": {"uid": "u"}}),
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        );
        check(
            Mutating,
            reply(json!({"uid": "u", "allowed": true, "patch": patch()})),
            "webhook returned response.patch but not response.patchType",
        );
        check(
            Mutating,
            reply(json!({"uid": "u", "allowed": true, "patchType": "JSONPatch"})),
            "webhook returned response.patchType but not response.patch",
        );
        check(
            Validating,
            reply(json!({"uid": "u", "allowed": true, "patch": patch(), "patchType": "JSONPatch"})),
            "validating webhook may not return response.patch",
        );
        assert!(matches!(
            read(Version::V1, "u", Mutating, &reply(json!({"uid": "u", "allowed": "yes"}))),
            Err(Unreadable::Type(_))
        ));
    }

    #[test]
    fn old_reviews_are_taken_at_their_word() {
        let reply = json!({"response": {"allowed": true, "patch": patch()}});
        let answer = read(Version::V1beta1, "u", Phase::Mutating, &reply).expect("readable");
        assert!(answer.allowed && answer.patch.is_some());
    }

    #[test]
    fn denials_explain_themselves_as_far_as_they_can() {
        let check = |result: Value, message: &str, code: u16| {
            let result = serde_json::from_value::<Option<Status>>(result).expect("a status");
            let status = denial("x", result);
            assert_eq!((status.message.as_str(), status.code), (message, code));
            assert_eq!(status.status, "Failure");
        };
        check(Value::Null, "admission webhook \"x\" denied the request without explanation", 400);
        check(json!({"message": "no"}), "admission webhook \"x\" denied the request: no", 400);
        check(json!({"reason": "Quota", "code": 403}), "admission webhook \"x\" denied the request: Quota", 403);
        check(
            json!({"status": "Success", "code": 200, "message": "m"}),
            "admission webhook \"x\" denied the request: m",
            400,
        );
    }
}
