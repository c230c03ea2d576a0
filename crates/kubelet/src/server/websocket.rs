//! The WebSocket dialects that no runtime speaks, translated to the runtime's SPDY.
//!
//! In the channel protocol v5 the first byte of a message says which stream the rest
//! belongs to, and a message can close one. Port-forward instead carries whole SPDY
//! connections inside the messages, so there it is only unwrapped. Older dialects are
//! passed to the runtime as they are (`dialect.rs`).

use super::channel::{self, ERROR, RESIZE, STDERR, STDIN, STDOUT, Said};
use super::dialect::{TUNNEL_PROTOCOL, V5_PROTOCOL};
use super::missed_output::MissedOutput;
use super::spdy::{Frame, Reader, Writer};
use super::streaming::Wanted;
use super::{Body, BoxError, copy, text};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::collections::HashMap;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

/// What the runtime's streams speak; v4 ends with a status that carries the exit code.
const RUNTIME_PROTOCOL: &str = "v4.channel.k8s.io";
const GOODBYE_LIMIT: Duration = Duration::from_secs(5);

type Caller = WebSocketStream<TokioIo<Upgraded>>;

/// exec and attach.
pub(super) async fn translate(
    url: &str,
    wanted: Wanted,
    missed: Option<MissedOutput>,
    mut request: Request<Incoming>,
) -> Response<Body> {
    let response = match accept(&request, V5_PROTOCOL) {
        Ok(accepted) => accepted,
        Err(response) => return *response,
    };
    let runtime = match dial(url, RUNTIME_PROTOCOL).await {
        Ok(runtime) => runtime,
        Err(error) => return text(StatusCode::BAD_GATEWAY, format!("cannot reach the runtime: {error}")),
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(upgraded) = upgraded.await else { return };
        let caller = websocket(upgraded).await;
        if let Err(error) = pump(caller, runtime, wanted, missed).await {
            tracing::debug!(%error, "a stream ended early");
        }
    });
    response
}

/// port-forward: the messages are the bytes of a SPDY connection.
pub(super) async fn tunnel(url: &str, mut request: Request<Incoming>) -> Response<Body> {
    let response = match accept(&request, TUNNEL_PROTOCOL) {
        Ok(accepted) => accepted,
        Err(response) => return *response,
    };
    let runtime = match dial(url, "portforward.k8s.io").await {
        Ok(runtime) => runtime,
        Err(error) => return text(StatusCode::BAD_GATEWAY, format!("cannot reach the runtime: {error}")),
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(upgraded) = upgraded.await else { return };
        let caller = websocket(upgraded).await;
        if let Err(error) = pump_tunnel(caller, runtime).await {
            tracing::debug!(%error, "a tunnel ended early");
        }
    });
    response
}

/// The handshake's answer. `dialect.rs` has judged the request, so a refusal here would mean
/// a key that is no header's value.
fn accept(request: &Request<Incoming>, protocol: &'static str) -> Result<Response<Body>, Box<Response<Body>>> {
    let refuse = |why: &str| Box::new(text(StatusCode::BAD_REQUEST, why));
    let key = request.headers().get("sec-websocket-key").ok_or_else(|| refuse("no Sec-WebSocket-Key"))?;
    let accepted = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).map_err(|_| refuse("bad key"))?;
    let mut response = text(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = response.headers_mut();
    headers.clear();
    headers.insert("connection", HeaderValue::from_static("Upgrade"));
    headers.insert("upgrade", HeaderValue::from_static("websocket"));
    headers.insert("sec-websocket-accept", accepted);
    headers.insert("sec-websocket-protocol", HeaderValue::from_static(protocol));
    Ok(response)
}

async fn websocket(upgraded: Upgraded) -> Caller {
    WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(channel::limits())).await
}

async fn dial(url: &str, protocol: &'static str) -> Result<TokioIo<Upgraded>, BoxError> {
    let mut answer = copy::Handshake::speaking(protocol).send(url).await?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("it answered {}", answer.status()).into());
    }
    Ok(TokioIo::new(hyper::upgrade::on(&mut answer).await?))
}

