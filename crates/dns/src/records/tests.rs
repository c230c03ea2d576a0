//! Questions to a small zone, as `name type` and what comes back.

use super::*;
use serde_json::{Value, json};

fn service(name: &str, spec: Value) -> Event<Service> {
    let service = json!({"metadata": {"name": name, "namespace": "default"}, "spec": spec});
    Event::Added(SharedObject::of(service))
}

fn slice(name: &str, service: &str, endpoints: Value, ports: Value) -> Event<EndpointSlice> {
    let slice = json!({"metadata": {"name": name, "namespace": "default", "labels": {SERVICE_NAME: service}},
        "addressType": "IPv4", "endpoints": endpoints, "ports": ports});
    Event::Added(SharedObject::of(slice))
}

fn namespace(name: &str) -> Event<Namespace> {
    Event::Added(SharedObject::of(json!({"metadata": {"name": name}})))
}

fn zone() -> Zone {
    let mut zone = Zone::new("cluster.local", &[IpAddr::from([10, 96, 0, 10])]).expect("a domain");
    zone.on_namespace(&namespace("default"));
    zone.on_namespace(&namespace("empty"));
    zone.on_service(&service(
        "web",
        json!({"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9", "fd00::9"],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}]}),
    ));
    zone.on_slice(&slice(
        "web-1",
        "web",
        json!([{"addresses": ["10.244.0.7"]}]),
        json!([{"name": "http", "port": 8080}]),
    ));
    zone.on_service(&service("db", json!({"clusterIP": "None", "ports": [{"name": "sql", "port": 5432}]})));
    zone.on_slice(&slice(
        "db-1",
        "db",
        json!([
            {"addresses": ["10.244.0.2"], "hostname": "db-0", "conditions": {"ready": true}},
            {"addresses": ["10.244.0.3"]},
            {"addresses": ["10.244.0.4"], "conditions": {"ready": false}},
        ]),
        json!([{"name": "sql", "port": 5432, "protocol": "TCP"}]),
    ));
    zone.on_service(&service("bare", json!({"clusterIP": "None"})));
    zone.on_service(&service("far", json!({"type": "ExternalName", "externalName": "example.com"})));
    zone
}

/// The answers as text, or which way there are none.
fn ask(zone: &Zone, question: &str) -> String {
    let (name, kind) = question.split_once(' ').expect("a name and a type");
    let name = Name::from_ascii(format!("{name}.")).expect("a name");
    let kind: RecordType = kind.parse().expect("a type");
    match zone.answer(&name, kind) {
        Answer::Elsewhere => "elsewhere".to_owned(),
        Answer::NoData => "no data".to_owned(),
        Answer::NoSuchName => "no such name".to_owned(),
        Answer::Alias { target, .. } => format!("alias {target}"),
        Answer::Found { answers, additionals } => {
            let text = |records: &[Record]| records.iter().map(|r| r.data.to_string()).collect::<Vec<_>>().join(", ");
            match additionals.is_empty() {
                true => text(&answers),
                false => format!("{} with {}", text(&answers), text(&additionals)),
            }
        }
    }
}

#[test]
fn names_mean_what_the_specification_says() {
    let zone = zone();
    let check = |question: &str, expected: &str| assert_eq!(ask(&zone, question), expected, "{question}");
    check("web.default.svc.cluster.local A", "10.96.0.9");
    check("WEB.Default.SVC.cluster.LOCAL A", "10.96.0.9");
    check("web.default.svc.cluster.local AAAA", "fd00::9");
    check("web.default.svc.cluster.local MX", "no data");
    check(
        "_http._tcp.web.default.svc.cluster.local SRV",
        "0 100 80 web.default.svc.cluster.local. with 10.96.0.9, fd00::9",
    );
    check("_http._udp.web.default.svc.cluster.local SRV", "no such name");
    check("_http._tcp.web.default.svc.cluster.local A", "no data");
    check("_tcp.web.default.svc.cluster.local A", "no data");
    check("_sctp.web.default.svc.cluster.local A", "no such name");
    check("10-244-0-7.web.default.svc.cluster.local A", "10.244.0.7");
    check("db.default.svc.cluster.local A", "10.244.0.2, 10.244.0.3");
    check("db.default.svc.cluster.local AAAA", "no data");
    check("db-0.db.default.svc.cluster.local A", "10.244.0.2");
    check("10-244-0-2.db.default.svc.cluster.local A", "no such name");
    check("10-244-0-3.db.default.svc.cluster.local A", "10.244.0.3");
    check("10-244-0-4.db.default.svc.cluster.local A", "no such name");
    check(
        "_sql._tcp.db.default.svc.cluster.local SRV",
        "0 50 5432 10-244-0-3.db.default.svc.cluster.local., 0 50 5432 db-0.db.default.svc.cluster.local. with 10.244.0.3, 10.244.0.2",
    );
    check("bare.default.svc.cluster.local A", "no such name");
    check("far.default.svc.cluster.local A", "alias example.com.");
    check("far.default.svc.cluster.local CNAME", "example.com.");
    check("10-244-0-9.default.pod.cluster.local A", "10.244.0.9");
    check("10-244-0-9.default.pod.cluster.local AAAA", "no data");
    check("fd00--1.default.pod.cluster.local AAAA", "fd00::1");
    check("nonsense.default.pod.cluster.local A", "no such name");
    check("10-244-0-9.nowhere.pod.cluster.local A", "no such name");
}

