//! A request has one length. Where a proxy before the API server and the API server itself
//! could disagree about where a request ends, the rest of one client's body would become
//! the beginning of another's request; such heads are refused and the connection with them.

use super::Verdict;
use super::http2::{answer, get_with, greet};
use crate::backend::{Backend, text};
use crate::proxy::{POD_IP, with_pod};
use crate::server::{PODS, Server};
use http::HeaderMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};

/// Headers that tell the length in more than one way, or in a way that not all can read.
const HEADS: [&str; 12] = [
    "Content-Length: 0\r\nContent-Length: 44",
    "Content-Length: 0\r\nContent-Length: 0",
    "Content-Length: 0\r\nX: y\r\ncontent-length: 0",
    "Content-Length: 0, 0",
    "Content-Length: +0",
    "Content-Length: 0\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 0",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding: xchunked",
    "Content-Length : 0",
];

/// Sends each head with something after it that one reading takes for a body and another
/// for a request.
async fn attack<S: AsyncRead + AsyncWrite + Unpin>(connect: impl AsyncFn() -> S, verdict: &mut Verdict) {
    for head in HEADS {
        let mut stream = connect().await;
        let request = format!(
            "POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n0\r\n\r\nGET /livez?smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer);
        let refused = answer.starts_with("HTTP/1.1 400") && answer.matches("HTTP/1.1").count() == 1;
        let end = if ended.is_ok() { "and ends" } else { "and goes on" };
        let first = answer.lines().next().unwrap_or_default();
        verdict.tried(format!("{head:?}: {first:?} {end}"), ended.is_err() || !refused);
    }
}

#[tokio::test]
async fn ferry_refuses_requests_of_two_lengths() {
    let server = Server::start().await;
    let mut verdict = Verdict::default();
    attack(async || server.connect().await, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn ferry_serves_one_request_after_another() {
    let server = Server::start().await;
    let mut stream = server.connect().await;
    // Every way of telling one length, on one connection, in pieces as they may come.
    let conversation = "POST /version HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello\
        POST /version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\n\r\n\
        GET /version HTTP/1.1\r\nHost: x\r\n\r\n\
        GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for piece in conversation.as_bytes().chunks(7) {
        stream.write_all(piece).await.expect("sent");
        stream.flush().await.expect("sent");
    }
    let mut answers = Vec::new();
    // Whether TLS says goodbye is of no matter.
    let _ = stream.read_to_end(&mut answers).await;
    let answers = String::from_utf8_lossy(&answers);
    let codes: Vec<&str> =
        answers.split("HTTP/1.1 ").skip(1).map(|answer| answer.get(..3).unwrap_or_default()).collect();
    assert_eq!(codes, ["405", "405", "200", "200"]);
}

/// Takes the first length that it can read, for no length where there is none, and goes on.
async fn careless_server(stream: DuplexStream) {
    let mut stream = BufReader::new(stream);
    let (mut length, mut last, mut line) = (None, false, String::new());
    while stream.read_line(&mut line).await.is_ok_and(|read| read > 0) {
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.trim().eq_ignore_ascii_case("content-length") && length.is_none() => {
                length = value.trim().parse::<usize>().ok();
            }
            Some((name, value)) => last |= name == "Connection" && value.trim() == "close",
            None if line.trim_end().is_empty() => {
                let mut body = vec![0; length.take().unwrap_or_default()];
                stream.read_exact(&mut body).await.expect("a body");
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.expect("sent");
                if last {
                    return;
                }
            }
            None => {}
        }
        line.clear();
    }
}

#[tokio::test]
async fn a_server_that_takes_the_first_length_is_found_out() {
    let mut verdict = Verdict::default();
    let connect = async || {
        let (client, server) = tokio::io::duplex(4096);
        tokio::spawn(careless_server(server));
        client
    };
    attack(connect, &mut verdict).await;
    verdict.assert_breached();
}

/// Headers of HTTP/2 that would be two lengths in HTTP/1. HTTP/2 does not need them, but
/// backends are spoken to in HTTP/1.
const FIELDS: [&[(&str, &str)]; 4] = [
    &[("content-length", "0"), ("content-length", "44")],
    &[("content-length", "0"), ("content-length", "0")],
    &[("content-length", "0"), ("transfer-encoding", "chunked")],
    &[("transfer-encoding", "chunked")],
];

/// Asks for something that a backend answers. `lengths` tells how many lengths the backend
/// was last told, encodings among them.
async fn attack_over_http2<S: AsyncRead + AsyncWrite + Unpin>(
    connect: impl AsyncFn() -> S,
    path: &str,
    lengths: impl Fn() -> usize,
    verdict: &mut Verdict,
) {
    for fields in FIELDS {
        let mut stream = connect().await;
        greet(&mut stream).await;
        stream.write_all(&get_with(1, path, fields)).await.expect("sent");
        let answered = answer(&mut stream, 1).await;
        verdict.tried(format!("{fields:?}: {answered:?}"), answered == Some(200) || lengths() > 0);
    }
}

#[tokio::test]
async fn ferry_passes_no_two_lengths_on() {
    let server = with_pod().await;
    let told = Arc::new(AtomicUsize::new(0));
    let note = told.clone();
    let backend = Backend::plain(move |seen| {
        note.store(count_lengths(&seen.headers), Ordering::SeqCst);
        text("text/plain", "ok")
    })
    .await;
    server.routes.lead(POD_IP, 8080, backend.address);
    let connect = async || server.connect_as(Some(&server.pki.admin), "h2").await;
    let path = format!("{PODS}/web:8080/proxy/x");
    let mut verdict = Verdict::default();
    attack_over_http2(connect, &path, || told.load(Ordering::SeqCst), &mut verdict).await;
    verdict.assert_held();
    let mut stream = connect().await;
    greet(&mut stream).await;
    stream.write_all(&get_with(1, &path, &[("content-length", "0")])).await.expect("sent");
    assert_eq!(answer(&mut stream, 1).await, Some(200), "one length is fine");
}

fn count_lengths(headers: &HeaderMap) -> usize {
    let count = |name: &str| headers.get_all(name).iter().count();
    count("content-length") + count("transfer-encoding")
}

/// Writes every header that it reads, whatever came before it.
async fn careless_gateway(stream: DuplexStream, told: Arc<AtomicUsize>) {
    let mut stream = stream;
    let names = [&b"content-length"[..], b"transfer-encoding"];
    let mut sent = Vec::new();
    // The request is the last that comes, and it is all there when a header of it is.
    while stream.read_buf(&mut sent).await.is_ok_and(|read| read > 0) {
        let found = |name: &&[u8]| sent.windows(name.len()).filter(|text| text == name).count();
        told.store(names.iter().map(found).sum(), Ordering::SeqCst);
        if told.load(Ordering::SeqCst) > 0 {
            return;
        }
    }
}

#[tokio::test]
async fn a_gateway_that_copies_headers_is_found_out() {
    let told = Arc::new(AtomicUsize::new(0));
    let connect = async || {
        told.store(0, Ordering::SeqCst);
        let (client, server) = tokio::io::duplex(4096);
        tokio::spawn(careless_gateway(server, told.clone()));
        client
    };
    let mut verdict = Verdict::default();
    attack_over_http2(connect, "/x", || told.load(Ordering::SeqCst), &mut verdict).await;
    verdict.assert_breached();
}
