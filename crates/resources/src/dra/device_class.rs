//! DeviceClass: the strategy of a kind of device that claims can ask for.

use super::naming::validate_list;
use super::request::{MAX_CONFIG, validate_configuration, validate_selectors};
use crate::Strategy;
use crate::read::Read;
use crate::validation::resources::is_extended;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

pub struct DeviceClass;

impl Strategy for DeviceClass {
    fn validate(&self, class: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (class.field("spec"), Path::new("spec"));
        validate_selectors(&mut errors, spec.list("selectors"), &path.child("selectors"));
        validate_list(&mut errors, spec.list("config"), MAX_CONFIG, &path.child("config"), validate_configuration);
        if let Some(name) = spec.opt_text("extendedResourceName")
            && !is_extended(name)
        {
            let at = path.child("extendedResourceName");
            errors.push(Error::invalid(&at, name, "must be a valid extended resource name"));
        }
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
