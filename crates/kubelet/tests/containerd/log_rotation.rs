//! A container that writes without end keeps a few files of its log, the older ones compressed.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_cut_to_its_size_and_number_of_files() {
    let machine = Machine::start("logs").await;
    let api = FakeApi::new();
    let mut config = machine.config(NODE);
    let logs = config.log_dir.clone();
    config.settings.log_rotation.container_log_max_size = "100Ki".into();
    config.settings.log_rotation.container_log_max_files = 3;
    let kubelet = Kubelet::start_with(config, &api).await;
    api.put("pods", pod("loud", json!({ "containers": [container("c", &["shout", "150"])] })));
    let loud = wait_for(&api, "loud", "ready", is_ready).await;
    let directory = logs.join(format!("default_loud_{}", loud["metadata"]["uid"].as_str().expect("a uid"))).join("c");
    let mut most = 0;
    eventually("a log, one rotated and one compressed", LIMIT, || {
        let entries = std::fs::read_dir(&directory).map_err(|error| error.to_string())?.flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.retain(|name| !name.ends_with(".tmp"));
        names.sort();
        most = most.max(names.len());
        let packed = names.iter().filter(|name| name.ends_with(".gz")).count();
        if names.len() == 3 && packed == 1 && names[0] == "0.log" { Ok(()) } else { Err(format!("{names:?}")) }
    })
    .await;
    // A file and its compressed self may be there together for a moment.
    assert!(most <= 4, "{most} files");
    api.delete_pod("default", "loud", 0);
    wait_gone(&api, "loud").await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
