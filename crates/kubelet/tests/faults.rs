//! A pod's life with one fault in it: at each call of the runtime in turn, the call fails, hangs or
//! loses its answer, the runtime is killed, or the kubelet is. The pod ends where it would without
//! the fault, nothing runs twice and nothing is left. The calls are those of a life without a fault,
//! so that a new call is tested from the day it is made.

mod support;

use ferry_client::Client;
use ferry_kubelet::cri::double::RecordingRuntime;
use ferry_kubelet::cri::faulty::{Call, Fault, FaultyRuntime};
use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::api::FakeApi;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

const NODE: &str = "node-a";
/// Upstream waits ten seconds before it tries a failed start again, and a life may meet that twice.
const LIMIT: Duration = Duration::from_secs(60);
/// Lives at once; they mostly wait.
const AT_ONCE: usize = 24;

/// Calls that change nothing: a lost answer or a late death is no other than a failure or an early one.
const READS: &[&str] = &[
    "version",
    "status",
    "pod_sandbox_status",
    "list_pod_sandboxes",
    "container_status",
    "list_containers",
    "image_status",
    "list_images",
    "image_fs_info",
    "list_container_stats",
    "events",
];

/// Calls that no pod's life has: those of callers of the kubelet's server, of the collection of images
/// and of the rotation of logs. Each has a test of its own but `checkpoint_container`, which no runtime
/// here has: it answers Unimplemented.
const OF_OTHERS: &[&str] = &[
    "checkpoint_container",
    "exec",
    "attach",
    "port_forward",
    "list_container_stats",
    "reopen_container_log",
    "remove_image",
    "image_fs_info",
];

/// The lives that are gone through.
#[derive(Clone, Copy, Debug)]
enum Life {
    /// Init container, sidecar, hooks, a pulled image and one as a volume; resized, crashed, deleted.
    Serves,
    /// Runs once, without any restart.
    RunsOnce,
}

/// A machine and an API that outlive their kubelet.
struct World {
    name: String,
    api: FakeApi,
    runtime: Arc<FaultyRuntime>,
    directory: tempfile::TempDir,
    image: tempfile::TempDir,
    config: ferry_kubelet::Config,
    kubelet: Option<tokio::runtime::Runtime>,
}

