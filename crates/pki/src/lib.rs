//! The cluster's certificate authorities, certificates and keys: what identities there
//! are, where their files lie and when they are made anew. The ferry binary calls
//! [`ensure`] before anything else starts; the API server, the kubelet and the client
//! take their TLS settings from [`tls`].
//!
//! **Invariant:** an authority and a private key, once written, are never replaced.
//! Certificates are: they follow the addresses they must name and the clock, also while
//! servers run ([`LiveIdentity`]).

#![warn(unreachable_pub)]

pub mod authority;
pub mod certificate;
pub mod files;
pub mod kubeconfig;
pub mod layout;
pub mod live;
pub mod pin;
pub mod request;
pub mod server_trust;
pub mod signing;
pub mod tls;

pub use authority::{Authority, ClientSubject, Identity, ServingNames};
pub use certificate::Facts;
pub use layout::{NodeIdentity, Pki, PkiConfig, ServiceAccountKey, ensure, ensure_at};
pub use live::LiveIdentity;
pub use pin::{AuthorityPin, PinnedAuthority};
pub use signing::SigningOrder;

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot {operation} {}", path.display())]
    File {
        operation: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} is there but {} is missing: put it back, or remove both to have a new authority made", present.display(), missing.display())]
    HalfAuthority { present: PathBuf, missing: PathBuf },
    #[error("cannot make {what}")]
    Issue {
        what: String,
        #[source]
        source: rcgen::Error,
    },
    #[error("{what} is not a PEM certificate: {reason}")]
    Certificate { what: String, reason: String },
    #[error("{what} is not a PEM private key: {reason}")]
    PrivateKey { what: String, reason: String },
    #[error("{reason}")]
    Request { reason: String },
    #[error("cannot set up TLS for {what}")]
    Tls {
        what: &'static str,
        #[source]
        source: rustls::Error,
    },
    #[error("the kubeconfig is not one that can be merged into: {0}")]
    Kubeconfig(String),
}
