//! Environment variables and where their values come from.

use crate::names;
use crate::read::Read;
use crate::validation::each;
use crate::validation::resources::quantity;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

/// What a variable may take from its pod.
const ENV_FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// What a file of a downward API volume may take from its pod.
pub(crate) const VOLUME_FIELDS: &[&str] =
    &["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// Every field path that upstream can convert at all; the lists above narrow it further.
const CONVERTIBLE: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

const RESOURCE_FIELDS: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

pub(crate) fn validate_env(errors: &mut ErrorList, variables: &[Value], path: &Path) {
    for (index, variable) in variables.iter().enumerate() {
        if let Some(source) = variable.field("valueFrom") {
            validate_value_from(errors, source, variable.text("value"), &path.index(index).child("valueFrom"));
        }
    }
}

fn validate_value_from(errors: &mut ErrorList, source: &Value, value: &str, path: &Path) {
    let mut sources = 0;
    if let Some(reference) = source.field("fieldRef") {
        sources += 1;
        validate_field_ref(errors, reference, ENV_FIELDS, &path.child("fieldRef"));
    }
    if let Some(reference) = source.field("resourceFieldRef") {
        sources += 1;
        validate_resource_field_ref(errors, reference, ResourceFieldIn::Env, &path.child("resourceFieldRef"));
    }
    for key in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(reference) = source.field(key) {
            sources += 1;
            let name = reference.text("name");
            each(errors, &path.child(key).child("name"), name, names::dns1123_subdomain(name, false));
        }
    }
    sources += usize::from(source.has("fileKeyRef"));
    let detail = match sources {
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
        _ if !value.is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.push(Error::invalid(path, "", detail));
}

/// A reference to a field of the pod, perhaps to one label: `metadata.labels['app']`.
pub(crate) fn validate_field_ref(errors: &mut ErrorList, reference: &Value, allowed: &[&str], path: &Path) {
    if reference.text("apiVersion").is_empty() {
        errors.push(Error::required(&path.child("apiVersion"), ""));
        return;
    }
    let field = reference.text("fieldPath");
    if field.is_empty() {
        errors.push(Error::required(&path.child("fieldPath"), ""));
        return;
    }
    let version = reference.text("apiVersion");
    if version != "v1" {
        errors.push(Error::invalid(
            &path.child("fieldPath"),
            field,
            format!("error converting fieldPath: unsupported pod version: {version}"),
        ));
        return;
    }
    if let Some((field, subscript)) = split_subscript(field) {
        match field {
            "metadata.annotations" => {
                each(errors, path, subscript, names::is_qualified_name(&subscript.to_lowercase()))
            }
            "metadata.labels" => each(errors, path, subscript, names::is_qualified_name(subscript)),
            _ => errors.push(Error::invalid(
                &path.child("fieldPath"),
                reference.text("fieldPath"),
                format!(
                    "error converting fieldPath: field label does not support subscript: {}",
                    reference.text("fieldPath")
                ),
            )),
        }
    } else if !CONVERTIBLE.contains(&field) {
        errors.push(Error::invalid(
            &path.child("fieldPath"),
            field,
            format!("error converting fieldPath: field label not supported: {field}"),
        ));
    } else if !allowed.contains(&field) {
        errors.push(Error::not_supported(&path.child("fieldPath"), field, allowed));
    }
}

/// `metadata.labels['app']` gives (`metadata.labels`, `app`).
fn split_subscript(field: &str) -> Option<(&str, &str)> {
    let (path, rest) = field.strip_suffix("']")?.split_once("['")?;
    (!path.is_empty()).then_some((path, rest))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResourceFieldIn {
    Env,
    /// A volume belongs to the pod, so it must say which container it means.
    Volume,
}

pub(crate) fn validate_resource_field_ref(
    errors: &mut ErrorList,
    reference: &Value,
    place: ResourceFieldIn,
    path: &Path,
) {
    let resource = reference.text("resource");
    let is_huge = resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
    if place == ResourceFieldIn::Volume && reference.text("containerName").is_empty() {
        errors.push(Error::required(&path.child("containerName"), ""));
    } else if resource.is_empty() {
        errors.push(Error::required(&path.child("resource"), ""));
    } else if !RESOURCE_FIELDS.contains(&resource) && !is_huge {
        errors.push(Error::not_supported(&path.child("resource"), resource, RESOURCE_FIELDS));
    }
    let Some(divisor) = reference.field("divisor").and_then(quantity) else { return };
    let divisor = divisor.to_string();
    if divisor == "0" {
        return;
    }
    let in_bytes = matches!(
        divisor.as_str(),
        "1" | "1k" | "1M" | "1G" | "1T" | "1P" | "1E" | "1Ki" | "1Mi" | "1Gi" | "1Ti" | "1Pi" | "1Ei"
    );
    let bytes = "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the";
    let detail = match resource {
        "limits.cpu" | "requests.cpu" if !matches!(divisor.as_str(), "1m" | "1") => {
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned()
        }
        "limits.memory" | "requests.memory" if !in_bytes => format!("{bytes} memory resource"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" if !in_bytes => {
            format!("{bytes} local ephemeral storage resource")
        }
        _ if is_huge && !in_bytes => format!("{bytes} hugepages resource"),
        _ => return,
    };
    errors.push(Error::invalid(&path.child("divisor"), resource, detail));
}

pub(crate) fn validate_env_from(errors: &mut ErrorList, sources: &[Value], path: &Path) {
    for (index, source) in sources.iter().enumerate() {
        let at = path.index(index);
        let mut count = 0;
        for key in ["configMapRef", "secretRef"] {
            let Some(reference) = source.field(key) else { continue };
            count += 1;
            let (name, at) = (reference.text("name"), at.child(key).child("name"));
            if name.is_empty() {
                errors.push(Error::required(&at, ""));
            } else {
                each(errors, &at, name, names::dns1123_subdomain(name, true));
            }
        }
        // Upstream reports these two at the list, not at its item.
        match count {
            0 => errors.push(Error::invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")),
            1 => {}
            _ => errors.push(Error::invalid(path, "", "may not have more than one field specified at a time")),
        }
    }
}

/// One file of a downward API volume.
pub(crate) fn validate_downward_file(errors: &mut ErrorList, file: &Value, path: &Path) {
    match (file.field("fieldRef"), file.field("resourceFieldRef")) {
        (Some(reference), other) => {
            validate_field_ref(errors, reference, VOLUME_FIELDS, &path.child("fieldRef"));
            if other.is_some() {
                errors.push(Error::invalid(
                    path,
                    "resource",
                    "fieldRef and resourceFieldRef can not be specified simultaneously",
                ));
            }
        }
        (None, Some(reference)) => {
            let path = path.child("resourceFieldRef");
            validate_resource_field_ref(errors, reference, ResourceFieldIn::Volume, &path);
        }
        (None, None) => {
            errors.push(Error::required(path, "one of fieldRef and resourceFieldRef is required"));
        }
    }
}

/// A variable read from a file needs the file's volume to be an emptyDir of this pod.
pub(crate) fn validate_file_volumes(errors: &mut ErrorList, spec: &Value, path: &Path) {
    for (container, path) in super::containers(spec, path) {
        for (index, variable) in container.list("env").iter().enumerate() {
            let Some(file) = variable.field("valueFrom").field("fileKeyRef") else { continue };
            let path = path.child("env").index(index).child("valueFrom").child("fileKeyRef").child("volumeName");
            let name = file.text("volumeName");
            match spec.list("volumes").iter().find(|volume| volume.text("name") == name) {
                None => errors.push(Error::not_found(&path, name)),
                Some(volume) if !volume.has("emptyDir") => {
                    errors.push(Error::invalid(&path, name, "referenced volume must be of type emptyDir"));
                }
                Some(_) => {}
            }
        }
    }
}
