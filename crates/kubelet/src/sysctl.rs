//! The sysctls that pods may set: the safe ones and those that allowedUnsafeSysctls of the
//! kubelet's configuration adds (upstream: pkg/kubelet/sysctl). `pod_worker` asks at admission.

use crate::admit::Rejection;
use ferry_api::view::core::v1::PodView;

const REASON: &str = "SysctlForbidden";

/// Sysctls of a namespace of the pod's own that affect no other pod. The kernels that ferry runs
/// on (4.15 and newer) have all of them.
const SAFE: &[&str] = &[
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
];

/// The kernel's namespace that a sysctl belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespace {
    Ipc,
    Net,
}

/// Dots between the parts; `net/ipv4/conf/eth0.1` names an interface with a dot.
fn normalize(name: &str) -> String {
    match name.find(['.', '/']) {
        Some(at) if name.as_bytes()[at] == b'/' => name
            .chars()
            .map(|c| {
                if c == '/' {
                    '.'
                } else if c == '.' {
                    '/'
                } else {
                    c
                }
            })
            .collect(),
        _ => name.to_owned(),
    }
}

fn namespace_of(name: &str) -> Option<Namespace> {
    const IPC: [&str; 10] = [
        "kernel.sem",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.shm",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
        "kernel.msg",
    ];
    if IPC.contains(&name) || name.starts_with("fs.mqueue.") {
        return Some(Namespace::Ipc);
    }
    name.starts_with("net.").then_some(Namespace::Net)
}

/// The sysctls that pods of this node may set.
#[derive(Clone, Debug, Default)]
pub struct Allowlist {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    is_prefix: bool,
    namespace: Namespace,
}

impl Allowlist {
    /// The safe ones and `unsafe_patterns`, of which each may end in `*`.
    pub fn new(unsafe_patterns: &[String]) -> Result<Self, String> {
        let mut entries = Vec::new();
        for pattern in SAFE.iter().copied().chain(unsafe_patterns.iter().map(String::as_str)) {
            if !is_pattern(pattern) {
                return Err(format!(
                    "sysctl {pattern:?} must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9][-_a-z0-9]*[*]?$"
                ));
            }
            let normal = normalize(pattern);
            let (name, is_prefix) = match normal.split_once('*') {
                Some((prefix, _)) => (prefix.to_owned(), true),
                None => (normal, false),
            };
            let Some(namespace) = namespace_of(&name) else {
                return Err(format!("the sysctls {name:?} are not known to be namespaced"));
            };
            entries.push(Entry { name, is_prefix, namespace });
        }
        Ok(Self { entries })
    }

    pub fn admit(&self, pod: PodView<'_>) -> Result<(), Rejection> {
        let spec = pod.spec();
        for sysctl in spec.security_context().unwrap_or_default().sysctls() {
            self.judge(sysctl.name(), spec.host_network(), spec.host_ipc())
                .map_err(|why| Rejection { reason: REASON.into(), message: format!("forbidden sysctl: {why}") })?;
        }
        Ok(())
    }

    fn judge(&self, name: &str, host_network: bool, host_ipc: bool) -> Result<(), String> {
        let name = normalize(name);
        let exact = self.entries.iter().find(|entry| !entry.is_prefix && entry.name == name);
        let prefix = || self.entries.iter().find(|entry| entry.is_prefix && name.starts_with(&entry.name));
        match exact.or_else(prefix) {
            None => Err(format!("{name:?} not allowlisted")),
            Some(entry) if entry.namespace == Namespace::Ipc && host_ipc => {
                Err(format!("{name:?} not allowed with host IPC enabled"))
            }
            Some(entry) if entry.namespace == Namespace::Net && host_network => {
                Err(format!("{name:?} not allowed with host Net enabled"))
            }
            Some(_) => Ok(()),
        }
    }
}

/// Upstream: IsValidSysctlPattern of pkg/apis/policy/validation.
fn is_pattern(text: &str) -> bool {
    let body = text.strip_suffix('*').unwrap_or(text);
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let parts: Vec<&str> = body.split(['.', '/']).collect();
    let last = parts.len() - 1;
    text.len() <= 253
        && parts.iter().enumerate().all(|(index, part)| {
            // A pattern may end right behind a separator.
            let may_be_empty = index == last && text.ends_with('*') && last > 0;
            let is_good = part.starts_with(is_word)
                && part.chars().all(|c| is_word(c) || c == '-' || c == '_')
                && (index == last || part.ends_with(is_word));
            is_good || (part.is_empty() && may_be_empty)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pod::tests::pod;
    use ferry_api::view::Owned;
    use serde_json::json;

    fn check(unsafe_patterns: &[&str], spec: serde_json::Value) -> Result<(), String> {
        let patterns: Vec<String> = unsafe_patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        let list = Allowlist::new(&patterns).expect("good patterns");
        list.admit(pod(spec).view()).map_err(|rejection| format!("{}: {}", rejection.reason, rejection.message))
    }

    fn sets(name: &str) -> serde_json::Value {
        json!({ "containers": [], "securityContext": { "sysctls": [{ "name": name, "value": "1" }] } })
    }

    #[test]
    fn only_safe_and_allowed_sysctls_are_admitted() {
        assert_eq!(check(&[], sets("net.ipv4.ip_unprivileged_port_start")), Ok(()));
        assert_eq!(check(&[], sets("net/ipv4/tcp_syncookies")), Ok(()));
        let refused = check(&[], sets("kernel.msgmax")).expect_err("unsafe");
        assert_eq!(refused, "SysctlForbidden: forbidden sysctl: \"kernel.msgmax\" not allowlisted");
        assert_eq!(check(&["kernel.msg*"], sets("kernel.msgmax")), Ok(()));
        assert_eq!(check(&["net.core.somaxconn"], sets("net.core.somaxconn")), Ok(()));
    }

    #[test]
    fn a_sysctl_of_the_hosts_namespace_is_refused() {
        let mut spec = sets("net.ipv4.tcp_syncookies");
        spec["hostNetwork"] = json!(true);
        let refused = check(&[], spec).expect_err("the host's network");
        assert!(refused.ends_with("\"net.ipv4.tcp_syncookies\" not allowed with host Net enabled"), "{refused}");
    }

    #[test]
    fn patterns_are_judged() {
        let new = |pattern: &str| Allowlist::new(&[pattern.to_owned()]).map(drop);
        assert_eq!(new("net.core.*"), Ok(()));
        assert_eq!(new("vm.swappiness"), Err("the sysctls \"vm.swappiness\" are not known to be namespaced".into()));
        assert!(new("Net.core").is_err() && new("").is_err() && new("net..core").is_err());
    }
}
