//! Real packets through the real kernel: rules for Services are loaded in a namespace of the
//! test's own, and connections are made to see where they end. Needs root, `ip` and `nft`.

mod api;
mod loopback;
mod world;

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::ServiceView;
use ferry_api::view::discovery::v1::EndpointSliceView;
use ferry_client::{Client, Informers};
use ferry_nftables::{Conntrack, EndFlow, Kernel, Ruleset, Transaction};
use ferry_proxy::{Config, compute_service, render_frame, render_service};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::world::{Answer, NODE, OUTSIDE, PATIENCE, POD_PORT, PODS, World, pod_address, pod_address6};

const SERVICE: &str = "10.96.0.1:80";
/// Between two looks at what the proxy, which shares the thread, has done.
const POLL: Duration = Duration::from_millis(5);

/// A world with a proxy at work in it, driven by hand.
struct Cluster {
    world: World,
    kernel: Kernel,
    config: Config,
    ruleset: Ruleset<ObjectKey>,
    runtime: tokio::runtime::Runtime,
}

impl Cluster {
    fn new() -> Cluster {
        let world = World::new();
        let (kernel, config) = (world.kernel(), config());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let cluster = Cluster { world, kernel, config, ruleset: Ruleset::default(), runtime };
        cluster.load(&render_frame(&cluster.config));
        cluster
    }

    fn load(&self, transaction: &Transaction) {
        let loaded = self.kernel.apply_blocking(transaction);
        loaded.unwrap_or_else(|error| panic!("{error}\n{}", transaction.script()));
    }

    /// Runs something that opens the kernel by itself on the node.
    fn on_node<T: Send>(&self, work: impl Future<Output = T> + Send) -> T {
        on_node(&self.world, &self.runtime, work)
    }

    /// Brings a Service up to date, with pods that are on this node unless they are listed as
    /// remote. Only the change is loaded.
    fn apply(&mut self, name: &str, spec: Value, pods: &[&str], remote: &[&str]) {
        let key = ObjectKey::new("default", name);
        let (service, slice) = (service(name, spec), slice(name, pods, remote));
        let slices = [EndpointSliceView::from(&slice)];
        let ports = compute_service(ServiceView::from(&service), slices, self.config.node_name.as_str());
        let mut transaction = Transaction::new(self.config.table.as_str());
        self.ruleset.replace(&key, render_service(&key, &ports, &self.config), &mut transaction);
        self.ruleset.settle(&mut transaction);
        self.load(&transaction);
    }

    /// The pods that answer, asked often enough that each of three is met: the odds that one
    /// is missed in 60 are below one in a billion.
    fn answering(&self, ask: impl Fn(&World) -> Answer) -> BTreeSet<String> {
        (0..60).map(|_| ask(&self.world).pod()).collect()
    }
}

fn on_node<T: Send>(world: &World, runtime: &tokio::runtime::Runtime, work: impl Future<Output = T> + Send) -> T {
    world.within(NODE, || runtime.block_on(work))
}

fn config() -> Config {
    Config {
        node_ips: vec!["192.0.2.1".parse().expect("an address"), "fd00:192::1".parse().expect("an address")],
        cluster_cidrs: ["10.244.0.0/16", "fd00:10:244::/64"].map(|range| range.parse().expect("a range")).to_vec(),
        service_cidrs: vec!["10.96.0.0/16".parse().expect("a range")],
        ..Config::new("here")
    }
}

fn service(name: &str, spec: Value) -> Value {
    let mut whole = json!({
        "clusterIP": "10.96.0.1",
        "clusterIPs": ["10.96.0.1"],
        "ports": [
            {"name": "tcp", "port": 80, "protocol": "TCP"},
            {"name": "udp", "port": 80, "protocol": "UDP"},
        ],
    });
    if let (Some(whole), Value::Object(spec)) = (whole.as_object_mut(), spec) {
        whole.extend(spec);
    }
    json!({"metadata": {"namespace": "default", "name": name, "resourceVersion": "2"}, "spec": whole})
}

fn slice(service: &str, pods: &[&str], remote: &[&str]) -> Value {
    let endpoints: Vec<Value> = pods
        .iter()
        .map(|pod| {
            let node = if remote.contains(pod) { "there" } else { "here" };
            json!({"addresses": [pod_address(pod)], "nodeName": node, "conditions": {"ready": true}})
        })
        .collect();
    json!({
        "metadata": {
            "namespace": "default", "name": format!("{service}-1"), "resourceVersion": "3",
            "labels": {"kubernetes.io/service-name": service},
        },
        "addressType": "IPv4",
        "ports": [
            {"name": "tcp", "port": POD_PORT, "protocol": "TCP"},
            {"name": "udp", "port": POD_PORT, "protocol": "UDP"},
        ],
        "endpoints": endpoints,
    })
}

