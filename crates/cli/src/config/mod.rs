//! Which server a command speaks to, and as whom: kubeconfig, flags and the pod's own service
//! account, as client-go resolves them. `session.rs` asks once a command.

mod exec;
pub(crate) mod file;

use crate::error::{CliError, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use clap::Args;
use file::{ConfigFiles, Kubeconfig};
use std::path::{Path, PathBuf};

/// The flags of every command that choose the server and the user.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ConnectionFlags {
    /// Path to the kubeconfig file to use for CLI requests
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The name of the kubeconfig context to use
    #[arg(long, global = true)]
    pub context: Option<String>,
    /// The name of the kubeconfig cluster to use
    #[arg(long, global = true)]
    pub cluster: Option<String>,
    /// The name of the kubeconfig user to use
    #[arg(long, global = true)]
    pub user: Option<String>,
    /// If present, the namespace scope for this CLI request
    #[arg(short, long, global = true)]
    pub namespace: Option<String>,
    /// The address and port of the Kubernetes API server
    #[arg(short, long, global = true)]
    pub server: Option<String>,
    /// Bearer token for authentication to the API server
    #[arg(long, global = true)]
    pub token: Option<String>,
    /// Username for basic authentication to the API server
    #[arg(long, global = true)]
    pub username: Option<String>,
    /// Password for basic authentication to the API server
    #[arg(long, global = true)]
    pub password: Option<String>,
    /// Username to impersonate for the operation
    #[arg(long = "as", global = true, value_name = "USER")]
    pub impersonate: Option<String>,
    /// Group to impersonate for the operation, this flag can be repeated to specify multiple groups
    #[arg(long = "as-group", global = true, value_name = "GROUP")]
    pub impersonate_groups: Vec<String>,
    /// UID to impersonate for the operation
    #[arg(long = "as-uid", global = true, value_name = "UID")]
    pub impersonate_uid: Option<String>,
    /// User extras to impersonate for the operation, as KEY=VALUE
    #[arg(long = "as-user-extra", global = true, value_name = "KEY=VALUE")]
    pub impersonate_extra: Vec<String>,
    /// Path to a cert file for the certificate authority
    #[arg(long, global = true, value_name = "FILE")]
    pub certificate_authority: Option<PathBuf>,
    /// Path to a client certificate file for TLS
    #[arg(long, global = true, value_name = "FILE")]
    pub client_certificate: Option<PathBuf>,
    /// Path to a client key file for TLS
    #[arg(long, global = true, value_name = "FILE")]
    pub client_key: Option<PathBuf>,
    /// If true, the server's certificate will not be checked for validity
    #[arg(long, global = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub insecure_skip_tls_verify: Option<bool>,
    /// Server name to use for server certificate validation
    #[arg(long, global = true)]
    pub tls_server_name: Option<String>,
    /// The length of time to wait before giving up on a single server request
    #[arg(long, global = true, default_value = "0")]
    pub request_timeout: String,
}

/// A server and an identity, with everything read from disk.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Connection {
    /// `https://127.0.0.1:6443`, without a slash at its end.
    pub server: String,
    pub namespace: String,
    /// The namespace was named by a flag or by the context.
    pub has_namespace: bool,
    pub authority_pem: Option<String>,
    pub is_insecure: bool,
    pub tls_server_name: Option<String>,
    pub identity_pem: Option<(String, String)>,
    pub token: Option<String>,
    pub basic: Option<(String, String)>,
    /// Headers that ask for another user.
    pub impersonation: Vec<(String, String)>,
}

impl ConnectionFlags {
    pub(crate) fn files(&self) -> ConfigFiles {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        ConfigFiles::find(self.kubeconfig.as_deref(), std::env::var_os("KUBECONFIG"), home)
    }

    /// The namespace of the request, without the cluster being looked up.
    pub(crate) fn resolve(&self) -> Result<Connection> {
        let config = self.files().load()?;
        if config == Kubeconfig::default()
            && self.server.is_none()
            && self.kubeconfig.is_none()
            && let Some(connection) = self.in_cluster()?
        {
            return Ok(connection);
        }
        resolve(self, &config)
    }

