//! How every part of ferry speaks to the API: requests, informers, the work queue and
//! the event recorder.
//!
//! **Invariant:** a caller cannot tell whether the API server is in this process or on
//! another machine. Both are a [`Transport`]; the same paths, the same bytes, the same
//! authentication and authorization.

mod api;
pub mod cache;
mod decode;
mod error;
mod events;
mod informer;
mod informers;
mod object;
mod queue;
mod reflector;
mod request;
mod tls;
mod transport;
mod watch;

pub use api::{Api, ObjectList};
pub use decode::decode;
pub use error::Error;
pub use events::{EventType, Recorder, reference};
pub use informer::{Cached, Event, Informer, ObjectMetadata};
pub use informers::Informers;
pub use object::{Object as SharedObject, Reference};
pub use queue::Queue;
pub use request::{Client, DeleteParams, List, ListParams, Object, Patch, Request, ResourcePath};
pub use tls::TlsTransport;
pub use transport::{Body, BoxError, Transport, empty_body, full_body, read_body};
pub use watch::{WatchEvent, WatchEvents, WatchLines};
