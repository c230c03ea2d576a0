//! ReplicaSet: the strategy of a number of like pods.

use super::replicas::workload_warnings;
use crate::Strategy;
use crate::apps::replicas::validate_replica_status;
use crate::pod_spec::template::{default_template, validate_selector_and_template};
use crate::read::{Read, field_mut};
use ferry_api::field::{ErrorList, Path};
use serde_json::{Value, json};

pub(crate) struct ReplicaSet;

impl Strategy for ReplicaSet {
    fn default(&self, set: &mut Value) {
        if let Some(template) = field_mut(set, "spec").and_then(|spec| field_mut(spec, "template")) {
            default_template(template);
        }
    }

    fn validate(&self, set: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (path, empty) = (Path::new("spec"), json!({}));
        let spec = set.field("spec").unwrap_or(&empty);
        validate_selector_and_template(&mut errors, spec, &path);
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
        validate_replica_status(new, &parts, "readyReplicas")
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        workload_warnings(new, old)
    }
}
