//! Controllers of Nodes: their health and taints, the pods that leave them, and their pod ranges.

pub(crate) mod node_ipam;
pub(crate) mod node_lifecycle;
pub(crate) mod node_ttl;
pub(crate) mod taint_eviction;
