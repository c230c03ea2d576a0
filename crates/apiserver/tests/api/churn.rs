//! Definitions that come and go: what a definition needed is given back when it is deleted.
//! `CHURN_ROUNDS=2000` looks for longer, and each hundred rounds print the resident memory.

use crate::custom_resources::{DEFINITIONS, widget_schema};
use crate::server::Server;
use serde_json::{Value, json};

/// A definition of a group of its own, as test suites make them.
fn definition(group: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("things.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": widget_schema()}}]},
    })
}

/// Everything that a client does with a kind: write, read, list, watch, ask for its documents.
async fn use_and_delete(server: &Server, group: &str) {
    server.define(&definition(group)).await;
    let things = format!("/apis/{group}/v1/namespaces/default/things");
    let thing =
        json!({"apiVersion": format!("{group}/v1"), "kind": "Thing", "metadata": {"name": "a"}, "spec": {"size": 1}});
    server.post(&things, &thing).await.ok();
    server.get(&format!("{things}/a")).await.ok();
    server.get(&things).await.ok();
    let mut events = server.watch(&format!("{things}?watch=1")).await;
    events.next().await.expect("the object is watched");
    server.patch("application/merge-patch+json", &format!("{things}/a"), &json!({"spec": {"size": 2}})).await.ok();
    server.get(&format!("/openapi/v3/apis/{group}/v1")).await.ok();
    server.delete(&format!("{DEFINITIONS}/things.{group}")).await.ok();
    server.undefined(&format!("things.{group}")).await;
}

async fn metrics(server: &Server) -> String {
    String::from_utf8_lossy(&server.get("/metrics").await.bytes).into_owned()
}

fn resident_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn memory_of_deleted_definitions_is_given_back() {
    let server = Server::start().await;
    let rounds = std::env::var("CHURN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let documents = |text: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("ferry_openapi_documents "));
        line.and_then(|count| count.parse::<usize>().ok()).expect("a gauge")
    };
    use_and_delete(&server, "first.example.com").await;
    for round in 0..rounds {
        use_and_delete(&server, &format!("g{round}.example.com")).await;
        if round % 100 == 99 {
            println!("{} rounds: {} kB resident", round + 1, resident_kilobytes());
        }
    }
    // The loop that takes the rows away runs beside the answer to the deletion.
    let mut text = metrics(&server).await;
    while server.get("/apis").await.bytes.windows(11).any(|window| window == b"example.com") {
        tokio::task::yield_now().await;
        text = metrics(&server).await;
    }
    let left: Vec<&str> = text.lines().filter(|line| line.contains("example.com")).collect();
    assert!(
        left.is_empty(),
        "{} series are left of definitions that are gone: {:#?}",
        left.len(),
        &left[..left.len().min(5)]
    );
    assert_eq!(documents(&text), 0, "documents are left that tell of rows which are gone");
}
