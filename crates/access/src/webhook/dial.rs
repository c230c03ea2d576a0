//! The connection to a hook: where the name leads, TCP, then TLS under the hook's own
//! name. hyper's pool keeps what this makes and asks for more when it needs them.

use super::service::resolve_service;
use super::{Error, tls};
use ferry_cache::lookup::ObjectLookup;
use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

/// Where a hook is.
pub(super) enum Target {
    Address {
        host: String,
        port: u16,
    },
    /// Looked up anew for each connection, because pods come and go.
    Service {
        lookup: Arc<dyn ObjectLookup>,
        namespace: String,
        name: String,
        port: u16,
    },
}

#[derive(Clone)]
pub(super) struct Dial(Arc<Plan>);

struct Plan {
    target: Target,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    host: String,
}

impl Dial {
    /// `host` is the name that the server's certificate must have.
    pub(super) fn new(target: Target, tls: Option<Arc<ClientConfig>>, host: &str) -> Result<Self, Error> {
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = match tls {
            None => None,
            Some(config) => {
                let name = ServerName::try_from(bare.clone())
                    .map_err(|_| Error::Config(format!("{bare:?} is no name of a server")))?;
                Some((config, name))
            }
        };
        Ok(Self(Arc::new(Plan { target, tls, host: bare })))
    }
}

impl Plan {
    async fn connect(&self) -> Result<TokioIo<Stream>, DialError> {
        let (host, port) = match &self.target {
            Target::Address { host, port } => (host.trim_start_matches('[').trim_end_matches(']').to_owned(), *port),
            Target::Service { lookup, namespace, name, port } => {
                let endpoint =
                    resolve_service(&**lookup, namespace, name, *port).map_err(|status| DialError(status.message))?;
                (endpoint.host, endpoint.port)
            }
        };
        let tcp = TcpStream::connect((host.as_str(), port)).await.map_err(|error| refused(&host, port, &error))?;
        // Questions and answers are small and awaited.
        tcp.set_nodelay(true).map_err(|error| refused(&host, port, &error))?;
        let Some((config, name)) = &self.tls else { return Ok(TokioIo::new(Stream::Plain(tcp))) };
        let stream = TlsConnector::from(config.clone())
            .connect(name.clone(), tcp)
            .await
            .map_err(|error| DialError(tls::explain(&error, &self.host)))?;
        Ok(TokioIo::new(Stream::Tls(Box::new(stream))))
    }
}

/// A connection that did not come about, in the words of Go's net package.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DialError(String);

pub fn refused(host: &str, port: u16, error: &io::Error) -> DialError {
    let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    DialError(match error.kind() {
        io::ErrorKind::ConnectionRefused => format!("dial tcp {address}: connect: connection refused"),
        io::ErrorKind::HostUnreachable => format!("dial tcp {address}: connect: no route to host"),
        io::ErrorKind::NetworkUnreachable => format!("dial tcp {address}: connect: network is unreachable"),
        io::ErrorKind::TimedOut => format!("dial tcp {address}: i/o timeout"),
        // The only other thing that happens is that the name leads nowhere.
        _ if host.parse::<std::net::IpAddr>().is_err() => format!("dial tcp: lookup {host}: no such host"),
        _ => format!("dial tcp {address}: connect: {error}"),
    })
}

impl Service<http::Uri> for Dial {
    type Response = TokioIo<Stream>;
    type Error = DialError;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let plan = self.0.clone();
        Box::pin(async move { plan.connect().await })
    }
}

pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        match self {
            Self::Tls(stream) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => Connected::new().negotiated_h2(),
            _ => Connected::new(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}
