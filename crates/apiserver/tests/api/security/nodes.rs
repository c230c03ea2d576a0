//! A node is trusted with its own object and with what its pods need, no further. One that
//! is taken over must not untaint itself, give itself an owner whose deletion takes it along
//! (CVE-2025-5187), read what other nodes' pods read, or make mirror pods that claim what a
//! scheduler never gave it (CVE-2025-4563).

use super::Verdict;
use crate::server::{Answer, Server};
use base64::Engine as _;
use ferry_apiserver::Peer;
use ferry_apiserver::authn::UserInfo;
use serde_json::{Value, json};
use std::sync::Arc;
use tempfile::TempDir;

const NAMESPACE: &str = "/api/v1/namespaces/default";
const MERGE: &str = "application/merge-patch+json";

/// Two nodes, and on each of them a pod with all that a pod may refer to, named for it.
async fn with_nodes(server: Server) -> Server {
    for node in ["a", "b"] {
        let taints = json!([{"key": "kept", "effect": "NoSchedule"}]);
        server.post("/api/v1/nodes", &json!({"metadata": {"name": node}, "spec": {"taints": taints}})).await.ok();
        let named = json!({"metadata": {"name": node}});
        for plural in ["secrets", "configmaps", "serviceaccounts"] {
            server.post(&format!("{NAMESPACE}/{plural}"), &named).await.ok();
        }
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        let claim = json!({"metadata": {"name": node}, "spec": spec});
        server.post(&format!("{NAMESPACE}/persistentvolumeclaims"), &claim).await.ok();
        let pod = json!({"metadata": {"name": node}, "spec": {"nodeName": node, "serviceAccountName": node,
            "containers": [{"name": "c", "image": "web:1"}], "volumes": [
                {"name": "s", "secret": {"secretName": node}}, {"name": "c", "configMap": {"name": node}},
                {"name": "p", "persistentVolumeClaim": {"claimName": node}}]}});
        server.post(&format!("{NAMESPACE}/pods"), &pod).await.ok();
    }
    server
}

/// Asks as the node `a`.
async fn ask(server: &Server, method: &str, path: &str, body: &Value) -> Answer {
    let node = Peer::InProcess(Arc::new(UserInfo::authenticated("system:node:a", &["system:nodes"])));
    let headers: &[(&str, &str)] = if method == "PATCH" { &[("content-type", MERGE)] } else { &[] };
    server.ask_as(node, method, path, headers, body).await
}

/// Changes of its own node that a node may not make.
async fn attack_own_node(server: &Server, verdict: &mut Verdict) {
    let owner = json!([{"apiVersion": "v1", "kind": "Namespace", "name": "gone", "uid": "1"}]);
    let changes = [
        ("owners", json!({"metadata": {"ownerReferences": owner}})),
        ("no taints", json!({"spec": {"taints": null}})),
        ("another taint", json!({"spec": {"taints": [{"key": "kept", "effect": "PreferNoSchedule"}]}})),
        ("a label of others", json!({"metadata": {"labels": {"node-restriction.kubernetes.io/tier": "safe"}}})),
    ];
    for (what, change) in changes {
        for door in ["", "/status"] {
            let path = format!("/api/v1/nodes/a{door}");
            let before = server.get("/api/v1/nodes/a").await.ok();
            let parts = |node: &Value| {
                json!([node["metadata"]["ownerReferences"], node["metadata"]["labels"], node["spec"]["taints"]])
            };
            // What a door does not take it may ignore, so what is stored counts.
            ask(server, "PATCH", &path, &change).await;
            let after = server.get("/api/v1/nodes/a").await.ok();
            let through_status = door == "/status" && change.get("spec").is_some();
            if !through_status {
                verdict.tried(format!("{what} by nodes{door}"), parts(&before) != parts(&after));
            }
            server
                .patch(
                    MERGE,
                    "/api/v1/nodes/a",
                    &json!({
                "metadata": {"ownerReferences": null, "labels": {"node-restriction.kubernetes.io/tier": null}},
                "spec": {"taints": before["spec"]["taints"]}}),
                )
                .await
                .ok();
        }
    }
    verdict
        .tried("deleting itself", ask(server, "DELETE", "/api/v1/nodes/a?dryRun=All", &Value::Null).await.code < 300);
}

