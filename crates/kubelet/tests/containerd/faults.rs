//! containerd, a shim and a container's process are killed under running pods, on a real runtime.

use crate::support::api::FakeApi;
use crate::support::eventually;
use crate::support::machine::Machine;
use crate::{Kubelet, LIMIT, assert_nothing_left, container, first, is_ready, pod, wait_for, wait_gone};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

fn id_of(pod: &Value) -> String {
    let id = first(pod)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://"));
    id.unwrap_or_default().to_owned()
}

fn kill_now(process: i32) {
    kill(Pid::from_raw(process), Signal::SIGKILL).expect("the process is ours");
}

async fn wait_dead(process: i32) {
    eventually("the process to be gone", LIMIT, || {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // A zombie waits for whoever is to reap it, and runs nothing.
        let is_over = state.is_empty() || state.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z'));
        if is_over { Ok(()) } else { Err(state) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_outlive_containerd_and_are_restarted_when_they_die_without_it() {
    let mut machine = Machine::start("kills").await;
    let api = FakeApi::new();
    let kubelet = Kubelet::start(&machine, &api).await;
    let paused = || json!({ "containers": [container("c", &["pause"])] });
    api.put("pods", pod("stays", paused()));
    api.put("pods", pod("dies", paused()));
    let stays = wait_for(&api, "stays", "ready", is_ready).await;
    let dies = wait_for(&api, "dies", "ready", is_ready).await;

    // While there is no runtime one process dies, and one pod is asked for.
    let process = machine.process_of(&id_of(&dies)).expect("it runs");
    machine.kill_containerd();
    kill_now(process);
    api.put("pods", pod("late", paused()));
    machine.start_containerd().await;
    wait_for(&api, "late", "ready", is_ready).await;
    let restarted = |pod: &Value| first(pod)["restartCount"] == 1 && is_ready(pod);
    wait_for(&api, "dies", "restarted", restarted).await;
    let after = api.get("pods", "default", "stays").expect("the pod");
    assert_eq!((id_of(&after), &first(&after)["restartCount"]), (id_of(&stays), &json!(0)), "left alone");

    // With its shim a pod loses everything that it has; it is made anew, and nothing of the old one runs on.
    let process = machine.process_of(&id_of(&stays)).expect("it runs");
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let shim = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("a parent");
    let shim: i32 = shim.trim().parse().expect("a number");
    assert!(machine.processes(&["containerd-shim", &machine.socket()]).contains(&shim), "{shim} is a shim of ours");
    kill_now(shim);
    wait_for(&api, "stays", "made anew", |pod| is_ready(pod) && id_of(pod) != id_of(&stays)).await;
    wait_dead(process).await;

    for name in ["stays", "dies", "late"] {
        api.delete_pod("default", name, 0);
    }
    for name in ["stays", "dies", "late"] {
        wait_gone(&api, name).await;
    }
    assert_nothing_left(&machine);
    eventually("no shim", LIMIT, || {
        let left = machine.processes(&["containerd-shim", &machine.socket()]);
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .await;
    kubelet.stop().await;
}
