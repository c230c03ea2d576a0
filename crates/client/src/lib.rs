//! How every part of ferry speaks to the API: requests, informers, the event recorder and
//! leader election.
//!
//! **Invariant:** a caller cannot tell whether the API server is in this process or on
//! another machine. Both are a [`Transport`]; the same paths, the same bytes, the same
//! authentication and authorization.

#![warn(unreachable_pub)]

mod api;
mod cache;
mod decode;
mod error;
mod events;
mod lease;
mod object;
mod request;
mod servers;
mod tls;
mod transport;
mod watch;

pub use api::{Api, ObjectList};
pub use cache::{Event, IndexValues, Informer, Informers, labels};
pub use decode::decode;
pub use error::Error;
pub use events::{EventType, Recorder};
pub use lease::{CONTROLLER_MANAGER_LEASE, LeaderElection, LeadershipEnd, SCHEDULER_LEASE};
pub use object::{Reference, SharedObject};
pub use request::{Client, DeleteParams, ListParams, Patch, Request, ResourcePath};
pub use servers::{Servers, TlsSettings, WithHeaders};
pub use tls::TlsTransport;
pub use transport::{Body, BoxError, Transport, empty_body, full_body, read_body};
pub use watch::WatchEvents;
