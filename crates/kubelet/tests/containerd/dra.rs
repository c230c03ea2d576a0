//! A DRA driver in a process of its own: claims are prepared before their pod runs and unprepared after
//! its end, over a new kubelet, and the slices of a driver that is gone are removed.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, Machine};
use super::{Kubelet, LIMIT, NODE, first, is_ready, pod, wait_for, wait_gone};
use crate::support::eventually;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command};

const DRIVER: &str = "dra.test";

struct Driver {
    process: Child,
    calls: PathBuf,
}

impl Driver {
    /// The example of this package, which cargo builds with its tests.
    fn start(machine: &Machine) -> Self {
        let test = std::env::current_exe().expect("the test's own path");
        let program = test.ancestors().nth(2).expect("the build directory").join("examples/dra_driver");
        let registry = machine.directory.join("kubelet/plugins_registry");
        std::fs::create_dir_all(&registry).expect("made");
        let calls = machine.directory.join("dra-calls");
        let process = Command::new(&program)
            .arg(DRIVER)
            .arg(registry.join("dra-reg.sock"))
            .arg(machine.directory.join("dra.sock"))
            .arg(&calls)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        Self { process, calls }
    }

    fn count(&self, call: &str) -> usize {
        let text = std::fs::read_to_string(&self.calls).unwrap_or_default();
        text.lines().filter(|line| *line == call).count()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn put_claim(api: &FakeApi, name: &str, pod_uid: &str) {
    api.put("resourceclaims", json!({ "metadata": { "namespace": "default", "name": name, "uid": format!("uid-{name}") },
        "spec": { "devices": { "requests": [{ "name": "r", "exactly": { "deviceClassName": "c" } }] } },
        "status": { "reservedFor": [{ "resource": "pods", "name": "any", "uid": pod_uid }],
            "allocation": { "devices": { "results": [{ "driver": DRIVER, "pool": "pool", "device": "dev", "request": "r" }] } } } }));
}

fn user(name: &str, claim: &str) -> Value {
    let mut own = pod(
        name,
        json!({ "resourceClaims": [{ "name": "gpu", "resourceClaimName": claim }],
            "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"], "resources": { "claims": [{ "name": "gpu" }] } }] }),
    );
    own["metadata"]["uid"] = json!(format!("pod-{name}"));
    own
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_are_prepared_for_their_pods_and_unprepared_after_them() {
    let machine = Machine::start("dra").await;
    let api = FakeApi::new();
    let kubelet = Kubelet::start(&machine, &api).await;

    // A pod that comes before the driver waits for it, and one that may not use the claim for ever.
    put_claim(&api, "one", "pod-first");
    api.put("pods", user("first", "one"));
    api.put("pods", user("thief", "one"));
    for (name, wanted) in [
        ("first", "DRA driver dra.test is not registered"),
        ("thief", "pod thief (pod-thief) is not allowed to use ResourceClaim one (uid-one)"),
    ] {
        eventually("FailedPrepareDynamicResources", LIMIT, || {
            let wanted = format!(
                "FailedPrepareDynamicResources: Failed to prepare dynamic resources: prepare dynamic resources: {wanted}"
            );
            let events = api.events(name);
            if events.contains(&wanted) { Ok(()) } else { Err(format!("{events:#?}")) }
        })
        .await;
    }
    let driver = Driver::start(&machine);
    let ready = wait_for(&api, "first", "ready", is_ready).await;
    assert_eq!(driver.count("NodePrepareResources one"), 1);
    assert_eq!(driver.count("NotifyRegistrationStatus true "), 1);
    let unhealthy = json!([{ "name": "claim:gpu", "resources": [
        { "resourceID": "vendor.test/dra=one", "health": "Unhealthy", "message": "too warm" }] }]);
    wait_for(&api, "first", "the health of its device", |pod| first(pod)["allocatedResourcesStatus"] == unhealthy)
        .await;

    // A new kubelet knows of it, and unprepares it with the pod's end.
    kubelet.stop().await;
    let kubelet = Kubelet::start(&machine, &api).await;
    let same = wait_for(&api, "first", "still ready", is_ready).await;
    assert_eq!(first(&same)["containerID"], first(&ready)["containerID"]);
    api.delete_pod("default", "first", 0);
    wait_gone(&api, "first").await;
    assert_eq!(driver.count("NodeUnprepareResources one"), 1);

    // One that ends while no kubelet looks is unprepared by the next.
    put_claim(&api, "two", "pod-second");
    api.put("pods", user("second", "two"));
    wait_for(&api, "second", "ready", is_ready).await;
    kubelet.stop().await;
    api.remove_pod("default", "second");
    api.put(
        "resourceslices",
        json!({ "metadata": { "name": "old" }, "spec": { "nodeName": NODE, "driver": "gone.test" } }),
    );
    let kubelet = Kubelet::start(&machine, &api).await;
    eventually("unprepared", LIMIT, || match driver.count("NodeUnprepareResources two") {
        0 => Err("not yet".into()),
        _ => Ok(()),
    })
    .await;
    // Slices of before the kubelet's start are published anew by the drivers that run.
    eventually("no old slice", LIMIT, || match api.get("resourceslices", "", "old") {
        None => Ok(()),
        Some(_) => Err("still there".into()),
    })
    .await;
    api.delete_pod("default", "thief", 0);
    wait_gone(&api, "thief").await;
    kubelet.stop().await;
}
