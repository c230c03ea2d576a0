//! The kubelet over a runtime in memory: decisions that a real one would make slow or
//! hard to bring about.

mod support;

use ferry_client::Client;
use ferry_kubelet::cri::RuntimeError;
use ferry_kubelet::cri::double::RecordingRuntime;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use support::api::FakeApi;
use support::eventually;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

const NODE: &str = "node-a";
const LIMIT: Duration = Duration::from_secs(20);

struct World {
    api: FakeApi,
    runtime: Arc<RecordingRuntime>,
    directory: tempfile::TempDir,
    cgroup: String,
    _shutdown: tokio_util::sync::DropGuard,
}

impl World {
    async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let api = FakeApi::new();
        let runtime = Arc::new(RecordingRuntime::default());
        runtime.add_image("i:1");
        let mut config = ferry_kubelet::Config::new(NODE, "192.0.2.1", directory.path(), "none");
        config.heartbeat = Duration::from_secs(1);
        config.cgroup_root = format!("ferry-test-workers-{}", std::process::id());
        let cgroup = config.cgroup_root.clone();
        let client = Client::new(Arc::new(api.clone()), "kubelet");
        let (sender, mut ready) = watch::channel(false);
        let shutdown = CancellationToken::new();
        let run = ferry_kubelet::run_with_runtime(config, client, runtime.clone(), sender, shutdown.clone());
        tokio::spawn(run);
        tokio::time::timeout(LIMIT, ready.wait_for(|ready| *ready)).await.expect("in time").expect("ready");
        Self { api, runtime, directory, cgroup, _shutdown: shutdown.drop_guard() }
    }

    fn create(&self, name: &str, spec: Value) {
        let mut spec = spec;
        spec["nodeName"] = json!(NODE);
        self.api.put("pods", json!({ "metadata": { "namespace": "default", "name": name }, "spec": spec }));
    }

    async fn wait(&self, name: &str, what: &str, check: impl Fn(&Value) -> bool) -> Value {
        eventually(&format!("{name}: {what}"), LIMIT, || {
            let pod = self.api.get("pods", "default", name).ok_or("no such pod")?;
            let seen = || format!("{:#}\n{:#?}\n{:#?}", pod["status"], self.api.events(name), self.runtime.calls());
            if check(&pod) { Ok(pod.clone()) } else { Err(seen()) }
        })
        .await
    }

    async fn wait_gone(&self, name: &str) {
        eventually(&format!("{name} gone"), LIMIT, || match self.api.get("pods", "default", name) {
            None => Ok(()),
            Some(pod) => Err(format!("{pod:#}")),
        })
        .await;
    }

    async fn wait_event(&self, name: &str, wanted: &str) {
        eventually(&format!("{name}: {wanted}"), LIMIT, || {
            let events = self.api.events(name);
            if events.iter().any(|event| event.starts_with(wanted)) { Ok(()) } else { Err(format!("{events:#?}")) }
        })
        .await;
    }
}

impl Drop for World {
    fn drop(&mut self) {
        ferry_kubelet::cgroup::remove(&self.cgroup);
    }
}

fn one(extra: Value) -> Value {
    let mut container = json!({ "name": "c", "image": "i:1" });
    for (key, value) in extra.as_object().into_iter().flatten() {
        container[key] = value.clone();
    }
    json!({ "containers": [container], "terminationGracePeriodSeconds": 7 })
}

fn is_running(pod: &Value) -> bool {
    pod["status"]["phase"] == "Running"
}

#[tokio::test]
async fn a_pod_that_does_not_fit_is_rejected() {
    let world = World::new().await;
    world.create("big", one(json!({ "resources": { "requests": { "cpu": "100000" } } })));
    let pod = world.wait("big", "failed", |pod| pod["status"]["phase"] == "Failed").await;
    assert_eq!(pod["status"]["reason"], "OutOfcpu");
    let message = pod["status"]["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("Pod was rejected: Node didn't have enough resource: cpu, requested: 100000000, used: 0,"),
        "{message}"
    );
    assert!(!world.runtime.calls().iter().any(|call| call.starts_with("run_pod_sandbox")));
}

