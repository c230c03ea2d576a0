//! A client of the kubelet's server, as the API server is one: certificates, plain
//! requests, WebSocket and SPDY upgrades.

use bytes::Bytes;
use ferry_kubelet::ServerConfig;
use ferry_kubelet::server::spdy;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

/// How long nothing is said before a conversation is taken to be over.
const QUIET: Duration = Duration::from_secs(5);

pub struct Caller {
    address: SocketAddr,
    tls: Arc<rustls::ClientConfig>,
}

/// What came out of a command.
#[derive(Debug, Default, PartialEq)]
pub struct Output {
    pub stdout: String,
    pub stderr: String,
    pub error: serde_json::Value,
}

/// A server configuration on a free port, the API server's client for it, and a client
/// whose certificate is of the right authority but of the wrong name.
pub fn server_and_callers() -> (ServerConfig, Caller, Caller) {
    let authority_key = KeyPair::generate().expect("a key");
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.distinguished_name.push(DnType::CommonName, "ca");
    let authority = parameters.self_signed(&authority_key).expect("an authority");
    let issuer = Issuer::new(parameters, authority_key);
    let sign = |name: &str| {
        let key = KeyPair::generate().expect("a key");
        let mut parameters = CertificateParams::new(vec!["localhost".to_string()]).expect("a name");
        parameters.distinguished_name.push(DnType::CommonName, name);
        let certificate = parameters.signed_by(&key, &issuer).expect("signed");
        (certificate.pem(), key.serialize_pem())
    };
    let (certificate_pem, key_pem) = sign("node");
    let served = CertifiedKey::from_der(
        vec![CertificateDer::from_pem_slice(certificate_pem.as_bytes()).expect("a certificate")],
        PrivateKeyDer::from_pem_slice(key_pem.as_bytes()).expect("a key"),
        &rustls::crypto::ring::default_provider(),
    )
    .expect("a serving certificate");
    let port = free_port();
    let config = ServerConfig {
        address: SocketAddr::from(([127, 0, 0, 1], port)),
        certificate: Arc::new(SingleCertAndKey::from(served)),
        client_ca_pem: authority.pem(),
        allowed_names: vec!["kube-apiserver-kubelet-client".into()],
    };
    let caller = |name: &str| {
        let (certificate, key) = sign(name);
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).expect("a certificate")).expect("a root");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_client_auth_cert(
                vec![CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate")],
                PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key"),
            )
            .expect("a client certificate");
        Caller { address: config.address, tls: Arc::new(tls) }
    };
    let (right, wrong) = (caller("kube-apiserver-kubelet-client"), caller("somebody"));
    (config, right, wrong)
}

