//! autoscaling/v1 and v2 into each other. v1 knows one metric, the use of cpu; upstream
//! writes the others, their status, the behavior and the conditions as JSON into
//! annotations, and so do we: v1 clients get them back unharmed
//! (pkg/apis/autoscaling/v1/conversion.go).

use super::horizontal_pod_autoscaler::{DEFAULT_CPU_UTILIZATION, cpu_metric};
use crate::read::{Read, field_mut, remove, set};
use ferry_api::codec::normalize;
use ferry_api::gvk::GroupVersionKind;
use ferry_api::object::{Meta, ensure_object};
use ferry_api::schema;
use serde_json::{Map, Value, json};

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

/// Every annotation that upstream uses or used for this; none may survive in v2.
const ANNOTATIONS: &[&str] = &[
    METRICS,
    BEHAVIOR,
    "autoscaling.alpha.kubernetes.io/scale-down-tolerance",
    "autoscaling.alpha.kubernetes.io/scale-up-tolerance",
    CURRENT_METRICS,
    CONDITIONS,
];

/// Fields of the spec and of the status that both versions have.
const SPEC_FIELDS: &[&str] = &["scaleTargetRef", "minReplicas", "maxReplicas"];
const STATUS_FIELDS: &[&str] = &["observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"];

pub(super) fn drop_annotations(autoscaler: &mut Value) {
    let Some(annotations) = field_mut(autoscaler, "metadata").and_then(|meta| field_mut(meta, "annotations")) else {
        return;
    };
    for key in ANNOTATIONS {
        remove(annotations, key);
    }
}

/// The metrics besides cpu that a v1 object carries.
fn other_metrics(v1: &Value) -> Vec<Value> {
    list(v1, METRICS).unwrap_or_default().iter().map(spec_to_v2).collect()
}

/// Whether a v1 object says what to watch, in its field or in the annotation.
pub(super) fn has_metrics(v1: &Value) -> bool {
    v1.field("spec").has("targetCPUUtilizationPercentage") || !other_metrics(v1).is_empty()
}

pub(super) fn to_v2(object: &mut Value) {
    let (spec, status) = (object.field("spec"), object.field("status"));
    let mut new_spec = copy(spec, SPEC_FIELDS);
    let mut metrics = other_metrics(object);
    match spec.opt_int("targetCPUUtilizationPercentage") {
        Some(utilization) => metrics.push(cpu_metric(utilization)),
        None if metrics.is_empty() => metrics.push(cpu_metric(DEFAULT_CPU_UTILIZATION)),
        None => {}
    }
    set(&mut new_spec, "metrics", metrics);
    if let Some(behavior) = parsed(object, BEHAVIOR).map(lower_first) {
        let is_empty = behavior.as_object().is_none_or(Map::is_empty);
        if !is_empty {
            set(&mut new_spec, "behavior", behavior);
        }
    }
    let mut new_status = copy(status, STATUS_FIELDS);
    if let Some(metrics) = list(object, CURRENT_METRICS) {
        let metrics: Vec<Value> = metrics.iter().map(status_to_v2).collect();
        set(&mut new_status, "currentMetrics", metrics);
    } else if let Some(utilization) = status.opt_int("currentCPUUtilizationPercentage") {
        let resource = json!({"name": "cpu", "current": {"averageUtilization": utilization}});
        set(&mut new_status, "currentMetrics", json!([{"type": "Resource", "resource": resource}]));
    }
    if let Some(conditions) = list(object, CONDITIONS) {
        set(&mut new_status, "conditions", conditions);
    }
    drop_annotations(object);
    finish(object, "v2", new_spec, new_status);
}

