//! The questions that the kubelet asks of a pod again and again: its containers of every
//! sort, restart policies, and the hash of a container. Rules that other components share
//! stand in `ferry_api::rules`.

use ferry_api::view::core::v1::{ContainerView, EphemeralContainerView, PodStatusView, PodView};
use ferry_api::view::{List, View};
use jiff::{SignedDuration, Timestamp};

pub use ferry_api::rules::pod::{is_deleting, is_mirror, is_sidecar, is_terminal_phase};

/// Which of a pod's three lists a container stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerKind {
    Init,
    Regular,
    Ephemeral,
}

/// The pod comes from a manifest on this node and not from the API
/// (upstream: IsStaticPod of pkg/kubelet/types/pod_update.go).
pub fn is_static(pod: PodView<'_>) -> bool {
    let source = pod.metadata().annotations().get("kubernetes.io/config.source");
    source.is_some_and(|source| source != "api") && !is_mirror(pod)
}

/// The node keeps running what is critical for as long as it can
/// (upstream: IsCriticalPod of pkg/kubelet/types/pod_update.go).
pub fn is_critical(pod: PodView<'_>) -> bool {
    is_static(pod) || is_mirror(pod) || pod.spec().priority().is_some_and(|priority| priority >= 2_000_000_000)
}

pub fn uid(pod: PodView<'_>) -> &str {
    pod.metadata().uid()
}

pub fn name(pod: PodView<'_>) -> &str {
    pod.metadata().name()
}

pub fn namespace(pod: PodView<'_>) -> &str {
    pod.metadata().namespace()
}

/// The long name used in messages: `web_default(b7c1…)`.
pub fn full_name(pod: PodView<'_>) -> String {
    format!("{}_{}({})", name(pod), namespace(pod), uid(pod))
}

pub fn containers(pod: PodView<'_>) -> List<'_, ContainerView<'_>> {
    pod.spec().containers()
}

pub fn init_containers(pod: PodView<'_>) -> List<'_, ContainerView<'_>> {
    pod.spec().init_containers()
}

pub fn ephemeral_containers(pod: PodView<'_>) -> List<'_, EphemeralContainerView<'_>> {
    pod.spec().ephemeral_containers()
}

/// The container of that name, whatever list it is in.
pub fn find_container<'a>(pod: PodView<'a>, wanted: &str) -> Option<(ContainerKind, ContainerView<'a>)> {
    let regular = containers(pod).iter().map(|container| (ContainerKind::Regular, container));
    let init = init_containers(pod).iter().map(|container| (ContainerKind::Init, container));
    let ephemeral = ephemeral_containers(pod).iter();
    let ephemeral = ephemeral.map(|container| (ContainerKind::Ephemeral, ephemeral_as_container(container)));
    regular.chain(init).chain(ephemeral).find(|(_, container)| container.name() == wanted)
}

/// An ephemeral container has a regular one's fields and one more.
pub fn ephemeral_as_container(ephemeral: EphemeralContainerView<'_>) -> ContainerView<'_> {
    ContainerView::over(ephemeral.node())
}

pub fn restart_policy(pod: PodView<'_>) -> &str {
    Some(pod.spec().restart_policy()).filter(|policy| !policy.is_empty()).unwrap_or("Always")
}

/// The restart policy of a container: its own, or else the pod's.
pub fn container_restart_policy<'a>(container: ContainerView<'a>, pod: PodView<'a>) -> &'a str {
    container.restart_policy().unwrap_or_else(|| restart_policy(pod))
}

pub fn is_host_network(pod: PodView<'_>) -> bool {
    pod.spec().host_network()
}

pub fn phase(pod: PodView<'_>) -> &str {
    phase_or_pending(pod.status())
}

/// The phase of a status; that of one without is Pending.
pub fn phase_or_pending(status: PodStatusView<'_>) -> &str {
    Some(status.phase()).filter(|phase| !phase.is_empty()).unwrap_or("Pending")
}

/// Would this exit be followed by another start? The container's own rules win over its
/// own policy, which wins over the pod's (upstream: pkg/api/v1/pod/util.go).
pub fn should_restart_on_exit(container: ContainerView<'_>, pod: PodView<'_>, exit_code: i32) -> bool {
    for rule in container.restart_policy_rules() {
        let Some(codes) = rule.exit_codes() else { continue };
        let listed = codes.values().iter().any(|code| code == exit_code);
        let matches = match codes.operator() {
            "In" => listed,
            "NotIn" => !listed,
            _ => false,
        };
        if matches {
            return rule.action() == "Restart" || rule.action() == "RestartAllContainers";
        }
    }
    match container_restart_policy(container, pod) {
        "Always" => true,
        "OnFailure" => exit_code != 0,
        _ => false,
    }
}

/// activeDeadlineSeconds, counted from when the kubelet took the pod on.
pub fn deadline(pod: PodView<'_>, started: Option<Timestamp>) -> Option<Timestamp> {
    let seconds = pod.spec().active_deadline_seconds()?;
    started?.saturating_add(SignedDuration::from_secs(seconds)).ok()
}

/// The RuntimeClass that the pod asks for.
pub fn runtime_class(pod: PodView<'_>) -> Option<&str> {
    pod.spec().runtime_class_name().filter(|name| !name.is_empty())
}

/// Nanoseconds since the epoch, as CRI counts them, to API time.
pub fn time_from_nanos(nanos: i64) -> Option<Timestamp> {
    if nanos <= 0 {
        return None;
    }
    Timestamp::from_nanosecond(i128::from(nanos)).ok()
}

/// The hash that decides whether a running container is still the one the spec asks for.
/// Only name and image count: everything else may be defaulted or resized without a
/// restart (upstream: pkg/kubelet/container/helpers.go HashContainer).
pub fn container_hash(container: ContainerView<'_>) -> u64 {
    let picked = serde_json::json!({ "image": container.image(), "name": container.name() });
    let mut hash = 0x811c_9dc5u32;
    for byte in picked.to_string().bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    u64::from(hash)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ferry_api::view::Owned;
    use ferry_api::view::core::v1::Pod;

    /// A pod from the part of its JSON that matters to a test.
    pub(crate) fn pod(spec: serde_json::Value) -> Pod {
        Pod::from(serde_json::json!({
            "metadata": { "name": "web", "namespace": "default", "uid": "u1" },
            "spec": spec,
        }))
    }

    #[test]
    fn a_containers_own_rules_win_over_the_pods_policy() {
        let pod = pod(serde_json::json!({ "restartPolicy": "Never", "containers": [{
            "name": "a", "restartPolicy": "Never",
            "restartPolicyRules": [{ "action": "Restart", "exitCodes": { "operator": "In", "values": [42] } }],
        }] }));
        let container = containers(pod.view()).first().expect("a container");
        assert!(should_restart_on_exit(container, pod.view(), 42));
        assert!(!should_restart_on_exit(container, pod.view(), 1));
    }
}
