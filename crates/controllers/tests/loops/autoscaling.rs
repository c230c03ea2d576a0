//! The autoscaler against an API in memory, with a custom resource as its target and the test
//! as the metrics server: sizes, conditions and events are upstream's, metrics that come late
//! are found by themselves, and an autoscaler is looked at every 15 seconds and no oftener.

use crate::harness::{has_event, new_api, start};
use crate::memory_api::MemoryApi;
use serde_json::{Value, json};
use std::time::Duration;

const POD_METRICS: &str = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";

/// An API with a Widget `web` of so many replicas, and as many ready pods that request a core.
fn with_widget(replicas: usize) -> MemoryApi {
    let api = new_api();
    api.create(
        "widgets",
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": replicas},
            "status": {"replicas": replicas, "selector": "app=web"}}),
    );
    api.create("nodes", json!({"metadata": {"name": "n"}}));
    for at in 0..replicas {
        api.create(
            "pods",
            json!({"metadata": {"name": format!("p{at}"), "namespace": "default", "labels": {"app": "web"}},
                "spec": {"nodeName": "n", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]},
                "status": {"phase": "Running", "startTime": "2024-01-01T00:00:00Z", "conditions": [
                    {"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T00:00:00Z"}]}}),
        );
    }
    api
}

/// The metrics of the pods, each with so much CPU.
fn serve_cpu(api: &MemoryApi, pods: usize, cpu: &str) {
    let item = |at: usize| {
        json!({"metadata": {"name": format!("p{at}"), "namespace": "default"}, "timestamp": "2026-01-01T00:00:00Z",
            "window": "15s", "containers": [{"name": "c", "usage": {"cpu": cpu, "memory": "1Mi"}}]})
    };
    let items: Vec<Value> = (0..pods).map(item).collect();
    api.answer_at(POD_METRICS, json!({"kind": "PodMetricsList", "items": items}));
}

fn autoscaler(name: &str, kind: &str, max: i32, metrics: Value) -> Value {
    json!({"metadata": {"name": name, "namespace": "default"}, "spec": {"minReplicas": 1, "maxReplicas": max,
        "scaleTargetRef": {"apiVersion": "example.com/v1", "kind": kind, "name": "web"}, "metrics": metrics}})
}

fn half_a_core() -> Value {
    let target = json!({"type": "Utilization", "averageUtilization": 50});
    json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}])
}

fn replicas(api: &MemoryApi) -> Value {
    api.get("widgets", "default", "web").expect("the target")["spec"]["replicas"].clone()
}

fn status(api: &MemoryApi, name: &str) -> Value {
    api.get("horizontalpodautoscalers", "default", name).unwrap_or_default()["status"].clone()
}

