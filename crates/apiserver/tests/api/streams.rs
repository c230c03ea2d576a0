//! Logs and exec through a kubelet that is ours to script.

use crate::backend::{Backend, Seen, status, text};
use crate::server::{PODS, Server};
use base64::Engine;
use bytes::Bytes;
use futures_util::StreamExt;
use http::Response;
use http_body_util::Full;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Answers logs with the URL it was asked, and upgrades exec to an echo.
fn kubelet(seen: &Seen) -> Response<Full<Bytes>> {
    assert!(seen.certificate.is_some(), "the API server shows who it is");
    if seen.uri.starts_with("/exec/") {
        let protocol = seen.header("upgrade");
        return status(101, &[("connection", "Upgrade"), ("upgrade", protocol), ("x-uri", &seen.uri)], "");
    }
    if seen.uri.contains("/waiting/") {
        return status(400, &[], "container \"web\" in pod \"waiting\" is waiting to start: ContainerCreating");
    }
    text("text/plain", seen.uri.clone())
}

/// A server with one node whose kubelet is the above, and two pods bound to it.
async fn with_kubelet() -> Server {
    let server = Server::start().await.with_default_account().await;
    Backend::kubelet(&server, kubelet).await;
    for name in ["p", "waiting"] {
        server.with_bound_pod(name).await;
    }
    server
}

#[tokio::test]
async fn logs_come_from_the_kubelet_with_their_options() {
    let server = with_kubelet().await;
    let log = server.get(&format!("{PODS}/p/log?tailLines=5&timestamps=true&follow=false")).await;
    assert_eq!(log.code, 200);
    assert_eq!(log.headers["content-type"], "text/plain");
    assert_eq!(log.bytes, "/containerLogs/default/p/web?timestamps=true&tailLines=5");
    let waiting = server.get(&format!("{PODS}/waiting/log")).await;
    assert_eq!(
        (waiting.code, waiting.message().as_str()),
        (400, "container \"web\" in pod \"waiting\" is waiting to start: ContainerCreating")
    );
    let wrong = server.get(&format!("{PODS}/p/log?container=x")).await;
    assert_eq!((wrong.code, wrong.message().as_str()), (400, "container x is not valid for pod p"));
    let missing = server.get(&format!("{PODS}/none/log")).await;
    assert_eq!((missing.code, missing.message().as_str()), (404, "pods \"none\" not found"));
}

#[tokio::test]
async fn exec_is_a_pipe_to_the_kubelet() {
    let server = with_kubelet().await;
    let plain = server.post(&format!("{PODS}/p/exec?command=ls&stdout=true"), &json!({})).await;
    assert_eq!((plain.code, plain.message().as_str()), (400, "Upgrade request required"));

    let mut stream = server.connect().await;
    let request = format!(
        "GET {PODS}/p/exec?command=sh&command=-c&stdin=true&stdout=true&tty=true HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("an answer"));
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    assert!(head.contains("/exec/default/p/web?input=1&output=1&tty=1&command=sh&command=-c"), "{head}");
    for word in [b"hello", b"again"] {
        stream.write_all(word).await.expect("sent");
        let mut echo = [0; 5];
        stream.read_exact(&mut echo).await.expect("echoed");
        assert_eq!(&echo, word);
    }
    // It is open for as long as the pipe is, and counted when that has ended.
    let labels = "group=\"\",resource=\"pods\",scope=\"resource\",subresource=\"exec\",verb=\"CONNECT\",version=\"v1\"";
    let open = |count: u8| format!("apiserver_longrunning_requests{{component=\"apiserver\",{labels}}} {count}\n");
    let text = String::from_utf8_lossy(&server.get("/metrics").await.bytes).into_owned();
    assert!(text.contains(&open(1)), "{text}");
    drop(stream);
    let ended = format!("apiserver_request_total{{code=\"101\",component=\"apiserver\",dry_run=\"\",{labels}}} 1\n");
    crate::loopback::eventually("the pipe is over", || async {
        let text = String::from_utf8_lossy(&server.get("/metrics").await.bytes).into_owned();
        text.contains(&ended) && text.contains(&open(0))
    })
    .await;
}

#[tokio::test]
async fn nodes_and_their_kubelets_can_be_proxied_to() {
    let server = with_kubelet().await;
    let answer = server.get("/api/v1/nodes/n/proxy/stats/summary?only=x").await;
    assert_eq!((answer.code, &answer.bytes[..]), (200, &b"/stats/summary?only=x"[..]));
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"] {
        let answer = server.ask(method, "/api/v1/nodes/n/proxy/stats/summary", &[], "").await;
        assert_eq!(answer.code, 200, "{method}: {}", answer.message());
    }
    let missing = server.get("/api/v1/nodes/none/proxy/").await;
    assert_eq!((missing.code, missing.message().as_str()), (404, "nodes \"none\" not found"));
}

/// The messages of a log over WebSocket, and how it ends.
async fn read_log_socket(server: &Server, protocol: &str) -> (Option<String>, Vec<Message>) {
    let mut request = http::Request::get(format!("wss://localhost{PODS}/p/log?tailLines=5"))
        .header("Host", "localhost")
        .header("Connection", "keep-alive, Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", "x3JJHMbDL1EzLkh9GBhXDw==");
    if !protocol.is_empty() {
        request = request.header("Sec-WebSocket-Protocol", protocol);
    }
    let request = request.body(()).expect("a request");
    let (mut socket, response) =
        tokio_tungstenite::client_async(request, server.connect().await).await.expect("an upgrade");
    let chosen = response.headers().get("sec-websocket-protocol").map(|value| value.to_str().expect("text").to_owned());
    let mut messages = Vec::new();
    while let Some(Ok(message)) = socket.next().await {
        messages.push(message);
    }
    (chosen, messages)
}

#[tokio::test]
async fn logs_were_not_served_over_websocket() {
    let server = with_kubelet().await;
    let log = "/containerLogs/default/p/web?tailLines=5";
    let goodbye = Message::Close(Some(CloseFrame { code: CloseCode::Normal, reason: "".into() }));
    for protocol in ["", "binary.k8s.io"] {
        let (chosen, messages) = read_log_socket(&server, protocol).await;
        assert_eq!(chosen.as_deref().unwrap_or_default(), protocol);
        assert_eq!(messages, [Message::binary(""), Message::binary(log), goodbye.clone()]);
    }
    let (chosen, messages) = read_log_socket(&server, "base64.binary.k8s.io").await;
    assert_eq!(chosen.as_deref(), Some("base64.binary.k8s.io"));
    assert_eq!(messages[1], Message::text(base64::engine::general_purpose::STANDARD.encode(log)));

    let headers = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "x3JJHMbDL1EzLkh9GBhXDw=="),
    ];
    // A log that is not there is refused before anything is upgraded.
    let missing = server.ask("GET", &format!("{PODS}/none/log"), &headers, "").await;
    assert_eq!((missing.code, missing.message().as_str()), (404, "pods \"none\" not found"));
    let mut unknown = headers.to_vec();
    unknown.push(("sec-websocket-protocol", "graphql-ws"));
    assert_eq!(server.ask("GET", &format!("{PODS}/p/log"), &unknown, "").await.code, 403);
}
