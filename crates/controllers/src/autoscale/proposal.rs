//! The replicas that the metrics of an autoscaler ask for: one proposal a metric, and the
//! largest of them. Pure; `mod.rs` has fetched the values, and tells the failures as events.
//!
//! The reference is computeReplicasForMetrics of upstream's
//! pkg/controller/podautoscaler/horizontal.go.

use super::metrics::Fetched;
use super::replica_calculator::{PodMetrics, ReplicaCalculator};
use ferry_api::quantity::{Format, Quantity};
use ferry_api::view::autoscaling::v2::{
    ContainerResourceMetricStatus, ExternalMetricStatus, MetricIdentifier, MetricIdentifierView, MetricSpecView,
    MetricStatus, MetricTargetView, MetricValueStatus, ObjectMetricStatus, PodsMetricStatus, ResourceMetricStatus,
};
use ferry_api::view::meta::v1::LabelSelectorView;
use std::fmt::Write;

/// The replica count that one metric asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Proposal {
    pub replicas: i32,
    /// The metric as reasons and messages name it.
    pub metric: String,
    pub status: MetricStatus,
}

/// Why a metric asks for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    /// The reason of the event, and of the condition ScalingActive.
    pub reason: &'static str,
    /// The event's message.
    pub message: String,
    /// The same as part of the message about all metrics.
    pub summary: String,
}

/// The replica count of all metrics of an autoscaler.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    pub statuses: Vec<MetricStatus>,
    pub failures: Vec<Failure>,
    /// The largest proposal; none where nothing can be decided.
    pub chosen: Option<Chosen>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    pub replicas: i32,
    pub metric: String,
}

impl Outcome {
    /// The failures as one message; none where there are none.
    pub(super) fn error(&self) -> Option<String> {
        let first = self.failures.first()?;
        let (invalid, all) = (self.failures.len(), self.statuses.len());
        Some(format!("invalid metrics ({invalid} invalid out of {all}), first error is: {}", first.summary))
    }
}

/// The largest of the proposals. While a metric fails, the others may only ask for more:
/// fewer replicas could be too few for the one that is not known.
pub(super) fn choose<'a>(
    calculator: &ReplicaCalculator<'_>,
    namespace: &str,
    metrics: impl IntoIterator<Item = (MetricSpecView<'a>, Fetched)>,
) -> Outcome {
    let mut outcome = Outcome { statuses: Vec::new(), failures: Vec::new(), chosen: None };
    for (spec, fetched) in metrics {
        match propose(calculator, namespace, spec, fetched) {
            Ok(Proposal { replicas, metric, status }) => {
                outcome.statuses.push(status);
                if outcome.chosen.as_ref().is_none_or(|chosen| chosen.replicas == 0 || replicas > chosen.replicas) {
                    outcome.chosen = Some(Chosen { replicas, metric });
                }
            }
            Err(failure) => {
                outcome.statuses.push(MetricStatus::new().with_type(""));
                outcome.failures.push(failure);
            }
        }
    }
    let shrinks = outcome.chosen.as_ref().is_some_and(|chosen| chosen.replicas < calculator.spec_replicas);
    if !outcome.failures.is_empty() && shrinks {
        outcome.chosen = None;
    }
    outcome
}