fn node_port(policy: &str) -> Value {
    json!({
        "type": "NodePort",
        "externalTrafficPolicy": policy,
        "ports": [
            {"name": "tcp", "port": 80, "protocol": "TCP", "nodePort": 30080},
            {"name": "udp", "port": 80, "protocol": "UDP", "nodePort": 30080},
        ],
    })
}

fn names(pods: &[&str]) -> BTreeSet<String> {
    pods.iter().map(|pod| pod.to_string()).collect()
}

#[test]
fn a_cluster_ip_reaches_every_endpoint_from_everywhere() {
    let mut cluster = Cluster::new();
    cluster.apply("web", json!({}), &PODS, &[]);
    assert_eq!(cluster.answering(|world| world.tcp("pod1", SERVICE)), names(&PODS));
    assert_eq!(cluster.answering(|world| world.udp("pod1", SERVICE)), names(&PODS));
    assert_eq!(cluster.answering(|world| world.tcp(NODE, SERVICE)), names(&PODS));
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, SERVICE)), names(&PODS));

    // Pods are seen as who they are; others come back through the node.
    cluster.apply("web", json!({}), &["pod2"], &[]);
    assert_eq!(cluster.world.tcp("pod1", SERVICE).parts(), ("pod2".to_string(), pod_address("pod1")));
    assert_eq!(cluster.world.tcp(OUTSIDE, SERVICE).parts(), ("pod2".to_string(), "10.244.0.1".to_string()));
}

#[test]
fn a_node_port_answers_on_the_nodes_address_and_on_no_other() {
    let mut cluster = Cluster::new();
    let mut spec = node_port("Cluster");
    spec["externalIPs"] = json!(["198.51.100.7"]);
    cluster.apply("web", spec, &PODS, &[]);
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, "192.0.2.1:30080")), names(&PODS));
    assert_eq!(cluster.world.tcp(OUTSIDE, "10.244.0.1:30080"), Answer::Refused, "nobody listens there");
    assert_eq!(cluster.answering(|world| world.udp(OUTSIDE, "192.0.2.1:30080")), names(&PODS));
    assert_eq!(cluster.answering(|world| world.tcp("pod1", "192.0.2.1:30080")), names(&PODS));
    assert_eq!(cluster.answering(|world| world.tcp(NODE, "192.0.2.1:30080")), names(&PODS));
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, "198.51.100.7:80")), names(&PODS));
}

#[test]
fn local_policy_keeps_to_this_node_and_shows_the_caller() {
    let mut cluster = Cluster::new();
    // All pods are really here; to the rules, one is not.
    cluster.apply("web", node_port("Local"), &PODS, &["pod3"]);
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, "192.0.2.1:30080")), names(&["pod1", "pod2"]));
    assert_eq!(cluster.world.tcp(OUTSIDE, "192.0.2.1:30080").parts().1, "192.0.2.2");
    // The node and its pods are not bound by it.
    assert_eq!(cluster.answering(|world| world.tcp(NODE, "192.0.2.1:30080")), names(&PODS));
    assert_eq!(cluster.answering(|world| world.tcp("pod1", "192.0.2.1:30080")), names(&PODS));

    // With nothing here for the outside it gets silence, while the node is still served.
    cluster.apply("web", node_port("Local"), &["pod3"], &["pod3"]);
    assert!(cluster.world.is_silent(OUTSIDE, "192.0.2.1:30080"));
    assert_eq!(cluster.world.tcp(NODE, "192.0.2.1:30080").pod(), "pod3");

    cluster.apply("web", json!({"internalTrafficPolicy": "Local"}), &PODS, &["pod3"]);
    assert_eq!(cluster.answering(|world| world.tcp("pod1", SERVICE)), names(&["pod1", "pod2"]));
}

#[test]
fn without_endpoints_callers_are_refused_at_once() {
    let mut cluster = Cluster::new();
    cluster.apply("web", node_port("Cluster"), &[], &[]);
    for (from, to) in [("pod1", SERVICE), (NODE, SERVICE), (OUTSIDE, SERVICE), (OUTSIDE, "192.0.2.1:30080")] {
        assert_eq!(cluster.world.tcp(from, to), Answer::Refused, "tcp from {from} to {to}");
        assert_eq!(cluster.world.udp(from, to), Answer::Refused, "udp from {from} to {to}");
    }
    // A port that the Service does not have, and a cluster IP that no Service has.
    assert_eq!(cluster.world.tcp("pod1", "10.96.0.1:81"), Answer::Refused);
    assert!(cluster.world.is_silent("pod1", "10.96.0.99:80"));
}

