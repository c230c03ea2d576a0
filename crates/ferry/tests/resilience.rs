//! A cluster goes on through what happens to processes, disks and machines: only `down` and
//! `uninstall` stop pods.

mod cluster;

use cluster::{TestCluster, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The containers of the web pods with their restarts, by id.
fn containers(cluster: &TestCluster) -> Vec<(String, i64)> {
    let pods = cluster.json("get pods -l app=web");
    let mut ids: Vec<(String, i64)> = pods["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pod| {
            let status = &pod["status"]["containerStatuses"][0];
            let id = status["containerID"].as_str().unwrap_or_default().to_owned();
            (id, status["restartCount"].as_i64().unwrap_or(-1))
        })
        .collect();
    ids.sort();
    ids
}

fn containerd_pid(cluster: &TestCluster) -> i32 {
    let file = cluster.run_dir().join("containerd/containerd.pid");
    std::fs::read_to_string(file).expect("containerd runs").trim().parse().expect("a process id")
}

fn signal(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).expect("signalled");
}

/// The processes whose command line names a path.
fn processes_with(path: &Path) -> Vec<i32> {
    let named = path.to_string_lossy().into_owned();
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    processes
        .filter(|p| {
            String::from_utf8_lossy(&std::fs::read(p.path().join("cmdline")).unwrap_or_default()).contains(&named)
        })
        .filter_map(|process| process.file_name().to_str()?.parse().ok())
        .collect()
}

fn run(program: &str, args: &[&str]) {
    let output = Command::new(program).args(args).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {args:?}: {}", text(&output));
}

#[test]
fn containerd_that_dies_and_ferry_that_hangs_come_back_to_the_same_containers() {
    let cluster = TestCluster::up();
    cluster.start_web();
    let before = containers(&cluster);
    assert_eq!(before.len(), 3);

    let lock = std::fs::metadata(cluster.run_dir().join("ferry.lock")).expect("a lock");
    assert_eq!(lock.permissions().mode() & 0o777, 0o600, "nobody else can hold it");

    // containerd is started again by the ferry that runs, which names the loss.
    let dead = containerd_pid(&cluster);
    signal(dead, Signal::SIGKILL);
    cluster.eventually("another containerd", || {
        let said = text(&cluster.ferry(&["status"]));
        let is_new = std::fs::read_to_string(cluster.run_dir().join("containerd/containerd.pid"))
            .is_ok_and(|pid| !pid.is_empty() && pid != dead.to_string());
        if is_new && said.contains("problem   ferry: containerd: ") { Ok(()) } else { Err(said) }
    });
    let pod = cluster.kubectl("get pods -l app=web -o name").lines().next().unwrap_or_default().to_owned();
    cluster.eventually("containers that answer", || {
        let said = cluster.try_kubectl(&format!("exec {pod} -- /applets fetch http://127.0.0.1:8080"));
        if said.status.success() { Ok(()) } else { Err(text(&said)) }
    });
    assert_eq!(containers(&cluster), before, "the same containers, none restarted");

    // A ferry that stands still holds its lock and answers nobody: it is replaced.
    let hung = cluster.pid();
    signal(hung, Signal::SIGSTOP);
    let said = cluster.start();
    assert!(!said.contains("runs already") && said.contains("is ready after"), "{said}");
    assert_ne!(cluster.pid(), hung);
    assert_eq!(containers(&cluster), before);

    // Both dead at once, and `up` before the kernel has cleaned up.
    signal(containerd_pid(&cluster), Signal::SIGKILL);
    signal(cluster.pid(), Signal::SIGKILL);
    let said = cluster.start();
    assert!(!said.contains("runs already") && said.contains("is ready after"), "{said}");
    assert_eq!(containers(&cluster), before);

    // A start that fails stops no pod, and its flag is not remembered.
    cluster.kill();
    let failed = cluster.ferry(&["up", "-d", "--token-auth-file", "/nonexistent"]);
    assert!(!failed.status.success() && text(&failed).contains("/nonexistent"), "{}", text(&failed));
    // A shim is started with the socket; containerd itself is known by its configuration.
    assert_eq!(processes_with(&cluster.socket()).len(), 3, "the pods' shims");
    cluster.start();
    assert_eq!(containers(&cluster), before);

    // SIGTERM, as systemd sends it, ends ferry and no pod.
    let pid = cluster.pid();
    signal(pid, Signal::SIGTERM);
    cluster.eventually("ferry to end", || {
        if Path::new(&format!("/proc/{pid}/exe")).exists() { Err("it is there".to_owned()) } else { Ok(()) }
    });
    cluster.start();
    assert_eq!(containers(&cluster), before);
}

