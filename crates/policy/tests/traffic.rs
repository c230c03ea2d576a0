//! Real packets through the real kernel: policies are loaded in a namespace of the test's own,
//! and connections are made to see which pass. Needs root and `ip`.

#[allow(dead_code)]
#[path = "../../proxy/tests/traffic/world.rs"]
mod world;

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::{Namespace, Pod};
use ferry_api::view::networking::v1::NetworkPolicy;
use ferry_client::{Informer, SharedObject};
use ferry_nftables::{Kernel, LiveTable, RETRY_FIRST};
use ferry_policy::{Changes, Config, Owner, State, render_frame};
use serde_json::{Value, json};

use self::world::{Answer, NODE, OUTSIDE, POD_PORT, PODS, World, pod_address, pod_address6};

/// A world with policies at work in it, driven by hand. All pods are in namespace `default`
/// with the label `pod` of their names; `pod3` is in namespace `other`.
struct Cluster {
    world: World,
    runtime: tokio::runtime::Runtime,
    state: State,
    table: LiveTable<'static, Owner>,
    pods: Informer<Pod>,
    policies: Informer<NetworkPolicy>,
    namespaces: Informer<Namespace>,
}

impl Cluster {
    fn new() -> Cluster {
        let mut cluster = Cluster::without_pods();
        for pod in PODS {
            cluster.put_pod(pod, json!({"pod": pod}));
        }
        cluster
    }

    fn without_pods() -> Cluster {
        let world = World::new();
        // The frame outlives the test's thread in the kernel only.
        let kernel: &'static Kernel = Box::leak(Box::new(world.kernel()));
        let config = Config {
            table: "ferry-policies".into(),
            node_name: "here".into(),
            bridge: Some("br0".into()),
            dns: vec!["10.244.0.1".parse().expect("an address")],
        };
        let (pods, policies) = (Informer::fixed([]), Informer::fixed([]));
        let namespaces = Informer::fixed(
            ["default", "other"]
                .map(|name| SharedObject::of(json!({"metadata": {"name": name, "labels": {"ns": name}}}))),
        );
        let state = State::new(&config, pods.clone(), policies.clone(), namespaces.clone());
        let table = LiveTable::new(kernel, render_frame(&config));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut cluster = Cluster { world, runtime, state, table, pods, policies, namespaces };
        let namespaces = ["default", "other", "kube-system"].map(str::to_owned).into();
        cluster.load(Changes { namespaces, ..Changes::default() });
        cluster
    }

    fn load(&mut self, changes: Changes) {
        for (owner, rules) in self.state.update(changes) {
            self.table.replace(&owner, rules);
        }
        self.runtime.block_on(self.table.sync());
        assert!(self.table.is_complete(), "rejected; it would be tried again in {RETRY_FIRST:?}");
    }

    fn put_pod(&mut self, pod: &str, labels: Value) {
        let namespace = namespace_of(pod);
        self.pods.put(SharedObject::of(json!({
            "metadata": {"namespace": namespace, "name": pod, "labels": labels},
            "spec": {
                "nodeName": "here",
                "containers": [{"name": "c", "ports": [{"name": "serve", "containerPort": POD_PORT, "protocol": "TCP"}]}],
            },
            "status": {"podIP": pod_address(pod), "podIPs": [{"ip": pod_address(pod)}, {"ip": pod_address6(pod)}]},
        })));
        self.load(Changes { pods: [ObjectKey::new(namespace, pod)].into(), ..Changes::default() });
    }

    fn put_policy(&mut self, name: &str, spec: Value) {
        self.policies.put(SharedObject::of(json!({"metadata": {"namespace": "default", "name": name}, "spec": spec})));
        self.load_policy(name);
    }

    fn remove_policy(&mut self, name: &str) {
        self.policies.remove("default", name);
        self.load_policy(name);
    }

    fn load_policy(&mut self, name: &str) {
        self.load(Changes { policies: [ObjectKey::new("default", name)].into(), ..Changes::default() });
    }

    fn label_namespace(&mut self, name: &str, labels: Value) {
        self.namespaces.put(SharedObject::of(json!({"metadata": {"name": name, "labels": labels}})));
        self.load(Changes { namespaces: [name.to_owned()].into(), ..Changes::default() });
    }

