//! Kinds that ask something of the layers around them: two versions of one stock, objects
//! that are never stored, a default that surprises.

use crate::server::Server;
use serde_json::{Value, json};

const MERGE: &str = "application/merge-patch+json";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

fn autoscalers(version: &str) -> String {
    format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers")
}

fn autoscaler() -> Value {
    let target = json!({"type": "AverageValue", "averageValue": "1k"});
    json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {
            "maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "metrics": [{"type": "Pods", "pods": {"metric": {"name": "qps"}, "target": target}}],
        },
    })
}

#[tokio::test]
async fn an_old_client_changes_an_autoscaler_and_loses_nothing_of_it() {
    let server = Server::start().await;
    let (v1, v2) = (format!("{}/web", autoscalers("v1")), format!("{}/web", autoscalers("v2")));
    let mut events = server.watch(&format!("{}?watch=true", autoscalers("v1"))).await;
    let created = server.post(&autoscalers("v2"), &autoscaler()).await.ok();
    let event = events.next().await.expect("an event");
    assert_eq!(event["object"]["apiVersion"], "autoscaling/v1");

    let mut old = server.get(&v1).await.ok();
    let carried = "autoscaling.alpha.kubernetes.io/metrics";
    assert!(old["metadata"]["annotations"][carried].as_str().is_some_and(|text| text.contains("qps")));
    assert!(old["spec"].get("metrics").is_none());
    old["spec"]["maxReplicas"] = 7.into();
    server.put(&v1, &old).await.ok();

    let new = server.get(&v2).await.ok();
    assert_eq!((&new["apiVersion"], &new["spec"]["maxReplicas"]), (&json!("autoscaling/v2"), &json!(7)));
    assert_eq!(new["spec"]["metrics"], created["spec"]["metrics"]);
    assert!(new["metadata"].get("annotations").is_none());
}

#[tokio::test]
async fn v1_is_judged_by_the_rules_of_v2() {
    let server = Server::start().await;
    let mut object = autoscaler();
    object["apiVersion"] = "autoscaling/v1".into();
    object["spec"] = json!({"scaleTargetRef": {"apiVersion": "v1", "kind": "Deployment", "name": "web"}});
    let refused = server.post(&autoscalers("v1"), &object).await;
    assert_eq!(refused.code, 422);
    assert!(
        refused.message().contains("spec.maxReplicas: Required value: must be set and greater than 0"),
        "{}",
        refused.message()
    );
}

#[tokio::test]
async fn components_are_read_and_nothing_else() {
    let server = Server::start().await;
    let path = "/api/v1/componentstatuses";
    let list = server.get(path).await.ok();
    assert_eq!((&list["kind"], list["items"].as_array().map(Vec::len)), (&json!("ComponentStatusList"), Some(3)));
    let one = server.get(&format!("{path}/scheduler")).await.ok();
    assert_eq!(one["conditions"][0]["status"], "True");
    assert_eq!(server.get(&format!("{path}/other")).await.code, 404);
    assert_eq!(
        server.get(&format!("{path}?fieldSelector=metadata.name=etcd-0")).await.ok()["items"][0]["metadata"]["name"],
        "etcd-0"
    );
    assert_eq!(server.get(&format!("{path}?labelSelector=a=b")).await.ok()["items"], json!([]));
    assert_eq!(server.delete(&format!("{path}/scheduler")).await.code, 405);
    assert_eq!(server.post(path, &one).await.code, 405);
    let accept = [("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")];
    let table = server.ask("GET", path, &accept, "").await.ok();
    assert_eq!(table["rows"][1]["cells"], json!(["scheduler", "Healthy", "ok", ""]));
}

#[tokio::test]
async fn a_job_that_leaves_its_pods_says_so() {
    let server = Server::start().await;
    let pod = json!({"restartPolicy": "Never", "containers": [{"name": "a", "image": "a:1"}]});
    let job = |name: &str| json!({"metadata": {"name": name}, "spec": {"template": {"spec": pod}}});
    let created = server.post(JOBS, &job("a")).await.ok();
    let uid = created["metadata"]["uid"].clone();
    assert_eq!(created["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"], uid);
    let suspended = server.patch(MERGE, &format!("{JOBS}/a"), &json!({"spec": {"suspend": true}})).await.ok();
    assert_eq!(suspended["metadata"]["generation"], 2);

    let deleted = server.delete(&format!("{JOBS}/a")).await;
    let warning = deleted.headers.get("warning").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    assert!(warning.contains("child pods are preserved by default"), "{warning}");
    assert_eq!(deleted.ok()["metadata"]["finalizers"], json!(["orphan"]));
    server.post(JOBS, &job("b")).await.ok();
    let told = server.delete(&format!("{JOBS}/b?propagationPolicy=Background")).await;
    assert!(told.headers.get("warning").is_none());
    assert_eq!(server.get(&format!("{JOBS}/b")).await.code, 404);
}
