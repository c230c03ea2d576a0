//! The kubelet on a real containerd, against an API in memory: a pod's whole life.

mod csi;
mod image_volume;
mod log_rotation;
mod masks;
mod node_shutdown;
mod pressure;
mod resize;
#[path = "../support/mod.rs"]
mod support;

use ferry_client::Client;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::api::FakeApi;
use support::caller::{Caller, Output, server_and_callers};
use support::eventually;
use support::machine::{IMAGE, Machine};
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

const NODE: &str = "node-a";
const LIMIT: Duration = Duration::from_secs(40);

/// A running kubelet; dropping the handle does not stop its containers.
struct Kubelet {
    shutdown: CancellationToken,
    task: tokio::task::JoinHandle<Result<(), ferry_kubelet::Error>>,
}

impl Kubelet {
    async fn start(machine: &Machine, api: &FakeApi) -> Self {
        Self::start_with(machine.config(NODE), api).await
    }

    async fn start_with(config: ferry_kubelet::Config, api: &FakeApi) -> Self {
        let client = Client::new(Arc::new(api.clone()), "kubelet");
        let shutdown = CancellationToken::new();
        let (sender, mut ready) = watch::channel(false);
        let task = tokio::spawn(ferry_kubelet::run(config, client, sender, shutdown.clone()));
        tokio::time::timeout(LIMIT, ready.wait_for(|ready| *ready))
            .await
            .expect("the node becomes ready in time")
            .expect("the kubelet lives");
        Self { shutdown, task }
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.expect("the kubelet ends").expect("without an error");
    }
}

fn pod(name: &str, spec: Value) -> Value {
    let mut spec = spec;
    spec["nodeName"] = json!(NODE);
    spec["enableServiceLinks"] = json!(true);
    if spec["terminationGracePeriodSeconds"].is_null() {
        spec["terminationGracePeriodSeconds"] = json!(0);
    }
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "namespace": "default", "name": name }, "spec": spec })
}

fn container(name: &str, args: &[&str]) -> Value {
    json!({ "name": name, "image": IMAGE, "args": args })
}

/// The pod, once `check` likes it.
async fn wait_for(api: &FakeApi, name: &str, what: &str, check: impl Fn(&Value) -> bool) -> Value {
    eventually(&format!("{name}: {what}"), LIMIT, || {
        let pod = api.get("pods", "default", name).ok_or("no such pod")?;
        if check(&pod) { Ok(pod) } else { Err(format!("{pod:#}\n{:#?}", api.history(name))) }
    })
    .await
}