async fn pump(
    mut caller: Caller,
    runtime: TokioIo<Upgraded>,
    wanted: Wanted,
    missed: Option<MissedOutput>,
) -> Result<(), BoxError> {
    let (read, write) = tokio::io::split(runtime);
    let (mut reader, mut writer) = (Reader::new(read), Writer::new(write));
    // The runtime waits for all of these before it starts the process; the order is upstream's.
    let kinds = [
        (ERROR, "error", true),
        (STDIN, "stdin", wanted.stdin),
        (STDOUT, "stdout", wanted.stdout),
        (STDERR, "stderr", wanted.stderr),
        (RESIZE, "resize", wanted.tty),
    ];
    let mut streams: HashMap<u8, u32> = HashMap::new();
    for (channel, name, _) in kinds.iter().filter(|(_, _, open)| *open) {
        streams.insert(*channel, writer.open(&[("streamtype", name)]).await?);
    }
    let channel_of: HashMap<u32, u8> = streams.iter().map(|(channel, stream)| (*stream, *channel)).collect();
    let mut open: Vec<u8> =
        [ERROR, STDOUT, STDERR].into_iter().filter(|channel| streams.contains_key(channel)).collect();
    // Says that the connection stands, before there is any output.
    let first = if wanted.stdout {
        STDOUT
    } else if wanted.stderr {
        STDERR
    } else {
        ERROR
    };
    caller.send(message(first, &[])).await?;
    let (mut has_shown, mut status) = (false, Vec::new());
    while !open.is_empty() {
        tokio::select! {
            said = caller.next() => match said {
                // Some clients send what is text to them in text messages, with the same first byte.
                Some(Ok(said @ (Message::Binary(_) | Message::Text(_)))) => {
                    match channel::read(&said.into_data()) {
                        Said::End(channel) => {
                            if let Some(stream) = streams.get(&channel) {
                                writer.send(*stream, &[], true).await?;
                            }
                        }
                        Said::Input { channel, data } => {
                            if let Some(stream) = streams.get(&channel) {
                                writer.send(*stream, data, false).await?;
                            }
                        }
                        Said::Nothing => {}
                    }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(()),
                Some(Ok(_)) => {}
            },
            frame = reader.next() => match frame? {
                Some(Frame::Data { stream, data, fin }) => {
                    let Some(channel) = channel_of.get(&stream) else { continue };
                    if !data.is_empty() {
                        match *channel {
                            ERROR => status.extend_from_slice(&data),
                            _ => has_shown = true,
                        }
                        caller.send(message(*channel, &data)).await?;
                    }
                    if fin {
                        open.retain(|one| one != channel);
                    }
                }
                Some(Frame::Reply { stream, fin: true } | Frame::Reset { stream }) => {
                    if let Some(channel) = channel_of.get(&stream) {
                        open.retain(|one| one != channel);
                    }
                }
                Some(Frame::Ping(id)) => writer.pong(id).await?,
                Some(Frame::GoAway) | None => break,
                Some(Frame::Reply { .. } | Frame::Other) => {}
            },
        }
    }
    // A client that is told of a failure reads the log itself.
    if let Some(missed) = missed.filter(|_| !has_shown && !is_failure(&status)) {
        for (channel, data) in missed.read(wanted).await {
            caller.send(message(channel, &data)).await?;
        }
    }
    close(&mut caller).await
}

/// Whether the status that the runtime ended with is one of failure; none is none.
fn is_failure(status: &[u8]) -> bool {
    let read = serde_json::from_slice::<serde_json::Value>(status);
    !status.is_empty() && read.is_ok_and(|status| status["status"] != "Success")
}

/// Says goodbye properly: a close without a code is an error to clients.
async fn close(caller: &mut Caller) -> Result<(), BoxError> {
    caller.close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() })).await?;
    // The other side answers in kind; leaving earlier would cut off what is on its way.
    let goodbye = async { while let Some(Ok(_)) = caller.next().await {} };
    let _ = tokio::time::timeout(GOODBYE_LIMIT, goodbye).await;
    Ok(())
}

fn message(channel: u8, data: &[u8]) -> Message {
    Message::Binary(channel::render(channel, data))
}

async fn pump_tunnel(mut caller: Caller, runtime: TokioIo<Upgraded>) -> Result<(), BoxError> {
    let (mut read, mut write) = tokio::io::split(runtime);
    let mut buffer = vec![0; 32 * 1024];
    loop {
        tokio::select! {
            said = caller.next() => match said {
                Some(Ok(Message::Binary(data))) => write.write_all(&data).await?,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(()),
                Some(Ok(_)) => {}
            },
            count = read.read(&mut buffer) => match count? {
                0 => {
                    return close(&mut caller).await;
                }
                count => caller.send(Message::Binary(Bytes::copy_from_slice(&buffer[..count]))).await?,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_of_success_and_none_at_all_are_no_failures() {
        assert!(is_failure(br#"{"metadata":{},"status":"Failure","message":"error attaching to container"}"#));
        assert!(!is_failure(br#"{"metadata":{},"status":"Success"}"#));
        assert!(!is_failure(b""));
    }
}