fn propose(
    calculator: &ReplicaCalculator<'_>,
    namespace: &str,
    spec: MetricSpecView<'_>,
    fetched: Fetched,
) -> Result<Proposal, Failure> {
    match fetched {
        Fetched::Pods(metrics) if spec.type_() == "Resource" => {
            let source = spec.resource().unwrap_or_default();
            let proposed = resource(calculator, source.name(), None, source.target(), metrics);
            let (replicas, metric, current) = proposed.map_err(|message| Failure {
                reason: "FailedGetResourceMetric",
                summary: format!("failed to get {} resource metric value: {message}", source.name()),
                message,
            })?;
            let status = ResourceMetricStatus::new().with_name(source.name()).with_current(current);
            Ok(Proposal { replicas, metric, status: MetricStatus::new().with_type("Resource").with_resource(status) })
        }
        Fetched::Pods(metrics) if spec.type_() == "ContainerResource" => {
            let source = spec.container_resource().unwrap_or_default();
            let (name, container) = (source.name(), source.container());
            let proposed = resource(calculator, name, Some(container), source.target(), metrics);
            let (replicas, metric, current) = proposed.map_err(|message| Failure {
                reason: "FailedGetContainerResourceMetric",
                summary: format!("failed to get {container} container metric value: {message}"),
                message,
            })?;
            let status =
                ContainerResourceMetricStatus::new().with_name(name).with_container(container).with_current(current);
            let status = MetricStatus::new().with_type("ContainerResource").with_container_resource(status);
            Ok(Proposal { replicas, metric, status })
        }
        Fetched::Pods(metrics) => {
            let source = spec.pods().unwrap_or_default();
            let name = source.metric().name();
            let target = source.target().average_value().unwrap_or_default().milli_value();
            let found = metrics
                .map_err(|why| format!("unable to get metric {name}: {why}"))
                .and_then(|metrics| calculator.for_average(metrics, "", target));
            let found = found.map_err(|message| Failure {
                reason: "FailedGetPodsMetric",
                summary: format!("failed to get pods metric value: {message}"),
                message,
            })?;
            let current = MetricValueStatus::new().with_average_value(Quantity::from_milli(found.usage));
            let status = PodsMetricStatus::new().with_metric(identifier(source.metric())).with_current(current);
            let status = MetricStatus::new().with_type("Pods").with_pods(status);
            Ok(Proposal { replicas: found.replicas, metric: format!("pods metric {name}"), status })
        }
        Fetched::Value(value) => object(calculator, namespace, spec, value),
        Fetched::Values(values) => external(calculator, namespace, spec, values),
        Fetched::Nothing => {
            let message = format!("unknown metric source type {:?}", spec.type_());
            Err(Failure { reason: "InvalidMetricSourceType", summary: message.clone(), message })
        }
    }
}

/// The replicas, the metric's name and its present value.
fn resource(
    calculator: &ReplicaCalculator<'_>,
    name: &str,
    container: Option<&str>,
    target: MetricTargetView<'_>,
    metrics: Result<PodMetrics, String>,
) -> Result<(i32, String, MetricValueStatus), String> {
    let metrics = metrics.map_err(|why| format!("unable to get metrics for resource {name}: {why}"));
    if let Some(target) = target.average_value() {
        let found = metrics.and_then(|metrics| calculator.for_average(metrics, name, target.milli_value()));
        let found = found.map_err(|why| format!("failed to get {name} usage: {why}"))?;
        let current = MetricValueStatus::new().with_average_value(quantity(name, found.usage));
        return Ok((found.replicas, format!("{name} resource"), current));
    }
    let Some(target) = target.average_utilization() else {
        let why = "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set";
        return Err(why.to_owned());
    };
    let found = metrics.and_then(|metrics| calculator.for_utilization(metrics, name, container, target));
    let found = found.map_err(|why| format!("failed to get {name} utilization: {why}"))?;
    let current = MetricValueStatus::new()
        .with_average_utilization(found.percent)
        .with_average_value(quantity(name, found.average));
    let kind = if container.is_some() { "container resource" } else { "resource" };
    Ok((found.replicas, format!("{name} {kind} utilization (percentage of request)"), current))
}

