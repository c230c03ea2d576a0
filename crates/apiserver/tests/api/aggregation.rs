//! An API server beside ours: registered, found available, passed requests on, told of in
//! discovery and OpenAPI, and gone again.

use crate::backend::{Backend, Seen, status, text};
use crate::server::{Answer, Events, Server, admin};
use base64::Engine as _;
use bytes::Bytes;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const API_SERVICES: &str = "/apis/apiregistration.k8s.io/v1/apiservices";
pub const FLUNDERS: &str = "/apis/wardle.example.com/v1alpha1/namespaces/default/flunders";
pub const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Serves flunders, with aggregated discovery and OpenAPI.
pub fn wardle(seen: &Seen) -> Response<Full<Bytes>> {
    let path = seen.uri.split('?').next().unwrap_or_default();
    let resource = json!({"resource": "flunders", "singularResource": "flunder", "scope": "Namespaced",
        "responseKind": {"group": "wardle.example.com", "version": "v1alpha1", "kind": "Flunder"}, "verbs": ["get", "list"]});
    match path {
        "/apis" => {
            let list = json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [
                {"metadata": {"name": "wardle.example.com"}, "versions": [
                    {"version": "v1alpha1", "resources": [resource], "freshness": "Current"}]}]});
            text(AGGREGATED, list.to_string())
        }
        "/apis/wardle.example.com/v1alpha1" => {
            text("application/json", json!({"kind": "APIResourceList", "resources": []}).to_string())
        }
        "/openapi/v3" => {
            let url = "/openapi/v3/apis/wardle.example.com/v1alpha1?hash=ABC";
            text(
                "application/json",
                json!({"paths": {"apis/wardle.example.com/v1alpha1": {"serverRelativeURL": url}}}).to_string(),
            )
        }
        "/openapi/v3/apis/wardle.example.com/v1alpha1" => {
            text("application/json", "{\"openapi\":\"3.0.0\",\"theirs\":true}")
        }
        "/openapi/v2" => {
            let reference = json!({"schema": {"$ref": "#/definitions/com.example.Flunder"}});
            let document = json!({"swagger": "2.0", "paths": {
                "/apis/wardle.example.com/v1alpha1/flunders": {"get": {"responses": {"200": reference}}},
                "/version/": {"get": {}}},
                "definitions": {"com.example.Flunder": {"type": "object"}, "com.example.Unused": {"type": "object"}}});
            text("application/json", document.to_string())
        }
        _ if path.ends_with("/upgrade") => status(101, &[("connection", "Upgrade"), ("upgrade", "websocket")], ""),
        _ => text("application/json", json!({"items": [], "asked": seen.uri}).to_string()),
    }
}

fn api_service(ca_pem: &str) -> Value {
    json!({
        "metadata": {"name": "v1alpha1.wardle.example.com"},
        "spec": {
            "group": "wardle.example.com", "version": "v1alpha1", "groupPriorityMinimum": 2000, "versionPriority": 200,
            "service": {"namespace": "default", "name": "wardle", "port": 7443},
            "caBundle": base64::engine::general_purpose::STANDARD.encode(ca_pem),
        },
    })
}

/// Waits until the condition Available of the APIService has this reason.
pub async fn reason(events: &mut Events, reason: &str) -> Value {
    loop {
        let event = events.next().await.expect("an event");
        let conditions = event["object"]["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if let Some(condition) = conditions.iter().find(|condition| condition["type"] == "Available")
            && condition["reason"] == reason
        {
            return condition.clone();
        }
    }
}

async fn watch(server: &Server) -> Events {
    server.watch(&format!("{API_SERVICES}?watch=1&fieldSelector=metadata.name%3Dv1alpha1.wardle.example.com")).await
}

fn endpoint_slice(port: u16) -> Value {
    json!({
        "metadata": {"name": "wardle-1", "labels": {"kubernetes.io/service-name": "wardle"}},
        "addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.1"], "conditions": {"ready": true}}],
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
    })
}

pub const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

/// A server with a registered and available backend.
async fn with_wardle() -> (Server, Backend) {
    let server = Server::start().await;
    let backend = register(&server, wardle).await;
    (server, backend)
}

