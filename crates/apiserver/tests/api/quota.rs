//! Quotas: what is charged, what is refused, and that many at once never get past them.
//! No controller runs here, so the tests write what it would have written to status.

use crate::server::{CONFIG_MAPS, PODS, SERVICES, Server, config_map, pod, service};
use serde_json::{Value, json};
use std::sync::Arc;

const QUOTAS: &str = "/api/v1/namespaces/default/resourcequotas";

/// A quota of which nothing is used yet.
async fn quota(server: &Server, name: &str, hard: Value) {
    server.post(QUOTAS, &json!({"metadata": {"name": name}, "spec": {"hard": hard}})).await.ok();
    let unused: serde_json::Map<String, Value> =
        hard.as_object().into_iter().flatten().map(|(name, _)| (name.clone(), "0".into())).collect();
    let status = json!({"status": {"hard": hard, "used": unused}});
    server.patch("application/merge-patch+json", &format!("{QUOTAS}/{name}/status"), &status).await.ok();
}

async fn used(server: &Server, name: &str) -> Value {
    server.get(&format!("{QUOTAS}/{name}")).await.ok()["status"]["used"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_creates_at_once_never_go_over() {
    let server = Arc::new(Server::start().await);
    quota(&server, "q", json!({"configmaps": "20", "count/configmaps": "25"})).await;
    let creates: Vec<_> = (0..100)
        .map(|n| {
            let server = server.clone();
            tokio::spawn(async move { server.post(CONFIG_MAPS, &config_map(&format!("c{n}"))).await })
        })
        .collect();
    let mut created = 0;
    for create in creates {
        let answer = create.await.expect("no panic");
        match answer.code {
            201 => created += 1,
            403 => assert!(
                answer.message().ends_with(
                    "exceeded quota: q, requested: configmaps=1, used: configmaps=20, limited: configmaps=20"
                ),
                "{}",
                answer.message()
            ),
            other => panic!("{other} {}", answer.message()),
        }
    }
    assert_eq!(created, 20);
    let list = server.get(CONFIG_MAPS).await.ok();
    assert_eq!(list["items"].as_array().map(Vec::len), Some(20));
    assert_eq!(used(&server, "q").await, json!({"configmaps": "20", "count/configmaps": "20"}));
}

#[tokio::test]
async fn pods_are_charged_for_what_they_ask() {
    let server = Server::start().await.with_default_account().await;
    quota(&server, "q", json!({"pods": "2", "requests.cpu": "1", "limits.memory": "1Gi"})).await;
    let refused = server.post(PODS, &pod("silent")).await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (
            403,
            "pods \"silent\" is forbidden: failed quota: q: must specify limits.memory for: web; requests.cpu for: web"
        )
    );
    let asking = |name: &str, cpu: &str| {
        let mut pod = pod(name);
        pod["spec"]["containers"][0]["resources"] =
            json!({"requests": {"cpu": cpu, "memory": "128Mi"}, "limits": {"memory": "256Mi"}});
        pod
    };
    server.post(&format!("{PODS}?dryRun=All"), &asking("dry", "500m")).await.ok();
    server.post(PODS, &asking("a", "500m")).await.ok();
    assert_eq!(used(&server, "q").await, json!({"pods": "1", "requests.cpu": "500m", "limits.memory": "256Mi"}));
    let refused = server.post(PODS, &asking("b", "600m")).await;
    assert_eq!(
        refused.message(),
        "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=500m, limited: requests.cpu=1"
    );
    let dry = server.post(&format!("{PODS}?dryRun=All"), &asking("b", "600m")).await;
    assert_eq!(dry.code, 403, "a dry run is judged too");
}

#[tokio::test]
async fn services_are_charged_when_their_type_changes() {
    let server = Server::start().await;
    quota(&server, "q", json!({"services": "5", "services.nodeports": "1", "services.loadbalancers": "0"})).await;
    server.post(SERVICES, &service("a")).await.ok();
    let merge = "application/merge-patch+json";
    let patch = |kind: &str| json!({"spec": {"type": kind}});
    server.patch(merge, &format!("{SERVICES}/a"), &patch("NodePort")).await.ok();
    assert_eq!(
        used(&server, "q").await,
        json!({"services": "1", "services.nodeports": "1", "services.loadbalancers": "0"})
    );
    let refused = server.patch(merge, &format!("{SERVICES}/a"), &patch("LoadBalancer")).await;
    assert_eq!(
        refused.message(),
        "services \"a\" is forbidden: exceeded quota: q, requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0"
    );
}

#[tokio::test]
async fn every_kind_can_be_counted() {
    let server = Server::start().await;
    quota(&server, "q", json!({"count/deployments.apps": "0", "count/leases.coordination.k8s.io": "1"})).await;
    let refused = server.post(crate::server::DEPLOYMENTS, &crate::server::deployment("d")).await;
    assert_eq!(
        refused.message(),
        "deployments.apps \"d\" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0"
    );
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    server.post(leases, &json!({"metadata": {"name": "a"}})).await.ok();
    assert_eq!(server.post(leases, &json!({"metadata": {"name": "b"}})).await.code, 403);
    let event = json!({"metadata": {"name": "e"}, "involvedObject": {"namespace": "default"}, "reason": "r"});
    server.post("/api/v1/namespaces/default/events", &event).await.ok();
}

#[tokio::test]
async fn scopes_sort_pods_and_a_quota_without_status_waits() {
    let server = Server::start().await.with_default_account().await;
    let scoped = json!({"metadata": {"name": "best"}, "spec": {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}});
    server.post(QUOTAS, &scoped).await.ok();
    server.post(PODS, &pod("before")).await.ok();
    let status = json!({"status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}});
    server.patch("application/merge-patch+json", &format!("{QUOTAS}/best/status"), &status).await.ok();
    assert_eq!(server.post(PODS, &pod("after")).await.code, 403);
    let mut burstable = pod("burstable");
    burstable["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1m"}});
    server.post(PODS, &burstable).await.ok();
    assert_eq!(used(&server, "best").await, json!({"pods": "1"}));
}
