//! ReplicationController: the strategy of the oldest way to keep a number of like pods.

use crate::Strategy;
use crate::apps::replicas::{validate_replica_status, workload_warnings};
use crate::pod_spec::template::{default_template, validate_pods_run_forever, validate_template};
use crate::read::{Read, field_mut, set};
use crate::validation::shown;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use serde_json::Value;

pub(crate) struct ReplicationController;

impl Strategy for ReplicationController {
    /// Pods are recognized by the template's labels unless a selector says otherwise.
    fn default(&self, controller: &mut Value) {
        let Some(spec) = field_mut(controller, "spec") else { return };
        let labels = spec.field("template").field("metadata").entries("labels").clone();
        if let Some(template) = field_mut(spec, "template") {
            default_template(template);
        }
        if labels.is_empty() {
            return;
        }
        if spec.entries("selector").is_empty() {
            set(spec, "selector", labels.clone());
        }
        if controller.field("metadata").entries("labels").is_empty() {
            controller.set_meta("labels", labels);
        }
    }

    fn validate(&self, controller: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (spec, path) = (controller.field("spec"), Path::new("spec"));
        let (selector, path) = (spec.entries("selector"), path.child("template"));
        let Some(template) = spec.field("template") else { return errors };
        let labels = template.field("metadata");
        if !selector.iter().all(|(key, value)| labels.entries("labels").get(key) == Some(value)) {
            errors.push(Error::invalid(
                &path.child("metadata").child("labels"),
                shown(labels.field("labels")),
                "`selector` does not match template `labels`",
            ));
        }
        validate_template(&mut errors, template, &path);
        validate_pods_run_forever(&mut errors, template, "ReplicationController", &path);
        errors
    }

    fn validate_status_update(&self, new: &Value, _old: &Value) -> ErrorList {
        let parts = ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"];
        validate_replica_status(new, &parts, "readyReplicas")
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        workload_warnings(new, old)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, texts};
    use serde_json::json;

    fn controller() -> Value {
        json!({
            "apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "web", "namespace": "default"},
            "spec": {"template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "web:v1"}]},
            }},
        })
    }

    #[test]
    fn the_template_lends_its_labels() {
        let mut object = controller();
        crate::testing::default(&ReplicationController, &mut object);
        assert_eq!(object["spec"]["selector"], json!({"app": "web"}));
        assert_eq!(object["metadata"]["labels"], json!({"app": "web"}));
        check(&ReplicationController, controller(), &[]);
    }

    #[test]
    fn a_controller_recognizes_its_pods() {
        let mut object = controller();
        object["spec"]["selector"] = json!({"app": "db"});
        check(
            &ReplicationController,
            object,
            &[
                "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`",
            ],
        );
        check(
            &ReplicationController,
            json!({"spec": {"replicas": -1}}),
            &[
                "spec.selector: Required value",
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                "spec.template: Required value",
            ],
        );
        let status = json!({"status": {"replicas": 1, "readyReplicas": 2}});
        assert_eq!(
            texts(&crate::testing::update_errors(&ReplicationController, "status", &status, &json!({}))),
            ["status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"]
        );
    }

    #[test]
    fn a_controller_shows_how_many_it_keeps() {
        let mut object = controller();
        object["status"] = json!({"replicas": 1});
        assert_eq!(
            Value::from(cells("ReplicationController", object)),
            json!(["web", 1, 1, 0, "10m", "web", "web:v1", "app=web"])
        );
    }
}
