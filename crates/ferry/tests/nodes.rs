//! Several machines: joining, the network between pods, a power cut, removal and return, and
//! what can be wrong when a machine joins.

mod cluster;

use cluster::lab::{Lab, Machine};
use cluster::text;
use serde_json::Value;

/// Two web servers that will not share a node, behind one name, and a pod that asks.
fn web(toleration_seconds: u32) -> String {
    let gone = |key: &str| {
        format!(
            "{{key: node.kubernetes.io/{key}, operator: Exists, effect: NoExecute, tolerationSeconds: {toleration_seconds}}}"
        )
    };
    format!(
        "
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations: [{}, {}]
      topologySpreadConstraints:
      - {{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway,
          labelSelector: {{matchLabels: {{app: web}}}}}}
      containers:
      - name: web
        image: localhost/ferry/web:1
        readinessProbe: {{httpGet: {{path: /healthz, port: 8080}}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {{name: web}}
spec: {{selector: {{app: web}}, ports: [{{port: 80, targetPort: 8080}}]}}
",
        gone("not-ready"),
        gone("unreachable")
    )
}

fn client(lab: &Lab, node: &str) -> String {
    let name = format!("client-{node}");
    lab.server.apply(&format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{nodeName: {node}, terminationGracePeriodSeconds: 1,
          containers: [{{name: c, image: 'localhost/ferry/client:1'}}]}}}}"
    ));
    lab.server.kubectl(&format!("wait --for=condition=Ready pod/{name} --timeout=60s"));
    name
}

fn start_web(lab: &Lab, toleration_seconds: u32) {
    lab.server.apply(&web(toleration_seconds));
    lab.server.kubectl("rollout status deployment/web --timeout=90s");
}

/// Asks the Service by its name until every web pod has answered.
fn hears_all(lab: &Lab, client: &str) {
    let pods = lab.server.kubectl("get pods -l app=web -o jsonpath={.items[*].metadata.name}");
    lab.server.eventually(&format!("{client} hears all of {pods}"), || {
        let heard = text(&lab.server.try_kubectl(&format!("exec {client} -- /applets fetch http://web/ 20")));
        if pods.split(' ').all(|pod| heard.contains(pod)) { Ok(()) } else { Err(heard) }
    });
}

fn node_state(lab: &Lab, node: &str, kind: &str) -> String {
    let node = lab.server.json(&format!("get node {node}"));
    let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|condition| condition["type"] == kind);
    found.map_or("", |condition| condition["status"].as_str().unwrap_or_default()).to_owned()
}

fn await_state(lab: &Lab, node: &str, expected: &str) {
    lab.server.eventually(&format!("node {node} to be Ready={expected}"), || match node_state(lab, node, "Ready") {
        state if state == expected => Ok(()),
        state => Err(state),
    });
}

fn routes(machine: Machine<'_>) -> String {
    machine.run(&["ip", "route", "show", "proto", "143"])
}

#[test]
fn machines_join_and_their_pods_reach_each_other_by_the_link() {
    let lab = Lab::joined(2, &[]);
    let nodes = lab.server.kubectl("get nodes -o wide");
    assert!(nodes.contains("10.97.0.11") && nodes.contains("10.97.0.12") && !nodes.contains("NotReady"), "{nodes}");
    start_web(&lab, 30);
    let placed = lab.server.json("get pods -l app=web");
    let on = |pod: &Value| pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned();
    let mut placed: Vec<String> = placed["items"].as_array().expect("pods").iter().map(on).collect();
    placed.sort();
    assert_eq!(placed, ["n1", "n2"]);
    for node in ["n1", "n2"] {
        let client = client(&lab, node);
        hears_all(&lab, &client);
    }
    // The way is the link, and the kubelet's certificate is one that the API server takes.
    let found = routes(lab.machine(1));
    assert!(found.contains("via 10.97.0.12 dev eth0") && !found.contains("vx"), "{found}");
    let said = lab.server.kubectl("logs deployment/web");
    assert!(said.contains("listens on port"), "{said}");
    let status = text(&lab.server.ferry(&["status"]));
    assert!(status.contains("n1 is Ready (10.97.0.11, ") && status.contains("n2 is Ready"), "{status}");
    let agent = text(&lab.machine(1).ferry(&["status"]));
    assert!(agent.contains("n1 is Ready") && agent.contains("https://10.97.0.1:"), "{agent}");

    // Somebody takes the routes away; nobody has to come.
    let machine = lab.machine(1);
    machine.run(&["ip", "route", "flush", "proto", "143"]);
    lab.server.eventually("the route to be back", || {
        let now = routes(machine);
        if now.contains("via 10.97.0.12") { Ok(()) } else { Err(now) }
    });

    // A removed node stops its pods and may come back.
    let removed = lab.server.ferry(&["node", "remove", "n2", "--force"]);
    assert!(removed.status.success(), "{}", text(&removed));
    lab.server.eventually("n2's process to end", || {
        let status = text(&lab.machine(2).ferry(&["status"]));
        if status.contains("not running") { Ok(()) } else { Err(status) }
    });
    assert!(!lab.server.kubectl("get nodes").contains("n2"));
    let alone = lab.machine(2).ferry(&["join", "-d"]);
    assert!(!alone.status.success() && text(&alone).contains("has joined no cluster"), "{}", text(&alone));
    lab.machine(2).join(&lab.token());
    await_state(&lab, "n2", "True");
    let client = client(&lab, "n2");
    hears_all(&lab, &client);
}

