//! Controllers of Services: the slices and endpoints of the pods that they select.

pub mod endpoint_slice;
pub mod endpoint_slice_mirroring;
pub mod endpoints;
pub mod service_pods;
