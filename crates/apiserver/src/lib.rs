//! Request to stored object and back.

pub mod admission;
pub mod authn;
pub mod authz;
pub mod cache;
pub mod registry;
pub mod transport;

pub use transport::{Body, Peer};
