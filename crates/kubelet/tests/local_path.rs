//! The built-in provisioner over an API in memory and a directory of its own: volumes are made
//! and removed by the node that was chosen, however often it is stopped.

mod support;

use ferry_client::Client;
use ferry_kubelet::local_path::{self, Config, PROVISIONER};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use support::api::FakeApi;
use support::eventually;
use tokio_util::sync::{CancellationToken, DropGuard};

const LIMIT: Duration = Duration::from_secs(20);

struct World {
    api: FakeApi,
    place: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let api = FakeApi::new();
        let class = json!({ "metadata": { "name": "local-path" }, "provisioner": PROVISIONER, "reclaimPolicy": "Delete",
            "volumeBindingMode": "WaitForFirstConsumer" });
        api.put("storageclasses", class);
        Self { api, place: tempfile::tempdir().expect("a temporary directory") }
    }

    fn volumes(&self) -> PathBuf {
        std::fs::canonicalize(self.place.path()).expect("it is there").join("volumes")
    }

    /// Runs the provisioner of a node until the guard is dropped.
    fn start(&self, node: &str) -> DropGuard {
        let config = Config { node_name: node.into(), directory: self.volumes(), metrics: Default::default() };
        let shutdown = CancellationToken::new();
        let client = Client::new(Arc::new(self.api.clone()), "test");
        let run = local_path::run(config, client, shutdown.clone());
        tokio::spawn(async move { run.await.expect("the directory can be used") });
        shutdown.drop_guard()
    }

    /// A claim that the scheduler and the binder have dealt with.
    fn claim(&self, name: &str, node: &str) {
        let annotations = json!({ "volume.kubernetes.io/selected-node": node,
            "volume.kubernetes.io/storage-provisioner": PROVISIONER });
        self.api.put(
            "persistentvolumeclaims",
            json!({ "metadata": { "namespace": "default", "name": name, "uid": name, "annotations": annotations },
                "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": "local-path",
                    "resources": { "requests": { "storage": "1Gi" } } } }),
        );
    }

    fn volume(&self, claim: &str) -> Option<Value> {
        self.api.get("persistentvolumes", "", &format!("pvc-{claim}"))
    }

    fn edit_volume(&self, claim: &str, change: impl FnOnce(&mut Value)) {
        let mut volume = self.volume(claim).expect("the volume is there");
        change(&mut volume);
        self.api.put("persistentvolumes", volume);
    }

    async fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        eventually(what, LIMIT, || match holds(self) {
            true => Ok(()),
            false => Err(format!("{:#?}", self.api.list("persistentvolumes"))),
        })
        .await;
    }
}

fn write(path: &Path) {
    std::fs::write(path, "data").expect("written");
}

#[tokio::test]
async fn the_chosen_node_makes_the_directory_before_the_volume_and_removes_it_before() {
    let world = World::new();
    let running = world.start("n1");
    world.claim("a", "n1");
    world.claim("b", "n2");
    world.until("the volume is made", |world| world.volume("a").is_some()).await;
    let directory = world.volumes().join("pvc-a");
    assert_eq!(world.volume("a").expect("made")["spec"]["local"]["path"], directory.to_string_lossy().as_ref());
    write(&directory.join("file"));
    let succeeded = "ProvisioningSucceeded: Successfully provisioned volume pvc-a";
    world.until("the claim reports it", |world| world.api.events("a").iter().any(|event| event == succeeded)).await;
    // A bound volume is left alone; a released one goes, also with a node that was stopped.
    world.edit_volume("a", |volume| volume["status"] = json!({ "phase": "Bound" }));
    drop(running);
    world.edit_volume("a", |volume| volume["status"] = json!({ "phase": "Released" }));
    assert!(directory.join("file").exists());
    let _running = world.start("n1");
    world.until("the volume is gone", |world| world.volume("a").is_none()).await;
    assert!(!directory.exists());
    assert!(world.volume("b").is_none(), "the volume of another node is that node's");
}

#[tokio::test]
async fn data_that_is_retained_or_anothers_stays() {
    let world = World::new();
    let running = world.start("n1");
    world.claim("kept", "n1");
    world.until("the volume is made", |world| world.volume("kept").is_some()).await;
    let kept = world.volumes().join("pvc-kept");
    write(&kept.join("file"));
    world.edit_volume("kept", |volume| {
        volume["spec"]["persistentVolumeReclaimPolicy"] = json!("Retain");
        volume["status"] = json!({ "phase": "Released" });
    });
    world
        .until("the provisioner has let go of it", |world| {
            world
                .volume("kept")
                .is_some_and(|volume| volume["metadata"]["finalizers"].as_array().is_none_or(Vec::is_empty))
        })
        .await;
    // Somebody makes up a volume over the data of another one.
    let mut forged = world.volume("kept").expect("there");
    forged["metadata"] = json!({ "name": "forged", "annotations": forged["metadata"]["annotations"] });
    forged["spec"]["persistentVolumeReclaimPolicy"] = json!("Delete");
    world.api.put("persistentvolumes", forged);
    world.claim("last", "n1");
    world.until("what came later is done", |world| world.volume("last").is_some()).await;
    assert!(world.api.get("persistentvolumes", "", "forged").is_some());
    drop(running);
    // An empty directory whose claim went while the node was stopped is no one's.
    std::fs::create_dir(world.volumes().join("pvc-orphan")).expect("made");
    let _running = world.start("n1");
    world.until("the orphan is removed", |world| !world.volumes().join("pvc-orphan").exists()).await;
    assert!(kept.join("file").exists());
}

#[tokio::test]
async fn a_claim_grows_at_once() {
    let world = World::new();
    let _running = world.start("n1");
    world.claim("a", "n1");
    world.until("the volume is made", |world| world.volume("a").is_some()).await;
    let mut claim = world.api.get("persistentvolumeclaims", "default", "a").expect("there");
    claim["spec"]["volumeName"] = json!("pvc-a");
    claim["spec"]["resources"]["requests"]["storage"] = json!("5Gi");
    claim["status"] = json!({ "phase": "Bound", "capacity": { "storage": "1Gi" } });
    world.api.put("persistentvolumeclaims", claim);
    let grown = |world: &World| {
        let claim = world.api.get("persistentvolumeclaims", "default", "a").unwrap_or_default();
        let volume = world.volume("a").unwrap_or_default();
        claim["status"]["capacity"]["storage"] == "5Gi" && volume["spec"]["capacity"]["storage"] == "5Gi"
    };
    world.until("the claim has grown", grown).await;
}
