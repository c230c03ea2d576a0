//! Upstream's API server with etcd, from binaries that the caller has: the other side of a
//! comparison in one run, with certificates made here. Each part that has two sides starts it
//! where `--upstream` names the binaries.

use crate::load::{Connect, Target};
use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long etcd and the API server may take until they answer.
const START: Duration = Duration::from_secs(90);

/// How long an idle control plane is left alone before its memory is read.
const COMES_TO_REST: Duration = Duration::from_secs(20);

/// What a part measures on upstream too; `None` where the caller has no binaries of it.
pub async fn figure<T>(
    binaries: Option<&Path>,
    parts: Parts,
    measure: impl AsyncFnOnce(&Upstream) -> Result<T>,
) -> Result<Option<T>> {
    let Some(binaries) = binaries.filter(|binaries| parts.are_in(binaries)) else { return Ok(None) };
    let upstream = Upstream::start(binaries, parts).await?;
    measure(&upstream).await.map(Some)
}

/// Which of upstream's components run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// etcd and the API server.
    Server,
    /// With the scheduler and the controllers.
    ControlPlane,
}

const CONTROLLER_MANAGER: &str = "kube-controller-manager";
const SCHEDULER: &str = "kube-scheduler";

impl Parts {
    fn are_in(self, binaries: &Path) -> bool {
        self == Self::Server || [CONTROLLER_MANAGER, SCHEDULER].iter().all(|name| binaries.join(name).exists())
    }
}

pub struct Upstream {
    dir: tempfile::TempDir,
    port: u16,
    tls: Arc<rustls::ClientConfig>,
    /// etcd first, then the API server, then the others; ended in the reverse order.
    processes: Vec<Child>,
}

impl Upstream {
    /// Starts the parts of this directory and waits until they are ready.
    pub async fn start(binaries: &Path, parts: Parts) -> Result<Self> {
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
        if parts == Parts::ControlPlane {
            let kubeconfig = upstream.write_kubeconfig()?;
            let dir = upstream.dir.path().to_owned();
            upstream.spawn(binaries, CONTROLLER_MANAGER, &controller_flags(&dir, &kubeconfig, free_port()?))?;
            upstream.spawn(binaries, SCHEDULER, &scheduler_flags(&kubeconfig, free_port()?))?;
        }
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

    /// The kubeconfig of an administrator.
    fn write_kubeconfig(&self) -> Result<String> {
        let (path, pki) = (self.dir.path().join("kubeconfig"), self.dir.path().join("pki"));
        let file = |name: &str| pki.join(name).display().to_string();
        let user = json!({"client-certificate": file("admin.crt"), "client-key": file("admin.key")});
        let cluster =
            json!({"server": format!("https://127.0.0.1:{}", self.port), "certificate-authority": file("ca.crt")});
        let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "upstream",
            "clusters": [{"name": "upstream", "cluster": cluster}], "users": [{"name": "admin", "user": user}],
            "contexts": [{"name": "upstream", "context": {"cluster": "upstream", "user": "admin"}}]});
        std::fs::write(&path, config.to_string())?;
        Ok(path.display().to_string())
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
        let logs = ["etcd", "kube-apiserver", CONTROLLER_MANAGER, SCHEDULER].map(|name| {
            let text = std::fs::read_to_string(self.dir.path().join(format!("{name}.log"))).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(8)..].join("\n")
        });
        logs.join("\n")
    }

    /// The memory of the parts together once they have had time to come to rest, in MB.
    pub async fn memory_at_rest(&self) -> Result<f64> {
        tokio::time::sleep(COMES_TO_REST).await;
        self.memory()
    }

    /// The memory of the parts together, in MB.
    pub fn memory(&self) -> Result<f64> {
        self.processes.iter().map(|child| crate::cluster::memory_of(&child.id().to_string())).sum()
    }
}

impl Connect for Upstream {
    fn target(&self) -> Result<Target> {
        Ok(Target { port: self.port, tls: self.tls.clone() })
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

/// No client of upstream's own holds its components back, as in its own scheduler_perf.
const UNLIMITED: [&str; 2] = ["--kube-api-qps=5000", "--kube-api-burst=5000"];

fn component_flags(kubeconfig: &str, port: u16) -> Vec<String> {
    let own = [
        format!("--kubeconfig={kubeconfig}"),
        "--leader-elect=false".into(),
        "--bind-address=127.0.0.1".into(),
        format!("--secure-port={port}"),
    ];
    own.into_iter().chain(UNLIMITED.map(str::to_owned)).collect()
}

fn scheduler_flags(kubeconfig: &str, port: u16) -> Vec<String> {
    component_flags(kubeconfig, port)
}

fn controller_flags(dir: &Path, kubeconfig: &str, port: u16) -> Vec<String> {
    let key = dir.join("pki").join("sa.key").display().to_string();
    let own = [format!("--service-account-private-key-file={key}"), "--allocate-node-cidrs=false".into()];
    component_flags(kubeconfig, port).into_iter().chain(own).collect()
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
