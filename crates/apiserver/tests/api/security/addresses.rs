//! The proxy subresources go to the cluster's addresses and to nobody else's. A node
//! (CVE-2022-3294) or a name (CVE-2020-8562) may claim to be where the API server itself
//! lives, and endpoints (CVE-2021-25740) where somebody else's pods do.

use super::Verdict;
use crate::proxy::with_pod;
use crate::server::{PODS, Routes, Server};
use ferry_apiserver::outgoing::Dial;
use serde_json::{Value, json};

/// Where nothing of a cluster is: this machine, its link, everybody, nobody.
const FORBIDDEN: [&str; 10] = [
    "127.0.0.1",
    "127.8.8.8",
    "169.254.169.254",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "fe80::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
];
const PORT: u16 = 8080;
const MERGE: &str = "application/merge-patch+json";

/// Tries each of the addresses. `reach` makes an address known and asks by every door that
/// leads there.
async fn attack(addresses: &[&str], routes: &Routes, reach: impl AsyncFn(&str), verdict: &mut Verdict, what: &str) {
    for address in addresses {
        let before = routes.dialled(address);
        reach(address).await;
        verdict.tried(format!("{what} at {address}"), routes.dialled(address) > before);
    }
}

async fn set_node_address(server: &Server, kind: &str, address: &str) {
    let status = json!({"status": {"addresses": [{"type": kind, "address": address}]}});
    server.patch(MERGE, "/api/v1/nodes/m/status", &status).await.ok();
}

async fn ask_node(server: &Server) {
    // To the kubelet by its certificate, and to any other port without.
    for node in ["m", "m:10250", "m:8080", "http:m:8080", "https:m:8443"] {
        let answer = server.get(&format!("/api/v1/nodes/{node}/proxy/x")).await;
        assert!(answer.code >= 400, "{node}: {}", answer.code);
    }
}

#[tokio::test]
async fn ferry_stays_away_from_addresses_that_are_no_clusters() {
    let server = with_pod().await;
    server.post("/api/v1/nodes", &json!({"metadata": {"name": "m"}})).await.ok();
    let mut verdict = Verdict::default();
    let node = async |address: &str| {
        set_node_address(&server, "InternalIP", address).await;
        ask_node(&server).await;
        let refused = server.get("/api/v1/nodes/m/proxy/x").await;
        assert_eq!((refused.code, refused.message().as_str()), (400, "address not allowed"));
    };
    attack(&FORBIDDEN, &server.routes, node, &mut verdict, "a node").await;
    let pod = async |address: &str| {
        let status = json!({"status": {"podIP": address, "podIPs": [{"ip": address}]}});
        // What is no address of a pod may be refused before it is stored, which is as good.
        server.patch(MERGE, &format!("{PODS}/web/status"), &status).await;
        assert!(server.get(&format!("{PODS}/web:{PORT}/proxy/x")).await.code >= 400);
    };
    attack(&FORBIDDEN, &server.routes, pod, &mut verdict, "a pod").await;
    verdict.assert_held();
}

#[tokio::test]
async fn ferry_stays_away_from_names_that_lead_there() {
    let server = Server::start().await;
    server.post("/api/v1/nodes", &json!({"metadata": {"name": "m"}})).await.ok();
    let mut verdict = Verdict::default();
    let plainly = async |address: &str| {
        set_node_address(&server, "Hostname", "node.example").await;
        server.routes.name("node.example", &[address]);
        ask_node(&server).await;
    };
    attack(&FORBIDDEN, &server.routes, plainly, &mut verdict, "a name").await;
    // The name has a good address when it is judged, and another when it is used.
    let in_turn = async |address: &str| {
        set_node_address(&server, "Hostname", "node.example").await;
        for node in ["m", "m:8080"] {
            server.routes.name("node.example", &["192.0.2.9", address]);
            let answer = server.get(&format!("/api/v1/nodes/{node}/proxy/x")).await;
            assert!(answer.code >= 400, "{node}: {}", answer.code);
        }
    };
    attack(&FORBIDDEN, &server.routes, in_turn, &mut verdict, "a name that changes").await;
    verdict.assert_held();
}

