//! VolumeAttributesClass: the strategy of attributes that a volume can be given.

use super::parameters::validate_parameters;
use crate::Strategy;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

/// The same fields in both versions.
pub(crate) struct VolumeAttributesClass;

impl Strategy for VolumeAttributesClass {
    fn validate(&self, class: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        validate_parameters(&mut errors, class, &Path::new("parameters"));
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        if new.text("driverName") != old.text("driverName") {
            errors.push(Error::forbidden(&Path::new("driverName"), "updates to driverName are forbidden."));
        }
        if new.entries("parameters") != old.entries("parameters") {
            errors.push(Error::forbidden(&Path::new("parameters"), "updates to parameters are forbidden."));
        }
        errors.extend(self.validate(new));
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use serde_json::json;

    const CLASS: VolumeAttributesClass = VolumeAttributesClass;

    #[test]
    fn a_class_keeps_what_it_says() {
        let class = json!({"metadata": {"name": "gold"}, "driverName": "example.com", "parameters": {"iops": "1"}});
        check(&CLASS, class.clone(), &[]);
        check(
            &CLASS,
            json!({}),
            &["driverName: Required value", "parameters: Required value: must contain at least one key/value pair"],
        );
        let mut new = class.clone();
        new["driverName"] = "example.org".into();
        new["parameters"] = json!({"iops": "2"});
        check_update(
            &CLASS,
            class.clone(),
            new,
            &[
                "driverName: Forbidden: updates to driverName are forbidden.",
                "parameters: Forbidden: updates to parameters are forbidden.",
            ],
        );
        assert_eq!(Value::from(cells("VolumeAttributesClass", class)), json!(["gold", "example.com", "10m"]));
    }
}
