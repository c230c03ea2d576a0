//! The connection to a kubelet, pod or service: one for each request, because each is
//! either long or turned into something that is no HTTP any more.

use super::location::{Location, Scheme};
use crate::config::KubeletAccess;
use crate::transport::{Body, BoxError};
use http::header::{CONNECTION, HOST, HeaderName, UPGRADE};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How kubelets are spoken to: with the server's client certificate, and only to those
/// whom the cluster's authority vouches for.
pub struct Kubelets {
    tls: Option<Arc<ClientConfig>>,
}

impl Kubelets {
    pub fn new(access: Option<&KubeletAccess>) -> Result<Self, crate::Error> {
        let tls = access
            .map(|access| ferry_pki::tls::client_config(&access.ca_pem, Some(&access.identity)))
            .transpose()?
            .map(Arc::new);
        Ok(Self { tls })
    }

    /// Sends one request over a connection of its own.
    pub async fn send(&self, location: &Location, request: Request<Body>) -> Result<Response<Body>, BoxError> {
        let connect = TcpStream::connect((location.host.as_str(), location.port));
        let stream = tokio::time::timeout(CONNECT_TIMEOUT, connect)
            .await
            .map_err(|_| format!("dial tcp {}:{}: i/o timeout", location.host, location.port))?
            .map_err(|error| format!("dial tcp {}:{}: {error}", location.host, location.port))?;
        stream.set_nodelay(true)?;
        match location.scheme {
            Scheme::Http => exchange(stream, location, request).await,
            Scheme::Https => Err("proxying to https backends is not supported for pods and services".into()),
            Scheme::Kubelet => {
                let tls = self.tls.clone().ok_or("this server has no credentials for kubelets")?;
                let name = ServerName::try_from(location.host.clone())?;
                let stream = TlsConnector::from(tls).connect(name, stream).await?;
                exchange(stream, location, request).await
            }
        }
    }
}

async fn exchange<S>(stream: S, location: &Location, mut request: Request<Body>) -> Result<Response<Body>, BoxError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let host = if location.port == location.scheme.default_port() {
        location.host.clone()
    } else {
        format!("{}:{}", location.host, location.port)
    };
    request.headers_mut().insert(HOST, HeaderValue::from_str(&host)?);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a backend ended");
        }
    });
    let response = sender.send_request(request).await?;
    Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
}

/// Whether the client wants to leave HTTP (WebSocket or SPDY).
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(UPGRADE)
        && headers
            .get_all(CONNECTION)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|token| token.trim().eq_ignore_ascii_case("upgrade"))
}

/// Headers that are about one connection are not passed to the next.
pub fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|token| token.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"] {
        headers.remove(name);
    }
}
