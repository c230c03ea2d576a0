//! Environment variables that tell a container of the services around it.

use ferry_api::view::core::v1::{Service, ServiceView};
use ferry_client::SharedObject;
use std::collections::BTreeMap;

/// Variables for every service of the pod's namespace, if it wants them, and always for
/// `kubernetes` of the default namespace (upstream: pkg/kubelet/envvars).
pub fn render_service_env(
    services: &[SharedObject<Service>],
    namespace: &str,
    links: bool,
) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    for service in services {
        let own = service.namespace() == namespace;
        let master = service.namespace() == "default" && service.name() == "kubernetes";
        // A service of the pod's own namespace named like the master's wins over it.
        let shadowed = master
            && !own
            && links
            && services.iter().any(|other| other.namespace() == namespace && other.name() == "kubernetes");
        if (own && links) || (master && !shadowed) {
            render_one(service.view(), &mut env);
        }
    }
    env
}

fn render_one(service: ServiceView<'_>, env: &mut BTreeMap<String, String>) {
    let (name, ip) = (service.metadata().name(), service.spec().cluster_ip());
    if ip.is_empty() || ip == "None" {
        return;
    }
    let ports = service.spec().ports();
    let Some(first) = ports.first() else { return };
    let prefix = variable_name(name);
    env.insert(format!("{prefix}_SERVICE_HOST"), ip.to_string());
    env.insert(format!("{prefix}_SERVICE_PORT"), first.port().to_string());
    for (index, port) in ports.iter().enumerate() {
        if !port.name().is_empty() {
            env.insert(format!("{prefix}_SERVICE_PORT_{}", variable_name(port.name())), port.port().to_string());
        }
        let protocol = Some(port.protocol()).filter(|protocol| !protocol.is_empty()).unwrap_or("TCP");
        let host = if ip.contains(':') { format!("[{ip}]") } else { ip.to_string() };
        let url = format!("{}://{host}:{}", protocol.to_lowercase(), port.port());
        if index == 0 {
            env.insert(format!("{prefix}_PORT"), url.clone());
        }
        let port_prefix = format!("{prefix}_PORT_{}_{}", port.port(), protocol.to_uppercase());
        env.insert(format!("{port_prefix}_PROTO"), protocol.to_lowercase());
        env.insert(format!("{port_prefix}_PORT"), port.port().to_string());
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

    fn service(namespace: &str, name: &str, ip: &str) -> SharedObject<Service> {
        SharedObject::of(json!({ "metadata": { "namespace": namespace, "name": name },
            "spec": { "clusterIP": ip, "ports": [{ "name": "http", "port": 80, "protocol": "TCP" }] } }))
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
