//! Many at once: nobody reads older than what was acknowledged, and nothing is lost.

use crate::server::{CONFIG_MAPS, Server, config_map};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_client_reads_its_own_writes() {
    let server = std::sync::Arc::new(Server::start().await);
    let clients: Vec<_> = (0..16)
        .map(|client| {
            let server = server.clone();
            tokio::spawn(async move {
                for step in 0..10 {
                    let name = format!("c{client}-{step}");
                    server.post(CONFIG_MAPS, &config_map(&name)).await.ok();
                    assert_eq!(server.get(&format!("{CONFIG_MAPS}/{name}")).await.code, 200);
                    let list = server.get(CONFIG_MAPS).await.ok();
                    assert!(
                        list["items"].as_array().is_some_and(|all| all.iter().any(|o| o["metadata"]["name"] == name))
                    );
                    server.delete(&format!("{CONFIG_MAPS}/{name}")).await.ok();
                    assert_eq!(server.get(&format!("{CONFIG_MAPS}/{name}")).await.code, 404);
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("a client");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_writers_with_one_version_one_wins() {
    let server = std::sync::Arc::new(Server::start().await);
    let base = server.post(CONFIG_MAPS, &config_map("a")).await.ok();
    let writers: Vec<_> = (0..16)
        .map(|index| {
            let (server, mut object) = (server.clone(), base.clone());
            object["data"] = json!({"writer": index.to_string()});
            tokio::spawn(async move { server.put(&format!("{CONFIG_MAPS}/a"), &object).await.code })
        })
        .collect();
    let mut codes = Vec::new();
    for writer in writers {
        codes.push(writer.await.expect("a writer"));
    }
    assert_eq!(codes.iter().filter(|code| **code == 200).count(), 1, "{codes:?}");
    assert_eq!(codes.iter().filter(|code| **code == 409).count(), 15, "{codes:?}");
}
