//! Services: their number, their node ports and load balancers.

use super::{Amounts, one};
use crate::object::Meta;
use crate::quantity::{Format, Quantity};
use serde_json::Value;

pub(super) fn measures(name: &str) -> bool {
    matches!(name, "count/services" | "services" | "services.nodeports" | "services.loadbalancers")
}

/// The type as far as quotas tell services apart.
pub(super) fn kind(service: &Value) -> &str {
    match service.str_at(&["spec", "type"]) {
        kind @ ("NodePort" | "LoadBalancer") => kind,
        _ => "",
    }
}

pub(super) fn usage(service: &Value) -> Amounts {
    let ports = service.items_at(&["spec", "ports"]);
    // Ports are allocated later, so what is meant to be allocated counts.
    let node_ports = match kind(service) {
        "NodePort" => ports.len(),
        "LoadBalancer" if service.bool_at(&["spec", "allocateLoadBalancerNodePorts"]) == Some(false) => {
            ports.iter().filter(|port| port.i64_at(&["nodePort"]).unwrap_or(0) != 0).count()
        }
        "LoadBalancer" => ports.len(),
        _ => 0,
    };
    let count = |number: usize| Quantity::from_int(i64::try_from(number).unwrap_or(i64::MAX), Format::DecimalSi);
    Amounts::from([
        ("count/services".to_owned(), one()),
        ("services".to_owned(), one()),
        ("services.loadbalancers".to_owned(), count(usize::from(kind(service) == "LoadBalancer"))),
        ("services.nodeports".to_owned(), count(node_ports)),
    ])
}

#[cfg(test)]
mod tests {
    use super::super::amounts::render;
    use super::*;
    use serde_json::json;

    #[test]
    fn node_ports_count_by_what_is_meant() {
        let check = |spec: Value, balancers: u8, ports: u8| {
            let expected =
                format!("count/services=1,services=1,services.loadbalancers={balancers},services.nodeports={ports}");
            assert_eq!(render(&usage(&json!({"spec": spec}))), expected);
        };
        let ports = json!([{"port": 80}, {"port": 81, "nodePort": 30001}]);
        check(json!({"type": "ClusterIP", "ports": ports}), 0, 0);
        check(json!({"type": "NodePort", "ports": ports}), 0, 2);
        check(json!({"type": "LoadBalancer", "ports": ports}), 1, 2);
        check(json!({"type": "LoadBalancer", "ports": ports, "allocateLoadBalancerNodePorts": false}), 1, 1);
    }
}
