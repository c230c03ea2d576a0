//! The extenders of a configuration.
//!
//! Upstream: `validateExtenders` of pkg/scheduler/apis/config/validation/validation.go, and
//! `makeTransport` of pkg/scheduler/extender.go.

use super::read::{Mistakes, Object};
use crate::extender::{ExtenderConfig, TlsConfig};
use base64::Engine as _;
use ferry_api::field::{Error, Path};
use ferry_api::rules::duration::GoDuration;
use ferry_api::rules::resource_name::is_extended;
use ferry_api::selector::label_key_errors;
use std::collections::BTreeSet;
use std::time::Duration;

/// Upstream's DefaultExtenderTimeout.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

const FIELDS: [&str; 12] = [
    "urlPrefix",
    "filterVerb",
    "preemptVerb",
    "prioritizeVerb",
    "weight",
    "bindVerb",
    "enableHTTPS",
    "tlsConfig",
    "httpTimeout",
    "nodeCacheCapable",
    "managedResources",
    "ignorable",
];

const TLS_FIELDS: [&str; 8] =
    ["insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"];

/// The extenders, and the resources that they judge in the scheduler's place.
pub fn read_extenders(root: &Object<'_>, mistakes: &mut Mistakes) -> (Vec<ExtenderConfig>, BTreeSet<String>) {
    let (mut out, mut ignored, mut seen) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for object in root.objects("extenders", &FIELDS, mistakes) {
        let mut text = |name: &str| object.text(name, mistakes).unwrap_or_default().to_owned();
        let mut config = ExtenderConfig {
            url: text("urlPrefix"),
            filter: text("filterVerb"),
            prioritize: text("prioritizeVerb"),
            preempt: text("preemptVerb"),
            bind: text("bindVerb"),
            ..ExtenderConfig::default()
        };
        config.weight = object.number("weight", mistakes).unwrap_or(0);
        if !config.prioritize.is_empty() && config.weight <= 0 {
            let path = object.path.child("weight");
            let reason = "must have a positive weight applied to it";
            mistakes.validation.push(Error::invalid(&path, config.weight, reason));
        }
        let timeout = object.duration("httpTimeout", mistakes).map_or(Duration::ZERO, GoDuration::duration);
        config.timeout = if timeout.is_zero() { DEFAULT_TIMEOUT } else { timeout };
        config.is_node_cache_capable = object.flag("nodeCacheCapable", mistakes).unwrap_or(false);
        config.is_ignorable = object.flag("ignorable", mistakes).unwrap_or(false);
        for resource in object.objects("managedResources", &["name", "ignoredByScheduler"], mistakes) {
            let name = resource.text("name", mistakes).unwrap_or_default().to_owned();
            check_resource(&name, &resource.path.child("name"), !seen.insert(name.clone()), mistakes);
            if resource.flag("ignoredByScheduler", mistakes) == Some(true) {
                ignored.insert(name.clone());
            }
            config.managed_resources.insert(name);
        }
        let uses_https = object.flag("enableHTTPS", mistakes).unwrap_or(false);
        config.tls = read_tls(&object.object("tlsConfig", &TLS_FIELDS, mistakes), uses_https, mistakes);
        out.push(config);
    }
    let binders = out.iter().filter(|config: &&ExtenderConfig| !config.bind.is_empty()).count();
    if binders > 1 {
        let found = format!("found {binders} extenders implementing bind");
        let reason = "only one extender can implement bind";
        mistakes.validation.push(Error::invalid(&Path::new("extenders"), found, reason));
    }
    (out, ignored)
}

fn check_resource(name: &str, path: &Path, is_duplicate: bool, mistakes: &mut Mistakes) {
    let errors = label_key_errors(name);
    let is_qualified = errors.is_empty();
    mistakes.validation.extend(errors.into_iter().map(|reason| Error::invalid(path, name, reason)));
    if is_qualified && !is_extended(name) {
        mistakes.validation.push(Error::invalid(path, name, "is an invalid extended resource name"));
    }
    if is_duplicate {
        mistakes.validation.push(Error::invalid(path, name, "duplicate extender managed resource name"));
    }
}

/// HTTPS without an authority verifies nothing, as upstream has it.
fn read_tls(object: &Object<'_>, uses_https: bool, mistakes: &mut Mistakes) -> TlsConfig {
    let authorities = read_pem(object, "caData", "caFile", mistakes);
    let certificate = read_pem(object, "certData", "certFile", mistakes);
    let key = read_pem(object, "keyData", "keyFile", mistakes);
    TlsConfig {
        is_insecure: object.flag("insecure", mistakes).unwrap_or(false) || uses_https && authorities.is_none(),
        server_name: object.text("serverName", mistakes).unwrap_or_default().to_owned(),
        authorities,
        identity: certificate.zip(key),
    }
}

/// The bytes of a field, or of the file that another names.
fn read_pem(object: &Object<'_>, data: &str, file: &str, mistakes: &mut Mistakes) -> Option<Vec<u8>> {
    if let Some(text) = object.text(data, mistakes).filter(|text| !text.is_empty()) {
        let decoded = base64::engine::general_purpose::STANDARD.decode(text);
        return decoded.map_err(|error| mistakes.decoding.push(format!("{data}: {error}"))).ok();
    }
    let name = object.text(file, mistakes).filter(|name| !name.is_empty())?;
    let read = std::fs::read(name);
    let refuse = |error: std::io::Error| Error::invalid(&object.path.child(file), name, error.to_string());
    read.map_err(|error| mistakes.validation.push(refuse(error))).ok()
}
