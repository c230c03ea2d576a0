//! PodCertificateRequest: the strategy of a kubelet asking for a pod's certificate.

use super::pem;
use crate::read::{Read, ReadNode};
use crate::validation::shown;
use crate::{Strategy, print};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use jiff::Timestamp;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use serde_json::{Value, json};
use x509_parser::prelude::{FromDer, SubjectPublicKeyInfo, X509Certificate, X509CertificationRequest};
use x509_parser::public_key::PublicKey;

pub struct PodCertificateRequest;

const MAX_KEY: usize = 10 * 1024;
const MAX_CHAIN: usize = 100 * 1024;
const HOUR: i64 = 3600;
const MAX_LIFETIME: i64 = 91 * 24 * HOUR;
const STATES: [&str; 3] = ["Issued", "Denied", "Failed"];

impl Strategy for PodCertificateRequest {
    fn validate(&self, request: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (request.field("spec"), Path::new("spec"));
        let signer = spec.text("signerName");
        for uid in ["podUID", "serviceAccountUID", "nodeUID"] {
            if spec.text(uid).is_empty() {
                errors.push(Error::invalid(&path.child(uid), "", "must not be empty"));
            }
        }
        let at = path.child("maxExpirationSeconds");
        let Some(seconds) = spec.opt_int("maxExpirationSeconds") else { return errors };
        let is_kubernetes = signer
            .split('/')
            .next()
            .is_some_and(|domain| domain == "kubernetes.io" || domain.ends_with(".kubernetes.io"));
        let most = if is_kubernetes { 24 * HOUR } else { MAX_LIFETIME };
        if !(HOUR..=most).contains(&seconds) {
            errors.push(Error::invalid(&at, seconds, format!("must be in the range [{HOUR}, {most}]")));
        }
        validate_key(&mut errors, spec, &path);
        errors
    }

    fn validate_update(&self, _new: &Value, _old: &Value) -> ErrorList {
        ErrorList::new()
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_status(new, old)
    }

    fn computed_cells(&self, request: Node<'_>, _now: Timestamp) -> Vec<Value> {
        vec![state(request).unwrap_or("Pending").into()]
    }
}

fn state(request: Node<'_>) -> Option<&str> {
    let conditions = request.field("status").list("conditions");
    conditions.iter().map(|condition| condition.text("type")).filter(|kind| STATES.contains(kind)).last()
}

fn bytes_of(spec: Option<&Value>, key: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(spec.text(key)).unwrap_or_default()
}

fn validate_key(errors: &mut ErrorList, spec: Option<&Value>, path: &Path) {
    let (stub, key, proof) =
        (bytes_of(spec, "stubPKCS10Request"), bytes_of(spec, "pkixPublicKey"), bytes_of(spec, "proofOfPossession"));
    match (stub.is_empty(), key.is_empty(), proof.is_empty()) {
        (false, true, true) => {
            let at = path.child("stubPKCS10Request");
            if stub.len() > MAX_KEY {
                errors.push(Error::too_long(&at, MAX_KEY));
                return;
            }
            let Ok((_, request)) = X509CertificationRequest::from_der(&stub) else {
                errors.push(omitted(&at, "must be a valid PKCS#10 CSR"));
                return;
            };
            let known = validate_key_type(errors, &request.certification_request_info.subject_pki, &at);
            if known && request.verify_signature().is_err() {
                errors.push(omitted(&at, "invalid signature"));
            }
        }
        (true, false, false) => {
            let (at, proof_at) = (path.child("pkixPublicKey"), path.child("proofOfPossession"));
            for (bytes, at) in [(&key, &at), (&proof, &proof_at)] {
                if bytes.len() > MAX_KEY {
                    errors.push(Error::too_long(at, MAX_KEY));
                    return;
                }
            }
            let Ok((_, info)) = SubjectPublicKeyInfo::from_der(&key) else {
                let detail = "must be a valid PKIX-serialized public key";
                errors.push(Error::invalid(&at, spec.text("pkixPublicKey"), detail));
                return;
            };
            if validate_key_type(errors, &info, &at) && !proves_possession(&info, spec.text("podUID"), &proof) {
                errors.push(omitted(&proof_at, "could not verify proof-of-possession signature"));
            }
        }
        _ => {
            let detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
            errors.push(omitted(path, detail));
        }
    }
}

