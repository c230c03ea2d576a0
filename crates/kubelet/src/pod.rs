//! What the kubelet asks of a pod's spec again and again: names, containers of every
//! sort, restart policies, quality of service.

use k8s_openapi::api::core::v1::{Container, EphemeralContainer, Pod, PodSpec, PodStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use std::borrow::Cow;

/// Which of a pod's three lists a container stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerKind {
    Init,
    Regular,
    Ephemeral,
}

pub fn uid(pod: &Pod) -> &str {
    pod.metadata.uid.as_deref().unwrap_or_default()
}

pub fn name(pod: &Pod) -> &str {
    pod.metadata.name.as_deref().unwrap_or_default()
}

pub fn namespace(pod: &Pod) -> &str {
    pod.metadata.namespace.as_deref().unwrap_or_default()
}

/// The long name used in messages: `web_default(b7c1…)`.
pub fn full_name(pod: &Pod) -> String {
    format!("{}_{}({})", name(pod), namespace(pod), uid(pod))
}

pub fn spec(pod: &Pod) -> Cow<'_, PodSpec> {
    match &pod.spec {
        Some(spec) => Cow::Borrowed(spec),
        None => Cow::Owned(PodSpec::default()),
    }
}

pub fn status(pod: &Pod) -> Cow<'_, PodStatus> {
    match &pod.status {
        Some(status) => Cow::Borrowed(status),
        None => Cow::Owned(PodStatus::default()),
    }
}

pub fn containers(pod: &Pod) -> &[Container] {
    pod.spec.as_ref().map(|spec| spec.containers.as_slice()).unwrap_or_default()
}

pub fn init_containers(pod: &Pod) -> &[Container] {
    pod.spec.as_ref().and_then(|spec| spec.init_containers.as_deref()).unwrap_or_default()
}

pub fn ephemeral_containers(pod: &Pod) -> &[EphemeralContainer] {
    pod.spec.as_ref().and_then(|spec| spec.ephemeral_containers.as_deref()).unwrap_or_default()
}

/// The container of that name, whatever list it is in.
pub fn find_container(pod: &Pod, wanted: &str) -> Option<(ContainerKind, Container)> {
    if let Some(found) = containers(pod).iter().find(|c| c.name == wanted) {
        return Some((ContainerKind::Regular, found.clone()));
    }
    if let Some(found) = init_containers(pod).iter().find(|c| c.name == wanted) {
        return Some((ContainerKind::Init, found.clone()));
    }
    let found = ephemeral_containers(pod).iter().find(|c| c.name == wanted)?;
    Some((ContainerKind::Ephemeral, ephemeral_as_container(found)))
}

/// An ephemeral container has a regular one's fields and one more.
pub fn ephemeral_as_container(ephemeral: &EphemeralContainer) -> Container {
    let c = ephemeral.clone();
    Container {
        args: c.args,
        command: c.command,
        env: c.env,
        env_from: c.env_from,
        image: c.image,
        image_pull_policy: c.image_pull_policy,
        lifecycle: c.lifecycle,
        liveness_probe: c.liveness_probe,
        name: c.name,
        ports: c.ports,
        readiness_probe: c.readiness_probe,
        resize_policy: c.resize_policy,
        resources: c.resources,
        restart_policy: c.restart_policy,
        restart_policy_rules: c.restart_policy_rules,
        security_context: c.security_context,
        startup_probe: c.startup_probe,
        stdin: c.stdin,
        stdin_once: c.stdin_once,
        termination_message_path: c.termination_message_path,
        termination_message_policy: c.termination_message_policy,
        tty: c.tty,
        volume_devices: c.volume_devices,
        volume_mounts: c.volume_mounts,
        working_dir: c.working_dir,
    }
}

/// A sidecar: an init container that is kept running beside the others.
pub fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

pub fn restart_policy(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.restart_policy.as_deref()).unwrap_or("Always")
}

pub fn is_deleting(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

pub fn is_host_network(pod: &Pod) -> bool {
    pod.spec.as_ref().and_then(|spec| spec.host_network).unwrap_or(false)
}

pub fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("Pending")
}

pub fn is_terminal_phase(phase: &str) -> bool {
    matches!(phase, "Failed" | "Succeeded")
}

/// Mirror pods stand for static pods of some other kubelet's files; there is nothing to run.
pub fn is_mirror(pod: &Pod) -> bool {
    pod.metadata.annotations.as_ref().is_some_and(|a| a.contains_key("kubernetes.io/config.mirror"))
}