#[test]
fn pods_reach_each_other_through_the_tunnel() {
    let lab = Lab::joined(2, &["--pod-network", "vxlan"]);
    start_web(&lab, 30);
    for node in ["n1", "n2"] {
        let client = client(&lab, node);
        hears_all(&lab, &client);
    }
    let found = routes(lab.machine(1));
    assert!(found.contains("vx onlink") && !found.contains("dev eth0"), "{found}");
    let tunnel = lab.machine(1).run(&["ip", "-d", "link", "show", "type", "vxlan"]);
    assert!(
        tunnel.contains("mtu 1450") && tunnel.contains("dstport 8472") && tunnel.contains("nolearning"),
        "{tunnel}"
    );
    // Larger than the tunnel carries in one piece.
    let there = "get pods -l app=web --field-selector=spec.nodeName=n2 -o jsonpath={.items[0].status.podIP}";
    let (ip, long) = (lab.server.kubectl(there), "x".repeat(7000));
    let asked = lab.server.kubectl(&format!("exec client-n1 -- /applets fetch http://{ip}:8080/{long}"));
    assert!(asked.contains("web-"), "{asked}");
}

#[test]
fn a_node_whose_power_is_cut_is_replaced_and_cleans_up_when_it_comes_back() {
    let lab = Lab::joined(3, &[]);
    start_web(&lab, 1);
    let asker = client(&lab, "n3");
    hears_all(&lab, &asker);
    let victim = lab.server.json("get pods -l app=web")["items"]
        .as_array()
        .expect("pods")
        .iter()
        .filter_map(|pod| pod["spec"]["nodeName"].as_str().and_then(|node| node.strip_prefix('n')?.parse().ok()))
        .find(|number: &u8| *number != 3)
        .expect("a web pod that is not on n3");
    let (machine, name) = (lab.machine(victim), format!("n{victim}"));
    machine.cut_power();
    await_state(&lab, &name, "Unknown");
    lab.server.eventually("a replacement elsewhere", || {
        let pods = lab.server.json("get pods -l app=web --field-selector=status.phase=Running");
        let items = pods["items"].as_array().cloned().unwrap_or_default();
        let good = items
            .iter()
            .filter(|pod| pod["spec"]["nodeName"] != name.as_str() && pod["metadata"]["deletionTimestamp"].is_null());
        if good.count() == 2 { Ok(()) } else { Err(pods.to_string()) }
    });
    // Only those that live are asked.
    let heard = lab.server.kubectl(&format!("exec {asker} -- /applets fetch http://web/ 50"));
    assert!(heard.contains("web-"), "{heard}");

    machine.plug_in();
    machine.start();
    await_state(&lab, &name, "True");
    lab.server.eventually("what is no longer its own to be gone", || {
        let pods =
            lab.server.kubectl(&format!("get pods -l app=web --field-selector=spec.nodeName={name} --no-headers"));
        if pods.trim().is_empty() { Ok(()) } else { Err(pods) }
    });
    let client = client(&lab, &name);
    hears_all(&lab, &client);
}

/// A fifth of all packets is lost, then a node is cut off until it counts as gone.
#[test]
fn links_lose_packets_and_are_cut_and_nothing_needs_a_hand() {
    let lab = Lab::joined(2, &[]);
    start_web(&lab, 300);
    let asker = client(&lab, "n1");
    lab.lose(20);
    for replicas in [6, 2, 5] {
        lab.server.kubectl(&format!("scale deployment/web --replicas={replicas}"));
        lab.server.kubectl("rollout status deployment/web --timeout=90s");
    }
    lab.machine(2).unplug();
    await_state(&lab, "n2", "Unknown");
    lab.server.kubectl("scale deployment/web --replicas=3");
    lab.machine(2).plug_in();
    lab.heal();
    await_state(&lab, "n2", "True");
    lab.server.kubectl("rollout status deployment/web --timeout=60s");
    hears_all(&lab, &asker);
    let addresses = lab.server.kubectl("get pods -A -o jsonpath={.items[*].status.podIP}");
    let mut addresses: Vec<&str> = addresses.split(' ').collect();
    let count = addresses.len();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), count, "an address is given twice: {addresses:?}");
}

