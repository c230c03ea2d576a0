//! What follows from a pod's spec and status alone, and what more than one component must
//! judge alike: what it asks for in all, and its quality of service.

mod aggregate;
mod qos;

pub use aggregate::{Amounts, aggregate, has_own_resources, is_own_resource, limits, requests};
pub use qos::compute_qos_class;

use crate::object::Meta;
use serde_json::Value;

/// An init container that keeps running beside the others: a sidecar.
pub fn is_restartable_init_container(container: &Value) -> bool {
    container.str_at(&["restartPolicy"]) == "Always"
}
