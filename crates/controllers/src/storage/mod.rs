//! Controllers of volumes: the binder of claims and volumes, the claims of ephemeral volumes,
//! the word on claims that grow, and the finalizers that protect what is in use.

pub mod binder;
pub mod ephemeral_volume;
pub mod expander;
mod pods_by_claim;
pub mod storage_protection;