#[tokio::test]
async fn ferry_stays_away_from_endpoints_that_are_no_pods() {
    let server = with_pod().await;
    let elsewhere = ["10.244.9.9", "8.8.8.8"];
    let (endpoints, slices) =
        ("/api/v1/namespaces/default/endpoints", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices");
    let mut verdict = Verdict::default();
    // Validation knows what is special but for the address of all.
    let writable = |address: &str| elsewhere.contains(&address) || address == "255.255.255.255";
    // Of a pod that has another address, of another namespace's pod, and of none.
    let targets = [
        json!({"kind": "Pod", "name": "web", "namespace": "default"}),
        json!({"kind": "Pod", "name": "web", "namespace": "kube-system"}),
        Value::Null,
    ];
    for target in targets {
        let reach = async |address: &str| {
            let object = json!({"metadata": {"name": "web"}, "subsets": [{
                "addresses": [{"ip": address, "targetRef": target}], "ports": [{"name": "plain", "port": PORT}]}]});
            let written = server.put(&format!("{endpoints}/web"), &object).await;
            assert_eq!(written.code < 300, writable(address), "{address}: {}", written.message());
            for service in ["web:80", "web:plain", "http:web:plain"] {
                let path = format!("/api/v1/namespaces/default/services/{service}/proxy/x");
                assert!(server.get(&path).await.code >= 400, "{service} at {address}");
            }
            // Nor may a slice say so, which webhooks and aggregated servers are found by.
            let slice = json!({"metadata": {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}},
                "addressType": if address.contains(':') { "IPv6" } else { "IPv4" },
                "endpoints": [{"addresses": [address]}], "ports": [{"name": "plain", "port": PORT}]});
            let written = server.post(&format!("{slices}?dryRun=All"), &slice).await;
            assert_eq!(written.code < 300, writable(address), "{address}: {}", written.message());
        };
        let addresses: Vec<&str> = FORBIDDEN.into_iter().chain(elsewhere).collect();
        attack(&addresses, &server.routes, reach, &mut verdict, &format!("endpoints of {target}")).await;
    }
    verdict.assert_held();
    // Who may edit a namespace may not write endpoints into it.
    for role in ["edit", "admin"] {
        let role = server.get(&format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{role}")).await.ok();
        for rule in role["rules"].as_array().expect("rules") {
            let names = |key: &str, wanted: &[&str]| {
                let list = rule[key].as_array().cloned().unwrap_or_default();
                list.iter().any(|item| wanted.iter().any(|wanted| item == wanted))
            };
            let writes = names("verbs", &["create", "update", "patch", "delete", "deletecollection", "*"]);
            assert!(!(writes && names("resources", &["endpoints", "endpointslices", "*"])), "{rule}");
        }
    }
}

/// Goes to whatever address it is given.
async fn careless_proxy(routes: &Routes, host: &str) {
    // Nobody is there, but that is not its doing.
    let _ = routes.dial(host, PORT).await;
}

#[tokio::test]
async fn a_proxy_that_goes_anywhere_is_found_out() {
    let routes = Routes::default();
    let mut verdict = Verdict::default();
    let anywhere = async |address: &str| careless_proxy(&routes, address).await;
    attack(&FORBIDDEN, &routes, anywhere, &mut verdict, "any").await;
    attack(&["10.244.9.9", "8.8.8.8"], &routes, anywhere, &mut verdict, "no pod").await;
    let by_name = async |address: &str| {
        routes.name("node.example", &[address]);
        careless_proxy(&routes, "node.example").await;
    };
    attack(&FORBIDDEN, &routes, by_name, &mut verdict, "a name").await;
    // It judges the name, and then looks it up again.
    let in_turn = async |address: &str| {
        routes.name("node.example", &["192.0.2.9", address]);
        let judged = routes.resolve("node.example").await.expect("an address");
        assert!(!judged[0].is_loopback());
        careless_proxy(&routes, "node.example").await;
    };
    attack(&FORBIDDEN, &routes, in_turn, &mut verdict, "a name that changes").await;
    verdict.assert_breached();
}
