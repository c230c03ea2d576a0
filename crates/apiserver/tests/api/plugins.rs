//! Admission plugins as clients meet them: what they fill in, what they refuse, and that
//! they can be turned on and off.

use crate::loopback::Loopback;
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

/// A server with these plugins on, told what the file says; files beside it are written first.
pub async fn with_plugins(enable: &[&str], files: &[(&str, &str)]) -> Server {
    let directory = TempDir::new().expect("a directory");
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).expect("written");
    }
    let file = directory.path().join("admission.yaml");
    let enable = enable.iter().map(|name| (*name).to_owned()).collect();
    Server::start_with(directory, move |config| {
        config.admission.enable = enable;
        config.admission.read(&file).expect("a valid configuration");
    })
    .await
}

pub const HEAD: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n";

#[tokio::test]
async fn tolerations_are_given_and_bounded_by_the_configuration() {
    let file = format!(
        "{HEAD}- name: PodTolerationRestriction\n  configuration:\n    \
         apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1\n    kind: Configuration\n    \
         default: [{{key: team, operator: Equal, value: shop}}]\n    \
         whitelist: [{{key: team, operator: Exists}}, {{key: node.kubernetes.io/not-ready, operator: Exists}}, {{key: node.kubernetes.io/unreachable, operator: Exists}}]\n"
    );
    let server = with_plugins(&["PodTolerationRestriction"], &[("admission.yaml", &file)]).await;
    let server = server.with_default_account().await;
    let made = server.post(PODS, &pod("p")).await.ok();
    let keys: Vec<&str> =
        made["spec"]["tolerations"].as_array().expect("tolerations").iter().filter_map(|t| t["key"].as_str()).collect();
    assert_eq!(keys, ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "team"]);
    let mut other = pod("q");
    other["spec"]["tolerations"] = json!([{"key": "gpu", "operator": "Exists"}]);
    let refused = server.post(PODS, &other).await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (
            500,
            "pod tolerations (possibly merged with namespace default tolerations) conflict with its cluster whitelist"
        )
    );
    assert_eq!(server.get(&format!("{PODS}/q")).await.code, 404);
    // The namespace's own list counts before the cluster's.
    let own = json!({"metadata": {"annotations": {
        "scheduler.alpha.kubernetes.io/tolerationsWhitelist": "[{\"operator\":\"Exists\"}]"}}});
    server.patch("application/merge-patch+json", "/api/v1/namespaces/default", &own).await.ok();
    server.post(PODS, &other).await.ok();
}

#[tokio::test]
async fn events_beyond_the_limit_are_refused() {
    let file = format!(
        "{HEAD}- name: EventRateLimit\n  configuration:\n    \
         apiVersion: eventratelimit.admission.k8s.io/v1alpha1\n    kind: Configuration\n    \
         limits: [{{type: Namespace, qps: 1, burst: 2}}]\n"
    );
    let server = with_plugins(&["EventRateLimit"], &[("admission.yaml", &file)]).await;
    let event = |name: &str, namespace: &str| {
        json!({"metadata": {"name": name}, "reason": "R", "message": "m", "type": "Normal",
            "involvedObject": {"kind": "Pod", "namespace": namespace, "name": "p"}})
    };
    let events = "/api/v1/namespaces/default/events";
    // Nothing is stored for a dry run, so it costs nothing.
    for _ in 0..5 {
        server.post(&format!("{events}?dryRun=All"), &event("dry", "default")).await.ok();
    }
    let mut refused = None;
    // More come in a moment than the bucket can gain meanwhile.
    for index in 0..100 {
        let answer = server.post(events, &event(&format!("e{index}"), "default")).await;
        if answer.code != 201 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("a refusal");
    assert_eq!(
        (refused.code, refused.message().as_str(), refused.json()["reason"].as_str()),
        (429, "Too many requests: limit reached on type Namespace for key default", Some("TooManyRequests"))
    );
    server.post("/api/v1/namespaces/kube-system/events", &event("e", "kube-system")).await.ok();
}

#[tokio::test]
async fn images_are_what_another_server_allows() {
    let asked = std::sync::Arc::new(parking_lot::Mutex::new(Vec::<Value>::new()));
    let record = asked.clone();
    let policy = Loopback::start(move |_, review| {
        let containers = review["spec"]["containers"].as_array().cloned().unwrap_or_default();
        let has = |word: &str| containers.iter().any(|c| c["image"].as_str().is_some_and(|i| i.contains(word)));
        let status = if has("evil") {
            json!({"allowed": false, "reason": "evil images"})
        } else if has("garbage") {
            json!({"allowed": "perhaps"})
        } else {
            json!({"allowed": true})
        };
        record.lock().push(review);
        (200, json!({"apiVersion": "imagepolicy.k8s.io/v1alpha1", "kind": "ImageReview", "status": status}))
    })
    .await;
    let file = format!("{HEAD}- name: ImagePolicyWebhook\n  path: images.yaml\n");
    let images = "imagePolicy: {kubeConfigFile: hook.yaml, allowTTL: 50, denyTTL: 50, retryBackoff: 1}\n";
    let kubeconfig = policy.kubeconfig();
    let files = [("admission.yaml", file.as_str()), ("images.yaml", images), ("hook.yaml", kubeconfig.as_str())];
    let server = with_plugins(&["ImagePolicyWebhook"], &files).await.with_default_account().await;
    let made = |name: &str, image: &str, init: Option<&str>| {
        let mut pod = pod(name);
        pod["spec"]["containers"][0]["image"] = image.into();
        if let Some(init) = init {
            pod["spec"]["initContainers"] = json!([{"name": "init", "image": init}]);
        }
        pod
    };
    server.post(PODS, &made("a", "good:1", None)).await.ok();
    assert_eq!(asked.lock()[0]["spec"], json!({"containers": [{"image": "good:1"}], "namespace": "default"}));
    server.post(PODS, &made("b", "good:1", None)).await.ok();
    assert_eq!(policy.asked(), 1, "the answer is remembered");
    let refused = server.post(PODS, &made("c", "good:1", Some("evil:1"))).await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (403, "pods \"c\" is forbidden: image policy webhook backend denied one or more images: evil images")
    );
    // An answer that makes no sense lets nothing in.
    let refused = server.post(PODS, &made("d", "garbage:1", None)).await;
    assert_eq!(refused.code, 403, "{}", refused.message());
    assert_eq!(server.get(&format!("{PODS}/d")).await.code, 404);
}

