//! metrics.k8s.io from kubelets of the test: what is answered, to whom, how often a kubelet
//! is asked for it, and that another server may take the group over.

use crate::aggregation::{AGGREGATED, SLICES, reason};
use crate::backend::{Backend, Seen, text};
use crate::server::{PODS, SERVICES, Server};
use bytes::Bytes;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use http::Response;
use http_body_util::Full;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;

const MERGE: &str = "application/merge-patch+json";
const NODES: &str = "/apis/metrics.k8s.io/v1beta1/nodes";
const POD_METRICS: &str = "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods";
const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
const API_SERVICE: &str = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io";

/// A kubelet whose pods `web` and `db` have used a quarter of a core and half of one since
/// its last page, which was made a second before.
fn kubelet_script() -> impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static {
    let pages = Arc::new(Mutex::new(0u32));
    move |_| {
        let mut pages = pages.lock();
        *pages += 1;
        let (count, time) = (f64::from(*pages), 1_700_000_000_000 + i64::from(*pages) * 1000);
        let mut page = format!(
            "# TYPE node_cpu_usage_seconds_total counter\nnode_cpu_usage_seconds_total {} {time}\nnode_memory_working_set_bytes 1.048576e+06 {time}\n",
            100.0 + count
        );
        for (pod, container, rate) in [("web", "c", 0.25), ("db", "main", 0.4), ("db", "side", 0.1)] {
            let labels = format!("{{container=\"{container}\",namespace=\"default\",pod=\"{pod}\"}}");
            page += &format!(
                "container_cpu_usage_seconds_total{labels} {} {time}\ncontainer_memory_working_set_bytes{labels} 4096 {time}\ncontainer_start_time_seconds{labels} 1.6e+09\n",
                50.0 + count * rate
            );
        }
        text("text/plain; version=0.0.4", page)
    }
}

/// A server with a node `n` and its kubelet, and running pods `web` and `db` on it.
async fn with_kubelet() -> (Server, Backend) {
    let server = Server::start().await.with_default_account().await;
    let kubelet = Backend::kubelet(&server, kubelet_script()).await;
    for name in ["web", "db", "starting"] {
        server.with_bound_pod(name).await;
        let labels = json!({"metadata": {"labels": {"app": name}}});
        server.patch(MERGE, &format!("{PODS}/{name}"), &labels).await.ok();
        let status = json!({"status": {"phase": if name == "starting" { "Pending" } else { "Running" }}});
        server.patch(MERGE, &format!("{PODS}/{name}/status"), &status).await.ok();
    }
    (server, kubelet)
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item["metadata"]["name"].as_str()).collect()
}

#[tokio::test]
async fn the_first_answer_has_what_nodes_and_pods_use() {
    let (server, kubelet) = with_kubelet().await;
    let node = server.get(&format!("{NODES}/n")).await.ok();
    assert_eq!(node["usage"], json!({"cpu": "1", "memory": "1Mi"}), "{node:#}");
    assert_eq!((node["window"].as_str(), node["kind"].as_str()), (Some("1s"), Some("NodeMetrics")));
    assert_eq!(node["timestamp"], "2023-11-14T22:13:22Z");
    let web = server.get(&format!("{POD_METRICS}/web")).await.ok();
    let containers = json!([{"name": "c", "usage": {"cpu": "250m", "memory": "4Ki"}}]);
    assert_eq!((&web["containers"], &web["metadata"]["labels"]["app"]), (&containers, &json!("web")), "{web:#}");
    let list = server.get("/apis/metrics.k8s.io/v1beta1/pods").await.ok();
    assert_eq!((list["kind"].as_str(), names(&list)), (Some("PodMetricsList"), vec!["db", "web"]));
    assert_eq!(kubelet.asked("/metrics/resource"), 2, "all of these came from one pair of readings");
    assert!(kubelet.last("/metrics/resource").certificate.is_some(), "as the API server's kubelet client");
}

#[tokio::test]
async fn selectors_choose_pods_and_nobody_else_is_measured() {
    let (server, kubelet) = with_kubelet().await;
    let check = |query: &'static str, expected: &'static [&'static str]| {
        let server = &server;
        async move {
            let list = server.get(&format!("{POD_METRICS}?{query}")).await.ok();
            assert_eq!(names(&list), expected, "{query}");
        }
    };
    check("labelSelector=app%3Dnone", &[]).await;
    check("labelSelector=app%3Dstarting", &[]).await;
    assert_eq!(kubelet.asked("/"), 0, "nobody's kubelet was needed");
    check("labelSelector=app%3Dweb", &["web"]).await;
    check("labelSelector=app%20in%20(web,db)", &["db", "web"]).await;
    check("fieldSelector=metadata.name%3Ddb", &["db"]).await;
    let refused = server.get(&format!("{POD_METRICS}?fieldSelector=spec.nodeName%3Dn")).await;
    assert_eq!(refused.code, 400, "{}", refused.message());
}

#[tokio::test]
async fn metrics_that_nobody_has_are_not_found() {
    let (server, _kubelet) = with_kubelet().await;
    server.post("/api/v1/nodes", &json!({"metadata": {"name": "silent"}})).await.ok();
    for (path, name) in [
        (format!("{POD_METRICS}/none"), "podmetrics.metrics.k8s.io \"default/none\" not found"),
        (format!("{POD_METRICS}/starting"), "podmetrics.metrics.k8s.io \"default/starting\" not found"),
        (format!("{NODES}/silent"), "nodemetrics.metrics.k8s.io \"silent\" not found"),
    ] {
        let answer = server.get(&path).await;
        assert_eq!((answer.code, answer.message().as_str()), (404, name));
    }
    assert_eq!(names(&server.get(NODES).await.ok()), ["n"], "a node that does not answer is left out");
    for method in ["POST", "DELETE"] {
        assert_eq!(server.ask(method, NODES, &[], "").await.code, 405, "{method}");
    }
}

