//! A node that runs short of memory, processes, disk and inodes, each in a cgroup or a filesystem of
//! its own: the right pod goes first, in upstream's words, and the node recovers.

use super::*;
use ferry_kubelet::Config;
use nix::mount::{MsFlags, mount};
use std::time::Instant;

const MB: u64 = 1 << 20;

/// The node's memory and processes are those of the pods' cgroup, and only these thresholds hold.
fn config(machine: &Machine, hard: &[(&str, &str)]) -> Config {
    let mut config = machine.config(NODE);
    config.settings.boundary.cgroup = format!("/{}", machine.cgroup());
    let eviction = &mut config.settings.eviction;
    eviction.eviction_hard = hard.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    eviction.eviction_pressure_transition_period = Duration::from_secs(6);
    // The cgroup of all pods is this test's node, whose limit is the test's own.
    let mut configuration = (*config.configuration).clone();
    configuration.enforce_node_allocatable.clear();
    config.configuration = configuration.into();
    config
}

fn with(name: &str, args: &[&str], more: Value) -> Value {
    let mut spec = json!({ "containers": [container("c", args)], "volumes": [{ "name": "v", "emptyDir": {} }] });
    spec["containers"][0]["volumeMounts"] = json!([{ "name": "v", "mountPath": "/v" }]);
    for (key, value) in more.as_object().expect("an object") {
        match key.as_str() {
            "resources" => spec["containers"][0]["resources"] = value.clone(),
            "sizeLimit" => spec["volumes"][0]["emptyDir"]["sizeLimit"] = value.clone(),
            _ => spec[key] = value.clone(),
        }
    }
    pod(name, spec)
}

async fn running(api: &FakeApi, name: &str) -> Value {
    wait_for(api, name, "running", |pod| first(pod)["state"]["running"].is_object()).await
}

async fn evicted(api: &FakeApi, name: &str) -> Value {
    let pod = wait_for(api, name, "evicted", |pod| pod["status"]["phase"] == "Failed").await;
    assert_eq!(pod["status"]["reason"], "Evicted", "{pod:#}");
    pod
}

fn message(pod: &Value) -> &str {
    pod["status"]["message"].as_str().unwrap_or_default()
}

fn condition<'a>(object: &'a Value, kind: &str) -> &'a Value {
    let conditions = object["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    conditions.iter().find(|condition| condition["type"] == kind).unwrap_or(&Value::Null)
}

async fn node_condition(api: &FakeApi, kind: &str, status: &str) {
    eventually(&format!("{kind} is {status}"), LIMIT, || {
        let node = api.get("nodes", "", NODE).ok_or("no node")?;
        if condition(&node, kind)["status"] == status { Ok(()) } else { Err(format!("{:#}", condition(&node, kind))) }
    })
    .await;
}

/// Ended by the node for another's sake, with nothing left that takes room.
async fn assert_disrupted(machine: &Machine, pod: &Value) {
    let target = condition(pod, "DisruptionTarget");
    assert_eq!((&target["status"], &target["reason"]), (&json!("True"), &json!("TerminationByKubelet")), "{pod:#}");
    assert_eq!(target["message"], pod["status"]["message"]);
    assert_eq!(condition(pod, "Ready")["status"], "False");
    assert_eq!(first(pod)["state"]["terminated"]["exitCode"], 137, "{pod:#}");
    let uid = pod["metadata"]["uid"].as_str().expect("a uid");
    let volumes = machine.directory.join("kubelet/pods").join(uid).join("volumes");
    eventually("its volumes go", LIMIT, || if volumes.exists() { Err(String::new()) } else { Ok(()) }).await;
}

