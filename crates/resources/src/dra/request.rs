//! What a claim asks for: requests, constraints between them, and configuration.
//! Claims, templates and classes share it.

use super::naming::{validate_fully_qualified_name, validate_label};
use super::taint::validate_toleration;
use crate::cel::device;
use crate::dra::naming::validate_each;
use crate::read::{Read, default_int, default_text, field_mut, list_mut};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

const MAX_EXPRESSION: usize = 10 * 1024;
const MAX_PARAMETERS: usize = 10 * 1024;

/// The defaults of a claim's spec.
pub(super) fn default_claim(spec: &mut Value) {
    let Some(devices) = field_mut(spec, "devices") else { return };
    for request in list_mut(devices, "requests") {
        if let Some(exact) = field_mut(request, "exactly") {
            default_request(exact);
        }
        list_mut(request, "firstAvailable").iter_mut().for_each(default_request);
    }
}

fn default_request(request: &mut Value) {
    default_text(request, "allocationMode", "ExactCount");
    if request.text("allocationMode") == "ExactCount" {
        default_int(request, "count", 1);
    }
}

pub(super) fn validate_claim(errors: &mut ErrorList, spec: Option<&Value>, path: &Path) {
    let (devices, path) = (spec.field("devices"), path.child("devices"));
    validate_each(errors, devices.list("requests"), &path.child("requests"), validate_request);
    validate_each(errors, devices.list("constraints"), &path.child("constraints"), |errors, constraint, path| {
        validate_references(errors, constraint, devices, &path.child("requests"));
        match (constraint.opt_text("matchAttribute"), constraint.opt_text("distinctAttribute")) {
            (Some(name), _) => validate_fully_qualified_name(errors, name, &path.child("matchAttribute")),
            (None, Some(name)) => validate_fully_qualified_name(errors, name, &path.child("distinctAttribute")),
            (None, None) => {
                let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set";
                errors.push(Error::required(path, detail));
            }
        }
    });
    validate_each(errors, devices.list("config"), &path.child("config"), |errors, config, path| {
        validate_references(errors, config, devices, &path.child("requests"));
        validate_configuration(errors, config, path);
    });
}

fn validate_request(errors: &mut ErrorList, request: &Value, path: &Path) {
    let alternatives = request.list("firstAvailable");
    match (request.field("exactly"), alternatives.is_empty()) {
        (None, true) => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required";
            errors.push(Error::required(path, detail));
        }
        (Some(_), false) => {
            let detail = "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            errors.push(Error::invalid(path, Value::Null, detail));
        }
        (Some(exact), true) => validate_one(errors, exact, &path.child("exactly")),
        (None, false) => validate_each(errors, alternatives, &path.child("firstAvailable"), validate_one),
    }
}

fn validate_one(errors: &mut ErrorList, request: &Value, path: &Path) {
    validate_selectors(errors, request.list("selectors"), &path.child("selectors"));
    let (count, at) = (request.int("count"), path.child("count"));
    match request.text("allocationMode") {
        mode @ "All" if count != 0 => {
            let detail = format!("must not be specified when allocationMode is '{mode}'");
            errors.push(Error::invalid(&at, count, detail));
        }
        "All" => {}
        "ExactCount" if count <= 0 => errors.push(Error::invalid(&at, count, "must be greater than zero")),
        _ => {}
    }
    for (index, toleration) in request.list("tolerations").iter().enumerate() {
        validate_toleration(errors, toleration, &path.child("tolerations").index(index));
    }
}

pub(super) fn validate_selectors(errors: &mut ErrorList, selectors: &[Value], path: &Path) {
    validate_each(errors, selectors, path, |errors, selector, path| {
        let expression = selector.field("cel").map(|cel| cel.text("expression"));
        // One that is too long is not worth compiling.
        if let Some(expression) = expression.filter(|expression| expression.len() <= MAX_EXPRESSION)
            && let Err(detail) = device::compile(expression)
        {
            errors.push(Error::invalid(&path.child("cel").child("expression"), expression, detail));
        }
    });
}

/// The requests of the claim that something is about: `request` or `request/alternative`.
pub(super) fn validate_references(errors: &mut ErrorList, holder: &Value, devices: Option<&Value>, path: &Path) {
    validate_each(errors, holder.list("requests"), path, |errors, name, path| {
        validate_reference(errors, name.as_str().unwrap_or_default(), devices, path);
    });
}

pub(super) fn validate_reference(errors: &mut ErrorList, name: &str, devices: Option<&Value>, path: &Path) {
    let detail =
        "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
    let segments: Vec<&str> = name.split('/').collect();
    if segments.len() <= 2 {
        for segment in &segments {
            validate_label(errors, segment, path);
        }
    }
    let request = devices.list("requests").iter().find(|request| request.text("name") == segments[0]);
    let found = match (request, segments.get(1)) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(request), Some(inner)) => {
            request.list("firstAvailable").iter().any(|request| request.text("name") == *inner)
        }
    };
    if !found || segments.len() > 2 {
        errors.push(Error::invalid(path, name, detail));
    }
}

/// Configuration for a driver, which alone knows what it means.
pub(super) fn validate_configuration(errors: &mut ErrorList, config: &Value, path: &Path) {
    if let Some(opaque) = config.field("opaque") {
        let at = path.child("opaque").child("parameters");
        validate_raw(errors, opaque.field("parameters"), MAX_PARAMETERS, &at);
    }
}

pub(super) fn validate_raw(errors: &mut ErrorList, raw: Option<&Value>, most: usize, path: &Path) {
    match raw {
        None => errors.push(Error::required(path, "")),
        Some(raw) if raw.to_string().len() > most => errors.push(Error::too_long(path, most)),
        Some(Value::Object(_)) => {}
        Some(_) => errors.push(Error::invalid(path, "<value omitted>", "must be a valid JSON object")),
    }
}
