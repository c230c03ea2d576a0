//! EndpointSlice: the strategy of a part of a service's addresses.

use crate::print;
use crate::read::{Read, ReadNode, list_mut, remove};
use crate::validation::equality;
use crate::validation::network::{validate_canonical_ip, validate_endpoint_ip, validate_ip, warn_of_ip};
use crate::{Context, Strategy, names};
use ferry_api::document::Node;
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::rules::cidr::parse_ip_sloppy;
use jiff::Timestamp;
use serde_json::Value;

pub(crate) struct EndpointSlice;

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

impl Strategy for EndpointSlice {
    fn prepare_for_create(&self, _context: &Context, slice: &mut Value) {
        drop_topology(slice);
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        if new.field("endpoints") != old.field("endpoints") {
            drop_topology(new);
        }
    }

    fn validate(&self, slice: &Value) -> ErrorList {
        let mut errors = ErrorList::new();
        for (index, endpoint) in slice.list("endpoints").iter().enumerate() {
            let path = Path::new("endpoints").index(index).child("addresses");
            validate_addresses(&mut errors, endpoint, slice.text("addressType"), &path);
        }
        errors
    }

    /// A value that an older version accepted may stay if it is not touched.
    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        if equality::changed(new, old, &["endpoints"]) { self.validate(new) } else { ErrorList::new() }
    }

    fn warnings(&self, slice: &Value, old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        if old.is_none() && slice.text("addressType") == "FQDN" {
            warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
        }
        // The controllers of the cluster write addresses in the right form.
        let by_controller = matches!(
            slice.label(MANAGED_BY),
            Some("endpointslice-controller.k8s.io" | "endpointslicemirroring-controller.k8s.io")
        );
        if by_controller || slice.text("addressType") == "FQDN" {
            return warnings;
        }
        for (index, endpoint) in slice.list("endpoints").iter().enumerate() {
            for (number, address) in endpoint.texts("addresses").enumerate() {
                let path = Path::new("endpoints").index(index).child("addresses").index(number);
                warn_of_ip(&mut warnings, address, &path);
            }
        }
        warnings
    }

    fn computed_cells(&self, slice: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let port = |port: Node<'_>| match (port.opt_int("port"), port.opt_text("name")) {
            (Some(number), _) => number.to_string(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => "*".to_owned(),
        };
        let addresses = slice.list("endpoints").iter().flat_map(|endpoint| endpoint.texts("addresses"));
        vec![
            print::first_three(slice.list("ports").iter().map(port)).into(),
            print::first_three(addresses.map(str::to_owned)).into(),
        ]
    }
}

/// Writes through this version do not set the topology of old.
fn drop_topology(slice: &mut Value) {
    for endpoint in list_mut(slice, "endpoints") {
        remove(endpoint, "deprecatedTopology");
    }
}

fn validate_addresses(errors: &mut ErrorList, endpoint: &Value, address_type: &str, path: &Path) {
    for (index, address) in endpoint.texts("addresses").enumerate() {
        let at = path.index(index);
        let is_six = parse_ip_sloppy(address).is_some_and(|ip| ip.is_ipv6());
        match address_type {
            "IPv4" if validate_ip(errors, address, &[], &at) => {
                if is_six {
                    errors.push(Error::invalid(path, address, "must be an IPv4 address"));
                }
                validate_endpoint_ip(errors, address, &at);
            }
            "IPv6" if validate_canonical_ip(errors, address, &at) => {
                if !is_six {
                    errors.push(Error::invalid(path, address, "must be an IPv6 address"));
                }
                validate_endpoint_ip(errors, address, &at);
            }
            "FQDN" => validate_domain_name(errors, address, &at),
            _ => {}
        }
    }
}

fn validate_domain_name(errors: &mut ErrorList, name: &str, path: &Path) {
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    let sentences = names::is_dns1123_subdomain(name);
    if !sentences.is_empty() {
        errors.push(Error::invalid(path, name, sentences.join(",")));
    } else if !name.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.push(Error::invalid(path, name, detail));
    } else if let Some(label) = name.split('.').find(|label| label.len() > 63) {
        errors.push(Error::invalid(path, label, names::is_dns1123_label(label).join(",")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use serde_json::json;

    fn slice(kind: &str, addresses: Value) -> Value {
        json!({"metadata": {"name": "a"}, "addressType": kind, "endpoints": [{"addresses": addresses}], "ports": [{"port": 80}]})
    }

    #[test]
    fn addresses_are_of_their_type() {
        check(&EndpointSlice, slice("IPv4", json!(["10.0.0.1"])), &[]);
        check(&EndpointSlice, slice("FQDN", json!(["a.b"])), &[]);
        check(
            &EndpointSlice,
            slice("IPv4", json!(["::2"])),
            &["endpoints[0].addresses: Invalid value: \"::2\": must be an IPv4 address"],
        );
        check(
            &EndpointSlice,
            slice("IPv4", json!([])),
            &["endpoints[0].addresses: Required value: must contain at least 1 address"],
        );
        check(&EndpointSlice, json!({}), &["addressType: Required value"]);
    }

    #[test]
    fn the_type_never_changes() {
        check_update(
            &EndpointSlice,
            slice("IPv4", json!(["10.0.0.1"])),
            slice("FQDN", json!(["a.b"])),
            &["addressType: Invalid value: \"FQDN\": field is immutable"],
        );
    }

    #[test]
    fn ports_and_addresses_are_shown() {
        assert_eq!(
            Value::from(cells("EndpointSlice", slice("IPv4", json!(["10.0.0.1", "10.0.0.2"])))),
            json!(["a", "IPv4", "80", "10.0.0.1,10.0.0.2", "10m"])
        );
        assert_eq!(
            Value::from(cells("EndpointSlice", json!({"metadata": {"name": "a"}, "addressType": "IPv4"}))),
            json!(["a", "IPv4", "<unset>", "<unset>", "10m"])
        );
    }
}
