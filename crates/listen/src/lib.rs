//! Sockets that strangers may connect to: the API server's, the kubelet's and that of DNS over
//! TCP. All accept through [`Listener`], so that a limit is decided once.
//!
//! ```text
//! Listener::accept -> gate.rs: is there room, and who has to go for it
//!   -> Connection: counted for as long as its socket is open, upgraded or not
//!        -> Activity: which requests are served on it, and since when none
//! ```
//!
//! A stranger costs nothing but a descriptor until a request of its has come in whole. So
//! connections that have brought none are limited first, and when there are too many the oldest
//! of them goes: an honest client brings its request within milliseconds, and half-sent ones
//! can keep nobody out. Connections that have been served are limited in all and by source.

#![warn(unreachable_pub)]

mod activity;
mod descriptors;
mod gate;
mod served;

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

pub use self::activity::{Activity, Serving};
pub use self::descriptors::raise_descriptor_limit;
pub use self::gate::Limits;
use self::gate::{Gate, Pass};
pub use self::served::{Served, while_served};

/// How long a handshake may take.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take to send a request's headers (upstream's ReadHeaderTimeout).
pub const HEADER_TIMEOUT: Duration = Duration::from_secs(32);
/// How long a connection may stay open with no request on it (upstream's IdleTimeout).
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(90);

/// The first and the longest pause after a failure to accept.
const PAUSE_FIRST: Duration = Duration::from_millis(5);
const PAUSE_LAST: Duration = Duration::from_secs(1);

pub struct Listener {
    tcp: TcpListener,
    gate: Arc<Gate>,
    reserve: descriptors::Reserve,
}

impl Listener {
    pub fn new(tcp: TcpListener, limits: Limits) -> Self {
        Self { tcp, gate: Arc::new(Gate::new(limits)), reserve: descriptors::Reserve::new() }
    }

    /// The next connection that there is room for. Fails only when the socket itself is broken;
    /// a machine without descriptors is waited out. May be dropped and called again.
    pub async fn accept(&self) -> io::Result<Connection> {
        let mut pause = PAUSE_FIRST;
        loop {
            match self.tcp.accept().await {
                Ok((stream, remote)) => {
                    pause = PAUSE_FIRST;
                    // A stream that is dropped here is closed at once: the client learns that
                    // there is no room instead of waiting for an answer.
                    let Some(pass) = self.gate.admit(remote.ip()) else { continue };
                    // Answers are small and awaited; waiting to fill a packet only delays them.
                    if stream.set_nodelay(true).is_ok() {
                        return Ok(Connection { stream, pass, remote });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => return Err(error),
                Err(error) if descriptors::are_spent(&error) => {
                    tracing::warn!(%error, open = self.gate.open(), "there is no descriptor for a connection");
                    self.gate.evict_oldest();
                    self.reserve.turn_away(&self.tcp).await;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_LAST);
                }
                // The peer was gone before it was looked at; there may be the next behind it.
                Err(error) => {
                    tracing::debug!(%error, "accepting a connection failed");
                    tokio::time::sleep(PAUSE_FIRST).await;
                }
            }
        }
    }
}

/// A connection, counted until it is dropped, whatever is spoken on it by then.
pub struct Connection {
    stream: TcpStream,
    pass: Pass,
    remote: SocketAddr,
}

impl Connection {
    pub fn remote(&self) -> SocketAddr {
        self.remote
    }

    pub fn activity(&self) -> Arc<Activity> {
        self.pass.activity.clone()
    }

    /// The TLS handshake, within its time and for as long as the gate lets the connection stay.
    pub async fn handshake(self, acceptor: &TlsAcceptor) -> io::Result<TlsStream<Connection>> {
        let activity = self.activity();
        let too_long = || io::Error::new(io::ErrorKind::TimedOut, "the TLS handshake took too long");
        tokio::select! {
            done = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(self)) => done.map_err(|_| too_long())?,
            () = activity.evicted() => Err(io::Error::new(io::ErrorKind::ConnectionAborted, "evicted for a newer connection")),
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
