//! The load of throughput figures that run on the cores of the server: requests are bytes that
//! are sent as they are, and of an answer only its status and its end are looked for. A client
//! that takes as much of the processor as the server would be half of what is measured.

use crate::load::{Connect, Target};
use anyhow::{Context, Result, bail, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

const HEADERS_END: &[u8] = b"\r\n\r\n";

/// The bytes of a request without a body.
pub fn get(path: &str, accept: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: {accept}\r\n\r\n").into_bytes()
}

/// The bytes of a request that creates an object of JSON.
pub fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let headers = "host: localhost\r\naccept: application/json\r\ncontent-type: application/json";
    format!("POST {path} HTTP/1.1\r\n{headers}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Shares `count` requests among `clients` connections, each of which waits for its answer;
/// requests per second.
pub async fn spread<F>(server: &dyn Connect, clients: usize, count: usize, request: F) -> Result<f64>
where
    F: Fn(usize) -> Vec<u8> + Send + Sync + 'static,
{
    let target = server.target()?;
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(WireConnection::open(&target).await?);
    }
    let (request, next) = (Arc::new(request), Arc::new(AtomicUsize::new(0)));
    let start = Instant::now();
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|mut connection| {
            let (request, next) = (request.clone(), next.clone());
            tokio::spawn(async move {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return Ok::<(), anyhow::Error>(());
                    }
                    connection.exchange(&request(n)).await?;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.context("a client was lost")??;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

struct WireConnection {
    stream: TlsStream<TcpStream>,
    answer: Vec<u8>,
}

impl WireConnection {
    async fn open(target: &Target) -> Result<Self> {
        Ok(Self { stream: target.open().await?, answer: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request and reads its answer, which must be a success.
    async fn exchange(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await?;
        self.stream.flush().await?;
        self.answer.clear();
        loop {
            ensure!(self.stream.read_buf(&mut self.answer).await? > 0, "the server closed the connection");
            if is_whole(&self.answer)? {
                return Ok(());
            }
        }
    }
}

/// Whether an answer has come to its end. An error for one that is no success.
fn is_whole(answer: &[u8]) -> Result<bool> {
    let Some(end) = answer.windows(HEADERS_END.len()).position(|window| window == HEADERS_END) else {
        return Ok(false);
    };
    let headers = std::str::from_utf8(&answer[..end])?;
    let mut lines = headers.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    ensure!(status.starts_with('2'), "{}", String::from_utf8_lossy(answer));
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim())
    });
    let Some(length) = length else { bail!("an answer without a length: {headers}") };
    Ok(answer.len() >= end + HEADERS_END.len() + length.parse::<usize>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_with_its_last_byte() {
        let answer = b"HTTP/1.1 201 Created\r\nx: y\r\nContent-Length: 3\r\n\r\nabc";
        for end in 0..answer.len() {
            assert!(!is_whole(&answer[..end]).expect("a success"), "{end}");
        }
        assert!(is_whole(answer).expect("a success"));
        assert!(is_whole(b"HTTP/1.1 409 Conflict\r\ncontent-length: 0\r\n\r\n").is_err());
        assert!(is_whole(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }
}
