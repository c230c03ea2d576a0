//! ResourceClaimTemplate: the strategy of claims that are made for pods.

use super::request::{default_claim, validate_claim};
use crate::Strategy;
use crate::read::{Read, field_mut};
use crate::validation::labels::{validate_annotations, validate_labels};
use ferry_api::field::{ErrorList, Path};
use serde_json::Value;

pub(crate) struct ResourceClaimTemplate;

impl Strategy for ResourceClaimTemplate {
    fn default(&self, template: &mut Value) {
        if let Some(spec) = field_mut(template, "spec").and_then(|spec| field_mut(spec, "spec")) {
            default_claim(spec);
        }
    }

    fn validate(&self, template: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (template.field("spec"), Path::new("spec"));
        let (metadata, at) = (spec.field("metadata"), path.child("metadata"));
        validate_labels(&mut errors, metadata.entries("labels"), &at.child("labels"));
        validate_annotations(&mut errors, metadata.entries("annotations"), &at.child("annotations"));
        validate_claim(&mut errors, spec.field("spec"), &path.child("spec"));
        errors
    }

    fn validate_update(&self, _new: &Value, _old: &Value) -> ErrorList {
        ErrorList::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn a_template_holds_a_claim() {
        let of = |claim: Value| json!({"metadata": {"name": "a"}, "spec": {"spec": claim}});
        check(
            &ResourceClaimTemplate,
            of(json!({"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}})),
            &[],
        );
        check(
            &ResourceClaimTemplate,
            of(json!({"devices": {"requests": [{"name": "r", "exactly": {}}]}})),
            &["spec.spec.devices.requests[0].exactly.deviceClassName: Required value"],
        );
    }
}
