//! The runtime's whole configuration of one container.

use super::{ConfigError, Machine, expand, resources, security};
use crate::allocation::amounts::ContainerAmounts;
use crate::cri::v1;
use crate::observed::{
    AMOUNTS_ANNOTATION, CONTAINER_NAME_LABEL, HASH_ANNOTATION, POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL,
    RESTART_COUNT_ANNOTATION, TERMINATION_PATH_ANNOTATION, TERMINATION_POLICY_ANNOTATION,
};
use crate::pod;
use ferry_api::view::List;
use ferry_api::view::View;
use ferry_api::view::core::v1::{ContainerView, PodView};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Everything a container's configuration depends on, gathered beforehand.
pub struct Inputs<'a> {
    pub pod: PodView<'a>,
    pub container: ContainerView<'a>,
    pub restart_count: u32,
    pub image_ref: &'a str,
    pub image_user: &'a security::ImageUser,
    pub env: &'a BTreeMap<String, String>,
    pub mounts: Vec<v1::Mount>,
    pub devices: Vec<v1::Device>,
    /// The container whose processes an ephemeral one may see.
    pub target: Option<&'a str>,
    pub machine: &'a Machine,
    pub seccomp_root: &'a Path,
    pub user_namespace: Option<&'a v1::UserNamespace>,
}

pub fn render_container(inputs: Inputs<'_>) -> Result<v1::ContainerConfig, ConfigError> {
    let Inputs { pod, container, env, .. } = inputs;
    let expand_all = |words: List<'_, &str>| -> Vec<String> {
        words.iter().map(|word| expand::expand(word, |name| env.get(name).cloned())).collect()
    };
    let node = security::NodeSecurity {
        seccomp_root: inputs.seccomp_root,
        seccomp_default: inputs.machine.seccomp_default,
        user_namespace: inputs.user_namespace,
    };
    let security = security::render_security(pod, container, inputs.image_user, inputs.target, &node)?;
    let mut mounts = inputs.mounts;
    // Files keep their owners as the container sees them (idmapped mounts).
    if let Some(users) = inputs.user_namespace.filter(|users| !users.uids.is_empty()) {
        for mount in &mut mounts {
            mount.uid_mappings.clone_from(&users.uids);
            mount.gid_mappings.clone_from(&users.gids);
        }
    }
    Ok(v1::ContainerConfig {
        metadata: Some(v1::ContainerMetadata { name: container.name().to_owned(), attempt: inputs.restart_count }),
        image: Some(v1::ImageSpec {
            image: inputs.image_ref.to_string(),
            user_specified_image: container.image().to_owned(),
            ..Default::default()
        }),
        command: expand_all(container.command()),
        args: expand_all(container.args()),
        working_dir: container.working_dir().to_owned(),
        envs: env.iter().map(|(key, value)| v1::KeyValue { key: key.clone(), value: value.clone() }).collect(),
        mounts,
        devices: inputs.devices,
        labels: HashMap::from([
            (POD_NAME_LABEL.into(), pod::name(pod).into()),
            (POD_NAMESPACE_LABEL.into(), pod::namespace(pod).into()),
            (POD_UID_LABEL.into(), pod::uid(pod).into()),
            (CONTAINER_NAME_LABEL.into(), container.name().into()),
        ]),
        annotations: annotations(pod, container, inputs.restart_count),
        log_path: format!("{}/{}.log", container.name(), inputs.restart_count),
        stdin: container.stdin(),
        stdin_once: container.stdin_once(),
        tty: container.tty(),
        linux: Some(v1::LinuxContainerConfig {
            resources: Some(resources::compute_resources(pod, container, inputs.machine)),
            security_context: Some(security),
        }),
        ..Default::default()
    })
}

/// The labels by which a later kubelet adopts the container: the spec's hash, the resources
/// it was given, how often it was started, and how to end it.
fn annotations(pod: PodView<'_>, container: ContainerView<'_>, restart_count: u32) -> HashMap<String, String> {
    let mut out = HashMap::from([
        (HASH_ANNOTATION.into(), format!("{:x}", pod::container_hash(container))),
        (RESTART_COUNT_ANNOTATION.into(), restart_count.to_string()),
        (AMOUNTS_ANNOTATION.into(), ContainerAmounts::of(pod.spec(), container).render()),
        (TERMINATION_PATH_ANNOTATION.into(), termination_path(container).to_string()),
        (TERMINATION_POLICY_ANNOTATION.into(), or(container.termination_message_policy(), "File").to_string()),
    ]);
    if let Some(seconds) = pod.metadata().deletion_grace_period_seconds() {
        out.insert("io.kubernetes.pod.deletionGracePeriod".into(), seconds.to_string());
    }
    if let Some(seconds) = pod.spec().termination_grace_period_seconds() {
        out.insert("io.kubernetes.pod.terminationGracePeriod".into(), seconds.to_string());
    }
    if let Some(hook) = container.lifecycle().and_then(|lifecycle| lifecycle.pre_stop()) {
        out.insert("io.kubernetes.container.preStopHandler".into(), hook.node().to_json().into());
    }
    if !container.ports().is_empty() {
        out.insert("io.kubernetes.container.ports".into(), container.ports().node().to_json().into());
    }
    out
}

/// The path at which a container finds the file for its termination message.
pub fn termination_path(container: ContainerView<'_>) -> &str {
    or(container.termination_message_path(), "/dev/termination-log")
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    #[test]
    fn a_container_is_described_as_upstream_describes_it() {
        let pod = pod(json!({ "terminationGracePeriodSeconds": 7, "containers": [{ "name": "a", "image": "web:1",
            "command": ["/bin/$(WHAT)"], "args": ["$$(WHAT)"], "tty": true,
            "lifecycle": { "preStop": { "exec": { "command": ["x"] } } } }] }));
        let config = render_container(Inputs {
            pod: pod.view(),
            container: pod::containers(pod.view()).first().expect("a container"),
            restart_count: 3,
            image_ref: "sha256:abc",
            image_user: &Default::default(),
            env: &BTreeMap::from([("WHAT".into(), "sh".into())]),
            mounts: vec![],
            devices: vec![],
            target: None,
            machine: &Machine::default(),
            seccomp_root: Path::new("/"),
            user_namespace: None,
        })
        .expect("a good container");
        assert_eq!((config.command, config.args), (vec!["/bin/sh".to_string()], vec!["$(WHAT)".to_string()]));
        assert_eq!(config.log_path, "a/3.log");
        assert!(config.tty);
        assert_eq!(config.annotations[RESTART_COUNT_ANNOTATION], "3");
        assert_eq!(config.annotations["io.kubernetes.pod.terminationGracePeriod"], "7");
        assert_eq!(config.annotations["io.kubernetes.container.preStopHandler"], r#"{"exec":{"command":["x"]}}"#);
        assert_eq!(config.labels[CONTAINER_NAME_LABEL], "a");
    }
}
