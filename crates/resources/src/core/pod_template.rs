//! PodTemplate: the strategy of a pod template kept by itself.

use crate::Strategy;
use crate::pod_spec::template::{default_template, template_warnings, validate_template};
use crate::read::{Read, field_mut};
use ferry_api::field::{ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::{Value, json};

pub(crate) struct PodTemplate;

impl Strategy for PodTemplate {
    fn default(&self, object: &mut Value) {
        if let Some(template) = field_mut(object, "template") {
            default_template(template);
        }
    }

    fn validate(&self, object: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let empty = json!({});
        validate_template(&mut errors, object.field("template").unwrap_or(&empty), &Path::new("template"));
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        match old {
            Some(old) if new.generation() == old.generation() => Vec::new(),
            _ => template_warnings(new.field("template"), &Path::new("template")),
        }
    }
}
