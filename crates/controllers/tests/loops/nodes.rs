//! Nodes that die, under a clock that the test turns: found silent after the grace period, emptied
//! after the tolerations of their pods and at the pace of their zone, and left alone by a control
//! plane that was itself away.

use crate::harness::{has_event, new_api, paused_clock, start_with};
use crate::memory_api::MemoryApi;
use ferry_controllers::Config;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;

/// The kubelets of a cluster: Leases that are renewed every ten seconds, and pods that run.
struct Kubelets {
    api: MemoryApi,
    config: Config,
    alive: Arc<Mutex<BTreeSet<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Kubelets {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Kubelets {
    /// Registers the nodes, and beats for all of them.
    fn start(api: &MemoryApi, config: &Config, nodes: &[(String, &str)]) -> Self {
        for (name, zone) in nodes {
            api.create(
                "nodes",
                json!({"metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
                    "status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
            );
            api.create("leases", json!({"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": {}}));
        }
        let alive = Arc::new(Mutex::new(nodes.iter().map(|(name, _)| name.clone()).collect()));
        let task = tokio::spawn(beat(api.clone(), config.clone(), alive.clone()));
        Self { api: api.clone(), config: config.clone(), alive, task }
    }

    fn alive(&self) -> BTreeSet<String> {
        self.alive.lock().expect("no test panics here").clone()
    }

    fn die(&self, names: impl IntoIterator<Item = String>) {
        let names: Vec<String> = names.into_iter().collect();
        let mut alive = self.alive.lock().expect("no test panics here");
        alive.retain(|name| !names.contains(name));
    }

    /// The kubelet reports again, as it does first thing.
    fn come_back(&self, name: &str) {
        self.alive.lock().expect("no test panics here").insert(name.to_owned());
        let now = self.config.clock.now();
        self.api.edit("nodes", "", name, |node| {
            node["status"]["conditions"] = json!([{"type": "Ready", "status": "True", "lastHeartbeatTime": now}]);
        });
    }
}

async fn beat(api: MemoryApi, config: Config, alive: Arc<Mutex<BTreeSet<String>>>) {
    loop {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let names = alive.lock().expect("no test panics here").clone();
        for name in names {
            let now = config.clock.now();
            api.edit("leases", "kube-node-lease", &name, |lease| lease["spec"]["renewTime"] = json!(now));
        }
    }
}

/// Runs new pods on the living nodes, and takes deleted ones away. The clock moves on by seconds.
async fn play(api: &MemoryApi, kubelets: &Kubelets, seconds: u64) {
    for _ in 0..seconds {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let alive = kubelets.alive();
        for (at, pod) in api.list("pods").into_iter().enumerate() {
            let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
            if pod["spec"]["nodeName"].is_null() {
                let node = alive.iter().nth(at % alive.len().max(1)).expect("a node that lives").clone();
                api.edit("pods", "default", &name, |pod| {
                    pod["spec"]["nodeName"] = json!(node);
                    pod["status"] = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
                });
            }
        }
    }
}

fn tolerating(seconds: i64) -> Value {
    json!(["not-ready", "unreachable"].map(|name| json!({"key": format!("node.kubernetes.io/{name}"),
        "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds})))
}

fn replica_set(api: &MemoryApi, replicas: usize) {
    api.create(
        "replicasets",
        json!({"metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c"}], "tolerations": tolerating(300)}}}}),
    );
}

fn pods_on(api: &MemoryApi, node: &str) -> usize {
    api.list("pods").iter().filter(|pod| pod["spec"]["nodeName"] == node).count()
}

fn ready(api: &MemoryApi, node: &str) -> String {
    let node = api.get("nodes", "", node).unwrap_or_default();
    let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let ready = conditions.iter().find(|condition| condition["type"] == "Ready").cloned().unwrap_or_default();
    ready["status"].as_str().unwrap_or_default().to_owned()
}

/// The nodes that are being emptied.
fn emptied(api: &MemoryApi) -> usize {
    let has = |node: &Value| {
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        taints.iter().any(|taint| taint["effect"] == "NoExecute")
    };
    api.list("nodes").iter().filter(|node| has(node)).count()
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n:02}")).collect()
}

fn in_zone<'a>(names: &[String], zone: &'a str) -> Vec<(String, &'a str)> {
    names.iter().map(|name| (name.clone(), zone)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_dead_node_is_found_and_its_pods_are_replaced_elsewhere() {
    let api = new_api();
    let config = paused_clock();
    let kubelets = Kubelets::start(&api, &config, &in_zone(&names("n", 3), "z"));
    let _running = start_with(&api, config).0;
    replica_set(&api, 6);
    play(&api, &kubelets, 20).await;
    let before = pods_on(&api, "n00");
    assert!(before > 0 && api.list("pods").len() == 6);
    kubelets.die(["n00".to_owned()]);
    // The last beat was up to ten seconds ago, and the clock has whole seconds.
    play(&api, &kubelets, 38).await;
    assert_eq!((ready(&api, "n00"), emptied(&api)), ("True".to_owned(), 0), "within the grace period");
    play(&api, &kubelets, 16).await;
    assert_eq!((ready(&api, "n00"), emptied(&api)), ("Unknown".to_owned(), 1));
    assert_eq!(ready(&api, "n01"), "True");
    assert_eq!(pods_on(&api, "n00"), before, "pods tolerate for five minutes");
    let not_ready = api.list("pods").iter().filter(|pod| pod["status"]["conditions"][0]["status"] == "False").count();
    assert_eq!(not_ready, before, "nobody can vouch for the pods of the node");
    play(&api, &kubelets, 270).await;
    assert_eq!(pods_on(&api, "n00"), before, "their time is not over");
    play(&api, &kubelets, 40).await;
    assert_eq!((pods_on(&api, "n00"), api.list("pods").len()), (0, 6), "replaced elsewhere");
    assert!(has_event(&api, "TaintManagerEviction", "Marking for deletion Pod default/web-"));
    // The node comes back, and nothing of all this is left.
    kubelets.come_back("n00");
    play(&api, &kubelets, 5).await;
    assert_eq!((ready(&api, "n00"), emptied(&api)), ("True".to_owned(), 0));
}

#[tokio::test(start_paused = true)]
async fn a_zone_outage_slows_evictions_and_stops_them_in_a_small_zone() {
    let api = new_api();
    let config = paused_clock();
    let (large, small) = (names("large", 60), names("small", 10));
    let well = names("well", 5);
    let nodes = [in_zone(&large, "a"), in_zone(&small, "b"), in_zone(&well, "c")].concat();
    let kubelets = Kubelets::start(&api, &config, &nodes);
    let _running = start_with(&api, config).0;
    play(&api, &kubelets, 15).await;
    // Two thirds of each die at once: a network, more likely than so many machines.
    kubelets.die(large.iter().take(40).chain(small.iter().take(7)).cloned());
    play(&api, &kubelets, 70).await;
    assert_eq!((ready(&api, "large00"), ready(&api, "small00")), ("Unknown".to_owned(), "Unknown".to_owned()));
    let of_zone = |prefix: &str| {
        let nodes = api.list("nodes").into_iter().filter(|node| {
            let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
            node["metadata"]["name"].as_str().is_some_and(|name| name.starts_with(prefix))
                && taints.iter().any(|taint| taint["effect"] == "NoExecute")
        });
        nodes.count()
    };
    // The first of a zone may be tainted before the others are found silent.
    assert!(of_zone("large") <= 3 && of_zone("small") <= 3, "{} and {}", of_zone("large"), of_zone("small"));
    let (large_before, small_before) = (of_zone("large"), of_zone("small"));
    play(&api, &kubelets, 500).await;
    let more = of_zone("large") - large_before;
    assert!((4..=6).contains(&more), "one node each 100 seconds, and not {more} in 500");
    assert_eq!(of_zone("small"), small_before, "a small zone is not emptied any further");
    assert_eq!(of_zone("well"), 0);
    // When most of the zone is back, the rest goes at the usual pace of one in ten seconds.
    large.iter().take(30).for_each(|name| kubelets.come_back(name));
    play(&api, &kubelets, 110).await;
    assert_eq!(of_zone("large"), 10, "all that are still dead");
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_that_was_away_for_an_hour_evicts_nothing_that_came_back_with_it() {
    let api = new_api();
    let config = paused_clock();
    let kubelets = Kubelets::start(&api, &config, &in_zone(&names("n", 4), "z"));
    let running = start_with(&api, config.clone()).0;
    replica_set(&api, 8);
    play(&api, &kubelets, 20).await;
    let uids = |api: &MemoryApi| -> BTreeSet<String> {
        api.list("pods").iter().map(|pod| pod["metadata"]["uid"].as_str().expect("a uid").to_owned()).collect()
    };
    let before = uids(&api);
    assert_eq!(before.len(), 8);
    // One node has just been found silent when the control plane goes with all its nodes' beats.
    kubelets.die(["n00".to_owned()]);
    play(&api, &kubelets, 70).await;
    assert_eq!(emptied(&api), 1);
    kubelets.die(names("n", 4));
    drop(running);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    let _running = start_with(&api, config.clone()).0;
    // The kubelets find their server again within their beat.
    tokio::time::sleep(Duration::from_secs(12)).await;
    names("n", 4).iter().for_each(|name| kubelets.come_back(name));
    play(&api, &kubelets, 400).await;
    assert_eq!(uids(&api), before, "every pod is still there");
    assert_eq!(emptied(&api), 0);
    let away = config.clock.now().duration_since(Timestamp::from_second(crate::harness::BEGINNING).expect("a time"));
    assert!(away > SignedDuration::from_hours(1));
    // Nodes that do not come back are emptied all the same.
    kubelets.die(["n00".to_owned()]);
    play(&api, &kubelets, 400).await;
    assert_eq!(pods_on(&api, "n00"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_arrives_on_a_tainted_node_has_its_whole_time() {
    let api = new_api();
    let config = paused_clock();
    let kubelets = Kubelets::start(&api, &config, &in_zone(&names("n", 2), "z"));
    api.edit("nodes", "", "n00", |node| {
        node["spec"] =
            json!({"taints": [{"key": "maintenance", "effect": "NoExecute", "timeAdded": config.clock.now()}]});
    });
    let _running = start_with(&api, config.clone()).0;
    play(&api, &kubelets, 600).await;
    let now = config.clock.now();
    api.create(
        "pods",
        json!({"metadata": {"name": "late", "namespace": "default"}, "spec": {"nodeName": "n00", "containers": [],
            "tolerations": [{"key": "maintenance", "operator": "Exists", "tolerationSeconds": 60}]},
            "status": {"phase": "Running",
                "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": now}]}}),
    );
    play(&api, &kubelets, 50).await;
    assert_eq!(pods_on(&api, "n00"), 1);
    play(&api, &kubelets, 15).await;
    assert_eq!(pods_on(&api, "n00"), 0);
}
