//! Fetches what an autoscaler scales by, from the metrics API of each kind of source:
//! metrics.k8s.io, which ferry or a metrics-server serves, and custom.metrics.k8s.io and
//! external.metrics.k8s.io where somebody has installed a server for them. Only requests and
//! the reading of their answers; `proposal.rs` judges the values.
//!
//! The reference is upstream's pkg/controller/podautoscaler/metrics/client.go and the clients
//! of k8s.io/metrics.

use super::replica_calculator::{PodMetric, PodMetrics};
use super::scale_target::RestMapper;
use ferry_api::gvk::GroupVersion;
use ferry_api::quantity::Quantity;
use ferry_api::rules::duration;
use ferry_api::rules::label_selector::to_selector;
use ferry_api::selector::Selector;
use ferry_api::view::autoscaling::v2::{CrossVersionObjectReferenceView, MetricIdentifierView, MetricSpecView};
use ferry_api::view::metrics::v1beta1::{PodMetrics as PodMetricsObject, PodMetricsView};
use ferry_client::{Client, Error, ListParams, Request, ResourcePath, SharedObject};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;

const CUSTOM: &str = "custom.metrics.k8s.io";
const EXTERNAL: &str = "external.metrics.k8s.io";

/// The window of a custom metric that names none.
const DEFAULT_WINDOW: SignedDuration = SignedDuration::from_secs(60);

/// The values that were fetched for one metric of an autoscaler, in thousandths.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fetched {
    Pods(Result<PodMetrics, String>),
    Value(Result<i64, String>),
    Values(Result<Vec<i64>, String>),
    /// A source of no known type, of which nothing can be fetched.
    Nothing,
}

pub(super) struct MetricsClient<'a> {
    pub client: &'a Client,
    pub mapper: &'a RestMapper,
    pub namespace: &'a str,
    pub selector: &'a Selector,
}

