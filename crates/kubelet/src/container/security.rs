//! Security contexts: the pod's and the container's, merged, as the runtime takes them.

use super::ConfigError;
use crate::cri::v1::{
    Capability, Image, Int64Value, LinuxContainerSecurityContext, NamespaceMode, NamespaceOption, SeLinuxOption,
    SecurityProfile, SupplementalGroupsPolicy, UserNamespace, security_profile::ProfileType,
};
use crate::pod;
use ferry_api::view::core::v1::{ContainerView, PodSecurityContextView, PodView, SeccompProfileView};
use std::path::Path;

/// Paths hidden from and read-only to a container that is not given `Unmasked`
/// (upstream: pkg/securitycontext/util.go).
const MASKED: &[&str] = &[
    "/proc/asound",
    "/proc/acpi",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/sys/firmware",
    "/sys/devices/virtual/powercap",
];
const READ_ONLY: &[&str] = &["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

/// Whom the image runs as when nobody says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageUser {
    pub uid: Option<i64>,
    pub username: String,
}

impl ImageUser {
    /// An image that names no user runs as root.
    pub fn of(image: &Image) -> Self {
        let uid = image.uid.as_ref().map(|uid| uid.value);
        let root = image.username.is_empty().then_some(0);
        Self { uid: uid.or(root), username: image.username.clone() }
    }
}

/// The node's part of a security context.
#[derive(Clone, Copy)]
pub struct NodeSecurity<'a> {
    pub seccomp_root: &'a Path,
    /// Containers without a profile get the runtime's.
    pub seccomp_default: bool,
    /// The user namespace of the pod, where its runtime knows of them.
    pub user_namespace: Option<&'a UserNamespace>,
}

pub fn render_security(
    pod: PodView<'_>,
    container: ContainerView<'_>,
    image_user: &ImageUser,
    target: Option<&str>,
    node: &NodeSecurity<'_>,
) -> Result<LinuxContainerSecurityContext, ConfigError> {
    let own = container.security_context().unwrap_or_default();
    let of_pod = pod.spec().security_context().unwrap_or_default();
    let run_as_user = own.run_as_user().or(of_pod.run_as_user());
    let run_as_group = own.run_as_group().or(of_pod.run_as_group());
    let non_root = own.run_as_non_root().or(of_pod.run_as_non_root()).unwrap_or(false);
    if non_root {
        verify_non_root(pod, container, run_as_user, image_user)?;
    }
    let privileged = own.privileged().unwrap_or(false);
    let unmasked = own.proc_mount() == Some("Unmasked");
    let (masked_paths, readonly_paths) =
        if privileged || unmasked { (Vec::new(), Vec::new()) } else { (owned(MASKED), owned(READ_ONLY)) };
    let capabilities = own.capabilities().unwrap_or_default();
    let selinux = own.se_linux_options().or(of_pod.se_linux_options());
    // The runtime takes a number or a name; a group needs one of them.
    let (user, username) = match (run_as_user, image_user.uid) {
        (Some(uid), _) | (None, Some(uid)) => (Some(Int64Value { value: uid }), String::new()),
        (None, None) => (None, image_user.username.clone()),
    };
    Ok(LinuxContainerSecurityContext {
        capabilities: Some(Capability {
            add_capabilities: capabilities.add().to_vec(),
            drop_capabilities: capabilities.drop().to_vec(),
            ..Default::default()
        }),
        privileged,
        namespace_options: Some(namespaces(pod, target, node.user_namespace)),
        selinux_options: selinux.map(|options| SeLinuxOption {
            user: options.user().to_owned(),
            role: options.role().to_owned(),
            r#type: options.type_().to_owned(),
            level: options.level().to_owned(),
        }),
        run_as_user: user,
        run_as_group: run_as_group.map(|value| Int64Value { value }),
        run_as_username: username,
        readonly_rootfs: own.read_only_root_filesystem().unwrap_or(false),
        supplemental_groups: of_pod.supplemental_groups().iter().chain(of_pod.fs_group()).collect(),
        supplemental_groups_policy: groups_policy(of_pod),
        no_new_privs: own.allow_privilege_escalation() == Some(false),
        masked_paths,
        readonly_paths,
        seccomp: Some(seccomp(own.seccomp_profile().or(of_pod.seccomp_profile()), node)),
        apparmor: own.app_armor_profile().or(of_pod.app_armor_profile()).map(|profile| SecurityProfile {
            profile_type: profile_type(profile.type_()) as i32,
            localhost_ref: profile.localhost_profile().unwrap_or_default().to_owned(),
        }),
        ..Default::default()
    })
}

