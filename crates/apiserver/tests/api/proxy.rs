//! The proxy subresources of pods and services, against servers of the test.

use crate::backend::{Backend, Seen, status, text};
use crate::server::{PODS, SERVICES, Server, pod};
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use serde_json::json;

pub const POD_IP: &str = "10.244.0.9";

fn porter(seen: &Seen) -> Response<Full<Bytes>> {
    match seen.uri.split('?').next().unwrap_or_default() {
        "/page" => text("text/html; charset=utf-8", r#"<a href="/rewriteme">test</a>"#),
        "/moved" => status(302, &[("location", "/target/"), ("access-control-allow-origin", "*")], ""),
        _ => text("application/json", json!({"method": seen.method.as_str(), "uri": seen.uri}).to_string()),
    }
}

/// A server with one pod and one service whose endpoints are that pod.
pub async fn with_pod() -> Server {
    let server = Server::start().await.with_default_account().await;
    let mut object = pod("web");
    object["spec"]["containers"][0]["ports"] = json!([{"containerPort": 8080}]);
    server.post(PODS, &object).await.ok();
    let ips = json!({"status": {"podIP": POD_IP, "podIPs": [{"ip": POD_IP}]}});
    server.patch("application/merge-patch+json", &format!("{PODS}/web/status"), &ips).await.ok();
    let ports = json!([{"name": "plain", "port": 80}, {"name": "secure", "port": 443}]);
    server.post(SERVICES, &json!({"metadata": {"name": "web"}, "spec": {"ports": ports}})).await.ok();
    let target = json!({"kind": "Pod", "name": "web", "namespace": "default"});
    let endpoints = json!({"metadata": {"name": "web"}, "subsets": [{
        "addresses": [{"ip": POD_IP, "targetRef": target}, {"ip": "10.244.0.66"}],
        "ports": [{"name": "plain", "port": 8080}, {"name": "secure", "port": 8443}],
    }]});
    server.post("/api/v1/namespaces/default/endpoints", &endpoints).await.ok();
    server
}

#[tokio::test]
async fn pods_are_told_where_a_request_came_from() {
    let server = with_pod().await;
    let backend = Backend::plain(porter).await;
    server.routes.lead(POD_IP, 8080, backend.address);
    let (path, caller) = ("/api/v1/namespaces/default/pods/web/proxy/from", "192.0.2.7:4711");
    let headers = [("x-forwarded-for", "198.51.100.1")];
    let answer = server.ask_as(server.admin_at(caller), "GET", path, &headers, &json!({})).await;
    assert_eq!(answer.code, 200, "{}", answer.message());
    assert_eq!(backend.last("/from").header("x-forwarded-for"), "198.51.100.1, 192.0.2.7");
}

#[tokio::test]
async fn every_method_reaches_pods_and_services() {
    let server = with_pod().await;
    let backend = Backend::plain(porter).await;
    server.routes.lead(POD_IP, 8080, backend.address);
    for object in ["pods/web", "pods/web:8080", "pods/http:web:8080", "services/web:plain", "services/web:80"] {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"] {
            let path = format!("/api/v1/namespaces/default/{object}/proxy/some/path/with%20space?a=b&c");
            let answer = server.ask(method, &path, &[], "").await;
            assert_eq!(answer.code, 200, "{method} {path}: {}", answer.message());
            if method != "HEAD" {
                assert_eq!(answer.json(), json!({"method": method, "uri": "/some/path/with%20space?a=b&c"}));
            }
        }
    }
    let seen = backend.last("/some/path");
    let uri = "/api/v1/namespaces/default/services/web:80/proxy/some/path/with%20space";
    assert_eq!(seen.header("x-forwarded-uri"), uri);
    assert!(!seen.headers.contains_key("x-forwarded-host") && !seen.headers.contains_key("authorization"));
}

#[tokio::test]
async fn links_lead_back_through_the_proxy() {
    let server = with_pod().await;
    let backend = Backend::plain(porter).await;
    server.routes.lead(POD_IP, 8080, backend.address);
    let proxy = format!("{PODS}/web/proxy");
    let page = server.get(&format!("{proxy}/page")).await;
    assert_eq!(page.bytes, format!("<a href=\"{proxy}/rewriteme\">test</a>"));
    let moved = server.get(&format!("{proxy}/moved")).await;
    assert_eq!((moved.code, &moved.headers["location"]), (302, &format!("{proxy}/target/").parse().expect("a header")));
    assert!(!moved.headers.contains_key("access-control-allow-origin"));
    let root = server.get(&format!("{proxy}?a=b")).await;
    assert_eq!((root.code, &root.headers["location"]), (301, &format!("{proxy}/?a=b").parse().expect("a header")));
    assert_eq!(server.get(&format!("{proxy}/")).await.json()["uri"], "/");
    assert_eq!(server.ask("POST", &proxy, &[], "").await.code, 200, "only pages need their directory");
}

#[tokio::test]
async fn https_backends_are_reached_without_verification() {
    let server = with_pod().await;
    let backend = Backend::tls("some.other.name", porter).await;
    server.routes.lead(POD_IP, 8443, backend.address);
    for object in ["pods/https:web:8443", "services/https:web:secure", "services/https:web:443"] {
        let answer = server.get(&format!("/api/v1/namespaces/default/{object}/proxy/x")).await;
        assert_eq!((answer.code, answer.json()["uri"].as_str()), (200, Some("/x")), "{object}");
    }
    let seen = backend.last("/x");
    assert!(seen.certificate.is_none(), "no pod is shown the API server's certificates");
}

#[tokio::test]
async fn refusals_say_what_is_wrong() {
    let server = with_pod().await;
    let check = |path: &'static str, code: u16, message: &'static str| {
        let server = &server;
        async move {
            let answer = server.get(&format!("/api/v1/namespaces/default/{path}")).await;
            assert_eq!((answer.code, answer.message().as_str()), (code, message), "{path}");
        }
    };
    let refused = "error trying to reach service: dial tcp 10.244.0.9:8080: connect: connection refused";
    check("pods/web/proxy/", 503, refused).await;
    check("pods/none/proxy/", 404, "pods \"none\" not found").await;
    check("pods/ftp:web:1/proxy/", 400, "invalid pod request \"ftp:web:1\"").await;
    let unknown = "error trying to reach service: dial tcp: lookup tcp/named: unknown port";
    check("pods/web:named/proxy/", 503, unknown).await;
    check("services/web:81/proxy/", 503, "no service port 81 found for service \"web\"").await;
    check("services/web/proxy/", 503, "no endpoints available for service \"web\"").await;
    check("services/none/proxy/", 404, "endpoints \"none\" not found").await;
    check("services/none:80/proxy/", 404, "services \"none\" not found").await;
}
