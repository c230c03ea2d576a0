//! PodTemplate: the strategy of a pod template kept by itself.

use crate::pod_spec::template::{default_template, template_warnings, validate_template};
use crate::read::{Read, ReadNode, field_mut};
use crate::{Strategy, print};
use ferry_api::document::Node;
use ferry_api::field::{ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::{Value, json};

pub struct PodTemplate;

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

    fn cells(&self, object: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let template = object.field("template");
        let (names, images) = print::containers(template.field("spec").list("containers"));
        let labels = print::labels(template.field("metadata").pairs("labels"));
        vec![object.name().into(), names.into(), images.into(), labels.into()]
    }
}
