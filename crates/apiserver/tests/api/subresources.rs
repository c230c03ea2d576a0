//! Scale, binding, eviction, tokens, reviews, events in two versions.

use crate::server::{DEPLOYMENTS, PODS, Server, deployment, pod};
use serde_json::json;

#[tokio::test]
async fn scale_reads_and_writes_replicas() {
    let server = Server::start().await;
    server.post(DEPLOYMENTS, &deployment("d")).await.ok();
    let path = format!("{DEPLOYMENTS}/d/scale");
    let mut scale = server.get(&path).await.ok();
    assert_eq!((&scale["kind"], &scale["apiVersion"]), (&json!("Scale"), &json!("autoscaling/v1")));
    assert_eq!((&scale["spec"]["replicas"], &scale["status"]["selector"]), (&json!(3), &json!("app=d")));
    scale["spec"]["replicas"] = 6.into();
    assert_eq!(server.put(&path, &scale).await.ok()["spec"]["replicas"], 6);
    assert_eq!(server.put(&path, &scale).await.code, 409, "the version is old now");
    let merge = "application/merge-patch+json";
    server.patch(merge, &path, &json!({"spec": {"replicas": 2}})).await.ok();
    let deployment = server.get(&format!("{DEPLOYMENTS}/d")).await.ok();
    assert_eq!((&deployment["spec"]["replicas"], &deployment["metadata"]["generation"]), (&json!(2), &json!(3)));
    let refused = server.patch(merge, &path, &json!({"spec": {"replicas": -1}})).await;
    assert_eq!(
        refused.message(),
        "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    );
}

#[tokio::test]
async fn a_pod_is_bound_once_through_either_door() {
    let server = Server::start().await.with_default_account().await;
    server.post(PODS, &pod("p")).await.ok();
    server.post(PODS, &pod("q")).await.ok();
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}});
    let bound = server.post(&format!("{PODS}/p/binding"), &binding).await;
    assert_eq!((bound.code, &bound.json()["status"]), (201, &json!("Success")));
    let read = server.get(&format!("{PODS}/p")).await.ok();
    assert_eq!(read["spec"]["nodeName"], "n1");
    assert!(read["status"]["conditions"].as_array().is_some_and(|all| {
        all.iter().any(|condition| condition["type"] == "PodScheduled" && condition["status"] == "True")
    }));
    let again = server.post(&format!("{PODS}/p/binding"), &binding).await;
    assert_eq!(
        (again.code, again.message().as_str()),
        (409, "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"")
    );
    let legacy = json!({"metadata": {"name": "q"}, "target": {"kind": "Node", "name": "n2"}});
    server.post("/api/v1/namespaces/default/bindings", &legacy).await.ok();
    let list = server.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn2").await.ok();
    assert_eq!(list["items"][0]["metadata"]["name"], "q");
}

#[tokio::test]
async fn a_binding_does_not_count_as_a_new_generation() {
    let server = Server::start().await.with_default_account().await;
    let mut asked = pod("p");
    asked["metadata"]["generation"] = 100.into();
    assert_eq!(server.post(PODS, &asked).await.ok()["metadata"]["generation"], 1);
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}});
    server.post(&format!("{PODS}/p/binding"), &binding).await.ok();
    let path = format!("{PODS}/p");
    assert_eq!(server.get(&path).await.ok()["metadata"]["generation"], 1, "the binding changed what was asked for");
    let merge = "application/merge-patch+json";
    let deadline = server.patch(merge, &path, &json!({"spec": {"activeDeadlineSeconds": 5000}})).await.ok();
    assert_eq!(deadline["metadata"]["generation"], 2);
    let debugger = json!({"spec": {"ephemeralContainers": [{"name": "debug", "image": "i"}]}});
    let strategic = "application/strategic-merge-patch+json";
    let debugged = server.patch(strategic, &format!("{path}/ephemeralcontainers"), &debugger).await.ok();
    assert_eq!(debugged["metadata"]["generation"], 3);
    let deleted = server.delete(&format!("{path}?gracePeriodSeconds=60")).await.ok();
    assert_eq!(deleted["metadata"]["generation"], 4);
}

#[tokio::test]
async fn an_eviction_without_a_budget_deletes() {
    let server = Server::start().await.with_default_account().await;
    server.post(PODS, &pod("p")).await.ok();
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}});
    assert_eq!(server.post(&format!("{PODS}/p/eviction"), &eviction).await.code, 201);
    assert_eq!(server.get(&format!("{PODS}/p")).await.code, 404);
}