#[tokio::test]
async fn without_the_image_server_the_configuration_decides() {
    // A port that nobody listens on.
    let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let kubeconfig = format!(
        "clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{port}/images'}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c}}}}]\ncurrent-context: x\n"
    );
    for (allow, code) in [(false, 403), (true, 201)] {
        let file = format!(
            "{HEAD}- name: ImagePolicyWebhook\n  configuration: {{imagePolicy: {{kubeConfigFile: hook.yaml, defaultAllow: {allow}}}}}\n"
        );
        let files = [("admission.yaml", file.as_str()), ("hook.yaml", kubeconfig.as_str())];
        let server = with_plugins(&["ImagePolicyWebhook"], &files).await.with_default_account().await;
        let answer = server.post(PODS, &pod("p")).await;
        assert_eq!(answer.code, code, "{}", answer.message());
        if code == 403 {
            let expected = format!(
                "pods \"p\" is forbidden: Post \"http://127.0.0.1:{port}/images?timeout=30s\": dial tcp 127.0.0.1:{port}: connect: connection refused"
            );
            assert_eq!(answer.message(), expected);
        }
    }
}

#[tokio::test]
async fn a_bound_pod_tells_its_zone_and_asks_for_no_more_than_its_node_has() {
    let server = Server::start().await.with_default_account().await;
    let labels = json!({"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"});
    let node =
        json!({"metadata": {"name": "n", "labels": labels}, "status": {"allocatable": {"cpu": "2", "memory": "1Gi"}}});
    server.post("/api/v1/nodes", &node).await.ok();
    let mut small = pod("p");
    small["metadata"]["labels"] = json!({"app": "web", "topology.kubernetes.io/zone": "wished-for"});
    small["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    server.post(PODS, &small).await.ok();
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
    server.post(&format!("{PODS}/p/binding"), &binding).await.ok();
    let bound = server.get(&format!("{PODS}/p")).await.ok();
    assert_eq!(
        bound["metadata"]["labels"],
        json!({"app": "web", "topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"})
    );
    let resize = async |cpu: &str| {
        let change = json!({"spec": {"containers": [{"name": "web", "resources": {"requests": {"cpu": cpu}}}]}});
        server.patch("application/strategic-merge-patch+json", &format!("{PODS}/p/resize"), &change).await
    };
    let refused = resize("3").await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (
            403,
            "pods \"p\" is forbidden: node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000"
        )
    );
    assert_eq!(refused.json()["details"]["causes"][0]["reason"], "NodeCapacity");
    assert_eq!(resize("2").await.ok()["spec"]["containers"][0]["resources"]["requests"]["cpu"], "2");
}
