//! The old object that admission sees is the stored one, whatever the update says and
//! whoever changed it on the way. A policy that compares old and new could otherwise be told
//! that nothing changes (CVE-2021-25735, for updates of nodes).

use super::Verdict;
use crate::hook_server::{HookServer, Reply, allow, patch};
use crate::server::Server;
use crate::webhooks::{MUTATING, VALIDATING, configure, hook, rule};
use serde_json::{Value, json};

/// A node as it is stored, and every part of it changed.
fn stored() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"tier": "safe"}, "annotations": {"by": "admin"}},
        "spec": {"unschedulable": true, "taints": [{"key": "locked", "effect": "NoSchedule"}]}})
}

fn changed(node: &Value) -> Value {
    let mut node = node.clone();
    node["metadata"]["labels"] = json!({"tier": "any"});
    node["metadata"]["annotations"] = json!({"by": "node"});
    node["spec"] = json!({"unschedulable": false, "podCIDR": node["spec"]["podCIDR"]});
    let cpus: u64 = node["status"]["capacity"]["cpu"].as_str().and_then(|text| text.parse().ok()).unwrap_or(1);
    node["status"]["capacity"] = json!({"cpu": (cpus + 1).to_string()});
    node
}

/// What of an object a policy may compare.
fn compared(object: &Value) -> Value {
    let metadata = &object["metadata"];
    json!([metadata["labels"], metadata["annotations"], metadata["resourceVersion"], object["spec"], object["status"]])
}

/// Sends changes by every door. `update` takes the method, the subresource and the object,
/// and tells what the server had stored before and what policies were shown as that.
async fn attack(update: impl AsyncFn(&str, &str, fn(&Value) -> Value) -> (Value, Value), verdict: &mut Verdict) {
    for (method, subresource) in [("PUT", ""), ("PATCH", ""), ("PUT", "/status"), ("PATCH", "/status")] {
        let (before, shown) = update(method, subresource, changed).await;
        verdict.tried(format!("{method} nodes{subresource}"), compared(&before) != compared(&shown));
    }
}

#[tokio::test]
async fn ferry_shows_policies_what_is_stored() {
    let server = Server::start().await;
    let hooks = HookServer::start(|path, review| {
        Reply::Review(if path.starts_with("/mutate") {
            // Another hook changes the object before policies see it.
            patch(review, json!([{"op": "add", "path": "/metadata/labels/hooked", "value": "yes"}]))
        } else {
            allow(review)
        })
    })
    .await;
    let on_nodes = |path: &str| {
        let mut more = rule(&["UPDATE"], &["nodes", "nodes/status"]);
        more["clientConfig"] = hooks.client_config(path);
        hook(&hooks, "nodes", more)
    };
    configure(&server, MUTATING, "mutate", &[on_nodes("/mutate")]).await;
    configure(&server, VALIDATING, "validate", &[on_nodes("/validate")]).await;
    server.post("/api/v1/nodes", &stored()).await.ok();
    let update = async |method: &str, subresource: &str, change: fn(&Value) -> Value| {
        let before = server.get("/api/v1/nodes/n").await.ok();
        let path = format!("/api/v1/nodes/n{subresource}");
        let written = if method == "PUT" {
            server.put(&path, &change(&before)).await
        } else {
            server.patch("application/merge-patch+json", &path, &change(&before)).await
        };
        written.ok();
        let last = hooks.requests().last().cloned().expect("asked");
        assert_ne!(compared(&last["object"]), compared(&before), "something changes");
        // And back, so that the next update changes everything again.
        server.put("/api/v1/nodes/n", &stored()).await.ok();
        (before, last["oldObject"].clone())
    };
    let mut verdict = Verdict::default();
    attack(update, &mut verdict).await;
    verdict.assert_held();
}

#[tokio::test]
async fn a_server_that_updates_in_place_is_found_out() {
    let mut verdict = Verdict::default();
    let update = async |_: &str, _: &str, change: fn(&Value) -> Value| {
        let mut cached = stored();
        let before = cached.clone();
        // The update is carried out on the cached object, and admission is shown that.
        cached = change(&cached);
        (before, cached)
    };
    attack(update, &mut verdict).await;
    verdict.assert_breached();
}
