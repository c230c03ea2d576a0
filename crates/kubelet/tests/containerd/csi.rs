//! A CSI driver in a process of its own: registration, staged and published volumes, those that
//! wait for their attachment, volumes of one pod, and the end of all of them over a new kubelet
//! and a driver that goes away.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, Machine};
use super::{Kubelet, LIMIT, NODE, assert_nothing_left, first, is_ready, pod, wait_for, wait_gone};
use crate::support::eventually;
use ferry_api::rules::csi_volume::CsiVolumeId;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command};

const DRIVER: &str = "csi.test";

struct Driver {
    process: Child,
    directory: PathBuf,
}

impl Driver {
    /// The example of this package, which cargo builds with its tests.
    fn start(machine: &Machine) -> Self {
        let test = std::env::current_exe().expect("the test's own path");
        let program = test.ancestors().nth(2).expect("the build directory").join("examples/csi_driver");
        let directory = machine.directory.join("csi");
        for made in [directory.join("volumes"), machine.directory.join("kubelet/plugins_registry")] {
            std::fs::create_dir_all(made).expect("made");
        }
        let process = Command::new(&program)
            .arg(DRIVER)
            .arg(machine.directory.join("kubelet/plugins_registry/test-reg.sock"))
            .args([directory.join("csi.sock"), directory.join("volumes"), directory.join("calls")])
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        Self { process, directory }
    }

    fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.directory.join("calls")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn count(&self, prefix: &str) -> usize {
        self.calls().iter().filter(|call| call.starts_with(prefix)).count()
    }

    /// The file of a volume.
    fn file(&self, volume: &str, name: &str) -> PathBuf {
        self.directory.join("volumes").join(volume).join(name)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn put_driver(api: &FakeApi, attach_required: bool) {
    let spec = json!({ "attachRequired": attach_required, "podInfoOnMount": true, "fsGroupPolicy": "File",
        "volumeLifecycleModes": ["Persistent", "Ephemeral"] });
    api.put("csidrivers", json!({ "metadata": { "name": DRIVER }, "spec": spec }));
}

/// A bound claim and its volume.
fn put_volume(api: &FakeApi, name: &str) {
    api.put("persistentvolumes", json!({ "metadata": { "name": format!("pv-{name}") }, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "1Gi" }, "claimRef": { "uid": format!("uid-{name}") },
        "csi": { "driver": DRIVER, "volumeHandle": name, "volumeAttributes": { "color": "red" } } } }));
    api.put(
        "persistentvolumeclaims",
        json!({ "metadata": { "namespace": "default", "name": name, "uid": format!("uid-{name}") },
        "spec": { "volumeName": format!("pv-{name}") }, "status": { "phase": "Bound" } }),
    );
}

fn user(volume: Value, args: &[&str]) -> Value {
    json!({ "securityContext": { "fsGroup": 77 }, "volumes": [volume],
        "containers": [{ "name": "c", "image": IMAGE, "args": args, "volumeMounts": [{ "name": "v", "mountPath": "/v" }] }] })
}

fn claimed(name: &str) -> Value {
    json!({ "name": "v", "persistentVolumeClaim": { "claimName": name } })
}

