//! Priority and fairness as clients see it: the headers of answers, the state of schemas,
//! and the figures.

use crate::server::{CONFIG_MAPS, Server};
use serde_json::{Value, json};

const SCHEMAS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
const LEVELS: &str = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";

#[tokio::test]
async fn an_answer_names_the_schema_and_the_level_that_let_it_in() {
    let server = Server::start().await;
    let answer = server.get(CONFIG_MAPS).await;
    let uid = |value: &Value| value["metadata"]["uid"].as_str().expect("a uid").to_owned();
    let schema = uid(&server.get(&format!("{SCHEMAS}/exempt")).await.ok());
    let level = uid(&server.get(&format!("{LEVELS}/exempt")).await.ok());
    assert_eq!(answer.headers["x-kubernetes-pf-flowschema-uid"], schema.as_str());
    assert_eq!(answer.headers["x-kubernetes-pf-prioritylevel-uid"], level.as_str());
    let metrics = server.get("/metrics").await;
    let text = String::from_utf8_lossy(&metrics.bytes).into_owned();
    assert!(text.contains("apiserver_flowcontrol_nominal_limit_seats{priority_level=\"workload-low\"} 245"), "{text}");
    let line = "apiserver_flowcontrol_dispatched_requests_total{flow_schema=\"exempt\",priority_level=\"exempt\"} ";
    assert!(text.contains(line), "{text}");
}

#[tokio::test]
async fn a_schema_without_its_level_says_that_it_dangles() {
    let server = Server::start().await;
    let mut events = server.watch(&format!("{SCHEMAS}?watch=1&fieldSelector=metadata.name%3Dlost")).await;
    let schema = json!({
        "metadata": {"name": "lost"},
        "spec": {
            "priorityLevelConfiguration": {"name": "nowhere"}, "matchingPrecedence": 700,
            "rules": [{
                "subjects": [{"kind": "Group", "group": {"name": "nobody"}}],
                "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/healthz"]}],
            }],
        },
    });
    server.post(SCHEMAS, &schema).await.ok();
    let told = |value: &Value| value["object"]["status"]["conditions"][0].clone();
    let mut condition = Value::Null;
    while condition.is_null() {
        condition = told(&events.next().await.expect("an event"));
    }
    assert_eq!((&condition["type"], &condition["status"]), (&json!("Dangling"), &json!("True")));
    let level = json!({
        "metadata": {"name": "nowhere"},
        "spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}},
    });
    server.post(LEVELS, &level).await.ok();
    while condition["status"] == "True" {
        condition = told(&events.next().await.expect("an event"));
    }
    assert_eq!(condition["reason"], "Found");
}
