//! CertificateSigningRequest: the strategy of asking for a certificate. Who asks is
//! written down by the server; approval and the certificate come through subresources.

use super::pem;
use super::signer_name::validate_signer_name;
use crate::read::{Read, ReadNode, field_mut, keep, list_mut, remove, set};
use crate::validation::facts::DeclaredValues;
use crate::{Context, Strategy, print};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::HashSet;
use x509_parser::prelude::{FromDer, X509Certificate, X509CertificationRequest};
use x509_parser::x509::X509Name;

pub struct CertificateSigningRequest;

const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
static USAGES: DeclaredValues = DeclaredValues::of("certificates/v1", "CertificateSigningRequestSpec", "usages");
/// Conditions that are true or not there.
const DECISIONS: [&str; 3] = ["Approved", "Denied", "Failed"];

/// What may change, which depends on the door.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Main,
    Status,
    Approval,
}

impl Strategy for CertificateSigningRequest {
    fn prepare_for_create(&self, context: &Context, request: &mut Value) {
        let spec = ensure_object(request).entry("spec").or_insert_with(|| json!({}));
        for key in ["username", "uid", "groups", "extra"] {
            remove(spec, key);
        }
        set(spec, "username", context.user);
        if !context.uid.is_empty() {
            set(spec, "uid", context.uid);
        }
        set(spec, "groups", context.groups.to_vec());
        if !context.extra.is_empty() {
            set(spec, "extra", json!(context.extra));
        }
    }

    fn prepare_for_status_update(&self, context: &Context, new: &mut Value, old: &Value) {
        for kind in ["Approved", "Denied"] {
            let was = conditions(old, kind);
            if conditions(new, kind).len() == was.len() {
                let Some(status) = field_mut(new, "status") else { continue };
                let mut was = was.into_iter().cloned();
                let ours = list_mut(status, "conditions").iter_mut().filter(|condition| condition.text("type") == kind);
                for (condition, old) in ours.zip(&mut was) {
                    *condition = old;
                }
            }
        }
        set_condition_times(context, new, old);
    }

    fn prepare_for_subresource_update(&self, context: &Context, subresource: &str, new: &mut Value, old: &Value) {
        if subresource != "approval" {
            return;
        }
        set_condition_times(context, new, old);
        let conditions = new.field("status").list("conditions").to_vec();
        keep(new, old, "spec");
        keep(new, old, "status");
        let status = ensure_object(new).entry("status").or_insert_with(|| json!({}));
        set(status, "conditions", conditions);
    }

    fn validate(&self, request: &Value) -> ErrorList {
        validate_request(request, None)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_change(new, old, Door::Main)
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_change(new, old, Door::Status)
    }

    fn validate_subresource_update(&self, subresource: &str, new: &Value, old: &Value) -> ErrorList {
        if subresource == "approval" { validate_change(new, old, Door::Approval) } else { ErrorList::new() }
    }

    fn computed_cells(&self, request: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let duration = request.field("spec").opt_int("expirationSeconds").map(print::human_duration);
        vec![print::or_none(duration.unwrap_or_default()).into(), state(&request.to_value()).into()]
    }
}

fn state(request: &Value) -> String {
    let has = |kind: &str| !conditions(request, kind).is_empty();
    let mut state = match (has("Denied"), has("Approved")) {
        (true, _) => "Denied",
        (false, true) => "Approved",
        (false, false) => "Pending",
    }
    .to_owned();
    if has("Failed") {
        state.push_str(",Failed");
    }
    if !request.field("status").text("certificate").is_empty() {
        state.push_str(",Issued");
    }
    state
}

fn conditions<'a>(request: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = request.field("status").list("conditions").iter();
    all.filter(|condition| condition.text("type") == kind).collect()
}

