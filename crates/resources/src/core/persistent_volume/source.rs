//! Where the storage of a volume comes from: the rules of each source, in the order in
//! which upstream looks for them. Called for PersistentVolumes and for the volumes that a
//! VolumeAttachment carries in itself.

use crate::names;
use crate::pod_spec::volume::{validate_host_path, validate_no_backsteps};
use crate::read::Read;
use crate::validation::each;
use crate::validation::facts::validate_required_of;
use crate::validation::volumes::validate_csi_driver_name;
use ferry_api::field::{Error, ErrorList, Path};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Every source, and what an error calls it when it is one too many.
pub const SOURCES: &[(&str, &str)] = &[
    ("hostPath", "hostPath"),
    ("gcePersistentDisk", "gcePersistentDisk"),
    ("awsElasticBlockStore", "awsElasticBlockStore"),
    ("glusterfs", "glusterfs"),
    ("flocker", "flocker"),
    ("nfs", "nfs"),
    ("rbd", "rbd"),
    ("quobyte", "quobyte"),
    ("cephfs", "cephFS"),
    ("iscsi", "iscsi"),
    ("cinder", "cinder"),
    ("fc", "fc"),
    ("flexVolume", "flexVolume"),
    ("azureFile", "azureFile"),
    ("vsphereVolume", "vsphereVolume"),
    ("photonPersistentDisk", "photonPersistentDisk"),
    ("portworxVolume", "portworxVolume"),
    ("azureDisk", "azureDisk"),
    ("scaleIO", "scaleIO"),
    ("local", "local"),
    ("storageos", "storageos"),
    ("csi", "csi"),
];

/// Exactly one source, and that one complete. `affine` says whether the volume names
/// the nodes it is on, without which a local one is nowhere.
pub fn validate_source(errors: &mut ErrorList, spec: &Value, volume_name: &str, affine: bool, path: &Path) {
    let mut count = 0;
    for (key, shown) in SOURCES {
        let Some(source) = spec.field(key) else { continue };
        // Upstream never refuses a FlexVolume beside another.
        if count > 0 && *key != "flexVolume" {
            errors.push(Error::forbidden(&path.child(shown), "may not specify more than 1 volume type"));
            continue;
        }
        count += 1;
        // Upstream reports this one disk under another name.
        let at = path.child(if *key == "gcePersistentDisk" { "persistentDisk" } else { key });
        // These check more of a required field than that it is there.
        if !matches!(*key, "hostPath" | "local" | "quobyte" | "iscsi" | "csi") {
            validate_required_of(errors, "PersistentVolumeSpec", key, source, &at);
        }
        validate_one(errors, key, source, volume_name, &at);
        if *key == "local" && !affine {
            errors.push(Error::required(&path.child("nodeAffinity"), "Local volume requires node affinity"));
        }
    }
    if count == 0 {
        errors.push(Error::required(path, "must specify a volume type"));
    }
}

fn validate_one(errors: &mut ErrorList, key: &str, source: &Value, volume_name: &str, path: &Path) {
    match key {
        "hostPath" => validate_host_path(errors, source, path),
        "local" => {
            let target = source.text("path");
            if target.is_empty() {
                errors.push(Error::required(&path.child("path"), ""));
            } else {
                validate_no_backsteps(errors, target, &path.child("path"));
            }
        }
        "gcePersistentDisk" | "awsElasticBlockStore" => {
            let partition = source.int("partition");
            if !(0..=255).contains(&partition) {
                errors.push(Error::invalid(&path.child("partition"), partition, names::inclusive_range(1, 255)));
            }
        }
        "glusterfs" => match source.opt_text("endpointsNamespace") {
            Some("") => {
                let detail = "if the endpointnamespace is set, it must be a valid namespace name";
                errors.push(Error::invalid(&path.child("endpointsNamespace"), "", detail));
            }
            Some(namespace) => {
                let sentences = names::dns1123_label(namespace, false);
                each(errors, &path.child("endpointsNamespace"), namespace, sentences);
            }
            None => {}
        },
        "flocker" => validate_flocker(errors, source, path),
        "nfs" => {
            let target = source.text("path");
            if !target.starts_with('/') {
                errors.push(Error::invalid(&path.child("path"), target, "must be an absolute path"));
            }
        }
        "quobyte" => validate_quobyte(errors, source, path),
        "iscsi" => validate_iscsi(errors, source, volume_name, path),
        "cinder" => validate_secret_is_named(errors, source, path),
        "fc" => validate_fibre_channel(errors, source, path),
        "flexVolume" => validate_flex_options(errors, source, path),
        "azureFile" if source.opt_text("secretNamespace") == Some("") => {
            errors.push(Error::required(&path.child("secretNamespace"), ""));
        }
        "scaleIO" if source.text("volumeName").is_empty() => {
            errors.push(Error::required(&path.child("volumeName"), ""));
        }
        "azureDisk" => validate_azure_disk(errors, source, path),
        "storageos" => validate_storage_os(errors, source, path),
        "csi" => validate_csi(errors, source, path),
        _ => {}
    }
}

