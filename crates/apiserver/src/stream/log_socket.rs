//! A container's log over WebSocket, for callers that have no other way to read a stream, such
//! as browsers (upstream: k8s.io/streaming, httpstream/wsstream/stream.go). Called by the log
//! subresource; whether there is a log to read is decided before the connection is upgraded.

use crate::transport::{Body, BoxError, Upgraded, empty};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use ferry_api::status::Status;
use futures_util::{SinkExt, StreamExt};
use http::header::{CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

const BINARY: &str = "binary.k8s.io";
const BASE64: &str = "base64.binary.k8s.io";

/// How long a caller may take to answer our goodbye.
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Binary,
    Base64,
}

impl Encoding {
    fn message(self, data: Bytes) -> Message {
        match self {
            Self::Binary => Message::Binary(data),
            Self::Base64 => Message::text(STANDARD.encode(&data)),
        }
    }
}

/// A caller that asked for WebSocket, before it is answered.
pub(super) struct LogSocket {
    upgrade: OnUpgrade,
    accept: HeaderValue,
    /// `None` when the caller offered none, which is read as binary.
    protocol: Option<&'static str>,
    encoding: Encoding,
}

impl LogSocket {
    /// `None` for a request that is plain HTTP. One for a protocol that a log does not have is
    /// refused.
    pub(super) fn asked_for(mut request: Request<Body>) -> Result<Option<Self>, Status> {
        let headers = request.headers();
        let is_websocket =
            headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"));
        if !is_websocket || !super::onward::is_upgrade(headers) {
            return Ok(None);
        }
        let key = headers.get(SEC_WEBSOCKET_KEY).ok_or_else(|| Status::bad_request("no Sec-WebSocket-Key"))?;
        let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).map_err(Status::internal)?;
        let (protocol, encoding) = choose_protocol(headers)?;
        Ok(Some(Self { upgrade: hyper::upgrade::on(&mut request), accept, protocol, encoding }))
    }

    /// The answer to the handshake; the log follows once it is sent.
    pub(super) fn open(self, log: Body) -> Response<Body> {
        let mut response = Response::new(empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, self.accept);
        if let Some(protocol) = self.protocol {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
        }
        let (open, over) = tokio::sync::watch::channel(());
        response.extensions_mut().insert(Upgraded(over));
        tokio::spawn(async move {
            let _open = open;
            if let Err(error) = copy(self.upgrade, log, self.encoding).await {
                tracing::debug!(error, "a log over WebSocket ended early");
            }
        });
        response
    }
}

/// The first of the caller's protocols that is known.
fn choose_protocol(headers: &HeaderMap) -> Result<(Option<&'static str>, Encoding), Status> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let offered: Vec<&str> =
        values.flat_map(|value| value.split(',')).map(str::trim).filter(|one| !one.is_empty()).collect();
    let known = |name: &&str| match *name {
        BINARY => Some((Some(BINARY), Encoding::Binary)),
        BASE64 => Some((Some(BASE64), Encoding::Base64)),
        _ => None,
    };
    if offered.is_empty() {
        return Ok((None, Encoding::Binary));
    }
    offered.iter().find_map(known).ok_or_else(|| {
        let why = format!("requested protocol(s) are not supported: {offered:?}; supports [{BINARY:?} {BASE64:?}]");
        Status::failure(403, "Forbidden", why)
    })
}

async fn copy(upgrade: OnUpgrade, mut log: Body, encoding: Encoding) -> Result<(), BoxError> {
    let io = TokioIo::new(upgrade.await?);
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
    // An empty message shows that the connection stands before the container writes anything.
    socket.send(encoding.message(Bytes::new())).await?;
    loop {
        tokio::select! {
            frame = log.frame() => match frame {
                Some(frame) => {
                    let Ok(data) = frame?.into_data() else { continue };
                    if !data.is_empty() {
                        socket.send(encoding.message(data)).await?;
                    }
                }
                None => break,
            },
            // The caller has nothing to say but its goodbye.
            said = socket.next() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(()),
                Some(Ok(_)) => {}
            },
        }
    }
    socket.close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() })).await?;
    // Leaving before the caller has answered would cut off what is on its way to it.
    let goodbye = async { while let Some(Ok(_)) = socket.next().await {} };
    let _ = tokio::time::timeout(GOODBYE_LIMIT, goodbye).await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_taken_in_the_callers_order() {
        let check = |offered: &str, expected: Option<(Option<&'static str>, Encoding)>| {
            let mut headers = HeaderMap::new();
            if !offered.is_empty() {
                headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_str(offered).expect("a value"));
            }
            assert_eq!(choose_protocol(&headers).ok(), expected, "{offered:?}");
        };
        check("", Some((None, Encoding::Binary)));
        check("binary.k8s.io", Some((Some(BINARY), Encoding::Binary)));
        check("x, base64.binary.k8s.io, binary.k8s.io", Some((Some(BASE64), Encoding::Base64)));
        check("channel.k8s.io", None);
    }
}
