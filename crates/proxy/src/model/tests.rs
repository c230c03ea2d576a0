use ferry_api::view::Owned;
use ferry_api::view::core::v1::ServiceStatus;
use ferry_api::view::discovery::v1::{EndpointConditions, EndpointSlice};
use serde_json::{Value, json};

use super::*;
use crate::fixtures::{service, slice};

/// `policies` are internal and external.
#[track_caller]
fn check_endpoints(spec: Value, endpoints: &[(&str, &str)], cluster: &[&str], local: &[&str], has_endpoints: bool) {
    let slice = slice("web", "web-1", endpoints);
    let ports = compute_service(service("web", spec).view(), [slice.view()], "here");
    let addresses =
        |endpoints: &[Endpoint]| endpoints.iter().map(|endpoint| endpoint.address.to_string()).collect::<Vec<_>>();
    assert_eq!(ports.len(), 1);
    assert_eq!(addresses(&ports[0].cluster_endpoints), cluster, "policy Cluster");
    assert_eq!(addresses(&ports[0].local_endpoints), local, "policy Local");
    assert_eq!(ports[0].has_endpoints, has_endpoints);
}

#[test]
fn ready_endpoints_are_used() {
    check_endpoints(
        json!({}),
        &[("10.244.0.1", "r"), ("10.244.0.2", ""), ("10.244.0.3", "st"), ("10.244.0.4", "rl")],
        &["10.244.0.1", "10.244.0.4"],
        &[],
        true,
    );
}

#[test]
fn terminating_endpoints_serve_when_none_is_ready() {
    check_endpoints(
        json!({}),
        &[("10.244.0.1", "t"), ("10.244.0.2", "st"), ("10.244.0.3", "s")],
        &["10.244.0.2"],
        &[],
        true,
    );
    check_endpoints(json!({}), &[("10.244.0.1", "t"), ("10.244.0.2", "")], &[], &[], false);
}

#[test]
fn local_policy_chooses_for_itself() {
    let internal = || json!({"internalTrafficPolicy": "Local"});
    check_endpoints(internal(), &[("10.244.0.1", "r"), ("10.244.0.2", "rl")], &[], &["10.244.0.2"], true);
    // The ready one is elsewhere, so the local one serves on while it terminates.
    check_endpoints(internal(), &[("10.244.0.1", "r"), ("10.244.0.2", "stl")], &[], &["10.244.0.2"], true);
    check_endpoints(internal(), &[("10.244.0.1", "r")], &[], &[], true);

    let external = json!({
        "type": "NodePort", "externalTrafficPolicy": "Local",
        "ports": [{"name": "http", "port": 80, "nodePort": 30080}],
    });
    let both = &[("10.244.0.1", "r"), ("10.244.0.2", "rl")];
    check_endpoints(external, both, &["10.244.0.1", "10.244.0.2"], &["10.244.0.2"], true);
    // Without a way in from outside the external policy means nothing.
    check_endpoints(json!({"externalTrafficPolicy": "Local"}), both, &["10.244.0.1", "10.244.0.2"], &[], true);
}

#[test]
fn missing_conditions_mean_ready() {
    let mut slice = slice("web", "web-1", &[("10.244.0.1", "")]);
    let mut endpoint = slice.view().endpoints().first().expect("an endpoint").to_owned();
    endpoint.set_conditions(None::<EndpointConditions>);
    slice.set_endpoints([endpoint]);
    let ports = compute_service(service("web", json!({})).view(), [slice.view()], "here");
    assert_eq!(ports[0].cluster_endpoints.len(), 1);
}

#[test]
fn an_address_in_two_slices_counts_once_and_the_living_pod_wins() {
    let dying = slice("web", "a", &[("10.244.0.1", "t")]);
    let living = slice("web", "b", &[("10.244.0.1", "rl")]);
    for slices in [[dying.view(), living.view()], [living.view(), dying.view()]] {
        let ports = compute_service(service("web", json!({})).view(), slices, "here");
        let expected = Endpoint { address: "10.244.0.1".parse().expect("an address"), port: 8080, local: true };
        assert_eq!(ports[0].cluster_endpoints, [expected]);
    }
}

#[test]
fn ports_meet_by_name_and_protocol() {
    let spec = json!({"ports": [
        {"name": "http", "port": 80},
        {"name": "dns", "port": 53, "protocol": "UDP"},
        {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
    ]});
    let slice = EndpointSlice::from(json!({
        "metadata": {"namespace": "default", "name": "a"},
        "addressType": "IPv4",
        "ports": [
            {"name": "http", "port": 8080, "protocol": "UDP"},
            {"name": "dns", "port": 5353, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 5354},
            {"name": "dns-tcp"},
        ],
        "endpoints": [{"addresses": ["10.244.0.1"]}, {"addresses": ["fd00::1"]}, {"addresses": []}, {"addresses": ["x"]}],
    }));
    let ports = compute_service(service("web", spec).view(), [slice.view()], "here");
    let found: Vec<(&str, Vec<u16>)> = ports
        .iter()
        .map(|port| (port.label.as_str(), port.cluster_endpoints.iter().map(|endpoint| endpoint.port).collect()))
        .collect();
    assert_eq!(found, [("http", vec![]), ("dns", vec![5353]), ("dns-tcp", vec![5354])]);
}

#[test]
fn families_are_kept_apart() {
    let spec = json!({
        "clusterIPs": ["fd00:96::1", "10.96.0.1"],
        "externalIPs": ["203.0.113.1", "2001:db8::1"],
        "ports": [{"port": 80, "name": "http"}],
    });
    let (four, six) = (slice("web", "a", &[("10.244.0.1", "r")]), slice("web", "b", &[("fd00:10:244::1", "r")]));
    let ports = compute_service(service("web", spec).view(), [four.view(), six.view()], "here");
    let found: Vec<(String, String, String)> = ports
        .iter()
        .map(|port| {
            let endpoint = &port.cluster_endpoints[0];
            (port.cluster_ip.to_string(), port.external_ips[0].to_string(), endpoint.address.to_string())
        })
        .collect();
    let expected = [("10.96.0.1", "203.0.113.1", "10.244.0.1"), ("fd00:96::1", "2001:db8::1", "fd00:10:244::1")];
    assert_eq!(found, expected.map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string())));
}

