//! Connections to the runtime's streaming server, and passing bytes between two ends.

use super::BoxError;
use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Asks the runtime's streaming server for an upgrade. The answer may be a refusal.
pub(super) async fn request_upgrade(
    url: &str,
    protocol: &str,
    stream_protocols: &[String],
) -> Result<Response<Incoming>, BoxError> {
    let uri: http::Uri = url.parse()?;
    let host = uri.host().ok_or("the runtime's streaming address has no host")?.to_string();
    let port = uri.port_u16().unwrap_or(80);
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(async move { drop(connection.with_upgrades().await) });
    let path = uri.path_and_query().map(|path| path.as_str()).unwrap_or("/");
    let mut request = Request::post(path)
        .header("Host", format!("{host}:{port}"))
        .header("Connection", "Upgrade")
        .header("Upgrade", protocol);
    for wanted in stream_protocols {
        request = request.header("X-Stream-Protocol-Version", wanted);
    }
    Ok(sender.send_request(request.body(Empty::<Bytes>::new())?).await?)
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
