//! Controllers of identities and rights: certificates, tokens, service accounts and aggregated roles.

pub mod bootstrap_signer;
pub mod bootstrap_token;
pub mod certificates;
pub mod cluster_role_aggregation;
pub mod legacy_token_cleaner;
pub mod root_ca;
pub mod service_account;
pub mod service_account_token;
pub mod token_cleaner;
