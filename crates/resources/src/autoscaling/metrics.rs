//! What an autoscaler watches: the rules of each kind of metric, and how a table shows
//! where they stand.

use super::horizontal_pod_autoscaler::ApiVersion;
use crate::read::Read;
use crate::validation::facts::DeclaredValues;
use crate::validation::resources::{quantity, validate_container_resource_name};
use ferry_api::field::{Error, ErrorList, Path};
use serde_json::Value;

/// The kinds of metric and the fields they stand in, in the order in which upstream looks.
const SOURCES: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];
static TYPES: DeclaredValues = DeclaredValues::of("autoscaling/v1", "MetricSpec", "type");

/// A table shows this many and counts the rest.
const MOST_SHOWN: usize = 2;

/// The version of a `CrossVersionObjectReference`.
pub(super) fn validate_reference(
    errors: &mut ErrorList,
    reference: Option<&Value>,
    api_version: ApiVersion,
    path: &Path,
) {
    let given = reference.text("apiVersion");
    if let Err(error) = api_version.check(given) {
        errors.push(Error::invalid(&path.child("apiVersion"), given, error));
    }
}

pub(super) fn validate_metrics(
    errors: &mut ErrorList,
    metrics: &[Value],
    least: Option<i64>,
    api_version: ApiVersion,
    path: &Path,
) {
    for (index, metric) in metrics.iter().enumerate() {
        validate_metric(errors, metric, api_version, &path.index(index));
    }
    let wakes = metrics.iter().any(|metric| matches!(metric.text("type"), "Object" | "External"));
    if least == Some(0) && !wakes {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(Error::forbidden(path, detail));
    }
}

fn validate_metric(errors: &mut ErrorList, metric: &Value, api_version: ApiVersion, path: &Path) {
    let kind = metric.text("type");
    let expected = SOURCES.iter().find(|(name, _)| *name == kind);
    if kind.is_empty() {
        errors.push(Error::required(&path.child("type"), "must specify a metric source type"));
    }
    if expected.is_none() {
        errors.push(Error::not_supported(&path.child("type"), kind, &TYPES));
    }
    let mut present = SOURCES.iter().filter_map(|(_, field)| Some((*field, metric.field(field)?)));
    let first = present.next();
    if let Some((field, source)) = first {
        validate_source(errors, field, source, api_version, &path.child(field));
    }
    match expected {
        Some((_, field)) if !metric.has(field) => {
            errors.push(Error::required(&path.child(field), "must populate information for the given metric source"));
        }
        Some(_) => {}
        None => errors.push(Error::not_supported(&path.child("type"), kind, &TYPES)),
    }
    let others: Vec<&str> = present.map(|(field, _)| field).collect();
    if !others.is_empty() {
        for field in first.iter().map(|(field, _)| *field).chain(others) {
            if expected.is_none_or(|(_, expected)| *expected != field) {
                let detail = "must populate the given metric source only";
                errors.push(Error::forbidden(&path.child(field), detail));
            }
        }
    }
}

fn validate_source(errors: &mut ErrorList, field: &str, source: &Value, api_version: ApiVersion, path: &Path) {
    let (target, at) = (source.field("target"), path.child("target"));
    match field {
        "object" => {
            let object = source.field("describedObject");
            validate_reference(errors, object, api_version, &path.child("describedObject"));
        }
        "containerResource" if !source.text("name").is_empty() => {
            validate_container_resource_name(errors, source.text("name"), &path.child("name"));
        }
        _ => {}
    }
    validate_target(errors, target, &at);
    let (value, average) = (target.has("value"), target.has("averageValue"));
    let utilization = target.has("averageUtilization");
    let required = |key: &str, detail: &str| Error::required(&at.child(key), detail);
    match field {
        "object" if !value && !average => {
            errors.push(required("averageValue", "must set either a target value or averageValue"));
        }
        "external" if !value && !average => {
            errors.push(required("averageValue", "must set either a target value for metric or a per-pod target"));
        }
        "external" if value && average => {
            let detail = "may not set both a target value for metric and a per-pod target";
            errors.push(Error::forbidden(&at.child("value"), detail));
        }
        "pods" if !average => errors.push(required("averageValue", "must specify a positive target averageValue")),
        "resource" | "containerResource" if !utilization && !average => {
            errors.push(required("averageUtilization", "must set either a target raw value or a target utilization"));
        }
        "resource" | "containerResource" if utilization && average => {
            let detail = "may not set both a target raw value and a target utilization";
            errors.push(Error::forbidden(&at.child("averageValue"), detail));
        }
        _ => {}
    }
}

fn validate_target(errors: &mut ErrorList, target: Option<&Value>, path: &Path) {
    let kind = target.text("type");
    if kind.is_empty() {
        errors.push(Error::required(&path.child("type"), "must specify a metric target type"));
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        let detail = "must be either Utilization, Value, or AverageValue";
        errors.push(Error::invalid(&path.child("type"), kind, detail));
    }
}

