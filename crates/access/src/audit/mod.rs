//! What is recorded about requests: who asked for what, when, and how it ended, as much
//! of it as a policy says. Off unless a policy is given. The chain makes a [`Record`] for
//! a request once it knows who asks, tells it what it learns on the way, and ends it with
//! the answer; a record writes an event at each stage to every [`Sink`].
//!
//! ```text
//!   RequestReceived ──> ResponseStarted (only where the answer stays open) ──> ResponseComplete
//!                  └──> Panic
//! ```

mod batch;
mod body;
mod log;
mod policy;
mod record;

pub use batch::{Batch, Batching, Deliver};
pub use log::{Log, Rotation};
pub use policy::Policy;
pub use record::{Asked, Record, RecordSlot};

use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the audit policy is not valid: {0}")]
    Policy(String),
    #[error("cannot open the audit log {0:?}")]
    Open(PathBuf, #[source] std::io::Error),
    #[error("cannot write to the audit log")]
    Write(#[source] std::io::Error),
    #[error("{0} audit events wait to be sent; this one is dropped")]
    Full(usize),
}

/// How much of a request is recorded; each level has all of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    None,
    Metadata,
    Request,
    RequestResponse,
}

impl Level {
    const NAMES: [&'static str; 4] = ["Metadata", "None", "Request", "RequestResponse"];

    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "None" => Self::None,
            "Metadata" => Self::Metadata,
            "Request" => Self::Request,
            "RequestResponse" => Self::RequestResponse,
            _ => return None,
        })
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
            Self::RequestResponse => "RequestResponse",
        }
    }
}

/// When an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    RequestReceived,
    ResponseStarted,
    ResponseComplete,
    Panic,
}

impl Stage {
    const NAMES: [&'static str; 4] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"];

    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "RequestReceived" => Self::RequestReceived,
            "ResponseStarted" => Self::ResponseStarted,
            "ResponseComplete" => Self::ResponseComplete,
            "Panic" => Self::Panic,
            _ => return None,
        })
    }

    fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// Where events go. An event that cannot be taken is lost to this sink alone; the request
/// that it is about goes on.
pub trait Sink: Send + Sync + 'static {
    fn emit(&self, event: &Value) -> Result<(), Error>;
}

/// The policy and the sinks; what the server's configuration holds.
pub struct Auditor {
    policy: Policy,
    sinks: Vec<Arc<dyn Sink>>,
    events: AtomicU64,
    errors: AtomicU64,
}

impl Auditor {
    pub fn new(policy: Policy, sinks: Vec<Arc<dyn Sink>>) -> Self {
        Self { policy, sinks, events: AtomicU64::new(0), errors: AtomicU64::new(0) }
    }

    /// For /metrics: events written, and events that a sink did not take.
    pub fn counts(&self) -> (u64, u64) {
        (self.events.load(Ordering::Relaxed), self.errors.load(Ordering::Relaxed))
    }

    fn emit(&self, event: &Value) {
        self.events.fetch_add(1, Ordering::Relaxed);
        for sink in &self.sinks {
            if let Err(error) = sink.emit(event) {
                self.errors.fetch_add(1, Ordering::Relaxed);
                tracing::error!(error = &error as &dyn std::error::Error, "an audit event was lost");
            }
        }
    }
}
