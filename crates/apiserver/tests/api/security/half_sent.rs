//! Strangers that connect and never finish a request. Without limits each keeps its connection,
//! and so a descriptor of the process, for as long as it likes: about a thousand of them left
//! the API server none to answer anybody with.

use super::Verdict;
use crate::server::Server;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsConnector, client::TlsStream};

/// The limit that a shell gives a process; the server's share of it is a quarter of half.
const DESCRIPTORS: u64 = 1024;
const SHARE: usize = 128;
/// More than the share; both ends are in this process.
const STRANGERS: usize = 200;

/// How far a stranger goes before it falls silent.
#[derive(Clone, Copy, Debug)]
enum Silence {
    BeforeTls,
    BeforeHeaders,
    WithinHeaders,
}

struct Target {
    address: SocketAddr,
    connector: TlsConnector,
}

impl Target {
    fn new(server: &Server, address: SocketAddr) -> Self {
        let mut config = ferry_pki::tls::client_config(server.pki.ca.certificate_pem(), None).expect("a client");
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Self { address, connector: TlsConnector::from(Arc::new(config)) }
    }

    async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(self.address).await?;
        self.connector.connect("127.0.0.1".try_into().expect("a name"), stream).await
    }
}

enum Stranger {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stranger {
    async fn new(target: &Target, silence: Silence) -> Self {
        if let Silence::BeforeTls = silence {
            return Self::Plain(TcpStream::connect(target.address).await.expect("the server listens"));
        }
        let mut stream = target.connect().await.expect("TLS");
        if let Silence::WithinHeaders = silence {
            stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n").await.expect("sent");
        }
        Self::Tls(Box::new(stream))
    }

    /// Whether the other side has closed it, looked at for a moment.
    async fn is_closed(&mut self) -> bool {
        let mut byte = [0; 1024];
        let read = async {
            loop {
                let read = match self {
                    Self::Plain(stream) => stream.read(&mut byte).await,
                    Self::Tls(stream) => stream.read(&mut byte).await,
                };
                if !matches!(read, Ok(1..)) {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_millis(5), read).await.is_ok()
    }
}

/// Gets through if all strangers are still connected when they are enough for the server's
/// share, and somebody honest has been answered by then.
async fn attack(target: &Target, verdict: &mut Verdict) {
    for silence in [Silence::BeforeTls, Silence::BeforeHeaders, Silence::WithinHeaders] {
        let mut strangers = Vec::new();
        for _ in 0..STRANGERS {
            strangers.push(Stranger::new(target, silence).await);
        }
        let mut honest = target.connect().await.expect("TLS");
        honest.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
        let head = super::read_head(&mut honest).await;
        assert!(head.starts_with("http/1.1 "), "an honest client is answered: {head:?}");
        let mut open = 0;
        for stranger in &mut strangers {
            open += usize::from(!stranger.is_closed().await);
        }
        verdict.tried(format!("{STRANGERS} strangers, silent {silence:?}, of which {open} stay"), open > SHARE);
    }
}

#[tokio::test]
async fn half_sent_requests_hold_no_more_than_their_share() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, DESCRIPTORS, hard).expect("a lower limit");
    let server = Server::start().await;

    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let target = Target::new(&server, listener.local_addr().expect("an address"));
    let (api, tls) = (server.api.clone(), Arc::new(server.pki.apiserver_tls().expect("a serving certificate")));
    tokio::spawn(async move { api.serve(listener, tls).await });
    let mut verdict = Verdict::default();
    attack(&target, &mut verdict).await;
    verdict.assert_held();

    let target = Target::new(&server, careless(&server).await);
    let mut verdict = Verdict::default();
    attack(&target, &mut verdict).await;
    verdict.assert_breached();
}

/// A server that takes whoever comes, and waits.
async fn careless(server: &Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(server.pki.apiserver_tls().expect("a certificate")));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                super::read_head(&mut stream).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            });
        }
    });
    address
}
