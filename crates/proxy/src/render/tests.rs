use ferry_api::view::Owned;
use ferry_api::view::core::v1::{Service, ServiceStatus};
use serde_json::json;

use super::*;
use crate::compute_service;
use crate::fixtures::{config, key, service, slice};

/// Chains, sets and elements in the notation of `nft list table`, near enough to review.
fn describe(rules: &ServiceRules) -> String {
    let mut text = String::new();
    for (chain, rules) in &rules.chains {
        let _ = writeln!(text, "chain {chain}");
        for rule in rules {
            let _ = writeln!(text, "    {rule}");
        }
    }
    for (set, definition) in &rules.sets {
        let _ = writeln!(text, "set {set}\n    {definition}");
    }
    for (element, verdict) in &rules.elements {
        let verdict = verdict.as_ref().map_or(String::new(), |verdict| format!(" : {verdict}"));
        let _ = writeln!(text, "element {}\n    {}{verdict}", element.container, element.key);
    }
    text
}

fn render(service: &Service, endpoints: &[(&str, &str)]) -> String {
    let slice = slice("web", "web-1", endpoints);
    let ports = compute_service(service.view(), [slice.view()], "here");
    describe(&render_service(&key("web"), &ports, &config()))
}

const TWO: &[(&str, &str)] = &[("10.244.0.5", "rl"), ("10.244.1.6", "r")];

#[test]
fn frame() {
    insta::assert_snapshot!(render_base(&config()));
}

#[test]
fn frame_without_ranges() {
    insta::assert_snapshot!(render_base(&Config::new("here")));
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
fn names_that_could_end_a_command_are_left_out() {
    let evil = service("web", json!({"ports": [{"name": "a;flush ruleset", "port": 80}]}));
    assert_eq!(render(&evil, TWO), "");
}

#[test]
fn long_names_stay_short_and_distinct() {
    let long = |last: char| shorten(format!("{}{last}", "n".repeat(190)));
    assert_eq!(long('a').len(), 150);
    assert_ne!(long('a'), long('b'));
    assert_eq!(shorten("default/web/tcp/http".to_string()), "default/web/tcp/http");
}

#[test]
fn overlapping_ranges_are_merged() {
    let ranges: Vec<Cidr> = ["10.1.0.0/16", "fd00::/8", "10.0.0.0/8", "10.0.0.0/8", "192.0.2.1/32"]
        .map(|range| range.parse().expect("a range"))
        .to_vec();
    assert_eq!(render_ranges(&ranges, Family::V4).as_deref(), Some("{ 10.0.0.0/8, 192.0.2.1/32 }"));
    assert_eq!(render_ranges(&ranges, Family::V6).as_deref(), Some("{ fd00::/8 }"));
    assert_eq!(render_ranges(&ranges[..1], Family::V6), None);
}
