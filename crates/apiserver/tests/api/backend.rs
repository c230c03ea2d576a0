//! A server of the test's own that the API server passes requests on to: over TLS or
//! without, with a script for its answers and a memory of what it was asked.

use crate::server::Server;
use bytes::Bytes;
use ferry_pki::tls::{ClientCertificates, server_config};
use ferry_pki::{Authority, Identity, ServingNames};
use http::{HeaderMap, Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::json;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Where the node of a backend that is a kubelet is said to be.
pub const NODE_IP: &str = "192.0.2.7";

/// One request as the backend saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: Method,
    pub uri: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The certificate that the API server showed, DER.
    pub certificate: Option<Vec<u8>>,
}

impl Seen {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

type Script = Arc<dyn Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync>;

pub struct Backend {
    pub address: SocketAddr,
    /// Who vouches for the serving certificate.
    pub ca_pem: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Backend {
    /// With TLS, under this name.
    pub async fn tls(name: &str, script: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static) -> Self {
        let now = Timestamp::now();
        let authority = Authority::generate("backend", now).expect("an authority");
        let names = ServingNames { dns_names: [name.to_owned()].into(), ..ServingNames::default() };
        let serving = authority.issue_serving(&names, now).expect("a certificate");
        Self::start(Some(acceptor(&serving)), authority.certificate_pem().to_owned(), Arc::new(script)).await
    }

    pub async fn plain(script: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static) -> Self {
        Self::start(None, String::new(), Arc::new(script)).await
    }

    /// As the kubelet of a node `n`, which the server is told of.
    pub async fn kubelet(
        server: &Server,
        script: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let ips = [NODE_IP.parse().expect("an address")];
        let node = server.pki.ensure_node("n", &ips, Timestamp::now()).expect("a node's identity");
        let acceptor = acceptor(&node.serving.identity());
        let kubelet = Self::start(Some(acceptor), String::new(), Arc::new(script)).await;
        // The server must not connect to addresses of its own machine, so the node has another.
        let port = kubelet.address.port();
        server.routes.lead(NODE_IP, port, kubelet.address);
        server.post("/api/v1/nodes", &json!({"metadata": {"name": "n"}})).await.ok();
        let status = json!({"status": {
            "addresses": [{"type": "InternalIP", "address": NODE_IP}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
        }});
        server.patch("application/merge-patch+json", "/api/v1/nodes/n/status", &status).await.ok();
        kubelet
    }

    async fn start(acceptor: Option<TlsAcceptor>, ca_pem: String, script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let memory = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, memory, script) = (acceptor.clone(), memory.clone(), script.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => converse(stream, None, script, memory).await,
                        Some(acceptor) => {
                            let Ok(stream) = acceptor.accept(stream).await else { return };
                            let shown = stream.get_ref().1.peer_certificates();
                            let certificate = shown.and_then(|chain| chain.first()).map(|leaf| leaf.to_vec());
                            converse(stream, certificate, script, memory).await;
                        }
                    }
                });
            }
        });
        Self { address, ca_pem, seen }
    }

    /// The last request for a path that begins like this.
    pub fn last(&self, path: &str) -> Seen {
        let seen = self.seen.lock();
        seen.iter().rev().find(|seen| seen.uri.starts_with(path)).cloned().expect("the backend was asked")
    }

    /// How often it was asked for a path that begins like this.
    pub fn asked(&self, path: &str) -> usize {
        self.seen.lock().iter().filter(|seen| seen.uri.starts_with(path)).count()
    }
}

fn acceptor(serving: &Identity) -> TlsAcceptor {
    let mut tls = server_config(serving, ClientCertificates::Requested { hints: &[] }).expect("a serving side");
    tls.alpn_protocols.clear();
    TlsAcceptor::from(Arc::new(tls))
}

async fn converse<S>(stream: S, certificate: Option<Vec<u8>>, script: Script, memory: Arc<Mutex<Vec<Seen>>>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<Incoming>| {
        let (certificate, memory, script) = (certificate.clone(), memory.clone(), script.clone());
        async move { Ok::<_, Infallible>(answer(request, certificate, &*script, &memory).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let _ = connection.with_upgrades().await;
}

async fn answer(
    mut request: Request<Incoming>,
    certificate: Option<Vec<u8>>,
    script: &(dyn Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync),
    memory: &Mutex<Vec<Seen>>,
) -> Response<Full<Bytes>> {
    let upgrade = hyper::upgrade::on(&mut request);
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let seen = Seen { method: parts.method, uri: parts.uri.to_string(), headers: parts.headers, body, certificate };
    memory.lock().push(seen.clone());
    let response = script(&seen);
    if response.status() == 101 {
        tokio::spawn(async move {
            let Ok(upgraded) = upgrade.await else { return };
            let mut io = TokioIo::new(upgraded);
            let mut buffer = [0; 64];
            while let Ok(count @ 1..) = io.read(&mut buffer).await {
                if io.write_all(&buffer[..count]).await.is_err() {
                    return;
                }
            }
        });
    }
    response
}

/// An answer with a content type.
pub fn text(content_type: &str, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    Response::builder().header("content-type", content_type).body(Full::new(body.into())).expect("a response")
}

pub fn status(code: u16, headers: &[(&str, &str)], body: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(code);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(Full::from(body)).expect("a response")
}