pub(super) fn to_v1(object: &mut Value) {
    drop_annotations(object);
    let (spec, status) = (object.field("spec"), object.field("status"));
    let mut new_spec = copy(spec, SPEC_FIELDS);
    let utilization = |metric: &Value| {
        let resource = metric.field("resource").filter(|resource| resource.text("name") == "cpu")?;
        if metric.text("type") != "Resource" {
            return None;
        }
        resource.field("target").opt_int("averageUtilization")
    };
    if let Some(percent) = spec.list("metrics").iter().find_map(utilization) {
        set(&mut new_spec, "targetCPUUtilizationPercentage", percent);
    }
    let mut annotations: Vec<(&str, Value)> = Vec::new();
    let others: Vec<Value> =
        spec.list("metrics").iter().filter(|metric| utilization(metric).is_none()).map(spec_to_v1).collect();
    if !others.is_empty() {
        annotations.push((METRICS, others.into()));
    }
    if let Some(behavior) = spec.field("behavior") {
        annotations.push((BEHAVIOR, internal_behavior(behavior)));
    }
    let mut new_status = copy(status, STATUS_FIELDS);
    for metric in status.list("currentMetrics") {
        let resource = metric.field("resource");
        if metric.text("type") == "Resource"
            && resource.text("name") == "cpu"
            && let Some(percent) = resource.field("current").opt_int("averageUtilization")
        {
            set(&mut new_status, "currentCPUUtilizationPercentage", percent);
        }
    }
    let current: Vec<Value> = status.list("currentMetrics").iter().map(status_to_v1).collect();
    if !current.is_empty() {
        annotations.push((CURRENT_METRICS, current.into()));
    }
    if !status.list("conditions").is_empty() {
        annotations.push((CONDITIONS, status.list("conditions").into()));
    }
    if !annotations.is_empty() {
        let mut all = object.meta("annotations").cloned().unwrap_or(Value::Null);
        let map = ensure_object(&mut all);
        map.extend(annotations.into_iter().map(|(key, value)| (key.to_owned(), value.to_string().into())));
        object.set_meta("annotations", all);
    }
    finish(object, "v1", new_spec, new_status);
}

fn finish(object: &mut Value, version: &'static str, spec: Value, status: Value) {
    let gvk = GroupVersionKind::new("autoscaling", version, "HorizontalPodAutoscaler");
    set(object, "spec", spec);
    set(object, "status", status);
    object.set_gvk(&gvk);
    if let Some(definition) = schema::of_kind(&gvk) {
        normalize(object, definition);
    }
}

fn copy(from: Option<&Value>, keys: &[&str]) -> Value {
    let fields = keys.iter().filter_map(|key| Some(((*key).to_owned(), from.field(key)?.clone())));
    Value::Object(fields.collect())
}

/// What an annotation holds, if it is JSON; upstream ignores one that is not.
fn parsed(object: &Value, annotation: &str) -> Option<Value> {
    serde_json::from_str(object.annotation(annotation)?).ok()
}

