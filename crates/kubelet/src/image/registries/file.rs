//! The form of registries.yaml: mirrors, authorities and credentials by registry, as k3s and rke2
//! have it. [`parse`] names every field that it does not know or that makes no sense.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegistriesFile {
    /// By the registry's host in image names; `*` is every other one.
    pub mirrors: BTreeMap<String, Mirror>,
    /// By the host that is connected to: a registry or a mirror.
    pub configs: BTreeMap<String, RegistryConfig>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mirror {
    pub endpoint: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RegistryConfig {
    pub auth: Option<Auth>,
    pub tls: Option<Tls>,
}

#[derive(Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Auth {
    pub username: String,
    pub password: String,
    /// `user:password` in base64, as docker writes it.
    pub auth: String,
    pub identity_token: String,
}

/// Passwords are in no log.
impl std::fmt::Debug for Auth {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Auth").field("username", &self.username).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tls {
    pub ca_file: Option<PathBuf>,
    pub cert_file: Option<PathBuf>,
    pub key_file: Option<PathBuf>,
    pub insecure_skip_verify: bool,
}

/// Reads the text of a file; relative paths in it begin at `directory`.
pub fn parse(text: &str, directory: &Path) -> Result<RegistriesFile, String> {
    if text.trim().is_empty() {
        return Ok(RegistriesFile::default());
    }
    // As a plain value first: only that refuses a key that stands twice.
    let value: serde_yaml_ng::Value = serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
    if value.is_null() {
        return Ok(RegistriesFile::default());
    }
    let mut file: RegistriesFile = serde_yaml_ng::from_str(text).map_err(|error| error.to_string())?;
    let mut errors = Vec::new();
    for (host, mirror) in &file.mirrors {
        let at = format!("mirrors[{host:?}]");
        if host != "*" {
            errors.extend(judge_host(host).map(|why| format!("{at}: {why}")));
        }
        if mirror.endpoint.is_empty() {
            errors.push(format!("{at}.endpoint: at least one URL is required"));
        }
        for (index, endpoint) in mirror.endpoint.iter().enumerate() {
            errors.extend(split_endpoint(endpoint).err().map(|why| format!("{at}.endpoint[{index}]: {why}")));
        }
    }
    for (host, config) in &mut file.configs {
        let at = format!("configs[{host:?}]");
        errors.extend(judge_host(host).map(|why| format!("{at}: {why}")));
        errors.extend(config.auth.as_ref().and_then(judge_auth).map(|why| format!("{at}.auth: {why}")));
        if let Some(tls) = &mut config.tls {
            judge_tls(tls, directory, &format!("{at}.tls"), &mut errors);
        }
    }
    if errors.is_empty() { Ok(file) } else { Err(errors.join("; ")) }
}

/// `registry.example` or `registry.example:5000`, as it stands in the names of images.
fn judge_host(host: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
    let good = !host.is_empty() && host.chars().all(is_plain) && !host.starts_with(['.', '-']);
    (!good).then(|| format!("{host:?} is not a host with an optional port"))
}

/// The scheme, the host and the path of an endpoint.
pub fn split_endpoint(endpoint: &str) -> Result<(&str, &str, &str), String> {
    let (scheme, rest) = endpoint.split_once("://").unwrap_or(("", endpoint));
    if !matches!(scheme, "http" | "https") {
        return Err(format!("{endpoint:?} does not begin with http:// or https://"));
    }
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if let Some(why) = judge_host(host) {
        return Err(why);
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-~%".contains(c);
    if !path.chars().all(is_plain) {
        return Err(format!("{path:?} is not the path of a registry"));
    }
    Ok((scheme, host, path.trim_end_matches('/')))
}

fn judge_auth(auth: &Auth) -> Option<String> {
    let kinds = [!auth.username.is_empty() || !auth.password.is_empty(), !auth.auth.is_empty()];
    let kinds = kinds.into_iter().chain([!auth.identity_token.is_empty()]).filter(|set| *set).count();
    if kinds != 1 {
        return Some("exactly one of username with password, auth and identity_token is required".into());
    }
    if !auth.auth.is_empty() && auth.decode().is_none() {
        return Some("auth is not the base64 of user:password".into());
    }
    (!auth.password.is_empty() && auth.username.is_empty()).then(|| "username is required with password".into())
}

impl Auth {
    /// The user and the password, whichever way they are written.
    pub fn decode(&self) -> Option<(String, String)> {
        use base64::Engine;
        if self.auth.is_empty() {
            return Some((self.username.clone(), self.password.clone()));
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(self.auth.trim()).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (user, password) = text.split_once(':')?;
        Some((user.to_owned(), password.to_owned()))
    }
}

fn judge_tls(tls: &mut Tls, directory: &Path, at: &str, errors: &mut Vec<String>) {
    if tls.cert_file.is_some() != tls.key_file.is_some() {
        errors.push(format!("{at}: cert_file and key_file belong together"));
    }
    let files = [("ca_file", &mut tls.ca_file), ("cert_file", &mut tls.cert_file), ("key_file", &mut tls.key_file)];
    for (name, file) in files {
        let Some(path) = file else { continue };
        *path = directory.join(&path);
        if !path.is_file() {
            errors.push(format!("{at}.{name}: there is no file {}", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_named_with_its_field() {
        let check = |text: &str, named: &str| {
            let why = parse(text, Path::new("/nowhere")).expect_err(text);
            assert!(why.contains(named), "{why}");
        };
        check("mirror: {}", "unknown field `mirror`");
        check("mirrors: { docker.io: { endpoints: [] } }", "unknown field `endpoints`");
        check("mirrors: { docker.io: { endpoint: [https://m], rewrite: {} } }", "unknown field `rewrite`");
        check("mirrors: { docker.io: {} }", "mirrors[\"docker.io\"].endpoint: at least one");
        check("mirrors: { docker.io: { endpoint: [m.example] } }", "endpoint[0]: \"m.example\" does not begin");
        check("mirrors: { 'a b': { endpoint: [https://m] } }", "mirrors[\"a b\"]: ");
        check("mirrors: { '../x': { endpoint: [https://m] } }", "mirrors[\"../x\"]: ");
        check("configs: { r.io: { tls: { ca_file: no.crt } } }", "configs[\"r.io\"].tls.ca_file: there is no file");
        check("configs: { r.io: { tls: { cert_file: a } } }", "cert_file and key_file belong together");
        check("configs: { r.io: { auth: { username: u, password: p, auth: eA== } } }", "exactly one of");
        check("configs: { r.io: { auth: { auth: '%' } } }", "base64");
        check("configs: { r.io: {}, r.io: {} }", "duplicate");
    }

    #[test]
    fn an_empty_file_configures_nothing() {
        for text in ["", "\n", "# only a remark\n", "mirrors: {}\n"] {
            assert_eq!(parse(text, Path::new("/")), Ok(RegistriesFile::default()), "{text:?}");
        }
    }
}