/// The status, reason and message of a condition.
fn condition(api: &MemoryApi, name: &str, kind: &str) -> (String, String, String) {
    let conditions = status(api, name)["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default();
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    (text("status"), text("reason"), text("message"))
}

async fn until_reason(api: &MemoryApi, name: &str, kind: &str, reason: &str) {
    api.until(&format!("{kind} of {name} is {reason}"), |api| condition(api, name, kind).1 == reason).await;
}

#[tokio::test(start_paused = true)]
async fn a_custom_resource_grows_with_its_load() {
    let api = with_widget(2);
    serve_cpu(&api, 2, "900m");
    api.create("horizontalpodautoscalers", autoscaler("web", "Widget", 10, half_a_core()));
    let _running = start(&api);
    until_reason(&api, "web", "AbleToScale", "SucceededRescale").await;
    assert_eq!(replicas(&api), 4);
    let status = status(&api, "web");
    assert_eq!((&status["currentReplicas"], &status["desiredReplicas"]), (&json!(2), &json!(4)));
    assert_eq!(
        status["currentMetrics"],
        json!([{"type": "Resource", "resource":
            {"name": "cpu", "current": {"averageUtilization": 90, "averageValue": "900m"}}}])
    );
    assert!(status["lastScaleTime"].is_string(), "{status:#}");
    let message = "the HPA controller was able to update the target scale to 4";
    assert_eq!(condition(&api, "web", "AbleToScale").2, message);
    let found = "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)";
    assert_eq!(condition(&api, "web", "ScalingActive"), ("True".into(), "ValidMetricFound".into(), found.into()));
    assert_eq!(condition(&api, "web", "ScalingLimited").1, "DesiredWithinRange");
    let event = "New size: 4; reason: cpu resource utilization (percentage of request) above target";
    api.until("the event is there", |api| has_event(api, "SuccessfulRescale", event)).await;
}

#[tokio::test(start_paused = true)]
async fn metrics_that_come_late_are_found_by_themselves() {
    let api = with_widget(2);
    api.create("horizontalpodautoscalers", autoscaler("web", "Widget", 10, half_a_core()));
    let _running = start(&api);
    until_reason(&api, "web", "ScalingActive", "FailedGetResourceMetric").await;
    let why = "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)";
    let message = format!("the HPA was unable to compute the replica count: {why}");
    assert_eq!(condition(&api, "web", "ScalingActive"), ("False".into(), "FailedGetResourceMetric".into(), message));
    let all =
        format!("invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: {why}");
    api.until("the events are there", |api| {
        has_event(api, "FailedGetResourceMetric", why) && has_event(api, "FailedComputeMetricsReplicas", &all)
    })
    .await;
    serve_cpu(&api, 2, "900m");
    until_reason(&api, "web", "AbleToScale", "SucceededRescale").await;
    assert_eq!(replicas(&api), 4);
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_is_looked_at_every_period_and_no_oftener() {
    let api = with_widget(2);
    serve_cpu(&api, 2, "500m");
    api.create("horizontalpodautoscalers", autoscaler("web", "Widget", 10, half_a_core()));
    let _running = start(&api);
    until_reason(&api, "web", "ScalingActive", "ValidMetricFound").await;
    assert_eq!(api.calls("GET", "widgets/scale"), 1);
    tokio::time::sleep(Duration::from_millis(14_500)).await;
    assert_eq!(api.calls("GET", "widgets/scale"), 1, "its own status does not wake it");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(api.calls("GET", "widgets/scale"), 2);
    let writes = api.calls("PUT", "horizontalpodautoscalers");
    tokio::time::sleep(Duration::from_secs(150)).await;
    assert_eq!(api.calls("GET", "widgets/scale"), 12);
    assert_eq!(api.calls("PUT", "horizontalpodautoscalers"), writes, "nothing new is written");
    api.edit("horizontalpodautoscalers", "default", "web", |hpa| hpa["spec"]["maxReplicas"] = 1.into());
    api.until("a changed spec is acted on at once", |api| replicas(api) == 1).await;
    assert_eq!(api.calls("GET", "widgets/scale"), 13);
    api.delete("horizontalpodautoscalers", "default", "web", "Background");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(api.calls("GET", "widgets/scale"), 13, "one that is gone comes no more");
}

#[tokio::test(start_paused = true)]
async fn bounds_are_kept_without_metrics() {
    let check = |size: usize, min: i32, max: i32, expected: i32, reason: &'static str| async move {
        let api = with_widget(size);
        let mut object = autoscaler("web", "Widget", max, half_a_core());
        object["spec"]["minReplicas"] = min.into();
        api.create("horizontalpodautoscalers", object);
        let _running = start(&api);
        until_reason(&api, "web", "AbleToScale", "SucceededRescale").await;
        assert_eq!(replicas(&api), expected);
        let event = format!("New size: {expected}; reason: {reason}");
        api.until("the event is there", |api| has_event(api, "SuccessfulRescale", &event)).await;
    };
    check(3, 1, 2, 2, "Current number of replicas above Spec.MaxReplicas").await;
    check(1, 3, 5, 3, "Current number of replicas below Spec.MinReplicas").await;
    let stopped = with_widget(0);
    stopped.create("horizontalpodautoscalers", autoscaler("web", "Widget", 5, half_a_core()));
    let _running = start(&stopped);
    until_reason(&stopped, "web", "ScalingActive", "ScalingDisabled").await;
    assert_eq!(replicas(&stopped), 0, "somebody wants none");
}

#[tokio::test(start_paused = true)]
async fn a_target_that_cannot_be_scaled_is_told() {
    let check = |change: &'static dyn Fn(&mut Value), why: &'static str| async move {
        let api = with_widget(1);
        let mut object = autoscaler("web", "Widget", 5, half_a_core());
        change(&mut object["spec"]["scaleTargetRef"]);
        api.create("horizontalpodautoscalers", object);
        let _running = start(&api);
        until_reason(&api, "web", "AbleToScale", "FailedGetScale").await;
        let message = format!("the HPA controller was unable to get the target's current scale: {why}");
        assert_eq!(condition(&api, "web", "AbleToScale"), ("False".into(), "FailedGetScale".into(), message));
        api.until("the event is there", |api| has_event(api, "FailedGetScale", why)).await;
    };
    check(&|target| target["kind"] = "Nope".into(), r#"no matches for kind "Nope" in group "example.com""#).await;
    check(&|target| target["name"] = "none".into(), r#"widgets "none" not found"#).await;
    check(&|target| target["apiVersion"] = "a/b/c".into(), "unexpected GroupVersion string: a/b/c").await;
}

#[tokio::test(start_paused = true)]
async fn two_autoscalers_of_the_same_pods_stop_each_other() {
    let api = with_widget(2);
    serve_cpu(&api, 2, "500m");
    let object = json!({"metadata": {"name": "other", "namespace": "default"}, "spec": {"replicas": 2},
        "status": {"replicas": 2, "selector": "app in (web)"}});
    api.create("widgets", object);
    api.create("horizontalpodautoscalers", autoscaler("a", "Widget", 10, half_a_core()));
    let mut second = autoscaler("b", "Widget", 10, half_a_core());
    second["spec"]["scaleTargetRef"]["name"] = "other".into();
    api.create("horizontalpodautoscalers", second);
    let _running = start(&api);
    for name in ["a", "b"] {
        until_reason(&api, name, "ScalingActive", "AmbiguousSelector").await;
    }
    let message = "pods by selector app=web are controlled by multiple HPAs: [{a default} {b default}]";
    assert_eq!(condition(&api, "a", "ScalingActive").2, message);
    api.delete("horizontalpodautoscalers", "default", "b", "Background");
    until_reason(&api, "a", "ScalingActive", "ValidMetricFound").await;
}

#[tokio::test(start_paused = true)]
async fn custom_and_external_metrics_are_asked_of_whoever_serves_them() {
    let api = with_widget(2);
    let average = json!({"type": "AverageValue", "averageValue": "10"});
    let object = json!({"describedObject": {"apiVersion": "v1", "kind": "Service", "name": "s"},
        "metric": {"name": "hits"}, "target": {"type": "Value", "value": "10"}});
    let metrics = json!([
        {"type": "Pods", "pods": {"metric": {"name": "qps"}, "target": average}},
        {"type": "Object", "object": object},
        {"type": "External", "external": {"metric": {"name": "queue"}, "target": average}},
    ]);
    api.create("horizontalpodautoscalers", autoscaler("web", "Widget", 100, metrics));
    let _running = start(&api);
    until_reason(&api, "web", "ScalingActive", "FailedGetPodsMetric").await;
    let none = "unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered";
    assert_eq!(
        condition(&api, "web", "ScalingActive").2,
        format!("the HPA was unable to compute the replica count: {none}")
    );
    let external = "unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: the server could not find the requested resource (get queue.external.metrics.k8s.io)";
    api.until("the event is there", |api| has_event(api, "FailedGetExternalMetric", external)).await;

    let value = |name: &str, value: &str| json!({"describedObject": {"kind": "Pod", "name": name}, "timestamp": "2026-01-01T00:00:00Z", "value": value});
    let custom = "/apis/custom.metrics.k8s.io";
    let namespaced = format!("{custom}/v1beta2/namespaces/default");
    api.answer_at(custom, json!({"kind": "APIGroup", "versions": [{"version": "v1beta2"}, {"version": "v1beta1"}]}));
    api.answer_at(&format!("{namespaced}/pods/*/qps"), json!({"items": [value("p0", "15"), value("p1", "15")]}));
    api.answer_at(&format!("{namespaced}/services/s/hits"), json!({"items": [value("s", "25")]}));
    let queue = "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue";
    api.answer_at(
        queue,
        json!({"items": [{"metricName": "queue", "value": "30"}, {"metricName": "queue", "value": "20"}]}),
    );
    until_reason(&api, "web", "AbleToScale", "SucceededRescale").await;
    // The pods ask for 3, the object for 5 and the queue for 5; the limit without a behaviour is 4.
    assert_eq!(replicas(&api), 4);
    assert_eq!(condition(&api, "web", "ScalingLimited").1, "ScaleUpLimit");
    let current: Vec<Value> = status(&api, "web")["currentMetrics"].as_array().cloned().unwrap_or_default();
    assert_eq!(current[0]["pods"]["current"], json!({"averageValue": "15"}));
    assert_eq!(current[1]["object"]["current"], json!({"value": "25"}));
    assert_eq!(current[2]["external"]["current"], json!({"averageValue": "25"}));
}