#[test]
fn services_without_addresses_have_no_ports() {
    for spec in [
        json!({"clusterIP": "None", "clusterIPs": ["None"]}),
        json!({"clusterIP": "", "clusterIPs": []}),
        json!({"type": "ExternalName", "externalName": "example.com"}),
    ] {
        assert!(compute_service(service("web", spec).view(), [], "here").is_empty());
    }
    let mut other = service("web", json!({}));
    other.edit_metadata(|metadata| metadata.insert_labels(OTHER_PROXY_LABEL, "mesh"));
    assert!(compute_service(other.view(), [], "here").is_empty());
}

#[test]
fn odd_fields_are_read_as_upstream_does() {
    let mut odd = service(
        "web",
        json!({
            "clusterIPs": null,
            "sessionAffinity": "ClientIP",
            "loadBalancerSourceRanges": [" 198.51.100.0/24 ", "2001:db8::/32", "nonsense"],
            "ports": [{"port": 80, "nodePort": 0}, {"port": 0}, {"port": 70000}, {"port": 1, "protocol": "ICMP"}],
        }),
    );
    odd.set_status(ServiceStatus::from(json!({"loadBalancer": {"ingress": [
        {"ip": "203.0.113.7"}, {"ip": "203.0.113.8", "ipMode": "Proxy"}, {"hostname": "lb.example.com"},
    ]}})));
    let ports = compute_service(odd.view(), [], "here");
    assert_eq!(ports.len(), 1);
    assert_eq!((ports[0].label.as_str(), ports[0].node_port), ("80", None));
    assert_eq!(ports[0].affinity_seconds, Some(10_800));
    assert_eq!(ports[0].source_ranges, ["198.51.100.0/24".parse().expect("a range")]);
    assert_eq!(ports[0].load_balancer_ips, ["203.0.113.7".parse::<IpAddr>().expect("an address")]);

    let open = service("web", json!({"loadBalancerSourceRanges": ["198.51.100.0/24", "0.0.0.0/0"]}));
    assert!(compute_service(open.view(), [], "here")[0].source_ranges.is_empty());
}

/// The endpoints of policy Cluster for node `here` in zone `a`; each with the nodes and zones it
/// is hinted for.
#[track_caller]
fn check_hints(endpoints: &[(&str, &[&str], &[&str])], expected: &[&str]) {
    let plain: Vec<(&str, &str)> = endpoints.iter().map(|(address, ..)| (*address, "r")).collect();
    let mut slice = slice("web", "web-1", &plain);
    for (endpoint, (_, nodes, zones)) in
        slice.value_mut()["endpoints"].as_array_mut().expect("a list").iter_mut().zip(endpoints)
    {
        let hints = |names: &[&str]| names.iter().map(|name| json!({"name": name})).collect::<Vec<_>>();
        endpoint["hints"] = json!({"forNodes": hints(nodes), "forZones": hints(zones)});
    }
    let node = NodePlace { name: "here", zone: "a" };
    let ports = compute_service(service("web", json!({})).view(), [slice.view()], node);
    let found: Vec<String> = ports[0].cluster_endpoints.iter().map(|endpoint| endpoint.address.to_string()).collect();
    assert_eq!(found, expected);
}

#[test]
fn hints_choose_the_own_node_then_the_own_zone_then_everybody() {
    let (one, two) = ("10.244.0.1", "10.244.0.2");
    check_hints(&[(one, &[], &["a"]), (two, &[], &["b"])], &[one]);
    check_hints(&[(one, &["there"], &["a"]), (two, &["here", "there"], &["b"])], &[two]);
    // Nodes are hinted, but not this one: the zone decides.
    check_hints(&[(one, &["there"], &["a"]), (two, &["there"], &["b"])], &[one]);
    check_hints(&[(one, &[], &["b"]), (two, &[], &["c"])], &[one, two]);
    check_hints(&[(one, &[], &["a"]), (two, &[], &[])], &[one, two]);
}

#[test]
fn a_health_check_counts_the_ready_addresses_of_this_node() {
    let slice =
        slice("web", "web-1", &[("10.244.0.1", "rl"), ("10.244.0.1", "rl"), ("10.244.0.2", "l"), ("10.244.0.3", "r")]);
    let check = |spec: Value| compute_health_check(service("web", spec).view(), [slice.view()], "here");
    let local = json!({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30099});
    assert_eq!(check(local), Some(HealthCheck { port: 30099, local_endpoints: 1 }));
    assert_eq!(
        check(json!({"type": "LoadBalancer", "externalTrafficPolicy": "Cluster", "healthCheckNodePort": 30099})),
        None
    );
}