/// The same pods, on a runtime that reports what they need.
#[tokio::test]
async fn what_the_runtime_reports_decides_on_user_namespaces_and_groups() {
    use ferry_kubelet::cri::v1;
    let world = World::new().await;
    let strict = json!({ "supplementalGroupsPolicy": "Strict" });
    let mut spec = one(json!({}));
    spec["securityContext"] = strict.clone();
    world.create("strict", spec.clone());
    let pod = world.wait("strict", "failed", |pod| pod["status"]["phase"] == "Failed").await;
    assert_eq!(pod["status"]["reason"], "SupplementalGroupsPolicyNotSupported");
    let message = &pod["status"]["message"];
    assert_eq!(message, "Pod was rejected: SupplementalGroupsPolicy=Strict is not supported in this node");
    let features = v1::RuntimeHandlerFeatures { user_namespaces: true, ..Default::default() };
    let handlers = vec![v1::RuntimeHandler { name: String::new(), features: Some(features) }];
    world.runtime.report_features(v1::RuntimeFeatures { supplemental_groups_policy: true }, handlers);
    eventually("the node shows it", LIMIT, || {
        let node = world.api.get("nodes", "", NODE).unwrap_or_default();
        let shown = &node["status"];
        let groups = shown["features"]["supplementalGroupsPolicy"] == true;
        let users = shown["runtimeHandlers"][0]["features"]["userNamespaces"] == true;
        if groups && users { Ok(()) } else { Err(format!("{shown:#}")) }
    })
    .await;
    spec["hostUsers"] = json!(false);
    world.create("apart", spec);
    let pod = world.wait("apart", "running", is_running).await;
    let sandbox = world.runtime.sandbox_config("apart").expect("a sandbox").linux.expect("a linux sandbox");
    let context = sandbox.security_context.expect("a security context");
    assert_eq!(context.supplemental_groups_policy, v1::SupplementalGroupsPolicy::Strict as i32);
    let users = context.namespace_options.expect("namespaces").userns_options.expect("a user namespace");
    let mapping = v1::IdMapping { host_id: 65_536, container_id: 0, length: 65_536 };
    assert_eq!(users, v1::UserNamespace { mode: 0, uids: vec![mapping], gids: vec![mapping] });
    let container = world.runtime.container_config("c").expect("a container");
    assert!(container.mounts.iter().all(|mount| mount.uid_mappings == [mapping]), "{:?}", container.mounts);
    let uid = pod["metadata"]["uid"].as_str().expect("a uid");
    assert!(world.directory.path().join(format!("kubelet/pods/{uid}/userns")).exists());
}

/// The pods that PodSecurity lets through because of their user namespace, and others
/// that ask for more than the node does, must not run at all.
#[tokio::test]
async fn a_pod_that_asks_for_a_user_namespace_is_refused_by_name_and_gets_no_sandbox() {
    let world = World::new().await;
    let unmasked = json!({ "securityContext": { "procMount": "Unmasked" } });
    let recursive = json!([{ "name": "v", "mountPath": "/v", "readOnly": true, "recursiveReadOnly": "Enabled" }]);
    let attempts = [
        ("unmasked", one(unmasked), "hostUsers", json!(false), "spec.hostUsers: "),
        ("root", one(json!({})), "hostUsers", json!(false), "spec.hostUsers: "),
        (
            "recursive",
            one(json!({ "volumeMounts": recursive })),
            "volumes",
            json!([{ "name": "v", "emptyDir": {} }]),
            "spec.containers[0].volumeMounts[0].recursiveReadOnly: ",
        ),
    ];
    for (name, mut spec, key, value, named) in attempts {
        spec[key] = value;
        world.create(name, spec);
        let pod = world.wait(name, "failed", |pod| pod["status"]["phase"] == "Failed").await;
        assert_eq!(pod["status"]["reason"], "PodFeatureUnsupported", "{name}");
        let message = pod["status"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(named), "{name}: {message}");
    }
    let calls = world.runtime.calls();
    assert!(!calls.iter().any(|call| call.starts_with("run_pod_sandbox")), "{calls:#?}");
    // The same pod without the field runs, so it was the field that was refused.
    world.create("plain", one(json!({ "securityContext": { "procMount": "Unmasked" } })));
    world.wait("plain", "running", is_running).await;
}

#[tokio::test]
async fn a_volume_that_the_node_cannot_mount_is_named() {
    let world = World::new().await;
    let mut spec = one(json!({}));
    spec["volumes"] = json!([{ "name": "e", "emptyDir": {} }, { "name": "v", "nfs": { "server": "s", "path": "/" } }]);
    world.create("db", spec);
    world.wait_event("db", "FailedMount: spec.volumes[1].nfs: this node cannot mount").await;
    let calls = world.runtime.calls();
    assert!(!calls.iter().any(|call| call.starts_with("run_pod_sandbox")), "{calls:#?}");
}

