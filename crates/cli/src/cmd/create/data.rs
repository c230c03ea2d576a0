//! `create configmap` and `create secret`: keys from literals, files, folders and files of
//! variables.

use super::{Made, Planned};
use crate::error::{CliError, Result};
use crate::session::Session;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The flags that name keys and their values.
#[derive(Args, Debug)]
pub(crate) struct SourceFlags {
    /// Key file by its path, with an optional key=; or a directory whose files are keys
    #[arg(long, value_delimiter = ',')]
    from_file: Vec<String>,
    /// A key and literal value (i.e. mykey=somevalue)
    #[arg(long)]
    from_literal: Vec<String>,
    /// The path to a file to read lines of key=val pairs
    #[arg(long, value_delimiter = ',')]
    from_env_file: Vec<PathBuf>,
}

impl SourceFlags {
    /// `kind` is the word of upstream's errors: `configmap` or `secret`.
    fn read(&self, kind: &str) -> Result<BTreeMap<String, Vec<u8>>> {
        if !self.from_env_file.is_empty() && !(self.from_file.is_empty() && self.from_literal.is_empty()) {
            return Err("from-env-file cannot be combined with from-file or from-literal".into());
        }
        let mut keys = BTreeMap::new();
        let mut add = |key: String, value: Vec<u8>| -> Result<()> {
            check_key(&key, kind)?;
            if keys.contains_key(&key) {
                return Err(match kind {
                    "secret" => format!("cannot add key {key}, another key by that name already exists").into(),
                    _ => {
                        format!("cannot add key {key:?}, another key by that name already exists in Data for ConfigMap")
                            .into()
                    }
                });
            }
            keys.insert(key, value);
            Ok(())
        };
        for source in &self.from_file {
            let (key, path) = match source.split_once('=') {
                None => (None, source.as_str()),
                Some(("", _)) => {
                    return Err(format!("key name for file path {} missing", source.trim_start_matches('=')).into());
                }
                Some((key, "")) => return Err(format!("file path for key name {key} missing").into()),
                Some((key, path)) => (Some(key), path),
            };
            let path = Path::new(path);
            if path.is_dir() {
                if key.is_some() {
                    return Err("cannot give a key name for a directory path".into());
                }
                let mut entries: Vec<PathBuf> = std::fs::read_dir(path)?
                    .collect::<std::io::Result<Vec<_>>>()?
                    .into_iter()
                    .map(|entry| entry.path())
                    .collect();
                entries.sort();
                for entry in entries.iter().filter(|entry| entry.is_file()) {
                    add(file_name(entry), read_file(entry)?)?;
                }
            } else {
                add(key.map_or_else(|| file_name(path), str::to_owned), read_file(path)?)?;
            }
        }
        for literal in &self.from_literal {
            let Some((key, value)) = literal.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                return Err(format!("invalid literal source {literal}, expected key=value").into());
            };
            add(key.to_owned(), value.as_bytes().to_vec())?;
        }
        for path in &self.from_env_file {
            for (key, value) in variables(&read_file(path)?, path)? {
                add(key, value.into_bytes())?;
            }
        }
        Ok(keys)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file or directory".to_owned(),
            _ => error.to_string(),
        };
        CliError::Message(format!("error reading {}: {reason}", path.display()))
    })
}

/// `A=b` lines; a name alone takes its value from this process.
fn variables(text: &[u8], path: &Path) -> Result<Vec<(String, String)>> {
    let text =
        std::str::from_utf8(text).map_err(|_| format!("env file {} contains invalid utf8 bytes", path.display()))?;
    let mut found = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = match line.split_once('=') {
            Some((key, value)) => (key, value.to_owned()),
            None => (line, std::env::var(line).unwrap_or_default()),
        };
        found.push((key.to_owned(), value));
    }
    Ok(found)
}

fn check_key(key: &str, kind: &str) -> Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !key.is_empty() && key.len() <= 253 && key.chars().all(fits) && key != "." && !key.starts_with("..") {
        return Ok(());
    }
    let rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    Err(match kind {
        "secret" => format!("{key:?} is not valid key name for a Secret {rule}"),
        _ => format!("{key:?} is not a valid key name for a ConfigMap: {rule}"),
    }
    .into())
}

#[derive(Args, Debug)]
pub(crate) struct ConfigMapArgs {
    name: String,
    #[command(flatten)]
    sources: SourceFlags,
}

impl ConfigMapArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let (mut texts, mut bytes) = (Map::new(), Map::new());
        for (key, value) in self.sources.read("configmap")? {
            match String::from_utf8(value) {
                Ok(text) => texts.insert(key, text.into()),
                Err(error) => bytes.insert(key, BASE64.encode(error.as_bytes()).into()),
            };
        }
        let mut object = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": self.name } });
        for (field, entries) in [("data", texts), ("binaryData", bytes)] {
            if !entries.is_empty() {
                object[field] = Value::Object(entries);
            }
        }
        Ok(Planned { word: "configmap", object })
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum SecretVerb {
    /// Create a secret from a local file, directory, or literal value
    Generic(Made<GenericArgs>),
    /// Create a TLS secret
    Tls(Made<TlsArgs>),
    /// Create a secret for use with a Docker registry
    #[command(name = "docker-registry")]
    DockerRegistry(Made<DockerArgs>),
}