fn list(object: &Value, annotation: &str) -> Option<Vec<Value>> {
    match parsed(object, annotation)? {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

/// The five kinds of metric: the field, whether it names a metric (else a resource), and
/// what v1 calls the metric's selector.
const KINDS: [(&str, bool, &str); 5] = [
    ("object", true, "selector"),
    ("pods", true, "selector"),
    ("resource", false, ""),
    ("containerResource", false, ""),
    ("external", true, "metricSelector"),
];

/// What v1 calls the amounts of a metric's spec and of its status. An amount that v1 cannot
/// leave out is written as zero.
struct Amounts {
    /// The struct that v2 keeps them in.
    part: &'static str,
    value: &'static str,
    average: &'static str,
    utilization: &'static str,
}

const SPEC: Amounts = Amounts {
    part: "target",
    value: "targetValue",
    average: "targetAverageValue",
    utilization: "targetAverageUtilization",
};
const STATUS: Amounts = Amounts {
    part: "current",
    value: "currentValue",
    average: "currentAverageValue",
    utilization: "currentAverageUtilization",
};

impl Amounts {
    /// An object's average is called the same in spec and status.
    fn average_of(&self, kind: &str) -> &'static str {
        if kind == "object" { "averageValue" } else { self.average }
    }

    fn to_v1(&self, metric: &Value) -> Value {
        let mut out = json!({"type": metric.text("type")});
        for (kind, is_metric, selector) in KINDS {
            let Some(source) = metric.field(kind) else { continue };
            let mut new = json!({});
            if is_metric {
                set(&mut new, "metricName", source.field("metric").text("name"));
                copy_to(&mut new, selector, source.field("metric").field("selector"));
            } else {
                set(&mut new, "name", source.text("name"));
                copy_to(&mut new, "container", source.field("container"));
            }
            if kind == "object" {
                copy_to(&mut new, "target", source.field("describedObject"));
            }
            let amounts = source.field(self.part);
            copy_to(&mut new, self.value, amounts.field("value").filter(|_| matches!(kind, "object" | "external")));
            copy_to(&mut new, self.average_of(kind), amounts.field("averageValue"));
            copy_to(&mut new, self.utilization, amounts.field("averageUtilization").filter(|_| !is_metric));
            for key in self.always_written(kind) {
                if !new.has(key) {
                    set(&mut new, key, "0");
                }
            }
            set(&mut out, kind, new);
        }
        out
    }

    fn always_written(&self, kind: &str) -> &[&'static str] {
        let is_status = self.part == "current";
        match kind {
            "object" if is_status => &["currentValue"],
            "object" => &["targetValue"],
            "pods" if is_status => &["currentAverageValue"],
            "pods" => &["targetAverageValue"],
            "external" if is_status => &["currentValue"],
            "resource" | "containerResource" if is_status => &["currentAverageValue"],
            _ => &[],
        }
    }

    fn to_v2(&self, metric: &Value) -> Value {
        let mut out = json!({"type": metric.text("type")});
        for (kind, is_metric, selector) in KINDS {
            let Some(source) = metric.field(kind) else { continue };
            let mut new = json!({});
            if is_metric {
                let mut name = json!({"name": source.text("metricName")});
                copy_to(&mut name, "selector", source.field(selector));
                set(&mut new, "metric", name);
            } else {
                set(&mut new, "name", source.text("name"));
                copy_to(&mut new, "container", source.field("container"));
            }
            if kind == "object" {
                copy_to(&mut new, "describedObject", source.field("target"));
            }
            let mut amounts = json!({});
            copy_to(&mut amounts, "value", source.field(self.value));
            copy_to(&mut amounts, "averageValue", source.field(self.average_of(kind)));
            copy_to(&mut amounts, "averageUtilization", source.field(self.utilization));
            if self.part == "target" {
                complete_target(&mut amounts, kind);
            }
            set(&mut new, self.part, amounts);
            set(&mut out, kind, new);
        }
        out
    }
}

/// v1 leaves the type of a target to be seen from what it sets.
fn complete_target(target: &mut Value, kind: &str) {
    let of_pods = target.has("averageValue");
    // An object's value is never absent in v1: beside an average, zero means that it is.
    if kind == "object" && of_pods && target.text("value") == "0" {
        remove(target, "value");
    }
    let by_value = match kind {
        "object" => !of_pods,
        "external" => target.has("value"),
        _ => false,
    };
    let name = if by_value {
        "Value"
    } else if target.has("averageUtilization") {
        "Utilization"
    } else {
        "AverageValue"
    };
    set(target, "type", name);
}

fn copy_to(object: &mut Value, key: &str, value: Option<&Value>) {
    if let Some(value) = value {
        set(object, key, value.clone());
    }
}

fn spec_to_v1(metric: &Value) -> Value {
    SPEC.to_v1(metric)
}

fn spec_to_v2(metric: &Value) -> Value {
    SPEC.to_v2(metric)
}

fn status_to_v1(metric: &Value) -> Value {
    STATUS.to_v1(metric)
}

fn status_to_v2(metric: &Value) -> Value {
    STATUS.to_v2(metric)
}

/// Upstream writes its internal type into this annotation: Go's names of the fields, and
/// null for what is not set.
fn internal_behavior(behavior: &Value) -> Value {
    let rules = |rules: Option<&Value>| {
        let Some(rules) = rules else { return Value::Null };
        let field = |key: &str| rules.field(key).cloned().unwrap_or(Value::Null);
        let policies: Vec<Value> = rules
            .list("policies")
            .iter()
            .map(|policy| json!({"Type": policy.text("type"), "Value": policy.int("value"), "PeriodSeconds": policy.int("periodSeconds")}))
            .collect();
        json!({
            "StabilizationWindowSeconds": field("stabilizationWindowSeconds"),
            "SelectPolicy": field("selectPolicy"),
            "Policies": policies,
            "Tolerance": field("tolerance"),
        })
    };
    json!({"ScaleUp": rules(behavior.field("scaleUp")), "ScaleDown": rules(behavior.field("scaleDown"))})
}

/// The way back, and no nulls.
fn lower_first(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| {
                let mut letters = key.chars();
                let first = letters.next().map(|letter| letter.to_ascii_lowercase());
                (first.into_iter().chain(letters).collect::<String>(), lower_first(value))
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(lower_first).collect::<Vec<_>>().into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v2() -> Value {
        let metric = json!({"name": "qps", "selector": {"matchLabels": {"a": "b"}}});
        json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "annotations": {"mine": "kept"}},
            "spec": {
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                "minReplicas": 1, "maxReplicas": 5,
                "metrics": [
                    {"type": "Object", "object": {"describedObject": {"kind": "Service", "name": "s"}, "metric": metric,
                        "target": {"type": "Value", "value": "10"}}},
                    {"type": "Object", "object": {"describedObject": {"kind": "Service", "name": "s"}, "metric": metric,
                        "target": {"type": "AverageValue", "averageValue": "10"}}},
                    {"type": "Pods", "pods": {"metric": metric, "target": {"type": "AverageValue", "averageValue": "1k"}}},
                    {"type": "External", "external": {"metric": metric, "target": {"type": "Value", "value": "3"}}},
                    {"type": "ContainerResource", "containerResource": {"name": "memory", "container": "c",
                        "target": {"type": "Utilization", "averageUtilization": 50}}},
                    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}},
                    {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 60}}},
                ],
                "behavior": {"scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "tolerance": "50m",
                    "policies": [{"type": "Pods", "value": 4, "periodSeconds": 15}]}},
            },
            "status": {
                "currentReplicas": 2, "desiredReplicas": 3,
                "currentMetrics": [
                    {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 20, "averageValue": "5m"}}},
                    {"type": "Pods", "pods": {"metric": metric, "current": {"averageValue": "3"}}},
                ],
                "conditions": [{"type": "AbleToScale", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            },
        })
    }

    #[test]
    fn v1_shows_what_it_can_and_carries_the_rest() {
        let mut object = v2();
        to_v1(&mut object);
        assert_eq!(object["apiVersion"], "autoscaling/v1");
        assert_eq!(object["spec"]["targetCPUUtilizationPercentage"], 60);
        assert_eq!(object["spec"].get("metrics"), None);
        assert_eq!(
            object["status"],
            json!({"currentReplicas": 2, "desiredReplicas": 3, "currentCPUUtilizationPercentage": 20})
        );
        assert_eq!(
            object.annotation(BEHAVIOR),
            Some(
                r#"{"ScaleDown":null,"ScaleUp":{"Policies":[{"PeriodSeconds":15,"Type":"Pods","Value":4}],"SelectPolicy":"Max","StabilizationWindowSeconds":0,"Tolerance":"50m"}}"#
            )
        );
        let metrics: Value = serde_json::from_str(object.annotation(METRICS).expect("it is there")).expect("JSON");
        assert_eq!(
            metrics[0],
            json!({"type": "Object", "object": {"target": {"kind": "Service", "name": "s"}, "metricName": "qps",
                "targetValue": "10", "selector": {"matchLabels": {"a": "b"}}}})
        );
        assert_eq!(metrics[1]["object"]["targetValue"], "0");
        assert_eq!(metrics[1]["object"]["averageValue"], "10");
        assert_eq!(
            metrics[3]["external"],
            json!({"metricName": "qps", "metricSelector": {"matchLabels": {"a": "b"}}, "targetValue": "3"})
        );
    }

    #[test]
    fn there_and_back_nothing_is_lost() {
        let mut object = v2();
        to_v1(&mut object);
        to_v2(&mut object);
        assert_eq!(object, v2());
    }

    #[test]
    fn v1_without_a_target_means_cpu() {
        let mut object = json!({"spec": {"maxReplicas": 1, "scaleTargetRef": {"kind": "a", "name": "b"}}});
        to_v2(&mut object);
        assert_eq!(object["spec"]["metrics"], json!([cpu_metric(80)]));
        assert_eq!(object["status"], json!({"desiredReplicas": 0, "currentMetrics": null}));
    }
}
