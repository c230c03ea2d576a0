//! Controllers of volumes: the binder of claims and volumes, their attaching to nodes, the claims of ephemeral volumes,
//! the word on claims that grow, and the finalizers that protect what is in use.

pub(crate) mod attach_detach;
pub(crate) mod binder;
pub(crate) mod ephemeral_volume;
pub(crate) mod expander;
mod pods_by_claim;
pub(crate) mod storage_protection;
