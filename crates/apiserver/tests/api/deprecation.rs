//! Kinds that are on their way out say so, to clients, the audit log and the figures.

use crate::server::{CONFIG_MAPS, Server};
use ferry_apiserver::audit::{Auditor, Error, Policy, Sink};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const WARNING: &str = "299 - \"v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\"";

/// Keeps events.
#[derive(Default)]
struct Kept(Mutex<Vec<Value>>);

impl Sink for Kept {
    fn emit(&self, event: &Value) -> Result<(), Error> {
        self.0.lock().push(event.clone());
        Ok(())
    }
}

#[tokio::test]
async fn every_verb_of_a_deprecated_kind_warns() {
    let server = Server::start().await;
    let headers = [("content-type", "application/json")];
    let object =
        json!({"metadata": {"name": "e"}, "subsets": [{"addresses": [{"ip": "10.1.1.1"}], "ports": [{"port": 80}]}]});
    let one = format!("{ENDPOINTS}/e");
    let patch = [("content-type", "application/merge-patch+json")];
    for (method, path, headers, body) in [
        ("POST", ENDPOINTS, &headers[..], object.to_string()),
        ("GET", &one, &[][..], String::new()),
        ("GET", ENDPOINTS, &[][..], String::new()),
        ("GET", "/api/v1/endpoints", &[][..], String::new()),
        ("GET", &format!("{ENDPOINTS}?watch=1&timeoutSeconds=1"), &[][..], String::new()),
        ("PUT", &one, &headers[..], object.to_string()),
        ("PATCH", &one, &patch[..], json!({"metadata": {"labels": {"a": "b"}}}).to_string()),
        ("DELETE", &one, &[][..], String::new()),
        ("DELETE", &format!("{ENDPOINTS}?labelSelector=a=b"), &[][..], String::new()),
        // What is not there is no less deprecated.
        ("GET", &one, &[][..], String::new()),
    ] {
        let answer = server.ask(method, path, headers, body).await;
        let all: Vec<&str> = answer.headers.get_all("warning").iter().filter_map(|value| value.to_str().ok()).collect();
        assert_eq!(all, [WARNING], "{method} {path}: {}", answer.code);
    }
    let fine = server.get(CONFIG_MAPS).await;
    assert!(fine.headers.get("warning").is_none());
    let status = server.get("/api/v1/componentstatuses").await;
    assert_eq!(status.headers["warning"], "299 - \"v1 ComponentStatus is deprecated in v1.19+\"");
    let text = String::from_utf8_lossy(&server.get("/metrics").await.bytes).into_owned();
    let series = "apiserver_requested_deprecated_apis{group=\"\",removed_release=\"\",resource=\"endpoints\",subresource=\"\",version=\"v1\"} 1\n";
    assert!(text.contains(series), "{text}");
}

#[tokio::test]
async fn the_audit_log_names_the_release_that_no_longer_has_it() {
    let kept = Arc::new(Kept::default());
    let sinks: Vec<Arc<dyn Sink>> = vec![kept.clone()];
    let text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n";
    let policy = Policy::parse(text).expect("a policy");
    let server = Server::start_with(TempDir::new().expect("a directory"), |config| {
        config.audit = Some(Arc::new(Auditor::new(policy, sinks)));
    })
    .await;
    let answer = server.get("/apis/networking.k8s.io/v1beta1/servicecidrs").await;
    let warning = "299 - \"networking.k8s.io/v1beta1 ServiceCIDR is deprecated in v1.34+, unavailable in v1.37+\"";
    assert_eq!((answer.code, &answer.headers["warning"]), (200, &warning.parse().expect("a header")));
    server.get("/apis/networking.k8s.io/v1/servicecidrs").await.ok();
    let events = kept.0.lock().clone();
    let notes = |part: &str| {
        let event = events.iter().find(|event| event["requestURI"].as_str().is_some_and(|uri| uri.contains(part)));
        event.expect("recorded")["annotations"].clone()
    };
    let old = notes("v1beta1/servicecidrs");
    assert_eq!((&old["k8s.io/deprecated"], &old["k8s.io/removed-release"]), (&json!("true"), &json!("1.37")));
    assert!(notes("v1/servicecidrs").get("k8s.io/deprecated").is_none());
    let text = String::from_utf8_lossy(&server.get("/metrics").await.bytes).into_owned();
    let series = "apiserver_requested_deprecated_apis{group=\"networking.k8s.io\",removed_release=\"1.37\",resource=\"servicecidrs\",subresource=\"\",version=\"v1beta1\"} 1\n";
    assert!(text.contains(series), "{text}");
}
