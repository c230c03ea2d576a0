//! ClusterRoleBinding: the strategy of who has which permissions everywhere.

use super::binding;
use crate::{Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::ErrorList;
use jiff::Timestamp;
use serde_json::Value;

pub struct ClusterRoleBinding;

impl Strategy for ClusterRoleBinding {
    fn default(&self, object: &mut Value) {
        binding::default_binding(object);
    }

    fn validate_name(&self, name: &str, _prefix: bool) -> Vec<String> {
        names::path_segment(name, false)
    }

    fn validate(&self, object: &Value) -> ErrorList {
        binding::validate_binding(object, &["ClusterRole"], false)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate(new);
        binding::validate_role_is_kept(&mut errors, new, old);
        errors
    }

    fn allows_create_on_update(&self) -> bool {
        true
    }

    fn computed_cells(&self, object: Node<'_>, _now: Timestamp) -> Vec<Value> {
        binding::cells(object)
    }
}
