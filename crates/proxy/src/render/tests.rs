use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Service, ServiceStatus};
use serde_json::json;

use ferry_nftables::Family;

use super::*;
use crate::compute_service;
use crate::fixtures::{config, key, service, slice};
use crate::frame::render_frame;

fn render(service: &Service, endpoints: &[(&str, &str)]) -> String {
    let slice = slice("web", "web-1", endpoints);
    let ports = compute_service(service.view(), [slice.view()], "here");
    render_service(&key("web"), &ports, &config()).to_string()
}

const TWO: &[(&str, &str)] = &[("10.244.0.5", "rl"), ("10.244.1.6", "r")];

#[test]
fn frame() {
    insta::assert_snapshot!(render_frame(&config()).script());
}

#[test]
fn frame_without_ranges() {
    insta::assert_snapshot!(render_frame(&Config::new("here")).script());
}

#[test]
fn cluster_ip() {
    insta::assert_snapshot!(render(&service("web", json!({})), TWO));
}

#[test]
fn no_endpoints_are_refused() {
    let spec = json!({
        "type": "NodePort", "externalIPs": ["203.0.113.1"],
        "ports": [{"name": "http", "port": 80, "nodePort": 30080}],
    });
    insta::assert_snapshot!(render(&service("web", spec), &[]));
}

#[test]
fn node_port() {
    let spec = json!({"type": "NodePort", "ports": [{"name": "http", "port": 80, "nodePort": 30080}]});
    insta::assert_snapshot!(render(&service("web", spec), TWO));
}

#[test]
fn node_port_local_policy() {
    let spec = json!({
        "type": "NodePort", "externalTrafficPolicy": "Local",
        "ports": [{"name": "http", "port": 80, "nodePort": 30080}],
    });
    insta::assert_snapshot!(render(&service("web", spec), TWO));
}

#[test]
fn local_policies_without_local_endpoints_drop() {
    let spec = json!({
        "type": "NodePort", "externalTrafficPolicy": "Local", "internalTrafficPolicy": "Local",
        "ports": [{"name": "http", "port": 80, "nodePort": 30080}],
    });
    insta::assert_snapshot!(render(&service("web", spec), &[("10.244.1.6", "r")]));
}

#[test]
fn session_affinity() {
    let spec = json!({
        "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
    });
    insta::assert_snapshot!(render(&service("web", spec), TWO));
}

#[test]
fn load_balancer_with_source_ranges() {
    let mut balanced = service("web", json!({"type": "LoadBalancer", "loadBalancerSourceRanges": ["192.0.2.0/24"]}));
    balanced.set_status(ServiceStatus::from(json!({"loadBalancer": {"ingress": [{"ip": "203.0.113.7"}]}})));
    insta::assert_snapshot!(render(&balanced, TWO));
}

#[test]
fn ip6_affinity() {
    let spec = json!({"clusterIP": "fd00:96::1", "clusterIPs": ["fd00:96::1"], "sessionAffinity": "ClientIP"});
    insta::assert_snapshot!(render(&service("web", spec), &[("fd00:10:244::5", "rl")]));
}

#[test]
fn overlapping_ranges_are_merged() {
    let ranges: Vec<Cidr> = ["10.1.0.0/16", "fd00::/8", "10.0.0.0/8", "10.0.0.0/8", "192.0.2.1/32"]
        .map(|range| range.parse().expect("a range"))
        .to_vec();
    let texts = |family| ranges_of(&ranges, family).iter().map(Cidr::to_string).collect::<Vec<_>>();
    assert_eq!(texts(Family::V4), ["10.0.0.0/8", "192.0.2.1/32"]);
    assert_eq!(texts(Family::V6), ["fd00::/8"]);
}