fn object(
    calculator: &ReplicaCalculator<'_>,
    namespace: &str,
    spec: MetricSpecView<'_>,
    value: Result<i64, String>,
) -> Result<Proposal, Failure> {
    let source = spec.object().unwrap_or_default();
    let (described, metric, target) = (source.described_object(), source.metric(), source.target());
    let name = metric.name();
    let failed = |message: String, cause: String| Failure {
        reason: "FailedGetObjectMetric",
        summary: format!("failed to get object metric value: {cause}"),
        message,
    };
    // Upstream's sentence has its parts in this order.
    let value = value.map_err(|why| {
        format!("unable to get metric {name}: {} on {namespace} {}/{why}", described.kind(), described.name())
    });
    let head = ObjectMetricStatus::new().with_described_object(described).with_metric(identifier(metric));
    let status = |current| MetricStatus::new().with_type("Object").with_object(head.with_current(current));
    match (target.type_(), target.value_(), target.average_value()) {
        ("Value", Some(target), _) => {
            let found = value.and_then(|value| calculator.for_value(value, target.milli_value()));
            let found = found.map_err(|why| failed(why.clone(), why))?;
            let current = MetricValueStatus::new().with_value(Quantity::from_milli(found.usage));
            let metric = format!("{} metric {name}", described.kind());
            Ok(Proposal { replicas: found.replicas, metric, status: status(current) })
        }
        ("AverageValue", _, Some(target)) => {
            let found = value.map(|value| calculator.for_value_per_pod(value, target.milli_value()));
            let found =
                found.map_err(|why| failed(why.clone(), format!("failed to get {name} object metric: {why}")))?;
            let current = MetricValueStatus::new().with_average_value(Quantity::from_milli(found.usage));
            let metric = format!("external metric {name}({})", selector_text(metric.selector()));
            Ok(Proposal { replicas: found.replicas, metric, status: status(current) })
        }
        _ => {
            let why = "invalid object metric source: neither a value target nor an average value target was set";
            Err(failed(why.to_owned(), why.to_owned()))
        }
    }
}

fn external(
    calculator: &ReplicaCalculator<'_>,
    namespace: &str,
    spec: MetricSpecView<'_>,
    values: Result<Vec<i64>, String>,
) -> Result<Proposal, Failure> {
    let source = spec.external().unwrap_or_default();
    let (metric, target) = (source.metric(), source.target());
    let name = metric.name();
    let selector = selector_text(metric.selector());
    let failed = |message: String, cause: String| Failure {
        reason: "FailedGetExternalMetric",
        summary: format!("failed to get {name} external metric value: {cause}"),
        message,
    };
    let value = values
        .map(|values| values.iter().fold(0i64, |sum, value| sum.saturating_add(*value)))
        .map_err(|why| format!("unable to get external metric {namespace}/{name}/{selector}: {why}"));
    let status = |current| {
        let status = ExternalMetricStatus::new().with_metric(identifier(metric)).with_current(current);
        MetricStatus::new().with_type("External").with_external(status)
    };
    let described = format!("external metric {name}({selector})");
    if let Some(target) = target.average_value() {
        let found = value.map(|value| calculator.for_value_per_pod(value, target.milli_value()));
        let found = found.map_err(|why| failed(why.clone(), format!("failed to get {name} external metric: {why}")))?;
        let current = MetricValueStatus::new().with_average_value(Quantity::from_milli(found.usage));
        return Ok(Proposal { replicas: found.replicas, metric: described, status: status(current) });
    }
    if let Some(target) = target.value_() {
        let found = value.and_then(|value| calculator.for_value(value, target.milli_value()));
        let found = found.map_err(|why| failed(why.clone(), format!("failed to get external metric {name}: {why}")))?;
        let current = MetricValueStatus::new().with_value(Quantity::from_milli(found.usage));
        return Ok(Proposal { replicas: found.replicas, metric: described, status: status(current) });
    }
    let why = "invalid external metric source: neither a value target nor an average value target was set";
    Err(failed(why.to_owned(), why.to_owned()))
}

fn identifier(metric: MetricIdentifierView<'_>) -> MetricIdentifier {
    MetricIdentifier::new().with_name(metric.name()).with_selector(metric.selector())
}

/// Thousandths of a resource; memory is shown in binary units, as metrics-server shows it.
fn quantity(resource: &str, milli: i64) -> Quantity {
    let quantity = Quantity::from_milli(milli);
    if resource == "memory" { quantity.in_format(Format::BinarySi) } else { quantity }
}

