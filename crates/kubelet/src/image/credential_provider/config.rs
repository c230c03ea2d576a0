//! CredentialProviderConfig (kubelet.config.k8s.io/v1): which plugin is asked for which images.
//! Strict: a field that is unknown, missing or senseless keeps the kubelet from starting, with
//! upstream's words (pkg/credentialprovider/plugin/config.go).

use ferry_api::rules::duration;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

const KIND: &str = "CredentialProviderConfig";
const GROUP: &str = "kubelet.config.k8s.io";
/// The versions of the exec protocol.
const PROTOCOLS: [&str; 3] = [
    "credentialprovider.kubelet.k8s.io/v1",
    "credentialprovider.kubelet.k8s.io/v1alpha1",
    "credentialprovider.kubelet.k8s.io/v1beta1",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ConfigFile {
    api_version: String,
    kind: String,
    #[serde(default)]
    providers: Vec<ProviderEntry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ProviderEntry {
    #[serde(default)]
    name: String,
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    match_images: Vec<String>,
    default_cache_duration: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: Vec<EnvVar>,
    token_attributes: Option<TokenAttributes>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvVar {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct TokenAttributes {
    pub service_account_token_audience: String,
    /// `ServiceAccount` or `Token`: what a cached answer is good for.
    pub cache_type: String,
    pub require_service_account: Option<bool>,
    pub required_service_account_annotation_keys: Vec<String>,
    pub optional_service_account_annotation_keys: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Provider {
    /// Also the name of its program.
    pub name: String,
    pub api_version: String,
    pub match_images: Vec<String>,
    pub default_cache_duration: Duration,
    pub args: Vec<String>,
    pub env: Vec<EnvVar>,
    pub token_attributes: Option<TokenAttributes>,
}

/// The providers of a file, or of all `*.json`, `*.yaml` and `*.yml` of a directory in the order
/// of their names.
pub fn read(path: &Path) -> Result<Vec<Provider>, String> {
    let failed = |error: std::io::Error| format!("unable to access path {path:?}: {error}");
    let mut files: Vec<PathBuf> = Vec::new();
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        for entry in std::fs::read_dir(path).map_err(failed)?.flatten() {
            let found = entry.path();
            let is_config = found.extension().is_some_and(|own| own == "json" || own == "yaml" || own == "yml");
            if is_config && !found.is_dir() {
                files.push(found);
            }
        }
        files.sort();
        if files.is_empty() {
            return Err(format!("no configuration files found in directory {path:?}"));
        }
    } else {
        files.push(path.to_owned());
    }
    let mut entries: Vec<ProviderEntry> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("unable to read file {file:?}: {error}"))?;
        let found = decode(&text).map_err(|why| format!("error decoding config {file:?}: {why}"))?;
        for entry in found {
            if entries.iter().any(|known| known.name == entry.name) {
                return Err(format!("duplicate provider name {:?} found in configuration file(s)", entry.name));
            }
            entries.push(entry);
        }
    }
    validate(entries).map_err(|errors| {
        let text = if errors.len() == 1 { errors.join("") } else { format!("[{}]", errors.join(", ")) };
        format!("failed to validate credential provider config: {text}")
    })
}

fn decode(text: &str) -> Result<Vec<ProviderEntry>, String> {
    // As a plain value first: only that refuses a key that stands twice.
    serde_yaml_ng::from_str::<serde_yaml_ng::Value>(text).map_err(|error| error.to_string())?;
    let file: ConfigFile = serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
    if file.kind != KIND {
        return Err(format!("failed to decode {:?} (wrong Kind)", file.kind));
    }
    let (group, version) = file.api_version.split_once('/').unwrap_or(("", &file.api_version));
    if group != GROUP {
        return Err(format!("failed to decode {KIND}, unexpected Group: {group}"));
    }
    if !matches!(version, "v1" | "v1beta1" | "v1alpha1") {
        return Err(format!("no kind {KIND:?} is registered for version {:?}", file.api_version));
    }
    Ok(file.providers)
}

fn validate(entries: Vec<ProviderEntry>) -> Result<Vec<Provider>, Vec<String>> {
    let mut errors = Vec::new();
    let mut providers = Vec::new();
    if entries.is_empty() {
        errors.push("providers: Required value: at least 1 item in plugins is required".to_owned());
    }
    for entry in entries {
        let name = &entry.name;
        let mut invalid_name = |why: &str| errors.push(format!("providers.name: Invalid value: {name:?}: {why}"));
        match name.as_str() {
            "." => invalid_name("provider name cannot be '.'"),
            ".." => invalid_name("provider name cannot be '..'"),
            _ if name.contains('/') => invalid_name("provider name cannot contain '/'"),
            _ if name.contains(' ') => invalid_name("provider name cannot contain spaces"),
            "" => errors.push("providers.name: Required value".into()),
            _ => {}
        }
        match entry.api_version.as_str() {
            "" => errors.push("providers.apiVersion: Required value".into()),
            known if PROTOCOLS.contains(&known) => {}
            other => {
                let list = PROTOCOLS.map(|known| format!("{known:?}")).join(", ");
                errors.push(format!("providers.apiVersion: Unsupported value: {other:?}: supported values: {list}"));
            }
        }
        if entry.match_images.is_empty() {
            errors.push("providers.matchImages: Required value: at least 1 item in matchImages is required".into());
        }
        for image in entry.match_images.iter().filter(|image| image.is_empty() || image.contains(' ')) {
            errors.push(format!("providers.matchImages: Invalid value: {image:?}: match image is invalid"));
        }
        let cache = match entry.default_cache_duration.as_deref() {
            None => Err("providers.defaultCacheDuration: Required value".to_owned()),
            Some(text) => duration::parse(text).map_err(|_| {
                format!("providers.defaultCacheDuration: Invalid value: {text:?}: must be greater than or equal to 0")
            }),
        };
        if let Some(attributes) = &entry.token_attributes {
            validate_token(attributes, &entry.api_version, &mut errors);
        }
        match cache {
            Ok(default_cache_duration) => providers.push(Provider {
                name: entry.name,
                api_version: entry.api_version,
                match_images: entry.match_images,
                default_cache_duration,
                args: entry.args,
                env: entry.env,
                token_attributes: entry.token_attributes,
            }),
            Err(why) => errors.push(why),
        }
    }
    if errors.is_empty() { Ok(providers) } else { Err(errors) }
}

fn validate_token(attributes: &TokenAttributes, api_version: &str, errors: &mut Vec<String>) {
    let at = "providers.tokenAttributes";
    if attributes.service_account_token_audience.is_empty() {
        errors.push(format!("{at}.serviceAccountTokenAudience: Required value"));
    }
    if attributes.require_service_account.is_none() {
        errors.push(format!("{at}.requireServiceAccount: Required value"));
    }
    if api_version != PROTOCOLS[0] {
        errors.push(format!("{at}: Forbidden: tokenAttributes is only supported for {} API version", PROTOCOLS[0]));
    }
    let required = &attributes.required_service_account_annotation_keys;
    if attributes.require_service_account == Some(false) && !required.is_empty() {
        errors.push(format!(
            "{at}.requiredServiceAccountAnnotationKeys: Forbidden: requireServiceAccount cannot be false when \
             requiredServiceAccountAnnotationKeys is set"
        ));
    }
    let optional = &attributes.optional_service_account_annotation_keys;
    for (name, keys) in [("required", required), ("optional", optional)] {
        let mut seen = BTreeSet::new();
        for key in keys.iter().filter(|key| !seen.insert(key.as_str())) {
            errors.push(format!("{at}.{name}ServiceAccountAnnotationKeys: Duplicate value: {key:?}"));
        }
    }
    let both: Vec<&String> = required.iter().filter(|key| optional.contains(key)).collect();
    if !both.is_empty() {
        errors.push(format!("{at}: Invalid value: {both:?}: annotation keys cannot be both required and optional"));
    }
    match attributes.cache_type.as_str() {
        "ServiceAccount" | "Token" => {}
        "" => errors.push(format!(
            "{at}.cacheType: Required value: cacheType is required to be set when tokenAttributes is specified. \
             Supported values are: ServiceAccount, Token"
        )),
        other => errors.push(format!(
            "{at}.cacheType: Unsupported value: {other:?}: supported values: \"ServiceAccount\", \"Token\""
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n";
    const GOOD: &str =
        "- name: p\n  apiVersion: credentialprovider.kubelet.k8s.io/v1\n  matchImages: ['*.example.com']\n";

    fn check(text: &str) -> Result<Vec<Provider>, String> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("c.yaml");
        std::fs::write(&path, text).expect("written");
        read(&path)
    }

    #[test]
    fn a_good_configuration_is_read() {
        let providers = check(&format!("{HEAD}{GOOD}  defaultCacheDuration: 12h\n  env: [{{ name: A, value: b }}]\n"));
        let provider = providers.expect("good").remove(0);
        assert_eq!((provider.name.as_str(), provider.default_cache_duration), ("p", Duration::from_secs(12 * 3600)));
    }

    #[test]
    fn every_mistake_is_named_in_upstreams_words() {
        let named = |text: &str, wanted: &str| {
            let why = check(text).expect_err(text);
            assert!(why.contains(wanted), "{why}");
        };
        named("kind: X\napiVersion: kubelet.config.k8s.io/v1\n", "failed to decode \"X\" (wrong Kind)");
        named("kind: CredentialProviderConfig\napiVersion: v1\n", "unexpected Group: ");
        named(
            HEAD.trim_end_matches("providers:\n"),
            "failed to validate credential provider config: providers: Required value: at least 1 item in plugins",
        );
        named(&format!("{HEAD}{GOOD}"), "providers.defaultCacheDuration: Required value");
        named(&format!("{HEAD}{GOOD}  defaultCacheDuration: 1m\n  arg: []\n"), "unknown field `arg`");
        named(&format!("{HEAD}- name: a/b\n"), "provider name cannot contain '/'");
        let token = |text: &str| format!("{HEAD}{GOOD}  defaultCacheDuration: 1m\n  tokenAttributes: {text}\n");
        named(&token("{ serviceAccountTokenAudience: a, requireServiceAccount: true }"), "cacheType is required");
        named(&token("{ cacheType: Token, requireServiceAccount: true }"), "serviceAccountTokenAudience: Required");
        named(
            &token(
                "{ cacheType: Pod, serviceAccountTokenAudience: a, requireServiceAccount: false, requiredServiceAccountAnnotationKeys: [k] }",
            ),
            "requireServiceAccount cannot be false",
        );
    }

    #[test]
    fn the_files_of_a_directory_are_one_configuration() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        assert!(read(directory.path()).expect_err("none").starts_with("no configuration files found"));
        let write = |name: &str, provider: &str| {
            let text =
                format!("{HEAD}{}  defaultCacheDuration: 0s\n", GOOD.replace("name: p", &format!("name: {provider}")));
            std::fs::write(directory.path().join(name), text).expect("written");
        };
        write("b.yaml", "second");
        write("a.yml", "first");
        write("c.txt", "none");
        let names = || read(directory.path()).map(|all| all.into_iter().map(|own| own.name).collect::<Vec<_>>());
        assert_eq!(names().expect("two"), ["first", "second"]);
        write("d.yaml", "first");
        assert!(names().expect_err("twice").starts_with("duplicate provider name \"first\""));
    }
}
