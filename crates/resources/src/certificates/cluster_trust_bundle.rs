//! ClusterTrustBundle: the strategy of whom to trust, as a list of root certificates.

use super::pem;
use crate::read::Read;
use crate::validation::each;
use crate::{Strategy, names};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::Value;
use x509_parser::prelude::{FromDer, X509Certificate};

pub struct ClusterTrustBundle;

const MAX_BUNDLE: usize = 1024 * 1024;
const OMITTED: &str = "<value omitted>";

impl Strategy for ClusterTrustBundle {
    fn validate(&self, bundle: &Value) -> ErrorList {
        validate(bundle, true)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate(new, new.field("spec").text("trustBundle") != old.field("spec").text("trustBundle"))
    }
}

fn validate(bundle: &Value, parse: bool) -> ErrorList {
    let mut errors = ErrorList::new();
    let (spec, path) = (bundle.field("spec"), Path::new("spec"));
    let (signer, name) = (spec.text("signerName"), bundle.name());
    each(&mut errors, &Path::new("metadata").child("name"), name, name_mistakes(name, signer));
    if parse {
        validate_bundle(&mut errors, spec.text("trustBundle"), &path.child("trustBundle"));
    }
    errors
}

/// The bundle of a signer carries its name: `example.com:signer:a`.
fn name_mistakes(name: &str, signer: &str) -> Vec<String> {
    if signer.is_empty() {
        if name.contains(':') {
            return vec!["ClusterTrustBundle without signer name must not have \":\" in its name".to_owned()];
        }
        return names::dns1123_subdomain(name, false);
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match name.strip_prefix(&prefix) {
        Some(rest) => names::dns1123_subdomain(rest, false),
        None => vec![format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}")],
    }
}

fn validate_bundle(errors: &mut ErrorList, text: &str, path: &Path) {
    if text.len() > MAX_BUNDLE {
        errors.push(Error::too_long(path, MAX_BUNDLE));
        return;
    }
    let before = errors.len();
    let blocks = pem::blocks(text);
    for (index, block) in blocks.iter().enumerate() {
        let mut say = |what: String| errors.push(Error::invalid(path, OMITTED, format!("entry {index} {what}")));
        if block.label != "CERTIFICATE" {
            say(format!("has bad block type: {}", block.label));
        } else if block.has_headers {
            say("has PEM block headers".to_owned());
        } else {
            match X509Certificate::from_der(&block.bytes) {
                Err(_) => say("does not parse as X.509".to_owned()),
                Ok((_, certificate)) if !certificate.is_ca() => say("does not have the CA bit set".to_owned()),
                Ok(_) => {}
            }
        }
    }
    if errors.len() > before {
        return;
    }
    if blocks.is_empty() {
        errors.push(Error::invalid(path, OMITTED, "at least one trust anchor must be provided"));
    }
    for (index, block) in blocks.iter().enumerate() {
        let same: Vec<String> = (0..blocks.len())
            .filter(|&other| blocks[other].bytes == block.bytes)
            .map(|other| other.to_string())
            .collect();
        // Each group of equal ones is told once, where its first stands.
        if same.len() > 1 && same[0] == index.to_string() {
            let detail = format!("duplicate trust anchor (indices [{}])", same.join(" "));
            errors.push(Error::invalid(path, OMITTED, detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    const AUTHORITY: &str = include_str!("testdata/authority.pem");

    fn bundle(name: &str, signer: &str, text: &str) -> Value {
        json!({"metadata": {"name": name}, "spec": {"signerName": signer, "trustBundle": text}})
    }

    #[test]
    fn a_bundle_holds_authorities() {
        check(&ClusterTrustBundle, bundle("a", "", AUTHORITY), &[]);
        check(&ClusterTrustBundle, bundle("a.b:c:x", "a.b/c", AUTHORITY), &[]);
        check(
            &ClusterTrustBundle,
            bundle("x", "a.b/c", ""),
            &[
                "metadata.name: Invalid value: \"x\": ClusterTrustBundle for signerName a.b/c must be named with prefix a.b:c:",
                "spec.trustBundle: Invalid value: \"<value omitted>\": at least one trust anchor must be provided",
            ],
        );
        check(
            &ClusterTrustBundle,
            bundle("a", "", &format!("{AUTHORITY}{AUTHORITY}")),
            &["spec.trustBundle: Invalid value: \"<value omitted>\": duplicate trust anchor (indices [0 1])"],
        );
    }
}
