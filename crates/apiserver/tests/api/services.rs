//! Addresses and ports of Services.

use crate::server::{SERVICES, Server, service};
use serde_json::json;

#[tokio::test]
async fn addresses_and_ports_are_given_and_taken_back() {
    let server = Server::start().await;
    let mut wanted = service("a");
    wanted["spec"]["clusterIP"] = "10.96.0.50".into();
    wanted["spec"]["type"] = "NodePort".into();
    wanted["spec"]["ports"][0]["nodePort"] = 30123.into();
    let created = server.post(SERVICES, &wanted).await.ok();
    assert_eq!(created["spec"]["clusterIPs"], json!(["10.96.0.50"]));
    assert_eq!(created["spec"]["ports"][0]["nodePort"], 30123);

    let mut same_ip = service("b");
    same_ip["spec"]["clusterIP"] = "10.96.0.50".into();
    let refused = server.post(SERVICES, &same_ip).await;
    assert_eq!(
        (refused.code, refused.message().as_str()),
        (
            422,
            "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.50\"]: failed to allocate IP 10.96.0.50: provided IP is already allocated"
        )
    );
    let mut same_port = service("b");
    same_port["spec"]["type"] = "NodePort".into();
    same_port["spec"]["ports"][0]["nodePort"] = 30123.into();
    let refused = server.post(SERVICES, &same_port).await;
    assert_eq!(
        refused.message(),
        "Service \"b\" is invalid: spec.ports[0].nodePort: Invalid value: 30123: provided port is already allocated"
    );
    let mut outside = service("b");
    outside["spec"]["clusterIP"] = "192.168.0.1".into();
    let refused = server.post(SERVICES, &outside).await;
    let mismatch = "failed to allocate IP 192.168.0.1: the provided network does not match the current range";
    assert!(refused.message().ends_with(mismatch), "{}", refused.message());

    let deleted = server.delete(&format!("{SERVICES}/a")).await.ok();
    assert_eq!(deleted["kind"], "Service");
    server.post(SERVICES, &same_ip).await.ok();
}

#[tokio::test]
async fn a_change_of_type_moves_ports_and_keeps_the_address() {
    let server = Server::start().await;
    let created = server.post(SERVICES, &service("a")).await.ok();
    let ip = created["spec"]["clusterIP"].clone();
    let path = format!("{SERVICES}/a");
    let merge = "application/merge-patch+json";
    let opened = server.patch(merge, &path, &json!({"spec": {"type": "NodePort"}})).await.ok();
    let port = opened["spec"]["ports"][0]["nodePort"].as_u64().expect("a port");
    assert!((30000..=32767).contains(&port));
    assert_eq!(opened["spec"]["clusterIP"], ip);
    // A PUT that leaves out what the server filled in keeps it.
    let mut plain = service("a");
    plain["spec"]["type"] = "NodePort".into();
    let same = server.put(&path, &plain).await.ok();
    assert_eq!((&same["spec"]["clusterIP"], &same["spec"]["ports"][0]["nodePort"]), (&ip, &json!(port)));
    let closed = server.put(&path, &service("a")).await.ok();
    assert_eq!(closed["spec"]["clusterIP"], ip);
    assert!(closed["spec"]["ports"][0].get("nodePort").is_none());
    let mut other = service("b");
    other["spec"]["type"] = "NodePort".into();
    other["spec"]["ports"][0]["nodePort"] = port.into();
    server.post(SERVICES, &other).await.ok();
}

#[tokio::test]
async fn a_refused_service_leaves_nothing_taken() {
    let server = Server::start().await;
    let mut bad = service("a");
    bad["spec"]["clusterIP"] = "10.96.0.60".into();
    bad["spec"]["ports"][0]["port"] = 99999.into();
    assert_eq!(server.post(SERVICES, &bad).await.code, 422);
    let mut good = service("a");
    good["spec"]["clusterIP"] = "10.96.0.60".into();
    assert_eq!(server.post(&format!("{SERVICES}?dryRun=All"), &good).await.code, 201);
    server.post(SERVICES, &good).await.ok();
}

#[tokio::test]
async fn headless_and_external_services_have_no_address() {
    let server = Server::start().await;
    let mut headless = service("h");
    headless["spec"]["clusterIP"] = "None".into();
    let created = server.post(SERVICES, &headless).await.ok();
    assert_eq!(created["spec"]["clusterIPs"], json!(["None"]));
    let external = json!({
        "metadata": {"name": "e"}, "spec": {"type": "ExternalName", "externalName": "example.com"},
    });
    let created = server.post(SERVICES, &external).await.ok();
    assert!(created["spec"].get("clusterIP").is_none());
}

const RANGES: &str = "/apis/networking.k8s.io/v1/servicecidrs";
const ADDRESSES: &str = "/apis/networking.k8s.io/v1/ipaddresses";

/// Waits for the condition Ready of a range to say this.
async fn ready(events: &mut crate::server::Events, status: &str) -> serde_json::Value {
    loop {
        let event = events.next().await.expect("an event");
        let condition = &event["object"]["status"]["conditions"][0];
        if condition["status"] == status {
            return event["object"].clone();
        }
    }
}

