//! Streams of HTTP/2 that are opened and reset at once cost the client nothing. A server
//! that works for each of them is worked to death (CVE-2023-44487): a client that does
//! nothing else is cut off, and work that nobody waits for any more is given up.

use super::Verdict;
use super::http2::{answer, get, greet, reset};
use crate::hook_server::{HookServer, Reply};
use crate::loopback::eventually;
use crate::proxy::{POD_IP, with_pod};
use crate::server::{CONFIG_MAPS, PODS, Server, config_map};
use crate::webhooks::{VALIDATING, configure, hook};
use bytes::Bytes;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpStream};

/// More than anybody means to take back, and no more than this machine bears.
const RESETS: u32 = 2000;
const PATIENCE: Duration = Duration::from_secs(20);

/// Opens and resets, and then asks for something: a server that answers has borne it all.
async fn attack(mut stream: impl AsyncRead + AsyncWrite + Unpin, path: &str, verdict: &mut Verdict) {
    greet(&mut stream).await;
    let mut burst = Vec::new();
    for index in 0..RESETS {
        let id = 2 * index + 1;
        burst.extend(get(id, path));
        burst.extend(reset(id));
    }
    let asked = 2 * RESETS + 1;
    burst.extend(get(asked, "/livez"));
    // The other side may have hung up before it has read all of this.
    let _ = stream.write_all(&burst).await;
    let answered = tokio::time::timeout(PATIENCE, answer(&mut stream, asked)).await;
    verdict.tried(format!("{RESETS} resets of {path}"), answered.is_err() || answered.is_ok_and(|code| code.is_some()));
}

#[tokio::test]
async fn ferry_cuts_off_who_only_resets() {
    let server = Server::start().await;
    let mut verdict = Verdict::default();
    for path in ["/livez", PODS, "/api/v1/namespaces/default/pods?watch=1"] {
        attack(server.connect_as(Some(&server.pki.admin), "h2").await, path, &mut verdict).await;
        attack(server.connect_as(None, "h2").await, path, &mut verdict).await;
    }
    verdict.assert_held();
    assert_eq!(server.get("/livez").await.code, 200);
    let mut stream = server.connect_as(Some(&server.pki.admin), "h2").await;
    greet(&mut stream).await;
    stream.write_all(&[get(1, "/livez"), reset(1), get(3, "/livez")].concat()).await.expect("sent");
    assert_eq!(answer(&mut stream, 3).await, Some(200), "one reset is nobody's attack");
}

/// Answers whatever is asked, and bears any number of resets.
async fn careless_server() -> DuplexStream {
    let (client, server) = tokio::io::duplex(1 << 20);
    let service =
        service_fn(|_: Request<Incoming>| async { Ok::<_, Infallible>(Response::new(Full::<Bytes>::default())) });
    let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    builder.max_pending_accept_reset_streams(usize::MAX);
    tokio::spawn(async move { builder.serve_connection(TokioIo::new(server), service).await });
    client
}

#[tokio::test]
async fn a_server_that_bears_every_reset_is_found_out() {
    let mut verdict = Verdict::default();
    attack(careless_server().await, "/livez", &mut verdict).await;
    verdict.assert_breached();
}

/// Asks for something that takes for ever, and takes the question back. `backend` is where
/// the work is done; it hears when it is given up.
async fn attack_with_work(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    path: &str,
    backend: &TcpListener,
    verdict: &mut Verdict,
) {
    greet(&mut stream).await;
    stream.write_all(&get(1, path)).await.expect("sent");
    let (mut work, _) = tokio::time::timeout(PATIENCE, backend.accept()).await.expect("in time").expect("work");
    assert!(work.read_u8().await.is_ok(), "the work has begun");
    stream.write_all(&reset(1)).await.expect("sent");
    let mut rest = Vec::new();
    let given_up = tokio::time::timeout(Duration::from_secs(3), work.read_to_end(&mut rest)).await;
    verdict.tried("work for a stream that was reset", given_up.is_err());
}

