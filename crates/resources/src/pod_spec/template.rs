//! The pod template that Deployments, ReplicaSets and the like carry.

use super::defaults::default_pod_spec;
use super::security::validate_profile_annotations;
use super::update::validate_pod_annotations;
use super::validate::{SpecOf, validate_pod_spec};
use super::warnings::{Place, warnings_for};
use crate::read::{Read, field_mut};
use crate::validation::labels::{is_label_selector, selector_matches, validate_annotations, validate_labels};
use crate::validation::shown;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::{Value, json};

/// Fills in a template's pod spec.
pub(crate) fn default_template(template: &mut Value) {
    if let Some(spec) = field_mut(template, "spec") {
        default_pod_spec(spec);
    }
}

pub(crate) fn validate_template(errors: &mut ErrorList, template: &Value, path: &Path) {
    let metadata = template.field("metadata");
    let empty = json!({});
    let spec = template.field("spec").unwrap_or(&empty);
    validate_labels(errors, metadata.entries("labels"), &path.child("labels"));
    validate_annotations(errors, metadata.entries("annotations"), &path.child("annotations"));
    validate_pod_annotations(errors, metadata, spec, &path.child("annotations"));
    validate_pod_spec(errors, spec, None, SpecOf::Template, &path.child("spec"));
    validate_profile_annotations(errors, metadata, spec, &path.child("spec"));
    if !spec.list("ephemeralContainers").is_empty() {
        errors.push(Error::forbidden(
            &path.child("spec").child("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        ));
    }
}

/// `spec.selector` and `spec.template` of a Deployment or ReplicaSet, which must agree:
/// a controller must be able to recognize the pods it makes.
pub(crate) fn validate_selector_and_template(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let (selector, at) = (spec.field("selector"), path.child("selector"));
    if let Some(selector) = selector {
        if !is_label_selector(selector) {
            errors.push(Error::invalid(&at, selector.clone(), "invalid label selector"));
            return;
        }
        if selector.entries("matchLabels").is_empty() && selector.list("matchExpressions").is_empty() {
            errors.push(Error::invalid(&at, selector.clone(), "empty selector is invalid for deployment"));
        }
    }
    let path = path.child("template");
    let empty = json!({});
    let template = spec.field("template").unwrap_or(&empty);
    let labels = template.field("metadata").entries("labels");
    let is_empty =
        |selector: &Value| selector.entries("matchLabels").is_empty() && selector.list("matchExpressions").is_empty();
    // A selector that is absent selects nothing; an empty one selects everything.
    if !selector.is_some_and(|selector| is_empty(selector) || selector_matches(selector, labels)) {
        errors.push(Error::invalid(
            &path.child("metadata").child("labels"),
            shown(template.field("metadata").field("labels")),
            "`selector` does not match template `labels`",
        ));
    }
    validate_template(errors, template, &path);
    validate_pods_run_forever(errors, template, "ReplicaSet", &path);
}

/// The pods of a controller that replaces them are never meant to end by themselves.
pub(crate) fn validate_pods_run_forever(errors: &mut ErrorList, template: &Value, kind: &str, path: &Path) {
    let (spec, path) = (template.field("spec"), path.child("spec"));
    let policy = spec.text("restartPolicy");
    if policy != "Always" {
        errors.push(Error::not_supported(&path.child("restartPolicy"), policy, &["Always"]));
    }
    if spec.has("activeDeadlineSeconds") {
        errors.push(Error::forbidden(
            &path.child("activeDeadlineSeconds"),
            format!("activeDeadlineSeconds in {kind} is not Supported"),
        ));
    }
}

pub(crate) fn template_warnings(template: Option<&Value>, path: &Path) -> Vec<String> {
    match template {
        Some(template) => warnings_for(template, path, Place::Template),
        None => Vec::new(),
    }
}