fn slice_of(node: &str) -> Value {
    let pool = json!({"name": node, "generation": 1, "resourceSliceCount": 1});
    json!({"metadata": {"name": format!("{node}-devices")},
        "spec": {"driver": "gpu.example.com", "nodeName": node, "pool": pool, "devices": []}})
}

fn certificate_request(name: &str) -> Value {
    let mut parameters = rcgen::CertificateParams::default();
    parameters.distinguished_name.push(rcgen::DnType::OrganizationName, "system:nodes");
    parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
    let key = rcgen::KeyPair::generate().expect("a key");
    let pem = parameters.serialize_request(&key).expect("a request").pem().expect("PEM");
    json!({"metadata": {"name": "csr"}, "spec": {"request": base64::engine::general_purpose::STANDARD.encode(pem),
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": ["digital signature", "client auth"]}})
}

/// What belongs to others.
async fn attack_others(server: &Server, verdict: &mut Verdict) {
    for plural in ["secrets", "configmaps", "persistentvolumeclaims", "serviceaccounts"] {
        let read = ask(server, "GET", &format!("{NAMESPACE}/{plural}/b"), &Value::Null).await;
        verdict.tried(format!("reading {plural} of another"), read.code == 200);
        let listed = ask(server, "GET", &format!("{NAMESPACE}/{plural}"), &Value::Null).await;
        verdict.tried(format!("listing {plural}"), listed.code == 200);
        let pinned = format!("{NAMESPACE}/{plural}?fieldSelector=metadata.name%3Db");
        verdict
            .tried(format!("listing {plural} of another"), ask(server, "GET", &pinned, &Value::Null).await.code == 200);
    }
    let pod = |name: &str| format!("{NAMESPACE}/pods/{name}");
    let uid = server.get(&pod("b")).await.ok()["metadata"]["uid"].clone();
    let bound = json!({"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": uid}}});
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    let slices = "/apis/resource.k8s.io/v1/resourceslices";
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let attempts = [
        ("reading its pod", "GET", pod("b"), Value::Null),
        ("reading all pods", "GET", "/api/v1/pods".into(), Value::Null),
        ("changing its pod's status", "PATCH", format!("{}/status", pod("b")), json!({"status": {"reason": "x"}})),
        ("a token of its pod", "POST", format!("{NAMESPACE}/serviceaccounts/b/token"), bound),
        ("a token of no pod", "POST", format!("{NAMESPACE}/serviceaccounts/a/token"), json!({"spec": {}})),
        ("changing its node", "PATCH", "/api/v1/nodes/b".into(), json!({"metadata": {"labels": {"x": "y"}}})),
        ("its node's status", "PATCH", "/api/v1/nodes/b/status".into(), json!({"status": {"phase": "Running"}})),
        ("evicting its pod", "POST", format!("{}/eviction?dryRun=All", pod("b")), json!({"metadata": {"name": "b"}})),
        ("its lease", "POST", lease.into(), json!({"metadata": {"name": "b"}, "spec": {"holderIdentity": "a"}})),
        ("its devices", "POST", slices.into(), slice_of("b")),
        ("its certificate", "POST", requests.into(), certificate_request("system:node:b")),
        ("deleting its pod", "DELETE", format!("{}?gracePeriodSeconds=0", pod("b")), Value::Null),
    ];
    for (what, method, path, body) in attempts {
        verdict.tried(format!("another node: {what}"), ask(server, method, &path, &body).await.code < 300);
    }
}

/// Mirror pods that refer to what only a scheduler or a user may give.
async fn attack_mirror_pods(uid: &Value, post: impl AsyncFn(Value) -> bool, verdict: &mut Verdict) {
    let mirror = |name: &str, more: Value| {
        let mut spec = json!({"nodeName": "a", "containers": [{"name": "c", "image": "web:1"}]});
        if let (Value::Object(spec), Value::Object(more)) = (&mut spec, more) {
            spec.extend(more);
        }
        json!({"metadata": {"name": name, "annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [
            {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": uid, "controller": true}]}, "spec": spec})
    };
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        if let (Value::Object(volume), Value::Object(source)) = (&mut volume, source) {
            volume.extend(source);
        }
        json!({"volumes": [volume]})
    };
    let claim = json!({"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let references = [
        ("a device", json!({"resourceClaims": [{"name": "gpu", "resourceClaimName": "b"}]})),
        ("a device by template", json!({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "b"}]})),
        ("an account", json!({"serviceAccountName": "b"})),
        ("a secret", volume(json!({"secret": {"secretName": "b"}}))),
        ("a config map", volume(json!({"configMap": {"name": "b"}}))),
        ("a claim", volume(json!({"persistentVolumeClaim": {"claimName": "b"}}))),
        ("a claim by template", volume(json!({"ephemeral": {"volumeClaimTemplate": claim}}))),
        ("a token", volume(json!({"projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}))),
        ("a projected secret", volume(json!({"projected": {"sources": [{"secret": {"name": "b"}}]}}))),
        (
            "a secret by envFrom",
            json!({"containers": [{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "b"}}]}]}),
        ),
        (
            "a config map by env",
            json!({"initContainers": [{"name": "i", "image": "i", "env": [
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "b", "key": "k"}}}]}]}),
        ),
    ];
    for (index, (what, more)) in references.into_iter().enumerate() {
        verdict.tried(format!("a mirror pod with {what}"), post(mirror(&format!("m{index}"), more)).await);
    }
    let mut plain = mirror("plain", json!({}));
    plain["metadata"]["annotations"] = Value::Null;
    verdict.tried("a pod that mirrors nothing", post(plain).await);
    let mut elsewhere = mirror("elsewhere", json!({}));
    elsewhere["spec"]["nodeName"] = "b".into();
    verdict.tried("a mirror pod on another node", post(elsewhere).await);
    assert!(post(mirror("fine", json!({}))).await, "one that refers to nothing is taken");
}

#[tokio::test]
async fn ferry_keeps_a_node_to_itself() {
    let server = with_nodes(Server::start().await).await;
    let mut verdict = Verdict::default();
    attack_own_node(&server, &mut verdict).await;
    attack_others(&server, &mut verdict).await;
    let uid = server.get("/api/v1/nodes/a").await.ok()["metadata"]["uid"].clone();
    let pods = format!("{NAMESPACE}/pods");
    let post = async |pod: Value| ask(&server, "POST", &pods, &pod).await.code < 300;
    attack_mirror_pods(&uid, post, &mut verdict).await;
    verdict.assert_held();
    // What is its own it has, and what its pods are given later.
    server.post(&format!("{NAMESPACE}/secrets"), &json!({"metadata": {"name": "late"}})).await.ok();
    let late = format!("{NAMESPACE}/secrets/late");
    assert_eq!(ask(&server, "GET", &late, &Value::Null).await.code, 403);
    let debug = json!({"spec": {"ephemeralContainers": [{"name": "d", "image": "d", "envFrom": [{"secretRef": {"name": "late"}}]}]}});
    let door = format!("{NAMESPACE}/pods/a/ephemeralcontainers");
    server.patch("application/strategic-merge-patch+json", &door, &debug).await.ok();
    ask(&server, "GET", &late, &Value::Null).await.ok();
    for plural in ["secrets", "configmaps", "persistentvolumeclaims", "serviceaccounts", "pods"] {
        ask(&server, "GET", &format!("{NAMESPACE}/{plural}/a"), &Value::Null).await.ok();
    }
    ask(&server, "POST", "/apis/resource.k8s.io/v1/resourceslices", &slice_of("a")).await.ok();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    ask(&server, "POST", requests, &certificate_request("system:node:a")).await.ok();
    ask(&server, "PATCH", "/api/v1/nodes/a", &json!({"metadata": {"labels": {"kubernetes.io/os": "linux"}}}))
        .await
        .ok();
}

#[tokio::test]
async fn a_server_that_trusts_its_nodes_is_found_out() {
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("authz.yaml");
    let text = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n- {type: AlwaysAllow, name: alwaysallow}\n";
    std::fs::write(&file, text).expect("written");
    let server = Server::start_with(directory, |config| {
        config.authorization_config = Some(file);
        config.admission.disable = vec!["NodeRestriction".into(), "ServiceAccount".into()];
    })
    .await;
    let server = with_nodes(server).await;
    let mut verdict = Verdict::default();
    attack_own_node(&server, &mut verdict).await;
    attack_others(&server, &mut verdict).await;
    // Claims of mirror pods are refused by validation as well, which nobody can turn off, so
    // the double for pods is one that looks at whose they are and no further.
    let post = async |pod: Value| pod["spec"]["nodeName"].is_string();
    attack_mirror_pods(&json!("uid"), post, &mut verdict).await;
    verdict.assert_breached();
}
