//! Service: the strategy of a stable name and address for pods. The API server allocates
//! cluster IPs and node ports after `prepare_*` and before validation.

mod prepare;
mod validate;

use crate::print;
use crate::read::{Read, ReadNode, default_text, default_value, field_mut, list_mut, remove, set};
use crate::validation::network::warn_of_ip;
use crate::{Context, Strategy};
use ferry_api::document::Node;
use ferry_api::field::{ErrorList, Path};
use ferry_api::object::Meta;
use ferry_api::view::List;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) struct Service;

/// Three hours, in which a client comes back to the same pod.
const AFFINITY_SECONDS: i64 = 10_800;

impl Strategy for Service {
    fn default(&self, service: &mut Value) {
        let Some(spec) = field_mut(service, "spec") else { return };
        match spec.text("sessionAffinity") {
            "None" => remove(spec, "sessionAffinityConfig"),
            "ClientIP" => {
                let config = spec.field("sessionAffinityConfig").field("clientIP");
                if !config.has("timeoutSeconds") {
                    set(spec, "sessionAffinityConfig", json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}}));
                }
            }
            _ => {}
        }
        for port in list_mut(spec, "ports") {
            if matches!(port.field("targetPort"), None | Some(Value::Number(_) | Value::String(_)))
                && (port.int("targetPort") == 0 && port.text("targetPort").is_empty())
            {
                let number = port.int("port");
                set(port, "targetPort", number);
            }
        }
        if is_externally_accessible(spec) {
            default_text(spec, "externalTrafficPolicy", "Cluster");
        }
        let kind = spec.text("type").to_owned();
        if matches!(kind.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP") {
            default_value(spec, "internalTrafficPolicy", "Cluster");
        }
        if kind == "LoadBalancer" {
            default_value(spec, "allocateLoadBalancerNodePorts", true);
            if let Some(balancer) = field_mut(service, "status").and_then(|status| field_mut(status, "loadBalancer")) {
                for ingress in list_mut(balancer, "ingress") {
                    if !ingress.text("ip").is_empty() {
                        default_value(ingress, "ipMode", "VIP");
                    }
                }
            }
        }
    }

    fn prepare_for_create(&self, _context: &Context, service: &mut Value) {
        if let Some(spec) = field_mut(service, "spec") {
            prepare::normalize_cluster_ips(spec, None);
        }
    }

    fn prepare_for_update(&self, _context: &Context, new: &mut Value, old: &Value) {
        let (Some(spec), Some(old_spec)) = (field_mut(new, "spec"), old.field("spec")) else { return };
        prepare::keep_allocated_values(spec, old_spec);
        prepare::normalize_cluster_ips(spec, Some(old_spec));
        prepare::drop_what_the_type_excludes(spec, old_spec);
        if spec.text("type") != "LoadBalancer" {
            set(new, "status", json!({"loadBalancer": {}}));
        }
    }

    fn validate(&self, service: &Value) -> ErrorList {
        validate::validate_service(service, None)
    }

    fn validate_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate::validate_service_update(new, old)
    }

    fn validate_status_update(&self, new: &Value, old: &Value) -> ErrorList {
        validate::validate_load_balancer_status(new, old)
    }

    fn warnings(&self, service: &Value, _old: Option<&Value>) -> Vec<String> {
        warnings_for(service)
    }

    fn computed_cells(&self, service: Node<'_>, _now: Timestamp) -> Vec<Value> {
        let spec = service.field("spec");
        let first = spec.texts("clusterIPs").next().unwrap_or_default();
        vec![
            print::or_none(first.to_owned()).into(),
            external_ip(service).into(),
            print::or_none(ports(spec.list("ports"))).into(),
        ]
    }
}

/// Whether traffic from outside the cluster can reach the service.
fn is_externally_accessible(spec: &Value) -> bool {
    match spec.text("type") {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.list("externalIPs").is_empty(),
        _ => false,
    }
}

/// Headless: found by its pods' addresses, having none of its own.
fn is_headless(spec: &Value) -> bool {
    matches!(spec.list("clusterIPs"), [only] if only == "None")
}

/// A balancer asks a health check port where only nodes with pods should be reached.
fn needs_health_check(spec: &Value) -> bool {
    spec.text("type") == "LoadBalancer" && spec.text("externalTrafficPolicy") == "Local"
}