/// Would this exit be followed by another start? The container's own rules win over its
/// own policy, which wins over the pod's (upstream: pkg/api/v1/pod/util.go).
pub fn should_restart_on_exit(container: &Container, pod: &Pod, exit_code: i32) -> bool {
    for rule in container.restart_policy_rules.iter().flatten() {
        let Some(codes) = &rule.exit_codes else { continue };
        let listed = codes.values.iter().flatten().any(|code| *code == exit_code);
        let matches = match codes.operator.as_str() {
            "In" => listed,
            "NotIn" => !listed,
            _ => false,
        };
        if matches {
            return rule.action == "Restart" || rule.action == "RestartAllContainers";
        }
    }
    let policy = container.restart_policy.as_deref().unwrap_or_else(|| restart_policy(pod));
    match policy {
        "Always" => true,
        "OnFailure" => exit_code != 0,
        _ => false,
    }
}

/// Guaranteed, Burstable or BestEffort (upstream: pkg/apis/core/v1/helper/qos).
pub fn qos_class(pod: &Pod) -> &'static str {
    if let Some(class) = pod.status.as_ref().and_then(|s| s.qos_class.as_deref()) {
        match class {
            "Guaranteed" => return "Guaranteed",
            "Burstable" => return "Burstable",
            "BestEffort" => return "BestEffort",
            _ => {}
        }
    }
    let mut any = false;
    let mut guaranteed = true;
    for container in containers(pod).iter().chain(init_containers(pod)) {
        let resources = container.resources.clone().unwrap_or_default();
        let (requests, limits) = (resources.requests.unwrap_or_default(), resources.limits.unwrap_or_default());
        for name in ["cpu", "memory"] {
            let amount = |list: &std::collections::BTreeMap<String, _>| {
                list.get(name).map(crate::resource::nano_value).filter(|v| *v > 0)
            };
            let (request, limit) = (amount(&requests), amount(&limits));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// Nanoseconds since the epoch, as CRI counts them, to API time.
pub fn time_from_nanos(nanos: i64) -> Option<Time> {
    if nanos <= 0 {
        return None;
    }
    jiff::Timestamp::from_nanosecond(i128::from(nanos)).ok().map(Time)
}

/// The hash that decides whether a running container is still the one the spec asks for.
/// Only name and image count: everything else may be defaulted or resized without a
/// restart (upstream: pkg/kubelet/container/helpers.go HashContainer).
pub fn container_hash(container: &Container) -> u64 {
    let picked = serde_json::json!({ "image": container.image.as_deref().unwrap_or_default(), "name": container.name });
    let mut hash = 0x811c_9dc5u32;
    for byte in picked.to_string().bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    u64::from(hash)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A pod from the part of its JSON that matters to a test.
    pub(crate) fn pod(spec: serde_json::Value) -> Pod {
        serde_json::from_value(serde_json::json!({
            "metadata": { "name": "web", "namespace": "default", "uid": "u1" },
            "spec": spec,
        }))
        .expect("a test's pod parses")
    }

    #[test]
    fn quality_of_service_follows_requests_and_limits() {
        let with = |resources| pod(serde_json::json!({ "containers": [{ "name": "a", "resources": resources }] }));
        let check = |resources, expected| assert_eq!(qos_class(&with(resources)), expected);
        check(serde_json::json!({}), "BestEffort");
        check(serde_json::json!({ "requests": { "cpu": "100m" } }), "Burstable");
        check(serde_json::json!({ "limits": { "cpu": "1", "memory": "1Gi" } }), "Guaranteed");
        check(
            serde_json::json!({ "limits": { "cpu": "1", "memory": "1Gi" }, "requests": { "cpu": "1000m", "memory": "1Gi" } }),
            "Guaranteed",
        );
        check(
            serde_json::json!({ "limits": { "cpu": "1", "memory": "1Gi" }, "requests": { "cpu": "500m" } }),
            "Burstable",
        );
    }

    #[test]
    fn a_containers_own_rules_win_over_the_pods_policy() {
        let pod = pod(serde_json::json!({ "restartPolicy": "Never", "containers": [{
            "name": "a", "restartPolicy": "Never",
            "restartPolicyRules": [{ "action": "Restart", "exitCodes": { "operator": "In", "values": [42] } }],
        }] }));
        assert!(should_restart_on_exit(&containers(&pod)[0], &pod, 42));
        assert!(!should_restart_on_exit(&containers(&pod)[0], &pod, 1));
    }
}
