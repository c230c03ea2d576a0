//! What an EncryptionConfiguration must keep to, with upstream's sentences
//! (apis/apiserver/validation/validation_encryption.go).

use super::config::{EncryptionConfiguration, Key, Keys, KmsConfiguration, ProviderConfiguration};
use super::rules::Pattern;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::json;
use std::collections::BTreeSet;

const AES_KEY_SIZES: [usize; 3] = [16, 24, 32];
const SECRETBOX_KEY_SIZES: [usize; 1] = [32];
const REDACTED: &str = "REDACTED";

pub(super) fn validate(config: &EncryptionConfiguration) -> ErrorList {
    let root = Path::new("resources");
    if config.resources.is_empty() {
        return vec![at_least_one(&root, root.as_str())];
    }
    let mut errors = Vec::new();
    let mut kms_names = BTreeSet::new();
    for (index, rule) in config.resources.iter().enumerate() {
        let (resources, providers) = (root.index(index).child("resources"), root.index(index).child("providers"));
        if rule.resources.is_empty() {
            errors.push(at_least_one(&resources, resources.as_str()));
        }
        errors.extend(validate_overlap(&rule.resources, &resources));
        errors.extend(validate_names(&rule.resources, &resources));
        if rule.providers.is_empty() {
            errors.push(at_least_one(&providers, providers.as_str()));
        }
        for (index, provider) in rule.providers.iter().enumerate() {
            errors.extend(validate_provider(provider, &providers.index(index), &mut kms_names));
        }
    }
    errors
}

fn at_least_one(path: &Path, what: &str) -> Error {
    Error::required(path, format!("at least one {what} is required"))
}

fn validate_overlap(resources: &[String], path: &Path) -> ErrorList {
    let patterns: Vec<Pattern> = resources.iter().map(|resource| Pattern::parse(resource)).collect();
    let pairs = || {
        patterns.iter().enumerate().flat_map(|(i, one)| {
            patterns.iter().enumerate().filter(move |(j, _)| i != *j).map(move |(_, other)| (one, other))
        })
    };
    let duplicate = pairs().any(|(one, other)| one == other);
    let overlap = pairs().filter(|(one, other)| one != other).any(|(one, other)| {
        one.is_everything() || (one.group == other.group && (one.resource == "*" || other.resource == "*"))
    });
    let mut errors = Vec::new();
    if duplicate {
        let why = "the same resource cannot be specified multiple times";
        errors.push(Error::invalid(path, json!(resources), why));
    }
    if overlap {
        let why = "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked";
        errors.push(Error::invalid(path, json!(resources), why));
    }
    errors
}

fn validate_names(resources: &[String], path: &Path) -> ErrorList {
    let mut errors = Vec::new();
    for (index, resource) in resources.iter().enumerate() {
        let pattern = Pattern::parse(resource);
        let why = if resource.to_lowercase() != *resource {
            "resource name should not contain capital letters"
        } else if resource == "*" {
            "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"
        } else if ["apiserveripinfo", "serviceipallocations", "servicenodeportallocations"].contains(&resource.as_str())
        {
            "resources which do not have REST API/s cannot be encrypted"
        } else if pattern.group == "events.k8s.io" {
            "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file"
        } else if pattern.group == "extensions" {
            "'extensions' group has been removed and cannot be used for encryption"
        } else if pattern.group == "*" && pattern.resource != "*" {
            "encrypting the same resource across groups is not supported"
        } else {
            continue;
        };
        errors.push(Error::invalid(&path.index(index), resource.as_str(), why));
    }
    errors
}

