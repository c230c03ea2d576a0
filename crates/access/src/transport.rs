//! How a request reaches the chain: over a socket, or from a component in this process.
//!
//! Both end in [`crate::ApiServer::handle`]; what differs is the [`Peer`], which says
//! what the transport itself knows about the caller. `serve.rs` makes the socket peers,
//! the ferry binary makes the in-process ones.

use crate::authn::UserInfo;
use bytes::Bytes;
use http_body::Body as _;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use std::sync::Arc;
use std::time::Duration;

pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of every request and answer: a stream of shared bytes.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// What the transport knows about the caller before any header is read.
#[derive(Clone, Debug)]
pub enum Peer {
    /// A component of this process, with the identity it was given when it was wired.
    /// It is authorized like any other; only the proof of identity is not needed.
    InProcess(Arc<UserInfo>),
    /// A TLS connection. The chain is DER, leaf first; the client has proved to hold the
    /// leaf's key, and authentication judges who vouches for it. Empty when the client
    /// showed no certificate.
    Tls { certificates: Arc<Vec<Vec<u8>>>, remote: Option<std::net::SocketAddr> },
    /// No TLS and no identity.
    Plain { remote: Option<std::net::SocketAddr> },
}

impl Peer {
    /// The address of the caller, where there is one.
    pub fn remote(&self) -> Option<std::net::SocketAddr> {
        match self {
            Self::InProcess(_) => None,
            Self::Tls { remote, .. } | Self::Plain { remote } => *remote,
        }
    }
}

/// The address of the caller, carried with a request that is passed on.
#[derive(Clone, Copy, Debug)]
pub struct RemoteAddress(pub std::net::SocketAddr);

/// Carried with the answer to an upgrade: ends when the connection that it opened ends.
#[derive(Clone)]
pub struct Upgraded(pub tokio::sync::watch::Receiver<()>);

pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}

/// Reads a body that may not be larger than `limit`; `None` if it is. A body of one piece,
/// which most are, is not copied.
pub async fn read_limited(mut body: Body, limit: usize) -> Result<Option<Bytes>, BoxError> {
    if body.size_hint().lower() > limit as u64 {
        discard(body).await;
        return Ok(None);
    }
    let mut pieces: Vec<Bytes> = Vec::new();
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        length += data.len();
        if length > limit {
            discard(body).await;
            return Ok(None);
        }
        pieces.push(data);
    }
    Ok(Some(match pieces.len() {
        0 => Bytes::new(),
        1 => pieces.swap_remove(0),
        _ => pieces.concat().into(),
    }))
}

/// How much of a refused body is read all the same, and for how long.
const DISCARD_MAX: usize = 16 << 20;
const DISCARD_TIME: Duration = Duration::from_secs(5);

/// Lets a client finish what it is sending, within bounds. If the connection were closed
/// under it, most clients would report a broken pipe and never see why they were refused.
async fn discard(mut body: Body) {
    let read = async {
        let mut length = 0;
        while let Some(Ok(frame)) = body.frame().await {
            length += frame.data_ref().map_or(0, Bytes::len);
            if length > DISCARD_MAX {
                return;
            }
        }
    };
    // Running out of time is as good an end as any: the answer goes out either way.
    let _ = tokio::time::timeout(DISCARD_TIME, read).await;
}
