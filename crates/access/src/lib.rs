//! Requesters and their rights: who asks, whether they may, whether there is room, and what is
//! recorded of it.
//!
//! ```text
//! transport.rs, request_info.rs, query.rs   the request
//! authn/                                    who asks, and as whom
//! authz/                                    whether they may
//! flow_control/                             whether there is room
//! audit/                                    what is recorded
//! webhook/, retry.rs                        the one client for hooks
//! caller.rs                                 what goes on to registry and admission
//! ```
//!
//! The API server's chain calls these in its order (`apiserver/chain.rs`). Objects come from
//! `ferry_cache::lookup`; nothing here writes one.

#![warn(unreachable_pub)]

pub mod audit;
pub mod authn;
pub mod authz;
pub mod caller;
mod error;
pub mod flow_control;
pub mod identity_figures;
pub mod query;
pub mod request_info;
pub mod retry;
pub mod transport;
pub mod webhook;

pub use error::Error;
