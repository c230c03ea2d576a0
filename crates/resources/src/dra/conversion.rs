//! The first beta of resource.k8s.io as the stable version has it and back
//! (upstream's pkg/apis/resource/v1beta1/conversion.go): a request carried its one
//! alternative flat, and a device its fields one level deeper. The rules of the kinds are
//! written for the stable shape; [`Beta`] lets objects of the old shape pass through them.

use crate::read::{Read, field_mut, list_mut, remove, set};
use crate::{Context, Strategy};
use ferry_api::document::Node;
use ferry_api::field::ErrorList;
use ferry_api::object::ensure_object;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// What a request says of the devices it wants.
const OF_REQUEST: [&str; 7] =
    ["deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity"];

/// The strategy of a kind whose v1beta1 differs in shape.
pub(crate) struct Beta<S> {
    stable: S,
    to: fn(&mut Value),
    from: fn(&mut Value),
}

impl<S: Strategy> Beta<S> {
    pub(crate) fn claim(stable: S) -> Self {
        Self {
            stable,
            to: |object| claim_to(field_mut(object, "spec")),
            from: |object| claim_from(field_mut(object, "spec")),
        }
    }

    pub(crate) fn template(stable: S) -> Self {
        Self {
            stable,
            to: |object| claim_to(field_mut(object, "spec").and_then(|spec| field_mut(spec, "spec"))),
            from: |object| claim_from(field_mut(object, "spec").and_then(|spec| field_mut(spec, "spec"))),
        }
    }

    pub(crate) fn slice(stable: S) -> Self {
        Self {
            stable,
            to: |object| slice_to(field_mut(object, "spec")),
            from: |object| slice_from(field_mut(object, "spec")),
        }
    }

    fn stable_form(&self, object: &Value) -> Value {
        let mut copy = object.clone();
        (self.to)(&mut copy);
        copy
    }

    /// Lets `change` work on the stable shape of an object.
    fn through(&self, object: &mut Value, change: impl FnOnce(&mut Value)) {
        (self.to)(object);
        change(object);
        (self.from)(object);
    }
}

fn claim_to(spec: Option<&mut Value>) {
    let Some(devices) = spec.and_then(|spec| field_mut(spec, "devices")) else { return };
    for request in list_mut(devices, "requests") {
        let Some(fields) = request.as_object_mut() else { continue };
        let exact: Map<String, Value> = OF_REQUEST.iter().filter_map(|key| fields.remove_entry(*key)).collect();
        let is_set = exact.values().any(|value| !matches!(value, Value::Null) && *value != "" && *value != 0);
        if is_set {
            fields.insert("exactly".to_owned(), exact.into());
        }
    }
}

fn claim_from(spec: Option<&mut Value>) {
    let Some(devices) = spec.and_then(|spec| field_mut(spec, "devices")) else { return };
    for request in list_mut(devices, "requests") {
        if let Some(Value::Object(exact)) = request.as_object_mut().and_then(|fields| fields.remove("exactly")) {
            ensure_object(request).extend(exact);
        }
        // This version always writes the class, be it empty.
        if !request.has("deviceClassName") && request.is_object() {
            set(request, "deviceClassName", "");
        }
    }
}

fn slice_to(spec: Option<&mut Value>) {
    let Some(spec) = spec else { return };
    for device in list_mut(spec, "devices") {
        if let Some(Value::Object(basic)) = device.as_object_mut().and_then(|fields| fields.remove("basic")) {
            ensure_object(device).extend(basic);
        }
    }
    if spec.text("nodeName").is_empty() {
        remove(spec, "nodeName");
    }
    if !spec.flag("allNodes") {
        remove(spec, "allNodes");
    }
}

fn slice_from(spec: Option<&mut Value>) {
    let Some(spec) = spec else { return };
    for device in list_mut(spec, "devices") {
        let Some(fields) = device.as_object_mut() else { continue };
        let keys: Vec<String> = fields.keys().filter(|key| *key != "name").cloned().collect();
        let basic: Map<String, Value> = keys.iter().filter_map(|key| fields.remove_entry(key)).collect();
        fields.insert("basic".to_owned(), basic.into());
    }
}

impl<S: Strategy> Strategy for Beta<S> {
    fn default(&self, object: &mut Value) {
        self.through(object, |object| self.stable.default(object));
    }

    fn to_stored(&self, object: &mut Value) {
        (self.to)(object);
    }

    fn from_stored(&self, object: &mut Value) {
        (self.from)(object);
    }

    fn prepare_for_create(&self, context: &Context, object: &mut Value) {
        self.through(object, |object| self.stable.prepare_for_create(context, object));
    }

    fn validate(&self, object: &Value) -> ErrorList {
        self.stable.validate(&self.stable_form(object))
    }

    fn prepare_for_update(&self, context: &Context, new: &mut Value, old: &Value) {
        let old = self.stable_form(old);
        self.through(new, |new| self.stable.prepare_for_update(context, new, &old));
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        self.stable.validate_update(&self.stable_form(new), &self.stable_form(old))
    }

    fn prepare_for_status_update(&self, context: &Context, new: &mut Value, old: &Value) {
        let old = self.stable_form(old);
        self.through(new, |new| self.stable.prepare_for_status_update(context, new, &old));
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        self.stable.validate_status_update(&self.stable_form(new), &self.stable_form(old))
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        let old = old.map(|old| self.stable_form(old));
        self.stable.warnings(&self.stable_form(new), old.as_ref())
    }

    fn computed_cells(&self, object: Node<'_>, now: Timestamp) -> Vec<Value> {
        self.stable.computed_cells(Node::Value(&self.stable_form(&object.to_value())), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dra::resource_claim::ResourceClaim;
    use crate::dra::resource_slice::ResourceSlice;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn a_request_is_flat_in_the_beta() {
        let beta = Beta::claim(ResourceClaim);
        let flat = || json!({"spec": {"devices": {"requests": [{"name": "r", "deviceClassName": "c"}]}}});
        check(&beta, flat(), &[]);
        let mut object = flat();
        crate::testing::default(&beta, &mut object);
        assert_eq!(
            object["spec"]["devices"]["requests"][0],
            json!({"name": "r", "deviceClassName": "c", "allocationMode": "ExactCount", "count": 1})
        );
        let before = object.clone();
        beta.to_stored(&mut object);
        assert_eq!(object["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"], "c");
        beta.from_stored(&mut object);
        assert_eq!(object, before);
    }

    #[test]
    fn a_device_is_deeper_in_the_beta() {
        let beta = Beta::slice(ResourceSlice);
        let mut object = json!({"spec": {"driver": "d.e", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1},
            "devices": [{"name": "x", "basic": {"attributes": {"a": {"int": 1}}}}]}});
        check(&beta, object.clone(), &[]);
        let before = object.clone();
        beta.to_stored(&mut object);
        assert_eq!(object["spec"]["devices"][0], json!({"name": "x", "attributes": {"a": {"int": 1}}}));
        beta.from_stored(&mut object);
        assert_eq!(object, before);
    }
}