/// An error that shows no value.
fn omitted(path: &Path, detail: &str) -> Error {
    Error { value: None, ..Error::invalid(path, Value::Null, detail) }
}

const ED25519: &str = "1.3.101.112";

fn validate_key_type(errors: &mut ErrorList, info: &SubjectPublicKeyInfo<'_>, path: &Path) -> bool {
    match info.parsed() {
        Ok(PublicKey::EC(point)) => {
            let known = matches!(point.key_size(), 256 | 384 | 521 | 528);
            if !known {
                let detail = "elliptic public keys must use curve P256, P384, or P521";
                errors.push(Error::invalid(path, format!("curve of {} bits", point.key_size()), detail));
            }
            known
        }
        Ok(PublicKey::RSA(key)) => {
            let bits = key.key_size();
            let known = matches!(bits, 3072 | 4096);
            if !known {
                let detail = "RSA keys must have modulus size 3072 or 4096";
                errors.push(Error::invalid(path, format!("{bits}-bit modulus"), detail));
            }
            known
        }
        _ if info.algorithm.algorithm.to_id_string() == ED25519 => true,
        _ => {
            let detail = "unknown public key type; supported types are Ed25519, ECDSA, and RSA";
            errors.push(omitted(path, detail));
            false
        }
    }
}

/// Whether the key signed the uid of the pod.
fn proves_possession(info: &SubjectPublicKeyInfo<'_>, uid: &str, proof: &[u8]) -> bool {
    let algorithm: &dyn VerificationAlgorithm = match info.parsed() {
        Ok(PublicKey::EC(point)) if point.key_size() == 256 => &signature::ECDSA_P256_SHA256_ASN1,
        Ok(PublicKey::EC(point)) if point.key_size() == 384 => &signature::ECDSA_P384_SHA256_ASN1,
        Ok(PublicKey::RSA(_)) => &signature::RSA_PSS_2048_8192_SHA256,
        _ if info.algorithm.algorithm.to_id_string() == ED25519 => &signature::ED25519,
        _ => return false,
    };
    UnparsedPublicKey::new(algorithm, &info.subject_public_key.data).verify(uid.as_bytes(), proof).is_ok()
}