fn validate_provider(provider: &ProviderConfiguration, path: &Path, kms_names: &mut BTreeSet<String>) -> ErrorList {
    let found = [
        provider.kms.is_some(),
        provider.aesgcm.is_some(),
        provider.aescbc.is_some(),
        provider.secretbox.is_some(),
        provider.identity.is_some(),
    ];
    let mut errors = Vec::new();
    // Upstream shows the whole provider here, with its keys.
    match found.iter().filter(|found| **found).count() {
        0 => errors.push(Error::invalid(
            path,
            REDACTED,
            "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity",
        )),
        1 => {}
        _ => errors.push(Error::invalid(
            path,
            REDACTED,
            "more than one provider specified in a single element, should split into different list elements",
        )),
    }
    if let Some(kms) = &provider.kms {
        errors.extend(validate_kms(kms, &path.child("kms"), kms_names));
        kms_names.insert(kms.name.clone());
    } else if let Some(aes) = &provider.aesgcm {
        errors.extend(validate_keys(aes, &path.child("aesgcm").child("keys"), &AES_KEY_SIZES));
    } else if let Some(aes) = &provider.aescbc {
        errors.extend(validate_keys(aes, &path.child("aescbc").child("keys"), &AES_KEY_SIZES));
    } else if let Some(secretbox) = &provider.secretbox {
        errors.extend(validate_keys(secretbox, &path.child("secretbox").child("keys"), &SECRETBOX_KEY_SIZES));
    }
    errors
}

fn validate_keys(keys: &Keys, path: &Path, sizes: &[usize]) -> ErrorList {
    if keys.keys.is_empty() {
        return vec![at_least_one(path, "keys")];
    }
    keys.keys.iter().enumerate().flat_map(|(index, key)| validate_key(key, &path.index(index), sizes)).collect()
}

fn validate_key(key: &Key, path: &Path, sizes: &[usize]) -> ErrorList {
    let mut errors = Vec::new();
    if key.name.is_empty() {
        errors.push(Error::required(&path.child("name"), "name is a mandatory field for a key"));
    }
    let path = path.child("secret");
    if key.secret.is_empty() {
        errors.push(Error::required(&path, "secret is a mandatory field for a key"));
        return errors;
    }
    match STANDARD.decode(&key.secret) {
        Err(_) => errors.push(Error::invalid(&path, REDACTED, "secrets must be base64 encoded")),
        Ok(bytes) if !sizes.contains(&bytes.len()) => {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            let why = format!(
                "secret is not of the expected length, got {}, expected one of [{}]",
                bytes.len(),
                sizes.join(" ")
            );
            errors.push(Error::invalid(&path, REDACTED, why));
        }
        Ok(_) => {}
    }
    errors
}