impl MetricsClient<'_> {
    pub(super) async fn fetch(&self, spec: MetricSpecView<'_>) -> Fetched {
        match spec.type_() {
            "Resource" => {
                let source = spec.resource().unwrap_or_default();
                Fetched::Pods(self.resource(source.name(), None).await)
            }
            "ContainerResource" => {
                let source = spec.container_resource().unwrap_or_default();
                Fetched::Pods(self.resource(source.name(), Some(source.container())).await)
            }
            "Pods" => Fetched::Pods(self.pods(spec.pods().unwrap_or_default().metric()).await),
            "Object" => {
                let source = spec.object().unwrap_or_default();
                Fetched::Value(self.object(source.described_object(), source.metric()).await)
            }
            "External" => Fetched::Values(self.external(spec.external().unwrap_or_default().metric()).await),
            _ => Fetched::Nothing,
        }
    }

    async fn resource(&self, resource: &str, container: Option<&str>) -> Result<PodMetrics, String> {
        let params = ListParams { label_selector: Some(self.selector.to_string()), ..Default::default() };
        let list = self.client.api::<PodMetricsObject>(self.namespace).list(&params).await.map_err(|error| {
            format!("unable to fetch metrics from resource metrics API: {}", explain(&error, "pods.metrics.k8s.io"))
        })?;
        if list.items.is_empty() {
            return Err("no metrics returned from resource metrics API".to_owned());
        }
        Ok(read_resource(&list.items, resource, container))
    }

    async fn pods(&self, metric: MetricIdentifierView<'_>) -> Result<PodMetrics, String> {
        let failed = |why: String| format!("unable to fetch metrics from custom metrics API: {why}");
        let selector = metric_selector(metric)?;
        let mut query = vec![("labelSelector".to_owned(), self.selector.to_string())];
        query.extend(selector.map(|selector| ("metricLabelSelector".to_owned(), selector)));
        let path = ["pods", "*", metric.name()];
        let list = self.custom(&path, query).await.map_err(failed)?;
        if list.items.is_empty() {
            return Err("no metrics returned from custom metrics API".to_owned());
        }
        let read = |item: MetricValue| {
            let window = item.window_seconds.or(item.window).map_or(DEFAULT_WINDOW, SignedDuration::from_secs);
            let metric = PodMetric { value: milli(&item.value), time: item.time(), window };
            (item.described_object.name, metric)
        };
        Ok(list.items.into_iter().map(read).collect())
    }

    async fn object(
        &self,
        object: CrossVersionObjectReferenceView<'_>,
        metric: MetricIdentifierView<'_>,
    ) -> Result<i64, String> {
        let failed = |why: String| format!("unable to fetch metrics from custom metrics API: {why}");
        let selector = metric_selector(metric)?;
        let query = selector.map(|selector| ("metricLabelSelector".to_owned(), selector)).into_iter().collect();
        let group = GroupVersion::parse(object.api_version()).group.into_owned();
        let list = if group.is_empty() && object.kind() == "Namespace" {
            // The autoscaler's own namespace, whatever the reference names.
            self.custom(&["metrics", metric.name()], query).await
        } else {
            let resource = self.mapper.resource_of(self.client, &group, object.kind()).await.map_err(failed)?;
            let resource = qualified(&resource);
            self.custom(&[&resource, object.name(), metric.name()], query).await
        };
        match list.map_err(failed)?.items.as_slice() {
            [one] => Ok(milli(&one.value)),
            others => {
                let count = others.len();
                let why =
                    format!("the custom metrics API server returned {count} results when we asked for exactly one");
                Err(failed(why))
            }
        }
    }

    async fn external(&self, metric: MetricIdentifierView<'_>) -> Result<Vec<i64>, String> {
        let query: Vec<_> =
            metric_selector(metric)?.map(|selector| ("labelSelector".to_owned(), selector)).into_iter().collect();
        let path = ResourcePath::new(EXTERNAL, "v1beta1", metric.name()).url(self.namespace, None, None);
        let request = Request { path, query, ..Default::default() };
        let list: MetricValueList = self.client.decode(request).await.map_err(|error| {
            let resource = format!("{}.{EXTERNAL}", metric.name());
            format!("unable to fetch metrics from external metrics API: {}", explain(&error, &resource))
        })?;
        if list.items.is_empty() {
            return Err("no metrics returned from external metrics API".to_owned());
        }
        Ok(list.items.iter().map(|item| milli(&item.value)).collect())
    }

    /// Asks the custom metrics API in the version that its server prefers.
    async fn custom(&self, path: &[&str], query: Vec<(String, String)>) -> Result<MetricValueList, String> {
        let group: Result<Group, Error> =
            self.client.decode(Request { path: format!("/apis/{CUSTOM}"), ..Default::default() }).await;
        let versions = match group {
            Ok(group) => group.versions,
            Err(error) if error.is_not_found() => Vec::new(),
            Err(error) => return Err(error.to_string()),
        };
        let known =
            versions.iter().map(|version| version.version.as_str()).find(|v| ["v1beta2", "v1beta1"].contains(v));
        let version = known.ok_or_else(|| format!("no custom metrics API ({CUSTOM}) registered"))?;
        let (resource, rest) = path.split_first().map_or(("", path), |(resource, rest)| (*resource, rest));
        let at = ResourcePath::new(CUSTOM, version, resource);
        let path = at.url(self.namespace, rest.first().copied(), rest.get(1).copied());
        let described = format!("{resource}.{CUSTOM}");
        self.client
            .decode(Request { path, query, ..Default::default() })
            .await
            .map_err(|error| explain(&error, &described))
    }
}

/// Client-go names the resource where a server says only that it has none.
fn explain(error: &Error, resource: &str) -> String {
    match error.status() {
        Some(status)
            if status.is_not_found() && status.details.as_ref().is_none_or(|details| details.name.is_empty()) =>
        {
            format!("the server could not find the requested resource (get {resource})")
        }
        _ => error.to_string(),
    }
}

