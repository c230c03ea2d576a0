//! The volumes of a pod and where containers mount them.

use super::projected::validate_projected;
use crate::names;
use crate::read::Read;
use crate::validation::each;
use crate::validation::equality::type_of;
use crate::validation::labels::{validate_annotations, validate_labels};
use crate::validation::marks::{single_member, validate_marks};
use crate::validation::resources::quantity;
use crate::validation::volume_source::{SourceOf, validate_source};
use crate::validation::volumes::validate_claim_spec;
use ferry_api::field::{Error, ErrorList, Path};
use regex::Regex;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The volumes that containers can mount, by name.
pub(crate) type Volumes<'a> = HashMap<&'a str, &'a Value>;

/// Checks every volume and gives those that are good enough to be mounted.
pub(crate) fn validate_volumes<'a>(
    errors: &mut ErrorList,
    spec: &'a Value,
    pod_name: Option<&str>,
    context: super::validate::SpecOf,
    path: &Path,
) -> Volumes<'a> {
    let volumes = spec.list("volumes");
    let mut known = Volumes::new();
    let created_claims: HashSet<String> = match pod_name {
        Some(pod) if !pod.is_empty() => {
            let ephemeral = volumes.iter().filter(|volume| volume.has("ephemeral"));
            ephemeral.map(|volume| format!("{pod}-{}", volume.text("name"))).collect()
        }
        _ => HashSet::new(),
    };
    let definition = type_of("core/v1", "Volume");
    for (index, volume) in volumes.iter().enumerate() {
        let (path, name) = (path.index(index), volume.text("name"));
        let before = errors.len();
        if let Some(definition) = definition {
            validate_marks(errors, definition, volume, &path);
            let source = single_member(definition, volume);
            validate_pod_source(errors, source, name, pod_name, context, &path);
        }
        if known.contains_key(name) {
            errors.push(Error::duplicate(&path.child("name"), name));
        }
        if errors.len() == before {
            known.insert(name, volume);
        }
        let claim = volume.field("persistentVolumeClaim").text("claimName");
        if created_claims.contains(claim) {
            errors.push(Error::invalid(
                &path.child("persistentVolumeClaim").child("claimName"),
                claim,
                "must not reference a PVC that gets created for an ephemeral volume",
            ));
        }
    }
    known
}

fn validate_pod_source(
    errors: &mut ErrorList,
    source: Option<(&str, &Value)>,
    name: &str,
    pod_name: Option<&str>,
    context: super::validate::SpecOf,
    path: &Path,
) {
    let Some((key, source)) = source else { return };
    let at = path.child(key);
    validate_source(errors, key, source, SourceOf::Pod, name, &at);
    match key {
        "emptyDir" => {
            let size = source.field("sizeLimit").and_then(quantity);
            if size.is_some_and(|size| size.is_negative()) {
                let detail = "SizeLimit field must be a valid resource quantity";
                errors.push(Error::forbidden(&at.child("sizeLimit"), detail));
            }
        }
        "configMap" if source.text("name").is_empty() => {
            errors.push(Error::required(&at.child("name"), ""));
        }
        "downwardAPI" => {
            for file in source.list("items") {
                super::env::validate_downward_file(errors, file, &at);
            }
        }
        "projected" => validate_projected(errors, source, &at),
        "csi" => validate_csi(errors, source, &at),
        "ephemeral" => validate_ephemeral(errors, source, name, pod_name, path),
        "image" if context == super::validate::SpecOf::Pod && source.text("reference").is_empty() => {
            errors.push(Error::required(&at.child("reference"), ""));
        }
        _ => {}
    }
}

fn validate_csi(errors: &mut ErrorList, source: &Value, path: &Path) {
    if let Some(secret) = source.field("nodePublishSecretRef") {
        let name = secret.text("name");
        if name.is_empty() {
            errors.push(Error::required(&path.child("nodePublishSecretRef").child("name"), ""));
        } else {
            each(errors, &path.child("name"), name, names::dns1123_subdomain(name, false));
        }
    }
}

fn validate_ephemeral(errors: &mut ErrorList, source: &Value, volume: &str, pod: Option<&str>, path: &Path) {
    let at = path.child("ephemeral").child("volumeClaimTemplate");
    let Some(template) = source.field("volumeClaimTemplate") else { return };
    let metadata = template.field("metadata");
    validate_annotations(errors, metadata.entries("annotations"), &at.child("metadata").child("annotations"));
    validate_labels(errors, metadata.entries("labels"), &at.child("metadata").child("labels"));
    if let Some(Value::Object(fields)) = metadata {
        let is_set = |value: &Value| !value.is_null() && *value != "" && *value != 0;
        let others =
            fields.iter().filter(|(key, value)| !matches!(key.as_str(), "annotations" | "labels") && is_set(value));
        for (key, _) in others {
            errors.push(Error::forbidden(&at.child("metadata").child(key), "cannot be set"));
        }
    }
    validate_claim_spec(errors, template.field("spec"), &at.child("spec"));
    if let Some(pod) = pod
        && !pod.is_empty()
        && !volume.is_empty()
    {
        let claim = format!("{pod}-{volume}");
        for sentence in names::dns1123_subdomain(&claim, false) {
            errors.push(Error::invalid(&path.child("name"), volume, format!("PVC name {claim:?}: {sentence}")));
        }
    }
}

/// The three ways in which iSCSI names its parties (RFC 3720).
pub(crate) fn is_iscsi_name(name: &str) -> bool {
    static FORMS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^iqn\.\d{4}-\d{2}\.([[:alnum:]\-.]+)(:[^,;*&$|\s]+)$|^eui.[[:alnum:]]{16}$|^naa.[[:alnum:]]{32}$")
            .expect("a fixed expression")
    });
    FORMS.is_match(name)
}