#[tokio::test]
async fn a_pod_waits_until_its_claim_is_bound_to_a_volume_of_this_node() {
    let world = World::new().await;
    let data = world.directory.path().join("disk");
    std::fs::create_dir(&data).expect("made");
    let mut spec = one(json!({ "volumeMounts": [{ "name": "v", "mountPath": "/v" }] }));
    spec["volumes"] = json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }]);
    world.create("db", spec);
    let waits = "FailedMount: Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], \
        failed to process volumes=[v]: error processing PVC default/c: ";
    world.wait_event("db", &format!("{waits}failed to fetch PVC from API server")).await;
    let claim = |phase: &str| {
        json!({ "metadata": { "namespace": "default", "name": "c", "uid": "c1" }, "spec": { "volumeName": "pv" },
            "status": { "phase": phase } })
    };
    world.api.put("persistentvolumeclaims", claim("Pending"));
    world.wait_event("db", &format!("{waits}PVC is not bound")).await;
    let volume = |host: &str| {
        let expression = json!({ "key": "kubernetes.io/hostname", "operator": "In", "values": [host] });
        json!({ "metadata": { "name": "pv" }, "spec": { "claimRef": { "uid": "c1" },
            "local": { "path": data.to_string_lossy() }, "nodeAffinity": { "required": {
                "nodeSelectorTerms": [{ "matchExpressions": [expression] }] } } } })
    };
    world.api.put("persistentvolumes", volume("elsewhere"));
    world.api.put("persistentvolumeclaims", claim("Bound"));
    let elsewhere =
        "FailedMount: MountVolume.NodeAffinity check failed for volume \"pv\" : no matching NodeSelectorTerms";
    world.wait_event("db", elsewhere).await;
    assert!(!world.runtime.calls().iter().any(|call| call.starts_with("run_pod_sandbox")));
    world.api.put("persistentvolumes", volume(NODE));
    world.wait("db", "running", is_running).await;
}

#[tokio::test]
async fn a_private_image_pulled_with_one_pods_secret_is_not_another_pods() {
    use base64::Engine;
    const IMAGE: &str = "reg.example.com/team/app:1";
    let world = World::new().await;
    world.runtime.protect(IMAGE, "right");
    let auths = json!({ "auths": { "reg.example.com": { "username": "u", "password": "right" } } }).to_string();
    let data = base64::engine::general_purpose::STANDARD.encode(auths);
    for name in ["pull", "copy"] {
        world.api.put(
            "secrets",
            json!({ "metadata": { "namespace": "default", "name": name }, "type": "kubernetes.io/dockerconfigjson",
                "data": { ".dockerconfigjson": data } }),
        );
    }
    let private = |secret: Option<&str>, policy: &str| {
        let mut spec = one(json!({ "image": IMAGE, "imagePullPolicy": policy }));
        spec["imagePullSecrets"] = json!(secret.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>());
        spec
    };
    let waits = |pod: &Value, reasons: &[&str]| {
        let reason = &pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"];
        reasons.iter().any(|wanted| reason == wanted)
    };
    world.create("owner", private(Some("pull"), "IfNotPresent"));
    world.wait("owner", "running", is_running).await;
    // The image is here now, and the next pod has no right to it.
    world.create("thief", private(None, "IfNotPresent"));
    world.wait("thief", "refused", |pod| waits(pod, &["ErrImagePull", "ImagePullBackOff"])).await;
    world.create("never", private(None, "Never"));
    world.wait("never", "refused", |pod| waits(pod, &["ErrImageNeverPull"])).await;
    world
        .wait_event(
            "never",
            "ErrImageNeverPull: Container image \"reg.example.com/team/app:1\" is not present with pull policy of Never",
        )
        .await;
    // A pod with the credential runs without another pull, by either policy.
    let pulls = || world.runtime.calls().iter().filter(|call| **call == format!("pull_image {IMAGE}")).count();
    assert!(!is_running(&world.api.get("pods", "default", "thief").expect("the pod")));
    world.api.delete_pod("default", "thief", 0);
    world.wait_gone("thief").await;
    let before = pulls();
    world.create("friend", private(Some("pull"), "IfNotPresent"));
    world.create("copy", private(Some("copy"), "Never"));
    world.wait("friend", "running", is_running).await;
    world.wait("copy", "running", is_running).await;
    assert_eq!(pulls(), before, "a pod with the credential pulled again");
}

