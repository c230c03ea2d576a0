//! Controllers of identities and rights: certificates, tokens, service accounts and aggregated roles.

pub(crate) mod bootstrap_signer;
pub(crate) mod bootstrap_token;
pub(crate) mod certificates;
pub(crate) mod cluster_role_aggregation;
pub(crate) mod legacy_token_cleaner;
pub(crate) mod root_ca;
pub(crate) mod service_account;
pub(crate) mod service_account_token;
pub(crate) mod token_cleaner;
