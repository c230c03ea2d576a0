//! Why authentication or authorization could not be set up. Failures of one request are a Status.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("key material of the API server")]
    Pki(#[from] ferry_pki::Error),
    /// Names the flag, the field and the rule.
    #[error("{0}")]
    Configuration(String),
}
