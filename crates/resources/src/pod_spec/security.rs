//! Security contexts of pods and containers, and what an operating system excludes.

use super::containers;
use super::volume::validate_descending_path;
use crate::read::Read;
use ferry_api::field::{Error, ErrorList, Path};
use regex::Regex;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::LazyLock;

const SYSCTL: &str = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
static SYSCTL_REGEX: LazyLock<Regex> = LazyLock::new(|| Regex::new(SYSCTL).expect("a fixed expression"));

pub(crate) fn validate_pod_security_context(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let Some(context) = spec.field("securityContext") else { return };
    if spec.flag("shareProcessNamespace") && spec.flag("hostPID") {
        errors.push(Error::invalid(
            &path.child("shareProcessNamespace"),
            true,
            "ShareProcessNamespace and HostPID cannot both be enabled",
        ));
    }
    validate_sysctls(errors, spec, context.list("sysctls"), &path.child("sysctls"));
    validate_seccomp(errors, context.field("seccompProfile"), &path.child("seccompProfile"));
    validate_app_armor(errors, context.field("appArmorProfile"), &path.child("appArmorProfile"));
}

fn validate_sysctls(errors: &mut ErrorList, spec: &Value, sysctls: &[Value], path: &Path) {
    let mut seen = HashSet::new();
    for (index, sysctl) in sysctls.iter().enumerate() {
        let (path, name) = (path.index(index).child("name"), sysctl.text("name"));
        if name.is_empty() {
            continue;
        }
        if name.len() > 253 || !SYSCTL_REGEX.is_match(name) {
            let detail = format!("must have at most 253 characters and match regex {SYSCTL}");
            errors.push(Error::invalid(&path, name, detail));
        } else if !seen.insert(name) {
            errors.push(Error::duplicate(&path, name));
        }
        // A pod that shares a namespace with the host must not change it for the host.
        let dotted = name.replace('/', ".");
        if spec.flag("hostNetwork") && dotted.starts_with("net.") {
            errors.push(Error::invalid(&path, name, "may not be specified when 'hostNetwork' is true"));
        } else if spec.flag("hostIPC") && is_ipc_sysctl(&dotted) {
            errors.push(Error::invalid(&path, name, "may not be specified when 'hostIPC' is true"));
        }
    }
}

fn is_ipc_sysctl(name: &str) -> bool {
    name.starts_with("kernel.shm")
        || name.starts_with("kernel.msg")
        || name.starts_with("fs.mqueue.")
        || name == "kernel.sem"
}