fn owned(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| path.to_string()).collect()
}

fn profile_type(name: &str) -> ProfileType {
    match name {
        "RuntimeDefault" => ProfileType::RuntimeDefault,
        "Localhost" => ProfileType::Localhost,
        _ => ProfileType::Unconfined,
    }
}

/// Merge unless Strict is asked for.
pub fn groups_policy(context: PodSecurityContextView<'_>) -> i32 {
    match context.supplemental_groups_policy() {
        Some("Strict") => SupplementalGroupsPolicy::Strict as i32,
        _ => SupplementalGroupsPolicy::Merge as i32,
    }
}

/// Without a profile a container is unconfined, unless the node's setting seccompDefault gives it
/// the runtime's.
pub fn seccomp(profile: Option<SeccompProfileView<'_>>, node: &NodeSecurity<'_>) -> SecurityProfile {
    let root = node.seccomp_root;
    let Some(profile) = profile else {
        let default = if node.seccomp_default { ProfileType::RuntimeDefault } else { ProfileType::Unconfined };
        return SecurityProfile { profile_type: default as i32, ..Default::default() };
    };
    let localhost_ref = match profile.localhost_profile() {
        Some(path) if profile.type_() == "Localhost" => root.join(path).to_string_lossy().into_owned(),
        _ => String::new(),
    };
    SecurityProfile { profile_type: profile_type(profile.type_()) as i32, localhost_ref }
}

/// Which namespaces a container shares: all of a pod's share network and ipc, and pids
/// only if asked to. An ephemeral container may look into its target's pids.
pub fn namespaces(pod: PodView<'_>, target: Option<&str>, users: Option<&UserNamespace>) -> NamespaceOption {
    let spec = pod.spec();
    let node_or_pod = |host: bool| if host { NamespaceMode::Node } else { NamespaceMode::Pod };
    let pid = if spec.host_pid() {
        NamespaceMode::Node
    } else if spec.share_process_namespace() == Some(true) {
        NamespaceMode::Pod
    } else if target.is_some() {
        NamespaceMode::Target
    } else {
        NamespaceMode::Container
    };
    NamespaceOption {
        network: node_or_pod(spec.host_network()) as i32,
        pid: pid as i32,
        ipc: node_or_pod(spec.host_ipc()) as i32,
        target_id: target.unwrap_or_default().to_string(),
        userns_options: users.cloned(),
    }
}

