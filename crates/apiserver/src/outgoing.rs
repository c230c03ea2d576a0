//! Connections that this server opens to kubelets, pods, services and aggregated API servers:
//! one for each request, because each is long, rare, or turned into something that is no HTTP
//! any more. `stream/` and `aggregation/` decide where to go; here is only how. Hooks keep
//! their connections, in `webhook/`, which has TLS and the words for failures for both.

use crate::transport::{Body, BoxError};
use crate::webhook::dial::refused;
use crate::webhook::tls::explain;
use async_trait::async_trait;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens a connection to an address that has been decided and judged. The seam at which
/// tests put a backend of their own: everything above it works on real addresses.
#[async_trait]
pub trait Dial: Send + Sync + 'static {
    async fn dial(&self, host: &str, port: u16) -> std::io::Result<TcpStream>;

    /// The addresses of a name, for those who judge before they connect.
    async fn resolve(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|found| found.ip()).collect())
    }
}

/// The network as it is.
pub struct Network;

#[async_trait]
impl Dial for Network {
    async fn dial(&self, host: &str, port: u16) -> std::io::Result<TcpStream> {
        TcpStream::connect((host, port)).await
    }
}

/// Where a connection goes, and what is spoken on it.
#[derive(Clone)]
pub struct Target {
    pub host: String,
    /// The address that stands for the host where the host is a name that has been judged
    /// by its addresses: looked up a second time, it could lead elsewhere (CVE-2020-8562).
    pub address: Option<IpAddr>,
    pub port: u16,
    /// `None` for plain HTTP.
    pub tls: Option<Tls>,
}

#[derive(Clone)]
pub struct Tls {
    pub config: Arc<ClientConfig>,
    /// The name that the server's certificate must carry.
    pub server_name: String,
}

impl Target {
    /// `10.0.0.1:443` or `[fd00::1]:443`.
    pub fn authority(&self) -> String {
        authority(&self.host, self.port)
    }
}

/// Host and port as URLs join them.
pub fn authority(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// Sends one request over a connection of its own. The caller has set every header,
/// Host among them; the URI is the path and query.
pub async fn send(dial: &dyn Dial, target: &Target, request: Request<Body>) -> Result<Response<Body>, BoxError> {
    let address = target.authority();
    let judged = target.address.map(|address| address.to_string());
    let host = judged.as_deref().unwrap_or(&target.host);
    let stream = match tokio::time::timeout(CONNECT_TIMEOUT, dial.dial(host, target.port)).await {
        Err(_) => return Err(format!("dial tcp {address}: i/o timeout").into()),
        Ok(Err(error)) => return Err(refused(&target.host, target.port, &error).into()),
        Ok(Ok(stream)) => stream,
    };
    stream.set_nodelay(true)?;
    match &target.tls {
        None => exchange(stream, request).await,
        Some(tls) => {
            let name = ServerName::try_from(tls.server_name.clone())?;
            let connect = TlsConnector::from(tls.config.clone()).connect(name, stream);
            let stream = match tokio::time::timeout(CONNECT_TIMEOUT, connect).await {
                Err(_) => return Err("net/http: TLS handshake timeout".into()),
                Ok(Err(error)) => return Err(explain(&error, &tls.server_name).into()),
                Ok(Ok(stream)) => stream,
            };
            exchange(stream, request).await
        }
    }
}

async fn exchange<S>(stream: S, request: Request<Body>) -> Result<Response<Body>, BoxError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a backend ended");
        }
    });
    let response = sender.send_request(request).await?;
    Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
}
