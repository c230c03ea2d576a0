//! ResourceSlice: the strategy of what devices a driver has, and where.

use super::device::{is_advanced, validate_counters, validate_device};
use super::taint::set_time_added;
use crate::dra::naming::validate_each;
use crate::read::{Read, field_mut, list_mut, remove};
use crate::{Context, Strategy};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub(crate) struct ResourceSlice;

const MAX_DEVICES: usize = 128;
const MAX_ADVANCED_DEVICES: usize = 64;
const PLACES: &str = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

impl Strategy for ResourceSlice {
    /// Lists as attributes and the mapping to a node's resources are off, as upstream has them.
    fn prepare_for_create(&self, context: &Context, slice: &mut Value) {
        let Some(spec) = field_mut(slice, "spec") else { return };
        for device in list_mut(spec, "devices") {
            remove(device, "nodeAllocatableResourceMappings");
            for taint in list_mut(device, "taints") {
                set_time_added(context, taint);
            }
            if let Some(Value::Object(attributes)) = field_mut(device, "attributes") {
                for attribute in attributes.values_mut() {
                    for key in ["bools", "ints", "strings", "versions"] {
                        remove(attribute, key);
                    }
                }
            }
        }
    }

    fn prepare_for_update(&self, context: &Context, new: &mut Value, _old: &Value) {
        self.prepare_for_create(context, new);
    }

    fn validate(&self, slice: &Value) -> ErrorList {
        validate(slice, None)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate(new, Some(old))
    }

    fn warnings(&self, slice: &Value, _old: Option<&Value>) -> Vec<String> {
        let driver = slice.field("spec").text("driver");
        if driver == driver.to_lowercase() {
            return Vec::new();
        }
        vec![format!("spec.driver: driver names should be lowercase; {driver:?} contains uppercase characters")]
    }
}

fn validate(slice: &Value, old: Option<&Value>) -> ErrorList {
    let mut errors = ErrorList::new();
    let (spec, path) = (slice.field("spec"), Path::new("spec"));
    validate_place(&mut errors, spec, &path);
    if spec.has("sharedCounters") && spec.has("devices") {
        errors.push(Error::invalid(&path, "", "only one of `sharedCounters` or `devices` is allowed"));
    }
    let devices = spec.list("devices");
    let most = if devices.iter().any(is_advanced) { MAX_ADVANCED_DEVICES } else { MAX_DEVICES };
    if devices.len() > most {
        errors.push(Error::too_many(&path.child("devices"), devices.len(), most));
        return errors;
    }
    validate_each(&mut errors, devices, &path.child("devices"), |errors, device, path| {
        let was = old.field("spec").list("devices").iter().find(|old| old.text("name") == device.text("name"));
        validate_device(errors, device, was, spec.flag("perDeviceNodeSelection"), path);
    });
    validate_each(&mut errors, spec.list("sharedCounters"), &path.child("sharedCounters"), validate_counters);
    errors
}

fn validate_place(errors: &mut ErrorList, spec: Option<&Value>, path: &Path) {
    let mut given = Vec::new();
    if let Some(name) = spec.opt_text("nodeName") {
        let at = path.child("nodeName");
        if name.is_empty() {
            errors.push(Error::invalid(&at, name, "must be either unset or set to a non-empty string"));
        } else {
            given.push("`nodeName`");
        }
    }
    if let Some(selector) = spec.field("nodeSelector") {
        given.push("`nodeSelector`");
        let (terms, at) = (selector.list("nodeSelectorTerms"), path.child("nodeSelector").child("nodeSelectorTerms"));
        if terms.len() != 1 {
            errors.push(Error::invalid(&at, terms, "must have exactly one node selector term"));
        }
    }
    for (key, shown) in [("allNodes", "`allNodes`"), ("perDeviceNodeSelection", "`perDeviceNodeSelection`")] {
        match spec.opt_flag(key) {
            Some(true) => given.push(shown),
            Some(false) => {
                errors.push(Error::invalid(&path.child(key), false, "must be either unset or set to true"));
            }
            None => {}
        }
    }
    match given.len() {
        0 => errors.push(Error::required(path, PLACES)),
        1 => {}
        _ => {
            let detail = format!("{PLACES}, but multiple fields are set");
            errors.push(Error::invalid(path, format!("{{{}}}", given.join(", ")), detail));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use serde_json::json;

    fn slice(changes: Value) -> Value {
        let mut spec = json!({"driver": "d.e", "pool": {"name": "p", "resourceSliceCount": 1}, "nodeName": "n"});
        if let (Some(spec), Value::Object(changes)) = (spec.as_object_mut(), changes) {
            spec.extend(changes);
        }
        json!({"metadata": {"name": "a"}, "spec": spec})
    }

    #[test]
    fn a_slice_is_somewhere() {
        check(&ResourceSlice, slice(json!({})), &[]);
        check(
            &ResourceSlice,
            slice(json!({"allNodes": true, "pool": {"name": "p"}})),
            &[
                "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                "spec: Invalid value: \"{`nodeName`, `allNodes`}\": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set",
            ],
        );
    }

    #[test]
    fn devices_say_what_they_are() {
        let device = |fields: Value| slice(json!({"devices": [fields]}));
        check(
            &ResourceSlice,
            device(json!({"name": "x", "attributes": {"model": {"string": "m"}, "a.b/v": {"version": "1.2.3"}},
                "capacity": {"memory": {"value": "1Gi"}}})),
            &[],
        );
        check(
            &ResourceSlice,
            device(json!({"name": "x", "attributes": {"1a": {"version": "1"}, "b": {}}, "allNodes": true,
                "capacity": {"memory": {"value": "1Gi", "requestPolicy": {}}}})),
            &[
                "spec.devices[0].attributes: Invalid value: \"1a\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
                "spec.devices[0].attributes[1a].version: Invalid value: \"1\": must be a string compatible with semver.org spec 2.0.0",
                "spec.devices[0].attributes[b]: Invalid value: \"\": exactly one value must be specified",
                "spec.devices[0].capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true",
                "spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
            ],
        );
        check(
            &ResourceSlice,
            device(
                json!({"name": "x", "allowMultipleAllocations": true, "capacity": {"m": {"value": "10", "requestPolicy":
                {"default": "5", "validRange": {"min": "2", "max": "8", "step": "2"}}}}}),
            ),
            &[
                "spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid value: \"5\": value is not a multiple of a given step (2) from (2)",
            ],
        );
    }

    #[test]
    fn a_slice_stays_where_it_is() {
        check_update(
            &ResourceSlice,
            slice(json!({})),
            slice(json!({"nodeName": "m"})),
            &["spec.nodeName: Invalid value: \"m\": field is immutable"],
        );
        assert_eq!(
            ResourceSlice.warnings(&slice(json!({"driver": "D.e"})), None),
            ["spec.driver: driver names should be lowercase; \"D.e\" contains uppercase characters"]
        );
        assert_eq!(Value::from(cells("ResourceSlice", slice(json!({})))), json!(["a", "n", "d.e", "p", "10m"]));
    }
}
