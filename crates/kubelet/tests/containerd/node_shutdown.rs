//! The machine goes down: pods end by priority in upstream's words while the machine waits, the
//! node is not ready and takes no more; a shutdown that is called off is forgotten. The two
//! programs of systemd are doubles here, with the same arguments and outputs.

use super::*;
use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn program(path: &Path, text: &str) -> std::path::PathBuf {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("written");
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).expect("a program");
    path.to_owned()
}

fn announce(signals: &Path, start: bool) {
    let message = json!({ "interface": "org.freedesktop.login1.Manager", "member": "PrepareForShutdown",
        "payload": { "type": "b", "data": [start] } });
    let mut file = File::options().append(true).open(signals).expect("the signals");
    writeln!(file, "{message}").expect("written");
}

fn is_held(lock: &Path) -> bool {
    let pid = std::fs::read_to_string(lock).unwrap_or_default();
    let pid = pid.trim();
    !pid.is_empty() && Path::new("/proc").join(pid).exists()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_end_with_the_machine_by_priority() {
    let machine = Machine::start("shutdown").await;
    let api = FakeApi::new();
    let at = |name: &str| machine.directory.join(name);
    let (signals, lock, delay) = (at("signals"), at("lock"), at("delay"));
    std::fs::write(&signals, "").expect("written");
    std::fs::write(&delay, "t 5000000\n").expect("written");
    let mut config = machine.config(NODE);
    config.settings.shutdown.shutdown_grace_period = ferry_api::rules::duration::GoDuration(20_000_000_000);
    config.settings.shutdown.shutdown_grace_period_critical_pods =
        ferry_api::rules::duration::GoDuration(10_000_000_000);
    config.settings.logind.conf_dir = at("logind.conf.d");
    config.settings.logind.busctl = program(
        &at("busctl"),
        &format!(
            "case \"$*\" in *InhibitDelayMaxUSec*) cat {0};; *KillUnit*) echo 't 20000000' > {0};;\n\
             *PreparingForShutdown*) echo 'b false';; *monitor*) echo Monitoring >&2; exec tail -n +1 -f {1};; esac",
            delay.display(),
            signals.display()
        ),
    );
    config.settings.logind.systemd_inhibit =
        program(&at("systemd-inhibit"), &format!("shift 4; echo $$ > {}; exec \"$@\"", lock.display()));
    let kubelet = Kubelet::start_with(config, &api).await;

    api.put("pods", pod("plain", json!({ "containers": [container("c", &["pause"])] })));
    let critical = json!({ "priority": 2_000_000_000, "containers": [container("c", &["pause"])] });
    api.put("pods", pod("critical", critical));
    for name in ["plain", "critical"] {
        wait_for(&api, name, "ready", is_ready).await;
    }
    eventually("the lock", LIMIT, || if is_held(&lock) { Ok(()) } else { Err(String::new()) }).await;
    let text = std::fs::read_to_string(at("logind.conf.d/99-kubelet.conf")).expect("logind is to wait longer");
    assert!(text.contains("InhibitDelayMaxSec=20\n"), "{text}");

    announce(&signals, true);
    let ended = |pod: &Value| pod["status"]["phase"] == "Failed";
    let plain = wait_for(&api, "plain", "ended", ended).await;
    assert!(is_held(&lock), "the machine waits for the critical pod");
    let critical = wait_for(&api, "critical", "ended", ended).await;
    for pod in [&plain, &critical] {
        assert_eq!(pod["status"]["reason"], "Terminated");
        assert_eq!(pod["status"]["message"], "Pod was terminated in response to imminent node shutdown.");
        let conditions = pod["status"]["conditions"].as_array().expect("conditions");
        let target = conditions.iter().find(|condition| condition["type"] == "DisruptionTarget").expect("the mark");
        assert_eq!(target["reason"], "TerminationByKubelet");
    }
    let finished = |pod: &Value| first(pod)["state"]["terminated"]["finishedAt"].as_str().unwrap_or("").to_owned();
    assert!(finished(&plain) < finished(&critical), "{} {}", finished(&plain), finished(&critical));
    eventually("the machine may go", LIMIT, || if is_held(&lock) { Err("held".into()) } else { Ok(()) }).await;
    let not_ready = |message: &str| {
        let node = api.get("nodes", "", NODE).ok_or("no node")?;
        let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let ready = conditions.into_iter().find(|condition| condition["type"] == "Ready").unwrap_or_default();
        if ready["message"] == message { Ok(()) } else { Err(format!("{ready:#}")) }
    };
    eventually("the node is not ready", LIMIT, || not_ready("node is shutting down")).await;
    api.put("pods", pod("late", json!({ "containers": [container("c", &["pause"])] })));
    let late = wait_for(&api, "late", "rejected", ended).await;
    assert_eq!(late["status"]["reason"], "NodeShutdown");
    assert_eq!(late["status"]["message"], "Pod was rejected: Pod was rejected as the node is shutting down.");

    announce(&signals, false);
    eventually("the node is ready", LIMIT, || not_ready("kubelet is posting ready status")).await;
    eventually("the lock", LIMIT, || if is_held(&lock) { Ok(()) } else { Err(String::new()) }).await;
    api.put("pods", pod("after", json!({ "containers": [container("c", &["pause"])] })));
    wait_for(&api, "after", "ready", is_ready).await;
    let names = ["plain", "critical", "late", "after"];
    names.iter().for_each(|name| api.delete_pod("default", name, 0));
    for name in names {
        wait_gone(&api, name).await;
    }
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
