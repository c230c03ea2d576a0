//! HorizontalPodAutoscaler, v2: the strategy of replicas that follow a load.

use super::metrics::{metrics_text, validate_metrics, validate_reference};
use crate::Strategy;
use crate::read::{Read, ReadNode, default_value, field_mut, set};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::gvk::GroupVersion;
use ferry_api::object::ensure_object;
use ferry_api::view::List;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct HorizontalPodAutoscaler;

/// The share of its cpu requests that pods are kept at when nothing else is asked for.
pub(super) const DEFAULT_CPU_UTILIZATION: i64 = 80;

impl Strategy for HorizontalPodAutoscaler {
    fn default(&self, autoscaler: &mut Value) {
        super::convert::drop_annotations(autoscaler);
        let Some(spec) = field_mut(autoscaler, "spec") else { return };
        if spec.list("metrics").is_empty() {
            set(spec, "metrics", json!([cpu_metric(DEFAULT_CPU_UTILIZATION)]));
        }
        if let Some(behavior) = field_mut(spec, "behavior") {
            let policy = |kind: &str, value: i64| json!({"type": kind, "value": value, "periodSeconds": 15});
            let up = ensure_object(behavior).entry("scaleUp").or_insert(Value::Null);
            default_value(up, "stabilizationWindowSeconds", 0);
            default_value(up, "selectPolicy", "Max");
            default_value(up, "policies", json!([policy("Pods", 4), policy("Percent", 100)]));
            // How long a scale-down waits is the controller's to say.
            let down = ensure_object(behavior).entry("scaleDown").or_insert(Value::Null);
            default_value(down, "selectPolicy", "Max");
            default_value(down, "policies", json!([policy("Percent", 100)]));
        }
    }

    fn validate(&self, autoscaler: &Value) -> ErrorList {
        validate_spec(autoscaler, None)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate_spec(new, Some(old))
    }

    fn computed_cells(&self, autoscaler: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let (spec, status) = (autoscaler.field("spec"), autoscaler.field("status"));
        let target = spec.field("scaleTargetRef");
        let least = spec.opt_int("minReplicas").map_or_else(|| "<unset>".to_owned(), |count| count.to_string());
        vec![
            format!("{}/{}", target.text("kind"), target.text("name")).into(),
            metrics_text(&values(spec.list("metrics")), &values(status.list("currentMetrics"))).into(),
            least.into(),
        ]
    }
}

pub(super) fn cpu_metric(utilization: i64) -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": utilization});
    json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
}

/// What a reference's apiVersion may leave out or get wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ApiVersion {
    /// It was there before.
    Any,
    GroupMayBeEmpty,
    Whole,
}

impl ApiVersion {
    pub(super) fn check(self, api_version: &str) -> Result<(), String> {
        if self == Self::Any {
            return Ok(());
        }
        if api_version.matches('/').count() > 1 {
            return Err(format!("unexpected GroupVersion string: {api_version}"));
        }
        if self == Self::Whole && GroupVersion::parse(api_version).group.is_empty() {
            return Err("apiVersion must specify API group".to_owned());
        }
        Ok(())
    }
}

fn validate_spec(autoscaler: &Value, old: Option<&Value>) -> ErrorList {
    let mut errors = ErrorList::new();
    let (spec, path) = (autoscaler.field("spec"), Path::new("spec"));
    let old_spec = old.field("spec");
    let (least, most) = (spec.opt_int("minReplicas"), spec.int("maxReplicas"));
    // Scaling to zero is a feature that is off in 1.36; who has it already keeps it.
    let lowest = if old_spec.opt_int("minReplicas") == Some(0) { 0 } else { 1 };
    if let Some(least) = least
        && least < lowest
    {
        let detail = format!("must be greater than or equal to {lowest}");
        errors.push(Error::invalid(&path.child("minReplicas"), least, detail));
    }
    if least.is_some_and(|least| most < least) {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.push(Error::invalid(&path.child("maxReplicas"), most, detail));
    }
    let (target, old_target) = (spec.field("scaleTargetRef"), old_spec.field("scaleTargetRef"));
    let is_same = |key: &str| target.text(key) == old_target.text(key);
    let api_version = if old.is_some() && is_same("apiVersion") && is_same("kind") {
        ApiVersion::Any
    } else if target.text("kind") == "ReplicationController" {
        ApiVersion::GroupMayBeEmpty
    } else {
        ApiVersion::Whole
    };
    validate_reference(&mut errors, target, api_version, &path.child("scaleTargetRef"));
    let was_wrong = old_spec.list("metrics").iter().filter(|metric| metric.text("type") == "Object").any(|metric| {
        let object = metric.field("object").field("describedObject");
        ApiVersion::GroupMayBeEmpty.check(object.text("apiVersion")).is_err()
    });
    let api_version = if was_wrong { ApiVersion::Any } else { ApiVersion::GroupMayBeEmpty };
    validate_metrics(&mut errors, spec.list("metrics"), least, api_version, &path.child("metrics"));
    errors
}

