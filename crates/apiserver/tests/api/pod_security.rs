//! PodSecurity: what a level refuses, what it only warns of or notes, and what a namespace
//! is told when its level changes.

use crate::server::{Answer, Server, deployment, pod};
use ferry_apiserver::PluginConfig;
use ferry_apiserver::admission::pod_security::PodSecurityConfig;
use ferry_apiserver::audit::{Auditor, Log, Policy, Rotation};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const MERGE: &str = "application/merge-patch+json";

struct Guarded {
    server: Server,
    log: PathBuf,
}

impl Guarded {
    async fn start(config: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        let log = directory.path().join("audit.log");
        let policy =
            Policy::parse("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n").expect("a policy");
        let sink = Log::open(&log, Rotation::default()).expect("a log");
        let pod_security = PodSecurityConfig::parse(&format!(
            "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n{config}"
        ))
        .expect("a configuration");
        let server = Server::start_with(directory, |config| {
            config.audit = Some(Arc::new(Auditor::new(policy, vec![Arc::new(sink)])));
            config.admission = PluginConfig { pod_security, ..Default::default() };
        })
        .await;
        Self { server, log }
    }

    /// A namespace with these labels of PodSecurity, and the account that its pods need.
    async fn namespace(&self, name: &str, labels: &[(&str, &str)]) -> Answer {
        let labels: serde_json::Map<String, Value> =
            labels.iter().map(|(key, value)| (label(key), (*value).into())).collect();
        let namespace = json!({"metadata": {"name": name, "labels": labels}});
        let made = self.server.post("/api/v1/namespaces", &namespace).await;
        if made.code == 201 {
            let account = json!({"metadata": {"name": "default"}});
            self.server.post(&format!("/api/v1/namespaces/{name}/serviceaccounts"), &account).await.ok();
        }
        made
    }

    async fn label(&self, name: &str, labels: Value) -> Answer {
        self.server.patch(MERGE, &format!("/api/v1/namespaces/{name}"), &json!({"metadata": {"labels": labels}})).await
    }

    async fn make(&self, namespace: &str, pod: &Value) -> Answer {
        self.server.post(&format!("/api/v1/namespaces/{namespace}/pods"), pod).await
    }

    /// The notes of PodSecurity about the last request whose URI ends so.
    fn notes(&self, uri: &str) -> Value {
        let text = std::fs::read_to_string(&self.log).expect("the log");
        let events = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is an event"));
        let ends = |event: &Value| event["requestURI"].as_str().is_some_and(|found| found.ends_with(uri));
        let mut told = events.filter(|event| event["stage"] == "ResponseComplete" && ends(event));
        let mut notes = told.next_back().expect("an event")["annotations"].clone();
        if let Some(notes) = notes.as_object_mut() {
            notes.retain(|key, _| key.starts_with("pod-security.kubernetes.io/"));
        }
        notes
    }
}

fn label(key: &str) -> String {
    format!("pod-security.kubernetes.io/{key}")
}

fn warnings(answer: &Answer) -> Vec<String> {
    let values = answer.headers.get_all("warning").iter().map(|value| value.to_str().expect("text"));
    values.map(|text| text.replace("\\\"", "\"")).collect()
}

fn privileged(name: &str) -> Value {
    let mut pod = pod(name);
    pod["spec"]["containers"][0]["securityContext"] = json!({"privileged": true});
    pod
}

/// A pod that keeps to the strictest level.
fn restricted(name: &str) -> Value {
    let mut pod = pod(name);
    pod["spec"]["securityContext"] = json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
    pod["spec"]["containers"][0]["securityContext"] =
        json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}});
    pod
}

const MISSING: &str = "allowPrivilegeEscalation != false (container \"web\" must set securityContext.allowPrivilegeEscalation=false), \
     unrestricted capabilities (container \"web\" must set securityContext.capabilities.drop=[\"ALL\"]), \
     runAsNonRoot != true (pod or container \"web\" must set securityContext.runAsNonRoot=true), \
     seccompProfile (pod or container \"web\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")";