fn drivers_of(api: &FakeApi) -> Value {
    api.get("csinodes", "", NODE).map(|object| object["spec"]["drivers"].clone()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_csi_driver_mounts_and_unmounts_what_pods_ask_for() {
    let machine = Machine::start("csi").await;
    let api = FakeApi::new();
    put_driver(&api, false);
    put_volume(&api, "one");
    let kubelet = Kubelet::start(&machine, &api).await;

    // A pod that comes before the driver waits for it.
    api.put("pods", pod("first", user(claimed("one"), &["serve", "8080", "/program"])));
    eventually("FailedMount", LIMIT, || {
        let wanted = format!("driver name {DRIVER} not found in the list of registered CSI drivers");
        let events = api.events("first");
        if events.iter().any(|event| event.contains(&wanted)) { Ok(()) } else { Err(format!("{events:#?}")) }
    })
    .await;
    let driver = Driver::start(&machine);
    let first_pod = wait_for(&api, "first", "ready", is_ready).await;
    let expected = json!([{ "name": DRIVER, "nodeID": "test-node", "topologyKeys": ["topology.test/zone"], "allocatable": { "count": 5 } }]);
    assert_eq!(drivers_of(&api), expected);
    let node = api.get("nodes", "", NODE).expect("the node");
    assert_eq!(node["metadata"]["annotations"]["csi.volume.kubernetes.io/nodeid"], "{\"csi.test\":\"test-node\"}");
    assert_eq!(node["metadata"]["labels"]["topology.test/zone"], "a");
    // The container writes into the volume, and the group has it.
    let id = first(&first_pod)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
    let written = machine.ctr(&["tasks", "exec", "--exec-id", "w", id, "/program", "write", "/v/file", "kept"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    assert_eq!(std::fs::read_to_string(driver.file("one", "file")).expect("written"), "kept");
    assert_eq!(std::fs::metadata(driver.file("one", "")).expect("there").gid(), 77);
    let published = driver.calls().into_iter().find(|call| call.starts_with("NodePublishVolume one")).expect("a call");
    assert!(
        published.contains("color=red,csi.storage.k8s.io/ephemeral=false,csi.storage.k8s.io/pod.name=first"),
        "{published}"
    );

    // A second pod shares what is staged; the first one's end leaves it.
    api.put("pods", pod("second", user(claimed("one"), &["pause"])));
    wait_for(&api, "second", "ready", is_ready).await;
    assert_eq!((driver.count("NodeStageVolume one"), driver.count("NodePublishVolume one")), (2, 2));
    api.delete_pod("default", "first", 0);
    wait_gone(&api, "first").await;
    assert_eq!((driver.count("NodeUnpublishVolume one"), driver.count("NodeUnstageVolume one")), (1, 0));

    // A claim that the controller has grown is grown where the next pod mounts it.
    let mut volume = api.get("persistentvolumes", "", "pv-one").expect("the volume");
    volume["spec"]["capacity"]["storage"] = json!("2Gi");
    api.put("persistentvolumes", volume);
    let mut claim = api.get("persistentvolumeclaims", "default", "one").expect("the claim");
    claim["status"]["capacity"] = json!({ "storage": "1Gi" });
    claim["status"]["allocatedResourceStatuses"] = json!({ "storage": "NodeResizePending" });
    claim["status"]["conditions"] = json!([{ "type": "FileSystemResizePending", "status": "True" }]);
    api.put("persistentvolumeclaims", claim);
    api.put("pods", pod("grower", user(claimed("one"), &["pause"])));
    wait_for(&api, "grower", "ready", is_ready).await;
    assert_eq!(driver.count(&format!("NodeExpandVolume one {}", 2i64 << 30)), 1);
    let claim = api.get("persistentvolumeclaims", "default", "one").expect("the claim");
    assert_eq!(claim["status"]["capacity"]["storage"], "2Gi");
    assert_eq!(claim["status"]["allocatedResourceStatuses"], json!({}));
    let wanted = "FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume \"pv-one\" node-a";
    // Whichever of the two pods has the volume grown first.
    let events = [api.events("second"), api.events("grower")].concat();
    assert!(events.contains(&wanted.to_owned()), "{events:#?}");
    api.delete_pod("default", "grower", 0);
    wait_gone(&api, "grower").await;

    // The same while a pod uses it, from the claim's own change.
    let mut volume = api.get("persistentvolumes", "", "pv-one").expect("the volume");
    volume["spec"]["capacity"]["storage"] = json!("3Gi");
    api.put("persistentvolumes", volume);
    let mut claim = api.get("persistentvolumeclaims", "default", "one").expect("the claim");
    claim["status"]["allocatedResourceStatuses"] = json!({ "storage": "NodeResizePending" });
    api.put("persistentvolumeclaims", claim);
    eventually("the claim has grown in use", LIMIT, || {
        let claim = api.get("persistentvolumeclaims", "default", "one").expect("the claim");
        let size = claim["status"]["capacity"]["storage"].clone();
        if size == "3Gi" { Ok(()) } else { Err(claim["status"].to_string()) }
    })
    .await;
    assert_eq!(driver.count(&format!("NodeExpandVolume one {}", 3i64 << 30)), 1);

    // A volume of blocks is a device of the container.
    put_volume(&api, "raw");
    let mut raw = api.get("persistentvolumes", "", "pv-raw").expect("the volume");
    raw["spec"]["volumeMode"] = json!("Block");
    api.put("persistentvolumes", raw);
    let mut spec = user(claimed("raw"), &["pause"]);
    spec["containers"][0]["volumeDevices"] = json!([{ "name": "v", "devicePath": "/dev/raw" }]);
    spec["containers"][0]["volumeMounts"] = json!([]);
    api.put("pods", pod("raw", spec.clone()));
    let raw = wait_for(&api, "raw", "ready", is_ready).await;
    let id = first(&raw)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
    let written = machine.ctr(&["tasks", "exec", "--exec-id", "d", id, "/program", "write", "/dev/raw", "x"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    spec["containers"][0]["volumeDevices"] = json!([]);
    spec["containers"][0]["volumeMounts"] = json!([{ "name": "v", "mountPath": "/v" }]);
    api.put("pods", pod("wrong", spec));
    eventually("FailedMount", LIMIT, || {
        let events = api.events("wrong");
        let wanted = "volume v has volumeMode Block, but is specified in volumeMounts";
        if events.iter().any(|event| event.contains(wanted)) { Ok(()) } else { Err(format!("{events:#?}")) }
    })
    .await;
    for name in ["raw", "wrong"] {
        api.delete_pod("default", name, 0);
        wait_gone(&api, name).await;
    }
    assert_eq!((driver.count("NodeUnpublishVolume raw"), driver.count("NodeUnstageVolume raw")), (1, 1));

    // A volume that has to be attached waits for its attachment.
    put_driver(&api, true);
    put_volume(&api, "two");
    api.put("pods", pod("third", user(claimed("two"), &["pause"])));
    let two = CsiVolumeId::new(DRIVER, "two");
    eventually("the volume is in use", LIMIT, || {
        let node = api.get("nodes", "", NODE).expect("the node");
        let in_use = node["status"]["volumesInUse"].clone();
        if in_use == json!([two.unique_name()]) { Ok(()) } else { Err(in_use.to_string()) }
    })
    .await;
    api.put(
        "volumeattachments",
        json!({ "metadata": { "name": two.attachment_name(NODE) }, "status": { "attached": true } }),
    );
    let calls_before = driver.count("NodeStageVolume two");
    let mut node = api.get("nodes", "", NODE).expect("the node");
    node["status"]["volumesAttached"] = json!([{ "name": two.unique_name(), "devicePath": "" }]);
    api.put("nodes", node);
    assert_eq!(calls_before, 0, "a volume is staged only once it is attached");
    wait_for(&api, "third", "ready", is_ready).await;

    // A volume of one pod.
    let inline = json!({ "name": "v", "csi": { "driver": DRIVER, "volumeAttributes": { "size": "1" } } });
    api.put("pods", pod("fourth", user(inline, &["pause"])));
    wait_for(&api, "fourth", "ready", is_ready).await;
    assert_eq!(driver.count("NodeStageVolume csi-"), 0, "a volume of one pod is not staged");

    // A new kubelet takes everything away that an old one has mounted.
    kubelet.stop().await;
    let kubelet = Kubelet::start(&machine, &api).await;
    for name in ["second", "fourth"] {
        api.delete_pod("default", name, 0);
    }
    for name in ["second", "fourth"] {
        wait_gone(&api, name).await;
    }
    assert_eq!((driver.count("NodeUnpublishVolume one"), driver.count("NodeUnstageVolume one")), (3, 1));
    assert_eq!((driver.count("NodeUnpublishVolume csi-"), driver.count("NodeUnstageVolume csi-")), (1, 0));
    assert_eq!(std::fs::read_to_string(driver.file("one", "file")).expect("kept"), "kept");

    // A driver that goes is taken off the node; its volumes are unmounted when it is back.
    let socket = machine.directory.join("kubelet/plugins_registry/test-reg.sock");
    drop(driver);
    std::fs::remove_file(&socket).expect("the registrar's socket");
    eventually("no driver", LIMIT, || match drivers_of(&api) {
        drivers if drivers == json!([]) => Ok(()),
        drivers => Err(drivers.to_string()),
    })
    .await;
    api.delete_pod("default", "third", 0);
    let driver = Driver::start(&machine);
    wait_gone(&api, "third").await;
    assert_eq!((driver.count("NodeUnpublishVolume two"), driver.count("NodeUnstageVolume two")), (1, 1));
    let mounted: Vec<String> = machine.mounts().into_iter().filter(|point| point.contains("csi")).collect();
    assert_eq!(mounted, Vec::<String>::new());
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
