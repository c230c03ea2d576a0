//! An API server on 127.0.0.1 with a data directory of its own, for driving it by hand:
//!
//! ```text
//! cargo run -p ferry-apiserver --example standalone -- /tmp/apiserver 6443
//! kubectl --kubeconfig /tmp/apiserver/admin.conf get namespaces
//! ```

use ferry_apiserver::{ApiServer, Config, StorageKey};
use ferry_pki::{PkiConfig, kubeconfig};
use ferry_store::sqlite::SqliteStore;
use std::path::PathBuf;
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("usage: standalone <directory> [port]")?);
    let port: u16 = arguments.next().map_or(Ok(0), |text| text.parse())?;
    tracing_subscriber::fmt().with_env_filter(tracing_subscriber::EnvFilter::from_default_env()).init();
    std::fs::create_dir_all(&directory)?;

    let pki_config = PkiConfig { advertise_ips: vec!["127.0.0.1".parse()?], ..PkiConfig::default() };
    let pki = ferry_pki::ensure(&directory.join("pki"), &pki_config)?;
    let store = Arc::new(SqliteStore::open(&directory.join("store"))?);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    let mut config =
        Config::from_pki(&pki, "cluster.local", vec![StorageKey { name: "key1".into(), bytes: vec![7; 32] }]);
    config.advertise_address = Some(address);
    let server = ApiServer::start(store, config).await?;

    let context = kubeconfig::Context {
        name: "ferry",
        cluster: "ferry",
        user: "ferry",
        server: &format!("https://{address}"),
        ca_pem: pki.ca.certificate_pem(),
        identity: &pki.admin,
    };
    std::fs::write(directory.join("admin.conf"), kubeconfig::kubeconfig_yaml(&context)?)?;
    println!("serving on https://{address}; kubectl --kubeconfig {}", directory.join("admin.conf").display());
    server.serve(listener, Arc::new(pki.apiserver_tls()?)).await?;
    Ok(())
}
