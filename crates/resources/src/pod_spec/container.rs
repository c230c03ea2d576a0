//! The three lists of containers: what all containers share and what each list adds.

use super::env::{validate_env, validate_env_from};
use super::probe::{validate_lifecycle, validate_probes};
use super::security::validate_security_context;
use super::volume::{Volumes, validate_devices, validate_mounts};
use crate::names;
use crate::read::Read;
use crate::validation::resources::{Consumer, validate_requirements};
use ferry_api::field::{Error, ErrorList, Path};
use ferry_api::rules::pod::is_sidecar;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};

/// What the rules of a container need to know about its pod.
pub(crate) struct InPod<'a> {
    pub spec: &'a Value,
    pub volumes: &'a Volumes<'a>,
    pub claim_names: &'a BTreeSet<&'a str>,
}

impl InPod<'_> {
    fn grace_period(&self) -> Option<i64> {
        self.spec.opt_int("terminationGracePeriodSeconds")
    }

    fn validate_lifecycle(&self, errors: &mut ErrorList, container: &Value, path: &Path) {
        let path = path.child("lifecycle");
        validate_lifecycle(errors, container.field("lifecycle"), self.grace_period(), self.spec.field("os"), &path);
    }
}

pub(crate) fn validate_containers(errors: &mut ErrorList, pod: &InPod, path: &Path) {
    let containers = pod.spec.list("containers");
    for (index, container) in containers.iter().enumerate() {
        let path = path.index(index);
        validate_common(errors, container, pod, &path);
        pod.validate_lifecycle(errors, container, &path);
        validate_probes(errors, container, &path);
        validate_restart_policy(errors, container, &path);
    }
    validate_host_ports(errors, containers, path);
}

pub(crate) fn validate_init_containers(errors: &mut ErrorList, pod: &InPod, path: &Path) {
    let mut names: HashSet<&str> = pod.spec.list("containers").iter().map(|other| other.text("name")).collect();
    for (index, container) in pod.spec.list("initContainers").iter().enumerate() {
        let at = path.index(index);
        validate_common(errors, container, pod, &at);
        validate_restart_policy(errors, container, &at);
        let name = container.text("name");
        if names.contains(name) {
            errors.push(Error::duplicate(&at.child("name"), name));
        } else if !name.is_empty() {
            names.insert(name);
        }
        // Init containers run one by one, so that only their own ports can conflict.
        validate_host_ports(errors, std::slice::from_ref(container), path);
        if is_sidecar(container.into()) {
            pod.validate_lifecycle(errors, container, &at);
            validate_probes(errors, container, &at);
            continue;
        }
        for key in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.has(key) {
                errors.push(Error::forbidden(
                    &at.child(key),
                    "may not be set for init containers without restartPolicy=Always",
                ));
            }
        }
        for (index, policy) in container.list("resizePolicy").iter().enumerate() {
            if policy.text("restartPolicy") == "RestartContainer" {
                errors.push(Error::invalid(
                    &at.child("resizePolicy").index(index).child("restartPolicy"),
                    "RestartContainer",
                    "must not be set to 'RestartContainer' for non-sidecar initContainers",
                ));
            }
        }
    }
}