async fn delete_all(api: &FakeApi, names: &[&str]) {
    for name in names {
        api.delete_pod("default", name, 0);
    }
    for name in names {
        wait_gone(api, name).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_goes_from_the_pod_that_took_most_beyond_its_request() {
    let machine = Machine::start("memory").await;
    let limit = machine.cgroup_directory("memory").join("memory.limit_in_bytes");
    let limit = if limit.exists() { limit } else { machine.cgroup_directory("memory").join("memory.max") };
    std::fs::write(limit, (400 * MB).to_string()).expect("a limit for the node");
    let api = FakeApi::new();
    let kubelet = Kubelet::start_with(config(&machine, &[("memory.available", "120Mi")]), &api).await;
    node_condition(&api, "MemoryPressure", "False").await;

    let requests = json!({ "resources": { "requests": { "memory": "150Mi" } } });
    api.put("pods", with("within", &["hold", "100"], requests));
    api.put("pods", with("small", &["hold", "20"], json!({})));
    api.put("pods", with("needed", &["hold", "30"], json!({ "priority": 2_000_000_000 })));
    for name in ["within", "small", "needed"] {
        running(&api, name).await;
    }
    let before = Instant::now();
    api.put("pods", with("large", &["hold", "150"], json!({})));
    let large = evicted(&api, "large").await;
    eprintln!("evicted {:?} after its creation", before.elapsed());
    let (start, end) = (
        "The node was low on resource: memory. Threshold quantity: 120Mi, available: ",
        ", request is 0, has larger consumption of memory. ",
    );
    assert!(message(&large).starts_with(start) && message(&large).ends_with(end), "{large:#}");
    assert!(message(&large).contains(". Container c was using "), "{large:#}");
    assert_disrupted(&machine, &large).await;
    let event = api.list("events").into_iter().find(|event| event["reason"] == "Evicted").expect("an event");
    assert_eq!(event["metadata"]["annotations"]["starved_resource"], "memory", "{event:#}");
    assert_eq!(event["metadata"]["annotations"]["offending_containers"], "c");
    assert!(api.events(NODE).contains(&"EvictionThresholdMet: Attempting to reclaim memory".to_owned()));

    // The node says so, and takes no pod that may use any amount, until it has recovered.
    api.put("pods", with("late", &["pause"], json!({})));
    let late = evicted(&api, "late").await;
    assert_eq!(message(&late), "Pod was rejected: The node had condition: [MemoryPressure]. ");
    node_condition(&api, "MemoryPressure", "False").await;
    let events = api.events(NODE);
    assert!(events.iter().any(|event| event.starts_with("NodeHasInsufficientMemory: ")), "{events:#?}");
    for name in ["within", "small", "needed"] {
        let pod = api.get("pods", "default", name).expect("the pod");
        assert!(first(&pod)["state"]["running"].is_object(), "{name} runs on: {pod:#}");
    }

    // Beyond its own limit a container is the kernel's to end, and no other's concern.
    let limits = json!({ "restartPolicy": "Never", "resources": { "limits": { "memory": "20Mi" } } });
    api.put("pods", with("greedy", &["hold", "40"], limits));
    let greedy = wait_for(&api, "greedy", "ended", |pod| pod["status"]["phase"] == "Failed").await;
    let end = &first(&greedy)["state"]["terminated"];
    assert_eq!((&end["reason"], &end["exitCode"]), (&json!("OOMKilled"), &json!(137)), "{greedy:#}");

    delete_all(&api, &["within", "small", "needed", "large", "late", "greedy"]).await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_go_with_the_pod_of_the_lowest_priority_that_has_most() {
    let machine = Machine::start("pids").await;
    std::fs::write(machine.cgroup_directory("pids").join("pids.max"), "300").expect("a limit for the node");
    let api = FakeApi::new();
    let kubelet = Kubelet::start_with(config(&machine, &[("pid.available", "100")]), &api).await;
    api.put("pods", with("important", &["threads", "90"], json!({ "priority": 1000 })));
    api.put("pods", with("few", &["threads", "10"], json!({})));
    for name in ["important", "few"] {
        running(&api, name).await;
    }
    api.put("pods", with("many", &["threads", "110"], json!({})));
    let many = evicted(&api, "many").await;
    let start = "The node was low on resource: pids. Threshold quantity: 100, available: ";
    assert!(message(&many).starts_with(start), "{many:#}");
    assert_disrupted(&machine, &many).await;
    node_condition(&api, "PIDPressure", "True").await;
    node_condition(&api, "PIDPressure", "False").await;
    for name in ["important", "few"] {
        let pod = api.get("pods", "default", name).expect("the pod");
        assert!(first(&pod)["state"]["running"].is_object(), "{name} runs on: {pod:#}");
    }
    delete_all(&api, &["important", "few", "many"]).await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disk_and_inodes_go_from_the_pod_that_took_most() {
    let machine = Machine::start("disk").await;
    let root = machine.directory.join("kubelet");
    std::fs::create_dir_all(&root).expect("made");
    mount(Some("tmpfs"), &root, Some("tmpfs"), MsFlags::empty(), Some("size=64m,nr_inodes=4000")).expect("mounted");
    let api = FakeApi::new();
    let hard = [("nodefs.available", "20%"), ("nodefs.inodesFree", "25%")];
    let kubelet = Kubelet::start_with(config(&machine, &hard), &api).await;

    let requests = json!({ "resources": { "requests": { "ephemeral-storage": "30Mi" } } });
    api.put("pods", with("within", &["fill", "/v/file", "12"], requests));
    api.put("pods", with("small", &["fill", "/v/file", "4"], json!({})));
    for name in ["within", "small"] {
        running(&api, name).await;
    }
    api.put("pods", with("large", &["fill", "/v/file", "42"], json!({})));
    let large = evicted(&api, "large").await;
    let start = "The node was low on resource: ephemeral-storage. Threshold quantity: 13421773, available: ";
    assert!(message(&large).starts_with(start), "{large:#}");
    assert_disrupted(&machine, &large).await;
    node_condition(&api, "DiskPressure", "True").await;
    node_condition(&api, "DiskPressure", "False").await;

    api.put("pods", with("files", &["files", "/v", "3200"], json!({})));
    let files = evicted(&api, "files").await;
    let start = "The node was low on resource: inodes. Threshold quantity: 1k, available: ";
    assert!(message(&files).starts_with(start), "{files:#}");
    node_condition(&api, "DiskPressure", "False").await;
    for name in ["within", "small"] {
        let pod = api.get("pods", "default", name).expect("the pod");
        assert!(first(&pod)["state"]["running"].is_object(), "{name} runs on: {pod:#}");
    }
    delete_all(&api, &["within", "small", "large", "files"]).await;
    kubelet.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn local_storage_is_limited_by_volume_by_pod_and_by_container() {
    let machine = Machine::start("limits").await;
    let api = FakeApi::new();
    // The filesystem of the machine under test may be as full as it likes.
    let kubelet = Kubelet::start_with(config(&machine, &[("pid.available", "1")]), &api).await;
    let limit = |amount: &str| json!({ "limits": { "ephemeral-storage": amount } });
    api.put("pods", with("fits", &["fill", "/v/file", "1"], json!({ "sizeLimit": "3Mi", "resources": limit("9Mi") })));
    api.put("pods", with("volume", &["fill", "/v/file", "3"], json!({ "sizeLimit": "2Mi" })));
    api.put("pods", with("pod", &["fill", "/v/file", "3"], json!({ "resources": limit("2Mi") })));
    let mut two = with("layer", &["fill", "/file", "3"], json!({ "resources": limit("2Mi") }));
    let mut other = container("other", &["pause"]);
    other["resources"] = limit("100Mi");
    two["spec"]["containers"].as_array_mut().expect("a list").push(other);
    api.put("pods", two);
    let mut talks = with("logs", &["shout", "3000"], json!({ "resources": limit("2Mi") }));
    let other = api.get("pods", "default", "layer").expect("the pod")["spec"]["containers"][1].clone();
    talks["spec"]["containers"].as_array_mut().expect("a list").push(other);
    api.put("pods", talks);
    for (name, expected) in [
        ("volume", "Usage of EmptyDir volume \"v\" exceeds the limit \"2Mi\". "),
        ("pod", "Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. "),
        ("layer", "Container c exceeded its local ephemeral storage limit \"2Mi\". "),
        ("logs", "Container c exceeded its local ephemeral storage limit \"2Mi\". "),
    ] {
        let pod = evicted(&api, name).await;
        assert_eq!(message(&pod), expected, "{name}");
        assert_eq!(condition(&pod, "DisruptionTarget"), &Value::Null, "it is its own doing");
    }
    let fits = api.get("pods", "default", "fits").expect("the pod");
    assert!(first(&fits)["state"]["running"].is_object(), "{fits:#}");
    delete_all(&api, &["fits", "volume", "pod", "layer", "logs"]).await;
    assert_nothing_left(&machine);
    kubelet.stop().await;
}
