//! Controllers of volumes: the finalizers that protect what is in use.

pub mod storage_protection;