/// Not absolute, and no part of it is `..`.
pub(crate) fn validate_descending_path(errors: &mut ErrorList, target: &str, path: &Path) {
    if target.starts_with('/') {
        errors.push(Error::invalid(path, target, "must be a relative path"));
    }
    validate_no_backsteps(errors, target, path);
}

pub(crate) fn validate_no_backsteps(errors: &mut ErrorList, target: &str, path: &Path) {
    if target.split('/').any(|part| part == "..") {
        errors.push(Error::invalid(path, target, "must not contain '..'"));
    }
}

/// A descending path that does not even begin with `..`, which the kubelet keeps for itself.
pub(crate) fn validate_local_path(errors: &mut ErrorList, target: &str, path: &Path) {
    validate_descending_path(errors, target, path);
    if target.starts_with("..") && !target.starts_with("../") {
        errors.push(Error::invalid(path, target, "must not start with '..'"));
    }
}

pub(crate) fn validate_mounts(errors: &mut ErrorList, container: &Value, volumes: &Volumes, path: &Path) {
    let devices = container.list("volumeDevices");
    let mut mount_paths = HashSet::new();
    for (index, mount) in container.list("volumeMounts").iter().enumerate() {
        let at = path.index(index);
        let (name, mount_path) = (mount.text("name"), mount.text("mountPath"));
        if !volumes.contains_key(name) {
            errors.push(Error::not_found(&at.child("name"), name));
        }
        if !mount_paths.insert(mount_path) {
            errors.push(Error::invalid(&at.child("mountPath"), mount_path, "must be unique"));
        }
        if devices.iter().any(|device| device.text("name") == name) {
            errors.push(Error::invalid(&at.child("name"), name, "must not already exist in volumeDevices"));
        }
        if devices.iter().any(|device| device.text("devicePath") == mount_path) {
            let detail = "must not already exist as a path in volumeDevices";
            errors.push(Error::invalid(&at.child("mountPath"), mount_path, detail));
        }
        // Upstream reports what follows at the list, not at its item.
        let (sub_path, expression) = (mount.text("subPath"), mount.text("subPathExpr"));
        validate_descending_path(errors, sub_path, &path.child("subPath"));
        if !expression.is_empty() {
            if !sub_path.is_empty() {
                let detail = "subPathExpr and subPath are mutually exclusive";
                errors.push(Error::invalid(&at.child("subPathExpr"), expression, detail));
            }
            validate_descending_path(errors, expression, &path.child("subPathExpr"));
        }
        validate_propagation(errors, mount, container, path);
    }
}

fn validate_propagation(errors: &mut ErrorList, mount: &Value, container: &Value, path: &Path) {
    let propagation = mount.opt_text("mountPropagation");
    if let Some(mode) = propagation {
        let path = path.child("mountPropagation");
        let supported = ["Bidirectional", "HostToContainer", "None"];
        if !supported.contains(&mode) {
            errors.push(Error::not_supported(&path, mode, &supported));
        }
        if mode == "Bidirectional" && !container.field("securityContext").flag("privileged") {
            errors.push(Error::forbidden(
                &path,
                "Bidirectional mount propagation is available only to privileged containers",
            ));
        }
    }
    let path = path.child("recursiveReadOnly");
    match mount.opt_text("recursiveReadOnly") {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !mount.flag("readOnly") {
                errors.push(Error::forbidden(&path, "may only be specified when readOnly is true"));
            }
            if propagation.is_some_and(|mode| mode != "None") {
                errors.push(Error::forbidden(
                    &path,
                    "may only be specified when mountPropagation is None or not specified",
                ));
            }
        }
        Some(other) => errors.push(Error::not_supported(&path, other, &["Disabled", "Enabled", "IfPossible"])),
    }
}

pub(crate) fn validate_devices(errors: &mut ErrorList, container: &Value, volumes: &Volumes, path: &Path) {
    let mounts = container.list("volumeMounts");
    let (mut names, mut paths) = (HashSet::new(), HashSet::new());
    for (index, device) in container.list("volumeDevices").iter().enumerate() {
        let at = path.index(index);
        let (name, device_path) = (device.text("name"), device.text("devicePath"));
        if !name.is_empty() && !names.insert(name) {
            errors.push(Error::invalid(&at.child("name"), name, "must be unique"));
        }
        match volumes.get(name) {
            None => errors.push(Error::not_found(&at.child("name"), name)),
            Some(volume) if !volume.has("persistentVolumeClaim") && !volume.has("ephemeral") => {
                errors.push(Error::invalid(
                    &at.child("name"),
                    name,
                    "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
                ));
            }
            Some(_) => {}
        }
        if paths.contains(device_path) {
            errors.push(Error::invalid(&at.child("devicePath"), device_path, "must be unique"));
        }
        if device_path.split('/').any(|part| part == "..") {
            errors.push(Error::invalid(&at.child("devicePath"), device_path, "can not contain backsteps ('..')"));
        } else {
            paths.insert(device_path);
        }
        if mounts.iter().any(|mount| mount.text("name") == name) {
            errors.push(Error::invalid(&at.child("name"), name, "must not already exist in volumeMounts"));
        }
        if mounts.iter().any(|mount| mount.text("mountPath") == device_path) {
            let detail = "must not already exist as a path in volumeMounts";
            errors.push(Error::invalid(&at.child("devicePath"), device_path, detail));
        }
    }
}
