//! How a request reaches the chain: over a socket, or from a component in this process.
//!
//! Both end in [`crate::ApiServer::handle`]; what differs is the [`Peer`], which says
//! what the transport itself knows about the caller. `serve.rs` makes the socket peers,
//! the ferry binary makes the in-process ones.

use crate::authn::UserInfo;
use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use std::sync::Arc;

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

pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

pub fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed_unsync()
}
