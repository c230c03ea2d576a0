//! Why a server did not start or stopped serving. What goes wrong with one request is a
//! Status and never comes here.

use ferry_api::status::Status;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("reading the store into memory")]
    Load(#[source] ferry_store::Error),
    #[error("--encryption-provider-config: {0}")]
    Encryption(String),
    #[error("{0:?} is no range of IPv4 addresses for Services, such as 10.96.0.0/12")]
    ServiceCidr(String),
    #[error("key material of the API server")]
    Pki(#[from] ferry_pki::Error),
    #[error("TLS settings towards backends: {0}")]
    OutgoingTls(String),
    /// Names the flag, the field and the rule.
    #[error("{0}")]
    Configuration(String),
    #[error("making the objects that every cluster has")]
    Bootstrap(#[source] Status),
    #[error(transparent)]
    Access(#[from] ferry_access::Error),
    #[error("accepting connections")]
    Accept(#[source] std::io::Error),
}