/// A selector as Go prints it, which is how upstream's messages show one.
fn selector_text(selector: Option<LabelSelectorView<'_>>) -> String {
    let Some(selector) = selector else { return "nil".to_owned() };
    let mut text = "&LabelSelector{MatchLabels:map[string]string{".to_owned();
    let mut labels: Vec<(&str, &str)> = selector.match_labels().iter().collect();
    labels.sort_unstable();
    for (key, value) in labels {
        let _ = write!(text, "{key}: {value},");
    }
    text.push_str("},MatchExpressions:[]LabelSelectorRequirement{");
    for expression in selector.match_expressions().iter() {
        let values: Vec<&str> = expression.values().iter().collect();
        let (key, operator) = (expression.key(), expression.operator());
        let _ =
            write!(text, "LabelSelectorRequirement{{Key:{key},Operator:{operator},Values:[{}],}},", values.join(" "));
    }
    text.push_str("},}");
    text
}

#[cfg(test)]
mod tests {
    use super::super::replica_calculator::{PodMetric, Tolerances};
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::autoscaling::v2::HorizontalPodAutoscaler;
    use ferry_api::view::core::v1::Pod;
    use ferry_client::SharedObject;
    use jiff::{SignedDuration, Timestamp};
    use serde_json::{Value, json};

