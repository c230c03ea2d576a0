//! The kubeconfig file that tells the server of a hook: the current context's cluster is
//! the hook, its user is how the server shows who it is.

use super::tls::{self, Protocols};
use super::{Error, Hook};
use base64::Engine as _;
use ferry_api::object::Meta;
use ferry_pki::Identity;
use http::HeaderValue;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a kubeconfig says about one server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kubeconfig {
    pub server: String,
    /// PEM; the machine's authorities where it is `None`.
    pub ca: Option<String>,
    pub tls_server_name: String,
    pub skip_verify: bool,
    /// Certificate and key, both PEM.
    pub client: Option<(String, String)>,
    pub token: String,
    pub token_file: Option<PathBuf>,
    pub username: String,
    pub password: String,
}

impl Kubeconfig {
    /// Reads a file; names of files inside are relative to it.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Config(format!("cannot read {}: {error}", path.display())))?;
        Self::parse(&text, path.parent().unwrap_or(Path::new("/")))
    }

    pub fn parse(text: &str, directory: &Path) -> Result<Self, Error> {
        let config: Value =
            serde_yaml_ng::from_str(text).map_err(|error| Error::Config(format!("invalid kubeconfig: {error}")))?;
        let named = |list: &str, name: &str, key: &str| -> Result<Value, Error> {
            let found = config.items_at(&[list]).iter().find(|entry| entry.str_at(&["name"]) == name);
            found
                .and_then(|entry| entry.get(key))
                .cloned()
                .ok_or_else(|| Error::Config(format!("invalid kubeconfig: {key} {name:?} does not exist")))
        };
        let current = config.str_at(&["current-context"]);
        let context = named("contexts", current, "context")?;
        let cluster = named("clusters", context.str_at(&["cluster"]), "cluster")?;
        let user = match context.str_at(&["user"]) {
            "" => Value::Null,
            name => named("users", name, "user")?,
        };
        let read = |owner: &Value, key: &str| material(owner, key, directory);
        let client = match (read(&user, "client-certificate")?, read(&user, "client-key")?) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(Error::Config("invalid kubeconfig: a client certificate needs its key".into())),
        };
        let server = cluster.str_at(&["server"]).to_owned();
        if server.is_empty() {
            return Err(Error::Config("invalid kubeconfig: the cluster names no server".into()));
        }
        Ok(Self {
            server,
            ca: read(&cluster, "certificate-authority")?,
            tls_server_name: cluster.str_at(&["tls-server-name"]).to_owned(),
            skip_verify: cluster.get("insecure-skip-tls-verify").and_then(Value::as_bool) == Some(true),
            client,
            token: user.str_at(&["token"]).to_owned(),
            token_file: match user.str_at(&["tokenFile"]) {
                "" => None,
                file => Some(directory.join(file)),
            },
            username: user.str_at(&["username"]).to_owned(),
            password: user.str_at(&["password"]).to_owned(),
        })
    }

    pub fn hook(&self) -> Result<Hook, Error> {
        Hook::from_kubeconfig(self)
    }

    pub(super) fn tls(&self) -> Result<Arc<rustls::ClientConfig>, Error> {
        let identity = self
            .client
            .as_ref()
            .map(|(certificate, key)| Identity { certificate_pem: certificate.clone(), key_pem: key.clone() });
        if self.skip_verify {
            return tls::unverified_config(identity.as_ref(), Protocols::Http2);
        }
        tls::client_config(self.ca.as_deref(), identity.as_ref(), Protocols::Http2)
    }

    pub(super) fn authorization(&self) -> Option<Result<HeaderValue, Error>> {
        if !self.token.is_empty() {
            return Some(bearer(&self.token));
        }
        if self.username.is_empty() && self.password.is_empty() {
            return None;
        }
        let pair = base64::engine::general_purpose::STANDARD.encode(format!("{}:{}", self.username, self.password));
        Some(secret(&format!("Basic {pair}")))
    }
}

pub(super) fn bearer(token: &str) -> Result<HeaderValue, Error> {
    secret(&format!("Bearer {token}"))
}

fn secret(text: &str) -> Result<HeaderValue, Error> {
    let mut value =
        HeaderValue::from_str(text).map_err(|_| Error::Config("credentials cannot stand in a header".into()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// `key-data` in base64, or the file that `key` names.
fn material(owner: &Value, key: &str, directory: &Path) -> Result<Option<String>, Error> {
    let unreadable = |why: String| Error::Config(format!("invalid kubeconfig: {key}: {why}"));
    let data = owner.str_at(&[&format!("{key}-data")]);
    if !data.is_empty() {
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(data).map_err(|error| unreadable(error.to_string()))?;
        return String::from_utf8(bytes).map(Some).map_err(|error| unreadable(error.to_string()));
    }
    match owner.str_at(&[key]) {
        "" => Ok(None),
        file => {
            let path = directory.join(file);
            let text =
                std::fs::read_to_string(&path).map_err(|error| unreadable(format!("{}: {error}", path.display())))?;
            Ok(Some(text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
apiVersion: v1
kind: Config
current-context: hook
contexts: [{name: hook, context: {cluster: there, user: us}}]
clusters: [{name: there, cluster: {server: 'https://hook.example:8443/authenticate', tls-server-name: other}}]
users: [{name: us, user: {token: abc}}]
";

    #[test]
    fn the_current_context_says_where_and_who() {
        let config = Kubeconfig::parse(FILE, Path::new("/")).expect("a kubeconfig");
        assert_eq!(config.server, "https://hook.example:8443/authenticate");
        assert_eq!((config.tls_server_name.as_str(), config.token.as_str()), ("other", "abc"));
        assert_eq!(config.hook().expect("a hook").url(), "https://hook.example:8443/authenticate");
    }

    #[test]
    fn half_a_kubeconfig_says_what_is_missing() {
        let check = |text: &str, expected: &str| {
            let error = Kubeconfig::parse(text, Path::new("/")).expect_err("incomplete").to_string();
            assert_eq!(error, expected);
        };
        check("{}", "invalid kubeconfig: context \"\" does not exist");
        check(&FILE.replace("name: there", "name: where"), "invalid kubeconfig: cluster \"there\" does not exist");
        check(
            &FILE.replace("token: abc", "client-certificate-data: YQ=="),
            "invalid kubeconfig: a client certificate needs its key",
        );
    }
}
