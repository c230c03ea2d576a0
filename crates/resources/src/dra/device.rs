//! One device of a slice: attributes, capacities, counters and where it can be used.

use super::naming::{validate_label, validate_qualified_name};
use super::resource_claim::validate_binding_conditions;
use super::taint::validate_taint;
use crate::dra::naming::validate_each;
use crate::read::Read;
use crate::validation::resources::quantity;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::quantity::Quantity;
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::LazyLock;

const MAX_ENTRIES: usize = 32;
const MAX_VALUES: usize = 48;
const VALUES: [&str; 8] = ["bool", "int", "string", "version", "bools", "ints", "strings", "versions"];

static SEMVER: LazyLock<Regex> = LazyLock::new(|| {
    let number = r"(0|[1-9]\d*)";
    let release = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)";
    let build = "[0-9a-zA-Z-]+";
    Regex::new(&format!(r"^{number}\.{number}\.{number}(-{release}(\.{release})*)?(\+{build}(\.{build})*)?$"))
        .expect("a fixed pattern")
});

/// `old` is the device of this name in the old slice, whose taints may stay.
pub(super) fn validate_device(
    errors: &mut ErrorList,
    device: &Value,
    old: Option<&Value>,
    per_device: bool,
    path: &Path,
) {
    let (attributes, capacities) = (device.entries("attributes"), device.entries("capacity"));
    let entries = attributes.len() + capacities.len();
    if entries > MAX_ENTRIES {
        let detail = format!("the total number of attributes and capacities must not exceed {MAX_ENTRIES}");
        errors.push(Error::invalid(path, entries, detail));
    }
    let values: usize = attributes.values().map(count_values).sum();
    if values > MAX_VALUES {
        let detail = format!("the total number of attribute values must not exceed {MAX_VALUES}");
        errors.push(Error::invalid(path, values, detail));
    }
    let at = path.child("attributes");
    for (name, attribute) in attributes {
        validate_qualified_name(errors, name, &at);
        validate_attribute(errors, attribute, &at.key(name));
    }
    let at = path.child("capacity");
    for (name, capacity) in capacities {
        validate_qualified_name(errors, name, &at);
        validate_capacity(errors, capacity, device.flag("allowMultipleAllocations"), &at.key(name));
    }
    if old.is_none_or(|old| old.list("taints") != device.list("taints")) {
        validate_each(errors, device.list("taints"), &path.child("taints"), |errors, taint, path| {
            validate_taint(errors, Some(taint), None, path);
        });
    }
    let (consumptions, at) = (device.list("consumesCounters"), path.child("consumesCounters"));
    validate_each(errors, consumptions, &at, validate_counters);
    validate_place(errors, device, per_device, path);
    validate_binding_conditions(errors, device, path);
}

/// The names of a set of counters, or of those that are taken from one.
pub(super) fn validate_counters(errors: &mut ErrorList, set: &Value, path: &Path) {
    for name in set.entries("counters").keys() {
        validate_label(errors, name, &path.child("counters"));
    }
}

fn count_values(attribute: &Value) -> usize {
    let listed: usize = VALUES[4..].iter().map(|key| attribute.list(key).len()).sum();
    listed.max(1)
}

fn validate_attribute(errors: &mut ErrorList, attribute: &Value, path: &Path) {
    let given = VALUES.iter().filter(|key| attribute.has(key)).count();
    let mut version = |value: &str, path: &Path| {
        if !SEMVER.is_match(value) {
            errors.push(Error::invalid(path, value, "must be a string compatible with semver.org spec 2.0.0"));
        }
    };
    if let Some(value) = attribute.opt_text("version") {
        version(value, &path.child("version"));
    }
    for (index, value) in attribute.texts("versions").enumerate() {
        version(value, &path.child("versions").index(index));
    }
    if given != 1 {
        let value = if given == 0 { Value::from("") } else { attribute.clone() };
        errors.push(Error::invalid(path, value, "exactly one value must be specified"));
    }
}

fn validate_capacity(errors: &mut ErrorList, capacity: &Value, shared: bool, path: &Path) {
    let (Some(policy), at) = (capacity.field("requestPolicy"), path.child("requestPolicy")) else { return };
    if !shared {
        errors.push(Error::forbidden(&at, "allowMultipleAllocations must be true"));
        return;
    }
    let (values, range) = (policy.list("validValues"), policy.field("validRange"));
    if !values.is_empty() && range.is_some() {
        let detail =
            "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time";
        errors.push(Error::forbidden(&at, detail));
        return;
    }
    let which = match (values.is_empty(), range) {
        (false, _) => "validValues",
        (true, Some(_)) => "validRange",
        (true, None) => return,
    };
    let Some(default) = policy.field("default").and_then(quantity) else {
        errors.push(Error::required(&at.child("default"), format!("required when {which} is defined")));
        return;
    };
    let most = capacity.field("value").and_then(quantity).unwrap_or_else(|| Quantity::from_milli(0));
    match range {
        None => validate_options(errors, values, &default, &most, &at.child(which)),
        Some(range) => validate_range(errors, range, &default, &most, &at.child(which)),
    }
}