/// A minute of a fast writer is a gigabyte.
#[tokio::test]
async fn a_log_that_grows_too_large_is_rotated_before_a_minute_has_passed() {
    let world = World::new().await;
    world.create("noisy", one(json!({})));
    let pod = world.wait("noisy", "running", is_running).await;
    let uid = pod["metadata"]["uid"].as_str().expect("a uid");
    let container = pod["spec"]["containers"][0]["name"].as_str().expect("a name");
    let directory = world.directory.path().join("logs").join(format!("default_noisy_{uid}")).join(container);
    std::fs::create_dir_all(&directory).expect("made");
    let log = std::fs::File::create(directory.join("0.log")).expect("made");
    log.set_len(11 << 20).expect("grown");
    eventually("the log to be rotated", LIMIT, || {
        // A container that writes goes on writing.
        std::io::Write::write_all(&mut &log, b"line\n").expect("written");
        let names: Vec<String> = std::fs::read_dir(&directory)
            .expect("listed")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        let is_reopened = world.runtime.calls().iter().any(|call| call.starts_with("reopen_container_log"));
        let is_renamed = names.len() == 1 && names[0].starts_with("0.log.2");
        if is_reopened && is_renamed { Ok(()) } else { Err(format!("{names:?}")) }
    })
    .await;
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_made_is_tried_again() {
    let world = World::new().await;
    world.runtime.fail("run_pod_sandbox", Some(RuntimeError::new(tonic::Code::Unknown, "no network")));
    world.create("web", one(json!({})));
    world
        .wait_event(
            "web",
            "FailedCreatePodSandBox: Failed to create pod sandbox: rpc error: code = Unknown desc = no network",
        )
        .await;
    let pod = world.api.get("pods", "default", "web").expect("the pod");
    assert_eq!(pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"], "ContainerCreating");
    world.runtime.fail("run_pod_sandbox", None);
    world.wait("web", "running", is_running).await;
}

#[tokio::test]
async fn a_failed_pull_is_shown_and_then_backed_off() {
    let world = World::new().await;
    let error = RuntimeError::new(tonic::Code::NotFound, "no such image");
    world.runtime.fail("pull_image", Some(error));
    world.create("web", json!({ "containers": [{ "name": "c", "image": "missing:1" }] }));
    let reason = |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].clone();
    let pod = world.wait("web", "ErrImagePull", |pod| reason(pod) == "ErrImagePull").await;
    let message = &pod["status"]["containerStatuses"][0]["state"]["waiting"]["message"];
    assert_eq!(message, "rpc error: code = NotFound desc = no such image");
    world.wait("web", "ImagePullBackOff", |pod| reason(pod) == "ImagePullBackOff").await;
    let events = world.api.events("web");
    for wanted in [
        "Pulling: Pulling image \"missing:1\"",
        "Failed: Failed to pull image \"missing:1\": rpc error: code = NotFound desc = no such image",
        "Failed: Error: ErrImagePull",
        "BackOff: Back-off pulling image \"missing:1\"",
        "Failed: Error: ImagePullBackOff",
    ] {
        assert!(events.iter().any(|event| event == wanted), "{wanted}: {events:#?}");
    }
}

#[tokio::test]
async fn never_and_invalid_images_say_so() {
    let world = World::new().await;
    let reason = |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].clone();
    world.create("never", json!({ "containers": [{ "name": "c", "image": "missing:1", "imagePullPolicy": "Never" }] }));
    world.wait("never", "ErrImageNeverPull", |pod| reason(pod) == "ErrImageNeverPull").await;
    world.create("bad", json!({ "containers": [{ "name": "c", "image": "Bad:1" }] }));
    world.wait("bad", "InvalidImageName", |pod| reason(pod) == "InvalidImageName").await;
}

