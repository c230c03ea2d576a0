//! The kinds of the group `resource.k8s.io`.

pub mod conversion;
mod device;
pub mod device_class;
pub mod device_taint_rule;
pub(crate) mod naming;
mod request;
pub mod resource_claim;
pub mod resource_claim_template;
pub mod resource_slice;
mod taint;
