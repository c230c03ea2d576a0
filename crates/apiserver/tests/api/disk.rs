//! A disk that is full or that has changed what was written, as clients of the API see it: on a
//! real file system of a few megabytes, and on a database with a flipped bit.

use crate::restart::reopened;
use crate::server::{CONFIG_MAPS, Server, config_map};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A file system of its own in memory, gone with this value.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: &Path) -> SmallDisk {
        std::fs::create_dir_all(path).expect("a directory");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=6m,mode=0700", "tmpfs"]).arg(path).status();
        assert!(mounted.expect("mount runs").success(), "these tests need root");
        SmallDisk(path.to_owned())
    }

    /// Leaves no byte of room.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("filler");
        let mut file = std::fs::File::create(&path).expect("a file");
        while file.write_all(&[1; 4096]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Detached, because the store may still be closing.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).expect("a version")
}

#[tokio::test]
async fn a_full_disk_is_named_by_every_check_and_emptying_it_is_enough() {
    let directory = TempDir::new().expect("a directory");
    let disk = SmallDisk::mount(&directory.path().join("store"));
    let server = Server::start_in(directory).await;
    let before = server.post(CONFIG_MAPS, &config_map("before")).await.ok();
    assert_eq!(server.get("/readyz").await.code, 200);

    let filler = disk.fill();
    let mut large = config_map("large");
    large["data"] = serde_json::json!({"text": "x".repeat(500_000)});
    let mut taken = Vec::new();
    let refused = loop {
        large["metadata"]["name"] = format!("large-{}", taken.len()).into();
        let answer = server.post(CONFIG_MAPS, &large).await;
        if answer.code != 201 {
            break answer;
        }
        taken.push(answer.ok());
        assert!(taken.len() < 20, "the disk has no end");
    };
    assert_eq!(refused.code, 500);
    assert!(refused.message().contains("disk is full"), "{}", refused.message());
    for endpoint in ["livez", "readyz", "healthz"] {
        let answer = server.get(&format!("/{endpoint}?verbose")).await;
        let text = String::from_utf8_lossy(&answer.bytes).into_owned();
        assert_eq!(answer.code, 500, "{text}");
        assert!(text.contains("[-]etcd failed: reason withheld\n"), "{text}");
        let answer = server.get(&format!("/{endpoint}/etcd")).await;
        assert!(String::from_utf8_lossy(&answer.bytes).contains("disk is full"), "{answer:?}");
    }
    let problems = server.get("/ferry/problems").await.ok();
    assert_eq!(problems["problems"][0]["component"], "store");
    assert!(problems["problems"][0]["message"].as_str().expect("a message").contains("disk is full"), "{problems}");
    // Reads go on.
    assert_eq!(server.get(&format!("{CONFIG_MAPS}/before")).await.ok(), before);

    std::fs::remove_file(filler).expect("removed");
    let begun = Instant::now();
    while server.get("/readyz").await.code != 200 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the store does not recover");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let after = server.post(CONFIG_MAPS, &config_map("after")).await.ok();
    let last = taken.last().unwrap_or(&before);
    assert!(version(&after) > version(last), "{after}");
    assert_eq!(server.get("/ferry/problems").await.ok()["problems"], serde_json::json!([]));
    for object in &taken {
        let name = object["metadata"]["name"].as_str().expect("a name");
        assert_eq!(server.get(&format!("{CONFIG_MAPS}/{name}")).await.ok(), *object);
    }
}

#[tokio::test]
async fn one_damaged_object_is_named_and_the_others_are_served() {
    let server = Server::start().await;
    let mut damaged = config_map("damaged");
    damaged["data"] = serde_json::json!({"text": "NEEDLE-IN-THE-STORE"});
    server.post(CONFIG_MAPS, &damaged).await.ok();
    server.post(CONFIG_MAPS, &config_map("sound")).await.ok();
    let Server { api, directory, store, .. } = server;
    drop((api, store));
    // The last one to close the store writes its log back into the database.
    let server = reopened(directory).await;
    let Server { api, directory, store, .. } = server;
    drop((api, store));
    let path = directory.path().join("store/state.db");
    let needle = b"NEEDLE-IN-THE-STORE";
    let begun = Instant::now();
    let (mut content, place) = loop {
        let content = std::fs::read(&path).expect("read");
        match content.windows(needle.len()).position(|window| window == needle) {
            Some(place) => break (content, place),
            None => assert!(begun.elapsed() < Duration::from_secs(10), "the log is never written back"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    content[place] ^= 1;
    std::fs::write(&path, content).expect("write");

    let server = reopened(directory).await;
    let key = "/registry/configmaps/default/damaged";
    let refused = server.get(&format!("{CONFIG_MAPS}/damaged")).await;
    assert_eq!(refused.code, 500);
    assert!(refused.message().contains(key) && refused.message().contains("checksum"), "{}", refused.message());
    server.get(&format!("{CONFIG_MAPS}/sound")).await.ok();
    let list = server.get(CONFIG_MAPS).await;
    assert!(list.code == 500 && list.message().contains(key), "{}", list.message());
    // Informers, which begin with any version, go on with the others.
    let list = server.get(&format!("{CONFIG_MAPS}?resourceVersion=0")).await;
    assert!(list.headers["warning"].to_str().expect("text").contains("damaged"), "{list:?}");
    let names: Vec<Value> =
        list.ok()["items"].as_array().expect("items").iter().map(|c| c["metadata"]["name"].clone()).collect();
    assert!(names.contains(&"sound".into()) && !names.contains(&"damaged".into()), "{names:?}");
    let problems = server.get("/ferry/problems").await.ok();
    assert_eq!(problems["problems"][0]["subject"], key, "{problems}");
    assert_eq!(server.get("/readyz").await.code, 200);
    // It does not count as absent, and it can be deleted by who means it.
    assert_eq!(server.post(CONFIG_MAPS, &config_map("damaged")).await.code, 500);
    let path = format!("{CONFIG_MAPS}/damaged?ignoreStoreReadErrorWithClusterBreakingPotential=true");
    let deleted = server.ask("DELETE", &path, &[], "").await;
    assert_eq!(deleted.code, 200, "{deleted:?}");
    assert_eq!(server.get("/ferry/problems").await.ok()["problems"], serde_json::json!([]));
    server.post(CONFIG_MAPS, &config_map("damaged")).await.ok();
    assert_eq!(server.get(CONFIG_MAPS).await.code, 200);
}
