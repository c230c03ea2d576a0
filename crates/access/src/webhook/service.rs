//! Where a Service is answered from: one of its ready endpoints. Hooks, aggregated APIs
//! and the service proxy go there straight and not over the cluster address, so that the
//! server needs no proxy on its own machine (upstream's --enable-aggregator-routing,
//! apiserver/pkg/util/proxy ResolveEndpoint).

use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use ferry_cache::lookup::ObjectLookup;
use rand::seq::IndexedRandom;
use serde_json::Value;

/// An address and port that answers for a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceEndpoint {
    pub host: String,
    pub port: u16,
}

/// A ready endpoint of a service's port. The objects in memory decide, so each call sees
/// the present ones.
pub fn resolve_service(
    lookup: &dyn ObjectLookup,
    namespace: &str,
    name: &str,
    port: u16,
) -> Result<ServiceEndpoint, Status> {
    let service = lookup
        .get("", "services", namespace, name)
        .ok_or_else(|| Status::not_found(&GroupResource::new("", "services"), name))?
        .value();
    if service.str_at(&["spec", "type"]) == "ExternalName" {
        return Err(Status::failure(500, "", "unsupported service type \"ExternalName\""));
    }
    let chosen = find_port(&service, &port.to_string())
        .ok_or_else(|| Status::service_unavailable(format!("no service port {port} found for service {name:?}")))?;
    ready_endpoint(lookup, namespace, name, chosen.str_at(&["name"]))
}

/// Any ready endpoint for a service's port of this name.
fn ready_endpoint(
    lookup: &dyn ObjectLookup,
    namespace: &str,
    name: &str,
    port_name: &str,
) -> Result<ServiceEndpoint, Status> {
    let slices = lookup.list("discovery.k8s.io", "endpointslices", Some(namespace));
    let slices = slices.iter().filter(|slice| slice.label("kubernetes.io/service-name") == Some(name));
    let mut candidates: Vec<ServiceEndpoint> =
        slices.flat_map(|slice| ready_in_slice(&slice.value(), port_name)).collect();
    if candidates.is_empty()
        && let Some(endpoints) = lookup.get("", "endpoints", namespace, name)
    {
        // Endpoints that somebody wrote by hand are mirrored into slices, but a moment later.
        candidates = ready_in_endpoints(&endpoints.value(), port_name);
    }
    candidates
        .choose(&mut rand::rng())
        .cloned()
        .ok_or_else(|| Status::service_unavailable(format!("no endpoints available for service {name:?}")))
}

/// The port of a service by its number or its name; any one if neither is given.
pub(crate) fn find_port<'a>(service: &'a Value, port: &str) -> Option<&'a Value> {
    service.items_at(&["spec", "ports"]).iter().find(|candidate| {
        port.is_empty()
            || candidate.get("name").and_then(Value::as_str) == Some(port)
            || candidate.get("port").and_then(Value::as_u64).is_some_and(|number| number.to_string() == port)
    })
}

fn ready_in_slice(slice: &Value, port_name: &str) -> Vec<ServiceEndpoint> {
    let Some(port) = named_port(slice.items_at(&["ports"]), port_name) else { return Vec::new() };
    slice
        .items_at(&["endpoints"])
        .iter()
        .filter(|endpoint| endpoint.at(&["conditions", "ready"]).and_then(Value::as_bool) != Some(false))
        .filter_map(|endpoint| endpoint.items_at(&["addresses"]).first()?.as_str())
        .map(|host| ServiceEndpoint { host: host.to_owned(), port })
        .collect()
}

fn ready_in_endpoints(endpoints: &Value, port_name: &str) -> Vec<ServiceEndpoint> {
    let mut found = Vec::new();
    for subset in endpoints.items_at(&["subsets"]) {
        let Some(port) = named_port(subset.items_at(&["ports"]), port_name) else { continue };
        let hosts = subset.items_at(&["addresses"]).iter().filter_map(|address| address.get("ip")?.as_str());
        found.extend(hosts.map(|host| ServiceEndpoint { host: host.to_owned(), port }));
    }
    found
}

fn named_port(ports: &[Value], name: &str) -> Option<u16> {
    let port = ports.iter().find(|port| port.get("name").and_then(Value::as_str).unwrap_or_default() == name)?;
    u16::try_from(port.get("port")?.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_ready_endpoints_of_the_named_port_answer() {
        let slice = json!({"ports": [{"name": "web", "port": 8080}, {"name": "admin", "port": 9}],
            "endpoints": [
                {"addresses": ["10.0.0.1"], "conditions": {"ready": true}},
                {"addresses": ["10.0.0.2"], "conditions": {"ready": false}},
                {"addresses": ["10.0.0.3"]}]});
        let hosts: Vec<String> =
            ready_in_slice(&slice, "web").into_iter().map(|e| format!("{}:{}", e.host, e.port)).collect();
        assert_eq!(hosts, ["10.0.0.1:8080", "10.0.0.3:8080"]);
        assert!(ready_in_slice(&slice, "").is_empty());
        let endpoints = json!({"subsets": [{"addresses": [{"ip": "10.0.0.4"}], "ports": [{"port": 443}]}]});
        assert_eq!(ready_in_endpoints(&endpoints, ""), [ServiceEndpoint { host: "10.0.0.4".into(), port: 443 }]);
    }
}