pub(crate) fn validate_security_context(
    errors: &mut ErrorList,
    context: Option<&Value>,
    host_users: bool,
    path: &Path,
) {
    let Some(context) = context else { return };
    let mount = context.text("procMount");
    if host_users && mount == "Unmasked" {
        let detail = "`hostUsers` must be false to use `Unmasked`";
        errors.push(Error::invalid(&path.child("procMount"), mount, detail));
    }
    validate_seccomp(errors, context.field("seccompProfile"), &path.child("seccompProfile"));
    if context.opt_flag("allowPrivilegeEscalation") == Some(false) {
        let mut say = |detail: &str| errors.push(Error::invalid(path, context.clone(), detail));
        if context.flag("privileged") {
            say("cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
        }
        if context.field("capabilities").list("add").iter().any(|capability| capability == "CAP_SYS_ADMIN") {
            say("cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
        }
    }
    validate_app_armor(errors, context.field("appArmorProfile"), &path.child("appArmorProfile"));
}

fn validate_seccomp(errors: &mut ErrorList, profile: Option<&Value>, path: &Path) {
    let Some(profile) = profile else { return };
    let path = path.child("localhostProfile");
    match (profile.text("type"), profile.opt_text("localhostProfile")) {
        ("Localhost", None) => errors.push(Error::required(&path, "must be set when seccomp type is Localhost")),
        ("Localhost", Some(file)) => validate_descending_path(errors, file, &path),
        (_, Some(_)) => {
            errors.push(Error::invalid(&path, profile.clone(), "can only be set when seccomp type is Localhost"))
        }
        (_, None) => {}
    }
}

fn validate_app_armor(errors: &mut ErrorList, profile: Option<&Value>, path: &Path) {
    let Some(profile) = profile else { return };
    let at = path.child("localhostProfile");
    let file = profile.opt_text("localhostProfile");
    match profile.text("type") {
        "Localhost" => match file {
            None | Some("") => {
                errors.push(Error::required(&at, "must be set when AppArmor type is Localhost"));
            }
            Some(file) => {
                if file.trim() != file {
                    errors.push(Error::invalid(&at, file, "must not be padded with whitespace"));
                }
                if file.len() > 4095 {
                    errors.push(Error::too_long(&at, 4095));
                }
            }
        },
        "RuntimeDefault" | "Unconfined" => {
            if let Some(file) = file {
                errors.push(Error::invalid(&at, file, "can only be set when AppArmor type is Localhost"));
            }
        }
        _ => {}
    }
}

/// A pod with its own user namespace shares no other namespace with the host.
pub(crate) fn validate_host_users(errors: &mut ErrorList, spec: &Value, path: &Path) {
    if spec.opt_flag("hostUsers") != Some(false) {
        return;
    }
    const WHEN: &str = "when `hostUsers` is false";
    for (key, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.flag(key) {
            errors.push(Error::forbidden(&path.child(shown), WHEN));
        }
    }
    for (container, path) in containers(spec, path) {
        if !container.list("volumeDevices").is_empty() {
            errors.push(Error::forbidden(&path.child("volumeDevices"), WHEN));
        }
    }
}

/// `spec.os` and what it rules out.
pub(crate) fn validate_os(errors: &mut ErrorList, spec: &Value, path: &Path) {
    let Some(os) = spec.field("os") else { return };
    match os.text("name") {
        "" => {}
        "linux" => validate_linux(errors, spec, path),
        "windows" => validate_windows(errors, spec, path),
        other => errors.push(Error::not_supported(&path.child("os"), other, &["linux", "windows"])),
    }
}

fn validate_linux(errors: &mut ErrorList, spec: &Value, path: &Path) {
    const CANNOT: &str = "windows options cannot be set for a linux pod";
    if spec.field("securityContext").has("windowsOptions") {
        errors.push(Error::forbidden(&path.child("securityContext").child("windowsOptions"), CANNOT));
    }
    for (container, path) in containers(spec, path) {
        if container.field("securityContext").has("windowsOptions") {
            errors.push(Error::forbidden(&path.child("securityContext").child("windowsOptions"), CANNOT));
        }
    }
}

fn validate_windows(errors: &mut ErrorList, spec: &Value, path: &Path) {
    const CANNOT: &str = "cannot be set for a windows pod";
    let set = |value: Option<&Value>| match value {
        None => false,
        Some(Value::Bool(flag)) => *flag,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    };
    if spec.has("hostUsers") {
        errors.push(Error::forbidden(&path.child("hostUsers"), CANNOT));
    }
    for key in ["hostPID", "hostIPC"] {
        if set(spec.field(key)) {
            errors.push(Error::forbidden(&path.child(key), CANNOT));
        }
    }
    if spec.has("shareProcessNamespace") {
        errors.push(Error::forbidden(&path.child("shareProcessNamespace"), CANNOT));
    }
    let of_pod = [
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "fsGroup",
        "fsGroupChangePolicy",
        "sysctls",
        "runAsUser",
        "runAsGroup",
        "supplementalGroups",
        "supplementalGroupsPolicy",
        "seLinuxChangePolicy",
    ];
    for key in of_pod {
        if set(spec.field("securityContext").field(key)) {
            errors.push(Error::forbidden(&path.child("securityContext").child(key), CANNOT));
        }
    }
    let of_container = [
        "appArmorProfile",
        "seLinuxOptions",
        "seccompProfile",
        "capabilities",
        "readOnlyRootFilesystem",
        "privileged",
        "allowPrivilegeEscalation",
        "procMount",
        "runAsUser",
        "runAsGroup",
    ];
    for (container, path) in containers(spec, path) {
        for key in of_container {
            if container.field("securityContext").has(key) {
                errors.push(Error::forbidden(&path.child("securityContext").child(key), CANNOT));
            }
        }
    }
}

/// Where an annotation of old and a field both name a seccomp or AppArmor profile, they
/// name the same one.
pub(crate) fn validate_profile_annotations(
    errors: &mut ErrorList,
    metadata: Option<&Value>,
    spec: &Value,
    path: &Path,
) {
    let annotations = metadata.entries("annotations");
    let annotation = |key: &str| annotations.get(key).and_then(Value::as_str);
    let pod_context = spec.field("securityContext");
    let seccomp_of = |context: Option<&Value>, key: &str, path: &Path, errors: &mut ErrorList| {
        if let (Some(profile), Some(old)) = (context.field("seccompProfile"), annotation(key)) {
            let path = path.child("securityContext").child("seccompProfile");
            match_profile(errors, profile, old, "seccomp", &["runtime/default", "docker/default"], &path);
        }
    };
    seccomp_of(pod_context, "seccomp.security.alpha.kubernetes.io/pod", path, errors);
    for (container, path) in containers(spec, path) {
        let key = format!("container.seccomp.security.alpha.kubernetes.io/{}", container.text("name"));
        seccomp_of(container.field("securityContext"), &key, &path, errors);
    }
    if spec.field("os").text("name") == "windows" {
        return;
    }
    for (container, path) in containers(spec, path) {
        let own = container.field("securityContext").field("appArmorProfile");
        let key = format!("container.apparmor.security.beta.kubernetes.io/{}", container.text("name"));
        if let (Some(profile), Some(old)) = (own.or(pod_context.field("appArmorProfile")), annotation(&key)) {
            let path = path.child("securityContext").child("appArmorProfile");
            match_profile(errors, profile, old, "apparmor", &["runtime/default"], &path);
        }
    }
}

fn match_profile(errors: &mut ErrorList, profile: &Value, old: &str, what: &str, defaults: &[&str], path: &Path) {
    let same_type = match profile.text("type") {
        "Unconfined" => old == "unconfined",
        "RuntimeDefault" => defaults.contains(&old),
        "Localhost" => match old.strip_prefix("localhost/") {
            None => false,
            Some(file) => {
                if profile.opt_text("localhostProfile") != Some(file) {
                    errors.push(Error::forbidden(
                        &path.child("localhostProfile"),
                        format!("{what} profile in annotation and field must match"),
                    ));
                }
                true
            }
        },
        _ => true,
    };
    if !same_type {
        errors.push(Error::forbidden(&path.child("type"), format!("{what} type in annotation and field must match")));
    }
}
