//! PersistentVolume: the strategy of a piece of storage in the cluster.

use super::persistent_volume_claim::{class_of, storage_text};
use crate::names;
use crate::pod_spec::warnings::deprecated_node_label;
use crate::read::{Read, ReadNode, default_text, default_value, field_mut, remove, set};
use crate::validation::equality::{same_at, type_of};
use crate::validation::marks::{members_of, single_member};
use crate::validation::resources::round_up_to_milli;
use crate::validation::volume_source::{SourceOf, validate_source};
use crate::validation::volumes::{
    BETA_CLASS_ANNOTATION, access_modes_text, validate_access_modes, validate_basic_amount, validate_positive_quantity,
};
use crate::validation::{FIELD_IS_IMMUTABLE, each, shown, validate_immutable};
use crate::{Context, Strategy};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct PersistentVolume;

const MOUNT_OPTIONS_ANNOTATION: &str = "volume.beta.kubernetes.io/mount-options";

/// Sources whose mount options may be given by the old annotation.
const MOUNTABLE: &[&str] = &[
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

/// Sources that are only still there to be read.
const DEAD_SOURCES: &[(&str, &str, &str)] = &[
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

impl Strategy for PersistentVolume {
    fn default(&self, volume: &mut Value) {
        let Some(spec) = field_mut(volume, "spec") else { return };
        default_text(spec, "persistentVolumeReclaimPolicy", "Retain");
        default_value(spec, "volumeMode", "Filesystem");
        default_volume_spec(spec);
    }

    fn prepare_for_create(&self, context: &Context, volume: &mut Value) {
        set(volume, "status", json!({"phase": "Pending", "lastPhaseTransitionTime": moment(context)}));
    }

    fn validate(&self, volume: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let empty = json!({});
        let spec = volume.field("spec").unwrap_or(&empty);
        validate_volume_spec(&mut errors, spec, VolumeOf::Object(volume.name()), &Path::new("spec"));
        let takes_options = MOUNTABLE.iter().any(|key| spec.has(key));
        if !takes_options && volume.annotation(MOUNT_OPTIONS_ANNOTATION).is_some() {
            errors.push(Error::forbidden(
                &Path::new("metadata").child("annotations").child(MOUNT_OPTIONS_ANNOTATION),
                "may not specify mount options for this volume type",
            ));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = self.validate(new);
        validate_source_is_kept(&mut errors, new, old);
        validate_immutable(&mut errors, new, old, &["spec", "volumeMode"], &Path::new("volumeMode"));
        let affinity = new.field("spec").field("nodeAffinity");
        if old.field("spec").has("nodeAffinity") {
            let mut before = old.clone();
            rename_beta_labels(&mut before, affinity);
            if !same_at(new, &before, &["spec", "nodeAffinity"]) {
                let detail = format!("{FIELD_IS_IMMUTABLE}, except for updating from beta label to GA");
                errors.push(Error::invalid(&Path::new("nodeAffinity"), shown(affinity), detail));
            }
        }
        let class = "volumeAttributesClassName";
        if old.field("spec").has(class) && !new.field("spec").has(class) {
            let detail = "update from non-nil value to nil is forbidden";
            errors.push(Error::forbidden(&Path::new("spec").child(class), detail));
        }
        errors
    }

    /// A phase that changes leaves the time of it, unless the client says one itself.
    fn prepare_for_status_update(&self, context: &Context, new: &mut Value, old: &Value) {
        const TIME: &str = "lastPhaseTransitionTime";
        let (status, before) = (new.field("status"), old.field("status"));
        let same_phase = status.text("phase") == before.text("phase");
        let time = match (same_phase, status.field(TIME)) {
            (true, None) => before.field(TIME).cloned(),
            (false, None) => Some(moment(context).into()),
            (false, given) if given == before.field(TIME) => Some(moment(context).into()),
            _ => return,
        };
        if let (Some(time), Some(status)) = (time, field_mut(new, "status")) {
            set(status, TIME, time);
        }
    }

    fn warnings(&self, volume: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        let (spec, path) = (volume.field("spec"), Path::new("spec"));
        for (key, message) in [
            (BETA_CLASS_ANNOTATION, "deprecated since v1.8; use \"storageClassName\" attribute instead"),
            (MOUNT_OPTIONS_ANNOTATION, "deprecated since v1.31; use \"mountOptions\" attribute instead"),
        ] {
            if volume.annotation(key).is_some() {
                warnings.push(format!("{}: {message}", Path::new("metadata").child("annotations").key(key)));
            }
        }
        if spec.text("persistentVolumeReclaimPolicy") == "Recycle" {
            warnings.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.".to_owned());
        }
        let required = spec.field("nodeAffinity").field("required");
        let terms = path.child("nodeAffinity").child("required").child("nodeSelectorTerms");
        for (index, term) in required.list("nodeSelectorTerms").iter().enumerate() {
            for (number, expression) in term.list("matchExpressions").iter().enumerate() {
                let key = expression.text("key");
                if let Some(message) = deprecated_node_label(key) {
                    let path = terms.index(index).child("matchExpressions").index(number).child("key");
                    warnings.push(format!("{path}: {key} is {message}"));
                }
            }
        }
        for (key, shown, message) in DEAD_SOURCES {
            if spec.has(key) {
                warnings.push(format!("{}: {message}", path.child(shown)));
            }
        }
        warnings
    }

    fn computed_cells(&self, volume: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let (spec, status) = (volume.field("spec"), volume.field("status"));
        let claim = match spec.field("claimRef") {
            Some(claim) => format!("{}/{}", claim.text("namespace"), claim.text("name")),
            None => String::new(),
        };
        let phase = if volume.is_deleting() { "Terminating" } else { status.text("phase") };
        vec![
            storage_text(spec.field("capacity")).into(),
            access_modes_text(spec.list("accessModes")).into(),
            phase.into(),
            claim.into(),
            class_of(volume).into(),
        ]
    }
}

/// A moment as `meta/v1 Time` writes it, to the second.
fn moment(context: &Context) -> String {
    ferry_api::codec::time::format_seconds(context.now)
}

/// The defaults of a volume's spec wherever it stands.
pub(crate) fn default_volume_spec(spec: &mut Value) {
    round_up_to_milli(field_mut(spec, "capacity"));
}

/// Whose spec it is: a PersistentVolume's of this name, or one that a VolumeAttachment
/// carries for a volume that is no object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum VolumeOf<'a> {
    Object(&'a str),
    Attachment,
}

const INLINE: &str = "may not be specified in the context of inline volumes";

pub(crate) fn validate_volume_spec(errors: &mut ErrorList, spec: &Value, of: VolumeOf, path: &Path) {
    let inline = of == VolumeOf::Attachment;
    if inline {
        for key in ["claimRef", "capacity"] {
            if spec.has(key) {
                errors.push(Error::forbidden(&path.child(key), INLINE));
            }
        }
        if !spec.has("csi") {
            let detail = "has to be specified in the context of inline volumes";
            errors.push(Error::required(&path.child("csi"), detail));
        }
    }
    validate_access_modes(errors, spec.list("accessModes"), &path.child("accessModes"));
    if !inline {
        validate_capacity(errors, spec, &path.child("capacity"));
    }
    let (policy, at) = (spec.text("persistentVolumeReclaimPolicy"), path.child("persistentVolumeReclaimPolicy"));
    if inline && !matches!(policy, "" | "Retain") {
        errors.push(Error::forbidden(&at, "may only be Retain in the context of inline volumes"));
    }
    let affinity = spec.field("nodeAffinity");
    let affine = affinity.is_some() && !inline;
    if affinity.is_some() && inline {
        errors.push(Error::forbidden(&path.child("nodeAffinity"), INLINE));
    }
    let name = match of {
        VolumeOf::Object(name) => name,
        VolumeOf::Attachment => "",
    };
    let definition = type_of("core/v1", "PersistentVolumeSpec");
    if let Some((key, source)) = definition.and_then(|definition| single_member(definition, spec)) {
        let at = path.child(if key == "gcePersistentDisk" { "persistentDisk" } else { key });
        validate_source(errors, key, source, SourceOf::Volume, name, &at);
        match key {
            "csi" => validate_csi_secrets(errors, source, &at),
            "local" if !affine => {
                errors.push(Error::required(&path.child("nodeAffinity"), "Local volume requires node affinity"));
            }
            _ => {}
        }
    }
    if policy == "Recycle" && is_root(spec.field("hostPath").opt_text("path")) {
        errors.push(Error::forbidden(&at, "may not be 'recycle' for a hostPath mount of '/'"));
    }
    if inline && !spec.text("storageClassName").is_empty() {
        errors.push(Error::forbidden(&path.child("storageClassName"), INLINE));
    }
    if inline && spec.opt_text("volumeMode").is_some_and(|mode| mode != "Filesystem") {
        let detail = "may not specify volumeMode other than Filesystem in the context of inline volumes";
        errors.push(Error::forbidden(&path.child("volumeMode"), detail));
    }
    if let Some(class) = spec.opt_text("volumeAttributesClassName")
        && !inline
    {
        let at = path.child("volumeAttributesClassName");
        if class.is_empty() {
            errors.push(Error::required(&at, "an empty string is disallowed"));
        }
        if !spec.has("csi") {
            let detail = "has to be specified when using volumeAttributesClassName";
            errors.push(Error::required(&path.child("csi"), detail));
        }
    }
}

/// Every secret that a driver is given is named whole.
fn validate_csi_secrets(errors: &mut ErrorList, source: &Value, path: &Path) {
    for key in
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"]
    {
        let Some(secret) = source.field(key) else { continue };
        let (name, namespace) = (secret.text("name"), secret.text("namespace"));
        for (part, value, sentences) in [
            ("name", name, names::is_dns1123_subdomain(name)),
            ("namespace", namespace, names::is_dns1123_label(namespace)),
        ] {
            let path = path.child(key).child(part);
            if value.is_empty() {
                errors.push(Error::required(&path, ""));
            } else {
                each(errors, &path, value, sentences);
            }
        }
    }
}

fn validate_capacity(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let capacity = spec.entries("capacity");
    if capacity.is_empty() {
        errors.push(Error::required(path, ""));
    }
    if !capacity.contains_key("storage") || capacity.len() > 1 {
        errors.push(Error::not_supported(path, shown(spec.field("capacity")), &["storage"]));
    }
    for (name, value) in capacity {
        validate_basic_amount(errors, value, &path.key(name));
        validate_positive_quantity(errors, value, &path.key(name));
    }
}

/// Whether a path is `/` in any of the ways to write it.
fn is_root(path: Option<&str>) -> bool {
    path.is_some_and(|path| path.starts_with('/') && path.split('/').all(|part| matches!(part, "" | "." | "..")))
}

/// A volume's source never changes, but a driver may be given the secret for growing it
/// once it has none.
fn validate_source_is_kept(errors: &mut ErrorList, new: &Value, old: &Value) {
    let mut kept = new.clone();
    if !old.field("spec").field("csi").has("controllerExpandSecretRef")
        && let Some(csi) = field_mut(&mut kept, "spec").and_then(|spec| field_mut(spec, "csi"))
        && old.field("spec").has("csi")
    {
        remove(csi, "controllerExpandSecretRef");
    }
    let definition = type_of("core/v1", "PersistentVolumeSpec");
    if !definition.into_iter().flat_map(members_of).all(|key| same_at(&kept, old, &["spec", key])) {
        errors.push(Error::forbidden(
            &Path::new("spec").child("persistentvolumesource"),
            "spec.persistentvolumesource is immutable after creation",
        ));
    }
}

/// Gives the old requirements the names of the new ones where those are the same labels
/// under their final names.
fn rename_beta_labels(old: &mut Value, new: Option<&Value>) {
    const RENAMED: &[(&str, &str)] = &[
        ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
        ("beta.kubernetes.io/os", "kubernetes.io/os"),
        ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
        ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
        ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ];
    let terms = field_mut(old, "spec")
        .and_then(|spec| field_mut(spec, "nodeAffinity"))
        .and_then(|affinity| field_mut(affinity, "required"));
    let Some(terms) = terms else { return };
    let new_terms = new.field("required").list("nodeSelectorTerms");
    for (term, new_term) in crate::read::list_mut(terms, "nodeSelectorTerms").iter_mut().zip(new_terms) {
        for list in ["matchExpressions", "matchFields"] {
            for (rule, new_rule) in crate::read::list_mut(term, list).iter_mut().zip(new_term.list(list)) {
                if RENAMED.contains(&(rule.text("key"), new_rule.text("key"))) {
                    set(rule, "key", new_rule.text("key"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, context};

    fn volume() -> Value {
        json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"},
            "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"}},
        })
    }

    #[track_caller]
    fn check_spec(key: &str, value: Value, expected: &[&str]) {
        let mut object = volume();
        object["spec"][key] = value;
        check(&PersistentVolume, object, expected);
    }

    #[test]
    fn a_volume_has_a_size_and_modes() {
        check(&PersistentVolume, volume(), &[]);
        check_spec("accessModes", json!([]), &["spec.accessModes: Required value"]);
        check_spec(
            "capacity",
            json!({}),
            &["spec.capacity: Required value", "spec.capacity: Unsupported value: {}: supported values: \"storage\""],
        );
        check_spec(
            "capacity",
            json!({"storage": "-1"}),
            &[
                "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
                "spec.capacity[storage]: Invalid value: \"-1\": must be greater than zero",
            ],
        );
        check_spec(
            "persistentVolumeReclaimPolicy",
            "Some".into(),
            &[
                "spec.persistentVolumeReclaimPolicy: Unsupported value: \"Some\": supported values: \"Delete\", \"Recycle\", \"Retain\"",
            ],
        );
    }

    #[test]
    fn a_volume_has_one_source() {
        check_spec("hostPath", Value::Null, &["spec: Required value: must specify a volume type"]);
        check_spec(
            "nfs",
            json!({"server": "a", "path": "/"}),
            &["spec.nfs: Forbidden: may not specify more than 1 volume type"],
        );
        let mut object = volume();
        object["spec"]["hostPath"] = Value::Null;
        object["spec"]["local"] = json!({"path": "/data/.."});
        check(
            &PersistentVolume,
            object,
            &[
                "spec.local.path: Invalid value: \"/data/..\": must not contain '..'",
                "spec.nodeAffinity: Required value: Local volume requires node affinity",
            ],
        );
        let mut object = volume();
        object["spec"]["hostPath"] = Value::Null;
        object["spec"]["csi"] = json!({"driver": "d", "nodePublishSecretRef": {"name": "S"}});
        check(
            &PersistentVolume,
            object,
            &[
                "spec.csi.volumeHandle: Required value",
                "spec.csi.nodePublishSecretRef.name: Invalid value: \"S\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
                "spec.csi.nodePublishSecretRef.namespace: Required value",
            ],
        );
        let mut object = volume();
        object["spec"]["hostPath"] = Value::Null;
        object["spec"]["iscsi"] =
            json!({"targetPortal": "1.2.3.4", "iqn": "iqn.2001-04.com.example:storage", "lun": 0});
        check(&PersistentVolume, object.clone(), &[]);
        object["spec"]["iscsi"]["iqn"] = "iqn.bad".into();
        check(&PersistentVolume, object, &["spec.iscsi.iqn: Invalid value: \"iqn.bad\": must be valid format"]);
    }

    #[test]
    fn what_holds_the_data_never_changes() {
        let mut new = volume();
        new["spec"]["hostPath"]["path"] = "/other".into();
        new["spec"]["volumeMode"] = "Block".into();
        check_update(
            &PersistentVolume,
            volume(),
            new,
            &[
                "spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation",
                "volumeMode: Invalid value: \"Block\": field is immutable",
            ],
        );
        let affinity = |key: &str| {
            let mut object = volume();
            object["spec"]["nodeAffinity"] = json!({"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": key, "operator": "In", "values": ["a"]}]}]}});
            object
        };
        let (beta, stable) = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
        check_update(&PersistentVolume, affinity(beta), affinity(stable), &[]);
        check_update(&PersistentVolume, volume(), affinity(stable), &[]);
        check_update(
            &PersistentVolume,
            affinity(stable),
            affinity("zone"),
            &[
                "nodeAffinity: Invalid value: {\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"a\"]}]}]}}: field is immutable, except for updating from beta label to GA",
            ],
        );
    }

    #[test]
    fn a_phase_has_the_time_it_began() {
        let mut old = volume();
        PersistentVolume.prepare_for_create(&context(), &mut old);
        assert_eq!(old["status"], json!({"phase": "Pending", "lastPhaseTransitionTime": "2026-01-01T00:10:00Z"}));
        old["status"]["lastPhaseTransitionTime"] = "2025-01-01T00:00:00Z".into();
        let mut new = old.clone();
        new["status"] = json!({"phase": "Pending"});
        PersistentVolume.prepare_for_status_update(&context(), &mut new, &old);
        assert_eq!(new["status"]["lastPhaseTransitionTime"], "2025-01-01T00:00:00Z");
        new["status"]["phase"] = "Available".into();
        PersistentVolume.prepare_for_status_update(&context(), &mut new, &old);
        assert_eq!(new["status"]["lastPhaseTransitionTime"], "2026-01-01T00:10:00Z");
    }

    #[test]
    fn a_volume_shows_whose_it_is() {
        let mut object = volume();
        object["spec"]["claimRef"] = json!({"namespace": "default", "name": "data"});
        object["spec"]["storageClassName"] = "fast".into();
        object["status"] = json!({"phase": "Bound"});
        assert_eq!(
            Value::from(cells("PersistentVolume", object)),
            json!(["pv", "1Gi", "RWO", "Retain", "Bound", "default/data", "fast", "<unset>", "", "10m", "Filesystem"])
        );
        let mut object = volume();
        object["spec"]["persistentVolumeReclaimPolicy"] = "Recycle".into();
        object["spec"]["rbd"] = json!({});
        assert_eq!(
            PersistentVolume.warnings(&object, None),
            [
                "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.",
                "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
            ]
        );
    }
}