async fn wait_gone(api: &FakeApi, name: &str) {
    eventually(&format!("{name} gone"), LIMIT, || match api.get("pods", "default", name) {
        None => Ok(()),
        Some(pod) => Err(format!("{pod:#}\n{:#?}", api.history(name))),
    })
    .await;
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn first(pod: &Value) -> &Value {
    &pod["status"]["containerStatuses"][0]
}

fn assert_nothing_left(machine: &Machine) {
    assert_eq!(machine.containers(), Vec::<String>::new(), "containers");
    assert_eq!(machine.cgroups(), Vec::<std::path::PathBuf>::new(), "cgroups of pods");
    let pods = std::fs::read_dir(machine.directory.join("kubelet/pods")).into_iter().flatten().count();
    assert_eq!(pods, 0, "directories of pods");
    let logs = std::fs::read_dir(machine.directory.join("logs")).into_iter().flatten().count();
    assert_eq!(logs, 0, "directories of logs");
    let kubelet = machine.directory.join("kubelet").to_string_lossy().into_owned();
    let mounts: Vec<String> = machine.mounts().into_iter().filter(|point| point.starts_with(&kubelet)).collect();
    assert_eq!(mounts, Vec::<String>::new(), "mounts");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pods_whole_life() {
    let machine = Machine::start("life").await;
    let api = FakeApi::new();
    api.put("configmaps", json!({ "metadata": { "namespace": "default", "name": "cm" }, "data": { "color": "red" } }));
    let kubelet = Kubelet::start(&machine, &api).await;

    let node = api.get("nodes", "", NODE).expect("the node is registered");
    assert_eq!(
        node["status"]["nodeInfo"]["containerRuntimeVersion"].as_str().map(|v| v.starts_with("containerd://")),
        Some(true)
    );
    eventually("a lease", LIMIT, || api.get("leases", "kube-node-lease", NODE).map(drop).ok_or_else(String::new)).await;

    // Running, with volumes, environment and probes.
    let healthy = "/data/healthy";
    api.put("pods", pod("web", json!({
        "initContainers": [{ "name": "init", "image": IMAGE, "args": ["write", healthy, "yes"], "volumeMounts": [{ "name": "data", "mountPath": "/data" }] }],
        "containers": [{
            "name": "web", "image": IMAGE, "args": ["serve", "8080", healthy],
            "env": [{ "name": "IP", "valueFrom": { "fieldRef": { "fieldPath": "status.podIP" } } },
                    { "name": "COLOR", "valueFrom": { "configMapKeyRef": { "name": "cm", "key": "color" } } }],
            "resources": { "requests": { "cpu": "10m" }, "limits": { "memory": "64Mi" } },
            "readinessProbe": { "httpGet": { "path": "/healthz", "port": 8080 }, "periodSeconds": 1, "failureThreshold": 1 },
            "volumeMounts": [{ "name": "data", "mountPath": "/data" }, { "name": "cm", "mountPath": "/cm" },
                             { "name": "token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true }],
        }],
        "volumes": [{ "name": "data", "emptyDir": {} }, { "name": "cm", "configMap": { "name": "cm" } },
            { "name": "token", "projected": { "sources": [{ "serviceAccountToken": { "path": "token", "expirationSeconds": 3607 } }] } }],
    })));
    let web = wait_for(&api, "web", "ready", is_ready).await;
    assert_eq!(web["status"]["phase"], "Running");
    assert_eq!(web["status"]["initContainerStatuses"][0]["state"]["terminated"]["reason"], "Completed");
    let id =
        first(&web)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id").to_string();
    let exec = |args: &[&str]| {
        let mut all = vec!["tasks", "exec", "--exec-id", "probe", id.as_str(), "/program"];
        all.extend(args);
        String::from_utf8_lossy(&machine.ctr(&all).stdout).into_owned()
    };
    assert_eq!(exec(&["cat", "/cm/color"]), "red");
    assert_eq!(exec(&["cat", "/var/run/secrets/kubernetes.io/serviceaccount/token"]), "a.b.c");
    let env = exec(&["env"]);
    let ip = web["status"]["podIP"].as_str().expect("an address");
    assert!(env.contains(&format!("IP={ip}\n")) && env.contains("COLOR=red\n"), "{env}");
    assert!(exec(&["cat", "/etc/hosts"]).contains(&format!("{ip}\tweb")));
    assert!(
        exec(&["cat", "/etc/resolv.conf"]).contains("search default.svc.cluster.local svc.cluster.local cluster.local")
    );

    // A changed ConfigMap reaches the running container.
    api.put("configmaps", json!({ "metadata": { "namespace": "default", "name": "cm" }, "data": { "color": "blue" } }));
    eventually("the new color", LIMIT, || match exec(&["cat", "/cm/color"]).as_str() {
        "blue" => Ok(()),
        other => Err(other.to_string()),
    })
    .await;

    // Readiness follows the probe.
    std::fs::remove_file(
        machine
            .directory
            .join("kubelet/pods")
            .join(web["metadata"]["uid"].as_str().expect("a uid"))
            .join("volumes/kubernetes.io~empty-dir/data/healthy"),
    )
    .expect("the file is there");
    wait_for(&api, "web", "unready", |pod| !is_ready(pod)).await;
    let events = api.events("web");
    assert!(
        events.contains(&"Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503".to_string()),
        "{events:#?}"
    );
    let order = ["Pulled", "Created", "Started"];
    let reasons: Vec<&str> = events.iter().filter_map(|event| event.split(':').next()).collect();
    assert_eq!(reasons.iter().filter(|reason| order.contains(reason)).take(3).copied().collect::<Vec<_>>(), order);

    // A crash is followed by a restart, a second one by a wait.
    api.put("pods", pod("crash", json!({ "containers": [container("c", &["end", "3", "last", "words"])] })));
    let crash = wait_for(&api, "crash", "CrashLoopBackOff", |pod| {
        first(pod)["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    })
    .await;
    assert_eq!(first(&crash)["lastState"]["terminated"]["exitCode"], 3);
    assert_eq!(first(&crash)["restartCount"], 1);
    let message = first(&crash)["state"]["waiting"]["message"].as_str().unwrap_or_default().to_string();
    assert!(message.starts_with("back-off 10s restarting failed container=c pod=crash_default("), "{message}");

    // A pod that finishes has succeeded.
    api.put(
        "pods",
        pod("once", json!({ "restartPolicy": "Never", "containers": [container("c", &["say", "hello"])] })),
    );
    let once = wait_for(&api, "once", "Succeeded", |pod| pod["status"]["phase"] == "Succeeded").await;
    assert_eq!(first(&once)["state"]["terminated"]["reason"], "Completed");

    // A failing liveness probe restarts its container.
    api.put("pods", pod("sick", json!({ "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"],
        "livenessProbe": { "exec": { "command": ["/program", "exists", "/none"] }, "periodSeconds": 1, "failureThreshold": 1 } }] })));
    wait_for(&api, "sick", "restarted", |pod| first(pod)["restartCount"].as_i64() >= Some(1)).await;
    let events = api.events("sick");
    assert!(
        events.contains(&"Killing: Container c failed liveness probe, will be restarted".to_string()),
        "{events:#?}"
    );

    // What is missing is waited for by its name.
    api.put("pods", pod("later", json!({ "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"], "volumeMounts": [{ "name": "v", "mountPath": "/v" }] }],
        "volumes": [{ "name": "v", "secret": { "secretName": "s" } }] })));
    eventually("FailedMount", LIMIT, || {
        let events = api.events("later");
        let wanted = "FailedMount: MountVolume.SetUp failed for volume \"v\" : secret \"s\" not found";
        if events.iter().any(|event| event == wanted) { Ok(()) } else { Err(format!("{events:#?}")) }
    })
    .await;
    api.put("secrets", json!({ "metadata": { "namespace": "default", "name": "s" }, "data": { "k": "dg==" } }));
    wait_for(&api, "later", "ready", is_ready).await;

    // An image that is nowhere.
    api.put("pods", pod("noimage", json!({ "containers": [{ "name": "c", "image": "127.0.0.1:1/none:1" }] })));
    wait_for(&api, "noimage", "ErrImagePull", |pod| first(pod)["state"]["waiting"]["reason"] == "ErrImagePull").await;

    // A new kubelet adopts what runs and restarts none of it.
    let before = first(&api.get("pods", "default", "web").expect("web"))["containerID"].clone();
    kubelet.stop().await;
    let kubelet = Kubelet::start(&machine, &api).await;
    let web = wait_for(&api, "web", "still running", |pod| first(pod)["state"]["running"].is_object()).await;
    assert_eq!((&first(&web)["containerID"], &first(&web)["restartCount"]), (&before, &json!(0)));

    for name in ["web", "crash", "once", "sick", "later", "noimage"] {
        api.delete_pod("default", name, 0);
    }
    for name in ["web", "crash", "once", "sick", "later", "noimage"] {
        wait_gone(&api, name).await;
    }
    let web = api.get("pods", "default", "web");
    assert_eq!(web, None);
    assert_nothing_left(&machine);
    kubelet.stop().await;
}

/// The WebSocket dialects of older clients, which the runtime speaks itself.
async fn speak_every_dialect(caller: &Caller) {
    let say = "/exec/default/web/c?command=/program&command=say&command=hi&output=1&error=1";
    // Before v4 a command that succeeds has no status; and an empty message comes first.
    let said = caller.converse(say, "channel.k8s.io", &[]).await;
    assert_eq!(joined(&said, 1), b"hi\n");
    assert_eq!(joined(&said, 3), b"", "{said:?}");
    let said = caller.converse(say, "v4.channel.k8s.io", &[]).await;
    assert_eq!(joined(&said, 1), b"hi\n");
    let status: Value = serde_json::from_slice(&joined(&said, 3)).expect("a status");
    assert_eq!(status["status"], "Success");
    let said = caller.converse(say, "base64.channel.k8s.io", &[]).await;
    assert!(said.contains(&Message::text("1aGkK")), "{said:?}");

    // Input in text messages, as the Python client sends it.
    let path = "/exec/default/web/c?command=/program&command=first-line&input=1&output=1";
    let said = caller.converse(path, "v4.channel.k8s.io", &[Message::text("\0a line\n")]).await;
    assert_eq!(joined(&said, 1), b"a line\n", "{said:?}");

    // Two channels for each port, which are told their port first.
    let get = b"\0GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
    let said =
        caller.converse("/portForward/default/http?port=8080", "v4.channel.k8s.io", &[Message::binary(get)]).await;
    assert_eq!(said[..2], [Message::binary(vec![0, 0x90, 0x1f]), Message::binary(vec![1, 0x90, 0x1f])]);
    let answer = String::from_utf8_lossy(&joined(&said[2..], 0)).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{said:?}");
    let (status, why) = caller.get("/portForward/default/http?port=8080").await;
    assert_eq!((status, why.as_str()), (400, "Upgrade request required"));
}

/// The bytes that were sent on one channel, in binary messages.
fn joined(said: &[Message], channel: u8) -> Vec<u8> {
    let of_channel = |message: &Message| match message {
        Message::Binary(data) if data.first() == Some(&channel) => data[1..].to_vec(),
        _ => Vec::new(),
    };
    said.iter().flat_map(of_channel).collect()
}

/// A refused upgrade used to leave an address of the runtime's behind. A thousand of them wait
/// for a minute at most, and while they do nobody can run a command.
async fn refuse_without_cost(caller: &Caller) {
    for path in ["/portForward/default/http?port=8080", "/exec/default/web/c?command=/program&output=1"] {
        assert_eq!(caller.refused_upgrades(path, 1100).await, [403].into(), "{path}");
    }
    let said =
        caller.exec_spdy("/exec/default/web/c?command=/program&command=say&command=still&output=1&error=1").await;
    assert_eq!(said.stdout, "still\n", "{said:?}");
}

/// Callers that never finish a request make room for those that do, and are closed.
async fn outlast_half_sent_requests(caller: &Caller) {
    let mut held = caller.half_sent(300).await;
    assert_eq!(caller.get("/healthz").await, (200, "ok".into()));
    let mut byte = [0];
    let end = tokio::time::timeout(LIMIT, tokio::io::AsyncReadExt::read(&mut held[0], &mut byte)).await;
    assert_eq!(end.expect("the oldest is closed").unwrap_or(0), 0);
}

/// The kubelet's directories are behind a link here, as where /var/lib is on another disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_cannot_write_what_the_kubelet_writes_and_its_end_leaves_the_hosts_files() {
    let machine = Machine::start("volumes").await;
    let api = FakeApi::new();
    api.put("configmaps", json!({ "metadata": { "namespace": "default", "name": "cm" }, "data": { "color": "red" } }));
    api.put("secrets", json!({ "metadata": { "namespace": "default", "name": "s" }, "data": { "k": "dg==" } }));
    let host = machine.directory.join("host");
    std::fs::create_dir_all(host.join("data")).expect("made");
    std::fs::write(host.join("data/precious"), "x").expect("written");
    std::os::unix::fs::symlink(&machine.directory, machine.directory.join("link")).expect("linked");
    let mut config = machine.config(NODE);
    config.root_dir = machine.directory.join("link/kubelet");
    config.log_dir = machine.directory.join("link/logs");
    let kubelet = Kubelet::start_with(config, &api).await;

    let labels = json!({ "items": [{ "path": "labels", "fieldRef": { "fieldPath": "metadata.labels" } }] });
    let written_by_the_kubelet = json!([
        { "name": "config", "configMap": { "name": "cm" } },
        { "name": "secret", "secret": { "secretName": "s" } },
        { "name": "downward", "downwardAPI": labels },
        { "name": "projected", "projected": { "sources": [{ "downwardAPI": labels }] } },
    ]);
    let mut volumes = written_by_the_kubelet.clone();
    let mut mounts: Vec<Value> = Vec::new();
    for volume in written_by_the_kubelet.as_array().into_iter().flatten() {
        mounts.push(json!({ "name": volume["name"], "mountPath": format!("/{}", volume["name"].as_str().unwrap_or_default()), "readOnly": false }));
    }
    mounts.push(json!({ "name": "config", "mountPath": "/one-key", "subPath": "color" }));
    mounts.push(json!({ "name": "host", "mountPath": "/host", "subPath": "data" }));
    if let Some(volumes) = volumes.as_array_mut() {
        volumes.push(json!({ "name": "host", "hostPath": { "path": host } }));
    }
    api.put(
        "pods",
        pod(
            "writer",
            json!({ "securityContext": { "fsGroup": 0 }, "volumes": volumes,
        "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"], "volumeMounts": mounts }] }),
        ),
    );
    let writer = wait_for(&api, "writer", "ready", is_ready).await;
    let id = first(&writer)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
    let write = |path: &str| {
        let output = machine.ctr(&["tasks", "exec", "--exec-id", "write", id, "/program", "write", path, "new"]);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for path in ["/config/x", "/secret/x", "/downward/x", "/projected/x", "/config/..data/color", "/one-key"] {
        let complaint = write(path);
        assert!(complaint.contains("Read-only file system"), "{path}: {complaint}");
    }
    assert_eq!(write("/host/written"), "", "a part of a hostPath is the pod's to write");
    assert!(host.join("data/written").exists());

    api.delete_pod("default", "writer", 0);
    wait_gone(&api, "writer").await;
    assert!(host.join("data/precious").exists(), "the host's files are not the pod's to take along");
    assert_nothing_left(&machine);
    kubelet.stop().await;
}