/// When a condition was last touched and when it last turned, unless the writer says so.
fn set_condition_times(context: &Context, new: &mut Value, old: &Value) {
    let now = ferry_api::codec::time::format_seconds(context.now);
    let was = old.field("status").list("conditions");
    let Some(status) = field_mut(new, "status") else { return };
    for condition in list_mut(status, "conditions") {
        if !condition.has("lastUpdateTime") {
            set(condition, "lastUpdateTime", now.as_str());
        }
        if !condition.has("lastTransitionTime") {
            let same = |old: &&Value| {
                old.text("type") == condition.text("type") && old.text("status") == condition.text("status")
            };
            let turned = was.iter().filter(same).find_map(|old| old.opt_text("lastTransitionTime"));
            let turned = turned.unwrap_or(&now).to_owned();
            set(condition, "lastTransitionTime", turned);
        }
    }
}

/// The mistakes in a request. `old` is what is there already, whose mistakes may stay.
fn validate_request(request: &Value, old: Option<&Value>) -> ErrorList {
    let mut errors = ErrorList::new();
    let (spec, path) = (request.field("spec"), Path::new("spec"));
    let encoded = spec.text("request");
    if let Err(why) = check_request(encoded) {
        errors.push(Error::invalid(&path.child("request"), encoded, why));
    }
    let at = path.child("usages");
    let was: Vec<&str> = old.field("spec").texts("usages").collect();
    if was.iter().all(|usage| USAGES.contains(usage)) {
        for (index, usage) in spec.texts("usages").enumerate().filter(|(_, usage)| !USAGES.contains(usage)) {
            errors.push(Error::not_supported(&at.index(index), usage, &USAGES));
        }
    }
    if was.iter().collect::<HashSet<_>>().len() == was.len() {
        let mut seen = HashSet::new();
        for (index, usage) in spec.texts("usages").enumerate() {
            if !seen.insert(usage) {
                errors.push(Error::duplicate(&at.index(index), usage));
            }
        }
    }
    let (signer, at) = (spec.text("signerName"), path.child("signerName"));
    if signer == LEGACY_SIGNER && old.field("spec").text("signerName") != LEGACY_SIGNER {
        errors.push(Error::invalid(&at, signer, "the legacy signerName is not allowed via this API version"));
    } else {
        validate_signer_name(&mut errors, signer, &at);
    }
    validate_conditions(&mut errors, request, old);
    let certificate = request.field("status").text("certificate");
    let was = old.field("status").text("certificate");
    let tolerated = old.is_some() && (certificate == was || check_certificate(was).is_err());
    if let Err(why) = check_certificate(certificate)
        && !tolerated
    {
        let path = Path::new("status").child("certificate");
        errors.push(Error::invalid(&path, "<certificate data>", why));
    }
    errors
}

fn validate_conditions(errors: &mut ErrorList, request: &Value, old: Option<&Value>) {
    let path = Path::new("status").child("conditions");
    let was = old.field("status").list("conditions");
    let types: Vec<&str> = was.iter().map(|condition| condition.text("type")).collect();
    let had_duplicates = types.iter().collect::<HashSet<_>>().len() != types.len();
    let had_both = types.contains(&"Approved") && types.contains(&"Denied");
    let mut seen: Vec<&str> = Vec::new();
    for (index, condition) in request.field("status").list("conditions").iter().enumerate() {
        let (at, kind, status) = (path.index(index), condition.text("type"), condition.text("status"));
        if kind.is_empty() && !types.contains(&"") {
            errors.push(Error::required(&at.child("type"), ""));
        }
        let allowed: &[&str] = if DECISIONS.contains(&kind) { &["True"] } else { &["False", "True", "Unknown"] };
        crate::validation::one_of(errors, &at.child("status"), status, allowed);
        let other = match kind {
            "Approved" => "Denied",
            "Denied" => "Approved",
            _ => "",
        };
        if !had_both && !other.is_empty() && seen.contains(&other) {
            errors.push(Error::invalid(&path, kind, "Approved and Denied conditions are mutually exclusive"));
        }
        if !had_duplicates && seen.contains(&kind) {
            errors.push(Error::duplicate(&at.child("type"), kind));
        }
        seen.push(kind);
    }
}