    /// A pod speaks to its own cluster as its service account.
    fn in_cluster(&self) -> Result<Option<Connection>> {
        const DIR: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (Some(host), Some(port)) = (variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"))
        else {
            return Ok(None);
        };
        let Ok(token) = std::fs::read_to_string(format!("{DIR}/token")) else { return Ok(None) };
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let own = std::fs::read_to_string(format!("{DIR}/namespace")).unwrap_or_default();
        let namespace = self.namespace.clone().or(Some(own.trim().to_owned()).filter(|own| !own.is_empty()));
        Ok(Some(Connection {
            server: format!("https://{host}:{port}"),
            has_namespace: namespace.is_some(),
            namespace: namespace.unwrap_or_else(|| "default".into()),
            authority_pem: std::fs::read_to_string(format!("{DIR}/ca.crt")).ok(),
            token: Some(self.token.clone().unwrap_or(token)),
            impersonation: self.impersonation()?,
            ..Default::default()
        }))
    }

    fn impersonation(&self) -> Result<Vec<(String, String)>> {
        let mut headers = Vec::new();
        let Some(user) = &self.impersonate else {
            if !self.impersonate_groups.is_empty()
                || self.impersonate_uid.is_some()
                || !self.impersonate_extra.is_empty()
            {
                return Err("requesting groups, uid or user-extra for  without impersonating a user".into());
            }
            return Ok(headers);
        };
        headers.push(("Impersonate-User".into(), user.clone()));
        headers.extend(self.impersonate_uid.iter().map(|uid| ("Impersonate-Uid".into(), uid.clone())));
        headers.extend(self.impersonate_groups.iter().map(|group| ("Impersonate-Group".into(), group.clone())));
        for extra in &self.impersonate_extra {
            let Some((key, value)) = extra.split_once('=') else {
                return Err(format!("invalid --as-user-extra value {extra:?}, expected KEY=VALUE").into());
            };
            let key = percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC);
            headers.push((format!("Impersonate-Extra-{key}"), value.to_owned()));
        }
        Ok(headers)
    }
}

fn resolve(flags: &ConnectionFlags, config: &Kubeconfig) -> Result<Connection> {
    let context_name = flags.context.as_deref().unwrap_or(&config.current_context);
    let context = config.context(context_name);
    if context.is_none() && flags.context.is_some() {
        return Err(format!("context \"{context_name}\" does not exist").into());
    }
    if context.is_none() && !config.current_context.is_empty() && flags.cluster.is_none() && flags.server.is_none() {
        return Err(format!("context was not found for specified context: {context_name}").into());
    }
    let context = context.cloned().unwrap_or_default();
    let cluster_name = flags.cluster.clone().unwrap_or(context.cluster);
    let cluster = config.cluster(&cluster_name).cloned();
    if cluster.is_none() && flags.cluster.is_some() {
        return Err(format!("cluster \"{cluster_name}\" does not exist").into());
    }
    let cluster = cluster.unwrap_or_default();
    let user_name = flags.user.clone().unwrap_or(context.user);
    let user = config.user(&user_name).cloned();
    if user.is_none() && flags.user.is_some() {
        return Err(format!("auth info \"{user_name}\" does not exist").into());
    }
    let mut user = user.unwrap_or_default();
    if cluster.proxy_url.as_deref().is_some_and(|url| !url.is_empty()) {
        return Err(format!("cluster \"{cluster_name}\": proxy-url is not supported").into());
    }
    if user.others.contains_key("auth-provider") {
        return Err(format!("user \"{user_name}\": auth-provider is not supported; use exec").into());
    }

    let server = flags.server.clone().or(cluster.server).filter(|server| !server.is_empty());
    let server = server.unwrap_or_else(|| "http://localhost:8080".into());
    let server = if server.contains("://") { server } else { format!("http://{server}") };
    let authority_pem = match (&flags.certificate_authority, &cluster.certificate_authority_data) {
        (Some(path), _) => Some(read_file("certificate-authority", path)?),
        (None, Some(data)) if !data.is_empty() => Some(decode("certificate-authority-data", data)?),
        _ => cluster
            .certificate_authority
            .as_deref()
            .filter(|path| !path.is_empty())
            .map(|path| read_file("certificate-authority", Path::new(path)))
            .transpose()?,
    };
    // A CA named in the kubeconfig is not used where the flag says not to verify.
    let is_insecure = flags.insecure_skip_tls_verify.or(cluster.insecure_skip_tls_verify).unwrap_or(false);
    let authority_pem = authority_pem.filter(|_| !is_insecure);
    let is_own_identity = flags.token.is_some() || flags.username.is_some();
    if let Some(plugin) = user.exec.take().filter(|_| !is_own_identity && flags.client_certificate.is_none()) {
        let info = serde_json::json!({
            "server": server,
            "certificate-authority-data": authority_pem.as_ref().map(|pem| BASE64.encode(pem)),
            "insecure-skip-tls-verify": is_insecure,
        });
        let credential = exec::run(&plugin, &info)?;
        user.token = credential.token.or(user.token);
        user.client_certificate_data =
            credential.client_certificate_data.map(|pem| BASE64.encode(pem)).or(user.client_certificate_data);
        user.client_key_data = credential.client_key_data.map(|pem| BASE64.encode(pem)).or(user.client_key_data);
    }
    let part =
        |what: &str, flag: &Option<PathBuf>, data: &Option<String>, file: &Option<String>| -> Result<Option<String>> {
            match (flag, data.as_deref().filter(|d| !d.is_empty()), file.as_deref().filter(|f| !f.is_empty())) {
                (Some(path), _, _) => read_file(what, path).map(Some),
                (_, Some(data), _) => decode(what, data).map(Some),
                (_, _, Some(path)) => read_file(what, Path::new(path)).map(Some),
                _ => Ok(None),
            }
        };
    let certificate =
        part("client-certificate", &flags.client_certificate, &user.client_certificate_data, &user.client_certificate)?;
    let key = part("client-key", &flags.client_key, &user.client_key_data, &user.client_key)?;
    let identity_pem = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        (Some(_), None) => return Err(format!("client-key-data or client-key must be specified for {user_name} to use the clientCert authentication method.").into()),
        (None, Some(_)) => return Err(format!("client-cert-data or client-cert must be specified for {user_name} to use the clientCert authentication method.").into()),
    };
    let token = match (&flags.token, &user.token_file, &user.token) {
        (Some(token), _, _) => Some(token.clone()),
        (None, Some(path), _) if !path.is_empty() => Some(read_file("tokenFile", Path::new(path))?.trim().to_owned()),
        (None, _, token) => token.clone().filter(|token| !token.is_empty()),
    };
    let mut as_user = flags.clone();
    if as_user.impersonate.is_none() {
        as_user.impersonate = user.impersonate;
        if as_user.impersonate.is_some() && as_user.impersonate_groups.is_empty() {
            as_user.impersonate_groups = user.impersonate_groups.unwrap_or_default();
        }
    }
    let username = flags.username.clone().or(user.username).filter(|name| !name.is_empty());
    let password = flags.password.clone().or(user.password).unwrap_or_default();
    let namespace = flags.namespace.clone().or(context.namespace).filter(|namespace| !namespace.is_empty());
    Ok(Connection {
        server: server.trim_end_matches('/').to_owned(),
        has_namespace: namespace.is_some(),
        namespace: namespace.unwrap_or_else(|| "default".into()),
        authority_pem,
        is_insecure,
        tls_server_name: flags.tls_server_name.clone().or(cluster.tls_server_name).filter(|name| !name.is_empty()),
        identity_pem,
        basic: username.filter(|_| token.is_none()).map(|name| (name, password)),
        token,
        impersonation: as_user.impersonation()?,
    })
}

