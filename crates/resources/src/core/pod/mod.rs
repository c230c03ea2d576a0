//! Pod: the strategy of the smallest thing that runs.

mod subresources;
mod summary;

use crate::pod_spec::defaults::default_pod;
use crate::pod_spec::security::validate_profile_annotations;
use crate::pod_spec::update::{
    validate_pod_annotations, validate_pod_annotations_update, validate_spec_update, validate_status_update,
};
use crate::pod_spec::validate::{SpecOf, validate_only_for_pods, validate_pod_spec};
use crate::pod_spec::warnings::{Place, warnings_for};
use crate::read::{Read, ReadNode, field_mut, list_mut, set};
use crate::{Context, Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::{Meta, ensure_object};
use ferry_api::rules::qos::compute_qos_class;
use ferry_api::view::core::v1::PodSpecView;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct Pod;

impl Strategy for Pod {
    fn default(&self, pod: &mut Value) {
        if let Some(spec) = field_mut(pod, "spec") {
            default_pod(spec);
        }
        if let Some(status) = field_mut(pod, "status") {
            mirror_first_ip(status);
        }
    }

    fn prepare_for_create(&self, _context: &Context, pod: &mut Value) {
        let spec = pod.field("spec").cloned().unwrap_or_else(|| json!({}));
        let mut status = json!({"phase": "Pending", "qosClass": compute_qos_class(PodSpecView::from(&spec)).as_str()});
        if !spec.list("schedulingGates").is_empty() {
            status["conditions"] = json!([{
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }]);
        }
        set(pod, "status", status);
        merge_label_keys(pod);
    }

    fn validate(&self, pod: &Value) -> ErrorList {
        let mut errors = validate_metadata_and_spec(pod);
        let (path, empty) = (Path::new("spec"), json!({}));
        let spec = pod.field("spec").unwrap_or(&empty);
        if !spec.list("ephemeralContainers").is_empty() {
            errors.push(Error::forbidden(&path.child("ephemeralContainers"), "cannot be set on create"));
        }
        if !spec.text("nodeName").is_empty() && !spec.list("schedulingGates").is_empty() {
            errors.push(Error::forbidden(
                &path.child("nodeName"),
                "cannot be set until all schedulingGates have been cleared",
            ));
        }
        validate_profile_annotations(&mut errors, pod.field("metadata"), spec, &path);
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = validate_metadata_and_spec(new);
        validate_pod_annotations_update(&mut errors, new, old, &Path::new("metadata").child("annotations"));
        let empty = json!({});
        validate_spec_update(&mut errors, new.field("spec").unwrap_or(&empty), old.field("spec").unwrap_or(&empty));
        errors
    }

    /// Old kubelets send neither the quality of service nor the generation they observed.
    fn prepare_for_status_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        let was = old.field("status");
        let Some(status) = field_mut(new, "status") else { return };
        if status.text("qosClass").is_empty() && !was.text("qosClass").is_empty() {
            set(status, "qosClass", was.text("qosClass"));
        }
        if status.int("observedGeneration") == 0 && was.int("observedGeneration") != 0 {
            set(status, "observedGeneration", was.int("observedGeneration"));
        }
        for condition in list_mut(status, "conditions") {
            if condition.int("observedGeneration") != 0 {
                continue;
            }
            let same = |other: &&Value| other.text("type") == condition.text("type");
            let before = was.list("conditions").iter().find(same).map_or(0, |other| other.int("observedGeneration"));
            if before != 0 {
                set(condition, "observedGeneration", before);
            }
        }
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_status_update(new, old)
    }

    fn validate_subresource_update(&self, subresource: &str, new: &Value, old: &Value) -> ErrorList {
        match subresource {
            "ephemeralcontainers" => subresources::validate_ephemeral_containers(new, old),
            "resize" => subresources::validate_resize(new, old),
            _ => ErrorList::new(),
        }
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        // People seldom update pods by hand, and controllers do it often.
        if old.is_some() {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        let sentences = names::is_dns1123_label(new.name());
        if !sentences.is_empty() {
            warnings.push(format!(
                "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [{}]",
                sentences.join(" ")
            ));
        }
        warnings.extend(warnings_for(new, &Path::root(), Place::Pod));
        warnings
    }

    /// Upstream writes a binding past the strategy (pkg/registry/core/pod/storage/storage.go),
    /// so that a pod that was placed and never changed stays at generation 1.
    fn subresource_counts_generation(&self, subresource: &str) -> bool {
        subresource != "binding"
    }

    fn selectable_fields(&self, pod: Node<'_>) -> Vec<(&'static str, String)> {
        vec![("status.podIP", pod.field("status").list("podIPs").first().text("ip").into())]
    }

    fn computed_cells(&self, pod: Node<'_>, now: Timestamp) -> Vec<Value> {
        summary::cells(pod, now)
    }

    fn row_conditions(&self, pod: Node<'_>) -> Vec<Value> {
        let (reason, message) = match pod.field("status").text("phase") {
            "Succeeded" => ("Succeeded", "The pod has completed successfully."),
            "Failed" => ("Failed", "The pod failed."),
            _ => return Vec::new(),
        };
        vec![json!({"type": "Completed", "status": "True", "reason": reason, "message": message})]
    }

    /// Nobody waits for a pod that was never placed or has already ended.
    fn grace_period(&self, pod: &Value, requested: Option<i64>) -> Option<i64> {
        let spec = pod.field("spec");
        let period = requested.or(spec.opt_int("terminationGracePeriodSeconds")).unwrap_or(0);
        let over = matches!(pod.field("status").text("phase"), "Failed" | "Succeeded");
        if spec.text("nodeName").is_empty() || over {
            return Some(0);
        }
        // Negative periods come from old objects and mean the least one.
        Some(if period < 0 { 1 } else { period })
    }
}

fn validate_metadata_and_spec(pod: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let (path, empty) = (Path::new("spec"), json!({}));
    let spec = pod.field("spec").unwrap_or(&empty);
    let metadata = pod.field("metadata");
    validate_pod_annotations(&mut errors, metadata, spec, &Path::new("metadata").child("annotations"));
    validate_pod_spec(&mut errors, spec, metadata, SpecOf::Pod, &path);
    validate_only_for_pods(&mut errors, spec, &path);
    errors
}

/// `podIP` and the first of `podIPs` are one address; where they differ, `podIP` wins.
fn mirror_first_ip(status: &mut Value) {
    let first = status.list("podIPs").first().text("ip").to_owned();
    let single = status.text("podIP").to_owned();
    match (single.as_str(), first.as_str()) {
        ("", "") => {}
        ("", first) => set(status, "podIP", first),
        (single, first) if single != first => set(status, "podIPs", json!([{"ip": single}])),
        _ => {}
    }
}

/// Turns `matchLabelKeys` and `mismatchLabelKeys` into terms of the selector, from the
/// labels this pod has now.
fn merge_label_keys(pod: &mut Value) {
    let labels = pod.field("metadata").entries("labels").clone();
    let merge = |term: &mut Value| {
        let mut terms = Vec::new();
        for (keys, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
            for key in term.texts(keys) {
                if let Some(value) = labels.get(key) {
                    terms.push(json!({"key": key, "operator": operator, "values": [value]}));
                }
            }
        }
        if let Some(selector) = field_mut(term, "labelSelector")
            && !terms.is_empty()
        {
            let expressions = ensure_object(selector).entry("matchExpressions").or_insert(Value::Null);
            match expressions {
                Value::Array(expressions) => expressions.extend(terms),
                other => *other = terms.into(),
            }
        }
    };
    let Some(spec) = field_mut(pod, "spec") else { return };
    if let Some(affinity) = field_mut(spec, "affinity") {
        for kind in ["podAffinity", "podAntiAffinity"] {
            let Some(affinity) = field_mut(affinity, kind) else { continue };
            for weighted in list_mut(affinity, "preferredDuringSchedulingIgnoredDuringExecution") {
                if let Some(term) = field_mut(weighted, "podAffinityTerm") {
                    merge(term);
                }
            }
            list_mut(affinity, "requiredDuringSchedulingIgnoredDuringExecution").iter_mut().for_each(merge);
        }
    }
    list_mut(spec, "topologySpreadConstraints").iter_mut().for_each(merge);
}

#[cfg(test)]
mod tests;
