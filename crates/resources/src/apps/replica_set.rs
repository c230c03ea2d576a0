//! ReplicaSet: the strategy of a number of like pods.

use super::deployment::validate_selector_is_kept;
use super::replicas::{validate_replica_counts, workload_warnings};
use crate::Strategy;
use crate::pod_spec::template::{default_template, validate_selector_and_template};
use crate::read::{Read, ReadNode, field_mut, fill_defaults};
use crate::validation::nonnegative;
use ferry_api::document::Node;
use ferry_api::field::{ErrorList, Path};
use serde_json::{Value, json};

pub struct ReplicaSet;

impl Strategy for ReplicaSet {
    fn default(&self, set: &mut Value) {
        fill_defaults(set, "apps/v1", "ReplicaSet");
        if let Some(template) = field_mut(set, "spec").and_then(|spec| field_mut(spec, "template")) {
            default_template(template);
        }
    }

    fn validate(&self, set: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (path, empty) = (Path::new("spec"), json!({}));
        let spec = set.field("spec").unwrap_or(&empty);
        nonnegative(&mut errors, &path.child("replicas"), spec.int("replicas"));
        nonnegative(&mut errors, &path.child("minReadySeconds"), spec.int("minReadySeconds"));
        validate_selector_and_template(&mut errors, spec, &path);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate(new);
        validate_selector_is_kept(&mut errors, new, old);
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let counts = [
            "replicas",
            "fullyLabeledReplicas",
            "readyReplicas",
            "availableReplicas",
            "observedGeneration",
            "terminatingReplicas",
        ];
        let parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
        validate_replica_counts(&mut errors, new.field("status"), &counts, &parts, &Path::new("status"));
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        workload_warnings(new, old)
    }

    fn selectable_fields(&self, set: Node<'_>) -> Vec<(&'static str, String)> {
        vec![("status.replicas", set.field("status").int("replicas").to_string())]
    }
}