#[test]
fn scaling_to_zero_and_back_empties_and_fills_the_maps() {
    let mut cluster = Cluster::new();
    cluster.apply("web", node_port("Cluster"), &PODS, &[]);
    assert!(cluster.world.nft_output("list map inet ferry service-ips4").contains("10.96.0.1"));
    cluster.apply("web", node_port("Cluster"), &[], &[]);
    for map in ["service-ips4", "service-nodeports4"] {
        assert!(!cluster.world.nft_output(&format!("list map inet ferry {map}")).contains("elements"), "{map}");
    }
    assert!(!cluster.world.nft_output("list table inet ferry").contains("10.244.0.11"));
    assert_eq!(cluster.world.tcp("pod1", SERVICE), Answer::Refused);
    cluster.apply("web", node_port("Cluster"), &["pod2"], &[]);
    assert_eq!(cluster.world.tcp("pod1", SERVICE).pod(), "pod2");
}

#[test]
fn affinity_keeps_a_client_with_its_endpoint() {
    let mut cluster = Cluster::new();
    let mut spec = node_port("Cluster");
    spec["sessionAffinity"] = json!("ClientIP");
    cluster.apply("web", spec.clone(), &PODS, &[]);
    let first = cluster.world.tcp(OUTSIDE, SERVICE).pod();
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, SERVICE)), names(&[&first]));
    // Whichever way the Service is reached.
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, "192.0.2.1:30080")), names(&[&first]));

    // Another endpoint's leaving does not disturb it, its own endpoint's does.
    let others: Vec<&str> = PODS.into_iter().filter(|pod| *pod != first).collect();
    cluster.apply("web", spec.clone(), &[&first, others[0]], &[]);
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, SERVICE)), names(&[&first]));
    cluster.apply("web", spec, &others, &[]);
    let second = cluster.world.tcp(OUTSIDE, SERVICE).pod();
    assert_ne!(second, first);
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, SERVICE)), names(&[&second]));

    // And without affinity all are used again.
    cluster.apply("web", node_port("Cluster"), &PODS, &[]);
    assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, SERVICE)), names(&PODS));
    assert!(!cluster.world.nft_output("list table inet ferry").contains("affinity4"));
}

#[test]
fn a_pod_reaches_itself_through_its_service() {
    let mut cluster = Cluster::new();
    cluster.apply("web", node_port("Cluster"), &["pod1"], &[]);
    for to in [SERVICE, "192.0.2.1:30080"] {
        let (pod, saw) = cluster.world.tcp("pod1", to).parts();
        assert_eq!((pod.as_str(), saw.as_str()), ("pod1", "10.244.0.1"), "{to}");
        assert_eq!(cluster.world.udp("pod1", to).pod(), "pod1", "{to}");
    }
}

#[test]
fn a_udp_client_moves_on_when_its_endpoint_goes() {
    let mut cluster = Cluster::new();
    let conntrack = cluster.world.within(NODE, || Conntrack::open().expect("a netfilter socket"));
    cluster.apply("web", json!({}), &["pod2"], &[]);
    // One socket, and so one flow, as a resolver keeps it that never closes its own.
    let socket = cluster.world.within("pod1", || UdpSocket::bind("0.0.0.0:0").expect("bind"));
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let ask = || {
        socket.send_to(b"?", SERVICE).expect("send");
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).expect("an answer");
        String::from_utf8_lossy(&buffer[..length]).split(' ').next().map(str::to_owned)
    };
    assert_eq!(ask().as_deref(), Some("pod2"));
    cluster.apply("web", json!({}), &["pod3"], &[]);
    assert_eq!(ask().as_deref(), Some("pod2"), "the kernel keeps the translation of the flow");
    let gone = format!("{}:{POD_PORT}", pod_address("pod2")).parse().expect("an address");
    let ends: EndFlow = Arc::new(move |flow| flow.to.to_string() == SERVICE && flow.answered_by == gone);
    assert_eq!(conntrack.end_udp_blocking(&ends).expect("the flow ends"), 1);
    assert_eq!(ask().as_deref(), Some("pod3"));
    assert_eq!(conntrack.end_udp_blocking(&ends).expect("there is none"), 0);
}

