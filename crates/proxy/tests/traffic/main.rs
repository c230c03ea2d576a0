//! Real packets through the real kernel: rules for Services are loaded in a namespace of the
//! test's own, and connections are made to see where they end. Needs root, `ip` and `nft`.

mod api;
mod loopback;
mod world;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::ServiceView;
use ferry_api::view::discovery::v1::EndpointSliceView;
use ferry_client::{Client, Informers};
use ferry_proxy::{Config, Nft, NftCommand, Ruleset, Transaction, compute_service, render_service};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::world::{Answer, NODE, OUTSIDE, PATIENCE, POD_PORT, PODS, World, pod_address};

const SERVICE: &str = "10.96.0.1:80";

/// A world with a proxy at work in it, driven by hand.
struct Cluster {
    world: World,
    config: Config,
    ruleset: Ruleset,
    runtime: tokio::runtime::Runtime,
}

impl Cluster {
    fn new() -> Cluster {
        let world = World::new();
        let config = config(&world);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut cluster = Cluster { world, config, ruleset: Ruleset::default(), runtime };
        let script = cluster.ruleset.render_full(&cluster.config);
        cluster.load(&script);
        cluster
    }

    fn load(&self, script: &str) {
        let nft = NftCommand::new(self.config.nft.clone());
        self.runtime.block_on(nft.run(script)).unwrap_or_else(|error| panic!("{error}\n{script}"));
    }

    /// Brings a Service up to date, with pods that are on this node unless they are listed as
    /// remote. Only the change is loaded.
    fn apply(&mut self, name: &str, spec: Value, pods: &[&str], remote: &[&str]) {
        let key = ObjectKey::new("default", name);
        let (service, slice) = (service(name, spec), slice(name, pods, remote));
        let slices = [EndpointSliceView::from(&slice)];
        let ports = compute_service(ServiceView::from(&service), slices, &self.config.node_name);
        let mut transaction = Transaction::default();
        self.ruleset.replace(&key, render_service(&key, &ports, &self.config), &mut transaction);
        self.load(&transaction.render(&self.config.table));
    }

    /// The pods that answer, asked often enough that each of three is met: the odds that one
    /// is missed in 60 are below one in a billion.
    fn answering(&self, ask: impl Fn(&World) -> Answer) -> BTreeSet<String> {
        (0..60).map(|_| ask(&self.world).pod()).collect()
    }
}

fn config(world: &World) -> Config {
    Config {
        cluster_cidrs: vec!["10.244.0.0/16".parse().expect("a range")],
        service_cidrs: vec!["10.96.0.0/16".parse().expect("a range")],
        nft: world.nft(),
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
fn a_node_port_answers_on_every_address_of_the_node() {
    let mut cluster = Cluster::new();
    let mut spec = node_port("Cluster");
    spec["externalIPs"] = json!(["198.51.100.7"]);
    cluster.apply("web", spec, &PODS, &[]);
    for address in ["192.0.2.1:30080", "10.244.0.1:30080"] {
        assert_eq!(cluster.answering(|world| world.tcp(OUTSIDE, address)), names(&PODS), "{address}");
    }
    assert_eq!(cluster.answering(|world| world.udp(OUTSIDE, "192.0.2.1:30080")), names(&PODS));
    assert_eq!(cluster.answering(|world| world.tcp("pod1", "10.244.0.1:30080")), names(&PODS));
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
    for to in [SERVICE, "10.244.0.1:30080"] {
        let (pod, saw) = cluster.world.tcp("pod1", to).parts();
        assert_eq!((pod.as_str(), saw.as_str()), ("pod1", "10.244.0.1"), "{to}");
        assert_eq!(cluster.world.udp("pod1", to).pod(), "pod1", "{to}");
    }
}

#[test]
fn other_tables_are_left_alone() {
    let cluster = Cluster::new();
    cluster.load("add table inet theirs\nadd chain inet theirs filter\n");
    let mut again = Ruleset::default();
    cluster.load(&again.render_full(&cluster.config));
    assert!(cluster.world.nft_output("list tables").contains("table inet theirs"));
    cluster.runtime.block_on(ferry_proxy::cleanup(&cluster.config)).expect("cleanup");
    assert_eq!(cluster.world.nft_output("list tables"), "table inet theirs\n");
    // Nothing to clean up is no error.
    cluster.runtime.block_on(ferry_proxy::cleanup(&cluster.config)).expect("cleanup");
}

/// The whole crate, from what a watch delivers to where a connection ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rules_follow_the_api() {
    let world = World::new();
    let config = config(&world);
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