#[tokio::test]
async fn metrics_come_as_tables_and_in_protobuf() {
    let (server, _kubelet) = with_kubelet().await;
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = server.ask("GET", POD_METRICS, &accept, "").await.ok();
    let columns: Vec<&Value> =
        table["columnDefinitions"].as_array().expect("columns").iter().map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "cpu", "memory", "Window"]);
    assert_eq!(table["rows"][0]["cells"], json!(["db", "500m", "8Ki", "1s"]));
    let accept = [("accept", "application/vnd.kubernetes.protobuf")];
    let answer = server.ask("GET", POD_METRICS, &accept, "").await;
    assert_eq!(answer.headers["content-type"], "application/vnd.kubernetes.protobuf");
    assert!(answer.bytes.starts_with(b"k8s\0"), "{:?}", &answer.bytes[..4]);
}

#[tokio::test]
async fn whoever_may_view_a_namespace_sees_its_metrics() {
    let (server, _kubelet) = with_kubelet().await;
    let viewer = || Peer::InProcess(Arc::new(UserInfo::authenticated("viewer", &[])));
    let ask = |path: &'static str| {
        let server = &server;
        async move { server.ask_as(viewer(), "GET", path, &[], &json!({})).await.code }
    };
    assert_eq!(ask(POD_METRICS).await, 403);
    let role =
        server.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/system:aggregated-metrics-reader").await.ok();
    for name in ["admin", "edit", "view"] {
        assert_eq!(role["metadata"]["labels"][format!("rbac.authorization.k8s.io/aggregate-to-{name}")], "true");
    }
    let subject = json!([{"kind": "User", "name": "viewer", "apiGroup": "rbac.authorization.k8s.io"}]);
    let reference = json!({"kind": "ClusterRole", "name": "system:aggregated-metrics-reader", "apiGroup": "rbac.authorization.k8s.io"});
    let binding = json!({"metadata": {"name": "b"}, "subjects": subject, "roleRef": reference});
    server.post("/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings", &binding).await.ok();
    assert_eq!((ask(POD_METRICS).await, ask(NODES).await), (200, 403));
}

#[tokio::test]
async fn the_group_is_in_discovery_and_its_api_service_is_local() {
    let server = Server::start().await;
    let service = server.get(API_SERVICE).await.ok();
    assert_eq!(
        (&service["spec"]["groupPriorityMinimum"], &service["spec"]["versionPriority"]),
        (&json!(100), &json!(100))
    );
    let condition = &service["status"]["conditions"][0];
    assert_eq!((condition["reason"].as_str(), condition["status"].as_str()), (Some("Local"), Some("True")));
    let resources = server.get("/apis/metrics.k8s.io/v1beta1").await.ok();
    let found: Vec<_> = resources["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .map(|resource| (resource["name"].clone(), resource["kind"].clone(), resource["verbs"].clone()))
        .collect();
    let verbs = json!(["get", "list"]);
    let expected = [("nodes", "NodeMetrics"), ("pods", "PodMetrics")];
    assert_eq!(found, expected.map(|(name, kind)| (json!(name), json!(kind), verbs.clone())));
}

/// As metrics-server answers.
fn metrics_server(seen: &Seen) -> Response<Full<Bytes>> {
    match seen.uri.split('?').next().unwrap_or_default() {
        "/apis" => {
            let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [
                {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1beta1", "resources": []}]}]});
            text(AGGREGATED, list.to_string())
        }
        _ => text("application/json", json!({"items": [], "from": "metrics-server"}).to_string()),
    }
}

#[tokio::test]
async fn an_installed_metrics_server_takes_over_and_ours_returns_when_it_goes() {
    let (server, kubelet) = with_kubelet().await;
    let backend = Backend::tls("metrics-server.default.svc", metrics_server).await;
    server.routes.lead("192.0.2.1", 4443, backend.address);
    let ports = json!([{"port": 443, "targetPort": 4443}]);
    server.post(SERVICES, &json!({"metadata": {"name": "metrics-server"}, "spec": {"ports": ports}})).await.ok();
    let slice = json!({
        "metadata": {"name": "metrics-server-1", "labels": {"kubernetes.io/service-name": "metrics-server"}},
        "addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": true}}],
        "ports": [{"name": "", "port": 4443, "protocol": "TCP"}],
    });
    server.post(SLICES, &slice).await.ok();
    let name = "fieldSelector=metadata.name%3Dv1beta1.metrics.k8s.io";
    let mut events = server.watch(&format!("{API_SERVICES}?watch=1&{name}")).await;
    let spec = json!({"insecureSkipTLSVerify": true, "service": {"name": "metrics-server", "namespace": "default"}});
    // As kubectl apply does it with an object that is there already.
    server.patch(MERGE, API_SERVICE, &json!({"spec": spec})).await.ok();
    reason(&mut events, "Passed").await;
    assert_eq!(server.get(NODES).await.ok()["from"], "metrics-server");
    assert_eq!(kubelet.asked("/"), 0, "our own component is not asked any more");
    server.delete(API_SERVICE).await.ok();
    reason(&mut events, "Local").await;
    assert_eq!(names(&server.get(NODES).await.ok()), ["n"]);
    assert_eq!(server.get(API_SERVICE).await.ok()["spec"]["service"], Value::Null);
}