fn metric_selector(metric: MetricIdentifierView<'_>) -> Result<Option<String>, String> {
    let Some(selector) = metric.selector() else { return Ok(None) };
    let selector = to_selector(Some(selector)).map_err(|error| error.to_string())?;
    Ok(Some(selector.to_string()).filter(|text| !text.is_empty()))
}

/// `deployments.apps`, or `services` for the core group.
fn qualified(resource: &ResourcePath) -> String {
    match resource.group.as_str() {
        "" => resource.plural.clone(),
        group => format!("{}.{group}", resource.plural),
    }
}

/// The pods' values of a resource; a pod of which one container lacks it has none.
fn read_resource(list: &[SharedObject<PodMetricsObject>], resource: &str, container: Option<&str>) -> PodMetrics {
    let mut metrics = PodMetrics::new();
    for item in list {
        let view = item.view();
        let value = match container {
            Some(container) => {
                let found = view.containers().iter().find(|one| one.name() == container);
                found.and_then(|one| Some(one.usage().get(resource)?.milli_value()))
            }
            None => sum_of_containers(view, resource),
        };
        if let Some(value) = value {
            let window = duration::parse(view.window()).unwrap_or_default();
            let window = SignedDuration::try_from(window).unwrap_or(SignedDuration::MAX);
            let time = view.timestamp().unwrap_or(Timestamp::UNIX_EPOCH);
            metrics.insert(view.metadata().name().to_owned(), PodMetric { value, time, window });
        }
    }
    metrics
}

fn sum_of_containers(pod: PodMetricsView<'_>, resource: &str) -> Option<i64> {
    if pod.containers().is_empty() {
        return None;
    }
    pod.containers()
        .iter()
        .try_fold(0i64, |sum, container| Some(sum.saturating_add(container.usage().get(resource)?.milli_value())))
}

fn milli(value: &serde_json::Value) -> i64 {
    ferry_api::quantity::from_value(value).map_or(0, |quantity: Quantity| quantity.milli_value())
}

/// A MetricValueList or ExternalMetricValueList of any version.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MetricValueList {
    items: Vec<MetricValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MetricValue {
    described_object: DescribedObject,
    timestamp: Option<String>,
    /// v1beta2's name of v1beta1's `window`.
    window_seconds: Option<i64>,
    window: Option<i64>,
    value: serde_json::Value,
}

impl MetricValue {
    fn time(&self) -> Timestamp {
        self.timestamp.as_deref().and_then(|text| text.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DescribedObject {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Group {
    versions: Vec<Version>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Version {
    version: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_pods_value_is_the_sum_of_its_containers_or_that_of_one() {
        let pod = |name: &str, containers: Value| {
            SharedObject::<PodMetricsObject>::of(json!({"metadata": {"name": name}, "window": "15.5s",
                "timestamp": "2026-01-01T00:00:00Z", "containers": containers}))
        };
        let usage = |name: &str, cpu: &str| json!({"name": name, "usage": {"cpu": cpu}});
        let list = [
            pod("both", json!([usage("a", "250m"), usage("b", "1500000n")])),
            pod("half", json!([usage("a", "1"), {"name": "b", "usage": {}}])),
            pod("none", json!([])),
        ];
        let check = |container: Option<&str>, expected: &[(&str, i64)]| {
            let metrics = read_resource(&list, "cpu", container);
            let found: Vec<(&str, i64)> = metrics.iter().map(|(name, metric)| (name.as_str(), metric.value)).collect();
            assert_eq!(found, expected, "{container:?}");
            assert!(metrics.values().all(|metric| metric.window == SignedDuration::from_millis(15_500)));
        };
        check(None, &[("both", 252)]);
        check(Some("a"), &[("both", 250), ("half", 1000)]);
        check(Some("b"), &[("both", 2)]);
        check(Some("x"), &[]);
    }
}