fn validate_csi(errors: &mut ErrorList, source: &Value, path: &Path) {
    validate_csi_driver_name(errors, source.text("driver"), &path.child("driver"));
    if source.text("volumeHandle").is_empty() {
        errors.push(Error::required(&path.child("volumeHandle"), ""));
    }
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

fn validate_secret_is_named(errors: &mut ErrorList, source: &Value, path: &Path) {
    if let Some(secret) = source.field("secretRef") {
        for key in ["name", "namespace"] {
            if secret.text(key).is_empty() {
                errors.push(Error::required(&path.child("secretRef").child(key), ""));
            }
        }
    }
}

fn validate_flocker(errors: &mut ErrorList, source: &Value, path: &Path) {
    let (name, uuid) = (source.text("datasetName"), source.text("datasetUUID"));
    match (name.is_empty(), uuid.is_empty()) {
        (true, true) => errors.push(Error::required(path, "one of datasetName and datasetUUID is required")),
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.push(Error::invalid(path, "resource", detail));
        }
        _ => {}
    }
    if name.contains('/') {
        errors.push(Error::invalid(&path.child("datasetName"), name, "must not contain '/'"));
    }
}

fn validate_quobyte(errors: &mut ErrorList, source: &Value, path: &Path) {
    let (registry, at) = (source.text("registry"), path.child("registry"));
    let detail = "must be a host:port pair or multiple pairs separated by commas";
    if registry.is_empty() {
        errors.push(Error::required(&at, detail));
    } else if source.text("tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(Error::required(&path.child("tenant"), detail));
    } else {
        let is_pair =
            |pair: &str| matches!(pair.rsplit_once(':'), Some((host, _)) if !host.contains(':') || host.ends_with(']'));
        for _ in registry.split(',').filter(|pair| !is_pair(pair)) {
            errors.push(Error::invalid(&at, registry, detail));
        }
    }
    if source.text("volume").is_empty() {
        errors.push(Error::required(&path.child("volume"), ""));
    }
}

fn validate_iscsi(errors: &mut ErrorList, source: &Value, volume_name: &str, path: &Path) {
    let (portal, iqn, initiator) = (source.text("targetPortal"), source.text("iqn"), source.opt_text("initiatorName"));
    if portal.is_empty() {
        errors.push(Error::required(&path.child("targetPortal"), ""));
    }
    if initiator.is_some() && volume_name.len() + 1 + portal.len() > 64 {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
        errors.push(Error::invalid(&path.child("targetportal"), portal, detail));
    }
    if iqn.is_empty() {
        errors.push(Error::required(&path.child("iqn"), ""));
    } else if !is_iscsi_name(iqn) {
        errors.push(Error::invalid(&path.child("iqn"), iqn, "must be valid format"));
    }
    let lun = source.int("lun");
    if !(0..=255).contains(&lun) {
        errors.push(Error::invalid(&path.child("lun"), lun, names::inclusive_range(0, 255)));
    }
    let secret = source.field("secretRef");
    if (source.flag("chapAuthDiscovery") || source.flag("chapAuthSession")) && secret.is_none() {
        errors.push(Error::required(&path.child("secretRef"), ""));
    }
    if secret.is_some() && secret.text("name").is_empty() {
        errors.push(Error::required(&path.child("secretRef").child("name"), ""));
    }
    if let Some(initiator) = initiator
        && !is_iscsi_name(initiator)
    {
        errors.push(Error::invalid(&path.child("initiatorname"), initiator, "must be valid format"));
    }
}