impl World {
    fn new(name: String, fault: Option<(Call, Fault)>) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let image = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(image.path().join("data"), "x").expect("written");
        let inner = Arc::new(RecordingRuntime::default());
        inner.add_image("i:1");
        inner.unpack("v:1", image.path());
        let mut config = ferry_kubelet::Config::new(NODE, "192.0.2.1", directory.path(), "none");
        config.cgroup_root = format!("ferry-test-{name}-{}", std::process::id());
        let runtime = Arc::new(FaultyRuntime::new(inner, fault));
        Self { name, api: FakeApi::new(), runtime, directory, image, config, kubelet: None }
    }

    /// Starts a kubelet that has everything it does in a runtime of its own, so that it can be
    /// killed at any point.
    fn start(&mut self) {
        let own = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime for the kubelet");
        let client = Client::new(Arc::new(self.api.clone()), "kubelet");
        let (sender, receiver) = watch::channel(false);
        let run = ferry_kubelet::run_with_runtime(
            self.config.clone(),
            client,
            self.runtime.clone(),
            sender,
            CancellationToken::new(),
        );
        own.spawn(async move {
            let _held = receiver;
            run.await
        });
        self.kubelet = Some(own);
    }

    fn kill(&mut self) {
        if let Some(kubelet) = self.kubelet.take() {
            kubelet.shutdown_background();
        }
    }

    /// The same, and nothing of it acts any more; threads that wait for the kernel may be left.
    fn kill_and_wait(&mut self) {
        if let Some(kubelet) = self.kubelet.take() {
            tokio::task::block_in_place(|| kubelet.shutdown_timeout(Duration::from_secs(1)));
        }
    }

    fn create(&self, spec: Value) {
        let mut spec = spec;
        spec["nodeName"] = json!(NODE);
        let metadata = json!({ "namespace": "default", "name": "web", "generation": 1 });
        self.api.put("pods", json!({ "metadata": metadata, "spec": spec }));
    }

    fn describe(&self) -> String {
        let pod = self.api.get("pods", "default", "web");
        let status = pod.map(|pod| pod["status"].clone());
        let (events, calls) = (self.api.events("web"), self.runtime.inner.calls());
        format!("{}: {status:#?}\n{events:#?}\n{calls:#?}\nleft {:?}", self.name, self.runtime.inner.left())
    }

    /// Waits, and starts another kubelet when the fault has killed this one.
    async fn until(&mut self, what: &str, fault: Option<Fault>, check: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + LIMIT;
        let kills = matches!(fault, Some(Fault::KilledBefore | Fault::KilledAfter));
        let runtime = self.runtime.clone();
        let struck = runtime.struck();
        tokio::pin!(struck);
        let mut has_died = !kills;
        while !check(self) {
            assert!(Instant::now() < deadline, "{what} did not happen: {}", self.describe());
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
                () = &mut struck, if !has_died => {
                    has_died = true;
                    self.kill();
                    self.start();
                }
            }
        }
    }

    fn pod(&self) -> Value {
        self.api.get("pods", "default", "web").unwrap_or_default()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill();
        ferry_kubelet::cgroup::remove(&self.config.cgroup_root);
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let here = self.directory.path().to_string_lossy().into_owned();
        for point in table.lines().filter_map(|line| line.split(' ').nth(4)).filter(|at| at.starts_with(&here)) {
            let _ = nix::mount::umount2(point, nix::mount::MntFlags::MNT_DETACH);
        }
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    pod["status"]["phase"] == "Running"
        && conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn condition(pod: &Value, kind: &str) -> bool {
    pod["status"]["conditions"].as_array().is_some_and(|all| all.iter().any(|own| own["type"] == kind))
}

fn sized(cpu: &str) -> Value {
    json!({ "requests": { "cpu": cpu, "memory": "10Mi" }, "limits": { "cpu": cpu, "memory": "10Mi" } })
}

fn serving() -> Value {
    let exec = |word: &str| json!({ "exec": { "command": [word] } });
    let mounts = json!([{ "name": "v", "mountPath": "/v" }, { "name": "e", "mountPath": "/e" }]);
    json!({ "terminationGracePeriodSeconds": 7,
        "volumes": [{ "name": "v", "image": { "reference": "v:1" } }, { "name": "e", "emptyDir": {} }],
        "initContainers": [
            { "name": "setup", "image": "i:1", "resources": sized("50m") },
            { "name": "side", "image": "i:1", "restartPolicy": "Always", "resources": sized("50m") }],
        "containers": [{ "name": "main", "image": "m:1", "resources": sized("100m"), "volumeMounts": mounts,
            "lifecycle": { "postStart": exec("hello"), "preStop": exec("bye") },
            "readinessProbe": { "exec": { "command": ["ready"] }, "periodSeconds": 1, "failureThreshold": 1 } }] })
}

fn once() -> Value {
    json!({ "terminationGracePeriodSeconds": 7, "restartPolicy": "Never",
        "volumes": [{ "name": "e", "emptyDir": {} }],
        "initContainers": [{ "name": "setup", "image": "i:1" }],
        "containers": [{ "name": "main", "image": "m:1", "volumeMounts": [{ "name": "e", "mountPath": "/e" }] }] })
}

/// One life from its beginning to its end.
async fn live(world: &mut World, life: Life, fault: Option<Fault>) {
    let runtime = world.runtime.inner.clone();
    runtime.exit_after_start("setup", 0);
    match life {
        Life::Serves => {
            world.start();
            world.create(serving());
            world.until("ready", fault, |world| is_ready(&world.pod())).await;
            // In place, and without a restart.
            let mut wanted = world.pod();
            wanted["metadata"]["generation"] = json!(2);
            wanted["spec"]["containers"][0]["resources"] = sized("200m");
            world.api.put("pods", wanted);
            let is_resized = |world: &World| {
                let pod = world.pod();
                let updates = world.runtime.inner.calls();
                updates.iter().any(|call| call.starts_with("update_container_resources"))
                    && !condition(&pod, "PodResizeInProgress")
                    && !condition(&pod, "PodResizePending")
                    && pod["status"]["containerStatuses"][0]["allocatedResources"]["cpu"] == "200m"
            };
            world.until("resized", fault, is_resized).await;
            let before = world.pod()["status"]["containerStatuses"][0]["restartCount"].as_i64();
            runtime.exit("main", 1);
            let again = |world: &World| {
                let pod = world.pod();
                pod["status"]["containerStatuses"][0]["restartCount"].as_i64() > before && is_ready(&pod)
            };
            world.until("started again", fault, again).await;
        }
        Life::RunsOnce => {
            runtime.exit_after_start("main", 0);
            world.start();
            world.create(once());
            world.until("over", fault, |world| world.pod()["status"]["phase"] == "Succeeded").await;
            for name in ["setup", "main"] {
                assert_eq!(runtime.starts("web", name), 1, "{name} ran more than once: {}", world.describe());
            }
        }
    }
    world.api.delete_pod("default", "web", 5);
    world.until("gone", fault, |world| world.api.get("pods", "default", "web").is_none()).await;
    world.until("nothing left", fault, |world| world.runtime.inner.is_empty()).await;
    assert_eq!(runtime.doubled(), Vec::<String>::new(), "{}", world.describe());
    for directory in ["kubelet/pods", "logs"] {
        let left = || std::fs::read_dir(world.directory.path().join(directory)).into_iter().flatten().count();
        let deadline = Instant::now() + LIMIT;
        while left() > 0 {
            assert!(Instant::now() < deadline, "{directory} is not empty: {}", world.describe());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(world.image.path().join("data").exists(), "the image's own files stay");
}

/// The calls of a life without a fault.
async fn calls_of(life: Life) -> Vec<Call> {
    let mut world = World::new(format!("none-{life:?}").to_lowercase(), None);
    live(&mut world, life, None).await;
    world.runtime.calls()
}

/// The faults that differ at a call.
fn faults_at(verb: &str) -> Vec<Fault> {
    let is_read = READS.contains(&verb);
    Fault::ALL
        .into_iter()
        .filter(|fault| !(is_read && matches!(fault, Fault::LostAnswer | Fault::KilledAfter)))
        .collect()
}

async fn go_through(life: Life) {
    let calls = calls_of(life).await;
    let mut scenarios: Vec<(Call, Fault)> = Vec::new();
    for call in calls {
        scenarios.extend(faults_at(call.0).into_iter().map(|fault| (call, fault)));
    }
    let total = scenarios.len();
    let runs =
        futures_util::stream::iter(scenarios.into_iter().enumerate()).map(|(number, (call, fault))| async move {
            let mut world = World::new(format!("{life:?}{number}").to_lowercase(), Some((call, fault)));
            let done = AssertUnwindSafe(live(&mut world, life, Some(fault))).catch_unwind().await;
            let struck = world.runtime.has_struck();
            let why = done.err().map(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default()
            });
            (call, fault, struck, why)
        });
    let ended: Vec<_> = runs.buffer_unordered(AT_ONCE).collect().await;
    let failed: Vec<String> = ended
        .iter()
        .filter_map(|(call, fault, _, why)| why.as_ref().map(|why| format!("=== {fault:?} at {call:?}: {why}")))
        .collect();
    assert!(failed.is_empty(), "{} of {total} lives ended badly:\n{}", failed.len(), failed.join("\n"));
    // How often something is read varies; what is done does not.
    let missed: Vec<_> = ended.iter().filter(|(call, _, struck, _)| !struck && !READS.contains(&call.0)).collect();
    assert!(missed.is_empty(), "faults that never came: {missed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_serves_survives_a_fault_at_each_call() {
    go_through(Life::Serves).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_runs_once_runs_once_whatever_call_has_a_fault() {
    go_through(Life::RunsOnce).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_of_the_runtime_is_in_one_of_the_lives() {
    let source = include_str!("../src/cri/mod.rs");
    let verbs = source.lines().filter_map(|line| line.trim().strip_prefix("async fn ")?.split('(').next());
    let mut lived: Vec<&str> = Vec::new();
    for life in [Life::Serves, Life::RunsOnce] {
        lived.extend(calls_of(life).await.into_iter().map(|(verb, _)| verb));
    }
    let forgotten: Vec<&str> = verbs.filter(|verb| !lived.contains(verb) && !OF_OTHERS.contains(verb)).collect();
    assert_eq!(forgotten, Vec::<&str>::new());
}

/// Orphans are looked for once, at the start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_was_deleted_while_no_kubelet_ran_goes_although_the_first_list_fails() {
    for fault in [Fault::Failure, Fault::Hang, Fault::RuntimeKilled] {
        let mut world = World::new(format!("orphan-{fault:?}").to_lowercase(), None);
        world.start();
        world.create(json!({ "containers": [{ "name": "main", "image": "i:1" }] }));
        world.until("running", None, |world| world.pod()["status"]["phase"] == "Running").await;
        world.kill_and_wait();
        world.api.forget("pods", "default", "web");
        let inner = world.runtime.inner.clone();
        world.runtime = Arc::new(FaultyRuntime::new(inner, Some((("list_pod_sandboxes", 0), fault))));
        world.start();
        world.until("nothing left", None, |world| world.runtime.inner.is_empty()).await;
        assert!(world.runtime.has_struck());
    }
}
