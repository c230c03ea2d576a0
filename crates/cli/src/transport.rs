//! The way to an API server for a command: TLS or plain HTTP, the user's headers on every
//! request, and connection failures in kubectl's words. `session.rs` makes one.

use crate::config::Connection;
use crate::error::{CliError, Result};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ferry_client::{Body, BoxError, Transport};
use http::{HeaderName, HeaderValue};
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct HttpTransport {
    server: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    http: HttpClient<HttpsConnector<HttpConnector>, Body>,
    /// Ends a single request, but not a watch or a log that is followed.
    timeout: Option<Duration>,
}

impl HttpTransport {
    pub(crate) fn new(connection: &Connection, timeout: Option<Duration>) -> Result<Self> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(Duration::from_secs(30)));
        let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls_config(connection)?).https_or_http();
        if let Some(name) = &connection.tls_server_name {
            let name = ServerName::try_from(name.clone()).map_err(|e| format!("tls-server-name {name:?}: {e}"))?;
            builder = builder.with_server_name_resolver(hyper_rustls::FixedServerNameResolver::new(name));
        }
        let connector = builder.enable_http1().enable_http2().wrap_connector(tcp);
        Ok(Self {
            server: connection.server.clone(),
            headers: headers(connection)?,
            http: HttpClient::builder(TokioExecutor::new()).build(connector),
            timeout,
        })
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: http::Request<Body>) -> std::result::Result<http::Response<Body>, BoxError> {
        let (mut parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map_or("/", |p| p.as_str());
        parts.uri = format!("{}{path}", self.server).parse()?;
        for (name, value) in &self.headers {
            parts.headers.append(name.clone(), value.clone());
        }
        let answer = self.http.request(http::Request::from_parts(parts, body));
        let response = match self.timeout {
            None => answer.await,
            Some(timeout) => tokio::time::timeout(timeout, answer).await.map_err(|_| {
                BoxError::from("net/http: request canceled (Client.Timeout exceeded while awaiting headers)")
            })?,
        };
        let response = response.map_err(|error| -> BoxError { Box::new(Unreachable::of(&self.server, &error)) })?;
        Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
    }
}

/// No connection, in the words that kubectl has for it.
#[derive(Debug)]
struct Unreachable(String);

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreachable {}

impl Unreachable {
    fn of(server: &str, error: &hyper_util::client::legacy::Error) -> Self {
        let host = server.split("://").last().unwrap_or(server);
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
        let mut last = error.to_string();
        while let Some(inner) = cause {
            if let Some(io) = inner.downcast_ref::<std::io::Error>()
                && io.kind() == std::io::ErrorKind::ConnectionRefused
            {
                return Self(format!(
                    "The connection to the server {host} was refused - did you specify the right host or port?"
                ));
            }
            last = inner.to_string();
            cause = inner.source();
        }
        Self(format!("Unable to connect to the server: {last}"))
    }
}

/// An error of the client as kubectl prints it; connection failures stand alone.
pub(crate) fn explain(error: ferry_client::Error) -> CliError {
    match error {
        ferry_client::Error::Transport(source) => match source.downcast::<Unreachable>() {
            Ok(unreachable) => CliError::Plain(unreachable.0),
            Err(other) => CliError::Plain(format!("Unable to connect to the server: {other}")),
        },
        other => other.into(),
    }
}

fn headers(connection: &Connection) -> Result<Vec<(HeaderName, HeaderValue)>> {
    let mut headers = Vec::new();
    let mut add = |name: &str, value: &str, is_secret: bool| -> Result<()> {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| format!("header {name:?}: {e}"))?;
        let mut value =
            HeaderValue::from_str(value).map_err(|_| format!("{name}: the value cannot stand in a header"))?;
        value.set_sensitive(is_secret);
        headers.push((name, value));
        Ok(())
    };
    if let Some(token) = &connection.token {
        add("authorization", &format!("Bearer {token}"), true)?;
    }
    if let Some((name, password)) = &connection.basic {
        add("authorization", &format!("Basic {}", BASE64.encode(format!("{name}:{password}"))), true)?;
    }
    for (name, value) in &connection.impersonation {
        add(name, value, false)?;
    }
    Ok(headers)
}

fn tls_config(connection: &Connection) -> Result<rustls::ClientConfig> {
    let identity = connection.identity_pem.as_ref().map(|(certificate_pem, key_pem)| ferry_pki::Identity {
        certificate_pem: certificate_pem.clone(),
        key_pem: key_pem.clone(),
    });
    let authority = match &connection.authority_pem {
        Some(pem) => pem.clone(),
        None if connection.is_insecure || connection.server.starts_with("http://") => String::new(),
        None => system_authorities(),
    };
    let mut config = ferry_pki::tls::client_config(&authority, identity.as_ref()).map_err(|e| e.to_string())?;
    if connection.is_insecure {
        config.dangerous().set_certificate_verifier(Arc::new(AnyServer));
    }
    Ok(config)
}

/// The authorities that the machine trusts, where the kubeconfig names none.
fn system_authorities() -> String {
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .unwrap_or_default()
}

/// `--insecure-skip-tls-verify`: any certificate is taken, its signatures are still checked.
#[derive(Debug)]
struct AnyServer;

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let provider = ferry_pki::tls::provider();
        rustls::crypto::verify_tls12_signature(message, cert, dss, &provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let provider = ferry_pki::tls::provider();
        rustls::crypto::verify_tls13_signature(message, cert, dss, &provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        ferry_pki::tls::provider().signature_verification_algorithms.supported_schemes()
    }
}
