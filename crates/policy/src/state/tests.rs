use ferry_client::SharedObject;
use ferry_nftables::{Ruleset, Transaction};
use serde_json::{Value, json};

use super::*;

struct Cluster {
    state: State,
    ruleset: Ruleset<Owner>,
}

impl Cluster {
    fn new() -> Cluster {
        let config = Config {
            table: "t".into(),
            node_name: "here".into(),
            bridge: None,
            dns: vec!["10.244.0.1".parse().expect("an address")],
        };
        let state = State::new(&config, Informer::fixed([]), Informer::fixed([]), Informer::fixed([]));
        Cluster { state, ruleset: Ruleset::default() }
    }

    /// The transaction that the changes amount to.
    fn update(&mut self, changes: Changes) -> Transaction {
        let mut transaction = Transaction::new("t");
        for (owner, rules) in self.state.update(changes) {
            self.ruleset.replace(&owner, rules, &mut transaction);
        }
        self.ruleset.settle(&mut transaction);
        transaction
    }

    fn put_pod(&mut self, name: &str, node: &str, address: &str, labels: Value) -> Transaction {
        self.put_pod_object(name, json!({
            "metadata": {"namespace": "ns", "name": name, "labels": labels},
            "spec": {"nodeName": node, "containers": [{"name": "c", "ports": [{"name": "web", "containerPort": 8080, "protocol": "TCP"}]}]},
            "status": {"phase": "Running", "podIPs": [{"ip": address}]},
        }))
    }

    fn put_pod_object(&mut self, name: &str, pod: Value) -> Transaction {
        self.state.pods.put(SharedObject::of(pod));
        self.update(Changes { pods: [ObjectKey::new("ns", name)].into(), ..Changes::default() })
    }

    fn put_policy(&mut self, name: &str, spec: Value) -> Transaction {
        let policy = json!({"metadata": {"namespace": "ns", "name": name}, "spec": spec});
        self.state.policies.put(SharedObject::of(policy));
        self.update_policy(name)
    }

    fn remove_policy(&mut self, name: &str) -> Transaction {
        self.state.policies.remove("ns", name);
        self.update_policy(name)
    }

    fn update_policy(&mut self, name: &str) -> Transaction {
        self.update(Changes { policies: [ObjectKey::new("ns", name)].into(), ..Changes::default() })
    }
}

fn web_from_client() -> Value {
    json!({
        "podSelector": {"matchLabels": {"app": "web"}},
        "policyTypes": ["Ingress"],
        "ingress": [{
            "from": [{"podSelector": {"matchLabels": {"app": "client"}}}, {"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.128/25"]}}],
            "ports": [{"port": "web"}, {"port": 9000, "endPort": 9010, "protocol": "UDP"}],
        }],
    })
}

#[test]
fn the_life_of_a_policy() {
    let mut cluster = Cluster::new();
    let mut story = String::new();
    let mut tell = |step: &str, transaction: Transaction| story += &format!("# {step}\n{}", transaction.script());
    tell("a pod of this node", cluster.put_pod("web", "here", "10.244.0.5", json!({"app": "web"})));
    tell("a policy for it", cluster.put_policy("allow", web_from_client()));
    tell("a client on another node", cluster.put_pod("client", "there", "10.244.1.5", json!({"app": "client"})));
    tell("another client", cluster.put_pod("client-2", "here", "fd00::6", json!({"app": "client"})));
    tell("the client is no client any more", cluster.put_pod("client", "there", "10.244.1.5", json!({"app": "other"})));
    tell("the same policy again", cluster.put_policy("allow", web_from_client()));
    tell("no policy", cluster.remove_policy("allow"));
    insta::assert_snapshot!(story);
}

#[test]
fn a_pod_costs_elements_and_no_rules_whatever_the_number_of_policies() {
    let mut cluster = Cluster::new();
    cluster.put_pod("first", "here", "10.244.0.4", json!({"app": "web"}));
    for index in 0..50 {
        cluster.put_policy(&format!("policy-{index}"), web_from_client());
    }
    let transaction = cluster.put_pod("second", "here", "10.244.0.5", json!({"app": "web"}));
    assert_eq!((transaction.rule_count(), transaction.made_chains().len()), (0, 0), "{}", transaction.script());
    let transaction = cluster.put_pod("client", "there", "10.244.1.5", json!({"app": "client"}));
    assert_eq!(transaction.len(), 2, "one group for all policies, and the named port:\n{}", transaction.script());
}

#[test]
fn pods_of_the_host_network_and_those_that_have_stopped_are_nobodys_peers() {
    let mut cluster = Cluster::new();
    cluster.put_policy("allow", web_from_client());
    let mut pod = json!({
        "metadata": {"namespace": "ns", "name": "client", "labels": {"app": "client"}},
        "spec": {"nodeName": "here", "hostNetwork": true},
        "status": {"phase": "Running", "podIP": "192.0.2.1"},
    });
    assert!(cluster.put_pod_object("client", pod.clone()).is_empty());
    pod["spec"]["hostNetwork"] = json!(false);
    assert!(!cluster.put_pod_object("client", pod.clone()).is_empty());
    pod["status"]["phase"] = json!("Succeeded");
    let script = cluster.put_pod_object("client", pod).script();
    assert!(script.contains("delete element inet t peers4/1 { 192.0.2.1 }"), "{script}");
}

#[test]
fn an_address_that_passes_from_pod_to_pod_is_never_without_its_policies() {
    let mut cluster = Cluster::new();
    cluster.put_policy("allow", web_from_client());
    cluster.put_pod("old", "here", "10.244.0.5", json!({"app": "web"}));
    // Both changes come at once: the old pod has stopped, the new one has its address.
    cluster.state.pods.remove("ns", "old");
    cluster.state.pods.put(SharedObject::of(json!({
        "metadata": {"namespace": "ns", "name": "new", "labels": {"app": "web"}},
        "spec": {"nodeName": "here"}, "status": {"phase": "Running", "podIP": "10.244.0.5"},
    })));
    let pods = ["old", "new"].map(|name| ObjectKey::new("ns", name)).into();
    let script = cluster.update(Changes { pods, ..Changes::default() }).script();
    assert!(!script.contains("ingress4"), "{script}");
}

#[test]
fn what_is_released_is_gone() {
    let mut cluster = Cluster::new();
    cluster.put_pod("web", "here", "10.244.0.5", json!({"app": "web"}));
    cluster.put_policy("allow", web_from_client());
    cluster.remove_policy("allow");
    let State { compiled, selecting, port_names, stacks, known, .. } = &cluster.state;
    assert!(
        compiled.is_empty() && selecting.is_empty() && port_names.is_empty() && stacks.is_empty() && known.is_empty()
    );
}
