//! The transport to an API server on the network: mutual TLS, HTTP/2 where it is offered.

use crate::transport::{Body, BoxError, Transport};
use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::time::Duration;

/// How long a machine that is off may leave a connection unanswered.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection on which nothing has come for this long is asked whether it lives, and given
/// up without an answer: a watch would wait for ever on a server whose power is cut.
/// Upstream's HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS are 30 and 15.
const PING_AFTER: Duration = Duration::from_secs(15);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

pub struct TlsTransport {
    /// `https://10.0.0.1:6443`, without a trailing slash.
    server: String,
    http: HttpClient<HttpsConnector<HttpConnector>, Body>,
}

impl TlsTransport {
    /// `config` carries the trusted roots and the client's own certificate, and no ALPN.
    pub fn new(server: impl Into<String>, config: rustls::ClientConfig) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_only()
            .enable_http1()
            .enable_http2()
            .wrap_connector(tcp);
        let server = server.into().trim_end_matches('/').to_owned();
        let http = HttpClient::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_keep_alive_interval(PING_AFTER)
            .http2_keep_alive_timeout(PING_TIMEOUT)
            .http2_keep_alive_while_idle(true)
            .build(connector);
        Self { server, http }
    }
}

#[async_trait]
impl Transport for TlsTransport {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map_or("/", |p| p.as_str());
        parts.uri = format!("{}{path}", self.server).parse()?;
        let response = self.http.request(http::Request::from_parts(parts, body)).await?;
        Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
    }
}
