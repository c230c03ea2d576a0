//! Controllers of volumes: the binder of claims and volumes, and the finalizers that protect
//! what is in use.

pub mod binder;
mod pods_by_claim;
pub mod storage_protection;
