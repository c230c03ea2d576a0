//! HTTP probes and HTTP lifecycle hooks: one GET, judged by its status.

use super::tcp::dial_error;
use super::{Answer, host_or, resolve_port};
use ferry_api::view::List;
use ferry_api::view::core::v1::{ContainerView, HTTPGetActionView, HTTPHeaderView};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// Redirects to the same host are followed this often.
const MAX_REDIRECTS: usize = 10;
const MAX_BODY: usize = 10 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct Url {
    pub https: bool,
    pub host: String,
    pub port: u16,
    pub path: String,
}

impl Url {
    fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    pub fn text(&self) -> String {
        format!("{}://{}{}", if self.https { "https" } else { "http" }, self.authority(), self.path)
    }
}

/// The headers that a probe or a hook sends beside its own.
pub type Headers<'a> = List<'a, HTTPHeaderView<'a>>;

/// The address that an action asks: its own host, or else the pod's.
pub fn target(action: HTTPGetActionView<'_>, container: ContainerView<'_>, pod_ip: &str) -> Result<Url, String> {
    let path = action.path();
    Ok(Url {
        https: action.scheme().eq_ignore_ascii_case("https"),
        host: host_or(action.host(), pod_ip).to_owned(),
        port: resolve_port(action.port(), container)?,
        path: if path.starts_with('/') { path.to_string() } else { format!("/{path}") },
    })
}

pub async fn probe(url: &Url, headers: Headers<'_>, timeout: Duration) -> Answer {
    let mut url = url.clone();
    for _ in 0..=MAX_REDIRECTS {
        let got = match tokio::time::timeout(timeout, get(&url, headers)).await {
            Ok(got) => got,
            Err(_) => Err("context deadline exceeded (Client.Timeout exceeded while awaiting headers)".to_string()),
        };
        let (status, location, body) = match got {
            Ok(answer) => answer,
            Err(why) => return Answer::Failure(format!("Get {:?}: {why}", url.text())),
        };
        if (300..400).contains(&status)
            && let Some(location) = location
        {
            match redirect(&url, &location) {
                Some(next) => {
                    url = next;
                    continue;
                }
                // Another host may be anyone; the container did answer.
                None => return Answer::Warning(format!("Probe terminated redirects, Response body: {body}")),
            }
        }
        return if (200..400).contains(&status) {
            Answer::Success
        } else {
            Answer::Failure(format!("HTTP probe failed with statuscode: {status}"))
        };
    }
    Answer::Failure(format!("Get {:?}: stopped after 10 redirects", url.text()))
}

fn redirect(from: &Url, location: &str) -> Option<Url> {
    if location.starts_with('/') && !location.starts_with("//") {
        return Some(Url { path: location.to_string(), ..from.clone() });
    }
    let uri: http::Uri = location.parse().ok()?;
    let https = match uri.scheme_str()? {
        "http" => false,
        "https" => true,
        _ => return None,
    };
    let host = uri.host()?.trim_matches(['[', ']']).to_string();
    (host == from.host).then(|| Url {
        https,
        host,
        port: uri.port_u16().unwrap_or(if https { 443 } else { 80 }),
        path: uri.path_and_query().map(|p| p.to_string()).unwrap_or_else(|| "/".into()),
    })
}

/// Status, Location and the beginning of the body.
pub async fn get(url: &Url, headers: Headers<'_>) -> Result<(u16, Option<String>, String), String> {
    let stream = TcpStream::connect((url.host.as_str(), url.port))
        .await
        .map_err(|error| format!("dial tcp {}: {}", url.authority(), dial_error(&error)))?;
    let request = request(url, headers)?;
    if url.https {
        let name = rustls::pki_types::ServerName::try_from(url.host.clone()).map_err(|error| error.to_string())?;
        let connector = tokio_rustls::TlsConnector::from(trusting_config());
        let stream = connector.connect(name, stream).await.map_err(|error| error.to_string())?;
        send(TokioIo::new(stream), request).await
    } else {
        send(TokioIo::new(stream), request).await
    }
}

