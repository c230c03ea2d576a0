//! What the audit log says about requests.

use crate::server::{CONFIG_MAPS, Server, config_map};
use ferry_apiserver::audit::{Auditor, Log, Policy, Rotation};
use ferry_apiserver::{Peer, transport};
use http::Request;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

struct Audited {
    server: Server,
    path: PathBuf,
}

const POLICY: &str = r#"
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
  resources: [{group: "", resources: [secrets]}]
- level: RequestResponse
  omitManagedFields: true
  namespaces: [default]
- level: None
"#;

async fn audited(policy: &str) -> Audited {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("audit.log");
    let log = Log::open(&path, Rotation::default()).expect("a log");
    let auditor = Auditor::new(Policy::parse(policy).expect("a policy"), vec![Arc::new(log)]);
    let server = Server::start_with(directory, |config| config.audit = Some(Arc::new(auditor))).await;
    Audited { server, path }
}

impl Audited {
    /// The events so far whose URI contains the text.
    fn events(&self, uri: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.path).expect("the log");
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is an event"));
        events.filter(|event| event["requestURI"].as_str().is_some_and(|found| found.contains(uri))).collect()
    }

    fn stages(&self, uri: &str) -> Vec<String> {
        self.events(uri).iter().map(|event| event["stage"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_write_is_told_with_both_objects() {
    let audited = audited(POLICY).await;
    let answer = audited.server.post(CONFIG_MAPS, &config_map("told")).await;
    let events = audited.events("/configmaps");
    assert_eq!(events.len(), 2, "{events:#?}");
    let (received, complete) = (&events[0], &events[1]);
    assert_eq!(received["stage"], "RequestReceived");
    assert!(received.get("requestObject").is_none() && received.get("responseStatus").is_none());
    assert_eq!(complete["stage"], "ResponseComplete");
    assert_eq!(complete["auditID"].as_str(), answer.headers["audit-id"].to_str().ok());
    assert_eq!(complete["user"]["username"], "admin");
    assert_eq!(complete["verb"], "create");
    assert_eq!(
        complete["objectRef"],
        json!({"resource": "configmaps", "namespace": "default", "name": "told", "apiVersion": "v1"})
    );
    assert_eq!(complete["responseStatus"]["code"], 201);
    assert_eq!(complete["requestObject"]["data"]["key"], "value");
    assert_eq!(complete["responseObject"]["metadata"]["uid"], answer.json()["metadata"]["uid"]);
    assert!(complete["responseObject"]["metadata"].get("managedFields").is_none());
    assert_eq!(complete["annotations"]["authorization.k8s.io/decision"], "allow");
}

#[tokio::test]
async fn an_answer_in_protobuf_is_told_in_json() {
    let audited = audited(POLICY).await;
    audited.server.post(CONFIG_MAPS, &config_map("told")).await.ok();
    let accept = [("accept", "application/vnd.kubernetes.protobuf"), ("accept-encoding", "gzip")];
    audited.server.ask("GET", &format!("{CONFIG_MAPS}/told"), &accept, "").await;
    let events = audited.events("/configmaps/told");
    assert_eq!(events[1]["responseObject"]["data"]["key"], "value", "{events:#?}");
}

#[tokio::test]
async fn the_policy_keeps_secrets_out() {
    let audited = audited(POLICY).await;
    let secret = json!({"metadata": {"name": "hidden"}, "stringData": {"password": "hunter2-hunter2"}});
    audited.server.post("/api/v1/namespaces/default/secrets", &secret).await.ok();
    audited.server.get("/api/v1/namespaces/default/secrets/hidden").await.ok();
    audited.server.get("/api/v1/namespaces/kube-system/configmaps").await.ok();
    let text = std::fs::read_to_string(&audited.path).expect("the log");
    assert!(!text.contains("hunter2") && !text.contains("aHVudGVyMi1odW50ZXIy"), "{text}");
    assert_eq!(audited.stages("/secrets/hidden"), ["RequestReceived", "ResponseComplete"]);
    assert_eq!(audited.stages("/kube-system"), [""; 0]);
}

#[tokio::test]
async fn a_failure_is_told_with_its_reason() {
    let audited = audited(&POLICY.replace("RequestResponse", "Metadata")).await;
    audited.server.get(&format!("{CONFIG_MAPS}/absent")).await;
    let events = audited.events("/absent");
    let status = &events[1]["responseStatus"];
    assert_eq!((&status["code"], &status["reason"]), (&json!(404), &json!("NotFound")));
    assert!(events[1].get("responseObject").is_none());
}

#[tokio::test]
async fn a_watch_is_told_when_it_starts_and_when_it_ends() {
    let audited = audited(POLICY).await;
    let watch = audited.server.watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    assert_eq!(audited.stages("watch=1"), ["RequestReceived", "ResponseStarted"]);
    drop(watch);
    assert_eq!(audited.stages("watch=1"), ["RequestReceived", "ResponseStarted", "ResponseComplete"]);
}

#[tokio::test]
async fn one_who_acts_as_another_is_told_by_both_names() {
    let audited = audited(POLICY).await;
    audited.server.ask("GET", CONFIG_MAPS, &[("impersonate-user", "alice")], "").await;
    let events = audited.events("/configmaps");
    assert_eq!(events[1]["user"]["username"], "admin");
    assert_eq!(events[1]["impersonatedUser"]["username"], "alice");
    assert_eq!(events[1]["responseStatus"]["code"], 403);
    assert_eq!(events[1]["annotations"]["authorization.k8s.io/decision"], "forbid");
}

#[tokio::test]
async fn a_stranger_is_told_as_one() {
    let audited = audited(POLICY).await;
    let request =
        Request::get(CONFIG_MAPS).header("authorization", "Bearer wrong").body(transport::empty()).expect("a request");
    let response = audited.server.send(request, Peer::Plain { remote: "192.0.2.7:1".parse().ok() }).await;
    assert_eq!(response.status(), 401);
    let events = audited.events("/configmaps");
    assert_eq!(events[0]["stage"], "ResponseStarted");
    assert_eq!(events[0]["sourceIPs"], json!(["192.0.2.7"]));
    assert_eq!(events[0]["responseStatus"]["message"], "Authentication failed, attempted: bearer");
    let text = std::fs::read_to_string(&audited.path).expect("the log");
    assert!(!text.contains("wrong"), "{text}");
}
