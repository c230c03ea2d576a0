//! Names, versions, schemas, codecs and patches of the Kubernetes API.
//!
//! **Invariant:** no I/O happens here. Everything is a function from bytes or values
//! to bytes, values or a [`status::Status`], so that the API server, the clients and
//! the fuzzers share one implementation.

#![warn(unreachable_pub)]

pub mod codec;
pub mod document;
pub mod field;
pub mod gvk;
pub mod object;
pub mod openapi;
pub mod patch;
pub mod problems;
pub mod quantity;
pub mod quota;
pub mod rules;
pub mod schema;
pub mod selector;
pub mod status;
pub mod unsupported;
pub mod view;