#[tokio::test]
async fn a_deleted_pod_runs_its_hook_gets_its_grace_and_leaves_nothing() {
    let world = World::new().await;
    world.create("web", one(json!({ "lifecycle": { "preStop": { "exec": { "command": ["bye"] } } } })));
    world.wait("web", "running", is_running).await;
    world.api.delete_pod("default", "web", 5);
    world.wait_gone("web").await;
    let calls = world.runtime.calls();
    let position = |prefix: &str| {
        calls.iter().position(|call| call.starts_with(prefix)).unwrap_or_else(|| panic!("{prefix}: {calls:#?}"))
    };
    assert!(position("exec_sync container-2 bye") < position("stop_container container-2 5"));
    assert!(position("stop_container") < position("stop_pod_sandbox sandbox-1"));
    assert!(position("stop_pod_sandbox sandbox-1") < position("remove_pod_sandbox sandbox-1"));
    assert!(world.runtime.is_empty());
    let left = std::fs::read_dir(world.directory.path().join("kubelet/pods")).into_iter().flatten().count();
    assert_eq!(left, 0);
    assert!(world.api.events("web").contains(&"Killing: Stopping container c".to_string()));
}

#[tokio::test]
async fn sidecars_start_first_and_end_last() {
    let world = World::new().await;
    world.create("web", json!({ "terminationGracePeriodSeconds": 7, "containers": [{ "name": "main", "image": "i:1" }],
        "initContainers": [{ "name": "side", "image": "i:1", "restartPolicy": "Always" }, { "name": "setup", "image": "i:1" }] }));
    world
        .wait("web", "setup runs", |pod| pod["status"]["initContainerStatuses"][1]["state"]["running"].is_object())
        .await;
    world.runtime.exit("setup", 0);
    world.wait("web", "running", is_running).await;
    let made: Vec<String> =
        world.runtime.calls().into_iter().filter(|call| call.starts_with("create_container")).collect();
    assert_eq!(made, ["create_container side", "create_container setup", "create_container main"]);
    // A sidecar that ends is started again while the others run.
    world.runtime.exit("side", 1);
    world.wait("web", "sidecar again", |pod| pod["status"]["initContainerStatuses"][0]["restartCount"] == 1).await;
    world.api.delete_pod("default", "web", 5);
    world.wait_gone("web").await;
    let stops: Vec<String> =
        world.runtime.calls().into_iter().filter(|call| call.starts_with("stop_container")).collect();
    assert_eq!(stops.len(), 2, "{stops:?}");
    assert!(stops[0].contains("container-4 "), "the main container first: {stops:?}");
}

#[tokio::test]
async fn an_unknown_runtime_class_keeps_the_pod_from_starting() {
    let world = World::new().await;
    let mut spec = one(json!({}));
    spec["runtimeClassName"] = json!("none");
    world.create("web", spec);
    world
        .wait_event("web", "FailedCreatePodSandBox: Failed to create pod sandbox: RuntimeClass \"none\" not found")
        .await;
    assert!(world.runtime.is_empty());
}

#[tokio::test]
async fn a_pod_past_its_deadline_fails() {
    let world = World::new().await;
    let mut spec = one(json!({}));
    spec["activeDeadlineSeconds"] = json!(1);
    world.create("late", spec);
    let pod = world.wait("late", "failed", |pod| pod["status"]["phase"] == "Failed").await;
    assert_eq!(pod["status"]["reason"], "DeadlineExceeded");
    assert_eq!(pod["status"]["message"], "Pod was active on the node longer than the specified deadline");
}

#[tokio::test]
async fn a_missing_key_is_a_config_error_until_it_is_there() {
    let world = World::new().await;
    world.create(
        "web",
        one(json!({ "env": [{ "name": "A", "valueFrom": { "configMapKeyRef": { "name": "cm", "key": "k" } } }] })),
    );
    let waiting = |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"].clone();
    let pod = world.wait("web", "config error", |pod| waiting(pod)["reason"] == "CreateContainerConfigError").await;
    assert_eq!(waiting(&pod)["message"], "configmap \"cm\" not found");
    world.api.put("configmaps", json!({ "metadata": { "namespace": "default", "name": "cm" }, "data": { "k": "v" } }));
    world.wait("web", "running", is_running).await;
}

#[tokio::test]
async fn a_pod_deleted_while_its_image_is_pulled_does_not_wait_for_it() {
    let world = World::new().await;
    world.create("web", json!({ "containers": [{ "name": "c", "image": "missing:1" }] }));
    world.runtime.fail("pull_image", Some(RuntimeError::new(tonic::Code::Unknown, "slow")));
    world.api.delete_pod("default", "web", 30);
    world.wait_gone("web").await;
    assert!(world.runtime.is_empty());
}