fn validate_kms(kms: &KmsConfiguration, path: &Path, names: &BTreeSet<String>) -> ErrorList {
    let mut errors = Vec::new();
    let name = path.child("name");
    if kms.name.is_empty() {
        errors.push(Error::required(&name, "name is a mandatory field for a provider"));
    }
    if kms.api_version != "v1" && kms.name.contains(':') {
        let why = format!("invalid KMS provider name {}, must not contain ':'", kms.name);
        errors.push(Error::invalid(&name, kms.name.as_str(), why));
    }
    if names.contains(&kms.name) {
        let why = format!("duplicate KMS provider name {}, names must be unique", kms.name);
        errors.push(Error::invalid(&name, kms.name.as_str(), why));
    }
    if kms.timeout.0 <= 0 {
        let shown = format!("{}ns", kms.timeout.0);
        errors.push(Error::invalid(&path.child("timeout"), shown, "timeout should be a positive value"));
    }
    let endpoint = path.child("endpoint");
    match kms.endpoint.split_once(':') {
        _ if kms.endpoint.is_empty() => {
            errors.push(Error::invalid(&endpoint, "", "endpoint is a mandatory field for a kms"));
        }
        Some(("unix", _)) => {}
        other => {
            let scheme = other.map_or("", |(scheme, _)| scheme);
            let why = format!("unsupported scheme {scheme:?} for KMS provider, only unix is supported");
            errors.push(Error::invalid(&endpoint, kms.endpoint.as_str(), why));
        }
    }
    let size = path.child("cachesize");
    match kms.cache_size {
        Some(value) if kms.api_version != "v1" => {
            errors.push(Error::invalid(&size, value, "cachesize is not supported in v2"));
        }
        Some(0) => {
            errors.push(Error::invalid(&size, 0, "cachesize should be a positive value, or negative to disable"));
        }
        _ => {}
    }
    let version = path.child("apiVersion");
    match kms.api_version.as_str() {
        "v2" => {}
        // Upstream can be told to go on with it; here there is no such switch.
        "v1" => errors.push(Error::invalid(
            &version,
            "v1",
            "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.",
        )),
        other => {
            let why = "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported";
            errors.push(Error::invalid(&version, other, why));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &str, expected: &[&str]) {
        let text = format!("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: {rules}");
        let found = match EncryptionConfiguration::load(&text) {
            Ok(_) => Vec::new(),
            Err(text) => vec![text.trim_start_matches("error while parsing file: ").to_owned()],
        };
        assert_eq!(found, expected, "{rules}");
    }

    const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

    #[test]
    fn mistakes_are_told_in_upstreams_words_and_without_keys() {
        check("[]", &["resources: Required value: at least one resources is required"]);
        check(
            "[{}]",
            &[
                "[resources[0].resources: Required value: at least one resources[0].resources is required, resources[0].providers: Required value: at least one resources[0].providers is required]",
            ],
        );
        check(
            &format!("[{{resources: [secrets], providers: [{{aescbc: {{keys: [{{name: a, secret: {KEY}x}}]}}}}]}}]"),
            &[
                "resources[0].providers[0].aescbc.keys[0].secret: Invalid value: \"REDACTED\": secrets must be base64 encoded",
            ],
        );
        check(
            "[{resources: [secrets], providers: [{aesgcm: {keys: [{name: a, secret: c2VjcmV0}]}}]}]",
            &[
                "resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: \"REDACTED\": secret is not of the expected length, got 6, expected one of [16 24 32]",
            ],
        );
        check(
            "[{resources: [secrets], providers: [{secretbox: {keys: [{name: '', secret: ''}]}}]}]",
            &[
                "[resources[0].providers[0].secretbox.keys[0].name: Required value: name is a mandatory field for a key, resources[0].providers[0].secretbox.keys[0].secret: Required value: secret is a mandatory field for a key]",
            ],
        );
        check(
            "[{resources: [secrets, '*.'], providers: [{identity: {}}]}]",
            &[
                "resources[0].resources: Invalid value: [\"secrets\",\"*.\"]: using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked",
            ],
        );
        for (name, why) in [
            ("Secrets", "resource name should not contain capital letters"),
            ("*", "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources"),
            ("apiserveripinfo", "resources which do not have REST API/s cannot be encrypted"),
            ("secrets.*", "encrypting the same resource across groups is not supported"),
            (
                "events.events.k8s.io",
                "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file",
            ),
        ] {
            let expected = format!("resources[0].resources[0]: Invalid value: {name:?}: {why}");
            check(&format!("[{{resources: ['{name}'], providers: [{{identity: {{}}}}]}}]"), &[&expected]);
        }
        let kms = |fields: &str| format!("[{{resources: [secrets], providers: [{{kms: {{{fields}}}}}]}}]");
        check(&kms("apiVersion: v2, name: a, endpoint: 'unix:///a.sock'"), &[]);
        check(
            &kms("name: a, endpoint: 'unix:///a.sock'"),
            &[
                "resources[0].providers[0].kms.apiVersion: Invalid value: \"v1\": KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.",
            ],
        );
        check(
            &kms("apiVersion: v2, name: 'a:b', endpoint: 'tcp://a', timeout: 0s, cachesize: 5"),
            &[
                "[resources[0].providers[0].kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':', resources[0].providers[0].kms.timeout: Invalid value: \"0ns\": timeout should be a positive value, resources[0].providers[0].kms.endpoint: Invalid value: \"tcp://a\": unsupported scheme \"tcp\" for KMS provider, only unix is supported, resources[0].providers[0].kms.cachesize: Invalid value: 5: cachesize is not supported in v2]",
            ],
        );
        check(
            "[{resources: [secrets], providers: [{}]}]",
            &[
                "resources[0].providers[0]: Invalid value: \"REDACTED\": provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity",
            ],
        );
    }

    #[test]
    fn not_even_a_misplaced_key_is_shown() {
        for rules in [
            format!("[{{resources: [secrets], providers: [{{aesgcm: {{keys: {KEY}}}}}]}}]"),
            format!("[{{resources: [secrets], providers: [{{aesgcm: {KEY}}}]}}]"),
            format!(
                "[{{resources: [secrets], providers: [{{aesgcm: {{keys: [{{name: a, secret: {KEY}}}]}}, identity: {{}}}}]}}]"
            ),
        ] {
            let text =
                format!("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources: {rules}");
            let why = EncryptionConfiguration::load(&text).err().expect("refused");
            assert!(!why.contains(KEY), "{why}");
        }
    }
}
