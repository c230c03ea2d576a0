//! Where a stream or proxy request goes, decided from the objects in memory
//! (registry/core/{pod,node,service}/strategy.go upstream). Pure but for those lookups.

use crate::outgoing::Dial;
use crate::query::Query;
use crate::request_info::RequestInfo;
use crate::verbs::Call;
use ferry_api::gvk::GroupResource;
use ferry_api::object::Meta;
use ferry_api::status::Status;
use form_urlencoded::Serializer;
use percent_encoding::AsciiSet;
use rand::seq::IndexedRandom;
use serde_json::Value;
use std::net::IpAddr;

/// The port of a kubelet that does not say another.
const KUBELET_PORT: u16 = 10250;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Http,
    Https,
    /// HTTPS with the server's own certificate, to a kubelet.
    Kubelet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub scheme: Scheme,
    pub host: String,
    /// Of a host that is a name: the one of its addresses that has been judged.
    pub address: Option<IpAddr>,
    pub port: u16,
    pub path_and_query: String,
}

/// Where a container's log is; `None` for a pod that has no node yet.
pub(super) fn of_log(call: &Call) -> Result<Option<Location>, Status> {
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
pub(super) fn of_stream(call: &Call) -> Result<Location, Status> {
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

/// The path that the backend is asked: what follows `proxy` in the URL, decoded. Empty when
/// nothing follows, not even a slash.
pub(super) fn backend_path(info: &RequestInfo) -> String {
    let mut path = info.rest.join("/");
    if !path.is_empty() {
        path.insert(0, '/');
    }
    if info.path.ends_with('/') && !path.ends_with('/') {
        path.push('/');
    }
    path
}

/// A decoded path as a URL carries it, with the characters left alone that Go leaves alone.
pub(super) fn encode_path(path: &str) -> String {
    const ESCAPED: &AsciiSet = &percent_encoding::NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'~')
        .remove(b'$')
        .remove(b'&')
        .remove(b'+')
        .remove(b',')
        .remove(b'/')
        .remove(b':')
        .remove(b';')
        .remove(b'=')
        .remove(b'@');
    percent_encoding::utf8_percent_encode(path, ESCAPED).to_string()
}

/// Where a proxy request goes: a path at a node, a pod or a service.
pub(super) async fn of_proxy(call: &Call, path: &str, query: Option<&str>) -> Result<Location, Status> {
    let path = if path.is_empty() { "/".to_owned() } else { encode_path(path) };
    let query = query.unwrap_or_default();
    let asked = call.info.name.as_str();
    let kind = call.row.singular.as_ref();
    let (scheme, name, port) =
        split_name(asked).ok_or_else(|| Status::bad_request(format!("invalid {kind} request {asked:?}")))?;
    match call.row.plural.as_ref() {
        "nodes" => {
            let mut location = kubelet(call, name, &path, query)?;
            location.address = check_host(&*call.server.backends.dial, &location.host).await?;
            if port.is_empty() || port == location.port.to_string() {
                return Ok(location);
            }
            // Another port than the kubelet's is somebody else's, without our certificate.
            Ok(Location { scheme, port: port_number(port)?, ..location })
        }
        "pods" => {
            let pods = &call.row;
            let pod = call
                .server
                .registry
                .stored(pods, call.namespace(), name)
                .map(|pod| pod.value())
                .ok_or_else(|| Status::not_found(&pods.group_resource(), name))?;
            let (host, port) = pod_address(&pod, scheme, port)?;
            Ok(Location { scheme, host, address: None, port, path_and_query: with_query(&path, query) })
        }
        _ => {
            let (host, port) = service_endpoint(call, name, port)?;
            Ok(Location { scheme, host, address: None, port, path_and_query: with_query(&path, query) })
        }
    }
}

/// `name`, `name:port` or `scheme:name:port`.
fn split_name(text: &str) -> Option<(Scheme, &str, &str)> {
    let parts: Vec<&str> = text.split(':').collect();
    let (scheme, name, port) = match parts.as_slice() {
        [name] => ("", *name, ""),
        [name, port] => ("", *name, *port),
        [scheme, name, port] => (*scheme, *name, *port),
        _ => return None,
    };
    let scheme = match scheme {
        "" | "http" => Scheme::Http,
        "https" => Scheme::Https,
        _ => return None,
    };
    (!name.is_empty()).then_some((scheme, name, port))
}

/// Whether an address may be proxied to. The machine's own addresses and those of its link
/// are the API server's neighbourhood, not the cluster's (CVE-2020-8562).
fn is_global_unicast(ip: IpAddr) -> bool {
    // An IPv4 address that is written as IPv6 leads to the same place.
    let ip = ip.to_canonical();
    let local = match ip {
        IpAddr::V4(ip) => ip.is_link_local() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    };
    !ip.is_unspecified() && !ip.is_loopback() && !ip.is_multicast() && !local
}

/// Every address of a node's name must be one that may be proxied to (CVE-2022-3294).
/// Gives the address to connect to where the host is a name.
async fn check_host(dial: &dyn Dial, host: &str) -> Result<Option<IpAddr>, Status> {
    let not_allowed = || Status::bad_request("address not allowed");
    if let Ok(ip) = host.parse() {
        return if is_global_unicast(ip) { Ok(None) } else { Err(not_allowed()) };
    }
    let addresses = dial.resolve(host).await.map_err(|error| Status::bad_request(format!("lookup {host}: {error}")))?;
    let Some(first) = addresses.first() else { return Err(Status::bad_request("no addresses for hostname")) };
    if addresses.iter().all(|ip| is_global_unicast(*ip)) { Ok(Some(*first)) } else { Err(not_allowed()) }
}

/// A port that is no number is looked for nowhere, and says so as Go's dialler does.
fn port_number(port: &str) -> Result<u16, Status> {
    let why = match port.parse::<u64>() {
        Ok(number) => match u16::try_from(number) {
            Ok(port) => return Ok(port),
            Err(_) => format!("dial tcp: address {port}: invalid port"),
        },
        Err(_) => format!("dial tcp: lookup tcp/{port}: unknown port"),
    };
    Err(Status::service_unavailable(format!("error trying to reach service: {why}")))
}

fn with_query(path: &str, query: &str) -> String {
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

fn pod(call: &Call) -> Result<Value, Status> {
    call.server
        .registry
        .stored(&call.row, call.namespace(), &call.info.name)
        .map(|pod| pod.value())
        .ok_or_else(|| Status::not_found(&call.row.group_resource(), &call.info.name))
}

/// The address of a pod and the asked port, or the first that the pod declares.
fn pod_address(pod: &Value, scheme: Scheme, port: &str) -> Result<(String, u16), Status> {
    let ip =
        pod.items_at(&["status", "podIPs"]).first().and_then(|entry| entry.get("ip")?.as_str()).unwrap_or_default();
    if !ip.parse().is_ok_and(is_global_unicast) {
        return Err(Status::bad_request("address not allowed"));
    }
    let first = || {
        let mut containers = pod.items_at(&["spec", "containers"]).iter();
        let ports = containers.find_map(|container| container.items_at(&["ports"]).first())?;
        u16::try_from(ports.get("containerPort")?.as_u64()?).ok()
    };
    let port = match port {
        "" => first().unwrap_or(if scheme == Scheme::Https { 443 } else { 80 }),
        asked => port_number(asked)?,
    };
    Ok((ip.to_owned(), port))
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
    at_kubelet(&stored.value(), &with_query(path, query))
}

/// The same of a node that is at hand.
pub(crate) fn at_kubelet(node: &Value, path_and_query: &str) -> Result<Location, Status> {
    let (host, port) = kubelet_address(node).ok_or_else(|| {
        Status::internal(format!("no preferred addresses found; known addresses: [] of node {}", node.name()))
    })?;
    Ok(Location { scheme: Scheme::Kubelet, host, address: None, port, path_and_query: path_and_query.to_owned() })
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

/// Some ready endpoint of a service's port that is one of the namespace's pods.
fn service_endpoint(call: &Call, name: &str, port: &str) -> Result<(String, u16), Status> {
    let namespace = call.namespace();
    let lookup = &call.server.lookup;
    let mut port_name = port.to_owned();
    if let Ok(number) = port.parse::<i64>() {
        let service = lookup
            .get("", "services", namespace, name)
            .ok_or_else(|| Status::not_found(&call.row.group_resource(), name))?
            .value();
        let ports = service.items_at(&["spec", "ports"]);
        let found = ports.iter().find(|own| own.get("port").and_then(Value::as_i64) == Some(number));
        let found = found.ok_or_else(|| {
            Status::service_unavailable(format!("no service port {number} found for service {name:?}"))
        })?;
        port_name = found.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    }
    let endpoints = lookup
        .get("", "endpoints", namespace, name)
        .ok_or_else(|| Status::not_found(&GroupResource::new("", "endpoints"), name))?
        .value();
    let pod_of = |pod: &str| lookup.get("", "pods", namespace, pod).map(|stored| stored.value());
    let candidates = endpoint_candidates(&endpoints, &port_name, namespace, &pod_of);
    let id = &call.info.name;
    candidates
        .choose(&mut rand::rng())
        .cloned()
        .ok_or_else(|| Status::service_unavailable(format!("no endpoints available for service {id:?}")))
}

/// The addresses of a port that belong to a pod of the namespace which has that address.
/// Anything else could be an address that someone wrote into the Endpoints to have the API
/// server call it (CVE-2021-25740).
fn endpoint_candidates(
    endpoints: &Value,
    port_name: &str,
    namespace: &str,
    pod_of: &dyn Fn(&str) -> Option<Value>,
) -> Vec<(String, u16)> {
    let mut candidates = Vec::new();
    for subset in endpoints.items_at(&["subsets"]) {
        let ports = subset.items_at(&["ports"]).iter();
        let port = ports
            .filter(|port| port.get("name").and_then(Value::as_str).unwrap_or_default() == port_name)
            .find_map(|port| port.get("port")?.as_u64())
            .and_then(|port| u16::try_from(port).ok());
        let Some(port) = port else { continue };
        for address in subset.items_at(&["addresses"]) {
            let ip = address.str_at(&["ip"]);
            if address.at(&["targetRef"]).is_none() || address.str_at(&["targetRef", "namespace"]) != namespace {
                continue;
            }
            let Some(pod) = pod_of(address.str_at(&["targetRef", "name"])) else { continue };
            if pod.items_at(&["status", "podIPs"]).iter().any(|entry| entry.str_at(&["ip"]) == ip) {
                candidates.push((ip.to_owned(), port));
            }
        }
    }
    candidates
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
        assert_eq!(split_name("a"), Some((Scheme::Http, "a", "")));
        assert_eq!(split_name("a:80"), Some((Scheme::Http, "a", "80")));
        assert_eq!(split_name("https:a:443"), Some((Scheme::Https, "a", "443")));
        for wrong in ["ftp:a:1", ":80", "a:b:c:d", "https::1"] {
            assert_eq!(split_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_servers_own_neighbourhood_is_not_proxied_to() {
        let allowed = |text: &str| is_global_unicast(text.parse().expect("an address"));
        assert!(allowed("10.0.0.1") && allowed("192.168.1.1") && allowed("fd00::1") && allowed("8.8.8.8"));
        for no in [
            "127.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "::ffff:0.0.0.0",
        ] {
            assert!(!allowed(no), "{no}");
        }
    }

    #[test]
    fn a_pods_port_is_the_asked_or_the_first_or_the_schemes() {
        let pod = |ip: &str, ports: Value| json!({"spec": {"containers": [{"name": "a"}, {"ports": ports}]}, "status": {"podIPs": [{"ip": ip}]}});
        let declared = pod("10.0.0.1", json!([{"containerPort": 81}]));
        assert_eq!(pod_address(&declared, Scheme::Http, "").ok(), Some(("10.0.0.1".into(), 81)));
        assert_eq!(pod_address(&declared, Scheme::Http, "90").ok(), Some(("10.0.0.1".into(), 90)));
        let bare = pod("10.0.0.1", json!([]));
        assert_eq!(pod_address(&bare, Scheme::Https, "").ok(), Some(("10.0.0.1".into(), 443)));
        let refused = pod_address(&pod("127.0.0.1", json!([])), Scheme::Http, "").expect_err("loopback");
        assert_eq!((refused.code, refused.message.as_str()), (400, "address not allowed"));
        let named = pod_address(&bare, Scheme::Http, "web").expect_err("names are for services");
        assert_eq!(named.message, "error trying to reach service: dial tcp: lookup tcp/web: unknown port");
    }

    #[test]
    fn only_addresses_of_pods_are_endpoints_for_the_proxy() {
        let endpoints = json!({"subsets": [{"ports": [{"name": "web", "port": 8080}], "addresses": [
            {"ip": "10.0.0.1", "targetRef": {"kind": "Pod", "name": "a", "namespace": "ns"}},
            {"ip": "10.0.0.2", "targetRef": {"kind": "Pod", "name": "a", "namespace": "ns"}},
            {"ip": "10.0.0.1", "targetRef": {"kind": "Pod", "name": "a", "namespace": "other"}},
            {"ip": "169.254.169.254"},
        ]}]});
        let pod_of = |name: &str| (name == "a").then(|| json!({"status": {"podIPs": [{"ip": "10.0.0.1"}]}}));
        assert_eq!(endpoint_candidates(&endpoints, "web", "ns", &pod_of), [("10.0.0.1".into(), 8080)]);
        assert!(endpoint_candidates(&endpoints, "", "ns", &pod_of).is_empty());
    }
}
