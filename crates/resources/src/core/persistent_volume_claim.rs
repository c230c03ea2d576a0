//! PersistentVolumeClaim: the strategy of a request for storage.

use crate::pod_spec::defaults::default_claim_spec;
use crate::read::{Read, ReadNode, field_mut, keep, remove, set};
use crate::validation::equality::same_at;
use crate::validation::resources::{amount, is_native, round_up_to_milli, validate_amount};
use crate::validation::volumes::{
    BETA_CLASS_ANNOTATION, access_modes_text, claim_spec_warnings, validate_basic_amount, validate_claim_spec,
};
use crate::validation::{FIELD_IS_IMMUTABLE, each, validate_immutable};
use crate::{Context, Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::quantity::Quantity;
use ferry_api::view::Element;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct PersistentVolumeClaim;

const RESIZE_STATUSES: &[&str] = &[
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

impl Strategy for PersistentVolumeClaim {
    fn default(&self, claim: &mut Value) {
        default_claim(claim);
    }

    fn prepare_for_create(&self, _context: &Context, claim: &mut Value) {
        set(claim, "status", json!({"phase": "Pending"}));
        if let Some(spec) = field_mut(claim, "spec") {
            drop_foreign_reference(spec, None);
            drop_unknown_source(spec, None);
            mirror_data_source(spec);
        }
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        if let Some(spec) = field_mut(new, "spec") {
            drop_foreign_reference(spec, old.field("spec"));
            drop_unknown_source(spec, old.field("spec"));
            mirror_data_source(spec);
        }
    }

    fn validate(&self, claim: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_claim_spec(&mut errors, claim.field("spec"), &Path::new("spec"));
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate(new);
        validate_spec_is_kept(&mut errors, new, old);
        validate_size_is_kept(&mut errors, new, old);
        validate_immutable(&mut errors, new, old, &["spec", "volumeMode"], &Path::new("volumeMode"));
        let class = new.field("spec").opt_text("volumeAttributesClassName");
        if class != old.field("spec").opt_text("volumeAttributesClassName")
            && old.field("status").has("currentVolumeAttributesClassName")
        {
            let what = match class {
                None => "nil",
                Some("") => "empty string",
                Some(_) => return errors,
            };
            errors.push(Error::forbidden(
                &Path::new("spec").child("volumeAttributesClassName"),
                format!("update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"),
            ));
        }
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (status, path) = (new.field("status"), Path::new("status"));
        if new.field("spec").list("accessModes").is_empty() {
            errors.push(Error::required(&Path::new("Spec").child("accessModes"), ""));
        }
        for (name, value) in status.entries("capacity") {
            validate_basic_amount(&mut errors, value, &path.child("capacity").key(name));
        }
        let at = path.child("allocatedResourceStatuses");
        for (name, value) in status.entries("allocatedResourceStatuses") {
            validate_resource_key(&mut errors, name, &at);
            if !RESIZE_STATUSES.iter().any(|status| value == status) {
                errors.push(Error::not_supported(&at, name.as_str(), RESIZE_STATUSES));
            }
        }
        let at = path.child("allocatedResources");
        for (name, value) in status.entries("allocatedResources") {
            if validate_resource_key(&mut errors, name, &at) {
                let before = errors.len();
                validate_basic_amount(&mut errors, value, &at.key(name));
                if errors.len() == before {
                    validate_amount(&mut errors, "storage", value, &at.key(name));
                }
            }
        }
        errors
    }

    fn warnings(&self, claim: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        if claim.annotation(BETA_CLASS_ANNOTATION).is_some() {
            let path = Path::new("metadata").child("annotations").key(BETA_CLASS_ANNOTATION);
            warnings.push(format!("{path}: deprecated since v1.8; use \"storageClassName\" attribute instead"));
        }
        warnings.extend(claim_spec_warnings(claim.field("spec"), &Path::new("spec")));
        warnings
    }

    fn computed_cells(&self, claim: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let (spec, status) = (claim.field("spec"), claim.field("status"));
        let volume = spec.text("volumeName");
        let phase = if claim.is_deleting() { "Terminating" } else { status.text("phase") };
        let (capacity, modes) = if volume.is_empty() {
            (String::new(), String::new())
        } else {
            (storage_text(status.field("capacity")), access_modes_text(status.list("accessModes")))
        };
        vec![phase.into(), capacity.into(), modes.into(), class_of(claim).into()]
    }
}

/// A claim's defaults, whether it stands alone or in the templates of a StatefulSet.
pub(crate) fn default_claim(claim: &mut Value) {
    if let Some(spec) = field_mut(claim, "spec") {
        default_claim_spec(spec);
    }
    if let Some(status) = field_mut(claim, "status") {
        for list in ["capacity", "allocatedResources"] {
            round_up_to_milli(field_mut(status, list));
        }
    }
}

/// The class of a volume or claim; the old annotation goes before the field.
pub(crate) fn class_of(object: Node<'_>) -> &str {
    object.annotation(BETA_CLASS_ANNOTATION).unwrap_or_else(|| object.field("spec").text("storageClassName"))
}

/// The size in a capacity; what has none shows zero.
pub(crate) fn storage_text(capacity: Option<Node<'_>>) -> String {
    match capacity.field("storage").and_then(Quantity::of) {
        Some(amount) => amount.to_string(),
        None => "0".to_owned(),
    }
}

/// Sources in other namespaces are a feature that is off in 1.36.
fn drop_foreign_reference(spec: &mut Value, old: Option<&Value>) {
    if !spec.field("dataSourceRef").text("namespace").is_empty() && !old.has("dataSourceRef") {
        remove(spec, "dataSourceRef");
    }
}

/// `dataSource` alone can only name a claim or a snapshot; anything else was ignored
/// before there was `dataSourceRef`, and still is.
fn drop_unknown_source(spec: &mut Value, old: Option<&Value>) {
    if old.has("dataSource") || old.has("dataSourceRef") || spec.has("dataSourceRef") {
        return;
    }
    let source = spec.field("dataSource");
    let known = matches!(
        (source.text("kind"), source.text("apiGroup")),
        ("PersistentVolumeClaim", "") | ("VolumeSnapshot", "snapshot.storage.k8s.io")
    );
    if !known {
        remove(spec, "dataSource");
    }
}

/// The two fields say the same unless both were given.
fn mirror_data_source(spec: &mut Value) {
    let copy = |source: &Value| {
        let mut copy = json!({"kind": source.text("kind"), "name": source.text("name")});
        if let Some(group) = source.opt_text("apiGroup") {
            set(&mut copy, "apiGroup", group);
        }
        copy
    };
    match (spec.field("dataSource"), spec.field("dataSourceRef")) {
        (Some(source), None) => {
            let copy = copy(source);
            set(spec, "dataSourceRef", copy);
        }
        (None, Some(reference)) if reference.text("namespace").is_empty() => {
            let copy = copy(reference);
            set(spec, "dataSource", copy);
        }
        _ => {}
    }
}

/// A claim keeps its spec, so that nobody gets around quota. A volume may be bound to it
/// once; size and class of attributes may change while it is bound.
fn validate_spec_is_kept(errors: &mut ErrorList, new: &Value, old: &Value) {
    let (mut kept, mut before) = (new.clone(), old.clone());
    if let Some(spec) = field_mut(&mut before, "spec") {
        if spec.text("volumeName").is_empty() {
            keep(spec, new.field("spec").unwrap_or(&Value::Null), "volumeName");
        }
        // An older server may have stored one of the two fields alone.
        mirror_data_source(spec);
    }
    let annotation = |claim: &Value| claim.annotation(BETA_CLASS_ANNOTATION).map(str::to_owned);
    let (class, old_class) =
        (new.field("spec").opt_text("storageClassName"), old.field("spec").opt_text("storageClassName"));
    let (noted, was_noted) = (annotation(new), annotation(old));
    let moves_from_annotation = was_noted.is_some()
        && old_class.is_none()
        && class == was_noted.as_deref()
        && (noted.is_none() || noted == was_noted);
    if !moves_from_annotation && noted.as_deref().unwrap_or_default() != was_noted.as_deref().unwrap_or_default() {
        let path = Path::new("metadata").child("annotations").child(BETA_CLASS_ANNOTATION);
        errors.push(Error::invalid(&path, noted.unwrap_or_default(), FIELD_IS_IMMUTABLE));
    }
    let is_first_class =
        class.is_some() && old_class.is_none() && (was_noted.is_none() || was_noted.as_deref() == class);
    if let (Some(spec), Some(old_spec)) = (field_mut(&mut kept, "spec"), old.field("spec")) {
        if moves_from_annotation || is_first_class {
            keep(spec, old_spec, "storageClassName");
        }
        if new.field("status").text("phase") == "Bound" {
            keep(spec, old_spec, "volumeAttributesClassName");
            let old_requests = old_spec.field("resources").field("requests").cloned().unwrap_or_else(|| json!({}));
            if let Some(requests) = field_mut(spec, "resources").and_then(|list| field_mut(list, "requests")) {
                keep(requests, &old_requests, "storage");
            }
        }
    }
    if !same_at(&kept, &before, &["spec"]) {
        let detail =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        errors.push(Error::forbidden(&Path::new("spec"), detail));
    }
}

/// A size may shrink back to what the volume really has, after an expansion that failed.
fn validate_size_is_kept(errors: &mut ErrorList, new: &Value, old: &Value) {
    let size = |claim: &Value| {
        let requests = claim.field("spec").field("resources").entries("requests");
        amount(requests, "storage").unwrap_or_default()
    };
    let (wanted, before) = (size(new), size(old));
    let has = amount(old.field("status").entries("capacity"), "storage").unwrap_or_default();
    if wanted < before && wanted <= has {
        let path = Path::new("spec").child("resources").child("requests").child("storage");
        errors.push(Error::forbidden(&path, "field can not be less than status.capacity"));
    }
}

fn validate_resource_key(errors: &mut ErrorList, name: &str, path: &Path) -> bool {
    let before = errors.len();
    each(errors, path, name, names::is_qualified_name(name));
    if errors.len() == before && is_native(name) && name != "storage" {
        errors.push(Error::not_supported(path, name, &["storage"]));
    }
    errors.len() == before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, context, texts};

    fn claim() -> Value {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}},
        })
    }

    fn bound() -> Value {
        let mut claim = claim();
        claim["spec"]["volumeName"] = "pv".into();
        claim["status"] = json!({"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}});
        claim
    }

    #[track_caller]
    fn check_spec(key: &str, value: Value, expected: &[&str]) {
        let mut object = claim();
        object["spec"][key] = value;
        check(&PersistentVolumeClaim, object, expected);
    }

    #[test]
    fn claims_say_how_much_and_how() {
        check(&PersistentVolumeClaim, claim(), &[]);
        check_spec("accessModes", json!([]), &["spec.accessModes: Required value: at least 1 access mode is required"]);
        check_spec(
            "accessModes",
            json!(["ReadWriteOnce", "ReadWriteOncePod"]),
            &["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
        );
        check_spec("resources", json!({}), &["spec.resources[storage]: Required value"]);
        check_spec(
            "resources",
            json!({"requests": {"storage": "-1"}}),
            &["spec.resources[storage]: Invalid value: \"-1\": must be greater than zero"],
        );
        check_spec(
            "volumeMode",
            "Some".into(),
            &["spec.volumeMode: Unsupported value: \"Some\": supported values: \"Block\", \"Filesystem\""],
        );
        check_spec(
            "dataSource",
            json!({"kind": "Pod"}),
            &[
                "spec.dataSource.name: Required value",
                "spec.dataSource: Invalid value: \"Pod\": must be 'PersistentVolumeClaim' when referencing the default apiGroup",
            ],
        );
    }

    #[test]
    fn the_two_ways_to_name_a_source_agree() {
        let mut object = claim();
        object["spec"]["dataSourceRef"] = json!({"kind": "PersistentVolumeClaim", "name": "other"});
        PersistentVolumeClaim.prepare_for_create(&context(), &mut object);
        assert_eq!(object["spec"]["dataSource"], json!({"kind": "PersistentVolumeClaim", "name": "other"}));
        let mut object = claim();
        object["spec"]["dataSource"] = json!({"kind": "Some", "name": "other", "apiGroup": "example.com"});
        PersistentVolumeClaim.prepare_for_create(&context(), &mut object);
        assert_eq!(object["spec"].get("dataSource"), None, "only claims and snapshots");
        object["spec"]["dataSource"] = json!({"kind": "PersistentVolumeClaim", "name": "a"});
        object["spec"]["dataSourceRef"] = json!({"kind": "PersistentVolumeClaim", "name": "b"});
        check(&PersistentVolumeClaim, object, &["spec: Invalid value: \"spec.dataSource\": must match dataSourceRef"]);
    }

    #[test]
    fn a_spec_is_kept_but_for_what_grows() {
        let immutable = "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        let with = |mut claim: Value, key: &str, value: Value| {
            claim["spec"][key] = value;
            claim
        };
        let size = |text: &str| json!({"requests": {"storage": text}});
        let check = |old: &Value, new: Value, expected: &[&str]| {
            check_update(&PersistentVolumeClaim, old.clone(), new, expected);
        };
        check(&claim(), with(claim(), "volumeName", "pv".into()), &[]);
        check(&claim(), with(claim(), "storageClassName", "fast".into()), &[]);
        check(&claim(), with(claim(), "resources", size("4Gi")), &[immutable]);
        check(&bound(), with(bound(), "resources", size("4Gi")), &[]);
        check(&bound(), with(bound(), "volumeAttributesClassName", "gold".into()), &[]);
        check(&bound(), with(bound(), "volumeName", "other".into()), &[immutable]);
        check(
            &bound(),
            with(bound(), "resources", size("1Gi")),
            &["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"],
        );
        check(
            &claim(),
            with(claim(), "volumeMode", "Block".into()),
            &[immutable, "volumeMode: Invalid value: \"Block\": field is immutable"],
        );
    }

    #[test]
    fn status_tells_of_storage() {
        let mut new = claim();
        new["status"] = json!({"capacity": {"storage": "-1"}, "allocatedResources": {"cpu": "1"},
            "allocatedResourceStatuses": {"storage": "Some"}});
        assert_eq!(
            texts(&crate::testing::update_errors(&PersistentVolumeClaim, "status", &new, &claim())),
            [
                "status.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
                "status.allocatedResourceStatuses: Unsupported value: \"storage\": supported values: \"ControllerResizeInProgress\", \"ControllerResizeInfeasible\", \"NodeResizeInProgress\", \"NodeResizeInfeasible\", \"NodeResizePending\"",
                "status.allocatedResources: Unsupported value: \"cpu\": supported values: \"storage\"",
            ]
        );
    }

    #[test]
    fn a_claim_shows_what_it_got() {
        assert_eq!(
            Value::from(cells("PersistentVolumeClaim", claim())),
            json!(["data", "Pending", "", "", "", "", "<unset>", "10m", "Filesystem"])
        );
        assert_eq!(
            Value::from(cells("PersistentVolumeClaim", bound())),
            json!(["data", "Bound", "pv", "2Gi", "RWO", "", "<unset>", "10m", "Filesystem"])
        );
    }
}
