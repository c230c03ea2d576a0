//! Image volumes: files of one layer and of several, below a subPath, read-only, shared by
//! containers, kept by containerd for as long as the pod lives and no longer.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, LayerFile, Machine};
use super::{Kubelet, LIMIT, assert_nothing_left, first, is_ready, pod, wait_for, wait_gone};
use crate::support::eventually;
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_is_mounted_read_only_and_kept_for_the_life_of_the_pod() {
    let machine = Machine::start("imagevol").await;
    machine.import("test/flat:1", &[&[("data.json", b"kitten", 0o644), ("bin/tool", b"#!", 0o755)]]);
    let upper: &[LayerFile<'_>] = &[("etc/release", b"new", 0o644)];
    machine.import("test/layered:1", &[&[("etc/release", b"old", 0o644), ("low", b"old", 0o644)], upper]);
    let api = FakeApi::new();
    let kubelet = Kubelet::start(&machine, &api).await;
    let spec = json!({
        "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"], "volumeMounts": [
            { "name": "flat", "mountPath": "/flat" },
            { "name": "layered", "mountPath": "/layered" },
            { "name": "layered", "mountPath": "/part", "subPath": "etc" },
            { "name": "flat", "mountPath": "/one", "subPath": "data.json" }] }],
        "volumes": [
            { "name": "flat", "image": { "reference": "docker.io/test/flat:1", "pullPolicy": "IfNotPresent" } },
            { "name": "layered", "image": { "reference": "docker.io/test/layered:1", "pullPolicy": "Never" } }],
    });
    api.put("pods", pod("web", spec));
    let web = wait_for(&api, "web", "ready", is_ready).await;
    let id = first(&web)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
    let exec = |args: &[&str]| {
        let mut all = vec!["tasks", "exec", "--exec-id", "look", id, "/program"];
        all.extend(args);
        machine.ctr(&all)
    };
    let cat = |path: &str| String::from_utf8_lossy(&exec(&["cat", path]).stdout).into_owned();
    let read = ["/flat/data.json", "/layered/etc/release", "/layered/low", "/part/release", "/one"].map(cat);
    assert_eq!(read, ["kitten", "new", "old", "new", "kitten"]);
    for path in ["/flat/data.json", "/flat/new", "/layered/low", "/part/new", "/one"] {
        assert!(!exec(&["write", path, "x"]).status.success(), "{path} is written");
    }
    let table = cat("/proc/mounts");
    let flags = |point: &str| table.lines().find(|line| line.split(' ').nth(1) == Some(point)).unwrap_or_default();
    for point in ["/flat", "/layered", "/part"] {
        assert!(flags(point).contains(" ro,"), "{}", flags(point));
    }
    let own = || -> Vec<String> {
        let all = machine.snapshots();
        all.into_iter().filter(|key| key.contains("image-volume/")).collect()
    };
    assert_eq!(own().len(), 2, "a view for each volume: {:?}", machine.snapshots());

    // An image that is removed stays below the pods that have it.
    machine.ctr(&["images", "remove", "--sync", "docker.io/test/layered:1"]);
    assert_eq!(cat("/layered/etc/release"), "new");

    // A new kubelet finds the volumes as they are.
    kubelet.stop().await;
    let kubelet = Kubelet::start(&machine, &api).await;
    let web = wait_for(&api, "web", "still ready", is_ready).await;
    assert_eq!(first(&web)["restartCount"], 0);
    assert_eq!(own().len(), 2);

    // An image that is absent is reported as that of a container would be.
    let missing = |reference: &str| {
        json!({ "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"],
            "volumeMounts": [{ "name": "v", "mountPath": "/v" }] }],
            "volumes": [{ "name": "v", "image": { "reference": reference, "pullPolicy": "Never" } }] })
    };
    api.put("pods", pod("missing", missing("docker.io/test/none:1")));
    let reason = |pod: &Value| first(pod)["state"]["waiting"]["reason"] == "ErrImageNeverPull";
    let waiting = wait_for(&api, "missing", "ErrImageNeverPull", reason).await;
    let message = first(&waiting)["state"]["waiting"]["message"].as_str().unwrap_or_default();
    assert_eq!(message, "Container image \"docker.io/test/none:1\" is not present with pull policy of Never");

    for name in ["web", "missing"] {
        api.delete_pod("default", name, 0);
    }
    for name in ["web", "missing"] {
        wait_gone(&api, name).await;
    }
    eventually("no view is left", LIMIT, || match own() {
        left if left.is_empty() => Ok(()),
        left => Err(format!("{left:?}")),
    })
    .await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