/// `cpu: 20%/80%, 5/10 (avg) + 1 more...`.
pub(super) fn metrics_text(specs: &[Value], statuses: &[Value]) -> String {
    if specs.is_empty() {
        return "<none>".to_owned();
    }
    let shown: Vec<String> =
        specs.iter().enumerate().take(MOST_SHOWN).map(|(index, spec)| metric_text(spec, statuses.get(index))).collect();
    let text = shown.join(", ");
    if specs.len() > MOST_SHOWN { format!("{text} + {} more...", specs.len() - MOST_SHOWN) } else { text }
}

fn metric_text(spec: &Value, status: Option<&Value>) -> String {
    let Some((_, field)) = SOURCES.iter().find(|(name, _)| *name == spec.text("type")) else {
        return "<unknown type>".to_owned();
    };
    let (source, found) = (spec.field(field), status.field(field));
    let (target, current) = (source.field("target"), found.field("current"));
    // A quantity that a status does not have reads as zero.
    let amount = |of: Option<&Value>, key: &str| match of.field(key).and_then(quantity) {
        Some(amount) => amount.to_string(),
        None => "0".to_owned(),
    };
    let unknown = || "<unknown>".to_owned();
    let of_pods = target.has("averageValue");
    match *field {
        "object" | "external" if of_pods => {
            let now = if current.has("averageValue") { amount(current, "averageValue") } else { unknown() };
            format!("{now}/{} (avg)", amount(target, "averageValue"))
        }
        "object" | "external" => {
            let now = if found.is_some() { amount(current, "value") } else { unknown() };
            format!("{now}/{}", amount(target, "value"))
        }
        "pods" => {
            let now = if found.is_some() { amount(current, "averageValue") } else { unknown() };
            format!("{now}/{}", amount(target, "averageValue"))
        }
        _ if of_pods => {
            let now = if found.is_some() { amount(current, "averageValue") } else { unknown() };
            format!("{}: {now}/{}", source.text("name"), amount(target, "averageValue"))
        }
        _ => {
            let percent = |of: Option<&Value>| Some(format!("{}%", of.opt_int("averageUtilization")?));
            let now = percent(current).unwrap_or_else(unknown);
            let wanted = percent(target).unwrap_or_else(|| "<auto>".to_owned());
            format!("{}: {now}/{wanted}", source.text("name"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validation::marks::validate_marks_of;
    use serde_json::json;

    #[track_caller]
    fn check(metric: Value, expected: &[&str]) {
        let (mut errors, path) = (ErrorList::new(), Path::new("metrics"));
        validate_marks_of(&mut errors, "autoscaling/v2", "MetricSpec", &metric, &path.index(0));
        validate_metrics(&mut errors, &[metric], None, ApiVersion::GroupMayBeEmpty, &path);
        crate::testing::compare(&errors, expected);
    }

    #[test]
    fn a_metric_is_of_one_kind_and_complete() {
        let target = json!({"type": "AverageValue", "averageValue": "1"});
        check(json!({"type": "Pods", "pods": {"metric": {"name": "qps"}, "target": target}}), &[]);
        check(
            json!({"type": "Pods"}),
            &["metrics[0].pods: Required value: must populate information for the given metric source"],
        );
        check(
            json!({"type": "Pods", "pods": {"metric": {"name": "qps"}, "target": target}, "resource": {}}),
            &["metrics[0].resource: Forbidden: must populate the given metric source only"],
        );
        check(
            json!({"type": "Resource", "resource": {"target": {"type": "Some", "averageValue": "-1", "averageUtilization": 0}}}),
            &[
                "metrics[0].resource.name: Required value: must specify a resource name",
                "metrics[0].resource.target.type: Invalid value: \"Some\": must be either Utilization, Value, or AverageValue",
                "metrics[0].resource.target.averageValue: Invalid value: \"-1\": must be positive",
                "metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
                "metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
            ],
        );
        let unsupported = "metrics[0].type: Unsupported value: \"Some\": supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"";
        check(json!({"type": "Some"}), &[unsupported, unsupported]);
    }

    #[test]
    fn metrics_are_shown_against_their_targets() {
        let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}});
        let pods = json!({"type": "Pods", "pods": {"target": {"averageValue": "10"}}});
        let external = json!({"type": "External", "external": {"target": {"averageValue": "5"}}});
        let status = |field: &str, current: Value| {
            let mut status = json!({});
            status[field] = json!({"current": current});
            status
        };
        assert_eq!(metrics_text(&[], &[]), "<none>");
        assert_eq!(metrics_text(std::slice::from_ref(&cpu), &[]), "cpu: <unknown>/80%");
        assert_eq!(
            metrics_text(
                &[cpu.clone(), pods.clone()],
                &[status("resource", json!({"averageUtilization": 20})), status("pods", json!({"averageValue": "3"}))]
            ),
            "cpu: 20%/80%, 3/10"
        );
        assert_eq!(metrics_text(&[external, cpu, pods], &[]), "<unknown>/5 (avg), cpu: <unknown>/80% + 1 more...");
    }
}
