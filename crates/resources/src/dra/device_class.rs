//! DeviceClass: the strategy of a kind of device that claims can ask for.

use super::request::{validate_configuration, validate_selectors};
use crate::Strategy;
use crate::dra::naming::validate_each;
use crate::read::Read;
use ferry_api::field::{ErrorList, Path};
use serde_json::Value;

pub(crate) struct DeviceClass;

impl Strategy for DeviceClass {
    fn validate(&self, class: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (class.field("spec"), Path::new("spec"));
        validate_selectors(&mut errors, spec.list("selectors"), &path.child("selectors"));
        validate_each(&mut errors, spec.list("config"), &path.child("config"), validate_configuration);
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;
    use serde_json::json;

    #[test]
    fn a_class_selects_devices() {
        check(&DeviceClass, json!({"spec": {"selectors": [{"cel": {"expression": "true"}}]}}), &[]);
        check(
            &DeviceClass,
            json!({"spec": {"selectors": [{}], "config": [{"opaque": {"driver": "d", "parameters": []}}],
                "extendedResourceName": "cpu"}}),
            &[
                "spec.selectors[0].cel: Required value",
                "spec.config[0].opaque.parameters: Invalid value: \"<value omitted>\": must be a valid JSON object",
                "spec.extendedResourceName: Invalid value: \"cpu\": must be a valid extended resource name",
            ],
        );
    }
}