#[test]
fn what_lies_between_names_exists_without_data() {
    let zone = zone();
    let check = |question: &str, expected: &str| assert_eq!(ask(&zone, question), expected, "{question}");
    check("cluster.local A", "no data");
    check("svc.cluster.local A", "no data");
    check("default.svc.cluster.local A", "no data");
    check("empty.svc.cluster.local A", "no data");
    check("nowhere.svc.cluster.local A", "no such name");
    check("none.default.svc.cluster.local A", "no such name");
    check("a.b.c.web.default.svc.cluster.local A", "no such name");
    check("other.cluster.local A", "no such name");
    check("cluster.local NS", "ns.dns.cluster.local.");
    check("ns.dns.cluster.local A", "10.96.0.10");
    check("dns-version.cluster.local TXT", "1.1.0");
    check("example.com A", "elsewhere");
    check("web.default.svc A", "elsewhere");
    check("local A", "elsewhere");
}

#[test]
fn addresses_lead_back_to_names() {
    let mut zone = zone();
    let check = |zone: &Zone, question: &str, expected: &str| assert_eq!(ask(zone, question), expected, "{question}");
    check(&zone, "9.0.96.10.in-addr.arpa PTR", "web.default.svc.cluster.local.");
    check(&zone, "2.0.244.10.in-addr.arpa PTR", "db-0.db.default.svc.cluster.local.");
    check(&zone, "3.0.244.10.in-addr.arpa PTR", "10-244-0-3.db.default.svc.cluster.local.");
    check(&zone, "4.0.244.10.in-addr.arpa PTR", "elsewhere");
    check(&zone, "0.244.10.in-addr.arpa PTR", "elsewhere");
    check(&zone, "8.8.8.8.in-addr.arpa PTR", "elsewhere");
    let reverse_v6 = "9.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa PTR";
    check(&zone, reverse_v6, "web.default.svc.cluster.local.");
    let Event::Added(web) = service("web", json!({"clusterIP": "10.96.0.9"})) else { panic!("an addition") };
    zone.on_service(&Event::Deleted(web));
    check(&zone, "9.0.96.10.in-addr.arpa PTR", "elsewhere");
    check(&zone, "web.default.svc.cluster.local A", "no such name");
}

#[test]
fn the_zone_follows_every_change_and_keeps_nothing() {
    let mut zone = zone();
    let before = slice("db-1", "db", json!([{"addresses": ["10.244.0.2"]}]), json!([]));
    let after = slice("db-1", "db", json!([{"addresses": ["10.244.0.8"]}]), json!([]));
    zone.on_slice(&after);
    assert_eq!(ask(&zone, "db.default.svc.cluster.local A"), "10.244.0.8");
    assert_eq!(ask(&zone, "2.0.244.10.in-addr.arpa PTR"), "elsewhere");
    // A slice that changes its service leaves the first.
    let moved = slice("db-1", "bare", json!([{"addresses": ["10.244.0.8"]}]), json!([]));
    zone.on_slice(&Event::Updated { old: after.object().clone(), new: moved.object().clone() });
    assert_eq!(ask(&zone, "db.default.svc.cluster.local A"), "no such name");
    assert_eq!(ask(&zone, "bare.default.svc.cluster.local A"), "10.244.0.8");
    drop(before);
    zone.on_slice(&Event::Deleted(moved.object().clone()));
    let web = slice("web-1", "web", json!([{"addresses": ["10.244.0.7"]}]), json!([]));
    zone.on_slice(&Event::Deleted(web.object().clone()));
    for name in ["web", "db", "bare", "far"] {
        zone.on_service(&Event::Deleted(service(name, json!({})).object().clone()));
    }
    for name in ["default", "empty"] {
        zone.on_namespace(&Event::Deleted(namespace(name).object().clone()));
    }
    assert!(zone.namespaces.is_empty() && zone.reverse.is_empty());
}
