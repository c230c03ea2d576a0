//! Deployment: the strategy of a rollout of pods.

use super::replicas::{validate_collision_count, workload_warnings};
use crate::Strategy;
use crate::apps::replicas::validate_replica_status;
use crate::pod_spec::template::{default_template, validate_selector_and_template};
use crate::read::{Read, ReadNode, default_value, field_mut};
use crate::validation::int_or_percent::{int_or_percent, validate_at_most_100_percent, validate_int_or_percent};
use crate::validation::shown;
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::ensure_object;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct Deployment;

impl Strategy for Deployment {
    fn default(&self, deployment: &mut Value) {
        let Some(spec) = field_mut(deployment, "spec") else { return };
        if let Some(strategy) = field_mut(spec, "strategy")
            && strategy.text("type") == "RollingUpdate"
        {
            let rolling = ensure_object(strategy).entry("rollingUpdate").or_insert_with(|| json!({}));
            default_value(rolling, "maxUnavailable", "25%");
            default_value(rolling, "maxSurge", "25%");
        }
        if let Some(template) = field_mut(spec, "template") {
            default_template(template);
        }
    }

    fn validate(&self, deployment: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        let (path, empty) = (Path::new("spec"), json!({}));
        let spec = deployment.field("spec").unwrap_or(&empty);
        validate_selector_and_template(&mut errors, spec, &path);
        validate_rollout(&mut errors, spec.field("strategy"), &path.child("strategy"));
        if let Some(seconds) = spec.opt_int("progressDeadlineSeconds")
            && seconds <= spec.int("minReadySeconds")
        {
            let path = path.child("progressDeadlineSeconds");
            errors.push(Error::invalid(&path, seconds, "must be greater than minReadySeconds"));
        }
        errors
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        let parts = ["updatedReplicas", "readyReplicas", "availableReplicas"];
        let mut errors = validate_replica_status(new, &parts, "readyReplicas");
        validate_collision_count(&mut errors, new, old);
        errors
    }

    fn warnings(&self, new: &Value, old: Option<&Value>) -> Vec<String> {
        workload_warnings(new, old)
    }

    fn computed_cells(&self, deployment: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let (spec, status) = (deployment.field("spec"), deployment.field("status"));
        vec![format!("{}/{}", status.int("readyReplicas"), spec.int("replicas")).into()]
    }
}

fn validate_rollout(errors: &mut ErrorList, strategy: Option<&Value>, path: &Path) {
    let rolling = strategy.field("rollingUpdate");
    let at = path.child("rollingUpdate");
    match strategy.text("type") {
        "Recreate" => {
            if rolling.is_some() {
                let detail = "may not be specified when strategy `type` is 'Recreate'";
                errors.push(Error::forbidden(&at, detail));
            }
        }
        "RollingUpdate" => match rolling {
            None => errors.push(Error::required(&at, "this should be defaulted and never be nil")),
            Some(rolling) => validate_rolling_update(errors, rolling, &at),
        },
        _ => errors.push(Error::not_supported(path, shown(strategy), &["Recreate", "RollingUpdate"])),
    }
}

fn validate_rolling_update(errors: &mut ErrorList, rolling: &Value, path: &Path) {
    let (unavailable, surge) = (rolling.field("maxUnavailable"), rolling.field("maxSurge"));
    let at = path.child("maxUnavailable");
    validate_int_or_percent(errors, unavailable, &at);
    validate_int_or_percent(errors, surge, &path.child("maxSurge"));
    if int_or_percent(unavailable) == 0 && int_or_percent(surge) == 0 {
        errors.push(Error::invalid(&at, shown(unavailable), "may not be 0 when `maxSurge` is 0"));
    }
    validate_at_most_100_percent(errors, unavailable, &at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update, row};
    use ferry_api::object::Meta;

    fn deployment() -> Value {
        json!({
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"containers": [{"name": "web", "image": "web:v1"}]},
                },
            },
        })
    }

    #[track_caller]
    fn check_with(path: &str, value: Value, expected: &[&str]) {
        let mut object = deployment();
        *object.pointer_mut(path).expect("the path's parent is there") = value;
        check(&Deployment, object, expected);
    }

    #[test]
    fn a_deployment_recognizes_its_pods() {
        check(&Deployment, deployment(), &[]);
        check_with(
            "/spec/template/metadata/labels",
            json!({"app": "db"}),
            &[
                "spec.template.metadata.labels: Invalid value: {\"app\":\"db\"}: `selector` does not match template `labels`",
            ],
        );
        check_with(
            "/spec/selector",
            json!({}),
            &["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
        );
        check_with(
            "/spec/selector",
            Value::Null,
            &[
                "spec.selector: Required value",
                "spec.template.metadata.labels: Invalid value: {\"app\":\"web\"}: `selector` does not match template `labels`",
            ],
        );
    }

    #[test]
    fn the_template_is_checked_as_a_pod_is() {
        check_with(
            "/spec/template/spec/containers/0",
            json!({"name": "Web"}),
            &[
                "spec.template.spec.containers[0].name: Invalid value: \"Web\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                "spec.template.spec.containers[0].image: Required value",
            ],
        );
        let mut object = deployment();
        object["spec"]["template"]["spec"]["restartPolicy"] = "Never".into();
        check(
            &Deployment,
            object,
            &["spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""],
        );
    }

    #[test]
    fn rollouts_move() {
        let mut object = deployment();
        object["spec"]["strategy"] = json!({"rollingUpdate": {"maxUnavailable": 0, "maxSurge": "0%"}});
        check(
            &Deployment,
            object,
            &["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
        );
        let mut object = deployment();
        object["spec"]["strategy"] = json!({"type": "Recreate", "rollingUpdate": {}});
        check(
            &Deployment,
            object,
            &["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
        );
        let mut object = deployment();
        object["spec"]["strategy"] = json!({"rollingUpdate": {"maxUnavailable": "a"}});
        check(
            &Deployment,
            object,
            &[
                "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"a\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
            ],
        );
        let mut object = deployment();
        object["spec"]["replicas"] = (-1).into();
        object["spec"]["minReadySeconds"] = 600.into();
        check(
            &Deployment,
            object,
            &[
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
            ],
        );
    }

    #[test]
    fn the_selector_never_changes() {
        let mut new = deployment();
        new["spec"]["selector"] = json!({"matchLabels": {"app": "db"}});
        new["spec"]["template"]["metadata"]["labels"] = json!({"app": "db"});
        check_update(
            &Deployment,
            deployment(),
            new,
            &["spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"db\"}}: field is immutable"],
        );
    }

    #[test]
    fn generations_follow_spec_and_annotations() {
        let mut new = deployment();
        new.set_meta("labels", json!({"a": "b"}));
        assert!(!row("Deployment").is_new_generation(&new, &deployment()));
        new.set_meta("annotations", json!({"a": "b"}));
        assert!(row("Deployment").is_new_generation(&new, &deployment()));
    }

    #[test]
    fn a_deployment_shows_how_far_it_is() {
        let mut object = deployment();
        object["status"] = json!({"readyReplicas": 1, "updatedReplicas": 1, "availableReplicas": 1});
        assert_eq!(
            Value::from(cells("Deployment", object)),
            json!(["web", "1/1", 1, 1, "10m", "web", "web:v1", "app=web"])
        );
    }
}
