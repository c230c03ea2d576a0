//! Lists: versions, pages, selectors, compression.

use crate::server::{CONFIG_MAPS, Server, config_map, labelled};
use ferry_store::Store;
use serde_json::{Value, json};
use std::io::Read;

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().expect("items").iter().filter_map(|item| item["metadata"]["name"].as_str()).collect()
}

async fn with_objects(count: usize) -> Server {
    let server = Server::start().await;
    for index in 0..count {
        server.post(CONFIG_MAPS, &config_map(&format!("c{index:03}"))).await.ok();
    }
    server
}

#[tokio::test]
async fn a_list_shows_what_was_acknowledged() {
    let server = with_objects(3).await;
    let list = server.get(CONFIG_MAPS).await.ok();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("ConfigMapList"), &json!("v1")));
    assert_eq!(names(&list), ["c000", "c001", "c002"]);
    // As in upstream's lists, only the list says which kind it is.
    assert!(list["items"][0].get("kind").is_none());
    let version: u64 = list["metadata"]["resourceVersion"].as_str().and_then(|v| v.parse().ok()).expect("a version");
    let item: u64 =
        list["items"][2]["metadata"]["resourceVersion"].as_str().and_then(|v| v.parse().ok()).expect("a version");
    assert!(version >= item);
    let across = server.get("/api/v1/configmaps").await.ok();
    // Across namespaces there is also what the server itself has in kube-system.
    assert_eq!(names(&across)[..3], names(&list)[..]);
}