fn request(url: &Url, headers: Headers<'_>) -> Result<http::Request<Empty<bytes::Bytes>>, String> {
    let mut builder = http::Request::get(&url.path);
    let mut host = url.authority();
    let has = |name: &str| headers.iter().any(|header| header.name().eq_ignore_ascii_case(name));
    if !has("user-agent") {
        builder = builder.header("User-Agent", "kube-probe/1.36");
    }
    if !has("accept") {
        builder = builder.header("Accept", "*/*");
    }
    for header in headers {
        if header.name().eq_ignore_ascii_case("host") {
            host = header.value_().to_owned();
        } else {
            builder = builder.header(header.name(), header.value_());
        }
    }
    builder.header("Host", host).header("Connection", "close").body(Empty::new()).map_err(|error| error.to_string())
}

async fn send<T>(io: T, request: http::Request<Empty<bytes::Bytes>>) -> Result<(u16, Option<String>, String), String>
where
    T: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(io).await.map_err(|error| error.to_string())?;
    // Dropping the guard ends the connection with the probe.
    let _guard = AbortOnDrop(tokio::spawn(async move { drop(connection.await) }));
    let response = sender.send_request(request).await.map_err(|_| "EOF".to_string())?;
    let status = response.status().as_u16();
    let location = response.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_string);
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while bytes.len() < MAX_BODY {
        match body.frame().await {
            Some(Ok(frame)) => bytes.extend_from_slice(frame.data_ref().map(AsRef::as_ref).unwrap_or_default()),
            _ => break,
        }
    }
    bytes.truncate(MAX_BODY);
    Ok((status, location, String::from_utf8_lossy(&bytes).into_owned()))
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A probe asks whether the container answers, not who signed its certificate.
fn trusting_config() -> Arc<rustls::ClientConfig> {
    use std::sync::OnceLock;
    static CONFIG: OnceLock<Arc<rustls::ClientConfig>> = OnceLock::new();
    CONFIG
        .get_or_init(|| {
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config = rustls::ClientConfig::builder_with_provider(provider.clone())
                .with_safe_default_protocol_versions()
                .expect("ring speaks the default versions")
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
                .with_no_client_auth();
            Arc::new(config)
        })
        .clone()
}

#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &rustls::pki_types::CertificateDer<'_>,
        _intermediates: &[rustls::pki_types::CertificateDer<'_>],
        _server_name: &rustls::pki_types::ServerName<'_>,
        _ocsp_response: &[u8],
        _now: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &rustls::pki_types::CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &rustls::pki_types::CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    async fn serve(answers: Vec<&'static str>) -> Url {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            for answer in answers {
                let Ok((mut stream, _)) = listener.accept().await else { return };
                let mut buffer = [0; 4096];
                let _ = stream.read(&mut buffer).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Url { https: false, host: "127.0.0.1".into(), port, path: "/healthz".into() }
    }

    #[tokio::test]
    async fn statuses_decide() {
        let url = serve(vec![
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 204 None\r\n\r\n",
            "HTTP/1.1 301 Moved\r\nLocation: http://192.0.2.1/\r\nContent-Length: 1\r\n\r\nx",
        ])
        .await;
        let second = Duration::from_secs(5);
        assert_eq!(probe(&url, Headers::default(), second).await, Answer::Success);
        let failed = Answer::Failure("HTTP probe failed with statuscode: 500".into());
        assert_eq!(probe(&url, Headers::default(), second).await, failed);
        assert_eq!(probe(&url, Headers::default(), second).await, Answer::Success);
        assert_eq!(
            probe(&url, Headers::default(), second).await,
            Answer::Warning("Probe terminated redirects, Response body: x".into())
        );
    }

    #[tokio::test]
    async fn a_closed_port_is_refused_in_upstreams_words() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let url = Url { https: false, host: "127.0.0.1".into(), port, path: "/".into() };
        assert_eq!(
            probe(&url, Headers::default(), Duration::from_secs(5)).await,
            Answer::Failure(format!(
                "Get \"http://127.0.0.1:{port}/\": dial tcp 127.0.0.1:{port}: connect: connection refused"
            ))
        );
    }
}
