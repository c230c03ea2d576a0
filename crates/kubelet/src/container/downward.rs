//! Values a pod may read about itself: fieldRef and resourceFieldRef, as environment
//! variables and as files.

use super::{ConfigError, Machine};
use crate::pod;
use crate::resource;
use k8s_openapi::api::core::v1::{Container, Pod, ResourceFieldSelector};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use std::collections::BTreeMap;

/// One field as text. `pod_ips` are the runtime's, because the status may not have
/// them yet when the first container starts.
pub fn field_value(path: &str, pod: &Pod, pod_ips: &[String], machine: &Machine) -> Result<String, ConfigError> {
    let meta = &pod.metadata;
    let text = |value: Option<&str>| Ok(value.unwrap_or_default().to_string());
    if let Some((map, key)) = subscript(path) {
        let map = match map {
            "metadata.annotations" => &meta.annotations,
            "metadata.labels" => &meta.labels,
            _ => return Err(ConfigError(format!("fieldPath {map:?} does not support subscript"))),
        };
        return text(map.as_ref().and_then(|map| map.get(key)).map(String::as_str));
    }
    match path {
        "metadata.name" => text(meta.name.as_deref()),
        "metadata.namespace" => text(meta.namespace.as_deref()),
        "metadata.uid" => text(meta.uid.as_deref()),
        "metadata.annotations" => Ok(format_map(meta.annotations.as_ref())),
        "metadata.labels" => Ok(format_map(meta.labels.as_ref())),
        "spec.nodeName" => text(pod::spec(pod).node_name.as_deref()),
        "spec.serviceAccountName" => text(pod::spec(pod).service_account_name.as_deref()),
        "status.hostIP" => text(machine.node_ips.first().map(String::as_str)),
        "status.hostIPs" => Ok(machine.node_ips.join(",")),
        "status.podIP" | "status.podIPs" => {
            let ips = if pod::is_host_network(pod) { &machine.node_ips } else { pod_ips };
            Ok(if path == "status.podIP" { ips.first().cloned().unwrap_or_default() } else { ips.join(",") })
        }
        _ => Err(ConfigError(format!("unsupported fieldPath: {path}"))),
    }
}

fn subscript(path: &str) -> Option<(&str, &str)> {
    let (map, key) = path.strip_suffix("']")?.split_once("['")?;
    Some((map, key))
}

/// `key="value"` lines in order, as files under a downward API volume show them.
fn format_map(map: Option<&BTreeMap<String, String>>) -> String {
    let lines: Vec<String> = map.into_iter().flatten().map(|(key, value)| format!("{key}={value:?}")).collect();
    lines.join("\n")
}

/// A request or limit of a container in units of its divisor, rounded up. A limit that
/// is not set is what the node can give.
pub fn resource_value(
    selector: &ResourceFieldSelector,
    pod: &Pod,
    own: &Container,
    machine: &Machine,
) -> Result<String, ConfigError> {
    let container = match selector.container_name.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => {
            pod::find_container(pod, name).ok_or_else(|| ConfigError(format!("container {name} not found")))?.1
        }
        None => own.clone(),
    };
    let resources = container.resources.unwrap_or_default();
    let (kind, name) = selector
        .resource
        .split_once('.')
        .ok_or_else(|| ConfigError(format!("unsupported container resource : {}", selector.resource)))?;
    let list = match kind {
        "limits" => resources.limits,
        "requests" => resources.requests,
        _ => return Err(ConfigError(format!("unsupported container resource : {}", selector.resource))),
    };
    let set = list.as_ref().and_then(|list| list.get(name));
    let unlimited = kind == "limits";
    let divisor = selector.divisor.as_ref().map(resource::nano_value).filter(|nanos| *nanos > 0);
    let divide = |nanos: i128| {
        let divisor = divisor.unwrap_or(1_000_000_000);
        (nanos + divisor - 1).div_euclid(divisor).to_string()
    };
    let nanos = |quantity: Option<&Quantity>, node: i128| match quantity {
        Some(quantity) if resource::nano_value(quantity) > 0 => resource::nano_value(quantity),
        _ if unlimited => node,
        _ => 0,
    };
    match name {
        "cpu" => Ok(divide(nanos(set, i128::from(machine.allocatable_milli_cpu) * 1_000_000))),
        "memory" => Ok(divide(nanos(set, i128::from(machine.allocatable_memory) * 1_000_000_000))),
        "ephemeral-storage" => Ok(divide(nanos(set, i128::from(machine.allocatable_storage) * 1_000_000_000))),
        other if other.starts_with("hugepages-") => Ok(divide(nanos(set, 0))),
        _ => Err(ConfigError(format!("unsupported container resource : {}", selector.resource))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use serde_json::json;

    #[test]
    fn fields_and_resources_of_a_pod() {
        let mut pod = pod(json!({ "nodeName": "n1", "containers": [{ "name": "a",
            "resources": { "limits": { "memory": "64Mi" }, "requests": { "cpu": "250m" } } }] }));
        pod.metadata.labels = Some(BTreeMap::from([("app".into(), "we\"b".into()), ("b".into(), "c".into())]));
        let machine = Machine { node_ips: vec!["192.0.2.1".into()], allocatable_milli_cpu: 4000, ..Default::default() };
        let field = |path| field_value(path, &pod, &["10.0.0.2".into()], &machine);
        assert_eq!(field("metadata.name").as_deref(), Ok("web"));
        assert_eq!(field("metadata.labels['app']").as_deref(), Ok("we\"b"));
        assert_eq!(field("metadata.labels").as_deref(), Ok("app=\"we\\\"b\"\nb=\"c\""));
        assert_eq!(field("status.podIP").as_deref(), Ok("10.0.0.2"));
        assert_eq!(field("status.hostIP").as_deref(), Ok("192.0.2.1"));
        assert!(field("spec.unknown").is_err());
        let value = |resource: &str, divisor: Option<&str>| {
            let selector = ResourceFieldSelector {
                container_name: None,
                divisor: divisor.map(|d| Quantity(d.into())),
                resource: resource.into(),
            };
            resource_value(&selector, &pod, &pod::containers(&pod)[0], &machine).expect("a known resource")
        };
        assert_eq!(value("limits.memory", None), "67108864");
        assert_eq!(value("limits.memory", Some("1Mi")), "64");
        assert_eq!(value("requests.cpu", None), "1");
        assert_eq!(value("requests.cpu", Some("1m")), "250");
        assert_eq!(value("limits.cpu", None), "4");
    }
}