fn validate_change(new: &Value, old: &Value, door: Door) -> ErrorList {
    let mut errors = validate_request(new, Some(old));
    let path = Path::new("status").child("conditions");
    for kind in DECISIONS {
        if conditions(new, kind).len() < conditions(old, kind).len() {
            let detail = format!("updates may not remove a condition of type {kind:?}");
            errors.push(Error::forbidden(&path, detail));
        }
    }
    if door != Door::Approval {
        for kind in ["Approved", "Denied"] {
            let (now, was) = (conditions(new, kind), conditions(old, kind));
            let what = match now.len().cmp(&was.len()) {
                std::cmp::Ordering::Less => continue,
                std::cmp::Ordering::Greater => "add",
                std::cmp::Ordering::Equal if now != was => "modify",
                std::cmp::Ordering::Equal => continue,
            };
            errors.push(Error::forbidden(&path, format!("updates may not {what} a condition of type {kind:?}")));
        }
    }
    let (now, was) = (new.field("status").text("certificate"), old.field("status").text("certificate"));
    if now != was {
        let path = Path::new("status").child("certificate");
        if door != Door::Status {
            errors.push(Error::forbidden(&path, "updates may not set certificate content"));
        } else if !was.is_empty() {
            errors.push(Error::forbidden(&path, "updates may not modify existing certificate content"));
        }
    }
    errors
}

fn text_of(encoded: &str) -> String {
    String::from_utf8(BASE64_STANDARD.decode(encoded).unwrap_or_default()).unwrap_or_default()
}

/// A PKCS#10 request in PEM that is signed by the key it is for.
fn check_request(encoded: &str) -> Result<(), String> {
    let text = text_of(encoded);
    let block = pem::blocks(&text).into_iter().next().filter(|block| block.label == "CERTIFICATE REQUEST");
    let Some(block) = block else { return Err("PEM block type must be CERTIFICATE REQUEST".to_owned()) };
    let (rest, request) = X509CertificationRequest::from_der(&block.bytes)
        .map_err(|_| "asn1: structure error: malformed certificate request".to_owned())?;
    if !rest.is_empty() {
        return Err("asn1: syntax error: trailing data".to_owned());
    }
    request.verify_signature().map_err(|_| "x509: signature verification failed".to_owned())
}

/// The groups that the asker of a certificate wants to be in, or why the request cannot be
/// read.
pub fn requested_organizations(request: &Value) -> Result<Vec<String>, String> {
    requested_subject(request, |subject| {
        let organizations = subject.iter_organization();
        organizations.filter_map(|organization| organization.as_str().ok().map(str::to_owned)).collect()
    })
}

/// The name that the asker of a certificate wants to have; the last counts if there are
/// several, as in Go.
pub fn requested_common_name(request: &Value) -> Result<String, String> {
    requested_subject(request, |subject| {
        let last = subject.iter_common_name().last();
        last.and_then(|name| name.as_str().ok()).unwrap_or_default().to_owned()
    })
}