    /// Two ready pods that request a core and a mebibyte each.
    fn pods() -> Vec<SharedObject<Pod>> {
        let pod = |name: &str| {
            SharedObject::of(json!({"metadata": {"name": name},
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Mi"}}}]},
                "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z",
                    "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}))
        };
        vec![pod("a"), pod("b")]
    }

    fn pod_values(value: i64) -> Fetched {
        let metric = PodMetric { value, time: Timestamp::MAX, window: SignedDuration::ZERO };
        Fetched::Pods(Ok(["a", "b"].into_iter().map(|pod| (pod.to_owned(), metric)).collect()))
    }

    fn outcome(metrics: Value, fetched: Vec<Fetched>) -> Outcome {
        let hpa = HorizontalPodAutoscaler::from(json!({"spec": {"metrics": metrics}}));
        let pods = pods();
        let calculator = ReplicaCalculator {
            pods: &pods,
            spec_replicas: 2,
            status_replicas: 2,
            tolerances: Tolerances::of(None),
            now: "2026-01-02T00:00:00Z".parse().expect("a time"),
        };
        choose(&calculator, "ns", hpa.view().spec().metrics().iter().zip(fetched))
    }

    fn check(metric: Value, fetched: Fetched, expected: (i32, &str), current: Value) {
        let found = outcome(json!([metric]), vec![fetched]);
        let chosen = found.chosen.as_ref().map(|chosen| (chosen.replicas, chosen.metric.as_str()));
        assert_eq!((chosen, found.error()), (Some(expected), None), "{metric}");
        assert_eq!(found.statuses[0].value(), &current, "{metric}");
    }

    fn cpu(target: Value) -> Value {
        json!({"type": "Resource", "resource": {"name": "cpu", "target": target}})
    }

    #[test]
    fn every_kind_of_metric_makes_its_proposal() {
        check(
            cpu(json!({"type": "Utilization", "averageUtilization": 50})),
            pod_values(900),
            (4, "cpu resource utilization (percentage of request)"),
            json!({"type": "Resource",
                "resource": {"name": "cpu", "current": {"averageUtilization": 90, "averageValue": "900m"}}}),
        );
        check(
            json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Mi"}}}),
            pod_values(2 * 1024 * 1024 * 1000),
            (4, "memory resource"),
            json!({"type": "Resource", "resource": {"name": "memory", "current": {"averageValue": "2Mi"}}}),
        );
        let target = json!({"type": "Utilization", "averageUtilization": 50});
        check(
            json!({"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": target}}),
            pod_values(900),
            (4, "cpu container resource utilization (percentage of request)"),
            json!({"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c",
                "current": {"averageUtilization": 90, "averageValue": "900m"}}}),
        );
        let average = json!({"type": "AverageValue", "averageValue": "10"});
        check(
            json!({"type": "Pods", "pods": {"metric": {"name": "qps"}, "target": average}}),
            pod_values(20_000),
            (4, "pods metric qps"),
            json!({"type": "Pods", "pods": {"metric": {"name": "qps"}, "current": {"averageValue": "20"}}}),
        );
        let service = json!({"apiVersion": "v1", "kind": "Service", "name": "s"});
        let object = |target: &Value| json!({"type": "Object", "object": {"describedObject": service, "metric": {"name": "hits"}, "target": target}});
        let object_status = |current: Value| json!({"type": "Object", "object": {"describedObject": service, "metric": {"name": "hits"}, "current": current}});
        let value = json!({"type": "Value", "value": "10"});
        check(
            object(&value),
            Fetched::Value(Ok(30_000)),
            (6, "Service metric hits"),
            object_status(json!({"value": "30"})),
        );
        check(
            object(&average),
            Fetched::Value(Ok(30_000)),
            (3, "external metric hits(nil)"),
            object_status(json!({"averageValue": "15"})),
        );
        let selector = json!({"matchLabels": {"b": "2", "a": "1"}});
        let external = |target: &Value| json!({"type": "External", "external": {"metric": {"name": "queue", "selector": selector}, "target": target}});
        let described = "external metric queue(&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},})";
        let external_status = |current: Value| json!({"type": "External", "external": {"metric": {"name": "queue", "selector": selector}, "current": current}});
        let values = || Fetched::Values(Ok(vec![10_000, 20_000]));
        check(external(&value), values(), (6, described), external_status(json!({"value": "30"})));
        check(external(&average), values(), (3, described), external_status(json!({"averageValue": "15"})));
    }

    #[test]
    fn a_metric_that_fails_forbids_fewer_replicas_but_not_more() {
        let utilization = |percent: i32| cpu(json!({"type": "Utilization", "averageUtilization": percent}));
        let metrics = |percent: i32| json!([utilization(percent), utilization(50)]);
        let failed = || Fetched::Pods(Err("no metrics returned from resource metrics API".into()));
        let more = outcome(metrics(50), vec![pod_values(900), failed()]);
        assert_eq!(more.chosen.as_ref().map(|chosen| chosen.replicas), Some(4));
        assert_eq!(more.failures.len(), 1);
        let fewer = outcome(metrics(90), vec![pod_values(100), failed()]);
        assert_eq!(fewer.chosen, None);
        let none = outcome(json!([utilization(50)]), vec![failed()]);
        assert_eq!(none.chosen, None);
        assert_eq!(none.statuses[0].value(), &json!({"type": ""}));
        let failure = &none.failures[0];
        let why = "failed to get cpu utilization: unable to get metrics for resource cpu: no metrics returned from resource metrics API";
        assert_eq!((failure.reason, failure.message.as_str()), ("FailedGetResourceMetric", why));
        assert_eq!(
            none.error().expect("a failure"),
            format!(
                "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {why}"
            )
        );
    }

    #[test]
    fn the_largest_proposal_is_chosen() {
        let metrics = json!([
            cpu(json!({"type": "Utilization", "averageUtilization": 50})),
            cpu(json!({"type": "AverageValue", "averageValue": "100m"})),
        ]);
        let found = outcome(metrics, vec![pod_values(900), pod_values(900)]);
        assert_eq!(found.chosen, Some(Chosen { replicas: 18, metric: "cpu resource".into() }));
        assert_eq!(found.statuses.len(), 2);
    }

    #[test]
    fn failures_are_told_in_upstreams_words() {
        let check = |metric: Value, fetched: Fetched, reason: &str, message: &str| {
            let found = outcome(json!([metric]), vec![fetched]);
            assert_eq!((found.failures[0].reason, found.failures[0].message.as_str()), (reason, message), "{metric}");
        };
        let object = json!({"describedObject": {"kind": "Service", "name": "s"}, "metric": {"name": "hits"},
            "target": {"type": "Value", "value": "1"}});
        check(
            json!({"type": "Object", "object": object}),
            Fetched::Value(Err("unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered".into())),
            "FailedGetObjectMetric",
            "unable to get metric hits: Service on ns s/unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
        );
        check(
            json!({"type": "External", "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "1"}}}),
            Fetched::Values(Err("no metrics returned from external metrics API".into())),
            "FailedGetExternalMetric",
            "unable to get external metric ns/queue/nil: no metrics returned from external metrics API",
        );
        check(
            json!({"type": "New"}),
            Fetched::Nothing,
            "InvalidMetricSourceType",
            "unknown metric source type \"New\"",
        );
    }
}
