//! Rules about volumes that claims, volumes, pods and the kinds of storage.k8s.io share
//! (core/validation): access modes, sizes, the names of drivers, the spec of a claim.

use super::each;
use super::resources::{quantity, validate_amount};
use crate::names;
use crate::read::Read;
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::view::List;
use serde_json::Value;

/// Where a class was named before `storageClassName` was a field.
pub(crate) const BETA_CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";

const MAX_DRIVER_NAME_BYTES: usize = 63;

pub(crate) fn validate_csi_driver_name(errors: &mut ErrorList, driver: &str, path: &Path) {
    if driver.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    if driver.len() > MAX_DRIVER_NAME_BYTES {
        errors.push(Error::too_long(path, MAX_DRIVER_NAME_BYTES));
    }
    each(errors, path, driver, names::is_dns1123_subdomain(&driver.to_lowercase()));
}

pub(crate) fn validate_access_modes(errors: &mut ErrorList, modes: &[Value], path: &Path) {
    let is_alone = |mode: &Value| mode == "ReadWriteOncePod";
    if modes.iter().any(is_alone) && !modes.iter().all(is_alone) {
        errors.push(Error::forbidden(path, "may not use ReadWriteOncePod with other access modes"));
    }
}

/// Says whether the amount is above zero.
pub(crate) fn validate_positive_quantity(errors: &mut ErrorList, value: &Value, path: &Path) -> bool {
    match quantity(value) {
        Some(amount) if amount.is_negative() || amount.is_zero() => {
            errors.push(Error::invalid(path, amount.to_string(), "must be greater than zero"));
            false
        }
        _ => true,
    }
}

/// An amount in a capacity, which says less about itself than one in a request.
pub(crate) fn validate_basic_amount(errors: &mut ErrorList, value: &Value, path: &Path) {
    if let Some(amount) = quantity(value)
        && amount.value() < 0
    {
        errors.push(Error::invalid(path, amount.value(), "must be a valid resource quantity"));
    }
}

/// The spec of a claim, whether it stands alone or in a template.
pub(crate) fn validate_claim_spec(errors: &mut ErrorList, spec: Option<&Value>, path: &Path) {
    validate_access_modes(errors, spec.list("accessModes"), &path.child("accessModes"));
    let at = path.child("resources").key("storage");
    match spec.field("resources").field("requests").field("storage") {
        None => errors.push(Error::required(&at, "")),
        Some(size) => {
            if validate_positive_quantity(errors, size, &at) {
                validate_amount(errors, "storage", size, &at);
            }
        }
    }
    validate_data_sources(errors, spec, path);
}

fn validate_data_sources(errors: &mut ErrorList, spec: Option<&Value>, path: &Path) {
    let (source, reference) = (spec.field("dataSource"), spec.field("dataSourceRef"));
    for (key, source) in [("dataSource", source), ("dataSourceRef", reference)] {
        if let Some(source) = source {
            validate_data_source(errors, source, &path.child(key));
        }
    }
    let namespace = reference.text("namespace");
    if !namespace.is_empty() {
        let at = path.child("dataSourceRef").child("namespace");
        each(errors, &at, namespace, names::dns1123_label(namespace, false));
    }
    // Upstream shows the path of the field where others show its value.
    let shown = path.child("dataSource").to_string();
    if source.is_some() && !namespace.is_empty() {
        let detail = "may not be specified when dataSourceRef.namespace is specified";
        errors.push(Error::invalid(path, shown, detail));
    } else if source.is_some() && reference.is_some() {
        let same = ["apiGroup", "kind", "name"].iter().all(|key| source.opt_text(key) == reference.opt_text(key));
        if !same {
            errors.push(Error::invalid(path, shown, "must match dataSourceRef"));
        }
    }
}

fn validate_data_source(errors: &mut ErrorList, source: &Value, path: &Path) {
    for key in ["name", "kind"] {
        if source.text(key).is_empty() {
            errors.push(Error::required(&path.child(key), ""));
        }
    }
    let (group, kind) = (source.text("apiGroup"), source.text("kind"));
    if !group.is_empty() {
        each(errors, &path.child("apiGroup"), group, names::is_dns1123_subdomain(group));
    } else if kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.push(Error::invalid(path, kind, detail));
    }
}

/// Warnings about sizes that are no whole number of bytes.
pub(crate) fn claim_spec_warnings(spec: Option<&Value>, path: &Path) -> Vec<String> {
    let mut warnings = Vec::new();
    for list in ["requests", "limits"] {
        let amount = spec.field("resources").field(list).field("storage").and_then(quantity);
        if let Some(amount) = amount
            && amount.milli_value() % 1000 != 0
        {
            let path = path.child("resources").child(list).key("storage");
            warnings.push(format!("{path}: fractional byte value \"{amount}\" is invalid, must be an integer"));
        }
    }
    warnings
}

/// `RWO,ROX,RWX,RWOP`, always in this order.
pub(crate) fn access_modes_text(modes: List<'_, Node<'_>>) -> String {
    let short =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let shown: Vec<&str> = short
        .iter()
        .filter(|(long, _)| modes.iter().any(|mode| mode.as_str() == Some(long)))
        .map(|(_, short)| *short)
        .collect();
    shown.join(",")
}