/// The volume is the node's, and every pod that claims it finds the data of the one before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claims_data_outlives_its_pods_and_the_kubelet() {
    let machine = Machine::start("claims").await;
    let api = FakeApi::new();
    let data = machine.directory.join("disk");
    std::fs::create_dir_all(&data).expect("made");
    api.put(
        "persistentvolumes",
        json!({ "metadata": { "name": "pv" }, "spec": { "claimRef": { "uid": "c1" }, "local": { "path": data } } }),
    );
    api.put(
        "persistentvolumeclaims",
        json!({ "metadata": { "namespace": "default", "name": "c", "uid": "c1" }, "spec": { "volumeName": "pv" },
            "status": { "phase": "Bound" } }),
    );
    let mut written = Vec::new();
    for name in ["first", "second"] {
        let kubelet = Kubelet::start(&machine, &api).await;
        let mount = |path: &str, sub: &str, read_only: bool| json!({ "name": "v", "mountPath": path, "subPath": sub, "readOnly": read_only });
        let mounts = [mount("/v", "", false), mount("/part", "a/b", false), mount("/shown", "", true)];
        let volumes = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }]);
        let spec = json!({ "securityContext": { "fsGroup": 77 }, "volumes": volumes,
            "containers": [{ "name": "c", "image": IMAGE, "args": ["pause"], "volumeMounts": mounts }] });
        api.put("pods", pod(name, spec));
        let running = wait_for(&api, name, "ready", is_ready).await;
        let id =
            first(&running)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://")).expect("an id");
        let write = |path: &str| {
            let output = machine.ctr(&["tasks", "exec", "--exec-id", "write", id, "/program", "write", path, "new"]);
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        assert_eq!(write(&format!("/v/{name}")), "");
        assert_eq!(write(&format!("/part/{name}")), "");
        assert!(write("/shown/x").contains("Read-only file system"));
        written.extend([data.join(name), data.join("a/b").join(name)]);
        api.delete_pod("default", name, 0);
        wait_gone(&api, name).await;
        assert!(written.iter().all(|path| path.exists()), "{written:?}");
        assert_nothing_left(&machine);
        kubelet.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logs_and_terminals() {
    // As a login shell gives it to most; the kubelet's share follows from it.
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, 1024, hard).expect("a lower limit");
    let machine = Machine::start("logs").await;
    let api = FakeApi::new();
    let (server, caller, stranger) = server_and_callers();
    let mut config = machine.config(NODE);
    config.server = Some(server);
    let kubelet = Kubelet::start_with(config, &api).await;

    assert_eq!(stranger.get("/pods").await.0, 403);
    assert_eq!(caller.get("/healthz").await, (200, "ok".into()));

    api.put("pods", pod("web", json!({ "containers": [container("c", &["pause"])] })));
    api.put("pods", pod("crash", json!({ "containers": [container("c", &["end", "3", "last", "words"])] })));
    wait_for(&api, "web", "ready", is_ready).await;

    let logs = "/containerLogs/default/web/c";
    assert_eq!(caller.get(logs).await, (200, "ready\n".into()));
    let (_, stamped) = caller.get(&format!("{logs}?timestamps=true")).await;
    assert!(stamped.ends_with("Z ready\n"), "{stamped}");
    assert_eq!(caller.get(&format!("{logs}?limitBytes=3")).await.1, "rea");
    assert_eq!(caller.get(&format!("{logs}?tailLines=0")).await.1, "");
    let (status, why) = caller.get(&format!("{logs}?previous=true")).await;
    assert_eq!((status, why.as_str()), (400, "previous terminated container \"c\" in pod \"web\" not found"));
    assert_eq!(caller.get("/containerLogs/default/web/none").await.0, 404);
    wait_for(&api, "crash", "CrashLoopBackOff", |pod| first(pod)["state"]["waiting"]["reason"] == "CrashLoopBackOff")
        .await;
    assert_eq!(caller.get("/containerLogs/default/crash/c?previous=true").await, (200, "last words\n".into()));

    // A followed log ends with its container.
    api.put("pods", pod("short", json!({ "restartPolicy": "Never", "containers": [container("c", &["sleep", "1"])] })));
    wait_for(&api, "short", "running", |pod| first(pod)["state"]["running"].is_object()).await;
    assert_eq!(caller.get("/containerLogs/default/short/c?follow=true").await, (200, String::new()));

    let exec = "/exec/default/web/c";
    let done = json!({ "metadata": {}, "status": "Success" });
    let said = caller
        .exec_websocket(
            &format!("{exec}?command=/program&command=echo-stdin&input=1&output=1&error=1"),
            Some("hi there"),
        )
        .await;
    assert_eq!(said, Output { stdout: "hi there".into(), stderr: String::new(), error: done.clone() });
    let said = caller
        .exec_websocket(&format!("{exec}?command=/program&command=complain&command=no&stdout=true&stderr=true"), None)
        .await;
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", "no\n"));
    let said = caller
        .exec_websocket(&format!("{exec}?command=/program&command=end&command=7&stdout=true&stderr=true"), None)
        .await;
    assert_eq!(said.error["details"]["causes"][0], json!({ "reason": "ExitCode", "message": "7" }));
    let said = caller.exec_spdy(&format!("{exec}?command=/program&command=say&command=spdy&output=1&error=1")).await;
    assert_eq!(said, Output { stdout: "spdy\n".into(), stderr: String::new(), error: done });

    api.put("pods", pod("http", json!({ "containers": [container("c", &["serve", "8080", "/program"])] })));
    wait_for(&api, "http", "ready", is_ready).await;
    eventually("the server's first words", LIMIT, || {
        let logs = machine.directory.join("logs");
        let said = std::fs::read_dir(&logs).into_iter().flatten().flatten().any(|entry| {
            std::fs::read_to_string(entry.path().join("c/0.log")).is_ok_and(|text| text.contains("serving"))
        });
        if said { Ok(()) } else { Err(String::new()) }
    })
    .await;
    let said = caller.forward_spdy("/portForward/default/http", "8080", "GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(said.starts_with("HTTP/1.1 200 OK"), "{said}");

    speak_every_dialect(&caller).await;
    refuse_without_cost(&caller).await;
    outlast_half_sent_requests(&caller).await;

    let (_, summary) = caller.get("/stats/summary").await;
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert!(
        summary["pods"].as_array().is_some_and(|pods| pods.iter().any(|pod| pod["podRef"]["name"] == "web")),
        "{summary:#}"
    );
    let (_, page) = caller.get("/metrics/resource").await;
    for metric in ["container_cpu_usage_seconds_total", "container_memory_working_set_bytes"] {
        let line = format!("{metric}{{container=\"c\",namespace=\"default\",pod=\"web\"}} ");
        assert!(page.contains(&line), "{line} is not in {page}");
    }
    assert!(page.contains("\nnode_cpu_usage_seconds_total ") && page.contains("\nresource_scrape_error 0\n"), "{page}");

    for name in ["web", "crash", "short", "http"] {
        api.delete_pod("default", name, 0);
    }
    for name in ["web", "crash", "short", "http"] {
        wait_gone(&api, name).await;
    }
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