#[tokio::test]
async fn pages_are_of_one_version() {
    let server = with_objects(5).await;
    let first = server.get(&format!("{CONFIG_MAPS}?limit=2")).await.ok();
    assert_eq!(names(&first), ["c000", "c001"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    let token = first["metadata"]["continue"].as_str().expect("more").to_owned();
    let unchanged = server.get(&format!("{CONFIG_MAPS}?limit=2&continue={token}")).await.ok();
    assert_eq!(names(&unchanged), ["c002", "c003"]);

    // What happens in between is not seen by the pages that follow.
    server.delete(&format!("{CONFIG_MAPS}/c003")).await.ok();
    server.post(CONFIG_MAPS, &config_map("c0020")).await.ok();
    let second = server.get(&format!("{CONFIG_MAPS}?limit=2&continue={token}")).await.ok();
    assert_eq!(names(&second), ["c002", "c003"]);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    let token = second["metadata"]["continue"].as_str().expect("more").to_owned();
    let last = server.get(&format!("{CONFIG_MAPS}?limit=2&continue={token}")).await.ok();
    assert_eq!(names(&last), ["c004"]);
    assert!(last["metadata"].get("continue").is_none());
}

#[tokio::test]
async fn a_page_whose_version_is_compacted_is_gone_but_can_go_on() {
    let server = with_objects(3).await;
    let first = server.get(&format!("{CONFIG_MAPS}?limit=1")).await.ok();
    let token = first["metadata"]["continue"].as_str().expect("more");
    server.post(CONFIG_MAPS, &config_map("c0010")).await.ok();
    server.store.compact(server.store.current_revision()).await.expect("compacted");
    let expired = server.get(&format!("{CONFIG_MAPS}?limit=1&continue={token}")).await;
    assert_eq!((expired.code, &expired.json()["reason"]), (410, &json!("Expired")));
    assert!(
        expired
            .message()
            .starts_with("The provided continue parameter is too old to display a consistent list result.")
    );
    let inconsistent = expired.json()["metadata"]["continue"].as_str().expect("a way on").to_owned();
    let rest = server.get(&format!("{CONFIG_MAPS}?continue={inconsistent}")).await.ok();
    assert_eq!(names(&rest), ["c001", "c0010", "c002"]);
    let exact = server
        .get(&format!(
            "{CONFIG_MAPS}?resourceVersion={}&resourceVersionMatch=Exact",
            first["metadata"]["resourceVersion"].as_str().expect("one")
        ))
        .await;
    assert_eq!((exact.code, exact.message().as_str()), (410, "The resourceVersion for the provided list is too old."));
}

#[tokio::test]
async fn a_token_expires_even_if_its_collection_has_not_changed() {
    let server = with_objects(3).await;
    let first = server.get(&format!("{CONFIG_MAPS}?limit=1")).await.ok();
    let token = first["metadata"]["continue"].as_str().expect("more");
    server.post("/api/v1/namespaces", &json!({"metadata": {"name": "elsewhere"}})).await.ok();
    server.store.compact(server.store.current_revision()).await.expect("compacted");
    let expired = server.get(&format!("{CONFIG_MAPS}?limit=1&continue={token}")).await;
    assert_eq!((expired.code, &expired.json()["reason"]), (410, &json!("Expired")));
    let inconsistent = expired.json()["metadata"]["continue"].as_str().expect("a way on").to_owned();
    let rest = server.get(&format!("{CONFIG_MAPS}?limit=1&continue={inconsistent}")).await.ok();
    assert_eq!(names(&rest), ["c001"]);
    assert_eq!(rest["metadata"]["remainingItemCount"], json!(1));
}

#[tokio::test]
async fn a_version_can_be_asked_for() {
    let server = with_objects(2).await;
    let before = server.get(CONFIG_MAPS).await.ok();
    let version = before["metadata"]["resourceVersion"].as_str().expect("a version").to_owned();
    server.post(CONFIG_MAPS, &config_map("later")).await.ok();
    let exact = server.get(&format!("{CONFIG_MAPS}?resourceVersion={version}&resourceVersionMatch=Exact")).await.ok();
    assert_eq!(names(&exact), ["c000", "c001"]);
    let recent =
        server.get(&format!("{CONFIG_MAPS}?resourceVersion={version}&resourceVersionMatch=NotOlderThan")).await.ok();
    assert_eq!(names(&recent).len(), 3);
    let any = server.get(&format!("{CONFIG_MAPS}?resourceVersion=0&limit=1")).await.ok();
    assert_eq!(names(&any).len(), 3, "any version comes whole");
    let future = server.get(&format!("{CONFIG_MAPS}?resourceVersion=99999")).await;
    assert_eq!(future.code, 504);
    assert!(future.message().starts_with("Too large resource version: 99999, current: "), "{}", future.message());
    assert_eq!(future.json()["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

#[tokio::test]
async fn selectors_narrow_a_list() {
    let server = Server::start().await;
    for (name, label) in [("a", "x"), ("b", "y"), ("c", "x")] {
        server.post(CONFIG_MAPS, &labelled(name, label)).await.ok();
    }
    let list = |query: &'static str| {
        let server = &server;
        async move { server.get(&format!("{CONFIG_MAPS}?{query}")).await.ok() }
    };
    assert_eq!(names(&list("labelSelector=app%3Dx").await), ["a", "c"]);
    assert_eq!(names(&list("labelSelector=app+notin+(x)").await), ["b"]);
    assert_eq!(names(&list("fieldSelector=metadata.name%3Db").await), ["b"]);
    assert_eq!(names(&list("fieldSelector=metadata.name!%3Db").await), ["a", "c"]);
    let limited = list("labelSelector=app%3Dx&limit=1").await;
    assert_eq!(names(&limited), ["a"]);
    assert!(limited["metadata"].get("remainingItemCount").is_none(), "not counted under a selector");
    let token = limited["metadata"]["continue"].as_str().expect("more");
    let rest = server.get(&format!("{CONFIG_MAPS}?labelSelector=app%3Dx&limit=1&continue={token}")).await.ok();
    assert_eq!(names(&rest), ["c"]);
}

#[tokio::test]
async fn large_lists_are_compressed_for_those_who_take_it() {
    let server = Server::start().await;
    for index in 0..40 {
        let mut object = config_map(&format!("c{index}"));
        object["data"]["key"] = "compressible ".repeat(500).into();
        server.post(CONFIG_MAPS, &object).await.ok();
    }
    let plain = server.get(CONFIG_MAPS).await;
    let packed = server.ask("GET", CONFIG_MAPS, &[("accept-encoding", "gzip")], "").await;
    assert_eq!(packed.headers["content-encoding"], "gzip");
    assert!(packed.bytes.len() * 10 < plain.bytes.len());
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed.bytes[..]).read_to_end(&mut unpacked).expect("gzip");
    assert_eq!(unpacked, plain.bytes);
    let small = server.ask("GET", &format!("{CONFIG_MAPS}?limit=1"), &[("accept-encoding", "gzip")], "").await;
    assert!(small.headers.get("content-encoding").is_none());
}
