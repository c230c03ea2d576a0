//! Requests over kept-open TLS connections, each waiting for its answer.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";

/// A server that can be reached: ferry's cluster, or upstream beside it.
pub trait Connect: Sync {
    fn target(&self) -> Result<Target>;

    fn connect(&self) -> BoxFuture<'_, Result<Connection>> {
        Box::pin(async move { Connection::open(&self.target()?).await })
    }
}

/// The port of a server on this machine, and the identity that it is asked with.
pub struct Target {
    pub port: u16,
    pub tls: Arc<rustls::ClientConfig>,
}

impl Target {
    pub async fn open(&self) -> Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect(("127.0.0.1", self.port)).await?;
        tcp.set_nodelay(true)?;
        let name = rustls::pki_types::ServerName::try_from("localhost")?;
        Ok(TlsConnector::from(self.tls.clone()).connect(name, tcp).await?)
    }
}

pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
}

impl Connection {
    async fn open(target: &Target) -> Result<Self> {
        let (sender, connection) = http1::handshake(TokioIo::new(target.open().await?)).await?;
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    pub async fn get(&mut self, path: &str) -> Result<Bytes> {
        self.get_as(path, JSON).await
    }

    /// The answer in another media type than JSON.
    pub async fn get_as(&mut self, path: &str, accept: &str) -> Result<Bytes> {
        let response = self.answer("GET", path, Bytes::new(), accept).await?;
        read_body("GET", path, response).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.send("POST", path, JSON, serde_json::to_vec(body)?).await
    }

    pub async fn put(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.send("PUT", path, JSON, serde_json::to_vec(body)?).await
    }

    pub async fn merge_patch(&mut self, path: &str, body: &Value) -> Result<Bytes> {
        self.send("PATCH", path, MERGE_PATCH, serde_json::to_vec(body)?).await
    }

    pub async fn delete(&mut self, path: &str) -> Result<Bytes> {
        self.send("DELETE", path, JSON, Vec::new()).await
    }

    async fn send(&mut self, method: &str, path: &str, content_type: &str, body: Vec<u8>) -> Result<Bytes> {
        let request = request(method, path, body.into(), content_type, JSON)?;
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        read_body(method, path, response).await
    }

    pub async fn answer(
        &mut self,
        method: &str,
        path: &str,
        body: Bytes,
        accept: &str,
    ) -> Result<http::Response<hyper::body::Incoming>> {
        let request = request(method, path, body, JSON, accept)?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(request).await?)
    }
}

fn request(
    method: &str,
    path: &str,
    body: Bytes,
    content_type: &str,
    accept: &str,
) -> Result<http::Request<Full<Bytes>>> {
    let request = http::Request::builder().method(method).uri(path).header("host", "localhost");
    Ok(request.header("content-type", content_type).header("accept", accept).body(Full::new(body))?)
}

/// The body of an answer that must be a success.
async fn read_body(method: &str, path: &str, response: http::Response<hyper::body::Incoming>) -> Result<Bytes> {
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    ensure!(status.is_success(), "{method} {path}: {status} {}", String::from_utf8_lossy(&body));
    Ok(body)
}

/// Shares `count` requests among `clients` connections; requests per second.
pub async fn spread<F>(cluster: &dyn Connect, clients: usize, count: usize, request: F) -> Result<f64>
where
    F: for<'a> Fn(&'a mut Connection, usize) -> BoxFuture<'a, Result<()>> + Send + Sync + 'static,
{
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(cluster.connect().await?);
    }
    let request = Arc::new(request);
    let next = Arc::new(AtomicUsize::new(0));
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
                    request(&mut connection, n).await?;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.context("a client was lost")??;
    }
    Ok(count as f64 / start.elapsed().as_secs_f64())
}
