//! Admission plugins as clients meet them: what they fill in, what they refuse, and that
//! they can be turned on and off.

use crate::server::{PODS, Server, pod};
use serde_json::{Value, json};
use tempfile::TempDir;

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";

fn claim(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
}

#[tokio::test]
async fn storage_gets_its_class_and_its_protection() {
    let server = Server::start().await;
    let class = json!({"metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}, "provisioner": "example.com/disk"});
    server.post("/apis/storage.k8s.io/v1/storageclasses", &class).await.ok();
    let made = server.post(CLAIMS, &claim("c")).await.ok();
    assert_eq!(made["spec"]["storageClassName"], "fast");
    assert_eq!(made["metadata"]["finalizers"], json!(["kubernetes.io/pvc-protection"]));
    let pending = server.delete(&format!("{CLAIMS}/c")).await.ok();
    assert!(pending["metadata"]["deletionTimestamp"].is_string(), "it waits for its finalizer");
    let freed = json!({"metadata": {"finalizers": null}});
    server.patch("application/merge-patch+json", &format!("{CLAIMS}/c"), &freed).await.ok();
    assert_eq!(server.get(&format!("{CLAIMS}/c")).await.code, 404);

    server.post(CLAIMS, &claim("d")).await.ok();
    let more = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
    let refused = server.patch("application/merge-patch+json", &format!("{CLAIMS}/d"), &more).await;
    assert!(refused.code == 403 || refused.code == 422, "{}", refused.message());
}

#[tokio::test]
async fn a_runtime_class_brings_its_overhead() {
    let server = Server::start().await.with_default_account().await;
    let mut sandboxed = pod("p");
    sandboxed["spec"]["runtimeClassName"] = "sandboxed".into();
    let refused = server.post(PODS, &sandboxed).await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (403, "pods \"p\" is forbidden: pod rejected: RuntimeClass \"sandboxed\" not found")
    );
    let class =
        json!({"metadata": {"name": "sandboxed"}, "handler": "kata", "overhead": {"podFixed": {"cpu": "250m"}}});
    server.post("/apis/node.k8s.io/v1/runtimeclasses", &class).await.ok();
    let made = server.post(PODS, &sandboxed).await.ok();
    assert_eq!(made["spec"]["overhead"], json!({"cpu": "250m"}));
}

#[tokio::test]
async fn plugins_are_turned_on_and_off_by_name() {
    let directory = TempDir::new().expect("a directory");
    let server = Server::start_with(directory, |config| {
        config.admission.enable =
            ["NamespaceAutoProvision", "AlwaysPullImages", "DenyServiceExternalIPs"].map(str::to_owned).to_vec();
        config.admission.disable = vec!["ServiceAccount".into()];
    })
    .await;
    let made = server.post("/api/v1/namespaces/fresh/pods", &pod("p")).await.ok();
    assert_eq!(made["spec"]["containers"][0]["imagePullPolicy"], "Always");
    assert!(made["spec"].get("serviceAccountName").is_none(), "that plugin is off");
    assert_eq!(server.get("/api/v1/namespaces/fresh").await.ok()["status"]["phase"], "Active");
    let mut service = crate::server::service("s");
    service["spec"]["externalIPs"] = json!(["192.0.2.1"]);
    let refused = server.post(crate::server::SERVICES, &service).await;
    assert_eq!(refused.message(), "services \"s\" is forbidden: Use of external IPs is denied by admission control");
}