    /// The pods that reach a pod by TCP, by both families alike.
    #[track_caller]
    fn callers(&self, to: &str) -> Vec<&'static str> {
        let four = self.callers_of(&format!("{}:{POD_PORT}", pod_address(to)), to);
        let six = self.callers_of(&format!("[{}]:{POD_PORT}", pod_address6(to)), to);
        assert_eq!(four, six, "IPv4 and IPv6");
        four
    }

    fn callers_of(&self, address: &str, to: &str) -> Vec<&'static str> {
        let all = [NODE, OUTSIDE, "pod1", "pod2", "pod3"];
        std::thread::scope(|scope| {
            let calls = all.map(|from| (from, scope.spawn(move || from == to || !self.world.is_silent(from, address))));
            calls.into_iter().filter_map(|(from, call)| call.join().expect("a call").then_some(from)).collect()
        })
    }
}

fn namespace_of(pod: &str) -> &'static str {
    if pod == "pod3" { "other" } else { "default" }
}

fn allow_from(peers: Value) -> Value {
    json!({"podSelector": {"matchLabels": {"pod": "pod2"}}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]})
}

const EVERYONE: [&str; 5] = [NODE, OUTSIDE, "pod1", "pod2", "pod3"];

#[test]
fn a_pod_is_open_until_a_policy_selects_it_and_again_when_the_policy_goes() {
    let mut cluster = Cluster::new();
    assert_eq!(cluster.callers("pod2"), EVERYONE);
    cluster.put_policy("deny", json!({"podSelector": {"matchLabels": {"pod": "pod2"}}, "policyTypes": ["Ingress"]}));
    // The node reaches its pods whatever the policies, or no probe would pass.
    assert_eq!(cluster.callers("pod2"), [NODE, "pod2"]);
    assert_eq!(cluster.callers("pod1"), EVERYONE);
    // A second policy adds to what may pass.
    cluster.put_policy("allow", allow_from(json!([{"podSelector": {"matchLabels": {"pod": "pod1"}}}])));
    assert_eq!(cluster.callers("pod2"), [NODE, "pod1", "pod2"]);
    cluster.put_pod("pod1", json!({"pod": "another"}));
    assert_eq!(cluster.callers("pod2"), [NODE, "pod2"]);
    cluster.remove_policy("allow");
    cluster.remove_policy("deny");
    assert_eq!(cluster.callers("pod2"), EVERYONE);
}

#[test]
fn peers_are_selected_by_namespace_and_label_and_range() {
    let mut cluster = Cluster::new();
    cluster.put_policy("allow", allow_from(json!([{"namespaceSelector": {"matchLabels": {"ns": "other"}}}])));
    assert_eq!(cluster.callers("pod2"), [NODE, "pod2", "pod3"]);
    cluster.label_namespace("other", json!({"ns": "renamed"}));
    assert_eq!(cluster.callers("pod2"), [NODE, "pod2"]);
    let expressions = json!([{"key": "ns", "operator": "NotIn", "values": ["default"]}]);
    let selects = json!([{"namespaceSelector": {"matchExpressions": expressions}, "podSelector": {}}]);
    cluster.put_policy("allow", allow_from(selects));
    assert_eq!(cluster.callers("pod2"), [NODE, "pod2", "pod3"]);
    // A pod selector without a namespace selector means the policy's own namespace.
    cluster.put_policy("allow", allow_from(json!([{"podSelector": {}}])));
    assert_eq!(cluster.callers("pod2"), [NODE, "pod1", "pod2"]);
    cluster.put_policy(
        "allow",
        allow_from(json!([
            {"ipBlock": {"cidr": "10.244.0.0/24", "except": ["10.244.0.12/31"]}},
            {"ipBlock": {"cidr": "fd00:10:244::/64", "except": ["fd00:10:244::13/128", "fd00:10:244::12/128"]}},
            {"ipBlock": {"cidr": "192.0.2.2/32"}}, {"ipBlock": {"cidr": "fd00:192::/32"}},
        ])),
    );
    assert_eq!(cluster.callers("pod2"), [NODE, OUTSIDE, "pod1", "pod2"]);
    // Both selectors of one peer must hold, and peers stand beside each other.
    cluster.put_policy(
        "allow",
        allow_from(json!([
            {"namespaceSelector": {}, "podSelector": {"matchLabels": {"pod": "pod3"}}},
            {"podSelector": {"matchLabels": {"pod": "nobody"}}},
        ])),
    );
    assert_eq!(cluster.callers("pod2"), [NODE, "pod2", "pod3"]);
}

