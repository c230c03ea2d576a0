//! Objects and fields that nothing acts on yet: accepted, with a warning that says so.

use crate::server::{DEPLOYMENTS, PODS, Server, deployment, pod};
use ferry_api::unsupported::KINDS;
use serde_json::json;

fn warnings(headers: &http::HeaderMap) -> Vec<String> {
    headers.get_all("warning").iter().filter_map(|value| value.to_str().ok().map(str::to_owned)).collect()
}

#[tokio::test]
async fn an_ingress_that_routes_nothing_is_created_with_a_warning() {
    let server = Server::start().await;
    let path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    let backend = json!({"service": {"name": "web", "port": {"number": 80}}});
    let ingress = json!({"metadata": {"name": "way-in"}, "spec": {"defaultBackend": backend}});
    let created = server.post(path, &ingress).await;
    assert_eq!(created.code, 201);
    let expected = "299 - \"Ingress: stored, and nothing acts on it yet: no traffic is routed by it\"";
    assert_eq!(warnings(&created.headers), [expected]);
    let labels = json!({"metadata": {"labels": {"x": "y"}}});
    let patched = server.patch("application/merge-patch+json", &format!("{path}/way-in"), &labels).await;
    assert!(warnings(&patched.headers).is_empty(), "a change that asks for nothing new repeats it");
}

#[tokio::test]
async fn a_pod_or_a_template_with_an_unsupported_field_warns_by_its_path() {
    let server = Server::start().await.with_default_account().await;
    let mut asked = pod("p");
    asked["spec"]["hostUsers"] = false.into();
    let created = server.post(PODS, &asked).await;
    assert_eq!(created.code, 201, "{}", created.message());
    let all = warnings(&created.headers);
    assert!(all.iter().any(|text| text.contains("spec.hostUsers: this node gives pods no user namespace")), "{all:?}");
    let plain = server.post(PODS, &pod("q")).await;
    assert!(warnings(&plain.headers).is_empty(), "{:?}", warnings(&plain.headers));
    let mut template = deployment("d");
    template["spec"]["template"]["spec"]["hostUsers"] = false.into();
    let created = server.post(DEPLOYMENTS, &template).await;
    assert_eq!(created.code, 201, "{}", created.message());
    let all = warnings(&created.headers);
    assert!(all.iter().any(|text| text.contains("spec.template.spec.hostUsers: ")), "{all:?}");
}

/// The requests of `ferry status`: each kind of the list can be listed one at a time.
#[tokio::test]
async fn every_unsupported_kind_can_be_counted() {
    let server = Server::start().await;
    for kind in KINDS {
        let prefix = if kind.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", kind.group) };
        let path = format!("{prefix}/{}/{}?limit=1", kind.version, kind.resource);
        let listed = server.get(&path).await;
        assert_eq!(listed.code, 200, "{path}: {}", listed.message());
        assert!(listed.json()["items"].is_array(), "{path}");
    }
}
