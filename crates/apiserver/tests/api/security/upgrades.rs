//! An upgrade that the backend refuses must end the client's connection. If the two were
//! joined all the same, whatever the client sends next would reach the backend over the API
//! server's own, trusted connection, past authorization (CVE-2018-1002105).

use super::{Verdict, code_of, read_head};
use crate::aggregation::{FLUNDERS, register, wardle};
use crate::backend::{Backend, Seen, status, text};
use crate::proxy::{POD_IP, with_pod};
use crate::server::PODS;
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The ways in which a backend can answer an upgrade without upgrading.
const REFUSALS: [u16; 5] = [200, 302, 400, 403, 500];

/// Refuses every upgrade with the code that the URL asks for.
fn refusing(seen: &Seen) -> Response<Full<Bytes>> {
    match REFUSALS.into_iter().find(|code| seen.uri.contains(&format!("refuse-{code}"))) {
        Some(code) => status(code, &[("location", "/elsewhere")], "no upgrade for you"),
        None => text("text/plain", "something that only the API server may see"),
    }
}

/// Asks for an upgrade, hears that there is none, and talks on.
async fn attack(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    path: &str,
    backend: &Backend,
    what: String,
    verdict: &mut Verdict,
) {
    let upgrade = format!(
        "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc\r\n\r\n"
    );
    stream.write_all(upgrade.as_bytes()).await.expect("sent");
    let head = read_head(&mut stream).await;
    assert!(code_of(&head) != 0 && code_of(&head) != 101, "the backend refused: {head}");
    let before = backend.asked("/smuggled");
    // A connection that is closed already may refuse to take this, which is as good.
    let _ = stream.write_all(b"GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
    let answered = rest.windows(5).any(|window| window == b"HTTP/");
    verdict.tried(what, ended.is_err() || answered || backend.asked("/smuggled") > before);
}

#[tokio::test]
async fn ferry_ends_the_connection() {
    let server = with_pod().await;
    let pods = Backend::plain(refusing).await;
    server.routes.lead(POD_IP, 8080, pods.address);
    let kubelet = Backend::kubelet(&server, refusing).await;
    server.with_bound_pod("p").await;
    let aggregated = register(&server, |seen| {
        if seen.uri.contains("refuse-") || seen.uri.contains("smuggled") { refusing(seen) } else { wardle(seen) }
    })
    .await;
    let mut verdict = Verdict::default();
    for code in REFUSALS {
        let doors = [
            (format!("{PODS}/web:8080/proxy/refuse-{code}"), &pods),
            (format!("/api/v1/namespaces/default/services/web:80/proxy/refuse-{code}"), &pods),
            (format!("/api/v1/nodes/n/proxy/refuse-{code}"), &kubelet),
            (format!("{PODS}/p/exec?command=refuse-{code}&stdout=true"), &kubelet),
            (format!("{FLUNDERS}/refuse-{code}"), &aggregated),
        ];
        for (path, backend) in doors {
            attack(server.connect().await, &path, backend, path.clone(), &mut verdict).await;
        }
    }
    verdict.assert_held();
}

/// Joins client and backend before it knows what the backend says.
async fn careless_proxy(backend: &Backend) -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (address, backend) = (listener.local_addr().expect("an address"), backend.address);
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("a client");
        let mut backend = TcpStream::connect(backend).await.expect("the backend");
        let _ = tokio::io::copy_bidirectional(&mut client, &mut backend).await;
    });
    TcpStream::connect(address).await.expect("the proxy")
}

#[tokio::test]
async fn a_proxy_that_joins_unseen_is_found_out() {
    let backend = Backend::plain(refusing).await;
    let mut verdict = Verdict::default();
    for code in REFUSALS {
        let path = format!("/refuse-{code}");
        attack(careless_proxy(&backend).await, &path, &backend, path.clone(), &mut verdict).await;
    }
    verdict.assert_breached();
}
