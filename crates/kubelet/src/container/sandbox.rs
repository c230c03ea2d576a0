//! The runtime's configuration of a pod's sandbox: its namespaces, network and cgroup.

use super::dns::{self, HostResolver};
use super::{Machine, security};
use crate::cri::v1;
use crate::observed::{POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL};
use crate::pod;
use ferry_api::rules::qos::{QosClass, qos_class};
use ferry_api::view::core::v1::PodView;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub struct Inputs<'a> {
    pub pod: PodView<'a>,
    pub attempt: u32,
    pub machine: &'a Machine,
    pub resolver: &'a HostResolver,
    pub cluster_dns: &'a [String],
    pub cluster_domain: &'a str,
    pub log_root: &'a Path,
    pub user_namespace: Option<&'a v1::UserNamespace>,
}

/// `<root>/<namespace>_<name>_<uid>`, upstream's layout, which log collectors know.
pub fn pod_log_directory(root: &Path, namespace: &str, name: &str, uid: &str) -> PathBuf {
    root.join(format!("{namespace}_{name}_{uid}"))
}

/// The cgroup all of the pod's containers live in.
pub fn cgroup_parent(pod: PodView<'_>, root: &str) -> String {
    let root = root.trim_end_matches('/');
    match qos_class(pod) {
        QosClass::Guaranteed => format!("{root}/pod{}", pod::uid(pod)),
        class => format!("{root}/{}/pod{}", class.as_str().to_lowercase(), pod::uid(pod)),
    }
}

/// Everywhere a pod's cgroup may be, for one whose class is no longer known.
pub fn cgroup_parents(uid: &str, root: &str) -> [String; 3] {
    let root = root.trim_end_matches('/');
    [format!("{root}/pod{uid}"), format!("{root}/burstable/pod{uid}"), format!("{root}/besteffort/pod{uid}")]
}

pub fn render_sandbox(inputs: &Inputs<'_>) -> v1::PodSandboxConfig {
    let pod = inputs.pod;
    let spec = pod.spec();
    let context = spec.security_context().unwrap_or_default();
    let mut labels: HashMap<String, String> = pod.metadata().labels().to_map().into_iter().collect();
    labels.insert(POD_NAME_LABEL.into(), pod::name(pod).into());
    labels.insert(POD_NAMESPACE_LABEL.into(), pod::namespace(pod).into());
    labels.insert(POD_UID_LABEL.into(), pod::uid(pod).into());
    let privileged = spec
        .containers()
        .iter()
        .chain(spec.init_containers())
        .any(|container| container.security_context().and_then(|own| own.privileged()) == Some(true));
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
        annotations: pod.metadata().annotations().to_map().into_iter().collect(),
        linux: Some(v1::LinuxPodSandboxConfig {
            cgroup_parent: cgroup_parent(pod, &inputs.machine.cgroup_root),
            security_context: Some(v1::LinuxSandboxSecurityContext {
                namespace_options: Some(security::namespaces(pod, None, inputs.user_namespace)),
                run_as_user: context.run_as_user().map(|value| v1::Int64Value { value }),
                // The runtime refuses a group without a user.
                run_as_group: context
                    .run_as_group()
                    .filter(|_| context.run_as_user().is_some())
                    .map(|value| v1::Int64Value { value }),
                supplemental_groups: context.supplemental_groups().iter().chain(context.fs_group()).collect(),
                supplemental_groups_policy: security::groups_policy(context),
                privileged,
                seccomp: Some(v1::SecurityProfile {
                    profile_type: v1::security_profile::ProfileType::RuntimeDefault as i32,
                    ..Default::default()
                }),
                ..Default::default()
            }),
            sysctls: context
                .sysctls()
                .iter()
                .map(|sysctl| (sysctl.name().replace('/', "."), sysctl.value_().to_owned()))
                .collect(),
            ..Default::default()
        }),
        windows: None,
    }
}

fn port_mappings(pod: PodView<'_>) -> Vec<v1::PortMapping> {
    if pod::is_host_network(pod) {
        return Vec::new();
    }
    let sidecars = pod::init_containers(pod).iter().filter(|container| pod::is_sidecar(*container));
    pod::containers(pod)
        .iter()
        .chain(sidecars)
        .flat_map(|container| container.ports())
        .filter(|port| port.host_port() > 0)
        .map(|port| {
            let protocol = match port.protocol() {
                "UDP" => v1::Protocol::Udp,
                "SCTP" => v1::Protocol::Sctp,
                _ => v1::Protocol::Tcp,
            };
            v1::PortMapping {
                protocol: protocol as i32,
                container_port: port.container_port(),
                host_port: port.host_port(),
                host_ip: port.host_ip().to_owned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    #[test]
    fn a_sandbox_carries_identity_ports_and_cgroup() {
        let pod = pod(json!({ "containers": [{ "name": "a", "ports": [
            { "containerPort": 80, "hostPort": 8080, "protocol": "TCP" }, { "containerPort": 81 }] }] }));
        let config = render_sandbox(&Inputs {
            pod: pod.view(),
            attempt: 2,
            machine: &Machine { cgroup_root: "/kubepods".into(), ..Default::default() },
            resolver: &HostResolver::default(),
            cluster_dns: &["10.96.0.10".into()],
            cluster_domain: "cluster.local",
            log_root: Path::new("/logs"),
            user_namespace: None,
        });
        assert_eq!(config.log_directory, "/logs/default_web_u1");
        assert_eq!(config.port_mappings.len(), 1);
        let linux = config.linux.expect("a linux sandbox");
        assert_eq!(linux.cgroup_parent, "/kubepods/besteffort/podu1");
        assert_eq!(config.metadata.expect("metadata").attempt, 2);
        assert_eq!(config.labels[POD_UID_LABEL], "u1");
    }

    #[test]
    fn the_cgroup_of_a_pod_stands_below_that_of_its_class() {
        let check = |resources: serde_json::Value, expected: &str| {
            let pod = pod(json!({ "containers": [{ "name": "a", "resources": resources }] }));
            assert_eq!(cgroup_parent(pod.view(), "/kubepods/"), expected);
        };
        let amounts = json!({ "cpu": "1", "memory": "1Gi" });
        check(json!({}), "/kubepods/besteffort/podu1");
        check(json!({ "requests": { "cpu": "100m" } }), "/kubepods/burstable/podu1");
        check(json!({ "limits": amounts, "requests": { "cpu": "1000m", "memory": "1Gi" } }), "/kubepods/podu1");
        check(json!({ "limits": amounts, "requests": { "cpu": "500m" } }), "/kubepods/burstable/podu1");
    }
}
