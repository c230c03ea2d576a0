//! How long one change among many policies and pods takes until it is in the kernel, in a
//! network namespace of its own. Needs root.
//!
//! `cargo run --release -p ferry-policy --example policy_figures [policies pods]`; without arguments,
//! 1,000 of each.

use std::time::{Duration, Instant};

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::{Namespace, Pod};
use ferry_api::view::networking::v1::NetworkPolicy;
use ferry_client::{Informer, SharedObject};
use ferry_nftables::{Kernel, Ruleset, Transaction};
use ferry_policy::{Changes, Config, Owner, State, render_frame};
use serde_json::{Value, json};

const NAMESPACES: u32 = 20;

struct Cluster {
    state: State,
    ruleset: Ruleset<Owner>,
    kernel: Kernel,
    pods: Informer<Pod>,
    policies: Informer<NetworkPolicy>,
}

fn main() {
    let arguments: Vec<u32> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let (policies, pods) = match arguments.as_slice() {
        [policies, pods, ..] => (*policies, *pods),
        _ => (1_000, 1_000),
    };
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET).expect("a network namespace, as root");
    measure(policies, pods);
}

fn namespace(number: u32) -> String {
    format!("ns-{}", number % NAMESPACES)
}

fn pod(number: u32, app: u32) -> SharedObject<Pod> {
    SharedObject::of(json!({
        "metadata": {"namespace": namespace(number), "name": format!("pod-{number}"), "labels": {"app": format!("app-{app}"), "tier": "any"}},
        "spec": {"nodeName": "here", "containers": [{"name": "c", "ports": [{"name": "web", "containerPort": 8080, "protocol": "TCP"}]}]},
        "status": {"phase": "Running", "podIP": format!("10.{}.{}.{}", 128 + number / 65536, number / 256 % 256, number % 256)},
    }))
}

/// A fifth of the policies let in whole namespaces, the others one application.
fn policy(number: u32, port: u32) -> SharedObject<NetworkPolicy> {
    let peer: Value = if number % 5 == 0 {
        json!({"namespaceSelector": {"matchLabels": {"team": format!("team-{}", number % 4)}}})
    } else {
        json!({"podSelector": {"matchLabels": {"app": format!("app-{}", number % 50)}}})
    };
    SharedObject::of(json!({
        "metadata": {"namespace": namespace(number), "name": format!("policy-{number}")},
        "spec": {
            "podSelector": {"matchLabels": {"app": format!("app-{}", number / NAMESPACES % 50)}},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": [peer.clone()], "ports": [{"port": "web"}, {"port": port, "endPort": port + 10}]}],
            "egress": [{"to": [peer, {"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.0/28"]}}]}],
        },
    }))
}

impl Cluster {
    fn apply(&mut self, changes: Changes) -> Duration {
        let started = Instant::now();
        let mut transaction = Transaction::new("policies");
        for (owner, rules) in self.state.update(changes) {
            self.ruleset.replace(&owner, rules, &mut transaction);
        }
        self.ruleset.settle(&mut transaction);
        self.kernel.apply_blocking(&transaction).expect("the change is loaded");
        started.elapsed()
    }

    fn put_pod(&mut self, number: u32, app: u32) -> Duration {
        self.pods.put(pod(number, app));
        let key = ObjectKey::new(namespace(number), format!("pod-{number}"));
        self.apply(Changes { pods: [key].into(), ..Changes::default() })
    }

    fn put_policy(&mut self, number: u32, port: u32) -> Duration {
        self.policies.put(policy(number, port));
        self.note_policy(number)
    }

    fn remove_policy(&mut self, number: u32) -> Duration {
        self.policies.remove(&namespace(number), &format!("policy-{number}"));
        self.note_policy(number)
    }

    fn note_policy(&mut self, number: u32) -> Duration {
        let key = ObjectKey::new(namespace(number), format!("policy-{number}"));
        self.apply(Changes { policies: [key].into(), ..Changes::default() })
    }
}

fn measure(policies: u32, pods: u32) {
    let config =
        Config { table: "policies".into(), node_name: "here".into(), bridge: Some("br0".into()), dns: Vec::new() };
    let namespaces: Vec<SharedObject<Namespace>> = (0..NAMESPACES)
        .map(|number| {
            SharedObject::of(
                json!({"metadata": {"name": namespace(number), "labels": {"team": format!("team-{}", number % 4)}}}),
            )
        })
        .collect();
    let informers = (
        Informer::fixed((0..pods).map(|number| pod(number, number / NAMESPACES % 50))),
        Informer::fixed((0..policies).map(|number| policy(number, 9000))),
        Informer::fixed(namespaces),
    );
    let state = State::new(&config, informers.0.clone(), informers.1.clone(), informers.2);
    let kernel = Kernel::open().expect("a netfilter socket");
    let mut cluster = Cluster { state, ruleset: Ruleset::default(), kernel, pods: informers.0, policies: informers.1 };
    cluster.kernel.apply_blocking(&render_frame(&config)).expect("the frame is loaded");
    let all = Changes {
        pods: (0..pods).map(|number| ObjectKey::new(namespace(number), format!("pod-{number}"))).collect(),
        policies: (0..policies).map(|number| ObjectKey::new(namespace(number), format!("policy-{number}"))).collect(),
        namespaces: (0..NAMESPACES).map(namespace).collect(),
    };
    println!("{policies} policies, {pods} pods");
    println!("  first load              {:>10.1?}", cluster.apply(all));
    let mut report = |what: &str, change: &mut dyn FnMut(&mut Cluster, u32) -> Duration| {
        let mut times: Vec<Duration> = (0..20).map(|round| change(&mut cluster, round)).collect();
        times.sort();
        println!("  {what:<22}  {:>10.1?} at the median, {:.1?} at most", times[10], times[19]);
    };
    report("a new pod", &mut |cluster, round| cluster.put_pod(pods + round, round));
    report("another label", &mut |cluster, round| cluster.put_pod(round, round + 1));
    report("a policy's other port", &mut |cluster, round| cluster.put_policy(round, 9500));
    report("a new policy", &mut |cluster, round| cluster.put_policy(policies + round, 9000));
    report("a policy less", &mut |cluster, round| cluster.remove_policy(round));
}