#[test]
fn ports_are_numbers_ranges_and_names() {
    let mut cluster = Cluster::new();
    let ports = |ports: Value| json!({"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"ports": ports}]});
    for (number, open) in [
        (json!([{"port": POD_PORT}]), true),
        (json!([{"port": 81}]), false),
        (json!([{"port": 8000, "endPort": 8100, "protocol": "TCP"}]), true),
        (json!([{"port": 8000, "endPort": 8079}]), false),
        (json!([{"port": "serve"}]), true),
        (json!([{"port": "other"}]), false),
        (json!([{"port": "serve", "protocol": "UDP"}]), false),
        (json!([{"protocol": "TCP"}]), true),
        (json!([{"protocol": "SCTP"}, {"protocol": "UDP", "port": POD_PORT}]), false),
        (json!([{"port": 81}, {"port": "serve"}]), true),
    ] {
        cluster.put_policy("ports", ports(number.clone()));
        let expected = if open { EVERYONE.to_vec() } else { vec![NODE, "pod2"] };
        assert_eq!(cluster.callers("pod2"), expected, "{number}");
    }
    // Several peers and several ports.
    cluster.put_policy("ports", json!({
        "podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{
            "ports": [{"port": 81}, {"port": "serve"}],
            "from": [{"podSelector": {"matchLabels": {"pod": "pod1"}}}, {"ipBlock": {"cidr": "192.0.2.0/24"}}, {"ipBlock": {"cidr": "fd00:192::/64"}}],
        }],
    }));
    assert_eq!(cluster.callers("pod2"), [NODE, OUTSIDE, "pod1", "pod2"]);
}

#[test]
fn egress_is_judged_at_its_source_and_answers_pass() {
    let mut cluster = Cluster::new();
    let policy = |egress: Value| json!({"podSelector": {"matchLabels": {"pod": "pod1"}}, "policyTypes": ["Egress"], "egress": egress});
    cluster.put_policy("out", policy(json!([])));
    assert_eq!(cluster.callers("pod2"), [NODE, OUTSIDE, "pod2", "pod3"]);
    // Whoever may call pod1 gets its answer.
    assert_eq!(cluster.callers("pod1"), EVERYONE);
    cluster.put_policy(
        "out",
        policy(json!([{"to": [{"podSelector": {"matchLabels": {"pod": "pod2"}}}], "ports": [{"port": "serve"}]}])),
    );
    assert_eq!(cluster.callers("pod2"), EVERYONE);
    assert_eq!(cluster.callers("pod3"), [NODE, OUTSIDE, "pod2", "pod3"]);
    // Both ends must agree.
    cluster.put_policy("in", json!({"podSelector": {"matchLabels": {"pod": "pod2"}}, "policyTypes": ["Ingress"]}));
    assert_eq!(cluster.callers("pod2"), [NODE, "pod2"]);
}