#[derive(Args, Debug)]
pub(crate) struct GenericArgs {
    name: String,
    #[command(flatten)]
    sources: SourceFlags,
    /// The type of secret to create
    #[arg(long = "type")]
    secret_type: Option<String>,
}

fn secret(name: &str, secret_type: Option<&str>, data: impl IntoIterator<Item = (String, Vec<u8>)>) -> Planned {
    let data: Map<String, Value> = data.into_iter().map(|(key, value)| (key, BASE64.encode(value).into())).collect();
    let mut object = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name } });
    if !data.is_empty() {
        object["data"] = Value::Object(data);
    }
    if let Some(secret_type) = secret_type {
        object["type"] = secret_type.into();
    }
    Planned { word: "secret", object }
}

impl GenericArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        Ok(secret(&self.name, self.secret_type.as_deref(), self.sources.read("secret")?))
    }
}

#[derive(Args, Debug)]
pub(crate) struct TlsArgs {
    name: String,
    /// Path to PEM encoded public key certificate
    #[arg(long, required = true)]
    cert: PathBuf,
    /// Path to private key associated with given certificate
    #[arg(long, required = true)]
    key: PathBuf,
}

impl TlsArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        let (certificate, key) = (read_file(&self.cert)?, read_file(&self.key)?);
        let pem = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let identity = ferry_pki::Identity { certificate_pem: pem(&certificate), key_pem: pem(&key) };
        ferry_pki::tls::server_config(&identity, ferry_pki::tls::ClientCertificates::Ignored)
            .map_err(|error| format!("tls: {error}"))?;
        let data = [("tls.crt".to_owned(), certificate), ("tls.key".to_owned(), key)];
        Ok(secret(&self.name, Some("kubernetes.io/tls"), data))
    }
}

#[derive(Args, Debug)]
pub(crate) struct DockerArgs {
    name: String,
    /// Username for Docker registry authentication
    #[arg(long)]
    docker_username: Option<String>,
    /// Password for Docker registry authentication
    #[arg(long)]
    docker_password: Option<String>,
    /// Email for Docker registry
    #[arg(long)]
    docker_email: Option<String>,
    /// Server location for Docker registry
    #[arg(long, default_value = "https://index.docker.io/v1/")]
    docker_server: String,
    /// A docker config file
    #[arg(long)]
    from_file: Vec<String>,
}

impl DockerArgs {
    pub(super) async fn plan(&self, _session: &Session) -> Result<Planned> {
        const KEY: &str = ".dockerconfigjson";
        let config = match (&self.docker_username, &self.docker_password, self.from_file.first()) {
            (_, _, Some(source)) => {
                let path = source.strip_prefix(".dockerconfigjson=").unwrap_or(source);
                read_file(Path::new(path))?
            }
            (Some(user), Some(password), None) => {
                docker_config(&self.docker_server, user, password, self.docker_email.as_deref().unwrap_or_default())
            }
            _ => return Err("either --from-file or the combination of --docker-username, --docker-password and --docker-server is required".into()),
        };
        Ok(secret(&self.name, Some("kubernetes.io/dockerconfigjson"), [(KEY.to_owned(), config)]))
    }
}

/// The file in the order in which upstream writes its fields.
fn docker_config(server: &str, user: &str, password: &str, email: &str) -> Vec<u8> {
    let text = |value: &str| Value::from(value).to_string();
    let email = if email.is_empty() { String::new() } else { format!("\"email\":{},", text(email)) };
    let auth = text(&BASE64.encode(format!("{user}:{password}")));
    format!(
        "{{\"auths\":{{{}:{{\"username\":{},\"password\":{},{email}\"auth\":{auth}}}}}}}",
        text(server),
        text(user),
        text(password)
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_files_folders_literals_and_variables() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("a.txt"), "1").expect("written");
        std::fs::write(dir.path().join("env"), "# no\nX=y=z\n\n  W=v\n").expect("written");
        let path = dir.path().display();
        let flags = |file: &[String], literal: &[&str], env: bool| SourceFlags {
            from_file: file.to_vec(),
            from_literal: literal.iter().map(|l| (*l).to_owned()).collect(),
            from_env_file: if env { vec![dir.path().join("env")] } else { Vec::new() },
        };
        let read = |flags: SourceFlags| -> std::result::Result<Vec<String>, String> {
            let keys = flags.read("configmap").map_err(|error| error.render())?;
            Ok(keys.into_iter().map(|(k, v)| format!("{k}:{}", String::from_utf8_lossy(&v))).collect())
        };
        assert_eq!(
            read(flags(&[format!("k={path}/a.txt")], &["b=c=d"], false)),
            Ok(vec!["b:c=d".into(), "k:1".into()])
        );
        assert_eq!(read(flags(&[], &[], true)), Ok(vec!["W:v".into(), "X:y=z".into()]));
        assert_eq!(read(flags(&[path.to_string()], &[], false)).map(|keys| keys.len()), Ok(2));
        assert_eq!(read(flags(&[], &["x"], false)), Err("error: invalid literal source x, expected key=value".into()));
        assert!(
            read(flags(&[], &["a b=c"], false)).is_err_and(|e| e.contains("is not a valid key name for a ConfigMap"))
        );
    }
}
