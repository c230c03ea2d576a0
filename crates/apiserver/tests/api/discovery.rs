//! What a client learns before it asks for anything.

use crate::loopback::eventually;
use crate::server::Server;
use ferry_apiserver::Peer;
use http::Request;
use serde_json::{Value, json};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

#[tokio::test]
async fn legacy_discovery_lists_groups_and_resources() {
    let server = Server::start().await;
    assert_eq!(server.get("/api").await.ok()["versions"], json!(["v1"]));
    let groups = server.get("/apis").await.ok();
    let apps = groups["groups"].as_array().and_then(|all| all.iter().find(|group| group["name"] == "apps"));
    assert_eq!(apps.expect("apps")["preferredVersion"], json!({"groupVersion": "apps/v1", "version": "v1"}));
    assert_eq!(server.get("/apis/apps").await.ok()["kind"], "APIGroup");
    let core = server.get("/api/v1").await.ok();
    assert_eq!((&core["kind"], &core["groupVersion"]), (&json!("APIResourceList"), &json!("v1")));
    let find = |name: &str| -> Value {
        let all = core["resources"].as_array().expect("resources");
        all.iter().find(|resource| resource["name"] == name).cloned().unwrap_or(Value::Null)
    };
    let pods = find("pods");
    assert_eq!(
        (&pods["kind"], &pods["namespaced"], &pods["shortNames"]),
        (&json!("Pod"), &json!(true), &json!(["po"]))
    );
    assert!(pods["verbs"].as_array().is_some_and(|verbs| verbs.contains(&json!("watch"))));
    assert_eq!(find("pods/eviction")["group"], "policy");
    let deployments = server.get("/apis/apps/v1").await.ok();
    assert!(
        deployments["resources"].as_array().is_some_and(|all| all.iter().any(|r| r["name"] == "deployments/scale"))
    );
}

#[tokio::test]
async fn aggregated_discovery_is_one_document_with_an_etag() {
    let server = Server::start().await;
    let answer = server.ask("GET", "/apis", &[("accept", AGGREGATED)], "").await;
    assert_eq!(answer.headers["content-type"], "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let etag = answer.headers["etag"].to_str().expect("text").to_owned();
    let document = answer.ok();
    assert_eq!(document["kind"], "APIGroupDiscoveryList");
    let apps = document["items"].as_array().and_then(|all| all.iter().find(|g| g["metadata"]["name"] == "apps"));
    let resources = &apps.expect("apps")["versions"][0]["resources"];
    let deployments = resources.as_array().and_then(|all| all.iter().find(|r| r["resource"] == "deployments"));
    assert_eq!(deployments.expect("deployments")["scope"], "Namespaced");
    let again = server.ask("GET", "/apis", &[("accept", AGGREGATED), ("if-none-match", &etag)], "").await;
    assert_eq!((again.code, again.bytes.len()), (304, 0));
    let core = server.ask("GET", "/api", &[("accept", AGGREGATED)], "").await.ok();
    assert_eq!(core["items"][0]["versions"][0]["version"], "v1");
}

#[tokio::test]
async fn version_health_and_metrics_answer() {
    let server = Server::start().await;
    let version = server.get("/version").await.ok();
    assert_eq!((&version["major"], &version["minor"]), (&json!("1"), &json!("36")));
    assert!(version["gitVersion"].as_str().is_some_and(|text| text.starts_with("v1.36.")));
    for path in ["/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/etcd"] {
        let answer = server.get(path).await;
        assert_eq!((answer.code, &answer.bytes[..]), (200, &b"ok"[..]), "{path}");
    }
    let verbose = server.get("/readyz?verbose").await;
    let text = String::from_utf8_lossy(&verbose.bytes).into_owned();
    assert!(text.contains("[+]ping ok\n") && text.ends_with("readyz check passed\n"), "{text}");
    assert!(text.contains("[+]informer-sync ok\n") && text.contains("[+]shutdown ok\n"), "{text}");
    let alive = server.get("/livez?verbose&exclude=etcd&exclude=nothing").await;
    let text = String::from_utf8_lossy(&alive.bytes).into_owned();
    let hook = "[+]poststarthook/rbac/bootstrap-roles ok\n";
    assert!(text.contains(hook) && text.contains("[+]etcd excluded: ok\n") && !text.contains("shutdown"), "{text}");
    assert!(text.contains("cannot be excluded: no matches for \"nothing\"\n"), "{text}");
    assert_eq!(server.get("/livez/shutdown").await.code, 404);
    assert_eq!(server.get("/livez/autoregister-completion").await.code, 200);
    let metrics = server.get("/metrics").await;
    let text = String::from_utf8_lossy(&metrics.bytes).into_owned();
    for name in ["apiserver_request_total{", "apiserver_request_duration_seconds_bucket{", "apiserver_storage_objects{"]
    {
        assert!(text.contains(name), "{name}");
    }
}

#[tokio::test]
async fn strangers_see_health_and_version_only() {
    let server = Server::start().await;
    let ask = |path: &'static str| {
        let server = &server;
        async move {
            let request = Request::get(path).body(ferry_apiserver::transport::empty()).expect("a request");
            server.send(request, Peer::Plain { remote: None }).await.status().as_u16()
        }
    };
    assert_eq!((ask("/livez").await, ask("/readyz").await, ask("/version").await), (200, 200, 200));
    assert_eq!((ask("/api").await, ask("/api/v1/pods").await, ask("/metrics").await), (401, 401, 401));
}

