//! The static CPU manager on real containers: a Guaranteed pod with whole CPUs has them alone, others
//! leave them at once and come back to them, over a new kubelet.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, Machine};
use super::{Kubelet, LIMIT, NODE, first, is_ready, pod, wait_for, wait_gone};
use crate::support::eventually;
use ferry_kubelet_config::KubeletConfiguration;
use serde_json::{Value, json};

fn config(machine: &Machine) -> ferry_kubelet::Config {
    let mut config = machine.config(NODE);
    let text = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\ncpuManagerPolicy: static\n\
                reservedSystemCPUs: \"0\"\nnodeStatusUpdateFrequency: 1s\n";
    let parsed = KubeletConfiguration::parse(text, &config.surroundings()).expect("a good file");
    config.configure(parsed);
    config
}

/// The CPUs that the kernel gives the container.
fn cpus(machine: &Machine, pod: &Value) -> String {
    let id = first(pod)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
    let all = ["tasks", "exec", "--exec-id", "probe", id, "/program", "cat", "/proc/self/status"];
    let status = String::from_utf8_lossy(&machine.ctr(&all).stdout).into_owned();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap_or_default().trim().to_owned()
}

async fn wait_for_cpus(machine: &Machine, pod: &Value, wanted: &str) {
    eventually("the container's CPUs", LIMIT, || match cpus(machine, pod) {
        found if found == wanted => Ok(()),
        found => Err(found),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guaranteed_pod_has_its_cpus_alone() {
    let machine = Machine::start("cpus").await;
    let api = FakeApi::new();
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").expect("the kernel lists them");
    let all = online.trim();
    let kubelet = Kubelet::start_with(config(&machine), &api).await;
    api.put("pods", pod("shared", json!({ "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"] }] })));
    let shared = wait_for(&api, "shared", "ready", is_ready).await;
    wait_for_cpus(&machine, &shared, all).await;

    let amounts = json!({ "cpu": "1", "memory": "64Mi" });
    let own = json!({ "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"],
        "resources": { "limits": amounts, "requests": amounts } }] });
    api.put("pods", pod("own", own));
    let own = wait_for(&api, "own", "ready", is_ready).await;
    let exclusive = cpus(&machine, &own);
    assert!(exclusive.parse::<usize>().is_ok_and(|cpu| cpu > 0), "one CPU, and not the reserved one: {exclusive:?}");
    eventually("the others leave it", LIMIT, || {
        let left = cpus(&machine, &shared);
        let set: ferry_devices::CpuSet = left.parse().expect("a list");
        if set.contains(exclusive.parse().expect("a number")) { Err(left) } else { Ok(()) }
    })
    .await;

    kubelet.stop().await;
    let kubelet = Kubelet::start_with(config(&machine), &api).await;
    let same = wait_for(&api, "own", "still ready", is_ready).await;
    assert_eq!(
        (first(&same)["containerID"].clone(), cpus(&machine, &same)),
        (first(&own)["containerID"].clone(), exclusive)
    );

    // The end of the pod gives its CPU back.
    api.delete_pod("default", "own", 0);
    wait_gone(&api, "own").await;
    wait_for_cpus(&machine, &shared, all).await;
    api.delete_pod("default", "shared", 0);
    wait_gone(&api, "shared").await;
    kubelet.stop().await;
}
