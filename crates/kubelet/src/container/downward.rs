//! Values a pod may read about itself: fieldRef and resourceFieldRef, as environment
//! variables and as files.

use super::{ConfigError, Machine};
use crate::pod;
use ferry_api::quantity::Quantity;
use ferry_api::view::Map;
use ferry_api::view::core::v1::{ContainerView, PodView, ResourceFieldSelectorView};

/// One field as text. `pod_ips` are the runtime's, because the status may not have
/// them yet when the first container starts.
pub fn field_value(path: &str, pod: PodView<'_>, pod_ips: &[String], machine: &Machine) -> Result<String, ConfigError> {
    let meta = pod.metadata();
    let text = |value: &str| Ok(value.to_string());
    if let Some((map, key)) = subscript(path) {
        let map = match map {
            "metadata.annotations" => meta.annotations(),
            "metadata.labels" => meta.labels(),
            _ => return Err(ConfigError(format!("fieldPath {map:?} does not support subscript"))),
        };
        return text(map.get(key).unwrap_or_default());
    }
    match path {
        "metadata.name" => text(meta.name()),
        "metadata.namespace" => text(meta.namespace()),
        "metadata.uid" => text(meta.uid()),
        "metadata.annotations" => Ok(format_map(meta.annotations())),
        "metadata.labels" => Ok(format_map(meta.labels())),
        "spec.nodeName" => text(pod.spec().node_name()),
        "spec.serviceAccountName" => text(pod.spec().service_account_name()),
        "status.hostIP" => Ok(machine.node_ips.first().cloned().unwrap_or_default()),
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
fn format_map(map: Map<'_, &str>) -> String {
    let lines: Vec<String> = map.to_map().iter().map(|(key, value)| format!("{key}={value:?}")).collect();
    lines.join("\n")
}

/// A request or limit of a container in units of its divisor, rounded up. A limit that
/// is not set is what the node can give.
pub fn resource_value(
    selector: ResourceFieldSelectorView<'_>,
    pod: PodView<'_>,
    own: ContainerView<'_>,
    machine: &Machine,
) -> Result<String, ConfigError> {
    let container = match selector.container_name() {
        "" => own,
        name => pod::find_container(pod, name).ok_or_else(|| ConfigError(format!("container {name} not found")))?.1,
    };
    let unsupported = || ConfigError(format!("unsupported container resource : {}", selector.resource()));
    let (list, name) = selector.resource().split_once('.').ok_or_else(unsupported)?;
    let (amounts, is_limit) = match list {
        "limits" => (container.resources().limits(), true),
        "requests" => (container.resources().requests(), false),
        _ => return Err(unsupported()),
    };
    let is_positive = |quantity: &Quantity| !quantity.is_zero() && !quantity.is_negative();
    let set = amounts.get(name).filter(is_positive);
    let divisor = selector.divisor().filter(is_positive);
    // CPU is counted in thousandths, everything else in whole units.
    let divide = |unit: fn(&Quantity) -> i64, one: i64, of_node: i64| {
        let amount = match &set {
            Some(quantity) => unit(quantity),
            None if is_limit => of_node,
            None => 0,
        };
        let divisor = divisor.as_ref().map_or(one, unit);
        (amount / divisor + i64::from(amount % divisor > 0)).to_string()
    };
    match name {
        "cpu" => Ok(divide(Quantity::milli_value, 1000, machine.allocatable_milli_cpu)),
        "memory" => Ok(divide(Quantity::value, 1, machine.allocatable_memory)),
        "ephemeral-storage" => Ok(divide(Quantity::value, 1, machine.allocatable_storage)),
        other if other.starts_with("hugepages-") => Ok(divide(Quantity::value, 1, 0)),
        _ => Err(unsupported()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::ResourceFieldSelector;
    use serde_json::json;

    #[test]
    fn fields_and_resources_of_a_pod() {
        let mut pod = pod(json!({ "nodeName": "n1", "containers": [{ "name": "a",
            "resources": { "limits": { "memory": "64Mi" }, "requests": { "cpu": "250m" } } }] }));
        pod.edit_metadata(|meta| meta.set_labels([("app", "we\"b"), ("b", "c")]));
        let machine = Machine { node_ips: vec!["192.0.2.1".into()], allocatable_milli_cpu: 4000, ..Default::default() };
        let field = |path| field_value(path, pod.view(), &["10.0.0.2".into()], &machine);
        assert_eq!(field("metadata.name").as_deref(), Ok("web"));
        assert_eq!(field("metadata.labels['app']").as_deref(), Ok("we\"b"));
        assert_eq!(field("metadata.labels").as_deref(), Ok("app=\"we\\\"b\"\nb=\"c\""));
        assert_eq!(field("status.podIP").as_deref(), Ok("10.0.0.2"));
        assert_eq!(field("status.hostIP").as_deref(), Ok("192.0.2.1"));
        assert!(field("spec.unknown").is_err());
        let value = |resource: &str, divisor: Option<&str>| {
            let selector = ResourceFieldSelector::new().with_divisor(divisor).with_resource(resource);
            let container = pod::containers(pod.view()).first().expect("a container");
            resource_value(selector.view(), pod.view(), container, &machine).expect("a known resource")
        };
        assert_eq!(value("limits.memory", None), "67108864");
        assert_eq!(value("limits.memory", Some("1Mi")), "64");
        assert_eq!(value("requests.cpu", None), "1");
        assert_eq!(value("requests.cpu", Some("1m")), "250");
        assert_eq!(value("limits.cpu", None), "4");
    }
}
