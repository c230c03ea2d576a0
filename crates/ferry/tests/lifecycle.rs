//! A cluster comes, stays, survives being killed, goes, and leaves nothing.

mod cluster;

use cluster::{TestCluster, text};
use std::collections::BTreeSet;
use std::process::Command;

/// Everything a cluster could leave behind on a machine, as lines to compare.
fn traces() -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut lines = |what: &str, program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output().unwrap_or_else(|e| panic!("{program}: {e}"));
        out.extend(String::from_utf8_lossy(&output.stdout).lines().map(|line| format!("{what}: {line}")));
    };
    lines("nft", "nft", &["list", "tables"]);
    lines("netns", "ip", &["netns", "list"]);
    let links = Command::new("ip").args(["-o", "link"]).output().expect("ip");
    out.extend(
        String::from_utf8_lossy(&links.stdout)
            .lines()
            .filter_map(|l| l.split(": ").nth(1))
            .map(|name| format!("link: {name}")),
    );
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("a mount table");
    out.extend(mounts.lines().filter_map(|l| l.split(' ').nth(4)).map(|point| format!("mount: {point}")));
    for process in std::fs::read_dir("/proc").expect("processes").flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if ["containerd", "/applets", "ferry up"].iter().any(|word| line.contains(word)) {
            out.insert(format!("process: {line}"));
        }
    }
    let mut cgroups = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(dir) = cgroups.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                out.insert(format!("cgroup: {}", entry.path().display()));
                cgroups.push(entry.path());
            }
        }
    }
    for dir in
        ["/var/lib/cni", "/var/lib/cni/results", "/etc/cni/net.d", "/var/log/pods", "/var/lib/kubelet", "/run/netns"]
    {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            out.insert(format!("file: {}", entry.path().display()));
        }
    }
    out
}

#[test]
fn a_cluster_leaves_nothing_behind() {
    let place = TestCluster::behind_a_link();
    let before = traces();
    let said = place.start();
    assert!(said.contains("is ready after") && said.contains("kubectl --context"), "{said}");
    assert!(text(&place.ferry(&["status"])).contains("is Ready"));
    let again = place.ferry(&["up", "-d"]);
    assert!(again.status.success() && text(&again).contains("runs already"), "{}", text(&again));
    let demo = place.ferry(&["demo"]);
    assert!(demo.status.success() && text(&demo).contains("all three answered"), "{}\n{}", text(&demo), place.log());
    let uid = place.kubectl("get namespace kube-system -o jsonpath={.metadata.uid}");

    // Down stops everything, up brings the same cluster and its pods back.
    let down = place.ferry(&["down"]);
    assert!(down.status.success(), "{}", text(&down));
    let left: Vec<String> =
        traces().difference(&before).filter(|t| t.starts_with("process") || t.starts_with("mount")).cloned().collect();
    assert!(left.is_empty(), "after down: {left:#?}");
    assert!(!place.ferry(&["status"]).status.success());
    place.start();
    assert_eq!(place.kubectl("get namespace kube-system -o jsonpath={.metadata.uid}"), uid);
    place.kubectl("rollout status deployment/web --timeout=90s");

    // Uninstall leaves nothing at all.
    let gone = place.ferry(&["uninstall"]);
    assert!(gone.status.success(), "{}", text(&gone));
    let left: Vec<String> = traces().difference(&before).cloned().collect();
    assert!(left.is_empty(), "after uninstall: {left:#?}");
    assert!(!place.data_dir().exists() && !place.run_dir().exists());
    let kubeconfig = std::fs::read_to_string(place.kubeconfig()).unwrap_or_default();
    assert!(!kubeconfig.contains("ferry"), "{kubeconfig}");
}

#[test]
fn a_killed_ferry_comes_back_to_running_containers() {
    let place = TestCluster::up();
    place.start_web();
    let containers = |place: &TestCluster| {
        let pods = place.json("get pods -l app=web");
        let mut ids: Vec<(String, i64)> = pods["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|pod| {
                let status = &pod["status"]["containerStatuses"][0];
                (
                    status["containerID"].as_str().unwrap_or_default().to_owned(),
                    status["restartCount"].as_i64().unwrap_or(-1),
                )
            })
            .collect();
        ids.sort();
        ids
    };
    let before = containers(&place);
    assert_eq!(before.len(), 3);
    place.kubectl("create configmap acknowledged --from-literal=a=b");
    place.kill();
    place.start();
    assert_eq!(place.kubectl("get configmap acknowledged -o jsonpath={.data.a}"), "b");
    place.kubectl("rollout status deployment/web --timeout=60s");
    assert_eq!(containers(&place), before, "the same containers, none restarted");
}

#[test]
fn a_kubeconfig_keeps_what_was_in_it() {
    let place = TestCluster::new();
    let mine = "apiVersion: v1\nkind: Config\nclusters:\n- name: mine\n  cluster:\n    server: https://192.0.2.9\ncontexts: []\nusers: []\n";
    std::fs::write(place.kubeconfig(), mine).expect("written");
    place.start();
    let merged = std::fs::read_to_string(place.kubeconfig()).expect("a kubeconfig");
    assert!(merged.contains("https://192.0.2.9") && merged.contains("https://127.0.0.1:"), "{merged}");
    assert!(place.ferry(&["uninstall"]).status.success());
    let after = std::fs::read_to_string(place.kubeconfig()).expect("a kubeconfig");
    assert!(after.contains("https://192.0.2.9") && !after.contains("https://127.0.0.1:"), "{after}");
}
