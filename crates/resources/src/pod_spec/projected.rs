//! A projected volume: files of several sources in one directory, no two at one path.

use super::env::validate_downward_file;
use super::volume::{validate_key_to_path, validate_local_path, validate_mode};
use crate::names;
use crate::read::Read;
use crate::validation::each;
use crate::validation::labels::validate_label_selector;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

const TEN_MINUTES: i64 = 600;

pub fn validate_projected(errors: &mut ErrorList, projected: &Value, path: &Path) {
    validate_mode(errors, projected.opt_int("defaultMode"), &path.child("defaultMode"));
    let mut taken = HashSet::new();
    for (index, source) in projected.list("sources").iter().enumerate() {
        let at = path.child("sources").index(index);
        let mut count = 0;
        for key in ["secret", "configMap"] {
            let Some(source) = source.field(key) else { continue };
            count += 1;
            let (at, name) = (at.child(key), source.text("name"));
            if name.is_empty() {
                errors.push(Error::required(&at.child("name"), ""));
            }
            for (index, item) in source.list("items").iter().enumerate() {
                validate_key_to_path(errors, item, &at.child("items").index(index));
                claim_path(errors, &mut taken, item.text("path"), name, path);
            }
        }
        if let Some(source) = source.field("downwardAPI") {
            count += 1;
            for file in source.list("items") {
                validate_downward_file(errors, file, &at.child("downwardAPI"));
                claim_path(errors, &mut taken, file.text("path"), file.text("path"), path);
            }
        }
        if let Some(token) = source.field("serviceAccountToken") {
            count += 1;
            validate_token(errors, token, &at.child("serviceAccountToken"), path);
        }
        if let Some(bundle) = source.field("clusterTrustBundle") {
            count += 1;
            validate_trust_bundle(errors, bundle, &at.child("clusterTrustBundle"));
            claim_path(errors, &mut taken, bundle.text("path"), bundle.text("path"), path);
        }
        if let Some(certificate) = source.field("podCertificate") {
            count += 1;
            validate_certificate(errors, certificate, &mut taken, &at.child("podCertificate"), path);
        }
        if count > 1 {
            errors.push(Error::forbidden(&at, "may not specify more than 1 volume type per source"));
        }
    }
}

fn claim_path<'a>(errors: &mut ErrorList, taken: &mut HashSet<&'a str>, file: &'a str, shown: &str, path: &Path) {
    if !file.is_empty() && !taken.insert(file) {
        errors.push(Error::invalid(path, shown, "conflicting duplicate paths"));
    }
}

/// Upstream reports the token's path at the volume, its lifetime at the source.
fn validate_token(errors: &mut ErrorList, token: &Value, at: &Path, volume: &Path) {
    let seconds = token.int("expirationSeconds");
    let at = at.child("expirationSeconds");
    if seconds < TEN_MINUTES {
        errors.push(Error::invalid(&at, seconds, "may not specify a duration less than 10 minutes"));
    }
    if seconds > 1 << 32 {
        errors.push(Error::invalid(&at, seconds, "may not specify a duration larger than 2^32 seconds"));
    }
    let file = token.text("path");
    if file.is_empty() {
        errors.push(Error::required(&volume.child("path"), ""));
    } else {
        validate_local_path(errors, file, &volume.child("path"));
    }
}

fn validate_trust_bundle(errors: &mut ErrorList, bundle: &Value, path: &Path) {
    match (bundle.opt_text("name"), bundle.opt_text("signerName")) {
        (Some(_), Some(_)) => {
            errors.push(Error::invalid(path, bundle.clone(), "only one of name and signerName may be used"));
        }
        (Some(name), None) => {
            if name.is_empty() {
                errors.push(Error::required(&path.child("name"), "must be a valid object name"));
            }
            let plain = name.rsplit(':').next().unwrap_or(name);
            for sentence in names::dns1123_subdomain(plain, false) {
                let detail = format!("not a valid clustertrustbundlename: {sentence}");
                errors.push(Error::invalid(&path.child("name"), name, detail));
            }
            if let Some(selector) = bundle.field("labelSelector") {
                let detail = "labelSelector must be unset if name is specified";
                errors.push(Error::invalid(&path.child("labelSelector"), selector.clone(), detail));
            }
        }
        (None, Some(signer)) => {
            if signer.is_empty() {
                errors.push(Error::required(&path.child("signerName"), "must be a valid signer name"));
            }
            validate_signer(errors, signer, &path.child("signerName"));
            validate_label_selector(errors, bundle.field("labelSelector"), &path.child("labelSelector"));
        }
        (None, None) => errors.push(Error::required(path, "either name or signerName must be specified")),
    }
    let file = bundle.text("path");
    if file.is_empty() {
        errors.push(Error::required(&path.child("path"), ""));
    }
    validate_local_path(errors, file, &path.child("path"));
}

fn validate_certificate<'a>(
    errors: &mut ErrorList,
    certificate: &'a Value,
    taken: &mut HashSet<&'a str>,
    at: &Path,
    volume: &Path,
) {
    validate_signer(errors, certificate.text("signerName"), &at.child("signerName"));
    let kinds = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];
    let kind = certificate.text("keyType");
    if !kinds.contains(&kind) {
        errors.push(Error::not_supported(&at.child("keyType"), kind, &kinds));
    }
    if let Some(seconds) = certificate.opt_int("maxExpirationSeconds") {
        // One day for Kubernetes' own signers, ninety-one days for others.
        let most = if certificate.text("signerName").starts_with("kubernetes.io/") { 86_400 } else { 7_862_400 };
        let at = at.child("maxExpirationSeconds");
        if seconds < 3600 {
            errors.push(Error::invalid(&at, seconds, "if provided, maxExpirationSeconds must be >= 3600"));
        }
        if seconds > most {
            errors.push(Error::invalid(&at, seconds, format!("if provided, maxExpirationSeconds must be <= {most}")));
        }
    }
    let mut any = false;
    for key in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let file = certificate.text(key);
        if !file.is_empty() {
            any = true;
            validate_local_path(errors, file, &at.child(key));
            claim_path(errors, taken, file, file, volume);
        }
    }
    if !any {
        errors.push(Error::required(
            at,
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
        ));
    }
}

/// `example.com/name`: a domain and a path.
fn validate_signer(errors: &mut ErrorList, signer: &str, path: &Path) {
    if signer.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    let parts: Vec<&str> = signer.split('/').collect();
    let [domain, name] = parts[..] else {
        errors.push(Error::invalid(
            path,
            signer,
            "must be a fully qualified domain and path of the form 'example.com/signer-name'",
        ));
        return;
    };
    if domain.len() > 253 {
        errors.push(Error::too_long(path, 253));
    }
    validate_parts(errors, domain, names::is_dns1123_label, path);
    if !domain.contains('.') {
        errors.push(Error::invalid(path, domain, "should be a domain with at least two segments separated by dots"));
    }
    validate_parts(errors, name, names::is_dns1123_subdomain, path);
}

/// The first bad part between dots; telling of more would only repeat.
fn validate_parts(errors: &mut ErrorList, whole: &str, rule: fn(&str) -> Vec<String>, path: &Path) {
    for part in whole.split('.') {
        let sentences = rule(part);
        if !sentences.is_empty() {
            let told = sentences.into_iter().map(|sentence| format!("validating label {part:?}: {sentence}")).collect();
            each(errors, path, whole, told);
            return;
        }
    }
}
