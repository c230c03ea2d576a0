//! The machine as a container sees it in /proc, /sys and the cgroups: what tells of the machine is
//! masked, and what changes it is read-only. Each attempt is made once more in a privileged container,
//! where all of them must succeed, so that none could not have failed.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, Machine};
use super::{Kubelet, assert_nothing_left, first, is_ready, pod, wait_for, wait_gone};
use serde_json::{Value, json};
use std::path::Path;

/// An attempt, and whether its success can be seen in what it prints or in how it ends.
enum Attempt {
    /// The file tells something.
    Read(&'static str),
    /// The file takes the text, which changes nothing.
    Write(&'static str, String),
    /// The directory is not empty.
    Enter(&'static str, &'static str),
}

/// Those of the attempts that this machine has the files for.
fn attempts() -> Vec<Attempt> {
    let own = |path: &'static str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let reads = ["/proc/interrupts", "/proc/keys", "/proc/timer_list"];
    let reads = reads.into_iter().filter(|path| !own(path).is_empty()).map(Attempt::Read);
    let writes = ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/panic", "/proc/sys/net/core/somaxconn"];
    let writes = writes.into_iter().filter(|path| !own(path).is_empty()).map(|path| Attempt::Write(path, own(path)));
    let cgroups = [("/sys/fs/cgroup/pids/notify_on_release", "0"), ("/sys/fs/cgroup/cgroup.max.depth", "max")];
    let cgroups = cgroups
        .into_iter()
        .filter(|(path, _)| Path::new(path).parent().is_some_and(|at| at.join("cgroup.procs").exists()));
    let cgroups = cgroups.map(|(path, text)| Attempt::Write(path, text.to_owned()));
    let entered = [("/sys/firmware", "/sys/firmware/memmap"), ("/sys/firmware", "/sys/firmware/acpi")];
    let entered = entered.into_iter().filter(|(_, below)| Path::new(below).exists());
    reads.chain(writes).chain(cgroups.take(1)).chain(entered.map(|(at, below)| Attempt::Enter(at, below))).collect()
}

/// The attempts that got through, and those that did not.
fn attack(machine: &Machine, pod: &Value) -> (Vec<String>, Vec<String>) {
    let id = first(pod)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
    let exec = |args: &[&str]| {
        let mut all = vec!["tasks", "exec", "--exec-id", "try", id, "/program"];
        all.extend(args);
        machine.ctr(&all)
    };
    let (mut breached, mut held) = (Vec::new(), Vec::new());
    for attempt in attempts() {
        let (name, got_through) = match &attempt {
            Attempt::Read(path) => (format!("read {path}"), !exec(&["cat", path]).stdout.trim_ascii().is_empty()),
            Attempt::Write(path, text) => (format!("write {path}"), exec(&["write", path, text]).status.success()),
            Attempt::Enter(at, below) => (format!("enter {at}"), exec(&["exists", below]).status.success()),
        };
        if got_through { breached.push(name) } else { held.push(name) }
    }
    (breached, held)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_neither_reads_nor_changes_the_machine() {
    let machine = Machine::start("masks").await;
    let api = FakeApi::new();
    let kubelet = Kubelet::start(&machine, &api).await;
    let container = |security: Value| json!({ "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"], "securityContext": security }] });
    api.put("pods", pod("plain", container(json!({}))));
    // The most that a container may have without being privileged.
    api.put("pods", pod("capable", container(json!({ "capabilities": { "add": ["SYS_ADMIN", "SYSLOG"] } }))));
    api.put("pods", pod("privileged", container(json!({ "privileged": true }))));
    for name in ["plain", "capable"] {
        let (breached, held) = attack(&machine, &wait_for(&api, name, "ready", is_ready).await);
        assert!(breached.is_empty() && held.len() >= 4, "{name}: {breached:#?} {held:#?}");
    }
    let (_, held) = attack(&machine, &wait_for(&api, "privileged", "ready", is_ready).await);
    assert_eq!(held, Vec::<String>::new(), "not found out");
    for name in ["plain", "capable", "privileged"] {
        api.delete_pod("default", name, 0);
        wait_gone(&api, name).await;
    }
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