/// What `kubectl debug` may not say of its containers.
const NOT_FOR_EPHEMERAL: &[&str] = &[
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

pub(crate) fn validate_ephemeral_containers(errors: &mut ErrorList, pod: &InPod, path: &Path) {
    let others: HashSet<&str> =
        ["containers", "initContainers"].iter().flat_map(|list| pod.spec.list(list)).map(|c| c.text("name")).collect();
    let mut names = others.clone();
    for (index, container) in pod.spec.list("ephemeralContainers").iter().enumerate() {
        let path = path.index(index);
        validate_common(errors, container, pod, &path);
        validate_image_is_trimmed(errors, container, &path);
        if !names.insert(container.text("name")) {
            errors.push(Error::duplicate(&path.child("name"), container.text("name")));
        }
        let target = container.text("targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            errors.push(Error::not_found(&path.child("targetContainerName"), target));
        }
        const CANNOT: &str = "cannot be set for an Ephemeral Container";
        for key in NOT_FOR_EPHEMERAL {
            let empty = match container.field(key) {
                None => true,
                Some(Value::Array(items)) => items.is_empty(),
                Some(Value::Object(fields)) => *key == "resources" && fields.is_empty(),
                Some(_) => false,
            };
            if !empty {
                errors.push(Error::forbidden(&path.child(key), CANNOT));
            }
        }
        for (index, mount) in container.list("volumeMounts").iter().enumerate() {
            for key in ["subPath", "subPathExpr"] {
                if !mount.text(key).is_empty() {
                    errors.push(Error::forbidden(&path.child("volumeMounts").index(index).child(key), CANNOT));
                }
            }
        }
    }
}

/// Templates let an image be padded, because some tools use " " as a token; pods do not.
pub(crate) fn validate_image_is_trimmed(errors: &mut ErrorList, container: &Value, path: &Path) {
    let image = container.text("image");
    if image != image.trim() {
        errors.push(Error::invalid(&path.child("image"), image, "must not have leading or trailing whitespace"));
    }
}

fn validate_common(errors: &mut ErrorList, container: &Value, pod: &InPod, path: &Path) {
    validate_port_names(errors, container.list("ports"), &path.child("ports"));
    validate_env(errors, container.list("env"), &path.child("env"));
    validate_env_from(errors, container.list("envFrom"), &path.child("envFrom"));
    validate_mounts(errors, container, pod.volumes, &path.child("volumeMounts"));
    validate_devices(errors, container, pod.volumes, &path.child("volumeDevices"));
    let resources = path.child("resources");
    validate_requirements(errors, container.field("resources"), Consumer::Container, pod.claim_names, &resources);
    validate_resize_policy(errors, container.list("resizePolicy"), pod.spec, &path.child("resizePolicy"));
    let host_users = pod.spec.opt_flag("hostUsers").unwrap_or(true);
    validate_security_context(errors, container.field("securityContext"), host_users, &path.child("securityContext"));
}

/// No two ports of a container have one name, of those that are names at all.
fn validate_port_names(errors: &mut ErrorList, ports: &[Value], path: &Path) {
    let mut names = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let name = port.text("name");
        if names::is_port_name(name).is_empty() && !names.insert(name) {
            errors.push(Error::duplicate(&path.index(index).child("name"), name));
        }
    }
}

/// No two containers take the same port of the host.
fn validate_host_ports(errors: &mut ErrorList, containers: &[Value], path: &Path) {
    let mut taken = HashSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (port_index, port) in container.list("ports").iter().enumerate() {
            let number = port.int("hostPort");
            let key = format!("{}/{}/{number}", port.text("protocol"), port.text("hostIP"));
            if number != 0 && !taken.insert(key.clone()) {
                let path = path.index(index).child("ports").index(port_index).child("hostPort");
                errors.push(Error::duplicate(&path, key));
            }
        }
    }
}

fn validate_resize_policy(errors: &mut ErrorList, policies: &[Value], spec: &Value, path: &Path) {
    let mut seen = HashSet::new();
    for (index, policy) in policies.iter().enumerate() {
        let (resource, restart) = (policy.text("resourceName"), policy.text("restartPolicy"));
        if !seen.insert(resource) {
            errors.push(Error::duplicate(&path.index(index), resource));
        }
        if spec.text("restartPolicy") == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.push(Error::invalid(path, restart, detail));
        }
    }
}

/// Rules by exit code are exceptions from a container's own restart policy.
fn validate_restart_policy(errors: &mut ErrorList, container: &Value, path: &Path) {
    if !container.has("restartPolicy") && !container.list("restartPolicyRules").is_empty() {
        let detail = "must specify restartPolicy when restart rules are used";
        errors.push(Error::required(&path.child("restartPolicy"), detail));
    }
}
