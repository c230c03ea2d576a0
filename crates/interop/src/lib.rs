//! Other people's clients against our API server: four of Python (kubernetes, its asyncio
//! sibling, kr8s and the operators of kopf), JavaScript's and Rust's, and a fuzzer that reads
//! our own OpenAPI. Their programs are in `python/` and `node/`, the Rust
//! one in `tests/`; what they need is installed by `scripts/install-deps test`.
//!
//! The server is a whole one over TLS with a kubeconfig, but without a node and without
//! controllers: nothing changes what a test wrote.

use anyhow::{Context, Result, bail};
use ferry_apiserver::{ApiServer, Config, StorageKey};
use ferry_pki::{PkiConfig, kubeconfig};
use ferry_store::sqlite::SqliteStore;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::Command;

/// An API server on a free port of this machine.
pub struct Server {
    api: ApiServer,
    directory: TempDir,
    pub url: String,
}

impl Server {
    pub async fn start() -> Result<Self> {
        let directory = TempDir::new()?;
        let pki_config = PkiConfig { advertise_ips: vec!["127.0.0.1".parse()?], ..PkiConfig::default() };
        let pki = ferry_pki::ensure(&directory.path().join("pki"), &pki_config)?;
        let store = Arc::new(SqliteStore::open(&directory.path().join("store"))?);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let keys = vec![StorageKey { name: "key1".into(), bytes: vec![7; 32] }];
        let mut config = Config::from_pki(&pki, "cluster.local", keys);
        config.advertise_address = Some(address);
        let api = ApiServer::start(store, config).await?;
        let url = format!("https://{address}");
        let context = kubeconfig::Context {
            name: "ferry",
            cluster: "ferry",
            user: "ferry",
            server: &url,
            ca_pem: pki.ca.certificate_pem(),
            identity: &pki.admin,
        };
        std::fs::write(directory.path().join("admin.conf"), kubeconfig::kubeconfig_yaml(&context)?)?;
        let (serving, tls) = (api.clone(), Arc::new(pki.apiserver_tls()?));
        tokio::spawn(async move {
            if let Err(error) = serving.serve(listener, tls).await {
                tracing::error!(%error, "the server ended");
            }
        });
        Ok(Self { api, directory, url })
    }

    /// Of the administrator.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.path().join("admin.conf")
    }

    /// A place for files of the clients, removed with the server.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Runs a program against the server and fails with all it said unless it succeeds.
    pub async fn drive(&self, program: &Path, arguments: &[&str], limit: Duration) -> Result<String> {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
            .env("KUBECONFIG", self.kubeconfig())
            .env("SCRATCH", self.directory())
            .env("CLIENTS", installed())
            .env("TMPDIR", self.directory())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("HTTPS_PROXY")
            .env_remove("https_proxy")
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = tokio::time::timeout(limit, command.output())
            .await
            .with_context(|| format!("{} {arguments:?} took longer than {limit:?}", program.display()))?
            .with_context(|| format!("{}: not installed? Run scripts/install-deps test", program.display()))?;
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            bail!("{} {arguments:?} ended with {}:\n{said}", program.display(), output.status);
        }
        Ok(said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.api.stop();
    }
}

/// Where `scripts/install-deps test` puts the clients.
fn installed() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    workspace.join(target.unwrap_or_else(|| "target".into())).join("clients")
}

/// A program of the Python environment with the pinned packages.
pub fn python(program: &str) -> PathBuf {
    installed().join("python/bin").join(program)
}
