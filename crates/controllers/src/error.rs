//! What can go wrong in a reconcile. The runner logs it and tries the key again.

use std::fmt::Display;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{operation} {object}: {source}")]
    Call { operation: &'static str, object: String, source: ferry_client::Error },
    /// The world is not yet as the reconcile needs it; trying again is the remedy.
    #[error("{0}")]
    Retry(String),
    #[error("the {controller} controller is lost: {why}")]
    Lost { controller: &'static str, why: String },
    #[error("the configuration names no valid {what}: {value:?}")]
    Config { what: &'static str, value: String },
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Names the operation and its object on an error of the client.
pub(crate) trait During<T> {
    fn during(self, operation: &'static str, object: impl Display) -> Result<T>;
}

impl<T> During<T> for Result<T, ferry_client::Error> {
    fn during(self, operation: &'static str, object: impl Display) -> Result<T> {
        self.map_err(|source| Error::Call { operation, object: object.to_string(), source })
    }
}

impl Error {
    /// The API server's own words where it refused a call, for an event.
    pub fn cause(&self) -> &dyn Display {
        match self {
            Error::Call { source, .. } => source,
            other => other,
        }
    }

    /// Nothing can be created in a namespace that is being deleted, so that retrying is
    /// of no use (upstream's `HasStatusCause(err, NamespaceTerminatingCause)`).
    pub fn is_namespace_terminating(&self) -> bool {
        matches!(self, Error::Call { source, .. } if source.is_namespace_terminating())
    }
}

pub(crate) fn is_invalid(error: &ferry_client::Error) -> bool {
    error.status().is_some_and(|status| status.reason == "Invalid")
}
