//! The whole scheduler against an API that a test plays: what it binds, what it tells
//! pods that cannot be bound, and what wakes them.

use async_trait::async_trait;
use bytes::Bytes;
use ferry_client::{Body, BoxError, Client, Informers, Transport, full_body, read_body};
use ferry_scheduler::{Configuration, Options};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Lists what the test put in, keeps watches open, and hands every write to the test.
struct FakeApi {
    lists: BTreeMap<&'static str, Vec<Value>>,
    watches: Mutex<BTreeMap<String, mpsc::UnboundedSender<Bytes>>>,
    writes: mpsc::UnboundedSender<(String, Value)>,
    version: AtomicU64,
}

const CLAIMS: &str = "/apis/resource.k8s.io/v1/resourceclaims";

#[async_trait]
impl Transport for FakeApi {
    async fn send(&self, request: http::Request<Body>) -> Result<http::Response<Body>, BoxError> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path().to_owned();
        if parts.method == http::Method::GET {
            if parts.uri.query().is_some_and(|query| query.contains("watch=true")) {
                let (sender, receiver) = mpsc::unbounded_channel();
                self.watches.lock().insert(path, sender);
                let frames = futures_util::stream::unfold(receiver, |mut receiver| async {
                    let line = receiver.recv().await?;
                    Some((Ok::<_, BoxError>(Frame::data(line)), receiver))
                });
                return Ok(http::Response::new(StreamBody::new(frames).boxed_unsync()));
            }
            let items = self.lists.get(path.as_str()).cloned().unwrap_or_default();
            let list = json!({"metadata": {"resourceVersion": "1"}, "items": items});
            return Ok(http::Response::new(full_body(list.to_string())));
        }
        let sent: Value = serde_json::from_slice(&read_body(body).await?)?;
        if let Some(pod) = path.strip_suffix("/binding") {
            self.tell("/api/v1/pods", "MODIFIED", bound(pod, &sent));
        }
        let mut answer = if path.ends_with("/status") { json!({"metadata": {}}) } else { sent.clone() };
        if path.contains("/resourceclaims/") {
            answer = sent.clone();
            let version = self.version.fetch_add(1, Ordering::Relaxed);
            answer["metadata"]["resourceVersion"] = version.to_string().into();
            self.tell(CLAIMS, "MODIFIED", answer.clone());
        }
        self.writes.send((format!("{} {path}", parts.method), sent))?;
        Ok(http::Response::new(full_body(answer.to_string())))
    }
}

fn bound(path: &str, binding: &Value) -> Value {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut pod = pod(name, "default-scheduler", "1");
    // The app that its name begins with.
    pod["metadata"]["labels"] = json!({"app": name.split('-').next()});
    pod["spec"]["nodeName"] = binding["target"]["name"].clone();
    pod
}

impl FakeApi {
    fn tell(&self, path: &str, kind: &str, object: Value) {
        let line = format!("{}\n", json!({"type": kind, "object": object}));
        if let Some(watch) = self.watches.lock().get(path) {
            let _ = watch.send(line.into());
        }
    }
}

fn pod(name: &str, scheduler: &str, cpu: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "default", "uid": name, "resourceVersion": "1"},
        "spec": {"schedulerName": scheduler, "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Pending"},
    })
}

fn node(name: &str, cpu: &str) -> Value {
    json!({
        "metadata": {"name": name, "resourceVersion": "1"},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    })
}

struct World {
    api: Arc<FakeApi>,
    writes: mpsc::UnboundedReceiver<(String, Value)>,
    shutdown: CancellationToken,
}

impl World {
    fn start(nodes: Vec<Value>, pods: Vec<Value>) -> Self {
        Self::start_with(nodes, pods, Options::default())
    }

    fn start_with(nodes: Vec<Value>, pods: Vec<Value>, options: Options) -> Self {
        Self::start_over(BTreeMap::from([("/api/v1/nodes", nodes), ("/api/v1/pods", pods)]), options)
    }

    fn start_over(lists: BTreeMap<&'static str, Vec<Value>>, options: Options) -> Self {
        let (sender, writes) = mpsc::unbounded_channel();
        let api = FakeApi { lists, watches: Mutex::default(), writes: sender, version: AtomicU64::new(100) };
        let api = Arc::new(api);
        let shutdown = CancellationToken::new();
        let client = Client::new(api.clone(), "kube-scheduler");
        let informers = Informers::with_shutdown(client.clone(), shutdown.clone());
        tokio::spawn(ferry_scheduler::run_with(client, informers, options, shutdown.clone()));
        Self { api, writes, shutdown }
    }