#[test]
fn dns_is_a_pod_of_kube_system_to_policies() {
    let mut cluster = Cluster::new();
    let socket = cluster.world.within(NODE, || std::net::UdpSocket::bind("10.244.0.1:53").expect("bind"));
    std::thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok((_, peer)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(b"dns here", peer);
        }
    });
    let answers = |cluster: &Cluster| {
        cluster.world.within("pod1", || {
            let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("bind");
            socket.set_read_timeout(Some(std::time::Duration::from_millis(500))).expect("a timeout");
            socket.connect("10.244.0.1:53").expect("connect");
            socket.send(b"?").expect("send");
            socket.recv(&mut [0; 64]).is_ok()
        })
    };
    assert!(answers(&cluster));
    cluster.put_policy("out", json!({"podSelector": {}, "policyTypes": ["Egress"]}));
    assert!(!answers(&cluster), "a pod without egress resolves no names, as elsewhere");
    cluster.label_namespace("kube-system", json!({"kubernetes.io/metadata.name": "kube-system"}));
    cluster.put_policy(
        "dns",
        json!({"podSelector": {}, "policyTypes": ["Egress"], "egress": [{
            "to": [{
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
                "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
            }],
            "ports": [{"port": "dns", "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}],
        }]}),
    );
    assert!(answers(&cluster));
}

#[test]
fn a_pod_that_is_not_known_yet_is_closed_while_there_is_a_policy() {
    let mut cluster = Cluster::without_pods();
    // pod1 has its address and the API does not know of it.
    cluster.put_pod("pod2", json!({"pod": "pod2"}));
    assert_eq!(cluster.callers("pod2"), EVERYONE);
    cluster
        .put_policy("elsewhere", json!({"podSelector": {"matchLabels": {"pod": "pod9"}}, "policyTypes": ["Ingress"]}));
    assert_eq!(cluster.callers("pod2"), [NODE, OUTSIDE, "pod2"]);
    assert_eq!(cluster.callers("pod1"), [NODE, "pod1"]);
    cluster.put_pod("pod1", json!({"pod": "pod1"}));
    assert_eq!(cluster.callers("pod2"), [NODE, OUTSIDE, "pod1", "pod2"]);
    // A pod that has stopped keeps its address in its status, and policies forget it.
    cluster.remove_policy("elsewhere");
    assert_eq!(cluster.callers("pod2"), EVERYONE);
}

#[test]
fn link_local_addresses_are_no_way_past_policies() {
    let mut cluster = Cluster::new();
    let addresses = cluster.world.ip_output("pod2", "-6 -o addr show dev eth0 scope link");
    let link_local = addresses.split_whitespace().find_map(|word| word.strip_suffix("/64")).expect("an address");
    let address: std::net::Ipv6Addr = link_local.parse().expect("an address");
    let reaches = |cluster: &Cluster| {
        cluster.world.within("pod1", || {
            let index = nix::net::if_::if_nametoindex("eth0").expect("the pod's interface");
            let to = std::net::SocketAddrV6::new(address, POD_PORT, 0, index);
            std::net::TcpStream::connect_timeout(&to.into(), std::time::Duration::from_millis(700)).is_ok()
        })
    };
    assert!(reaches(&cluster));
    cluster.put_policy("deny", json!({"podSelector": {"matchLabels": {"pod": "pod2"}}, "policyTypes": ["Ingress"]}));
    assert!(!reaches(&cluster));
}

#[test]
fn no_connection_slips_through_while_policies_change() {
    let mut cluster = Cluster::new();
    let deny = || json!({"podSelector": {"matchLabels": {"pod": "pod2"}}, "policyTypes": ["Ingress"]});
    cluster.put_policy("deny", deny());
    let stop = std::sync::atomic::AtomicBool::new(false);
    // The callers need a handle of their own: the cluster is changed meanwhile.
    let Cluster { world, runtime, state, table, policies, .. } = &mut cluster;
    let world: &World = world;
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| {
            world.within("pod1", || {
                let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("bind");
                socket.set_nonblocking(true).expect("not to wait");
                let (mut sent, mut answered) = (0_u32, 0_u32);
                // A packet that is dropped leaves no connection behind, so that each is a first one.
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    sent += u32::from(socket.send_to(b"?", (pod_address("pod2"), POD_PORT)).is_ok());
                    answered += u32::from(socket.recv(&mut [0; 64]).is_ok());
                }
                (sent, answered)
            })
        });
        for round in 0..200 {
            let mut changes = Changes::default();
            let name = format!("extra-{}", round % 10);
            let key = ObjectKey::new("default", name.as_str());
            if round % 20 < 10 {
                policies.put(SharedObject::of(json!({
                    "metadata": {"namespace": "default", "name": name},
                    "spec": {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": [{"podSelector": {"matchLabels": {"n": round.to_string()}}}]}]},
                })));
            } else {
                policies.remove("default", &name);
            }
            changes.policies.insert(key);
            for (owner, rules) in state.update(changes) {
                table.replace(&owner, rules);
            }
            runtime.block_on(table.sync());
            assert!(table.is_complete());
            runtime.block_on(table.remove_stale());
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let (sent, answered) = attacker.join().expect("the attacker");
        assert!(sent > 2000, "{sent} packets in 200 changes");
        assert_eq!(answered, 0, "of {sent}");
    });
    assert_eq!(
        cluster.world.udp(NODE, &format!("{}:{POD_PORT}", pod_address("pod2"))),
        Answer::From { pod: "pod2".into(), saw: "10.244.0.1".into() }
    );
}
