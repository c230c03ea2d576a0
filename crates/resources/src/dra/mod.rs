//! The kinds of the group `resource.k8s.io`.

pub(crate) mod conversion;
mod device;
pub(crate) mod device_class;
pub(crate) mod device_taint_rule;
pub(crate) mod naming;
mod request;
pub(crate) mod resource_claim;
pub(crate) mod resource_claim_template;
pub(crate) mod resource_slice;
mod taint;