#[tokio::test]
async fn a_container_that_dies_while_it_is_started_is_seen_to_be_dead() {
    let world = World::new().await;
    world.runtime.exit_at_start("c");
    let mut spec = one(json!({}));
    spec["restartPolicy"] = json!("Never");
    world.create("brief", spec);
    let pod = world.wait("brief", "failed", |pod| pod["status"]["phase"] == "Failed").await;
    assert_eq!(pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 1);
}

#[tokio::test]
async fn an_image_volume_that_cannot_be_pulled_holds_back_only_the_containers_that_mount_it() {
    let world = World::new().await;
    let files = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(files.path().join("data"), "x").expect("written");
    world.runtime.unpack("v:1", files.path());
    world.runtime.fail("pull_image", Some(RuntimeError::new(tonic::Code::NotFound, "v:1: not found")));
    world.create(
        "web",
        json!({ "volumes": [{ "name": "v", "image": { "reference": "v:1", "pullPolicy": "Always" } }], "containers": [
            { "name": "a", "image": "i:1", "volumeMounts": [{ "name": "v", "mountPath": "/v" }] },
            { "name": "b", "image": "i:1" }] }),
    );
    let state = |pod: &Value, index: usize| pod["status"]["containerStatuses"][index]["state"].clone();
    let held = |pod: &Value| {
        let reason = &state(pod, 0)["waiting"]["reason"];
        (reason == "ErrImagePull" || reason == "ImagePullBackOff") && state(pod, 1)["running"].is_object()
    };
    let web = world.wait("web", "one container waits", held).await;
    assert_eq!(web["status"]["podIP"], "10.0.0.1", "the sandbox comes first");
    world.wait_event("web", "Failed: Error: ErrImagePull").await;
    world.runtime.fail("pull_image", None);
    world.wait("web", "both run", |pod| state(pod, 0)["running"].is_object()).await;
    let uid = web["metadata"]["uid"].as_str().expect("a uid");
    let file = world.directory.path().join(format!("kubelet/pods/{uid}/volumes/kubernetes.io~image/v/v-1/data"));
    assert_eq!(std::fs::read_to_string(&file).expect("mounted"), "x");
    world.api.delete_pod("default", "web", 0);
    world.wait_gone("web").await;
    let removed = format!("remove_image_view image-volume/{uid}/v/v-1");
    assert!(world.runtime.calls().contains(&removed), "{:#?}", world.runtime.calls());
    assert!(files.path().join("data").exists(), "the image's own files stay");
}

#[tokio::test]
async fn a_resize_that_the_runtime_refuses_is_reported_and_tried_again() {
    let world = World::new().await;
    let sized =
        |cpu: &str| json!({ "requests": { "cpu": cpu, "memory": "10Mi" }, "limits": { "cpu": cpu, "memory": "10Mi" } });
    world.create("web", json!({ "containers": [{ "name": "c", "image": "i:1", "resources": sized("100m") }] }));
    let running = |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["running"].is_object();
    let web = world.wait("web", "running", running).await;
    world.runtime.fail("update_container_resources", Some(RuntimeError::new(tonic::Code::Internal, "no")));
    let mut wanted = web.clone();
    wanted["metadata"]["generation"] = json!(2);
    wanted["spec"]["containers"][0]["resources"] = sized("200m");
    world.api.put("pods", wanted);
    let condition = |pod: &Value| {
        let all = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|condition| condition["type"] == "PodResizeInProgress")
    };
    let failed = |pod: &Value| condition(pod).is_some_and(|found| found["reason"] == "Error");
    let web = world.wait("web", "refused", failed).await;
    assert_eq!(condition(&web).expect("in progress")["message"], "rpc error: code = Internal desc = no");
    world.wait_event("web", "ResizeError: Pod resize error: {").await;
    world.runtime.fail("update_container_resources", None);
    let web = world.wait("web", "resized", |pod| condition(pod).is_none()).await;
    assert_eq!(web["status"]["containerStatuses"][0]["restartCount"], 0);
    world.wait_event("web", "ResizeCompleted: Pod resize completed: {").await;
    let mut updates = world.runtime.calls().into_iter().filter(|call| call.starts_with("update_container_resources"));
    assert_eq!(updates.next_back().expect("an update"), "update_container_resources container-2 204 20000 10485760");
}
