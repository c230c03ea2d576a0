//! Endpoints: the strategy of the old list of a service's addresses.

use crate::Strategy;
use crate::print;
use crate::read::{Read, ReadNode};
use crate::validation::equality;
use crate::validation::network::{validate_endpoint_ip, warn_of_ip};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct Endpoints;

const ADDRESS_LISTS: [&str; 2] = ["addresses", "notReadyAddresses"];

impl Strategy for Endpoints {
    fn validate(&self, endpoints: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        for (index, subset) in endpoints.list("subsets").iter().enumerate() {
            validate_subset(&mut errors, subset, &Path::new("subsets").index(index));
        }
        errors
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        let errors = self.validate(new);
        // What an older version took for valid may stay if it is not touched.
        if !errors.is_empty() && !equality::changed(new, old, &["subsets"]) { ErrorList::new() } else { errors }
    }

    fn warnings(&self, endpoints: &Value, _old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        if endpoints.label("endpoints.kubernetes.io/managed-by") == Some("endpoint-controller") {
            return warnings;
        }
        for (index, subset) in endpoints.list("subsets").iter().enumerate() {
            for list in ADDRESS_LISTS {
                for (number, address) in subset.list(list).iter().enumerate() {
                    let path = Path::new("subsets").index(index).child(list).index(number).child("ip");
                    warn_of_ip(&mut warnings, address.text("ip"), &path);
                }
            }
        }
        warnings
    }

    fn computed_cells(&self, endpoints: Node<'_>, _now: Timestamp) -> Vec<Value> {
        vec![addresses(endpoints).into()]
    }
}

fn addresses(endpoints: Node<'_>) -> String {
    let subsets = endpoints.list("subsets");
    if subsets.is_empty() {
        return "<none>".to_owned();
    }
    let mut all = Vec::new();
    for subset in subsets {
        let ips = || subset.list("addresses").iter().map(|address| address.text("ip"));
        let ports = subset.list("ports");
        if ports.is_empty() {
            // A headless service may have no ports.
            all.extend(ips().map(str::to_owned));
        }
        for port in ports {
            all.extend(ips().map(|ip| join_host_port(ip, port.int("port"))));
        }
    }
    if all.is_empty() { String::new() } else { print::first_three(all.into_iter()) }
}

fn join_host_port(ip: &str, port: i64) -> String {
    if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") }
}

fn validate_subset(errors: &mut ErrorList, subset: &Value, path: &Path) {
    if ADDRESS_LISTS.iter().all(|list| subset.list(list).is_empty()) {
        errors.push(Error::required(path, "must specify `addresses` or `notReadyAddresses`"));
    }
    for list in ADDRESS_LISTS {
        for (index, address) in subset.list(list).iter().enumerate() {
            validate_endpoint_ip(errors, address.text("ip"), &path.child(list).index(index).child("ip"));
        }
    }
    let ports = subset.list("ports");
    for (index, port) in ports.iter().enumerate() {
        if ports.len() > 1 && port.text("name").is_empty() {
            errors.push(Error::required(&path.child("ports").index(index).child("name"), ""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check};
    use serde_json::json;

    #[test]
    fn subsets_have_addresses_one_can_reach() {
        check(&Endpoints, json!({"subsets": [{"addresses": [{"ip": "10.0.0.1"}], "ports": [{"port": 80}]}]}), &[]);
        check(
            &Endpoints,
            json!({"subsets": [{"ports": [{"port": 80}, {"port": 0, "name": "b"}]}]}),
            &[
                "subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`",
                "subsets[0].ports[0].name: Required value",
                "subsets[0].ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive",
            ],
        );
    }

    #[test]
    fn the_first_addresses_are_shown() {
        let ips: Vec<Value> = (1..6).map(|n| json!({"ip": format!("10.0.0.{n}")})).collect();
        let endpoints = json!({"metadata": {"name": "a"}, "subsets": [{"addresses": ips, "ports": [{"port": 80}]}]});
        assert_eq!(cells("Endpoints", endpoints)[1], "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 2 more...");
        assert_eq!(cells("Endpoints", json!({"metadata": {"name": "a"}}))[1], "<none>");
    }
}
