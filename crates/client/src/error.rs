//! What can go wrong with a request.

use crate::transport::BoxError;
use ferry_api::status::Status;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API answered, and said no.
    #[error("{0}")]
    Api(Box<Status>),
    /// No answer came.
    #[error("cannot reach the API server: {0}")]
    Transport(#[source] BoxError),
    /// An answer came that is not what was asked for.
    #[error("cannot read the API server's answer to {what}: {source}")]
    Decode { what: String, source: serde_json::Error },
    /// The request cannot be written down.
    #[error("cannot build the request for {what}: {source}")]
    Encode { what: String, source: BoxError },
}

impl Error {
    pub fn status(&self) -> Option<&Status> {
        match self {
            Self::Api(status) => Some(status),
            _ => None,
        }
    }

    pub fn is_not_found(&self) -> bool {
        self.status().is_some_and(Status::is_not_found)
    }

    pub fn is_conflict(&self) -> bool {
        self.status().is_some_and(Status::is_conflict)
    }

    pub fn is_already_exists(&self) -> bool {
        self.status().is_some_and(Status::is_already_exists)
    }

    pub fn is_expired(&self) -> bool {
        self.status().is_some_and(Status::is_expired)
    }

    pub fn is_forbidden(&self) -> bool {
        self.status().is_some_and(|s| s.reason == "Forbidden")
    }

    /// The namespace the object should live in is on its way out; retrying is of no use.
    pub fn is_namespace_terminating(&self) -> bool {
        self.is_forbidden()
            && self
                .status()
                .and_then(|s| s.details.as_ref())
                .is_some_and(|d| d.causes.iter().any(|c| c.reason == "NamespaceTerminating"))
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::Api(Box::new(status))
    }
}