fn validate_status(new: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let (status, path) = (new.field("status"), Path::new("status"));
    let mut known = 0;
    for (index, condition) in status.list("conditions").iter().enumerate() {
        let at = path.child("conditions").index(index);
        let (kind, value) = (condition.text("type"), condition.text("status"));
        if !STATES.contains(&kind) {
            errors.push(Error::not_supported(&at.child("type"), kind, &STATES));
            continue;
        }
        known += 1;
        if known > 1 {
            let detail = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
            errors.push(Error::invalid(&at.child("type"), kind, detail));
        }
        if value != "True" {
            errors.push(Error::not_supported(&at.child("status"), value, &["True"]));
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    if state(Node::Value(old)).is_some() {
        if status != old.field("status") {
            let detail = "immutable after PodCertificateRequest is issued, denied, or failed";
            errors.push(Error::invalid(&path, shown(status), detail));
        }
        return errors;
    }
    match state(Node::Value(new)) {
        Some("Issued") => validate_issued(&mut errors, new, &path),
        Some(_) if status != Some(&json!({"conditions": status.list("conditions")})) => {
            let detail = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
            errors.push(Error::invalid(&path, shown(status), detail));
        }
        _ => {}
    }
    errors
}

/// A certificate of the key that was asked for, valid as long as the status says.
fn validate_issued(errors: &mut ErrorList, request: &Value, path: &Path) {
    let (status, at) = (request.field("status"), path.child("certificateChain"));
    let chain = status.text("certificateChain");
    if chain.len() > MAX_CHAIN {
        errors.push(Error::too_long(&at, MAX_CHAIN));
        return;
    }
    let mut say = |detail: &str| errors.push(Error::invalid(&at, chain, detail));
    let blocks = pem::blocks(chain);
    let Some(first) = blocks.first() else {
        say("issued certificate chain must contain at least one certificate");
        return;
    };
    if blocks.iter().any(|block| block.label != "CERTIFICATE") {
        say("issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
        return;
    }
    let Ok((_, leaf)) = X509Certificate::from_der(&first.bytes) else {
        say("leaf certificate does not parse as valid X.509");
        return;
    };
    let spec = request.field("spec");
    let (stub, key) = (bytes_of(spec, "stubPKCS10Request"), bytes_of(spec, "pkixPublicKey"));
    let asked = match X509CertificationRequest::from_der(&stub) {
        Ok((_, request)) => request.certification_request_info.subject_pki.raw.to_vec(),
        Err(_) => key,
    };
    if leaf.public_key().raw != asked {
        say("leaf certificate was not issued to the requested public key");
        return;
    }
    let consistent = "must be present and consistent with the issued certificate";
    for (key, detail) in [
        ("notBefore", consistent),
        ("notAfter", consistent),
        ("beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]"),
    ] {
        if !status.has(key) {
            errors.push(Error::required(&path.child(key), detail));
        }
    }
    let time =
        |key: &str| status.field(key).and_then(|time| print::timestamp(Node::Value(time))).map(|time| time.as_second());
    let (Some(not_before), Some(not_after), Some(refresh)) =
        (time("notBefore"), time("notAfter"), time("beginRefreshAt"))
    else {
        return;
    };
    let validity = leaf.validity();
    let mut wrong = |key: &str, detail: &str| {
        errors.push(Error::invalid(&path.child(key), status.text(key), detail));
    };
    if not_before != validity.not_before.timestamp() {
        wrong("notBefore", "must be set to the NotBefore time encoded in the leaf certificate");
    } else if not_after != validity.not_after.timestamp() {
        wrong("notAfter", "must be set to the NotAfter time encoded in the leaf certificate");
    } else if refresh < not_before + 600 {
        wrong("beginRefreshAt", "must be at least 10 minutes after status.notBefore");
    } else if refresh > not_after - 600 {
        wrong("beginRefreshAt", "must be at least 10 minutes before status.notAfter");
    } else if not_after - not_before < HOUR {
        errors.push(Error::invalid(&at, not_after - not_before, "leaf certificate lifetime must be >= 1 hour"));
    } else if not_after - not_before > spec.int("maxExpirationSeconds") {
        let detail = format!(
            "leaf certificate lifetime must be <= spec.maxExpirationSeconds ({})",
            spec.int("maxExpirationSeconds")
        );
        errors.push(Error::invalid(&at, not_after - not_before, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, texts};

    fn request(changes: Value) -> Value {
        let mut spec = json!({
            "signerName": "example.com/a", "podName": "p", "podUID": "1", "serviceAccountName": "s",
            "serviceAccountUID": "2", "nodeName": "n", "nodeUID": "3", "maxExpirationSeconds": 3600,
            "stubPKCS10Request": include_str!("testdata/stub_request.b64").trim(),
        });
        if let (Some(spec), Value::Object(changes)) = (spec.as_object_mut(), changes) {
            spec.extend(changes);
        }
        json!({"metadata": {"name": "a"}, "spec": spec})
    }

    #[test]
    fn a_request_proves_its_key() {
        check(&PodCertificateRequest, request(json!({})), &[]);
        check(
            &PodCertificateRequest,
            request(json!({"podUID": "", "maxExpirationSeconds": 1, "stubPKCS10Request": "YQ=="})),
            &[
                "spec.podUID: Invalid value: \"\": must not be empty",
                "spec.maxExpirationSeconds: Invalid value: 1: must be in the range [3600, 7862400]",
                "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR",
            ],
        );
        check(
            &PodCertificateRequest,
            request(json!({"stubPKCS10Request": null})),
            &[
                "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set",
            ],
        );
    }

    #[test]
    fn a_decision_is_final() {
        let condition = |kind: &str| {
            json!({"status": {"conditions": [{"type": kind, "status": "True", "reason": "R",
                "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})
        };
        assert_eq!(
            crate::testing::update_errors(&PodCertificateRequest, "status", &condition("Denied"), &json!({})),
            []
        );
        let errors =
            crate::testing::update_errors(&PodCertificateRequest, "status", &condition("Failed"), &condition("Denied"));
        assert_eq!(errors[0].detail, "immutable after PodCertificateRequest is issued, denied, or failed");
        assert_eq!(
            texts(&crate::testing::update_errors(&PodCertificateRequest, "status", &condition("Issued"), &json!({}))),
            [
                "status.certificateChain: Invalid value: \"\": issued certificate chain must contain at least one certificate"
            ]
        );
    }
}