#[test]
fn servers_and_nodes_start_again_in_any_order() {
    let lab = Lab::joined(2, &[]);
    start_web(&lab, 30);
    let asker = client(&lab, "n1");
    // The server goes; what runs goes on answering.
    let down = lab.server.ferry(&["down"]);
    assert!(down.status.success(), "{}", text(&down));
    // A node that starts without it waits by itself.
    let stopped = lab.machine(2).ferry(&["down"]);
    assert!(stopped.status.success(), "{}", text(&stopped));
    let started = lab.machine(2).ferry(&["join", "-d"]);
    assert!(started.status.success() && text(&started).contains("goes on trying"), "{}", text(&started));
    lab.start_server(&[]);
    await_state(&lab, "n2", "True");
    lab.server.kubectl("rollout status deployment/web --timeout=90s");
    hears_all(&lab, &asker);
}

#[test]
fn a_machine_that_cannot_join_learns_why_and_nothing_is_left() {
    let lab = Lab::with_server(2, &[]);
    let (machine, token) = (lab.machine(1), lab.token());
    let refused = |flags: &[&str], token: &[String], why: &[&str]| {
        let output = machine.try_join(token, flags);
        let said = text(&output);
        assert!(!output.status.success() && why.iter().all(|word| said.contains(word)), "{why:?}\n{said}");
        assert!(!machine.data_dir().exists(), "{} is left", machine.data_dir().display());
        assert!(!lab.server.kubectl("get nodes").contains("n1"), "half joined");
    };
    let with = |token: &[String], place: usize, word: String| {
        let mut changed = token.to_vec();
        changed[place] = word;
        changed
    };
    // A wrong token, an expired one, a wrong hash, another server.
    let word = &token[2];
    let (id, hash) = (&word[..6], &word[24..]);
    let wrong = with(&token, 2, format!("{id}.{}.{hash}", "0".repeat(16)));
    refused(&[], &wrong, &["does not accept the token", "ferry token create"]);
    let short = lab.server.ferry(&["token", "create", "--ttl", "1s", "--bare"]);
    let short = with(&token, 2, String::from_utf8_lossy(&short.stdout).trim().to_owned());
    lab.server.eventually("the token to expire", || {
        let list = text(&lab.server.ferry(&["token", "list"]));
        let lives = list.lines().any(|line| line.starts_with(&short[2][..6]) && !line.contains("<expired>"));
        if lives { Err(list) } else { Ok(()) }
    });
    refused(&[], &short, &["does not accept the token", "expired"]);
    let other = with(&token, 2, format!("{}.{}", &word[..23], "ab".repeat(32)));
    refused(&[], &other, &["not the cluster of this token", "sha256:abab"]);
    refused(&[], &with(&token, 0, "https://10.97.0.1:1".into()), &["nothing listens at", "fix: "]);
    refused(&[], &with(&token, 0, "https://10.97.0.99:6443".into()), &["cannot connect", "fix: "]);

    // A clock off by a day, behind and ahead.
    for (day, why) in [("-1d", "clock"), ("+1d", "24 h 0 min ahead of")] {
        let words: Vec<&str> = token.iter().map(String::as_str).collect();
        let output =
            machine.ferry_with(&["faketime", "-f", day], &[&["join", "--node-name", "n1"][..], &words].concat());
        let said = text(&output);
        assert!(!output.status.success() && said.contains(why) && said.contains("set the clock"), "{day}: {said}");
    }

    // A link that loses large packets, and one that is small and known to be.
    lab.lose_larger_than(1400);
    refused(&[], &token, &["packets of 1500 bytes", "do not reach the server 10.97.0.1", "fix: "]);
    lab.heal();

    // An address that is not here, a network that is the pods', and a name and an address in use.
    refused(&["--node-ip", "10.97.0.200"], &token, &["is no address of this machine"]);
    let pods = lab.server.kubectl("get configmap ferry-cluster -n kube-system -o jsonpath={.data.settings\\.json}");
    let pods: Value = serde_json::from_str(&pods).expect("settings");
    let network = pods["clusterCidr"].as_str().expect("a range").replace(".0.0/16", ".7.1/24");
    machine.run(&["ip", "address", "add", &network, "dev", "eth0"]);
    refused(&[], &token, &["overlaps", "eth0", "fix: "]);
    machine.run(&["ip", "address", "del", &network, "dev", "eth0"]);
    lab.machine(2).join(&token);
    let taken = lab.machine(1).ferry(
        &[&["join", "-d", "--node-name", "n2"][..], &token.iter().map(String::as_str).collect::<Vec<_>>()].concat(),
    );
    assert!(!taken.status.success() && text(&taken).contains("a node named \"n2\" exists"), "{}", text(&taken));
    machine.run(&["ip", "address", "add", "10.97.0.12/32", "dev", "lo"]);
    refused(&["--node-ip", "10.97.0.12"], &token, &["is that of node \"n2\" already"]);
    machine.run(&["ip", "address", "del", "10.97.0.12/32", "dev", "lo"]);

    // After all that the machine joins.
    machine.join(&token);
    await_state(&lab, "n1", "True");
}
