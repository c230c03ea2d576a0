//! A projected volume: files of several sources in one directory, no two at one path.

use super::env::validate_downward_file;
use super::volume::validate_local_path;
use crate::certificates::signer_name::validate_signer_name;
use crate::names;
use crate::read::Read;
use crate::validation::labels::validate_label_selector;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;
use std::collections::HashSet;

pub(crate) fn validate_projected(errors: &mut ErrorList, projected: &Value, path: &Path) {
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
            for item in source.list("items") {
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
            // Upstream reports the token's path at the volume.
            let file = token.text("path");
            if file.is_empty() {
                errors.push(Error::required(&path.child("path"), ""));
            } else {
                validate_local_path(errors, file, &path.child("path"));
            }
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
            if !signer.is_empty() {
                validate_signer_name(errors, signer, &path.child("signerName"));
            }
            validate_label_selector(errors, bundle.field("labelSelector"), &path.child("labelSelector"));
        }
        (None, None) => errors.push(Error::required(path, "either name or signerName must be specified")),
    }
}

fn validate_certificate<'a>(
    errors: &mut ErrorList,
    certificate: &'a Value,
    taken: &mut HashSet<&'a str>,
    at: &Path,
    volume: &Path,
) {
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
