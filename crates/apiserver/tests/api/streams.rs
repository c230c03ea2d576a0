//! Logs and exec through a kubelet that is ours to script.

use crate::server::{PODS, Server, pod};
use bytes::Bytes;
use ferry_pki::tls::{ClientCertificates, server_config};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Answers logs with the URL it was asked, and upgrades exec to an echo.
async fn kubelet(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let uri = request.uri().to_string();
    if uri.starts_with("/exec/") {
        let protocol = request.headers().get("upgrade").cloned().expect("an upgrade");
        tokio::spawn(async move {
            let mut io = TokioIo::new(hyper::upgrade::on(request).await.expect("upgraded"));
            let mut buffer = [0; 64];
            while let Ok(count @ 1..) = io.read(&mut buffer).await {
                io.write_all(&buffer[..count]).await.expect("echoed");
            }
        });
        let response = Response::builder().status(101).header("connection", "Upgrade").header("upgrade", protocol);
        return Ok(response.header("x-uri", uri).body(Full::default()).expect("a response"));
    }
    if uri.contains("/waiting/") {
        let text = "container \"web\" in pod \"waiting\" is waiting to start: ContainerCreating";
        return Ok(Response::builder().status(400).body(Full::from(text)).expect("a response"));
    }
    Ok(Response::new(Full::from(uri)))
}

/// A server with one node whose kubelet is the above, and two pods bound to it.
async fn with_kubelet() -> Server {
    let server = Server::start().await.with_default_account().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    // The server must not connect to addresses of its own machine, so the node has another.
    server.routes.lead("192.0.2.7", port, listener.local_addr().expect("an address"));
    let ips = ["192.0.2.7".parse().expect("an address")];
    let node = server.pki.ensure_node("n", &ips, jiff::Timestamp::now()).expect("a node's identity");
    let tls =
        server_config(&node.serving.identity(), ClientCertificates::Requested { hints: &[] }).expect("a serving side");
    let mut tls = tls;
    tls.alpn_protocols.clear();
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                assert!(stream.get_ref().1.peer_certificates().is_some(), "the API server shows who it is");
                let connection = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service_fn(kubelet))
                    .with_upgrades();
                let _ = connection.await;
            });
        }
    });
    server.post("/api/v1/nodes", &json!({"metadata": {"name": "n"}})).await.ok();
    let status = json!({"status": {
        "addresses": [{"type": "InternalIP", "address": "192.0.2.7"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }});
    server.patch("application/merge-patch+json", "/api/v1/nodes/n/status", &status).await.ok();
    for name in ["p", "waiting"] {
        server.post(PODS, &pod(name)).await.ok();
        let binding = json!({"target": {"kind": "Node", "name": "n"}});
        server.post(&format!("{PODS}/{name}/binding"), &binding).await.ok();
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
}

#[tokio::test]
async fn nodes_and_their_kubelets_can_be_proxied_to() {
    let server = with_kubelet().await;
    let answer = server.get("/api/v1/nodes/n/proxy/stats/summary?only=x").await;
    assert_eq!((answer.code, &answer.bytes[..]), (200, &b"/stats/summary?only=x"[..]));
    let missing = server.get("/api/v1/nodes/none/proxy/").await;
    assert_eq!((missing.code, missing.message().as_str()), (404, "nodes \"none\" not found"));
    let status = json!({"status": {"addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}});
    server.patch("application/merge-patch+json", "/api/v1/nodes/n/status", &status).await.ok();
    let refused = server.get("/api/v1/nodes/n/proxy/stats/summary").await;
    assert_eq!((refused.code, refused.message().as_str()), (400, "address not allowed"));
}
