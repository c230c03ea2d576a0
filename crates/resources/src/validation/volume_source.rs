//! Where the storage of a volume comes from: the rules of each source that the marks of the
//! facts do not state. Pods, PersistentVolumes and the volumes that a VolumeAttachment carries
//! in itself have the same sources.

use crate::names;
use crate::read::Read;
use crate::validation::each;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

/// The owner of the source: a pod's secrets are in its namespace, a volume's name theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceOf {
    Pod,
    Volume,
}

/// `key` is the field that holds the source.
pub(crate) fn validate_source(
    errors: &mut ErrorList,
    key: &str,
    source: &Value,
    of: SourceOf,
    name: &str,
    path: &Path,
) {
    match key {
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
        "quobyte" => validate_quobyte(errors, source, path),
        "iscsi" => validate_iscsi(errors, source, name, path),
        "cinder" | "storageos" => validate_secret_is_named(errors, source, of, path),
        "fc" => validate_fibre_channel(errors, source, path),
        "flexVolume" => validate_flex_options(errors, source, path),
        "azureFile" if source.opt_text("secretNamespace") == Some("") => {
            errors.push(Error::required(&path.child("secretNamespace"), ""));
        }
        "azureDisk" => validate_azure_disk(errors, source, path),
        _ => {}
    }
}

fn validate_secret_is_named(errors: &mut ErrorList, source: &Value, of: SourceOf, path: &Path) {
    let Some(secret) = source.field("secretRef") else { return };
    let keys: &[&str] = if of == SourceOf::Pod { &["name"] } else { &["name", "namespace"] };
    for key in keys.iter().filter(|key| secret.text(key).is_empty()) {
        errors.push(Error::required(&path.child("secretRef").child(key), ""));
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
    let registry = source.text("registry");
    if registry.is_empty() {
        return;
    }
    if source.text("tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.push(Error::required(&path.child("tenant"), detail));
        return;
    }
    let is_pair =
        |pair: &str| matches!(pair.rsplit_once(':'), Some((host, _)) if !host.contains(':') || host.ends_with(']'));
    for _ in registry.split(',').filter(|pair| !is_pair(pair)) {
        let detail = "must be a host:port pair or multiple pairs separated by commas";
        errors.push(Error::invalid(&path.child("registry"), registry, detail));
    }
}

fn validate_iscsi(errors: &mut ErrorList, source: &Value, name: &str, path: &Path) {
    let portal = source.text("targetPortal");
    if source.has("initiatorName") && name.len() + 1 + portal.len() > 64 {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
        errors.push(Error::invalid(&path.child("targetportal"), portal, detail));
    }
    let secret = source.field("secretRef");
    if (source.flag("chapAuthDiscovery") || source.flag("chapAuthSession")) && secret.is_none() {
        errors.push(Error::required(&path.child("secretRef"), ""));
    }
    if secret.is_some() && secret.text("name").is_empty() {
        errors.push(Error::required(&path.child("secretRef").child("name"), ""));
    }
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
