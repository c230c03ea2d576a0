//! A device plugin in a process of its own: registration, the node's status, what containers get, the
//! health of devices, and who has which over a new kubelet.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, Machine};
use super::{Kubelet, LIMIT, NODE, first, is_ready, pod, wait_for, wait_gone};
use crate::support::eventually;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

const RESOURCE: &str = "vendor.test/gpu";

struct Plugin {
    process: Child,
    calls: PathBuf,
}

impl Plugin {
    /// The example of this package, which cargo builds with its tests.
    fn start(machine: &Machine, devices: &str) -> Self {
        let test = std::env::current_exe().expect("the test's own path");
        let program = test.ancestors().nth(2).expect("the build directory").join("examples/device_plugin");
        let calls = machine.directory.join("device-calls");
        let process = Command::new(&program)
            .arg(RESOURCE)
            .arg(machine.directory.join("kubelet/device-plugins"))
            .arg(&calls)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut plugin = Self { process, calls };
        plugin.list(devices);
        plugin
    }

    fn list(&mut self, devices: &str) {
        let input = self.process.stdin.as_mut().expect("its input");
        writeln!(input, "{devices}").expect("it listens");
    }

    fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.calls).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn wait_for_node(api: &FakeApi, capacity: &str, allocatable: &str) {
    eventually("the node's devices", LIMIT, || {
        let node = api.get("nodes", "", NODE).unwrap_or_default();
        let seen = (&node["status"]["capacity"][RESOURCE], &node["status"]["allocatable"][RESOURCE]);
        match seen == (&json!(capacity), &json!(allocatable)) {
            true => Ok(()),
            false => Err(format!("{seen:?}")),
        }
    })
    .await;
}

fn user(name: &str, count: &str) -> Value {
    let amounts = json!({ RESOURCE: count });
    pod(
        name,
        json!({ "restartPolicy": "Never", "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"],
            "resources": { "limits": amounts, "requests": amounts } }] }),
    )
}

fn exec(machine: &Machine, pod: &Value, args: &[&str]) -> String {
    let id = first(pod)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
    let mut all = vec!["tasks", "exec", "--exec-id", "probe", id, "/program"];
    all.extend(args);
    String::from_utf8_lossy(&machine.ctr(&all).stdout).into_owned()
}

fn health(pod: &Value) -> &Value {
    &first(pod)["allocatedResourcesStatus"]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_get_the_devices_of_plugins_and_nobody_gets_one_twice() {
    let machine = Machine::start("devices").await;
    let api = FakeApi::new();
    let kubelet = Kubelet::start(&machine, &api).await;
    let mut plugin = Plugin::start(&machine, "d1=Healthy,d2=Healthy,d3=Unhealthy");
    wait_for_node(&api, "3", "2").await;

    api.put("pods", user("one", "1"));
    let one = wait_for(&api, "one", "ready", is_ready).await;
    // The plugin prefers the last of those that are free.
    assert!(exec(&machine, &one, &["env"]).contains("TEST_DEVICES=d2\n"));
    assert_eq!(exec(&machine, &one, &["cat", "/dev/test-d2"]), "");
    assert_eq!(plugin.calls(), ["Allocate d2", "PreStartContainer d2"]);
    let healthy =
        |id: &str, health: &str| json!([{ "name": RESOURCE, "resources": [{ "resourceID": id, "health": health }] }]);
    assert_eq!(health(&one), &healthy("d2", "Healthy"));

    // More than there are is refused by the node's own count, as the scheduler would.
    api.put("pods", user("many", "2"));
    let many = wait_for(&api, "many", "rejected", |pod| pod["status"]["phase"] == "Failed").await;
    assert_eq!(many["status"]["reason"], format!("OutOf{RESOURCE}"));

    // A new kubelet knows who has what; the plugin registers anew by itself.
    kubelet.stop().await;
    let kubelet = Kubelet::start(&machine, &api).await;
    wait_for_node(&api, "3", "2").await;
    let same = wait_for(&api, "one", "still ready", is_ready).await;
    assert_eq!(first(&same)["containerID"], first(&one)["containerID"]);
    api.put("pods", user("two", "1"));
    let two = wait_for(&api, "two", "ready", is_ready).await;
    assert!(exec(&machine, &two, &["env"]).contains("TEST_DEVICES=d1\n"));

    // A device that falls ill is shown, and given to nobody.
    plugin.list("d1=Unhealthy,d2=Healthy,d3=Unhealthy");
    wait_for_node(&api, "3", "1").await;
    wait_for(&api, "two", "an unhealthy device", |pod| *health(pod) == healthy("d1", "Unhealthy")).await;
    api.delete_pod("default", "one", 0);
    wait_gone(&api, "one").await;
    // The pod that has the unhealthy one counts, so that there is room again when it is well.
    plugin.list("d1=Healthy,d2=Healthy,d3=Unhealthy");
    wait_for_node(&api, "3", "2").await;
    api.put("pods", user("three", "1"));
    let three = wait_for(&api, "three", "ready", is_ready).await;
    assert!(exec(&machine, &three, &["env"]).contains("TEST_DEVICES=d2\n"));

    // Without its plugin nothing can be given.
    drop(plugin);
    wait_for_node(&api, "3", "0").await;
    for name in ["two", "three", "many"] {
        api.delete_pod("default", name, 0);
        wait_gone(&api, name).await;
    }
    kubelet.stop().await;
}
