//! Where a stream or proxy request goes, decided from the objects in memory
//! (registry/core/{pod,node,service}/strategy.go upstream). Pure but for those lookups.

use crate::query::Query;
use crate::verbs::Call;
use crate::webhook;
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use form_urlencoded::Serializer;
use serde_json::Value;

/// The port of a kubelet that does not say another.
const KUBELET_PORT: u16 = 10250;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
    /// HTTPS with the server's own certificate, to a kubelet.
    Kubelet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub scheme: Scheme,
    pub host: String,
    pub port: u16,
    pub path_and_query: String,
}

/// Where a container's log is; `None` for a pod that has no node yet.
pub fn of_log(call: &Call) -> Result<Option<Location>, Status> {
    let pod = pod(call)?;
    let container = container_of(&pod, call.query.text("container").unwrap_or_default())?;
    check_log_options(&call.query)?;
    let node = pod.str_at(&["spec", "nodeName"]);
    if node.is_empty() {
        return Ok(None);
    }
    let mut query = Serializer::new(String::new());
    for key in ["follow", "previous", "timestamps"] {
        if call.query.flag(key) {
            query.append_pair(key, "true");
        }
    }
    for key in ["sinceSeconds", "sinceTime", "tailLines", "limitBytes", "stream"] {
        if let Some(value) = call.query.text(key) {
            query.append_pair(key, value);
        }
    }
    let path = format!("/containerLogs/{}/{}/{container}", pod.namespace(), pod.name());
    kubelet(call, node, &path, &query.finish()).map(Some)
}

/// Mistakes in log options are told before the kubelet is asked.
fn check_log_options(query: &Query) -> Result<(), Status> {
    use ferry_api::field::{Error, Path};
    let mut errors = Vec::new();
    if let Some(lines) = query.integer("tailLines")?.filter(|lines| *lines < 0) {
        errors.push(Error::invalid(&Path::new("tailLines"), lines, "must be greater than or equal to 0"));
    }
    if let Some(bytes) = query.integer("limitBytes")?.filter(|bytes| *bytes < 1) {
        errors.push(Error::invalid(&Path::new("limitBytes"), bytes, "must be greater than 0"));
    }
    if query.text("sinceSeconds").is_some() && query.text("sinceTime").is_some() {
        errors.push(Error::forbidden(&Path::new(""), "at most one of `sinceTime` or `sinceSeconds` may be specified"));
    } else if let Some(seconds) = query.integer("sinceSeconds")?.filter(|seconds| *seconds < 1) {
        errors.push(Error::invalid(&Path::new("sinceSeconds"), seconds, "must be greater than 0"));
    }
    if errors.is_empty() {
        return Ok(());
    }
    Err(Status::invalid(&ferry_api::gvk::GroupVersionKind::new("", "v1", "PodLogOptions"), "", errors))
}

/// Where exec, attach and port-forward go.
pub fn of_stream(call: &Call) -> Result<Location, Status> {
    let pod = pod(call)?;
    let node = pod.str_at(&["spec", "nodeName"]);
    let subresource = call.info.subresource.as_str();
    let mut query = Serializer::new(String::new());
    let path = if subresource == "portforward" {
        for port in call.query.all("ports") {
            query.append_pair("port", port);
        }
        format!("/portForward/{}/{}", pod.namespace(), pod.name())
    } else {
        let container = container_of(&pod, call.query.text("container").unwrap_or_default())?;
        for (from, to) in [("stdin", "input"), ("stdout", "output"), ("stderr", "error"), ("tty", "tty")] {
            if call.query.flag(from) {
                query.append_pair(to, "1");
            }
        }
        if subresource == "exec" {
            if call.query.all("command").next().is_none() {
                return Err(Status::bad_request("you must specify at least 1 command to execute"));
            }
            for word in call.query.all("command") {
                query.append_pair("command", word);
            }
        }
        format!("/{subresource}/{}/{}/{container}", pod.namespace(), pod.name())
    };
    if node.is_empty() {
        return Err(Status::bad_request(format!("pod {} does not have a host assigned", pod.name())));
    }
    kubelet(call, node, &path, &query.finish())
}

/// Where a proxy request goes: the rest of its path at a node, a pod or a service.
pub fn of_proxy(call: &Call, query: Option<&str>) -> Result<Location, Status> {
    let mut path = format!("/{}", call.info.rest.join("/"));
    if call.info.path.ends_with('/') && !path.ends_with('/') {
        path.push('/');
    }
    let query = query.unwrap_or_default();
    let (scheme, name, port) = split_name(&call.info.name);
    match call.row.plural.as_ref() {
        "nodes" => {
            let location = kubelet(call, name, &path, query)?;
            match port.parse() {
                // Another port than the kubelet's is somebody else's, without our certificate.
                Ok(port) if port != location.port => Ok(Location { scheme: Scheme::Http, port, ..location }),
                _ => Ok(location),
            }
        }
        "pods" => {
            let pods = &call.row;
            let pod = call
                .server
                .registry
                .current(pods, call.namespace(), name)
                .ok_or_else(|| Status::not_found(&pods.group_resource(), name))?;
            let host = pod.str_at(&["status", "podIP"]).to_owned();
            if host.is_empty() {
                return Err(Status::bad_request(format!("address not allowed: pod {name} has no IP")));
            }
            let port = pod_port(&pod, port)?;
            Ok(Location { scheme, host, port, path_and_query: with_query(&path, query) })
        }
        _ => {
            let (host, port) = service_endpoint(call, name, port)?;
            Ok(Location { scheme, host, port, path_and_query: with_query(&path, query) })
        }
    }
}

