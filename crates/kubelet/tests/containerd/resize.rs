//! In-place resize on real cgroups: containers and pods grow and shrink without a restart, or with
//! one where their policy asks for it; resizes that do not fit wait, over a new kubelet too.

use super::support::api::FakeApi;
use super::support::machine::{IMAGE, Machine};
use super::{Kubelet, LIMIT, assert_nothing_left, is_ready, pod, wait_for, wait_gone};
use crate::support::eventually;
use ferry_kubelet::cgroup::{self, CgroupValues, CpuWeight};
use serde_json::{Value, json};

fn amounts(cpu: &str, memory: &str) -> Value {
    json!({ "requests": { "cpu": cpu, "memory": memory }, "limits": { "cpu": cpu, "memory": memory } })
}

fn container(name: &str, resources: Value) -> Value {
    json!({ "name": name, "image": IMAGE, "args": ["pause"], "resources": resources })
}

/// Patches as `kubectl patch --subresource resize` does.
fn resize(api: &FakeApi, name: &str, edit: impl FnOnce(&mut Value)) -> i64 {
    let mut pod = api.get("pods", "default", name).expect("the pod is there");
    let generation = pod["metadata"]["generation"].as_i64().unwrap_or(1) + 1;
    pod["metadata"]["generation"] = json!(generation);
    edit(&mut pod["spec"]);
    api.put("pods", pod);
    generation
}

fn condition<'a>(pod: &'a Value, kind: &str) -> Option<&'a Value> {
    pod["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

/// Nothing is under way, and the status speaks of this generation.
fn is_settled(pod: &Value, generation: i64) -> bool {
    pod["status"]["observedGeneration"] == generation
        && condition(pod, "PodResizePending").is_none()
        && condition(pod, "PodResizeInProgress").is_none()
        && is_ready(pod)
}

fn status<'a>(pod: &'a Value, name: &str) -> &'a Value {
    let statuses = pod["status"]["containerStatuses"].as_array().expect("statuses");
    statuses.iter().find(|status| status["name"] == name).expect("a status")
}

struct Cgroups {
    root: String,
}

impl Cgroups {
    fn parent(&self, pod: &Value) -> String {
        let class = match pod["status"]["qosClass"].as_str() {
            Some("Guaranteed") => String::new(),
            class => format!("/{}", class.unwrap_or_default().to_lowercase()),
        };
        format!("/{}{class}/pod{}", self.root, pod["metadata"]["uid"].as_str().expect("a uid"))
    }

    fn of_pod(&self, pod: &Value) -> CgroupValues {
        cgroup::read(&self.parent(pod)).expect("the pod's cgroup")
    }

    fn of(&self, pod: &Value, name: &str) -> CgroupValues {
        let id = status(pod, name)["containerID"].as_str().and_then(|id| id.strip_prefix("containerd://"));
        cgroup::read(&format!("{}/{}", self.parent(pod), id.expect("an id"))).expect("the container's cgroup")
    }
}