/// Registers a backend with a server, and waits until it is available.
pub async fn register(
    server: &Server,
    script: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static,
) -> Backend {
    let backend = Backend::tls("wardle.default.svc", script).await;
    server.routes.lead("192.0.2.1", 4443, backend.address);
    let service = json!({"metadata": {"name": "wardle"}, "spec": {"ports": [{"port": 7443, "targetPort": 4443}]}});
    server.post(crate::server::SERVICES, &service).await.ok();
    server.post(SLICES, &endpoint_slice(4443)).await.ok();
    let mut events = watch(server).await;
    server.post(API_SERVICES, &api_service(&backend.ca_pem)).await.ok();
    assert_eq!(reason(&mut events, "Passed").await["message"], "all checks passed");
    backend
}

#[tokio::test]
async fn every_group_version_of_ours_has_a_local_api_service() {
    let server = Server::start().await;
    let list = server.get(API_SERVICES).await.ok();
    let find = |name: &str| {
        list["items"].as_array().expect("items").iter().find(|item| item["metadata"]["name"] == name).cloned()
    };
    let apps = find("v1.apps").expect("apps is builtin");
    assert_eq!(apps["metadata"]["labels"]["kube-aggregator.kubernetes.io/automanaged"], "onstart");
    assert_eq!(
        apps["spec"],
        json!({"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15})
    );
    let condition = &apps["status"]["conditions"][0];
    assert_eq!((condition["reason"].as_str(), condition["status"].as_str()), (Some("Local"), Some("True")));
    assert!(find("v1.").is_some() && find("v1.apiregistration.k8s.io").is_none());

    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "crontabs.stable.example.com"},
        "spec": {"group": "stable.example.com", "scope": "Namespaced",
            "names": {"plural": "crontabs", "singular": "crontab", "kind": "CronTab", "listKind": "CronTabList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]},
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let mut events =
        server.watch(&format!("{API_SERVICES}?watch=1&fieldSelector=metadata.name%3Dv1.stable.example.com")).await;
    server.post(definitions, &definition).await.ok();
    let added = events.next().await.expect("an event");
    assert_eq!(added["type"], "ADDED");
    assert_eq!(added["object"]["metadata"]["labels"]["kube-aggregator.kubernetes.io/automanaged"], "true");
    assert_eq!(added["object"]["spec"]["groupPriorityMinimum"], 1000);
    server.delete(&format!("{API_SERVICES}/v1.stable.example.com")).await.ok();
    assert_eq!(events.next_name().await.0, "DELETED");
    assert_eq!(events.next_name().await.0, "ADDED", "one that is always managed comes back");
}

#[tokio::test]
async fn an_aggregated_server_is_told_where_a_request_came_from() {
    let (server, backend) = with_wardle().await;
    let answer = server.ask_as(server.admin_at("192.0.2.7:4711"), "GET", FLUNDERS, &[], &json!({})).await;
    assert_eq!(answer.code, 200);
    assert_eq!(backend.last(FLUNDERS).header("x-forwarded-for"), "192.0.2.7");
}

#[tokio::test]
async fn requests_are_passed_on_in_the_callers_name() {
    let (server, backend) = with_wardle().await;
    let headers = [
        ("x-remote-user", "mallory"),
        ("x-remote-extra-a", "b"),
        ("authorization", "Bearer secret"),
        ("audit-id", "an-id"),
    ];
    let answer = server.ask("GET", &format!("{FLUNDERS}?watch=0&limit=5"), &headers, "").await;
    assert_eq!(answer.code, 200);
    assert_eq!(answer.json()["asked"], format!("{FLUNDERS}?limit=5&watch=0"));
    let seen = backend.last(FLUNDERS);
    assert_eq!((seen.header("x-remote-user"), seen.header("audit-id")), ("admin", "an-id"));
    let groups: Vec<_> = seen.headers.get_all("x-remote-group").iter().collect();
    assert_eq!(groups, ["system:masters", "system:authenticated"]);
    assert!(!seen.headers.contains_key("x-remote-extra-a") && !seen.headers.contains_key("authorization"));
    assert_eq!(seen.header("host"), "192.0.2.1:4443");
    assert_eq!(seen.header("x-forwarded-uri"), FLUNDERS);
    let shown = ferry_pki::Facts::of(&seen.certificate.expect("the front proxy's certificate")).expect("parses");
    assert_eq!(shown.common_name, "front-proxy-client");

    let body = server.post(FLUNDERS, &json!({"kind": "Flunder"})).await;
    assert_eq!(body.code, 200);
    assert_eq!(backend.last(FLUNDERS).body, "{\"kind\":\"Flunder\"}");

    // Who may not is told so by us, and the backend never hears of it.
    let nobody = Peer::InProcess(Arc::new(UserInfo::authenticated("nobody", &[])));
    let request =
        Request::get(format!("{FLUNDERS}/secret")).body(ferry_apiserver::transport::empty()).expect("a request");
    assert_eq!(server.send(request, nobody).await.status(), 403);
}

#[tokio::test]
async fn availability_follows_service_and_endpoints() {
    let server = Server::start().await;
    let backend = Backend::tls("wardle.default.svc", wardle).await;
    let mut events = watch(&server).await;
    server.post(API_SERVICES, &api_service(&backend.ca_pem)).await.ok();
    let condition = reason(&mut events, "ServiceNotFound").await;
    assert_eq!(condition["message"], "service/wardle in \"default\" is not present");
    let unavailable = server.get(FLUNDERS).await;
    assert_eq!((unavailable.code, &unavailable.bytes[..]), (503, &b"service unavailable\n"[..]));
    let aggregated = server.ask("GET", "/apis", &[("accept", AGGREGATED)], "").await;
    let group = group_of(&aggregated.json());
    assert_eq!(group["versions"], json!([{"version": "v1alpha1", "freshness": "Stale"}]));

    let service = json!({"metadata": {"name": "wardle"}, "spec": {"ports": [{"port": 7443, "targetPort": 4443}]}});
    server.post(crate::server::SERVICES, &service).await.ok();
    reason(&mut events, "EndpointsNotFound").await;
    server.post(SLICES, &endpoint_slice(4443)).await.ok();
    let condition = reason(&mut events, "FailedDiscoveryCheck").await;
    let message = condition["message"].as_str().unwrap_or_default();
    let url = "https://192.0.2.1:4443/apis/wardle.example.com/v1alpha1";
    assert!(
        message.starts_with(&format!("failing or missing response from {url}: Get {url:?}: dial tcp")),
        "{message}"
    );
    // The way to the backend opens without any object changing.
    server.routes.lead("192.0.2.1", 4443, backend.address);
    reason(&mut events, "Passed").await;
    assert_eq!(server.get(FLUNDERS).await.code, 200);
    server.delete(&format!("{SLICES}/wardle-1")).await.ok();
    reason(&mut events, "EndpointsNotFound").await;
    assert_eq!(server.get(FLUNDERS).await.code, 503);
    server.delete(&format!("{API_SERVICES}/v1alpha1.wardle.example.com")).await.ok();
    assert_eq!(server.get(FLUNDERS).await.code, 404);
}

#[tokio::test]
async fn a_backend_that_nobody_vouches_for_is_not_spoken_to() {
    let server = Server::start().await;
    let backend = Backend::tls("wardle.default.svc", wardle).await;
    let other = Backend::tls("wardle.default.svc", wardle).await;
    server.routes.lead("192.0.2.1", 4443, backend.address);
    let service = json!({"metadata": {"name": "wardle"}, "spec": {"ports": [{"port": 7443, "targetPort": 4443}]}});
    server.post(crate::server::SERVICES, &service).await.ok();
    server.post(SLICES, &endpoint_slice(4443)).await.ok();
    let mut events = watch(&server).await;
    server.post(API_SERVICES, &api_service(&other.ca_pem)).await.ok();
    reason(&mut events, "FailedDiscoveryCheck").await;
    let insecure = json!({"spec": {"caBundle": null, "insecureSkipTLSVerify": true}});
    let path = format!("{API_SERVICES}/v1alpha1.wardle.example.com");
    server.patch("application/merge-patch+json", &path, &insecure).await.ok();
    reason(&mut events, "Passed").await;
    assert_eq!(server.get(FLUNDERS).await.code, 200);
}

fn group_of(list: &Value) -> Value {
    let items = list["items"].as_array().cloned().unwrap_or_default();
    items.into_iter().find(|item| item["metadata"]["name"] == "wardle.example.com").expect("the group is listed")
}

#[tokio::test]
async fn discovery_tells_of_both_servers() {
    let (server, _backend) = with_wardle().await;
    let list = server.get("/apis").await.ok();
    let names: Vec<&str> =
        list["groups"].as_array().expect("groups").iter().filter_map(|group| group["name"].as_str()).collect();
    assert_eq!(names[..3], ["apiregistration.k8s.io", "apps", "events.k8s.io"]);
    assert_eq!(names[names.len() - 2..], ["wardle.example.com", "metrics.k8s.io"]);
    let group = server.get("/apis/wardle.example.com").await.ok();
    assert_eq!(group["preferredVersion"]["groupVersion"], "wardle.example.com/v1alpha1");
    assert_eq!(server.get("/apis/wardle.example.com/v1alpha1").await.ok()["kind"], "APIResourceList");
    let aggregated: Answer = server.ask("GET", "/apis", &[("accept", AGGREGATED)], "").await;
    let version = &group_of(&aggregated.json())["versions"][0];
    assert_eq!(
        (version["freshness"].as_str(), version["resources"][0]["resource"].as_str()),
        (Some("Current"), Some("flunders"))
    );
}

#[tokio::test]
async fn openapi_tells_of_both_servers() {
    let (server, _backend) = with_wardle().await;
    let index = server.get("/openapi/v3").await.ok();
    let url = index["paths"]["apis/wardle.example.com/v1alpha1"]["serverRelativeURL"].as_str().expect("listed");
    assert_eq!(server.get(url).await.ok()["theirs"], true);
    assert!(index["paths"]["apis/apps/v1"].is_object());
    let merged = server.get("/openapi/v2").await.ok();
    let paths = merged["paths"].as_object().expect("paths");
    assert!(paths.contains_key("/apis/wardle.example.com/v1alpha1/flunders") && paths.contains_key("/api/v1/pods"));
    assert!(merged["definitions"]["com.example.Flunder"].is_object());
    assert!(merged["definitions"]["com.example.Unused"].is_null());
}

#[tokio::test]
async fn upgrades_are_joined() {
    let (server, _backend) = with_wardle().await;
    let mut stream = server.connect().await;
    let request = format!(
        "GET {FLUNDERS}/x/upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: abc\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("an answer"));
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    stream.write_all(b"hello").await.expect("sent");
    let mut echo = [0; 5];
    stream.read_exact(&mut echo).await.expect("echoed");
    assert_eq!(&echo, b"hello");
}

#[tokio::test]
async fn backends_are_told_whom_to_trust() {
    let server = Server::start().await;
    let path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    let map = server.get(path).await.ok();
    let data = &map["data"];
    assert_eq!(data["requestheader-allowed-names"], "[\"front-proxy-client\"]");
    assert_eq!(data["requestheader-username-headers"], "[\"X-Remote-User\"]");
    assert_eq!(data["requestheader-uid-headers"], "[\"X-Remote-Uid\"]");
    assert_eq!(data["requestheader-group-headers"], "[\"X-Remote-Group\"]");
    assert_eq!(data["requestheader-extra-headers-prefix"], "[\"X-Remote-Extra-\"]");
    assert_eq!(data["client-ca-file"].as_str().map(str::trim), Some(server.pki.ca.certificate_pem().trim()));
    let front = data["requestheader-client-ca-file"].as_str().map(str::trim);
    assert_eq!(front, Some(server.pki.front_proxy_ca.certificate_pem().trim()));

    let watch = "/api/v1/namespaces/kube-system/configmaps?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dextension-apiserver-authentication";
    let mut events = server.watch(watch).await;
    assert_eq!(events.next_name().await.0, "ADDED");
    server.delete(path).await.ok();
    assert_eq!(events.next_name().await.0, "DELETED");
    assert_eq!(events.next().await.expect("made again")["object"]["data"], *data);
    let role =
        "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/extension-apiserver-authentication-reader";
    assert_eq!(server.get(role).await.code, 200);
    let request = Request::get("/healthz").body(ferry_apiserver::transport::empty()).expect("a request");
    let healthy = server.send(request, admin()).await;
    assert_eq!(healthy.into_body().collect().await.expect("a body").to_bytes(), "ok");
}