/// `name`, `name:port` or `scheme:name:port`.
fn split_name(text: &str) -> (Scheme, &str, &str) {
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        [name, port] => (Scheme::Http, name, port),
        ["https", name, port] => (Scheme::Https, name, port),
        [_, name, port] => (Scheme::Http, name, port),
        _ => (Scheme::Http, text, ""),
    }
}

fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

fn pod(call: &Call) -> Result<Value, Status> {
    call.server
        .registry
        .current(&call.row, call.namespace(), &call.info.name)
        .ok_or_else(|| Status::not_found(&call.row.group_resource(), &call.info.name))
}

fn pod_port(pod: &Value, port: &str) -> Result<u16, Status> {
    let first = pod
        .items_at(&["spec", "containers"])
        .iter()
        .flat_map(|container| container.items_at(&["ports"]))
        .find_map(|port| port.get("containerPort").and_then(Value::as_u64));
    match port {
        "" => Ok(first.and_then(|port| u16::try_from(port).ok()).unwrap_or(80)),
        number => number.parse().map_err(|_| Status::bad_request(format!("invalid pod request {number:?}"))),
    }
}

/// The container that is meant, which must be one of the pod's.
fn container_of(pod: &Value, asked: &str) -> Result<String, Status> {
    let names = |list: &str| -> Vec<String> {
        let items = pod.items_at(&["spec", list]).iter();
        items.filter_map(|container| container.get("name")?.as_str()).map(str::to_owned).collect()
    };
    let (containers, init) = (names("containers"), names("initContainers"));
    if asked.is_empty() {
        return match containers.as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(Status::bad_request(format!("a container name must be specified for pod {}", pod.name()))),
            many => {
                let mut text = format!(
                    "a container name must be specified for pod {}, choose one of: [{}]",
                    pod.name(),
                    many.join(" ")
                );
                if !init.is_empty() {
                    text.push_str(&format!(" or one of the init containers: [{}]", init.join(" ")));
                }
                Err(Status::bad_request(text))
            }
        };
    }
    if [containers, init, names("ephemeralContainers")].iter().flatten().any(|name| name == asked) {
        return Ok(asked.to_owned());
    }
    Err(Status::bad_request(format!("container {asked} is not valid for pod {}", pod.name())))
}

/// A path at a node's kubelet.
fn kubelet(call: &Call, node: &str, path: &str, query: &str) -> Result<Location, Status> {
    let stored = call
        .server
        .lookup
        .get("", "nodes", "", node)
        .ok_or_else(|| Status::not_found(&GroupResource::new("", "nodes"), node))?;
    let (host, port) = kubelet_address(&stored.value())
        .ok_or_else(|| Status::internal(format!("no preferred addresses found; known addresses: [] of node {node}")))?;
    Ok(Location { scheme: Scheme::Kubelet, host, port, path_and_query: with_query(path, query) })
}

/// Upstream's default order of address types, those that a certificate names first.
fn kubelet_address(node: &Value) -> Option<(String, u16)> {
    let addresses = node.items_at(&["status", "addresses"]);
    let of_type = |kind: &str| {
        let address = addresses.iter().find(|address| address.get("type").and_then(Value::as_str) == Some(kind))?;
        address.get("address")?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let host = ["InternalIP", "ExternalIP", "Hostname", "InternalDNS"].into_iter().find_map(of_type)?;
    let port = node.i64_at(&["status", "daemonEndpoints", "kubeletEndpoint", "Port"]);
    Some((host, port.and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0).unwrap_or(KUBELET_PORT)))
}

/// Some ready endpoint of a service's port.
fn service_endpoint(call: &Call, name: &str, port: &str) -> Result<(String, u16), Status> {
    let namespace = call.namespace();
    let registry = &call.server.lookup;
    let service = registry
        .get("", "services", namespace, name)
        .ok_or_else(|| Status::not_found(&call.row.group_resource(), name))?
        .value();
    let chosen = webhook::find_port(&service, port)
        .ok_or_else(|| Status::service_unavailable(format!("no service port {port:?} found for service {name:?}")))?;
    let endpoint = webhook::ready_endpoint(&**registry, namespace, name, chosen.str_at(&["name"]))?;
    Ok((endpoint.host, endpoint.port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_container_must_be_clear_and_there() {
        let one = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a"}]}});
        let two = json!({"metadata": {"name": "p"},
            "spec": {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": [{"name": "i"}]}});
        assert_eq!(container_of(&one, "").ok().as_deref(), Some("a"));
        assert_eq!(container_of(&two, "i").ok().as_deref(), Some("i"));
        assert_eq!(
            container_of(&two, "").expect_err("unclear").message,
            "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]"
        );
        assert_eq!(container_of(&two, "x").expect_err("absent").message, "container x is not valid for pod p");
    }

    #[test]
    fn a_kubelet_is_found_by_the_addresses_of_its_node() {
        let node = json!({"status": {
            "addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10999}}}});
        assert_eq!(kubelet_address(&node), Some(("10.0.0.1".into(), 10999)));
        assert_eq!(kubelet_address(&json!({"status": {}})), None);
    }

    #[test]
    fn names_in_proxy_urls_carry_scheme_and_port() {
        assert_eq!(split_name("a"), (Scheme::Http, "a", ""));
        assert_eq!(split_name("a:80"), (Scheme::Http, "a", "80"));
        assert_eq!(split_name("https:a:443"), (Scheme::Https, "a", "443"));
    }
}