    /// The first write that `wanted` takes; those before it are passed over.
    async fn expect<T>(&mut self, what: &str, wanted: impl Fn(&str, &Value) -> Option<T>) -> T {
        let found = async {
            loop {
                let (request, body) = self.writes.recv().await.expect("the scheduler runs");
                if let Some(found) = wanted(&request, &body) {
                    return found;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(30), found).await.unwrap_or_else(|_| panic!("{what} does not come"))
    }

    async fn expect_event(&mut self, reason: &str) -> String {
        self.expect(reason, |request, body| {
            (request == "POST /api/v1/namespaces/default/events" && body["reason"] == reason)
                .then(|| body["message"].as_str().unwrap_or_default().to_owned())
        })
        .await
    }

    async fn expect_binding(&mut self, pod: &str) -> String {
        let path = format!("POST /api/v1/namespaces/default/pods/{pod}/binding");
        self.expect(&path.clone(), |request, body| {
            (request == path).then(|| body["target"]["name"].as_str().unwrap_or_default().to_owned())
        })
        .await
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.shutdown.cancel();
    }
}

#[tokio::test]
async fn a_pod_is_bound_and_says_so() {
    let pods = vec![pod("foreign", "other-scheduler", "1"), pod("web", "default-scheduler", "1")];
    let mut world = World::start(vec![node("node-a", "4")], pods);
    // The first binding is web's: the other pod is not ours.
    let (request, node) = world
        .expect("a binding", |request, body| {
            request.ends_with("/binding").then(|| (request.to_owned(), body["target"]["name"].clone()))
        })
        .await;
    assert_eq!(request, "POST /api/v1/namespaces/default/pods/web/binding");
    assert_eq!(node, "node-a");
    assert_eq!(world.expect_event("Scheduled").await, "Successfully assigned default/web to node-a");
}

#[tokio::test]
async fn a_pod_that_fits_nowhere_is_told_and_woken_by_a_node_that_fits() {
    let mut world = World::start(vec![node("small", "4")], vec![pod("web", "default-scheduler", "8")]);
    let message = "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
    let condition = world
        .expect("a condition", |request, body| {
            (request == "PATCH /api/v1/namespaces/default/pods/web/status")
                .then(|| body["status"]["conditions"][0].clone())
        })
        .await;
    assert_eq!(
        (&condition["type"], &condition["status"], &condition["reason"]),
        (&json!("PodScheduled"), &json!("False"), &json!("Unschedulable"))
    );
    assert_eq!(condition["message"], message);
    world.api.tell("/api/v1/nodes", "ADDED", node("large", "16"));
    assert_eq!(world.expect_binding("web").await, "large");
}

#[tokio::test]
async fn pods_do_not_overbook_a_node_while_bindings_are_under_way() {
    let pods = (0..3).map(|n| pod(&format!("web-{n}"), "default-scheduler", "1")).collect();
    let mut world = World::start(vec![node("a", "1"), node("b", "1"), node("c", "1")], pods);
    let mut used = Vec::new();
    // Bindings run side by side, so they come in any order.
    while used.len() < 3 {
        used.push(
            world
                .expect("a binding", |request, body| {
                    request
                        .ends_with("/binding")
                        .then(|| body["target"]["name"].as_str().unwrap_or_default().to_owned())
                })
                .await,
        );
    }
    used.sort();
    assert_eq!(used, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_pod_waits_for_the_one_it_wants_to_be_near() {
    let term = json!({"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "zone"});
    let mut near = pod("near", "default-scheduler", "1");
    near["spec"]["affinity"] = json!({"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    let in_zone = |name: &str, zone: &str| {
        let mut node = node(name, "4");
        node["metadata"]["labels"] = json!({"zone": zone});
        node
    };
    let mut world = World::start(vec![in_zone("a", "east"), in_zone("b", "west")], vec![near]);
    let message = world.expect_event("FailedScheduling").await;
    assert_eq!(
        message,
        "0/2 nodes are available: 2 node(s) didn't match pod affinity rules. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
    );
    let mut db = pod("db", "default-scheduler", "1");
    db["metadata"]["labels"] = json!({"app": "db"});
    db["spec"]["nodeName"] = "b".into();
    world.api.tell("/api/v1/pods", "ADDED", db);
    assert_eq!(world.expect_binding("near").await, "b");
}

#[tokio::test]
async fn a_pod_is_scheduled_by_the_profile_that_it_names() {
    let text = r#"{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [
        {"schedulerName": "default-scheduler"},
        {"schedulerName": "packing", "pluginConfig": [
            {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}}]}]}"#;
    let options = Options { configuration: Configuration::parse(text).expect("a configuration"), ..Options::default() };
    let decisions = options.decisions.clone();
    let mut busy = pod("busy", "default-scheduler", "2");
    busy["spec"]["nodeName"] = "a".into();
    let pods =
        vec![busy, pod("foreign", "other", "1"), pod("spread", "default-scheduler", "1"), pod("pack", "packing", "1")];
    let mut world = World::start_with(vec![node("a", "4"), node("b", "4")], pods, options);
    let mut bound = BTreeMap::new();
    while bound.len() < 2 {
        let (name, node) = world
            .expect("a binding", |request, body| {
                let name = request.strip_suffix("/binding")?.rsplit('/').next()?.to_owned();
                Some((name, body["target"]["name"].as_str()?.to_owned()))
            })
            .await;
        bound.insert(name, node);
    }
    assert_eq!(bound, BTreeMap::from([("pack".to_owned(), "a".to_owned()), ("spread".to_owned(), "b".to_owned())]));
    let kept = decisions.render(Some(("default", "pack")));
    assert_eq!(kept["decisions"][0]["node"], "a");
}

#[tokio::test]
async fn a_more_important_pod_preempts_once_and_takes_the_place() {
    let mut low = pod("low", "default-scheduler", "4");
    low["spec"]["nodeName"] = "a".into();
    let mut high = pod("high", "default-scheduler", "4");
    high["spec"]["priority"] = 10.into();
    let mut world = World::start(vec![node("a", "4")], vec![low.clone(), high]);
    let victim = world
        .expect("the victim's condition", |request, body| {
            (request == "PATCH /api/v1/namespaces/default/pods/low/status")
                .then(|| body["status"]["conditions"][0]["reason"].clone())
        })
        .await;
    assert_eq!(victim, "PreemptionByScheduler");
    world
        .expect("the victim's end", |request, _| {
            (request == "DELETE /api/v1/namespaces/default/pods/low").then_some(())
        })
        .await;
    world.api.tell("/api/v1/pods", "DELETED", low);
    assert_eq!(world.expect_binding("high").await, "a");
}

fn claiming(name: &str) -> Value {
    let mut pod = pod(name, "default-scheduler", "1");
    pod["spec"]["resourceClaims"] = json!([{"name": "gpu", "resourceClaimName": name}]);
    pod
}

fn claim(name: &str) -> Value {
    let exactly = json!({"deviceClassName": "gpus", "allocationMode": "ExactCount", "count": 1});
    json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"), "resourceVersion": "1"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
    })
}

#[tokio::test]
async fn a_pod_is_bound_when_its_claim_has_devices_and_a_freed_device_goes_to_the_next() {
    let class = json!({"metadata": {"name": "gpus", "resourceVersion": "1"},
        "spec": {"selectors": [{"cel": {"expression": "device.driver == 'd'"}}]}});
    let slice = json!({"metadata": {"name": "s", "resourceVersion": "1"}, "spec": {"driver": "d", "nodeName": "a",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "gpu-0"}]}});
    let lists = BTreeMap::from([
        ("/api/v1/nodes", vec![node("a", "4"), node("b", "4")]),
        ("/api/v1/pods", vec![claiming("one")]),
        (CLAIMS, vec![claim("one")]),
        ("/apis/resource.k8s.io/v1/resourceslices", vec![slice]),
        ("/apis/resource.k8s.io/v1/deviceclasses", vec![class]),
    ]);
    let mut world = World::start_over(lists, Options::default());
    let path = "PUT /apis/resource.k8s.io/v1/namespaces/default/resourceclaims/one";
    let finalizers = world
        .expect("the finalizer", |request, body| (request == path).then(|| body["metadata"]["finalizers"].clone()))
        .await;
    assert_eq!(finalizers, json!(["resource.kubernetes.io/delete-protection"]));
    let written =
        world.expect("the allocation", |request, body| (request == format!("{path}/status")).then(|| body.clone()));
    let written = written.await;
    let result = json!([{"request": "r", "driver": "d", "pool": "p", "device": "gpu-0"}]);
    assert_eq!(written["status"]["allocation"]["devices"]["results"], result);
    assert_eq!(written["status"]["reservedFor"], json!([{"resource": "pods", "name": "one", "uid": "one"}]));
    assert!(written["status"]["allocation"]["allocationTimestamp"].is_string());
    assert_eq!(world.expect_binding("one").await, "a");

    // The second pod is kept out until its claim is there, and waits for the device then.
    world.api.tell("/api/v1/pods", "ADDED", claiming("two"));
    world.api.tell(CLAIMS, "ADDED", claim("two"));
    let reason = world.expect_event("FailedScheduling").await;
    let expected = "0/2 nodes are available: 2 cannot allocate all claims. still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    assert_eq!(reason, expected);
    let mut freed = written;
    freed["status"] = json!({});
    freed["metadata"]["resourceVersion"] = "200".into();
    world.api.tell(CLAIMS, "MODIFIED", freed);
    assert_eq!(world.expect_binding("two").await, "a");
}