fn validate_options(errors: &mut ErrorList, values: &[Value], default: &Quantity, most: &Quantity, path: &Path) {
    let parsed: Vec<Option<Quantity>> = values.iter().map(quantity).collect();
    for (index, pair) in parsed.windows(2).enumerate() {
        if let [Some(one), Some(next)] = pair
            && one > next
        {
            let at = path.index(index + 1);
            errors.push(Error::invalid(&at, next.to_string(), "values must be sorted in ascending order"));
        }
    }
    let mut seen = HashSet::new();
    for (index, option) in parsed.iter().enumerate() {
        let Some(option) = option else { continue };
        if option > most {
            let detail = format!("option is larger than capacity value: {most}");
            errors.push(Error::invalid(&path.index(index), option.to_string(), detail));
        }
        if !seen.insert(option.value()) {
            errors.push(Error::duplicate(&path.index(index), option.value().to_string()));
        }
    }
    if !parsed.iter().flatten().any(|option| option == default) {
        let detail = "default value is not valid according to the requestPolicy";
        errors.push(Error::invalid(path, default.to_string(), detail));
    }
}

fn validate_range(errors: &mut ErrorList, range: &Value, default: &Quantity, most: &Quantity, path: &Path) {
    let of = |key: &str| range.field(key).and_then(quantity);
    let Some(least) = of("min") else {
        errors.push(Error::required(&path.child("min"), "required when validRange is defined"));
        return;
    };
    let mut say = |key: &str, value: &Quantity, detail: String| {
        errors.push(Error::invalid(&path.child(key), value.to_string(), detail));
    };
    if least > *most {
        say("min", &least, format!("min is larger than capacity value: {most}"));
    }
    if *default < least {
        say("min", default, format!("default is less than min: {least}"));
    }
    let limit = of("max");
    if let Some(limit) = &limit {
        if least > *limit {
            say("max", &least, format!("min is larger than max: {limit}"));
        }
        if limit > most {
            say("max", limit, format!("max is larger than capacity value: {most}"));
        }
        if default > limit {
            say("max", default, format!("default is more than max: {limit}"));
        }
    }
    if let Some(step) = of("step") {
        for value in [Some(*default), limit].into_iter().flatten() {
            // A step of nothing leads nowhere; upstream would divide by it.
            let off = step.value() == 0 || value.value().wrapping_sub(least.value()) % step.value() != 0;
            if off {
                say("step", &value, format!("value is not a multiple of a given step ({step}) from ({least})"));
            }
        }
    }
}

/// Where the device can be used, which it says itself only if the slice says so.
fn validate_place(errors: &mut ErrorList, device: &Value, per_device: bool, path: &Path) {
    let places = ["nodeName", "nodeSelector", "allNodes"];
    if !per_device {
        if places.iter().any(|key| device.has(key)) {
            let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
            errors.push(Error::invalid(path, Value::Null, detail));
        }
        return;
    }
    let mut given = Vec::new();
    if let Some(name) = device.opt_text("nodeName") {
        let at = path.child("nodeName");
        if name.is_empty() {
            errors.push(Error::invalid(&at, name, "must not be empty"));
        } else {
            given.push("`nodeName`");
        }
    }
    if device.has("nodeSelector") {
        given.push("`nodeSelector`");
    }
    match device.opt_flag("allNodes") {
        Some(true) => given.push("`allNodes`"),
        Some(false) => {
            let detail = "must be either unset or set to true";
            errors.push(Error::invalid(&path.child("allNodes"), false, detail));
        }
        None => {}
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match given.len() {
        0 => errors.push(Error::required(path, detail)),
        1 => {}
        _ => errors.push(Error::invalid(path, format!("{{{}}}", given.join(", ")), detail)),
    }
}

/// Whether a device uses what makes slices costlier to read.
pub(super) fn is_advanced(device: &Value) -> bool {
    let lists = |attributes: &Map<String, Value>| {
        attributes.values().any(|attribute| VALUES[4..].iter().any(|key| attribute.has(key)))
    };
    !device.list("taints").is_empty()
        || !device.list("consumesCounters").is_empty()
        || lists(device.entries("attributes"))
}