fn verify_non_root(
    pod: PodView<'_>,
    container: ContainerView<'_>,
    uid: Option<i64>,
    image: &ImageUser,
) -> Result<(), ConfigError> {
    let about = format!("(pod: {:?}, container: {})", pod::full_name(pod), container.name());
    match (uid, image.uid) {
        (Some(0), _) => Err(ConfigError(format!("container's runAsUser breaks non-root policy {about}"))),
        (Some(_), _) => Ok(()),
        (None, Some(0)) => Err(ConfigError(format!("container has runAsNonRoot and image will run as root {about}"))),
        (None, None) if !image.username.is_empty() => Err(ConfigError(format!(
            "container has runAsNonRoot and image has non-numeric user ({}), cannot verify user is non-root {about}",
            image.username
        ))),
        (None, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    fn check(spec: serde_json::Value, user: ImageUser) -> Result<LinuxContainerSecurityContext, ConfigError> {
        let pod = pod(spec);
        let container = pod::containers(pod.view()).first().expect("a container");
        let node = NodeSecurity { seccomp_root: Path::new("/seccomp"), seccomp_default: false, user_namespace: None };
        render_security(pod.view(), container, &user, None, &node)
    }

    #[test]
    fn the_node_decides_on_containers_without_a_seccomp_profile() {
        let check = |seccomp_default, profile: serde_json::Value| {
            let pod = pod(json!({ "containers": [{ "name": "a", "securityContext": { "seccompProfile": profile } }] }));
            let node = NodeSecurity { seccomp_root: Path::new("/s"), seccomp_default, user_namespace: None };
            let container = pod::containers(pod.view()).first().expect("a container");
            let context = render_security(pod.view(), container, &ImageUser::default(), None, &node);
            context.expect("a good context").seccomp.expect("a profile").profile_type
        };
        assert_eq!(check(false, json!(null)), ProfileType::Unconfined as i32);
        assert_eq!(check(true, json!(null)), ProfileType::RuntimeDefault as i32);
        assert_eq!(check(true, json!({ "type": "Unconfined" })), ProfileType::Unconfined as i32);
    }

    #[test]
    fn a_user_namespace_and_strict_groups_reach_the_runtime() {
        let pod = pod(json!({ "hostUsers": false, "securityContext": { "supplementalGroupsPolicy": "Strict" },
            "containers": [{ "name": "a" }] }));
        let users = UserNamespace { mode: NamespaceMode::Pod as i32, ..Default::default() };
        let node = NodeSecurity { seccomp_root: Path::new("/s"), seccomp_default: false, user_namespace: Some(&users) };
        let container = pod::containers(pod.view()).first().expect("a container");
        let context = render_security(pod.view(), container, &ImageUser::default(), None, &node).expect("a good one");
        assert_eq!(context.supplemental_groups_policy, SupplementalGroupsPolicy::Strict as i32);
        assert_eq!(context.namespace_options.expect("namespaces").userns_options, Some(users));
    }

    #[test]
    fn the_container_overrides_the_pod() {
        let context = check(
            json!({ "securityContext": { "runAsUser": 1, "runAsGroup": 2, "fsGroup": 3, "supplementalGroups": [4] },
            "containers": [{ "name": "a", "securityContext": { "runAsUser": 9, "allowPrivilegeEscalation": false,
                "readOnlyRootFilesystem": true, "capabilities": { "drop": ["ALL"], "add": ["NET_BIND_SERVICE"] } } }] }),
            ImageUser::default(),
        )
        .expect("a good context");
        assert_eq!(context.run_as_user.map(|v| v.value), Some(9));
        assert_eq!(context.run_as_group.map(|v| v.value), Some(2));
        assert_eq!(context.supplemental_groups, [4, 3]);
        assert!(context.no_new_privs && context.readonly_rootfs && !context.privileged);
        assert_eq!(context.capabilities.expect("capabilities").drop_capabilities, ["ALL"]);
        assert_eq!(context.masked_paths.len(), MASKED.len());
    }

    #[test]
    fn an_image_without_a_user_is_roots() {
        assert_eq!(ImageUser::of(&Image::default()).uid, Some(0));
        let named = Image { username: "www".into(), ..Default::default() };
        assert_eq!(ImageUser::of(&named), ImageUser { uid: None, username: "www".into() });
    }

    #[test]
    fn root_is_refused_where_non_root_is_promised() {
        let spec = json!({ "securityContext": { "runAsNonRoot": true }, "containers": [{ "name": "a" }] });
        let error = check(spec.clone(), ImageUser { uid: Some(0), ..Default::default() }).expect_err("root");
        assert_eq!(
            error.0,
            "container has runAsNonRoot and image will run as root (pod: \"web_default(u1)\", container: a)"
        );
        assert!(check(spec.clone(), ImageUser { uid: Some(5), ..Default::default() }).is_ok());
        let error = check(spec, ImageUser { uid: None, username: "www".into() }).expect_err("a name");
        assert!(error.0.starts_with("container has runAsNonRoot and image has non-numeric user (www)"));
    }
}