#[tokio::test]
async fn ferry_gives_up_what_nobody_waits_for() {
    let server = with_pod().await;
    let backend = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    server.routes.lead(POD_IP, 8080, backend.local_addr().expect("an address"));
    let mut verdict = Verdict::default();
    let stream = server.connect_as(Some(&server.pki.admin), "h2").await;
    attack_with_work(stream, &format!("{PODS}/web:8080/proxy/x"), &backend, &mut verdict).await;
    verdict.assert_held();
}

/// Begins its work in a task of its own, which nobody ends.
async fn careless_worker(backend: SocketAddr) -> DuplexStream {
    let (client, server) = tokio::io::duplex(1 << 20);
    let service = service_fn(move |_: Request<Incoming>| async move {
        let work = tokio::spawn(async move {
            let mut work = TcpStream::connect(backend).await.expect("connected");
            work.write_all(b"x").await.expect("sent");
            let _ = work.read_u8().await;
        });
        work.await.expect("done");
        Ok::<_, Infallible>(Response::new(Full::<Bytes>::default()))
    });
    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
    tokio::spawn(async move { builder.serve_connection(TokioIo::new(server), service).await });
    client
}

#[tokio::test]
async fn a_server_that_works_on_is_found_out() {
    let backend = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut verdict = Verdict::default();
    let stream = careless_worker(backend.local_addr().expect("an address")).await;
    attack_with_work(stream, "/x", &backend, &mut verdict).await;
    verdict.assert_breached();
}

/// Begins writes and leaves them. What goes on without its client must go on being counted,
/// or a client could have any number at work. `abandon` begins one and gives it up once it
/// is at work; `counted` tells how many the server believes to be at work.
async fn attack_with_writes(abandon: impl AsyncFn(usize), counted: impl AsyncFn() -> usize, verdict: &mut Verdict) {
    const WRITES: usize = 5;
    for index in 0..WRITES {
        abandon(index).await;
    }
    verdict.tried("writes that were left", counted().await < WRITES);
}

#[tokio::test]
async fn ferry_counts_what_goes_on_without_its_client() {
    let server = Server::start().await;
    let hooks = HookServer::start(|_, _| Reply::Hang).await;
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    let binding = json!({"metadata": {"name": "eve"}, "subjects": [{"kind": "User", "name": "eve", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}});
    server.post(rbac, &binding).await.ok();
    configure(&server, VALIDATING, "slow", &[hook(&hooks, "slow", json!({"timeoutSeconds": 30}))]).await;
    let eve = Peer::InProcess(Arc::new(UserInfo::authenticated("eve", &[])));
    let abandon = async |index: usize| {
        let object = config_map(&format!("left-{index}"));
        let write = server.ask_as(eve.clone(), "POST", CONFIG_MAPS, &[], &object);
        let begun = eventually("the hook is asked", || async { hooks.paths().len() > index });
        tokio::select! {
            answer = write => panic!("answered without the hook: {}", answer.message()),
            () = begun => {}
        }
    };
    let counted = async || {
        let metrics = server.get("/metrics").await;
        let text = String::from_utf8_lossy(&metrics.bytes).into_owned();
        let figures = text.lines().filter(|line| {
            line.starts_with("apiserver_flowcontrol_current_executing_requests{")
                && line.contains("priority_level=\"global-default\"")
        });
        figures.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>() as usize
    };
    let mut verdict = Verdict::default();
    attack_with_writes(abandon, counted, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn a_server_that_counts_clients_is_found_out() {
    let seats = Arc::new(());
    // The seat is the client's, and the work goes on in a task of its own.
    let abandon = async |_: usize| {
        let seat = seats.clone();
        let work = tokio::spawn(std::future::pending::<()>());
        let write = async move {
            let _seat = seat;
            work.await
        };
        tokio::select! {
            _ = write => unreachable!("the work never ends"),
            () = tokio::task::yield_now() => {}
        }
    };
    let mut verdict = Verdict::default();
    attack_with_writes(abandon, async || Arc::strong_count(&seats) - 1, &mut verdict).await;
    verdict.assert_breached();
}
