//! The kinds of the group `coordination.k8s.io`.

pub mod lease;
pub mod lease_candidate;
