//! What users leave out or change by changing a service's type: upstream infers what they
//! mean (registry/core/service storage and strategy), because many clients know only a
//! part of these linked fields.

use super::{is_externally_accessible, needs_health_check};
use crate::read::{Read, keep, list_mut, remove, set};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

fn needs_cluster_ip(spec: &Value) -> bool {
    spec.text("type") != "ExternalName"
}

pub(super) fn needs_node_port(spec: &Value) -> bool {
    matches!(spec.text("type"), "NodePort" | "LoadBalancer")
}

fn same_cluster_ips(new: &Value, old: &Value) -> bool {
    new.text("clusterIP") == old.text("clusterIP") && new.list("clusterIPs") == old.list("clusterIPs")
}

/// An update that does not mention what was allocated keeps it.
pub(super) fn keep_allocated_values(new: &mut Value, old: &Value) {
    if needs_cluster_ip(old) && needs_cluster_ip(new) {
        if new.text("clusterIP").is_empty() {
            keep(new, old, "clusterIP");
        }
        if new.list("clusterIPs").is_empty() {
            keep(new, old, "clusterIPs");
        }
        for key in ["ipFamilies", "ipFamilyPolicy"] {
            if !new.has(key) {
                keep(new, old, key);
            }
        }
    }
    if needs_node_port(old) && needs_node_port(new) {
        let node_ports = |spec: &Value| -> HashSet<i64> {
            spec.list("ports").iter().map(|port| port.int("nodePort")).filter(|port| *port != 0).collect()
        };
        // A number that the new service already uses for some port is not given twice.
        let used: HashSet<i64> = node_ports(old).intersection(&node_ports(new)).copied().collect();
        let by_name: HashMap<&str, i64> =
            old.list("ports").iter().map(|port| (port.text("name"), port.int("nodePort"))).collect();
        for port in list_mut(new, "ports") {
            let before = by_name.get(port.text("name")).copied().unwrap_or(0);
            if port.int("nodePort") == 0 && before != 0 && !used.contains(&before) {
                set(port, "nodePort", before);
            }
        }
    }
    if needs_health_check(old) && needs_health_check(new) && new.int("healthCheckNodePort") == 0 {
        keep(new, old, "healthCheckNodePort");
    }
}

/// `clusterIP` and the first of `clusterIPs` are one; old clients write only the former.
pub(super) fn normalize_cluster_ips(new: &mut Value, old: Option<&Value>) {
    let address = new.text("clusterIP").to_owned();
    let Some(old) = old else {
        if !address.is_empty() && new.list("clusterIPs").is_empty() {
            set(new, "clusterIPs", json!([address]));
        }
        return;
    };
    if new.list("clusterIPs").is_empty() && old.text("clusterIP") == address {
        keep(new, old, "clusterIPs");
    }
    if old.text("clusterIP") != address && new.list("clusterIPs") == old.list("clusterIPs") {
        if address.is_empty() {
            remove(new, "clusterIPs");
        } else {
            set(new, "clusterIPs", json!([address]));
        }
    }
}

/// Clears what no longer applies after a change of type, unless the user changed it too:
/// then validation tells.
pub(super) fn drop_what_the_type_excludes(new: &mut Value, old: &Value) {
    if needs_cluster_ip(old) && !needs_cluster_ip(new) {
        if same_cluster_ips(new, old) {
            remove(new, "clusterIP");
            remove(new, "clusterIPs");
        }
        for key in ["ipFamilies", "ipFamilyPolicy"] {
            if new.field(key) == old.field(key) {
                remove(new, key);
            }
        }
    }
    if needs_node_port(old) && !needs_node_port(new) {
        let before: HashSet<i64> = old.list("ports").iter().map(|port| port.int("nodePort")).collect();
        let no_new = |port: &Value| port.int("nodePort") == 0 || before.contains(&port.int("nodePort"));
        if new.list("ports").iter().all(no_new) {
            for port in list_mut(new, "ports") {
                remove(port, "nodePort");
            }
        }
    }
    let was_balanced = old.text("type") == "LoadBalancer";
    let is_balanced = new.text("type") == "LoadBalancer";
    for (applied, applies, key) in [
        (needs_health_check(old), needs_health_check(new), "healthCheckNodePort"),
        (was_balanced, is_balanced, "allocateLoadBalancerNodePorts"),
        (was_balanced, is_balanced, "loadBalancerClass"),
        (is_externally_accessible(old), is_externally_accessible(new), "externalTrafficPolicy"),
    ] {
        if applied && !applies && new.field(key) == old.field(key) {
            remove(new, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apply_without_addresses_keeps_them() {
        let old = json!({"type": "NodePort", "clusterIP": "10.96.0.5", "clusterIPs": ["10.96.0.5"],
            "ports": [{"port": 80, "nodePort": 30080}]});
        let mut new = json!({"type": "NodePort", "ports": [{"port": 81}]});
        keep_allocated_values(&mut new, &old);
        normalize_cluster_ips(&mut new, Some(&old));
        assert_eq!(new["clusterIPs"], json!(["10.96.0.5"]));
        assert_eq!(new["ports"][0]["nodePort"], 30080);
    }

    #[test]
    fn a_change_of_type_drops_what_it_excludes() {
        let old = json!({"type": "NodePort", "clusterIP": "10.96.0.5", "clusterIPs": ["10.96.0.5"],
            "externalTrafficPolicy": "Cluster", "ports": [{"port": 80, "nodePort": 30080}]});
        let mut new = old.clone();
        new["type"] = "ClusterIP".into();
        drop_what_the_type_excludes(&mut new, &old);
        assert_eq!(
            new,
            json!({"type": "ClusterIP", "clusterIP": "10.96.0.5", "clusterIPs": ["10.96.0.5"], "ports": [{"port": 80}]})
        );
        let mut new = old.clone();
        new["type"] = "ExternalName".into();
        drop_what_the_type_excludes(&mut new, &old);
        assert_eq!(new, json!({"type": "ExternalName", "ports": [{"port": 80}]}));
    }
}
