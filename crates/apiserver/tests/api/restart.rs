//! A second start on the same data is the same cluster.

use crate::server::{CONFIG_MAPS, SERVICES, Server, config_map, service};
use ferry_store::sqlite::SqliteStore;
use serde_json::json;
use tempfile::TempDir;

/// Opens a server on the data of one that is going away; its store is free once the last
/// task that held it has noticed.
pub async fn reopened(directory: TempDir) -> Server {
    for _ in 0..1000 {
        match SqliteStore::open(&directory.path().join("store")) {
            Ok(store) => {
                drop(store);
                return Server::start_in(directory).await;
            }
            Err(ferry_store::Error::Locked { .. }) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the store was never released");
}

#[tokio::test]
async fn objects_versions_and_allocations_survive() {
    let server = Server::start().await;
    let before = server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let mut fixed = service("web");
    fixed["spec"]["clusterIP"] = "10.96.0.77".into();
    server.post(SERVICES, &fixed).await.ok();
    let secret = json!({"metadata": {"name": "s"}, "data": {"password": "Z2VoZWlt"}});
    server.post("/api/v1/namespaces/default/secrets", &secret).await.ok();
    let list = server.get("/api/v1/namespaces").await.ok();
    let Server { api, directory, store, .. } = server;
    drop((api, store));

    let server = reopened(directory).await;
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/a")).await.ok(), before);
    assert_eq!(server.get("/api/v1/namespaces").await.ok()["items"], list["items"]);
    let read = server.get("/api/v1/namespaces/default/secrets/s").await.ok();
    assert_eq!(read["data"]["password"], "Z2VoZWlt");
    let mut taken = service("other");
    taken["spec"]["clusterIP"] = "10.96.0.77".into();
    let refused = server.post(SERVICES, &taken).await;
    assert_eq!(refused.code, 422);
    assert!(refused.message().ends_with("provided IP is already allocated"), "{}", refused.message());
}

#[tokio::test]
async fn secrets_are_not_readable_on_disk() {
    let server = Server::start().await;
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"password": "correct-horse-battery"}});
    let created = server.post("/api/v1/namespaces/default/secrets", &secret).await.ok();
    let encoded = created["data"]["password"].as_str().expect("data").to_owned();
    server.post(CONFIG_MAPS, &config_map("plain-to-see")).await.ok();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(server.directory.path().join("store")).expect("a directory") {
        files.extend(std::fs::read(entry.expect("a file").path()).expect("readable"));
    }
    let holds = |text: &str| files.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("plain-to-see") && holds("k8s:enc:aesgcm:v1:key1:"));
    assert!(!holds("correct-horse-battery") && !holds(&encoded));
}
