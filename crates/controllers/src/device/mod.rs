//! Controllers of dynamic resource allocation: the ResourceClaims of pods, and the pods that
//! leave tainted devices.

mod claim_name;
pub(crate) mod pod_claims;
pub(crate) mod resource_claim;
pub(crate) mod taint_eviction;
