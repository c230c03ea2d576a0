//! Environment variables that tell a container of the services around it.

use k8s_openapi::api::core::v1::Service;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Variables for every service of the pod's namespace, if it wants them, and always for
/// `kubernetes` of the default namespace (upstream: pkg/kubelet/envvars).
pub fn render_service_env(services: &[Arc<Service>], namespace: &str, links: bool) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    let name_of = |service: &Service| service.metadata.name.clone().unwrap_or_default();
    for service in services {
        let own = service.metadata.namespace.as_deref() == Some(namespace);
        let master = service.metadata.namespace.as_deref() == Some("default") && name_of(service) == "kubernetes";
        // A service of the pod's own namespace named like the master's wins over it.
        let shadowed = master
            && !own
            && links
            && services
                .iter()
                .any(|s| s.metadata.namespace.as_deref() == Some(namespace) && name_of(s) == "kubernetes");
        if (own && links) || (master && !shadowed) {
            render_one(service, &name_of(service), &mut env);
        }
    }
    env
}

fn render_one(service: &Service, name: &str, env: &mut BTreeMap<String, String>) {
    let Some(spec) = &service.spec else { return };
    let Some(ip) = spec.cluster_ip.as_deref().filter(|ip| !ip.is_empty() && *ip != "None") else { return };
    let ports = spec.ports.as_deref().unwrap_or_default();
    let Some(first) = ports.first() else { return };
    let prefix = variable_name(name);
    env.insert(format!("{prefix}_SERVICE_HOST"), ip.to_string());
    env.insert(format!("{prefix}_SERVICE_PORT"), first.port.to_string());
    for (index, port) in ports.iter().enumerate() {
        if let Some(port_name) = port.name.as_deref().filter(|n| !n.is_empty()) {
            env.insert(format!("{prefix}_SERVICE_PORT_{}", variable_name(port_name)), port.port.to_string());
        }
        let protocol = port.protocol.as_deref().unwrap_or("TCP");
        let host = if ip.contains(':') { format!("[{ip}]") } else { ip.to_string() };
        let url = format!("{}://{host}:{}", protocol.to_lowercase(), port.port);
        if index == 0 {
            env.insert(format!("{prefix}_PORT"), url.clone());
        }
        let port_prefix = format!("{prefix}_PORT_{}_{}", port.port, protocol.to_uppercase());
        env.insert(format!("{port_prefix}_PROTO"), protocol.to_lowercase());
        env.insert(format!("{port_prefix}_PORT"), port.port.to_string());
        env.insert(format!("{port_prefix}_ADDR"), ip.to_string());
        env.insert(port_prefix, url);
    }
}

fn variable_name(name: &str) -> String {
    name.replace(['-', '.'], "_").to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn service(namespace: &str, name: &str, ip: &str) -> Arc<Service> {
        let value = json!({ "metadata": { "namespace": namespace, "name": name },
            "spec": { "clusterIP": ip, "ports": [{ "name": "http", "port": 80, "protocol": "TCP" }] } });
        Arc::new(serde_json::from_value(value).expect("a service"))
    }

    #[test]
    fn own_services_and_the_master() {
        let services = [
            service("default", "kubernetes", "10.96.0.1"),
            service("shop", "my-web", "10.96.0.7"),
            service("other", "x", "10.96.0.8"),
            service("shop", "headless", "None"),
        ];
        let env = render_service_env(&services, "shop", true);
        assert_eq!(env["KUBERNETES_SERVICE_HOST"], "10.96.0.1");
        assert_eq!(env["MY_WEB_SERVICE_PORT_HTTP"], "80");
        assert_eq!(env["MY_WEB_PORT"], "tcp://10.96.0.7:80");
        assert_eq!(env["MY_WEB_PORT_80_TCP_ADDR"], "10.96.0.7");
        assert!(!env.keys().any(|key| key.starts_with("X_") || key.starts_with("HEADLESS")));
        let env = render_service_env(&services, "shop", false);
        assert!(env.keys().all(|key| key.starts_with("KUBERNETES_")));
    }
}