#[test]
fn a_full_disk_for_logs_and_a_closed_stderr_leave_the_cluster_answering() {
    let cluster = TestCluster::new();
    let logs = cluster.data_dir().join("logs");
    std::fs::create_dir_all(&logs).expect("made");
    run("mount", &["-t", "tmpfs", "-o", "size=256k", "tmpfs", &logs.to_string_lossy()]);
    let mut ferry = cluster
        .command(env!("CARGO_BIN_EXE_ferry"))
        .args(["up", "--log", "debug"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ferry starts");
    // Nobody reads what ferry logs.
    drop(ferry.stderr.take());
    cluster.eventually("a cluster", || {
        let ready = cluster.try_kubectl("get --raw /readyz");
        if ready.status.success() { Ok(()) } else { Err(text(&ready)) }
    });
    cluster.eventually("the disk to fill up", || {
        let _ = std::fs::write(logs.join("filler"), vec![0; 256 << 10]);
        match std::fs::write(logs.join("one-more"), [0; 8192]) {
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    for n in 0..20 {
        cluster.kubectl(&format!("create configmap full-{n} --from-literal=a=b"));
    }
    assert_eq!(cluster.kubectl("get configmap full-19 -o jsonpath={.data.a}"), "b");
    assert!(ferry.try_wait().expect("looked").is_none(), "it runs");
    let said = text(&cluster.ferry(&["status"]));
    assert!(said.contains("is Ready"), "{said}");

    // With room again the log goes on, and counts what it has lost.
    std::fs::remove_file(logs.join("filler")).expect("removed");
    let _ = std::fs::remove_file(logs.join("one-more"));
    cluster.eventually("the log to go on", || {
        cluster.kubectl("get configmaps");
        let logged = text(&cluster.ferry(&["logs"]));
        if logged.contains("lines of this log were lost") { Ok(()) } else { Err(logged) }
    });
    let down = cluster.ferry(&["down"]);
    assert!(down.status.success(), "{}", text(&down));
    ferry.wait().expect("it ended");
}

#[test]
fn uninstalling_a_stopped_cluster_leaves_a_running_one_alone() {
    let a = TestCluster::new();
    let user = "apiVersion: v1\nkind: Config\nclusters: []\ncontexts:\n- context: {cluster: mine, user: me}\n  name: mine\nusers: []\ncurrent-context: mine\n";
    std::fs::write(a.kubeconfig(), user).expect("written");
    a.start();
    assert!(a.ferry(&["down"]).status.success());

    // B is made while A is stopped, and named by its data directory alone from then on.
    let (data, run) = (a.path("b-data"), a.path("b-run"));
    let b = |args: &[&str], run_dir: Option<&PathBuf>| {
        let mut command = a.command(env!("CARGO_BIN_EXE_ferry"));
        command.env_remove("FERRY_RUN_DIR").env_remove("FERRY_DATA_DIR").args(args).arg("--data-dir").arg(&data);
        if let Some(run_dir) = run_dir {
            command.arg("--run-dir").arg(run_dir);
        }
        command.output().expect("ferry starts")
    };
    let up = b(&["up", "-d"], Some(&run));
    assert!(up.status.success(), "{}", text(&up));
    let hint = format!("ferry down --data-dir {} --run-dir {}", data.display(), run.display());
    assert!(text(&up).contains(&hint), "{}", text(&up));
    let (of_a, of_b) = (number(&a.data_dir()), number(&data));
    assert_ne!(of_a, of_b, "a stopped cluster keeps its number");
    let again = b(&["up", "-d"], None);
    assert!(again.status.success() && text(&again).contains("runs already"), "{}", text(&again));
    let wrong = b(&["status"], Some(&a.run_dir()));
    assert!(!wrong.status.success() && text(&wrong).contains("--run-dir"), "{}", text(&wrong));

    let gone = a.ferry(&["uninstall"]);
    assert!(gone.status.success(), "{}", text(&gone));
    let status = b(&["status"], None);
    assert!(status.status.success() && text(&status).contains("is Ready"), "{}", text(&status));
    assert!(Path::new(&format!("/sys/class/net/ferry{of_b}br")).exists(), "B's bridge");
    run_with(&a, &["--context", &format!("ferry{of_b}"), "get", "nodes"]);

    // The last one gives the user's own context back.
    let gone = b(&["uninstall"], None);
    assert!(gone.status.success(), "{}", text(&gone));
    assert!(!data.exists() && !run.exists());
    let left = std::fs::read_to_string(a.kubeconfig()).expect("a kubeconfig");
    assert!(left.contains("name: mine") && !left.contains("https://127.0.0.1"), "{left}");
    assert!(!Path::new("/var/lib/ferry-clusters").join(format!("{of_b}.json")).exists());
}

fn number(data_dir: &Path) -> u64 {
    let text = std::fs::read_to_string(data_dir.join("cluster.json")).expect("a cluster");
    let cluster: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    cluster["number"].as_u64().expect("a number")
}

fn run_with(cluster: &TestCluster, args: &[&str]) {
    let output = cluster.command("kubectl").args(args).output().expect("kubectl is on the PATH");
    assert!(output.status.success(), "kubectl {args:?}: {}", text(&output));
}

#[test]
fn a_cluster_comes_back_after_a_reboot_and_with_a_clock_that_was_a_year_off() {
    let cluster = TestCluster::new();
    // The clock was a year ahead when the certificates were made: none of them is valid yet.
    let ahead = jiff::Timestamp::now() + std::time::Duration::from_secs(366 * 86_400);
    std::fs::create_dir_all(cluster.data_dir()).expect("made");
    ferry_pki::ensure_at(&cluster.data_dir().join("pki"), &ferry_pki::PkiConfig::default(), ahead).expect("made");
    cluster.start();
    cluster.start_web();

    // A machine that loses its power: no process is asked, and what lives in memory is gone.
    let name = format!("ferry{}", number(&cluster.data_dir()));
    cluster.kill();
    signal(containerd_pid(&cluster), Signal::SIGKILL);
    for pid in processes_with(&cluster.socket()).into_iter().chain(in_cgroups(&name)) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("a mount table");
    let base = cluster.path("").to_string_lossy().trim_end_matches('/').to_owned();
    for point in mounts.lines().rev().filter_map(|line| line.split(' ').nth(4)).filter(|point| point.starts_with(&base))
    {
        run("umount", &["-l", point]);
    }
    run("ip", &["link", "delete", &format!("{name}br")]);
    run("nft", &["delete", "table", "inet", &name]);
    std::fs::remove_dir_all(cluster.run_dir()).expect("removed");

    cluster.start();
    cluster.kubectl("rollout status deployment/web --timeout=90s");
    cluster.eventually("all three to run again", || {
        let pods = cluster.kubectl("get pods -l app=web --no-headers");
        if pods.lines().filter(|line| line.contains("1/1")).count() == 3 { Ok(()) } else { Err(pods) }
    });
    assert!(text(&cluster.ferry(&["status"])).contains("is Ready"));
}

/// The processes of a cluster's pods.
fn in_cgroups(name: &str) -> Vec<i32> {
    let mut directories = vec![Path::new("/sys/fs/cgroup").join(name)];
    for entry in std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten() {
        directories.push(entry.path().join(name));
    }
    let mut pids = Vec::new();
    while let Some(directory) = directories.pop() {
        let text = std::fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
        pids.extend(text.lines().filter_map(|line| line.parse::<i32>().ok()));
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                directories.push(entry.path());
            }
        }
    }
    pids.sort_unstable();
    pids.dedup();
    pids
}
