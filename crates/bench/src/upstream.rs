//! Upstream's API server with etcd, from binaries that the caller has: the other side of a
//! comparison in one run, with certificates made here. `beside.rs` starts it.

use crate::load::{Connect, Connection};
use anyhow::{Context, Result, bail, ensure};
use futures_util::future::BoxFuture;
use serde_json::json;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long etcd and the API server may take until they answer.
const START: Duration = Duration::from_secs(90);

pub struct Upstream {
    dir: tempfile::TempDir,
    port: u16,
    tls: Arc<rustls::ClientConfig>,
    /// etcd first, then the API server; ended in the reverse order.
    processes: Vec<Child>,
}

impl Upstream {
    /// Starts `etcd` and `kube-apiserver` of this directory and waits until they are ready.
    pub async fn start(binaries: &Path) -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("ferry-bench-upstream-").tempdir()?;
        let config = ferry_pki::PkiConfig { advertise_ips: vec![[127, 0, 0, 1].into()], ..Default::default() };
        let pki = ferry_pki::ensure(&dir.path().join("pki"), &config)?;
        let mut tls = ferry_pki::tls::client_config(pki.ca.certificate_pem(), Some(&pki.admin))?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let (port, etcd_port) = (free_port()?, free_port()?);
        let mut upstream = Self { dir, port, tls: Arc::new(tls), processes: Vec::new() };
        upstream.spawn(binaries, "etcd", &etcd_flags(upstream.dir.path(), etcd_port))?;
        upstream.spawn(binaries, "kube-apiserver", &apiserver_flags(upstream.dir.path(), port, etcd_port))?;
        upstream.wait_until_ready().await?;
        Ok(upstream)
    }

    fn spawn(&mut self, binaries: &Path, name: &str, flags: &[String]) -> Result<()> {
        let log = File::create(self.dir.path().join(format!("{name}.log")))?;
        let child = Command::new(binaries.join(name))
            .args(flags)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start {}", binaries.join(name).display()))?;
        self.processes.push(child);
        Ok(())
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + START;
        loop {
            if let Ok(mut connection) = self.connect().await
                && connection.get("/readyz").await.is_ok()
                && connection.get("/api/v1/namespaces/default").await.is_ok()
            {
                // Pods are admitted with this account; the controller that makes it does not run here.
                let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
                connection.post("/api/v1/namespaces/default/serviceaccounts", &account).await?;
                return Ok(());
            }
            for child in &mut self.processes {
                if let Some(status) = child.try_wait()? {
                    bail!("a part of upstream ended with {status}:\n{}", self.last_lines());
                }
            }
            ensure!(Instant::now() < deadline, "upstream is not ready after {START:?}:\n{}", self.last_lines());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn last_lines(&self) -> String {
        let logs = ["etcd", "kube-apiserver"].map(|name| {
            let text = std::fs::read_to_string(self.dir.path().join(format!("{name}.log"))).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(8)..].join("\n")
        });
        logs.join("\n")
    }

    /// The memory of etcd and the API server together, in MB.
    pub fn memory(&self) -> Result<f64> {
        self.processes.iter().map(|child| crate::cluster::memory_of(&child.id().to_string())).sum()
    }
}

impl Connect for Upstream {
    fn connect(&self) -> BoxFuture<'_, Result<Connection>> {
        Box::pin(Connection::open(self.port, self.tls.clone()))
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        for child in self.processes.iter_mut().rev() {
            if let Err(error) = child.kill().and_then(|()| child.wait()) {
                eprintln!("cannot end process {}: {error}", child.id());
            }
        }
    }
}

/// A port that is free now; the listener that found it is closed again.
fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn etcd_flags(dir: &Path, port: u16) -> Vec<String> {
    let url = format!("http://127.0.0.1:{port}");
    vec![
        format!("--data-dir={}", dir.join("etcd").display()),
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
    ]
}

fn apiserver_flags(dir: &Path, port: u16, etcd_port: u16) -> Vec<String> {
    let pki = |name: &str| dir.join("pki").join(name).display().to_string();
    vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".into(),
        "--advertise-address=127.0.0.1".into(),
        "--endpoint-reconciler-type=none".into(),
        "--service-cluster-ip-range=10.96.0.0/16".into(),
        "--authorization-mode=Node,RBAC".into(),
        format!("--client-ca-file={}", pki("ca.crt")),
        format!("--tls-cert-file={}", pki("apiserver.crt")),
        format!("--tls-private-key-file={}", pki("apiserver.key")),
        "--service-account-issuer=https://kubernetes.default.svc".into(),
        format!("--service-account-key-file={}", pki("sa.pub")),
        format!("--service-account-signing-key-file={}", pki("sa.key")),
    ]
}
