//! The transport to an API server on the network: mutual TLS, HTTP/2 where it is offered.

use crate::transport::{Body, BoxError, Transport};
use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

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
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_only()
            .enable_http1()
            .enable_http2()
            .wrap_connector(tcp);
        let server = server.into().trim_end_matches('/').to_owned();
        Self { server, http: HttpClient::builder(TokioExecutor::new()).build(connector) }
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