#[test]
fn a_service_of_both_families_is_served_by_both() {
    let mut cluster = Cluster::new();
    let key = ObjectKey::new("default", "web");
    let spec = json!({"clusterIPs": ["10.96.0.1", "fd00:96::1"], "type": "NodePort", "ports": [{"name": "tcp", "port": 80, "nodePort": 30080}]});
    let (service, four) = (service("web", spec), slice("web", &PODS, &[]));
    let mut six = four.clone();
    six["addressType"] = json!("IPv6");
    for (endpoint, pod) in six["endpoints"].as_array_mut().expect("a list").iter_mut().zip(PODS) {
        endpoint["addresses"] = json!([pod_address6(pod)]);
    }
    let slices = [EndpointSliceView::from(&four), EndpointSliceView::from(&six)];
    let ports = compute_service(ServiceView::from(&service), slices, "here");
    let mut transaction = Transaction::new(cluster.config.table.as_str());
    cluster.ruleset.replace(&key, render_service(&key, &ports, &cluster.config), &mut transaction);
    cluster.ruleset.settle(&mut transaction);
    cluster.load(&transaction);
    for to in [SERVICE, "[fd00:96::1]:80", "192.0.2.1:30080", "[fd00:192::1]:30080"] {
        assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, to)), names(&PODS), "{to}");
    }
    assert_eq!(cluster.world.tcp("pod1", "[fd00:96::1]:81"), Answer::Refused);
}

#[test]
fn other_tables_are_left_alone() {
    let cluster = Cluster::new();
    cluster.world.nft_load("add table inet theirs\nadd chain inet theirs filter\n");
    cluster.load(&render_frame(&cluster.config));
    assert!(cluster.world.nft_output("list tables").contains("table inet theirs"));
    cluster.on_node(ferry_proxy::cleanup(&cluster.config)).expect("cleanup");
    assert_eq!(cluster.world.nft_output("list tables"), "table inet theirs\n");
    // Nothing to clean up is no error.
    cluster.on_node(ferry_proxy::cleanup(&cluster.config)).expect("cleanup");
}

/// The whole crate, from what a watch delivers to where a connection ends.
#[test]
fn the_rules_follow_the_api() {
    let world = World::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // Every thread of the runtime is on the node, where the proxy opens the kernel.
    world.within(NODE, || runtime.block_on(follow_the_api(&world)));
}

async fn follow_the_api(world: &World) {
    let config = config();
    let (api, services, slices) = api::FakeApi::new();
    let shutdown = CancellationToken::new();
    let informers = Informers::with_shutdown(Client::new(Arc::new(api), "proxy"), shutdown.clone());
    let (ready_sender, mut ready) = tokio::sync::watch::channel(false);
    let proxy = tokio::spawn(ferry_proxy::run(informers, config.clone(), ready_sender, shutdown.clone()));
    ready.wait_for(|ready| *ready).await.expect("the first sync");

    let event = |kind: &str, object: Value| json!({"type": kind, "object": object});
    let reaches = async |wanted: Answer| {
        let end = Instant::now() + 4 * PATIENCE;
        loop {
            let answer = world.tcp("pod1", SERVICE);
            tokio::time::sleep(POLL).await;
            if answer == wanted {
                return;
            }
            assert!(!proxy.is_finished(), "the proxy ended");
            assert!(Instant::now() < end, "{answer:?} instead of {wanted:?}");
        }
    };
    let from = |pod: &str| Answer::From { pod: pod.to_string(), saw: pod_address("pod1") };
    services.send(event("ADDED", service("web", json!({})))).expect("the watch is open");
    reaches(Answer::Refused).await;
    slices.send(event("ADDED", slice("web", &["pod2"], &[]))).expect("the watch is open");
    reaches(from("pod2")).await;
    let mut moved = slice("web", &["pod3"], &[]);
    moved["metadata"]["resourceVersion"] = json!("4");
    slices.send(event("MODIFIED", moved.clone())).expect("the watch is open");
    reaches(from("pod3")).await;
    slices.send(event("DELETED", moved)).expect("the watch is open");
    reaches(Answer::Refused).await;

    shutdown.cancel();
    proxy.await.expect("the proxy's task").expect("the proxy ends well");
    assert!(world.nft_output("list tables").contains("ferry"), "the rules stay");
    ferry_proxy::cleanup(&config).await.expect("cleanup");
    assert_eq!(world.nft_output("list tables"), "");
}