impl Caller {
    async fn connect(&self) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(self.address).await.expect("the kubelet listens");
        let name = ServerName::try_from("localhost").expect("a name");
        tokio_rustls::TlsConnector::from(self.tls.clone()).connect(name, stream).await.expect("a handshake")
    }

    /// Status and body of a GET.
    pub async fn get(&self, path: &str) -> (u16, String) {
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(self.connect().await)).await.expect("HTTP");
        tokio::spawn(async move { drop(connection.await) });
        let request =
            http::Request::get(path).header("Host", "localhost").body(Empty::<Bytes>::new()).expect("a request");
        let response = sender.send_request(request).await.expect("an answer");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    /// A WebSocket that speaks this protocol.
    pub async fn websocket(&self, path: &str, protocol: &str) -> WebSocketStream<TlsStream<TcpStream>> {
        let request = http::Request::get(format!("wss://localhost{path}"))
            .header("Host", "localhost")
            .header("Connection", "Upgrade")
            .header("Upgrade", "websocket")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", tokio_tungstenite::tungstenite::handshake::client::generate_key())
            .header("Sec-WebSocket-Protocol", protocol)
            .body(())
            .expect("a request");
        let (socket, response) =
            tokio_tungstenite::client_async(request, self.connect().await).await.expect("an upgrade");
        assert_eq!(response.headers()["sec-websocket-protocol"], protocol);
        socket
    }

    /// The answers on a WebSocket after these messages were sent, up to its end.
    pub async fn converse(&self, path: &str, protocol: &str, messages: &[Message]) -> Vec<Message> {
        let mut socket = self.websocket(path, protocol).await;
        for message in messages {
            socket.send(message.clone()).await.expect("sent");
        }
        let mut said = Vec::new();
        // Some runtimes leave it to the caller to end a forwarded connection.
        while let Ok(Some(Ok(message))) = tokio::time::timeout(QUIET, socket.next()).await {
            if matches!(message, Message::Binary(_) | Message::Text(_)) {
                said.push(message);
            }
        }
        said
    }

    /// Asks for many upgrades to a protocol that nobody speaks, over one connection; answers
    /// the status codes.
    pub async fn refused_upgrades(&self, path: &str, count: usize) -> std::collections::BTreeSet<u16> {
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(self.connect().await)).await.expect("HTTP");
        tokio::spawn(async move { drop(connection.await) });
        let mut codes = std::collections::BTreeSet::new();
        for _ in 0..count {
            let request = http::Request::get(path)
                .header("Host", "localhost")
                .header("Connection", "Upgrade")
                .header("Upgrade", "websocket")
                .header("Sec-WebSocket-Version", "13")
                .header("Sec-WebSocket-Key", "x3JJHMbDL1EzLkh9GBhXDw==")
                .header("Sec-WebSocket-Protocol", "nobody.k8s.io")
                .body(Empty::<Bytes>::new())
                .expect("a request");
            sender.ready().await.expect("the connection goes on");
            let response = sender.send_request(request).await.expect("an answer");
            codes.insert(response.status().as_u16());
            response.into_body().collect().await.expect("a body");
        }
        codes
    }

    /// Opens this many connections that never send a request; they last as long as the answer.
    pub async fn half_sent(&self, count: usize) -> Vec<TcpStream> {
        let mut held = Vec::new();
        for _ in 0..count {
            held.push(TcpStream::connect(self.address).await.expect("the kubelet listens"));
        }
        held
    }

    /// Runs a command over WebSocket v5, with this on its standard input if any. The input goes
    /// as text, as some clients send it.
    pub async fn exec_websocket(&self, path: &str, input: Option<&str>) -> Output {
        let mut socket = self.websocket(path, "v5.channel.k8s.io").await;
        if let Some(input) = input {
            socket.send(Message::text(format!("\0{input}"))).await.expect("sent");
            socket.send(Message::Binary(Bytes::from_static(&[255, 0]))).await.expect("closed");
        }
        let mut output = Output::default();
        let mut error = Vec::new();
        while let Some(Ok(message)) = socket.next().await {
            if let Message::Close(frame) = &message {
                assert_eq!(frame.as_ref().map(|frame| u16::from(frame.code)), Some(1000), "a proper goodbye");
            }
            let Message::Binary(data) = message else { continue };
            let text = String::from_utf8_lossy(&data[1..]).into_owned();
            match data[0] {
                1 => output.stdout.push_str(&text),
                2 => output.stderr.push_str(&text),
                3 => error.extend_from_slice(&data[1..]),
                other => panic!("channel {other}"),
            }
        }
        output.error = serde_json::from_slice(&error).unwrap_or_default();
        output
    }

    /// One HTTP request to a pod's port, through a forwarded connection.
    pub async fn forward_spdy(&self, path: &str, port: &str, request: &str) -> String {
        let upgraded = self.upgrade_spdy(path, "portforward.k8s.io").await;
        let (read, write) = tokio::io::split(upgraded);
        let (mut reader, mut writer) = (spdy::Reader::new(read), spdy::Writer::new(write));
        let pair = |kind| [("streamtype", kind), ("port", port), ("requestid", "0")];
        let error = writer.open(&pair("error")).await.expect("opened");
        writer.send(error, &[], true).await.expect("half closed");
        let data = writer.open(&pair("data")).await.expect("opened");
        writer.send(data, request.as_bytes(), false).await.expect("sent");
        let mut said = Vec::new();
        while let Some(frame) = reader.next().await.expect("a frame") {
            if let spdy::Frame::Data { stream, data: bytes, fin } = frame {
                said.extend_from_slice(&bytes);
                if fin && stream == data {
                    break;
                }
            }
        }
        String::from_utf8_lossy(&said).into_owned()
    }

    async fn upgrade_spdy(&self, path: &str, protocol: &str) -> TokioIo<hyper::upgrade::Upgraded> {
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(self.connect().await)).await.expect("HTTP");
        tokio::spawn(async move { drop(connection.with_upgrades().await) });
        let request = http::Request::post(path)
            .header("Host", "localhost")
            .header("Connection", "Upgrade")
            .header("Upgrade", "SPDY/3.1")
            .header("X-Stream-Protocol-Version", protocol)
            .body(Empty::<Bytes>::new())
            .expect("a request");
        let mut response = sender.send_request(request).await.expect("an answer");
        assert_eq!(response.status(), 101);
        assert_eq!(response.headers()["x-stream-protocol-version"], protocol);
        TokioIo::new(hyper::upgrade::on(&mut response).await.expect("an upgrade"))
    }

    /// Runs a command over SPDY, as older clients do.
    pub async fn exec_spdy(&self, path: &str) -> Output {
        let upgraded = self.upgrade_spdy(path, "v4.channel.k8s.io").await;
        let (read, write) = tokio::io::split(upgraded);
        let (mut reader, mut writer) = (spdy::Reader::new(read), spdy::Writer::new(write));
        let mut names = std::collections::HashMap::new();
        for name in ["error", "stdout", "stderr"] {
            names.insert(writer.open(&[("streamtype", name)]).await.expect("opened"), name);
        }
        let mut texts: std::collections::HashMap<&str, Vec<u8>> = Default::default();
        let mut open = names.len();
        while open > 0 {
            match reader.next().await.expect("a frame") {
                Some(spdy::Frame::Data { stream, data, fin }) => {
                    texts.entry(names[&stream]).or_default().extend_from_slice(&data);
                    open -= usize::from(fin);
                }
                Some(_) => {}
                None => break,
            }
        }
        let text =
            |name: &str| String::from_utf8_lossy(texts.get(name).map(Vec::as_slice).unwrap_or_default()).into_owned();
        Output {
            stdout: text("stdout"),
            stderr: text("stderr"),
            error: serde_json::from_str(&text("error")).unwrap_or_default(),
        }
    }
}

/// A port that nobody has, and that nobody is given by chance before it is used: it lies
/// below those that the kernel hands out.
fn free_port() -> u16 {
    let first = u16::try_from(std::process::id() % 10_000).expect("a small number");
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (0..1000).map(|n| 20_000 + (first + n) % 10_000).find(is_free).expect("a free port")
}