fn requested_subject<T>(request: &Value, read: impl FnOnce(&X509Name<'_>) -> T) -> Result<T, String> {
    let text = text_of(request.str_at(&["spec", "request"]));
    let block = pem::blocks(&text).into_iter().next().filter(|block| block.label == "CERTIFICATE REQUEST");
    let Some(block) = block else { return Err("PEM block type must be CERTIFICATE REQUEST".to_owned()) };
    let (_, request) = X509CertificationRequest::from_der(&block.bytes)
        .map_err(|_| "asn1: structure error: malformed certificate request".to_owned())?;
    Ok(read(&request.certification_request_info.subject))
}

fn check_certificate(encoded: &str) -> Result<(), String> {
    if encoded.is_empty() {
        return Ok(());
    }
    let blocks = pem::blocks(&text_of(encoded));
    for block in &blocks {
        if block.label != "CERTIFICATE" {
            return Err(format!("only CERTIFICATE PEM blocks are allowed, found {:?}", block.label));
        }
        if block.has_headers {
            return Err("no PEM block headers are permitted".to_owned());
        }
        X509Certificate::from_der(&block.bytes).map_err(|_| "x509: malformed certificate".to_owned())?;
    }
    if blocks.is_empty() {
        return Err("must contain at least one CERTIFICATE PEM block".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, context, row, texts};

    /// A request for `CN=a`, signed with an ECDSA P-256 key made for it.
    const REQUEST: &str = include_str!("testdata/request.b64");

    const CSR: CertificateSigningRequest = CertificateSigningRequest;

    fn request(spec: Value) -> Value {
        let mut request = json!({"metadata": {"name": "a"}, "spec": {
            "request": REQUEST.trim(), "signerName": "example.com/a", "usages": ["client auth"]}});
        if let Value::Object(fields) = spec {
            ensure_object(&mut request["spec"]).extend(fields);
        }
        request
    }

    #[test]
    fn a_request_is_signed_and_names_its_signer() {
        check(&CSR, request(json!({})), &[]);
        check(
            &CSR,
            request(json!({"request": "YQ==", "usages": [], "signerName": "kubernetes.io/legacy-unknown"})),
            &[
                "spec.request: Invalid value: \"YQ==\": PEM block type must be CERTIFICATE REQUEST",
                "spec.usages: Required value",
                "spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName is not allowed via this API version",
            ],
        );
        check(
            &CSR,
            request(json!({"expirationSeconds": 60, "usages": ["any", "any"]})),
            &[
                "spec.usages[1]: Duplicate value: \"any\"",
                "spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 600 seconds (10 minutes)",
            ],
        );
    }

    #[test]
    fn the_server_writes_down_who_asks() {
        let mut object = request(json!({"username": "root", "groups": ["system:masters"]}));
        object["status"] = json!({"certificate": "YQ=="});
        row("CertificateSigningRequest").prepare_for_create(&context(), &mut object);
        assert_eq!((&object["spec"]["username"], &object["spec"]["groups"]), (&json!("tester"), &json!(["testers"])));
        assert_eq!(object.get("status"), None);
    }

    #[test]
    fn approval_comes_through_its_own_door() {
        let old = request(json!({}));
        let mut new = old.clone();
        new["status"] = json!({"conditions": [{"type": "Approved", "status": "True"}], "certificate": "eA=="});
        new["spec"]["signerName"] = "example.com/b".into();
        let mut approved = new.clone();
        row("CertificateSigningRequest").prepare_for_update(&context(), "approval", &mut approved, &old);
        assert_eq!(approved["spec"], old["spec"]);
        assert_eq!(approved["status"]["conditions"][0]["lastUpdateTime"], "2026-01-01T00:10:00Z");
        assert_eq!(approved["status"].get("certificate"), None);
        assert_eq!(crate::testing::update_errors(&CSR, "approval", &approved, &old), []);
        let mut signed = approved.clone();
        signed["status"]["conditions"] = json!([]);
        assert_eq!(
            texts(&crate::testing::update_errors(&CSR, "status", &signed, &approved)),
            ["status.conditions: Forbidden: updates may not remove a condition of type \"Approved\""]
        );
        assert_eq!(
            texts(&crate::testing::update_errors(&CSR, "status", &approved, &old)),
            ["status.conditions: Forbidden: updates may not add a condition of type \"Approved\""]
        );
        approved["status"]["conditions"] =
            json!([{"type": "Approved", "status": "True"}, {"type": "Denied", "status": "True"}]);
        assert_eq!(
            texts(&crate::testing::update_errors(&CSR, "approval", &approved, &old)),
            ["status.conditions: Invalid value: \"Denied\": Approved and Denied conditions are mutually exclusive"]
        );
    }

    #[test]
    fn a_request_is_shown_with_its_state() {
        let mut shown = request(json!({"username": "u", "expirationSeconds": 3600}));
        assert_eq!(
            Value::from(cells("CertificateSigningRequest", shown.clone())),
            json!(["a", "10m", "example.com/a", "u", "60m", "Pending"])
        );
        shown["status"] = json!({"conditions": [{"type": "Approved"}], "certificate": "eA=="});
        assert_eq!(cells("CertificateSigningRequest", shown)[5], "Approved,Issued");
    }
}