/// The three ways in which iSCSI names its parties (RFC 3720).
fn is_iscsi_name(name: &str) -> bool {
    static FORMS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^iqn\.\d{4}-\d{2}\.([[:alnum:]\-.]+)(:[^,;*&$|\s]+)$|^eui.[[:alnum:]]{16}$|^naa.[[:alnum:]]{32}$")
            .expect("a fixed expression")
    });
    FORMS.is_match(name)
}

fn validate_fibre_channel(errors: &mut ErrorList, source: &Value, path: &Path) {
    let (ports, ids) = (source.list("targetWWNs"), source.list("wwids"));
    let at = path.child("targetWWNs");
    if ports.is_empty() && ids.is_empty() {
        errors.push(Error::required(&at, "must specify either targetWWNs or wwids, but not both"));
    }
    if !ports.is_empty() && !ids.is_empty() {
        let detail = "targetWWNs and wwids can not be specified simultaneously";
        errors.push(Error::invalid(&at, Value::from(ports), detail));
    }
    if !ports.is_empty() {
        match source.opt_int("lun") {
            None => errors.push(Error::required(&path.child("lun"), "lun is required if targetWWNs is specified")),
            Some(lun) if !(0..=255).contains(&lun) => {
                errors.push(Error::invalid(&path.child("lun"), lun, names::inclusive_range(0, 255)));
            }
            Some(_) => {}
        }
    }
}

fn validate_flex_options(errors: &mut ErrorList, source: &Value, path: &Path) {
    for key in source.entries("options").keys() {
        let namespace = key.split_once('/').map_or(key.as_str(), |(namespace, _)| namespace).to_lowercase();
        if [".kubernetes.io", ".k8s.io"].iter().any(|reserved| format!(".{namespace}").ends_with(reserved)) {
            let detail = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(Error::invalid(&path.child("options").key(key), key.as_str(), detail));
        }
    }
}

fn validate_azure_disk(errors: &mut ErrorList, source: &Value, path: &Path) {
    let choices: [(&str, &[&str]); 2] =
        [("cachingMode", &["None", "ReadOnly", "ReadWrite"]), ("kind", &["Dedicated", "Managed", "Shared"])];
    for (key, supported) in choices {
        if let Some(value) = source.opt_text(key)
            && !supported.contains(&value)
        {
            errors.push(Error::not_supported(&path.child(key), value, supported));
        }
    }
    let (uri, at) = (source.text("diskURI"), path.child("diskURI"));
    match source.opt_text("kind") {
        Some("Managed") if !uri.starts_with("/subscriptions/") => {
            let form =
                "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
            errors.push(Error::not_supported(&at, uri, &[form]));
        }
        Some(kind) if kind != "Managed" && !uri.starts_with("https://") => {
            let form = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";
            errors.push(Error::not_supported(&at, uri, &[form]));
        }
        _ => {}
    }
}

fn validate_storage_os(errors: &mut ErrorList, source: &Value, path: &Path) {
    let (name, namespace) = (source.text("volumeName"), source.text("volumeNamespace"));
    if name.is_empty() {
        errors.push(Error::required(&path.child("volumeName"), ""));
    } else {
        each(errors, &path.child("volumeName"), name, names::is_dns1123_label(name));
    }
    if !namespace.is_empty() {
        each(errors, &path.child("volumeNamespace"), namespace, names::is_dns1123_label(namespace));
    }
    validate_secret_is_named(errors, source, path);
}
