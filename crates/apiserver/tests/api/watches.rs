//! Watches: where they start, what they show, when they end.

use crate::server::{CONFIG_MAPS, Server, config_map, labelled};
use serde_json::{Value, json};

fn pair(kind: &str, name: &str) -> (String, String) {
    (kind.into(), name.into())
}

async fn version(server: &Server) -> String {
    server.get(CONFIG_MAPS).await.ok()["metadata"]["resourceVersion"].as_str().expect("a version").to_owned()
}

#[tokio::test]
async fn a_watch_shows_every_change_in_order() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let from = version(&server).await;
    let mut events = server.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={from}")).await;
    server.post(CONFIG_MAPS, &config_map("b")).await.ok();
    server.patch("application/merge-patch+json", &format!("{CONFIG_MAPS}/b"), &json!({"data": {"x": "y"}})).await.ok();
    server.delete(&format!("{CONFIG_MAPS}/b")).await.ok();
    assert_eq!(events.next_name().await, pair("ADDED", "b"));
    let modified = events.next().await.expect("an event");
    assert_eq!((&modified["type"], &modified["object"]["data"]["x"]), (&json!("MODIFIED"), &json!("y")));
    assert_eq!((&modified["object"]["kind"], &modified["object"]["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
    let deleted = events.next().await.expect("an event");
    assert_eq!((&deleted["type"], &deleted["object"]["data"]["x"]), (&json!("DELETED"), &json!("y")));
    let number = |event: &Value| -> u64 {
        event["object"]["metadata"]["resourceVersion"].as_str().and_then(|v| v.parse().ok()).expect("a version")
    };
    assert!(number(&deleted) > number(&modified), "a deletion has a version of its own");

    // The same changes again, from the recent past.
    let mut again = server.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={from}")).await;
    assert_eq!(again.next_name().await, pair("ADDED", "b"));
    assert_eq!(again.next_name().await, pair("MODIFIED", "b"));
    assert_eq!(again.next_name().await, pair("DELETED", "b"));
}

#[tokio::test]
async fn a_watch_without_a_version_begins_with_what_is_there() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    server.post(CONFIG_MAPS, &config_map("b")).await.ok();
    for query in ["watch=true", "watch=true&resourceVersion=0"] {
        let mut events = server.watch(&format!("{CONFIG_MAPS}?{query}")).await;
        assert_eq!(events.next_name().await, pair("ADDED", "a"));
        assert_eq!(events.next_name().await, pair("ADDED", "b"));
    }
}

#[tokio::test]
async fn the_paths_that_watched_before_the_parameter_did_still_do() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    server.post(CONFIG_MAPS, &config_map("b")).await.ok();
    let mut named = server.watch("/api/v1/watch/namespaces/default/configmaps/b").await;
    assert_eq!(named.next_name().await, pair("ADDED", "b"));
    for path in ["/api/v1/watch/namespaces/default/configmaps", "/api/v1/watch/configmaps"] {
        let mut all = server.watch(&format!("{path}?fieldSelector=metadata.namespace%3Ddefault")).await;
        assert_eq!(all.next_name().await, pair("ADDED", "a"));
        assert_eq!(all.next_name().await, pair("ADDED", "b"));
    }
    server.patch("application/merge-patch+json", &format!("{CONFIG_MAPS}/a"), &json!({"data": {"x": "y"}})).await.ok();
    server.delete(&format!("{CONFIG_MAPS}/b")).await.ok();
    assert_eq!(named.next_name().await, pair("DELETED", "b"), "what happens to others is not shown");
    let mut cluster = server.watch("/api/v1/watch/namespaces/kube-system").await;
    assert_eq!(cluster.next_name().await, pair("ADDED", "kube-system"));
}

#[tokio::test]
async fn initial_events_end_with_a_bookmark() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let number = |version: String| version.parse::<u64>().expect("a number");
    let before = number(version(&server).await);
    let mut events = server.watch(&format!("{CONFIG_MAPS}?{query}")).await;
    assert_eq!(events.next_name().await, pair("ADDED", "a"));
    let bookmark = events.next().await.expect("an event");
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
    // The server writes on its own account too, so the version is that of a moment.
    let marked = number(bookmark["object"]["metadata"]["resourceVersion"].as_str().expect("a version").to_owned());
    assert!((before..=number(version(&server).await)).contains(&marked), "{marked} is not after {before}");
    server.post(CONFIG_MAPS, &config_map("b")).await.ok();
    assert_eq!(events.next_name().await, pair("ADDED", "b"));
}

#[tokio::test]
async fn an_object_enters_and_leaves_a_selection() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &labelled("a", "x")).await.ok();
    let from = version(&server).await;
    let url = format!("{CONFIG_MAPS}?watch=true&labelSelector=app%3Dx&resourceVersion={from}");
    let mut events = server.watch(&url).await;
    let relabel = |label: &'static str| {
        let server = &server;
        async move {
            let patch = json!({"metadata": {"labels": {"app": label}}});
            server.patch("application/merge-patch+json", &format!("{CONFIG_MAPS}/a"), &patch).await.ok();
        }
    };
    relabel("y").await;
    relabel("z").await;
    relabel("x").await;
    server.delete(&format!("{CONFIG_MAPS}/a")).await.ok();
    let left = events.next().await.expect("an event");
    // What the watcher is shown is the last version that it knew, at the new revision.
    assert_eq!((&left["type"], &left["object"]["metadata"]["labels"]["app"]), (&json!("DELETED"), &json!("x")));
    assert_eq!(events.next_name().await, pair("ADDED", "a"));
    assert_eq!(events.next_name().await, pair("DELETED", "a"));
}

#[tokio::test]
async fn a_version_before_the_window_is_too_old() {
    let server = Server::start().await;
    server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let old = version(&server).await;
    server.post(CONFIG_MAPS, &config_map("b")).await.ok();
    let Server { api, directory, store, .. } = server;
    drop((api, store));
    let server = crate::restart::reopened(directory).await;
    let mut events = server.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={old}")).await;
    let error = events.next().await.expect("an event");
    assert_eq!(error["type"], "ERROR");
    assert_eq!((&error["object"]["code"], &error["object"]["reason"]), (&json!(410), &json!("Expired")));
    let message = error["object"]["message"].as_str().expect("a message");
    assert!(message.starts_with(&format!("too old resource version: {old} (")), "{message}");
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_watch_ends_with_its_timeout() {
    let server = Server::start().await;
    let mut events = server.watch(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1")).await;
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_slow_watcher_is_cut_off_and_holds_nobody_up() {
    let server = Server::start().await;
    let from = version(&server).await;
    let slow = server.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={from}")).await;
    let mut quick = server.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion={from}")).await;
    // More changes than the queue of a watcher holds, none of which the slow one reads.
    for wave in 0..11 {
        let writes = (0..100).map(|index| {
            let (server, object) = (&server, config_map(&format!("c{wave}-{index}")));
            async move { server.post(CONFIG_MAPS, &object).await.ok() }
        });
        futures_util::future::join_all(writes).await;
        for _ in 0..100 {
            assert_eq!(quick.next().await.expect("an event")["type"], "ADDED");
        }
    }
    let mut slow = slow;
    let mut shown = 0;
    while slow.next().await.is_some() {
        shown += 1;
    }
    assert!(shown < 1100, "the slow one lost its place after {shown}");
}
