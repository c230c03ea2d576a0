//! Controllers of Services: the slices and endpoints of the pods that they select, and the
//! addresses of those that are reached from outside.

pub(crate) mod endpoint_slice;
pub(crate) mod endpoint_slice_mirroring;
pub(crate) mod endpoints;
pub(crate) mod load_balancer;
pub(crate) mod service_pods;
