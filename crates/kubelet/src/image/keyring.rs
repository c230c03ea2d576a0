//! The credentials that open the registry of an image: those of a pod's pull secrets here, and
//! the kinds that others add (`registries`, `credential_provider`).

use super::name;
use super::pulled_record::{AccountRecord, SecretRecord};
use crate::cri::v1::AuthConfig;
use base64::Engine;
use ferry_api::view::core::v1::{Secret, SecretView};
use ferry_client::SharedObject;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// A credential and where it comes from.
#[derive(Clone, Debug)]
pub struct Credential {
    pub auth: AuthConfig,
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Secret(SecretRecord),
    /// A credential provider's answer to the token of a service account.
    Account(AccountRecord),
    /// The node's own: every pod may use what it opens.
    Node,
}

impl Credential {
    pub fn new(auth: AuthConfig, namespace: &str, name: &str, uid: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [&auth.username, &auth.password, &auth.identity_token, &auth.registry_token] {
            // With its length, so that no two credentials run together to the same bytes.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let record = SecretRecord { namespace: namespace.into(), name: name.into(), uid: uid.into(), hash };
        Self { auth, source: Source::Secret(record) }
    }

    pub fn of_node(auth: AuthConfig) -> Self {
        Self { auth, source: Source::Node }
    }

    pub fn of_account(auth: AuthConfig, account: AccountRecord) -> Self {
        Self { auth, source: Source::Account(account) }
    }

    /// The credential as the records of pulled images keep it: its place and a hash.
    pub fn secret(&self) -> Option<SecretRecord> {
        match &self.source {
            Source::Secret(record) => Some(record.clone()),
            _ => None,
        }
    }

    pub fn account(&self) -> Option<AccountRecord> {
        match &self.source {
            Source::Account(record) => Some(record.clone()),
            _ => None,
        }
    }
}

/// Credentials for `image` out of docker config secrets, the most specific first.
pub fn lookup(secrets: &[SharedObject<Secret>], image: &str) -> Vec<Credential> {
    let Some(target) = target_of(image) else { return Vec::new() };
    let mut found: Vec<(String, Credential)> = Vec::new();
    for secret in secrets {
        for (registry, entry) in entries(secret.view()) {
            let pattern = normalize(&registry);
            if matches(&pattern, &target)
                && let Some(auth) = auth_config(&entry)
            {
                let credential = Credential::new(auth, secret.namespace(), secret.name(), secret.uid());
                found.push((pattern, credential));
            }
        }
    }
    found.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
    found.into_iter().map(|(_, credential)| credential).collect()
}

/// The repository of an image as patterns are held against it. Docker Hub's credentials are kept
/// under the name of its index.
fn target_of(image: &str) -> Option<String> {
    let parts = name::parse(image).ok()?;
    let host = if parts.domain == "docker.io" { "index.docker.io" } else { parts.domain };
    Some(format!("{host}/{}", parts.path))
}

/// Whether a pattern such as `*.example.com/team` covers the image.
pub fn covers(pattern: &str, image: &str) -> bool {
    target_of(image).is_some_and(|target| matches(&normalize(pattern), &target))
}

/// The registries of a docker config secret, of either format, and the credentials for each.
fn entries(secret: SecretView<'_>) -> Map<String, Value> {
    let parse = |key: &str| serde_json::from_slice::<Value>(&secret.data().get(key)?.decode()).ok();
    match secret.type_() {
        "kubernetes.io/dockerconfigjson" => {
            match parse(".dockerconfigjson").and_then(|mut config| config.get_mut("auths").map(Value::take)) {
                Some(Value::Object(auths)) => auths,
                _ => Map::new(),
            }
        }
        "kubernetes.io/dockercfg" => match parse(".dockercfg") {
            Some(Value::Object(auths)) => auths,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

/// `https://index.docker.io/v1/` and `index.docker.io` are the same registry.
fn normalize(registry: &str) -> String {
    let bare = registry.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    let bare = bare.strip_suffix("/v1").or_else(|| bare.strip_suffix("/v2")).unwrap_or(bare);
    match bare {
        "docker.io" | "registry-1.docker.io" => "index.docker.io".into(),
        other => other.to_string(),
    }
}

/// Hosts match label by label with `*` inside a label, ports exactly, paths as prefixes.
fn matches(pattern: &str, target: &str) -> bool {
    let (pattern_host, pattern_path) = pattern.split_once('/').unwrap_or((pattern, ""));
    let (target_host, target_path) = target.split_once('/').unwrap_or((target, ""));
    let (pattern_name, pattern_port) = pattern_host.split_once(':').unwrap_or((pattern_host, ""));
    let (target_name, target_port) = target_host.split_once(':').unwrap_or((target_host, ""));
    let labels: (Vec<&str>, Vec<&str>) = (pattern_name.split('.').collect(), target_name.split('.').collect());
    pattern_port == target_port
        && labels.0.len() == labels.1.len()
        && labels.0.iter().zip(&labels.1).all(|(pattern, label)| glob(pattern, label))
        && target_path.starts_with(pattern_path)
}

fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).any(|at| rest.is_char_boundary(at) && glob(after, &rest[at..]))),
    }
}

fn auth_config(entry: &Value) -> Option<AuthConfig> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let mut auth = AuthConfig {
        username: text("username"),
        password: text("password"),
        identity_token: text("identitytoken"),
        registry_token: text("registrytoken"),
        ..Default::default()
    };
    let encoded = text("auth");
    if !encoded.is_empty() {
        let decoded = base64::engine::general_purpose::STANDARD
            .decode(encoded.trim_end())
            .or_else(|_| base64::engine::general_purpose::STANDARD_NO_PAD.decode(encoded.trim_end()))
            .ok()?;
        let decoded = String::from_utf8(decoded).ok()?;
        let (username, password) = decoded.split_once(':')?;
        auth.username = username.to_string();
        auth.password = password.to_string();
    }
    let empty = auth.username.is_empty() && auth.identity_token.is_empty() && auth.registry_token.is_empty();
    (!empty).then_some(auth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn secret(auths: Value) -> SharedObject<Secret> {
        let config = json!({ "auths": auths }).to_string();
        let encoded = base64::engine::general_purpose::STANDARD.encode(config);
        SharedObject::of(json!({ "type": "kubernetes.io/dockerconfigjson", "data": { ".dockerconfigjson": encoded } }))
    }

    #[test]
    fn the_most_specific_match_comes_first() {
        let secrets = [secret(json!({
            "https://index.docker.io/v1/": { "username": "hub", "password": "p" },
            "*.example.com": { "auth": "d2lsZDpwdw==" },
            "reg.example.com/team": { "username": "team", "password": "p" },
            "127.0.0.1:5000": { "username": "local", "password": "p" },
        }))];
        let names = |image| lookup(&secrets, image).into_iter().map(|found| found.auth.username).collect::<Vec<_>>();
        assert_eq!(names("nginx"), ["hub"]);
        assert_eq!(names("reg.example.com/team/web:1"), ["team", "wild"]);
        assert_eq!(names("reg.example.com/other/web:1"), ["wild"]);
        assert_eq!(names("127.0.0.1:5000/web"), ["local"]);
        assert!(names("127.0.0.1:5001/web").is_empty());
        assert!(names("example.com/x").is_empty());
    }

    #[test]
    fn broken_secrets_open_nothing() {
        let secrets = [secret(json!({ "x.io": { "auth": "%%%" } })), SharedObject::of(Secret::new())];
        assert!(lookup(&secrets, "x.io/a").is_empty());
    }
}