fn read_file(what: &str, path: &Path) -> Result<String> {
    std::fs::read_to_string(path)
        .map_err(|error| CliError::Message(format!("unable to read {what} {} due to {error}", path.display())))
}

fn decode(what: &str, data: &str) -> Result<String> {
    let clean: String = data.split_whitespace().collect();
    let bytes = BASE64.decode(clean).map_err(|error| format!("{what}: {error}"))?;
    String::from_utf8(bytes).map_err(|error| CliError::Message(format!("{what}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "current-context: c\nclusters:\n- name: k\n  cluster: {server: 'https://10.0.0.1:6443/', certificate-authority-data: Q0E=}\ncontexts:\n- name: c\n  context: {cluster: k, user: u, namespace: n}\n- name: other\n  context: {cluster: k, user: u}\nusers:\n- name: u\n  user: {token: t}\n";

    fn resolved(flags: &ConnectionFlags) -> Result<Connection> {
        resolve(flags, &file::parse(CONFIG).expect("a kubeconfig"))
    }

    #[test]
    fn the_context_names_the_server_the_user_and_the_namespace() {
        let connection = resolved(&ConnectionFlags::default()).expect("resolved");
        assert_eq!(connection.server, "https://10.0.0.1:6443");
        assert_eq!((connection.namespace.as_str(), connection.has_namespace), ("n", true));
        assert_eq!(connection.token.as_deref(), Some("t"));
        assert_eq!(connection.authority_pem.as_deref(), Some("CA"));
        let other = ConnectionFlags { context: Some("other".into()), ..Default::default() };
        let connection = resolved(&other).expect("resolved");
        assert_eq!((connection.namespace.as_str(), connection.has_namespace), ("default", false));
    }

    #[test]
    fn flags_win_and_unknown_names_are_errors() {
        let flags = ConnectionFlags {
            token: Some("mine".into()),
            impersonate: Some("jane".into()),
            impersonate_groups: vec!["dev".into()],
            insecure_skip_tls_verify: Some(true),
            ..Default::default()
        };
        let connection = resolved(&flags).expect("resolved");
        assert_eq!(connection.token.as_deref(), Some("mine"));
        assert!(connection.is_insecure && connection.authority_pem.is_none());
        let headers = [("Impersonate-User", "jane"), ("Impersonate-Group", "dev")];
        assert_eq!(connection.impersonation, headers.map(|(k, v)| (k.to_owned(), v.to_owned())));
        let absent = ConnectionFlags { context: Some("x".into()), ..Default::default() };
        assert_eq!(resolved(&absent).expect_err("absent").render(), "error: context \"x\" does not exist");
    }
}