/// The metrics as values, whose many forms one function prints.
fn values(metrics: List<'_, Node<'_>>) -> Vec<Value> {
    metrics.iter().map(Node::to_value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};

    fn autoscaler() -> Value {
        json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
            "spec": {"maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
        })
    }

    fn with(key: &str, value: Value) -> Value {
        let mut object = autoscaler();
        object["spec"][key] = value;
        object
    }

    #[test]
    fn an_autoscaler_has_bounds() {
        check(&HorizontalPodAutoscaler, autoscaler(), &[]);
        check(
            &HorizontalPodAutoscaler,
            with("minReplicas", 0.into()),
            &[
                "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
                "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
            ],
        );
        check(
            &HorizontalPodAutoscaler,
            with("maxReplicas", 0.into()),
            &[
                "spec.maxReplicas: Required value: must be set and greater than 0",
                "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`",
            ],
        );
    }

    #[test]
    fn the_target_names_its_group() {
        let target = |api_version: &str, kind: &str| {
            with("scaleTargetRef", json!({"apiVersion": api_version, "kind": kind, "name": "web"}))
        };
        check(&HorizontalPodAutoscaler, target("v1", "ReplicationController"), &[]);
        let refused = "spec.scaleTargetRef.apiVersion: Invalid value: \"v1\": apiVersion must specify API group";
        check(&HorizontalPodAutoscaler, target("v1", "Deployment"), &[refused]);
        check_update(&HorizontalPodAutoscaler, target("v1", "Deployment"), target("v1", "Deployment"), &[]);
        check(
            &HorizontalPodAutoscaler,
            target("a/b/c", "Deployment"),
            &["spec.scaleTargetRef.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"],
        );
    }

    #[test]
    fn behavior_is_filled_in_and_bounded() {
        let mut object = with("behavior", json!({"scaleDown": {"stabilizationWindowSeconds": 60}}));
        crate::testing::default(&HorizontalPodAutoscaler, &mut object);
        assert_eq!(
            object["spec"]["behavior"],
            json!({
                "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [
                    {"type": "Pods", "value": 4, "periodSeconds": 15},
                    {"type": "Percent", "value": 100, "periodSeconds": 15},
                ]},
                "scaleDown": {"stabilizationWindowSeconds": 60, "selectPolicy": "Max", "policies": [
                    {"type": "Percent", "value": 100, "periodSeconds": 15},
                ]},
            })
        );
        check(
            &HorizontalPodAutoscaler,
            with(
                "behavior",
                json!({"scaleUp": {
                    "stabilizationWindowSeconds": 3601, "selectPolicy": "Some",
                    "policies": [{"type": "Some", "value": 0, "periodSeconds": 1801}],
                }}),
            ),
            &[
                "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
                "spec.behavior.scaleUp.selectPolicy: Unsupported value: \"Some\": supported values: \"Disabled\", \"Max\", \"Min\"",
                "spec.behavior.scaleUp.policies[0].type: Unsupported value: \"Some\": supported values: \"Percent\", \"Pods\"",
                "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
                "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
            ],
        );
    }

    #[test]
    fn an_autoscaler_shows_where_it_stands() {
        assert_eq!(
            Value::from(cells("HorizontalPodAutoscaler", autoscaler())),
            json!(["web", "Deployment/web", "cpu: <unknown>/80%", "1", 5, 0, "10m"])
        );
    }
}