#[tokio::test]
async fn openapi_documents_are_found_through_the_index() {
    let server = Server::start().await;
    let index = server.get("/openapi/v3").await.ok();
    let url = index["paths"]["apis/apps/v1"]["serverRelativeURL"].as_str().expect("a document").to_owned();
    let document = server.get(&url).await;
    assert!(document.headers["cache-control"].to_str().is_ok_and(|text| text.contains("immutable")));
    let document = document.ok();
    assert!(document["components"]["schemas"].get("io.k8s.api.apps.v1.Deployment").is_some());
    assert!(document["paths"].get("/apis/apps/v1/namespaces/{namespace}/deployments/{name}").is_some());
    let v2 = server.get("/openapi/v2").await.ok();
    assert_eq!(v2["swagger"], "2.0");
    assert_eq!(server.get("/openapi/v3/apis/nonsense/v1").await.code, 404);
}

#[tokio::test]
async fn every_cluster_has_its_namespaces_roles_and_service() {
    let server = Server::start().await;
    for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
        assert_eq!(server.get(&format!("/api/v1/namespaces/{name}")).await.ok()["status"]["phase"], "Active");
    }
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin";
    assert_eq!(server.get(roles).await.code, 200);
    let service = server.get("/api/v1/namespaces/default/services/kubernetes").await.ok();
    assert_eq!(service["spec"]["clusterIP"], "10.96.0.1");
    let endpoints = server.get("/api/v1/namespaces/default/endpoints/kubernetes").await.ok();
    assert_eq!(endpoints["subsets"][0]["addresses"][0]["ip"], "10.0.0.1");
    server.api.advertise("10.0.0.2:6443".parse().expect("an address")).await.expect("moved");
    let endpoints = server.get("/api/v1/namespaces/default/endpoints/kubernetes").await.ok();
    assert_eq!(endpoints["subsets"][0]["addresses"], json!([{"ip": "10.0.0.2"}]));
    let slice = server.get("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes").await.ok();
    assert_eq!(slice["endpoints"][0]["addresses"], json!(["10.0.0.2"]));
}

/// `kubectl delete services --all` in the default namespace must not cost pods the API for good.
#[tokio::test]
async fn the_service_of_the_api_comes_back_when_it_is_deleted_or_changed() {
    let server = Server::start().await;
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
    let endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
    let services = "/api/v1/namespaces/default/services/kubernetes";
    for path in [services, endpoints, slices] {
        let before = server.get(path).await.ok();
        server.delete(path).await.ok();
        eventually("it comes back", || async { server.get(path).await.code == 200 }).await;
        let after = server.get(path).await.ok();
        assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"], "{path}");
        for part in ["subsets", "endpoints", "ports"] {
            assert_eq!(after[part], before[part], "{path} {part}");
        }
        assert_eq!(after["spec"]["clusterIP"], before["spec"]["clusterIP"], "{path}");
    }
    let patch = json!({"subsets": [{"addresses": [{"ip": "10.9.9.9"}], "ports": [{"name": "https", "port": 1}]}]});
    server.patch("application/merge-patch+json", endpoints, &patch).await.ok();
    eventually("it is mended", || async {
        server.get(endpoints).await.ok()["subsets"][0]["addresses"][0]["ip"] == "10.0.0.1"
    })
    .await;
    let mended = server.get(endpoints).await.ok();
    // Objects that are right are left alone: other writes go on, these have the same version still.
    server.post("/api/v1/namespaces/default/configmaps", &json!({"metadata": {"name": "later"}})).await.ok();
    let version = &server.get(endpoints).await.ok()["metadata"]["resourceVersion"];
    assert_eq!(*version, mended["metadata"]["resourceVersion"]);
}
