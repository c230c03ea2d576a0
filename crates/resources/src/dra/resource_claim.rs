//! ResourceClaim: the strategy of asking for devices and of what was given.

use super::request::{
    default_claim, validate_claim, validate_configuration, validate_raw, validate_reference, validate_references,
};
use crate::dra::naming::validate_each;
use crate::read::{Read, ReadNode, field_mut, set};
use crate::validation::FIELD_IS_IMMUTABLE;
use crate::{Context, Strategy};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::rules::cidr::{parse_cidr_sloppy, parse_ip_sloppy};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashSet;

pub(crate) struct ResourceClaim;

const MAX_DATA: usize = 10 * 1024;

impl Strategy for ResourceClaim {
    fn default(&self, claim: &mut Value) {
        if let Some(spec) = field_mut(claim, "spec") {
            default_claim(spec);
        }
    }

    /// The status of a device goes with the device.
    fn prepare_for_status_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        let allocated = allocated(new.field("status"));
        let gone: HashSet<String> =
            self::allocated(old.field("status")).into_iter().filter(|device| !allocated.contains(device)).collect();
        let devices = new.field("status").list("devices");
        if devices.iter().any(|device| gone.contains(&identity(device))) {
            let left: Vec<Value> = devices.iter().filter(|device| !gone.contains(&identity(device))).cloned().collect();
            if let Some(status) = field_mut(new, "status") {
                set(status, "devices", left);
            }
        }
    }

    fn validate(&self, claim: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_claim(&mut errors, claim.field("spec"), &Path::new("spec"));
        errors
    }

    fn validate_update(&self, _new: &Value, _old: &Value) -> ErrorList {
        ErrorList::new()
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_status(new, old)
    }

    fn computed_cells(&self, claim: Node<'_>, _now: Timestamp) -> Vec<Value> {
        vec![state(claim).into()]
    }
}

fn state(claim: Node<'_>) -> String {
    let status = claim.field("status");
    let mut states = Vec::new();
    if claim.is_deleting() {
        states.push("deleted");
    }
    if status.has("allocation") {
        states.push("allocated");
        if !status.list("reservedFor").is_empty() {
            states.push("reserved");
        }
    } else if !claim.is_deleting() {
        states.push("pending");
    }
    states.join(",")
}

/// `driver/pool/device/share`, which names one share of one device.
fn identity(device: &Value) -> String {
    let mut name = format!("{}/{}/{}", device.text("driver"), device.text("pool"), device.text("device"));
    if let Some(share) = device.opt_text("shareID") {
        name.push('/');
        name.push_str(share);
    }
    name
}

fn allocated(status: Option<&Value>) -> HashSet<String> {
    status.field("allocation").field("devices").list("results").iter().map(identity).collect()
}

fn validate_status(new: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let (status, was, path) = (new.field("status"), old.field("status"), Path::new("status"));
    let (reserved, at) = (status.list("reservedFor"), path.child("reservedFor"));
    let allocated = allocated(status);
    let mut seen = HashSet::new();
    validate_each(&mut errors, status.list("devices"), &path.child("devices"), |errors, device, path| {
        validate_device(errors, device, &allocated, path);
        if !seen.insert(identity(device)) {
            errors.push(Error::duplicate(path, identity(device)));
        }
    });
    if !reserved.is_empty() {
        if !status.has("allocation") {
            errors.push(Error::forbidden(&at, "may not be specified when `allocated` is not set"));
        } else if new.is_deleting() && reserved.iter().any(|consumer| !was.list("reservedFor").contains(consumer)) {
            let detail = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set";
            errors.push(Error::forbidden(&at, detail));
        }
    }
    let at = path.child("allocation");
    match (status.field("allocation"), was.field("allocation")) {
        (Some(now), Some(before)) if now != before => {
            errors.push(Error::invalid(&at, now.clone(), FIELD_IS_IMMUTABLE));
        }
        (Some(allocation), None) => validate_allocation(&mut errors, new, allocation, &at),
        _ => {}
    }
    errors
}

fn validate_allocation(errors: &mut ErrorList, claim: &Value, allocation: &Value, path: &Path) {
    let asked = claim.field("spec").field("devices");
    let (devices, at) = (allocation.field("devices"), path.child("devices"));
    validate_each(errors, devices.list("results"), &at.child("results"), |errors, result, path| {
        validate_reference(errors, result.text("request"), asked, &path.child("request"));
        validate_binding_conditions(errors, result, path);
    });
    validate_each(errors, devices.list("config"), &at.child("config"), |errors, config, path| {
        validate_references(errors, config, asked, &path.child("requests"));
        validate_configuration(errors, config, path);
    });
}