#[tokio::test]
async fn a_pod_keeps_to_the_level_of_its_namespace() {
    let guarded = Guarded::start("").await;
    guarded.namespace("open", &[]).await.ok();
    guarded.make("open", &privileged("any")).await.ok();
    assert_eq!(guarded.notes("/open/pods"), json!({label("enforce-policy"): "privileged:latest"}));

    guarded.namespace("strict", &[("enforce", "restricted")]).await.ok();
    let refused = guarded.make("strict", &pod("bare")).await;
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.message(),
        format!("pods \"bare\" is forbidden: violates PodSecurity \"restricted:latest\": {MISSING}")
    );
    assert_eq!(refused.json()["reason"], "Forbidden");
    assert!(warnings(&refused).is_empty(), "who is refused is not warned too");
    assert_eq!(guarded.notes("/strict/pods"), json!({label("enforce-policy"): "restricted:latest"}));
    guarded.make("strict", &restricted("good")).await.ok();

    guarded.namespace("old", &[("enforce", "restricted"), ("enforce-version", "v1.7")]).await.ok();
    let refused = guarded.make("old", &pod("bare")).await;
    assert_eq!(
        refused.message(),
        "pods \"bare\" is forbidden: violates PodSecurity \"restricted:v1.7\": runAsNonRoot != true (pod or container \"web\" must set securityContext.runAsNonRoot=true)"
    );
}

#[tokio::test]
async fn a_deployment_is_warned_of_and_never_refused() {
    let guarded = Guarded::start("").await;
    guarded.namespace("strict", &[("enforce", "restricted"), ("audit", "baseline")]).await.ok();
    let made = guarded.server.post("/apis/apps/v1/namespaces/strict/deployments", &deployment("web")).await;
    assert_eq!(made.code, 201);
    assert_eq!(warnings(&made), [format!("299 - \"would violate PodSecurity \"restricted:latest\": {MISSING}\"")]);
    assert_eq!(guarded.notes("/strict/deployments"), json!({}));

    let mut host = deployment("host");
    host["spec"]["template"]["spec"]["hostNetwork"] = true.into();
    let made = guarded.server.post("/apis/apps/v1/namespaces/strict/deployments", &host).await;
    assert_eq!(made.code, 201);
    assert_eq!(
        guarded.notes("/strict/deployments"),
        json!({label("audit-violations"): "would violate PodSecurity \"baseline:latest\": host namespaces (hostNetwork=true)"})
    );
    let path = "/apis/apps/v1/namespaces/strict/deployments/host/scale";
    let scaled = guarded.server.patch(MERGE, path, &json!({"spec": {"replicas": 1}})).await;
    assert!(warnings(&scaled).is_empty(), "a subresource changes no template");
}

#[tokio::test]
async fn a_pod_that_was_let_in_before_may_change_but_run_nothing_else() {
    let guarded = Guarded::start("").await;
    guarded.namespace("ns", &[]).await.ok();
    guarded.make("ns", &privileged("before")).await.ok();
    guarded.label("ns", json!({label("enforce"): "baseline"})).await.ok();
    let path = "/api/v1/namespaces/ns/pods/before";
    let server = &guarded.server;
    server.patch(MERGE, path, &json!({"metadata": {"labels": {"a": "b"}}})).await.ok();
    let image = json!([{"op": "replace", "path": "/spec/containers/0/image", "value": "web:2"}]);
    let refused = server.patch("application/json-patch+json", path, &image).await;
    assert_eq!(
        refused.message(),
        "pods \"before\" is forbidden: violates PodSecurity \"baseline:latest\": privileged (container \"web\" must not set securityContext.privileged=true)"
    );

    guarded.make("ns", &pod("plain")).await.ok();
    let debugger = |context: Value| json!({"spec": {"ephemeralContainers": [{"name": "debug", "image": "i", "securityContext": context}]}});
    let path = "/api/v1/namespaces/ns/pods/plain/ephemeralcontainers";
    let strategic = "application/strategic-merge-patch+json";
    let refused = server.patch(strategic, path, &debugger(json!({"privileged": true}))).await;
    assert_eq!(refused.code, 403);
    assert!(refused.message().contains("privileged (container \"debug\""), "{}", refused.message());
    server.patch(strategic, path, &debugger(json!({}))).await.ok();
}