/// Thousandths of a CPU as requests and limits, and mebibytes.
fn assert_values(values: CgroupValues, request: i64, limit: i64, mebibytes: i64) {
    assert!(values.has_shares(request * 1024 / 1000), "{values:?} has not the shares of {request}m");
    assert_eq!((values.cpu_quota, values.memory_limit), (Some(limit * 100), Some(mebibytes << 20)), "{values:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn containers_grow_and_shrink_in_place() {
    let machine = Machine::start("resize").await;
    let api = FakeApi::new();
    let config = machine.config("node-a");
    let cgroups = Cgroups { root: config.cgroup_root.clone() };
    let kubelet = Kubelet::start(&machine, &api).await;

    // One grows, one shrinks, one is restarted for its memory.
    let mut third = container("c3", amounts("100m", "50Mi"));
    third["resizePolicy"] = json!([{ "resourceName": "memory", "restartPolicy": "RestartContainer" }]);
    let all = json!([container("c1", amounts("100m", "50Mi")), container("c2", amounts("200m", "60Mi")), third]);
    api.put("pods", pod("web", json!({ "containers": all })));
    let web = wait_for(&api, "web", "ready", is_ready).await;
    assert_values(cgroups.of_pod(&web), 400, 400, 160);
    assert_eq!(web["status"]["allocatedResources"], json!({ "cpu": "400m", "memory": "160Mi" }));
    let generation = resize(&api, "web", |spec| {
        spec["containers"][0]["resources"] = amounts("300m", "80Mi");
        spec["containers"][1]["resources"] = amounts("100m", "40Mi");
        spec["containers"][2]["resources"] = amounts("150m", "70Mi");
    });
    let web = wait_for(&api, "web", "resized", |pod| is_settled(pod, generation)).await;
    for (name, cpu, mebibytes, restarts) in [("c1", 300, 80, 0), ("c2", 100, 40, 0), ("c3", 150, 70, 1)] {
        assert_values(cgroups.of(&web, name), cpu, cpu, mebibytes);
        let expected = amounts(&format!("{cpu}m"), &format!("{mebibytes}Mi"));
        assert_eq!(status(&web, name)["resources"], expected, "{name}");
        assert_eq!(status(&web, name)["allocatedResources"], expected["requests"], "{name}");
        assert_eq!(status(&web, name)["restartCount"], restarts, "{name}");
    }
    assert_values(cgroups.of_pod(&web), 550, 550, 190);
    assert_eq!(web["status"]["resources"]["limits"], json!({ "cpu": "550m", "memory": "190Mi" }));
    let events = api.events("web");
    for wanted in [
        "ResizeStarted: Pod resize started: {\"containers\":[{\"name\":\"c1\",",
        "ResizeCompleted: Pod resize completed: {",
    ] {
        assert!(events.iter().any(|event| event.starts_with(wanted)), "{wanted}: {events:#?}");
    }
    assert!(events.contains(&"Killing: Container c3 resize requires restart".to_owned()), "{events:#?}");

    // A limit below what is used is refused, and tried again.
    let generation = resize(&api, "web", |spec| spec["containers"][0]["resources"] = amounts("300m", "4Ki"));
    let failed = |pod: &Value| condition(pod, "PodResizeInProgress").is_some_and(|found| found["reason"] == "Error");
    let web = wait_for(&api, "web", "refused", failed).await;
    let message = condition(&web, "PodResizeInProgress").expect("in progress")["message"].as_str().expect("a message");
    assert!(
        message.starts_with("cannot decrease memory limits: attempting to set container \"c1\" memory limit (4096)"),
        "{message}"
    );
    assert_values(cgroups.of(&web, "c1"), 300, 300, 80);
    assert_eq!(status(&web, "c1")["resources"]["limits"]["memory"], "80Mi", "the limit that it has");
    assert_eq!(status(&web, "c1")["allocatedResources"]["memory"], "4Ki");
    assert_eq!(condition(&web, "PodResizeInProgress").expect("in progress")["observedGeneration"], generation);
    let generation = resize(&api, "web", |spec| spec["containers"][0]["resources"] = amounts("300m", "90Mi"));
    let web = wait_for(&api, "web", "resized after all", |pod| is_settled(pod, generation)).await;
    assert_values(cgroups.of(&web, "c1"), 300, 300, 90);

    api.delete_pod("default", "web", 0);
    wait_gone(&api, "web").await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resize_that_does_not_fit_waits_for_room() {
    let machine = Machine::start("deferred").await;
    let api = FakeApi::new();
    let cgroups = Cgroups { root: machine.config("node-a").cgroup_root };
    let kubelet = Kubelet::start(&machine, &api).await;
    let node = api.get("nodes", "", "node-a").expect("the node");
    let text = node["status"]["allocatable"]["cpu"].as_str().expect("cpus").to_owned();
    let capacity: i64 =
        text.parse::<i64>().map_or_else(|_| text.trim_end_matches('m').parse().expect("cpus"), |n| n * 1000);

    let big = json!({ "requests": { "cpu": format!("{}m", capacity - 300) } });
    let small = json!({ "requests": { "cpu": "100m" }, "limits": { "memory": "40Mi" } });
    api.put("pods", pod("big", json!({ "containers": [container("c", big)] })));
    wait_for(&api, "big", "ready", is_ready).await;
    api.put("pods", pod("small", json!({ "containers": [container("c", small)] })));
    wait_for(&api, "small", "ready", is_ready).await;
    let generation =
        resize(&api, "small", |spec| spec["containers"][0]["resources"]["requests"]["cpu"] = json!("400m"));
    let deferred = |pod: &Value| condition(pod, "PodResizePending").is_some_and(|found| found["reason"] == "Deferred");
    let small = wait_for(&api, "small", "deferred", deferred).await;
    let found = condition(&small, "PodResizePending").expect("pending");
    let used = capacity - 300;
    let message = format!("Node didn't have enough resource: cpu, requested: 400, used: {used}, capacity: {capacity}");
    assert_eq!((found["message"].as_str(), &found["observedGeneration"]), (Some(message.as_str()), &json!(generation)));
    assert_eq!(status(&small, "c")["allocatedResources"]["cpu"], "100m");
    assert!(cgroups.of(&small, "c").has_shares(102), "{:?}", cgroups.of(&small, "c"));

    // A new kubelet keeps to the allocation and not to the spec.
    kubelet.stop().await;
    let kubelet = Kubelet::start(&machine, &api).await;
    let small = wait_for(&api, "small", "still deferred", deferred).await;
    assert_eq!(status(&small, "c")["allocatedResources"]["cpu"], "100m");

    // The room of a pod that goes is given to the one that waits.
    api.delete_pod("default", "big", 0);
    wait_gone(&api, "big").await;
    let small = wait_for(&api, "small", "resized", |pod| is_settled(pod, generation)).await;
    assert_eq!(status(&small, "c")["allocatedResources"]["cpu"], "400m");
    assert_eq!(status(&small, "c")["restartCount"], 0);
    eventually("the new shares", LIMIT, || match cgroups.of(&small, "c") {
        values if values.has_shares(409) => Ok(()),
        values => Err(format!("{values:?}")),
    })
    .await;

    api.delete_pod("default", "small", 0);
    wait_gone(&api, "small").await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_has_resources_as_a_whole() {
    let machine = Machine::start("podlevel").await;
    let api = FakeApi::new();
    let cgroups = Cgroups { root: machine.config("node-a").cgroup_root };
    let kubelet = Kubelet::start(&machine, &api).await;
    let spec = json!({ "resources": amounts("200m", "64Mi"), "containers": [
        container("a", json!({ "requests": { "cpu": "100m" } })), container("b", json!({ "limits": { "memory": "32Mi" } }))] });
    api.put("pods", pod("whole", spec));
    let whole = wait_for(&api, "whole", "ready", is_ready).await;
    assert_eq!(whole["status"]["qosClass"], "Guaranteed");
    assert_values(cgroups.of_pod(&whole), 200, 200, 64);
    assert_eq!(
        (cgroups.of(&whole, "a").memory_limit, cgroups.of(&whole, "b").memory_limit),
        (Some(64 << 20), Some(32 << 20))
    );
    assert_eq!(whole["status"]["resources"], amounts("200m", "64Mi"));
    let generation = resize(&api, "whole", |spec| spec["resources"] = amounts("300m", "96Mi"));
    let whole = wait_for(&api, "whole", "resized", |pod| is_settled(pod, generation)).await;
    assert_values(cgroups.of_pod(&whole), 300, 300, 96);
    let a = cgroups.of(&whole, "a");
    assert_eq!((a.memory_limit, a.cpu_quota), (Some(96 << 20), Some(30_000)));
    assert!(matches!(a.cpu, Some(CpuWeight::Shares(102) | CpuWeight::Weight(_))), "{a:?}");
    assert_eq!(cgroups.of(&whole, "b").memory_limit, Some(32 << 20));
    assert_eq!(whole["status"]["resources"], amounts("300m", "96Mi"));
    assert_eq!(whole["status"]["allocatedResources"], amounts("300m", "96Mi")["requests"]);
    api.delete_pod("default", "whole", 0);
    wait_gone(&api, "whole").await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