#[tokio::test]
async fn every_cluster_ip_has_its_address_object() {
    let server = Server::start().await;
    let kubernetes = server.get(&format!("{ADDRESSES}/10.96.0.1")).await.ok();
    assert_eq!(
        kubernetes["spec"]["parentRef"],
        json!({"resource": "services", "namespace": "default", "name": "kubernetes"})
    );
    let labels = &kubernetes["metadata"]["labels"];
    assert_eq!(labels["ipaddress.kubernetes.io/managed-by"], "ipallocator.k8s.io");
    assert_eq!(labels["ipaddress.kubernetes.io/ip-family"], "IPv4");
    let created = server.post(SERVICES, &service("a")).await.ok();
    let path = format!("{ADDRESSES}/{}", created["spec"]["clusterIP"].as_str().expect("an address"));
    let address = server.get(&path).await.ok();
    assert_eq!(address["spec"]["parentRef"]["name"], "a");
    // Whoever deletes the object of an address in use finds it made again.
    let watch = format!(
        "{ADDRESSES}?watch=1&fieldSelector=metadata.name%3D{}",
        address["metadata"]["name"].as_str().unwrap_or_default()
    );
    let mut events = server.watch(&watch).await;
    assert_eq!(events.next_name().await.0, "ADDED");
    server.delete(&path).await.ok();
    assert_eq!(events.next_name().await.0, "DELETED");
    assert_eq!(events.next_name().await.0, "ADDED");
    server.delete(&format!("{SERVICES}/a")).await.ok();
    assert_eq!(server.get(&path).await.code, 404);
    // An address that is somebody else's is given to no Service.
    let foreign = json!({"metadata": {"name": "10.96.0.77"},
        "spec": {"parentRef": {"group": "g", "resource": "gateways", "namespace": "n", "name": "x"}}});
    server.post(ADDRESSES, &foreign).await.ok();
    let mut wanted = service("b");
    wanted["spec"]["clusterIP"] = "10.96.0.77".into();
    assert!(server.post(SERVICES, &wanted).await.message().ends_with("provided IP is already allocated"));
    server.delete(&format!("{ADDRESSES}/10.96.0.77")).await.ok();
    server.post(SERVICES, &wanted).await.ok();
}

#[tokio::test]
async fn ranges_open_and_close_for_services() {
    let server = Server::start().await;
    let mut events = server.watch(&format!("{RANGES}?watch=1&resourceVersion=0")).await;
    let default = ready(&mut events, "True").await;
    assert_eq!(
        (&default["metadata"]["name"], &default["spec"]["cidrs"]),
        (&json!("kubernetes"), &json!(["10.96.0.0/12"]))
    );
    assert_eq!(default["metadata"]["finalizers"], json!(["networking.k8s.io/service-cidr-finalizer"]));
    server.post(RANGES, &json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["203.0.113.0/24"]}})).await.ok();
    ready(&mut events, "True").await;
    let mut wanted = service("a");
    wanted["spec"]["clusterIP"] = "203.0.113.10".into();
    server.post(SERVICES, &wanted).await.ok();
    // A range in use stays until its last address is free.
    server.delete(&format!("{RANGES}/more")).await.ok();
    let blocked = ready(&mut events, "False").await;
    assert_eq!(blocked["status"]["conditions"][0]["reason"], "Terminating");
    let mut late = service("b");
    late["spec"]["clusterIP"] = "203.0.113.11".into();
    let refused = server.post(SERVICES, &late).await;
    assert!(
        refused.message().ends_with("the provided network does not match the current range"),
        "{}",
        refused.message()
    );
    server.delete(&format!("{SERVICES}/a")).await.ok();
    loop {
        let (kind, name) = events.next_name().await;
        if kind == "DELETED" {
            assert_eq!(name, "more");
            break;
        }
    }
}

/// The ServiceCIDR controller inside the server may do what its role allows, and no more; a
/// write that is refused is tried again by the rules of every queue, and counted.
#[tokio::test]
async fn the_controller_of_ranges_acts_with_the_rights_of_its_role() {
    let server = Server::start().await;
    let binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:controller:service-cidrs-controller";
    let role = server.get(binding).await.ok();
    let mut events = server.watch(&format!("{RANGES}?watch=1&resourceVersion=0")).await;
    let default = ready(&mut events, "True").await;
    let managers = default["metadata"]["managedFields"].as_array().expect("managed fields");
    assert!(managers.iter().any(|entry| entry["manager"] == "service-cidr-controller"), "{managers:?}");
    server.delete(binding).await.ok();
    server.post(RANGES, &json!({"metadata": {"name": "more"}, "spec": {"cidrs": ["203.0.113.0/24"]}})).await.ok();
    let retried = "workqueue_retries_total{name=\"service-cidr-controller\"} ";
    loop {
        let answer = server.get("/metrics").await;
        let metrics = String::from_utf8(answer.bytes.to_vec()).expect("text");
        let count = metrics.lines().find_map(|line| line.strip_prefix(retried)).expect("the queue is counted");
        if count != "0" {
            break;
        }
        tokio::task::yield_now().await;
    }
    let unprotected = server.get(&format!("{RANGES}/more")).await.ok();
    assert!(unprotected["metadata"].get("finalizers").is_none(), "{unprotected}");
    let again = json!({"metadata": {"name": role["metadata"]["name"]}, "roleRef": role["roleRef"],
        "subjects": role["subjects"]});
    server.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &again).await.ok();
    assert_eq!(ready(&mut events, "True").await["metadata"]["name"], "more");
}