#[tokio::test]
async fn evictions_take_from_the_budget_until_it_is_empty() {
    let server = Server::start().await.with_default_account().await;
    let merge = "application/merge-patch+json";
    let running = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    for name in ["a", "b", "c"] {
        let mut pod = pod(name);
        pod["metadata"]["labels"] = json!({"app": "web"});
        pod["spec"]["nodeName"] = "n1".into();
        server.post(PODS, &pod).await.ok();
        server.patch(merge, &format!("{PODS}/{name}/status"), &running).await.ok();
    }
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget =
        json!({"metadata": {"name": "web"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}}});
    server.post(budgets, &budget).await.ok();
    let evict = async |name: &str, query: &str| {
        let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        server.post(&format!("{PODS}/{name}/eviction{query}"), &eviction).await
    };
    let fresh = evict("a", "").await;
    assert_eq!(fresh.code, 429, "the controller has not counted yet");
    assert_eq!(
        fresh.json()["details"]["causes"][0]["message"],
        "The disruption budget web is still being processed by the server."
    );
    let status = json!({"status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3}});
    server.patch(merge, &format!("{budgets}/web/status"), &status).await.ok();
    assert_eq!(evict("a", "?dryRun=All").await.code, 201);
    assert_eq!(evict("a", "").await.code, 201);
    let gone = server.get(&format!("{PODS}/a")).await.ok();
    let conditions = gone["status"]["conditions"].as_array().cloned().unwrap_or_default();
    assert!(
        conditions.iter().any(|c| c["type"] == "DisruptionTarget" && c["reason"] == "EvictionByEvictionAPI"),
        "{gone}"
    );
    assert!(gone["metadata"]["deletionTimestamp"].is_string());
    let left = server.get(&format!("{budgets}/web")).await.ok();
    assert_eq!(left["status"]["disruptionsAllowed"], 0);
    assert!(left["status"]["disruptedPods"]["a"].is_string());
    let refused = evict("b", "").await;
    assert_eq!(refused.code, 429);
    assert_eq!(refused.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
    assert_eq!(refused.json()["details"]["causes"][0]["reason"], "DisruptionBudget");
}

#[tokio::test]
async fn a_service_account_gets_a_token_that_proves_it() {
    let server = Server::start().await.with_default_account().await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}});
    let path = "/api/v1/namespaces/default/serviceaccounts/default/token";
    let issued = server.post(path, &request).await;
    assert_eq!(issued.code, 201, "{}", issued.message());
    let token = issued.json()["status"]["token"].as_str().expect("a token").to_owned();
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
    let reviewed = server.post("/apis/authentication.k8s.io/v1/tokenreviews", &review).await.ok();
    assert_eq!(reviewed["status"]["authenticated"], true);
    assert_eq!(reviewed["status"]["user"]["username"], "system:serviceaccount:default:default");
}

#[tokio::test]
async fn access_is_reviewed() {
    let server = Server::start().await;
    let review = |user: &str| {
        json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "default"}},
        })
    };
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    assert_eq!(server.post(path, &review("bob")).await.ok()["status"]["allowed"], false);
    let binding = json!({
        "metadata": {"name": "bob"}, "subjects": [{"kind": "User", "name": "bob", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"},
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    server.post(bindings, &binding).await.ok();
    // The index follows the cache, so the very next question sees the new binding.
    assert_eq!(server.post(path, &review("bob")).await.ok()["status"]["allowed"], true);
}

#[tokio::test]
async fn events_are_one_stock_in_two_versions() {
    let server = Server::start().await;
    let event = json!({
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"},
        "reason": "Started", "message": "Started it", "type": "Normal",
        "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z", "count": 1,
    });
    server.post("/api/v1/namespaces/default/events", &event).await.ok();
    let path = "/apis/events.k8s.io/v1/namespaces/default/events";
    let newer = server.get(&format!("{path}/e")).await.ok();
    assert_eq!((&newer["apiVersion"], &newer["note"]), (&json!("events.k8s.io/v1"), &json!("Started it")));
    assert_eq!(newer["regarding"]["name"], "p");
    let list = server.get(&format!("{path}?fieldSelector=regarding.name%3Dp")).await.ok();
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1), "{list}");
    let none = server.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dq").await.ok();
    assert_eq!(none["items"], json!([]));
}