#[tokio::test]
async fn a_namespace_is_told_of_its_pods_when_its_level_rises() {
    let guarded = Guarded::start("").await;
    guarded.namespace("ns", &[]).await.ok();
    for name in ["b", "a"] {
        guarded.make("ns", &privileged(name)).await.ok();
    }
    let labelled = guarded.label("ns", json!({label("enforce"): "baseline"})).await;
    assert_eq!(labelled.code, 200);
    assert_eq!(
        warnings(&labelled),
        [
            "299 - \"existing pods in namespace \"ns\" violate the new PodSecurity enforce level \"baseline:latest\"\"",
            "299 - \"a (and 1 other pod): privileged\"",
        ]
    );
    assert!(warnings(&guarded.label("ns", json!({"unrelated": "x"})).await).is_empty());
    assert!(warnings(&guarded.label("ns", json!({label("enforce"): "privileged"})).await).is_empty());
}

#[tokio::test]
async fn labels_that_mean_nothing_are_refused() {
    let guarded = Guarded::start("").await;
    let refused = guarded.namespace("wrong", &[("enforce", "strict"), ("warn-version", "1.2")]).await;
    assert_eq!(refused.code, 422);
    assert_eq!(
        refused.message(),
        "Namespace \"wrong\" is invalid: [\
         metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"strict\": must be one of privileged, baseline, restricted, \
         metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1.2\": must be \"latest\" or \"v1.x\"]"
    );
    guarded.namespace("right", &[]).await.ok();
    assert_eq!(guarded.label("right", json!({label("audit"): "x"})).await.code, 422);
}

#[tokio::test]
async fn the_configuration_gives_defaults_and_exempts() {
    let guarded = Guarded::start(
        "defaults: {enforce: baseline}\nexemptions: {usernames: [root], namespaces: [free], runtimeClasses: [kata]}\n",
    )
    .await;
    guarded.namespace("ns", &[]).await.ok();
    assert_eq!(guarded.make("ns", &privileged("refused")).await.code, 403);

    let told = guarded.namespace("free", &[("enforce", "restricted")]).await;
    assert_eq!(
        warnings(&told),
        [
            "299 - \"namespace \"free\" is exempt from Pod Security, and the policy (enforce=restricted:latest) will be ignored\""
        ]
    );
    guarded.make("free", &privileged("p")).await.ok();
    assert_eq!(guarded.notes("/free/pods"), json!({label("exempt"): "namespace"}));

    let headers =
        [("content-type", "application/json"), ("impersonate-user", "root"), ("impersonate-group", "system:masters")];
    let path = "/api/v1/namespaces/ns/pods";
    let made = guarded.server.ask("POST", path, &headers, privileged("by-root").to_string()).await;
    made.ok();
    assert_eq!(guarded.notes("/ns/pods"), json!({label("exempt"): "user"}));

    let class = json!({"metadata": {"name": "kata"}, "handler": "kata"});
    guarded.server.post("/apis/node.k8s.io/v1/runtimeclasses", &class).await.ok();
    let mut inside = privileged("inside");
    inside["spec"]["runtimeClassName"] = "kata".into();
    guarded.make("ns", &inside).await.ok();
    assert_eq!(guarded.notes("/ns/pods"), json!({label("exempt"): "runtimeClass"}));
}
