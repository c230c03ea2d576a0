//! Controllers of dynamic resource allocation: the ResourceClaims of pods, and the pods that
//! leave tainted devices.

mod claim_name;
pub mod pod_claims;
pub mod resource_claim;
pub mod taint_eviction;
