//! The runtime's configuration of a pod's sandbox: its namespaces, network and cgroup.

use super::dns::{self, HostResolver};
use super::{Machine, security};
use crate::cri::v1;
use crate::observed::{POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL};
use crate::pod;
use k8s_openapi::api::core::v1::Pod;
use std::path::{Path, PathBuf};

pub struct Inputs<'a> {
    pub pod: &'a Pod,
    pub attempt: u32,
    pub machine: &'a Machine,
    pub resolver: &'a HostResolver,
    pub cluster_dns: &'a [String],
    pub cluster_domain: &'a str,
    pub log_root: &'a Path,
}

/// `<root>/<namespace>_<name>_<uid>`, upstream's layout, which log collectors know.
pub fn pod_log_directory(root: &Path, namespace: &str, name: &str, uid: &str) -> PathBuf {
    root.join(format!("{namespace}_{name}_{uid}"))
}

/// The cgroup all of the pod's containers live in.
pub fn cgroup_parent(pod: &Pod, root: &str) -> String {
    let root = root.trim_end_matches('/');
    match pod::qos_class(pod) {
        "Guaranteed" => format!("{root}/pod{}", pod::uid(pod)),
        class => format!("{root}/{}/pod{}", class.to_lowercase(), pod::uid(pod)),
    }
}

/// Everywhere a pod's cgroup may be, for one whose class is no longer known.
pub fn cgroup_parents(uid: &str, root: &str) -> [String; 3] {
    let root = root.trim_end_matches('/');
    [format!("{root}/pod{uid}"), format!("{root}/burstable/pod{uid}"), format!("{root}/besteffort/pod{uid}")]
}

pub fn render_sandbox(inputs: &Inputs<'_>) -> v1::PodSandboxConfig {
    let pod = inputs.pod;
    let spec = pod::spec(pod);
    let context = spec.security_context.clone().unwrap_or_default();
    let mut labels: std::collections::HashMap<String, String> =
        pod.metadata.labels.clone().unwrap_or_default().into_iter().collect();
    labels.insert(POD_NAME_LABEL.into(), pod::name(pod).into());
    labels.insert(POD_NAMESPACE_LABEL.into(), pod::namespace(pod).into());
    labels.insert(POD_UID_LABEL.into(), pod::uid(pod).into());
    let privileged = spec
        .containers
        .iter()
        .chain(pod::init_containers(pod))
        .any(|c| c.security_context.as_ref().and_then(|s| s.privileged) == Some(true));
    let mut supplemental_groups = context.supplemental_groups.unwrap_or_default();
    supplemental_groups.extend(context.fs_group);
    v1::PodSandboxConfig {
        metadata: Some(v1::PodSandboxMetadata {
            name: pod::name(pod).into(),
            uid: pod::uid(pod).into(),
            namespace: pod::namespace(pod).into(),
            attempt: inputs.attempt,
        }),
        // A pod on the host's network has the host's name, which is the runtime's default.
        hostname: if pod::is_host_network(pod) {
            String::new()
        } else {
            dns::sandbox_hostname(pod, inputs.cluster_domain)
        },
        log_directory: pod_log_directory(inputs.log_root, pod::namespace(pod), pod::name(pod), pod::uid(pod))
            .to_string_lossy()
            .into_owned(),
        dns_config: Some(dns::compute_dns(pod, inputs.resolver, inputs.cluster_dns, inputs.cluster_domain)),
        port_mappings: port_mappings(pod),
        labels,
        annotations: pod.metadata.annotations.clone().unwrap_or_default().into_iter().collect(),
        linux: Some(v1::LinuxPodSandboxConfig {
            cgroup_parent: cgroup_parent(pod, &inputs.machine.cgroup_root),
            security_context: Some(v1::LinuxSandboxSecurityContext {
                namespace_options: Some(security::namespaces(pod, None)),
                run_as_user: context.run_as_user.map(|value| v1::Int64Value { value }),
                // The runtime refuses a group without a user.
                run_as_group: context
                    .run_as_group
                    .filter(|_| context.run_as_user.is_some())
                    .map(|value| v1::Int64Value { value }),
                supplemental_groups,
                privileged,
                seccomp: Some(v1::SecurityProfile {
                    profile_type: v1::security_profile::ProfileType::RuntimeDefault as i32,
                    ..Default::default()
                }),
                ..Default::default()
            }),
            sysctls: context
                .sysctls
                .into_iter()
                .flatten()
                .map(|sysctl| (sysctl.name.replace('/', "."), sysctl.value))
                .collect(),
            ..Default::default()
        }),
        windows: None,
    }
}

fn port_mappings(pod: &Pod) -> Vec<v1::PortMapping> {
    if pod::is_host_network(pod) {
        return Vec::new();
    }
    let sidecars = pod::init_containers(pod).iter().filter(|c| pod::is_sidecar(c));
    pod::containers(pod)
        .iter()
        .chain(sidecars)
        .flat_map(|container| container.ports.iter().flatten())
        .filter_map(|port| {
            let host_port = port.host_port.filter(|port| *port > 0)?;
            let protocol = match port.protocol.as_deref() {
                Some("UDP") => v1::Protocol::Udp,
                Some("SCTP") => v1::Protocol::Sctp,
                _ => v1::Protocol::Tcp,
            };
            Some(v1::PortMapping {
                protocol: protocol as i32,
                container_port: port.container_port,
                host_port,
                host_ip: port.host_ip.clone().unwrap_or_default(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use serde_json::json;

    #[test]
    fn a_sandbox_carries_identity_ports_and_cgroup() {
        let pod = pod(json!({ "containers": [{ "name": "a", "ports": [
            { "containerPort": 80, "hostPort": 8080, "protocol": "TCP" }, { "containerPort": 81 }] }] }));
        let config = render_sandbox(&Inputs {
            pod: &pod,
            attempt: 2,
            machine: &Machine { cgroup_root: "/kubepods".into(), ..Default::default() },
            resolver: &HostResolver::default(),
            cluster_dns: &["10.96.0.10".into()],
            cluster_domain: "cluster.local",
            log_root: Path::new("/logs"),
        });
        assert_eq!(config.log_directory, "/logs/default_web_u1");
        assert_eq!(config.port_mappings.len(), 1);
        let linux = config.linux.expect("a linux sandbox");
        assert_eq!(linux.cgroup_parent, "/kubepods/besteffort/podu1");
        assert_eq!(config.metadata.expect("metadata").attempt, 2);
        assert_eq!(config.labels[POD_UID_LABEL], "u1");
    }
}