fn external_ip(service: Node<'_>) -> String {
    let spec = service.field("spec");
    let external: Vec<&str> = spec.texts("externalIPs").collect();
    match spec.text("type") {
        "ClusterIP" | "NodePort" => print::or_none(external.join(",")),
        "LoadBalancer" => {
            let ingress = service.field("status").field("loadBalancer").list("ingress");
            let mut addresses: Vec<&str> = ingress
                .iter()
                .map(|ingress| match ingress.text("ip") {
                    "" => ingress.text("hostname"),
                    ip => ip,
                })
                .filter(|address| !address.is_empty())
                .collect();
            addresses.sort_unstable();
            addresses.dedup();
            addresses.extend(external);
            if addresses.is_empty() { "<pending>".to_owned() } else { addresses.join(",") }
        }
        "ExternalName" => spec.text("externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// `80:30080/TCP,443/TCP`.
fn ports(ports: List<'_, Node<'_>>) -> String {
    let piece = |port: Node<'_>| match port.int("nodePort") {
        0 => format!("{}/{}", port.int("port"), port.text("protocol")),
        node_port => format!("{}:{node_port}/{}", port.int("port"), port.text("protocol")),
    };
    ports.iter().map(piece).collect::<Vec<_>>().join(",")
}

fn warnings_for(service: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    let (spec, path) = (service.field("spec"), Path::new("spec"));
    if service.annotation("service.kubernetes.io/topology-aware-hints").is_some() {
        warnings.push(
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use service.kubernetes.io/topology-mode instead"
                .to_owned(),
        );
    }
    let (kind, cluster_ip) = (spec.text("type"), spec.text("clusterIP"));
    if !matches!(cluster_ip, "" | "None") {
        for (index, ip) in spec.texts("clusterIPs").enumerate() {
            warn_of_ip(&mut warnings, ip, &path.child("clusterIPs").index(index));
        }
    }
    let external = spec.list("externalIPs");
    let headless = kind == "ClusterIP" && cluster_ip == "None";
    if headless {
        if !spec.text("loadBalancerIP").is_empty() {
            warnings.push("spec.loadBalancerIP is ignored for headless services".to_owned());
        }
        if !external.is_empty() {
            warnings.push("spec.externalIPs is ignored for headless services".to_owned());
        }
        if spec.text("sessionAffinity") != "None" {
            warnings.push("spec.SessionAffinity is ignored for headless services".to_owned());
        }
    }
    for (index, ip) in spec.texts("externalIPs").enumerate() {
        warn_of_ip(&mut warnings, ip, &path.child("externalIPs").index(index));
    }
    if !external.is_empty() && !headless && kind != "ExternalName" {
        warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned());
    }
    warn_of_ip(&mut warnings, spec.text("loadBalancerIP"), &path.child("loadBalancerIP"));
    if kind == "ExternalName" && !external.is_empty() {
        warnings.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned());
    }
    if kind != "ExternalName" && !spec.text("externalName").is_empty() {
        warnings.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
    if spec.text("trafficDistribution") == "PreferClose" {
        warnings.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cells, check, check_update};
    use ferry_api::object::ensure_object;

    fn service(spec: Value) -> Value {
        let mut service = json!({"metadata": {"name": "a", "namespace": "default"}, "spec": {"ports": [{"port": 80}]}});
        let Value::Object(fields) = spec else { return service };
        ensure_object(&mut service["spec"]).extend(fields);
        service
    }

    #[test]
    fn ports_and_types_are_checked() {
        check(&Service, service(json!({})), &[]);
        check(&Service, service(json!({"clusterIP": "None", "clusterIPs": ["None"], "ports": []})), &[]);
        check(&Service, service(json!({"ports": []})), &["spec.ports: Required value"]);
        check(
            &Service,
            service(json!({"ports": [{"port": 80}, {"port": 80}]})),
            &[
                "spec.ports[0].name: Required value",
                "spec.ports[1].name: Required value",
                "spec.ports[1]: Duplicate value: {\"AppProtocol\":null,\"Name\":\"\",\"NodePort\":0,\"Port\":80,\"Protocol\":\"TCP\",\"TargetPort\":0}",
            ],
        );
        check(
            &Service,
            service(json!({"type": "Odd", "ports": [{"port": 0, "nodePort": 30000}]})),
            &[
                "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
                "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
                "spec.type: Unsupported value: \"Odd\": supported values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", \"NodePort\"",
            ],
        );
        check(
            &Service,
            service(json!({"ports": [{"port": 80, "nodePort": 30000}]})),
            &["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        );
        check(&Service, service(json!({"type": "ExternalName"})), &["spec.externalName: Required value"]);
        check(
            &Service,
            service(json!({"clusterIP": "10.0.0.300", "clusterIPs": ["10.0.0.300"]})),
            &[
                "spec.clusterIPs[0]: Invalid value: \"10.0.0.300\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ],
        );
        check(
            &Service,
            service(
                json!({"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}}),
            ),
            &[
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400",
            ],
        );
    }

    #[test]
    fn an_address_never_changes() {
        let with = |ip: &str| service(json!({"clusterIP": ip, "clusterIPs": [ip]}));
        check_update(
            &Service,
            with("10.96.0.1"),
            with("10.96.0.2"),
            &["spec.clusterIPs[0]: Invalid value: [\"10.96.0.2\"]: may not change once set"],
        );
        check_update(&Service, with("10.96.0.1"), service(json!({"selector": {"a": "b"}})), &[]);
        check_update(&Service, with("10.96.0.1"), service(json!({"type": "ExternalName", "externalName": "a.b"})), &[]);
    }

    #[test]
    fn a_service_shows_how_it_is_reached() {
        let shown = |spec: Value| Value::from(cells("Service", service(spec)));
        assert_eq!(
            shown(json!({"clusterIPs": ["10.96.0.1"], "selector": {"app": "web"}})),
            json!(["a", "ClusterIP", "10.96.0.1", "<none>", "80/TCP", "10m", "app=web"])
        );
        assert_eq!(
            shown(
                json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]})
            ),
            json!(["a", "NodePort", "<none>", "<none>", "80:30080/TCP,53/UDP", "10m", "<none>"])
        );
        assert_eq!(shown(json!({"type": "LoadBalancer"}))[3], "<pending>");
        assert_eq!(shown(json!({"type": "ExternalName", "externalName": "a.b", "ports": []}))[3], "a.b");
    }
}
