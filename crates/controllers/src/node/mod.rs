//! Controllers of Nodes: their health and taints, the pods that leave them, and their pod ranges.

pub mod node_ipam;
pub mod node_lifecycle;
pub mod node_ttl;
pub mod taint_eviction;
