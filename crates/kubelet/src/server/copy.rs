//! Connections to the runtime's streaming server, and passing bytes between two ends.

use super::BoxError;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// The headers of the runtime's answer to an upgrade that its caller needs.
pub(super) const ANSWERED: [&str; 5] =
    ["connection", "upgrade", "x-stream-protocol-version", "sec-websocket-accept", "sec-websocket-protocol"];

/// A request for an upgrade, as it is put to the runtime's streaming server.
pub(super) struct Handshake {
    method: Method,
    upgrade: &'static str,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Handshake {
    /// The stream protocols that the caller offers, for SPDY.
    pub fn spdy(headers: &HeaderMap) -> Self {
        Self::of(Method::POST, "SPDY/3.1", headers, &["x-stream-protocol-version"])
    }

    /// The caller's own handshake: its key is answered by the runtime.
    pub fn websocket(headers: &HeaderMap) -> Self {
        let carried = ["sec-websocket-key", "sec-websocket-version", "sec-websocket-protocol"];
        Self::of(Method::GET, "websocket", headers, &carried)
    }

    /// SPDY with one stream protocol of our own choice.
    pub fn speaking(protocol: &'static str) -> Self {
        let header = (HeaderName::from_static("x-stream-protocol-version"), HeaderValue::from_static(protocol));
        Self { method: Method::POST, upgrade: "SPDY/3.1", headers: vec![header] }
    }

    fn of(method: Method, upgrade: &'static str, headers: &HeaderMap, carried: &[&'static str]) -> Self {
        let all = |name: &&'static str| {
            headers.get_all(*name).iter().map(|value| (HeaderName::from_static(name), value.clone()))
        };
        Self { method, upgrade, headers: carried.iter().flat_map(all).collect() }
    }

    /// Asks the runtime's streaming server for the upgrade. The answer may be a refusal.
    pub async fn send(self, url: &str) -> Result<Response<Incoming>, BoxError> {
        let uri: http::Uri = url.parse()?;
        let host = uri.host().ok_or("the runtime's streaming address has no host")?.to_string();
        let port = uri.port_u16().unwrap_or(80);
        let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async move { drop(connection.with_upgrades().await) });
        let path = uri.path_and_query().map(|path| path.as_str()).unwrap_or("/");
        let mut request = Request::builder()
            .method(self.method)
            .uri(path)
            .header("Host", format!("{host}:{port}"))
            .header("Connection", "Upgrade")
            .header("Upgrade", self.upgrade);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        Ok(sender.send_request(request.body(Empty::<Bytes>::new())?).await?)
    }
}

/// Values of a header that may be given several times or as a list.
pub(super) fn list(headers: &HeaderMap, name: &str) -> Vec<String> {
    headers
        .get_all(name)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|value| value.trim().to_string())
        .filter(|value| !value.is_empty())
        .collect()
}

/// Copies both ways until either end is done.
pub(super) async fn join(one: Upgraded, other: Upgraded) {
    let (mut one, mut other) = (TokioIo::new(one), TokioIo::new(other));
    let _ = tokio::io::copy_bidirectional(&mut one, &mut other).await;
}
