//! Controllers of Services: the slices and endpoints of the pods that they select, and the
//! addresses of those that are reached from outside.

pub mod endpoint_slice;
pub mod endpoint_slice_mirroring;
pub mod endpoints;
pub mod load_balancer;
pub mod service_pods;