/// The conditions under which a device becomes ready, and those under which it never will.
pub(crate) fn validate_binding_conditions(errors: &mut ErrorList, device: &Value, path: &Path) {
    const READY: &str = "bindingConditions";
    const FAILED: &str = "bindingFailureConditions";
    for (index, name) in device.texts(FAILED).enumerate() {
        if device.texts(READY).any(|ready| ready == name) {
            let at = path.child(FAILED).index(index);
            errors.push(Error::invalid(&at, name, format!("{FAILED} must not overlap with {READY}")));
        }
    }
    for (missing, used) in [(READY, FAILED), (FAILED, READY)] {
        if device.list(missing).is_empty() && !device.list(used).is_empty() {
            let detail = format!("{missing} are required to use {used}");
            errors.push(Error::invalid(&path.child(missing), Value::Null, detail));
        }
    }
}

fn validate_device(errors: &mut ErrorList, device: &Value, allocated: &HashSet<String>, path: &Path) {
    let name = identity(device);
    if !allocated.contains(&name) {
        errors.push(Error::invalid(path, name, "must be an allocated device in the claim"));
    }
    if device.has("data") {
        validate_raw(errors, device.field("data"), MAX_DATA, &path.child("data"));
    }
    let (addresses, at) = (device.field("networkData").list("ips"), path.child("networkData").child("ips"));
    validate_each(errors, addresses, &at, |errors, address, path| {
        let text = address.as_str().unwrap_or_default();
        let Some((ip, length)) = parse_cidr_sloppy(text) else {
            let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
            errors.push(Error::invalid(path, text, detail));
            return;
        };
        let canonical = format!("{}/{length}", parse_ip_sloppy(&ip.to_string()).unwrap_or(ip));
        if canonical != text {
            errors.push(Error::invalid(path, text, format!("must be in canonical form ({canonical:?})")));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, context, texts};
    use serde_json::json;

    fn claim(devices: Value) -> Value {
        json!({"metadata": {"name": "a"}, "spec": {"devices": devices}})
    }

    fn one() -> Value {
        claim(json!({"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}))
    }

    #[test]
    fn requests_ask_for_classes() {
        check(&ResourceClaim, one(), &[]);
        check(
            &ResourceClaim,
            claim(
                json!({"requests": [{"name": "r"}, {"name": "r", "exactly": {"allocationMode": "All", "count": 1}}]}),
            ),
            &[
                "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required",
                "spec.devices.requests[1].exactly.deviceClassName: Required value",
                "spec.devices.requests[1].exactly.count: Invalid value: 1: must not be specified when allocationMode is 'All'",
                "spec.devices.requests[1]: Duplicate value: \"r\"",
            ],
        );
        check(
            &ResourceClaim,
            claim(json!({"requests": [{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "c"}]}],
                "constraints": [{"requests": ["r/s", "x"], "matchAttribute": "a"}], "config": [{"requests": ["r"]}]})),
            &[
                "spec.devices.constraints[0].requests[1]: Invalid value: \"x\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
                "spec.devices.constraints[0].matchAttribute: Invalid value: \"a\": a fully qualified name must be a domain and a name separated by a slash",
                "spec.devices.config[0].opaque: Required value",
            ],
        );
    }

    #[test]
    fn a_claim_never_changes() {
        let mut new = one();
        new["spec"]["devices"]["requests"][0]["name"] = "s".into();
        let errors = {
            let mut old = one();
            crate::testing::default(&ResourceClaim, &mut old);
            crate::testing::default(&ResourceClaim, &mut new);
            crate::testing::update_errors(&ResourceClaim, "", &new, &old)
        };
        assert_eq!(errors[0].detail, FIELD_IS_IMMUTABLE);
        check_update(&ResourceClaim, one(), one(), &[]);
    }

    #[test]
    fn devices_are_given_to_those_who_asked() {
        let result = json!({"request": "r", "driver": "d.e", "pool": "p", "device": "x"});
        let mut new = one();
        new["status"] = json!({"allocation": {"devices": {"results": [result]}},
            "reservedFor": [{"resource": "pods", "name": "p", "uid": "1"}],
            "devices": [{"driver": "d.e", "pool": "p", "device": "x"}]});
        assert_eq!(crate::testing::update_errors(&ResourceClaim, "status", &new, &one()), []);
        assert_eq!(Value::from(cells("ResourceClaim", new.clone())), json!(["a", "allocated,reserved", "10m"]));
        let mut freed = new.clone();
        freed["status"]["allocation"] = Value::Null;
        freed["status"]["reservedFor"] = json!([]);
        ResourceClaim.prepare_for_status_update(&context(), &mut freed, &new);
        assert_eq!(freed["status"]["devices"], json!([]));
        new["status"]["allocation"] = Value::Null;
        new["status"]["devices"] = json!([]);
        assert_eq!(
            texts(&crate::testing::update_errors(&ResourceClaim, "status", &new, &one())),
            ["status.reservedFor: Forbidden: may not be specified when `allocated` is not set"]
        );
    }
}
