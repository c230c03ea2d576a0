//! A server of this machine that a kubeconfig names, for workloads against something else than
//! the ferry that this program starts. Load goes to loopback only; any other address is refused.

use crate::load::{Connect, Target};
use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

pub struct Remote {
    port: u16,
    tls: Arc<rustls::ClientConfig>,
}

impl Remote {
    /// Reads the current context; the user must have a client certificate.
    pub fn of_kubeconfig(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let config: Value = serde_yaml_ng::from_str(&text)?;
        let context = named(&config["contexts"], &config["current-context"]).context("no current context")?;
        let cluster = named(&config["clusters"], &context["context"]["cluster"]).context("no cluster")?;
        let user = named(&config["users"], &context["context"]["user"]).context("no user")?;
        let server = cluster["cluster"]["server"].as_str().context("no server")?;
        let authority = server.strip_prefix("https://").context("the server is not https")?.trim_end_matches('/');
        let (host, port) = authority.rsplit_once(':').context("the server has no port")?;
        ensure!(["127.0.0.1", "localhost"].contains(&host), "load goes to this machine only, not to {host}");
        let pem = |of: &Value, field: &str| -> Result<String> {
            if let Some(data) = of[format!("{field}-data")].as_str() {
                return Ok(String::from_utf8(base64::engine::general_purpose::STANDARD.decode(data)?)?);
            }
            let file = of[field].as_str().with_context(|| format!("no {field}"))?;
            Ok(std::fs::read_to_string(file)?)
        };
        let identity = ferry_pki::Identity {
            certificate_pem: pem(&user["user"], "client-certificate")?,
            key_pem: pem(&user["user"], "client-key")?,
        };
        let mut tls =
            ferry_pki::tls::client_config(&pem(&cluster["cluster"], "certificate-authority")?, Some(&identity))?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { port: port.parse()?, tls: Arc::new(tls) })
    }
}

fn named<'a>(list: &'a Value, name: &Value) -> Option<&'a Value> {
    list.as_array()?.iter().find(|entry| entry["name"] == *name)
}

impl Connect for Remote {
    fn target(&self) -> Result<Target> {
        Ok(Target { port: self.port, tls: self.tls.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("config");
        let config = serde_json::json!({"current-context": "a", "contexts": [{"name": "a", "context": {"cluster": "c",
            "user": "u"}}], "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1:6443"}}],
            "users": [{"name": "u", "user": {}}]});
        std::fs::write(&file, config.to_string()).expect("written");
        let refused = Remote::of_kubeconfig(&file).err().expect("refused").to_string();
        assert_eq!(refused, "load goes to this machine only, not to 10.0.0.1");
    }
}
