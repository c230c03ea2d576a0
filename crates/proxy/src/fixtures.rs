//! Services and slices for this crate's tests, as short as they can be said.

use ferry_api::rules::key::ObjectKey;
use ferry_api::view::core::v1::Service;
use ferry_api::view::discovery::v1::EndpointSlice;
use serde_json::{Value, json};

use crate::Config;

pub(crate) fn key(name: &str) -> ObjectKey {
    ObjectKey::new("default", name)
}

pub(crate) fn config() -> Config {
    Config {
        cluster_cidrs: vec!["10.244.0.0/16".parse().expect("a range"), "fd00:10:244::/56".parse().expect("a range")],
        service_cidrs: vec!["10.96.0.0/16".parse().expect("a range")],
        node_ips: vec!["192.0.2.1".parse().expect("an address")],
        ..Config::new("here")
    }
}

/// A Service at 10.96.0.1 with one TCP port 80 called http; `spec` overrides.
pub(crate) fn service(name: &str, spec: Value) -> Service {
    let mut whole = json!({
        "clusterIP": "10.96.0.1",
        "clusterIPs": ["10.96.0.1"],
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
    });
    merge(&mut whole, spec);
    Service::from(json!({"metadata": {"namespace": "default", "name": name}, "spec": whole}))
}

/// A slice whose ports are all called http and numbered 8080; endpoints are given as address and
/// conditions: `r`eady, `s`erving, `t`erminating, `l`ocal.
pub(crate) fn slice(service: &str, name: &str, endpoints: &[(&str, &str)]) -> EndpointSlice {
    let endpoints: Vec<Value> = endpoints
        .iter()
        .map(|(address, conditions)| {
            json!({
                "addresses": [address],
                "nodeName": if conditions.contains('l') { "here" } else { "there" },
                "conditions": {
                    "ready": conditions.contains('r'),
                    "serving": conditions.contains('s') || conditions.contains('r'),
                    "terminating": conditions.contains('t'),
                },
            })
        })
        .collect();
    let six = endpoints.iter().any(|endpoint| endpoint["addresses"][0].as_str().is_some_and(|text| text.contains(':')));
    EndpointSlice::from(json!({
        "metadata": {"namespace": "default", "name": name, "labels": {"kubernetes.io/service-name": service}},
        "addressType": if six { "IPv6" } else { "IPv4" },
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        "endpoints": endpoints,
    }))
}

fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}
