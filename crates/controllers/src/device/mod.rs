//! Controllers of dynamic resource allocation: the ResourceClaims of pods.

mod claim_name;
pub mod pod_claims;
pub mod resource_claim;
